/* SPDX-License-Identifier: MIT */
/* A network of several kinds of dispatches, to be recorded in parts, and what whole runs make of its inputs. */
#ifndef WEFT_TESTS_SUPPORT_FRAMES_H
#define WEFT_TESTS_SUPPORT_FRAMES_H

#include <weft/vulkan.h>

#include "support_graph.h"

enum {
    WEFT_FRAMES_N = 37,
    WEFT_FRAMES_D = 24,
    WEFT_FRAMES_COUNT = 2 * WEFT_FRAMES_N * WEFT_FRAMES_D,
    WEFT_FRAMES_BYTES = WEFT_FRAMES_COUNT * (int)sizeof(float)
};

/** Buffers and bindings for runs, and what a whole run gives. */
struct weft_test_lane {
    weft_buffer *x, *y;
    weft_bindings *bindings;
    float whole[WEFT_FRAMES_COUNT];
};

struct weft_test_frames {
    struct weft_test_graph *f;
    weft_plan *plan;
    weft_plan_info info;
    struct weft_test_lane lane;
    VkCommandPool pool; /* of its own: the device's are for transfers, of any thread */
    VkCommandBuffer commands;
};

/** Adds the network to a graph, `layers` times; 0: a small one, of four dispatches. */
void weft_test_frames_build(weft_graph *graph, uint32_t layers);
/** Compiles it, of two layers or of as many as `layers` says, and makes a lane. */
void weft_test_frames_begin(struct weft_test_frames *frames, struct weft_test_graph *f,
                            const weft_plan_params *params);
void weft_test_frames_begin_layers(struct weft_test_frames *frames, struct weft_test_graph *f,
                                   const weft_plan_params *params, uint32_t layers);
void weft_test_frames_end(struct weft_test_frames *frames);

/** Inputs of that stream of random numbers; bindings are made by `create`. Makes a whole run. */
void weft_test_lane_begin(struct weft_test_lane *lane, const struct weft_test_frames *frames,
                          weft_status (*create)(weft_bindings **, weft_plan *), uint64_t stream);
void weft_test_lane_end(struct weft_test_lane *lane);
/** NaN is where the result will be. */
void weft_test_lane_forget(const struct weft_test_lane *lane);
/** Fails the test unless the result has the bits of a whole run. */
void weft_test_lane_expect(const struct weft_test_lane *lane, const char *how);

/** Makes the command buffer, where frames are of another plan. */
void weft_test_frames_commands(struct weft_test_frames *frames);
void weft_test_frames_commands_end(struct weft_test_frames *frames);
/** Begins the command buffer; submits what was recorded and waits for it. */
void weft_test_frame_start(const struct weft_test_frames *frames);
void weft_test_frame_finish(const struct weft_test_frames *frames);

/** A Vulkan function of the device's, also one that Weft does not call: in this process it is tests/driver's. */
PFN_vkVoidFunction weft_test_function(const weft_device *device, const char *name);

/** The host gives a timeline semaphore that value. */
void weft_test_signal(const weft_device *device, VkSemaphore semaphore, uint64_t value);

/* ---- a step with a state ---- */

enum { WEFT_SEQUENCE_TOKENS = 5, WEFT_SEQUENCE_WIDTH = 8 };

/** A sequence that is decoded token by token, in bindings with an arena of their own, and what it gave. */
struct weft_test_sequence {
    weft_buffer *q, *position, *state, *y;
    weft_bindings *bindings;
    float *data, out[WEFT_SEQUENCE_TOKENS][WEFT_SEQUENCE_WIDTH];
};

weft_plan *weft_test_step_compile(struct weft_test_graph *f);
void weft_test_sequence_begin(struct weft_test_sequence *sequence, weft_device *device,
                              weft_plan *plan, uint64_t stream);
void weft_test_sequence_end(struct weft_test_sequence *sequence);
/** Writes the inputs of a token. */
void weft_test_sequence_feed(const struct weft_test_sequence *sequence, int32_t token);

#endif
