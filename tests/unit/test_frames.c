/* SPDX-License-Identifier: MIT */
/* weft-test: slow device */
/* weft-test: own program */
/* A run in parts: wherever it is cut, and however long frames are, it has the bits of a whole run. */
#include <math.h>
#include <pthread.h>
#include <sched.h>

#include <weft/vulkan.h>

#include "core/system/clock.h"
#include "device/device.h"
#include "plan/plan.h"
#include "support_frames.h"

static void record_range(struct weft_test_frames *s, uint32_t first, uint32_t count) {
    weft_test_frame_start(s);
    assert_ok(weft_plan_record_range(s->plan, s->commands, s->lane.bindings, first, count));
    weft_test_frame_finish(s);
}

static void forget(const struct weft_test_frames *s) {
    weft_test_lane_forget(&s->lane);
}

static void expect_whole(const struct weft_test_frames *s, const char *how) {
    weft_test_lane_expect(&s->lane, how);
}

/* ---- tests ---- */

WEFT_TEST_ON_GRAPH(test_every_cut, f) {
    struct weft_test_frames s;
    weft_test_frames_begin(&s, f, NULL);
    assert_true(s.info.parts >= 8);
    assert_int_equal(s.info.parts, s.info.dispatches);
    for (uint32_t cut = 1; cut < s.info.parts; cut++) {
        forget(&s);
        record_range(&s, 0, cut);
        record_range(&s, cut, s.info.parts - cut);
        expect_whole(&s, weft_test_text("cut before part %u", cut));
    }
    forget(&s);
    for (uint32_t part = 0; part < s.info.parts; part++) {
        record_range(&s, part, 1);
    }
    expect_whole(&s, "each part alone");
    forget(&s);
    weft_test_frame_start(&s); /* all of it in one command buffer */
    assert_ok(weft_plan_record_range(s.plan, s.commands, s.lane.bindings, 0, 3));
    assert_ok(weft_plan_record_range(s.plan, s.commands, s.lane.bindings, 3, s.info.parts - 3));
    weft_test_frame_finish(&s);
    expect_whole(&s, "two ranges in one command buffer");
    weft_test_frames_end(&s);
}

/* Without the caller's barrier: whatever its version, the layer has to see that a shader overwrites what a transfer writes. */
WEFT_TEST_ON_GRAPH(test_missing_barrier_is_told, f) {
    weft_device *device = f->device;
    struct weft_test_frames s;
    uint64_t offset = 0;
    if (device->messenger == VK_NULL_HANDLE) {
        skip();
    }
    weft_test_frames_begin(&s, f, NULL);
    weft_test_frame_start(&s);
    const VkBuffer y = weft_buffer_vulkan(s.lane.y, &offset);
    device->vk.CmdFillBuffer(s.commands, y, offset, sizeof s.lane.whole, 0);
    assert_int_equal(device->stats.validation_messages, 0);
    assert_ok(weft_plan_record(s.plan, s.commands, s.lane.bindings));
    assert_true(device->stats.validation_messages > 0);
    weft_test_expect_log(&f->host, "SYNC-HAZARD-WRITE");
    weft_test_frame_finish(&s);
    weft_test_frames_end(&s);
    f->host.validation = 0;
    device->stats.validation_messages = 0;
}

/* With so short parts every dispatch is cut into its workgroups. */
WEFT_TEST_ON_GRAPH(test_parts_of_dispatches, f) {
    struct weft_test_frames s;
    weft_test_frames_begin(&s, f, &(weft_plan_params){.part_ms = 1e-12});
    assert_true(s.info.parts > s.info.dispatches);
    assert_int_equal(s.info.submissions, 1); /* a run as a whole is not cut */
    double shares = 0.0;
    for (uint32_t i = 0; i < s.info.parts; i++) {
        weft_part_info part;
        assert_ok(weft_plan_get_part(s.plan, i, &part));
        assert_true(part.share > 0.0 && part.share <= 1.0 && part.ms > 0.0 && !part.measured);
        shares += part.share;
    }
    assert_true(fabs(shares - s.info.dispatches) < 1e-6);
    weft_part_info none;
    assert_status(weft_plan_get_part(s.plan, s.info.parts, &none), WEFT_NOT_FOUND);
    forget(&s);
    for (uint32_t part = 0; part < s.info.parts; part += 3) {
        record_range(&s, part, s.info.parts - part < 3 ? s.info.parts - part : 3);
    }
    expect_whole(&s, "three parts at a time");
    weft_test_frames_end(&s);
}

/* How many frames a run takes with such a budget, which is no longer than it is expected to be unless a part is. */
static uint32_t count_frames(struct weft_test_frames *s, double budget) {
    weft_frame_cursor cursor = {0};
    uint32_t frames = 0;
    forget(s);
    while (!cursor.done) {
        const uint32_t first = cursor.next;
        weft_test_frame_start(s);
        assert_ok(weft_plan_record_frame(s->plan, s->commands, s->lane.bindings, budget, &cursor));
        weft_test_frame_finish(s);
        const uint32_t next = cursor.done ? s->info.parts : cursor.next;
        assert_true(next > first);
        assert_true(cursor.ms <= budget || next == first + 1);
        frames++;
    }
    assert_int_equal(cursor.next, 0);
    expect_whole(s, "frames");
    return frames;
}

WEFT_TEST_ON_GRAPH(test_frames, f) {
    struct weft_test_frames s;
    weft_test_frames_begin(&s, f, &(weft_plan_params){.timestamps = true, .part_ms = 1e-12});
    double all = 0.0;
    weft_part_info part;
    for (uint32_t i = 0; i < s.info.parts; i++) {
        assert_ok(weft_plan_get_part(s.plan, i, &part));
        all += part.ms;
    }
    assert_int_equal(count_frames(&s, 2.0 * all), 1);
    assert_int_equal(count_frames(&s, 1e-30), s.info.parts);
    const uint32_t frames = count_frames(&s, all / 4.0);
    assert_in_range(frames, 3, s.info.parts);
    weft_test_frames_end(&s);
}

/* Times that were measured take the place of those that were expected. */
WEFT_TEST_ON_GRAPH(test_measured_parts, f) {
    struct weft_test_frames s;
    weft_test_frames_begin(
        &s, f, &(weft_plan_params){.timestamps = f->device->info.timestamp_period_ns > 0.0});
    if (f->device->info.timestamp_period_ns > 0.0) {
        weft_timing timings[64];
        uint32_t count = 64;
        assert_true(s.info.dispatches <= 64);
        assert_ok(weft_plan_get_timings(s.plan, timings, &count));
        for (uint32_t i = 0; i < s.info.parts; i++) {
            weft_part_info part;
            assert_ok(weft_plan_get_part(s.plan, i, &part));
            assert_true(part.measured);
            assert_true(part.ms == timings[part.dispatch].duration_ms * part.share);
        }
        assert_true(count_frames(&s, 1e9) == 1);
    }
    weft_test_frames_end(&s);
}

/* ---- cuts by measured time ---- */

static double ms_of(const struct weft_test_frames *s, uint32_t *longest) {
    double all = 0.0, most = -1.0;
    weft_plan_info info;
    assert_ok(weft_plan_get_info(s->plan, &info));
    for (uint32_t i = 0; i < info.parts; i++) {
        weft_part_info part;
        assert_ok(weft_plan_get_part(s->plan, i, &part));
        assert_true(part.measured);
        all += part.ms;
        if (part.ms > most) {
            most = part.ms;
            *longest = i;
        }
    }
    return all;
}

static uint32_t measure(struct weft_test_frames *s, uint32_t *longest, double *all) {
    weft_timing timings[64];
    uint32_t count = 64;
    assert_ok(weft_plan_get_timings(s->plan, timings, &count));
    *all = ms_of(s, longest);
    return count;
}

/* Whether the groups of a dispatch's parts are all of its groups, each once. */
static void expect_tiles(const weft_plan *plan, uint32_t dispatch) {
    const uint32_t *groups = plan->lowering.dispatches[dispatch].groups;
    const size_t count = (size_t)groups[0] * groups[1] * groups[2];
    uint8_t *seen = calloc(count, 1);
    assert_non_null(seen);
    for (uint32_t i = 0; i < plan->steps.count; i++) {
        const struct weft_dispatch_part *step = &plan->steps.at[i];
        const size_t parts = (size_t)step->groups[0] * step->groups[1] * step->groups[2];
        for (size_t g = 0; g < parts && step->dispatch == dispatch; g++) {
            const size_t x = step->base[0] + g % step->groups[0];
            const size_t y = step->base[1] + g / step->groups[0] % step->groups[1];
            const size_t z = step->base[2] + g / step->groups[0] / step->groups[1];
            assert_true(x < groups[0] && y < groups[1] && z < groups[2]);
            assert_int_equal(seen[(z * groups[1] + y) * groups[0] + x]++, 0);
        }
    }
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(seen[i], 1);
    }
    free(seen);
}

/* Into as many pieces as were asked for, as long as there are groups. */
WEFT_TEST_ON_GRAPH(test_cuts_along_all_axes, f) {
    const uint32_t shapes[][3] = {{3, 4, 2}, {1, 1, 7}, {5, 5, 5}, {1, 1, 1}, {2, 9, 3}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const uint32_t groups = shapes[i][0] * shapes[i][1] * shapes[i][2];
        for (uint32_t pieces = 1; pieces < groups + 3; pieces++) {
            struct weft_dispatch dispatch = {0};
            _Atomic double ms = pieces - 0.5;
            weft_plan plan = {.device = f->device,
                              .lowering = {.dispatches = &dispatch, .dispatch_count = 1},
                              .dispatch_ms = &ms};
            memcpy(dispatch.groups, shapes[i], sizeof shapes[i]);
            assert_ok(weft_plan_split(&plan.steps, &plan, 1.0, true));
            expect_tiles(&plan, 0);
            assert_in_range(plan.steps.count, pieces < groups ? pieces : groups, groups);
            weft_free(&f->device->host, plan.steps.at);
        }
    }
}

/* All bindings go on, those that share the arena and those that do not, and nothing is compiled again. */
WEFT_TEST_ON_GRAPH(test_a_plan_is_split_by_what_was_measured, f) {
    if (f->device->info.timestamp_period_ns <= 0.0) {
        return;
    }
    struct weft_test_frames s;
    struct weft_test_lane other;
    weft_device_stats before, after;
    uint32_t longest = 0;
    double all = 0.0;
    weft_test_frames_begin(&s, f, &(weft_plan_params){.timestamps = true});
    weft_test_lane_begin(&other, &s, weft_bindings_create_concurrent, 5);
    const uint32_t uncut = s.info.parts;
    assert_ok(weft_device_get_stats(f->device, &before));
    assert_int_equal(measure(&s, &longest, &all), uncut);
    for (double part_ms = all / 40.0; part_ms > 0.0; part_ms = part_ms > 1e-9 ? 1e-12 : 0.0) {
        assert_ok(weft_plan_split_measured(s.plan, part_ms));
        assert_ok(weft_plan_get_info(s.plan, &s.info));
        assert_true(s.info.parts > uncut);
        for (uint32_t i = 0; i < s.info.dispatches; i++) {
            expect_tiles(s.plan, i);
        }
        for (uint32_t i = 0; i < s.info.parts; i++) {
            weft_part_info part;
            const uint32_t *groups = s.plan->steps.at[i].groups;
            assert_ok(weft_plan_get_part(s.plan, i, &part));
            if (groups[0] * groups[1] * groups[2] > 1) { /* cut so that equal pieces would fit */
                const uint32_t *whole = s.plan->lowering.dispatches[part.dispatch].groups;
                const double groups_of = (double)whole[0] * whole[1] * whole[2];
                assert_true(part.ms <= part_ms * 2.0 || part.share * groups_of <= 4.0);
            }
        }
        forget(&s);
        weft_test_lane_forget(&other);
        assert_ok(weft_plan_run(s.plan, s.lane.bindings));
        assert_ok(weft_plan_run(s.plan, other.bindings));
        expect_whole(&s, "a run behind it");
        weft_test_lane_expect(&other, "a run in an arena of its own behind it");
        for (uint32_t i = 0; i < s.info.parts; i += 5) {
            record_range(&s, i, s.info.parts - i < 5 ? s.info.parts - i : 5);
        }
        expect_whole(&s, "five parts at a time");
        measure(&s, &longest, &all);
    }
    assert_ok(weft_plan_split_measured(s.plan, 0.0));
    assert_ok(weft_plan_get_info(s.plan, &s.info));
    assert_int_equal(s.info.parts, uncut);
    assert_true(count_frames(&s, 1e9) == 1);
    assert_ok(weft_device_get_stats(f->device, &after));
    assert_true(after.pipelines_created == before.pipelines_created);
    weft_test_lane_end(&other);
    weft_test_frames_end(&s);
}

/* A dispatch that seems to take long is cut, whatever its arithmetic, and submissions keep to the limit. */
WEFT_TEST_ON_GRAPH(test_a_measured_split_follows_the_times, f) {
    if (f->device->info.timestamp_period_ns <= 0.0) {
        return;
    }
    struct weft_test_frames s;
    uint32_t longest = 0;
    double all = 0.0;
    weft_test_frames_begin(&s, f, &(weft_plan_params){.timestamps = true});
    const uint32_t dispatches = measure(&s, &longest, &all);
    uint32_t slow = 0;
    for (uint32_t i = 0; i < dispatches; i++) {
        const uint32_t *groups = s.plan->lowering.dispatches[i].groups;
        const uint32_t *most = s.plan->lowering.dispatches[slow].groups;
        slow = groups[0] > most[0] ? i : slow;
        atomic_store(&s.plan->dispatch_ms[i], 1.0);
    }
    assert_true(s.plan->lowering.dispatches[slow].groups[0] >= 4);
    atomic_store(&s.plan->dispatch_ms[slow], 39.0);
    f->device->submission_limit_ms = 20;
    assert_ok(weft_plan_split_measured(s.plan, 10.0));
    assert_ok(weft_plan_get_info(s.plan, &s.info));
    assert_int_equal(s.info.parts, dispatches + 3);
    assert_in_range(s.info.submissions, 5, 6); /* four of the slow one, and what is around it */
    forget(&s);
    assert_ok(weft_plan_run(s.plan, s.lane.bindings));
    expect_whole(&s, "several submissions");
    f->device->submission_limit_ms = 0;
    assert_ok(weft_plan_split_measured(s.plan, 10.0));
    assert_ok(weft_plan_get_info(s.plan, &s.info));
    assert_int_equal(s.info.submissions, 1);
    forget(&s);
    assert_ok(weft_plan_run(s.plan, s.lane.bindings));
    expect_whole(&s, "one submission again");
    weft_test_frames_end(&s);
}

static double sum_of_times(const struct weft_test_frames *s) {
    weft_timing timings[64];
    uint32_t count = 64;
    double sum = 0.0;
    assert_ok(weft_plan_get_timings(s->plan, timings, &count));
    for (uint32_t i = 0; i < count; i++) {
        assert_true(timings[i].duration_ms >= 0.0);
        sum += timings[i].duration_ms;
    }
    return sum;
}

/* Time that passes between frames is nobody's: not of a dispatch that is cut over two of them, either. */
WEFT_TEST_ON_GRAPH(test_times_over_frames, f) {
    if (f->device->info.timestamp_period_ns <= 0.0) {
        return;
    }
    enum { GAP_MS = 50, FRAMES = 8 };
    struct weft_test_frames s;
    weft_timing timing;
    double gaps = 0.0, busy = 0.0;
    weft_test_frames_begin(&s, f, &(weft_plan_params){.timestamps = true, .part_ms = 1e-12});
    for (uint32_t frame = 0; frame < FRAMES; frame++) {
        const uint32_t first = s.info.parts * frame / FRAMES;
        const double begin = weft_clock_ms();
        while (frame > 0 && weft_clock_ms() < begin + GAP_MS) {
        }
        const double middle = weft_clock_ms();
        record_range(&s, first, s.info.parts * (frame + 1) / FRAMES - first);
        gaps += middle - begin;
        busy += weft_clock_ms() - middle;
        if (frame + 1 < FRAMES) {
            WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                                weft_plan_get_timings(s.plan, &timing, &(uint32_t){1}),
                                "not finished");
        }
    }
    const double sum = sum_of_times(&s);
    if (sum > busy + 1.0) {
        fail_msg("%g ms of a run that was executed in %g ms, with %g ms between", sum, busy, gaps);
    }
    weft_test_frames_end(&s);
}

WEFT_TEST_ON_GRAPH(test_a_split_that_is_refused, f) {
    struct weft_test_frames s;
    weft_test_frames_begin(&s, f, NULL);
    const char *function = "weft_plan_split_measured";
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT, weft_plan_split_measured(s.plan, 1.0),
                        function, "are not");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT, weft_plan_split_measured(s.plan, -2.0),
                        function, "part_ms -2");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT, weft_plan_split_measured(s.plan, NAN),
                        function, "finite");
    assert_status(weft_plan_split_measured(NULL, 1.0), WEFT_INVALID_ARGUMENT);
    weft_test_frames_end(&s);
}

/* ---- frames beside a compilation ---- */

enum { COMPILED = 3 };

/* Compiles plans and runs them once, on a thread of its own. */
struct compiling {
    weft_device *device;
    weft_graph *graphs[COMPILED];
    const float *x, *y;
    const char *failed;
    atomic_bool framed; /* a frame is under way: before, nothing is compiled */
    atomic_bool done;
};

static void *compile_plans(void *argument) {
    struct compiling *c = argument;
    float *x = malloc(WEFT_FRAMES_BYTES), *y = malloc(WEFT_FRAMES_BYTES);
    memcpy(x, c->x, WEFT_FRAMES_BYTES);
    while (!atomic_load(&c->framed)) {
        sched_yield();
    }
    for (uint32_t i = 0; i < COMPILED && !c->failed; i++) {
        weft_plan *plan = NULL;
        const weft_host_tensor tensors[] = {{"x", x, WEFT_FRAMES_BYTES},
                                            {"y", y, WEFT_FRAMES_BYTES}};
        if (weft_plan_compile(&plan, c->device, c->graphs[i], NULL) != WEFT_OK ||
            weft_plan_execute(plan, tensors, 2) != WEFT_OK) {
            c->failed = "a plan that is compiled beside frames";
        } else if (memcmp(y, c->y, WEFT_FRAMES_BYTES) != 0) {
            c->failed = "the bits of a plan that was compiled beside frames";
        }
        weft_plan_destroy(&plan);
    }
    free(x);
    free(y);
    atomic_store(&c->done, true);
    return NULL;
}

/* Frames go on, and each run of theirs keeps its bits, while another thread compiles on the same device. */
WEFT_TEST_ON_FRESH_GRAPH(test_frames_beside_a_compilation, f) {
    struct weft_test_frames s;
    struct compiling c = {.device = f->device};
    pthread_t thread;
    uint32_t frames = 0;
    float *x = weft_test_uniform(WEFT_FRAMES_COUNT, 4, 0); /* as the lane's */
    weft_test_frames_begin(&s, f, &(weft_plan_params){.part_ms = 1e-3});
    for (uint32_t i = 0; i < COMPILED; i++) {
        assert_ok(weft_graph_create(&c.graphs[i], &f->host.host));
        weft_test_frames_build(c.graphs[i], 2);
    }
    c.x = x;
    c.y = s.lane.whole;
    assert_int_equal(pthread_create(&thread, NULL, compile_plans, &c), 0);
    while (!atomic_load(&c.done) || frames == 0) {
        weft_frame_cursor cursor = {0};
        forget(&s);
        for (; !cursor.done; frames++) {
            weft_test_frame_start(&s);
            atomic_store(&c.framed, true);
            assert_ok(weft_plan_record_frame(s.plan, s.commands, s.lane.bindings, 0.5, &cursor));
            weft_test_frame_finish(&s);
        }
        expect_whole(&s, "a run beside a compilation");
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_string_equal(c.failed ? c.failed : "", "");
    for (uint32_t i = 0; i < COMPILED; i++) {
        weft_graph_destroy(&c.graphs[i]);
    }
    weft_test_frames_end(&s);
    free(x);
}

/* A run that was given up leaves nothing that a later one would see. */
WEFT_TEST_ON_GRAPH(test_a_run_is_given_up, f) {
    struct weft_test_frames s;
    weft_test_frames_begin(&s, f, NULL);
    for (uint32_t part = 0; part < s.info.parts / 2; part++) {
        record_range(&s, part, 1);
    }
    assert_true(count_frames(&s, 1e9) == 1);
    assert_ok(weft_plan_run(s.plan, s.lane.bindings));
    expect_whole(&s, "a run behind it");
    weft_test_frames_end(&s);
}

WEFT_TEST_ON_GRAPH(test_wrong_parts, f) {
    struct weft_test_frames s;
    weft_test_frames_begin(&s, f, NULL);
    const uint32_t parts = s.info.parts;
    weft_frame_cursor cursor = {.next = parts};
    const char *range = "weft_plan_record_range";
    const char *frame = "weft_plan_record_frame";
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_plan_record_range(s.plan, s.commands, s.lane.bindings, 0, 0), range,
                        "0 parts from 0 on");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_plan_record_range(s.plan, s.commands, s.lane.bindings, parts, 1),
                        range, "of a plan with");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_plan_record_range(s.plan, s.commands, s.lane.bindings, 1, UINT32_MAX),
                        range, "4294967295 parts from 1 on");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_plan_record_range(s.plan, s.commands, NULL, 0, 1), range, "null");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_plan_record_frame(s.plan, s.commands, s.lane.bindings, 1.0, &cursor),
                        frame, "of a plan with");
    assert_int_equal(cursor.next, parts);
    cursor.next = 0;
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_plan_record_frame(s.plan, s.commands, s.lane.bindings, 0.0, &cursor),
                        frame, "a budget of 0 ms");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_plan_record_frame(s.plan, s.commands, s.lane.bindings, NAN, &cursor),
                        frame, "a budget of");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_plan_record_frame(s.plan, s.commands, s.lane.bindings, 1.0, NULL),
                        frame, "null");
    weft_plan *plan = NULL;
    WEFT_EXPECT_REFUSED(
        &f->host, WEFT_INVALID_ARGUMENT,
        weft_plan_compile(&plan, f->device, f->graph, weft_plan_params(.part_ms = -1.0)),
        "part_ms -1", "at least 0");
    weft_test_frames_end(&s);
}
