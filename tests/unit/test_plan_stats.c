/* SPDX-License-Identifier: MIT */
/* weft-test: long device */
/* What an overlay is told of a plan, without waiting. */
#include <math.h>
#include <pthread.h>

#include "device/device.h"
#include "support_frames.h"

enum { RUNS = 5, MANY = 70 };

static weft_plan_stats stats_of(weft_plan *plan) {
    weft_plan_stats stats;
    memset(&stats, 0xff, sizeof stats);
    assert_ok(weft_plan_get_stats(plan, &stats));
    return stats;
}

static bool has_times(const struct weft_test_graph *f) {
    return f->device->info.timestamp_period_ns > 0.0;
}

static double sum_of_timings(weft_plan *plan) {
    weft_timing timings[64];
    uint32_t count = 64;
    double sum = 0.0;
    assert_ok(weft_plan_get_timings(plan, timings, &count));
    for (uint32_t i = 0; i < count; i++) {
        sum += timings[i].duration_ms;
    }
    return sum;
}

static bool close_to(double a, double b) {
    return fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b));
}

WEFT_TEST_ON_GRAPH(test_submitted_runs, f) {
    struct weft_test_frames s;
    double sum = 0.0, most = 0.0;
    weft_test_frames_begin_layers(&s, f, &(weft_plan_params){.timestamps = has_times(f)}, 0);
    for (uint32_t run = 1; run <= RUNS; run++) { /* the first one was made before */
        const weft_plan_stats stats = stats_of(s.plan);
        assert_true(stats.runs_submitted == run && stats.runs_finished == run);
        assert_true(stats.runs_recorded == 0 && stats.parts_recorded == 0);
        assert_true(stats.arena_bytes == s.info.arena_bytes);
        assert_true(stats.weight_bytes == s.info.weight_bytes);
        assert_true(stats.runs_timed == (has_times(f) ? run : 0));
        if (has_times(f)) {
            const double ms = sum_of_timings(s.plan);
            sum += ms;
            most = ms > most ? ms : most;
            assert_true(close_to(stats.newest_ms, ms) && close_to(stats.max_ms, most));
            assert_true(close_to(stats.mean_ms, sum / run));
        }
        assert_true(stats_of(s.plan).runs_timed == stats.runs_timed); /* each counts once */
        assert_ok(weft_plan_run(s.plan, s.lane.bindings));
    }
    weft_test_frames_end(&s);
}

WEFT_TEST_ON_GRAPH(test_recorded_runs_and_arenas, f) {
    struct weft_test_frames s;
    struct weft_test_lane other;
    weft_test_frames_begin_layers(&s, f, &(weft_plan_params){.timestamps = has_times(f)}, 0);
    weft_test_lane_begin(&other, &s, weft_bindings_create_concurrent, 3);
    const weft_plan_stats before = stats_of(s.plan);
    assert_true(before.arena_bytes == 2 * s.info.arena_bytes && before.runs_submitted == 2);
    assert_true(before.runs_timed == (has_times(f) ? 2 : 0));
    for (uint32_t part = 0; part < s.info.parts; part++) {
        weft_test_frame_start(&s);
        assert_ok(weft_plan_record_range(s.plan, s.commands, other.bindings, part, 1));
        weft_test_frame_finish(&s);
        const weft_plan_stats stats = stats_of(s.plan);
        const bool done = part + 1 == s.info.parts;
        assert_true(stats.parts_recorded == part + 1 && stats.runs_recorded == done);
        assert_true(stats.runs_timed == before.runs_timed + (done && has_times(f)));
    }
    weft_test_frame_start(&s);
    assert_ok(weft_plan_record(s.plan, s.commands, s.lane.bindings));
    weft_test_frame_finish(&s);
    const weft_plan_stats after = stats_of(s.plan);
    assert_true(after.runs_recorded == 2 && after.parts_recorded == 2 * s.info.parts);
    assert_true(after.runs_submitted == 2 && after.runs_finished == 2);
    if (has_times(f)) {
        assert_true(after.runs_timed == 4 && close_to(after.newest_ms, sum_of_timings(s.plan)));
    }
    weft_test_lane_end(&other);
    assert_true(stats_of(s.plan).arena_bytes == s.info.arena_bytes);
    weft_test_frames_end(&s);
}

static VkSemaphore make_timeline(weft_device *device) {
    const VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
    };
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &type};
    VkSemaphore made = VK_NULL_HANDLE;
    assert_int_equal(device->vk.CreateSemaphore(device->vk.handle, &info, NULL, &made), VK_SUCCESS);
    return made;
}

/* Runs that cannot begin yet: the call comes back, and knows that they have not finished. */
WEFT_TEST_ON_GRAPH(test_nothing_is_waited_for, f) {
    struct weft_test_frames s;
    uint64_t ticket = 0;
    if (!f->device->has_timeline) { /* what holds them back is one */
        skip();
    }
    weft_test_frames_begin_layers(&s, f, &(weft_plan_params){.timestamps = has_times(f)}, 0);
    assert_int_equal(stats_of(s.plan).runs_finished, 1);
    const VkSemaphore gate = make_timeline(f->device);
    assert_ok(weft_plan_submit_with(
        s.plan, s.lane.bindings,
        weft_submit_params(.waits = &(weft_semaphore_point){gate, 1}, .wait_count = 1), &ticket));
    for (uint32_t i = 1; i < MANY; i++) {
        assert_ok(weft_plan_submit(s.plan, s.lane.bindings, &ticket));
    }
    weft_plan_stats stats = stats_of(s.plan);
    assert_true(stats.runs_submitted == MANY + 1 && stats.runs_finished == 1);
    weft_test_signal(f->device, gate, 1);
    assert_ok(weft_plan_wait(s.plan, ticket, UINT64_MAX, NULL));
    stats = stats_of(s.plan);
    assert_true(stats.runs_submitted == MANY + 1 && stats.runs_finished == MANY + 1);
    f->device->vk.DestroySemaphore(f->device->vk.handle, gate, NULL);
    weft_test_frames_end(&s);
}

struct worker {
    struct weft_test_frames *frames;
    weft_bindings *bindings;
    weft_status status;
};

static void *work(void *argument) {
    struct worker *worker = argument;
    for (uint32_t i = 0; i < MANY && worker->status == WEFT_OK; i++) {
        worker->status = weft_plan_run(worker->frames->plan, worker->bindings);
    }
    return NULL;
}

/* An overlay's thread asks while two others run. */
WEFT_TEST_ON_GRAPH(test_beside_runs, f) {
    struct weft_test_frames s;
    struct weft_test_lane other;
    pthread_t threads[2];
    weft_test_frames_begin_layers(&s, f, &(weft_plan_params){.timestamps = has_times(f)}, 0);
    weft_test_lane_begin(&other, &s, weft_bindings_create_concurrent, 3);
    struct worker workers[] = {{&s, s.lane.bindings, WEFT_OK}, {&s, other.bindings, WEFT_OK}};
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    weft_plan_stats stats = {0}, last = {0};
    for (uint32_t i = 0; i < 200; i++) {
        stats = stats_of(s.plan);
        assert_true(stats.runs_finished >= last.runs_finished &&
                    stats.runs_timed >= last.runs_timed);
        assert_true(stats.runs_finished <= stats.runs_submitted);
        assert_true(stats.newest_ms >= 0.0 && stats.newest_ms <= stats.max_ms);
        assert_true(stats.mean_ms <= stats.max_ms * 1.000001);
        last = stats;
    }
    for (uint32_t i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        assert_ok(workers[i].status);
    }
    stats = stats_of(s.plan);
    assert_true(stats.runs_submitted == 2 * MANY + 2 && stats.runs_finished == 2 * MANY + 2);
    weft_test_lane_expect(&s.lane, "beside");
    weft_test_lane_expect(&other, "beside");
    weft_test_lane_end(&other);
    weft_test_frames_end(&s);
    assert_status(weft_plan_get_stats(NULL, &stats), WEFT_INVALID_ARGUMENT);
}
