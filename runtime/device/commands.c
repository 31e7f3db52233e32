/* SPDX-License-Identifier: MIT */
#include "device/commands.h"

#include "core/try.h"

/* The list has the oldest in front, so that one thread alone always finds the same. */
static void append(weft_device *device, struct weft_commands *made) {
    pthread_mutex_lock(&device->locks.commands);
    struct weft_commands **link = &device->commands;
    while (*link) {
        link = &(*link)->next;
    }
    *link = made;
    pthread_mutex_unlock(&device->locks.commands);
}

static void destroy(weft_device *device, struct weft_commands *commands) {
    weft_vkbuffer_destroy(device, &commands->staging, &commands->staging_memory);
    device->vk.DestroyCommandPool(device->vk.handle, commands->pool, NULL);
    weft_free(&device->host, commands);
}

static weft_status fill(struct weft_commands *made, weft_device *device) {
    WEFT_TRY(weft_command_pool_create(&made->pool, device));
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = made->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    WEFT_TRY(WEFT_VK(device, AllocateCommandBuffers, &info, &made->handle));
    return weft_vkbuffer_create(&made->staging, &made->staging_memory, device, WEFT_STAGING_SIZE,
                                WEFT_MEMORY_STAGING);
}

static weft_status make(struct weft_commands **commands, weft_device *device) {
    struct weft_commands *made = weft_alloc_zero(&device->host, 1, sizeof *made);
    if (!made) {
        return weft_fail_memory(&device->host, "commands that run once");
    }
    made->busy = true;
    const weft_status status = fill(made, device);
    if (status != WEFT_OK) {
        destroy(device, made);
        return status;
    }
    append(device, made);
    *commands = made;
    return WEFT_OK;
}

weft_status weft_commands_create(weft_device *device) {
    struct weft_commands *first = NULL;
    WEFT_TRY(make(&first, device));
    weft_commands_give(device, first);
    return WEFT_OK;
}

void weft_commands_destroy(weft_device *device) {
    while (device->commands) {
        struct weft_commands *commands = device->commands;
        device->commands = commands->next;
        destroy(device, commands);
    }
}

weft_status weft_commands_take(struct weft_commands **commands, weft_device *device) {
    WEFT_TRY(weft_device_runs(device));
    pthread_mutex_lock(&device->locks.commands);
    struct weft_commands *found = device->commands;
    while (found && found->busy) {
        found = found->next;
    }
    if (found) {
        found->busy = true;
    }
    pthread_mutex_unlock(&device->locks.commands);
    *commands = found;
    return found ? WEFT_OK : make(commands, device);
}

void weft_commands_give(weft_device *device, struct weft_commands *commands) {
    pthread_mutex_lock(&device->locks.commands);
    commands->busy = commands->unsettled;
    pthread_mutex_unlock(&device->locks.commands);
}

weft_status weft_commands_begin(struct weft_commands *commands, weft_device *device) {
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    return weft_device_check(device, device->vk.BeginCommandBuffer(commands->handle, &begin),
                             "vkBeginCommandBuffer");
}

weft_status weft_commands_run(struct weft_commands *commands, weft_device *device) {
    uint64_t value = 0;
    WEFT_TRY(weft_device_check(device, device->vk.EndCommandBuffer(commands->handle),
                               "vkEndCommandBuffer"));
    WEFT_TRY(weft_interrupted(&device->host));
    if (device->host.interrupted && !device->in_process) { /* behind it they take no time */
        WEFT_TRY(weft_device_wait(device, device->timeline_value, UINT64_MAX, NULL));
    }
    WEFT_TRY(weft_device_submit(device, &commands->handle, 1, &value));
    commands->unsettled = true;
    const weft_status status = weft_device_wait_or_cancel(device, value, value, UINT64_MAX, NULL);
    if (status == WEFT_CANCELLED && !device->in_process) {
        weft_device_settle(device, value);
    }
    commands->unsettled = status != WEFT_OK && status != WEFT_CANCELLED;
    return status;
}

weft_status weft_commands_once(weft_device *device,
                               void (*record)(const void *user, const weft_device *device,
                                              VkCommandBuffer commands),
                               const void *user) {
    struct weft_commands *commands = NULL;
    WEFT_TRY(weft_commands_take(&commands, device));
    weft_status status = weft_commands_begin(commands, device);
    if (status == WEFT_OK) {
        record(user, device, commands->handle);
        status = weft_commands_run(commands, device);
    }
    weft_commands_give(device, commands);
    return status;
}
