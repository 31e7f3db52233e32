/* SPDX-License-Identifier: MIT */
/*
 * Convolutions of few windows on processors: those of short signals, of images whose planes have become small, of single numbers. With
 * windows along the lanes most lanes would be idle, so lanes lie along the channels of the result, of which the weight has panels.
 */
#include "lower/cut.h"
#include "mixers/conv_lowering.h"
#include "ops/matmul.h"
#include "ops/strides.h"

static uint64_t in_whole(uint64_t count, uint64_t step) {
    return (count + step - 1) / step * step;
}

static uint64_t rows_of(const struct weft_conv *c) {
    return (uint64_t)c->batch * weft_windows_count(&c->windows);
}

bool weft_conv_is_rows(const struct weft_lowering *lowering, const struct weft_conv *c,
                       uint32_t weight) {
    /* conv/flat.comp computes LANES windows at least. Lanes along the channels have to leave so many times fewer idle. */
    enum { MOST_ROWS = 64, LANES = 64, PAYS = 3 };
    const weft_weight *given = lowering->graph->values[weight].weight;
    const uint64_t rows = rows_of(c);
    const uint64_t flat = c->batch * in_whole(weft_windows_count(&c->windows), LANES) * c->outputs;
    const bool is_constant = given && !weft_weight_is_int8(given);
    return weft_lower_on_processor(lowering) && is_constant && c->groups == 1 &&
           rows <= MOST_ROWS && PAYS * rows * in_whole(c->outputs, WEFT_PANEL_COLUMNS) <= flat;
}

/* Windows, each a row. */
static uint32_t lower_windows(struct weft_lowering *lowering, const struct weft_conv *c) {
    const uint64_t windows = weft_windows_count(&c->windows);
    return windows == 1 && weft_conv_is_pointwise(&c->windows)
               ? c->x
               : weft_conv_lower_patches(lowering, c, 0, windows, true);
}

/* [batch, windows, channels] as [batch, channels, windows]. */
static void lower_channels(struct weft_lowering *lowering, const struct weft_conv *c,
                           uint32_t rows) {
    const uint32_t windows = (uint32_t)weft_windows_count(&c->windows);
    const struct weft_strides strides = {
        .rank = 3,
        .extent = {c->batch, c->outputs, windows},
        .stride = {windows * c->outputs, 1, c->outputs},
    };
    weft_lower_items(lowering, &strides, rows, c->result);
}

void weft_conv_lower_rows(struct weft_lowering *lowering, const struct weft_conv *c,
                          uint32_t weight) {
    const uint32_t terms = (uint32_t)weft_conv_terms(c);
    const uint64_t elements = rows_of(c) * c->outputs;
    const enum weft_half half = weft_lower_exact_half(lowering, weight);
    const bool in_order = weft_windows_count(&c->windows) == 1;
    const uint32_t rows =
        in_order ? c->result : weft_lower_scratch(lowering, elements * sizeof(float));
    const struct weft_product product = {
        .a = {.storage = lower_windows(lowering, c), .row = terms, .column = 1},
        .b = {.storage = weft_lower_panel_weight(lowering, weight, true, half),
              .half = half,
              .panels = true},
        .c = {.storage = rows, .row = c->outputs, .column = 1},
        .m = (uint32_t)rows_of(c),
        .n = c->outputs,
        .k = terms,
        .batches = 1,
        .inner_count = 1,
        .alpha = 1.0F,
        .bias = c->bias,
        .activation = c->activation,
        .residual = WEFT_NO_STORAGE};
    weft_lower_product(lowering, &product);
    if (!in_order) {
        lower_channels(lowering, c, rows);
    }
}
