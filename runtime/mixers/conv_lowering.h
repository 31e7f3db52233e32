/* SPDX-License-Identifier: MIT */
/* A convolution as it is lowered, and its way on processors. */
#ifndef WEFT_MIXERS_CONV_LOWERING_H
#define WEFT_MIXERS_CONV_LOWERING_H

#include "lower/lowering.h"
#include "ops/sliding_window.h"

struct weft_conv {
    struct weft_windows windows;
    uint32_t batch, groups;
    uint32_t channels, outputs;       /* of x and of the result, in a group */
    uint32_t x, weight, bias, result; /* storages */
    weft_activation activation;
};

/** Terms of a sum. */
uint64_t weft_conv_terms(const struct weft_conv *c);

/** Notes what a kernel does that computes a share of it, 1 for all, from x. */
void weft_conv_count_costs(struct weft_dispatch *dispatch, const struct weft_conv *c, double share);

/** True if the windows are the elements of x themselves. */
bool weft_conv_is_pointwise(const struct weft_windows *w);

/** Windows from the one `first` on, in scratch memory: the columns of a matrix of weft_conv_terms(c) rows, or as_rows its rows. */
uint32_t weft_conv_lower_patches(struct weft_lowering *lowering, const struct weft_conv *c,
                                 uint64_t first, uint64_t windows, bool as_rows);

/** True if the device is the processor, and so few windows are multiplied by a constant weight that vectors of them would be empty. */
bool weft_conv_is_rows(const struct weft_lowering *lowering, const struct weft_conv *c,
                       uint32_t weight);

/** Lowers such a convolution as a product whose rows are windows, by the weight's value. */
void weft_conv_lower_rows(struct weft_lowering *lowering, const struct weft_conv *c,
                          uint32_t weight);

#define WEFT_CONV_SMALL_WINDOW 7 /* elements along an axis, up to which kernels unroll its loops */

/** True if the device is the processor, each channel of the result is made of one of x, and enough of its lines fit into shared memory. */
bool weft_conv_is_depthwise(const struct weft_lowering *lowering, const struct weft_conv *c);

/** Lowers such a convolution. */
void weft_conv_lower_depthwise(struct weft_lowering *lowering, const struct weft_conv *c);

/** True if the device is the processor, and it pays to bring x's planes into the order of conv/flat.comp, where they are not in it. */
bool weft_conv_is_flat(const struct weft_lowering *lowering, const struct weft_conv *c);

/** Lowers such a convolution by that kernel. */
void weft_conv_lower_flat(struct weft_lowering *lowering, const struct weft_conv *c);

#endif
