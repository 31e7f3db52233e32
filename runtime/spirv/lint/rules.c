/* SPDX-License-Identifier: MIT */
/* The lists but that of instructions, each in the order of its numbers, and how to look one up. */
#include "spirv/lint/rules.h"

#include "spirv/grammar.h"

/* PREFIXED is a name of a list as Khronos's headers have it. */
#define RULE(name, verdict, reason, instead) \
    {PREFIXED(name), WEFT_LINT_##verdict, WEFT_LINT_CHECK_NONE, #name, reason, instead},
#define ALLOW(name, reason)           RULE(name, ALLOWED, reason, NULL)
#define WHERE(name, condition)        RULE(name, CONDITIONAL, condition, NULL)
#define REFUSE(name, reason, instead) RULE(name, REFUSED, reason, instead)

/* ---- functions of GLSL.std.450 ---- */

#define ZERO_SIGN                                                                      \
    "the sign of a zero result is the driver's choice: Vulkan does not name it among " \
    "those that keep it"
#define TO_WHOLE \
    "a conversion to int and back, or adding and subtracting 1.5 * 2^23, as in math.glsl"
#define PRECISION_UNDEFINED "Vulkan states no precision for it"
#define INHERITS            "its error is bounded, not fixed: it rests on what drivers approximate"
#define DOTS                "it adds products in an order that is the driver's choice"
#define MIN_MAX             "what becomes of NaN and of the sign of zero is the driver's choice"
#define SPECIAL             "what becomes of subnormals, infinities and NaN is the driver's choice"
#define PACKING             "the rounding is the driver's choice"
#define FRAGMENTS           "it belongs to fragment shaders"
#define EXACT_INTEGER       "it is exact on integers"
#define FROM_MATH           "what math.glsl offers, or a polynomial of your own"
#define WRITTEN_OUT         "its formula written out, in + - * and math.glsl"
#define ON_BITS             "integer operations on the bits"
#define A_SELECT            "a comparison and a choice, as in weft_larger of reduce.glsl"

#define PREFIXED(name) GLSLstd450##name
static const struct weft_lint_rule functions[] = {
    /* clang-format off */
    REFUSE(Round, "the direction of halves is the driver's choice", TO_WHOLE)
    REFUSE(RoundEven, ZERO_SIGN, TO_WHOLE)
    REFUSE(Trunc, ZERO_SIGN, TO_WHOLE)
    ALLOW(FAbs, "it clears the sign")
    ALLOW(SAbs, EXACT_INTEGER)
    REFUSE(FSign, ZERO_SIGN, A_SELECT)
    ALLOW(SSign, EXACT_INTEGER)
    REFUSE(Floor, ZERO_SIGN, TO_WHOLE)
    REFUSE(Ceil, ZERO_SIGN, TO_WHOLE)
    REFUSE(Fract, "whether it can reach 1, and the sign of a zero, is the driver's choice",
           WRITTEN_OUT)
    REFUSE(Radians, INHERITS, WRITTEN_OUT)
    REFUSE(Degrees, INHERITS, WRITTEN_OUT)
    REFUSE(Sin, "a driver may be off by 2^-11", "weft_sin of math.glsl")
    REFUSE(Cos, "a driver may be off by 2^-11", "weft_cos of math.glsl")
    REFUSE(Tan, INHERITS, "weft_sin, weft_cos and weft_div of math.glsl")
    REFUSE(Asin, INHERITS, FROM_MATH)
    REFUSE(Acos, INHERITS, FROM_MATH)
    REFUSE(Atan, "a driver may be off by 4096 ulp", FROM_MATH)
    REFUSE(Sinh, INHERITS, "weft_exp of math.glsl")
    REFUSE(Cosh, INHERITS, "weft_exp of math.glsl")
    REFUSE(Tanh, INHERITS, "weft_tanh of math.glsl")
    REFUSE(Asinh, INHERITS, "weft_log and weft_sqrt of math.glsl")
    REFUSE(Acosh, INHERITS, "weft_log and weft_sqrt of math.glsl")
    REFUSE(Atanh, INHERITS, "weft_log and weft_div of math.glsl")
    REFUSE(Atan2, "a driver may be off by 4096 ulp", FROM_MATH)
    REFUSE(Pow, INHERITS, "products, or weft_exp and weft_log of math.glsl")
    REFUSE(Exp, "a driver may be off by 3 + 2|x| ulp", "weft_exp of math.glsl")
    REFUSE(Log, "a driver may be off by 3 ulp", "weft_log of math.glsl")
    REFUSE(Exp2, "a driver may be off by 3 + 2|x| ulp", "weft_exp of math.glsl")
    REFUSE(Log2, "a driver may be off by 3 ulp", "weft_log of math.glsl")
    REFUSE(Sqrt, INHERITS, "weft_sqrt of math.glsl")
    REFUSE(InverseSqrt, "a driver may be off by 2 ulp", "weft_rsqrt of math.glsl")
    REFUSE(Determinant, PRECISION_UNDEFINED, WRITTEN_OUT)
    REFUSE(MatrixInverse, PRECISION_UNDEFINED, WRITTEN_OUT)
    REFUSE(Modf, ZERO_SIGN, TO_WHOLE)
    REFUSE(ModfStruct, ZERO_SIGN, TO_WHOLE)
    REFUSE(FMin, MIN_MAX, A_SELECT)
    ALLOW(UMin, EXACT_INTEGER)
    ALLOW(SMin, EXACT_INTEGER)
    REFUSE(FMax, MIN_MAX, A_SELECT)
    ALLOW(UMax, EXACT_INTEGER)
    ALLOW(SMax, EXACT_INTEGER)
    REFUSE(FClamp, MIN_MAX, A_SELECT)
    WHERE(UClamp, "it is exact on integers; the lower bound must not exceed the upper one")
    WHERE(SClamp, "it is exact on integers; the lower bound must not exceed the upper one")
    REFUSE(FMix, "the formula it is worked out by is the driver's choice", WRITTEN_OUT)
    REFUSE(IMix, "it is no longer part of the set", A_SELECT)
    REFUSE(Step, "what a NaN gives is the driver's choice", A_SELECT)
    REFUSE(SmoothStep, INHERITS, WRITTEN_OUT)
    REFUSE(Fma, "whether it rounds once or twice is the driver's choice",
           "a product and a sum, into which the pass no-contraction splits it, or fused math")
    REFUSE(Frexp, SPECIAL, ON_BITS)
    REFUSE(FrexpStruct, SPECIAL, ON_BITS)
    REFUSE(Ldexp, SPECIAL, "a product with a power of two, or integer operations on the bits")
    REFUSE(PackSnorm4x8, PACKING, ON_BITS)
    REFUSE(PackUnorm4x8, PACKING, ON_BITS)
    REFUSE(PackSnorm2x16, PACKING, ON_BITS)
    REFUSE(PackUnorm2x16, PACKING, ON_BITS)
    REFUSE(PackHalf2x16, PACKING, ON_BITS)
    REFUSE(PackDouble2x32, "not every device has 64-bit floats", "32-bit floats throughout")
    REFUSE(UnpackSnorm2x16, "it divides, and the rounding is the driver's choice", ON_BITS)
    REFUSE(UnpackUnorm2x16, "it divides, and the rounding is the driver's choice", ON_BITS)
    REFUSE(UnpackHalf2x16, "a driver may flush half subnormals", ON_BITS)
    REFUSE(UnpackSnorm4x8, "it divides, and the rounding is the driver's choice", ON_BITS)
    REFUSE(UnpackUnorm4x8, "it divides, and the rounding is the driver's choice", ON_BITS)
    REFUSE(UnpackDouble2x32, "not every device has 64-bit floats", "32-bit floats throughout")
    REFUSE(Length, DOTS, "weft_sqrt of math.glsl and a sum in a written order")
    REFUSE(Distance, DOTS, "weft_sqrt of math.glsl and a sum in a written order")
    REFUSE(Cross, "a driver may contract its products and differences", WRITTEN_OUT)
    REFUSE(Normalize, DOTS, "weft_rsqrt of math.glsl and a sum in a written order")
    REFUSE(FaceForward, DOTS, WRITTEN_OUT)
    REFUSE(Reflect, DOTS, WRITTEN_OUT)
    REFUSE(Refract, DOTS, WRITTEN_OUT)
    ALLOW(FindILsb, EXACT_INTEGER)
    ALLOW(FindSMsb, EXACT_INTEGER)
    ALLOW(FindUMsb, EXACT_INTEGER)
    REFUSE(InterpolateAtCentroid, FRAGMENTS, NULL)
    REFUSE(InterpolateAtSample, FRAGMENTS, NULL)
    REFUSE(InterpolateAtOffset, FRAGMENTS, NULL)
    REFUSE(NMin, MIN_MAX, A_SELECT)
    REFUSE(NMax, MIN_MAX, A_SELECT)
    REFUSE(NClamp, MIN_MAX, A_SELECT)
    /* clang-format on */
};

/* ---- capabilities ---- */

#define HALVES    "half precision is no part of every device, and its rounding is not probed"
#define ALL_FP32  "32-bit floats throughout"
#define REDUCTION "it declares instructions, which are judged one by one"
#define STORES    "it widens what may lie in buffers; bits are moved as they are"
#define ADDS_UP   "the order of arrival is the driver's choice"
#define WIDE      "integers wrap modulo 2^n"

#undef PREFIXED
#define PREFIXED(name) SpvCapability##name
static const struct weft_lint_rule capabilities[] = {
    /* clang-format off */
    ALLOW(Matrix, REDUCTION)
    ALLOW(Shader, REDUCTION)
    REFUSE(Float16, HALVES, ALL_FP32)
    REFUSE(Float64, "not every device has 64-bit floats, and their rounding is not probed",
           "the sum of two 32-bit floats")
    ALLOW(Int64, WIDE)
    ALLOW(Int64Atomics, REDUCTION)
    ALLOW(Int16, WIDE)
    ALLOW(UniformBufferArrayDynamicIndexing, "it says which buffer is read")
    ALLOW(StorageBufferArrayDynamicIndexing, "it says which buffer is read")
    ALLOW(Int8, WIDE)
    ALLOW(GroupNonUniform, REDUCTION)
    ALLOW(GroupNonUniformVote, REDUCTION)
    ALLOW(GroupNonUniformArithmetic, REDUCTION)
    ALLOW(GroupNonUniformBallot, REDUCTION)
    REFUSE(GroupNonUniformShuffle, "none of its instructions is on the list", NULL)
    REFUSE(GroupNonUniformShuffleRelative, "none of its instructions is on the list", NULL)
    REFUSE(GroupNonUniformClustered, "none of its instructions is on the list", NULL)
    REFUSE(GroupNonUniformQuad, "none of its instructions is on the list", NULL)
    ALLOW(StorageBuffer16BitAccess, STORES)
    ALLOW(UniformAndStorageBuffer16BitAccess, STORES)
    ALLOW(StoragePushConstant16, STORES)
    ALLOW(StorageBuffer8BitAccess, STORES)
    ALLOW(UniformAndStorageBuffer8BitAccess, STORES)
    ALLOW(StoragePushConstant8, STORES)
    REFUSE(DenormPreserve, "many devices cannot keep subnormals", "DenormFlushToZero")
    ALLOW(DenormFlushToZero, "subnormals count as zeros in reproducible math")
    ALLOW(SignedZeroInfNanPreserve, "it takes a choice from the driver")
    ALLOW(RoundingModeRTE, "it takes a choice from the driver")
    REFUSE(RoundingModeRTZ, "not every device can round towards zero", "RoundingModeRTE")
    ALLOW(VulkanMemoryModel, "it says when writes are seen, not what is written")
    ALLOW(VulkanMemoryModelDeviceScope, "it says when writes are seen, not what is written")
    REFUSE(PhysicalStorageBufferAddresses, "where a buffer lies differs from run to run",
           "storage buffers that are bound")
    REFUSE(AtomicFloat32MinMaxEXT, ADDS_UP,
           "places of their own, combined in a written order")
    REFUSE(AtomicFloat64MinMaxEXT, ADDS_UP,
           "places of their own, combined in a written order")
    REFUSE(AtomicFloat16MinMaxEXT, ADDS_UP,
           "places of their own, combined in a written order")
    ALLOW(DotProductInput4x8BitPacked, REDUCTION)
    ALLOW(DotProduct, REDUCTION)
    {WEFT_SPIRV_COOPERATIVE_CAPABILITY, WEFT_LINT_ALLOWED, WEFT_LINT_CHECK_NONE, "CooperativeMatrixKHR",
     REDUCTION, NULL},
    REFUSE(AtomicFloat32AddEXT, ADDS_UP, "places of their own, added in a written order")
    REFUSE(AtomicFloat64AddEXT, ADDS_UP, "places of their own, added in a written order")
    REFUSE(AtomicFloat16AddEXT, ADDS_UP, "places of their own, added in a written order")
    /* clang-format on */
};

/* ---- execution modes ---- */

#undef PREFIXED
#define PREFIXED(name) SpvExecutionMode##name
static const struct weft_lint_rule modes[] = {
    /* clang-format off */
    ALLOW(LocalSize, "the module holds it")
    ALLOW(LocalSizeId, "the module or the pipeline's description holds it")
    REFUSE(DenormPreserve, "many devices cannot keep subnormals", "DenormFlushToZero")
    ALLOW(DenormFlushToZero, "subnormals count as zeros in reproducible math")
    ALLOW(SignedZeroInfNanPreserve, "it takes a choice from the driver")
    ALLOW(RoundingModeRTE, "it takes a choice from the driver")
    REFUSE(RoundingModeRTZ, "not every device can round towards zero", "RoundingModeRTE")
    /* clang-format on */
};

/* ---- decorations ---- */

#define LAYOUT   "it says where things lie, the same everywhere"
#define SHARING  "it says who else may write a place, not what is written"
#define OVERFLOW "the result of an integer overflow is then the driver's choice"

#undef PREFIXED
#define PREFIXED(name) SpvDecoration##name
static const struct weft_lint_rule decorations[] = {
    /* clang-format off */
    REFUSE(RelaxedPrecision, "a driver may work in 16 bits, or not", "highp")
    ALLOW(SpecId, LAYOUT)
    ALLOW(Block, LAYOUT)
    ALLOW(BufferBlock, LAYOUT)
    ALLOW(RowMajor, LAYOUT)
    ALLOW(ColMajor, LAYOUT)
    ALLOW(ArrayStride, LAYOUT)
    ALLOW(MatrixStride, LAYOUT)
    ALLOW(BuiltIn, "of built-in variables there is a list, which is looked at as well")
    WHERE(Restrict,
          "no other buffer of the dispatch may hold the same bytes, if one is written")
    ALLOW(Aliased, SHARING)
    ALLOW(Volatile, SHARING)
    ALLOW(Coherent, SHARING)
    ALLOW(NonWritable, SHARING)
    ALLOW(NonReadable, SHARING)
    ALLOW(Uniform, "it promises what is so anyway")
    ALLOW(Binding, LAYOUT)
    ALLOW(DescriptorSet, LAYOUT)
    ALLOW(Offset, LAYOUT)
    REFUSE(FPRoundingMode, "it is for conversions to 16 bits, which are refused", NULL)
    REFUSE(FPFastMathMode, "it gives choices to the driver", "NoContraction")
    ALLOW(NoContraction, "it takes a choice from the driver")
    ALLOW(Alignment, LAYOUT)
    REFUSE(NoSignedWrap, OVERFLOW, "the same instruction without it")
    REFUSE(NoUnsignedWrap, OVERFLOW, "the same instruction without it")
    ALLOW(NonUniform, "it takes a choice from the driver")
    WHERE(RestrictPointer,
          "no other buffer of the dispatch may hold the same bytes, if one is written")
    ALLOW(AliasedPointer, SHARING)
    /* clang-format on */
};

/* ---- built-in variables ---- */

#define BY_SHAPE  "it follows from the dispatch's groups and the module's local size"
#define SUBGROUPS "how a workgroup is cut into subgroups is the driver's choice"
#define LOCAL_ID  "gl_LocalInvocationID"

#undef PREFIXED
#define PREFIXED(name) SpvBuiltIn##name
static const struct weft_lint_rule built_ins[] = {
    /* clang-format off */
    REFUSE(NumWorkgroups, "a dispatch too long for a device is split, which changes it",
           "a push constant")
    ALLOW(WorkgroupSize, BY_SHAPE)
    ALLOW(WorkgroupId, BY_SHAPE)
    ALLOW(LocalInvocationId, BY_SHAPE)
    ALLOW(GlobalInvocationId, BY_SHAPE)
    ALLOW(LocalInvocationIndex, BY_SHAPE)
    REFUSE(SubgroupSize, SUBGROUPS, "the workgroup's size")
    REFUSE(NumSubgroups, SUBGROUPS, "the workgroup's size")
    REFUSE(SubgroupId, SUBGROUPS, LOCAL_ID)
    REFUSE(SubgroupLocalInvocationId, SUBGROUPS, LOCAL_ID)
    REFUSE(SubgroupEqMask, SUBGROUPS, LOCAL_ID)
    REFUSE(SubgroupGeMask, SUBGROUPS, LOCAL_ID)
    REFUSE(SubgroupGtMask, SUBGROUPS, LOCAL_ID)
    REFUSE(SubgroupLeMask, SUBGROUPS, LOCAL_ID)
    REFUSE(SubgroupLtMask, SUBGROUPS, LOCAL_ID)
    REFUSE(DeviceIndex, "which device runs it is no part of the input", NULL)
    /* clang-format on */
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

const struct weft_lint_rule *weft_lint_rules(size_t *count, enum weft_lint_list list) {
    switch (list) {
    case WEFT_LINT_OPCODES:
        *count = weft_lint_opcode_count;
        return weft_lint_opcodes;
    case WEFT_LINT_FUNCTIONS:
        *count = COUNT(functions);
        return functions;
    case WEFT_LINT_CAPABILITIES:
        *count = COUNT(capabilities);
        return capabilities;
    case WEFT_LINT_EXECUTION_MODES:
        *count = COUNT(modes);
        return modes;
    case WEFT_LINT_DECORATIONS:
        *count = COUNT(decorations);
        return decorations;
    case WEFT_LINT_BUILT_INS:
        *count = COUNT(built_ins);
        return built_ins;
    case WEFT_LINT_LISTS:
        break;
    }
    *count = 0;
    return NULL;
}

const struct weft_lint_rule *weft_lint_find(enum weft_lint_list list, uint32_t number) {
    size_t high = 0;
    const struct weft_lint_rule *rules = weft_lint_rules(&high, list);
    size_t low = 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rules[middle].number == number) {
            return &rules[middle];
        }
        if (rules[middle].number < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}
