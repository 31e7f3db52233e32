/* SPDX-License-Identifier: MIT */
/* weft-test: long device */
/* Jobs that share frames: who comes when, in schedules that are written out, and the bits of all of them. */
#include <math.h>

#include "device/device.h"
#include "plan/plan.h"
#include "support_frames.h"

enum { LANES = 5, PARTS = 4 };

/* A plan of four parts, each expected to take 1 ms: lanes 0 to 2 have an arena of their own, 3 and 4 the plan's. */
struct jobs {
    struct weft_test_frames frames;
    struct weft_test_lane lanes[LANES];
    weft_frame_queue *queue;
    uint64_t job[LANES]; /* the newest of each lane */
    char schedule[256];  /* "AAB" for the parts, in the order in which they were recorded */
};

/* What was measured is what the test says. */
static void expect_ms(weft_plan *plan, uint32_t dispatch, double ms) {
    if (!plan->dispatch_ms) {
        plan->dispatch_ms = weft_alloc_zero(&plan->device->host, plan->lowering.dispatch_count + 1,
                                            sizeof *plan->dispatch_ms);
        assert_non_null(plan->dispatch_ms);
    }
    atomic_store(&plan->dispatch_ms[dispatch], ms);
    atomic_store(&plan->measured, true);
}

static void begin(struct jobs *j, struct weft_test_graph *f) {
    memset(j, 0, sizeof *j);
    weft_test_frames_begin_layers(&j->frames, f, NULL, 0);
    assert_int_equal(j->frames.info.parts, PARTS);
    for (uint32_t i = 0; i < LANES; i++) {
        weft_test_lane_begin(&j->lanes[i], &j->frames,
                             i < 3 ? weft_bindings_create_concurrent : weft_bindings_create, i + 1);
        weft_test_lane_forget(&j->lanes[i]);
    }
    for (uint32_t i = 0; i < PARTS; i++) {
        expect_ms(j->frames.plan, i, 1.0);
    }
    assert_ok(weft_frame_queue_create(&j->queue, f->device));
}

static void end(struct jobs *j) {
    weft_frame_queue_destroy(&j->queue);
    for (uint32_t i = 0; i < LANES; i++) {
        weft_test_lane_end(&j->lanes[i]);
    }
    weft_test_frames_end(&j->frames);
}

static void add(struct jobs *j, uint32_t lane, int32_t priority) {
    assert_ok(weft_frame_queue_add(j->queue, j->frames.plan, j->lanes[lane].bindings, priority,
                                   &j->job[lane]));
}

static weft_frame_job_info info_of(const struct jobs *j, uint32_t lane) {
    weft_frame_job_info info = {0};
    if (j->job[lane] > 0) {
        assert_ok(weft_frame_queue_get_job(j->queue, j->job[lane], &info));
    }
    return info;
}

/* Records and executes a frame. Of lanes with parts in the same frame the one that was finished comes first. */
static weft_frame_info frame(struct jobs *j, double budget_ms) {
    uint32_t before[LANES];
    weft_frame_info info;
    for (uint32_t i = 0; i < LANES; i++) {
        before[i] = info_of(j, i).recorded;
    }
    weft_test_frame_start(&j->frames);
    assert_ok(weft_frame_queue_record(j->queue, j->frames.commands, budget_ms, &info));
    weft_test_frame_finish(&j->frames);
    for (uint32_t finished = 2; finished-- > 0;) {
        for (uint32_t i = 0; i < LANES; i++) {
            const weft_frame_job_info now = info_of(j, i);
            const bool done = now.state == WEFT_FRAME_JOB_DONE;
            for (uint32_t k = before[i]; k < now.recorded && done == (finished == 1); k++) {
                const size_t length = strlen(j->schedule);
                j->schedule[length] = (char)('A' + i);
                j->schedule[length + 1] = '\0';
            }
        }
    }
    strcat(j->schedule, info.parts > 1 ? "|" : "");
    return info;
}

/* Frames until nothing is left. */
static void drain(struct jobs *j, double budget_ms) {
    weft_frame_info info = {.jobs_left = 1};
    for (uint32_t frames = 0; info.jobs_left > 0; frames++) {
        assert_true(frames < 64);
        info = frame(j, budget_ms);
    }
}

static void expect(struct jobs *j, const char *schedule, const char *lanes) {
    assert_string_equal(j->schedule, schedule);
    for (; *lanes; lanes++) {
        const uint32_t lane = (uint32_t)(*lanes - 'A');
        weft_test_lane_expect(&j->lanes[lane], schedule);
        weft_test_lane_forget(&j->lanes[lane]);
    }
    j->schedule[0] = '\0';
}

/* ---- schedules ---- */

WEFT_TEST_ON_GRAPH(test_in_the_order_of_arrival, f) {
    struct jobs j;
    begin(&j, f);
    add(&j, 1, 0);
    add(&j, 0, 0);
    assert_int_equal(j.job[0], 2);
    assert_int_equal(info_of(&j, 0).state, WEFT_FRAME_JOB_WAITING);
    drain(&j, 1.0);
    expect(&j, "BBBBAAAA", "AB");
    assert_int_equal(info_of(&j, 0).state, WEFT_FRAME_JOB_DONE);
    assert_int_equal(info_of(&j, 0).recorded, PARTS);
    const weft_frame_info nothing = frame(&j, 1.0);
    assert_true(nothing.parts == 0 && nothing.finished_count == 0 && nothing.jobs_left == 0);
    end(&j);
}

/* A job of a higher priority goes between the parts of one that has begun. */
WEFT_TEST_ON_GRAPH(test_priorities, f) {
    struct jobs j;
    begin(&j, f);
    add(&j, 0, -3);
    frame(&j, 1.0);
    frame(&j, 1.0);
    add(&j, 1, 0);
    frame(&j, 1.0);
    add(&j, 2, 7);
    drain(&j, 1.0);
    expect(&j, "AABCCCCBBBAA", "ABC");
    add(&j, 0, 1);
    add(&j, 1, 2);
    add(&j, 2, 1);
    drain(&j, 2.0);
    expect(&j, "BB|BB|AA|AA|CC|CC|", "ABC");
    end(&j);
}

/* Who shares an arena with a job that has begun waits for its end, and lends it its priority. */
WEFT_TEST_ON_GRAPH(test_a_shared_arena, f) {
    struct jobs j;
    begin(&j, f);
    add(&j, 3, 0);
    frame(&j, 1.0);
    add(&j, 4, 9);
    add(&j, 0, 5);
    drain(&j, 1.0);
    expect(&j, "DDDDEEEEAAAA", "ADE");
    add(&j, 3, 0); /* it has not begun: nothing is shared yet */
    add(&j, 4, 9);
    drain(&j, 1.0);
    expect(&j, "EEEEDDDD", "DE");
    end(&j);
}

WEFT_TEST_ON_GRAPH(test_a_budget_is_for_all, f) {
    struct jobs j;
    begin(&j, f);
    add(&j, 0, 0);
    add(&j, 3, 0);
    add(&j, 4, 0);
    weft_frame_info info = frame(&j, 3.5);
    assert_true(info.parts == 3 && info.ms == 3.0 && info.finished_count == 0);
    assert_int_equal(info.jobs_left, 3);
    assert_int_equal(info_of(&j, 0).state, WEFT_FRAME_JOB_RUNNING);
    info = frame(&j, 3.0);
    assert_true(info.parts == 3 && info.finished_count == 1 && info.finished[0] == j.job[0]);
    info = frame(&j, 100.0);
    assert_true(info.parts == 6 && info.finished_count == 2 && info.finished[1] == j.job[4]);
    assert_true(info.ms == 6.0 && info.jobs_left == 0);
    expect(&j, "AAA|ADD|DDEEEE|", "ADE");
    end(&j);
}

/* A part that fits into no frame has one of its own; nobody else's goes into what is left before it. */
WEFT_TEST_ON_GRAPH(test_a_part_that_never_fits, f) {
    struct jobs j;
    begin(&j, f);
    expect_ms(j.frames.plan, 1, 10.0);
    add(&j, 0, 1);
    add(&j, 1, 0);
    assert_int_equal(frame(&j, 3.0).parts, 1);
    assert_true(frame(&j, 3.0).ms == 10.0);
    drain(&j, 3.0);
    expect(&j, "AAAAB|BBB|", "AB");
    end(&j);
}

/* ---- cancelled jobs ---- */

WEFT_TEST_ON_GRAPH(test_cancelled_at_every_part, f) {
    struct jobs j;
    begin(&j, f);
    for (uint32_t parts = 0; parts <= PARTS; parts++) {
        add(&j, 3, 0);
        add(&j, 0, -1);
        for (uint32_t i = 0; i < parts; i++) {
            frame(&j, 1.0);
        }
        assert_ok(weft_frame_queue_cancel(j.queue, j.job[3]));
        assert_ok(weft_frame_queue_cancel(j.queue, j.job[3])); /* once more: nothing */
        const weft_frame_job_info info = info_of(&j, 3);
        assert_int_equal(info.state,
                         parts == PARTS ? WEFT_FRAME_JOB_DONE : WEFT_FRAME_JOB_CANCELLED);
        assert_int_equal(info.recorded, parts);
        add(&j, 4, 0); /* in the same arena */
        drain(&j, 1.0);
        weft_test_lane_expect(&j.lanes[4], "the arena of one that was cancelled");
        weft_test_lane_expect(&j.lanes[0], "beside one that was cancelled");
        add(&j, 3, 0);
        drain(&j, 1.0);
        weft_test_lane_expect(&j.lanes[3], "again");
        for (uint32_t i = 0; i < LANES; i++) {
            weft_test_lane_forget(&j.lanes[i]);
        }
        j.schedule[0] = '\0';
    }
    end(&j);
}

/* ---- states ---- */

static uint64_t add_step(struct jobs *j, weft_plan *plan, const struct weft_test_sequence *s,
                         int32_t priority) {
    uint64_t job = 0;
    assert_ok(weft_frame_queue_add(j->queue, plan, s->bindings, priority, &job));
    return job;
}

/* Steps of one sequence keep their order, whatever their priority, and one that has begun is not given up. */
WEFT_TEST_ON_GRAPH(test_states_keep_their_order, f) {
    weft_plan *plan = weft_test_step_compile(f);
    struct jobs j = {.frames = {.f = f, .plan = plan}};
    struct weft_test_sequence s, next;
    float out[WEFT_SEQUENCE_WIDTH];
    weft_test_frames_commands(&j.frames);
    weft_test_sequence_begin(&s, f->device, plan, 0);
    weft_test_sequence_begin(&next, f->device, plan, 0);
    for (int32_t token = 0; token < 2; token++) {
        weft_test_sequence_feed(&s, token);
        assert_ok(weft_plan_run(plan, s.bindings));
        assert_ok(weft_buffer_read(s.y, 0, s.out[token], sizeof out));
    }
    assert_ok(weft_bindings_set(next.bindings, "s", s.state));
    weft_test_sequence_feed(&s, 0);
    weft_test_sequence_feed(&next, 1);
    assert_ok(weft_frame_queue_create(&j.queue, f->device));
    const uint64_t first = add_step(&j, plan, &s, 0), second = add_step(&j, plan, &next, 5);
    weft_frame_job_info info;
    frame(&j, 1e-9);
    assert_ok(weft_frame_queue_get_job(j.queue, first, &info));
    assert_int_equal(info.state, WEFT_FRAME_JOB_RUNNING);
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT, weft_frame_queue_cancel(j.queue, first),
                        "job 1 has begun to change a state");
    drain(&j, 1e-9);
    assert_ok(weft_frame_queue_get_job(j.queue, second, &info));
    assert_int_equal(info.state, WEFT_FRAME_JOB_DONE);
    assert_ok(weft_buffer_read(s.y, 0, out, sizeof out));
    assert_memory_equal(out, s.out[0], sizeof out);
    assert_ok(weft_buffer_read(next.y, 0, out, sizeof out));
    assert_memory_equal(out, s.out[1], sizeof out);
    const uint64_t third = add_step(&j, plan, &s, 0);
    assert_ok(weft_frame_queue_cancel(j.queue, third)); /* it has not begun */
    weft_frame_queue_destroy(&j.queue);
    weft_test_frames_commands_end(&j.frames);
    weft_test_sequence_end(&s);
    weft_test_sequence_end(&next);
    weft_plan_destroy(&plan);
}

/* ---- limits ---- */

WEFT_TEST_ON_GRAPH(test_what_is_remembered, f) {
    struct jobs j;
    weft_frame_job_info info;
    begin(&j, f);
    add(&j, 0, 0);
    const uint64_t waits = j.job[0];
    for (uint32_t i = 0; i < WEFT_FRAME_QUEUE_REMEMBERS + 5; i++) {
        add(&j, 1, 0);
        assert_ok(weft_frame_queue_cancel(j.queue, j.job[1]));
    }
    add(&j, 2, 0);
    assert_ok(weft_frame_queue_get_job(j.queue, waits, &info));
    assert_int_equal(info.state, WEFT_FRAME_JOB_WAITING);
    assert_ok(weft_frame_queue_get_job(j.queue, j.job[1], &info));
    assert_int_equal(info.state, WEFT_FRAME_JOB_CANCELLED);
    assert_ok(weft_frame_queue_get_job(j.queue, j.job[1] - WEFT_FRAME_QUEUE_REMEMBERS + 1, &info));
    WEFT_EXPECT_REFUSED(
        &f->host, WEFT_NOT_FOUND,
        weft_frame_queue_get_job(j.queue, j.job[1] - WEFT_FRAME_QUEUE_REMEMBERS, &info),
        "knows no job");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_NOT_FOUND, weft_frame_queue_cancel(j.queue, 0), "job 0");
    drain(&j, 100.0);
    expect(&j, "AAAACCCC|", "AC");
    end(&j);
}

WEFT_TEST_ON_GRAPH(test_what_is_refused, f) {
    struct jobs j;
    weft_frame_info info;
    weft_bindings *unset = NULL;
    uint64_t job = 77;
    begin(&j, f);
    weft_plan *plan = j.frames.plan;
    assert_ok(weft_bindings_create(&unset, plan));
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_frame_queue_add(j.queue, plan, unset, 0, &job), "'x' is not set");
    weft_bindings_destroy(&unset);
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_frame_queue_add(j.queue, plan, NULL, 0, &job), "weft_frame_queue_add",
                        "null");
    assert_int_equal(job, 77);
    const double budgets[] = {0.0, -1.0, NAN};
    for (uint32_t i = 0; i < 3; i++) {
        WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                            weft_frame_queue_record(j.queue, j.frames.commands, budgets[i], &info),
                            "weft_frame_queue_record", "a budget of");
    }
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT, weft_frame_queue_create(NULL, f->device),
                        "weft_frame_queue_create");
    weft_frame_queue_destroy(NULL);
    end(&j);
}
