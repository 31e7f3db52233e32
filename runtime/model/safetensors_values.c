/* SPDX-License-Identifier: MIT */
/* Values of a safetensors file: conversion to float, and checks of type, shape and finiteness. */
#include <math.h>
#include <stdalign.h>
#include <string.h>

#include "core/bytes.h"
#include "core/half.h"
#include "core/shape.h"
#include "model/safetensors.h"

#define NAME "\"%.200s\""

/* ---- elements ---- */

static float float_of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float load(weft_safetensors_dtype dtype, const uint8_t *bytes) {
    const uint64_t bits = weft_load_bytes(bytes, weft_safetensors_dtype_size(dtype));
    switch (dtype) {
    case WEFT_SAFETENSORS_F16:
        return weft_float_of_half((uint16_t)bits);
    case WEFT_SAFETENSORS_BF16:
        return float_of_bits((uint32_t)bits << 16);
    case WEFT_SAFETENSORS_F64: {
        double value;
        memcpy(&value, &bits, sizeof value);
        return (float)value;
    }
    default:
        return float_of_bits((uint32_t)bits);
    }
}

static bool is_float(weft_safetensors_dtype dtype) {
    return dtype == WEFT_SAFETENSORS_F32 || dtype == WEFT_SAFETENSORS_F16 ||
           dtype == WEFT_SAFETENSORS_BF16 || dtype == WEFT_SAFETENSORS_F64;
}

/* Of one of those. */
static void convert(float *out, weft_safetensors_dtype dtype, const uint8_t *data, size_t count) {
    const size_t size = weft_safetensors_dtype_size(dtype);
    for (size_t i = 0; i < count; i++) {
        out[i] = load(dtype, data + i * size);
    }
}

/* ---- whole tensors ---- */

static weft_status fail_dtype(const weft_safetensors *file, const weft_safetensors_tensor *tensor) {
    return weft_fail(weft_safetensors_host(file), WEFT_BAD_FILE,
                     "%s: tensor " NAME ": dtype: expected F32, F16, BF16 or F64, found %s",
                     weft_safetensors_path(file), tensor->name,
                     weft_safetensors_dtype_name(tensor->dtype));
}

#define SHAPE_TEXT_SIZE (WEFT_SAFETENSORS_MAX_RANK * 22 + 4)

static bool has_shape(const weft_safetensors_tensor *tensor, weft_shape shape) {
    bool equal = tensor->rank == shape.rank;
    for (uint32_t axis = 0; equal && axis < shape.rank; axis++) {
        equal = tensor->shape[axis] == shape.dim[axis];
    }
    return equal;
}

weft_status weft_safetensors_require(const weft_safetensors_tensor **tensor,
                                     const weft_safetensors *file, const char *name,
                                     weft_shape shape) {
    const weft_host *host = weft_safetensors_host(file);
    const char *path = weft_safetensors_path(file);
    char expected[WEFT_SHAPE_TEXT_SIZE];
    const weft_safetensors_tensor *found = weft_safetensors_find(file, name);
    if (!found) {
        return weft_fail(host, WEFT_NOT_FOUND, "%s: tensor " NAME ": expected shape %s, found none",
                         path, name, weft_shape_text(shape, expected));
    }
    if (!is_float(found->dtype)) {
        return fail_dtype(file, found);
    }
    if (!has_shape(found, shape)) {
        char text[SHAPE_TEXT_SIZE];
        return weft_fail(host, WEFT_BAD_FILE, "%s: tensor " NAME ": expected shape %s, found %s",
                         path, name, weft_shape_text(shape, expected),
                         weft_extents_text(text, sizeof text, found->shape, found->rank));
    }
    *tensor = found;
    return WEFT_OK;
}

static bool is_little_endian(void) {
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first == 1;
}

const float *weft_safetensors_f32(const weft_safetensors_tensor *tensor) {
    bool aligned = (uintptr_t)tensor->data % alignof(float) == 0;
    if (tensor->dtype != WEFT_SAFETENSORS_F32 || !aligned || !is_little_endian()) {
        return NULL;
    }
    return (const float *)(const void *)tensor->data;
}

weft_status weft_safetensors_read_f32(const weft_safetensors *file,
                                      const weft_safetensors_tensor *tensor, float *out) {
    if (!is_float(tensor->dtype)) {
        return fail_dtype(file, tensor);
    }
    convert(out, tensor->dtype, tensor->data, (size_t)tensor->elements);
    return WEFT_OK;
}

weft_status weft_safetensors_check_finite(const weft_safetensors *file,
                                          const weft_safetensors_tensor *tensor) {
    if (!is_float(tensor->dtype)) {
        return fail_dtype(file, tensor);
    }
    float block[256];
    size_t capacity = sizeof block / sizeof block[0];
    size_t size = weft_safetensors_dtype_size(tensor->dtype);
    size_t elements = (size_t)tensor->elements;
    for (size_t begin = 0; begin < elements; begin += capacity) {
        size_t count = elements - begin < capacity ? elements - begin : capacity;
        convert(block, tensor->dtype, tensor->data + begin * size, count);
        for (size_t i = 0; i < count; i++) {
            if (!isfinite(block[i])) {
                return weft_fail(weft_safetensors_host(file), WEFT_BAD_FILE,
                                 "%s: tensor " NAME ": expected finite values, found %s at index "
                                 "%zu",
                                 weft_safetensors_path(file), tensor->name,
                                 isnan(block[i]) ? "NaN" : "infinity", begin + i);
            }
        }
    }
    return WEFT_OK;
}
