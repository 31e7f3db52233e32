/* SPDX-License-Identifier: MIT */
/*
 * Integers of 8, 16 and 64 bits, one invocation after another: no kernel of Weft's has them, but the processor device does. A
 * narrow one is the lower bits of a word, the others 0; a wide one has a row of its own size (weft_interpret_row).
 */
#include <string.h>

#include "interpret/group.h"

static uint64_t *wide_row(const struct weft_interpret_group *group, weft_ir_value value) {
    return (uint64_t *)(void *)weft_interpret_value(group, value);
}

static uint32_t type_of(const struct weft_interpret_group *group, weft_ir_value value) {
    return group->kernel->program.values[value].type;
}

uint64_t weft_interpret_read(const struct weft_interpret_group *group, weft_ir_value value,
                             uint32_t lane) {
    return type_of(group, value) == WEFT_IR_I64 ? wide_row(group, value)[lane]
                                                : weft_interpret_value(group, value)[lane];
}

void weft_interpret_write(const struct weft_interpret_group *group, weft_ir_value value,
                          uint32_t lane, uint64_t bits) {
    if (type_of(group, value) == WEFT_IR_I64) {
        wide_row(group, value)[lane] = bits;
    } else {
        weft_interpret_value(group, value)[lane] =
            (uint32_t)(bits & weft_ir_ones(type_of(group, value)));
    }
}

static int64_t signed_of(uint64_t bits, uint32_t type) {
    const uint64_t sign = UINT64_C(1) << (weft_ir_bits(type) - 1);
    return (int64_t)((bits ^ sign) - sign);
}

/* Results that weft_ir_fold leaves undefined are those of integer.c. */
static uint64_t open_result(uint32_t op, uint32_t type, uint64_t a, uint64_t b) {
    const bool divides = b != 0;
    switch (op) {
    case SpvOpUDiv:
        return divides ? a / b : UINT64_MAX;
    case SpvOpUMod:
        return divides ? a % b : a;
    case SpvOpSDiv:
        return divides ? 0 - a : UINT64_MAX; /* by -1 */
    case SpvOpSRem:
    case SpvOpSMod:
        return divides ? 0 : a;
    case SpvOpShiftRightArithmetic:
        return signed_of(a, type) < 0 ? UINT64_MAX : 0;
    case WEFT_IR_GLSL + WEFT_GLSL_S_MIN:
        return signed_of(a, type) < signed_of(b, type) ? a : b;
    case WEFT_IR_GLSL + WEFT_GLSL_S_MAX:
        return signed_of(a, type) < signed_of(b, type) ? b : a;
    case WEFT_IR_GLSL + WEFT_GLSL_S_ABS:
        return signed_of(a, type) < 0 ? 0 - a : a;
    default: /* shifts by too much */
        return 0;
    }
}

static void compute(struct weft_interpret_group *group,
                    const struct weft_ir_instruction *instruction) {
    const uint32_t count = instruction->argument_count;
    const uint32_t type = type_of(group, weft_interpret_argument(group, instruction, 0));
    for (uint32_t item = 0; item < group->active.count; item++) {
        const uint32_t lane = weft_interpret_lane(&group->active, item);
        uint64_t operands[3] = {0};
        uint64_t made = 0;
        for (uint32_t i = 0; i < count; i++) {
            operands[i] =
                weft_interpret_read(group, weft_interpret_argument(group, instruction, i), lane);
        }
        if (!weft_ir_fold(&made, instruction->op, instruction->type, type, operands, count)) {
            made = open_result(instruction->op, type, operands[0], operands[1]);
        }
        weft_interpret_write(group, instruction->result, lane, made);
    }
}

static void convert_to_float(struct weft_interpret_group *group,
                             const struct weft_ir_instruction *instruction) {
    const weft_ir_value from = weft_interpret_argument(group, instruction, 0);
    const bool is_signed = instruction->op == SpvOpConvertSToF;
    for (uint32_t item = 0; item < group->active.count; item++) {
        const uint32_t lane = weft_interpret_lane(&group->active, item);
        const uint64_t bits = weft_interpret_read(group, from, lane);
        const float made = is_signed ? (float)signed_of(bits, type_of(group, from)) : (float)bits;
        memcpy(weft_interpret_value(group, instruction->result) + lane, &made, sizeof made);
    }
}

/* Toward zero; undefined for what does not fit and for NaN: then 0. */
static void convert_from_float(struct weft_interpret_group *group,
                               const struct weft_ir_instruction *instruction) {
    const bool is_signed = instruction->op == SpvOpConvertFToS;
    const uint32_t *from = weft_interpret_operand(group, instruction, 0);
    for (uint32_t item = 0; item < group->active.count; item++) {
        const uint32_t lane = weft_interpret_lane(&group->active, item);
        float number;
        memcpy(&number, from + lane, sizeof number);
        uint64_t made = 0;
        if (is_signed && number >= -0x1p63F && number < 0x1p63F) {
            made = (uint64_t)(int64_t)number;
        } else if (!is_signed && number > -1.0F && number < 0x1p64F) {
            made = (uint64_t)number;
        }
        weft_interpret_write(group, instruction->result, lane, made);
    }
}

weft_interpret_function *weft_interpret_find_wide(uint32_t op) {
    static const struct weft_interpret_rule rules[] = {
        {SpvOpConvertFToU, convert_from_float},
        {SpvOpConvertFToS, convert_from_float},
        {SpvOpConvertSToF, convert_to_float},
        {SpvOpConvertUToF, convert_to_float},
        {SpvOpUConvert, compute},
        {SpvOpSConvert, compute},
        {SpvOpBitcast, compute},
        {SpvOpSNegate, compute},
        {SpvOpIAdd, compute},
        {SpvOpISub, compute},
        {SpvOpIMul, compute},
        {SpvOpUDiv, compute},
        {SpvOpSDiv, compute},
        {SpvOpUMod, compute},
        {SpvOpSRem, compute},
        {SpvOpSMod, compute},
        {SpvOpSelect, compute},
        {SpvOpIEqual, compute},
        {SpvOpINotEqual, compute},
        {SpvOpUGreaterThan, compute},
        {SpvOpSGreaterThan, compute},
        {SpvOpUGreaterThanEqual, compute},
        {SpvOpSGreaterThanEqual, compute},
        {SpvOpULessThan, compute},
        {SpvOpSLessThan, compute},
        {SpvOpULessThanEqual, compute},
        {SpvOpSLessThanEqual, compute},
        {SpvOpShiftRightLogical, compute},
        {SpvOpShiftRightArithmetic, compute},
        {SpvOpShiftLeftLogical, compute},
        {SpvOpBitwiseOr, compute},
        {SpvOpBitwiseXor, compute},
        {SpvOpBitwiseAnd, compute},
        {SpvOpNot, compute},
        {WEFT_IR_GLSL + WEFT_GLSL_S_ABS, compute},
        {WEFT_IR_U_MIN, compute},
        {WEFT_IR_U_MAX, compute},
        {WEFT_IR_GLSL + WEFT_GLSL_S_MIN, compute},
        {WEFT_IR_GLSL + WEFT_GLSL_S_MAX, compute},
    };
    return weft_interpret_find(rules, sizeof rules / sizeof rules[0], op);
}
