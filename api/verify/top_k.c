/* SPDX-License-Identifier: MIT */
/* Where the first elements of an axis are, once it is sorted. */
#include <math.h>
#include <stdio.h>

#include "verify/paired.h"

static const struct row {
    const char *name;
    weft_shape x;
    uint32_t axis, count;
    weft_values values;
    bool smallest;
    bool whole; /* i32 */
} rows[] = {
    {"1x1/1/1", {2, {1, 1}}, 1, 1, WEFT_VALUES_UNIT, false, false},
    {"37x31/1/5", {2, {37, 31}}, 1, 5, WEFT_VALUES_UNIT, false, false},
    {"37x31/1/31", {2, {37, 31}}, 1, 31, WEFT_VALUES_UNIT, true, false},
    {"2x7x128/2/8", {3, {2, 7, 128}}, 2, 8, WEFT_VALUES_UNIT, false, false},
    {"3x67x5/1/3", {3, {3, 67, 5}}, 1, 3, WEFT_VALUES_ZEROS, false, false},
    {"3x67x5/1/67", {3, {3, 67, 5}}, 1, 67, WEFT_VALUES_EQUAL, false, false},
    {"1021x2/0/9", {2, {1021, 2}}, 0, 9, WEFT_VALUES_TENS, true, false},
    {"5x600/1/7", {2, {5, 600}}, 1, 7, WEFT_VALUES_NAN, false, false},
    {"5x131/1/131", {2, {5, 131}}, 1, 131, WEFT_VALUES_NAN, true, false},
    {"5x131/1/4", {2, {5, 131}}, 1, 4, WEFT_VALUES_INFINITE, true, false},
    {"5x131/1/4", {2, {5, 131}}, 1, 4, WEFT_VALUES_SUBNORMAL, false, false},
    {"5x131/1/2", {2, {5, 131}}, 1, 2, WEFT_VALUES_UNIT, false, true},
    {"3x61x2/1/61", {3, {3, 61, 2}}, 1, 61, WEFT_VALUES_UNIT, true, true},
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s/%s", row->smallest ? "smallest" : "largest",
             row->whole ? "i32" : weft_values_name(row->values), row->name);
}

/* True if a is before b. What float32 has for a subnormal number is 0. */
static bool is_before(double a, double b, bool smallest) {
    const bool larger = !isnan(b) && (isnan(a) || a > b);
    const bool less = !isnan(a) && (isnan(b) || a < b);
    return smallest ? less : larger;
}

static double flushed(double x) {
    return fabs(x) < 0x1p-126 ? 0.0 : x;
}

/* By insertion, of a line of `extent` elements that are `inner` apart. */
static void sort(double *out, const double *x, const struct row *row, uint64_t inner) {
    double order[1024] = {0};
    for (uint32_t i = 0; i < row->x.dim[row->axis]; i++) {
        uint32_t place = i;
        while (place > 0 &&
               is_before(flushed(x[i * inner]), flushed(x[(uint64_t)order[place - 1] * inner]),
                         row->smallest)) {
            order[place] = order[place - 1];
            place--;
        }
        order[place] = i;
    }
    for (uint32_t i = 0; i < row->count; i++) {
        out[i * inner] = order[i];
    }
}

static void build(weft_case *c, const struct row *row) {
    const weft_array x = row->whole ? weft_case_indices(c, "x", row->x, -1000, 1000)
                                    : weft_case_input(c, "x", row->x, row->values);
    const weft_reference_axis axis = weft_reference_axis_of(row->x, row->axis);
    weft_shape shape = row->x;
    weft_tensor tensor = {0};
    double *out;
    shape.dim[row->axis] = row->count;
    const weft_status status = WEFT_CASE_ADD(
        c, weft_graph_top_k(&tensor, c->graph, x.tensor, row->axis, row->count, row->smallest));
    weft_array y = weft_case_made(c, status, tensor, shape, false, &out);
    for (uint64_t line = 0; out && line < axis.outer * axis.inner; line++) {
        const uint64_t outer = line / axis.inner, inner = line % axis.inner;
        sort(out + outer * row->count * axis.inner + inner,
             x.value + outer * axis.extent * axis.inner + inner, row, axis.inner);
    }
    weft_case_expect(c, "y", y);
}

WEFT_CASE_TABLE(top_k, rows, WEFT_TOLERANCE_BITS, name_case, build);
