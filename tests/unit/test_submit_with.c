/* SPDX-License-Identifier: MIT */
/* weft-test: long device */
/* Runs among a caller's submissions: semaphores to wait for and to signal, and the device's own timeline. */
#include <weft/vulkan.h>

#include "device/device.h"
#include "support_frames.h"

enum { BYTES = WEFT_FRAMES_BYTES, MS = 1000000 };

/* x -> first run -> y -> a copy of the caller's -> z -> second run -> w */
struct chain {
    struct weft_test_frames frames; /* lane: x and y */
    weft_buffer *z, *w;
    weft_bindings *second;
    VkSemaphore from_host, between, binary;
    float expected[WEFT_FRAMES_COUNT];
};

static VkSemaphore make_semaphore(weft_device *device, bool timeline) {
    const VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
    };
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = timeline ? &type : NULL};
    VkSemaphore made = VK_NULL_HANDLE;
    assert_int_equal(device->vk.CreateSemaphore(device->vk.handle, &info, NULL, &made), VK_SUCCESS);
    return made;
}

static void begin(struct chain *c, struct weft_test_graph *f) {
    weft_device *device = f->device;
    weft_test_frames_begin(&c->frames, f, NULL);
    weft_plan *plan = c->frames.plan;
    assert_ok(weft_buffer_create(&c->z, device, BYTES));
    assert_ok(weft_buffer_create(&c->w, device, BYTES));
    assert_ok(weft_bindings_create(&c->second, plan));
    assert_ok(weft_bindings_set(c->second, "x", c->z));
    assert_ok(weft_bindings_set(c->second, "y", c->w));
    assert_ok(weft_buffer_write(c->z, 0, c->frames.lane.whole, BYTES));
    assert_ok(weft_plan_run(plan, c->second));
    assert_ok(weft_buffer_read(c->w, 0, c->expected, BYTES));
    float nothing[WEFT_FRAMES_COUNT];
    memset(nothing, 0xff, sizeof nothing);
    assert_ok(weft_buffer_write(c->z, 0, nothing, BYTES));
    assert_ok(weft_buffer_write(c->w, 0, nothing, BYTES));
    weft_test_lane_forget(&c->frames.lane);
    c->from_host = make_semaphore(device, device->has_timeline);
    c->between = make_semaphore(device, device->has_timeline);
    c->binary = make_semaphore(device, false);
}

static void end(struct chain *c) {
    const weft_device *device = c->frames.f->device;
    weft_bindings_destroy(&c->second);
    device->vk.DestroySemaphore(device->vk.handle, c->from_host, NULL);
    device->vk.DestroySemaphore(device->vk.handle, c->between, NULL);
    device->vk.DestroySemaphore(device->vk.handle, c->binary, NULL);
    weft_test_frames_end(&c->frames);
    weft_buffer_destroy(&c->z);
    weft_buffer_destroy(&c->w);
}

/* The caller's submission: copies y to z behind `wait`, and signals. */
static void submit_copy(const struct chain *c, weft_semaphore_point wait,
                        weft_semaphore_point signals) {
    const struct weft_test_frames *s = &c->frames;
    const weft_device *device = s->f->device;
    const VkBufferCopy whole = {.size = BYTES};
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    assert_int_equal(device->vk.BeginCommandBuffer(s->commands, &info), VK_SUCCESS);
    device->vk.CmdCopyBuffer(s->commands, weft_buffer_vulkan(s->lane.y, NULL),
                             weft_buffer_vulkan(c->z, NULL), 1, &whole);
    assert_int_equal(device->vk.EndCommandBuffer(s->commands), VK_SUCCESS);
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_TRANSFER_BIT;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = 1,
        .pWaitSemaphoreValues = &wait.value,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &signals.value};
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .pNext = device->has_timeline ? &values : NULL,
                                 .waitSemaphoreCount = 1,
                                 .pWaitSemaphores = &wait.semaphore,
                                 .pWaitDstStageMask = &stage,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &s->commands,
                                 .signalSemaphoreCount = 1,
                                 .pSignalSemaphores = &signals.semaphore};
    assert_int_equal(device->vk.QueueSubmit(device->queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
}

static uint64_t submit_run(const struct chain *c, weft_bindings *bindings,
                           weft_semaphore_point wait, weft_semaphore_point signals) {
    uint64_t ticket = 0;
    assert_ok(
        weft_plan_submit_with(c->frames.plan, bindings,
                              weft_submit_params(.waits = &wait, .wait_count = 1,
                                                 .signal_points = &signals, .signal_count = 1),
                              &ticket));
    return ticket;
}

static void expect_end(struct chain *c, uint64_t ticket) {
    float found[WEFT_FRAMES_COUNT];
    assert_ok(weft_plan_wait(c->frames.plan, ticket, UINT64_MAX, NULL));
    weft_test_lane_expect(&c->frames.lane, "the first run");
    assert_ok(weft_buffer_read(c->w, 0, found, BYTES));
    assert_memory_equal(found, c->expected, BYTES);
}

static uint64_t value_of(const weft_device *device, VkSemaphore semaphore) {
    uint64_t value = 0;
    assert_int_equal(device->vk.GetSemaphoreCounterValue(device->vk.handle, semaphore, &value),
                     VK_SUCCESS);
    return value;
}

/* Nothing begins until the host signals; then each waits for the one before it. */
static void run_chain(struct weft_test_graph *f, uint32_t least_submissions) {
    struct chain c;
    bool done = true;
    if (!f->device->has_timeline) {
        skip();
    }
    begin(&c, f);
    weft_plan *plan = c.frames.plan;
    assert_true(c.frames.info.submissions >= least_submissions);
    const uint64_t first =
        submit_run(&c, c.frames.lane.bindings, (weft_semaphore_point){c.from_host, 5},
                   (weft_semaphore_point){c.between, 1});
    submit_copy(&c, (weft_semaphore_point){c.between, 1}, (weft_semaphore_point){c.between, 2});
    const uint64_t second = submit_run(&c, c.second, (weft_semaphore_point){c.between, 2},
                                       (weft_semaphore_point){c.between, 3});
    assert_true(second == first + c.frames.info.submissions);
    weft_test_signal(f->device, c.from_host, 4);
    assert_ok(weft_plan_wait(plan, first, 20 * MS, &done));
    assert_false(done);
    assert_int_equal(value_of(f->device, c.between), 0);
    weft_test_signal(f->device, c.from_host, 5);
    expect_end(&c, second);
    const VkSemaphoreWaitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &c.between,
                                      .pValues = &(uint64_t){3}};
    assert_int_equal(f->device->vk.WaitSemaphores(f->device->vk.handle, &wait, UINT64_MAX),
                     VK_SUCCESS);
    assert_int_equal(value_of(f->device, c.between), 3);
    end(&c);
}

WEFT_TEST_ON_GRAPH(test_a_chain, f) {
    run_chain(f, 1);
}

/* The first of a run's submissions waits, and the last one signals. */
WEFT_TEST_ON_GRAPH(test_a_chain_of_runs_in_several_submissions, f) {
    f->device->submission_limit_ms = 1;
    f->device->flops_per_ms = 1e5;
    run_chain(f, 4);
}

/* On any device. */
WEFT_TEST_ON_GRAPH(test_a_chain_of_binary_semaphores, f) {
    struct chain c;
    begin(&c, f);
    const VkSemaphore back = make_semaphore(f->device, false);
    for (uint32_t round = 0; round < 3; round++) {
        uint64_t ticket = 0;
        const weft_semaphore_point there = {.semaphore = c.binary};
        assert_ok(weft_plan_submit_with(
            c.frames.plan, c.frames.lane.bindings,
            weft_submit_params(.signal_points = &there, .signal_count = 1), &ticket));
        submit_copy(&c, there, (weft_semaphore_point){.semaphore = back});
        assert_ok(weft_plan_submit_with(
            c.frames.plan, c.second,
            weft_submit_params(.waits = &(weft_semaphore_point){.semaphore = back},
                               .wait_count = 1),
            &ticket));
        expect_end(&c, ticket);
    }
    f->device->vk.DestroySemaphore(f->device->vk.handle, back, NULL);
    end(&c);
}

WEFT_TEST_ON_GRAPH(test_binary_semaphores, f) {
    struct chain c;
    if (!f->device->has_timeline) {
        skip();
    }
    begin(&c, f);
    uint64_t ticket = 0;
    const weft_semaphore_point signals[] = {{c.binary, 77}, {c.between, 9}};
    for (uint32_t round = 0; round < 2; round++) { /* the wait has made it unsignalled again */
        assert_ok(weft_plan_submit_with(
            c.frames.plan, c.frames.lane.bindings,
            weft_submit_params(.signal_points = signals, .signal_count = round == 0 ? 2 : 1),
            &ticket));
        submit_copy(&c, (weft_semaphore_point){c.binary, 0},
                    (weft_semaphore_point){c.from_host, round + 1});
        const weft_semaphore_point wait[] = {{c.from_host, round + 1}, {c.between, 9}};
        assert_ok(weft_plan_submit_with(
            c.frames.plan, c.second, weft_submit_params(.waits = wait, .wait_count = 2), &ticket));
        expect_end(&c, ticket);
    }
    end(&c);
}

/* A ticket is a value of the device's timeline, for the caller's submissions as well. */
WEFT_TEST_ON_GRAPH(test_the_timeline, f) {
    struct chain c;
    uint64_t ticket = 0;
    const VkSemaphore timeline = weft_device_timeline(f->device);
    assert_true(weft_device_timeline(NULL) == VK_NULL_HANDLE);
    assert_true((timeline != VK_NULL_HANDLE) == f->device->has_timeline);
    if (timeline == VK_NULL_HANDLE) {
        skip();
    }
    begin(&c, f);
    assert_ok(weft_plan_submit(c.frames.plan, c.frames.lane.bindings, &ticket));
    submit_copy(&c, (weft_semaphore_point){timeline, ticket}, (weft_semaphore_point){c.binary, 0});
    ticket = submit_run(&c, c.second, (weft_semaphore_point){c.binary, 0},
                        (weft_semaphore_point){c.between, 1});
    expect_end(&c, ticket);
    assert_true(value_of(f->device, timeline) >= ticket);
    end(&c);
}

WEFT_TEST_ON_GRAPH(test_what_is_refused, f) {
    struct chain c;
    uint64_t ticket = 99;
    begin(&c, f);
    weft_plan *plan = c.frames.plan;
    weft_bindings *bindings = c.frames.lane.bindings;
    const weft_semaphore_point points[] = {{c.between, 1}, {VK_NULL_HANDLE, 2}};
    const char *function = "weft_plan_submit_with";
    WEFT_EXPECT_REFUSED(
        &f->host, WEFT_INVALID_ARGUMENT,
        weft_plan_submit_with(plan, bindings,
                              weft_submit_params(.signal_points = points, .signal_count = 2),
                              &ticket),
        function, "signal 1 of 2");
    WEFT_EXPECT_REFUSED(
        &f->host, WEFT_INVALID_ARGUMENT,
        weft_plan_submit_with(plan, bindings, weft_submit_params(.wait_count = 1), &ticket),
        function, "wait 0 of 1");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_plan_submit_with(plan, bindings, NULL, &ticket), function, "null");
    assert_int_equal(ticket, 99);
    if (f->device->has_timeline) {
        assert_int_equal(value_of(f->device, c.between), 0);
    }
    end(&c);
}
