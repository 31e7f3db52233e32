/* SPDX-License-Identifier: MIT */
/*
 * Convolutions of 8192 elements in three dispatches, for processors. In VkFFT's kernels the points of a row lie along the
 * lanes, so that every stage shuffles; here it is the channels, whole vectors from x to the result, and what is between two
 * dispatches is as much as one transform's points. shaders/convolution/radix8.glsl has the order of VkFFT 1.3.4 for this
 * length, and other versions may have another.
 */
#include "kernels/convolution/columns.h"
#include "kernels/convolution/rows.h"
#include "kernels/convolution/spectra.h"
#include "kernels/convolution/spread.h"
#include "lower/divisor.h"
#include "mixers/convolution.h"
#include "mixers/vkfft/vkfft_unit.h"

#define LENGTH   8192u
#define SIDE     64u /* points of a column, and of a row */
#define CHANNELS WEFT_CONVOLUTION_COLUMNS_LOCAL_X
#define VERSION  10304

bool weft_lanes_convolution_fits(uint32_t length) {
    return length == LENGTH && weft_fft_vkfft_version() == VERSION;
}

void weft_lower_spread(struct weft_lowering *lowering, uint32_t rows, uint32_t result,
                       uint32_t channels, uint32_t bins) {
    const uint64_t count = UINT64_C(2) * channels * bins;
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, convolution_spread, weft_grid_of_items(count),
                   .bind = {.rows = rows, .result = result},
                   .push = {.count = (uint32_t)count,
                            .channels = channels,
                            .row = 2 * bins,
                            WEFT_INVERSE(channels, channels)});
    dispatch->bytes = 8.0 * (double)count;
}

/* State that the dispatches share. */
struct lanes {
    const struct weft_convolution *convolution;
    uint32_t points, twiddles; /* storages */
    uint64_t blocks;           /* of channels of all sequences */
    double elements;           /* of all rows of the transforms */
};

static void lower_columns(struct weft_lowering *lowering, const struct lanes *lanes) {
    const struct weft_convolution *convolution = lanes->convolution;
    struct weft_dispatch *dispatch = WEFT_LOWER(
        lowering, convolution_columns, weft_grid_of_groups(lanes->blocks * SIDE),
        .bind = {.x = convolution->x, .twiddles = lanes->twiddles, .points = lanes->points},
        .push = {.batch = convolution->shape.dim[0],
                 .sequence_length = convolution->shape.dim[1],
                 .channels = convolution->shape.dim[2]});
    dispatch->flops = 18.0 * lanes->elements;
    dispatch->bytes = 6.0 * lanes->elements;
}

static void lower_spectra(struct weft_lowering *lowering, const struct lanes *lanes) {
    const struct weft_convolution *convolution = lanes->convolution;
    struct weft_dispatch *dispatch = WEFT_LOWER(
        lowering, convolution_spectra, weft_grid_of_groups(lanes->blocks * (SIDE / 2 + 1)),
        .bind = {.kernel = convolution->spectrum,
                 .twiddles = lanes->twiddles,
                 .points = lanes->points},
        .push = {.batch = convolution->shape.dim[0], .channels = convolution->shape.dim[2]});
    dispatch->flops = 50.0 * lanes->elements;
    dispatch->bytes = 12.0 * lanes->elements;
}

static void lower_rows(struct weft_lowering *lowering, const struct lanes *lanes) {
    const struct weft_convolution *convolution = lanes->convolution;
    struct weft_dispatch *dispatch = WEFT_LOWER(
        lowering, convolution_rows, weft_grid_of_groups(lanes->blocks * SIDE),
        .bind = {.points = lanes->points, .twiddles = lanes->twiddles, .y = convolution->result},
        .push = {.batch = convolution->shape.dim[0],
                 .sequence_length = convolution->shape.dim[1],
                 .channels = convolution->shape.dim[2]});
    dispatch->flops = 15.0 * lanes->elements;
    dispatch->bytes = 6.0 * lanes->elements;
}

void weft_lower_lanes_convolution(struct weft_lowering *lowering,
                                  const struct weft_convolution *convolution) {
    const uint32_t batch = convolution->shape.dim[0];
    const uint32_t channels = convolution->shape.dim[2];
    const uint64_t rows = (uint64_t)batch * channels;
    struct lanes lanes = {.convolution = convolution,
                          .blocks = (uint64_t)batch * ((channels - 1) / CHANNELS + 1),
                          .elements = (double)rows * LENGTH};
    lanes.points = weft_lower_scratch(lowering, UINT64_C(4) * rows * LENGTH);
    lanes.twiddles = weft_lower_twiddles(lowering, LENGTH);
    lower_columns(lowering, &lanes);
    lower_spectra(lowering, &lanes);
    lower_rows(lowering, &lanes);
}
