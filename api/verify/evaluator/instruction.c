/* SPDX-License-Identifier: MIT */
/* Instructions on values: arithmetic word by word, conversions, GLSL.std.450. */
#include "verify/evaluator/decode.h"

/* ---- one operation on each word ---- */

/* From the operands in order, or with the first two exchanged. */
struct rule {
    uint16_t number; /* of the instruction */
    uint8_t op;
    uint8_t operands;
    bool exchanged;
};

/* In the order of their opcodes. */
static const struct rule rules[] = {
    {WEFT_OP_CONVERT_F_TO_U, WEFT_EVAL_F_TO_U, 1, false},
    {WEFT_OP_CONVERT_F_TO_S, WEFT_EVAL_F_TO_S, 1, false},
    {WEFT_OP_CONVERT_S_TO_F, WEFT_EVAL_S_TO_F, 1, false},
    {WEFT_OP_CONVERT_U_TO_F, WEFT_EVAL_U_TO_F, 1, false},
    {WEFT_OP_S_NEGATE, WEFT_EVAL_S_NEGATE, 1, false},
    {WEFT_OP_F_NEGATE, WEFT_EVAL_F_NEGATE, 1, false},
    {WEFT_OP_I_ADD, WEFT_EVAL_I_ADD, 2, false},
    {WEFT_OP_F_ADD, WEFT_EVAL_F_ADD, 2, false},
    {WEFT_OP_I_SUB, WEFT_EVAL_I_SUB, 2, false},
    {WEFT_OP_F_SUB, WEFT_EVAL_F_SUB, 2, false},
    {WEFT_OP_I_MUL, WEFT_EVAL_I_MUL, 2, false},
    {WEFT_OP_F_MUL, WEFT_EVAL_F_MUL, 2, false},
    {WEFT_OP_U_DIV, WEFT_EVAL_U_DIV, 2, false},
    {WEFT_OP_S_DIV, WEFT_EVAL_S_DIV, 2, false},
    {WEFT_OP_U_MOD, WEFT_EVAL_U_MOD, 2, false},
    {WEFT_OP_S_REM, WEFT_EVAL_S_REM, 2, false},
    {WEFT_OP_S_MOD, WEFT_EVAL_S_MOD, 2, false},
    {WEFT_OP_LOGICAL_EQUAL, WEFT_EVAL_I_EQUAL, 2, false},
    {WEFT_OP_LOGICAL_NOT_EQUAL, WEFT_EVAL_I_NOT_EQUAL, 2, false},
    {WEFT_OP_LOGICAL_OR, WEFT_EVAL_OR, 2, false},
    {WEFT_OP_LOGICAL_AND, WEFT_EVAL_AND, 2, false},
    {WEFT_OP_LOGICAL_NOT, WEFT_EVAL_LOGICAL_NOT, 1, false},
    {WEFT_OP_I_EQUAL, WEFT_EVAL_I_EQUAL, 2, false},
    {WEFT_OP_I_NOT_EQUAL, WEFT_EVAL_I_NOT_EQUAL, 2, false},
    {WEFT_OP_U_GREATER_THAN, WEFT_EVAL_U_LESS, 2, true},
    {WEFT_OP_S_GREATER_THAN, WEFT_EVAL_S_LESS, 2, true},
    {WEFT_OP_U_GREATER_THAN_EQUAL, WEFT_EVAL_U_LESS_EQUAL, 2, true},
    {WEFT_OP_S_GREATER_THAN_EQUAL, WEFT_EVAL_S_LESS_EQUAL, 2, true},
    {WEFT_OP_U_LESS_THAN, WEFT_EVAL_U_LESS, 2, false},
    {WEFT_OP_S_LESS_THAN, WEFT_EVAL_S_LESS, 2, false},
    {WEFT_OP_U_LESS_THAN_EQUAL, WEFT_EVAL_U_LESS_EQUAL, 2, false},
    {WEFT_OP_S_LESS_THAN_EQUAL, WEFT_EVAL_S_LESS_EQUAL, 2, false},
    {WEFT_OP_F_ORD_EQUAL, WEFT_EVAL_F_EQUAL, 2, false},
    {WEFT_OP_F_UNORD_NOT_EQUAL, WEFT_EVAL_F_NOT_EQUAL, 2, false},
    {WEFT_OP_F_ORD_LESS_THAN, WEFT_EVAL_F_LESS, 2, false},
    {WEFT_OP_F_ORD_GREATER_THAN, WEFT_EVAL_F_LESS, 2, true},
    {WEFT_OP_F_ORD_LESS_THAN_EQUAL, WEFT_EVAL_F_LESS_EQUAL, 2, false},
    {WEFT_OP_F_ORD_GREATER_THAN_EQUAL, WEFT_EVAL_F_LESS_EQUAL, 2, true},
    {WEFT_OP_SHIFT_RIGHT_LOGICAL, WEFT_EVAL_SHIFT_RIGHT, 2, false},
    {WEFT_OP_SHIFT_RIGHT_ARITHMETIC, WEFT_EVAL_SHIFT_RIGHT_S, 2, false},
    {WEFT_OP_SHIFT_LEFT_LOGICAL, WEFT_EVAL_SHIFT_LEFT, 2, false},
    {WEFT_OP_BITWISE_OR, WEFT_EVAL_OR, 2, false},
    {WEFT_OP_BITWISE_XOR, WEFT_EVAL_XOR, 2, false},
    {WEFT_OP_BITWISE_AND, WEFT_EVAL_AND, 2, false},
    {WEFT_OP_NOT, WEFT_EVAL_NOT, 1, false},
    {WEFT_OP_BIT_REVERSE, WEFT_EVAL_BIT_REVERSE, 1, false},
    {WEFT_OP_BIT_COUNT, WEFT_EVAL_BIT_COUNT, 1, false},
};

/* Instructions of GLSL.std.450, by their numbers there. Those of which a result is not exact, or
 * not the same everywhere, are not here. */
static const struct rule glsl_rules[] = {
    {4, WEFT_EVAL_F_ABS, 1, false},       {5, WEFT_EVAL_S_ABS, 1, false},
    {7, WEFT_EVAL_S_SIGN, 1, false},      {38, WEFT_EVAL_U_MIN, 2, false},
    {39, WEFT_EVAL_S_MIN, 2, false},      {41, WEFT_EVAL_U_MAX, 2, false},
    {42, WEFT_EVAL_S_MAX, 2, false},      {73, WEFT_EVAL_FIND_LSB, 1, false},
    {74, WEFT_EVAL_FIND_S_MSB, 1, false}, {75, WEFT_EVAL_FIND_U_MSB, 1, false},
};

enum { GLSL_U_CLAMP = 44, GLSL_S_CLAMP = 45 };

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static const struct rule *find_rule(const struct rule *table, size_t count, uint32_t number) {
    for (size_t i = 0; i < count; i++) {
        if (table[i].number == number) {
            return &table[i];
        }
    }
    return NULL;
}

static void emit(struct weft_eval_decoder *decoder, enum weft_eval_op op, uint32_t n, uint32_t d,
                 uint32_t a, uint32_t b) {
    struct weft_eval_instruction *instruction = weft_eval_emit(decoder, op, n, d);
    instruction->a = a;
    instruction->b = b;
}

/* The operands start at the word `first`. */
static void apply_rule(struct weft_eval_decoder *decoder, const struct weft_eval_view *view,
                       const struct rule *rule, uint32_t first) {
    uint32_t n = weft_eval_result_words(decoder, view);
    uint32_t operands[2] = {0, 0};
    for (uint32_t i = 0; i < rule->operands; i++) {
        operands[i] = weft_eval_operand(decoder, view, first + i);
        if (weft_eval_words(decoder, weft_eval_word(decoder, view, first + i)) != n) {
            weft_eval_error(decoder, WEFT_UNSUPPORTED,
                            "an instruction (opcode %u) whose operands and result have different "
                            "sizes",
                            view->opcode);
        }
    }
    emit(decoder, (enum weft_eval_op)rule->op, n, weft_eval_result(decoder, view),
         operands[rule->exchanged], operands[!rule->exchanged]);
}

/* ---- instructions of several operations ---- */

/* Adds, multiplies and so on with a second word for each: both in a structure of two members. */
static void decode_extended(struct weft_eval_decoder *decoder, const struct weft_eval_view *view,
                            enum weft_eval_op low, enum weft_eval_op high) {
    uint32_t n = weft_eval_result_words(decoder, view) / 2;
    uint32_t a = weft_eval_operand(decoder, view, 3);
    uint32_t b = weft_eval_operand(decoder, view, 4);
    uint32_t d = weft_eval_result(decoder, view);
    emit(decoder, low, n, d, a, b);
    emit(decoder, high, n, d + n, a, b);
}

static void decode_select(struct weft_eval_decoder *decoder, const struct weft_eval_view *view) {
    uint32_t n = weft_eval_result_words(decoder, view);
    uint32_t condition = weft_eval_operand(decoder, view, 3);
    bool one_condition = weft_eval_words(decoder, weft_eval_word(decoder, view, 3)) == 1;
    uint32_t yes = weft_eval_operand(decoder, view, 4);
    uint32_t no = weft_eval_operand(decoder, view, 5);
    uint32_t d = weft_eval_result(decoder, view);
    uint32_t step = one_condition ? 1 : n;
    for (uint32_t i = 0; i < n; i += step) {
        struct weft_eval_instruction *select =
            weft_eval_emit(decoder, WEFT_EVAL_SELECT, step, d + i);
        select->a = condition;
        select->b = yes + i;
        select->c = no + i;
    }
}

static void decode_vector_times_scalar(struct weft_eval_decoder *decoder,
                                       const struct weft_eval_view *view) {
    uint32_t n = weft_eval_result_words(decoder, view);
    uint32_t vector = weft_eval_operand(decoder, view, 3);
    uint32_t scalar = weft_eval_operand(decoder, view, 4);
    uint32_t d = weft_eval_result(decoder, view);
    for (uint32_t i = 0; i < n; i++) {
        emit(decoder, WEFT_EVAL_F_MUL, 1, d + i, vector + i, scalar);
    }
}

static void decode_any_or_all(struct weft_eval_decoder *decoder, const struct weft_eval_view *view,
                              enum weft_eval_op op) {
    uint32_t n = weft_eval_words(decoder, weft_eval_word(decoder, view, 3));
    uint32_t vector = weft_eval_operand(decoder, view, 3);
    uint32_t before = weft_eval_take(decoder, 1);
    uint32_t d = weft_eval_result(decoder, view);
    weft_eval_move(decoder, 1, d, vector);
    for (uint32_t i = 1; i < n; i++) {
        weft_eval_move(decoder, 1, before, d);
        emit(decoder, op, 1, d, before, vector + i);
    }
    weft_eval_release(decoder, before);
}

/* Offset and count are scalars, the base may be a vector. */
static void decode_bit_field(struct weft_eval_decoder *decoder, const struct weft_eval_view *view,
                             enum weft_eval_op op) {
    bool inserts = op == WEFT_EVAL_BIT_FIELD_INSERT;
    uint32_t n = weft_eval_result_words(decoder, view);
    uint32_t base = weft_eval_operand(decoder, view, 3);
    uint32_t insert = inserts ? weft_eval_operand(decoder, view, 4) : WEFT_EVAL_ZERO;
    uint32_t offset = weft_eval_operand(decoder, view, inserts ? 5 : 4);
    uint32_t count = weft_eval_operand(decoder, view, inserts ? 6 : 5);
    uint32_t d = weft_eval_result(decoder, view);
    for (uint32_t i = 0; i < n; i++) {
        struct weft_eval_instruction *field = weft_eval_emit(decoder, op, 1, d + i);
        field->a = base + i;
        field->b = inserts ? insert + i : offset;
        field->c = inserts ? offset : count;
        field->e = count;
    }
}

/* ---- GLSL.std.450 ---- */

static void decode_clamp(struct weft_eval_decoder *decoder, const struct weft_eval_view *view,
                         enum weft_eval_op most, enum weft_eval_op least) {
    uint32_t n = weft_eval_result_words(decoder, view);
    uint32_t raised = weft_eval_take(decoder, n);
    uint32_t high = weft_eval_operand(decoder, view, 7);
    emit(decoder, most, n, raised, weft_eval_operand(decoder, view, 5),
         weft_eval_operand(decoder, view, 6));
    emit(decoder, least, n, weft_eval_result(decoder, view), raised, high);
    weft_eval_release(decoder, raised);
}

static void decode_glsl(struct weft_eval_decoder *decoder, const struct weft_eval_view *view) {
    uint32_t set = weft_eval_word(decoder, view, 3);
    uint32_t number = weft_eval_word(decoder, view, 4);
    const struct rule *rule = find_rule(glsl_rules, COUNT_OF(glsl_rules), number);
    if (set >= decoder->bound || decoder->ids[set].kind != WEFT_EVAL_ID_GLSL) {
        weft_eval_unsupported(decoder, view->opcode);
    } else if (number == GLSL_U_CLAMP) {
        decode_clamp(decoder, view, WEFT_EVAL_U_MAX, WEFT_EVAL_U_MIN);
    } else if (number == GLSL_S_CLAMP) {
        decode_clamp(decoder, view, WEFT_EVAL_S_MAX, WEFT_EVAL_S_MIN);
    } else if (rule) {
        apply_rule(decoder, view, rule, 5);
    } else {
        weft_eval_error(decoder, WEFT_UNSUPPORTED,
                        "instruction %u of GLSL.std.450 is not evaluated", number);
    }
}

/* ---- all of them ---- */

static bool decode_several(struct weft_eval_decoder *decoder, const struct weft_eval_view *view) {
    switch (view->opcode) {
    case WEFT_OP_I_ADD_CARRY:
        decode_extended(decoder, view, WEFT_EVAL_I_ADD, WEFT_EVAL_I_CARRY);
        return true;
    case WEFT_OP_I_SUB_BORROW:
        decode_extended(decoder, view, WEFT_EVAL_I_SUB, WEFT_EVAL_I_BORROW);
        return true;
    case WEFT_OP_U_MUL_EXTENDED:
        decode_extended(decoder, view, WEFT_EVAL_I_MUL, WEFT_EVAL_U_MUL_HIGH);
        return true;
    case WEFT_OP_S_MUL_EXTENDED:
        decode_extended(decoder, view, WEFT_EVAL_I_MUL, WEFT_EVAL_S_MUL_HIGH);
        return true;
    case WEFT_OP_SELECT:
        decode_select(decoder, view);
        return true;
    case WEFT_OP_VECTOR_TIMES_SCALAR:
        decode_vector_times_scalar(decoder, view);
        return true;
    case WEFT_OP_ANY:
        decode_any_or_all(decoder, view, WEFT_EVAL_OR);
        return true;
    case WEFT_OP_ALL:
        decode_any_or_all(decoder, view, WEFT_EVAL_AND);
        return true;
    case WEFT_OP_BIT_FIELD_INSERT:
        decode_bit_field(decoder, view, WEFT_EVAL_BIT_FIELD_INSERT);
        return true;
    case WEFT_OP_BIT_FIELD_S_EXTRACT:
        decode_bit_field(decoder, view, WEFT_EVAL_BIT_FIELD_S);
        return true;
    case WEFT_OP_BIT_FIELD_U_EXTRACT:
        decode_bit_field(decoder, view, WEFT_EVAL_BIT_FIELD_U);
        return true;
    default:
        return false;
    }
}

void weft_eval_decode_instruction(struct weft_eval_decoder *decoder,
                                  const struct weft_eval_view *view) {
    const struct rule *rule = find_rule(rules, COUNT_OF(rules), view->opcode);
    if (rule) {
        apply_rule(decoder, view, rule, 3);
        return;
    }
    if (decode_several(decoder, view) || weft_eval_decode_composite(decoder, view) ||
        weft_eval_decode_access(decoder, view)) {
        return;
    }
    switch (view->opcode) {
    case WEFT_OP_NOP:
    case WEFT_OP_LINE:
    case WEFT_OP_NO_LINE:
    case WEFT_OP_LOOP_MERGE:
    case WEFT_OP_SELECTION_MERGE:
    case WEFT_OP_MEMORY_BARRIER: /* invocations see each other's writes at once */
        break;
    case WEFT_OP_UNDEF:
        weft_eval_emit(decoder, WEFT_EVAL_FILL, weft_eval_result_words(decoder, view),
                       weft_eval_result(decoder, view))
            ->a = WEFT_EVALUATOR_POISON;
        break;
    case WEFT_OP_EXT_INST:
        decode_glsl(decoder, view);
        break;
    default:
        weft_eval_unsupported(decoder, view->opcode);
        break;
    }
}
