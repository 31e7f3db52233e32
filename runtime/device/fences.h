/* SPDX-License-Identifier: MIT */
/*
 * Counter of submissions on a device without timeline semaphores, as some of Vulkan 1.1: a fence for each call of
 * vkQueueSubmit. A signalled fence means that all earlier submissions are complete, too.
 */
#ifndef WEFT_DEVICE_FENCES_H
#define WEFT_DEVICE_FENCES_H

#include "device/device.h"

struct weft_fence;

weft_status weft_fences_create(weft_device *device);
/** All of them; nothing may be in flight, unless the device is lost. */
void weft_fences_destroy(weft_device *device);

/** A fence for a submission. Under locks.queue, as the two below. */
weft_status weft_fences_take(struct weft_fence **fence, weft_device *device);
VkFence weft_fence_handle(const struct weft_fence *fence);
/** It was submitted, and says that `value` is reached; or it was not, and may be taken again. */
void weft_fences_submitted(weft_device *device, struct weft_fence *fence, uint64_t value);
void weft_fences_give_back(weft_device *device, struct weft_fence *fence);

/** As vkWaitSemaphores, for a value of a submission that was made; VK_TIMEOUT at once for a later one. */
VkResult weft_fences_wait(weft_device *device, uint64_t value, uint64_t timeout_ns);
/** The newest value that is reached. */
weft_status weft_fences_value(weft_device *device, uint64_t *value);

#endif
