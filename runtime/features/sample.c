/* SPDX-License-Identifier: MIT */
#include "features/sample.h"

#include <math.h>

#include "core/math/philox.h"
#include "core/math/portable_math.h"
#include "core/math/trig.h"

struct weft_stream weft_stream_of(uint64_t seed, uint32_t matrix, enum weft_draw draw) {
    return (struct weft_stream){.seed = seed, .stream = ((uint64_t)matrix << 32) | (uint64_t)draw};
}

uint32_t weft_sample_word(struct weft_stream stream, uint64_t index) {
    return weft_philox_u32(stream.seed, stream.stream, index);
}

static double unit_of(uint32_t word) {
    return ((double)word + 0.5) * 0x1p-32;
}

double weft_sample_unit(struct weft_stream stream, uint64_t index) {
    return unit_of(weft_sample_word(stream, index));
}

/* Normals 4 * block to 4 * block + 3. */
static void normal_block(double normals[4], struct weft_stream stream, uint64_t block) {
    /* The counter of core/math/philox.h: word i of a stream is lane i % 4 of block i / 4. */
    uint32_t words[4] = {(uint32_t)block, (uint32_t)(block >> 32), (uint32_t)stream.stream,
                         (uint32_t)(stream.stream >> 32)};
    weft_philox(words, stream.seed);
    for (int pair = 0; pair < 4; pair += 2) {
        double radius = sqrt(-2.0 * weft_portable_log(unit_of(words[pair])));
        double cosine;
        double sine;
        weft_unit_root(&cosine, &sine, words[pair + 1], UINT64_C(1) << 32);
        normals[pair] = radius * cosine;
        normals[pair + 1] = radius * sine;
    }
}

void weft_sample_normals(double *out, struct weft_stream stream, uint64_t first, uint64_t count) {
    double normals[4] = {0};
    for (uint64_t i = 0; i < count; i++) {
        uint64_t index = first + i;
        if (i == 0 || index % 4 == 0) {
            normal_block(normals, stream, index / 4);
        }
        out[i] = normals[index % 4];
    }
}

double weft_sample_chi(struct weft_stream stream, uint64_t index, uint32_t n) {
    double sum = 0.0;
    double normals[4] = {0};
    for (uint32_t i = 0; i < n; i++) {
        if (i % 4 == 0) {
            uint64_t left = n - i;
            weft_sample_normals(normals, stream, index * n + i, left < 4 ? left : 4);
        }
        sum += normals[i % 4] * normals[i % 4];
    }
    return sqrt(sum);
}

double weft_sample_sign(struct weft_stream stream, uint64_t index) {
    return weft_sample_word(stream, index) >> 31 != 0 ? -1.0 : 1.0;
}

void weft_sample_permutation(uint32_t *out, uint32_t n, struct weft_stream stream, uint64_t first) {
    for (uint32_t i = 0; i < n; i++) {
        uint64_t word = weft_sample_word(stream, first + i);
        uint32_t j = (uint32_t)((word * (i + UINT64_C(1))) >> 32); /* uniform in 0 … i */
        out[i] = j == i ? i : out[j];
        out[j] = i;
    }
}
