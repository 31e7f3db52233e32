/* SPDX-License-Identifier: MIT */
/* weft-test: every device */
/* A NaN that a program's own kernel makes has the bits that docs/reproducibility.md, rule 7 states, on every device: ops that a program
 * registers, feature maps in GLSL, and the transforms of VkFFT. */
#include <weft/mixers.h>
#include <weft/op.h>

#include "support_graph.h"

enum { COUNT = 8 };

#define THE_NAN 0x7FC00000u

static float from_bits(uint32_t bits) {
    float x = 0;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t bits_of(float x) {
    uint32_t bits = 0;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* ---- an op of one's own ---- */

struct own {
    const char *text;
};

static weft_status infer(const weft_graph *graph, weft_node *node, weft_dtype *dtype,
                         weft_shape *shape) {
    *dtype = WEFT_F32;
    *shape = *weft_node_shape(graph, node, 0);
    return WEFT_OK;
}

static weft_status lower(weft_lowering *lowering, const weft_node *node) {
    const struct own *own = weft_node_user(node);
    const weft_arg args[] = {weft_arg_buffer("a", weft_lower_input(lowering, node, 0)),
                             weft_arg_buffer("b", weft_lower_input(lowering, node, 1)),
                             weft_arg_buffer("y", weft_lower_output(lowering, node)),
                             weft_arg_uint("count", COUNT)};
    return weft_lower_launch(lowering,
                             &(weft_launch){.kernel = {.name = "test/nan", .glsl = own->text},
                                            .items = COUNT,
                                            .args = args,
                                            .arg_count = sizeof args / sizeof args[0]});
}

static const weft_implementation row = {.name = "kernel", .lower = lower};

/* What a statement of the kernel makes of a and b, y being declared as an array of `stored`. */
static void run_own(weft_device *device, const char *stored, const char *statement, const float *a,
                    const float *b, float *y) {
    struct own own = {weft_test_text(
        "#version 450\n"
        "#extension GL_GOOGLE_include_directive : require\n"
        "#include \"index.glsl\"\n"
        "layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;\n"
        "layout(push_constant) uniform Push { uint groups_x; uint count; };\n"
        "layout(std430, binding = 0) readonly buffer A { float a[]; };\n"
        "layout(std430, binding = 1) readonly buffer B { float b[]; };\n"
        "layout(std430, binding = 2) writeonly buffer Y { %s y[]; };\n"
        "shared float t[WEFT_ITEMS_PER_GROUP];\n"
        "void main() { const uint i = weft_item_index(groups_x); if (i < count) { %s } }\n",
        stored, statement)};
    const weft_op_params params = {.name = "nan",
                                   .min_inputs = 2,
                                   .max_inputs = 2,
                                   .infer = infer,
                                   .implementations = &row,
                                   .implementation_count = 1,
                                   .user = &own};
    weft_op *op = NULL;
    assert_ok(weft_op_create(&op, &params, NULL));
    struct weft_test_run run = weft_test_begin(device);
    const weft_tensor inputs[] = {weft_test_feed(&run, "a", weft_shape_of(COUNT), a),
                                  weft_test_feed(&run, "b", weft_shape_of(COUNT), b)};
    weft_tensor out = {0};
    assert_ok(weft_graph_add(&out, run.graph, op, inputs, 2, NULL, 0));
    weft_op_destroy(&op);
    weft_test_execute_to(&run, out, y);
}

/* Invalid operations, and NaNs of other bits. */
static void fill(float a[COUNT], float b[COUNT]) {
    static const uint32_t of_a[COUNT] = {0x7F800000u, 0x7F800000u, 0xFF800000u, 0x7FC12345u,
                                         0xFFC00001u, 0,           0x7F7FFFFFu, 0x7F800001u};
    static const uint32_t of_b[COUNT] = {0,           0xFF800000u, 0x7F800000u, 0x3F800000u,
                                         0x3F800000u, 0x7F800000u, 0xFF7FFFFFu, 0x3F800000u};
    for (int i = 0; i < COUNT; i++) {
        a[i] = from_bits(of_a[i]);
        b[i] = from_bits(of_b[i]);
    }
}

/* Which of them a statement makes NaN: bit i for element i. */
static void check(weft_device *device, const char *stored, const char *statement, uint32_t nans) {
    float a[COUNT], b[COUNT], y[COUNT];
    fill(a, b);
    run_own(device, stored, statement, a, b, y);
    for (uint32_t i = 0; i < COUNT; i++) {
        if ((nans >> i & 1u) != 0) {
            assert_int_equal(bits_of(y[i]), THE_NAN);
        } else {
            assert_int_not_equal(bits_of(y[i]), THE_NAN);
        }
    }
}

static void check_math(weft_math math) {
    weft_device *device = NULL;
    assert_ok(weft_device_open(&device, weft_device_params(.math = math)));
    check(device, "float", "y[i] = a[i] * b[i];", 0xB9);    /* inf * 0, and NaNs */
    check(device, "float", "y[i] = -(a[i] + b[i]);", 0x9E); /* inf - inf, and NaNs */
    check(device, "float", "y[i] = a[i];", 0x98);           /* as it came */
    check(device, "uint", "y[i] = floatBitsToUint(a[i] * b[i]);", 0xB9);
    check(device, "uint", "y[i] = floatBitsToUint(abs(a[i] - a[i]));", 0x9F);
    check(device, "float", "t[i] = a[i] * b[i]; y[i] = t[i];", 0xB9);
    check(device, "float", "float x[2]; x[i % 2] = -a[i] * b[i]; y[i] = x[i % 2];", 0xB9);
    weft_device_destroy(&device);
}

WEFT_TEST(ops_of_ones_own) {
    check_math(WEFT_MATH_REPRODUCIBLE);
    check_math(WEFT_MATH_FUSED);
}

/* ---- feature maps ---- */

static void expect_one_nan(const float *y, size_t count) {
    uint32_t nans = 0;
    for (size_t i = 0; i < count; i++) {
        nans += y[i] != y[i];
        assert_true(y[i] == y[i] || bits_of(y[i]) == THE_NAN);
    }
    assert_int_not_equal(nans, 0);
}

WEFT_TEST_ON_DEVICE(feature_maps_of_ones_own, test) {
    enum { LENGTH = 3, WIDTH = 2, SIZE = LENGTH * WIDTH };
    const float q[SIZE] = {0, 1, from_bits(0x7F800000u), 1, 1e38F, 2};
    const float v[SIZE] = {1, from_bits(0xFFC12345u), 2, 3, 4, 5};
    static const weft_kernel kernel = {
        .glsl = "float weft_feature(float x) { return x * x - x * 3.0; }"};
    float y[SIZE];
    struct weft_test_run run = weft_test_begin(test->device);
    const weft_tensor x = weft_test_feed(&run, "q", weft_shape_of(1, LENGTH, WIDTH), q);
    const weft_tensor k = weft_test_feed(&run, "k", weft_shape_of(1, LENGTH, WIDTH), q);
    const weft_tensor values = weft_test_feed(&run, "v", weft_shape_of(1, LENGTH, WIDTH), v);
    weft_tensor out = {0};
    assert_ok(weft_graph_kernel_attention(
        &out, run.graph, x, k, values,
        weft_kernel_attention_params(.kernels = &kernel, .kernel_count = 1)));
    weft_test_execute_to(&run, out, y);
    expect_one_nan(y, SIZE);
}

/* ---- VkFFT ---- */

WEFT_TEST_ON_DEVICE(transforms, test) {
    enum { LENGTH = 512, WIDTH = 64, SIZE = LENGTH * WIDTH };
    float *x = weft_test_uniform(SIZE, 5, 0);
    float *y = malloc(sizeof(float) * SIZE);
    assert_non_null(y);
    x[7] = from_bits(0x7F800000u);
    x[SIZE - 3] = from_bits(0xFFC54321u);
    struct weft_test_run run = weft_test_begin(test->device);
    weft_tensor out = weft_test_feed(&run, "x", weft_shape_of(1, LENGTH, WIDTH), x);
    assert_ok(weft_graph_fourier(&out, run.graph, out));
    weft_test_execute_to(&run, out, y);
    expect_one_nan(y, SIZE);
    free(x);
    free(y);
}
