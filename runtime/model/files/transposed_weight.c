/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/try.h"
#include "graph/graph.h"
#include "model/files/transposed_weight.h"

/* Elements of a row of the whole that lie in columns first … of it go where the result has them. */
static weft_status read_columns(const weft_weight *whole, uint64_t first, uint64_t count,
                                char *out) {
    const weft_host *host = &whole->host;
    const uint64_t rows = whole->shape.dim[0];
    const uint64_t columns = whole->shape.dim[1];
    const uint64_t begin = first / rows;
    const uint64_t end = (first + count - 1) / rows + 1;
    const size_t size = weft_weight_element_size(whole);
    char *line = weft_alloc(host, (size_t)(end - begin) * size);
    if (!line) {
        return weft_fail_memory(host, whole->name);
    }
    weft_status status = WEFT_OK;
    for (uint64_t row = 0; row < rows && status == WEFT_OK; row++) {
        status = weft_weight_read_stored(whole, row * columns + begin, end - begin, line);
        for (uint64_t column = begin; column < end && status == WEFT_OK; column++) {
            const uint64_t index = column * rows + row;
            if (index >= first && index - first < count) {
                memcpy(out + (index - first) * size, line + (column - begin) * size, size);
            }
        }
    }
    weft_free(host, line);
    return status;
}

static weft_status read_transposed(void *user, uint64_t first, uint64_t count, void *out) {
    return count > 0 ? read_columns(user, first, count, out) : WEFT_OK;
}

static void release_whole(void *user) {
    weft_weight *whole = user;
    weft_weight_destroy(&whole);
}

weft_status weft_weight_transposed_of(weft_weight **out, weft_weight *weight) {
    const weft_shape shape = weft_shape_of(weight->shape.dim[1], weight->shape.dim[0]);
    weft_weight *whole = weft_weight_retain(weight); /* its scales are copied */
    const weft_status status = weft_weight_create_read(
        out,
        weft_weight_params(.name = weight->name, .dtype = WEFT_F32, .shape = shape,
                           .release = release_whole, .release_user = whole,
                           .stored = weight->stored, .scales = weight->scales,
                           .scale_columns = !weight->scale_columns),
        read_transposed, &weight->host);
    if (status != WEFT_OK) {
        weft_weight_destroy(&whole);
    }
    return status;
}

const weft_weight *weft_weight_transposed_from(const weft_weight *weight) {
    return weight->read == read_transposed ? weight->release_user : NULL;
}
