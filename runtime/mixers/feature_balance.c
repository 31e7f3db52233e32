/* SPDX-License-Identifier: MIT */
#include "mixers/feature_balance.h"

#include "kernels/random_features/channel_balance.h"
#include "kernels/random_features/channel_scale.h"
#include "kernels/random_features/channel_squares.h"
#include "lower/divisor.h"

/** One of the two: the storage, and its squares [batch · heads · chunks, width]. */
struct side {
    uint32_t x, tokens, chunks;
    uint32_t squares;
};

static uint32_t scratch(struct weft_lowering *lowering, uint64_t count) {
    return weft_lower_scratch(lowering, count * sizeof(float));
}

static struct side lower_squares(struct weft_lowering *lowering, const struct weft_balance *b,
                                 uint32_t x, uint32_t tokens) {
    struct side side = {.x = x,
                        .tokens = tokens,
                        .chunks = (tokens - 1) / WEFT_RANDOM_FEATURES_CHANNEL_SQUARES_CHUNK + 1};
    const uint64_t rows = (uint64_t)b->batch * b->heads * side.chunks;
    side.squares = scratch(lowering, rows * b->width);
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, random_features_channel_squares, weft_grid_of_groups(rows),
                   .bind = {.x = x, .result = side.squares},
                   .push = {.rows = (uint32_t)rows,
                            .width = b->width,
                            .heads = b->heads,
                            .tokens = tokens,
                            .chunks = side.chunks});
    const double elements = (double)b->batch * tokens * b->heads * b->width;
    dispatch->flops = 2.0 * elements;
    dispatch->bytes = 4.0 * elements;
    return side;
}

/** The factors of `own`, [batch, heads, width]. */
static uint32_t lower_factors(struct weft_lowering *lowering, const struct weft_balance *b,
                              const struct side *own, const struct side *other) {
    const uint64_t count = (uint64_t)b->batch * b->heads * b->width;
    const uint32_t factors = scratch(lowering, count);
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, random_features_channel_balance, weft_grid_of_items(count),
                   .bind = {.x = own->squares, .y = other->squares, .result = factors},
                   .push = {.count = (uint32_t)count,
                            .width = b->width,
                            .x_chunks = own->chunks,
                            .y_chunks = other->chunks});
    const double read = (double)count * (own->chunks + other->chunks);
    dispatch->flops = read + 5.0 * (double)count;
    dispatch->bytes = 4.0 * (read + (double)count);
    return factors;
}

static uint64_t elements_of(const struct weft_balance *b, const struct side *side) {
    return (uint64_t)b->batch * side->tokens * b->heads * b->width;
}

static void lower_scaled(struct weft_lowering *lowering, const struct weft_balance *b,
                         const struct side *side, uint32_t factors, uint32_t result) {
    const uint64_t count = elements_of(b, side);
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, random_features_channel_scale, weft_grid_of_items(count),
                   .bind = {.x = side->x, .factors = factors, .result = result},
                   .push = {.count = (uint32_t)count,
                            .channels = b->heads * b->width,
                            WEFT_INVERSE(channels, b->heads * b->width),
                            WEFT_INVERSE(sequence, side->tokens * b->heads * b->width)});
    dispatch->flops = (double)count;
    dispatch->bytes = 8.0 * (double)count;
}

void weft_lower_balance(struct weft_lowering *lowering, struct weft_balance *balance) {
    const struct side x = lower_squares(lowering, balance, balance->x, balance->tokens);
    const struct side other =
        lower_squares(lowering, balance, balance->other, balance->other_tokens);
    const uint32_t x_factors = lower_factors(lowering, balance, &x, &other);
    const uint32_t other_factors = lower_factors(lowering, balance, &other, &x);
    balance->x = scratch(lowering, elements_of(balance, &x));
    balance->other = scratch(lowering, elements_of(balance, &other));
    lower_scaled(lowering, balance, &x, x_factors, balance->x);
    lower_scaled(lowering, balance, &other, other_factors, balance->other);
}

void weft_lower_balance_one(struct weft_lowering *lowering, const struct weft_balance *balance,
                            uint32_t result) {
    const struct side x = lower_squares(lowering, balance, balance->x, balance->tokens);
    const struct side other =
        lower_squares(lowering, balance, balance->other, balance->other_tokens);
    lower_scaled(lowering, balance, &x, lower_factors(lowering, balance, &x, &other), result);
}
