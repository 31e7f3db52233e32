/* SPDX-License-Identifier: MIT */
/* weft-test: long every device */
/* Products by rows that are made for subgroups of a size, where the driver has them: against float64, and to the bit against tiles. */
#include <math.h>

#include <weft/graph.h>

#include "core/math/philox.h"
#include "lower/variant.h"
#include "ops/matmul.h"
#include "support_graph.h"

struct size {
    uint32_t m, n, k;
};

/* Whole tiles of 64×64×32, parts of them in each direction, fours and none, and several chunks of k. */
static const struct size sizes[] = {{64, 64, 32},   {128, 192, 96}, {131, 77, 70}, {70, 260, 259},
                                    {200, 68, 132}, {1, 1, 1},      {65, 66, 3},   {3, 64, 1000}};

static const char *const usual = "tiled-sum"; /* of their group of bits */

static void multiply(weft_device *device, const struct size *s, const float *a, const float *b,
                     float *c, const char *row) {
    struct weft_test_run run = weft_test_begin(device);
    const weft_tensor x = weft_test_feed(&run, "a", weft_shape_of(s->m, s->k), a);
    const weft_tensor y = weft_test_feed(&run, "b", weft_shape_of(s->k, s->n), b);
    weft_tensor product = {0};
    assert_ok(weft_graph_matmul(&product, run.graph, x, y, weft_matmul_params(.alpha = 1.0F)));
    memset(c, 0xff, (size_t)s->m * s->n * sizeof *c);
    weft_test_take(&run, "c", product, c);
    weft_test_execute_row(&run, row);
}

/* Each element within k roundings of f32, relative to what is added up. */
static void check(const struct size *s, const float *a, const float *b, const float *c,
                  const char *row) {
    for (uint32_t i = 0; i < s->m; i++) {
        for (uint32_t j = 0; j < s->n; j++) {
            double sum = 0.0;
            double size = 0.0;
            for (uint32_t k = 0; k < s->k; k++) {
                const double term = (double)a[i * s->k + k] * (double)b[k * s->n + j];
                sum += term;
                size += fabs(term);
            }
            if (!(fabs((double)c[i * s->n + j] - sum) <= s->k * 0x1p-24 * size)) {
                fail_msg("%s, m=%u,n=%u,k=%u: element %u, %u is %g, not %g", row, s->m, s->n, s->k,
                         i, j, (double)c[i * s->n + j], sum);
            }
        }
    }
}

static void compare(weft_device *device, const struct size *s, const char *row) {
    const size_t elements = (size_t)s->m * s->n;
    float *a = malloc((size_t)s->m * s->k * sizeof *a);
    float *b = malloc((size_t)s->k * s->n * sizeof *b);
    float *expected = malloc(elements * sizeof *expected);
    float *found = malloc(elements * sizeof *found);
    weft_philox_uniform(a, (size_t)s->m * s->k, 5, 0);
    weft_philox_uniform(b, (size_t)s->k * s->n, 5, 1);
    multiply(device, s, a, b, expected, usual);
    multiply(device, s, a, b, found, row);
    check(s, a, b, found, row);
    assert_memory_equal(found, expected, elements * sizeof *found);
    free(a);
    free(b);
    free(expected);
    free(found);
}

WEFT_TEST_ON_HOST(test_rows_for_subgroups_give_the_bits_of_tiles, f) {
    const struct weft_variant_set *set = &weft_product_variants;
    weft_device *device = NULL;
    assert_ok(weft_device_open(
        &device, weft_device_params(.host = f->host, .math = WEFT_MATH_FAST, .cache_dir = "")));
    uint32_t rows = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        const struct weft_variant *row = &set->rows[i];
        const char *missing = weft_variant_missing(row, device, true);
        rows += row->subgroup != 0;
        if (row->subgroup != 0 && missing) {
            print_message("%s does not run here: %s\n", row->name, missing);
        }
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0] && row->subgroup && !missing; k++) {
            compare(device, &sizes[k], row->name);
        }
    }
    assert_int_equal(rows, 2);
    weft_test_device_close(&device);
}
