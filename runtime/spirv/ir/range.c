/* SPDX-License-Identifier: MIT */
/*
 * Bounds of integers, and what follows from them. Kernels that are written by programs, VkFFT's above all, work out places by
 * divisions that change nothing: (gl_LocalInvocationID.x + 64) % 768 in a workgroup of 64. Without them such a place
 * counts up from lane to lane.
 */
#include "spirv/check.h"
#include "spirv/ir/ir.h"

static uint64_t smaller(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* ---- bounds ---- */

uint64_t weft_ir_most_input(const struct weft_ir_program *program,
                            const struct weft_ir_instruction *input) {
    const uint32_t *size = program->local_size;
    switch (input->root) {
    case SpvBuiltInLocalInvocationId:
        return input->place < 3 ? size[input->place] - 1 : UINT32_MAX;
    case SpvBuiltInLocalInvocationIndex:
        return (uint64_t)size[0] * size[1] * size[2] - 1;
    default:
        return UINT32_MAX;
    }
}

/* The bits up to the highest of a number. */
static uint64_t fill(uint64_t number) {
    for (uint32_t shift = 1; shift < 64; shift *= 2) {
        number |= number >> shift;
    }
    return number;
}

static uint64_t most_of_two(uint32_t op, uint64_t ones, const struct weft_ir_def *a,
                            const struct weft_ir_def *b) {
    switch (op) {
    case SpvOpIAdd:
        return a->most <= ones - b->most ? a->most + b->most : ones;
    case SpvOpIMul:
        return a->most == 0 || b->most <= ones / a->most ? a->most * b->most : ones;
    case SpvOpShiftLeftLogical:
        return b->constant && b->bits < 64 && a->most <= ones >> b->bits ? a->most << b->bits
                                                                         : ones;
    case SpvOpShiftRightLogical:
        return b->constant && b->bits < 64 ? a->most >> b->bits : a->most;
    case SpvOpBitwiseAnd:
    case WEFT_IR_U_MIN:
        return smaller(a->most, b->most);
    case SpvOpBitwiseOr:
    case SpvOpBitwiseXor:
        return fill(a->most | b->most);
    case SpvOpUDiv:
        return b->constant && b->bits != 0 ? a->most / b->bits : ones;
    case SpvOpUMod:
        return b->constant && b->bits != 0 ? smaller(a->most, b->bits - 1) : ones;
    case WEFT_IR_U_MAX:
        return a->most > b->most ? a->most : b->most;
    default:
        return ones;
    }
}

uint64_t weft_ir_most(const struct weft_ir_program *program, uint32_t op, uint32_t type,
                      const weft_ir_value *arguments, uint32_t count) {
    const uint64_t ones = weft_ir_ones(type);
    if (weft_ir_is_float(type) || count == 0 || count > 3) {
        return ones;
    }
    const struct weft_ir_def *a = &program->values[arguments[0]];
    const struct weft_ir_def *b = &program->values[arguments[count - 1]];
    if (count == 2) {
        return most_of_two(op, ones, a, b);
    }
    if (count == 3 && op == SpvOpSelect) {
        return most_of_two(WEFT_IR_U_MAX, ones, &program->values[arguments[1]], b);
    }
    const bool same = op == SpvOpBitcast || op == SpvOpUConvert;
    return count == 1 && same && !weft_ir_is_float(a->type) ? smaller(a->most, ones) : ones;
}

/* ---- what follows ---- */

static weft_ir_value truth(struct weft_ir_program *program, bool value) {
    return weft_ir_constant(program, WEFT_IR_BOOL, value);
}

/* Comparisons with a constant on the right that come out alike for all that is not greater than `most`. */
static weft_ir_value compare(struct weft_ir_program *program, uint32_t op, uint64_t most,
                             uint64_t bound, uint64_t ones) {
    const bool is_signed = op == SpvOpSLessThan || op == SpvOpSLessThanEqual ||
                           op == SpvOpSGreaterThan || op == SpvOpSGreaterThanEqual;
    if (is_signed && (most > ones >> 1 || bound > ones >> 1)) {
        return 0;
    }
    switch (op) {
    case SpvOpSLessThan:
    case SpvOpULessThan:
        return most < bound ? truth(program, true) : 0;
    case SpvOpSLessThanEqual:
    case SpvOpULessThanEqual:
        return most <= bound ? truth(program, true) : 0;
    case SpvOpSGreaterThan:
    case SpvOpUGreaterThan:
        return most <= bound ? truth(program, false) : 0;
    case SpvOpSGreaterThanEqual:
    case SpvOpUGreaterThanEqual:
        return most < bound ? truth(program, false) : 0;
    default:
        return 0;
    }
}

/* With a constant on the right. Shifts stay, as they are: those that give 0 are there to hide it
 * (spirv/passes/hide_zeros.c). */
static weft_ir_value with_constant(struct weft_ir_program *program, uint32_t op, uint32_t type,
                                   weft_ir_value a, uint64_t b) {
    const uint64_t most = program->values[a].most;
    switch (op) {
    case SpvOpIAdd:
        return b == 0 ? a : 0;
    case SpvOpIMul:
        return b == 1 ? a : b == 0 ? weft_ir_constant(program, type, 0) : 0;
    case SpvOpUDiv:
        return b == 1 ? a : most < b ? weft_ir_constant(program, type, 0) : 0;
    case SpvOpUMod:
        return most < b ? a : 0;
    default:
        return 0;
    }
}

weft_ir_value weft_ir_simplify(struct weft_ir_program *program, uint32_t op, uint32_t type,
                               const weft_ir_value *arguments, uint32_t count) {
    if (op == SpvOpSelect && program->values[arguments[0]].constant) {
        return arguments[program->values[arguments[0]].bits != 0 ? 1 : 2];
    }
    if (count != 2 || weft_ir_is_float(program->values[arguments[0]].type)) {
        return 0;
    }
    const bool commutes = op == SpvOpIAdd || op == SpvOpIMul;
    const bool turn = commutes && program->values[arguments[0]].constant;
    const weft_ir_value a = arguments[turn ? 1 : 0];
    const weft_ir_value b = arguments[turn ? 0 : 1];
    if (!program->values[b].constant) {
        return 0;
    }
    const uint64_t bits = program->values[b].bits;
    const uint64_t ones = weft_ir_ones(program->values[a].type);
    const weft_ir_value same = with_constant(program, op, type, a, bits);
    return same != 0 ? same : compare(program, op, program->values[a].most, bits, ones);
}
