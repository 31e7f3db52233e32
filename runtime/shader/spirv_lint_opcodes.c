/* SPDX-License-Identifier: MIT */
/* The list of instructions: which give the same bits on every driver, and why. */
#include "shader/spirv_lint_rules.h"
#include "spirv/module.h"

/* The name of each instruction as a constant that the table below can point to. */
#define MEMBER(enumerator, number, name) char enumerator[sizeof "Op" #name];
#define TEXT(enumerator, number, name)   "Op" #name,
static const struct { WEFT_SPIRV_OPS(MEMBER) } names = {WEFT_SPIRV_OPS(TEXT)};

#define RULE(op, verdict, check, reason, instead) \
    {WEFT_OP_##op, WEFT_LINT_##verdict, WEFT_LINT_CHECK_##check, names.op, reason, instead},
#define ALLOW(op, reason)           RULE(op, ALLOWED, NONE, reason, NULL)
#define WHERE(op, condition)        RULE(op, CONDITIONAL, NONE, condition, NULL)
#define CHECK(op, check, reason)    RULE(op, CHECKED, check, reason, NULL)
#define REFUSE(op, reason, instead) RULE(op, REFUSED, NONE, reason, instead)

/* Reasons, and what to use instead, that several share. */
#define WHY_SAYS_NOTHING "it is for readers of the module and computes nothing"
#define WHY_DECLARES     "it declares a type"
#define WHY_CONSTANT     "the module holds its value"
#define WHY_FLOW         "it says what runs next, from values that are the same everywhere"
#define WHY_SHARED_MEMORY                                                                   \
    "it moves bits as they are; the invocations that share a place in memory must be kept " \
    "apart by barriers, and the place be written before it is read"
#define WHY_MOVES    "it moves bits as they are: Vulkan lets it neither flush nor round"
#define WHY_INDEXED  "it moves bits as they are; the index must be within the vector"
#define WHY_ADDRESS  "it finds a place in memory; the index must be within the array"
#define WHY_INTEGER  "integers wrap modulo 2^n"
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
    ALLOW(NOP, WHY_SAYS_NOTHING)
    REFUSE(UNDEF, "it stands for any bits, other ones at each use", "a value")
    ALLOW(SOURCE_CONTINUED, WHY_SAYS_NOTHING)
    ALLOW(SOURCE, WHY_SAYS_NOTHING)
    ALLOW(SOURCE_EXTENSION, WHY_SAYS_NOTHING)
    ALLOW(NAME, WHY_SAYS_NOTHING)
    ALLOW(MEMBER_NAME, WHY_SAYS_NOTHING)
    ALLOW(STRING, WHY_SAYS_NOTHING)
    ALLOW(LINE, WHY_SAYS_NOTHING)
    ALLOW(EXTENSION, "what an extension adds has to be on these lists by itself")
    CHECK(EXT_INST_IMPORT, IMPORT, "of GLSL.std.450 there is a list")
    CHECK(EXT_INST, EXT_INST, "of GLSL.std.450 there is a list")
    ALLOW(MEMORY_MODEL, "it says when writes are seen, not what is written")
    ALLOW(ENTRY_POINT, "it names a function")
    CHECK(EXECUTION_MODE, MODE, "there is a list")
    CHECK(CAPABILITY, CAPABILITY, "there is a list")
    ALLOW(TYPE_VOID, WHY_DECLARES)
    ALLOW(TYPE_BOOL, WHY_DECLARES)
    ALLOW(TYPE_INT, WHY_DECLARES)
    CHECK(TYPE_FLOAT, FLOAT_TYPE, "every device has 32 bits")
    ALLOW(TYPE_VECTOR, WHY_DECLARES)
    ALLOW(TYPE_MATRIX, WHY_DECLARES)
    REFUSE(TYPE_IMAGE, WHY_TEXTURES, USE_TO_BUFFERS)
    REFUSE(TYPE_SAMPLER, WHY_TEXTURES, USE_TO_BUFFERS)
    REFUSE(TYPE_SAMPLED_IMAGE, WHY_TEXTURES, USE_TO_BUFFERS)
    ALLOW(TYPE_ARRAY, WHY_DECLARES)
    ALLOW(TYPE_RUNTIME_ARRAY, WHY_DECLARES)
    ALLOW(TYPE_STRUCT, WHY_DECLARES)
    ALLOW(TYPE_POINTER, WHY_DECLARES)
    ALLOW(TYPE_FUNCTION, WHY_DECLARES)
    ALLOW(CONSTANT_TRUE, WHY_CONSTANT)
    ALLOW(CONSTANT_FALSE, WHY_CONSTANT)
    CHECK(CONSTANT, CONSTANT, "the module holds its value, which must be no subnormal")
    ALLOW(CONSTANT_COMPOSITE, WHY_CONSTANT)
    ALLOW(CONSTANT_NULL, WHY_CONSTANT)
    ALLOW(SPEC_CONSTANT_TRUE, WHY_CONSTANT)
    ALLOW(SPEC_CONSTANT_FALSE, WHY_CONSTANT)
    CHECK(SPEC_CONSTANT, CONSTANT,
          "the module or the pipeline's description holds its value, which must be no subnormal")
    ALLOW(SPEC_CONSTANT_COMPOSITE, WHY_CONSTANT)
    CHECK(SPEC_CONSTANT_OP, SPEC_OP, "of operations there is this list")
    ALLOW(FUNCTION, WHY_FLOW)
    ALLOW(FUNCTION_PARAMETER, WHY_MOVES)
    ALLOW(FUNCTION_END, WHY_FLOW)
    ALLOW(FUNCTION_CALL, WHY_MOVES)
    WHERE(VARIABLE,
          "without an initialiser it holds anything: it must be written before it is read")
    WHERE(LOAD, WHY_SHARED_MEMORY)
    WHERE(STORE, WHY_SHARED_MEMORY)
    WHERE(COPY_MEMORY, WHY_SHARED_MEMORY)
    WHERE(ACCESS_CHAIN, WHY_ADDRESS)
    WHERE(IN_BOUNDS_ACCESS_CHAIN, WHY_ADDRESS)
    WHERE(ARRAY_LENGTH, "the range bound to the buffer must follow from shapes alone, as in a plan")
    CHECK(DECORATE, DECORATION, "there is a list")
    CHECK(MEMBER_DECORATE, MEMBER_DECORATION, "there is a list")
    ALLOW(DECORATION_GROUP, WHY_SAYS_NOTHING)
    CHECK(GROUP_DECORATE, GROUP, "what it applies was checked at the group")
    ALLOW(GROUP_MEMBER_DECORATE, "what it applies was checked at the group")
    WHERE(VECTOR_EXTRACT_DYNAMIC, WHY_INDEXED)
    WHERE(VECTOR_INSERT_DYNAMIC, WHY_INDEXED)
    CHECK(VECTOR_SHUFFLE, SHUFFLE, "it moves bits as they are, but can ask for any bits")
    ALLOW(COMPOSITE_CONSTRUCT, WHY_MOVES)
    ALLOW(COMPOSITE_EXTRACT, WHY_MOVES)
    ALLOW(COMPOSITE_INSERT, WHY_MOVES)
    ALLOW(COPY_OBJECT, WHY_MOVES)
    ALLOW(TRANSPOSE,
          "it moves elements, which the flush or the float modes have made no subnormals")
    WHERE(CONVERT_F_TO_U, WHY_TO_INT)
    WHERE(CONVERT_F_TO_S, WHY_TO_INT)
    WHERE(CONVERT_S_TO_F, WHY_TO_FLOAT)
    WHERE(CONVERT_U_TO_F, WHY_TO_FLOAT)
    ALLOW(U_CONVERT, "bits are dropped, or zeros added")
    ALLOW(S_CONVERT, "bits are dropped, or the sign's repeated")
    REFUSE(F_CONVERT, "the rounding to another width is the driver's choice",
           "32-bit floats throughout")
    REFUSE(QUANTIZE_TO_F16,
           "the rounding, and what becomes of half subnormals, is the driver's choice",
           "integer operations on the bits")
    WHERE(BITCAST,
          "it moves bits as they are; those of a NaN are the driver's and must not be stored "
          "(weft_flush of math.glsl gives 0x7fc00000)")
    ALLOW(S_NEGATE, WHY_INTEGER)
    CHECK(F_NEGATE, NO_CONTRACTION, "it flips the sign; " WHY_ROUNDS_ONCE)
    ALLOW(I_ADD, WHY_INTEGER)
    CHECK(F_ADD, NO_CONTRACTION, WHY_ROUNDS_ONCE)
    ALLOW(I_SUB, WHY_INTEGER)
    CHECK(F_SUB, NO_CONTRACTION, WHY_ROUNDS_ONCE)
    ALLOW(I_MUL, WHY_INTEGER)
    CHECK(F_MUL, NO_CONTRACTION, WHY_ROUNDS_ONCE)
    WHERE(U_DIV, WHY_DIVIDES)
    WHERE(S_DIV, WHY_SIGNED_DIVIDES)
    REFUSE(F_DIV, "a driver may be off by 2.5 ulp", "weft_div or weft_rcp of math.glsl")
    WHERE(U_MOD, WHY_DIVIDES)
    WHERE(S_REM, WHY_REMAINDER)
    WHERE(S_MOD, WHY_REMAINDER)
    REFUSE(F_REM, "it rests on a division, off by 2.5 ulp, whose error decides the quotient",
           "integers, or a reduction as in math.glsl")
    REFUSE(F_MOD, "it rests on a division, off by 2.5 ulp, whose error decides the quotient",
           "integers, or a reduction as in math.glsl")
    CHECK(VECTOR_TIMES_SCALAR, NO_CONTRACTION, "it is OpFMul for each component: " WHY_ROUNDS_ONCE)
    REFUSE(MATRIX_TIMES_SCALAR, "subnormals in it are not flushed on devices that keep them",
           USE_MATRIX)
    REFUSE(VECTOR_TIMES_MATRIX, WHY_ORDER, USE_IN_LOOP)
    REFUSE(MATRIX_TIMES_VECTOR, WHY_ORDER, USE_IN_LOOP)
    REFUSE(MATRIX_TIMES_MATRIX, WHY_ORDER, USE_IN_LOOP)
    REFUSE(OUTER_PRODUCT, "Vulkan states no precision for it", USE_MATRIX)
    REFUSE(DOT, WHY_ORDER, USE_IN_LOOP)
    ALLOW(I_ADD_CARRY, WHY_INTEGER)
    ALLOW(I_SUB_BORROW, WHY_INTEGER)
    ALLOW(U_MUL_EXTENDED, "both halves of the product of integers are kept")
    ALLOW(S_MUL_EXTENDED, "both halves of the product of integers are kept")
    ALLOW(ANY, WHY_BOOLEAN)
    ALLOW(ALL, WHY_BOOLEAN)
    REFUSE(IS_NAN, "a driver may take it that there is no NaN",
           "a test of the bits, as in math.glsl")
    REFUSE(IS_INF, "a driver may take it that there is no infinity",
           "a test of the bits, as in math.glsl")
    ALLOW(LOGICAL_EQUAL, WHY_BOOLEAN)
    ALLOW(LOGICAL_NOT_EQUAL, WHY_BOOLEAN)
    ALLOW(LOGICAL_OR, WHY_BOOLEAN)
    ALLOW(LOGICAL_AND, WHY_BOOLEAN)
    ALLOW(LOGICAL_NOT, WHY_BOOLEAN)
    ALLOW(SELECT, WHY_MOVES)
    ALLOW(I_EQUAL, WHY_COMPARES)
    ALLOW(I_NOT_EQUAL, WHY_COMPARES)
    ALLOW(U_GREATER_THAN, WHY_COMPARES)
    ALLOW(S_GREATER_THAN, WHY_COMPARES)
    ALLOW(U_GREATER_THAN_EQUAL, WHY_COMPARES)
    ALLOW(S_GREATER_THAN_EQUAL, WHY_COMPARES)
    ALLOW(U_LESS_THAN, WHY_COMPARES)
    ALLOW(S_LESS_THAN, WHY_COMPARES)
    ALLOW(U_LESS_THAN_EQUAL, WHY_COMPARES)
    ALLOW(S_LESS_THAN_EQUAL, WHY_COMPARES)
    WHERE(F_ORD_EQUAL, WHY_COMPARES_FLOATS)
    REFUSE(F_UNORD_EQUAL, WHY_COMPARES_NAN, USE_ORDERED)
    REFUSE(F_ORD_NOT_EQUAL, WHY_COMPARES_NAN, USE_ORDERED)
    WHERE(F_UNORD_NOT_EQUAL, WHY_COMPARES_FLOATS)
    WHERE(F_ORD_LESS_THAN, WHY_COMPARES_FLOATS)
    REFUSE(F_UNORD_LESS_THAN, WHY_COMPARES_NAN, USE_ORDERED)
    WHERE(F_ORD_GREATER_THAN, WHY_COMPARES_FLOATS)
    REFUSE(F_UNORD_GREATER_THAN, WHY_COMPARES_NAN, USE_ORDERED)
    WHERE(F_ORD_LESS_THAN_EQUAL, WHY_COMPARES_FLOATS)
    REFUSE(F_UNORD_LESS_THAN_EQUAL, WHY_COMPARES_NAN, USE_ORDERED)
    WHERE(F_ORD_GREATER_THAN_EQUAL, WHY_COMPARES_FLOATS)
    REFUSE(F_UNORD_GREATER_THAN_EQUAL, WHY_COMPARES_NAN, USE_ORDERED)
    WHERE(SHIFT_RIGHT_LOGICAL, WHY_SHIFTS)
    WHERE(SHIFT_RIGHT_ARITHMETIC, WHY_SHIFTS)
    WHERE(SHIFT_LEFT_LOGICAL, WHY_SHIFTS)
    ALLOW(BITWISE_OR, WHY_BITS)
    ALLOW(BITWISE_XOR, WHY_BITS)
    ALLOW(BITWISE_AND, WHY_BITS)
    ALLOW(NOT, WHY_BITS)
    WHERE(BIT_FIELD_INSERT, WHY_FIELD)
    WHERE(BIT_FIELD_S_EXTRACT, WHY_FIELD)
    WHERE(BIT_FIELD_U_EXTRACT, WHY_FIELD)
    ALLOW(BIT_REVERSE, WHY_BITS)
    ALLOW(BIT_COUNT, WHY_BITS)
    ALLOW(CONTROL_BARRIER, "it says when writes are seen, not what is written")
    ALLOW(MEMORY_BARRIER, "it says when writes are seen, not what is written")
    REFUSE(ATOMIC_LOAD, WHY_RACE, USE_BARRIERS)
    REFUSE(ATOMIC_STORE, WHY_RACE, USE_BARRIERS)
    REFUSE(ATOMIC_EXCHANGE, WHY_RACE, USE_BARRIERS)
    REFUSE(ATOMIC_COMPARE_EXCHANGE, WHY_RACE, USE_BARRIERS)
    CHECK(ATOMIC_I_INCREMENT, RESULT_UNUSED, WHY_COUNTS)
    CHECK(ATOMIC_I_DECREMENT, RESULT_UNUSED, WHY_COUNTS)
    CHECK(ATOMIC_I_ADD, RESULT_UNUSED, WHY_COUNTS)
    CHECK(ATOMIC_I_SUB, RESULT_UNUSED, WHY_COUNTS)
    CHECK(ATOMIC_S_MIN, RESULT_UNUSED, WHY_COUNTS)
    CHECK(ATOMIC_U_MIN, RESULT_UNUSED, WHY_COUNTS)
    CHECK(ATOMIC_S_MAX, RESULT_UNUSED, WHY_COUNTS)
    CHECK(ATOMIC_U_MAX, RESULT_UNUSED, WHY_COUNTS)
    CHECK(ATOMIC_AND, RESULT_UNUSED, WHY_COUNTS)
    CHECK(ATOMIC_OR, RESULT_UNUSED, WHY_COUNTS)
    CHECK(ATOMIC_XOR, RESULT_UNUSED, WHY_COUNTS)
    ALLOW(PHI, WHY_MOVES)
    ALLOW(LOOP_MERGE, WHY_FLOW)
    ALLOW(SELECTION_MERGE, WHY_FLOW)
    ALLOW(LABEL, WHY_FLOW)
    ALLOW(BRANCH, WHY_FLOW)
    ALLOW(BRANCH_CONDITIONAL, WHY_FLOW)
    ALLOW(SWITCH, WHY_FLOW)
    ALLOW(RETURN, WHY_FLOW)
    ALLOW(RETURN_VALUE, WHY_MOVES)
    WHERE(UNREACHABLE, "it must not be reached")
    ALLOW(NO_LINE, WHY_SAYS_NOTHING)
    ALLOW(MODULE_PROCESSED, WHY_SAYS_NOTHING)
    CHECK(EXECUTION_MODE_ID, MODE, "there is a list")
    REFUSE(DECORATE_ID, "no decoration on the list takes ids", NULL)
    WHERE(GROUP_NON_UNIFORM_ELECT, WHY_LEADER)
    WHERE(GROUP_NON_UNIFORM_ALL, WHY_VOTES)
    WHERE(GROUP_NON_UNIFORM_ANY, WHY_VOTES)
    REFUSE(GROUP_NON_UNIFORM_ALL_EQUAL, "whether parts of a workgroup agree depends on how it is "
           "parted, which is the driver's choice", USE_IN_SHARED)
    WHERE(GROUP_NON_UNIFORM_BROADCAST, WHY_SAME_VALUE)
    WHERE(GROUP_NON_UNIFORM_BROADCAST_FIRST, WHY_SAME_VALUE)
    REFUSE(GROUP_NON_UNIFORM_BALLOT, WHY_LANES,
           "OpGroupNonUniformIAdd to count, or any() and all()")
    REFUSE(GROUP_NON_UNIFORM_INVERSE_BALLOT, WHY_LANES, USE_IN_SHARED)
    REFUSE(GROUP_NON_UNIFORM_BALLOT_BIT_EXTRACT, WHY_LANES, USE_IN_SHARED)
    REFUSE(GROUP_NON_UNIFORM_BALLOT_BIT_COUNT, WHY_LANES, "OpGroupNonUniformIAdd")
    REFUSE(GROUP_NON_UNIFORM_BALLOT_FIND_LSB, WHY_LANES, USE_IN_SHARED)
    REFUSE(GROUP_NON_UNIFORM_BALLOT_FIND_MSB, WHY_LANES, USE_IN_SHARED)
    REFUSE(GROUP_NON_UNIFORM_SHUFFLE, WHY_LANES, USE_IN_SHARED)
    REFUSE(GROUP_NON_UNIFORM_SHUFFLE_XOR, WHY_LANES, USE_IN_SHARED)
    REFUSE(GROUP_NON_UNIFORM_SHUFFLE_UP, WHY_LANES, USE_IN_SHARED)
    REFUSE(GROUP_NON_UNIFORM_SHUFFLE_DOWN, WHY_LANES, USE_IN_SHARED)
    CHECK(GROUP_NON_UNIFORM_I_ADD, REDUCE, WHY_REDUCES)
    REFUSE(GROUP_NON_UNIFORM_F_ADD, WHY_ORDER, USE_OWN_PLACE)
    CHECK(GROUP_NON_UNIFORM_I_MUL, REDUCE, WHY_REDUCES)
    REFUSE(GROUP_NON_UNIFORM_F_MUL, "the order of the product is the driver's choice",
           USE_OWN_PLACE)
    CHECK(GROUP_NON_UNIFORM_S_MIN, REDUCE, WHY_REDUCES)
    CHECK(GROUP_NON_UNIFORM_U_MIN, REDUCE, WHY_REDUCES)
    REFUSE(GROUP_NON_UNIFORM_F_MIN, WHY_FLOAT_CHOICE,
           USE_ORDER_KEY("OpGroupNonUniformUMin"))
    CHECK(GROUP_NON_UNIFORM_S_MAX, REDUCE, WHY_REDUCES)
    CHECK(GROUP_NON_UNIFORM_U_MAX, REDUCE, WHY_REDUCES)
    REFUSE(GROUP_NON_UNIFORM_F_MAX, WHY_FLOAT_CHOICE,
           USE_ORDER_KEY("OpGroupNonUniformUMax"))
    CHECK(GROUP_NON_UNIFORM_BITWISE_AND, REDUCE, WHY_REDUCES)
    CHECK(GROUP_NON_UNIFORM_BITWISE_OR, REDUCE, WHY_REDUCES)
    CHECK(GROUP_NON_UNIFORM_BITWISE_XOR, REDUCE, WHY_REDUCES)
    CHECK(GROUP_NON_UNIFORM_LOGICAL_AND, REDUCE, WHY_REDUCES)
    CHECK(GROUP_NON_UNIFORM_LOGICAL_OR, REDUCE, WHY_REDUCES)
    CHECK(GROUP_NON_UNIFORM_LOGICAL_XOR, REDUCE, WHY_REDUCES)
    REFUSE(GROUP_NON_UNIFORM_QUAD_BROADCAST, WHY_LANES, USE_IN_SHARED)
    REFUSE(GROUP_NON_UNIFORM_QUAD_SWAP, WHY_LANES, USE_IN_SHARED)
    ALLOW(COPY_LOGICAL, WHY_MOVES)
    REFUSE(S_DOT, "it is exact, but no part of Vulkan 1.1", "products and sums of integers")
    REFUSE(TYPE_COOPERATIVE_MATRIX, "order and precision of the sums are the driver's choice",
           USE_IN_LOOP)
    REFUSE(READ_CLOCK, "time is no part of the input", NULL)
    REFUSE(ATOMIC_F_MIN, WHY_FLOAT_CHOICE, USE_ORDER_KEY("OpAtomicUMin"))
    REFUSE(ATOMIC_F_MAX, WHY_FLOAT_CHOICE, USE_ORDER_KEY("OpAtomicUMax"))
    REFUSE(ATOMIC_F_ADD, WHY_FLOAT_RACE, USE_OWN_PLACE)
    /* clang-format on */
};

const size_t weft_lint_opcode_count = sizeof weft_lint_opcodes / sizeof weft_lint_opcodes[0];
