/* SPDX-License-Identifier: MIT */
#include "core/write_signals.h"

void weft_write_signals_hold(struct weft_write_signals *signals) {
    *signals = (struct weft_write_signals){0};
}

void weft_write_signals_release(const struct weft_write_signals *signals) {
    (void)signals;
}
