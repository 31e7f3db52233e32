/* SPDX-License-Identifier: MIT */
/* weft-test: device */
/* A run in parts: wherever it is cut, and however long frames are, it has the bits of a whole run. */
#include <math.h>

#include <weft/vulkan.h>

#include "device/device.h"
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
