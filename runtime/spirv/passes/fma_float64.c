/* SPDX-License-Identifier: MIT */
/*
 * fma(a, b, c) by 64-bit floats. The product is exact, and with it the sum's error (Knuth's TwoSum). The error makes of the sum, rounded to
 * nearest, the one rounded to odd: towards zero, with the last bit set where that is not exact. Of its 53 bits rounding to 24 gives what
 * rounding the exact value would (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to
 * odd", IEEE Transactions on Computers 57(4), 2008). Numbers of 64 bits never are subnormal here: all are multiples of 2^-298.
 *
 * What rounds to less than 2^-126 becomes a zero: what is below 2^-126 - 2^-151, which is a tie, and goes to the even 2^-126.
 */
#include "core/try.h"
#include "spirv/passes/fma.h"

#define LEAST_BITS UINT64_C(0x3810000000000000) /* 2^-126 */
#define TIE_BITS   UINT64_C(0x380FFFFFF0000000) /* 2^-126 - 2^-151 */
#define MAGNITUDE  UINT64_C(0x7FFFFFFFFFFFFFFF)
#define SIGN       0x80000000u
#define LEAST      0x00800000u /* 2^-126 as float32 */

#define F64(opcode, ...)   WEFT_FMA_PUT(writer, WEFT_FMA_DOUBLE, SpvOp##opcode, __VA_ARGS__)
#define U64(opcode, ...)   WEFT_FMA_PUT(writer, WEFT_FMA_ULONG, SpvOp##opcode, __VA_ARGS__)
#define U32(opcode, ...)   WEFT_FMA_PUT(writer, WEFT_FMA_UINT, SpvOp##opcode, __VA_ARGS__)
#define TRUTH(opcode, ...) WEFT_FMA_PUT(writer, WEFT_FMA_BOOL, SpvOp##opcode, __VA_ARGS__)
#define WIDE(bits)         weft_fma_constant_of(writer, WEFT_FMA_ULONG, (bits))
#define WORD(bits)         weft_fma_constant_of(writer, WEFT_FMA_UINT, (bits))

/* The bits of the sum of two numbers, rounded to odd. Comparisons are false for a NaN, so an infinite sum stays as it is. */
static uint32_t put_odd_sum(struct weft_fma_writer *writer, uint32_t x, uint32_t y) {
    const uint32_t sum = F64(FAdd, x, y);
    const uint32_t y_part = F64(FSub, sum, x);
    const uint32_t x_part = F64(FSub, sum, y_part);
    const uint32_t x_lost = F64(FSub, x, x_part);
    const uint32_t y_lost = F64(FSub, y, y_part);
    const uint32_t lost = F64(FAdd, x_lost, y_lost);
    const uint32_t zero = weft_fma_constant_of(writer, WEFT_FMA_DOUBLE, 0);
    const uint32_t above = TRUTH(FOrdGreaterThan, lost, zero);
    const uint32_t below = TRUTH(FOrdLessThan, lost, zero);
    const uint32_t bits = U64(Bitcast, sum);
    const uint32_t negative = TRUTH(UGreaterThan, bits, WIDE(MAGNITUDE));
    const uint32_t away = TRUTH(Select, negative, above, below); /* it was rounded from zero */
    const uint32_t inexact = TRUTH(LogicalOr, above, below);
    const uint32_t back = U64(Select, away, WIDE(1), WIDE(0));
    const uint32_t truncated = U64(ISub, bits, back);
    const uint32_t last = U64(Select, inexact, WIDE(1), WIDE(0));
    return U64(BitwiseOr, truncated, last);
}

static uint32_t put_body(struct weft_fma_writer *writer, const uint32_t x[3]) {
    const uint32_t a = F64(FConvert, x[0]);
    const uint32_t b = F64(FConvert, x[1]);
    const uint32_t c = F64(FConvert, x[2]);
    const uint32_t product = F64(FMul, a, b);
    const uint32_t odd = put_odd_sum(writer, product, c);
    const uint32_t odd_sum = F64(Bitcast, odd);
    const uint32_t rounded = WEFT_FMA_PUT(writer, WEFT_FMA_FLOAT, SpvOpFConvert, odd_sum);
    const uint32_t magnitude = U64(BitwiseAnd, odd, WIDE(MAGNITUDE));
    const uint32_t is_small = TRUTH(ULessThan, magnitude, WIDE(LEAST_BITS));
    const uint32_t is_gone = TRUTH(ULessThan, magnitude, WIDE(TIE_BITS));
    const uint32_t high = U64(ShiftRightLogical, odd, WIDE(32));
    const uint32_t high_word = U32(UConvert, high);
    const uint32_t sign = U32(BitwiseAnd, high_word, WORD(SIGN));
    const uint32_t least = U32(Select, is_gone, WORD(0), WORD(LEAST));
    const uint32_t small_bits = U32(BitwiseOr, sign, least);
    const uint32_t small = WEFT_FMA_PUT(writer, WEFT_FMA_FLOAT, SpvOpBitcast, small_bits);
    return WEFT_FMA_PUT(writer, WEFT_FMA_FLOAT, SpvOpSelect, is_small, small, rounded);
}

weft_status weft_spirv_fma_by_float64(struct weft_spirv_edit *edit) {
    const uint32_t first = edit->bound;
    WEFT_TRY(weft_fma_replace(edit, put_body));
    if (edit->bound != first) { /* there was an Fma */
        weft_spirv_require(edit, SpvCapabilityFloat64);
        weft_spirv_require(edit, SpvCapabilityInt64);
    }
    return WEFT_OK;
}
