/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* The kernels that find a device's limits do all their work, and what is made of their rows. No time is asserted. */
#include <math.h>

#include "bench/ceilings.h"
#include "bench/graph.h"
#include "bench/kernels.h"
#include "support.h"

#define COUNT        65536
#define NEAR(a, b)   assert_true(fabs((a) - (b)) <= 1e-9 * fabs(b))
#define KERNEL_COUNT 4

/* ---- kernels ---- */

struct kernel {
    bool copies, vectors, half, matrices;
    uint32_t loops;
    weft_bench_factors factors;
};

static weft_status add(weft_tensor *y, weft_graph *graph, weft_tensor x,
                       const struct kernel *kernel) {
    return kernel->copies     ? weft_bench_copy(y, graph, x, kernel->vectors)
           : kernel->matrices ? weft_bench_matrix(y, graph, x, kernel->loops, kernel->factors)
                              : weft_bench_arithmetic(y, graph, x, kernel->loops, kernel->half);
}

static void run(float *y, const float *x, weft_device *device, const struct kernel *kernel) {
    weft_graph *graph = NULL;
    weft_plan *plan = NULL;
    weft_tensor t = {0};
    const weft_host_tensor tensors[] = {{"x", (void *)(uintptr_t)x, COUNT * sizeof *x},
                                        {"y", y, COUNT * sizeof *y}};
    assert_ok(weft_graph_create(&graph, NULL));
    assert_ok(weft_bench_input(&t, graph, "x", weft_shape_of(COUNT)));
    assert_ok(add(&t, graph, t, kernel));
    assert_ok(weft_graph_output(graph, "y", t));
    assert_ok(weft_plan_compile(&plan, device, graph, NULL));
    assert_ok(weft_plan_execute(plan, tensors, 2));
    weft_plan_destroy(&plan);
    weft_graph_destroy(&graph);
}

/* Each loop adds 1/loops, so a loop that is left out would be seen; so would be one that rounds. */
static void check(weft_device *device, const struct kernel *kernel) {
    static float x[COUNT];
    static float y[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        x[i] = (float)i / (COUNT / 2) - 1.0F;
    }
    memset(y, 0xFF, sizeof y);
    run(y, x, device, kernel);
    for (uint32_t i = 0; i < COUNT; i++) {
        const float expected = kernel->copies ? x[i] : weft_bench_arithmetic_result(x[i]);
        if (y[i] != expected) {
            fail_msg("%u loops, element %u: %.9g, not %.9g", kernel->loops, i, (double)y[i],
                     (double)expected);
        }
    }
}

static const struct kernel kernels[KERNEL_COUNT] = {
    {.copies = true},
    {.copies = true, .vectors = true},
    {.loops = 1},
    {.loops = WEFT_BENCH_ARITHMETIC_MAX_LOOPS},
};

WEFT_TEST_ON_DEVICE(kernels_do_their_work, test) {
    for (uint32_t i = 0; i < KERNEL_COUNT; i++) {
        check(test->device, &kernels[i]);
    }
}

WEFT_TEST(fast_kernels_do_their_work) {
    weft_device *device = NULL;
    weft_device_info info;
    assert_ok(weft_device_open(&device, weft_device_params(.math = WEFT_MATH_FAST)));
    for (uint32_t i = 0; i < KERNEL_COUNT; i++) {
        check(device, &kernels[i]);
    }
    assert_ok(weft_device_get_info(device, &info));
    if (info.has_f16_arithmetic) {
        check(device, &(struct kernel){.half = true, .loops = 8});
        check(device, &(struct kernel){.half = true, .loops = WEFT_BENCH_ARITHMETIC_MAX_LOOPS});
    }
    weft_test_device_close(&device);
}

static void expect_reason(struct weft_test_host *host, weft_device *device,
                          const struct kernel *kernel, const char *reason) {
    weft_graph *graph = NULL;
    weft_plan *plan = NULL;
    weft_tensor x = {0};
    assert_ok(weft_graph_create(&graph, &host->host));
    assert_ok(weft_bench_input(&x, graph, "x", weft_shape_of(COUNT)));
    assert_ok(add(&x, graph, x, kernel));
    assert_ok(weft_graph_output(graph, "y", x));
    WEFT_EXPECT_REFUSED(host, WEFT_UNSUPPORTED, weft_plan_compile(&plan, device, graph, NULL),
                        reason);
    weft_graph_destroy(&graph);
}

/* Where a device has no such matrices, or the mode none, compiling says so. */
WEFT_TEST_ON_HOST(matrices_do_their_work, host) {
    for (int math = WEFT_MATH_REPRODUCIBLE; math <= WEFT_MATH_FUSED; math++) {
        weft_device *device = NULL;
        weft_device_info info;
        assert_ok(weft_device_open(
            &device, weft_device_params(.math = (weft_math)math, .host = host->host)));
        assert_ok(weft_device_get_info(device, &info));
        const char *const reasons[] = {
            math != WEFT_MATH_FAST         ? "only fast math"
            : info.matrix_shapes[0].m == 0 ? "no matrices of f16"
                                           : NULL,
            info.integer_matrix_shapes[0].m == 0 ? "no matrices of int8" : NULL, "bf16"};
        if (reasons[WEFT_BENCH_MATRIX_INT8]) {
            print_message("no cooperative matrices here\n");
        }
        for (int factors = WEFT_BENCH_MATRIX_F16; factors <= WEFT_BENCH_MATRIX_BF16; factors++) {
            for (uint32_t loops = 1; loops <= 64; loops *= 64) {
                const struct kernel kernel = {
                    .matrices = true, .factors = (weft_bench_factors)factors, .loops = loops};
                if (reasons[factors]) {
                    expect_reason(host, device, &kernel, reasons[factors]);
                } else {
                    check(device, &kernel);
                }
            }
        }
        weft_test_device_close(&device);
    }
}

WEFT_TEST(wrong_sizes_are_refused) {
    weft_graph *graph = NULL;
    weft_tensor x = {0};
    weft_tensor y = {0};
    assert_ok(weft_graph_create(&graph, NULL));
    assert_ok(weft_bench_input(&x, graph, "x", weft_shape_of(12)));
    assert_ok(weft_bench_copy(&y, graph, x, true));
    assert_int_equal(weft_bench_arithmetic(&y, graph, x, 8, false), WEFT_SHAPE_MISMATCH);
    assert_ok(weft_bench_input(&x, graph, "z", weft_shape_of(16)));
    assert_int_equal(weft_bench_arithmetic(&y, graph, x, 0, false), WEFT_INVALID_ARGUMENT);
    assert_int_equal(weft_bench_arithmetic(&y, graph, x, 3, false), WEFT_INVALID_ARGUMENT);
    assert_int_equal(weft_bench_arithmetic(&y, graph, x, 2048, false), WEFT_INVALID_ARGUMENT);
    weft_graph_destroy(&graph);
}

/* ---- ceilings ---- */

enum { WORDS, VECTORS, F32, F16, F16_MATRICES, INT8, BF16, FEW, MANY, SUBMISSION, ROW_COUNT };

static const weft_bench_case cases[ROW_COUNT] = {
    {.suite = "device", .name = "copy/words"},     {.suite = "device", .name = "copy/vectors"},
    {.suite = "device", .name = "arithmetic/f32"}, {.suite = "device", .name = "arithmetic/f16"},
    {.suite = "device", .name = "matrix/f16"},     {.suite = "device", .name = "matrix/int8"},
    {.suite = "device", .name = "matrix/bf16"},    {.suite = "device", .name = "dispatch/16"},
    {.suite = "device", .name = "dispatch/256"},   {.suite = "device", .name = "submission"},
};

static void made_up(weft_bench_row rows[ROW_COUNT]) {
    for (uint32_t i = 0; i < ROW_COUNT; i++) {
        rows[i] = (weft_bench_row){.bench_case = &cases[i],
                                   .device_clock = true,
                                   .median_ms = 1.0 + i,
                                   .p5_ms = 0.5 + i,
                                   .host_ms = 11.5};
    }
    rows[WORDS].bytes = 3e6;
    rows[VECTORS].bytes = 8e6;
    rows[F32].info.flops = 6e9;
    rows[F16].info.flops = 16e9;
    rows[F16_MATRICES].info.flops = 50e9;
    rows[INT8].info.flops = 120e9;
    rows[BF16].info.flops = 70e9;
    rows[FEW].info.dispatches = 16;
    rows[MANY].info.dispatches = 256;
}

WEFT_TEST(rows_become_ceilings) {
    weft_bench_row rows[ROW_COUNT];
    weft_bench_ceilings found;
    made_up(rows);
    weft_bench_take_ceilings(&found, rows, ROW_COUNT);
    NEAR(found.of[WEFT_BENCH_COPY], 4.0); /* 3 MB in 1 ms, 8 MB in 2 ms */
    NEAR(found.of[WEFT_BENCH_F32], 2000.0);
    NEAR(found.of[WEFT_BENCH_F16], 4000.0);
    NEAR(found.of[WEFT_BENCH_F16_MATRICES], 10000.0);
    NEAR(found.of[WEFT_BENCH_INT8_MATRICES], 20000.0);
    NEAR(found.of[WEFT_BENCH_BF16_MATRICES], 10000.0);
    NEAR(found.of[WEFT_BENCH_DISPATCH], 1e3 / 240.0);
    NEAR(found.of[WEFT_BENCH_SUBMISSION], 1500.0);
    for (uint32_t i = 0; i < WEFT_BENCH_CEILING_COUNT; i++) {
        assert_string_equal(found.reasons[i], "");
    }
    NEAR(weft_bench_fraction(1.0, found.of[WEFT_BENCH_COPY]), 0.25);
}

WEFT_TEST(missing_rows_have_reasons) {
    weft_bench_row rows[ROW_COUNT];
    weft_bench_ceilings found;
    made_up(rows);
    rows[WORDS].status = WEFT_BENCH_ERROR; /* the other kernel is left */
    rows[F16].status = WEFT_BENCH_UNSUPPORTED;
    (void)snprintf(rows[F16].reason, sizeof rows[F16].reason, "no halves");
    rows[SUBMISSION].device_clock = false;
    weft_bench_take_ceilings(&found, rows, ROW_COUNT);
    NEAR(found.of[WEFT_BENCH_COPY], 4.0);
    assert_string_equal(found.reasons[WEFT_BENCH_COPY], "");
    assert_true(isnan(found.of[WEFT_BENCH_F16]));
    assert_string_equal(found.reasons[WEFT_BENCH_F16], "arithmetic/f16: no halves");
    assert_true(isnan(found.of[WEFT_BENCH_SUBMISSION]));
    assert_string_equal(found.reasons[WEFT_BENCH_SUBMISSION], "the device has no time stamps");
    weft_bench_take_ceilings(&found, rows, F32);
    assert_true(isnan(found.of[WEFT_BENCH_DISPATCH]));
    assert_string_equal(found.reasons[WEFT_BENCH_DISPATCH], "dispatch/256: not run");
    assert_true(isnan(weft_bench_fraction(1.0, found.of[WEFT_BENCH_F32])));
}

/* On a machine with other work, the shorter chain may seem to take longer. */
WEFT_TEST(noise_is_no_latency) {
    weft_bench_row rows[ROW_COUNT];
    weft_bench_ceilings found;
    made_up(rows);
    rows[FEW].p5_ms = 9.0;
    rows[SUBMISSION].host_ms = 6.5;
    weft_bench_take_ceilings(&found, rows, ROW_COUNT);
    assert_true(isnan(found.of[WEFT_BENCH_DISPATCH]) && isnan(found.of[WEFT_BENCH_SUBMISSION]));
    assert_non_null(strstr(found.reasons[WEFT_BENCH_DISPATCH], "lost in noise"));
    assert_non_null(strstr(found.reasons[WEFT_BENCH_SUBMISSION], "lost in noise"));
}

WEFT_TEST_ON_DEVICE(ceilings_are_measured, test) {
    weft_bench_ceilings found;
    weft_cli_common common = {0};
    const weft_host host = weft_cli_host(&common);
    assert_ok(weft_bench_measure_ceilings(&found, test->device, &common, 20.0, &host));
    assert_true(found.of[WEFT_BENCH_COPY] > 0.0);
    assert_true(found.of[WEFT_BENCH_F32] > 0.0);
    assert_true(found.of[WEFT_BENCH_DISPATCH] >= 0.0 ||
                found.reasons[WEFT_BENCH_DISPATCH][0] != '\0');
    assert_true(isnan(found.of[WEFT_BENCH_F16])); /* reproducible math has none */
    assert_non_null(strstr(found.reasons[WEFT_BENCH_F16], "only fast math"));
    assert_non_null(strstr(found.reasons[WEFT_BENCH_F16_MATRICES], "only fast math"));
    assert_true(found.of[WEFT_BENCH_INT8_MATRICES] > 0.0 ||
                strstr(found.reasons[WEFT_BENCH_INT8_MATRICES], "no matrices of int8"));
    assert_null(common.error);
}
