/* SPDX-License-Identifier: MIT */
/* Elements of the inputs and constants of cases. */
#include <math.h>
#include <string.h>

#include "core/math/philox.h"
#include "verify/conformance.h"

const char *weft_values_name(weft_values values) {
    static const char *const names[WEFT_VALUES_COUNT] = {
        "unit",     "tens",   "hundreds", "large",     "small",     "mixed",
        "zeros",    "equal",  "impulse",  "subnormal", "tiny",      "huge",
        "infinite", "masked", "nan",      "edges",     "edges-held"};
    return (unsigned)values < WEFT_VALUES_COUNT ? names[values] : "unknown";
}

/* ---- random choices ---- */

uint32_t weft_values_below(uint64_t seed, uint64_t stream, uint64_t index, uint32_t limit) {
    return (uint32_t)((uint64_t)weft_philox_u32(seed, stream, index) * limit >> 32);
}

/* The streams that decide how the values of `stream` are changed, and into what. */
#define CHANGES(stream) ((stream) + (UINT64_C(1) << 32))
#define BITS(stream)    ((stream) + (UINT64_C(2) << 32))

static float mixed_scale(uint64_t seed, uint64_t stream, uint64_t index) {
    uint32_t exponent = weft_values_below(seed, CHANGES(stream), index, 25);
    float scale = 0x1p-12F;
    for (uint32_t step = 0; step < exponent; step++) {
        scale *= 2.0F;
    }
    return scale;
}

static float zero_or(float value, uint64_t seed, uint64_t stream, uint64_t index) {
    uint32_t kind = weft_values_below(seed, CHANGES(stream), index, 3);
    return kind == 0 ? -0.0F : kind == 1 ? 0.0F : value;
}

/* ---- by their bits, as arithmetic on the host might change them ---- */

#define SIGN     UINT32_C(0x80000000)
#define INFINITE UINT32_C(0x7f800000)
#define FRACTION UINT32_C(0x007fffff)
#define NORMAL   UINT32_C(0x00800000) /* the least */
#define ONE_IN   16                   /* how rare infinities and NaN are */

/*
 * Words at which something changes: zeros, subnormals, the ends of the range, factors whose product
 * or sum rounds to just one or the other side of an end, infinities, NaN, and arguments at which
 * activation functions change their formula or saturate.
 */
static const uint32_t edges[] = {
    /* zeros; subnormals; the least normal numbers, and the least that has a normal half */
    0x00000000,
    0x80000000,
    0x00000001,
    0x80000001,
    0x00400000,
    0x80400000,
    0x007fffff,
    0x807fffff,
    0x00800000,
    0x80800000,
    0x00800001,
    0x80800001,
    0x00ffffff,
    0x01000000,
    0x81000000,
    0x80ffffff,
    /* beside 1: 1 - 2^-24 times the least normal number is subnormal, and rounds to a normal one
     * where that is not decided before */
    0x3f7fffff,
    0xbf7fffff,
    0x3f800000,
    0xbf800000,
    0x3f800001,
    0x3f000000,
    0xbf000000,
    0x40000000,
    /* 2^-63 · 2^-64 times just below 2: the product rounds to a subnormal, and to the least normal */
    0x203504f4,
    0x1fb504f2,
    0x20350f52,
    0x1fb4fa95,
    /* 2^63 · 2^64 times just below 2: rounds to the largest number, and to infinity */
    0x5f3504f4,
    0x5fb504f2,
    0x5f350f52,
    0x5fb4fa95,
    /* powers of two whose products are at the ends */
    0x1f800000,
    0x20000000,
    0x5f000000,
    0x5f800000,
    0xdf800000,
    0x3effffff,
    /* the largest number, its half, and what added to it just overflows, and just not */
    0x7f7fffff,
    0xff7fffff,
    0x7f000000,
    0xff000000,
    0x73000000,
    0x72ffffff,
    0xf3000000,
    /* infinities and NaN, quiet and signalling */
    0x7f800000,
    0xff800000,
    0x7fc00000,
    0xffc00000,
    0x7f800001,
    0xff800001,
    0x7fffffff,
    0xffffffff,
    0x7fa5a5a5,
    0xffd5aa55,
    /* exp overflows and underflows */
    0x42b17217,
    0x42b17218,
    0xc2aeac4f,
    0xc2aeac50,
    0xc2cff1b5,
    /* tanh, erf and the gates of GELU and SILU */
    0x3f0ccccd,
    0xbf0ccccc,
    0x41100000,
    0x41900001,
    0xc1200000,
    0xc1219999,
    0xc1500000,
    0xc2b70000,
    0x33800000,
    0xb37fffff,
    0x40490fdb,
    0xc1a00000,
};

_Static_assert(sizeof edges / sizeof edges[0] == WEFT_EDGE_COUNT, "the number in conformance.h");

/* A power of two from 2^low to 2^(low + range - 1) times 1 … 2, of either sign. */
static uint32_t scaled_word(uint32_t bits, uint32_t choice, int low, uint32_t range) {
    uint32_t exponent = (uint32_t)(low + 127) + choice % range;
    return (bits & (SIGN | FRACTION)) | exponent << 23;
}

/* Its leading bit is anywhere. */
static uint32_t subnormal_word(uint32_t bits, uint32_t choice) {
    uint32_t fraction = (bits & FRACTION) >> choice % 23;
    return (bits & SIGN) | (fraction == 0 ? 1 : fraction);
}

/* Any fraction but that of infinity. */
static uint32_t nan_word(uint32_t bits) {
    return bits | INFINITE | ((bits & FRACTION) == 0 ? 1 : 0);
}

/* The word of an element that had `word`. */
static uint32_t special_word(uint32_t word, weft_values values, uint64_t seed, uint64_t stream,
                             uint64_t index) {
    uint32_t bits = weft_philox_u32(seed, BITS(stream), index);
    uint32_t choice = weft_philox_u32(seed, CHANGES(stream), index);
    switch (values) {
    case WEFT_VALUES_SUBNORMAL:
        return choice % 3 == 0 ? subnormal_word(bits, choice / 3) : word;
    case WEFT_VALUES_TINY:
        return scaled_word(bits, choice, -126, 87);
    case WEFT_VALUES_HUGE:
        return scaled_word(bits, choice, 120, 8);
    case WEFT_VALUES_INFINITE:
        return choice % ONE_IN == 0 ? (bits & SIGN) | INFINITE : word;
    case WEFT_VALUES_MASKED:
        return choice % 3 == 0 ? SIGN | INFINITE : word;
    case WEFT_VALUES_NAN:
        return choice % ONE_IN == 0 ? nan_word(bits) : word;
    case WEFT_VALUES_EDGES:
        return edges[index % WEFT_EDGE_COUNT];
    case WEFT_VALUES_EDGES_HELD:
        return edges[index / WEFT_EDGE_COUNT % WEFT_EDGE_COUNT];
    default:
        return word;
    }
}

static void make_special(float *data, uint64_t count, weft_values values, uint64_t seed,
                         uint64_t stream) {
    for (uint64_t index = 0; index < count; index++) {
        uint32_t word;
        memcpy(&word, &data[index], sizeof word);
        word = special_word(word, values, seed, stream, index);
        memcpy(&data[index], &word, sizeof word);
    }
}

/* ---- arrays ---- */

static void make_ordinary(float *data, uint64_t count, weft_values values, uint64_t seed,
                          uint64_t stream) {
    for (uint64_t index = 0; index < count; index++) {
        float *value = &data[index];
        switch (values) {
        case WEFT_VALUES_TENS:
            *value *= 16.0F;
            break;
        case WEFT_VALUES_HUNDREDS:
            *value *= 128.0F;
            break;
        case WEFT_VALUES_LARGE:
            *value *= 0x1p40F;
            break;
        case WEFT_VALUES_SMALL:
            *value *= 0x1p-40F;
            break;
        case WEFT_VALUES_MIXED:
            *value *= mixed_scale(seed, stream, index);
            break;
        case WEFT_VALUES_ZEROS:
            *value = zero_or(*value, seed, stream, index);
            break;
        case WEFT_VALUES_EQUAL:
            *value = 0.5F;
            break;
        case WEFT_VALUES_IMPULSE:
            *value = index == 0 ? 1.0F : 0.0F;
            break;
        default:
            break;
        }
    }
}

void weft_values_fill(float *data, uint64_t count, weft_values values, uint64_t seed,
                      uint64_t stream) {
    weft_philox_uniform(data, (size_t)count, seed, stream);
    if (values < WEFT_VALUES_SUBNORMAL) {
        make_ordinary(data, count, values, seed, stream);
    } else {
        make_special(data, count, values, seed, stream);
    }
}

void weft_values_read(double *value, const void *data, uint64_t count) {
    const unsigned char *bytes = data;
    for (uint64_t index = 0; index < count; index++) {
        uint32_t word;
        memcpy(&word, bytes + index * sizeof word, sizeof word);
        float number;
        memcpy(&number, &word, sizeof number);
        bool is_nan = (word & ~SIGN) > INFINITE;
        bool is_small = (word & ~SIGN) < NORMAL;
        double zero = (word & SIGN) != 0 ? -0.0 : 0.0;
        value[index] = is_nan ? NAN : is_small ? zero : (double)number;
    }
}
