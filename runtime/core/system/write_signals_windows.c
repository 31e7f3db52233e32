/* SPDX-License-Identifier: MIT */
#include "core/system/write_signals.h"

uint64_t weft_write_limit(void) {
    return UINT64_MAX;
}

void weft_write_signals_hold(struct weft_write_signals *signals) {
    *signals = (struct weft_write_signals){0};
}

void weft_write_signals_release(const struct weft_write_signals *signals) {
    (void)signals;
}
