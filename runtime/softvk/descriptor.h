/* SPDX-License-Identifier: MIT */
#ifndef WEFT_SOFTVK_DESCRIPTOR_H
#define WEFT_SOFTVK_DESCRIPTOR_H

#include <stdatomic.h>

#include "softvk/command.h"

#define WEFT_SOFT_NOT_DYNAMIC UINT32_MAX

/* A binding has `count` slots of its set from `first` on, and as many dynamic offsets if it is dynamic. */
struct weft_soft_layout_binding {
    uint32_t number;
    uint32_t count;
    uint32_t first;
    uint32_t first_offset; /* or WEFT_SOFT_NOT_DYNAMIC */
};

/* Sets and pipeline layouts may live longer than the handle. */
struct weft_soft_set_layout {
    atomic_uint references;
    uint32_t slot_count;
    uint32_t offset_count;
    uint32_t binding_count;
    struct weft_soft_layout_binding bindings[]; /* by number */
};

struct weft_soft_pipeline_layout {
    uint32_t push_size; /* bytes */
    uint32_t set_count;
    struct weft_soft_set_layout *sets[WEFT_SOFT_MAX_SETS];
};

struct weft_soft_descriptor_pool {
    uint32_t sets_left, slots_left;
    struct weft_soft_descriptor_set *sets;
};

struct weft_soft_descriptor_set {
    struct weft_soft_descriptor_pool *pool;
    struct weft_soft_descriptor_set *next, *previous; /* in the pool */
    struct weft_soft_set_layout *layout;
    struct weft_soft_range ranges[]; /* by slot */
};

WEFT_SOFT_OBJECT(VkDescriptorSetLayout, set_layout)
WEFT_SOFT_OBJECT(VkPipelineLayout, pipeline_layout)
WEFT_SOFT_OBJECT(VkDescriptorPool, descriptor_pool)
WEFT_SOFT_OBJECT(VkDescriptorSet, descriptor_set)

/** The binding of that number, or null. */
const struct weft_soft_layout_binding *weft_soft_find_binding(
    const struct weft_soft_set_layout *layout, uint32_t number);

struct weft_soft_set_layout *weft_soft_set_layout_keep(struct weft_soft_set_layout *layout);
void weft_soft_set_layout_release(const struct weft_soft_device *device,
                                  struct weft_soft_set_layout *layout);

/** The slot, and how many there are from it on; 0 for a binding that the layout does not have. */
uint32_t weft_soft_find_slots(uint32_t *slot, const struct weft_soft_set_layout *layout,
                              uint32_t number, uint32_t element);

void weft_soft_set_destroy(const struct weft_soft_device *device,
                           struct weft_soft_descriptor_set *set);
/** Destroys all sets of the pool. */
void weft_soft_pool_empty(const struct weft_soft_device *device,
                          struct weft_soft_descriptor_pool *pool);

/** Sets `count` slots from an element of a binding on; they may go on in the bindings behind it. */
void weft_soft_write_slots(const struct weft_soft_device *device,
                           struct weft_soft_descriptor_set *set, uint32_t binding, uint32_t element,
                           uint32_t count, const uint8_t *infos, size_t stride);

#endif
