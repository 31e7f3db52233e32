/* SPDX-License-Identifier: MIT */
/*
 * Float32 arithmetic of kernels that are not strict, on threads whose float state counts subnormal numbers as zeros (core/math/float_state.h): there
 * an operation of the processor's has the bits that arithmetic.c makes by several. In vectors of 8 where the processor has them, and with its
 * own fused multiply-add.
 */
#include "core/math/float_state.h"
#include "interpret/group.h"
#include "interpret/number.h"
#include "spirv/ir/glsl.h"

#if WEFT_FLOAT_STATE_FLUSHES

/* Operations, made for two kinds of processors: `made` precedes a function, `suffix` follows its name. */
/* clang-format off */
#define OPERATIONS(made, suffix)                                                      \
    made WEFT_INTERPRET_BINARY(add_##suffix, bits_of(float_of(a) + float_of(b)))      \
    made WEFT_INTERPRET_BINARY(subtract_##suffix, bits_of(float_of(a) - float_of(b))) \
    made WEFT_INTERPRET_BINARY(multiply_##suffix, bits_of(float_of(a) * float_of(b)))

#define ROWS(suffix) \
    {SpvOpFAdd, add_##suffix}, {SpvOpFSub, subtract_##suffix}, {SpvOpFMul, multiply_##suffix}

OPERATIONS(, narrow)

#ifdef __x86_64__
#define WIDE __attribute__((target("avx2,fma")))
OPERATIONS(WIDE, wide)
WIDE WEFT_INTERPRET_TERNARY(fuse_wide, bits_of(__builtin_fmaf(float_of(a), float_of(b), float_of(c))))

static weft_interpret_function *find_wide(uint32_t op) {
    static const struct weft_interpret_rule rules[] = {
        ROWS(wide), {WEFT_IR_GLSL + WEFT_GLSL_FMA, fuse_wide}};
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
               ? weft_interpret_find(rules, sizeof rules / sizeof rules[0], op)
               : NULL;
}
#else
static weft_interpret_function *find_wide(uint32_t op) {
    (void)op;
    return NULL;
}
#endif
/* clang-format on */

weft_interpret_function *weft_interpret_find_flushing(uint32_t op) {
    static const struct weft_interpret_rule rules[] = {ROWS(narrow)};
    weft_interpret_function *wide = find_wide(op);
    return wide ? wide : weft_interpret_find(rules, sizeof rules / sizeof rules[0], op);
}

#else

weft_interpret_function *weft_interpret_find_flushing(uint32_t op) {
    (void)op;
    return NULL;
}

#endif
