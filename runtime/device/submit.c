/* SPDX-License-Identifier: MIT */
/* The queue: submissions counted by one timeline semaphore, and command buffers that run once. */
#include "device/device.h"

#include "core/try.h"

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

weft_status weft_device_submit(weft_device *device, const VkCommandBuffer *commands, uint32_t count,
                               uint64_t *value) {
    WEFT_TRY(weft_device_alive(device));
    const uint64_t signal = device->timeline_value + 1;
    VkTimelineSemaphoreSubmitInfo timeline = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &signal,
    };
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &timeline,
        .commandBufferCount = count,
        .pCommandBuffers = commands,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &device->timeline,
    };
    lock_queue(device);
    VkResult result = device->vk.QueueSubmit(device->queue, 1, &info, VK_NULL_HANDLE);
    unlock_queue(device);
    WEFT_TRY(weft_device_check(device, result, "vkQueueSubmit"));
    device->timeline_value = signal;
    device->stats.submissions++;
    *value = signal;
    return WEFT_OK;
}

weft_status weft_device_wait(weft_device *device, uint64_t value, uint64_t timeout_ns, bool *done) {
    WEFT_TRY(weft_device_alive(device));
    VkSemaphoreWaitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &device->timeline,
        .pValues = &value,
    };
    VkResult result = device->vk.WaitSemaphores(device->vk.handle, &info, timeout_ns);
    if (result != VK_SUCCESS && result != VK_TIMEOUT) {
        return weft_device_check(device, result, "vkWaitSemaphores");
    }
    if (done) {
        *done = result == VK_SUCCESS;
    }
    return WEFT_OK;
}

weft_status weft_device_begin_commands(VkCommandBuffer *commands, weft_device *device) {
    WEFT_TRY(weft_device_alive(device));
    VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = device->command_pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    VkCommandBuffer made = VK_NULL_HANDLE;
    WEFT_TRY(WEFT_VK(device, AllocateCommandBuffers, &info, &made));
    VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    weft_status status = weft_device_check(device, device->vk.BeginCommandBuffer(made, &begin),
                                           "vkBeginCommandBuffer");
    if (status != WEFT_OK) {
        device->vk.FreeCommandBuffers(device->vk.handle, device->command_pool, 1, &made);
        return status;
    }
    *commands = made;
    return WEFT_OK;
}

weft_status weft_device_finish_commands(weft_device *device, VkCommandBuffer commands) {
    uint64_t value = 0;
    weft_status status =
        weft_device_check(device, device->vk.EndCommandBuffer(commands), "vkEndCommandBuffer");
    if (status == WEFT_OK) {
        status = weft_device_submit(device, &commands, 1, &value);
    }
    const bool submitted = status == WEFT_OK;
    if (submitted) {
        status = weft_device_wait(device, value, UINT64_MAX, NULL);
    }
    /* Where the wait itself failed the commands may still run: then they stay until the pool goes.
     */
    if (!submitted || status == WEFT_OK || device->lost) {
        device->vk.FreeCommandBuffers(device->vk.handle, device->command_pool, 1, &commands);
    }
    return status;
}
