/* SPDX-License-Identifier: MIT */
#include "mixers/convolution.h"

#include <stdio.h>

#include "core/math/trig.h"
#include "kernels/convolution/crop.h"
#include "kernels/convolution/multiply.h"
#include "kernels/convolution/pad.h"
#include "kernels/convolution/shared.h"
#include "kernels/convolution/shared_lanes.h"
#include "kernels/convolution/shared_wide.h"
#include "lower/divisor.h"
#include "lower/variant.h"
#include "mixers/vkfft/fft_lowering.h"

#define SLAB_BYTES   (UINT64_C(64) << 20)
#define MAX_LOG_ROWS 4 /* 16 channels are 64 contiguous bytes of a position: a cache line */

/* Lengths of convolutions in shared memory. */
enum { SHARED_MIN = 8, SHARED_MAX = 2 * WEFT_CONVOLUTION_SHARED_MOST_POINTS };

/* ---- lengths ---- */

uint32_t weft_fast_length(uint64_t needed) {
    uint64_t unit = 1;
    while (7 * unit < needed) {
        unit *= 2;
    }
    uint64_t parts = (needed + unit - 1) / unit;
    return (uint32_t)((parts < 4 ? 4 : parts) * unit);
}

uint32_t weft_shared_convolution_length(uint32_t n) {
    uint32_t length = SHARED_MIN;
    while (length < SHARED_MAX && length / 2 < n) {
        length *= 2;
    }
    return n <= length / 2 ? length : 0;
}

uint32_t weft_log2(uint32_t power) {
    uint32_t log = 0;
    while (power >> log > 1) {
        log++;
    }
    return log;
}

/* ---- transforms of rows ---- */

void weft_lower_row_fft(struct weft_lowering *lowering, enum weft_fft_kind kind, uint32_t length,
                        uint32_t rows, uint32_t input, uint32_t output) {
    struct weft_fft_desc desc = {.kind = kind,
                                 .rank = 1,
                                 .size = {length, 1},
                                 .batch = rows,
                                 .transform_axis = {true, false}};
    weft_lower_fft(lowering, &desc, input, output);
}

struct weft_grid weft_transpose_grid(uint32_t rows, uint32_t positions) {
    const uint64_t tile = WEFT_CONVOLUTION_PAD_TILE;
    return weft_grid_of_groups((positions + tile - 1) / tile * ((rows + tile - 1) / tile));
}

uint32_t weft_slab_rows(uint64_t rows, uint64_t bytes, uint64_t transforms) {
    uint64_t most = SLAB_BYTES / bytes;
    most = most > WEFT_SLAB_TRANSFORMS / transforms ? WEFT_SLAB_TRANSFORMS / transforms : most;
    most = most < 1 ? 1 : most;
    const uint64_t slabs = (rows - 1) / most + 1;
    return (uint32_t)((rows - 1) / slabs + 1);
}

/* ---- in slabs ---- */

/* Some rows, of which row b d + c is channel c of sequence b, on their way. */
struct slab {
    uint32_t first, count;
    uint32_t rows, spectrum; /* storages */
};

static void lower_pad(struct weft_lowering *lowering, const struct weft_convolution *convolution,
                      const struct slab *slab) {
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, convolution_pad, weft_transpose_grid(slab->count, convolution->length),
                   .bind = {.x = convolution->x, .rows = slab->rows},
                   .push = {.rows = slab->count,
                            .padded_length = convolution->length,
                            .first_row = slab->first,
                            .sequence_length = convolution->shape.dim[1],
                            .channels = convolution->shape.dim[2],
                            WEFT_INVERSE(channels, convolution->shape.dim[2])});
    dispatch->bytes = 8.0 * slab->count * convolution->length;
}

static void lower_multiply(struct weft_lowering *lowering,
                           const struct weft_convolution *convolution, const struct slab *slab) {
    const uint32_t bins = weft_convolution_bins(convolution->length);
    const uint32_t kernels =
        convolution->kernels ? convolution->kernels : convolution->shape.dim[2];
    const uint64_t count = (uint64_t)slab->count * bins;
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, convolution_multiply, weft_grid_of_items(count),
                   .bind = {.kernel = convolution->spectrum, .spectrum = slab->spectrum},
                   .push = {.count = (uint32_t)count,
                            .bins = bins,
                            .first_row = slab->first,
                            .kernels = kernels,
                            WEFT_INVERSE(bins, bins),
                            WEFT_INVERSE(kernels, kernels)});
    dispatch->flops = 6.0 * (double)count;
    dispatch->bytes = 24.0 * (double)count;
}

static void lower_crop(struct weft_lowering *lowering, const struct weft_convolution *convolution,
                       const struct slab *slab) {
    const uint32_t n = convolution->shape.dim[1];
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, convolution_crop, weft_transpose_grid(slab->count, n),
                   .bind = {.rows = slab->rows, .y = convolution->result},
                   .push = {.rows = slab->count,
                            .padded_length = convolution->length,
                            .first_row = slab->first,
                            .sequence_length = n,
                            .channels = convolution->shape.dim[2],
                            WEFT_INVERSE(channels, convolution->shape.dim[2])});
    dispatch->bytes = 8.0 * slab->count * n;
}

void weft_lower_convolution(struct weft_lowering *lowering,
                            const struct weft_convolution *convolution) {
    const uint32_t length = convolution->length;
    const uint64_t bin_bytes = UINT64_C(8) * weft_convolution_bins(length);
    const uint32_t rows = convolution->shape.dim[0] * convolution->shape.dim[2];
    struct slab slab = {.count = weft_slab_rows(rows, bin_bytes, 1)};
    slab.rows = weft_lower_scratch(lowering, UINT64_C(4) * slab.count * length);
    slab.spectrum = weft_lower_scratch(lowering, slab.count * bin_bytes);
    for (uint64_t i = 0; i < rows && weft_lower_status(lowering) == WEFT_OK; i += slab.count) {
        const uint32_t last = rows - slab.count;
        slab.first = i < last ? (uint32_t)i : last;
        lower_pad(lowering, convolution, &slab);
        weft_lower_row_fft(lowering, WEFT_FFT_R2C, length, slab.count, slab.rows, slab.spectrum);
        lower_multiply(lowering, convolution, &slab);
        weft_lower_row_fft(lowering, WEFT_FFT_C2R, length, slab.count, slab.spectrum, slab.rows);
        lower_crop(lowering, convolution, &slab);
    }
}

/* ---- in shared memory ---- */

/* Channels of a workgroup; no bit depends on it. Fewer than its points could be where there are few channels. */
static uint32_t log_rows(uint32_t length, uint32_t channels) {
    uint32_t log = 0;
    while (log < MAX_LOG_ROWS && length << log < SHARED_MAX && UINT32_C(1) << log < channels) {
        log++;
    }
    return log;
}

struct weft_shared_fft weft_shared_fft_of(uint32_t length, uint32_t channels, uint32_t batch) {
    const uint32_t rows = log_rows(length, channels);
    const uint32_t log_length = weft_log2(length / 2);
    /* Four points of a stage take 34 operations. */
    return (struct weft_shared_fft){.log_length = log_length,
                                    .log_rows = rows,
                                    .flops = 34.0 / 16.0 * ((double)batch * channels) * length *
                                             log_length};
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

static struct weft_grid rows_grid(const struct weft_convolution_shared_args *words,
                                  uint32_t log_rows) {
    const uint64_t across = (((uint64_t)words->push.channels - 1) >> log_rows) + 1;
    return weft_grid_of_groups(across * words->push.batch);
}

static struct weft_grid points_grid(const struct weft_variant *variant, const void *args,
                                    uint32_t batches) {
    const struct weft_convolution_shared_args *words = args;
    (void)variant, (void)batches;
    return rows_grid(words, words->constant.fft_log_rows);
}

static struct weft_grid lanes_grid(const struct weft_variant *variant, const void *args,
                                   uint32_t batches) {
    const struct weft_convolution_shared_args *words = args;
    const uint32_t most = WEFT_CONVOLUTION_SHARED_LANES_MOST_LOG_ROWS;
    const uint32_t fit =
        weft_variant_tile(variant, WEFT_CONVOLUTION_SHARED_LANES_AT_TILE_LOG_POINTS) -
        words->constant.fft_log_length;
    (void)batches;
    return rows_grid(words, fit < most ? fit : most);
}

#define LANES_ROW(text, log_points)                                                   \
    {                                                                                 \
        .name = (text), .shader = &weft_shader_convolution_shared_lanes,              \
        .tiles = {[WEFT_CONVOLUTION_SHARED_LANES_AT_TILE_LOG_POINTS] = (log_points)}, \
        .needs = {.shared_memory = UINT32_C(8) << (log_points)}, .grid = lanes_grid,  \
        .cost = {.software = 4.0F, .hardware = 6.0F},                                 \
    }

/*
 * GPUs want so many invocations that none has more than one work item of a stage: half the instructions, and on AMD's twice the
 * subgroups in the same shared memory. The processor device wants lanes along channels, at 8 times the speed where a workgroup has as many channels as lanes. For
 * transforms of up to 512 points these take no more shared memory than other drivers have, and the first level's cache.
 */
WEFT_VARIANTS(shared_convolution, "convolution/shared",
              {.name = "points",
               .shader = &weft_shader_convolution_shared,
               .grid = points_grid,
               .cost = {.hardware = 2.5F, .processor = 6.0F}},
              {.name = "wide",
               .shader = &weft_shader_convolution_shared_wide,
               .grid = points_grid,
               .needs = {.invocations = 512},
               .cost = {.software = 3.0F, .processor = 6.0F}},
              LANES_ROW("lanes", 12), LANES_ROW("long-lanes", 14))

static void lower_shared(struct weft_lowering *lowering,
                         const struct weft_convolution *convolution) {
    const weft_shape *shape = &convolution->shape;
    const uint32_t length = convolution->length;
    const struct weft_shared_fft fft = weft_shared_fft_of(length, shape->dim[2], shape->dim[0]);
    const uint32_t twiddles = weft_lower_twiddles(lowering, length / 2);
    struct weft_dispatch *dispatch = WEFT_LOWER_VARIANTS(
        lowering, &weft_shared_convolution_variants, 1, convolution_shared,
        .bind = {.x = convolution->x,
                 .kernel = convolution->spectrum,
                 .twiddles = twiddles,
                 .y = convolution->result},
        .push = {.batch = shape->dim[0],
                 .sequence_length = shape->dim[1],
                 .channels = shape->dim[2]},
        .constant = {.fft_log_length = fft.log_length, .fft_log_rows = fft.log_rows});
    const double rows = (double)shape->dim[0] * shape->dim[2];
    dispatch->flops = 2.0 * fft.flops + 8.0 * rows * length;
    dispatch->bytes = rows * 8.0 * shape->dim[1] + 4.0 * length * shape->dim[2];
}

/* ---- of a node ---- */

weft_status weft_lower_node_convolution(struct weft_lowering *lowering,
                                        const struct weft_node *node, uint32_t x, uint32_t spectrum,
                                        uint32_t length, enum weft_convolution_form form) {
    const struct weft_convolution convolution = {.x = x,
                                                 .result = weft_lower_value(lowering, node->output),
                                                 .spectrum = spectrum,
                                                 .shape =
                                                     *weft_node_shape(lowering->graph, node, 0),
                                                 .length = length};
    if (form == WEFT_CONVOLUTION_SHARED) {
        lower_shared(lowering, &convolution);
    } else if (form == WEFT_CONVOLUTION_LANES) {
        weft_lower_lanes_convolution(lowering, &convolution);
    } else {
        weft_lower_convolution(lowering, &convolution);
    }
    return weft_lower_status(lowering);
}
