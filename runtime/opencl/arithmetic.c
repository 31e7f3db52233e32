/* SPDX-License-Identifier: MIT */
/*
 * Instructions that compute. What SPIR-V leaves undefined and C must not do has the value that the interpreter gives it
 * (interpret/integer.c), but for shifts, whose distance counts modulo the width.
 */
#include <string.h>

#include "opencl/writer.h"
#include "spirv/lint/rules.h"

#define GLSL(name) (WEFT_IR_GLSL + WEFT_GLSL_##name)

#define SAME(op, text) \
    { op, WEFT_CL_ALWAYS, WEFT_CL_AS_IT_IS, text, NULL }
#define CUT(op, text) \
    { op, WEFT_CL_ALWAYS, WEFT_CL_CUT, text, NULL }
#define CAST(op, text) \
    { op, WEFT_CL_ALWAYS, WEFT_CL_CAST, text, NULL }

/* Sums of products of bytes: the driver's function, where it has cl_khr_integer_dot_product, or their formula. */
#define SIGNED_BYTE(word, shift)   "((int)(" word " << " shift ") >> 24)"
#define UNSIGNED_BYTE(word, shift) "(int)((" word " << " shift ") >> 24)"
#define PRODUCT(byte_of_b, shift)  SIGNED_BYTE("a", shift) " * " byte_of_b("b", shift)
#define PLUS(byte_of_b, shift)     " +\n           " PRODUCT(byte_of_b, shift)
#define PRODUCTS(byte_of_b) \
    PRODUCT(byte_of_b, "24") PLUS(byte_of_b, "16") PLUS(byte_of_b, "8") PLUS(byte_of_b, "0")
#define DOT(name, signs, byte_of_b)                                                       \
    "#ifdef __opencl_c_integer_dot_product_input_4x8bit_packed\n"                         \
    "uint " name "(uint a, uint b) { return (uint)dot_4x8packed_" signs "_int(a, b); }\n" \
    "#else\n"                                                                             \
    "uint " name "(uint a, uint b) {\n"                                                   \
    "    return (uint)(" PRODUCTS(byte_of_b) ");\n}\n#endif\n"

/* If two rows fit an operation, the first one counts. */
static const struct weft_cl_operation operations[] = {
    /* clang-format off */
    CUT(SpvOpIAdd, "$0 + $1"), CUT(SpvOpISub, "$0 - $1"), CUT(SpvOpIMul, "$0 * $1"),
    CUT(SpvOpSNegate, "0 - $0"), {SpvOpUDiv, WEFT_CL_IF_PLAIN, WEFT_CL_CUT, "$0 / $1", NULL},
    {SpvOpUDiv, 0, 0, "weft_divide_T($0, $1)",
     "T weft_divide_T(T a, T b) { return b == 0 ? (T)-1 : a / b; }\n"},
    {SpvOpUMod, WEFT_CL_IF_PLAIN, WEFT_CL_CUT, "$0 % $1", NULL},
    {SpvOpUMod, 0, 0, "weft_modulo_T($0, $1)",
     "T weft_modulo_T(T a, T b) { return b == 0 ? a : a % b; }\n"},
    {SpvOpSDiv, WEFT_CL_IF_PLAIN, WEFT_CL_CAST, "@0 / @1", NULL},
    {SpvOpSDiv, 0, 0, "weft_divide_S($0, $1)",
     "T weft_divide_S(T a, T b) {\n"
     "    return b == 0 ? (T)-1 : b == (T)-1 ? (T)(0 - a) : (T)((S)a / (S)b);\n}\n"},
    {SpvOpSRem, WEFT_CL_IF_PLAIN, WEFT_CL_CAST, "@0 % @1", NULL},
    {SpvOpSRem, 0, 0, "weft_remainder_S($0, $1)",
     "T weft_remainder_S(T a, T b) {\n"
     "    return b == 0 ? a : b == (T)-1 ? 0 : (T)((S)a % (S)b);\n}\n"},
    {SpvOpSMod, 0, 0, "weft_modulo_S($0, $1)",
     "T weft_modulo_S(T a, T b) {\n"
     "    T r = b == 0 ? a : b == (T)-1 ? 0 : (T)((S)a % (S)b);\n"
     "    return b != 0 && r != 0 && (S)(r ^ b) < 0 ? r + b : r;\n}\n"},
    CAST(WEFT_IR_CARRY, "(T)($0 + $1) < $0"), CAST(WEFT_IR_BORROW, "$0 < $1"),
    {WEFT_IR_HIGH_UNSIGNED, WEFT_CL_IF_WIDE, 0, "mul_hi($0, $1)", NULL},
    {WEFT_IR_HIGH_SIGNED, WEFT_CL_IF_WIDE, WEFT_CL_CAST, "mul_hi(@0, @1)", NULL},
    {WEFT_IR_DOT4, 0, 0, "weft_dot($0, $1)", DOT("weft_dot", "ss", SIGNED_BYTE)},
    {WEFT_IR_DOT4_MIXED, 0, 0, "weft_mixed_dot($0, $1)",
     DOT("weft_mixed_dot", "su", UNSIGNED_BYTE)},
    CUT(GLSL(S_ABS), "abs(@0)"), CUT(GLSL(S_SIGN), "@0 < 0 ? (T)-1 : (T)($0 != 0)"),
    CUT(GLSL(U_MIN), "min($0, $1)"), CAST(GLSL(S_MIN), "min(@0, @1)"),
    CUT(GLSL(U_MAX), "max($0, $1)"), CAST(GLSL(S_MAX), "max(@0, @1)"),
    CUT(GLSL(U_CLAMP), "min(max($0, $1), $2)"), CAST(GLSL(S_CLAMP), "min(max(@0, @1), @2)"),
    CUT(SpvOpBitwiseOr, "$0 | $1"), CUT(SpvOpBitwiseXor, "$0 ^ $1"),
    CUT(SpvOpBitwiseAnd, "$0 & $1"), CUT(SpvOpNot, "~$0"),
    {SpvOpShiftLeftLogical, WEFT_CL_IF_PLAIN, WEFT_CL_CUT, "$0 << $1", NULL},
    CUT(SpvOpShiftLeftLogical, "$0 << ($1 & W)"),
    {SpvOpShiftRightLogical, WEFT_CL_IF_PLAIN, WEFT_CL_CUT, "$0 >> $1", NULL},
    CUT(SpvOpShiftRightLogical, "$0 >> ($1 & W)"),
    {SpvOpShiftRightArithmetic, WEFT_CL_IF_PLAIN, WEFT_CL_CAST, "@0 >> $1", NULL},
    CAST(SpvOpShiftRightArithmetic, "@0 >> ($1 & W)"),
    {SpvOpBitFieldUExtract, WEFT_CL_IF_WORD, 0, "weft_field($0, $1, $2)",
     "uint weft_field(uint a, uint at, uint n) {\n"
     "    return at < 32u ? (a >> at) & (n < 32u ? (1u << n) - 1u : 0xffffffffu) : 0u;\n}\n"},
    {SpvOpBitFieldSExtract, WEFT_CL_IF_WORD, 0, "weft_signed_field($0, $1, $2)",
     "uint weft_signed_field(uint a, uint at, uint n) {\n"
     "    uint low = n < 32u ? (1u << n) - 1u : 0xffffffffu;\n"
     "    uint bits = at < 32u ? (a >> at) & low : 0u;\n"
     "    return n > 0u && n < 32u && ((bits >> (n - 1u)) & 1u) != 0u ? bits | ~low : bits;\n}\n"},
    {SpvOpBitFieldInsert, WEFT_CL_IF_WORD, 0, "weft_insert($0, $1, $2, $3)",
     "uint weft_insert(uint a, uint b, uint at, uint n) {\n"
     "    uint low = n < 32u ? (1u << n) - 1u : 0xffffffffu;\n"
     "    return at < 32u ? (a & ~(low << at)) | ((b & low) << at) : a;\n}\n"},
    {SpvOpBitReverse, WEFT_CL_IF_WORD, 0, "weft_reverse($0)",
     "uint weft_reverse(uint a) {\n"
     "    a = ((a & 0x55555555u) << 1) | ((a >> 1) & 0x55555555u);\n"
     "    a = ((a & 0x33333333u) << 2) | ((a >> 2) & 0x33333333u);\n"
     "    a = ((a & 0x0f0f0f0fu) << 4) | ((a >> 4) & 0x0f0f0f0fu);\n"
     "    a = ((a & 0x00ff00ffu) << 8) | ((a >> 8) & 0x00ff00ffu);\n"
     "    return (a << 16) | (a >> 16);\n}\n"},
    {SpvOpBitCount, WEFT_CL_IF_WORD, 0, "weft_count($0)",
     "uint weft_count(uint a) {\n"
     "    a = a - ((a >> 1) & 0x55555555u);\n"
     "    a = (a & 0x33333333u) + ((a >> 2) & 0x33333333u);\n"
     "    return (((a + (a >> 4)) & 0x0f0f0f0fu) * 0x01010101u) >> 24;\n}\n"},
    {GLSL(FIND_I_LSB), WEFT_CL_IF_WORD, 0, "31u - clz($0 & (0u - $0))", NULL},
    {GLSL(FIND_U_MSB), WEFT_CL_IF_WORD, 0, "31u - clz($0)", NULL},
    {GLSL(FIND_S_MSB), WEFT_CL_IF_WORD, 0, "31u - clz(@0 < 0 ? ~$0 : $0)", NULL},
    SAME(SpvOpLogicalOr, "$0 | $1"), SAME(SpvOpLogicalAnd, "$0 & $1"),
    SAME(SpvOpLogicalNot, "!$0"), SAME(SpvOpLogicalEqual, "$0 == $1"),
    SAME(SpvOpLogicalNotEqual, "$0 != $1"), CUT(SpvOpSelect, "$0 ? $1 : $2"),
    SAME(SpvOpIEqual, "$0 == $1"), SAME(SpvOpINotEqual, "$0 != $1"),
    SAME(SpvOpUGreaterThan, "$0 > $1"), SAME(SpvOpUGreaterThanEqual, "$0 >= $1"),
    SAME(SpvOpULessThan, "$0 < $1"), SAME(SpvOpULessThanEqual, "$0 <= $1"),
    SAME(SpvOpSGreaterThan, "@0 > @1"), SAME(SpvOpSGreaterThanEqual, "@0 >= @1"),
    SAME(SpvOpSLessThan, "@0 < @1"), SAME(SpvOpSLessThanEqual, "@0 <= @1"),
    SAME(SpvOpFAdd, "$0 + $1"), SAME(SpvOpFSub, "$0 - $1"), SAME(SpvOpFMul, "$0 * $1"),
    SAME(SpvOpFDiv, "$0 / $1"), SAME(SpvOpFRem, "fmod($0, $1)"),
    SAME(SpvOpFMod, "$0 - $1 * floor($0 / $1)"), /* Intel's optimizer takes `-x` across a barrier wrongly. */
    {SpvOpFNegate, WEFT_CL_IF_HIDDEN, 0, "as_float(as_uint($0) ^ sign)", NULL},
    SAME(SpvOpFNegate, "-$0"),
    SAME(GLSL(F_ABS), "fabs($0)"), SAME(SpvOpIsNan, "isnan($0)"), SAME(SpvOpIsInf, "isinf($0)"),
    SAME(SpvOpFOrdEqual, "$0 == $1"), SAME(SpvOpFUnordNotEqual, "$0 != $1"),
    SAME(SpvOpFOrdGreaterThan, "$0 > $1"), SAME(SpvOpFOrdGreaterThanEqual, "$0 >= $1"),
    SAME(SpvOpFOrdLessThan, "$0 < $1"), SAME(SpvOpFOrdLessThanEqual, "$0 <= $1"),
    SAME(SpvOpFOrdNotEqual, "$0 < $1 || $0 > $1"), SAME(SpvOpFUnordEqual, "!($0 < $1 || $0 > $1)"),
    SAME(SpvOpFUnordGreaterThan, "!($0 <= $1)"), SAME(SpvOpFUnordGreaterThanEqual, "!($0 < $1)"),
    SAME(SpvOpFUnordLessThan, "!($0 >= $1)"), SAME(SpvOpFUnordLessThanEqual, "!($0 > $1)"),
    {SpvOpConvertFToU, WEFT_CL_IF_WORD, 0, "weft_uint_of_A($0)",
     "uint weft_uint_of_A(A a) { return a > -1.0f && a < 0x1p32f ? (uint)a : 0xffffffffu; }\n"},
    {SpvOpConvertFToS, WEFT_CL_IF_WORD, 0, "weft_int_of_A($0)",
     "uint weft_int_of_A(A a) {\n"
     "    return a >= -0x1p31f && a < 0x1p31f ? (uint)(int)a : 0x80000000u;\n}\n"},
    {SpvOpConvertFToU, 0, WEFT_CL_CAST, "weft_ulong_of_A($0)",
     "ulong weft_ulong_of_A(A a) { return a > -1.0f && a < 0x1p64f ? (ulong)a : 0; }\n"},
    {SpvOpConvertFToS, 0, WEFT_CL_CAST, "weft_long_of_A($0)",
     "ulong weft_long_of_A(A a) {\n"
     "    return a >= -0x1p63f && a < 0x1p63f ? (ulong)(long)a : 0;\n}\n"},
    CAST(SpvOpConvertSToF, "@0"), CAST(SpvOpConvertUToF, "$0"), CAST(SpvOpUConvert, "$0"),
    CAST(SpvOpSConvert, "@0"), CAST(SpvOpFConvert, "$0"),
    {SpvOpBitcast, WEFT_CL_IF_PLAIN, 0, "$0", NULL}, SAME(SpvOpBitcast, "as_T($0)"),
    SAME(GLSL(ROUND), "rint($0)"), SAME(GLSL(ROUND_EVEN), "rint($0)"),
    SAME(GLSL(TRUNC), "trunc($0)"), SAME(GLSL(FLOOR), "floor($0)"), SAME(GLSL(CEIL), "ceil($0)"),
    SAME(GLSL(FRACT), "$0 - floor($0)"), SAME(GLSL(F_SIGN), "$0 > 0 ? (T)1 : $0 < 0 ? (T)-1 : $0"),
    SAME(GLSL(TANH), "tanh($0)"), SAME(GLSL(EXP), "exp($0)"), SAME(GLSL(LOG), "log($0)"),
    SAME(GLSL(EXP2), "exp2($0)"), SAME(GLSL(LOG2), "log2($0)"), SAME(GLSL(SQRT), "sqrt($0)"),
    SAME(GLSL(INVERSE_SQRT), "rsqrt($0)"), SAME(GLSL(F_MIN), "$1 < $0 ? $1 : $0"),
    SAME(GLSL(N_MIN), "fmin($0, $1)"), SAME(GLSL(F_MAX), "$0 < $1 ? $1 : $0"),
    SAME(GLSL(N_MAX), "fmax($0, $1)"),
    {GLSL(F_CLAMP), 0, 0, "weft_clamp_T($0, $1, $2)",
     "T weft_clamp_T(T a, T b, T c) { T d = a < b ? b : a; return c < d ? c : d; }\n"},
    SAME(GLSL(N_CLAMP), "fmin(fmax($0, $1), $2)"), SAME(GLSL(F_MIX), "$0 + ($1 - $0) * $2"),
    SAME(GLSL(FMA), "fma($0, $1, $2)"),
    /* Unpacks the low 16 bits; subnormal ones are exact. */
    {GLSL(UNPACK_HALF), WEFT_CL_IF_WORD, 0, "weft_unpack($0)",
     "float weft_unpack(uint a) {\n"
     "    uint sign = (a & 0x8000u) << 16, rest = a & 0x7fffu;\n"
     "    uint bits = rest < 0x400u ? as_uint((float)rest * 0x1p-24f)\n"
     "                              : (rest << 13) + (rest < 0x7c00u ? 112u << 23 : 224u << 23);\n"
     "    return as_float(sign | bits);\n}\n"},
    /* clang-format on */
};

enum { OPERATIONS = sizeof operations / sizeof operations[0] };

size_t weft_cl_helper_count(void) {
    return OPERATIONS;
}

/* ---- which row ---- */

static const struct weft_ir_def *operand(const struct weft_cl_writer *writer,
                                         const struct weft_ir_instruction *instruction,
                                         uint32_t index) {
    return &writer->program->values[weft_cl_argument(writer, instruction, index)];
}

static bool is_plain(const struct weft_cl_writer *writer,
                     const struct weft_ir_instruction *instruction) {
    const struct weft_ir_def *a = operand(writer, instruction, 0);
    const struct weft_ir_def *b =
        operand(writer, instruction, instruction->argument_count == 2 ? 1 : 0);
    switch (instruction->op) {
    case SpvOpBitcast:
        return a->type == instruction->type;
    case SpvOpShiftLeftLogical:
    case SpvOpShiftRightLogical:
    case SpvOpShiftRightArithmetic:
        return b->most < weft_ir_bits(a->type);
    case SpvOpUDiv:
    case SpvOpUMod:
        return b->constant && b->bits != 0;
    default:
        return b->constant && b->bits != 0 && b->bits != weft_ir_ones(b->type);
    }
}

static bool applies(const struct weft_cl_writer *writer,
                    const struct weft_ir_instruction *instruction,
                    const struct weft_cl_operation *operation) {
    switch (operation->when) {
    case WEFT_CL_IF_PLAIN:
        return is_plain(writer, instruction);
    case WEFT_CL_IF_HIDDEN:
        return writer->hides_sign && instruction->type == WEFT_IR_F32;
    case WEFT_CL_IF_WORD:
        return weft_ir_bits(instruction->type) == 32 &&
               (operation->op == SpvOpConvertFToU || operation->op == SpvOpConvertFToS ||
                weft_ir_bits(operand(writer, instruction, 0)->type) == 32);
    case WEFT_CL_IF_WIDE:
        return weft_ir_bits(instruction->type) >= 32;
    default:
        return true;
    }
}

void weft_cl_refuse(struct weft_ir_program *program, uint32_t op) {
    const struct weft_lint_rule *rule = weft_lint_find(WEFT_LINT_OPCODES, op);
    if (op >= WEFT_IR_GLSL && op < WEFT_IR_LOAD) {
        weft_ir_error(program, WEFT_UNSUPPORTED,
                      "instruction %u of GLSL.std.450 is not written in OpenCL C",
                      op - WEFT_IR_GLSL);
    } else {
        weft_ir_error(program, WEFT_UNSUPPORTED, "%s (opcode %u) is not written in OpenCL C",
                      rule ? rule->name : "an instruction", op);
    }
}

static uint32_t operands_of(const struct weft_cl_operation *operation) {
    uint32_t count = 0;
    while (weft_cl_count_operand(operation, count) > 0) {
        count++;
    }
    return count;
}

const struct weft_cl_operation *weft_cl_find_operation(
    struct weft_cl_writer *writer, const struct weft_ir_instruction *instruction) {
    for (size_t i = 0; i < OPERATIONS; i++) {
        if (operations[i].op == instruction->op &&
            operands_of(&operations[i]) == instruction->argument_count &&
            applies(writer, instruction, &operations[i])) {
            return &operations[i];
        }
    }
    weft_cl_refuse(writer->program, instruction->op);
    return NULL;
}

uint32_t weft_cl_count_operand(const struct weft_cl_operation *operation, uint32_t index) {
    uint32_t count = 0;
    for (const char *at = operation->text; *at != '\0'; at++) {
        count += (*at == '$' || *at == '@') && at[1] == (char)('0' + index) ? 1 : 0;
    }
    return count;
}

/* ---- writing ---- */

/* Operands narrower than int are widened by hand: as int they would overflow. */
static void write_operand(struct weft_cl_writer *writer,
                          const struct weft_ir_instruction *instruction, char kind,
                          uint32_t index) {
    const uint32_t type = operand(writer, instruction, index)->type;
    if (kind == '@') {
        weft_cl_add(writer, "(%s)", weft_cl_signed_names[type]);
    } else if (type == WEFT_IR_I8 || type == WEFT_IR_I16) {
        weft_cl_add(writer, "(uint)");
    }
    weft_cl_write_value(writer, weft_cl_argument(writer, instruction, index), true);
}

/* The text of a row up to an operand, with the names of types; where it stopped. */
static const char *write_names(struct weft_text *text, const char *from, uint32_t type,
                               uint32_t operand_type) {
    for (;;) {
        const size_t size = strcspn(from, "$@TSAW");
        weft_text_put(text, from, size);
        from += size;
        switch (*from) {
        case 'T':
            weft_text_add(text, "%s", weft_cl_type_names[type]);
            break;
        case 'S':
            weft_text_add(text, "%s", weft_cl_signed_names[type]);
            break;
        case 'A':
            weft_text_add(text, "%s", weft_cl_type_names[operand_type]);
            break;
        case 'W':
            weft_text_add(text, "%u", weft_ir_bits(operand_type) - 1);
            break;
        default:
            return from;
        }
        from++;
    }
}

static void note_helper(struct weft_cl_writer *writer, const struct weft_cl_operation *operation,
                        uint32_t type, uint32_t operand_type) {
    if (operation->helper) {
        const bool of_result = strchr(operation->helper, 'T') != NULL;
        const bool of_operand = strchr(operation->helper, 'A') != NULL;
        const uint32_t bit =
            (of_result ? type : 0) * WEFT_IR_TYPES + (of_operand ? operand_type : 0);
        writer->helpers[operation - operations] |= UINT64_C(1) << bit;
    }
}

void weft_cl_write_helpers(struct weft_text *text, const struct weft_cl_writer *writer) {
    for (size_t i = 0; i < OPERATIONS; i++) {
        for (uint32_t bit = 0; bit < WEFT_IR_TYPES * WEFT_IR_TYPES; bit++) {
            if ((writer->helpers[i] >> bit & 1) != 0) {
                write_names(text, operations[i].helper, bit / WEFT_IR_TYPES, bit % WEFT_IR_TYPES);
            }
        }
    }
}

void weft_cl_write_operation(struct weft_cl_writer *writer,
                             const struct weft_ir_instruction *instruction,
                             const struct weft_cl_operation *operation, bool beside) {
    const uint32_t type = instruction->type;
    const uint32_t operand_type = operand(writer, instruction, 0)->type;
    const bool narrow = type == WEFT_IR_I8 || type == WEFT_IR_I16;
    const bool cast = operation->cast == WEFT_CL_CAST || (operation->cast == WEFT_CL_CUT && narrow);
    const bool call = operation->text[0] >= 'a' && operation->text[0] <= 'z';
    const bool around = cast || (beside && !call);
    note_helper(writer, operation, type, operand_type);
    if (cast) {
        weft_cl_add(writer, "(%s)", weft_cl_type_names[type]);
    }
    if (around) {
        weft_cl_add(writer, "(");
    }
    const char *from = write_names(&writer->text, operation->text, type, operand_type);
    while (*from != '\0') {
        write_operand(writer, instruction, from[0], (uint32_t)(from[1] - '0'));
        from = write_names(&writer->text, from + 2, type, operand_type);
    }
    if (around) {
        weft_cl_add(writer, ")");
    }
}
