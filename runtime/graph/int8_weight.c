/* SPDX-License-Identifier: MIT */
/* Weights of bytes that are made of f32 ones, when somebody reads them. */
#include <math.h>

#include "core/given.h"
#include "core/math/int8.h"
#include "core/try.h"
#include "graph/graph.h"

#define AT_ONCE ((uint64_t)1 << 16) /* elements that are read */

/* Source of the bytes. */
struct quantized {
    weft_weight *source; /* a reference */
    bool scale_columns;
    struct weft_int8_scaling *scaling; /* of each row or column */
};

static void release_quantized(void *user) {
    struct quantized *quantized = user;
    const weft_host host = quantized->source->host;
    weft_weight_destroy(&quantized->source);
    weft_free(&host, quantized->scaling);
    weft_free(&host, quantized);
}

/* Number of the row or column of an element. */
static uint64_t channel_of(const struct quantized *quantized, uint64_t element) {
    const uint64_t columns = quantized->source->shape.dim[1];
    return quantized->scale_columns ? element % columns : element / columns;
}

/* For some elements of the source, which begin with `first`. */
typedef weft_status (*visitor)(void *user, uint64_t first, uint64_t count, const float *elements);

static weft_status visit(const weft_weight *source, uint64_t first, uint64_t count, visitor each,
                         void *user) {
    const uint64_t most = count < AT_ONCE ? count : AT_ONCE;
    float *elements = weft_alloc(&source->host, (size_t)most * sizeof *elements);
    if (!elements) {
        return weft_fail_memory(&source->host, source->name);
    }
    weft_status status = WEFT_OK;
    for (uint64_t done = 0; done < count && status == WEFT_OK; done += most) {
        const uint64_t size = count - done < most ? count - done : most;
        status = weft_weight_read(source, first + done, size, elements);
        status = status == WEFT_OK ? each(user, first + done, size, elements) : status;
    }
    weft_free(&source->host, elements);
    return status;
}

struct bytes {
    const struct quantized *quantized;
    uint64_t first;
    int8_t *out;
};

static weft_status write_bytes(void *user, uint64_t first, uint64_t count, const float *elements) {
    const struct bytes *bytes = user;
    for (uint64_t i = 0; i < count; i++) {
        bytes->out[first - bytes->first + i] = weft_int8_of(
            elements[i], bytes->quantized->scaling[channel_of(bytes->quantized, first + i)]);
    }
    return WEFT_OK;
}

static weft_status read_quantized(void *user, uint64_t first, uint64_t count, void *out) {
    const struct quantized *quantized = user;
    struct bytes bytes = {.quantized = quantized, .first = first, .out = out};
    return visit(quantized->source, first, count, write_bytes, &bytes);
}

/* Into `scale`, for a while, the largest magnitudes. */
static weft_status note_largest(void *user, uint64_t first, uint64_t count, const float *elements) {
    const struct quantized *quantized = user;
    for (uint64_t i = 0; i < count; i++) {
        const float magnitude = fabsf(elements[i]);
        float *largest = &quantized->scaling[channel_of(quantized, first + i)].scale;
        if (!isfinite(magnitude)) {
            return weft_fail(&quantized->source->host, WEFT_INVALID_ARGUMENT,
                             "%s: element %llu is %g, of which no byte can be made",
                             quantized->source->name, (unsigned long long)(first + i),
                             (double)elements[i]);
        }
        *largest = magnitude > *largest ? magnitude : *largest;
    }
    return WEFT_OK;
}

static weft_status find_scaling(struct quantized *quantized, float *scales, uint64_t channels) {
    const weft_weight *source = quantized->source;
    WEFT_TRY(visit(source, 0, weft_shape_elements(source->shape), note_largest, quantized));
    for (uint64_t i = 0; i < channels; i++) {
        quantized->scaling[i] = weft_int8_scaling_of(quantized->scaling[i].scale);
        scales[i] = quantized->scaling[i].scale;
    }
    return WEFT_OK;
}

/* Takes over `quantized` where it succeeds. */
static weft_status create(weft_weight **out, struct quantized *quantized, weft_stored stored) {
    const weft_weight *source = quantized->source;
    const weft_host *host = &source->host;
    const uint64_t channels = source->shape.dim[quantized->scale_columns ? 1 : 0];
    float *scales = weft_alloc(host, (size_t)channels * sizeof *scales);
    quantized->scaling = weft_alloc_zero(host, (size_t)channels, sizeof *quantized->scaling);
    weft_status status = scales && quantized->scaling ? find_scaling(quantized, scales, channels)
                                                      : weft_fail_memory(host, source->name);
    if (status == WEFT_OK) {
        status = weft_weight_create_read(
            out,
            weft_weight_params(.name = source->name, .shape = source->shape, .stored = stored,
                               .scales = scales, .scale_columns = quantized->scale_columns,
                               .release = release_quantized, .release_user = quantized),
            read_quantized, host);
    }
    weft_free(host, scales);
    return status;
}

weft_status weft_weight_quantize(weft_weight **out, weft_weight *source, weft_stored stored,
                                 bool scale_columns) {
    WEFT_ENTER;
    WEFT_GIVEN_AS(WEFT_HOST_OF(source, host), "weight, source", out, source);
    if (source->dtype != WEFT_F32 || source->shape.rank != 2 || weft_weight_is_int8(source) ||
        (stored != WEFT_STORED_I8 && stored != WEFT_STORED_I8_ONLY)) {
        return weft_fail(&source->host, WEFT_INVALID_ARGUMENT,
                         "%s: expected an f32 matrix, to be stored as I8 or I8_ONLY, found %s with "
                         "%u axes, and %d",
                         source->name, weft_dtype_name(source->dtype), source->shape.rank,
                         (int)stored);
    }
    struct quantized *quantized = weft_alloc_zero(&source->host, 1, sizeof *quantized);
    if (!quantized) {
        return weft_fail_memory(&source->host, source->name);
    }
    quantized->source = weft_weight_retain(source);
    quantized->scale_columns = scale_columns;
    const weft_status status = create(out, quantized, stored);
    if (status != WEFT_OK) {
        release_quantized(quantized);
    }
    return status;
}
