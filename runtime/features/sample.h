/* SPDX-License-Identifier: MIT */
/* Draws for the weight matrices, from Philox4x32-10. Each is a function of (seed, stream, index) alone. */
#ifndef WEFT_FEATURES_SAMPLE_H
#define WEFT_FEATURES_SAMPLE_H

#include <stdint.h>

/** Purpose of a stream of draws; the matrix number is in the stream's upper half. */
enum weft_draw {
    WEFT_DRAW_GAUSSIAN = 0,
    WEFT_DRAW_NORM = 1,
    WEFT_DRAW_SIGN = 2,
    WEFT_DRAW_PERMUTATION = 3,
    WEFT_DRAW_ANGLE = 4,
    WEFT_DRAW_SHIFT = 5,
    WEFT_DRAW_ROTATION = 6,
    WEFT_DRAW_POWER = 7
};

struct weft_stream {
    uint64_t seed;
    uint64_t stream;
};

struct weft_stream weft_stream_of(uint64_t seed, uint32_t matrix, enum weft_draw draw);

/** Uniform word `index`. */
uint32_t weft_sample_word(struct weft_stream stream, uint64_t index);

/** (word + 1/2) / 2^32: uniform in (0, 1). */
double weft_sample_unit(struct weft_stream stream, uint64_t index);

/**
 * Elements first … first + count - 1 of a stream of independent N(0, 1): the words in pairs through Box and Muller's
 * transform, "A note on the generation of random normal deviates", 1958. At most 6.77 in size.
 */
void weft_sample_normals(double *out, struct weft_stream stream, uint64_t first, uint64_t count);

/** Element `index` of a stream of norms: the length of n normals of that stream, which has the χ_n distribution. */
double weft_sample_chi(struct weft_stream stream, uint64_t index, uint32_t n);

/** ±1, each with probability 1/2. */
double weft_sample_sign(struct weft_stream stream, uint64_t index);

/** A uniform permutation of 0 … n-1 (Fisher and Yates's shuffle) from words first … first + n - 1. */
void weft_sample_permutation(uint32_t *out, uint32_t n, struct weft_stream stream, uint64_t first);

#endif
