/* SPDX-License-Identifier: MIT */
/* The life of a device from listing to destruction, in steps that can be repeated when one has failed. */
#ifndef WEFT_TESTS_SUPPORT_CYCLE_H
#define WEFT_TESTS_SUPPORT_CYCLE_H

#include <weft/model.h>
#include <weft/vulkan.h>

#include "support.h"
#include "support_images.h"

enum { WEFT_CYCLE_TOKENS = 8, WEFT_CYCLE_LOGITS = 256, WEFT_CYCLE_RESULTS = 15 };

struct weft_cycle {
    weft_host host;
    const char *select, *model_folder, *cache_dir;
    bool of_images; /* only the steps that are */
    weft_device *device;
    weft_device *adopted;
    weft_buffer *x, *y, *of_host, *wrapped, *exported, *imported;
    void *memory;
    weft_model *model;
    weft_graph *graph;
    weft_plan *plan, *other;
    weft_bindings *bindings, *concurrent;
    weft_frame_queue *queue;
    weft_decoder *decoder;
    VkCommandBuffer commands;
    VkSemaphore semaphore; /* of the test's own, a timeline */
    uint64_t signalled;    /* its value */
    uint64_t ticket;
    struct weft_test_image picture, drawn; /* of devices that have images */
    weft_plan *drawing;
    weft_bindings *pictures;
    float results[WEFT_CYCLE_RESULTS]
                 [WEFT_CYCLE_LOGITS]; /* what it computed, the same bits in every life */
};

struct weft_cycle_step {
    const char *name;
    weft_status (*run)(struct weft_cycle *cycle);
    bool on_host; /* can go on when the device is lost */
    bool
        of_images; /* in a life of images, too: the processor device has none, and drivers are slow */
};

/** In order. One that fails leaves all as it was: it may be run again. */
extern const struct weft_cycle_step weft_cycle_steps[];
extern const uint32_t weft_cycle_step_count;
/** WEFT_OK, without anything, where the cycle has not that step. */
weft_status weft_cycle_run(struct weft_cycle *cycle, uint32_t step);
bool weft_cycle_has(const struct weft_cycle *cycle, uint32_t step);

/** Begins a cycle of all steps on the device that `select` chooses; `host` is of a struct weft_test_host. */
void weft_cycle_begin(struct weft_cycle *cycle, const weft_host *host, const char *select,
                      const char *model_folder, const char *cache_dir);
/** Destroys what there is, in the order that the headers ask for. */
void weft_cycle_end(struct weft_cycle *cycle);

#endif
