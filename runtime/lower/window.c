/* SPDX-License-Identifier: MIT */
#include "lower/window.h"

#include "lower/cut.h"

static uint64_t words_of(const struct weft_lowering *lowering, uint32_t value) {
    return weft_value_bytes(&lowering->graph->values[value]) / 4;
}

uint32_t weft_window_count(const struct weft_lowering *lowering, uint32_t value) {
    const uint64_t most = weft_cut_limit(lowering) / 4;
    return (uint32_t)((words_of(lowering, value) + most - 1) / most);
}

struct weft_window weft_window_at(struct weft_lowering *lowering, uint32_t value, uint32_t number) {
    const uint64_t words = words_of(lowering, value);
    const uint64_t most = weft_cut_limit(lowering) / 4;
    const uint64_t first = number * most;
    const uint64_t count = words - first < most ? words - first : most;
    if (count < words) {
        value = weft_cut_value(lowering, value, first, weft_shape_of((uint32_t)count), 0);
    }
    return (struct weft_window){.storage = weft_lower_value(lowering, value),
                                .first = (uint32_t)first,
                                .count = (uint32_t)count};
}

struct weft_window weft_window_in_fours(struct weft_window window) {
    window.first /= 4; /* a window begins where kernels may load four elements */
    window.count /= 4;
    return window;
}

bool weft_window_share(struct weft_lowering *lowering, uint32_t value, uint32_t whole,
                       uint64_t first) {
    const uint64_t offset = first * sizeof(uint32_t);
    if (lowering->storage_of[value] != UINT32_MAX || offset % weft_cut_alignment(lowering) != 0) {
        return false;
    }
    const uint32_t part = weft_lower_part(lowering, weft_lower_value(lowering, whole), offset,
                                          weft_value_bytes(&lowering->graph->values[value]));
    if (lowering->status == WEFT_OK) {
        lowering->storage_of[value] = part;
    }
    return true;
}
