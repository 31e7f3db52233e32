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

const char *weft_build(void) {
    return WEFT_BUILD;
}
