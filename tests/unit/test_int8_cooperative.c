/* SPDX-License-Identifier: MIT */
/* weft-test: long every device */
/* Products of bytes by cooperative matrices, where the driver has any: in every mode the bits of the processor and of the other kernels. */
#include <weft/graph.h>
#include <weft/vulkan.h>

#include "core/math/philox.h"
#include "lower/lowering.h"
#include "ops/matmul.h"
#include "support_adopt.h"
#include "support_graph.h"

struct product {
    uint32_t m, n, k;
    bool fused; /* with a bias, GELU and a residual */
    bool ones;  /* factors as large as bytes are: with the most terms, sums as large as they get */
};

static const struct product products[] = {
    {1, 1, 1, false, false},      {13, 127, 65, true, false},   {130, 127, 67, true, false},
    {64, 128, 128, false, false}, {131, 260, 259, true, false}, {3, 5, 2053, false, false},
    {2, 3, 66311, false, true},
};
enum {
    PRODUCTS = sizeof products / sizeof products[0],
    MOST_FACTOR = 3 * 66311,
    MOST_SUMS = 140 * 260
};

struct data {
    float *x, *w;
    float bias[260], residual[MOST_SUMS], y[MOST_SUMS], expected[MOST_SUMS];
};

static struct data *begin(void) {
    struct data *d = calloc(1, sizeof *d);
    assert_non_null(d);
    d->x = calloc(MOST_FACTOR, sizeof *d->x);
    d->w = calloc(MOST_FACTOR, sizeof *d->w);
    assert_true(d->x && d->w);
    weft_philox_uniform(d->bias, 260, 5, 2);
    weft_philox_uniform(d->residual, MOST_SUMS, 5, 3);
    return d;
}

static void end(struct data **d) {
    free((*d)->x);
    free((*d)->w);
    free(*d);
    *d = NULL;
}

static void fill(struct data *d, const struct product *p) {
    weft_philox_uniform(d->x, (size_t)p->m * p->k, 5, 0);
    weft_philox_uniform(d->w, (size_t)p->n * p->k, 5, 1);
    for (size_t i = 0; i < (size_t)p->m * p->k && p->ones; i++) {
        d->x[i] = i < p->k ? 1.0F : -1.0F;
    }
    for (size_t i = 0; i < (size_t)p->n * p->k && p->ones; i++) {
        d->w[i] = 1.0F;
    }
}

/* To y, by that row of the kernel's variants, or by the device's choice. */
static void multiply(float *y, weft_device *device, const struct product *p, const struct data *d,
                     const char *row) {
    struct weft_test_run run = weft_test_begin(device);
    const weft_tensor x = weft_test_feed(&run, "x", weft_shape_of(p->m, p->k), d->x);
    const weft_tensor w = weft_test_constant(run.graph, weft_shape_of(p->n, p->k), d->w);
    const weft_tensor bias =
        p->fused ? weft_test_constant(run.graph, weft_shape_of(p->n), d->bias) : (weft_tensor){0};
    weft_tensor sums = {0};
    assert_ok(weft_graph_linear(&sums, run.graph, x, w, bias));
    if (p->fused) {
        const weft_tensor residual =
            weft_test_feed(&run, "r", weft_shape_of(p->m, p->n), d->residual);
        assert_ok(weft_graph_activate(&sums, run.graph, sums, WEFT_ACTIVATION_GELU_ERF));
        assert_ok(weft_graph_binary(&sums, run.graph, WEFT_BINARY_ADD, sums, residual));
    }
    weft_test_take(&run, "y", sums, y);
    if (row) {
        weft_test_execute_row(&run, row);
    } else {
        weft_test_execute(&run, NULL);
    }
}

static weft_device *open_int8(struct weft_test_host *host, weft_math math, const char *select) {
    weft_device *device = NULL;
    assert_ok(weft_device_open(&device, weft_device_params(.host = host->host, .math = math,
                                                           .weights = WEFT_WEIGHTS_I8,
                                                           .select = select, .cache_dir = "")));
    return device;
}

/* Also where the runner hides it, to test a driver. */
static weft_device *open_processor(struct weft_test_host *host, weft_math math) {
    const char *variable = getenv("WEFT_PROCESSOR");
    const bool hidden = variable && strcmp(variable, "0") == 0;
    weft_test_set_variable("WEFT_PROCESSOR", "1");
    weft_device *device = open_int8(host, math, "processor");
    weft_test_set_variable("WEFT_PROCESSOR", hidden ? "0" : NULL);
    return device;
}

/* The rows that the device can take; how many of cooperative matrices. */
static uint32_t compare_rows(weft_device *device, const struct product *p, struct data *d) {
    const struct weft_variant_set *set = &weft_int8_product_variants;
    uint32_t compared = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        const struct weft_variant *row = &set->rows[i];
        if (row->integer_matrix.m != 0 && !weft_variant_missing(row, device, true)) {
            multiply(d->y, device, p, d, row->name);
            if (memcmp(d->y, d->expected, (size_t)p->m * p->n * sizeof *d->y) != 0) {
                fail_msg("%s, m=%u,n=%u,k=%u, %s: other bits", row->name, p->m, p->n, p->k,
                         weft_math_name(device->math));
            }
            compared++;
        }
    }
    return compared;
}

WEFT_TEST_ON_HOST(test_products_have_the_processors_bits, f) {
    struct data *d = begin();
    for (int math = WEFT_MATH_REPRODUCIBLE; math <= WEFT_MATH_FUSED; math++) {
        weft_device *device = open_int8(f, (weft_math)math, NULL);
        weft_device *processor = open_processor(f, (weft_math)math);
        const bool has = device->info.integer_matrix_shapes[0].m != 0;
        if (!has) {
            print_message("no cooperative matrices here\n");
        }
        for (uint32_t i = 0; i < PRODUCTS && has; i++) {
            const struct product *p = &products[i];
            const bool fast = math == WEFT_MATH_FAST;
            if (p->ones && math != WEFT_MATH_REPRODUCIBLE) {
                continue; /* the same for longer */
            }
            fill(d, p);
            /* What is around the sums has equal bits on one device alone in fast mode. */
            multiply(d->expected, fast ? device : processor, p, d, fast ? "int8-tiled" : NULL);
            assert_in_range(compare_rows(device, p, d), 1, WEFT_MAX_VARIANTS);
        }
        weft_device_destroy(&processor);
        weft_test_device_close(&device);
    }
    end(&d);
}

WEFT_TEST_ON_HOST(test_devices_without_them_refuse_the_rows, f) {
    const struct weft_variant_set *set = &weft_int8_product_variants;
    weft_device *processor = open_processor(f, WEFT_MATH_REPRODUCIBLE);
    uint32_t rows = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        const struct weft_variant *row = &set->rows[i];
        const char *missing = weft_variant_missing(row, processor, true);
        if (row->integer_matrix.m != 0) {
            assert_non_null(missing);
            assert_non_null(strstr(missing, "of another "));
            rows++;
        }
    }
    assert_true(rows > 0);
    weft_test_device_close(&processor);
}

/* A program's own device has what its owner says, and not what the GPU could do. */
static weft_device *adopt(struct weft_test_host *host, const weft_device *real, bool says) {
    weft_device *device = NULL;
    assert_ok(weft_device_adopt(
        &device, WEFT_TEST_ADOPT(real, .host = host->host, .weights = WEFT_WEIGHTS_I8,
                                 .instance_version = real->instance.version,
                                 .subgroup_size_control = real->info.most_subgroup != 0,
                                 .cooperative_matrix = says, .int8 = says)));
    return device;
}

WEFT_TEST_ON_HOST(test_adopted_devices, f) {
    weft_device *real = open_int8(f, WEFT_MATH_REPRODUCIBLE, NULL);
    struct data *d = begin();
    const bool has = real->info.integer_matrix_shapes[0].m != 0;
    for (int says = 0; says < 2 && has; says++) {
        weft_device *device = adopt(f, real, says);
        assert_memory_equal(device->info.integer_matrix_shapes,
                            (says ? real->info : (weft_device_info){0}).integer_matrix_shapes,
                            sizeof real->info.integer_matrix_shapes);
        fill(d, &products[1]);
        multiply(d->expected, real, &products[1], d, "int8-tiled");
        assert_int_equal(compare_rows(device, &products[1], d) != 0, says);
        weft_device_destroy(&device);
    }
    end(&d);
    weft_test_device_close(&real);
}
