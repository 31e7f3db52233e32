/* SPDX-License-Identifier: MIT */
/*
 * Subnormal products. A product counts as subnormal if, rounded to 24 bits as though exponents had no end, it is below 2^-126. That is how
 * x86 processors decide when they flush (tininess after rounding, IEEE 754-2019 section 7.5), and it is not the same as looking at the
 * float32: a product from (1 - 2^-24) 2^-126 to less than (1 - 2^-25) 2^-126 is rounded up to 2^-126 among the subnormals, and is a zero
 * here. A device that decides in either other way, by the float32 or before rounding, is found by the probe and gets these instructions.
 * Sums and differences that small are exact: no rule differs.
 *
 * A product is made on a larger scale first, to see what it rounds to, and where that is small one of its factors becomes a zero. With
 * loses_small_products, more put 2^-126 where a device that looks at a product before it rounds it has made a zero.
 */
#include "spirv/passes/flush.h"

/* Ids of a product, behind those that all have; those from IS_LEAST on are a rescued one's. */
enum {
    SCALED_FACTOR = WEFT_FLUSH_IDS,
    SCALED,
    FACTOR,
    PRODUCT_IDS,
    RAW_BITS = PRODUCT_IDS,
    SIGN_BITS,
    RESCUE,
    RESCUE_IDS = RESCUE + WEFT_FLUSH_RESCUE_IDS
};

bool weft_flush_is_product(const uint32_t *instruction) {
    const uint32_t opcode = weft_spirv_opcode(instruction[0]);
    return opcode == SpvOpFMul || opcode == SpvOpVectorTimesScalar;
}

/* The larger products must not be fused with anything either. */
uint32_t weft_flush_begin_product(struct weft_spirv_flush *flush) {
    const uint32_t raw =
        weft_spirv_new_ids(flush->edit, flush->loses_small_products ? RESCUE_IDS : PRODUCT_IDS);
    WEFT_SPIRV_PUT(flush->edit, SpvOpDecorate, raw + SCALED_FACTOR, SpvDecorationNoContraction);
    WEFT_SPIRV_PUT(flush->edit, SpvOpDecorate, raw + SCALED, SpvDecorationNoContraction);
    return raw;
}

void weft_flush_put_question(struct weft_spirv_flush *flush, const struct weft_spirv_width *width,
                             uint32_t raw, uint32_t value, uint32_t limit, uint32_t signed_value) {
    struct weft_spirv_edit *edit = flush->edit;
    const uint32_t *types = width->types;
    WEFT_SPIRV_PUT(edit, SpvOpExtInst, types[WEFT_SPIRV_FLOAT], raw + WEFT_FLUSH_MAGNITUDE,
                   flush->glsl, GLSLstd450FAbs, value);
    WEFT_SPIRV_PUT(edit, SpvOpFOrdLessThan, types[WEFT_SPIRV_BOOL], raw + WEFT_FLUSH_IS_SMALL,
                   raw + WEFT_FLUSH_MAGNITUDE, limit);
    WEFT_SPIRV_PUT(edit, SpvOpBitcast, types[WEFT_SPIRV_UINT], raw + WEFT_FLUSH_BITS, signed_value);
    WEFT_SPIRV_PUT(edit, SpvOpBitwiseAnd, types[WEFT_SPIRV_UINT], raw + WEFT_FLUSH_ZERO_BITS,
                   raw + WEFT_FLUSH_BITS, width->constants + WEFT_FLUSH_SIGN);
    WEFT_SPIRV_PUT(edit, SpvOpBitcast, types[WEFT_SPIRV_FLOAT], raw + WEFT_FLUSH_ZERO,
                   raw + WEFT_FLUSH_ZERO_BITS);
}

void weft_flush_put_rescue(struct weft_spirv_flush *flush, const struct weft_spirv_width *width,
                           uint32_t result, uint32_t raw, uint32_t ids, uint32_t signs,
                           uint32_t kept) {
    struct weft_spirv_edit *edit = flush->edit;
    const uint32_t *types = width->types;
    WEFT_SPIRV_PUT(edit, SpvOpFOrdEqual, types[WEFT_SPIRV_BOOL], ids + WEFT_FLUSH_IS_LEAST,
                   raw + WEFT_FLUSH_MAGNITUDE, width->constants + WEFT_FLUSH_LEAST_SCALED);
    WEFT_SPIRV_PUT(edit, SpvOpBitwiseOr, types[WEFT_SPIRV_UINT], ids + WEFT_FLUSH_LEAST_OF_SIGN,
                   signs, width->constants + WEFT_FLUSH_LEAST_BITS);
    WEFT_SPIRV_PUT(edit, SpvOpBitcast, types[WEFT_SPIRV_FLOAT], ids + WEFT_FLUSH_LEAST,
                   ids + WEFT_FLUSH_LEAST_OF_SIGN);
    WEFT_SPIRV_PUT(edit, SpvOpSelect, types[WEFT_SPIRV_FLOAT], result, ids + WEFT_FLUSH_IS_LEAST,
                   ids + WEFT_FLUSH_LEAST, kept);
}

/*
 * The product, twice as large, so that its 24 bits are rounded as if exponents had no end where that
 * decides. The larger second factor, or with a vector the scalar, overflows only where the product
 * is no small number: the first factor is at least 2^-126, or zero, where an infinite factor makes
 * a NaN, which is not small either.
 */
static void put_scaled(struct weft_spirv_flush *flush, const uint32_t *product, uint32_t raw,
                       bool by_scalar) {
    const struct weft_spirv_width *scalar = &flush->widths[1];
    const bool is_scalar = by_scalar || weft_flush_width(flush, product) == scalar;
    WEFT_SPIRV_PUT(flush->edit, is_scalar ? SpvOpFMul : SpvOpVectorTimesScalar,
                   by_scalar ? scalar->types[WEFT_SPIRV_FLOAT] : product[1], raw + SCALED_FACTOR,
                   product[4], flush->scale);
    WEFT_SPIRV_PUT(flush->edit, weft_spirv_opcode(product[0]), product[1], raw + SCALED, product[3],
                   raw + SCALED_FACTOR);
}

/* The product that is not small, with the sign that it has. */
static void put_rescue(struct weft_spirv_flush *flush, const struct weft_spirv_width *width,
                       uint32_t result, uint32_t raw) {
    struct weft_spirv_edit *edit = flush->edit;
    const uint32_t *types = width->types;
    WEFT_SPIRV_PUT(edit, SpvOpBitcast, types[WEFT_SPIRV_UINT], raw + RAW_BITS, raw);
    WEFT_SPIRV_PUT(edit, SpvOpBitwiseAnd, types[WEFT_SPIRV_UINT], raw + SIGN_BITS, raw + RAW_BITS,
                   width->constants + WEFT_FLUSH_SIGN);
    weft_flush_put_rescue(flush, width, result, raw, raw + RESCUE, raw + SIGN_BITS, raw);
}

/*
 * A product of which one factor, where the result is small, is a zero instead. What decides is
 * behind it: were the result replaced, compilers that see no dependency would make all products
 * of a kernel before they look at the first, and keep them in registers. Zeros of factors that
 * several products have are made once.
 */
void weft_flush_put_product(struct weft_spirv_flush *flush, const uint32_t *instruction) {
    struct weft_spirv_edit *edit = flush->edit;
    const struct weft_spirv_width *width = weft_flush_width(flush, instruction);
    const uint32_t type = instruction[1];
    const uint32_t result = instruction[2];
    const uint32_t raw = flush->raw[result];
    const bool by_scalar = weft_spirv_opcode(instruction[0]) == SpvOpVectorTimesScalar;
    const uint32_t replaced = by_scalar ? 3 : 4; /* of its operands: a vector like the result */
    const uint32_t factor = instruction[replaced];
    weft_spirv_insert_before(edit, instruction);
    put_scaled(flush, instruction, raw, by_scalar);
    weft_flush_put_question(flush, width, raw, raw + SCALED,
                            width->constants + WEFT_FLUSH_LEAST_SCALED, factor);
    WEFT_SPIRV_PUT(edit, SpvOpSelect, type, raw + FACTOR, raw + WEFT_FLUSH_IS_SMALL,
                   raw + WEFT_FLUSH_ZERO, factor);
    weft_spirv_set_word(edit, instruction, 2, raw);
    weft_spirv_set_word(edit, instruction, replaced, raw + FACTOR);
    weft_spirv_insert_before(edit, instruction + weft_spirv_length(instruction[0]));
    if (flush->loses_small_products) {
        put_rescue(flush, width, result, raw);
    } else {
        WEFT_SPIRV_PUT(edit, SpvOpCopyObject, type, result, raw);
    }
}
