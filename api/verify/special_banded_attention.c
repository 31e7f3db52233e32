/* SPDX-License-Identifier: MIT */
/* Banded attention where the range of float32 ends; what lies outside a band must not matter. */
#include <math.h>
#include <stdio.h>

#include <weft/mixers.h>

#include "verify/bounded.h"

static const struct row {
    uint32_t n, d, heads, half_width;
    bool causal;
    weft_values q, k, v;
} rows[] = {
    {37, 12, 3, 9, false, WEFT_VALUES_SUBNORMAL, WEFT_VALUES_SUBNORMAL, WEFT_VALUES_SUBNORMAL},
    {41, 8, 2, 20, false, WEFT_VALUES_TINY, WEFT_VALUES_TINY, WEFT_VALUES_TINY},
    {41, 8, 2, 20, true, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT, WEFT_VALUES_TINY},
    {37, 8, 2, 18, false, WEFT_VALUES_HUGE, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT},
    {50, 8, 2, 49, false, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT, WEFT_VALUES_HUGE},
    {50, 8, 2, 20, true, WEFT_VALUES_TENS, WEFT_VALUES_UNIT, WEFT_VALUES_HUGE},
    {67, 4, 2, 3, false, WEFT_VALUES_UNIT, WEFT_VALUES_INFINITE, WEFT_VALUES_UNIT},
    {67, 4, 2, 2, false, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT, WEFT_VALUES_INFINITE},
    {67, 4, 2, 5, true, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT, WEFT_VALUES_INFINITE},
    {67, 4, 2, 3, false, WEFT_VALUES_NAN, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT},
    {67, 4, 2, 2, true, WEFT_VALUES_UNIT, WEFT_VALUES_NAN, WEFT_VALUES_UNIT},
    {67, 4, 2, 2, false, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT, WEFT_VALUES_NAN},
    {67, 3, 3, 1, false, WEFT_VALUES_EQUAL, WEFT_VALUES_MASKED, WEFT_VALUES_UNIT}, /* -inf alone */
    {67, 3, 3, 17, true, WEFT_VALUES_EQUAL, WEFT_VALUES_MASKED, WEFT_VALUES_UNIT},
};

#define ROWS ((uint32_t)(sizeof rows / sizeof rows[0]))

static const char *const implementations[] = {"direct", "tiled"};

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct row *row = &rows[index % ROWS];
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s%s,%s,%s/n=%u,d=%u,heads=%u,k=%u",
             implementations[index / ROWS], row->causal ? "causal/" : "", weft_values_name(row->q),
             weft_values_name(row->k), weft_values_name(row->v), row->n, row->d, row->heads,
             row->half_width);
}

struct sequences {
    weft_bounded *out, *q, *k, *v;
    weft_bounded *weights; /* [n] */
};

/*
 * The kernels multiply all weights by a power of two, at least half of 1 / (keys in a band), and
 * divide at the end, so that products with v underflow further up.
 */
static weft_bounded with_underflow(weft_bounded value, const struct row *row, double count) {
    double keys = 2.0 * row->half_width + 1.0;
    if (isfinite(value.value) && value.error > 0.0) {
        value.error += 2.0 * keys * count * 0x1p-126;
    }
    return value;
}

/* One query and one head, whose first channel is `first`. */
static void attend(const struct sequences *s, const struct row *row, uint32_t query,
                   uint64_t first) {
    const uint64_t d = row->d;
    const uint64_t width = row->d / row->heads;
    const weft_bounded scale = weft_bounded_parameter((float)(1.0 / sqrt((double)width)));
    const uint32_t begin = query > row->half_width ? query - row->half_width : 0;
    const uint32_t last = row->causal ? query : query + row->half_width;
    const uint32_t count = (last < row->n ? last + 1 : row->n) - begin;
    for (uint64_t j = 0; j < count; j++) {
        weft_bounded_sum sum = {0};
        for (uint64_t i = first; i < first + width; i++) {
            weft_bounded_sum_add_product(&sum, s->q[query * d + i], s->k[(begin + j) * d + i]);
        }
        s->weights[j] = weft_bounded_multiply(scale, weft_bounded_sum_end(&sum));
    }
    weft_bounded_softmax(s->weights, s->weights, 1, count);
    for (uint64_t i = first; i < first + width; i++) {
        weft_bounded_sum sum = {0};
        for (uint64_t j = 0; j < count; j++) {
            weft_bounded_sum_add_product(&sum, s->weights[j], s->v[(begin + j) * d + i]);
        }
        s->out[query * d + i] = with_underflow(weft_bounded_sum_end(&sum), row, count);
    }
}

static void expect(weft_case *c, const struct row *row, const weft_array arrays[3]) {
    const uint64_t size = (uint64_t)row->n * row->d;
    struct sequences s = {.out = weft_bounded_scratch(c, size),
                          .q = weft_bounded_of(c, arrays[0].value, size),
                          .k = weft_bounded_of(c, arrays[1].value, size),
                          .v = weft_bounded_of(c, arrays[2].value, size),
                          .weights = weft_bounded_scratch(c, row->n)};
    for (uint32_t part = 0; c->ref.status == WEFT_OK && part < row->n * row->heads; part++) {
        uint32_t head = part % row->heads;
        attend(&s, row, part / row->heads, (uint64_t)head * (row->d / row->heads));
    }
    weft_bounded_expect(c, s.out);
}

static void build(weft_case *c, uint32_t index) {
    const struct row *row = &rows[index % ROWS];
    weft_shape shape = weft_shape_of(1, row->n, row->d);
    c->implementation = implementations[index / ROWS];
    c->seed = index % ROWS; /* the same input for both */
    weft_array arrays[3];
    arrays[0] = weft_case_input(c, "q", shape, row->q);
    arrays[1] = weft_case_input(c, "k", shape, row->k);
    arrays[2] = weft_case_input(c, "v", shape, row->v);
    weft_tensor y = {0};
    weft_case_check(c, weft_graph_banded_attention(
                           &y, c->graph, arrays[0].tensor, arrays[1].tensor, arrays[2].tensor,
                           weft_banded_attention_params(.heads = row->heads, .causal = row->causal,
                                                        .half_width = row->half_width)));
    weft_case_output(c, "y", y);
    expect(c, row, arrays);
}

const weft_case_family weft_family_special_banded_attention = {
    .name = "special/banded_attention",
    .count = ROWS * (uint32_t)(sizeof implementations / sizeof implementations[0]),
    .tolerance = WEFT_TOLERANCE_EXPONENTIAL,
    .only_reproducible = true,
    .name_case = name_case,
    .build = build};
