/* SPDX-License-Identifier: MIT */
/* The lists but that of instructions, each in the order of its numbers, and how to look one up. */
#include "shader/spirv_lint_rules.h"

#define ALLOW(number, name, reason) \
    {number, WEFT_LINT_ALLOWED, WEFT_LINT_CHECK_NONE, name, reason, NULL},
#define WHERE(number, name, condition) \
    {number, WEFT_LINT_CONDITIONAL, WEFT_LINT_CHECK_NONE, name, condition, NULL},
#define REFUSE(number, name, reason, instead) \
    {number, WEFT_LINT_REFUSED, WEFT_LINT_CHECK_NONE, name, reason, instead},

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

static const struct weft_lint_rule functions[] = {
    /* clang-format off */
    REFUSE(1, "Round", "the direction of halves is the driver's choice", TO_WHOLE)
    REFUSE(2, "RoundEven", ZERO_SIGN, TO_WHOLE)
    REFUSE(3, "Trunc", ZERO_SIGN, TO_WHOLE)
    ALLOW(4, "FAbs", "it clears the sign")
    ALLOW(5, "SAbs", EXACT_INTEGER)
    REFUSE(6, "FSign", ZERO_SIGN, A_SELECT)
    ALLOW(7, "SSign", EXACT_INTEGER)
    REFUSE(8, "Floor", ZERO_SIGN, TO_WHOLE)
    REFUSE(9, "Ceil", ZERO_SIGN, TO_WHOLE)
    REFUSE(10, "Fract", "whether it can reach 1, and the sign of a zero, is the driver's choice",
           WRITTEN_OUT)
    REFUSE(11, "Radians", INHERITS, WRITTEN_OUT)
    REFUSE(12, "Degrees", INHERITS, WRITTEN_OUT)
    REFUSE(13, "Sin", "a driver may be off by 2^-11", "weft_sin of math.glsl")
    REFUSE(14, "Cos", "a driver may be off by 2^-11", "weft_cos of math.glsl")
    REFUSE(15, "Tan", INHERITS, "weft_sin, weft_cos and weft_div of math.glsl")
    REFUSE(16, "Asin", INHERITS, FROM_MATH)
    REFUSE(17, "Acos", INHERITS, FROM_MATH)
    REFUSE(18, "Atan", "a driver may be off by 4096 ulp", FROM_MATH)
    REFUSE(19, "Sinh", INHERITS, "weft_exp of math.glsl")
    REFUSE(20, "Cosh", INHERITS, "weft_exp of math.glsl")
    REFUSE(21, "Tanh", INHERITS, "weft_tanh of math.glsl")
    REFUSE(22, "Asinh", INHERITS, "weft_log and weft_sqrt of math.glsl")
    REFUSE(23, "Acosh", INHERITS, "weft_log and weft_sqrt of math.glsl")
    REFUSE(24, "Atanh", INHERITS, "weft_log and weft_div of math.glsl")
    REFUSE(25, "Atan2", "a driver may be off by 4096 ulp", FROM_MATH)
    REFUSE(26, "Pow", INHERITS, "products, or weft_exp and weft_log of math.glsl")
    REFUSE(27, "Exp", "a driver may be off by 3 + 2|x| ulp", "weft_exp of math.glsl")
    REFUSE(28, "Log", "a driver may be off by 3 ulp", "weft_log of math.glsl")
    REFUSE(29, "Exp2", "a driver may be off by 3 + 2|x| ulp", "weft_exp of math.glsl")
    REFUSE(30, "Log2", "a driver may be off by 3 ulp", "weft_log of math.glsl")
    REFUSE(31, "Sqrt", INHERITS, "weft_sqrt of math.glsl")
    REFUSE(32, "InverseSqrt", "a driver may be off by 2 ulp", "weft_rsqrt of math.glsl")
    REFUSE(33, "Determinant", PRECISION_UNDEFINED, WRITTEN_OUT)
    REFUSE(34, "MatrixInverse", PRECISION_UNDEFINED, WRITTEN_OUT)
    REFUSE(35, "Modf", ZERO_SIGN, TO_WHOLE)
    REFUSE(36, "ModfStruct", ZERO_SIGN, TO_WHOLE)
    REFUSE(37, "FMin", MIN_MAX, A_SELECT)
    ALLOW(38, "UMin", EXACT_INTEGER)
    ALLOW(39, "SMin", EXACT_INTEGER)
    REFUSE(40, "FMax", MIN_MAX, A_SELECT)
    ALLOW(41, "UMax", EXACT_INTEGER)
    ALLOW(42, "SMax", EXACT_INTEGER)
    REFUSE(43, "FClamp", MIN_MAX, A_SELECT)
    WHERE(44, "UClamp", "it is exact on integers; the lower bound must not exceed the upper one")
    WHERE(45, "SClamp", "it is exact on integers; the lower bound must not exceed the upper one")
    REFUSE(46, "FMix", "the formula it is worked out by is the driver's choice", WRITTEN_OUT)
    REFUSE(47, "IMix", "it is no longer part of the set", A_SELECT)
    REFUSE(48, "Step", "what a NaN gives is the driver's choice", A_SELECT)
    REFUSE(49, "SmoothStep", INHERITS, WRITTEN_OUT)
    REFUSE(50, "Fma", "whether it rounds once or twice is the driver's choice",
           "a product and a sum, into which weft_spirv_make_reproducible splits it")
    REFUSE(51, "Frexp", SPECIAL, ON_BITS)
    REFUSE(52, "FrexpStruct", SPECIAL, ON_BITS)
    REFUSE(53, "Ldexp", SPECIAL, "a product with a power of two, or integer operations on the bits")
    REFUSE(54, "PackSnorm4x8", PACKING, ON_BITS)
    REFUSE(55, "PackUnorm4x8", PACKING, ON_BITS)
    REFUSE(56, "PackSnorm2x16", PACKING, ON_BITS)
    REFUSE(57, "PackUnorm2x16", PACKING, ON_BITS)
    REFUSE(58, "PackHalf2x16", PACKING, ON_BITS)
    REFUSE(59, "PackDouble2x32", "not every device has 64-bit floats", "32-bit floats throughout")
    REFUSE(60, "UnpackSnorm2x16", "it divides, and the rounding is the driver's choice", ON_BITS)
    REFUSE(61, "UnpackUnorm2x16", "it divides, and the rounding is the driver's choice", ON_BITS)
    REFUSE(62, "UnpackHalf2x16", "a driver may flush half subnormals", ON_BITS)
    REFUSE(63, "UnpackSnorm4x8", "it divides, and the rounding is the driver's choice", ON_BITS)
    REFUSE(64, "UnpackUnorm4x8", "it divides, and the rounding is the driver's choice", ON_BITS)
    REFUSE(65, "UnpackDouble2x32", "not every device has 64-bit floats", "32-bit floats throughout")
    REFUSE(66, "Length", DOTS, "weft_sqrt of math.glsl and a sum in a written order")
    REFUSE(67, "Distance", DOTS, "weft_sqrt of math.glsl and a sum in a written order")
    REFUSE(68, "Cross", "a driver may contract its products and differences", WRITTEN_OUT)
    REFUSE(69, "Normalize", DOTS, "weft_rsqrt of math.glsl and a sum in a written order")
    REFUSE(70, "FaceForward", DOTS, WRITTEN_OUT)
    REFUSE(71, "Reflect", DOTS, WRITTEN_OUT)
    REFUSE(72, "Refract", DOTS, WRITTEN_OUT)
    ALLOW(73, "FindILsb", EXACT_INTEGER)
    ALLOW(74, "FindSMsb", EXACT_INTEGER)
    ALLOW(75, "FindUMsb", EXACT_INTEGER)
    REFUSE(76, "InterpolateAtCentroid", FRAGMENTS, NULL)
    REFUSE(77, "InterpolateAtSample", FRAGMENTS, NULL)
    REFUSE(78, "InterpolateAtOffset", FRAGMENTS, NULL)
    REFUSE(79, "NMin", MIN_MAX, A_SELECT)
    REFUSE(80, "NMax", MIN_MAX, A_SELECT)
    REFUSE(81, "NClamp", MIN_MAX, A_SELECT)
    /* clang-format on */
};

/* ---- capabilities ---- */

#define HALVES    "half precision is no part of every device, and its rounding is not probed"
#define ALL_FP32  "32-bit floats throughout"
#define REDUCTION "it declares instructions, which are judged one by one"
#define STORES    "it widens what may lie in buffers; bits are moved as they are"
#define ADDS_UP   "the order of arrival is the driver's choice"
#define WIDE      "integers wrap modulo 2^n"

static const struct weft_lint_rule capabilities[] = {
    /* clang-format off */
    ALLOW(0, "Matrix", REDUCTION)
    ALLOW(1, "Shader", REDUCTION)
    REFUSE(9, "Float16", HALVES, ALL_FP32)
    REFUSE(10, "Float64", "not every device has 64-bit floats, and their rounding is not probed",
           "the sum of two 32-bit floats")
    ALLOW(11, "Int64", WIDE)
    ALLOW(12, "Int64Atomics", REDUCTION)
    ALLOW(22, "Int16", WIDE)
    ALLOW(28, "UniformBufferArrayDynamicIndexing", "it says which buffer is read")
    ALLOW(30, "StorageBufferArrayDynamicIndexing", "it says which buffer is read")
    ALLOW(39, "Int8", WIDE)
    ALLOW(61, "GroupNonUniform", REDUCTION)
    ALLOW(62, "GroupNonUniformVote", REDUCTION)
    ALLOW(63, "GroupNonUniformArithmetic", REDUCTION)
    ALLOW(64, "GroupNonUniformBallot", REDUCTION)
    REFUSE(65, "GroupNonUniformShuffle", "none of its instructions is on the list", NULL)
    REFUSE(66, "GroupNonUniformShuffleRelative", "none of its instructions is on the list", NULL)
    REFUSE(67, "GroupNonUniformClustered", "none of its instructions is on the list", NULL)
    REFUSE(68, "GroupNonUniformQuad", "none of its instructions is on the list", NULL)
    ALLOW(4433, "StorageBuffer16BitAccess", STORES)
    ALLOW(4434, "UniformAndStorageBuffer16BitAccess", STORES)
    ALLOW(4435, "StoragePushConstant16", STORES)
    ALLOW(4448, "StorageBuffer8BitAccess", STORES)
    ALLOW(4449, "UniformAndStorageBuffer8BitAccess", STORES)
    ALLOW(4450, "StoragePushConstant8", STORES)
    REFUSE(4464, "DenormPreserve", "many devices cannot keep subnormals", "DenormFlushToZero")
    ALLOW(4465, "DenormFlushToZero", "subnormals count as zeros in reproducible math")
    ALLOW(4466, "SignedZeroInfNanPreserve", "it takes a choice from the driver")
    ALLOW(4467, "RoundingModeRTE", "it takes a choice from the driver")
    REFUSE(4468, "RoundingModeRTZ", "not every device can round towards zero", "RoundingModeRTE")
    ALLOW(5345, "VulkanMemoryModel", "it says when writes are seen, not what is written")
    ALLOW(5346, "VulkanMemoryModelDeviceScope", "it says when writes are seen, not what is written")
    REFUSE(5347, "PhysicalStorageBufferAddresses", "where a buffer lies differs from run to run",
           "storage buffers that are bound")
    REFUSE(5612, "AtomicFloat32MinMaxEXT", ADDS_UP,
           "places of their own, combined in a written order")
    REFUSE(5613, "AtomicFloat64MinMaxEXT", ADDS_UP,
           "places of their own, combined in a written order")
    REFUSE(5616, "AtomicFloat16MinMaxEXT", ADDS_UP,
           "places of their own, combined in a written order")
    REFUSE(6033, "AtomicFloat32AddEXT", ADDS_UP, "places of their own, added in a written order")
    REFUSE(6034, "AtomicFloat64AddEXT", ADDS_UP, "places of their own, added in a written order")
    REFUSE(6095, "AtomicFloat16AddEXT", ADDS_UP, "places of their own, added in a written order")
    /* clang-format on */
};

/* ---- execution modes ---- */

static const struct weft_lint_rule modes[] = {
    /* clang-format off */
    ALLOW(17, "LocalSize", "the module holds it")
    ALLOW(38, "LocalSizeId", "the module or the pipeline's description holds it")
    REFUSE(4459, "DenormPreserve", "many devices cannot keep subnormals", "DenormFlushToZero")
    ALLOW(4460, "DenormFlushToZero", "subnormals count as zeros in reproducible math")
    ALLOW(4461, "SignedZeroInfNanPreserve", "it takes a choice from the driver")
    ALLOW(4462, "RoundingModeRTE", "it takes a choice from the driver")
    REFUSE(4463, "RoundingModeRTZ", "not every device can round towards zero", "RoundingModeRTE")
    /* clang-format on */
};

/* ---- decorations ---- */

#define LAYOUT   "it says where things lie, the same everywhere"
#define SHARING  "it says who else may write a place, not what is written"
#define OVERFLOW "the result of an integer overflow is then the driver's choice"

static const struct weft_lint_rule decorations[] = {
    /* clang-format off */
    REFUSE(0, "RelaxedPrecision", "a driver may work in 16 bits, or not", "highp")
    ALLOW(1, "SpecId", LAYOUT)
    ALLOW(2, "Block", LAYOUT)
    ALLOW(3, "BufferBlock", LAYOUT)
    ALLOW(4, "RowMajor", LAYOUT)
    ALLOW(5, "ColMajor", LAYOUT)
    ALLOW(6, "ArrayStride", LAYOUT)
    ALLOW(7, "MatrixStride", LAYOUT)
    ALLOW(11, "BuiltIn", "of built-in variables there is a list, which is looked at as well")
    WHERE(19, "Restrict",
          "no other buffer of the dispatch may hold the same bytes, if one is written")
    ALLOW(20, "Aliased", SHARING)
    ALLOW(21, "Volatile", SHARING)
    ALLOW(23, "Coherent", SHARING)
    ALLOW(24, "NonWritable", SHARING)
    ALLOW(25, "NonReadable", SHARING)
    ALLOW(26, "Uniform", "it promises what is so anyway")
    ALLOW(33, "Binding", LAYOUT)
    ALLOW(34, "DescriptorSet", LAYOUT)
    ALLOW(35, "Offset", LAYOUT)
    REFUSE(39, "FPRoundingMode", "it is for conversions to 16 bits, which are refused", NULL)
    REFUSE(40, "FPFastMathMode", "it gives choices to the driver", "NoContraction")
    ALLOW(42, "NoContraction", "it takes a choice from the driver")
    ALLOW(44, "Alignment", LAYOUT)
    REFUSE(4469, "NoSignedWrap", OVERFLOW, "the same instruction without it")
    REFUSE(4470, "NoUnsignedWrap", OVERFLOW, "the same instruction without it")
    ALLOW(5300, "NonUniform", "it takes a choice from the driver")
    WHERE(5355, "RestrictPointer",
          "no other buffer of the dispatch may hold the same bytes, if one is written")
    ALLOW(5356, "AliasedPointer", SHARING)
    /* clang-format on */
};

/* ---- built-in variables ---- */

#define BY_SHAPE  "it follows from the dispatch's groups and the module's local size"
#define SUBGROUPS "how a workgroup is cut into subgroups is the driver's choice"
#define LOCAL_ID  "gl_LocalInvocationID"

static const struct weft_lint_rule built_ins[] = {
    /* clang-format off */
    REFUSE(24, "NumWorkgroups", "a dispatch too long for a device is split, which changes it",
           "a push constant")
    ALLOW(25, "WorkgroupSize", BY_SHAPE)
    ALLOW(26, "WorkgroupId", BY_SHAPE)
    ALLOW(27, "LocalInvocationId", BY_SHAPE)
    ALLOW(28, "GlobalInvocationId", BY_SHAPE)
    ALLOW(29, "LocalInvocationIndex", BY_SHAPE)
    REFUSE(36, "SubgroupSize", SUBGROUPS, "the workgroup's size")
    REFUSE(38, "NumSubgroups", SUBGROUPS, "the workgroup's size")
    REFUSE(40, "SubgroupId", SUBGROUPS, LOCAL_ID)
    REFUSE(41, "SubgroupLocalInvocationId", SUBGROUPS, LOCAL_ID)
    REFUSE(4416, "SubgroupEqMask", SUBGROUPS, LOCAL_ID)
    REFUSE(4417, "SubgroupGeMask", SUBGROUPS, LOCAL_ID)
    REFUSE(4418, "SubgroupGtMask", SUBGROUPS, LOCAL_ID)
    REFUSE(4419, "SubgroupLeMask", SUBGROUPS, LOCAL_ID)
    REFUSE(4420, "SubgroupLtMask", SUBGROUPS, LOCAL_ID)
    REFUSE(4438, "DeviceIndex", "which device runs it is no part of the input", NULL)
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
