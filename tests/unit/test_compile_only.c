/* SPDX-License-Identifier: MIT */
/* weft-test: long device */
/* Devices that only compile: plans come to be with all their kernels, and nothing else does. */
#include <weft/buffer.h>
#include <weft/inspect.h>
#include <weft/mixers.h>
#include <weft/vulkan.h>

#include "core/math/philox.h"
#include "device/device.h"
#include "support_graph.h"

enum { ROWS = 12, COLUMNS = 20 };

static weft_device *open_compiler(struct weft_test_graph *f, weft_math math) {
    weft_device *device = NULL;
    assert_ok(weft_device_open(&device, weft_device_params(.host = f->host.host, .math = math,
                                                           .cache_dir = "", .compile_only = true)));
    return device;
}

/* FFT(x · softmax(w)): a folded constant, a product with several variants, and kernels of VkFFT. */
static void fill_graph(weft_graph *graph) {
    float data[COLUMNS * COLUMNS];
    weft_tensor x = weft_test_input(graph, "x", weft_shape_of(1, ROWS, COLUMNS));
    weft_tensor w, y;
    weft_philox_uniform(data, COLUMNS * COLUMNS, 7, 1);
    w = weft_test_constant(graph, weft_shape_of(COLUMNS, COLUMNS), data);
    assert_ok(weft_graph_softmax(&w, graph, w));
    assert_ok(weft_graph_matmul(&y, graph, x, w, NULL));
    assert_ok(weft_graph_fourier(&y, graph, y));
    assert_ok(weft_graph_output(graph, "y", y));
}

static weft_plan *compile(weft_device *device, const weft_graph *graph) {
    weft_plan *plan = NULL;
    assert_ok(weft_plan_compile(&plan, device, graph,
                                weft_plan_params(.implementation = "fft", .timestamps = true)));
    return plan;
}

static void expect_same_module(const weft_plan *a, const weft_plan *b, uint32_t dispatch) {
    size_t sizes[2] = {0};
    assert_ok(weft_plan_get_module(a, dispatch, WEFT_MODULE_PORTABLE, NULL, &sizes[0]));
    assert_ok(weft_plan_get_module(b, dispatch, WEFT_MODULE_PORTABLE, NULL, &sizes[1]));
    assert_int_equal(sizes[0], sizes[1]);
    uint32_t *words = weft_test_keep(sizes[0]);
    uint32_t *others = weft_test_keep(sizes[0]);
    assert_ok(weft_plan_get_module(a, dispatch, WEFT_MODULE_PORTABLE, words, &sizes[0]));
    assert_ok(weft_plan_get_module(b, dispatch, WEFT_MODULE_PORTABLE, others, &sizes[1]));
    assert_memory_equal(words, others, sizes[0]);
}

/* Of the first dispatch there may be several variants, of which a device that runs measures the fastest. */
WEFT_TEST_ON_GRAPH(test_plans_have_the_kernels_that_run, f) {
    weft_device *device = open_compiler(f, WEFT_MATH_REPRODUCIBLE);
    fill_graph(f->graph);
    weft_plan *compiled = compile(device, f->graph);
    weft_plan *ready = compile(f->device, f->graph);
    weft_plan_info a, b;
    assert_ok(weft_plan_get_info(compiled, &a));
    assert_ok(weft_plan_get_info(ready, &b));
    assert_int_equal(a.dispatches, b.dispatches);
    assert_true(a.dispatches >= 3 && a.arena_bytes == b.arena_bytes);
    assert_true(a.weight_bytes == b.weight_bytes);
    for (uint32_t i = 1; i < a.dispatches; i++) {
        expect_same_module(compiled, ready, i);
    }
    weft_device_stats stats;
    assert_ok(weft_device_get_stats(device, &stats));
    assert_true(stats.pipelines_created >= a.dispatches);
    assert_true(stats.submissions == 0 && stats.peak_bytes == 0);
    weft_plan_destroy(&compiled);
    weft_plan_destroy(&ready);
    weft_test_device_close(&device);
}

/* In fast mode too, where more would be measured. */
WEFT_TEST_ON_GRAPH(test_nothing_is_timed, f) {
    weft_device *device = open_compiler(f, WEFT_MATH_FAST);
    weft_plan *plan = NULL;
    const char *choices = NULL;
    fill_graph(f->graph);
    assert_ok(weft_plan_compile(&plan, device, f->graph, NULL));
    assert_ok(weft_plan_describe(plan, "choices", &choices));
    assert_null(strstr(choices, "measured"));
    assert_null(strstr(choices, " ms"));
    weft_plan_destroy(&plan);
    weft_test_device_close(&device);
}

#define REFUSED(call) \
    WEFT_EXPECT_REFUSED(&f->host, WEFT_UNSUPPORTED, call, "opened for compiling only")

WEFT_TEST_ON_GRAPH(test_nothing_runs, f) {
    weft_device *device = open_compiler(f, WEFT_MATH_REPRODUCIBLE);
    fill_graph(f->graph);
    weft_plan *plan = compile(device, f->graph);
    float x[ROWS * COLUMNS] = {0}, y[ROWS * COLUMNS];
    const weft_host_tensor tensors[] = {{"x", x, sizeof x}, {"y", y, sizeof y}};
    weft_buffer *buffer = NULL;
    weft_bindings *bindings = NULL;
    weft_plan_stats stats;
    weft_timing timings[16];
    uint32_t count = 16;
    weft_storage_info storage;
    uint32_t constant = 0;
    while (weft_plan_get_storage(plan, constant, &storage) == WEFT_OK &&
           storage.kind != WEFT_STORAGE_CONSTANT) {
        constant++;
    }
    REFUSED(weft_plan_execute(plan, tensors, 2));
    REFUSED(weft_bindings_create(&bindings, plan));
    REFUSED(weft_bindings_create_concurrent(&bindings, plan));
    REFUSED(weft_buffer_create(&buffer, device, 64));
    REFUSED(weft_buffer_wrap(&buffer, device, (VkBuffer)(uintptr_t)1, 0, 64));
    REFUSED(weft_buffer_wrap_host(&buffer, device, x, sizeof x));
    REFUSED(weft_plan_get_stats(plan, &stats));
    REFUSED(weft_plan_get_timings(plan, timings, &count));
    REFUSED(weft_plan_read_constant(plan, constant, x));
    assert_true(!buffer && !bindings);
    assert_true(weft_device_timeline(device) == VK_NULL_HANDLE);
    weft_device_trim(device);
    assert_ok(weft_device_save_cache(device));
    weft_plan_destroy(&plan);
    weft_test_device_close(&device);
}

/* Where the driver has them there are numbers; elsewhere asking for them is refused at once. */
WEFT_TEST_ON_GRAPH(test_executables, f) {
    weft_device_info info;
    weft_executable *executable = NULL;
    weft_device *device = NULL;
    const weft_device_params params = {
        .host = f->host.host, .cache_dir = "", .compile_only = true, .executables = true};
    fill_graph(f->graph);
    weft_plan *plan = compile(f->device, f->graph);
    WEFT_EXPECT_REFUSED(&f->host, WEFT_UNSUPPORTED, weft_plan_get_executable(&executable, plan, 0),
                        "opened without `executables`");
    assert_status(weft_plan_get_executable(&executable, plan, 1000), WEFT_NOT_FOUND);
    assert_status(weft_plan_get_executable(NULL, plan, 0), WEFT_INVALID_ARGUMENT);
    weft_plan_destroy(&plan);
    assert_ok(weft_device_get_info(f->device, &info));
    if (!info.has_executables) {
        WEFT_EXPECT_REFUSED(&f->host, WEFT_UNSUPPORTED, weft_device_open(&device, &params),
                            "VK_KHR_pipeline_executable_properties");
        return;
    }
    assert_ok(weft_device_open(&device, &params));
    plan = compile(device, f->graph);
    assert_ok(weft_plan_get_executable(&executable, plan, 0));
    assert_true(executable->statistic_count > 0);
    weft_executable_destroy(&executable);
    weft_plan_destroy(&plan);
    weft_test_device_close(&device);
}
