/* SPDX-License-Identifier: MIT */
/* The processor device through the public interface: whose threads it computes with, and what kernels cannot reach. */
#include <stdlib.h>

#include <weft/op.h>

#include "native/kernel.h"
#include "support_graph.h"

enum { ROWS = 300, COLUMNS = 700, COUNT = ROWS * COLUMNS };

static weft_status open_processor(weft_device **device, struct weft_test_host *host,
                                  uint32_t threads, const weft_job_system *jobs) {
    return weft_device_open(device,
                            weft_device_params(.host = host->host, .select = "processor",
                                               .cache_dir = "", .threads = threads, .jobs = jobs));
}

/* ---- threads ---- */

static void run_softmax(float *y, weft_device *device, const float *x) {
    struct weft_test_run run = weft_test_begin(device);
    weft_tensor out;
    const weft_tensor in = weft_test_feed(&run, "x", weft_shape_of(ROWS, COLUMNS), x);
    assert_ok(weft_graph_softmax(&out, run.graph, in));
    weft_test_execute_to(&run, out, y);
}

static void expect_softmax(struct weft_test_host *host, const float *expected, const float *x,
                           uint32_t threads, const weft_job_system *jobs) {
    weft_device *device = NULL;
    weft_device_info info;
    float *y = malloc(COUNT * sizeof *y);
    assert_ok(open_processor(&device, host, threads, jobs));
    assert_ok(weft_device_get_info(device, &info));
    assert_int_equal(info.type, WEFT_DEVICE_PROCESSOR);
    if (jobs || threads > 0) {
        assert_int_equal(info.threads, jobs ? jobs->concurrency : threads);
    }
    run_softmax(y, device, x);
    assert_memory_equal(y, expected, COUNT * sizeof *y);
    weft_test_device_close(&device);
    free(y);
}

static void run_alone(void *user, weft_job work, void *job, uint32_t count) {
    struct weft_test_jobs *asked = user;
    (void)count;
    atomic_fetch_add(&asked->jobs, 1);
    work(job, 0);
}

WEFT_TEST_ON_HOST(anybodys_threads_give_the_same_bits, host) {
    if (!weft_native_can_compile()) {
        skip();
    }
    struct weft_test_jobs workers = {0}, alone = {0};
    const weft_job_system systems[] = {
        {.concurrency = 4, .user = &workers, .run = weft_test_run_on_new_threads},
        {.concurrency = 3, .user = &alone, .run = run_alone},
        {.concurrency = 1, .user = &alone, .run = run_alone}};
    float *x = weft_test_uniform(COUNT, 3, 0), *expected = malloc(COUNT * sizeof *expected);
    weft_device *device = NULL;
    assert_ok(open_processor(&device, host, 1, NULL));
    run_softmax(expected, device, x);
    weft_test_device_close(&device);
    expect_softmax(host, expected, x, 0, NULL);
    expect_softmax(host, expected, x, 3, NULL);
    for (size_t i = 0; i < sizeof systems / sizeof systems[0]; i++) {
        expect_softmax(host, expected, x, 2, &systems[i]);
    }
    assert_true(atomic_load(&workers.jobs) > 0);
    assert_true(atomic_load(&workers.threads) > 0);
    assert_true(atomic_load(&alone.jobs) > 0);
    free(expected);
    free(x);
}

WEFT_TEST_ON_HOST(threads_that_cannot_be_are_refused, host) {
    const weft_job_system none = {.run = run_alone}, many = {.concurrency = 1025, .run = run_alone},
                          nobody = {.concurrency = 1};
    weft_device *device = NULL;
    WEFT_EXPECT_REFUSED(host, WEFT_INVALID_ARGUMENT, open_processor(&device, host, 1025, NULL),
                        "threads is 1025", "0 to 1024");
    WEFT_EXPECT_REFUSED(host, WEFT_INVALID_ARGUMENT, open_processor(&device, host, 0, &none),
                        "jobs.concurrency is 0", "1 to 1024");
    WEFT_EXPECT_REFUSED(host, WEFT_INVALID_ARGUMENT, open_processor(&device, host, 0, &many),
                        "jobs.concurrency is 1025", "1 to 1024");
    WEFT_EXPECT_REFUSED(host, WEFT_INVALID_ARGUMENT, open_processor(&device, host, 0, &nobody),
                        "no function");
    assert_null(device);
}

/* ---- without a compiler ---- */

#ifndef _WIN32 /* which has no setenv */

WEFT_TEST_ON_HOST(kernels_that_are_interpreted_give_the_same_bits, host) {
    if (!weft_native_can_compile()) {
        skip();
    }
    float *x = weft_test_uniform(COUNT, 3, 0), *y = malloc(COUNT * sizeof *y),
          *expected = malloc(COUNT * sizeof *expected);
    weft_device *device = NULL;
    weft_device_info info;
    assert_ok(open_processor(&device, host, 1, NULL));
    assert_ok(weft_device_get_info(device, &info));
    assert_false(info.interpreted);
    assert_string_equal(info.slow, "");
    run_softmax(expected, device, x);
    weft_test_device_close(&device);
    assert_int_equal(weft_test_log_count(host, "warning"), 0);
    assert_int_equal(setenv("WEFT_LLVM", "0", 1), 0);
    assert_ok(open_processor(&device, host, 2, NULL));
    assert_ok(weft_device_get_info(device, &info));
    assert_int_equal(info.type, WEFT_DEVICE_SOFTWARE);
    assert_non_null(strstr(info.driver_version, "interpreted: slow"));
    assert_true(info.interpreted);
    assert_non_null(strstr(info.slow, "WEFT_LLVM=0"));
    assert_int_equal(weft_test_log_count(host, "warning"), 1);
    weft_test_expect_log(host, "is slow: its kernels are interpreted", "WEFT_LLVM=0");
    run_softmax(y, device, x);
    weft_test_device_close(&device);
    assert_int_equal(unsetenv("WEFT_LLVM"), 0);
    assert_memory_equal(y, expected, COUNT * sizeof *y);
    free(expected);
    free(y);
    free(x);
}
#endif

/* ---- a kernel that leaves its buffers ---- */

/* y[i] = x[i], and much that is nowhere. */
#define WILD_TEXT                                                                                \
    "#version 450\n"                                                                             \
    "layout(local_size_x = 64) in;\n"                                                            \
    "layout(std430, binding = 0) readonly buffer Source { uint source[]; };\n"                   \
    "layout(std430, binding = 1) buffer Result { uint result[]; };\n"                            \
    "layout(push_constant) uniform Push { uint count; uint far; } push;\n"                       \
    "shared uint part[64];\n"                                                                    \
    "void main()\n"                                                                              \
    "{\n"                                                                                        \
    "    uint i = gl_GlobalInvocationID.x, own[4] = {0, 0, 0, 0};\n"                             \
    "    part[gl_LocalInvocationIndex] = 0;\n"                                                   \
    "    barrier();\n"                                                                           \
    "    part[gl_LocalInvocationIndex + push.far] = 7;\n"                                        \
    "    own[push.far + i] = 3;\n"                                                               \
    "    result[push.count + push.far + i] = 9;\n"                                               \
    "    result[push.far * (i + 1)] = 9;\n"                                                      \
    "    uint stray = source[push.far + i] + source[push.far * i + push.far] + part[push.far + " \
    "i];\n"                                                                                      \
    "    if (i < push.count) { result[i] = source[i] + stray + own[0]; }\n"                      \
    "}\n"

enum { WORDS = 1000, FAR = 1000000 };

static weft_status wild_infer(const weft_graph *graph, weft_node *node, weft_dtype *dtype,
                              weft_shape *shape) {
    *dtype = weft_node_dtype(graph, node, 0);
    *shape = *weft_node_shape(graph, node, 0);
    return WEFT_OK;
}

static weft_status wild_lower(weft_lowering *lowering, const weft_node *node) {
    const weft_arg args[] = {weft_arg_buffer("source", weft_lower_input(lowering, node, 0)),
                             weft_arg_buffer("result", weft_lower_output(lowering, node)),
                             weft_arg_uint("count", WORDS), weft_arg_uint("far", FAR)};
    return weft_lower_launch(lowering,
                             weft_launch(.kernel = {.name = "test/wild", .glsl = WILD_TEXT},
                                         .extent = {(WORDS + 63) / 64, 1, 1}, .args = args,
                                         .arg_count = sizeof args / sizeof args[0]));
}

WEFT_TEST_ON_HOST(kernels_of_others_reach_nothing_else, host) {
    static const weft_implementation row = {.name = "only", .lower = wild_lower};
    int32_t x[WORDS], y[WORDS];
    weft_device *device = NULL;
    weft_graph *graph = NULL;
    weft_op *op = NULL;
    weft_plan *plan = NULL;
    weft_tensor out;
    for (int32_t i = 0; i < WORDS; i++) {
        x[i] = 3 * i + 1;
    }
    assert_ok(open_processor(&device, host, 0, NULL));
    assert_ok(weft_op_create(&op,
                             weft_op_params(.name = "wild", .min_inputs = 1, .infer = wild_infer,
                                            .implementations = &row, .implementation_count = 1),
                             &host->host));
    assert_ok(weft_graph_create(&graph, &host->host));
    const weft_tensor in = weft_test_input_i32(graph, "x", weft_shape_of(WORDS));
    assert_ok(weft_graph_add(&out, graph, op, &in, 1, NULL, 0));
    assert_ok(weft_graph_output(graph, "y", out));
    assert_ok(weft_plan_compile(&plan, device, graph, NULL));
    for (int round = 0; round < 3; round++) {
        memset(y, 0xFF, sizeof y);
        assert_ok(weft_plan_execute(
            plan, (weft_host_tensor[]){{"x", x, sizeof x}, {"y", y, sizeof y}}, 2));
        assert_memory_equal(x, y, sizeof y);
    }
    weft_plan_destroy(&plan);
    weft_graph_destroy(&graph);
    weft_op_destroy(&op);
    weft_test_device_close(&device);
}
