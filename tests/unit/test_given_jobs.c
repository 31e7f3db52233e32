/* SPDX-License-Identifier: MIT */
/* Job systems of a program that do not do what weft_job_system asks. */
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>

#include "support_graph.h"

enum { ROWS = 300, COLUMNS = 700, COUNT = ROWS * COLUMNS, SLOTS = 4 };

struct jobs {
    atomic_bool bad;
    jmp_buf *away;
    /* Of the job before. */
    weft_job work;
    void *job;
};

struct call {
    weft_job work;
    void *job;
    uint32_t slot;
};

static void *make_call(void *user) {
    const struct call *call = user;
    call->work(call->job, call->slot);
    return NULL;
}

/* On threads of their own, all at once. */
static void call_at_once(weft_job work, void *job, const uint32_t *slots, size_t count) {
    pthread_t threads[8];
    struct call calls[8];
    for (size_t i = 0; i < count; i++) {
        calls[i] = (struct call){work, job, slots[i]};
        assert_int_equal(pthread_create(&threads[i], NULL, make_call, &calls[i]), 0);
    }
    for (size_t i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
}

static void run_twice(void *user, weft_job work, void *job, uint32_t count) {
    (void)user;
    (void)count;
    const uint32_t slots[] = {0, 0, 1, 1, 0, 1};
    call_at_once(work, job, slots, 6);
}

static void run_none(void *user, weft_job work, void *job, uint32_t count) {
    (void)user;
    (void)work;
    (void)job;
    (void)count;
}

static void run_not_the_first(void *user, weft_job work, void *job, uint32_t count) {
    (void)user;
    work(job, count - 1);
}

static void run_beyond(void *user, weft_job work, void *job, uint32_t count) {
    (void)user;
    const uint32_t slots[] = {count, 0, SLOTS, UINT32_MAX};
    call_at_once(work, job, slots, 4);
}

/* As a pool does whose queue is slow: the call of one job comes in the next. */
static void run_late(void *user, weft_job work, void *job, uint32_t count) {
    struct jobs *jobs = user;
    if (jobs->work) {
        jobs->work(jobs->job, count - 1);
    }
    jobs->work = work;
    jobs->job = job;
    work(job, 0);
}

static void run_away(void *user, weft_job work, void *job, uint32_t count) {
    struct jobs *jobs = user;
    if (atomic_load(&jobs->bad)) {
        longjmp(*jobs->away, 1);
    }
    for (uint32_t slot = 0; slot < count; slot++) {
        work(job, slot);
    }
}

static void open_device(weft_device **device, struct weft_test_host *host,
                        const weft_job_system *jobs) {
    assert_ok(weft_device_open(device, weft_device_params(.host = host->host, .jobs = jobs,
                                                          .select = "processor", .cache_dir = "")));
}

static void run_softmax(float *y, weft_device *device, const float *x) {
    struct weft_test_run run = weft_test_begin(device);
    weft_tensor out;
    const weft_tensor in = weft_test_feed(&run, "x", weft_shape_of(ROWS, COLUMNS), x);
    assert_ok(weft_graph_softmax(&out, run.graph, in));
    weft_test_execute_to(&run, out, y);
}

WEFT_TEST_ON_HOST(whatever_it_does_the_job_is_done, host) {
    static void (*const runs[])(void *, weft_job, void *, uint32_t) = {
        run_twice, run_none, run_not_the_first, run_beyond, run_late};
    float *x = weft_test_uniform(COUNT, 3, 0);
    float *expected = malloc(COUNT * sizeof *expected), *y = malloc(COUNT * sizeof *y);
    weft_device *device = NULL;
    assert_true(expected && y);
    open_device(&device, host, NULL);
    run_softmax(expected, device, x);
    weft_device_destroy(&device);
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        struct jobs state = {.work = NULL};
        const weft_job_system jobs = {.concurrency = SLOTS, .user = &state, .run = runs[i]};
        open_device(&device, host, &jobs);
        for (int round = 0; round < 3; round++) {
            memset(y, 0, COUNT * sizeof *y);
            run_softmax(y, device, x);
            assert_memory_equal(y, expected, COUNT * sizeof *y);
        }
        weft_device_destroy(&device);
    }
    free(x);
    free(y);
    free(expected);
}

/* As an exception would: no frame of the library is returned to. */
WEFT_TEST_ON_HOST(a_run_that_is_left_loses_the_device, host) {
    jmp_buf away;
    struct jobs state = {.away = &away};
    const weft_job_system jobs = {.concurrency = SLOTS, .user = &state, .run = run_away};
    float *x = weft_test_uniform(COUNT, 3, 0), *y = malloc(COUNT * sizeof *y);
    weft_device *device = NULL;
    weft_graph *graph = NULL;
    weft_plan *plan = NULL;
    weft_tensor t = {0};
    assert_non_null(y);
    open_device(&device, host, &jobs);
    assert_ok(weft_graph_create(&graph, NULL));
    assert_ok(weft_graph_input(&t, graph, "x", WEFT_F32, weft_shape_of(ROWS, COLUMNS)));
    assert_ok(weft_graph_softmax(&t, graph, t));
    assert_ok(weft_graph_output(graph, "y", t));
    assert_ok(weft_plan_compile(&plan, device, graph, NULL));
    const weft_host_tensor tensors[] = {
        {.name = "x", .data = x, .bytes = COUNT * sizeof *x},
        {.name = "y", .data = y, .bytes = COUNT * sizeof *y},
    };
    assert_ok(weft_plan_execute(plan, tensors, 2));
    atomic_store(&state.bad, true);
    if (setjmp(away) == 0) {
        (void)weft_plan_execute(plan, tensors, 2);
        fail_msg("the run came back");
    }
    atomic_store(&state.bad, false);
    WEFT_EXPECT_REFUSED(host, WEFT_DEVICE_LOST, weft_plan_execute(plan, tensors, 2),
                        "job system's run did not return");
    assert_status(weft_plan_execute(plan, tensors, 2), WEFT_DEVICE_LOST);
    weft_plan_destroy(&plan);
    weft_graph_destroy(&graph);
    weft_device_destroy(&device);
    free(x);
    free(y);
}
