/* SPDX-License-Identifier: MIT */
/* weft-test: long device */
/* Bindings with an arena of their own: runs of one plan take turns part by part, or have a thread each, and keep their bits. */
#include <pthread.h>

#include "device/device.h"
#include "plan/plan.h"
#include "support_frames.h"

enum { BYTES = WEFT_FRAMES_BYTES, LANES = 3 };

/* Runs of one plan that are under way at the same time. */
struct turns {
    struct weft_test_frames frames;
    struct weft_test_lane lanes[LANES];
    uint32_t lane_count;
    uint32_t pieces;      /* that a run is cut into */
    uint32_t done[LANES]; /* pieces */
    char order[64];       /* of the turns, as "0110" */
    uint32_t orders;      /* that were tried */
    bool frames_of_one;   /* each turn is a submission of its own */
};

static uint32_t first_part(const struct turns *t, uint32_t piece) {
    return t->frames.info.parts * piece / t->pieces;
}

static void record_piece(struct turns *t, uint32_t lane) {
    const struct weft_test_frames *s = &t->frames;
    const uint32_t first = first_part(t, t->done[lane]);
    if (t->frames_of_one) {
        weft_test_frame_start(s);
    }
    assert_ok(weft_plan_record_range(s->plan, s->commands, t->lanes[lane].bindings, first,
                                     first_part(t, t->done[lane] + 1) - first));
    if (t->frames_of_one) {
        weft_test_frame_finish(s);
    }
    t->done[lane]++;
}

static void try_order(struct turns *t) {
    for (uint32_t i = 0; i < t->lane_count; i++) {
        weft_test_lane_forget(&t->lanes[i]);
        t->done[i] = 0;
    }
    if (!t->frames_of_one) {
        weft_test_frame_start(&t->frames);
    }
    for (const char *turn = t->order; *turn; turn++) {
        record_piece(t, (uint32_t)(*turn - '0'));
    }
    if (!t->frames_of_one) {
        weft_test_frame_finish(&t->frames);
    }
    for (uint32_t i = 0; i < t->lane_count; i++) {
        weft_test_lane_expect(&t->lanes[i], t->order);
    }
    t->orders++;
}

/* All orders that go on as t->order begins; `left`: pieces that each lane still has. */
static void try_orders(struct turns *t, uint32_t length, const uint32_t left[LANES]) {
    bool any = false;
    for (uint32_t i = 0; i < t->lane_count; i++) {
        if (left[i] > 0) {
            uint32_t rest[LANES];
            memcpy(rest, left, sizeof rest);
            rest[i]--;
            t->order[length] = (char)('0' + i);
            t->order[length + 1] = '\0';
            try_orders(t, length + 1, rest);
            any = true;
        }
    }
    if (!any) {
        t->order[length] = '\0';
        try_order(t);
    }
}

static void begin(struct turns *t, struct weft_test_graph *f, uint32_t lanes,
                  const weft_plan_params *params, uint32_t layers) {
    *t = (struct turns){.lane_count = lanes};
    weft_test_frames_begin_layers(&t->frames, f, params, layers);
    for (uint32_t i = 0; i < lanes; i++) {
        weft_test_lane_begin(&t->lanes[i], &t->frames, weft_bindings_create_concurrent, i + 1);
    }
    assert_true(memcmp(t->lanes[0].whole, t->lanes[lanes - 1].whole, BYTES) != 0);
}

static void end(struct turns *t) {
    for (uint32_t i = 0; i < t->lane_count; i++) {
        weft_test_lane_end(&t->lanes[i]);
    }
    weft_test_frames_end(&t->frames);
}

static void try_all(struct turns *t, uint32_t pieces, uint32_t expected) {
    uint32_t left[LANES] = {0};
    for (uint32_t i = 0; i < t->lane_count; i++) {
        left[i] = pieces;
    }
    t->pieces = pieces;
    t->orders = 0;
    try_orders(t, 0, left);
    assert_int_equal(t->orders, expected);
}

/* ---- tests ---- */

WEFT_TEST_ON_GRAPH(test_two_runs_in_every_order, f) {
    struct turns t;
    begin(&t, f, 2, NULL, 0);
    assert_int_equal(t.frames.info.parts, 4);
    try_all(&t, 4, 70);
    t.frames_of_one = true;
    try_all(&t, 2, 6);
    end(&t);
}

WEFT_TEST_ON_GRAPH(test_three_runs_in_every_order, f) {
    struct turns t;
    begin(&t, f, 3, NULL, 0);
    try_all(&t, 2, 90);
    end(&t);
}

WEFT_TEST_ON_GRAPH(test_turns_within_dispatches, f) {
    struct turns t;
    begin(&t, f, 2, &(weft_plan_params){.part_ms = 1e-12}, 1);
    assert_true(t.frames.info.parts > t.frames.info.dispatches);
    try_all(&t, 2, 6);
    end(&t);
}

/* The run that shares the plan's arena is one of those that take turns. */
WEFT_TEST_ON_GRAPH(test_turns_with_the_plans_own_arena, f) {
    struct turns t;
    begin(&t, f, 2, NULL, 1);
    weft_test_lane_end(&t.lanes[1]);
    weft_test_lane_begin(&t.lanes[1], &t.frames, weft_bindings_create, 7);
    try_all(&t, 3, 20);
    end(&t);
}

WEFT_TEST_ON_GRAPH(test_an_arena_is_counted, f) {
    struct weft_test_frames s;
    weft_device_stats before, with, after;
    weft_bindings *bindings = NULL;
    weft_test_frames_begin(&s, f, NULL);
    assert_true(s.info.arena_bytes > 0);
    assert_ok(weft_device_get_stats(f->device, &before));
    assert_ok(weft_bindings_create_concurrent(&bindings, s.plan));
    assert_ok(weft_device_get_stats(f->device, &with));
    assert_true(with.bytes_in_use - before.bytes_in_use >= s.info.arena_bytes);
    weft_bindings_destroy(&bindings);
    assert_ok(weft_device_get_stats(f->device, &after));
    assert_true(after.bytes_in_use == before.bytes_in_use);

    f->device->memory_limit = before.bytes_in_use + s.info.arena_bytes / 2;
    WEFT_EXPECT_REFUSED(&f->host, WEFT_OUT_OF_DEVICE_MEMORY,
                        weft_bindings_create_concurrent(&bindings, s.plan), "the limit is");
    assert_null(bindings);
    f->device->memory_limit = 0;
    assert_ok(weft_device_get_stats(f->device, &after));
    assert_true(after.bytes_in_use <= before.bytes_in_use);
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_bindings_create_concurrent(NULL, s.plan),
                        "weft_bindings_create_concurrent", "null");
    weft_test_frames_end(&s);
}

/* ---- time stamps ---- */

WEFT_TEST_ON_GRAPH(test_each_arena_has_its_times, f) {
    if (f->device->info.timestamp_period_ns <= 0.0) {
        return;
    }
    struct turns t;
    weft_timing timings[64];
    uint32_t count = 64;
    begin(&t, f, 2, &(weft_plan_params){.timestamps = true}, 1);
    weft_part_info part;
    assert_ok(weft_plan_get_part(t.frames.plan, 0, &part));
    assert_false(part.measured);
    assert_ok(weft_bindings_get_timings(t.lanes[1].bindings, timings, &count));
    assert_int_equal(count, t.frames.info.dispatches);
    for (uint32_t i = 0; i < t.frames.info.parts; i++) { /* what was found is what is expected */
        assert_ok(weft_plan_get_part(t.frames.plan, i, &part));
        assert_true(part.measured);
        assert_true(part.ms == timings[part.dispatch].duration_ms * part.share);
    }
    weft_bindings *unused = NULL;
    assert_ok(weft_bindings_create_concurrent(&unused, t.frames.plan));
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_bindings_get_timings(unused, timings, &count), "has not run yet");
    weft_bindings_destroy(&unused);
    end(&t);
}

/* ---- threads ---- */

struct worker {
    struct turns *turns;
    struct weft_test_lane *lane;
    const char *failed;
};

enum { ROUNDS = 8 };

static const char *run_once(const struct worker *worker) {
    const struct weft_test_lane *lane = worker->lane;
    weft_plan *plan = worker->turns->frames.plan;
    float y[WEFT_FRAMES_COUNT];
    uint64_t ticket = 0;
    memset(y, 0xff, sizeof y);
    if (weft_buffer_write(lane->y, 0, y, BYTES) != WEFT_OK ||
        weft_plan_submit(plan, lane->bindings, &ticket) != WEFT_OK ||
        weft_plan_wait(plan, ticket, UINT64_MAX, NULL) != WEFT_OK ||
        weft_buffer_read(lane->y, 0, y, BYTES) != WEFT_OK) {
        return "a call";
    }
    return memcmp(y, lane->whole, BYTES) == 0 ? NULL : "the bits of a run alone";
}

static void *work(void *argument) {
    struct worker *worker = argument;
    weft_timing timings[64];
    for (uint32_t i = 0; i < ROUNDS && !worker->failed; i++) {
        uint32_t count = 64;
        worker->failed = run_once(worker);
        if (!worker->failed && worker->turns->frames.f->device->info.timestamp_period_ns > 0.0 &&
            weft_bindings_get_timings(worker->lane->bindings, timings, &count) != WEFT_OK) {
            worker->failed = "timings";
        }
    }
    return NULL;
}

WEFT_TEST_ON_GRAPH(test_a_thread_each, f) {
    struct turns t;
    pthread_t threads[LANES];
    struct worker workers[LANES];
    begin(&t, f, LANES,
          &(weft_plan_params){.timestamps = f->device->info.timestamp_period_ns > 0.0}, 1);
    for (uint32_t i = 0; i < LANES; i++) {
        workers[i] = (struct worker){.turns = &t, .lane = &t.lanes[i]};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < LANES; i++) {
        pthread_join(threads[i], NULL);
        if (workers[i].failed) {
            fail_msg("thread %u: %s", i, workers[i].failed);
        }
    }
    end(&t);
}

/* ---- states ---- */

/* Each sequence alone, then both in turn, part by part. */
WEFT_TEST_ON_GRAPH(test_states_of_two_sequences, f) {
    weft_plan *plan = weft_test_step_compile(f);
    weft_plan_info info;
    struct weft_test_sequence two[2];
    struct weft_test_frames s = {.f = f, .plan = plan};
    weft_test_frames_commands(&s);
    assert_ok(weft_plan_get_info(plan, &info));
    assert_true(info.parts >= 3);
    for (uint32_t i = 0; i < 2; i++) {
        weft_test_sequence_begin(&two[i], f->device, plan, i);
        for (int32_t token = 0; token < WEFT_SEQUENCE_TOKENS; token++) {
            weft_test_sequence_feed(&two[i], token);
            assert_ok(weft_plan_run(plan, two[i].bindings));
            assert_ok(weft_buffer_read(two[i].y, 0, two[i].out[token], WEFT_SEQUENCE_WIDTH * 4));
        }
    }
    for (int32_t token = 0; token < WEFT_SEQUENCE_TOKENS; token++) {
        weft_test_sequence_feed(&two[0], token);
        weft_test_sequence_feed(&two[1], token);
        for (uint32_t part = 0; part < 2 * info.parts; part++) {
            weft_test_frame_start(&s);
            assert_ok(
                weft_plan_record_range(plan, s.commands, two[part % 2].bindings, part / 2, 1));
            weft_test_frame_finish(&s);
        }
        for (uint32_t i = 0; i < 2; i++) {
            float out[WEFT_SEQUENCE_WIDTH];
            assert_ok(weft_buffer_read(two[i].y, 0, out, sizeof out));
            assert_memory_equal(out, two[i].out[token], sizeof out);
        }
    }
    weft_test_frames_commands_end(&s);
    weft_test_sequence_end(&two[0]);
    weft_test_sequence_end(&two[1]);
    weft_plan_destroy(&plan);
}
