/* SPDX-License-Identifier: MIT */
/* Submitting, and waiting until all is done. */
#include "softvk/command.h"
#include "softvk/device.h"
#include "softvk/queue.h"

/* Room for `count` elements in an array that is kept from one submission to the next. */
static bool make_room(const struct weft_soft_queue *queue, void *array_address, uint32_t count,
                      uint32_t *room, size_t size) {
    bool enough = true;
    while (enough && *room < count) {
        enough = weft_grow(&queue->device->host, array_address, *room, room, size);
    }
    return enough;
}

/* The value for a semaphore of a submission: that of the list, if it has one and the semaphore counts. */
static struct weft_soft_point point_of(VkSemaphore handle, const uint64_t *values, uint32_t count,
                                       uint32_t index) {
    struct weft_soft_semaphore *semaphore = weft_soft_semaphore_of(handle);
    const bool counts = semaphore->timeline && values && index < count;
    return (struct weft_soft_point){.semaphore = semaphore, .value = counts ? values[index] : 1};
}

static bool fill(struct weft_soft_submission *submission, const struct weft_soft_queue *queue,
                 const VkSubmitInfo *info) {
    const VkTimelineSemaphoreSubmitInfo none = {0};
    const VkTimelineSemaphoreSubmitInfo *values =
        weft_soft_find_structure(info->pNext, VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
    values = values ? values : &none;
    if (!make_room(queue, &submission->points,
                   info->waitSemaphoreCount + info->signalSemaphoreCount, &submission->point_room,
                   sizeof submission->points[0]) ||
        !make_room(queue, &submission->commands, info->commandBufferCount,
                   &submission->command_room, sizeof submission->commands[0])) {
        return false;
    }
    struct weft_soft_point *next = submission->points;
    for (uint32_t i = 0; i < info->waitSemaphoreCount; i++) {
        *next++ = point_of(info->pWaitSemaphores[i], values->pWaitSemaphoreValues,
                           values->waitSemaphoreValueCount, i);
    }
    for (uint32_t i = 0; i < info->signalSemaphoreCount; i++) {
        *next++ = point_of(info->pSignalSemaphores[i], values->pSignalSemaphoreValues,
                           values->signalSemaphoreValueCount, i);
    }
    for (uint32_t i = 0; i < info->commandBufferCount; i++) {
        submission->commands[i] = weft_soft_command_buffer_of(info->pCommandBuffers[i]);
    }
    submission->wait_count = info->waitSemaphoreCount;
    submission->signal_count = info->signalSemaphoreCount;
    submission->command_count = info->commandBufferCount;
    return true;
}

/* A list of submissions; null when memory is out. At least one, for the fence. */
static struct weft_soft_submission *make_list(struct weft_soft_submission **last,
                                              struct weft_soft_queue *queue, uint32_t count,
                                              const VkSubmitInfo *infos) {
    const VkSubmitInfo nothing = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO};
    struct weft_soft_submission *first = NULL, **link = &first;
    for (uint32_t i = 0; i < count || i == 0; i++) {
        struct weft_soft_submission *made = weft_soft_submission_new(queue);
        if (!made || !fill(made, queue, i < count ? &infos[i] : &nothing)) {
            weft_soft_submissions_free(queue, made);
            weft_soft_submissions_free(queue, first);
            return NULL;
        }
        *link = *last = made;
        link = &made->next;
    }
    return first;
}

static VKAPI_ATTR VkResult VKAPI_CALL submit(VkQueue handle, uint32_t count,
                                             const VkSubmitInfo *infos, VkFence fence) {
    struct weft_soft_queue *queue = weft_soft_queue_of(handle);
    if (count == 0 && fence == VK_NULL_HANDLE) {
        return VK_SUCCESS;
    }
    struct weft_soft_submission *last = NULL, *first = make_list(&last, queue, count, infos);
    if (!first) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    last->fence = weft_soft_fence_of(fence);
    return weft_soft_queue_append(queue, first, last);
}

static bool is_empty(const struct weft_soft_queue *queue, const void *nothing) {
    (void)nothing;
    return !queue->first;
}

static VKAPI_ATTR VkResult VKAPI_CALL wait_device(VkDevice handle) {
    return weft_soft_queue_wait(&weft_soft_device_of(handle)->queue, is_empty, NULL, UINT64_MAX,
                                NULL);
}

const struct weft_soft_function weft_soft_queue_functions[] = {
    WEFT_SOFT_FUNCTION(QueueSubmit, submit),
    WEFT_SOFT_FUNCTION(DeviceWaitIdle, wait_device),
    {NULL, NULL},
};
