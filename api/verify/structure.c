/* SPDX-License-Identifier: MIT */
/* Graphs of unusual form: what is an output, what is read twice, what nobody reads. */
#include <stdio.h>
#include <string.h>

#include "verify/conformance.h"

static weft_tensor add_affine(weft_case *c, weft_tensor x, float scale, float offset) {
    weft_tensor y = {0};
    weft_case_check(c, weft_graph_affine(&y, c->graph, x, scale, offset));
    return y;
}

static void expect_affine(double *expected, const double *x, uint64_t count, double scale,
                          double offset) {
    for (uint64_t i = 0; expected != NULL && i < count; i++) {
        expected[i] = scale * x[i] + offset;
    }
}

static void expect_copy(double *expected, const double *x, uint64_t count) {
    if (expected != NULL) {
        memcpy(expected, x, (size_t)count * sizeof *expected);
    }
}

static weft_tensor add_reshape(weft_case *c, weft_tensor x, weft_shape shape) {
    weft_tensor y = {0};
    weft_case_check(c, weft_graph_reshape(&y, c->graph, x, shape));
    return y;
}

/* ---- all exact: factors are powers of two ---- */

static void build_input_is_output(weft_case *c) {
    c->tolerance = WEFT_TOLERANCE_BITS;
    weft_array x = weft_case_input(c, "x", weft_shape_of(37, 31), WEFT_VALUES_ZEROS);
    expect_copy(weft_case_output(c, "y", x.tensor), x.value, 37 * 31);
}

static void build_indices_are_output(weft_case *c) {
    c->tolerance = WEFT_TOLERANCE_BITS;
    weft_array tokens = weft_case_indices(c, "tokens", weft_shape_of(3, 43), -5, 1 << 30);
    weft_tensor view = add_reshape(c, tokens.tensor, weft_shape_of(129));
    expect_copy(weft_case_output(c, "y", tokens.tensor), tokens.value, 129);
    expect_copy(weft_case_output(c, "view", view), tokens.value, 129);
}

static void build_weight_is_output(weft_case *c) {
    c->tolerance = WEFT_TOLERANCE_BITS;
    weft_array w = weft_case_weight(c, weft_shape_of(129), WEFT_VALUES_MIXED);
    weft_tensor view = add_reshape(c, w.tensor, weft_shape_of(3, 43));
    expect_copy(weft_case_output(c, "y", w.tensor), w.value, 129);
    expect_copy(weft_case_output(c, "view", view), w.value, 129);
}

static void build_view_is_output(weft_case *c) {
    c->tolerance = WEFT_TOLERANCE_BITS;
    weft_array x = weft_case_input(c, "x", weft_shape_of(5, 7), WEFT_VALUES_UNIT);
    weft_tensor half = add_affine(c, x.tensor, 0.5F, 0.0F);
    weft_tensor view = add_reshape(c, half, weft_shape_of(35));
    expect_affine(weft_case_output(c, "half", half), x.value, 35, 0.5, 0.0);
    expect_affine(weft_case_output(c, "view", view), x.value, 35, 0.5, 0.0);
}

static void build_view_before_its_source(weft_case *c) {
    c->tolerance = WEFT_TOLERANCE_BITS;
    weft_array x = weft_case_input(c, "x", weft_shape_of(64, 3), WEFT_VALUES_UNIT);
    weft_tensor twice = add_affine(c, x.tensor, 2.0F, 0.0F);
    weft_tensor view = add_reshape(c, twice, weft_shape_of(3, 64));
    expect_affine(weft_case_output(c, "view", view), x.value, 192, 2.0, 0.0);
    expect_affine(weft_case_output(c, "twice", twice), x.value, 192, 2.0, 0.0);
}

static void build_one_tensor_two_outputs(weft_case *c) {
    c->tolerance = WEFT_TOLERANCE_BITS;
    weft_array x = weft_case_input(c, "x", weft_shape_of(257), WEFT_VALUES_UNIT);
    weft_tensor y = add_affine(c, x.tensor, -4.0F, 0.0F);
    expect_affine(weft_case_output(c, "first", y), x.value, 257, -4.0, 0.0);
    expect_affine(weft_case_output(c, "second", y), x.value, 257, -4.0, 0.0);
    expect_copy(weft_case_output(c, "third", x.tensor), x.value, 257);
    expect_copy(weft_case_output(c, "fourth", x.tensor), x.value, 257);
}

static void build_output_is_read_on(weft_case *c) {
    c->tolerance = WEFT_TOLERANCE_BITS;
    weft_array x = weft_case_input(c, "x", weft_shape_of(2, 130), WEFT_VALUES_UNIT);
    weft_tensor a = add_affine(c, x.tensor, 2.0F, 0.0F);
    weft_tensor b = add_affine(c, a, 2.0F, 0.0F);
    weft_tensor d = add_affine(c, b, 2.0F, 0.0F);
    expect_affine(weft_case_output(c, "d", d), x.value, 260, 8.0, 0.0);
    expect_affine(weft_case_output(c, "a", a), x.value, 260, 2.0, 0.0);
    expect_affine(weft_case_output(c, "b", b), x.value, 260, 4.0, 0.0);
}

static void build_unused(weft_case *c) {
    c->tolerance = WEFT_TOLERANCE_BITS;
    weft_array x = weft_case_input(c, "x", weft_shape_of(31), WEFT_VALUES_UNIT);
    weft_case_input(c, "ignored", weft_shape_of(7, 5), WEFT_VALUES_UNIT);
    weft_array w = weft_case_weight(c, weft_shape_of(31), WEFT_VALUES_UNIT);
    weft_tensor nobody = add_affine(c, x.tensor, 3.0F, 1.0F);
    weft_tensor product = {0};
    weft_case_check(c,
                    weft_graph_binary(&product, c->graph, WEFT_BINARY_MULTIPLY, nobody, w.tensor));
    weft_case_check(c, weft_graph_softmax(&product, c->graph, product));
    weft_tensor y = add_affine(c, x.tensor, 0.25F, 0.0F);
    add_affine(c, y, 3.0F, 1.0F);
    expect_affine(weft_case_output(c, "y", y), x.value, 31, 0.25, 0.0);
}

static void build_many_outputs(weft_case *c) {
    c->tolerance = WEFT_TOLERANCE_BITS;
    weft_array x = weft_case_input(c, "x", weft_shape_of(129, 3), WEFT_VALUES_UNIT);
    float scale = 0.5F;
    for (int output = 0; output < WEFT_CASE_PORTS; output++, scale *= -2.0F) {
        char name[16];
        snprintf(name, sizeof name, "y%d", output);
        weft_tensor y = add_affine(c, x.tensor, scale, 0.0F);
        expect_affine(weft_case_output(c, name, y), x.value, 387, (double)scale, 0.0);
    }
}

/* ---- with sums ---- */

/* A long chain whose intermediate tensors share memory while the first is read again at the end. */
static void build_long_lives(weft_case *c) {
    const uint64_t count = 3 * 67;
    weft_array x = weft_case_input(c, "x", weft_shape_of(3, 67), WEFT_VALUES_UNIT);
    weft_tensor first = add_affine(c, x.tensor, 0.5F, 0.25F);
    weft_tensor y = first;
    for (int step = 0; step < 9; step++) {
        y = add_affine(c, y, step % 2 == 0 ? -0.75F : 1.25F, 0.5F);
    }
    weft_case_check(c, weft_graph_binary(&y, c->graph, WEFT_BINARY_SUBTRACT, y, first));
    double *expected = weft_case_output(c, "y", y);
    for (uint64_t i = 0; expected != NULL && i < count; i++) {
        double start = 0.5 * x.value[i] + 0.25;
        double value = start;
        for (int step = 0; step < 9; step++) {
            value = (step % 2 == 0 ? -0.75 : 1.25) * value + 0.5;
        }
        expected[i] = value - start;
    }
}

/* Two branches that read one tensor and meet again. */
static void build_diamond(weft_case *c) {
    weft_array x = weft_case_input(c, "x", weft_shape_of(2, 33, 17), WEFT_VALUES_UNIT);
    const uint64_t count = UINT64_C(2) * 33 * 17;
    weft_tensor top = add_affine(c, x.tensor, 1.5F, 0.0F);
    weft_tensor left = add_affine(c, top, 2.0F, 1.0F);
    weft_tensor right = add_affine(c, top, -0.5F, 3.0F);
    weft_tensor y = {0};
    weft_case_check(c, weft_graph_binary(&y, c->graph, WEFT_BINARY_MULTIPLY, left, right));
    double *expected = weft_case_output(c, "y", y);
    for (uint64_t i = 0; expected != NULL && i < count; i++) {
        double value = 1.5 * x.value[i];
        expected[i] = (2.0 * value + 1.0) * (-0.5 * value + 3.0);
    }
}

/* [2, 6, 35] by way of [12, 35] and [4, 3, 35] through a product, a bias and a softmax. */
static void build_reshape_in_the_middle(weft_case *c) {
    c->tolerance = WEFT_TOLERANCE_EXPONENTIAL;
    c->check_fusion = true;
    weft_array x = weft_case_input(c, "x", weft_shape_of(2, 6, 35), WEFT_VALUES_UNIT);
    weft_array w = weft_case_weight(c, weft_shape_of(35, 21), WEFT_VALUES_UNIT);
    weft_array bias = weft_case_weight(c, weft_shape_of(21), WEFT_VALUES_UNIT);
    weft_tensor y = add_reshape(c, x.tensor, weft_shape_of(12, 35));
    weft_case_check(c, weft_graph_matmul(&y, c->graph, y, w.tensor, NULL));
    y = add_reshape(c, y, weft_shape_of(4, 3, 21));
    weft_case_check(c, weft_graph_binary(&y, c->graph, WEFT_BINARY_ADD, y, bias.tensor));
    weft_case_check(c, weft_graph_softmax(&y, c->graph, y));
    double *expected = weft_case_output(c, "y", add_reshape(c, y, weft_shape_of(12, 21)));
    if (expected == NULL) {
        return;
    }
    weft_reference_matmul(expected, x.value, w.value,
                          (weft_reference_product){.m = 12, .n = 21, .k = 35, .alpha = 1.0});
    for (uint32_t i = 0; i < 12 * 21; i++) {
        expected[i] += bias.value[i % 21];
    }
    weft_reference_softmax(expected, expected, 12, 21);
}

/* x xᵀ: one tensor on both sides of an op. */
static void build_both_sides(weft_case *c) {
    weft_array x = weft_case_input(c, "x", weft_shape_of(37, 65), WEFT_VALUES_UNIT);
    weft_tensor y = {0};
    weft_case_check(c, weft_graph_matmul(&y, c->graph, x.tensor, x.tensor,
                                         weft_matmul_params(.transpose_b = true)));
    double *expected = weft_case_output(c, "y", y);
    if (expected != NULL) {
        weft_reference_matmul(
            expected, x.value, x.value,
            (weft_reference_product){.m = 37, .n = 37, .k = 65, .transpose_b = true, .alpha = 1.0});
    }
}

/* One constant used plainly and transposed, so that the device holds it in both forms. */
static void build_constant_in_two_forms(weft_case *c) {
    weft_array x = weft_case_input(c, "x", weft_shape_of(9, 36), WEFT_VALUES_UNIT);
    weft_array w = weft_case_weight(c, weft_shape_of(36, 36), WEFT_VALUES_UNIT);
    weft_tensor plain = {0};
    weft_tensor transposed = {0};
    weft_case_check(c, weft_graph_matmul(&plain, c->graph, x.tensor, w.tensor, NULL));
    weft_case_check(c, weft_graph_matmul(&transposed, c->graph, x.tensor, w.tensor,
                                         weft_matmul_params(.transpose_b = true)));
    double *expected_plain = weft_case_output(c, "plain", plain);
    double *expected_transposed = weft_case_output(c, "transposed", transposed);
    if (c->status == WEFT_OK) {
        weft_reference_product product = {.m = 9, .n = 36, .k = 36, .alpha = 1.0};
        weft_reference_matmul(expected_plain, x.value, w.value, product);
        product.transpose_b = true;
        weft_reference_matmul(expected_transposed, x.value, w.value, product);
    }
}

static const struct graph {
    const char *name;
    void (*build)(weft_case *c);
} graphs[] = {
    {"input-is-output", build_input_is_output},
    {"indices-are-output", build_indices_are_output},
    {"weight-is-output", build_weight_is_output},
    {"view-is-output", build_view_is_output},
    {"view-before-its-source", build_view_before_its_source},
    {"one-tensor-two-outputs", build_one_tensor_two_outputs},
    {"output-is-read-on", build_output_is_read_on},
    {"unused", build_unused},
    {"many-outputs", build_many_outputs},
    {"long-lives", build_long_lives},
    {"diamond", build_diamond},
    {"reshape-in-the-middle", build_reshape_in_the_middle},
    {"both-sides", build_both_sides},
    {"constant-in-two-forms", build_constant_in_two_forms},
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s", graphs[index].name);
}

static void build(weft_case *c, uint32_t index) {
    graphs[index].build(c);
}

const weft_case_family weft_family_structure = {.name = "structure",
                                                .count = sizeof graphs / sizeof graphs[0],
                                                .tolerance = WEFT_TOLERANCE_LINEAR,
                                                .name_case = name_case,
                                                .build = build};
