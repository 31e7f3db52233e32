/* SPDX-License-Identifier: MIT */
/* The list of instructions: which give the same bits on every driver, and why. */
#include "spirv/grammar.h"
#include "spirv/lint/rules.h"

#define RULE(op, verdict, check, reason, instead) \
    {SpvOp##op, WEFT_LINT_##verdict, WEFT_LINT_CHECK_##check, "Op" #op, reason, instead},
#define ALLOW(op, reason)           RULE(op, ALLOWED, NONE, reason, NULL)
#define WHERE(op, condition)        RULE(op, CONDITIONAL, NONE, condition, NULL)
#define CHECK(op, check, reason)    RULE(op, CHECKED, check, reason, NULL)
#define REFUSE(op, reason, instead) RULE(op, REFUSED, NONE, reason, instead)

/* Opcodes of SPV_KHR_cooperative_matrix, which older headers lack. */
#define COOPERATIVE(op, name, verdict, check, reason) \
    {WEFT_SPIRV_COOPERATIVE_##op, WEFT_LINT_##verdict, WEFT_LINT_CHECK_##check, name, reason, NULL},

/* Reasons, and what to use instead, that several share. */
#define WHY_SAYS_NOTHING "it is for readers of the module and computes nothing"
#define WHY_DECLARES     "it declares a type"
#define WHY_CONSTANT     "the module holds its value"
#define WHY_FLOW         "it says what runs next, from values that are the same everywhere"
#define WHY_SHARED_MEMORY                                                                   \
    "it moves bits as they are; the invocations that share a place in memory must be kept " \
    "apart by barriers, and the place be written before it is read"
#define WHY_MOVES   "it moves bits as they are: Vulkan lets it neither flush nor round"
#define WHY_INDEXED "it moves bits as they are; the index must be within the vector"
#define WHY_ADDRESS "it finds a place in memory; the index must be within the array"
#define WHY_INTEGER "integers wrap modulo 2^n"
#define WHY_DOT     "integers wrap modulo 2^n; devices without it get products and sums (plain_dots.c)"
#define WHY_MATRIX                                                                               \
    "sums of integers have no order and wrap modulo 2^n; what an invocation has of a matrix is " \
    "the driver's choice: elements go by loads and stores alone"
#define WHY_BITS     "each bit follows from bits of the operands"
#define WHY_BOOLEAN  "true and false have no representation to differ in"
#define WHY_COMPARES "comparing integers is exact"
#define WHY_SHIFTS   "bits move; the distance must be less than the width"
#define WHY_FIELD    "bits move; offset and count must stay within the width"
#define WHY_TO_INT \
    "the fraction is dropped; the operand must be a number, and the result must fit its type"
#define WHY_TO_FLOAT                                                                        \
    "it is exact up to 2^24 in magnitude, where operands must stay: beyond, the direction " \
    "of rounding is the driver's choice"
#define WHY_DIVIDES "it is exact; the divisor must not be 0"
#define WHY_SIGNED_DIVIDES \
    "it is exact; the divisor must not be 0, nor -1 where the dividend is the least integer"
#define WHY_REMAINDER                                                                          \
    "it is exact for a divisor greater than 0 and operands none of which is negative: Vulkan " \
    "leaves those undefined"
#define WHY_ROUNDS_ONCE                                                                       \
    "it rounds once, to nearest even by the float modes or the probe; without NoContraction " \
    "a driver may fuse it with its neighbours or reorder them"
#define WHY_COMPARES_FLOATS                                                                   \
    "Vulkan wants the correct result; that NaN operands count, and subnormal ones as zeros, " \
    "is what the flush, the float modes and the probe see to"
#define WHY_COMPARES_NAN                                                                    \
    "it differs from what the probe tests in what a NaN gives, which Vulkan does not bind " \
    "drivers to"
#define USE_ORDERED "one of the six comparisons of GLSL: < <= == != > >="
#define WHY_ORDER   "the order of the sum is the driver's choice"
#define USE_IN_LOOP "a sum of products in a written order"
#define WHY_RACE    "what it returns, or leaves, depends on which invocation comes first"
#define WHY_COUNTS                                                                            \
    "the outcome in memory does not depend on the order, as long as no other kind of atomic " \
    "meets it there; the value returned does"
#define WHY_FLOAT_RACE    "the order of the sum is that of arrival, which differs from run to run"
#define WHY_FLOAT_CHOICE  "what becomes of NaN and of the sign of zero is the driver's choice"
#define USE_ORDER_KEY(op) op " on weft_order_key of reduce.glsl"
#define USE_BARRIERS      "plain loads and stores with barriers between them"
#define USE_OWN_PLACE     "a place for each invocation, and a sum in a written order (reduce.glsl)"
#define WHY_REDUCES                                                                   \
    "order cannot show in it; the width of the subgroup does, so the results of all " \
    "subgroups must be combined by the same operation before one is stored"
#define WHY_VOTES                                                                     \
    "order cannot show in it; the width of the subgroup does, so the answers of all " \
    "subgroups must be combined before one is stored"
#define WHY_LEADER "which invocation leads is the driver's choice: it must do what any other could"
#define WHY_SAME_VALUE                                                                    \
    "whose value it is depends on the subgroup's width: it must be one that all of them " \
    "have, such as the result of a reduction"
#define WHY_LANES      "which invocations sit where in a subgroup is the driver's choice"
#define USE_IN_SHARED  "shared memory, indexed by gl_LocalInvocationID"
#define WHY_TEXTURES   "filtering and the conversion of formats round as the driver likes"
#define USE_TO_BUFFERS "storage buffers"
#define USE_MATRIX     "a float matrix built up element by element, in vectors"

const struct weft_lint_rule weft_lint_opcodes[] = {
    /* clang-format off */
    ALLOW(Nop, WHY_SAYS_NOTHING)
    REFUSE(Undef, "it stands for any bits, other ones at each use", "a value")
    ALLOW(SourceContinued, WHY_SAYS_NOTHING)
    ALLOW(Source, WHY_SAYS_NOTHING)
    ALLOW(SourceExtension, WHY_SAYS_NOTHING)
    ALLOW(Name, WHY_SAYS_NOTHING)
    ALLOW(MemberName, WHY_SAYS_NOTHING)
    ALLOW(String, WHY_SAYS_NOTHING)
    ALLOW(Line, WHY_SAYS_NOTHING)
    ALLOW(Extension, "what an extension adds has to be on these lists by itself")
    CHECK(ExtInstImport, IMPORT, "of GLSL.std.450 there is a list")
    CHECK(ExtInst, EXT_INST, "of GLSL.std.450 there is a list")
    ALLOW(MemoryModel, "it says when writes are seen, not what is written")
    ALLOW(EntryPoint, "it names a function")
    CHECK(ExecutionMode, MODE, "there is a list")
    CHECK(Capability, CAPABILITY, "there is a list")
    ALLOW(TypeVoid, WHY_DECLARES)
    ALLOW(TypeBool, WHY_DECLARES)
    ALLOW(TypeInt, WHY_DECLARES)
    CHECK(TypeFloat, FLOAT_TYPE, "every device has 32 bits")
    ALLOW(TypeVector, WHY_DECLARES)
    ALLOW(TypeMatrix, WHY_DECLARES)
    REFUSE(TypeImage, WHY_TEXTURES, USE_TO_BUFFERS)
    REFUSE(TypeSampler, WHY_TEXTURES, USE_TO_BUFFERS)
    REFUSE(TypeSampledImage, WHY_TEXTURES, USE_TO_BUFFERS)
    ALLOW(TypeArray, WHY_DECLARES)
    ALLOW(TypeRuntimeArray, WHY_DECLARES)
    ALLOW(TypeStruct, WHY_DECLARES)
    ALLOW(TypePointer, WHY_DECLARES)
    ALLOW(TypeFunction, WHY_DECLARES)
    ALLOW(ConstantTrue, WHY_CONSTANT)
    ALLOW(ConstantFalse, WHY_CONSTANT)
    CHECK(Constant, CONSTANT, "the module holds its value, which must be no subnormal")
    ALLOW(ConstantComposite, WHY_CONSTANT)
    ALLOW(ConstantNull, WHY_CONSTANT)
    ALLOW(SpecConstantTrue, WHY_CONSTANT)
    ALLOW(SpecConstantFalse, WHY_CONSTANT)
    CHECK(SpecConstant, CONSTANT,
          "the module or the pipeline's description holds its value, which must be no subnormal")
    ALLOW(SpecConstantComposite, WHY_CONSTANT)
    CHECK(SpecConstantOp, SPEC_OP, "of operations there is this list")
    ALLOW(Function, WHY_FLOW)
    ALLOW(FunctionParameter, WHY_MOVES)
    ALLOW(FunctionEnd, WHY_FLOW)
    ALLOW(FunctionCall, WHY_MOVES)
    WHERE(Variable,
          "without an initialiser it holds anything: it must be written before it is read")
    WHERE(Load, WHY_SHARED_MEMORY)
    WHERE(Store, WHY_SHARED_MEMORY)
    WHERE(CopyMemory, WHY_SHARED_MEMORY)
    WHERE(AccessChain, WHY_ADDRESS)
    WHERE(InBoundsAccessChain, WHY_ADDRESS)
    WHERE(ArrayLength, "the range bound to the buffer must follow from shapes alone, as in a plan")
    CHECK(Decorate, DECORATION, "there is a list")
    CHECK(MemberDecorate, MEMBER_DECORATION, "there is a list")
    ALLOW(DecorationGroup, WHY_SAYS_NOTHING)
    ALLOW(GroupDecorate, "what it applies was checked at the group")
    ALLOW(GroupMemberDecorate, "what it applies was checked at the group")
    WHERE(VectorExtractDynamic, WHY_INDEXED)
    WHERE(VectorInsertDynamic, WHY_INDEXED)
    CHECK(VectorShuffle, SHUFFLE, "it moves bits as they are, but can ask for any bits")
    ALLOW(CompositeConstruct, WHY_MOVES)
    ALLOW(CompositeExtract, WHY_MOVES)
    ALLOW(CompositeInsert, WHY_MOVES)
    ALLOW(CopyObject, WHY_MOVES)
    ALLOW(Transpose,
          "it moves elements, which the flush or the float modes have made no subnormals")
    WHERE(ConvertFToU, WHY_TO_INT)
    WHERE(ConvertFToS, WHY_TO_INT)
    WHERE(ConvertSToF, WHY_TO_FLOAT)
    WHERE(ConvertUToF, WHY_TO_FLOAT)
    ALLOW(UConvert, "bits are dropped, or zeros added")
    ALLOW(SConvert, "bits are dropped, or the sign's repeated")
    REFUSE(FConvert, "the rounding to another width is the driver's choice",
           "32-bit floats throughout")
    REFUSE(QuantizeToF16,
           "the rounding, and what becomes of half subnormals, is the driver's choice",
           "integer operations on the bits")
    WHERE(Bitcast,
          "it moves bits as they are; those of a NaN are the driver's and must not be stored "
          "(weft_flush of math.glsl gives 0x7fc00000)")
    ALLOW(SNegate, WHY_INTEGER)
    CHECK(FNegate, NO_CONTRACTION, "it flips the sign; " WHY_ROUNDS_ONCE)
    ALLOW(IAdd, WHY_INTEGER)
    CHECK(FAdd, NO_CONTRACTION, WHY_ROUNDS_ONCE)
    ALLOW(ISub, WHY_INTEGER)
    CHECK(FSub, NO_CONTRACTION, WHY_ROUNDS_ONCE)
    ALLOW(IMul, WHY_INTEGER)
    CHECK(FMul, NO_CONTRACTION, WHY_ROUNDS_ONCE)
    WHERE(UDiv, WHY_DIVIDES)
    WHERE(SDiv, WHY_SIGNED_DIVIDES)
    REFUSE(FDiv, "a driver may be off by 2.5 ulp", "weft_div or weft_rcp of math.glsl")
    WHERE(UMod, WHY_DIVIDES)
    WHERE(SRem, WHY_REMAINDER)
    WHERE(SMod, WHY_REMAINDER)
    REFUSE(FRem, "it rests on a division, off by 2.5 ulp, whose error decides the quotient",
           "integers, or a reduction as in math.glsl")
    REFUSE(FMod, "it rests on a division, off by 2.5 ulp, whose error decides the quotient",
           "integers, or a reduction as in math.glsl")
    CHECK(VectorTimesScalar, NO_CONTRACTION, "it is OpFMul for each component: " WHY_ROUNDS_ONCE)
    REFUSE(MatrixTimesScalar, "subnormals in it are not flushed on devices that keep them",
           USE_MATRIX)
    REFUSE(VectorTimesMatrix, WHY_ORDER, USE_IN_LOOP)
    REFUSE(MatrixTimesVector, WHY_ORDER, USE_IN_LOOP)
    REFUSE(MatrixTimesMatrix, WHY_ORDER, USE_IN_LOOP)
    REFUSE(OuterProduct, "Vulkan states no precision for it", USE_MATRIX)
    REFUSE(Dot, WHY_ORDER, USE_IN_LOOP)
    ALLOW(IAddCarry, WHY_INTEGER)
    ALLOW(ISubBorrow, WHY_INTEGER)
    ALLOW(UMulExtended, "both halves of the product of integers are kept")
    ALLOW(SMulExtended, "both halves of the product of integers are kept")
    ALLOW(Any, WHY_BOOLEAN)
    ALLOW(All, WHY_BOOLEAN)
    REFUSE(IsNan, "a driver may take it that there is no NaN",
           "a test of the bits, as in math.glsl")
    REFUSE(IsInf, "a driver may take it that there is no infinity",
           "a test of the bits, as in math.glsl")
    ALLOW(LogicalEqual, WHY_BOOLEAN)
    ALLOW(LogicalNotEqual, WHY_BOOLEAN)
    ALLOW(LogicalOr, WHY_BOOLEAN)
    ALLOW(LogicalAnd, WHY_BOOLEAN)
    ALLOW(LogicalNot, WHY_BOOLEAN)
    ALLOW(Select, WHY_MOVES)
    ALLOW(IEqual, WHY_COMPARES)
    ALLOW(INotEqual, WHY_COMPARES)
    ALLOW(UGreaterThan, WHY_COMPARES)
    ALLOW(SGreaterThan, WHY_COMPARES)
    ALLOW(UGreaterThanEqual, WHY_COMPARES)
    ALLOW(SGreaterThanEqual, WHY_COMPARES)
    ALLOW(ULessThan, WHY_COMPARES)
    ALLOW(SLessThan, WHY_COMPARES)
    ALLOW(ULessThanEqual, WHY_COMPARES)
    ALLOW(SLessThanEqual, WHY_COMPARES)
    WHERE(FOrdEqual, WHY_COMPARES_FLOATS)
    REFUSE(FUnordEqual, WHY_COMPARES_NAN, USE_ORDERED)
    REFUSE(FOrdNotEqual, WHY_COMPARES_NAN, USE_ORDERED)
    WHERE(FUnordNotEqual, WHY_COMPARES_FLOATS)
    WHERE(FOrdLessThan, WHY_COMPARES_FLOATS)
    REFUSE(FUnordLessThan, WHY_COMPARES_NAN, USE_ORDERED)
    WHERE(FOrdGreaterThan, WHY_COMPARES_FLOATS)
    REFUSE(FUnordGreaterThan, WHY_COMPARES_NAN, USE_ORDERED)
    WHERE(FOrdLessThanEqual, WHY_COMPARES_FLOATS)
    REFUSE(FUnordLessThanEqual, WHY_COMPARES_NAN, USE_ORDERED)
    WHERE(FOrdGreaterThanEqual, WHY_COMPARES_FLOATS)
    REFUSE(FUnordGreaterThanEqual, WHY_COMPARES_NAN, USE_ORDERED)
    WHERE(ShiftRightLogical, WHY_SHIFTS)
    WHERE(ShiftRightArithmetic, WHY_SHIFTS)
    WHERE(ShiftLeftLogical, WHY_SHIFTS)
    ALLOW(BitwiseOr, WHY_BITS)
    ALLOW(BitwiseXor, WHY_BITS)
    ALLOW(BitwiseAnd, WHY_BITS)
    ALLOW(Not, WHY_BITS)
    WHERE(BitFieldInsert, WHY_FIELD)
    WHERE(BitFieldSExtract, WHY_FIELD)
    WHERE(BitFieldUExtract, WHY_FIELD)
    ALLOW(BitReverse, WHY_BITS)
    ALLOW(BitCount, WHY_BITS)
    ALLOW(ControlBarrier, "it says when writes are seen, not what is written")
    ALLOW(MemoryBarrier, "it says when writes are seen, not what is written")
    REFUSE(AtomicLoad, WHY_RACE, USE_BARRIERS)
    REFUSE(AtomicStore, WHY_RACE, USE_BARRIERS)
    REFUSE(AtomicExchange, WHY_RACE, USE_BARRIERS)
    REFUSE(AtomicCompareExchange, WHY_RACE, USE_BARRIERS)
    CHECK(AtomicIIncrement, RESULT_UNUSED, WHY_COUNTS)
    CHECK(AtomicIDecrement, RESULT_UNUSED, WHY_COUNTS)
    CHECK(AtomicIAdd, RESULT_UNUSED, WHY_COUNTS)
    CHECK(AtomicISub, RESULT_UNUSED, WHY_COUNTS)
    CHECK(AtomicSMin, RESULT_UNUSED, WHY_COUNTS)
    CHECK(AtomicUMin, RESULT_UNUSED, WHY_COUNTS)
    CHECK(AtomicSMax, RESULT_UNUSED, WHY_COUNTS)
    CHECK(AtomicUMax, RESULT_UNUSED, WHY_COUNTS)
    CHECK(AtomicAnd, RESULT_UNUSED, WHY_COUNTS)
    CHECK(AtomicOr, RESULT_UNUSED, WHY_COUNTS)
    CHECK(AtomicXor, RESULT_UNUSED, WHY_COUNTS)
    ALLOW(Phi, WHY_MOVES)
    ALLOW(LoopMerge, WHY_FLOW)
    ALLOW(SelectionMerge, WHY_FLOW)
    ALLOW(Label, WHY_FLOW)
    ALLOW(Branch, WHY_FLOW)
    ALLOW(BranchConditional, WHY_FLOW)
    ALLOW(Switch, WHY_FLOW)
    ALLOW(Return, WHY_FLOW)
    ALLOW(ReturnValue, WHY_MOVES)
    WHERE(Unreachable, "it must not be reached")
    ALLOW(NoLine, WHY_SAYS_NOTHING)
    ALLOW(ModuleProcessed, WHY_SAYS_NOTHING)
    CHECK(ExecutionModeId, MODE, "there is a list")
    REFUSE(DecorateId, "no decoration on the list takes ids", NULL)
    WHERE(GroupNonUniformElect, WHY_LEADER)
    WHERE(GroupNonUniformAll, WHY_VOTES)
    WHERE(GroupNonUniformAny, WHY_VOTES)
    REFUSE(GroupNonUniformAllEqual, "whether parts of a workgroup agree depends on how it is "
           "parted, which is the driver's choice", USE_IN_SHARED)
    WHERE(GroupNonUniformBroadcast, WHY_SAME_VALUE)
    WHERE(GroupNonUniformBroadcastFirst, WHY_SAME_VALUE)
    REFUSE(GroupNonUniformBallot, WHY_LANES,
           "OpGroupNonUniformIAdd to count, or any() and all()")
    REFUSE(GroupNonUniformInverseBallot, WHY_LANES, USE_IN_SHARED)
    REFUSE(GroupNonUniformBallotBitExtract, WHY_LANES, USE_IN_SHARED)
    REFUSE(GroupNonUniformBallotBitCount, WHY_LANES, "OpGroupNonUniformIAdd")
    REFUSE(GroupNonUniformBallotFindLSB, WHY_LANES, USE_IN_SHARED)
    REFUSE(GroupNonUniformBallotFindMSB, WHY_LANES, USE_IN_SHARED)
    REFUSE(GroupNonUniformShuffle, WHY_LANES, USE_IN_SHARED)
    REFUSE(GroupNonUniformShuffleXor, WHY_LANES, USE_IN_SHARED)
    REFUSE(GroupNonUniformShuffleUp, WHY_LANES, USE_IN_SHARED)
    REFUSE(GroupNonUniformShuffleDown, WHY_LANES, USE_IN_SHARED)
    CHECK(GroupNonUniformIAdd, REDUCE, WHY_REDUCES)
    REFUSE(GroupNonUniformFAdd, WHY_ORDER, USE_OWN_PLACE)
    CHECK(GroupNonUniformIMul, REDUCE, WHY_REDUCES)
    REFUSE(GroupNonUniformFMul, "the order of the product is the driver's choice",
           USE_OWN_PLACE)
    CHECK(GroupNonUniformSMin, REDUCE, WHY_REDUCES)
    CHECK(GroupNonUniformUMin, REDUCE, WHY_REDUCES)
    REFUSE(GroupNonUniformFMin, WHY_FLOAT_CHOICE,
           USE_ORDER_KEY("OpGroupNonUniformUMin"))
    CHECK(GroupNonUniformSMax, REDUCE, WHY_REDUCES)
    CHECK(GroupNonUniformUMax, REDUCE, WHY_REDUCES)
    REFUSE(GroupNonUniformFMax, WHY_FLOAT_CHOICE,
           USE_ORDER_KEY("OpGroupNonUniformUMax"))
    CHECK(GroupNonUniformBitwiseAnd, REDUCE, WHY_REDUCES)
    CHECK(GroupNonUniformBitwiseOr, REDUCE, WHY_REDUCES)
    CHECK(GroupNonUniformBitwiseXor, REDUCE, WHY_REDUCES)
    CHECK(GroupNonUniformLogicalAnd, REDUCE, WHY_REDUCES)
    CHECK(GroupNonUniformLogicalOr, REDUCE, WHY_REDUCES)
    CHECK(GroupNonUniformLogicalXor, REDUCE, WHY_REDUCES)
    REFUSE(GroupNonUniformQuadBroadcast, WHY_LANES, USE_IN_SHARED)
    REFUSE(GroupNonUniformQuadSwap, WHY_LANES, USE_IN_SHARED)
    ALLOW(CopyLogical, WHY_MOVES)
    CHECK(SDot, PACKED_DOT, WHY_DOT)
    CHECK(SUDot, PACKED_DOT, WHY_DOT)
    COOPERATIVE(TYPE, "OpTypeCooperativeMatrixKHR", CHECKED, MATRIX_TYPE, WHY_MATRIX)
    COOPERATIVE(LOAD, "OpCooperativeMatrixLoadKHR", CONDITIONAL, NONE, WHY_SHARED_MEMORY)
    COOPERATIVE(STORE, "OpCooperativeMatrixStoreKHR", CONDITIONAL, NONE, WHY_SHARED_MEMORY)
    COOPERATIVE(MUL_ADD, "OpCooperativeMatrixMulAddKHR", CHECKED, MATRIX_PRODUCT, WHY_MATRIX)
    REFUSE(ReadClockKHR, "time is no part of the input", NULL)
    REFUSE(AtomicFMinEXT, WHY_FLOAT_CHOICE, USE_ORDER_KEY("OpAtomicUMin"))
    REFUSE(AtomicFMaxEXT, WHY_FLOAT_CHOICE, USE_ORDER_KEY("OpAtomicUMax"))
    REFUSE(AtomicFAddEXT, WHY_FLOAT_RACE, USE_OWN_PLACE)
    /* clang-format on */
};

const size_t weft_lint_opcode_count = sizeof weft_lint_opcodes / sizeof weft_lint_opcodes[0];
