/* SPDX-License-Identifier: MIT */
/* Windows of a tensor: all of it, or as much at a time as the device can bind. */
#ifndef WEFT_LOWER_WINDOW_H
#define WEFT_LOWER_WINDOW_H

#include "lower/lowering.h"

struct weft_window {
    uint32_t storage;
    uint32_t first, count; /* words of the tensor */
};

/** How many there are: 1 where the device can bind all of the value. */
uint32_t weft_window_count(const struct weft_lowering *lowering, uint32_t value);

/** The one with this number. May move the graph's values. */
struct weft_window weft_window_at(struct weft_lowering *lowering, uint32_t value, uint32_t number);

/**
 * Lets a value that has no memory yet be in that of `whole`, from its element `first` on. False where it has some, as an output
 * has, or where nothing may begin there.
 */
bool weft_window_share(struct weft_lowering *lowering, uint32_t value, uint32_t whole,
                       uint64_t first);

/** A window in fours (shaders/include/fours.glsl), of a tensor that has whole ones. */
struct weft_window weft_window_in_fours(struct weft_window window);

#endif
