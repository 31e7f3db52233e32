/* SPDX-License-Identifier: MIT */
#include "core/shape.h"

#include <inttypes.h>
#include <stdio.h>

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
