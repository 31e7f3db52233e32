/* SPDX-License-Identifier: MIT */
/* The Toeplitz operator where the range of float32 ends, by its definition and by transforms. */
#include <math.h>
#include <stdio.h>

#include "verify/bounded.h"
#include "verify/paired.h"

static const struct row {
    bool causal;
    uint32_t n, d, batch;
    weft_values x, t;
} rows[] = {
    {true, 31, 5, 2, WEFT_VALUES_SUBNORMAL, WEFT_VALUES_TINY},
    {true, 31, 5, 2, WEFT_VALUES_HUGE, WEFT_VALUES_SMALL}, /* the transform of x may overflow */
    {false, 11, 9, 2, WEFT_VALUES_INFINITE, WEFT_VALUES_UNIT},
    {true, 11, 9, 2, WEFT_VALUES_NAN, WEFT_VALUES_UNIT},
    {false, 2, 40, 1, WEFT_VALUES_ZEROS, WEFT_VALUES_EQUAL},
};

#define ROWS WEFT_COUNT(rows)

static const char *const implementations[] = {"direct", "fft", "fft_shared"};

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct row *row = &rows[index % ROWS];
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s/%s,%s/n=%u,d=%u,batch=%u",
             implementations[index / ROWS], row->causal ? "causal" : "both",
             weft_values_name(row->x), weft_values_name(row->t), row->n, row->d, row->batch);
}

/* One channel of one sequence: t is at lag 0, elements and lags are d apart. */
struct channel {
    weft_bounded *out;
    const weft_bounded *x, *t;
    const struct row *row;
};

static weft_bounded sum_at(const struct channel *channel, int64_t i) {
    const struct row *row = channel->row;
    weft_bounded_sum sum = {0};
    for (int64_t j = 0; j < (row->causal ? i + 1 : row->n); j++) {
        weft_bounded_sum_add_product(&sum, channel->t[(i - j) * row->d], channel->x[j * row->d]);
    }
    return weft_bounded_sum_end(&sum);
}

/* Contents of a channel or its kernel. */
struct content {
    double size;
    bool is_finite;
};

static struct content content_of(const weft_bounded *x, int64_t first, int64_t last, int64_t step) {
    struct content content = {.is_finite = true};
    for (int64_t i = first; i <= last; i++) {
        content.is_finite = content.is_finite && isfinite(x[i * step].value);
        content.size += fabs(x[i * step].value);
    }
    return content;
}

/*
 * Expects results of transforms of 2n to 4n points. Every element of a channel is a sum over its whole spectrum, so a
 * NaN, or an infinity, which has both signs there, makes all of them NaN. A channel of zeros gives zeros, which are
 * +0.
 */
static void expect_transformed(const struct channel *channel) {
    const struct row *row = channel->row;
    const int64_t n = row->n;
    const struct content x = content_of(channel->x, 0, n - 1, row->d);
    const struct content t = content_of(channel->t, row->causal ? 0 : 1 - n, n - 1, row->d);
    const double points = 4.0 * (double)n;
    const bool in_range = points * points * (1.0 + x.size) * (1.0 + t.size) < 0x1p127;
    const double error =
        0x1p-20 * x.size * t.size + points * points * (1.0 + x.size + t.size) * 0x1p-126;
    for (int64_t i = 0; i < n; i++) {
        weft_bounded *out = &channel->out[i * row->d];
        if (!x.is_finite || !t.is_finite) {
            *out = weft_bounded_exact(NAN);
        } else if (x.size == 0.0 || t.size == 0.0) {
            *out = weft_bounded_exact(0.0);
        } else if (in_range) {
            *out = weft_bounded_near(sum_at(channel, i).value, error);
        } else {
            *out = (weft_bounded){.value = 0.0, .error = INFINITY};
        }
    }
}

static void expect(weft_case *c, const struct row *row, const double *x, const double *t,
                   bool is_transformed) {
    const uint64_t size = (uint64_t)row->batch * row->n * row->d;
    const uint64_t zero = row->causal ? 0 : (uint64_t)(row->n - 1) * row->d;
    weft_bounded *source = weft_bounded_of(c, x, size);
    weft_bounded *kernel = weft_bounded_of(c, t, zero + (uint64_t)row->n * row->d);
    weft_bounded *out = weft_bounded_scratch(c, size);
    for (uint64_t i = 0; c->ref.status == WEFT_OK && i < (uint64_t)row->batch * row->d; i++) {
        const uint64_t first = i / row->d * row->n * row->d + i % row->d;
        struct channel channel = {
            .out = out + first, .x = source + first, .t = kernel + zero + i % row->d, .row = row};
        for (int64_t j = 0; !is_transformed && j < row->n; j++) {
            channel.out[j * row->d] = sum_at(&channel, j);
        }
        if (is_transformed) {
            expect_transformed(&channel);
        }
    }
    weft_bounded_expect(c, out);
}

static void build(weft_case *c, uint32_t index) {
    const struct row *row = &rows[index % ROWS];
    c->implementation = implementations[index / ROWS];
    c->seed = index % ROWS; /* the same input for all */
    weft_array x = weft_case_input(c, "x", weft_shape_of(row->batch, row->n, row->d), row->x);
    weft_array t =
        weft_case_weight(c, weft_shape_of(row->causal ? row->n : 2 * row->n - 1, row->d), row->t);
    weft_case_expect(c, "y",
                     weft_case_toeplitz(c, x, t, weft_toeplitz_params(.causal = row->causal)));
    if (c->ref.status == WEFT_OK) {
        expect(c, row, x.value, t.value, index / ROWS > 0);
    }
}

WEFT_SPECIAL_FAMILY(toeplitz, ROWS *WEFT_COUNT(implementations), WEFT_TOLERANCE_LINEAR, name_case,
                    build);
