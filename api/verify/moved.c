/* SPDX-License-Identifier: MIT */
#include "verify/moved.h"

#include <stdio.h>
#include <string.h>

#include <weft/movement.h>

const char *weft_moved_text(char *text, weft_shape shape) {
    size_t length = 0;
    snprintf(text, WEFT_MOVED_TEXT, "scalar");
    for (uint32_t i = 0; i < shape.rank; i++) {
        length += (size_t)snprintf(text + length, WEFT_MOVED_TEXT - length, i ? "x%u" : "%u",
                                   shape.dim[i]);
    }
    return text;
}

void weft_moved_at(uint32_t at[WEFT_MAX_RANK], uint64_t i, weft_shape shape) {
    memset(at, 0, WEFT_MAX_RANK * sizeof *at);
    for (uint32_t axis = shape.rank; axis-- > 0; i /= shape.dim[axis]) {
        at[axis] = (uint32_t)(i % shape.dim[axis]);
    }
}

uint64_t weft_moved_place(const uint32_t *at, weft_shape shape) {
    uint64_t place = 0;
    for (uint32_t axis = 0; axis < shape.rank; axis++) {
        place = place * shape.dim[axis] + at[axis];
    }
    return place;
}

uint32_t *weft_moved_words(weft_case *c, weft_shape shape, const weft_array *x,
                           weft_moved_from from, const void *user) {
    const uint64_t count = weft_shape_elements(shape);
    uint32_t *words =
        c->ref.status == WEFT_OK ? weft_reference_memory(&c->ref, count, sizeof *words) : NULL;
    for (uint64_t i = 0; words && x && i < count; i++) {
        uint32_t at[WEFT_MAX_RANK];
        weft_moved_at(at, i, shape);
        const uint64_t place = from(at, x->shape, user);
        words[i] = place == WEFT_MOVED_NONE ? 0 : ((const uint32_t *)x->data)[place];
    }
    return words;
}

void weft_moved_expect_words(weft_case *c, weft_tensor y, const uint32_t *words) {
    if (words) {
        weft_case_output(c, "y", y);
        weft_case_expect_words(c, words);
    }
}

void weft_moved_expect(weft_case *c, weft_tensor y, weft_shape shape, const weft_array *x,
                       weft_moved_from from, const void *user) {
    weft_moved_expect_words(c, y, weft_moved_words(c, shape, x, from, user));
}

weft_array weft_case_permute(weft_case *c, weft_array x, weft_shape axes) {
    weft_tensor tensor = {0};
    weft_shape shape = x.shape;
    double *out;
    for (uint32_t i = 0; i < axes.rank; i++) {
        shape.dim[i] = x.shape.dim[axes.dim[i]];
    }
    const weft_status status =
        WEFT_CASE_ADD(c, weft_graph_permute(&tensor, c->graph, x.tensor, axes));
    weft_array y = weft_case_made(c, status, tensor, shape, false, &out);
    for (uint64_t i = 0; out && i < weft_shape_elements(shape); i++) {
        uint32_t at[WEFT_MAX_RANK];
        uint32_t place[WEFT_MAX_RANK] = {0};
        weft_moved_at(at, i, shape);
        for (uint32_t axis = 0; axis < axes.rank; axis++) {
            place[axes.dim[axis]] = at[axis];
        }
        out[i] = x.value[weft_moved_place(place, x.shape)];
    }
    return y;
}
