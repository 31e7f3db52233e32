/* SPDX-License-Identifier: MIT */
#include "model/files/random_weights.h"

#include <math.h>
#include <string.h>

#include <weft/model.h>

#include "core/given.h"
#include "core/hash.h"
#include "core/math/philox.h"
#include "core/text.h"
#include "core/try.h"
#include "graph/graph.h"

/* value = center + spread * (a number in [-1, 1)) */
struct range {
    float center, spread;
};

/* The number of terms of the sums that a matrix goes into; 1 gives variance 1. */
static uint32_t terms_of(const char *name, weft_shape shape) {
    if (weft_ends_with(name, "features.weight") ||
        (weft_ends_with(name, "features.sigma") && shape.rank == 2)) {
        return 1; /* rows of random features, and what noise of variance 1 is multiplied by */
    }
    if (weft_ends_with(name, ".rpe.weight") || weft_ends_with(name, ".taps.weight")) {
        return shape.dim[0]; /* coefficients of lags */
    }
    return shape.dim[shape.rank - 1];
}

static struct range range_of(const char *name, weft_shape shape) {
    if (shape.rank >= 2) {
        /* A uniform number in [-1, 1) has variance 1/3. */
        return (struct range){0.0F, sqrtf(3.0F / (float)terms_of(name, shape))};
    }
    /* Powers of two, so that the products are exact and compilers may contract them. */
    return weft_ends_with(name, ".weight") ? (struct range){1.0F, 0.125F}
                                           : (struct range){0.0F, 0.0625F};
}

static uint64_t stream_of(const char *name) {
    weft_digest digest = weft_digest_of(name, strlen(name));
    uint64_t stream = 0;
    for (int i = 0; i < 8; i++) {
        stream = stream << 8 | digest.bytes[i];
    }
    return stream;
}

static void fill(float *data, const char *name, weft_shape shape, uint64_t seed) {
    const size_t count = (size_t)weft_shape_elements(shape);
    const struct range range = range_of(name, shape);
    weft_philox_uniform(data, count, seed, stream_of(name));
    for (size_t i = 0; i < count; i++) {
        data[i] = range.center + range.spread * data[i];
    }
}

weft_status weft_model_draw(float *out, const char *name, weft_shape shape, uint64_t seed) {
    WEFT_ENTER;
    WEFT_GIVEN(NULL, out, name);
    fill(out, name, shape, seed);
    return WEFT_OK;
}

weft_status weft_random_weight(weft_weight **weight, const char *name, weft_shape shape,
                               uint64_t seed, const weft_host *host) {
    WEFT_TRY(weft_weight_create_empty(
        weight, weft_weight_params(.name = name, .dtype = WEFT_F32, .shape = shape), host));
    fill((*weight)->owned, name, shape, seed);
    return WEFT_OK;
}
