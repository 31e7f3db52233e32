/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/try.h"
#include "graph/graph.h"
#include "model/layout.h"

/* Columns of the whole that have the elements first … of the result, of which each column is a row. */
struct columns {
    uint64_t rows, begin, end;
    uint64_t first, count;
    size_t size; /* of an element as it is stored */
};

/* Where the result has the elements of a row of the whole, if it is they that are read. */
static void scatter(char *out, const char *line, const struct columns *columns, uint64_t row) {
    for (uint64_t column = columns->begin; column < columns->end; column++) {
        const uint64_t index = column * columns->rows + row;
        if (index >= columns->first && index - columns->first < columns->count) {
            memcpy(out + (index - columns->first) * columns->size,
                   line + (column - columns->begin) * columns->size, columns->size);
        }
    }
}

static weft_status read_columns(const weft_weight *whole, const struct columns *columns,
                                char *out) {
    const uint64_t width = whole->shape.dim[1];
    const uint64_t count = columns->end - columns->begin;
    char *line = weft_alloc(&whole->host, (size_t)count * columns->size);
    if (!line) {
        return weft_fail_memory(&whole->host, whole->name);
    }
    weft_status status = WEFT_OK;
    for (uint64_t row = 0; row < columns->rows && status == WEFT_OK; row++) {
        status = weft_weight_read_stored(whole, row * width + columns->begin, count, line);
        if (status == WEFT_OK) {
            scatter(out, line, columns, row);
        }
    }
    weft_free(&whole->host, line);
    return status;
}

static weft_status read_transposed(void *user, uint64_t first, uint64_t count, void *out) {
    const weft_weight *whole = user;
    const uint64_t rows = whole->shape.dim[0];
    const struct columns columns = {.rows = rows,
                                    .begin = first / rows,
                                    .end = (first + count + rows - 1) / rows,
                                    .first = first,
                                    .count = count,
                                    .size = weft_weight_element_size(whole)};
    return count > 0 ? read_columns(whole, &columns, out) : WEFT_OK;
}

static void release_whole(void *user) {
    weft_weight *whole = user;
    weft_weight_destroy(&whole);
}

weft_status weft_weight_transposed_of(weft_weight **out, weft_weight *weight) {
    const weft_shape shape = weft_shape_of(weight->shape.dim[1], weight->shape.dim[0]);
    weft_weight *whole = weft_weight_retain(weight);
    const weft_status status =
        weft_weight_create_read(out,
                                weft_weight_params(.name = weight->name, .dtype = WEFT_F32,
                                                   .shape = shape, .stored = weight->stored,
                                                   .release = release_whole, .release_user = whole),
                                read_transposed, &weight->host);
    if (status != WEFT_OK) {
        weft_weight_destroy(&whole);
    }
    return status;
}
