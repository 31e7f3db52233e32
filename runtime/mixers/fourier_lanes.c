/* SPDX-License-Identifier: MIT */
#include "mixers/fourier_lanes.h"

#include "kernels/fourier/pair.h"
#include "kernels/fourier/part.h"
#include "mixers/vkfft/fft_lowering.h"
#include "mixers/vkfft/vkfft_unit.h"

/* Version of VkFFT whose plans for one row and for columns side by side have the same steps for all lengths that fit. */
#define VERSION      10304
#define CHUNK        64   /* columns of a workgroup of pair.comp and part.comp */
#define MOST_ROW     2047 /* the longest that VkFFT transforms two at a time, or in one dispatch */
#define LEAST_ROW    16
#define MOST_TOKENS  65536
#define MOST_STRIDED 512  /* the longest columns that it transforms in one dispatch */
#define WORKING_SET  4096 /* points of a workgroup, for a first cache of 32 KiB */
#define INVOCATIONS  128  /* of one of VkFFT's workgroups on every device */

/* VkFFT has butterflies for these primes. */
static bool is_smooth(uint32_t length) {
    static const uint32_t primes[] = {2, 3, 5, 7, 11, 13};
    for (uint32_t i = 0; i < sizeof primes / sizeof primes[0]; i++) {
        while (length % primes[i] == 0) {
            length /= primes[i];
        }
    }
    return length == 1;
}

bool weft_fourier_lanes_fit(uint32_t n, uint32_t d) {
    return d >= LEAST_ROW && d <= MOST_ROW && is_smooth(d) &&
           (n == 0 || (n > 1 && n <= MOST_TOKENS && is_smooth(n))) &&
           weft_fft_vkfft_version() == VERSION;
}

/* Transforms of a length side by side, as many as lanes or fewer: those that its workgroups work with at once. */
static uint32_t width_of(uint32_t length) {
    uint32_t width = 16;
    while (width > 4 && width * length > WORKING_SET) {
        width /= 2;
    }
    return width;
}

static uint32_t columns_at_once(uint32_t n) {
    return n > MOST_STRIDED ? 16 : width_of(n);
}

uint32_t weft_fourier_lanes_columns(uint32_t n, uint32_t d) {
    const uint32_t width = columns_at_once(n);
    return (d / 2 / width + 1) * width;
}

/* Rows of x, alone or in pairs. */
struct rows {
    uint32_t n, d;
    uint32_t width; /* pairs or rows side by side */
    uint32_t count; /* pairs or rows of all sequences */
    uint32_t alone;
};

static struct weft_fft_desc row_transform(const struct rows *rows) {
    return (struct weft_fft_desc){.kind = WEFT_FFT_C2C_FORWARD,
                                  .rank = 2,
                                  .size = {rows->width, rows->d},
                                  .batch = (rows->count - 1) / rows->width + 1,
                                  .transform_axis = {false, true},
                                  .columns = rows->width,
                                  .share = rows->width};
}

/*
 * True if VkFFT transforms two rows as one: not where workgroups of as many rows as it wants take half of the shared memory.
 * `each` is the invocations that it gives a row.
 */
static bool is_paired(uint32_t d, uint32_t each) {
    enum { SUBGROUP = 32, FEW = 8, POINTS = 2048 };
    uint32_t rows = each < SUBGROUP ? INVOCATIONS / each : 1;
    if (rows > 1 && (d % 2 == 0 || each < FEW) && rows * d < POINTS) {
        uint32_t power = 1;
        while (power < rows) {
            power *= 2;
        }
        rows = power;
    }
    return rows * d < POINTS;
}

/* [blocks, d, width]: the rows' spectra. */
static uint32_t lower_rows(struct weft_lowering *lowering, uint32_t x, const struct rows *rows) {
    const struct weft_fft_desc desc = row_transform(rows);
    const uint64_t points = (uint64_t)desc.batch * rows->width * rows->d;
    const uint32_t spectra = weft_lower_scratch(lowering, 8 * points);
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, fourier_pair,
                   weft_grid_of_groups((uint64_t)desc.batch * ((rows->d - 1) / CHUNK + 1)),
                   .bind = {.x = x, .points = spectra},
                   .push = {.blocks = desc.batch,
                            .pairs = rows->count,
                            .sequence_length = rows->n,
                            .columns = rows->d},
                   .constant = {.width = rows->width, .alone = rows->alone});
    dispatch->bytes = 16.0 * (double)points;
    weft_lower_fft(lowering, &desc, spectra, spectra);
    return spectra;
}

struct weft_row_spectra weft_lower_fourier_rows(struct weft_lowering *lowering, uint32_t x,
                                                weft_shape shape) {
    const struct rows rows = {.n = shape.dim[1],
                              .d = shape.dim[2],
                              .width = width_of(shape.dim[2]),
                              .count = shape.dim[0] * shape.dim[1],
                              .alone = 1};
    return (struct weft_row_spectra){.storage = lower_rows(lowering, x, &rows),
                                     .width = rows.width};
}

uint32_t weft_lower_fourier_lanes(struct weft_lowering *lowering, uint32_t x, weft_shape shape) {
    struct rows rows = {.n = shape.dim[1],
                        .d = shape.dim[2],
                        .width = width_of(shape.dim[2]),
                        .count = shape.dim[0] * ((shape.dim[1] + 1) / 2)};
    struct weft_fft_desc row = row_transform(&rows);
    if (!is_paired(rows.d, weft_lower_fft_rows(lowering, &row))) {
        rows.alone = 1;
        rows.count = shape.dim[0] * shape.dim[1];
        row = row_transform(&rows);
    }
    const uint32_t columns = weft_fourier_lanes_columns(rows.n, rows.d);
    const struct weft_fft_desc desc = {.kind = WEFT_FFT_C2C_FORWARD,
                                       .rank = 2,
                                       .size = {columns, rows.n},
                                       .batch = shape.dim[0],
                                       .transform_axis = {false, true},
                                       .columns = columns_at_once(rows.n),
                                       .share = columns_at_once(rows.n) / 4};
    const uint64_t elements = (uint64_t)shape.dim[0] * rows.n * columns;
    const uint32_t halves = weft_lower_scratch(lowering, 8 * elements);
    const uint32_t spectrum =
        rows.n > MOST_STRIDED ? weft_lower_scratch(lowering, 8 * elements) : halves;
    const uint32_t points = lower_rows(lowering, x, &rows);
    struct weft_dispatch *dispatch = WEFT_LOWER(
        lowering, fourier_part, weft_grid_of_groups((uint64_t)row.batch * (columns / CHUNK + 1)),
        .bind = {.points = points, .spectrum = halves},
        .push = {.pairs = rows.count,
                 .sequence_length = rows.n,
                 .columns = rows.d,
                 .padded_columns = columns},
        .constant = {.width = rows.width, .alone = rows.alone});
    dispatch->flops = 4.0 * (double)elements;
    dispatch->bytes = 16.0 * (double)elements;
    weft_lower_fft(lowering, &desc, halves, spectrum);
    return spectrum;
}
