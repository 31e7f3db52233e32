/* SPDX-License-Identifier: MIT */
/* Graphs of unusual form: what is an output, what is read twice, what nobody reads. */
#include <stdio.h>

#include "verify/moved.h"
#include "verify/paired.h"

/* ---- all exact: factors are powers of two ---- */

static void build_input_is_output(weft_case *c) {
    c->tolerance = WEFT_TOLERANCE_BITS;
    weft_case_expect(c, "y", weft_case_input(c, "x", weft_shape_of(37, 31), WEFT_VALUES_ZEROS));
}

static void build_indices_are_output(weft_case *c) {
    c->tolerance = WEFT_TOLERANCE_BITS;
    weft_array tokens = weft_case_indices(c, "tokens", weft_shape_of(3, 43), -5, 1 << 30);
    weft_array view = weft_case_reshape(c, tokens, weft_shape_of(129));
    weft_case_expect(c, "y", tokens);
    weft_case_expect(c, "view", view);
}

static void build_weight_is_output(weft_case *c) {
    c->tolerance = WEFT_TOLERANCE_BITS;
    weft_array w = weft_case_weight(c, weft_shape_of(129), WEFT_VALUES_MIXED);
    weft_array view = weft_case_reshape(c, w, weft_shape_of(3, 43));
    weft_case_expect(c, "y", w);
    weft_case_expect(c, "view", view);
}

static void build_view_is_output(weft_case *c) {
    c->tolerance = WEFT_TOLERANCE_BITS;
    weft_array x = weft_case_input(c, "x", weft_shape_of(5, 7), WEFT_VALUES_UNIT);
    weft_array half = weft_case_affine(c, x, 0.5F, 0.0F);
    weft_array view = weft_case_reshape(c, half, weft_shape_of(35));
    weft_case_expect(c, "half", half);
    weft_case_expect(c, "view", view);
}

static void build_view_before_its_source(weft_case *c) {
    c->tolerance = WEFT_TOLERANCE_BITS;
    weft_array x = weft_case_input(c, "x", weft_shape_of(64, 3), WEFT_VALUES_UNIT);
    weft_array twice = weft_case_affine(c, x, 2.0F, 0.0F);
    weft_case_expect(c, "view", weft_case_reshape(c, twice, weft_shape_of(3, 64)));
    weft_case_expect(c, "twice", twice);
}

static void build_one_tensor_two_outputs(weft_case *c) {
    c->tolerance = WEFT_TOLERANCE_BITS;
    weft_array x = weft_case_input(c, "x", weft_shape_of(257), WEFT_VALUES_UNIT);
    weft_array y = weft_case_affine(c, x, -4.0F, 0.0F);
    weft_case_expect(c, "first", y);
    weft_case_expect(c, "second", y);
    weft_case_expect(c, "third", x);
    weft_case_expect(c, "fourth", x);
}

static void build_output_is_read_on(weft_case *c) {
    c->tolerance = WEFT_TOLERANCE_BITS;
    weft_array x = weft_case_input(c, "x", weft_shape_of(2, 130), WEFT_VALUES_UNIT);
    weft_array a = weft_case_affine(c, x, 2.0F, 0.0F);
    weft_array b = weft_case_affine(c, a, 2.0F, 0.0F);
    weft_case_expect(c, "d", weft_case_affine(c, b, 2.0F, 0.0F));
    weft_case_expect(c, "a", a);
    weft_case_expect(c, "b", b);
}

static void build_unused(weft_case *c) {
    c->tolerance = WEFT_TOLERANCE_BITS;
    weft_array x = weft_case_input(c, "x", weft_shape_of(31), WEFT_VALUES_UNIT);
    weft_case_input(c, "ignored", weft_shape_of(7, 5), WEFT_VALUES_UNIT);
    weft_array w = weft_case_weight(c, weft_shape_of(31), WEFT_VALUES_UNIT);
    weft_array nobody = weft_case_affine(c, x, 3.0F, 1.0F);
    weft_case_softmax(c, weft_case_binary(c, WEFT_BINARY_MULTIPLY, nobody, w));
    weft_array y = weft_case_affine(c, x, 0.25F, 0.0F);
    weft_case_affine(c, y, 3.0F, 1.0F);
    weft_case_expect(c, "y", y);
}

static void build_many_outputs(weft_case *c) {
    c->tolerance = WEFT_TOLERANCE_BITS;
    weft_array x = weft_case_input(c, "x", weft_shape_of(129, 3), WEFT_VALUES_UNIT);
    float scale = 0.5F;
    for (int output = 0; output < WEFT_CASE_PORTS; output++, scale *= -2.0F) {
        char name[16];
        snprintf(name, sizeof name, "y%d", output);
        weft_case_expect(c, name, weft_case_affine(c, x, scale, 0.0F));
    }
}

/* ---- with sums ---- */

/* A long chain whose intermediate tensors share memory while the first is read again at the end. */
static void build_long_lives(weft_case *c) {
    weft_array x = weft_case_input(c, "x", weft_shape_of(3, 67), WEFT_VALUES_UNIT);
    weft_array first = weft_case_affine(c, x, 0.5F, 0.25F);
    weft_array y = first;
    for (int step = 0; step < 9; step++) {
        y = weft_case_affine(c, y, step % 2 == 0 ? -0.75F : 1.25F, 0.5F);
    }
    weft_case_expect(c, "y", weft_case_binary(c, WEFT_BINARY_SUBTRACT, y, first));
}

/* Two branches that read one tensor and meet again. */
static void build_diamond(weft_case *c) {
    weft_array x = weft_case_input(c, "x", weft_shape_of(2, 33, 17), WEFT_VALUES_UNIT);
    weft_array top = weft_case_affine(c, x, 1.5F, 0.0F);
    weft_array left = weft_case_affine(c, top, 2.0F, 1.0F);
    weft_array right = weft_case_affine(c, top, -0.5F, 3.0F);
    weft_case_expect(c, "y", weft_case_binary(c, WEFT_BINARY_MULTIPLY, left, right));
}

/* [2, 6, 35] by way of [12, 35] and [4, 3, 35] through a product, a bias and a softmax. */
static void build_reshape_in_the_middle(weft_case *c) {
    c->tolerance = WEFT_TOLERANCE_EXPONENTIAL;
    c->check_fusion = true;
    weft_array x = weft_case_input(c, "x", weft_shape_of(2, 6, 35), WEFT_VALUES_UNIT);
    weft_array w = weft_case_weight(c, weft_shape_of(35, 21), WEFT_VALUES_UNIT);
    weft_array bias = weft_case_weight(c, weft_shape_of(21), WEFT_VALUES_UNIT);
    weft_array y = weft_case_reshape(c, x, weft_shape_of(12, 35));
    y = weft_case_matmul(c, y, w, NULL);
    y = weft_case_reshape(c, y, weft_shape_of(4, 3, 21));
    y = weft_case_softmax(c, weft_case_binary(c, WEFT_BINARY_ADD, y, bias));
    weft_case_expect(c, "y", weft_case_reshape(c, y, weft_shape_of(12, 21)));
}

/* x xᵀ: one tensor on both sides of an op. */
static void build_both_sides(weft_case *c) {
    weft_array x = weft_case_input(c, "x", weft_shape_of(37, 65), WEFT_VALUES_UNIT);
    weft_case_expect(c, "y", weft_case_matmul(c, x, x, weft_matmul_params(.transpose_b = true)));
}

/* One constant used plainly and transposed, so that the device holds it in both forms. */
static void build_constant_in_two_forms(weft_case *c) {
    weft_array x = weft_case_input(c, "x", weft_shape_of(9, 36), WEFT_VALUES_UNIT);
    weft_array w = weft_case_weight(c, weft_shape_of(36, 36), WEFT_VALUES_UNIT);
    weft_array plain = weft_case_matmul(c, x, w, NULL);
    weft_array transposed = weft_case_matmul(c, x, w, weft_matmul_params(.transpose_b = true));
    weft_case_expect(c, "plain", plain);
    weft_case_expect(c, "transposed", transposed);
}

/* Transposes activations and a constant; one of them is also read untransposed. */
static void build_transposes_before_products(weft_case *c) {
    c->check_fusion = true;
    weft_array x = weft_case_input(c, "x", weft_shape_of(3, 37, 20), WEFT_VALUES_UNIT);
    weft_array w = weft_case_weight(c, weft_shape_of(21, 37), WEFT_VALUES_UNIT);
    weft_array bias = weft_case_weight(c, weft_shape_of(21), WEFT_VALUES_UNIT);
    weft_array turned = weft_case_permute(c, x, weft_shape_of(0, 2, 1));
    weft_array y = weft_case_matmul(c, turned, weft_case_permute(c, w, weft_shape_of(1, 0)), NULL);
    y = weft_case_binary(c, WEFT_BINARY_ADD, y, bias);
    weft_array scores = weft_case_matmul(c, x, turned, NULL);
    weft_array twice = weft_case_matmul(c, turned, turned, weft_matmul_params(.transpose_b = true));
    weft_case_expect(c, "y", y);
    weft_case_expect(c, "scores", scores);
    weft_case_expect(c, "twice", twice);
    weft_case_expect(c, "turned", turned);
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
    {"transposes-before-products", build_transposes_before_products},
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s", graphs[index].name);
}

static void build(weft_case *c, uint32_t index) {
    graphs[index].build(c);
}

WEFT_CASE_FAMILY(structure, WEFT_COUNT(graphs), WEFT_TOLERANCE_LINEAR, name_case, build);
