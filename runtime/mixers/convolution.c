/* SPDX-License-Identifier: MIT */
#include "mixers/convolution.h"

#include "mixers/vkfft/fft_lowering.h"

#define SLAB_BYTES    (UINT64_C(64) << 20)
#define SLAB_MAX_ROWS 65535 /* VkFFT gives each row of a long transform a workgroup of its own */
#define TILE          32    /* of transpose.glsl */

uint32_t weft_fast_length(uint64_t needed) {
    uint64_t unit = 1;
    while (7 * unit < needed) {
        unit *= 2;
    }
    uint64_t parts = (needed + unit - 1) / unit;
    return (uint32_t)((parts < 4 ? 4 : parts) * unit);
}

/* ---- transforms of rows ---- */

static void lower_rows(struct weft_lowering *lowering, enum weft_fft_kind kind, uint32_t length,
                       uint32_t rows, uint32_t input, uint32_t output) {
    struct weft_fft_desc desc = {.kind = kind,
                                 .rank = 1,
                                 .size = {length, 1},
                                 .batch = rows,
                                 .transform_axis = {true, false}};
    weft_lower_fft(lowering, &desc, input, output);
}

void weft_lower_row_transform(struct weft_lowering *lowering, uint32_t length, uint32_t rows,
                              uint32_t input, uint32_t output) {
    lower_rows(lowering, WEFT_FFT_R2C, length, rows, input, output);
}

void weft_lower_row_inverse(struct weft_lowering *lowering, uint32_t length, uint32_t rows,
                            uint32_t input, uint32_t output) {
    lower_rows(lowering, WEFT_FFT_C2R, length, rows, input, output);
}

void weft_dispatch_transpose(struct weft_dispatch *dispatch, uint32_t rows, uint32_t positions) {
    uint64_t across = (positions + (uint64_t)TILE - 1) / TILE;
    uint64_t down = (rows + (uint64_t)TILE - 1) / TILE;
    weft_dispatch_items(dispatch, across * down * WEFT_ITEMS_PER_GROUP);
    dispatch->bytes = 8.0 * rows * positions;
}

/* ---- slabs ---- */

/* Row b d + c is channel c of sequence b. Slabs are equally long; the last may repeat rows of the one before. */
struct slabs {
    uint32_t rows; /* in all */
    uint32_t slab_rows;
    uint32_t count;
};

static struct slabs divide(const struct weft_convolution *convolution) {
    uint64_t row_bytes = UINT64_C(8) * weft_convolution_bins(convolution->length);
    uint64_t most = SLAB_BYTES / row_bytes;
    most = most < 1 ? 1 : most;
    most = most > SLAB_MAX_ROWS ? SLAB_MAX_ROWS : most;
    uint64_t rows = (uint64_t)convolution->shape.dim[0] * convolution->shape.dim[2];
    uint64_t count = (rows + most - 1) / most;
    return (struct slabs){.rows = (uint32_t)rows,
                          .slab_rows = (uint32_t)((rows + count - 1) / count),
                          .count = (uint32_t)count};
}

static void lower_pad(struct weft_lowering *lowering, const struct weft_convolution *convolution,
                      uint32_t rows, uint32_t first, uint32_t slab_rows) {
    struct weft_dispatch *dispatch = weft_old_dispatch(lowering, "convolution/pad");
    weft_dispatch_read(dispatch, convolution->x);
    weft_dispatch_write(dispatch, rows);
    weft_dispatch_transpose(dispatch, slab_rows, convolution->length);
    weft_dispatch_push_u32(dispatch, slab_rows);
    weft_dispatch_push_u32(dispatch, convolution->length);
    weft_dispatch_push_u32(dispatch, first);
    weft_dispatch_push_u32(dispatch, convolution->shape.dim[1]);
    weft_dispatch_push_u32(dispatch, convolution->shape.dim[2]);
}

static void lower_multiply(struct weft_lowering *lowering,
                           const struct weft_convolution *convolution, uint32_t spectrum,
                           uint32_t first, uint32_t slab_rows) {
    uint32_t bins = weft_convolution_bins(convolution->length);
    uint64_t count = (uint64_t)slab_rows * bins;
    struct weft_dispatch *dispatch = weft_old_dispatch(lowering, "convolution/multiply");
    weft_dispatch_read(dispatch, convolution->spectrum);
    weft_dispatch_write(dispatch, spectrum);
    weft_dispatch_items(dispatch, count);
    weft_dispatch_push_u32(dispatch, bins);
    weft_dispatch_push_u32(dispatch, first);
    weft_dispatch_push_u32(dispatch,
                           convolution->kernels ? convolution->kernels : convolution->shape.dim[2]);
    dispatch->flops = 6.0 * (double)count;
    dispatch->bytes = 24.0 * (double)count;
}

static void lower_crop(struct weft_lowering *lowering, const struct weft_convolution *convolution,
                       uint32_t rows, uint32_t first, uint32_t slab_rows) {
    struct weft_dispatch *dispatch = weft_old_dispatch(lowering, "convolution/crop");
    weft_dispatch_read(dispatch, rows);
    weft_dispatch_write(dispatch, convolution->result);
    weft_dispatch_transpose(dispatch, slab_rows, convolution->shape.dim[1]);
    weft_dispatch_push_u32(dispatch, slab_rows);
    weft_dispatch_push_u32(dispatch, convolution->length);
    weft_dispatch_push_u32(dispatch, first);
    weft_dispatch_push_u32(dispatch, convolution->shape.dim[1]);
    weft_dispatch_push_u32(dispatch, convolution->shape.dim[2]);
}

void weft_lower_convolution(struct weft_lowering *lowering,
                            const struct weft_convolution *convolution) {
    struct slabs slabs = divide(convolution);
    uint64_t row_bytes = UINT64_C(4) * convolution->length;
    uint64_t bin_bytes = UINT64_C(8) * weft_convolution_bins(convolution->length);
    uint32_t rows = weft_lower_scratch(lowering, slabs.slab_rows * row_bytes);
    uint32_t spectrum = weft_lower_scratch(lowering, slabs.slab_rows * bin_bytes);
    for (uint32_t i = 0; i < slabs.count && weft_lower_status(lowering) == WEFT_OK; i++) {
        uint32_t last = slabs.rows - slabs.slab_rows;
        uint32_t first = i * slabs.slab_rows < last ? i * slabs.slab_rows : last;
        lower_pad(lowering, convolution, rows, first, slabs.slab_rows);
        weft_lower_row_transform(lowering, convolution->length, slabs.slab_rows, rows, spectrum);
        lower_multiply(lowering, convolution, spectrum, first, slabs.slab_rows);
        weft_lower_row_inverse(lowering, convolution->length, slabs.slab_rows, spectrum, rows);
        lower_crop(lowering, convolution, rows, first, slabs.slab_rows);
    }
}
