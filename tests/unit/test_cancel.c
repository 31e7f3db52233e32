/* SPDX-License-Identifier: MIT */
/* weft-test: long device */
/* Calls that end before their time: because the host is asked and says so, or because the device is given up. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* usleep */
#endif
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include <weft/mixers.h>
#include <weft/model.h>
#include <weft/op.h>

#include "support.h"

enum { N = 64, D = 32, COUNT = N * D, BYTES = COUNT * 4, LAYERS = 4, NEVER = 1 << 30 };

/* ---- who is asked ---- */

/* The driver that is tested, and the processor device in this process. */
static const char *const selects[] = {NULL, "processor"};

struct asked {
    pthread_t thread; /* that alone may be asked */
    atomic_uint times;
    atomic_uint yes_at; /* from this time on the answer is yes */
    atomic_bool wrong_thread;
};

static bool answer(void *user) {
    struct asked *asked = user;
    if (!pthread_equal(asked->thread, pthread_self())) {
        atomic_store(&asked->wrong_thread, true);
    }
    return atomic_fetch_add(&asked->times, 1) + 1 >= atomic_load(&asked->yes_at);
}

static void yes_at(struct asked *asked, unsigned time) {
    atomic_store(&asked->times, 0);
    atomic_store(&asked->yes_at, time);
}

struct fixture {
    struct weft_test_host host;
    struct asked asked;
    const char *select;
    weft_device *device;
    weft_plan *plan;
    float *x, *y, *expected;
};

static weft_host asking_host(struct fixture *f) {
    weft_host host = f->host.host;
    host.interrupted = answer;
    host.interrupted_user = &f->asked;
    return host;
}

static void open_device(struct fixture *f, const weft_host *host) {
    weft_test_set_variable("WEFT_PROCESSOR", f->select ? "1" : "0");
    /* So that a plan has several submissions where it must. */
    assert_ok(weft_device_open(&f->device, weft_device_params(.host = *host, .select = f->select,
                                                              .submission_limit_ms = 1)));
}

static weft_status compile(weft_plan **plan, weft_device *device) {
    weft_graph *graph = NULL;
    weft_tensor x = {0};
    assert_ok(weft_graph_create(&graph, NULL));
    assert_ok(weft_graph_input(&x, graph, "x", WEFT_F32, weft_shape_of(1, N, D)));
    for (int i = 0; i < LAYERS; i++) {
        assert_ok(weft_graph_attention(&x, graph, x, x, x, NULL));
    }
    assert_ok(weft_graph_output(graph, "y", x));
    const weft_status status = weft_plan_compile(plan, device, graph, NULL);
    weft_graph_destroy(&graph);
    return status;
}

static weft_status execute(struct fixture *f) {
    const weft_host_tensor tensors[] = {{.name = "x", .data = f->x, .bytes = BYTES},
                                        {.name = "y", .data = f->y, .bytes = BYTES}};
    memset(f->y, 0xff, BYTES);
    return weft_plan_execute(f->plan, tensors, 2);
}

static void expect_right(struct fixture *f) {
    assert_ok(execute(f));
    assert_memory_equal(f->y, f->expected, BYTES);
}

static void set_up(struct fixture *f, const char *select, bool asks) {
    *f = (struct fixture){.select = select};
    weft_test_host_begin(&f->host);
    f->asked.thread = pthread_self();
    yes_at(&f->asked, NEVER);
    f->x = weft_test_uniform(COUNT, 7, 0);
    f->y = malloc(BYTES);
    f->expected = malloc(BYTES);
    assert_true(f->y && f->expected);
    const weft_host host = asks ? asking_host(f) : f->host.host;
    open_device(f, &host);
    assert_ok(compile(&f->plan, f->device));
    assert_ok(execute(f));
    memcpy(f->expected, f->y, BYTES);
}

static void tear_down(struct fixture *f) {
    assert_false(atomic_load(&f->asked.wrong_thread));
    weft_plan_destroy(&f->plan);
    weft_device_destroy(&f->device);
    free(f->x);
    free(f->y);
    free(f->expected);
    weft_test_host_end(&f->host);
}

/* ---- the host is asked ---- */

/* At each of the first times; then the same plan gives the same bits. */
static void try_cancelled_runs_leave_the_plan_good(const char *select) {
    struct fixture f;
    set_up(&f, select, true);
    for (unsigned time = 1; time <= 3; time++) { /* before the input is there, before the run … */
        yes_at(&f.asked, time);
        WEFT_EXPECT_REFUSED(&f.host, WEFT_CANCELLED, execute(&f), "interrupted");
        assert_int_equal(atomic_load(&f.asked.times), time);
        yes_at(&f.asked, NEVER);
        expect_right(&f);
    }
    tear_down(&f);
}

static void try_cancelled_compiles_leave_the_device_good(const char *select) {
    struct fixture f;
    set_up(&f, select, true);
    weft_plan_destroy(&f.plan);
    weft_device_destroy(&f.device);
    const weft_host host = asking_host(&f);
    open_device(&f, &host);
    weft_status status = WEFT_CANCELLED;
    unsigned time = 0;
    while (status == WEFT_CANCELLED && time < 1000) {
        yes_at(&f.asked, ++time);
        status = compile(&f.plan, f.device);
    }
    assert_ok(status);
    assert_true(time > LAYERS); /* once for each node at least */
    yes_at(&f.asked, NEVER);
    expect_right(&f);
    tear_down(&f);
}

static void try_a_wait_may_be_cancelled(const char *select) {
    struct fixture f;
    set_up(&f, select, true);
    weft_bindings *bindings = NULL;
    weft_buffer *x = NULL, *y = NULL;
    assert_ok(weft_buffer_create(&x, f.device, BYTES));
    assert_ok(weft_buffer_create(&y, f.device, BYTES));
    assert_ok(weft_buffer_write(x, 0, f.x, BYTES));
    assert_ok(weft_bindings_create(&bindings, f.plan));
    assert_ok(weft_bindings_set(bindings, "x", x));
    assert_ok(weft_bindings_set(bindings, "y", y));
    uint64_t ticket = 0;
    for (int i = 0; i < 40; i++) {
        assert_ok(weft_plan_submit(f.plan, bindings, &ticket));
    }
    yes_at(&f.asked, 1);
    const weft_status status = weft_plan_wait(f.plan, ticket, UINT64_MAX, NULL);
    assert_true(status == WEFT_CANCELLED || status == WEFT_OK); /* a device may be so fast */
    yes_at(&f.asked, NEVER);
    assert_ok(weft_plan_wait(f.plan, ticket, UINT64_MAX, NULL));
    assert_ok(weft_plan_run(f.plan, bindings));
    assert_ok(weft_buffer_read(y, 0, f.y, BYTES));
    assert_memory_equal(f.y, f.expected, BYTES);
    weft_bindings_destroy(&bindings);
    weft_buffer_destroy(&x);
    weft_buffer_destroy(&y);
    tear_down(&f);
}

WEFT_TEST_ON_HOST(loads_may_be_cancelled, host) {
    struct asked asked = {.thread = pthread_self()};
    weft_host asking = host->host;
    weft_model *model = NULL;
    weft_status status = WEFT_CANCELLED;
    unsigned time = 0;
    asking.interrupted = answer;
    asking.interrupted_user = &asked;
    while (status == WEFT_CANCELLED && time < 1000) {
        yes_at(&asked, ++time);
        status = weft_model_load(
            &model, WEFT_SOURCE_DIR "/api/examples/models/langid1024-fmmformer", &asking);
    }
    assert_ok(status);
    assert_true(time > 10); /* once for each tensor */
    weft_model_destroy(&model);
}

/* ---- the device is given up ---- */

static void *cancel_soon(void *device) {
    usleep(30000);
    weft_device_cancel(device);
    return NULL;
}

static void expect_lost(struct fixture *f) {
    weft_plan *plan = NULL;
    weft_buffer *buffer = NULL;
    assert_status(execute(f), WEFT_DEVICE_LOST);
    weft_test_expect_log(&f->host, "weft_device_cancel");
    assert_status(compile(&plan, f->device), WEFT_DEVICE_LOST);
    assert_status(weft_buffer_create(&buffer, f->device, 16), WEFT_DEVICE_LOST);
}

static void try_what_comes_after_is_lost(const char *select) {
    struct fixture f;
    set_up(&f, select, false);
    weft_device_cancel(NULL);
    weft_device_cancel(f.device);
    weft_device_cancel(f.device);
    expect_lost(&f);
    tear_down(&f);
}

static void try_runs_end_when_another_thread_cancels(const char *select) {
    for (int asks = 0; asks < 2; asks++) {
        struct fixture f;
        set_up(&f, select, asks);
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, cancel_soon, f.device), 0);
        weft_status status = WEFT_OK;
        while (status == WEFT_OK) {
            status = execute(&f);
        }
        assert_status(status, WEFT_DEVICE_LOST);
        pthread_join(thread, NULL);
        expect_lost(&f);
        tear_down(&f);
    }
}

static void try_a_device_goes_with_runs_in_flight(const char *select) {
    struct fixture f;
    set_up(&f, select, false);
    weft_bindings *bindings = NULL;
    weft_buffer *x = NULL, *y = NULL;
    uint64_t ticket = 0;
    assert_ok(weft_buffer_create(&x, f.device, BYTES));
    assert_ok(weft_buffer_create(&y, f.device, BYTES));
    assert_ok(weft_bindings_create(&bindings, f.plan));
    assert_ok(weft_bindings_set(bindings, "x", x));
    assert_ok(weft_bindings_set(bindings, "y", y));
    for (int i = 0; i < 20; i++) {
        assert_ok(weft_plan_submit(f.plan, bindings, &ticket));
    }
    weft_device_cancel(f.device);
    assert_status(weft_plan_wait(f.plan, ticket, UINT64_MAX, NULL), WEFT_DEVICE_LOST);
    weft_buffer_destroy(&x);
    weft_buffer_destroy(&y);
    weft_bindings_destroy(&bindings);
    tear_down(&f);
}

/* ---- on both ---- */

#define ON_BOTH(name)                                \
    WEFT_TEST(name) {                                \
        for (size_t which = 0; which < 2; which++) { \
            try_##name(selects[which]);              \
        }                                            \
    }

ON_BOTH(cancelled_runs_leave_the_plan_good)
ON_BOTH(cancelled_compiles_leave_the_device_good)
ON_BOTH(a_wait_may_be_cancelled)
ON_BOTH(what_comes_after_is_lost)
ON_BOTH(runs_end_when_another_thread_cancels)
ON_BOTH(a_device_goes_with_runs_in_flight)
