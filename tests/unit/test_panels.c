/* SPDX-License-Identifier: MIT */
/* weft-test: long device */
/* Products by a constant in panels: the bits of other products, whatever the shapes, and where they are refused. */
#include <math.h>

#include "core/math/philox.h"
#include "support_graph.h"

struct product {
    uint32_t batch; /* 0: rank 2 */
    uint32_t m, n, k;
    bool transpose_a, transpose_b;
    bool epilogue; /* bias, activation, residual */
    bool special;  /* subnormals, infinities, NaN and zeros among the elements */
    float alpha;
};

static const struct product products[] = {
    {0, 1, 64, 1, false, false, false, false, 1.0F},
    {0, 97, 64, 64, false, true, false, false, 1.0F}, /* a row more than a workgroup has */
    {0, 13, 49, 130, false, true, true, false, 0.5F},
    {0, 32, 200, 65, false, false, true, false, -3.0F},
    {3, 7, 64, 129, false, true, true, false, 1.0F},  /* one tall product */
    {3, 7, 100, 129, true, false, true, false, 1.0F}, /* three */
    {0, 19, 61, 67, true, true, false, false, 1.0F},
    {0, 37, 64, 70, false, false, false, true, 1.0F},
    {0, 37, 64, 70, true, true, false, true, 1.0F},
};

static float *make_data(const struct product *p, uint64_t count, uint64_t stream) {
    static const float specials[] = {0x1p-130F, -0x1p-149F, INFINITY, -0.0F, NAN, 0x1.8p127F};
    float *data = weft_test_uniform(count, 53, stream);
    for (uint64_t i = 0; p->special && i < count; i += 41) {
        data[i] = specials[i / 41 % (sizeof specials / sizeof specials[0])];
    }
    return data;
}

static weft_shape shape_of(uint32_t batch, uint32_t rows, uint32_t columns) {
    return batch ? weft_shape_of(batch, rows, columns) : weft_shape_of(rows, columns);
}

static weft_tensor add_constant(weft_graph *graph, const struct product *p, weft_shape shape,
                                uint64_t stream) {
    float *data = make_data(p, weft_shape_elements(shape), stream);
    const weft_tensor tensor = weft_test_constant(graph, shape, data);
    free(data);
    return tensor;
}

/* activation(alpha a b + bias) + residual, in one node. */
static weft_tensor build(struct weft_test_run *run, const struct product *p, const float *a,
                         const float *residual) {
    weft_tensor y;
    weft_tensor x = weft_test_feed(
        run, "a", p->transpose_a ? shape_of(p->batch, p->k, p->m) : shape_of(p->batch, p->m, p->k),
        a);
    weft_tensor b = add_constant(
        run->graph, p, p->transpose_b ? weft_shape_of(p->n, p->k) : weft_shape_of(p->k, p->n), 2);
    assert_ok(
        weft_graph_matmul(&y, run->graph, x, b,
                          weft_matmul_params(.transpose_a = p->transpose_a,
                                             .transpose_b = p->transpose_b, .alpha = p->alpha)));
    if (p->epilogue) {
        weft_tensor bias = add_constant(run->graph, p, weft_shape_of(p->n), 3);
        weft_tensor more =
            weft_test_feed(run, "residual", shape_of(p->batch, p->m, p->n), residual);
        assert_ok(weft_graph_binary(&y, run->graph, WEFT_BINARY_ADD, y, bias));
        assert_ok(weft_graph_activate(&y, run->graph, y, WEFT_ACTIVATION_RELU));
        assert_ok(weft_graph_binary(&y, run->graph, WEFT_BINARY_ADD, y, more));
    }
    return y;
}

/* The result by an implementation, and whether panels were made for it. */
static uint32_t *multiply(struct weft_test_graph *f, const struct product *p,
                          const char *implementation, uint64_t *weight_bytes) {
    const uint64_t batches = p->batch ? p->batch : 1;
    float *a = make_data(p, batches * p->m * p->k, 1);
    float *residual = make_data(p, batches * p->m * p->n, 4);
    float *out = malloc(batches * p->m * p->n * sizeof *out);
    struct weft_test_run run = weft_test_begin(f->device);
    weft_test_take(&run, "y", build(&run, p, a, residual), out);
    weft_plan *plan = weft_test_plan(&run, implementation);
    weft_plan_info info;
    assert_ok(weft_plan_get_info(plan, &info));
    *weight_bytes = info.weight_bytes;
    weft_test_run_plan(&run, plan);
    weft_plan_destroy(&plan);
    free(a);
    free(residual);
    return (uint32_t *)(void *)out;
}

/* Of a NaN only that it is one: which of two operands gives its bits is the driver's choice. */
static bool same(uint32_t a, uint32_t b) {
    const uint32_t infinity = 0x7F800000U;
    return a == b || ((a & 0x7FFFFFFFU) > infinity && (b & 0x7FFFFFFFU) > infinity);
}

WEFT_TEST_ON_GRAPH(test_panels_give_the_bits_of_products, f) {
    for (size_t i = 0; i < sizeof products / sizeof products[0]; i++) {
        const struct product *p = &products[i];
        uint64_t plain = 0;
        uint64_t padded = 0;
        uint32_t *expected = multiply(f, p, "product", &plain);
        uint32_t *found = multiply(f, p, "panels", &padded);
        assert_int_equal(padded - plain, ((p->n + 63) / 64 * 64 - p->n) * p->k * sizeof(float));
        const size_t count = (size_t)(p->batch ? p->batch : 1) * p->m * p->n;
        for (size_t k = 0; k < count; k++) {
            if (!same(found[k], expected[k])) {
                fail_msg("product %zu, element %zu: 0x%08x in panels, 0x%08x else", i, k, found[k],
                         expected[k]);
            }
        }
        free(expected);
        free(found);
    }
}

/* What would fill up the last panel would be most of the work. */
WEFT_TEST_ON_GRAPH(test_narrow_constants_have_no_panels, f) {
    const float a[2] = {1.0F, 2.0F};
    static const uint32_t narrow[] = {1, 47, 95, 143};
    for (size_t i = 0; i < sizeof narrow / sizeof narrow[0]; i++) {
        const struct product p = {.m = 1, .n = narrow[i], .k = 2, .alpha = 1.0F};
        struct weft_test_run run = weft_test_begin(f->device);
        WEFT_EXPECT_NO_PLAN(f, &run, build(&run, &p, a, NULL), "panels", WEFT_UNSUPPORTED,
                            "matmul by panels", "three quarters of its panels of 64 columns");
    }
}

WEFT_TEST_ON_GRAPH(test_inputs_have_no_panels, f) {
    const float data[2 * 64] = {1.0F};
    struct weft_test_run run = weft_test_begin(f->device);
    weft_tensor y;
    weft_tensor a = weft_test_feed(&run, "a", weft_shape_of(1, 2), data);
    weft_tensor b = weft_test_feed(&run, "b", weft_shape_of(2, 64), data);
    assert_ok(weft_graph_matmul(&y, run.graph, a, b, NULL));
    WEFT_EXPECT_NO_PLAN(f, &run, y, "panels", WEFT_UNSUPPORTED, "matmul by panels",
                        "a constant matrix b");
}
