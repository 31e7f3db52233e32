/* SPDX-License-Identifier: MIT */
#include "support_frames.h"

#include <weft/decode.h>
#include <weft/mixers.h>

#include "device/device.h"
#include "driver/driver.h"

enum { N = WEFT_FRAMES_N, D = WEFT_FRAMES_D, COUNT = WEFT_FRAMES_COUNT, BYTES = WEFT_FRAMES_BYTES };

void weft_test_frames_build(weft_graph *graph, uint32_t layers) {
    float *numbers = weft_test_uniform(2 * N * D, 3, 0);
    const weft_tensor x = weft_test_input(graph, "x", weft_shape_of(2, N, D));
    const weft_tensor w = weft_test_constant(graph, weft_shape_of(D, D), numbers);
    const weft_tensor gamma = weft_test_constant(graph, weft_shape_of(D), numbers + 1);
    weft_tensor y = x;
    for (uint32_t i = 0; i < layers; i++) {
        weft_tensor mixed;
        assert_ok(weft_graph_linear(&y, graph, y, w, gamma));
        assert_ok(weft_graph_fourier(&mixed, graph, y));
        assert_ok(weft_graph_add_norm(
            &y, graph, mixed, y,
            &(weft_norm_params){
                .kind = WEFT_NORM_LAYER, .gamma = gamma, .beta = gamma, .epsilon = 1e-5F}));
        assert_ok(weft_graph_attention(&y, graph, y, y, mixed, NULL));
    }
    for (uint32_t i = 0; i < 2 && layers == 0; i++) {
        assert_ok(weft_graph_linear(&y, graph, y, w, gamma));
        assert_ok(weft_graph_softmax(&y, graph, y));
    }
    assert_ok(weft_graph_output(graph, "y", y));
    free(numbers);
}

void weft_test_lane_begin(struct weft_test_lane *lane, const struct weft_test_frames *s,
                          weft_status (*create)(weft_bindings **, weft_plan *), uint64_t stream) {
    float *x = weft_test_uniform(COUNT, 4, stream);
    *lane = (struct weft_test_lane){0};
    assert_ok(weft_buffer_create(&lane->x, s->f->device, BYTES));
    assert_ok(weft_buffer_create(&lane->y, s->f->device, BYTES));
    assert_ok(weft_buffer_write(lane->x, 0, x, BYTES));
    assert_ok(create(&lane->bindings, s->plan));
    assert_ok(weft_bindings_set(lane->bindings, "x", lane->x));
    assert_ok(weft_bindings_set(lane->bindings, "y", lane->y));
    assert_ok(weft_plan_run(s->plan, lane->bindings));
    assert_ok(weft_buffer_read(lane->y, 0, lane->whole, BYTES));
    free(x);
}

void weft_test_lane_end(struct weft_test_lane *lane) {
    weft_bindings_destroy(&lane->bindings);
    weft_buffer_destroy(&lane->x);
    weft_buffer_destroy(&lane->y);
}

void weft_test_lane_forget(const struct weft_test_lane *lane) {
    float nothing[COUNT];
    memset(nothing, 0xff, sizeof nothing);
    assert_ok(weft_buffer_write(lane->y, 0, nothing, BYTES));
}

void weft_test_lane_expect(const struct weft_test_lane *lane, const char *how) {
    float found[COUNT];
    assert_ok(weft_buffer_read(lane->y, 0, found, BYTES));
    if (memcmp(found, lane->whole, BYTES) != 0) {
        fail_msg("%s: other bits than a whole run", how);
    }
}

void weft_test_frames_commands(struct weft_test_frames *s) {
    weft_device *device = s->f->device;
    assert_ok(weft_command_pool_create(&s->pool, device));
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = s->pool,
                                              .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                              .commandBufferCount = 1};
    const struct weft_vk_device *vk = &device->vk;
    assert_int_equal(vk->AllocateCommandBuffers(vk->handle, &info, &s->commands), VK_SUCCESS);
}

void weft_test_frames_begin_layers(struct weft_test_frames *s, struct weft_test_graph *f,
                                   const weft_plan_params *params, uint32_t layers) {
    *s = (struct weft_test_frames){.f = f};
    weft_test_frames_build(f->graph, layers);
    assert_ok(weft_plan_compile(&s->plan, f->device, f->graph, params));
    assert_ok(weft_plan_get_info(s->plan, &s->info));
    weft_test_lane_begin(&s->lane, s, weft_bindings_create, 0);
    weft_test_frames_commands(s);
}

void weft_test_frames_begin(struct weft_test_frames *s, struct weft_test_graph *f,
                            const weft_plan_params *params) {
    weft_test_frames_begin_layers(s, f, params, 2);
}

void weft_test_frames_commands_end(struct weft_test_frames *s) {
    const struct weft_vk_device *vk = &s->f->device->vk;
    vk->DestroyCommandPool(vk->handle, s->pool, NULL);
}

void weft_test_frames_end(struct weft_test_frames *s) {
    weft_test_frames_commands_end(s);
    weft_test_lane_end(&s->lane);
    weft_plan_destroy(&s->plan);
}

void weft_test_frame_start(const struct weft_test_frames *s) {
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    assert_int_equal(s->f->device->vk.BeginCommandBuffer(s->commands, &info), VK_SUCCESS);
}

void weft_test_frame_finish(const struct weft_test_frames *s) {
    uint64_t ticket = 0;
    assert_int_equal(s->f->device->vk.EndCommandBuffer(s->commands), VK_SUCCESS);
    assert_ok(weft_device_submit(s->f->device, &s->commands, 1, &ticket));
    assert_ok(weft_device_wait(s->f->device, ticket, UINT64_MAX, NULL));
}

PFN_vkVoidFunction weft_test_function(const weft_device *device, const char *name) {
    PFN_vkVoidFunction found = device->in_process
                                   ? weft_driver_get_instance_proc_addr(VK_NULL_HANDLE, name)
                                   : device->instance.GetDeviceProcAddr(device->vk.handle, name);
    assert_non_null(found);
    return found;
}

void weft_test_signal(const weft_device *device, VkSemaphore semaphore, uint64_t value) {
    const char *name =
        device->version < VK_API_VERSION_1_2 ? "vkSignalSemaphoreKHR" : "vkSignalSemaphore";
    PFN_vkSignalSemaphore call = (PFN_vkSignalSemaphore)weft_test_function(device, name);
    const VkSemaphoreSignalInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = semaphore, .value = value};
    assert_int_equal(call(device->vk.handle, &info), VK_SUCCESS);
}

/* ---- a step with a state ---- */

enum { TOKENS = WEFT_SEQUENCE_TOKENS, WIDTH = WEFT_SEQUENCE_WIDTH };

weft_plan *weft_test_step_compile(struct weft_test_graph *f) {
    weft_graph *g = f->graph;
    const weft_tensor q = weft_test_input(g, "q", weft_shape_of(1, 1, WIDTH));
    const weft_tensor position = weft_test_input_i32(g, "position", weft_shape_of(1));
    weft_tensor y;
    weft_plan *plan = NULL;
    assert_ok(weft_graph_activate(&y, g, q, WEFT_ACTIVATION_SIGMOID));
    assert_ok(weft_graph_linear_attention_step(&y, g, y, y, q,
                                               &(weft_step){.position = position, .state = "s"},
                                               &(weft_linear_attention_params){.heads = 1}));
    assert_ok(weft_graph_softmax(&y, g, y));
    assert_ok(weft_graph_output(g, "y", y));
    assert_ok(weft_plan_compile(&plan, f->device, g, NULL));
    return plan;
}

void weft_test_sequence_begin(struct weft_test_sequence *s, weft_device *device, weft_plan *plan,
                              uint64_t stream) {
    weft_port_info port;
    uint32_t i = 0;
    do {
        assert_ok(weft_plan_get_port(plan, i++, &port));
    } while (!port.is_state);
    s->data = weft_test_uniform((size_t)TOKENS * WIDTH, 9, stream);
    assert_ok(weft_buffer_create(&s->q, device, WIDTH * 4));
    assert_ok(weft_buffer_create(&s->position, device, 4));
    assert_ok(weft_buffer_create(&s->state, device, port.bytes));
    assert_ok(weft_buffer_create(&s->y, device, WIDTH * 4));
    assert_ok(weft_bindings_create_concurrent(&s->bindings, plan));
    assert_ok(weft_bindings_set(s->bindings, "q", s->q));
    assert_ok(weft_bindings_set(s->bindings, "position", s->position));
    assert_ok(weft_bindings_set(s->bindings, "s", s->state));
    assert_ok(weft_bindings_set(s->bindings, "y", s->y));
}

void weft_test_sequence_end(struct weft_test_sequence *s) {
    weft_bindings_destroy(&s->bindings);
    weft_buffer_destroy(&s->q);
    weft_buffer_destroy(&s->position);
    weft_buffer_destroy(&s->state);
    weft_buffer_destroy(&s->y);
    free(s->data);
}

void weft_test_sequence_feed(const struct weft_test_sequence *s, int32_t token) {
    assert_ok(weft_buffer_write(s->q, 0, s->data + (size_t)token * WIDTH, WIDTH * 4));
    assert_ok(weft_buffer_write(s->position, 0, &token, 4));
}
