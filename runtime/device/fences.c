/* SPDX-License-Identifier: MIT */
#include "device/fences.h"

#include "core/try.h"

struct weft_fence {
    struct weft_fence *next;
    VkFence handle;
    uint64_t value;
    uint32_t waiting; /* threads that wait for it: it stays as it is for them */
};

/* Under locks.queue. */
struct weft_fences {
    struct weft_fence *oldest, *newest; /* submitted, by their values */
    struct weft_fence *unused;          /* not signalled */
    uint64_t reached;
};

weft_status weft_fences_create(weft_device *device) {
    device->fences = weft_alloc_zero(&device->host, 1, sizeof *device->fences);
    return device->fences ? WEFT_OK : weft_fail_memory(&device->host, "fences");
}

static void destroy(weft_device *device, struct weft_fence *fence) {
    device->vk.DestroyFence(device->vk.handle, fence->handle, NULL);
    weft_free(&device->host, fence);
}

static void destroy_list(weft_device *device, struct weft_fence *first) {
    while (first) {
        struct weft_fence *next = first->next;
        destroy(device, first);
        first = next;
    }
}

void weft_fences_destroy(weft_device *device) {
    if (device->fences) {
        destroy_list(device, device->fences->oldest);
        destroy_list(device, device->fences->unused);
        weft_free(&device->host, device->fences);
        device->fences = NULL;
    }
}

/* ---- submitting ---- */

/* Reuses fences up to the reached value that no thread waits for. */
static void recycle(weft_device *device) {
    struct weft_fences *fences = device->fences;
    while (fences->oldest && fences->oldest->value <= fences->reached &&
           fences->oldest->waiting == 0) {
        struct weft_fence *fence = fences->oldest;
        fences->oldest = fence->next;
        fences->newest = fences->oldest ? fences->newest : NULL;
        if (device->vk.ResetFences(device->vk.handle, 1, &fence->handle) == VK_SUCCESS) {
            weft_fences_give_back(device, fence);
        } else {
            destroy(device, fence); /* there will be another */
        }
    }
}

/* Asks the oldest ones, until one is not signalled. */
static VkResult look(weft_device *device) {
    struct weft_fences *fences = device->fences;
    VkResult result = VK_SUCCESS;
    for (struct weft_fence *fence = fences->oldest; fence && result == VK_SUCCESS;
         fence = fence->next) {
        if (fence->value > fences->reached) {
            result = device->vk.GetFenceStatus(device->vk.handle, fence->handle);
            fences->reached = result == VK_SUCCESS ? fence->value : fences->reached;
        }
    }
    recycle(device);
    return result == VK_NOT_READY ? VK_SUCCESS : result;
}

static weft_status make(struct weft_fence **out, weft_device *device) {
    const VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    struct weft_fence *fence = weft_alloc_zero(&device->host, 1, sizeof *fence);
    if (!fence) {
        return weft_fail_memory(&device->host, "a fence");
    }
    const weft_status status = WEFT_VK_MAKE(device, CreateFence, &info, &fence->handle);
    if (status != WEFT_OK) {
        weft_free(&device->host, fence);
        return status;
    }
    *out = fence;
    return WEFT_OK;
}

weft_status weft_fences_take(struct weft_fence **fence, weft_device *device) {
    struct weft_fences *fences = device->fences;
    if (!fences->unused) {
        WEFT_TRY(weft_device_check(device, look(device), "vkGetFenceStatus"));
    }
    if (!fences->unused) {
        return make(fence, device);
    }
    *fence = fences->unused;
    fences->unused = (*fence)->next;
    (*fence)->next = NULL;
    return WEFT_OK;
}

VkFence weft_fence_handle(const struct weft_fence *fence) {
    return fence ? fence->handle : VK_NULL_HANDLE;
}

void weft_fences_submitted(weft_device *device, struct weft_fence *fence, uint64_t value) {
    struct weft_fences *fences = device->fences;
    fence->value = value;
    if (fences->newest) {
        fences->newest->next = fence;
    } else {
        fences->oldest = fence;
    }
    fences->newest = fence;
}

void weft_fences_give_back(weft_device *device, struct weft_fence *fence) {
    fence->next = device->fences->unused;
    device->fences->unused = fence;
}

/* ---- waiting ---- */

/* The first that says that the value is reached, marked as waited for; null: it is reached. */
static struct weft_fence *begin_wait(weft_device *device, uint64_t value) {
    pthread_mutex_lock(&device->locks.queue);
    struct weft_fence *fence = value > device->fences->reached ? device->fences->oldest : NULL;
    while (fence && fence->value < value) {
        fence = fence->next;
    }
    if (fence) {
        fence->waiting++;
    }
    pthread_mutex_unlock(&device->locks.queue);
    return fence;
}

static void end_wait(weft_device *device, struct weft_fence *fence, VkResult result) {
    struct weft_fences *fences = device->fences;
    pthread_mutex_lock(&device->locks.queue);
    fence->waiting--;
    if (result == VK_SUCCESS && fence->value > fences->reached) {
        fences->reached = fence->value;
    }
    recycle(device);
    pthread_mutex_unlock(&device->locks.queue);
}

VkResult weft_fences_wait(weft_device *device, uint64_t value, uint64_t timeout_ns) {
    if (value > atomic_load(&device->timeline_value)) {
        return VK_TIMEOUT; /* of no submission, and none is waited for */
    }
    struct weft_fence *fence = begin_wait(device, value);
    if (!fence) {
        return VK_SUCCESS;
    }
    const VkResult result =
        device->vk.WaitForFences(device->vk.handle, 1, &fence->handle, VK_TRUE, timeout_ns);
    end_wait(device, fence, result);
    return result;
}

weft_status weft_fences_value(weft_device *device, uint64_t *value) {
    pthread_mutex_lock(&device->locks.queue);
    const VkResult result = look(device);
    *value = device->fences->reached;
    pthread_mutex_unlock(&device->locks.queue);
    return weft_device_check(device, result, "vkGetFenceStatus");
}
