/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/try.h"
#include "graph/graph.h"
#include "model/files/rearranged_weight.h"

/* Matrices [rows, columns] in a whole, from `offset` on, of which some columns are the rows of another. */
struct columns {
    const weft_weight *whole;
    uint64_t offset, rows, columns;
    uint64_t first, step; /* of the columns */
};

/* Elements of a row of the whole that lie in elements first … of the other go where it has them. */
static weft_status read_columns(const struct columns *from, uint64_t first, uint64_t count,
                                char *out) {
    const weft_host *host = &from->whole->host;
    const uint64_t begin = first / from->rows;
    const uint64_t end = (first + count - 1) / from->rows + 1;
    const uint64_t some = (end - begin - 1) * from->step + 1;
    const uint64_t start = from->offset + from->first + begin * from->step;
    const size_t size = weft_weight_element_size(from->whole);
    char *line = weft_alloc(host, (size_t)some * size);
    if (!line) {
        return weft_fail_memory(host, from->whole->name);
    }
    weft_status status = WEFT_OK;
    for (uint64_t row = 0; row < from->rows && status == WEFT_OK; row++) {
        status = weft_weight_read_stored(from->whole, start + row * from->columns, some, line);
        for (uint64_t i = begin; i < end && status == WEFT_OK; i++) {
            const uint64_t index = i * from->rows + row;
            if (index >= first && index - first < count) {
                memcpy(out + (index - first) * size, line + (i - begin) * from->step * size, size);
            }
        }
    }
    weft_free(host, line);
    return status;
}

static weft_status read_transposed(void *user, uint64_t first, uint64_t count, void *out) {
    const weft_weight *whole = user;
    const struct columns from = {
        .whole = whole, .rows = whole->shape.dim[0], .columns = whole->shape.dim[1], .step = 1};
    return count > 0 ? read_columns(&from, first, count, out) : WEFT_OK;
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

/* ---- rows ---- */

struct some_rows {
    weft_weight *whole;
    weft_host host;
    uint32_t group, first, count;
    uint64_t width; /* elements of a row */
};

/* The whole's row that is row `row` of these. */
static uint64_t whole_row(const struct some_rows *rows, uint64_t row) {
    return row / rows->count * rows->group + rows->first + row % rows->count;
}

static weft_status read_rows(void *user, uint64_t first, uint64_t count, void *out) {
    const struct some_rows *rows = user;
    const size_t size = weft_weight_element_size(rows->whole);
    const uint64_t block = rows->count * rows->width; /* elements that lie one behind the other */
    char *at = out;
    while (count > 0) {
        const uint64_t in_block = first % block;
        const uint64_t some = block - in_block < count ? block - in_block : count;
        const uint64_t from = whole_row(rows, first / block * rows->count) * rows->width + in_block;
        WEFT_TRY(weft_weight_read_stored(rows->whole, from, some, at));
        first += some;
        count -= some;
        at += some * size;
    }
    return WEFT_OK;
}

static void release_rows(void *user) {
    struct some_rows *rows = user;
    const weft_host host = rows->host;
    weft_weight_destroy(&rows->whole);
    weft_free(&host, rows);
}

/* Scales of rows, if the whole has any: null without memory, too. */
static float *scales_of(const struct some_rows *rows, uint32_t count) {
    float *scales = weft_alloc(&rows->host, count * sizeof *scales);
    for (uint32_t i = 0; scales && i < count; i++) {
        scales[i] = rows->whole->scales[whole_row(rows, i)];
    }
    return scales;
}

static weft_status create_rows(weft_weight **out, struct some_rows *rows, weft_shape shape) {
    const weft_weight *whole = rows->whole;
    const bool own = whole->scales && !whole->scale_columns;
    float *scales = own ? scales_of(rows, shape.dim[0]) : NULL;
    if (own && !scales) {
        return weft_fail_memory(&rows->host, whole->name);
    }
    const weft_status status = weft_weight_create_read(
        out,
        weft_weight_params(.name = whole->name, .dtype = WEFT_F32, .shape = shape,
                           .release = release_rows, .release_user = rows, .stored = whole->stored,
                           .scales = own ? scales : whole->scales,
                           .scale_columns = whole->scale_columns),
        read_rows, &rows->host);
    weft_free(&rows->host, scales);
    return status;
}

weft_status weft_weight_rows_of(weft_weight **out, weft_weight *whole, weft_shape shape,
                                uint32_t group, uint32_t first, uint32_t count) {
    struct some_rows *rows = weft_alloc_zero(&whole->host, 1, sizeof *rows);
    if (!rows) {
        return weft_fail_memory(&whole->host, whole->name);
    }
    *rows = (struct some_rows){.whole = weft_weight_retain(whole),
                               .host = whole->host,
                               .group = group,
                               .first = first,
                               .count = count,
                               .width = weft_shape_elements(shape) / shape.dim[0]};
    const weft_status status = create_rows(out, rows, shape);
    if (status != WEFT_OK) {
        release_rows(rows);
    }
    return status;
}

/* ---- columns of several matrices ---- */

struct turned {
    weft_weight *whole;
    weft_host host;
    struct weft_turned_rows rows;
};

static weft_status read_turned(void *user, uint64_t first, uint64_t count, void *out) {
    const struct turned *turned = user;
    const struct weft_turned_rows *own = &turned->rows;
    const uint64_t group = (uint64_t)own->count * own->rows; /* elements of a matrix of these */
    const size_t size = weft_weight_element_size(turned->whole);
    char *at = out;
    while (count > 0) {
        const uint64_t number = first / group, in_group = first % group;
        const uint64_t some = group - in_group < count ? group - in_group : count;
        const struct columns from = {.whole = turned->whole,
                                     .offset = number * own->rows * own->columns,
                                     .rows = own->rows,
                                     .columns = own->columns,
                                     .first = own->first,
                                     .step = own->step};
        WEFT_TRY(read_columns(&from, in_group, some, at));
        first += some;
        count -= some;
        at += some * size;
    }
    return WEFT_OK;
}

static void release_turned(void *user) {
    struct turned *turned = user;
    const weft_host host = turned->host;
    weft_weight_destroy(&turned->whole);
    weft_free(&host, turned);
}

weft_status weft_weight_turned_rows_of(weft_weight **out, weft_weight *whole, weft_shape shape,
                                       const struct weft_turned_rows *rows) {
    if (whole->scales) {
        return weft_fail(&whole->host, WEFT_UNSUPPORTED,
                         "tensor \"%s\": expected numbers, found bytes with scales", whole->name);
    }
    struct turned *turned = weft_alloc_zero(&whole->host, 1, sizeof *turned);
    if (!turned) {
        return weft_fail_memory(&whole->host, whole->name);
    }
    *turned =
        (struct turned){.whole = weft_weight_retain(whole), .host = whole->host, .rows = *rows};
    const weft_status status =
        weft_weight_create_read(out,
                                weft_weight_params(.name = whole->name, .dtype = WEFT_F32,
                                                   .shape = shape, .release = release_turned,
                                                   .release_user = turned, .stored = whole->stored),
                                read_turned, &whole->host);
    if (status != WEFT_OK) {
        release_turned(turned);
    }
    return status;
}

/* ---- back ---- */

const weft_weight *weft_weight_rearranged_from(bool *transposed, const weft_weight *weight) {
    *transposed = weight->read == read_transposed;
    if (weight->read == read_rows) {
        const struct some_rows *rows = weight->release_user;
        return rows->whole;
    }
    if (weight->read == read_turned) {
        const struct turned *turned = weight->release_user;
        *transposed = true;
        return turned->whole;
    }
    return *transposed ? weight->release_user : NULL;
}
