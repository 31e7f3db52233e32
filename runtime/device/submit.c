/* SPDX-License-Identifier: MIT */
/* The queue: submissions counted by one timeline semaphore, or by fences. */
#include "device/device.h"

#include "core/try.h"
#include "device/fences.h"
#include "softvk/softvk.h"

static void lock_queue(const weft_device *device) {
    if (device->lock_queue) {
        device->lock_queue(device->lock_user);
    }
}

static void unlock_queue(const weft_device *device) {
    if (device->unlock_queue) {
        device->unlock_queue(device->lock_user);
    }
}

/* Under both locks. */
static weft_status submit(weft_device *device, const VkSubmitInfo *infos, uint64_t *values,
                          uint32_t count, uint64_t *value) {
    struct weft_fence *fence = NULL;
    uint64_t newest = atomic_load(&device->timeline_value);
    for (uint32_t i = 0; i < count; i++) {
        values[i] = ++newest;
    }
    if (device->fences) {
        WEFT_TRY(weft_fences_take(&fence, device));
    }
    const VkResult result =
        device->vk.QueueSubmit(device->queue, count, infos, weft_fence_handle(fence));
    if (fence && result == VK_SUCCESS) {
        weft_fences_submitted(device, fence, newest);
    } else if (fence) {
        weft_fences_give_back(device, fence);
    }
    WEFT_TRY(weft_device_check(device, result, "vkQueueSubmit"));
    atomic_store(&device->timeline_value, newest);
    *value = newest;
    return WEFT_OK;
}

weft_status weft_device_queue_submit(weft_device *device, const VkSubmitInfo *infos,
                                     uint64_t *values, uint32_t count, uint64_t *value) {
    WEFT_TRY(weft_device_runs(device));
    /* The owner's lock first: it may be one that this thread already holds. */
    lock_queue(device);
    pthread_mutex_lock(&device->locks.queue);
    const weft_status status = submit(device, infos, values, count, value);
    pthread_mutex_unlock(&device->locks.queue);
    unlock_queue(device);
    WEFT_TRY(status);
    device->stats.submissions += count;
    return WEFT_OK;
}

weft_status weft_device_submit(weft_device *device, const VkCommandBuffer *commands, uint32_t count,
                               uint64_t *value) {
    uint64_t signal = 0;
    VkTimelineSemaphoreSubmitInfo timeline = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &signal,
    };
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = device->has_timeline ? &timeline : NULL,
        .commandBufferCount = count,
        .pCommandBuffers = commands,
        .signalSemaphoreCount = device->has_timeline ? 1 : 0,
        .pSignalSemaphores = &device->timeline,
    };
    return weft_device_queue_submit(device, &info, &signal, 1, value);
}

/* ---- waiting ---- */

#define SLICE_NS UINT64_C(50000000) /* between two looks whether to go on */

/* A wait, and what has ended it before its time. */
struct wait {
    const weft_device *device;
    weft_status status;
};

static bool ends(void *user) {
    struct wait *wait = user;
    if (wait->status == WEFT_OK) {
        wait->status = weft_device_alive(wait->device);
    }
    if (wait->status == WEFT_OK) {
        wait->status = weft_interrupted(&wait->device->host);
    }
    return wait->status != WEFT_OK;
}

/* `next` is for the semaphore's wait alone. */
static VkResult wait_once(weft_device *device, uint64_t value, uint64_t timeout_ns,
                          const void *next) {
    const VkSemaphoreWaitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .pNext = next,
        .semaphoreCount = 1,
        .pSemaphores = &device->timeline,
        .pValues = &value,
    };
    return device->fences ? weft_fences_wait(device, value, timeout_ns)
                          : device->vk.WaitSemaphores(device->vk.handle, &info, timeout_ns);
}

static VkResult wait_in_slices(struct wait *wait, weft_device *device, uint64_t value,
                               uint64_t timeout_ns) {
    VkResult result = VK_TIMEOUT;
    for (bool more = true; more && result == VK_TIMEOUT;) {
        const uint64_t slice = timeout_ns < SLICE_NS ? timeout_ns : SLICE_NS;
        result = wait_once(device, value, slice, NULL);
        timeout_ns -= timeout_ns == UINT64_MAX ? 0 : slice;
        more = timeout_ns > 0 && (result != VK_TIMEOUT || !ends(wait));
    }
    return result;
}

weft_status weft_device_wait_or_cancel(weft_device *device, uint64_t first, uint64_t value,
                                       uint64_t timeout_ns, bool *done) {
    WEFT_TRY(weft_device_runs(device));
    struct wait wait = {.device = device};
    const struct weft_soft_wait_info ours = {.sType = WEFT_SOFT_WAIT_INFO,
                                             .first = first,
                                             .alone = device->host.interrupted != NULL,
                                             .ends = ends,
                                             .user = &wait};
    const VkResult result = device->in_process && !device->fences
                                ? wait_once(device, value, timeout_ns, &ours)
                                : wait_in_slices(&wait, device, value, timeout_ns);
    WEFT_TRY(wait.status);
    if (device->lost) { /* it came to its end because of that, perhaps */
        return weft_device_alive(device);
    }
    if (result != VK_SUCCESS && result != VK_TIMEOUT) {
        return weft_device_check(device, result,
                                 device->fences ? "vkWaitForFences" : "vkWaitSemaphores");
    }
    if (done) {
        *done = result == VK_SUCCESS;
    }
    return WEFT_OK;
}

weft_status weft_device_wait(weft_device *device, uint64_t value, uint64_t timeout_ns, bool *done) {
    return weft_device_wait_or_cancel(device, value + 1, value, timeout_ns, done);
}

void weft_device_settle(weft_device *device, uint64_t value) {
    if (value > 0 && (!device->lost || device->cancelled)) {
        (void)weft_device_check(device, wait_once(device, value, UINT64_MAX, NULL), "waiting");
    }
}

weft_status weft_device_completed(weft_device *device, uint64_t *value) {
    return device->fences ? weft_fences_value(device, value)
                          : WEFT_VK(device, GetSemaphoreCounterValue, device->timeline, value);
}

weft_status weft_command_pool_create(VkCommandPool *pool, weft_device *device) {
    const VkCommandPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = device->queue_family,
    };
    return WEFT_VK_MAKE(device, CreateCommandPool, &info, pool);
}
