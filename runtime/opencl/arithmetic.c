/* SPDX-License-Identifier: MIT */
/*
 * Instructions that compute. What SPIR-V leaves undefined and C must not do has the value that the interpreter gives it
 * (interpret/integer.c), but for shifts, whose distance counts modulo the width.
 */
#include <string.h>

#include "opencl/writer.h"
#include "spirv/lint/rules.h"

#define GLSL(name) (WEFT_IR_GLSL + WEFT_GLSL_##name)

/* Of two rows about an operation the first that applies counts. */
static const struct weft_cl_operation operations[] = {
    {SpvOpIAdd, 0, WEFT_CL_CUT, "$0 + $1", NULL},
    {SpvOpISub, 0, WEFT_CL_CUT, "$0 - $1", NULL},
    {SpvOpIMul, 0, WEFT_CL_CUT, "$0 * $1", NULL},
    {SpvOpSNegate, 0, WEFT_CL_CUT, "0 - $0", NULL},
    {SpvOpUDiv, WEFT_CL_IF_PLAIN, WEFT_CL_CUT, "$0 / $1", NULL},
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
    {WEFT_IR_CARRY, 0, WEFT_CL_CAST, "(T)($0 + $1) < $0", NULL},
    {WEFT_IR_BORROW, 0, WEFT_CL_CAST, "$0 < $1", NULL},
    {WEFT_IR_HIGH_UNSIGNED, WEFT_CL_IF_WIDE, 0, "mul_hi($0, $1)", NULL},
    {WEFT_IR_HIGH_SIGNED, WEFT_CL_IF_WIDE, WEFT_CL_CAST, "mul_hi(@0, @1)", NULL},
    {GLSL(S_ABS), 0, WEFT_CL_CUT, "abs(@0)", NULL},
    {GLSL(S_SIGN), 0, WEFT_CL_CUT, "@0 < 0 ? (T)-1 : (T)($0 != 0)", NULL},
    {GLSL(U_MIN), 0, WEFT_CL_CUT, "min($0, $1)", NULL},
    {GLSL(S_MIN), 0, WEFT_CL_CAST, "min(@0, @1)", NULL},
    {GLSL(U_MAX), 0, WEFT_CL_CUT, "max($0, $1)", NULL},
    {GLSL(S_MAX), 0, WEFT_CL_CAST, "max(@0, @1)", NULL},
    {GLSL(U_CLAMP), 0, WEFT_CL_CUT, "min(max($0, $1), $2)", NULL},
    {GLSL(S_CLAMP), 0, WEFT_CL_CAST, "min(max(@0, @1), @2)", NULL},

    {SpvOpBitwiseOr, 0, WEFT_CL_CUT, "$0 | $1", NULL},
    {SpvOpBitwiseXor, 0, WEFT_CL_CUT, "$0 ^ $1", NULL},
    {SpvOpBitwiseAnd, 0, WEFT_CL_CUT, "$0 & $1", NULL},
    {SpvOpNot, 0, WEFT_CL_CUT, "~$0", NULL},
    {SpvOpShiftLeftLogical, WEFT_CL_IF_PLAIN, WEFT_CL_CUT, "$0 << $1", NULL},
    {SpvOpShiftLeftLogical, 0, WEFT_CL_CUT, "$0 << ($1 & W)", NULL},
    {SpvOpShiftRightLogical, WEFT_CL_IF_PLAIN, WEFT_CL_CUT, "$0 >> $1", NULL},
    {SpvOpShiftRightLogical, 0, WEFT_CL_CUT, "$0 >> ($1 & W)", NULL},
    {SpvOpShiftRightArithmetic, WEFT_CL_IF_PLAIN, WEFT_CL_CAST, "@0 >> $1", NULL},
    {SpvOpShiftRightArithmetic, 0, WEFT_CL_CAST, "@0 >> ($1 & W)", NULL},
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

    {SpvOpLogicalOr, 0, 0, "$0 || $1", NULL},
    {SpvOpLogicalAnd, 0, 0, "$0 && $1", NULL},
    {SpvOpLogicalNot, 0, 0, "!$0", NULL},
    {SpvOpLogicalEqual, 0, 0, "$0 == $1", NULL},
    {SpvOpLogicalNotEqual, 0, 0, "$0 != $1", NULL},
    {SpvOpSelect, 0, WEFT_CL_CUT, "$0 ? $1 : $2", NULL},
    {SpvOpIEqual, 0, 0, "$0 == $1", NULL},
    {SpvOpINotEqual, 0, 0, "$0 != $1", NULL},
    {SpvOpUGreaterThan, 0, 0, "$0 > $1", NULL},
    {SpvOpUGreaterThanEqual, 0, 0, "$0 >= $1", NULL},
    {SpvOpULessThan, 0, 0, "$0 < $1", NULL},
    {SpvOpULessThanEqual, 0, 0, "$0 <= $1", NULL},
    {SpvOpSGreaterThan, 0, 0, "@0 > @1", NULL},
    {SpvOpSGreaterThanEqual, 0, 0, "@0 >= @1", NULL},
    {SpvOpSLessThan, 0, 0, "@0 < @1", NULL},
    {SpvOpSLessThanEqual, 0, 0, "@0 <= @1", NULL},

    {SpvOpFAdd, 0, 0, "$0 + $1", NULL},
    {SpvOpFSub, 0, 0, "$0 - $1", NULL},
    {SpvOpFMul, 0, 0, "$0 * $1", NULL},
    {SpvOpFDiv, 0, 0, "$0 / $1", NULL},
    {SpvOpFRem, 0, 0, "fmod($0, $1)", NULL},
    {SpvOpFMod, 0, 0, "$0 - $1 * floor($0 / $1)", NULL},
    {SpvOpFNegate, 0, 0, "-$0", NULL},
    {GLSL(F_ABS), 0, 0, "fabs($0)", NULL},
    {SpvOpIsNan, 0, 0, "isnan($0)", NULL},
    {SpvOpIsInf, 0, 0, "isinf($0)", NULL},
    {SpvOpFOrdEqual, 0, 0, "$0 == $1", NULL},
    {SpvOpFUnordNotEqual, 0, 0, "$0 != $1", NULL},
    {SpvOpFOrdGreaterThan, 0, 0, "$0 > $1", NULL},
    {SpvOpFOrdGreaterThanEqual, 0, 0, "$0 >= $1", NULL},
    {SpvOpFOrdLessThan, 0, 0, "$0 < $1", NULL},
    {SpvOpFOrdLessThanEqual, 0, 0, "$0 <= $1", NULL},
    {SpvOpFOrdNotEqual, 0, 0, "$0 < $1 || $0 > $1", NULL},
    {SpvOpFUnordEqual, 0, 0, "!($0 < $1 || $0 > $1)", NULL},
    {SpvOpFUnordGreaterThan, 0, 0, "!($0 <= $1)", NULL},
    {SpvOpFUnordGreaterThanEqual, 0, 0, "!($0 < $1)", NULL},
    {SpvOpFUnordLessThan, 0, 0, "!($0 >= $1)", NULL},
    {SpvOpFUnordLessThanEqual, 0, 0, "!($0 > $1)", NULL},

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
    {SpvOpConvertSToF, 0, WEFT_CL_CAST, "@0", NULL},
    {SpvOpConvertUToF, 0, WEFT_CL_CAST, "$0", NULL},
    {SpvOpUConvert, 0, WEFT_CL_CAST, "$0", NULL},
    {SpvOpSConvert, 0, WEFT_CL_CAST, "@0", NULL},
    {SpvOpFConvert, 0, WEFT_CL_CAST, "$0", NULL},
    {SpvOpBitcast, WEFT_CL_IF_PLAIN, 0, "$0", NULL},
    {SpvOpBitcast, 0, 0, "as_T($0)", NULL},

    {GLSL(ROUND), 0, 0, "rint($0)", NULL},
    {GLSL(ROUND_EVEN), 0, 0, "rint($0)", NULL},
    {GLSL(TRUNC), 0, 0, "trunc($0)", NULL},
    {GLSL(FLOOR), 0, 0, "floor($0)", NULL},
    {GLSL(CEIL), 0, 0, "ceil($0)", NULL},
    {GLSL(FRACT), 0, 0, "$0 - floor($0)", NULL},
    {GLSL(F_SIGN), 0, 0, "$0 > 0 ? (T)1 : $0 < 0 ? (T)-1 : $0", NULL},
    {GLSL(TANH), 0, 0, "tanh($0)", NULL},
    {GLSL(EXP), 0, 0, "exp($0)", NULL},
    {GLSL(LOG), 0, 0, "log($0)", NULL},
    {GLSL(EXP2), 0, 0, "exp2($0)", NULL},
    {GLSL(LOG2), 0, 0, "log2($0)", NULL},
    {GLSL(SQRT), 0, 0, "sqrt($0)", NULL},
    {GLSL(INVERSE_SQRT), 0, 0, "rsqrt($0)", NULL},
    {GLSL(F_MIN), 0, 0, "$1 < $0 ? $1 : $0", NULL},
    {GLSL(N_MIN), 0, 0, "fmin($0, $1)", NULL},
    {GLSL(F_MAX), 0, 0, "$0 < $1 ? $1 : $0", NULL},
    {GLSL(N_MAX), 0, 0, "fmax($0, $1)", NULL},
    {GLSL(F_CLAMP), 0, 0, "weft_clamp_T($0, $1, $2)",
     "T weft_clamp_T(T a, T b, T c) { T d = a < b ? b : a; return c < d ? c : d; }\n"},
    {GLSL(N_CLAMP), 0, 0, "fmin(fmax($0, $1), $2)", NULL},
    {GLSL(F_MIX), 0, 0, "$0 + ($1 - $0) * $2", NULL},
    {GLSL(FMA), 0, 0, "fma($0, $1, $2)", NULL},
    /* Of the 16 bits at the bottom; subnormal ones are exact. */
    {GLSL(UNPACK_HALF), WEFT_CL_IF_WORD, 0, "weft_unpack($0)",
     "float weft_unpack(uint a) {\n"
     "    uint sign = (a & 0x8000u) << 16, rest = a & 0x7fffu;\n"
     "    uint bits = rest < 0x400u ? as_uint((float)rest * 0x1p-24f)\n"
     "                              : (rest << 13) + (rest < 0x7c00u ? 112u << 23 : 224u << 23);\n"
     "    return as_float(sign | bits);\n}\n"},
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

const struct weft_cl_operation *weft_cl_find_operation(
    struct weft_cl_writer *writer, const struct weft_ir_instruction *instruction) {
    for (size_t i = 0; i < OPERATIONS; i++) {
        if (operations[i].op == instruction->op && instruction->argument_count > 0 &&
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
