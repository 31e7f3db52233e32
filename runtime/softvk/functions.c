/* SPDX-License-Identifier: MIT */
/* Finding functions by name. */
#include "softvk/functions.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const struct weft_soft_function *const physical_lists[] = {
    weft_soft_physical_functions,
    weft_soft_physical_feature_functions,
};

static const struct weft_soft_function *const device_lists[] = {
    weft_soft_device_functions,   weft_soft_memory_functions,     weft_soft_shared_memory_functions,
    weft_soft_layout_functions,   weft_soft_descriptor_functions, weft_soft_pipeline_functions,
    weft_soft_cache_functions,    weft_soft_command_functions,    weft_soft_dispatch_functions,
    weft_soft_transfer_functions, weft_soft_query_functions,      weft_soft_queue_functions,
    weft_soft_sync_functions,
};

static PFN_vkVoidFunction find(const struct weft_soft_function *list, const char *name) {
    while (list->name && strcmp(list->name, name) != 0) {
        list++;
    }
    return list->function;
}

static PFN_vkVoidFunction find_in(const struct weft_soft_function *const *lists, size_t count,
                                  const char *name) {
    PFN_vkVoidFunction found = NULL;
    for (size_t i = 0; i < count && !found; i++) {
        found = find(lists[i], name);
    }
    return found;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL weft_soft_get_physical_proc_addr(VkInstance instance,
                                                                          const char *name) {
    (void)instance;
    return name ? find_in(physical_lists, COUNT(physical_lists), name) : NULL;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL weft_soft_get_device_proc_addr(VkDevice device,
                                                                        const char *name) {
    (void)device;
    return name ? find_in(device_lists, COUNT(device_lists), name) : NULL;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL weft_soft_get_instance_proc_addr(VkInstance instance,
                                                                          const char *name) {
    if (!name) {
        return NULL;
    }
    PFN_vkVoidFunction found = find(weft_soft_instance_functions, name);
    if (!found) {
        found = weft_soft_get_physical_proc_addr(instance, name);
    }
    return found ? found : weft_soft_get_device_proc_addr(VK_NULL_HANDLE, name);
}

VkResult weft_soft_enumerate(void *to, uint32_t *room, const void *items, uint32_t count,
                             size_t size) {
    if (!to) {
        *room = count;
        return VK_SUCCESS;
    }
    const uint32_t written = *room < count ? *room : count;
    if (written > 0) {
        memcpy(to, items, written * size);
    }
    *room = written;
    return written < count ? VK_INCOMPLETE : VK_SUCCESS;
}

const void *weft_soft_find_structure(const void *chain, VkStructureType type) {
    const VkBaseInStructure *link = chain;
    while (link && link->sType != type) {
        link = link->pNext;
    }
    return link;
}
