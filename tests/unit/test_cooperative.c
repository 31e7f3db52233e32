/* SPDX-License-Identifier: MIT */
/* weft-test: long every device */
/* Products by cooperative matrices, where the driver has any: against float64, whatever the size of what is multiplied. */
#include <math.h>

#include <weft/graph.h>
#include <weft/vulkan.h>

#include "core/math/philox.h"
#include "graph/op.h"
#include "lower/lowering.h"
#include "ops/matmul.h"
#include "support_adopt.h"
#include "support_graph.h"

/* How the input's elements are made. */
enum values {
    UNIT,  /* of about 1 */
    LARGE, /* far beyond what f16 holds */
    SMALL, /* far below */
    ROWS,  /* from row to row a factor of 2^16, from 2^-96 on */
    GROWING, /* in the second half of each row 2^20 times as large as before: the first tile says too little */
    LATE,    /* zeros in all rows' first tile */
    SPARSE,  /* some rows are all zeros */
    OUTLIER, /* one element of each row is 2^16 times as large as the others */
    VALUES
};

struct product {
    uint32_t m, n, k;
    uint32_t batches; /* of x */
    bool transposed;  /* the weight is [n, k], as of linear layers */
    bool fused;       /* with a bias, GELU and a residual */
    float alpha;
};

static const struct product products[] = {
    {64, 64, 64, 1, true, false, 1.0F},   {130, 200, 96, 1, true, true, 1.0F},
    {131, 77, 70, 1, true, true, 1.0F},   {131, 77, 70, 1, false, false, 0.5F},
    {5, 132, 36, 3, false, true, 1.0F},   {1, 1, 1, 1, true, false, -2.0F},
    {70, 260, 259, 2, true, false, 1.0F}, {64, 64, 4, 1, true, false, 1.0F},
};

static float factor_of(enum values values, const struct product *p, uint32_t row, uint32_t k) {
    switch (values) {
    case LARGE:
        return 0x1p60F;
    case SMALL:
        return 0x1p-60F;
    case ROWS:
        return ldexpf(1.0F, -96 + 16 * (int)(row % 12));
    case GROWING:
        return 2 * k < p->k ? 1.0F : 0x1p20F;
    case LATE:
        return k < 32 ? 0.0F : 0x1p-30F;
    case SPARSE:
        return row % 3 == 1 ? 0.0F : 1.0F;
    case OUTLIER:
        return k == (row * 7 + 3) % p->k ? 0x1p16F : 1.0F;
    default:
        return 1.0F;
    }
}

static void fill_input(float *x, const struct product *p, enum values values, uint64_t seed) {
    weft_philox_uniform(x, (size_t)p->m * p->batches * p->k, seed, values);
    for (uint32_t row = 0; row < p->m * p->batches; row++) {
        for (uint32_t k = 0; k < p->k; k++) {
            x[row * p->k + k] *= factor_of(values, p, row, k);
        }
    }
}

struct data {
    float *x, *w, *bias, *residual, *y;
};

static float weight_at(const struct product *p, const float *w, uint32_t k, uint32_t n) {
    return p->transposed ? w[n * p->k + k] : w[k * p->n + n];
}

/*
 * A row against its definition in float64: relative to what its sums are made of, as cancellation is not the kernel's fault. Each factor
 * is off by 2^-11 of itself at most, or 2^-10 where the driver cuts off; so the L2 norm of the error is well below 1e-3.
 */
static double error_of_row(const struct product *p, const struct data *d, uint32_t row) {
    double difference = 0.0;
    double size = 0.0;
    for (uint32_t n = 0; n < p->n; n++) {
        double sum = 0.0;
        double squares = 0.0;
        for (uint32_t k = 0; k < p->k; k++) {
            const double term = (double)d->x[row * p->k + k] * (double)weight_at(p, d->w, k, n);
            sum += term;
            squares += term * term;
        }
        double expected = (double)p->alpha * sum;
        squares *= (double)p->alpha * (double)p->alpha;
        if (p->fused) {
            expected += (double)d->bias[n];
            squares += (double)d->bias[n] * (double)d->bias[n];
            expected = expected * 0.5 * (1.0 + erf(expected * 0.70710678118654752));
            expected += (double)d->residual[row * p->n + n];
        }
        const double off = (double)d->y[row * p->n + n] - expected;
        difference += off * off;
        size += squares;
    }
    return difference == 0.0 ? 0.0 : sqrt(difference / size);
}

static void multiply(weft_device *device, const struct product *p, const struct data *d) {
    struct weft_test_run run = weft_test_begin(device);
    const weft_shape rows =
        p->batches == 1 ? weft_shape_of(p->m, p->k) : weft_shape_of(p->batches, p->m, p->k);
    const weft_shape sums =
        p->batches == 1 ? weft_shape_of(p->m, p->n) : weft_shape_of(p->batches, p->m, p->n);
    weft_tensor x = weft_test_feed(&run, "x", rows, d->x);
    weft_tensor w = weft_test_constant(
        run.graph, p->transposed ? weft_shape_of(p->n, p->k) : weft_shape_of(p->k, p->n), d->w);
    weft_tensor y = {0};
    assert_ok(weft_graph_matmul(
        &y, run.graph, x, w, weft_matmul_params(.transpose_b = p->transposed, .alpha = p->alpha)));
    if (p->fused) {
        weft_tensor bias = weft_test_constant(run.graph, weft_shape_of(p->n), d->bias);
        weft_tensor residual = weft_test_feed(&run, "r", sums, d->residual);
        assert_ok(weft_graph_binary(&y, run.graph, WEFT_BINARY_ADD, y, bias));
        assert_ok(weft_graph_activate(&y, run.graph, y, WEFT_ACTIVATION_GELU_ERF));
        assert_ok(weft_graph_binary(&y, run.graph, WEFT_BINARY_ADD, y, residual));
    }
    weft_test_take(&run, "y", y, d->y);
    weft_test_execute_chosen(&run, "cooperative", "cooperative-");
}

/* ---- each row by its name ---- */

/* x [m, k] by a constant [n, k], which has to be one that is kept as f16. */
static weft_status rows_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                              weft_shape *shape) {
    *dtype = WEFT_F32;
    *shape = weft_shape_of(weft_node_shape(graph, node, 0)->dim[0],
                           weft_node_shape(graph, node, 1)->dim[0]);
    return WEFT_OK;
}

static weft_status rows_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const weft_shape *a = weft_node_shape(lowering->graph, node, 0);
    const weft_shape *c = &lowering->graph->values[node->output].shape;
    int exponent = 0;
    assert_true(weft_lower_half_exponent(&exponent, lowering, node->input[1]));
    struct weft_product product = {.m = c->dim[0],
                                   .n = c->dim[1],
                                   .k = a->dim[1],
                                   .batches = 1,
                                   .inner_count = 1,
                                   .alpha = ldexpf(1.0F, -exponent),
                                   .bias = WEFT_NO_STORAGE,
                                   .residual = WEFT_NO_STORAGE};
    product.a = (struct weft_matrix){
        .storage = weft_lower_value(lowering, node->input[0]), .row = a->dim[1], .column = 1};
    product.b = (struct weft_matrix){
        .storage = weft_lower_half_weight(lowering, node->input[1], false, WEFT_HALF_SCALED),
        .row = 1,
        .column = a->dim[1],
        .half = WEFT_HALF_SCALED,
        .along_k = true};
    product.c = (struct weft_matrix){
        .storage = weft_lower_value(lowering, node->output), .row = c->dim[1], .column = 1};
    weft_lower_product(lowering, &product);
    return weft_lower_status(lowering);
}

static const struct weft_op rows_op = {
    .name = "test_rows",
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = rows_infer,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "rows", .lower = rows_lower}),
};

static void multiply_by_row(weft_device *device, const struct product *p, const struct data *d,
                            const char *row) {
    struct weft_test_run run = weft_test_begin(device);
    const weft_tensor inputs[] = {weft_test_feed(&run, "x", weft_shape_of(p->m, p->k), d->x),
                                  weft_test_constant(run.graph, weft_shape_of(p->n, p->k), d->w)};
    weft_tensor y = {0};
    assert_ok(weft_graph_add(&y, run.graph, &rows_op, inputs, 2, NULL, 0));
    weft_test_take(&run, "y", y, d->y);
    weft_test_execute_row(&run, row);
}

static weft_device *open_fast(struct weft_test_host *host, weft_weight_storage weights) {
    weft_device *device = NULL;
    assert_ok(
        weft_device_open(&device, weft_device_params(.host = host->host, .math = WEFT_MATH_FAST,
                                                     .weights = weights, .cache_dir = "")));
    return device;
}

/* Rows by themselves, as a LayerNorm behind would see them. */
static void check_rows(const struct product *p, const struct data *d, enum values values) {
    for (uint32_t row = 0; row < p->m * p->batches; row++) {
        const double error = error_of_row(p, d, row);
        if (!(error < 1e-3)) {
            fail_msg("m=%u,n=%u,k=%u, values %d, row %u: off by %g of its size", p->m, p->n, p->k,
                     (int)values, row, error);
        }
    }
}

enum { MOST = 140 * 260 };

static void fill(struct data *d, float (*memory)[MOST]) {
    float **arrays[] = {&d->x, &d->w, &d->bias, &d->residual, &d->y};
    for (uint32_t i = 0; i < 5; i++) {
        *arrays[i] = memory[i];
        weft_philox_uniform(memory[i], MOST, 21, i);
    }
}

WEFT_TEST_ON_HOST(test_products_are_within_the_tolerance, f) {
    weft_device *device = open_fast(f, WEFT_WEIGHTS_AUTO);
    float(*memory)[MOST] = malloc(5 * sizeof *memory);
    struct data d;
    fill(&d, memory);
    if (device->info.matrix_shapes[0].m == 0) {
        print_message("no cooperative matrices here\n");
    }
    for (size_t i = 0; i < sizeof products / sizeof products[0]; i++) {
        for (enum values values = UNIT; values < VALUES; values++) {
            if (device->info.matrix_shapes[0].m != 0) {
                fill_input(d.x, &products[i], values, i);
                multiply(device, &products[i], &d);
                check_rows(&products[i], &d, values);
            }
        }
    }
    free(memory);
    weft_test_device_close(&device);
}

/* Whatever the tiles; and of one shape to the bit. */
WEFT_TEST_ON_HOST(test_rows_are_within_the_tolerance, f) {
    static const struct product p = {131, 140, 200, 1, true, false, 1.0F};
    const struct weft_variant_set *set = &weft_cooperative_product_variants;
    weft_device *device = open_fast(f, WEFT_WEIGHTS_AUTO);
    float(*memory)[MOST] = malloc(6 * sizeof *memory);
    struct data d;
    fill(&d, memory);
    for (enum values values = UNIT; values < VALUES; values++) {
        const struct weft_variant *first = NULL;
        fill_input(d.x, &p, values, 7);
        for (uint32_t i = 0; i < set->count; i++) {
            const struct weft_variant *row = &set->rows[i];
            if (weft_variant_missing(row, device, true)) {
                continue;
            }
            multiply_by_row(device, &p, &d, row->name);
            check_rows(&p, &d, values);
            if (first && first->bits == row->bits) {
                assert_memory_equal(d.y, memory[5], (size_t)p.m * p.n * sizeof *d.y);
            }
            memcpy(memory[5], d.y, sizeof *memory);
            first = row;
        }
    }
    free(memory);
    weft_test_device_close(&device);
}

/* What f32 makes infinite or NaN is so here, in its own row and nowhere else. */
WEFT_TEST_ON_HOST(test_infinities_and_nan_stay_in_their_rows, f) {
    static const struct product p = {70, 40, 100, 1, true, false, 1.0F};
    weft_device *device = open_fast(f, WEFT_WEIGHTS_AUTO);
    float(*memory)[MOST] = malloc(5 * sizeof *memory);
    struct data d;
    fill(&d, memory);
    if (device->info.matrix_shapes[0].m != 0) {
        fill_input(d.x, &p, UNIT, 1);
        d.x[3 * p.k + 50] = INFINITY;
        d.x[9 * p.k + 1] = NAN;
        multiply(device, &p, &d);
        for (uint32_t row = 0; row < p.m; row++) {
            for (uint32_t n = 0; n < p.n && (row == 3 || row == 9); n++) {
                assert_true(row == 3 ? isinf(d.y[row * p.n + n]) : isnan(d.y[row * p.n + n]));
            }
            assert_true(row == 3 || row == 9 || error_of_row(&p, &d, row) < 1e-3);
        }
    }
    free(memory);
    weft_test_device_close(&device);
}

/* Weights that are to stay f32 are multiplied as f32. */
WEFT_TEST_ON_HOST(test_weights_of_f32_are_left_alone, f) {
    static const struct product p = {70, 40, 100, 1, true, false, 1.0F};
    weft_device *device = open_fast(f, WEFT_WEIGHTS_F32);
    struct weft_test_run run = weft_test_begin(device);
    float(*memory)[MOST] = malloc(5 * sizeof *memory);
    struct data d;
    fill(&d, memory);
    if (device->info.matrix_shapes[0].m != 0) {
        weft_tensor y = {0};
        weft_tensor x = weft_test_feed(&run, "x", weft_shape_of(p.m, p.k), d.x);
        weft_tensor w = weft_test_constant(run.graph, weft_shape_of(p.n, p.k), d.w);
        assert_ok(weft_graph_linear(&y, run.graph, x, w, (weft_tensor){0}));
        weft_test_execute_to(&run, y, d.y);
        for (uint32_t row = 0; row < p.m; row++) {
            assert_true(error_of_row(&p, &d, row) < 1e-6);
        }
    } else {
        weft_graph_destroy(&run.graph);
    }
    free(memory);
    weft_test_device_close(&device);
}

/* A program's own device has what its owner says, and not what the GPU could do. */
static weft_device *adopt(struct weft_test_host *host, const weft_device *real, bool says) {
    const weft_device_info *info = &real->info;
    weft_device *device = NULL;
    assert_ok(weft_device_adopt(
        &device, WEFT_TEST_ADOPT(real, .host = host->host, .math = WEFT_MATH_FAST,
                                 .instance_version = real->instance.version,
                                 .float16 = says && info->has_f16_arithmetic,
                                 .subgroup_size_control = says && info->most_subgroup != 0,
                                 .cooperative_matrix = says && info->matrix_shapes[0].m != 0)));
    return device;
}

WEFT_TEST_ON_HOST(test_adopted_devices, f) {
    static const struct product p = {130, 200, 96, 1, true, true, 1.0F};
    weft_device *real = open_fast(f, WEFT_WEIGHTS_AUTO);
    float(*memory)[MOST] = malloc(5 * sizeof *memory);
    struct data d;
    fill(&d, memory);
    fill_input(d.x, &p, UNIT, 3);
    for (int says = 0; says < 2 && real->vk.handle != VK_NULL_HANDLE; says++) {
        const weft_device_info expected = says ? real->info : (weft_device_info){0};
        weft_device *device = adopt(f, real, says);
        const weft_device_info *info = &device->info;
        assert_memory_equal(info->matrix_shapes, expected.matrix_shapes,
                            sizeof info->matrix_shapes);
        assert_int_equal(info->most_subgroup, expected.most_subgroup);
        assert_int_equal(info->has_f16_arithmetic, expected.has_f16_arithmetic);
        if (info->matrix_shapes[0].m != 0) {
            multiply(device, &p, &d);
            check_rows(&p, &d, UNIT);
        }
        weft_device_destroy(&device);
    }
    free(memory);
    weft_test_device_close(&real);
}
