/* SPDX-License-Identifier: MIT */
/* Values of a safetensors file: conversion to float, and checks of type, shape and finiteness. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/bytes.h"
#include "core/math/half.h"
#include "core/shape.h"
#include "core/try.h"
#include "model/files/safetensors.h"

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

bool weft_safetensors_is_float(weft_safetensors_dtype dtype) {
    return dtype == WEFT_SAFETENSORS_F32 || dtype == WEFT_SAFETENSORS_F16 ||
           dtype == WEFT_SAFETENSORS_BF16 || dtype == WEFT_SAFETENSORS_F64;
}

static bool is_little_endian(void) {
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first == 1;
}

void weft_safetensors_convert(float *out, weft_safetensors_dtype dtype, const uint8_t *data,
                              size_t count) {
    if (dtype == WEFT_SAFETENSORS_F32 && data == (const uint8_t *)out && is_little_endian()) {
        return;
    }
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

weft_status weft_safetensors_expect(const weft_safetensors *file,
                                    const weft_safetensors_tensor *tensor, weft_shape shape) {
    return weft_safetensors_is_float(tensor->dtype)
               ? weft_safetensors_expect_shape(file, tensor, shape)
               : fail_dtype(file, tensor);
}

weft_status weft_safetensors_expect_shape(const weft_safetensors *file,
                                          const weft_safetensors_tensor *tensor, weft_shape shape) {
    if (!has_shape(tensor, shape)) {
        char expected[WEFT_SHAPE_TEXT_SIZE];
        char text[SHAPE_TEXT_SIZE];
        return weft_fail(weft_safetensors_host(file), WEFT_BAD_FILE,
                         "%s: tensor " NAME ": expected shape %s, found %s",
                         weft_safetensors_path(file), tensor->name,
                         weft_shape_text(shape, expected),
                         weft_extents_text(text, sizeof text, tensor->shape, tensor->rank));
    }
    return WEFT_OK;
}

weft_status weft_safetensors_missing(const char *path, const char *name, weft_shape shape,
                                     const weft_host *host) {
    char expected[WEFT_SHAPE_TEXT_SIZE];
    return weft_fail(host, WEFT_NOT_FOUND, "%s: tensor " NAME ": expected shape %s, found none",
                     path, name, weft_shape_text(shape, expected));
}

weft_status weft_safetensors_require(const weft_safetensors_tensor **tensor,
                                     const weft_safetensors *file, const char *name,
                                     weft_shape shape) {
    const weft_safetensors_tensor *found = weft_safetensors_find(file, name);
    if (!found) {
        return weft_safetensors_missing(weft_safetensors_path(file), name, shape,
                                        weft_safetensors_host(file));
    }
    WEFT_TRY(weft_safetensors_expect(file, found, shape));
    *tensor = found;
    return WEFT_OK;
}

/* Doubles are longer than what is made of them, so that they need memory of their own. */
static weft_status read_doubles(const weft_safetensors *file, const weft_safetensors_tensor *tensor,
                                uint64_t first, uint64_t count, float *out) {
    uint8_t bytes[2048 * sizeof(double)];
    const uint64_t most = sizeof bytes / sizeof(double);
    for (uint64_t done = 0; done < count; done += most) {
        const size_t piece = (size_t)(count - done < most ? count - done : most);
        WEFT_TRY(weft_safetensors_read(file, tensor, (first + done) * sizeof(double), bytes,
                                       piece * sizeof(double)));
        weft_safetensors_convert(out + done, tensor->dtype, bytes, piece);
    }
    return WEFT_OK;
}

weft_status weft_safetensors_read_f32(const weft_safetensors *file,
                                      const weft_safetensors_tensor *tensor, uint64_t first,
                                      uint64_t count, float *out) {
    if (!weft_safetensors_is_float(tensor->dtype)) {
        return fail_dtype(file, tensor);
    }
    if (tensor->dtype == WEFT_SAFETENSORS_F64) {
        return read_doubles(file, tensor, first, count, out);
    }
    /* At the end of `out`: each number is read there before the last one is written over it. */
    const size_t size = weft_safetensors_dtype_size(tensor->dtype);
    uint8_t *bytes = (uint8_t *)out + (size_t)count * (sizeof *out - size);
    WEFT_TRY(weft_safetensors_read(file, tensor, first * size, bytes, (size_t)count * size));
    weft_safetensors_convert(out, tensor->dtype, bytes, (size_t)count);
    return WEFT_OK;
}

weft_status weft_safetensors_read_u16(const weft_safetensors *file,
                                      const weft_safetensors_tensor *tensor, uint64_t first,
                                      uint64_t count, uint16_t *out) {
    WEFT_TRY(
        weft_safetensors_read(file, tensor, first * sizeof *out, out, (size_t)count * sizeof *out));
    for (uint64_t i = 0; !is_little_endian() && i < count; i++) {
        out[i] = (uint16_t)weft_load_bytes((const uint8_t *)&out[i], sizeof *out);
    }
    return WEFT_OK;
}

static weft_status check_block(const weft_safetensors *file, const weft_safetensors_tensor *tensor,
                               uint64_t first, const float *block, size_t count) {
    bool finite = true;
    for (size_t i = 0; i < count; i++) {
        finite &= fabsf(block[i]) <= FLT_MAX;
    }
    for (size_t i = 0; !finite && i < count; i++) {
        if (!isfinite(block[i])) {
            return weft_fail(weft_safetensors_host(file), WEFT_BAD_FILE,
                             "%s: tensor " NAME ": expected finite values, found %s at index "
                             "%" PRIu64,
                             weft_safetensors_path(file), tensor->name,
                             isnan(block[i]) ? "NaN" : "infinity", first + i);
        }
    }
    return WEFT_OK;
}

#define CHECKED ((size_t)1 << 16) /* floats at once: long beside the blocks that have checksums */

weft_status weft_safetensors_check_finite(const weft_safetensors *file,
                                          const weft_safetensors_tensor *tensor) {
    if (!weft_safetensors_is_float(tensor->dtype)) {
        return fail_dtype(file, tensor);
    }
    const weft_host *host = weft_safetensors_host(file);
    const size_t most = tensor->elements < CHECKED ? (size_t)tensor->elements : CHECKED;
    float *block = weft_alloc(host, most * sizeof *block);
    weft_status status = most > 0 && !block ? weft_fail_memory(host, tensor->name) : WEFT_OK;
    for (uint64_t done = 0; status == WEFT_OK && done < tensor->elements; done += most) {
        const uint64_t left = tensor->elements - done;
        const size_t count = left < most ? (size_t)left : most;
        status = weft_safetensors_read_f32(file, tensor, done, count, block);
        status = status == WEFT_OK ? check_block(file, tensor, done, block, count) : status;
    }
    weft_free(host, block);
    return status;
}

/* ---- whole numbers ---- */

#define WHOLE ((uint64_t)2048) /* numbers at once */

weft_status weft_safetensors_read_i32(const weft_safetensors *file,
                                      const weft_safetensors_tensor *tensor, uint64_t first,
                                      uint64_t count, int32_t *out) {
    uint8_t bytes[WHOLE * sizeof(int64_t)];
    const size_t size = weft_safetensors_dtype_size(tensor->dtype);
    for (uint64_t done = 0; done < count; done += WHOLE) {
        const size_t piece = (size_t)(count - done < WHOLE ? count - done : WHOLE);
        WEFT_TRY(weft_safetensors_read(file, tensor, (first + done) * size, bytes, piece * size));
        for (size_t i = 0; i < piece; i++) {
            const uint64_t bits = weft_load_bytes(bytes + i * size, size);
            const int32_t value = (int32_t)(uint32_t)bits;
            if (size == sizeof bits && (uint64_t)(int64_t)value != bits) {
                return weft_fail(weft_safetensors_host(file), WEFT_BAD_FILE,
                                 "%s: tensor " NAME ": expected numbers that i32 can hold, found "
                                 "%" PRId64 " at index %" PRIu64,
                                 weft_safetensors_path(file), tensor->name, (int64_t)bits,
                                 first + done + i);
            }
            out[done + i] = value;
        }
    }
    return WEFT_OK;
}

weft_status weft_safetensors_check_i32(const weft_safetensors *file,
                                       const weft_safetensors_tensor *tensor) {
    int32_t block[WHOLE];
    for (uint64_t done = 0; done < tensor->elements; done += WHOLE) {
        const uint64_t left = tensor->elements - done;
        WEFT_TRY(weft_safetensors_read_i32(file, tensor, done, left < WHOLE ? left : WHOLE, block));
    }
    return WEFT_OK;
}
