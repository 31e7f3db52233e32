/* SPDX-License-Identifier: MIT */
/* The mixers: Fourier by each implementation, and softmax attention. */
#include <math.h>
#include <stdio.h>

#include "verify/bounded.h"
#include "verify/paired.h"

/* ---- Fourier, on shapes that the family "fourier" has too: new ones take long to compile ---- */

static const struct fourier_row {
    uint32_t n, d, batch;
    weft_values values;
} fourier_rows[] = {
    {31, 37, 2, WEFT_VALUES_SUBNORMAL}, {31, 37, 2, WEFT_VALUES_TINY}, {5, 7, 3, WEFT_VALUES_HUGE},
    {5, 7, 3, WEFT_VALUES_INFINITE},    {5, 7, 3, WEFT_VALUES_NAN},    {5, 7, 3, WEFT_VALUES_ZEROS},
};

#define FOURIER_ROWS WEFT_COUNT(fourier_rows)

static const char *const transforms[] = {"fft", "matrix", "fft_matrix"};

static void name_fourier(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct fourier_row *row = &fourier_rows[index % FOURIER_ROWS];
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s/n=%u,d=%u,batch=%u",
             transforms[index / FOURIER_ROWS], weft_values_name(row->values), row->n, row->d,
             row->batch);
}

static void build_fourier(weft_case *c, uint32_t index) {
    const struct fourier_row *row = &fourier_rows[index % FOURIER_ROWS];
    const uint64_t size = (uint64_t)row->n * row->d;
    c->implementation = transforms[index / FOURIER_ROWS];
    c->seed = index % FOURIER_ROWS; /* the same input for all */
    weft_array x = weft_case_input(c, "x", weft_shape_of(row->batch, row->n, row->d), row->values);
    weft_case_expect(c, "y", weft_case_fourier(c, x));
    weft_bounded *source = weft_bounded_of(c, x.value, size * row->batch);
    weft_bounded *out = weft_bounded_scratch(c, size * row->batch);
    for (uint64_t batch = 0; c->ref.status == WEFT_OK && batch < row->batch; batch++) {
        weft_bounded_fourier(out + batch * size, source + batch * size, row->n, row->d);
    }
    weft_bounded_expect(c, out);
}

WEFT_SPECIAL_FAMILY(fourier, FOURIER_ROWS *WEFT_COUNT(transforms), WEFT_TOLERANCE_LINEAR,
                    name_fourier, build_fourier);

/* ---- attention ---- */

static const struct attention_row {
    uint32_t n, m, d, heads;
    weft_values q, k, v;
} attention_rows[] = {
    {5, 37, 12, 3, WEFT_VALUES_SUBNORMAL, WEFT_VALUES_SUBNORMAL, WEFT_VALUES_SUBNORMAL},
    {7, 9, 8, 2, WEFT_VALUES_TINY, WEFT_VALUES_TINY, WEFT_VALUES_TINY},
    {7, 9, 8, 2, WEFT_VALUES_HUGE, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT},
    {5, 130, 8, 2, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT, WEFT_VALUES_HUGE},
    {9, 7, 4, 2, WEFT_VALUES_UNIT, WEFT_VALUES_INFINITE, WEFT_VALUES_UNIT},
    {9, 7, 4, 2, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT, WEFT_VALUES_INFINITE},
    {9, 7, 4, 2, WEFT_VALUES_NAN, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT},
    {9, 7, 4, 2, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT, WEFT_VALUES_NAN},
};

static void name_attention(char text[WEFT_CASE_NAME_SIZE], const struct attention_row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s,%s,%s/n=%u,m=%u,d=%u,heads=%u",
             weft_values_name(row->q), weft_values_name(row->k), weft_values_name(row->v), row->n,
             row->m, row->d, row->heads);
}

static void build_attention(weft_case *c, const struct attention_row *row) {
    weft_shape keys = weft_shape_of(1, row->m, row->d);
    weft_array arrays[3];
    arrays[0] = weft_case_input(c, "q", weft_shape_of(1, row->n, row->d), row->q);
    arrays[1] = weft_case_input(c, "k", keys, row->k);
    arrays[2] = weft_case_input(c, "v", keys, row->v);
    weft_case_expect(c, "y",
                     weft_case_attention(c, arrays[0], arrays[1], arrays[2],
                                         weft_attention_params(.heads = row->heads)));
    weft_bounded_expect_attention(
        c, arrays,
        &(weft_bounded_band){.n = row->n, .m = row->m, .d = row->d, .heads = row->heads});
}

WEFT_SPECIAL_TABLE(attention, attention_rows, WEFT_TOLERANCE_EXPONENTIAL, name_attention,
                   build_attention);
