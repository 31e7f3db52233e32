/* SPDX-License-Identifier: MIT */
/* Weights that the device keeps in 16 bits: which ones, and how they are converted. */
#include "lower/half_weight.h"

#include <math.h>
#include <stdio.h>

#include "core/math/half.h"
#include "core/try.h"
#include "lower/lowering.h"

/*
 * A weight is scaled by a power of two so that its largest element is in [2^7, 2^8). The smallest
 * normal f16 number, 2^-14, is then 2^-21 of it or less, about what f32 arithmetic rounds away next
 * to the largest; and products with it exceed those with the original only for weights below 2^8.
 */
#define TOP_EXPONENT 7
/* So that 2^exponent is a normal f32 number, and its reciprocal too. */
#define MAX_EXPONENT 100
/* Devices may take subnormal f16 numbers for 0, so that they are written as 0 to begin with. */
#define SMALLEST 0x1p-14F

/* Values of weft_weight's half_exponent; any other is the exponent plus BIAS. */
enum { UNKNOWN = 0, STAYS_F32 = 1, BIAS = 1000 };

/* The largest magnitude; NaN or infinity when an element is that. */
static float largest_of(const float *data, uint64_t count) {
    float largest = 0.0F;
    for (uint64_t i = 0; i < count; i++) {
        float magnitude = fabsf(data[i]);
        if (!(magnitude <= largest)) {
            largest = magnitude;
        }
        if (!isfinite(magnitude)) {
            return magnitude;
        }
    }
    return largest;
}

/* True if at most 1 % of the elements that are not 0 become 0. */
static bool keeps_enough(const float *data, uint64_t count, float scale) {
    uint64_t vanishing = 0;
    uint64_t zeros = 0;
    for (uint64_t i = 0; i < count; i++) {
        vanishing += fabsf(data[i] * scale) < SMALLEST;
        zeros += data[i] == 0.0F;
    }
    return (vanishing - zeros) * 100 <= count - zeros;
}

static int find_exponent(const float *data, uint64_t count) {
    float largest = largest_of(data, count);
    if (!isfinite(largest)) {
        return STAYS_F32;
    }
    int exponent = largest > 0.0F ? TOP_EXPONENT - ilogbf(largest) : 0;
    if (exponent < -MAX_EXPONENT || exponent > MAX_EXPONENT ||
        !keeps_enough(data, count, ldexpf(1.0F, exponent))) {
        return STAYS_F32;
    }
    return exponent + BIAS;
}

/* The result depends on the data alone, so it does not matter which thread finds it first. */
static weft_status exponent_of(int *known, weft_weight *weight) {
    *known = atomic_load(&weight->half_exponent);
    if (*known == UNKNOWN) {
        struct weft_weight_view view;
        WEFT_TRY(weft_weight_view_open(&view, weight));
        *known = find_exponent(view.data, weft_shape_elements(weight->shape));
        weft_weight_view_close(&view, weight);
        atomic_store(&weight->half_exponent, *known);
    }
    return WEFT_OK;
}

bool weft_lower_half_exponent(int *exponent, struct weft_lowering *lowering, uint32_t value) {
    weft_weight *weight = lowering->graph->values[value].weight;
    if (lowering->device->weight_storage != WEFT_WEIGHTS_F16 || lowering->runs_once || !weight ||
        weight->dtype != WEFT_F32 || weft_weight_is_int8(weight) || weft_weight_blocks(weight)) {
        return false;
    }
    int found = STAYS_F32;
    weft_lower_fail(lowering, exponent_of(&found, weight));
    *exponent = found - BIAS;
    return found != STAYS_F32;
}

/* ---- of elements that were given so ---- */

/* Values of weft_weight's `finite`. */
enum { FINITE = 1, NOT_FINITE = 2 };

static weft_status find_finite(int *found, const weft_weight *weight) {
    uint16_t *halves = NULL;
    bool finite = true;
    WEFT_TRY(weft_half_weight_read_all(&halves, weight, WEFT_HALF_F16));
    for (uint64_t i = 0; i < weft_shape_elements(weight->shape); i++) {
        finite &= (halves[i] & 0x7C00u) != 0x7C00u;
    }
    weft_free(&weight->host, halves);
    *found = finite ? FINITE : NOT_FINITE;
    return WEFT_OK;
}

static weft_status finite_of(int *known, weft_weight *weight) {
    *known = atomic_load(&weight->finite);
    if (*known == UNKNOWN) {
        WEFT_TRY(find_finite(known, weight));
        atomic_store(&weight->finite, *known);
    }
    return WEFT_OK;
}

enum weft_half weft_lower_exact_half(struct weft_lowering *lowering, uint32_t value) {
    weft_weight *weight = lowering->graph->values[value].weight;
    if (!weight || weight->stored == WEFT_STORED_WHOLE || weft_weight_is_int8(weight)) {
        return WEFT_HALF_NOT;
    }
    if (weight->stored == WEFT_STORED_BF16) {
        return WEFT_HALF_BF16;
    }
    int finite = NOT_FINITE;
    weft_lower_fail(lowering, finite_of(&finite, weight));
    return finite == FINITE ? WEFT_HALF_F16 : WEFT_HALF_NOT;
}

/* ---- conversion ---- */

/* 0 where it would be subnormal. */
static uint16_t scaled_element(float value, float scale) {
    float scaled = value * scale;
    return fabsf(scaled) < SMALLEST ? (uint16_t)(signbit(scaled) ? 0x8000 : 0)
                                    : weft_half_of_float(scaled);
}

static weft_status read_scaled(const weft_weight *weight, uint16_t *out) {
    const float scale = ldexpf(1.0F, atomic_load(&weight->half_exponent) - BIAS);
    struct weft_weight_view view;
    WEFT_TRY(weft_weight_view_open(&view, weight));
    const float *source = view.data;
    for (uint64_t i = 0; i < weft_shape_elements(weight->shape); i++) {
        out[i] = scaled_element(source[i], scale);
    }
    weft_weight_view_close(&view, weight);
    return WEFT_OK;
}

weft_status weft_half_weight_read(const weft_weight *weight, enum weft_half half, uint16_t *out) {
    return half == WEFT_HALF_SCALED
               ? read_scaled(weight, out)
               : weft_weight_read_stored(weight, 0, weft_shape_elements(weight->shape), out);
}

weft_status weft_half_weight_read_all(uint16_t **out, const weft_weight *weight,
                                      enum weft_half half) {
    const uint64_t elements = weft_shape_elements(weight->shape);
    uint16_t *read = weft_alloc(&weight->host, (size_t)elements * sizeof *read);
    if (!read) {
        return weft_fail_memory(&weight->host, weight->name);
    }
    const weft_status status = weft_half_weight_read(weight, half, read);
    if (status != WEFT_OK) {
        weft_free(&weight->host, read);
        return status;
    }
    *out = read;
    return WEFT_OK;
}

/* ---- in the layouts of f32 ---- */

struct halves {
    const weft_weight *weight;
    enum weft_half half;
};

/* Ends a whole word: the last element may be the first half of one. */
static void pad(uint16_t *target, uint64_t count) {
    if (count % 2 != 0) {
        target[count] = 0;
    }
}

static weft_status fill_half(void *user, void *data) {
    const struct halves *halves = user;
    const uint64_t count = weft_shape_elements(halves->weight->shape);
    pad(data, count);
    return weft_half_weight_read(halves->weight, halves->half, data);
}

/* In square blocks, so that both sides stay in the cache. */
static void transpose(uint16_t *target, const uint16_t *source, size_t rows, size_t columns) {
    const size_t block = 32;
    for (size_t top = 0; top < rows; top += block) {
        size_t bottom = top + block < rows ? top + block : rows;
        for (size_t left = 0; left < columns; left += block) {
            size_t right = left + block < columns ? left + block : columns;
            for (size_t j = left; j < right; j++) {
                for (size_t i = top; i < bottom; i++) {
                    target[j * rows + i] = source[i * columns + j];
                }
            }
        }
    }
}

static weft_status fill_half_transposed(void *user, void *data) {
    const struct halves *halves = user;
    const weft_weight *weight = halves->weight;
    uint16_t *source = NULL;
    WEFT_TRY(weft_half_weight_read_all(&source, weight, halves->half));
    transpose(data, source, weight->shape.dim[0], weight->shape.dim[1]);
    weft_free(&weight->host, source);
    pad(data, weft_shape_elements(weight->shape));
    return WEFT_OK;
}

uint32_t weft_lower_half_weight(struct weft_lowering *lowering, uint32_t value, bool transposed,
                                enum weft_half half) {
    struct halves halves = {.weight = lowering->graph->values[value].weight, .half = half};
    uint64_t bytes = (weft_shape_elements(halves.weight->shape) + 1) / 2 * 4;
    char key[64];
    snprintf(key, sizeof key, "weight/%llu%s/%s", (unsigned long long)halves.weight->uid,
             transposed ? "/transposed" : "", half == WEFT_HALF_SCALED ? "f16" : "stored");
    uint32_t storage = weft_lower_table(lowering, key, bytes,
                                        transposed ? fill_half_transposed : fill_half, &halves);
    if (weft_lower_status(lowering) == WEFT_OK) {
        lowering->storages[storage].half = half;
    }
    return storage;
}
