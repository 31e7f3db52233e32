/* SPDX-License-Identifier: MIT */
/* Kernels of others that do not end by themselves, and other threads' runs beside one that is cancelled. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* usleep */
#endif
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include <weft/op.h>

#include "support.h"

enum { ITEMS = 64, GROUPS = 8, COUNT = ITEMS * GROUPS, BYTES = COUNT * 4 };

#define HEAD                                                              \
    "#version 450\n"                                                      \
    "layout(local_size_x = 64) in;\n"                                     \
    "layout(std430, binding = 0) readonly buffer X { float x[]; };\n"     \
    "layout(std430, binding = 1) writeonly buffer Y { float y[]; };\n"    \
    "shared float part[64];\n"                                            \
    "void main()\n"                                                       \
    "{\n"                                                                 \
    "    uint i = gl_GlobalInvocationID.x, l = gl_LocalInvocationID.x;\n" \
    "    uint turns = uint(x[i]);\n"                                      \
    "    float sum = 0.0;\n"
#define TAIL "    y[i] = sum;\n}\n"

/* y = x, after so many turns; the loops have one length, lengths of their own, two levels, and a barrier. */
static const char *const kernels[] = {
    HEAD "turns = uint(x[0]); for (uint k = 0; k < turns; k++) { sum = sum + 1.0; }\n" TAIL,
    HEAD "for (uint k = 0; k < turns; k++) { sum = sum + 1.0; }\n" TAIL,
    HEAD
    "for (uint k = 0; k < turns; k++) { for (uint j = 0; j < 4; j++) { sum += 0.25; } }\n" TAIL,
    HEAD "while (true) { if (sum >= x[i]) { break; } sum += 1.0; }\n" TAIL,
    HEAD "turns = uint(x[0]); for (uint k = 0; k < turns; k++) {\n"
         "    part[l] = sum; barrier(); sum = part[63 - l] + 1.0; barrier(); }\n" TAIL,
};
enum { KERNELS = sizeof kernels / sizeof kernels[0] };

static weft_status infer(const weft_graph *graph, weft_node *node, weft_dtype *dtype,
                         weft_shape *shape) {
    (void)graph;
    (void)node;
    *dtype = WEFT_F32;
    *shape = weft_shape_of(COUNT);
    return WEFT_OK;
}

static weft_status lower(weft_lowering *lowering, const weft_node *node) {
    const weft_arg args[] = {weft_arg_buffer("x", weft_lower_input(lowering, node, 0)),
                             weft_arg_buffer("y", weft_lower_output(lowering, node))};
    const weft_op_kernel *kernel = weft_node_user(node);
    return weft_lower_launch(lowering, weft_launch(.kernel = *kernel, .extent = {GROUPS, 1, 1},
                                                   .args = args, .arg_count = 2));
}

static const weft_implementation implementation = {.name = "turns", .lower = lower};

static weft_plan *compile(weft_device *device, weft_op_kernel *kernel) {
    weft_op *op = NULL;
    weft_graph *graph = NULL;
    weft_plan *plan = NULL;
    weft_tensor x = {0}, y = {0};
    assert_ok(weft_op_create(&op,
                             weft_op_params(.name = "turns", .min_inputs = 1, .infer = infer,
                                            .implementations = &implementation,
                                            .implementation_count = 1, .user = kernel),
                             NULL));
    assert_ok(weft_graph_create(&graph, NULL));
    assert_ok(weft_graph_input(&x, graph, "x", WEFT_F32, weft_shape_of(COUNT)));
    assert_ok(weft_graph_add(&y, graph, op, &x, 1, NULL, 0));
    assert_ok(weft_graph_output(graph, "y", y));
    assert_ok(weft_plan_compile(&plan, device, graph, NULL));
    weft_graph_destroy(&graph);
    weft_op_destroy(&op);
    return plan;
}

static weft_status run(weft_plan *plan, float turns, float *y) {
    float x[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        x[i] = turns;
    }
    const weft_host_tensor tensors[] = {{.name = "x", .data = x, .bytes = BYTES},
                                        {.name = "y", .data = y, .bytes = BYTES}};
    return weft_plan_execute(plan, tensors, 2);
}

static void expect_right(weft_plan *plan) {
    float y[COUNT];
    assert_ok(run(plan, 9.0F, y));
    for (size_t i = 0; i < COUNT; i++) {
        assert_true(y[i] == 9.0F);
    }
}

/* Turns that take minutes; and in floats one adds nothing to 2^24. */
static const float endless = 4.0e9F;

struct asked {
    pthread_t thread;
    atomic_uint times;
    atomic_bool yes;
};

static bool answer(void *user) {
    struct asked *asked = user;
    atomic_fetch_add(&asked->times, 1);
    return atomic_load(&asked->yes) && pthread_equal(asked->thread, pthread_self());
}

static void *say_yes_soon(void *user) {
    struct asked *asked = user;
    usleep(100000);
    atomic_store(&asked->yes, true);
    return NULL;
}

static void *cancel_soon(void *device) {
    usleep(100000);
    weft_device_cancel(device);
    return NULL;
}

/* ---- the tests ---- */

static const uint32_t thread_counts[] = {1, 3};

static void expect_cancelled(struct weft_test_host *host, const char *text, uint32_t threads) {
    struct asked asked = {.thread = pthread_self()};
    weft_op_kernel kernel = {.name = "turns", .glsl = text};
    weft_device *device = NULL;
    weft_host asking = host->host;
    asking.interrupted = answer;
    asking.interrupted_user = &asked;
    assert_ok(weft_device_open(
        &device, weft_device_params(.host = asking, .threads = threads, .select = "processor")));
    weft_plan *plan = compile(device, &kernel);
    float y[COUNT];
    pthread_t thread;
    expect_right(plan);
    assert_int_equal(pthread_create(&thread, NULL, say_yes_soon, &asked), 0);
    assert_status(run(plan, endless, y), WEFT_CANCELLED);
    pthread_join(thread, NULL);
    atomic_store(&asked.yes, false);
    expect_right(plan);
    weft_plan_destroy(&plan);
    weft_device_destroy(&device);
}

WEFT_TEST_ON_HOST(endless_kernels_are_cancelled, host) {
    for (size_t i = 0; i < KERNELS; i++) {
        for (size_t k = 0; k < 2; k++) {
            expect_cancelled(host, kernels[i], thread_counts[k]);
        }
    }
}

WEFT_TEST_ON_HOST(a_device_with_an_endless_kernel_goes, host) {
    for (size_t i = 0; i < KERNELS; i++) {
        weft_op_kernel kernel = {.name = "turns", .glsl = kernels[i]};
        weft_device *device = NULL;
        assert_ok(weft_device_open(&device,
                                   weft_device_params(.host = host->host, .select = "processor")));
        weft_plan *plan = compile(device, &kernel);
        float y[COUNT];
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, cancel_soon, device), 0);
        assert_status(run(plan, endless, y), WEFT_DEVICE_LOST);
        pthread_join(thread, NULL);
        assert_status(run(plan, 1.0F, y), WEFT_DEVICE_LOST);
        weft_plan_destroy(&plan);
        weft_device_destroy(&device);
    }
}

/* ---- beside others ---- */

struct other {
    weft_device *device;
    const char *text;
    atomic_bool stop;
    unsigned runs, wrong;
    weft_status status;
};

static void *run_on(void *user) {
    struct other *other = user;
    weft_op_kernel kernel = {.name = "turns", .glsl = other->text};
    weft_plan *plan = compile(other->device, &kernel);
    while (!atomic_load(&other->stop) && other->status == WEFT_OK) {
        float y[COUNT];
        other->status = run(plan, 20000.0F, y);
        for (size_t i = 0; i < COUNT; i++) {
            other->wrong += y[i] != 20000.0F;
        }
        other->runs++;
    }
    weft_plan_destroy(&plan);
    return NULL;
}

/* Only the runs of the thread whose host says so end. */
WEFT_TEST_ON_HOST(runs_of_other_threads_go_on, host) {
    struct asked asked = {.thread = pthread_self()};
    weft_op_kernel kernel = {.name = "turns", .glsl = kernels[0]};
    weft_host asking = host->host;
    asking.interrupted = answer;
    asking.interrupted_user = &asked;
    struct other other = {.text = kernels[1]};
    assert_ok(
        weft_device_open(&other.device, weft_device_params(.host = asking, .select = "processor")));
    weft_plan *plan = compile(other.device, &kernel);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, run_on, &other), 0);
    for (int i = 0; i < 5; i++) {
        float y[COUNT];
        pthread_t later;
        assert_int_equal(pthread_create(&later, NULL, say_yes_soon, &asked), 0);
        assert_status(run(plan, endless, y), WEFT_CANCELLED);
        pthread_join(later, NULL);
        atomic_store(&asked.yes, false);
        expect_right(plan);
    }
    atomic_store(&other.stop, true);
    pthread_join(thread, NULL);
    assert_ok(other.status);
    assert_int_equal(other.wrong, 0);
    assert_true(other.runs > 0);
    weft_plan_destroy(&plan);
    weft_device_destroy(&other.device);
}
