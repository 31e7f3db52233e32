/* SPDX-License-Identifier: MIT */
/* Values of a safetensors file: conversion to float, and checks of type, shape and finiteness. */
#include <inttypes.h>
#include <math.h>
#include <stdalign.h>
#include <stdio.h>
#include <string.h>

#include "core/half.h"
#include "model/safetensors.h"

#define NAME "\"%.200s\""

/* ---- elements ---- */

static uint64_t load_little_endian(const uint8_t *bytes, size_t size) {
    uint64_t word = 0;
    for (size_t i = 0; i < size; i++) {
        word |= (uint64_t)bytes[i] << (8 * i);
    }
    return word;
}

static float float_of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float load_f32(const uint8_t *bytes) {
    return float_of_bits((uint32_t)load_little_endian(bytes, 4));
}

static float load_f16(const uint8_t *bytes) {
    return weft_float_of_half((uint16_t)load_little_endian(bytes, 2));
}

static float load_bf16(const uint8_t *bytes) {
    return float_of_bits((uint32_t)load_little_endian(bytes, 2) << 16);
}

static float load_f64(const uint8_t *bytes) {
    uint64_t bits = load_little_endian(bytes, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return (float)value;
}

/* False for types that are not floating-point. */
static bool convert(float *out, weft_safetensors_dtype dtype, const uint8_t *data, size_t count) {
    switch (dtype) {
    case WEFT_SAFETENSORS_F32:
        for (size_t i = 0; i < count; i++) {
            out[i] = load_f32(data + 4 * i);
        }
        return true;
    case WEFT_SAFETENSORS_F16:
        for (size_t i = 0; i < count; i++) {
            out[i] = load_f16(data + 2 * i);
        }
        return true;
    case WEFT_SAFETENSORS_BF16:
        for (size_t i = 0; i < count; i++) {
            out[i] = load_bf16(data + 2 * i);
        }
        return true;
    case WEFT_SAFETENSORS_F64:
        for (size_t i = 0; i < count; i++) {
            out[i] = load_f64(data + 8 * i);
        }
        return true;
    default:
        return false;
    }
}

/* ---- whole tensors ---- */

static weft_status fail_dtype(const weft_safetensors *file, const weft_safetensors_tensor *tensor) {
    return weft_fail(weft_safetensors_host(file), WEFT_BAD_FILE,
                     "%s: tensor " NAME ": dtype: expected F32, F16, BF16 or F64, found %s",
                     weft_safetensors_path(file), tensor->name,
                     weft_safetensors_dtype_name(tensor->dtype));
}

static bool is_float(weft_safetensors_dtype dtype) {
    float none;
    return convert(&none, dtype, NULL, 0);
}

#define SHAPE_TEXT_SIZE (WEFT_SAFETENSORS_MAX_RANK * 22 + 4)

static const char *shape_text(const weft_safetensors_tensor *tensor, char *text) {
    size_t used = 0;
    text[used++] = '[';
    for (uint32_t axis = 0; axis < tensor->rank; axis++) {
        used += (size_t)snprintf(text + used, SHAPE_TEXT_SIZE - used, "%s%" PRIu64,
                                 axis > 0 ? ", " : "", tensor->shape[axis]);
    }
    text[used++] = ']';
    text[used] = '\0';
    return text;
}

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
                         path, name, weft_shape_text(shape, expected), shape_text(found, text));
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
    return convert(out, tensor->dtype, tensor->data, (size_t)tensor->elements)
               ? WEFT_OK
               : fail_dtype(file, tensor);
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
        (void)convert(block, tensor->dtype, tensor->data + begin * size, count);
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
