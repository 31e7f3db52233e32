/* SPDX-License-Identifier: MIT */
/* weft-test: every device */
/* Fast mode: sums over subgroups, and what a device without them gets. */
#include <math.h>

#include <weft/graph.h>

#include "core/math/philox.h"
#include "device/device.h"
#include "support_graph.h"

static weft_device *open_device(struct weft_test_host *host, weft_math math) {
    weft_device *device = NULL;
    assert_ok(weft_device_open(
        &device, weft_device_params(.host = host->host, .math = math, .cache_dir = "")));
    return device;
}

/* ---- graphs of one op over the rows of x ---- */

enum { ROWS = 150, COLUMNS = 300, COUNT = ROWS * COLUMNS };

enum row_op { SOFTMAX, LAYER_NORM };

static void add_norm(weft_tensor *y, weft_graph *graph, weft_tensor x) {
    float scale[COLUMNS], shift[COLUMNS];
    weft_philox_uniform(scale, COLUMNS, 4, 0);
    weft_philox_uniform(shift, COLUMNS, 4, 1);
    assert_ok(
        weft_graph_layer_norm(y, graph, x, weft_test_constant(graph, weft_shape_of(COLUMNS), scale),
                              weft_test_constant(graph, weft_shape_of(COLUMNS), shift), 1e-5F));
}

/* out = op(x), both [ROWS, COLUMNS]; a null implementation is the usual one. */
static void apply_by(float *out, weft_device *device, enum row_op op, float *x,
                     const char *implementation) {
    struct weft_test_run r = weft_test_begin(device);
    weft_tensor y;
    weft_tensor in = weft_test_feed(&r, "x", weft_shape_of(ROWS, COLUMNS), x);
    if (op == SOFTMAX) {
        assert_ok(weft_graph_softmax(&y, r.graph, in));
    } else {
        add_norm(&y, r.graph, in);
    }
    weft_test_take(&r, "y", y, out);
    weft_test_execute(&r, implementation);
}

static void apply(float *out, weft_device *device, enum row_op op, float *x) {
    apply_by(out, device, op, x, NULL);
}

/* ---- the largest element ---- */

/* Row r has its largest element at column r; exact, because everything else is far below. */
WEFT_TEST_ON_HOST(test_largest_is_found_in_every_column, f) {
    static const float pairs[][2] = {{1e30F, -1e30F}, {-1e20F, -1e30F}, {0.0F, -1e30F},
                                     {1e30F, 1e20F},  {1e30F, 0.0F},    {0.0F, -INFINITY}};
    float *x = malloc(COUNT * sizeof *x);
    float *y = malloc(COUNT * sizeof *y);
    weft_device *device = open_device(f, WEFT_MATH_FAST);
    for (size_t pair = 0; pair < sizeof pairs / sizeof pairs[0]; pair++) {
        for (uint32_t i = 0; i < COUNT; i++) {
            x[i] = pairs[pair][i % COLUMNS == 2 * (i / COLUMNS) ? 0 : 1];
        }
        apply(y, device, SOFTMAX, x);
        for (uint32_t i = 0; i < COUNT; i++) {
            assert_true(y[i] == (i % COLUMNS == 2 * (i / COLUMNS) ? 1.0F : 0.0F));
        }
    }
    weft_test_device_close(&device);
    free(x);
    free(y);
}

/* A NaN anywhere makes its row NaN and leaves the others alone. */
WEFT_TEST_ON_HOST(test_nan_spreads_over_its_row, f) {
    float *x = malloc(COUNT * sizeof *x);
    float *y = malloc(COUNT * sizeof *y);
    weft_device *device = open_device(f, WEFT_MATH_FAST);
    weft_philox_uniform(x, COUNT, 5, 0);
    for (uint32_t row = 0; row < ROWS; row += 2) {
        x[row * COLUMNS + 2 * row] = row % 4 == 0 ? NAN : -NAN;
    }
    apply(y, device, SOFTMAX, x);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(isnan(y[i]) != 0, i / COLUMNS % 2 == 0);
    }
    weft_test_device_close(&device);
    free(x);
    free(y);
}

/* ---- without subgroup arithmetic ---- */

/*
 * The reproducible kernels run instead: to the bit, so they went through their pass as well. That is so of those whose sums need
 * subgroups; the processor device has others, too.
 */
WEFT_TEST_ON_HOST(test_fallback_gives_reproducible_bits, f) {
    float *x = malloc(COUNT * sizeof *x);
    float *expected = malloc(COUNT * sizeof *x);
    float *found = malloc(COUNT * sizeof *x);
    weft_philox_uniform(x, COUNT, 6, 0);
    weft_device *reproducible = open_device(f, WEFT_MATH_REPRODUCIBLE);
    weft_device *fast = open_device(f, WEFT_MATH_FAST);
    bool had_arithmetic = fast->info.has_subgroup_arithmetic;
    for (enum row_op op = SOFTMAX; op <= LAYER_NORM; op++) {
        apply(expected, reproducible, op, x);
        fast->info.has_subgroup_arithmetic = had_arithmetic;
        apply(found, fast, op, x);
        for (uint32_t i = 0; i < COUNT; i++) {
            assert_true(fabsf(found[i] - expected[i]) <= 1e-5F * (1.0F + fabsf(expected[i])));
        }
        weft_device_destroy(&fast);
        fast = open_device(f, WEFT_MATH_FAST);
        fast->info.has_subgroup_arithmetic = false;
        apply_by(found, fast, op, x, "group");
        assert_memory_equal(found, expected, COUNT * sizeof *x);
    }
    weft_test_device_close(&reproducible);
    weft_test_device_close(&fast);
    free(x);
    free(expected);
    free(found);
}
