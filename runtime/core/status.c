/* SPDX-License-Identifier: MIT */
#include <weft/weft.h>

#include <inttypes.h>
#include <stdio.h>

#define TEXT_OF(value)   #value
#define VERSION(a, b, c) TEXT_OF(a) "." TEXT_OF(b) "." TEXT_OF(c)

const char *weft_status_name(weft_status status) {
    switch (status) {
    case WEFT_OK:
        return "WEFT_OK";
    case WEFT_INVALID_ARGUMENT:
        return "WEFT_INVALID_ARGUMENT";
    case WEFT_SHAPE_MISMATCH:
        return "WEFT_SHAPE_MISMATCH";
    case WEFT_NOT_FOUND:
        return "WEFT_NOT_FOUND";
    case WEFT_OUT_OF_HOST_MEMORY:
        return "WEFT_OUT_OF_HOST_MEMORY";
    case WEFT_OUT_OF_DEVICE_MEMORY:
        return "WEFT_OUT_OF_DEVICE_MEMORY";
    case WEFT_NO_DEVICE:
        return "WEFT_NO_DEVICE";
    case WEFT_UNSUPPORTED:
        return "WEFT_UNSUPPORTED";
    case WEFT_DEVICE_LOST:
        return "WEFT_DEVICE_LOST";
    case WEFT_BAD_FILE:
        return "WEFT_BAD_FILE";
    case WEFT_IO_ERROR:
        return "WEFT_IO_ERROR";
    case WEFT_COMPILE_ERROR:
        return "WEFT_COMPILE_ERROR";
    case WEFT_DRIVER_ERROR:
        return "WEFT_DRIVER_ERROR";
    case WEFT_CANCELLED:
        return "WEFT_CANCELLED";
    case WEFT_STATUS_COUNT:
        break;
    }
    return "unknown weft_status";
}

const char *weft_version(void) {
    return VERSION(WEFT_VERSION_MAJOR, WEFT_VERSION_MINOR, WEFT_VERSION_PATCH);
}

const char *weft_dtype_name(weft_dtype dtype) {
    switch (dtype) {
    case WEFT_F32:
        return "f32";
    case WEFT_I32:
        return "i32";
    case WEFT_F16:
        return "f16";
    case WEFT_U8:
        return "u8";
    }
    return "unknown weft_dtype";
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
