/* SPDX-License-Identifier: MIT */
/*
 * fma(a, b, c) by 32-bit integers, as core/fused.c has it in words of 64 bits: product and addend stand in two words each, with their leading
 * bits at 60 or 61, and at 60; the one with the smaller exponent is shifted to the right, and its lowest bit says whether ones went out;
 * the sum is shifted to the top and rounded once. Infinities and NaN go by a product and a sum, which are exact then.
 */
#include "spirv/passes/fma.h"

#define SIGN     0x80000000u
#define INFINITE 0x7F800000u
#define FRACTION 0x007FFFFFu
#define HIDDEN   0x00800000u /* also the bits of 2^-126 */
#define ONES     0xFFFFFFFFu

#define U32(opcode, ...)   WEFT_FMA_PUT(writer, WEFT_FMA_UINT, SpvOp##opcode, __VA_ARGS__)
#define F32(opcode, ...)   WEFT_FMA_PUT(writer, WEFT_FMA_FLOAT, SpvOp##opcode, __VA_ARGS__)
#define TRUTH(opcode, ...) WEFT_FMA_PUT(writer, WEFT_FMA_BOOL, SpvOp##opcode, __VA_ARGS__)
#define GLSL(number, ...)  U32(ExtInst, writer->glsl, GLSLstd450##number, __VA_ARGS__)
#define WORD(bits)         weft_fma_constant_of(writer, WEFT_FMA_UINT, (bits))

/* A magnitude in two words. */
struct wide {
    uint32_t high, low;
};

/* An operand: all ids. */
struct operand {
    uint32_t bits, sign, exponent, significand; /* with the hidden bit; 0 for a subnormal */
};

static struct operand take_apart(struct weft_fma_writer *writer, uint32_t x) {
    struct operand made = {.bits = U32(Bitcast, x)};
    made.sign = U32(BitwiseAnd, made.bits, WORD(SIGN));
    const uint32_t shifted = U32(ShiftRightLogical, made.bits, WORD(23));
    made.exponent = U32(BitwiseAnd, shifted, WORD(255));
    const uint32_t fraction = U32(BitwiseAnd, made.bits, WORD(FRACTION));
    const uint32_t whole = U32(BitwiseOr, fraction, WORD(HIDDEN));
    const uint32_t is_zero = TRUTH(IEqual, made.exponent, WORD(0));
    made.significand = U32(Select, is_zero, WORD(0), whole);
    return made;
}

/* 24 bits by 24, from halves of 12: a·b = high·2^24 + middle·2^12 + low, moved up by 14. */
static struct wide multiply(struct weft_fma_writer *writer, uint32_t a, uint32_t b) {
    const uint32_t a1 = U32(ShiftRightLogical, a, WORD(12));
    const uint32_t a0 = U32(BitwiseAnd, a, WORD(0xFFF));
    const uint32_t b1 = U32(ShiftRightLogical, b, WORD(12));
    const uint32_t b0 = U32(BitwiseAnd, b, WORD(0xFFF));
    const uint32_t low = U32(IMul, a0, b0);
    const uint32_t middle_a = U32(IMul, a1, b0);
    const uint32_t middle_b = U32(IMul, a0, b1);
    const uint32_t carried = U32(ShiftRightLogical, low, WORD(12));
    const uint32_t middle_ab = U32(IAdd, middle_a, middle_b);
    const uint32_t middle = U32(IAdd, middle_ab, carried); /* below 2^26: worth 2^12 */
    const uint32_t top = U32(IMul, a1, b1);
    const uint32_t over = U32(ShiftRightLogical, middle, WORD(12));
    const uint32_t upper = U32(IAdd, top, over); /* bits 24 to 47 */
    const uint32_t middle_rest = U32(BitwiseAnd, middle, WORD(0xFFF));
    const uint32_t middle_moved = U32(ShiftLeftLogical, middle_rest, WORD(12));
    const uint32_t low_rest = U32(BitwiseAnd, low, WORD(0xFFF));
    const uint32_t lower = U32(BitwiseOr, middle_moved, low_rest); /* bits 0 to 23 */
    /* upper·2^24 + lower, times 2^14: upper at bit 38. */
    const uint32_t lower_up = U32(ShiftRightLogical, lower, WORD(18));
    const uint32_t upper_up = U32(ShiftLeftLogical, upper, WORD(6));
    return (struct wide){.high = U32(BitwiseOr, upper_up, lower_up),
                         .low = U32(ShiftLeftLogical, lower, WORD(14))};
}

/* x >> count, for 0 to 63, with the lowest bit set where ones went out. */
static struct wide shift_jamming(struct weft_fma_writer *writer, struct wide x, uint32_t count) {
    const uint32_t is_far = TRUTH(UGreaterThan, count, WORD(31));
    const uint32_t high = U32(Select, is_far, WORD(0), x.high);
    const uint32_t low = U32(Select, is_far, x.high, x.low);
    const uint32_t lost_word = U32(Select, is_far, x.low, WORD(0));
    const uint32_t right = U32(BitwiseAnd, count, WORD(31));
    const uint32_t left = U32(BitwiseXor, right, WORD(31)); /* and one more */
    const uint32_t high_twice = U32(ShiftLeftLogical, high, WORD(1));
    const uint32_t from_high = U32(ShiftLeftLogical, high_twice, left);
    const uint32_t low_right = U32(ShiftRightLogical, low, right);
    const uint32_t low_twice = U32(ShiftLeftLogical, low, WORD(1));
    const uint32_t low_lost = U32(ShiftLeftLogical, low_twice, left);
    const uint32_t lost = U32(BitwiseOr, lost_word, low_lost);
    const uint32_t is_exact = TRUTH(IEqual, lost, WORD(0));
    const uint32_t jam = U32(Select, is_exact, WORD(0), WORD(1));
    const uint32_t both = U32(BitwiseOr, low_right, from_high);
    return (struct wide){.high = U32(ShiftRightLogical, high, right),
                         .low = U32(BitwiseOr, both, jam)};
}

/* 1 where a condition holds. */
static uint32_t one_where(struct weft_fma_writer *writer, uint32_t condition) {
    return U32(Select, condition, WORD(1), WORD(0));
}

/* x, or where a condition holds its negative in two's complement. */
static struct wide negate_where(struct weft_fma_writer *writer, uint32_t condition, struct wide x) {
    const uint32_t mask = U32(Select, condition, WORD(ONES), WORD(0));
    const uint32_t low_flipped = U32(BitwiseXor, x.low, mask);
    const uint32_t high_flipped = U32(BitwiseXor, x.high, mask);
    const uint32_t low = U32(IAdd, low_flipped, one_where(writer, condition));
    const uint32_t is_zero = TRUTH(IEqual, low, WORD(0));
    const uint32_t carries = TRUTH(LogicalAnd, condition, is_zero);
    return (struct wide){.high = U32(IAdd, high_flipped, one_where(writer, carries)), .low = low};
}

static struct wide add(struct weft_fma_writer *writer, struct wide x, struct wide y) {
    const uint32_t low = U32(IAdd, x.low, y.low);
    const uint32_t carries = TRUTH(ULessThan, low, x.low);
    const uint32_t high = U32(IAdd, x.high, y.high);
    return (struct wide){.high = U32(IAdd, high, one_where(writer, carries)), .low = low};
}

/* A sum and what its exponent and sign come from. */
struct sum {
    struct wide magnitude;
    uint32_t exponent; /* of bit 0, and 127 */
    uint32_t sign;
};

/* The leading bits of the 24 that remain, rounded, and with the exponent at its place; a zero for 0. */
static uint32_t round_once(struct weft_fma_writer *writer, struct sum sum) {
    const uint32_t has_high = TRUTH(INotEqual, sum.magnitude.high, WORD(0));
    const uint32_t high = U32(Select, has_high, sum.magnitude.high, sum.magnitude.low);
    const uint32_t low = U32(Select, has_high, sum.magnitude.low, WORD(0));
    const uint32_t is_nothing = TRUTH(IEqual, high, WORD(0));
    const uint32_t top = GLSL(FindUMsb, high);
    const uint32_t gap = U32(ISub, WORD(31), top);
    const uint32_t up = U32(BitwiseAnd, gap, WORD(31));
    const uint32_t down = U32(BitwiseXor, up, WORD(31)); /* and one more */
    const uint32_t high_up = U32(ShiftLeftLogical, high, up);
    const uint32_t low_half = U32(ShiftRightLogical, low, WORD(1));
    const uint32_t from_low = U32(ShiftRightLogical, low_half, down);
    const uint32_t leading = U32(BitwiseOr, high_up, from_low);
    const uint32_t trailing = U32(ShiftLeftLogical, low, up);
    const uint32_t has_trailing = TRUTH(INotEqual, trailing, WORD(0));
    const uint32_t kept = U32(ShiftRightLogical, leading, WORD(8));
    const uint32_t below_half = U32(BitwiseAnd, leading, WORD(0x7F));
    const uint32_t is_odd = U32(BitwiseAnd, kept, WORD(1));
    const uint32_t decides = U32(BitwiseOr, below_half, is_odd);
    const uint32_t some = U32(BitwiseOr, decides, one_where(writer, has_trailing));
    const uint32_t is_some = TRUTH(INotEqual, some, WORD(0));
    const uint32_t half = U32(ShiftRightLogical, leading, WORD(7));
    const uint32_t half_bit = U32(BitwiseAnd, half, WORD(1));
    const uint32_t step = U32(Select, is_some, half_bit, WORD(0));
    const uint32_t rounded = U32(IAdd, kept, step); /* 2^23 to 2^24 */
    const uint32_t offset = U32(Select, has_high, WORD(32), WORD(0));
    const uint32_t place = U32(IAdd, top, offset);
    const uint32_t exact_exponent = U32(IAdd, place, sum.exponent);
    const uint32_t not_lower = GLSL(SMax, exact_exponent, WORD(ONES)); /* -1 */
    const uint32_t exponent = GLSL(SMin, not_lower, WORD(255));
    const uint32_t before = U32(ISub, exponent, WORD(1));
    const uint32_t moved = U32(ShiftLeftLogical, before, WORD(23));
    const uint32_t bits = U32(IAdd, moved, rounded);
    const uint32_t is_small = TRUTH(SLessThan, bits, WORD(HIDDEN));
    const uint32_t normal = U32(Select, is_small, WORD(0), bits);
    const uint32_t is_past = TRUTH(SGreaterThan, exponent, WORD(254));
    const uint32_t bounded = U32(Select, is_past, WORD(INFINITE), normal);
    const uint32_t number = U32(Select, is_nothing, WORD(0), bounded);
    return U32(BitwiseOr, number, sum.sign);
}

/* a·b + c of finite numbers, but for the rounding. */
static struct sum add_up(struct weft_fma_writer *writer, const struct operand x[3]) {
    const struct wide product = multiply(writer, x[0].significand, x[1].significand);
    const struct wide addend = {.high = U32(ShiftLeftLogical, x[2].significand, WORD(5)),
                                .low = WORD(0)};
    const uint32_t product_sign = U32(BitwiseXor, x[0].sign, x[1].sign);
    const uint32_t differ = TRUTH(INotEqual, product_sign, x[2].sign);
    const uint32_t any = U32(BitwiseOr, product.high, product.low);
    const uint32_t no_product = TRUTH(IEqual, any, WORD(0));
    const uint32_t no_addend = TRUTH(IEqual, x[2].significand, WORD(0));
    const uint32_t exponents = U32(IAdd, x[0].exponent, x[1].exponent);
    const uint32_t exponent = U32(Select, no_product, WORD(0), exponents);
    const uint32_t apart = U32(ISub, exponent, x[2].exponent);
    const uint32_t unbiased = U32(ISub, apart, WORD(127));
    const uint32_t distance = U32(Select, no_addend, WORD(0), unbiased);
    const uint32_t addend_leads = TRUTH(SLessThan, distance, WORD(0));
    const uint32_t far = GLSL(SAbs, distance);
    const uint32_t count = GLSL(UMin, far, WORD(63));
    const struct wide big = {.high = U32(Select, addend_leads, addend.high, product.high),
                             .low = U32(Select, addend_leads, addend.low, product.low)};
    const struct wide small = {.high = U32(Select, addend_leads, product.high, addend.high),
                               .low = U32(Select, addend_leads, product.low, addend.low)};
    const struct wide aligned = shift_jamming(writer, small, count);
    const struct wide sum = add(writer, big, negate_where(writer, differ, aligned));
    const uint32_t is_negative = TRUTH(UGreaterThan, sum.high, WORD(~SIGN));
    const uint32_t big_sign = U32(Select, addend_leads, x[2].sign, product_sign);
    const uint32_t turned = U32(Select, is_negative, WORD(SIGN), WORD(0));
    const uint32_t sign = U32(BitwiseXor, big_sign, turned);
    const uint32_t left = U32(BitwiseOr, sum.high, sum.low);
    const uint32_t is_nothing = TRUTH(IEqual, left, WORD(0));
    const uint32_t cancelled = TRUTH(LogicalAnd, is_nothing, differ);
    const uint32_t of_product = U32(ISub, exponent, WORD(187));
    const uint32_t of_addend = U32(ISub, x[2].exponent, WORD(60));
    return (struct sum){.magnitude = negate_where(writer, is_negative, sum),
                        .exponent = U32(Select, addend_leads, of_addend, of_product),
                        .sign = U32(Select, cancelled, WORD(0), sign)};
}

static uint32_t put_body(struct weft_fma_writer *writer, const uint32_t x[3]) {
    struct operand operands[3];
    for (uint32_t i = 0; i < 3; i++) {
        operands[i] = take_apart(writer, x[i]);
    }
    const uint32_t bits = round_once(writer, add_up(writer, operands));
    const uint32_t finite = F32(Bitcast, bits);
    const uint32_t factors = GLSL(UMax, operands[0].exponent, operands[1].exponent);
    const uint32_t special_factor = TRUTH(IEqual, factors, WORD(255));
    const uint32_t most = GLSL(UMax, factors, operands[2].exponent);
    const uint32_t is_special = TRUTH(IEqual, most, WORD(255));
    const uint32_t product = F32(FMul, x[0], x[1]);
    const uint32_t zero = weft_fma_constant_of(writer, WEFT_FMA_FLOAT, 0);
    const uint32_t infinite = F32(Select, special_factor, product, zero);
    const uint32_t special = F32(FAdd, infinite, x[2]);
    return F32(Select, is_special, special, finite);
}

weft_status weft_spirv_fma_by_integers(struct weft_spirv_edit *edit) {
    return weft_fma_replace(edit, put_body);
}
