/* SPDX-License-Identifier: MIT */
/* Permutations, slices, broadcasting, concatenations and padding: every bit of x where the formula for its place says. */
#include <stdio.h>
#include <string.h>

#include <weft/movement.h>

#include "verify/moved.h"

static weft_array input_of(weft_case *c, const char *name, weft_shape shape, weft_values values) {
    return values == WEFT_VALUES_COUNT ? weft_case_indices(c, name, shape, -7, 7)
                                       : weft_case_input(c, name, shape, values);
}

static const char *values_text(weft_values values) {
    return values == WEFT_VALUES_COUNT ? "i32" : weft_values_name(values);
}

#define I32 WEFT_VALUES_COUNT

/* ---- permute ---- */

static const struct permutation {
    weft_shape shape, axes;
    weft_values values;
} permutations[] = {
    {{1, {1}}, {1, {0}}, WEFT_VALUES_UNIT},
    {{2, {37, 129}}, {2, {1, 0}}, WEFT_VALUES_UNIT},
    {{2, {1021, 5}}, {2, {1, 0}}, WEFT_VALUES_MIXED},
    {{2, {128, 64}}, {2, {1, 0}}, WEFT_VALUES_LARGE},
    {{2, {1, 300}}, {2, {1, 0}}, WEFT_VALUES_NAN},
    {{3, {3, 31, 37}}, {3, {0, 2, 1}}, WEFT_VALUES_NAN},
    {{3, {5, 64, 96}}, {3, {0, 2, 1}}, I32},
    {{3, {7, 11, 13}}, {3, {2, 0, 1}}, WEFT_VALUES_EDGES},
    {{3, {7, 1, 13}}, {3, {1, 0, 2}}, WEFT_VALUES_ZEROS},
    {{4, {2, 37, 4, 16}}, {4, {0, 2, 1, 3}}, WEFT_VALUES_SUBNORMAL},
    {{4, {3, 5, 2, 9}}, {4, {3, 2, 1, 0}}, WEFT_VALUES_UNIT},
    {{5, {2, 3, 5, 3, 7}}, {5, {0, 3, 1, 4, 2}}, I32},
    {{6, {2, 3, 4, 5, 2, 3}}, {6, {0, 3, 1, 4, 2, 5}}, WEFT_VALUES_UNIT},
    {{7, {2, 3, 2, 3, 2, 3, 5}}, {7, {6, 4, 2, 0, 5, 3, 1}}, WEFT_VALUES_MIXED},
    {{8, {2, 3, 2, 3, 2, 3, 2, 5}}, {8, {7, 6, 5, 4, 3, 2, 1, 0}}, WEFT_VALUES_NAN},
    {{8, {1, 1, 6, 1, 35, 1, 4, 1}}, {8, {7, 4, 0, 6, 1, 2, 3, 5}}, WEFT_VALUES_UNIT},
};

static void name_permutation(char text[WEFT_CASE_NAME_SIZE], const struct permutation *row) {
    char shape[WEFT_MOVED_TEXT];
    char axes[WEFT_MOVED_TEXT];
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s/axes=%s", values_text(row->values),
             weft_moved_text(shape, row->shape), weft_moved_text(axes, row->axes));
}

static uint64_t permuted(const uint32_t *at, weft_shape x, const void *user) {
    const struct permutation *row = user;
    uint32_t place[WEFT_MAX_RANK] = {0};
    for (uint32_t i = 0; i < x.rank; i++) {
        place[row->axes.dim[i]] = at[i];
    }
    return weft_moved_place(place, x);
}

static void build_permutation(weft_case *c, const struct permutation *row) {
    weft_array x = input_of(c, "x", row->shape, row->values);
    weft_tensor y = {0};
    weft_shape shape = row->shape;
    for (uint32_t i = 0; i < shape.rank; i++) {
        shape.dim[i] = row->shape.dim[row->axes.dim[i]];
    }
    weft_case_check(c, weft_graph_permute(&y, c->graph, x.tensor, row->axes));
    weft_moved_expect(c, y, shape, &x, permuted, row);
}

WEFT_CASE_TABLE(permute, permutations, WEFT_TOLERANCE_BITS, name_permutation, build_permutation);

/* ---- slice ---- */

static const struct slice {
    weft_shape shape;
    uint32_t axis, start, count;
    int32_t step;
    weft_values values;
} slices[] = {
    {{1, {1}}, 0, 0, 1, 1, WEFT_VALUES_UNIT},
    {{1, {1021}}, 0, 1020, 1021, -1, WEFT_VALUES_NAN},
    {{1, {300}}, 0, 7, 97, 3, I32},
    {{2, {37, 31}}, 0, 5, 8, 4, WEFT_VALUES_UNIT},
    {{2, {37, 31}}, 0, 2, 33, 1, WEFT_VALUES_MIXED},
    {{2, {129, 96}}, 1, 32, 32, 1, WEFT_VALUES_EDGES},
    {{2, {129, 7}}, 1, 6, 1, -5, WEFT_VALUES_ZEROS},
    {{3, {3, 37, 16}}, 1, 36, 13, -3, WEFT_VALUES_SUBNORMAL},
    {{3, {5, 2, 257}}, 2, 1, 128, 2, WEFT_VALUES_LARGE},
    {{4, {2, 9, 5, 3}}, 1, 0, 9, 1, WEFT_VALUES_UNIT},
    {{8, {2, 1, 3, 2, 7, 2, 1, 3}}, 4, 6, 3, -2, I32},
};

static void name_slice(char text[WEFT_CASE_NAME_SIZE], const struct slice *row) {
    char shape[WEFT_MOVED_TEXT];
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s/axis=%u,start=%u,count=%u,step=%d",
             values_text(row->values), weft_moved_text(shape, row->shape), row->axis, row->start,
             row->count, row->step);
}

static uint64_t sliced(const uint32_t *at, weft_shape x, const void *user) {
    const struct slice *row = user;
    uint32_t place[WEFT_MAX_RANK];
    memcpy(place, at, sizeof place);
    place[row->axis] = (uint32_t)((int64_t)row->start + (int64_t)row->step * at[row->axis]);
    return weft_moved_place(place, x);
}

static void build_slice(weft_case *c, const struct slice *row) {
    weft_array x = input_of(c, "x", row->shape, row->values);
    weft_tensor y = {0};
    weft_shape shape = row->shape;
    shape.dim[row->axis] = row->count;
    weft_case_check(
        c, weft_graph_slice(&y, c->graph, x.tensor, row->axis, row->start, row->count, row->step));
    weft_moved_expect(c, y, shape, &x, sliced, row);
}

WEFT_CASE_TABLE(slice, slices, WEFT_TOLERANCE_BITS, name_slice, build_slice);

/* ---- expand ---- */

static const struct expansion {
    weft_shape from, to;
    weft_values values;
} expansions[] = {
    {{0, {0}}, {1, {1}}, WEFT_VALUES_UNIT},
    {{0, {0}}, {3, {2, 37, 5}}, WEFT_VALUES_NAN},
    {{1, {31}}, {3, {3, 37, 31}}, WEFT_VALUES_MIXED},
    {{2, {129, 1}}, {2, {129, 7}}, WEFT_VALUES_EDGES},
    {{3, {3, 1, 5}}, {4, {2, 3, 37, 5}}, I32},
    {{4, {2, 4, 1, 16}}, {4, {2, 4, 9, 16}}, WEFT_VALUES_SUBNORMAL},
    {{8, {1, 3, 1, 2, 1, 5, 1, 3}}, {8, {2, 3, 2, 2, 2, 5, 3, 3}}, WEFT_VALUES_UNIT},
    {{2, {37, 31}}, {4, {1, 1, 37, 31}}, WEFT_VALUES_LARGE},
};

static void name_expansion(char text[WEFT_CASE_NAME_SIZE], const struct expansion *row) {
    char from[WEFT_MOVED_TEXT];
    char to[WEFT_MOVED_TEXT];
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s/to=%s", values_text(row->values),
             weft_moved_text(from, row->from), weft_moved_text(to, row->to));
}

static uint64_t expanded(const uint32_t *at, weft_shape x, const void *user) {
    const struct expansion *row = user;
    uint32_t place[WEFT_MAX_RANK] = {0};
    for (uint32_t i = 0; i < x.rank; i++) {
        place[i] = x.dim[i] == 1 ? 0 : at[row->to.rank - x.rank + i];
    }
    return weft_moved_place(place, x);
}

static void build_expansion(weft_case *c, const struct expansion *row) {
    weft_array x = input_of(c, "x", row->from, row->values);
    weft_tensor y = {0};
    weft_case_check(c, weft_graph_expand(&y, c->graph, x.tensor, row->to));
    weft_moved_expect(c, y, row->to, &x, expanded, row);
}

WEFT_CASE_TABLE(expand, expansions, WEFT_TOLERANCE_BITS, name_expansion, build_expansion);

/* ---- pad ---- */

static const struct padding {
    weft_shape shape;
    uint32_t axis, before, after;
    float value;
    weft_values values;
} paddings[] = {
    {{1, {1}}, 0, 0, 1, 0.0F, WEFT_VALUES_UNIT},
    {{1, {300}}, 0, 129, 0, 1.5F, WEFT_VALUES_NAN},
    {{2, {37, 31}}, 1, 1, 1, -0.0F, WEFT_VALUES_EDGES},
    {{2, {37, 31}}, 0, 0, 0, 9.0F, WEFT_VALUES_MIXED},
    {{3, {3, 37, 5}}, 1, 3, 0, 0.0F, WEFT_VALUES_SUBNORMAL},
    {{3, {5, 2, 128}}, 0, 2, 7, -1e30F, WEFT_VALUES_LARGE},
    {{4, {2, 3, 7, 9}}, 3, 0, 5, -3.0F, I32},
};

static void name_padding(char text[WEFT_CASE_NAME_SIZE], const struct padding *row) {
    char shape[WEFT_MOVED_TEXT];
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s/axis=%u,before=%u,after=%u,value=%g",
             values_text(row->values), weft_moved_text(shape, row->shape), row->axis, row->before,
             row->after, (double)row->value);
}

static uint64_t padded(const uint32_t *at, weft_shape x, const void *user) {
    const struct padding *row = user;
    uint32_t place[WEFT_MAX_RANK];
    memcpy(place, at, sizeof place);
    place[row->axis] -= row->before;
    return place[row->axis] < x.dim[row->axis] ? weft_moved_place(place, x) : WEFT_MOVED_NONE;
}

static void build_padding(weft_case *c, const struct padding *row) {
    weft_array x = input_of(c, "x", row->shape, row->values);
    weft_tensor y = {0};
    weft_shape shape = row->shape;
    shape.dim[row->axis] += row->before + row->after;
    weft_case_check(
        c, weft_graph_pad(&y, c->graph, x.tensor, row->axis, row->before, row->after, row->value));
    const bool integer = row->values == I32;
    const int32_t whole = integer ? (int32_t)row->value : 0; /* others may lie beyond integers */
    uint32_t *words = weft_moved_words(c, shape, &x, padded, row);
    for (uint64_t i = 0; words && i < weft_shape_elements(shape); i++) {
        uint32_t at[WEFT_MAX_RANK];
        weft_moved_at(at, i, shape);
        if (padded(at, x.shape, row) == WEFT_MOVED_NONE) {
            memcpy(&words[i], integer ? (const void *)&whole : &row->value, 4);
        }
    }
    weft_moved_expect_words(c, y, words);
}

WEFT_CASE_TABLE(pad, paddings, WEFT_TOLERANCE_BITS, name_padding, build_padding);

/* ---- concat ---- */

#define MOST \
    7 /* inputs: one for each buffer of the kernel; the rest of a long list is inputs again */

static const struct concatenation {
    weft_shape shape; /* but for the axis, along which input i has `step` i more */
    uint32_t axis, count, step;
    weft_values values;
} concatenations[] = {
    {{1, {1}}, 0, 1, 0, WEFT_VALUES_UNIT},
    {{1, {1}}, 0, 2, 0, WEFT_VALUES_UNIT},
    {{2, {37, 31}}, 0, 2, 5, WEFT_VALUES_NAN},
    {{2, {37, 31}}, 1, 3, 1, WEFT_VALUES_EDGES},
    {{2, {129, 1}}, 1, 7, 0, I32},
    {{3, {3, 7, 5}}, 1, 4, 3, WEFT_VALUES_SUBNORMAL},
    {{3, {2, 3, 64}}, 2, 5, 0, I32},
    {{4, {2, 3, 5, 2}}, 2, 6, 2, WEFT_VALUES_MIXED},
    {{2, {5, 3}}, 1, 8, 1, WEFT_VALUES_UNIT},
    {{2, {31, 2}}, 1, 10, 1, WEFT_VALUES_UNIT},
    {{2, {3, 2}}, 0, 23, 1, WEFT_VALUES_UNIT},
};

static void name_concatenation(char text[WEFT_CASE_NAME_SIZE], const struct concatenation *row) {
    char shape[WEFT_MOVED_TEXT];
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s/count=%u,axis=%u,step=%u", values_text(row->values),
             weft_moved_text(shape, row->shape), row->count, row->axis, row->step);
}

static void build_concatenation(weft_case *c, const struct concatenation *row) {
    weft_array x[MOST];
    weft_tensor inputs[32];
    memset(x, 0, sizeof x);
    weft_shape shape = row->shape;
    weft_tensor y = {0};
    shape.dim[row->axis] = 0;
    for (uint32_t i = 0; i < row->count; i++) {
        weft_array *own = &x[i % MOST];
        if (i < MOST) {
            char name[8];
            weft_shape of = row->shape;
            of.dim[row->axis] += i * row->step;
            snprintf(name, sizeof name, "x%u", i);
            *own = input_of(c, name, of, row->values);
        }
        inputs[i] = own->tensor;
        shape.dim[row->axis] += own->shape.dim[row->axis];
    }
    weft_case_check(c, weft_graph_concat(&y, c->graph, inputs, row->count, row->axis));
    uint32_t *words = weft_moved_words(c, shape, NULL, NULL, NULL);
    for (uint64_t i = 0; words && i < weft_shape_elements(shape); i++) {
        uint32_t at[WEFT_MAX_RANK];
        uint32_t which = 0;
        weft_moved_at(at, i, shape);
        while (at[row->axis] >= x[which % MOST].shape.dim[row->axis]) {
            at[row->axis] -= x[which++ % MOST].shape.dim[row->axis];
        }
        const weft_array *own = &x[which % MOST];
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): at least one array is given */
        words[i] = ((const uint32_t *)own->data)[weft_moved_place(at, own->shape)];
    }
    weft_moved_expect_words(c, y, words);
}

WEFT_CASE_TABLE(concat, concatenations, WEFT_TOLERANCE_BITS, name_concatenation,
                build_concatenation);

/* ---- take and take_along ---- */

static const struct taking {
    weft_shape shape, indices;
    uint32_t axis;
    weft_values values;
} takings[] = {
    {{1, {1}}, {0, {0}}, 0, WEFT_VALUES_UNIT},
    {{1, {300}}, {1, {129}}, 0, WEFT_VALUES_NAN},
    {{2, {37, 31}}, {2, {3, 5}}, 0, WEFT_VALUES_EDGES},
    {{2, {37, 31}}, {1, {7}}, 1, I32},
    {{3, {3, 37, 16}}, {1, {9}}, 1, WEFT_VALUES_SUBNORMAL},
    {{3, {5, 2, 257}}, {0, {0}}, 2, WEFT_VALUES_MIXED},
    {{4, {2, 9, 5, 3}}, {3, {2, 1, 4}}, 1, I32},
    {{5, {2, 3, 5, 2, 7}}, {4, {2, 3, 1, 2}}, 3, WEFT_VALUES_UNIT},
};

static const struct taking takings_along[] = {
    {{1, {1}}, {1, {1}}, 0, WEFT_VALUES_UNIT},
    {{1, {31}}, {1, {129}}, 0, WEFT_VALUES_NAN},
    {{2, {37, 31}}, {2, {5, 31}}, 0, WEFT_VALUES_EDGES},
    {{2, {37, 31}}, {2, {37, 1}}, 1, I32},
    {{3, {3, 37, 16}}, {3, {3, 9, 16}}, 1, WEFT_VALUES_SUBNORMAL},
    {{4, {2, 3, 5, 7}}, {4, {2, 3, 5, 11}}, 3, I32},
};

static void name_taking(char text[WEFT_CASE_NAME_SIZE], const struct taking *row) {
    char shape[WEFT_MOVED_TEXT];
    char indices[WEFT_MOVED_TEXT];
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s/indices=%s,axis=%u", values_text(row->values),
             weft_moved_text(shape, row->shape), weft_moved_text(indices, row->indices), row->axis);
}

/* Source of an element by the formula: the row, and its indices. */
struct taken {
    const struct taking *row;
    const int32_t *indices;
};

static uint64_t taken(const uint32_t *at, weft_shape x, const void *user) {
    const struct taken *t = user;
    const uint32_t axis = t->row->axis;
    const uint32_t more = t->row->indices.rank;
    uint32_t place[WEFT_MAX_RANK] = {0};
    for (uint32_t i = 0; i < x.rank; i++) {
        place[i] = i < axis ? at[i] : i > axis ? at[i - 1 + more] : 0;
    }
    place[axis] = (uint32_t)t->indices[weft_moved_place(at + axis, t->row->indices)];
    return weft_moved_place(place, x);
}

static void build_take(weft_case *c, const struct taking *row) {
    weft_array x = input_of(c, "x", row->shape, row->values);
    weft_array indices =
        weft_case_indices(c, "indices", row->indices, 0, (int32_t)row->shape.dim[row->axis] - 1);
    const struct taken t = {row, indices.data};
    const uint32_t behind = row->shape.rank - row->axis - 1;
    weft_shape shape = row->shape;
    weft_tensor y = {0};
    memcpy(shape.dim + row->axis, row->indices.dim, row->indices.rank * sizeof *shape.dim);
    memcpy(shape.dim + row->axis + row->indices.rank, row->shape.dim + row->axis + 1,
           behind * sizeof *shape.dim);
    shape.rank += row->indices.rank - 1;
    weft_case_check(c, weft_graph_take(&y, c->graph, x.tensor, indices.tensor, row->axis));
    weft_moved_expect(c, y, shape, &x, taken, &t);
}

WEFT_CASE_TABLE(take, takings, WEFT_TOLERANCE_BITS, name_taking, build_take);

static uint64_t taken_along(const uint32_t *at, weft_shape x, const void *user) {
    const struct taken *t = user;
    uint32_t place[WEFT_MAX_RANK];
    memcpy(place, at, sizeof place);
    place[t->row->axis] = (uint32_t)t->indices[weft_moved_place(at, t->row->indices)];
    return weft_moved_place(place, x);
}

static void build_take_along(weft_case *c, const struct taking *row) {
    weft_array x = input_of(c, "x", row->shape, row->values);
    weft_array indices =
        weft_case_indices(c, "indices", row->indices, 0, (int32_t)row->shape.dim[row->axis] - 1);
    const struct taken t = {row, indices.data};
    weft_tensor y = {0};
    weft_case_check(c, weft_graph_take_along(&y, c->graph, x.tensor, indices.tensor, row->axis));
    weft_moved_expect(c, y, row->indices, &x, taken_along, &t);
}

WEFT_CASE_TABLE(take_along, takings_along, WEFT_TOLERANCE_BITS, name_taking, build_take_along);
