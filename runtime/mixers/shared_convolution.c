/* SPDX-License-Identifier: MIT */
#include "mixers/shared_convolution.h"

#include <stdio.h>

#include "core/trig.h"

#define MAX_LOG_ROWS 4 /* 16 channels are 64 contiguous bytes of a position: a cache line */

uint32_t weft_shared_convolution_length(uint32_t n) {
    uint32_t length = WEFT_SHARED_CONVOLUTION_MIN;
    while (length < WEFT_SHARED_CONVOLUTION_MAX && length / 2 < n) {
        length *= 2;
    }
    return n <= length / 2 ? length : 0;
}

static uint32_t log_of(uint32_t power) {
    uint32_t log = 0;
    while (power >> log > 1) {
        log++;
    }
    return log;
}

/* Channels of a workgroup; no bit depends on it. */
static uint32_t log_rows(uint32_t length, uint32_t channels) {
    uint32_t log = 0;
    while (log < MAX_LOG_ROWS && length << log < WEFT_SHARED_CONVOLUTION_MAX &&
           UINT32_C(1) << log < channels) {
        log++;
    }
    return log;
}

void weft_dispatch_shared_fft(struct weft_dispatch *dispatch, uint32_t length, uint32_t channels,
                              uint32_t batch) {
    uint32_t rows = log_rows(length, channels);
    uint64_t groups = (((uint64_t)channels - 1) >> rows) + 1;
    weft_dispatch_specialize(dispatch, log_of(length / 2));
    weft_dispatch_specialize(dispatch, rows);
    weft_dispatch_items(dispatch, groups * batch * WEFT_ITEMS_PER_GROUP);
}

static weft_status fill_turns(void *user, void *data) {
    const uint32_t *points = user;
    float *turn = data;
    for (uint32_t k = 0; k < *points; k++) {
        double cosine;
        double sine;
        weft_unit_root(&cosine, &sine, k, *points);
        turn[2 * k] = (float)cosine;
        turn[2 * k + 1] = (float)-sine;
    }
    return WEFT_OK;
}

uint32_t weft_lower_turns(struct weft_lowering *lowering, uint32_t points) {
    char key[40];
    snprintf(key, sizeof key, "shared_convolution/turns/%u", points);
    return weft_lower_table(lowering, key, UINT64_C(8) * points, fill_turns, &points);
}

void weft_lower_shared_convolution(struct weft_lowering *lowering,
                                   const struct weft_convolution *convolution) {
    const weft_shape *shape = &convolution->shape;
    uint32_t length = convolution->length;
    uint32_t turns = weft_lower_turns(lowering, length / 2);
    struct weft_dispatch *dispatch = weft_lower_dispatch(lowering, "convolution/shared");
    weft_dispatch_read(dispatch, convolution->x);
    weft_dispatch_read(dispatch, convolution->spectrum);
    weft_dispatch_read(dispatch, turns);
    weft_dispatch_write(dispatch, convolution->result);
    weft_dispatch_shared_fft(dispatch, length, shape->dim[2], shape->dim[0]);
    weft_dispatch_push_u32(dispatch, shape->dim[0]);
    weft_dispatch_push_u32(dispatch, shape->dim[1]);
    weft_dispatch_push_u32(dispatch, shape->dim[2]);
    double rows = (double)shape->dim[0] * shape->dim[2];
    dispatch->flops = rows * length * (5.0 * log_of(length / 2) + 8.0);
    dispatch->bytes = rows * (8.0 * shape->dim[1] + 4.0 * length);
}
