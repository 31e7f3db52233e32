/* SPDX-License-Identifier: MIT */
#include "core/shape.h"

#include <inttypes.h>
#include <stdio.h>

const char *const weft_dtype_words[WEFT_DTYPE_COUNT] = {
    [WEFT_F32] = "f32", [WEFT_I32] = "i32", [WEFT_F16] = "f16", [WEFT_U8] = "u8"};

const char *weft_dtype_name(weft_dtype dtype) {
    return (unsigned)dtype < WEFT_DTYPE_COUNT ? weft_dtype_words[dtype] : "unknown weft_dtype";
}

uint32_t weft_dtype_size(weft_dtype dtype) {
    switch (dtype) {
    case WEFT_F32:
    case WEFT_I32:
        return 4;
    case WEFT_F16:
        return 2;
    case WEFT_U8:
        return 1;
    }
    return 0;
}

uint64_t weft_shape_elements(weft_shape shape) {
    uint64_t elements = 1;
    bool saturated = false;
    for (uint32_t axis = 0; axis < shape.rank && axis < WEFT_MAX_RANK; axis++) {
        uint64_t extent = shape.dim[axis];
        if (extent == 0) {
            return 0;
        }
        if (elements > UINT64_MAX / extent) {
            saturated = true;
        } else {
            elements *= extent;
        }
    }
    return saturated ? UINT64_MAX : elements;
}

bool weft_shape_equal(weft_shape a, weft_shape b) {
    if (a.rank != b.rank) {
        return false;
    }
    for (uint32_t axis = 0; axis < a.rank && axis < WEFT_MAX_RANK; axis++) {
        if (a.dim[axis] != b.dim[axis]) {
            return false;
        }
    }
    return true;
}

const char *weft_shape_text(weft_shape shape, char *text) {
    if (!text) {
        return "";
    }
    size_t used = 0;
    text[used++] = '[';
    for (uint32_t axis = 0; axis < shape.rank && axis < WEFT_MAX_RANK; axis++) {
        int written = snprintf(text + used, WEFT_SHAPE_TEXT_SIZE - used, "%s%" PRIu32,
                               axis > 0 ? ", " : "", shape.dim[axis]);
        used += written > 0 ? (size_t)written : 0;
    }
    text[used++] = ']';
    text[used] = '\0';
    return text;
}

weft_status weft_shape_check(weft_shape shape, const char *what, const weft_host *host) {
    char text[WEFT_SHAPE_TEXT_SIZE];
    if (shape.rank > WEFT_MAX_RANK) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT, "%s: rank %u exceeds %d", what, shape.rank,
                         WEFT_MAX_RANK);
    }
    for (uint32_t i = 0; i < shape.rank; i++) {
        if (shape.dim[i] == 0) {
            return weft_fail(host, WEFT_INVALID_ARGUMENT, "%s: axis %u of %s is 0", what, i,
                             weft_shape_text(shape, text));
        }
    }
    if (weft_shape_elements(shape) > WEFT_MAX_ELEMENTS) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT, "%s: %s has more than 2^31 elements", what,
                         weft_shape_text(shape, text));
    }
    return WEFT_OK;
}

const char *weft_extents_text(char *text, size_t size, const uint64_t *extents, uint32_t rank) {
    size_t used = (size_t)snprintf(text, size, "[");
    for (uint32_t axis = 0; axis < rank; axis++) {
        used += (size_t)snprintf(text + used, size - used, "%s%" PRIu64, axis > 0 ? ", " : "",
                                 extents[axis]);
    }
    snprintf(text + used, size - used, "]");
    return text;
}
