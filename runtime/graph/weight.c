/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/given.h"
#include "core/math/half.h"
#include "core/math/int8.h"
#include "core/try.h"
#include "graph/graph.h"

static atomic_uint_fast64_t next_uid = 1;

static weft_status check_params(const weft_weight_params *params, const weft_host *host) {
    const char *name = params->name ? params->name : "weight";
    if (params->dtype != WEFT_F32 && params->dtype != WEFT_I32) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT, "%s: a weight is f32 or i32, not %s", name,
                         weft_dtype_name(params->dtype));
    }
    if ((uint32_t)params->stored > WEFT_STORED_I8_ONLY ||
        (params->stored != WEFT_STORED_WHOLE && params->dtype != WEFT_F32)) {
        return weft_fail(
            host, WEFT_INVALID_ARGUMENT,
            "%s: stored: expected a value of weft_stored, and narrower elements for f32 "
            "alone, found %d for %s",
            name, (int)params->stored, weft_dtype_name(params->dtype));
    }
    return weft_shape_check(params->shape, name, host);
}

bool weft_weight_is_int8(const weft_weight *weight) {
    return weight->stored >= WEFT_STORED_I8;
}

uint32_t weft_weight_element_size(const weft_weight *weight) {
    return weight->stored == WEFT_STORED_WHOLE ? weft_dtype_size(weight->dtype)
           : weft_weight_is_int8(weight)       ? 1
                                               : 2;
}

/* As they are stored. */
static size_t bytes_of(const weft_weight *weight, uint64_t elements) {
    return (size_t)elements * weft_weight_element_size(weight);
}

/** Borrows the data, copies them, or, where there are none and nobody reads them, takes zeros. */
static weft_status take_data(weft_weight *weight, const weft_weight_params *params) {
    if (params->release) {
        weight->data = params->data;
        weight->release = params->release;
        weight->release_user = params->release_user;
        return WEFT_OK;
    }
    const size_t bytes = bytes_of(weight, weft_shape_elements(params->shape));
    weight->owned =
        params->data ? weft_alloc(&weight->host, bytes) : weft_alloc_zero(&weight->host, 1, bytes);
    if (!weight->owned) {
        return weft_fail_memory(&weight->host, "a weight's data");
    }
    if (params->data) {
        memcpy(weight->owned, params->data, bytes);
    }
    weight->data = weight->owned;
    return WEFT_OK;
}

/* A part has those of the whole. */
static weft_status take_scales(weft_weight *weight, const weft_weight_params *params) {
    if (!weft_weight_is_int8(weight) || !params->scales) {
        return WEFT_OK;
    }
    const size_t count = params->shape.dim[params->scale_columns ? 1 : 0];
    weight->scales = weft_alloc(&weight->host, count * sizeof *weight->scales);
    if (!weight->scales) {
        return weft_fail_memory(&weight->host, "a weight's scales");
    }
    memcpy(weight->scales, params->scales, count * sizeof *weight->scales);
    return WEFT_OK;
}

/* Checks a weight that is given as bytes: a matrix, with its scales. */
static weft_status check_int8(const weft_weight_params *params, const weft_host *host) {
    const char *name = params->name ? params->name : "weight";
    if (params->shape.rank != 2 || !params->scales) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "%s: bytes: expected a matrix with scales, found %u axes and %s", name,
                         params->shape.rank, params->scales ? "scales" : "none");
    }
    for (uint32_t i = 0; i < params->shape.dim[params->scale_columns ? 1 : 0]; i++) {
        if (!weft_int8_is_scale(params->scales[i])) {
            return weft_fail(host, WEFT_INVALID_ARGUMENT,
                             "%s: scale %u: expected 0 or a positive normal number, found %g", name,
                             i, (double)params->scales[i]);
        }
    }
    const int8_t *bytes = params->data;
    for (uint64_t i = 0; i < weft_shape_elements(params->shape); i++) {
        if (bytes[i] < -WEFT_INT8_MOST) {
            return weft_fail(host, WEFT_INVALID_ARGUMENT,
                             "%s: element %llu: expected -127 to 127, found %d", name,
                             (unsigned long long)i, bytes[i]);
        }
    }
    return WEFT_OK;
}

weft_status weft_weight_create(weft_weight **out, const weft_weight_params *params,
                               const weft_host *host) {
    WEFT_ENTER;
    WEFT_GIVEN_AS(host, "weight, params", out, params);
    if (!params->data) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT, "%s: data is null",
                         params->name ? params->name : "weight");
    }
    WEFT_TRY(check_params(params, host));
    if (params->stored >= WEFT_STORED_I8) {
        WEFT_TRY(check_int8(params, host));
    }
    return weft_weight_create_empty(out, params, host);
}

weft_status weft_weight_create_empty(weft_weight **out, const weft_weight_params *params,
                                     const weft_host *host) {
    weft_status status = check_params(params, host);
    if (status != WEFT_OK) {
        return status;
    }
    weft_weight *weight = weft_alloc_zero(host, 1, sizeof *weight);
    if (!weight) {
        return weft_fail_memory(host, "a weight");
    }
    weight->host = host ? *host : (weft_host){0};
    weight->dtype = params->dtype;
    weight->stored = params->stored;
    weight->shape = params->shape;
    weight->uid = atomic_fetch_add(&next_uid, 1);
    atomic_init(&weight->references, 1);
    weight->scale_columns = params->scale_columns;
    atomic_init(&weight->half_exponent, 0);
    atomic_init(&weight->finite, 0);
    atomic_init(&weight->parts, NULL);
    atomic_init(&weight->kept, NULL);
    weight->name = weft_strdup(host, params->name ? params->name : "weight");
    status = weight->name ? take_scales(weight, params) : weft_fail_memory(host, "a weight's name");
    status = status == WEFT_OK ? take_data(weight, params) : status;
    if (status != WEFT_OK) {
        weft_free(host, weight->name);
        weft_free(host, weight->scales);
        weft_free(host, weight);
        return status;
    }
    *out = weight;
    return WEFT_OK;
}

weft_weight *weft_weight_retain(weft_weight *weight) {
    atomic_fetch_add(&weight->references, 1);
    return weight;
}

/* ---- elements ---- */

/* False: an element would change. */
static bool narrow(uint16_t *out, const float *elements, uint64_t count, weft_stored stored) {
    bool same = true;
    for (uint64_t i = 0; i < count && same; i++) {
        const bool f16 = stored == WEFT_STORED_F16;
        out[i] = f16 ? weft_half_of_float(elements[i]) : weft_bfloat_of_float(elements[i]);
        const float back = f16 ? weft_float_of_half(out[i]) : weft_float_of_bfloat(out[i]);
        /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): bits are meant, not numbers */
        same = memcmp(&back, &elements[i], sizeof back) == 0;
    }
    return same;
}

void weft_weight_narrow(weft_weight *weight, weft_stored stored) {
    const uint64_t count = weft_shape_elements(weight->shape);
    if ((stored != WEFT_STORED_F16 && stored != WEFT_STORED_BF16) ||
        weight->stored != WEFT_STORED_WHOLE || weight->dtype != WEFT_F32 || !weight->owned) {
        return;
    }
    uint16_t *halves = weft_alloc(&weight->host, (size_t)count * sizeof *halves);
    if (!halves || !narrow(halves, weight->owned, count, stored)) {
        weft_free(&weight->host, halves);
        return;
    }
    weft_free(&weight->host, weight->owned);
    weight->owned = halves;
    weight->data = halves;
    weight->stored = stored;
}

weft_status weft_weight_create_read(weft_weight **weight, const weft_weight_params *params,
                                    weft_weight_reader read, const weft_host *host) {
    WEFT_TRY(weft_weight_create_empty(weight, params, host));
    (*weight)->read = read;
    return WEFT_OK;
}

weft_status weft_weight_read_stored(const weft_weight *weight, uint64_t first, uint64_t count,
                                    void *out) {
    if (weight->data) {
        memcpy(out, (const char *)weight->data + bytes_of(weight, first), bytes_of(weight, count));
        return WEFT_OK;
    }
    return weight->part_of
               ? weft_weight_read_stored(weight->part_of, weight->first + first, count, out)
               : weight->read(weight->release_user, first, count, out);
}

/* `narrow` may be the second half of `out`: each element is read before the last one is written over it. */
static void widen(float *out, const unsigned char *narrow, uint64_t count, weft_stored stored) {
    for (uint64_t i = 0; i < count; i++) {
        uint16_t bits;
        memcpy(&bits, narrow + 2 * i, sizeof bits);
        const float value =
            stored == WEFT_STORED_F16 ? weft_float_of_half(bits) : weft_float_of_bfloat(bits);
        memcpy(&out[i], &value, sizeof value);
    }
}

float weft_weight_scale(const weft_weight *weight, uint64_t element) {
    if (weight->part_of) {
        return weft_weight_scale(weight->part_of, weight->first + element);
    }
    const uint64_t columns = weight->shape.dim[1];
    return weight->scales[weight->scale_columns ? element % columns : element / columns];
}

/* The bytes are the last quarter of `out`, and read likewise. */
static weft_status read_int8(const weft_weight *weight, uint64_t first, uint64_t count,
                             float *out) {
    const int8_t *bytes = (const int8_t *)out + 3 * count;
    WEFT_TRY(weft_weight_read_stored(weight, first, count, (int8_t *)out + 3 * count));
    for (uint64_t i = 0; i < count; i++) {
        const float value = (float)bytes[i] * weft_weight_scale(weight, first + i);
        memcpy(&out[i], &value, sizeof value);
    }
    return WEFT_OK;
}

weft_status weft_weight_read(const weft_weight *weight, uint64_t first, uint64_t count, void *out) {
    if (weight->stored == WEFT_STORED_WHOLE) {
        return weft_weight_read_stored(weight, first, count, out);
    }
    if (weft_weight_is_int8(weight)) {
        return read_int8(weight, first, count, out);
    }
    unsigned char *narrow = (unsigned char *)out + 2 * count;
    WEFT_TRY(weft_weight_read_stored(weight, first, count, narrow));
    widen(out, narrow, count, weight->stored);
    return WEFT_OK;
}

/* ---- blocks ---- */

const struct weft_block_form *weft_weight_blocks(const weft_weight *weight) {
    const weft_weight *whole = weight->part_of ? weight->part_of : weight;
    const uint32_t columns = whole->shape.dim[1];
    const bool rows = whole->blocks && weight->shape.rank == 2 && weight->shape.dim[1] == columns &&
                      weight->first % columns == 0;
    return rows ? whole->blocks : NULL;
}

weft_status weft_weight_read_blocks(const weft_weight *weight, uint64_t first_row, uint64_t rows,
                                    const struct weft_blocks *out) {
    const weft_weight *whole = weight->part_of ? weight->part_of : weight;
    const uint64_t before = weight->part_of ? weight->first / whole->shape.dim[1] : 0;
    return whole->read_blocks(whole->release_user, before + first_row, rows, out);
}

/* ---- all elements ---- */

weft_status weft_weight_view_open(struct weft_weight_view *view, const weft_weight *weight) {
    *view = (struct weft_weight_view){.data = weight->stored == WEFT_STORED_WHOLE ? weight->data
                                                                                  : NULL};
    if (view->data) {
        return WEFT_OK;
    }
    const uint64_t elements = weft_shape_elements(weight->shape);
    view->owned = weft_alloc(&weight->host, (size_t)elements * weft_dtype_size(weight->dtype));
    if (!view->owned) {
        return weft_fail_memory(&weight->host, weight->name);
    }
    view->data = view->owned;
    weft_status status = weft_weight_read(weight, 0, elements, view->owned);
    if (status != WEFT_OK) {
        weft_weight_view_close(view, weight);
    }
    return status;
}

void weft_weight_view_close(struct weft_weight_view *view, const weft_weight *weight) {
    weft_free(&weight->host, view->owned);
    *view = (struct weft_weight_view){.data = NULL};
}

weft_status weft_weight_data(const void **data, weft_weight *weight) {
    const bool whole = weight->data && weight->stored == WEFT_STORED_WHOLE;
    *data = whole ? weight->data : atomic_load(&weight->kept);
    if (*data) {
        return WEFT_OK;
    }
    struct weft_weight_view view;
    WEFT_TRY(weft_weight_view_open(&view, weight));
    void *first = NULL; /* another thread may have been first */
    if (!atomic_compare_exchange_strong(&weight->kept, &first, view.owned)) {
        weft_weight_view_close(&view, weight);
    }
    *data = first ? first : view.data;
    return WEFT_OK;
}

/* ---- parts ---- */

/* Outlasts the part, which plans make when they are compiled, for the sake of its uid. */
struct weft_weight_part {
    struct weft_weight_part *next;
    uint64_t first;
    weft_shape shape;
    uint64_t uid;
};

static struct weft_weight_part *find_part(struct weft_weight_part *parts, uint64_t first,
                                          weft_shape shape) {
    while (parts && (parts->first != first || !weft_shape_equal(parts->shape, shape))) {
        parts = parts->next;
    }
    return parts;
}

/* Threads may ask for the same part at once: who comes second finds that of the first. */
static weft_status uid_of_part(uint64_t *uid, weft_weight *whole, uint64_t first,
                               weft_shape shape) {
    struct weft_weight_part *seen = atomic_load(&whole->parts);
    struct weft_weight_part *part = find_part(seen, first, shape);
    if (part) {
        *uid = part->uid;
        return WEFT_OK;
    }
    struct weft_weight_part *made = weft_alloc_zero(&whole->host, 1, sizeof *made);
    if (!made) {
        return weft_fail_memory(&whole->host, "a part of a weight");
    }
    *made = (struct weft_weight_part){
        .first = first, .shape = shape, .uid = atomic_fetch_add(&next_uid, 1)};
    do {
        made->next = seen;
        part = find_part(seen, first, shape);
    } while (!part && !atomic_compare_exchange_weak(&whole->parts, &seen, made));
    *uid = part ? part->uid : made->uid;
    if (part) {
        weft_free(&whole->host, made);
    }
    return WEFT_OK;
}

static void release_whole(void *user) {
    weft_weight *whole = user;
    weft_weight_destroy(&whole);
}

weft_status weft_weight_part_of(weft_weight **out, weft_weight *whole, uint64_t first,
                                weft_shape shape) {
    if (whole->part_of) {
        return weft_weight_part_of(out, whole->part_of, whole->first + first, shape);
    }
    uint64_t uid = 0;
    WEFT_TRY(uid_of_part(&uid, whole, first, shape));
    const char *data = whole->data;
    data = data ? data + bytes_of(whole, first) : NULL;
    WEFT_TRY(weft_weight_create_empty(
        out,
        weft_weight_params(.name = whole->name, .dtype = whole->dtype, .shape = shape, .data = data,
                           .release = release_whole, .release_user = whole, .stored = whole->stored,
                           .scale_columns = whole->scale_columns),
        &whole->host));
    (*out)->uid = uid;
    (*out)->part_of = weft_weight_retain(whole);
    (*out)->first = first;
    return WEFT_OK;
}

static void free_parts(weft_weight *weight) {
    struct weft_weight_part *part = atomic_load(&weight->parts);
    while (part) {
        struct weft_weight_part *next = part->next;
        weft_free(&weight->host, part);
        part = next;
    }
}

/* ---- the end ---- */

void weft_weight_destroy(weft_weight **address) {
    WEFT_ENTER;
    weft_weight *weight = address ? *address : NULL;
    if (!weight) {
        return;
    }
    *address = NULL;
    if (atomic_fetch_sub(&weight->references, 1) != 1) {
        return;
    }
    if (weight->release) {
        weight->release(weight->release_user);
    }
    free_parts(weight);
    weft_host host = weight->host;
    weft_free(&host, weight->owned);
    weft_free(&host, weight->scales);
    weft_free(&host, atomic_load(&weight->kept));
    weft_free(&host, weight->name);
    weft_free(&host, weight);
}
