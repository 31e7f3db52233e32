/* SPDX-License-Identifier: MIT */
/* Semaphores and fences. */
#include "softvk/device.h"
#include "softvk/softvk.h"

/* ---- semaphores ---- */

static VKAPI_ATTR VkResult VKAPI_CALL create_semaphore(VkDevice handle,
                                                       const VkSemaphoreCreateInfo *info,
                                                       const VkAllocationCallbacks *allocator,
                                                       VkSemaphore *semaphore) {
    (void)allocator;
    const VkSemaphoreTypeCreateInfo *type =
        weft_soft_find_structure(info->pNext, VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
    struct weft_soft_semaphore *made = weft_soft_new(weft_soft_device_of(handle), sizeof *made);
    if (!made) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    made->timeline = type && type->semaphoreType == VK_SEMAPHORE_TYPE_TIMELINE;
    atomic_init(&made->value, made->timeline ? type->initialValue : 0);
    *semaphore = WEFT_SOFT_HANDLE(VkSemaphore, made);
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_semaphore(VkDevice handle, VkSemaphore semaphore,
                                                    const VkAllocationCallbacks *allocator) {
    (void)allocator;
    weft_soft_delete(weft_soft_device_of(handle), weft_soft_semaphore_of(semaphore));
}

static VKAPI_ATTR VkResult VKAPI_CALL get_counter(VkDevice handle, VkSemaphore semaphore,
                                                  uint64_t *value) {
    weft_soft_queue_hurry(&weft_soft_device_of(handle)->queue);
    *value = atomic_load(&weft_soft_semaphore_of(semaphore)->value);
    return VK_SUCCESS;
}

static bool has_reached(const struct weft_soft_queue *queue, const void *wait_info) {
    (void)queue;
    const VkSemaphoreWaitInfo *info = wait_info;
    const bool any = (info->flags & VK_SEMAPHORE_WAIT_ANY_BIT) != 0;
    uint32_t reached = 0;
    for (uint32_t i = 0; i < info->semaphoreCount; i++) {
        const struct weft_soft_semaphore *semaphore = weft_soft_semaphore_of(info->pSemaphores[i]);
        reached += atomic_load(&semaphore->value) >= info->pValues[i];
    }
    return any ? reached > 0 : reached == info->semaphoreCount;
}

static VKAPI_ATTR VkResult VKAPI_CALL wait_semaphores(VkDevice handle,
                                                      const VkSemaphoreWaitInfo *info,
                                                      uint64_t timeout) {
    if (has_reached(NULL, info)) {
        return VK_SUCCESS;
    }
    const struct weft_soft_waiter waiter = {
        .info = weft_soft_find_structure(info->pNext, WEFT_SOFT_WAIT_INFO),
        .semaphore = weft_soft_semaphore_of(info->pSemaphores[0]),
        .last = info->pValues[0]};
    return weft_soft_queue_wait(&weft_soft_device_of(handle)->queue, has_reached, info, timeout,
                                waiter.info ? &waiter : NULL);
}

/* ---- fences ---- */

static VKAPI_ATTR VkResult VKAPI_CALL create_fence(VkDevice handle, const VkFenceCreateInfo *info,
                                                   const VkAllocationCallbacks *allocator,
                                                   VkFence *fence) {
    (void)allocator;
    struct weft_soft_fence *made = weft_soft_new(weft_soft_device_of(handle), sizeof *made);
    if (!made) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    atomic_init(&made->signalled, (info->flags & VK_FENCE_CREATE_SIGNALED_BIT) != 0);
    *fence = WEFT_SOFT_HANDLE(VkFence, made);
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_fence(VkDevice handle, VkFence fence,
                                                const VkAllocationCallbacks *allocator) {
    (void)allocator;
    weft_soft_delete(weft_soft_device_of(handle), weft_soft_fence_of(fence));
}

static VKAPI_ATTR VkResult VKAPI_CALL reset_fences(VkDevice handle, uint32_t count,
                                                   const VkFence *fences) {
    for (uint32_t i = 0; i < count; i++) {
        weft_soft_queue_set(&weft_soft_device_of(handle)->queue,
                            &weft_soft_fence_of(fences[i])->signalled, 0);
    }
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL get_fence_status(VkDevice handle, VkFence fence) {
    weft_soft_queue_hurry(&weft_soft_device_of(handle)->queue);
    return atomic_load(&weft_soft_fence_of(fence)->signalled) ? VK_SUCCESS : VK_NOT_READY;
}

struct fence_wait {
    const VkFence *fences;
    uint32_t count;
    bool all;
};

static bool are_signalled(const struct weft_soft_queue *queue, const void *fence_wait) {
    (void)queue;
    const struct fence_wait *wait = fence_wait;
    uint32_t signalled = 0;
    for (uint32_t i = 0; i < wait->count; i++) {
        signalled += (uint32_t)atomic_load(&weft_soft_fence_of(wait->fences[i])->signalled);
    }
    return wait->all ? signalled == wait->count : signalled > 0;
}

static VKAPI_ATTR VkResult VKAPI_CALL wait_fences(VkDevice handle, uint32_t count,
                                                  const VkFence *fences, VkBool32 all,
                                                  uint64_t timeout) {
    const struct fence_wait wait = {.fences = fences, .count = count, .all = all == VK_TRUE};
    if (are_signalled(NULL, &wait)) {
        return VK_SUCCESS;
    }
    return weft_soft_queue_wait(&weft_soft_device_of(handle)->queue, are_signalled, &wait, timeout,
                                NULL);
}

const struct weft_soft_function weft_soft_sync_functions[] = {
    WEFT_SOFT_FUNCTION(CreateSemaphore, create_semaphore),
    WEFT_SOFT_FUNCTION(DestroySemaphore, destroy_semaphore),
    WEFT_SOFT_FUNCTION(GetSemaphoreCounterValue, get_counter),
    WEFT_SOFT_FUNCTION(WaitSemaphores, wait_semaphores),
    WEFT_SOFT_FUNCTION(CreateFence, create_fence),
    WEFT_SOFT_FUNCTION(DestroyFence, destroy_fence),
    WEFT_SOFT_FUNCTION(ResetFences, reset_fences),
    WEFT_SOFT_FUNCTION(GetFenceStatus, get_fence_status),
    WEFT_SOFT_FUNCTION(WaitForFences, wait_fences),
    {NULL, NULL},
};
