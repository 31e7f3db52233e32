/* SPDX-License-Identifier: MIT */
#include "model/files/ggml_encode.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/bytes.h"
#include "core/math/half.h"
#include "core/try.h"

#define RUN  32u /* elements with one scale */
#define RUNS 8u  /* of a block of Q4_K */
#define MOST 15  /* code of 4 bits */
#define SIX  63  /* largest number of 6 bits */

#define AT_ONCE ((uint64_t)1 << 16) /* elements that are read; whole blocks */

/* Stores a number in 16 bits, and returns what it is then. */
static float put_half(uint8_t *bytes, float value) {
    const uint16_t half = weft_half_of_float(value);
    weft_store_bytes(bytes, half, sizeof half);
    return weft_float_of_half(half);
}

/* 0 where a scale is so small that 16 bits have none, and the inverse may be infinite. */
static float inverse_of(float scale) {
    const float inverse = 1.0F / scale;
    return isfinite(inverse) ? inverse : 0.0F;
}

/* The first number of the largest magnitude. */
static float largest(const float *values) {
    float found = values[0];
    for (uint32_t i = 1; i < RUN; i++) {
        found = fabsf(values[i]) > fabsf(found) ? values[i] : found;
    }
    return found;
}

static bool make_q8_0(uint8_t *block, const float *values) {
    const float scale = fabsf(largest(values)) / 127.0F;
    const float inverse = inverse_of(scale);
    for (uint32_t i = 0; i < RUN; i++) {
        block[2 + i] = (uint8_t)(int8_t)roundf(values[i] * inverse);
    }
    return isfinite(put_half(block, scale));
}

/* The number of the largest magnitude is -8. */
static bool make_q4_0(uint8_t *block, const float *values) {
    const float scale = largest(values) / -8.0F;
    const float inverse = inverse_of(scale);
    uint32_t codes[RUN];
    for (uint32_t i = 0; i < RUN; i++) {
        const float code = truncf(values[i] * inverse + 8.5F);
        codes[i] = code < (float)MOST ? (uint32_t)code : MOST;
    }
    for (uint32_t i = 0; i < RUN / 2; i++) {
        block[2 + i] = (uint8_t)(codes[i] | codes[i + RUN / 2] << 4);
    }
    return isfinite(put_half(block, scale));
}

/* ---- Q4_K ---- */

/* Numbers are about scale times code - least; neither is negative. */
struct fit {
    double scale, least, error;
};

static double code_of(double value, double inverse) {
    const double code = round(value * inverse);
    return code < 0 ? 0 : code > MOST ? MOST : code;
}

static double error_of(const struct fit *fit, const float *values, const double *codes) {
    double sum = 0;
    for (uint32_t i = 0; i < RUN; i++) {
        const double off = fit->scale * codes[i] - fit->least - (double)values[i];
        sum += off * off;
    }
    return sum;
}

/* The least squares of values by these codes, with a smallest value of 0 at most. */
static struct fit fit_codes(const float *values, const double *codes) {
    double c = 0, cc = 0, v = 0, cv = 0;
    for (uint32_t i = 0; i < RUN; i++) {
        c += codes[i];
        cc += codes[i] * codes[i];
        v += (double)values[i];
        cv += codes[i] * (double)values[i];
    }
    const double determinant = RUN * cc - c * c;
    struct fit fit = {.scale = 0};
    if (determinant > 0) {
        fit.scale = (RUN * cv - c * v) / determinant;
        fit.least = (c * cv - cc * v) / determinant;
    }
    if (determinant <= 0 || fit.least < 0) {
        fit = (struct fit){.scale = cc > 0 ? cv / cc : 0};
    }
    if (fit.scale < 0) {
        fit = (struct fit){.scale = 0};
    }
    fit.error = error_of(&fit, values, codes);
    return fit;
}

/* Tries ranges around the one that has all values: a narrower one has finer steps and cuts off the ends. */
static struct fit fit_run(const float *values) {
    double low = 0, high = (double)values[0];
    for (uint32_t i = 0; i < RUN; i++) {
        low = (double)values[i] < low ? (double)values[i] : low;
        high = (double)values[i] > high ? (double)values[i] : high;
    }
    if (!(high > low)) { /* all alike */
        return (struct fit){.least = -low};
    }
    struct fit best = {.error = INFINITY};
    for (int tenths = 130; tenths <= 160; tenths += 2) {
        double codes[RUN];
        for (uint32_t i = 0; i < RUN; i++) {
            codes[i] = code_of((double)values[i] - low, tenths / 10.0 / (high - low));
        }
        const struct fit fit = fit_codes(values, codes);
        best = fit.error < best.error ? fit : best;
    }
    return best;
}

static uint32_t six_bits(double value, float unit) {
    const double count = unit > 0.0F ? round(value / (double)unit) : 0;
    return count > SIX ? SIX : (uint32_t)count;
}

/* Where six_bits_of of ggml_format.c finds them. */
static void put_six_bits(uint8_t *packed, const uint32_t *scales, const uint32_t *leasts) {
    for (uint32_t i = 0; i < RUNS / 2; i++) {
        const uint32_t scale = scales[i + 4], least = leasts[i + 4];
        packed[i] = (uint8_t)(scales[i] | scale >> 4 << 6);
        packed[4 + i] = (uint8_t)(leasts[i] | least >> 4 << 6);
        packed[8 + i] = (uint8_t)((scale & 15u) | (least & 15u) << 4);
    }
}

static bool make_q4_k(uint8_t *block, const float *values) {
    struct fit fits[RUNS];
    double scale = 0, least = 0;
    for (uint32_t i = 0; i < RUNS; i++) {
        fits[i] = fit_run(values + (size_t)i * RUN);
        scale = fits[i].scale > scale ? fits[i].scale : scale;
        least = fits[i].least > least ? fits[i].least : least;
    }
    const float scale_unit = put_half(block, (float)(scale / SIX));
    const float least_unit = put_half(block + 2, (float)(least / SIX));
    uint32_t scales[RUNS], leasts[RUNS];
    memset(block + 16, 0, (size_t)RUNS * RUN / 2);
    for (uint32_t i = 0; i < RUNS; i++) {
        scales[i] = six_bits(fits[i].scale, scale_unit);
        leasts[i] = six_bits(fits[i].least, least_unit);
        const double step = (double)scale_unit * scales[i];
        const double start = (double)least_unit * leasts[i];
        for (uint32_t j = 0; j < RUN && step > 0; j++) {
            const double code = code_of((double)values[i * RUN + j] + start, 1.0 / step);
            block[16 + i / 2 * RUN + j] |= (uint8_t)((uint32_t)code << (i % 2 * 4));
        }
    }
    put_six_bits(block + 4, scales, leasts);
    return isfinite(scale_unit) && isfinite(least_unit);
}

/* ---- all of a matrix ---- */

/* Makes a block of finite numbers. False: they are too large for its scales. */
typedef bool (*encoder)(uint8_t *block, const float *values);

static encoder encoder_of(const struct weft_ggml_format *format) {
    return strcmp(format->name, "Q4_K") == 0   ? make_q4_k
           : strcmp(format->name, "Q4_0") == 0 ? make_q4_0
                                               : make_q8_0;
}

static bool are_finite(const float *values, uint32_t count) {
    bool finite = true;
    for (uint32_t i = 0; i < count; i++) {
        finite &= fabsf(values[i]) <= FLT_MAX;
    }
    return finite;
}

static weft_status encode_piece(const struct weft_ggml_encoding *encoding, const float *values,
                                uint64_t blocks) {
    const struct weft_ggml_format *format = encoding->format;
    const encoder encode = encoder_of(format);
    for (uint64_t i = 0; i < blocks; i++) {
        const float *block = values + i * format->elements;
        uint8_t bytes[WEFT_GGML_MOST_BYTES];
        if (!are_finite(block, format->elements) || !encode(bytes, block)) {
            return weft_fail(encoding->host, WEFT_UNSUPPORTED,
                             "%s: tensor \"%.200s\": expected finite numbers that scales of 16 "
                             "bits can stand for, as %s has them, found others",
                             encoding->path, encoding->name, format->name);
        }
        WEFT_TRY(encoding->add(encoding->target, bytes, format->bytes));
    }
    return WEFT_OK;
}

weft_status weft_ggml_encode(const struct weft_ggml_encoding *encoding) {
    float *values = weft_alloc(encoding->host, (size_t)AT_ONCE * sizeof *values);
    weft_status status = values ? WEFT_OK : weft_fail_memory(encoding->host, encoding->name);
    for (uint64_t done = 0; status == WEFT_OK && done < encoding->elements; done += AT_ONCE) {
        const uint64_t left = encoding->elements - done, count = left < AT_ONCE ? left : AT_ONCE;
        status = weft_interrupted(encoding->host);
        if (status == WEFT_OK) {
            status = encoding->read(encoding->source, done, count, values);
        }
        if (status == WEFT_OK) {
            status = encode_piece(encoding, values, count / encoding->format->elements);
        }
    }
    weft_free(encoding->host, values);
    return status;
}
