/* SPDX-License-Identifier: MIT */
/* weft-test: device */
/* A run in parts: wherever it is cut, and however long frames are, it has the bits of a whole run. */
#include <math.h>

#include <weft/mixers.h>
#include <weft/vulkan.h>

#include "device/device.h"
#include "support_graph.h"

enum { N = 37, D = 24, COUNT = 2 * N * D, BYTES = COUNT * (int)sizeof(float) };

/* A network of several kinds of dispatches, its buffers, and what a whole run makes of its input. */
struct frames {
    struct weft_test_graph *f;
    weft_plan *plan;
    weft_plan_info info;
    weft_buffer *x, *y;
    weft_bindings *bindings;
    VkCommandBuffer commands;
    float whole[COUNT];
};

static void build(struct weft_test_graph *f) {
    float *numbers = weft_test_uniform(2 * N * D, 3, 0);
    const weft_tensor x = weft_test_input(f->graph, "x", weft_shape_of(2, N, D));
    const weft_tensor w = weft_test_constant(f->graph, weft_shape_of(D, D), numbers);
    const weft_tensor gamma = weft_test_constant(f->graph, weft_shape_of(D), numbers + 1);
    weft_tensor y = x;
    for (uint32_t i = 0; i < 2; i++) {
        weft_tensor mixed;
        assert_ok(weft_graph_linear(&y, f->graph, y, w, gamma));
        assert_ok(weft_graph_fourier(&mixed, f->graph, y));
        assert_ok(weft_graph_add_norm(
            &y, f->graph, mixed, y,
            &(weft_norm_params){
                .kind = WEFT_NORM_LAYER, .gamma = gamma, .beta = gamma, .epsilon = 1e-5F}));
        assert_ok(weft_graph_attention(&y, f->graph, y, y, mixed, NULL));
    }
    assert_ok(weft_graph_output(f->graph, "y", y));
    free(numbers);
}

static void begin(struct frames *s, struct weft_test_graph *f, const weft_plan_params *params) {
    float *x = weft_test_uniform(COUNT, 4, 0);
    *s = (struct frames){.f = f};
    build(f);
    assert_ok(weft_plan_compile(&s->plan, f->device, f->graph, params));
    assert_ok(weft_plan_get_info(s->plan, &s->info));
    assert_ok(weft_buffer_create(&s->x, f->device, BYTES));
    assert_ok(weft_buffer_create(&s->y, f->device, BYTES));
    assert_ok(weft_buffer_write(s->x, 0, x, BYTES));
    assert_ok(weft_bindings_create(&s->bindings, s->plan));
    assert_ok(weft_bindings_set(s->bindings, "x", s->x));
    assert_ok(weft_bindings_set(s->bindings, "y", s->y));
    assert_ok(weft_plan_run(s->plan, s->bindings));
    assert_ok(weft_buffer_read(s->y, 0, s->whole, BYTES));
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = f->device->command_pool,
                                              .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                              .commandBufferCount = 1};
    const struct weft_vk_device *vk = &f->device->vk;
    assert_int_equal(vk->AllocateCommandBuffers(vk->handle, &info, &s->commands), VK_SUCCESS);
    free(x);
}

static void end(struct frames *s) {
    weft_bindings_destroy(&s->bindings);
    weft_plan_destroy(&s->plan);
    weft_buffer_destroy(&s->x);
    weft_buffer_destroy(&s->y);
}

static void start_frame(const struct frames *s) {
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    assert_int_equal(s->f->device->vk.BeginCommandBuffer(s->commands, &info), VK_SUCCESS);
}

/* Submits what was recorded and waits for it, as frames follow each other. */
static void finish_frame(const struct frames *s) {
    uint64_t ticket = 0;
    assert_int_equal(s->f->device->vk.EndCommandBuffer(s->commands), VK_SUCCESS);
    assert_ok(weft_device_submit(s->f->device, &s->commands, 1, &ticket));
    assert_ok(weft_device_wait(s->f->device, ticket, UINT64_MAX, NULL));
}

static void record_range(struct frames *s, uint32_t first, uint32_t count) {
    start_frame(s);
    assert_ok(weft_plan_record_range(s->plan, s->commands, s->bindings, first, count));
    finish_frame(s);
}

/* NaN is where the result will be. */
static void forget(const struct frames *s) {
    float nothing[COUNT];
    memset(nothing, 0xff, sizeof nothing);
    assert_ok(weft_buffer_write(s->y, 0, nothing, BYTES));
}

static void expect_whole(const struct frames *s, const char *how) {
    float found[COUNT];
    assert_ok(weft_buffer_read(s->y, 0, found, BYTES));
    if (memcmp(found, s->whole, BYTES) != 0) {
        fail_msg("%s: other bits than a whole run", how);
    }
}

/* ---- tests ---- */

WEFT_TEST_ON_GRAPH(test_every_cut, f) {
    struct frames s;
    begin(&s, f, NULL);
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
    start_frame(&s); /* all of it in one command buffer */
    assert_ok(weft_plan_record_range(s.plan, s.commands, s.bindings, 0, 3));
    assert_ok(weft_plan_record_range(s.plan, s.commands, s.bindings, 3, s.info.parts - 3));
    finish_frame(&s);
    expect_whole(&s, "two ranges in one command buffer");
    end(&s);
}

/* With so short parts every dispatch is cut into its workgroups. */
WEFT_TEST_ON_GRAPH(test_parts_of_dispatches, f) {
    struct frames s;
    begin(&s, f, &(weft_plan_params){.part_ms = 1e-12});
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
    end(&s);
}

/* How many frames a run takes with such a budget, which is no longer than it is expected to be unless a part is. */
static uint32_t count_frames(struct frames *s, double budget) {
    weft_frame_cursor cursor = {0};
    uint32_t frames = 0;
    forget(s);
    while (!cursor.done) {
        const uint32_t first = cursor.next;
        start_frame(s);
        assert_ok(weft_plan_record_frame(s->plan, s->commands, s->bindings, budget, &cursor));
        finish_frame(s);
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
    struct frames s;
    begin(&s, f, &(weft_plan_params){.timestamps = true, .part_ms = 1e-12});
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
    end(&s);
}

/* Times that were measured take the place of those that were expected. */
WEFT_TEST_ON_GRAPH(test_measured_parts, f) {
    struct frames s;
    begin(&s, f, &(weft_plan_params){.timestamps = f->device->info.timestamp_period_ns > 0.0});
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
    end(&s);
}

/* A run that was given up leaves nothing that a later one would see. */
WEFT_TEST_ON_GRAPH(test_a_run_is_given_up, f) {
    struct frames s;
    begin(&s, f, NULL);
    for (uint32_t part = 0; part < s.info.parts / 2; part++) {
        record_range(&s, part, 1);
    }
    assert_true(count_frames(&s, 1e9) == 1);
    assert_ok(weft_plan_run(s.plan, s.bindings));
    expect_whole(&s, "a run behind it");
    end(&s);
}

WEFT_TEST_ON_GRAPH(test_wrong_parts, f) {
    struct frames s;
    begin(&s, f, NULL);
    const uint32_t parts = s.info.parts;
    weft_frame_cursor cursor = {.next = parts};
    const char *range = "weft_plan_record_range";
    const char *frame = "weft_plan_record_frame";
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_plan_record_range(s.plan, s.commands, s.bindings, 0, 0), range,
                        "0 parts from 0 on");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_plan_record_range(s.plan, s.commands, s.bindings, parts, 1), range,
                        "of a plan with");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_plan_record_range(s.plan, s.commands, s.bindings, 1, UINT32_MAX),
                        range, "4294967295 parts from 1 on");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_plan_record_range(s.plan, s.commands, NULL, 0, 1), range, "null");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_plan_record_frame(s.plan, s.commands, s.bindings, 1.0, &cursor), frame,
                        "of a plan with");
    assert_int_equal(cursor.next, parts);
    cursor.next = 0;
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_plan_record_frame(s.plan, s.commands, s.bindings, 0.0, &cursor), frame,
                        "a budget of 0 ms");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_plan_record_frame(s.plan, s.commands, s.bindings, NAN, &cursor), frame,
                        "a budget of");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_plan_record_frame(s.plan, s.commands, s.bindings, 1.0, NULL), frame,
                        "null");
    weft_plan *plan = NULL;
    WEFT_EXPECT_REFUSED(
        &f->host, WEFT_INVALID_ARGUMENT,
        weft_plan_compile(&plan, f->device, f->graph, weft_plan_params(.part_ms = -1.0)),
        "part_ms -1", "at least 0");
    end(&s);
}
