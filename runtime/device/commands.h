/* SPDX-License-Identifier: MIT */
/* Commands that run once, each with a staging buffer: transfers, and the probe. */
#ifndef WEFT_DEVICE_COMMANDS_H
#define WEFT_DEVICE_COMMANDS_H

#include "device/device.h"

#define WEFT_STAGING_SIZE (UINT64_C(4) << 20)

/** One thread's from weft_commands_take to weft_commands_give. */
struct weft_commands {
    struct weft_commands *next;
    VkCommandPool pool; /* of its own, so that no two threads record from one */
    VkCommandBuffer handle;
    VkBuffer staging; /* WEFT_STAGING_SIZE bytes … */
    struct weft_allocation *staging_memory;
    bool busy; /* under locks.commands */
    bool
        unsettled; /* submitted, and not known to be complete: where a wait failed they may still run */
};

/** The first ones; others are made when several threads ask at once. */
weft_status weft_commands_create(weft_device *device);
/** Frees all of them; none may be in flight. */
void weft_commands_destroy(weft_device *device);

weft_status weft_commands_take(struct weft_commands **commands, weft_device *device);
/** Unsettled command buffers stay reserved until the device is destroyed. */
void weft_commands_give(weft_device *device, struct weft_commands *commands);

/** Puts the command buffer into the recording state; what it held is gone. Any number of times while they are taken. */
weft_status weft_commands_begin(struct weft_commands *commands, weft_device *device);
/** Ends the recording, submits it and waits until it has run. */
weft_status weft_commands_run(struct weft_commands *commands, weft_device *device);

/** All of that for what `record` records. */
weft_status weft_commands_once(weft_device *device,
                               void (*record)(const void *user, const weft_device *device,
                                              VkCommandBuffer commands),
                               const void *user);

#endif
