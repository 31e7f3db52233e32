/* SPDX-License-Identifier: MIT */
/*
 * Results of an Fma that are subnormal, by the rule of products (flush_products.c): rounded to 24 bits as though exponents had no end. An Fma
 * of twice the numbers shows what that is, since it is normal where the result is near 2^-126. Where doubling overflows, no result is small:
 * beside an addend of 2^127 or a factor of 2^127 with another that is no zero, what is not 0 is 2^-45 or more.
 */
#include "spirv/passes/flush.h"

#define AT 5u /* in an Fma: the first operand */

/* Ids behind those that all have; those from KEPT on are a rescued one's. */
enum {
    SCALED_FACTOR = WEFT_FLUSH_IDS,
    SCALED_ADDEND,
    SCALED,
    FMA_IDS,
    KEPT = FMA_IDS,
    RESCUE,
    RESCUE_IDS = RESCUE + WEFT_FLUSH_RESCUE_IDS
};

uint32_t weft_flush_begin_fma(struct weft_spirv_flush *flush) {
    const uint32_t raw =
        weft_spirv_new_ids(flush->edit, flush->loses_small_products ? RESCUE_IDS : FMA_IDS);
    for (uint32_t id = SCALED_FACTOR; id <= SCALED; id++) {
        WEFT_SPIRV_PUT(flush->edit, SpvOpDecorate, raw + id, SpvDecorationNoContraction);
    }
    return raw;
}

void weft_flush_put_fma(struct weft_spirv_flush *flush, const uint32_t *instruction) {
    struct weft_spirv_edit *edit = flush->edit;
    const struct weft_spirv_width *width = weft_flush_width(flush, instruction);
    const uint32_t type = instruction[1];
    const uint32_t result = instruction[2];
    const uint32_t raw = flush->raw[result];
    const SpvOp times = width == &flush->widths[1] ? SpvOpFMul : SpvOpVectorTimesScalar;
    weft_spirv_set_word(edit, instruction, 2, raw);
    weft_spirv_insert_before(edit, weft_spirv_next(instruction));
    WEFT_SPIRV_PUT(edit, times, type, raw + SCALED_FACTOR, instruction[AT + 1], flush->scale);
    WEFT_SPIRV_PUT(edit, times, type, raw + SCALED_ADDEND, instruction[AT + 2], flush->scale);
    WEFT_SPIRV_PUT(edit, SpvOpExtInst, type, raw + SCALED, instruction[3], instruction[4],
                   instruction[AT], raw + SCALED_FACTOR, raw + SCALED_ADDEND);
    weft_flush_put_question(flush, width, raw, raw + SCALED,
                            width->constants + WEFT_FLUSH_LEAST_SCALED, raw + SCALED);
    const uint32_t kept = flush->loses_small_products ? raw + KEPT : result;
    WEFT_SPIRV_PUT(edit, SpvOpSelect, type, kept, raw + WEFT_FLUSH_IS_SMALL, raw + WEFT_FLUSH_ZERO,
                   raw);
    if (flush->loses_small_products) {
        weft_flush_put_rescue(flush, width, result, raw, raw + RESCUE, raw + WEFT_FLUSH_ZERO_BITS,
                              raw + KEPT);
    }
}
