/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "graph/graph.h"

static atomic_uint_fast64_t next_uid = 1;

static weft_status check_params(const weft_weight_params *params, const weft_host *host) {
    const char *name = params->name ? params->name : "weight";
    if (params->dtype != WEFT_F32 && params->dtype != WEFT_I32) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT, "%s: a weight is f32 or i32, not %s", name,
                         weft_dtype_name(params->dtype));
    }
    return weft_shape_check(params->shape, name, host);
}

/** Borrows the data, copies them, or, where there are none, takes zeros. */
static weft_status take_data(weft_weight *weight, const weft_weight_params *params) {
    if (params->release) {
        weight->data = params->data;
        weight->release = params->release;
        weight->release_user = params->release_user;
        return WEFT_OK;
    }
    size_t bytes = (size_t)weft_shape_elements(params->shape) * weft_dtype_size(params->dtype);
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

weft_status weft_weight_create(weft_weight **out, const weft_weight_params *params,
                               const weft_host *host) {
    if (!out || !params) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "weft_weight_create: out and params must not be null");
    }
    if (!params->data) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT, "%s: data is null",
                         params->name ? params->name : "weight");
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
    weight->shape = params->shape;
    weight->uid = atomic_fetch_add(&next_uid, 1);
    atomic_init(&weight->references, 1);
    atomic_init(&weight->half_exponent, 0);
    weight->name = weft_strdup(host, params->name ? params->name : "weight");
    status = weight->name ? take_data(weight, params) : weft_fail_memory(host, "a weight's name");
    if (status != WEFT_OK) {
        weft_free(host, weight->name);
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

void weft_weight_destroy(weft_weight **address) {
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
    weft_host host = weight->host;
    weft_free(&host, weight->owned);
    weft_free(&host, weight->name);
    weft_free(&host, weight);
}
