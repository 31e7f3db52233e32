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

/* Four points of a stage take 34 operations. */
double weft_shared_fft_flops(uint32_t length, uint64_t rows) {
    return 34.0 / 16.0 * (double)rows * length * log_of(length / 2);
}

static weft_status fill_twiddles(void *user, void *data) {
    const uint32_t *points = user;
    float *twiddle = data;
    for (size_t k = 0; k < *points; k++) {
        double cosine;
        double sine;
        weft_unit_root(&cosine, &sine, k, *points);
        twiddle[2 * k] = (float)cosine;
        twiddle[2 * k + 1] = (float)-sine;
    }
    return WEFT_OK;
}

uint32_t weft_lower_twiddles(struct weft_lowering *lowering, uint32_t points) {
    char key[40];
    snprintf(key, sizeof key, "shared_convolution/twiddles/%u", points);
    return weft_lower_table(lowering, key, UINT64_C(8) * points, fill_twiddles, &points);
}

void weft_lower_shared_convolution(struct weft_lowering *lowering,
                                   const struct weft_convolution *convolution) {
    const weft_shape *shape = &convolution->shape;
    uint32_t length = convolution->length;
    uint32_t twiddles = weft_lower_twiddles(lowering, length / 2);
    struct weft_dispatch *dispatch = weft_old_dispatch(lowering, "convolution/shared");
    weft_dispatch_read(dispatch, convolution->x);
    weft_dispatch_read(dispatch, convolution->spectrum);
    weft_dispatch_read(dispatch, twiddles);
    weft_dispatch_write(dispatch, convolution->result);
    weft_dispatch_shared_fft(dispatch, length, shape->dim[2], shape->dim[0]);
    weft_dispatch_push_u32(dispatch, shape->dim[0]);
    weft_dispatch_push_u32(dispatch, shape->dim[1]);
    weft_dispatch_push_u32(dispatch, shape->dim[2]);
    uint64_t rows = (uint64_t)shape->dim[0] * shape->dim[2];
    dispatch->flops =
        2.0 * weft_shared_fft_flops(length, rows) + 8.0 * (double)rows * (double)length;
    dispatch->bytes = (double)rows * 8.0 * shape->dim[1] + 4.0 * length * shape->dim[2];
}
