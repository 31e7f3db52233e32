/* SPDX-License-Identifier: MIT */
/* Copies keep every bit: also those of subnormals and of NaN. */
#include <stdio.h>
#include <string.h>

#include "verify/bounded.h"

#define ELEMENT 4 /* bytes */

struct row {
    weft_values values;
    uint32_t batch, n, d; /* what is copied is of x [batch, n, d] */
};

/* Token 1 of each sequence. */
static void build_gather(weft_case *c, const struct row *row) {
    weft_array x = weft_case_input(c, "x", weft_shape_of(row->batch, row->n, row->d), row->values);
    weft_tensor y = {0};
    weft_case_check(c, weft_graph_gather(&y, c->graph, x.tensor, 1));
    weft_case_output(c, "y", y);
    uint64_t count = (uint64_t)row->batch * row->d;
    uint32_t *words =
        c->ref.status == WEFT_OK ? weft_alloc(&c->ref.host, (size_t)count * ELEMENT) : NULL;
    if (c->ref.status == WEFT_OK && !words) {
        weft_case_check(c, weft_fail_memory(&c->ref.host, "the words of a copy"));
    }
    for (uint64_t i = 0; words && i < count; i++) {
        const uint32_t *source = x.data;
        words[i] = source[(i / row->d * row->n + 1) * row->d + i % row->d];
    }
    weft_case_expect_words(c, words);
    weft_free(&c->ref.host, words);
}

static void build_reshape(weft_case *c, const struct row *row) {
    weft_array x = weft_case_input(c, "x", weft_shape_of(row->batch, row->n, row->d), row->values);
    weft_tensor y = {0};
    weft_case_check(
        c, weft_graph_reshape(&y, c->graph, x.tensor, weft_shape_of(row->d, row->n * row->batch)));
    weft_case_output(c, "y", y);
    weft_case_expect_words(c, x.data);
    weft_case_output(c, "x-again", x.tensor);
    weft_case_expect_words(c, x.data);
}

/* Token 1 of a single sequence, under another shape. */
static void build_reshape_of_gather(weft_case *c, const struct row *row) {
    weft_array x = weft_case_input(c, "x", weft_shape_of(1, row->n, row->d), row->values);
    weft_tensor y = {0};
    weft_case_check(c, weft_graph_gather(&y, c->graph, x.tensor, 1));
    weft_case_check(c, weft_graph_reshape(&y, c->graph, y, weft_shape_of(row->d, 1)));
    weft_case_output(c, "y", y);
    weft_case_expect_words(c, (const uint32_t *)x.data + row->d);
}

/* Zeros behind the lengths, the last of which is 1. */
static void build_mask(weft_case *c, const struct row *row) {
    const weft_shape shape = weft_shape_of(row->batch, row->n, row->d);
    weft_array x = weft_case_input(c, "x", shape, row->values);
    weft_array lengths =
        weft_case_indices(c, "lengths", weft_shape_of(row->batch), 1, (int32_t)row->n);
    weft_tensor y = {0};
    weft_case_check(c, weft_graph_mask(&y, c->graph, x.tensor, lengths.tensor));
    weft_case_output(c, "y", y);
    const uint64_t size = (uint64_t)row->n * row->d;
    uint32_t *words = weft_reference_memory(&c->ref, row->batch * size, sizeof *words);
    for (uint64_t i = 0; words && c->ref.status == WEFT_OK && i < row->batch * size; i++) {
        const uint32_t *source = x.data;
        const uint64_t token = i % size / row->d;
        words[i] = (double)token < lengths.value[i / size] ? source[i] : 0;
    }
    weft_case_expect_words(c, words);
}

/* Gathers the last counted token of each sequence. */
static void build_gather_last(weft_case *c, const struct row *row) {
    const weft_shape shape = weft_shape_of(row->batch, row->n, row->d);
    weft_array x = weft_case_input(c, "x", shape, row->values);
    weft_array lengths =
        weft_case_indices(c, "lengths", weft_shape_of(row->batch), 1, (int32_t)row->n);
    weft_tensor y = {0};
    weft_case_check(c, weft_graph_gather_last(&y, c->graph, x.tensor, lengths.tensor));
    weft_case_output(c, "y", y);
    uint32_t *words = weft_reference_memory(&c->ref, (uint64_t)row->batch * row->d, sizeof *words);
    for (uint32_t b = 0; words && c->ref.status == WEFT_OK && b < row->batch; b++) {
        const uint32_t token = b * row->n + (uint32_t)lengths.value[b] - 1;
        memcpy(words + (uint64_t)b * row->d, (const uint32_t *)x.data + (uint64_t)token * row->d,
               row->d * sizeof *words);
    }
    weft_case_expect_words(c, words);
}

static void build_constant(weft_case *c, const struct row *row) {
    weft_shape shape = weft_shape_of(row->batch, row->n, row->d);
    weft_array w = weft_case_weight(c, shape, row->values);
    weft_tensor y = {0};
    weft_case_check(
        c, weft_graph_reshape(&y, c->graph, w.tensor, weft_shape_of(row->batch * row->n, row->d)));
    weft_case_output(c, "y", y);
    weft_case_expect_words(c, w.data);
}

static const struct copy {
    const char *name;
    void (*build)(weft_case *c, const struct row *row);
    struct row row;
} copies[] = {
    {"gather", build_gather, {WEFT_VALUES_EDGES, 3, 5, WEFT_EDGE_COUNT}},
    {"gather", build_gather, {WEFT_VALUES_SUBNORMAL, 2, 3, 129}},
    {"gather", build_gather, {WEFT_VALUES_NAN, 37, 2, 9}},
    {"reshape/input", build_reshape, {WEFT_VALUES_EDGES, 2, 3, WEFT_EDGE_COUNT}},
    {"reshape/input", build_reshape, {WEFT_VALUES_NAN, 1, 300, 3}},
    {"reshape/result", build_reshape_of_gather, {WEFT_VALUES_EDGES, 1, 2, 2 * WEFT_EDGE_COUNT}},
    {"reshape/constant", build_constant, {WEFT_VALUES_EDGES, 2, 2, WEFT_EDGE_COUNT}},
    {"mask", build_mask, {WEFT_VALUES_EDGES, 3, 5, WEFT_EDGE_COUNT}},
    {"mask", build_mask, {WEFT_VALUES_NAN, 2, 300, 7}},
    {"mask", build_mask, {WEFT_VALUES_SUBNORMAL, 2, 9, 1}},
    {"gather_last", build_gather_last, {WEFT_VALUES_EDGES, 3, 5, WEFT_EDGE_COUNT}},
    {"gather_last", build_gather_last, {WEFT_VALUES_NAN, 7, 131, 9}},
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct row *row = &copies[index].row;
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s/n=%u,d=%u,batch=%u", copies[index].name,
             weft_values_name(row->values), row->n, row->d, row->batch);
}

static void build(weft_case *c, uint32_t index) {
    copies[index].build(c, &copies[index].row);
}

WEFT_SPECIAL_FAMILY(copies, WEFT_COUNT(copies), WEFT_TOLERANCE_BITS, name_case, build);
