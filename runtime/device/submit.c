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

weft_status weft_device_queue_submit(weft_device *device, const VkSubmitInfo *infos,
                                     uint64_t *values, uint32_t count, uint64_t *value) {
    WEFT_TRY(weft_device_alive(device));
    /* The owner's lock first: it may be one that this thread already holds. */
    lock_queue(device);
    pthread_mutex_lock(&device->locks.queue);
    uint64_t newest = atomic_load(&device->timeline_value);
    for (uint32_t i = 0; i < count; i++) {
        values[i] = ++newest;
    }
    const VkResult result = device->vk.QueueSubmit(device->queue, count, infos, VK_NULL_HANDLE);
    if (result == VK_SUCCESS) {
        atomic_store(&device->timeline_value, newest);
    }
    pthread_mutex_unlock(&device->locks.queue);
    unlock_queue(device);
    WEFT_TRY(weft_device_check(device, result, "vkQueueSubmit"));
    device->stats.submissions += count;
    *value = newest;
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
        .pNext = &timeline,
        .commandBufferCount = count,
        .pCommandBuffers = commands,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &device->timeline,
    };
    return weft_device_queue_submit(device, &info, &signal, 1, value);
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

weft_status weft_command_pool_create(VkCommandPool *pool, weft_device *device) {
    const VkCommandPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = device->queue_family,
    };
    return WEFT_VK_MAKE(device, CreateCommandPool, &info, pool);
}

/* ---- commands that run once ---- */

/* A pool with one command buffer at a time, so that no two threads ever record from one pool. */
struct weft_command_slot {
    struct weft_command_slot *next;
    VkCommandPool pool;
    VkCommandBuffer commands; /* guarded by locks.slots, as `busy` is */
    bool busy;
};

static struct weft_command_slot *take_slot(weft_device *device) {
    pthread_mutex_lock(&device->locks.slots);
    struct weft_command_slot *slot = device->slots;
    while (slot && slot->busy) {
        slot = slot->next;
    }
    if (slot) {
        slot->busy = true;
    }
    pthread_mutex_unlock(&device->locks.slots);
    return slot;
}

static void give_slot(weft_device *device, struct weft_command_slot *slot) {
    pthread_mutex_lock(&device->locks.slots);
    slot->commands = VK_NULL_HANDLE;
    slot->busy = false;
    pthread_mutex_unlock(&device->locks.slots);
}

/* The list has the oldest in front, so that one thread alone always finds the same. */
static void append_slot(weft_device *device, struct weft_command_slot *slot) {
    pthread_mutex_lock(&device->locks.slots);
    struct weft_command_slot **link = &device->slots;
    while (*link) {
        link = &(*link)->next;
    }
    *link = slot;
    if (device->slots == slot) {
        device->command_pool = slot->pool;
    }
    pthread_mutex_unlock(&device->locks.slots);
}

static weft_status make_slot(struct weft_command_slot **slot, weft_device *device) {
    struct weft_command_slot *made = weft_alloc_zero(&device->host, 1, sizeof *made);
    if (!made) {
        return weft_fail_memory(&device->host, "a command pool");
    }
    made->busy = true;
    weft_status status = weft_command_pool_create(&made->pool, device);
    if (status != WEFT_OK) {
        weft_free(&device->host, made);
        return status;
    }
    append_slot(device, made);
    *slot = made;
    return WEFT_OK;
}

weft_status weft_command_slots_create(weft_device *device) {
    struct weft_command_slot *slot = NULL;
    WEFT_TRY(make_slot(&slot, device));
    give_slot(device, slot);
    return WEFT_OK;
}

void weft_command_slots_destroy(weft_device *device) {
    while (device->slots) {
        struct weft_command_slot *slot = device->slots;
        device->slots = slot->next;
        device->vk.DestroyCommandPool(device->vk.handle, slot->pool, NULL);
        weft_free(&device->host, slot);
    }
}

static weft_status begin_in_slot(struct weft_command_slot *slot, VkCommandBuffer *commands,
                                 weft_device *device) {
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = slot->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    VkCommandBuffer made = VK_NULL_HANDLE;
    WEFT_TRY(WEFT_VK(device, AllocateCommandBuffers, &info, &made));
    const weft_status status = weft_device_check(
        device, device->vk.BeginCommandBuffer(made, &begin), "vkBeginCommandBuffer");
    if (status != WEFT_OK) {
        device->vk.FreeCommandBuffers(device->vk.handle, slot->pool, 1, &made);
        return status;
    }
    pthread_mutex_lock(&device->locks.slots);
    slot->commands = made;
    pthread_mutex_unlock(&device->locks.slots);
    *commands = made;
    return WEFT_OK;
}

weft_status weft_device_begin_commands(VkCommandBuffer *commands, weft_device *device) {
    WEFT_TRY(weft_device_alive(device));
    struct weft_command_slot *slot = take_slot(device);
    if (!slot) {
        WEFT_TRY(make_slot(&slot, device));
    }
    const weft_status status = begin_in_slot(slot, commands, device);
    if (status != WEFT_OK) {
        give_slot(device, slot);
    }
    return status;
}

static struct weft_command_slot *slot_of(weft_device *device, VkCommandBuffer commands) {
    pthread_mutex_lock(&device->locks.slots);
    struct weft_command_slot *slot = device->slots;
    while (slot && slot->commands != commands) {
        slot = slot->next;
    }
    pthread_mutex_unlock(&device->locks.slots);
    return slot;
}

weft_status weft_device_finish_commands(weft_device *device, VkCommandBuffer commands) {
    struct weft_command_slot *slot = slot_of(device, commands);
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
    /* Where the wait itself failed the commands may still run: then they keep the slot until it goes. */
    if (!submitted || status == WEFT_OK || device->lost) {
        device->vk.FreeCommandBuffers(device->vk.handle, slot->pool, 1, &commands);
        give_slot(device, slot);
    }
    return status;
}
