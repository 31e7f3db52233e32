/* SPDX-License-Identifier: MIT */
/* Parts common to the Vulkan objects: handles, and the lists of functions. */
#ifndef WEFT_SOFTVK_FUNCTIONS_H
#define WEFT_SOFTVK_FUNCTIONS_H

#include "softvk/softvk.h"

/* The first member of dispatchable objects: a loader checks it, and puts its own there. */
#define WEFT_SOFT_LOADER_MAGIC ((uintptr_t)0x01CDC0DE)

/* A handle for an object, and weft_soft_NAME_of for the object of a handle; handles are pointers, or integers on 32 bits. */
#define WEFT_SOFT_HANDLE(Type, object) ((Type)(uintptr_t)(object))
#define WEFT_SOFT_OBJECT(Type, name)                                                   \
    static inline struct weft_soft_##name *weft_soft_##name##_of(Type handle) {        \
        return (struct weft_soft_##name *)(uintptr_t)handle; /* NOLINT(*int-to-ptr) */ \
    }

/* One of a subject's functions; a function of another type than its name's does not compile. */
#define WEFT_SOFT_FUNCTION(name, function) \
    { "vk" #name, (PFN_vkVoidFunction)(1 ? (function) : (PFN_vk##name)NULL) }

struct weft_soft_function {
    const char *name; /* null behind the last */
    PFN_vkVoidFunction function;
};

/* Functions of instances and before them, of physical devices, and of devices, queues and command buffers. */
extern const struct weft_soft_function weft_soft_instance_functions[];
extern const struct weft_soft_function weft_soft_physical_functions[];
extern const struct weft_soft_function weft_soft_physical_feature_functions[];
extern const struct weft_soft_function weft_soft_device_functions[];
extern const struct weft_soft_function weft_soft_memory_functions[];
extern const struct weft_soft_function weft_soft_shared_memory_functions[];
extern const struct weft_soft_function weft_soft_layout_functions[];
extern const struct weft_soft_function weft_soft_descriptor_functions[];
extern const struct weft_soft_function weft_soft_pipeline_functions[];
extern const struct weft_soft_function weft_soft_cache_functions[];
extern const struct weft_soft_function weft_soft_command_functions[];
extern const struct weft_soft_function weft_soft_dispatch_functions[];
extern const struct weft_soft_function weft_soft_transfer_functions[];
extern const struct weft_soft_function weft_soft_query_functions[];
extern const struct weft_soft_function weft_soft_queue_functions[];
extern const struct weft_soft_function weft_soft_sync_functions[];

/** vkGetDeviceProcAddr. */
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL weft_soft_get_device_proc_addr(VkDevice device,
                                                                        const char *name);

/** Writes as many of `count` items as there is room for, as Vulkan's enumerations do. */
VkResult weft_soft_enumerate(void *to, uint32_t *room, const void *items, uint32_t count,
                             size_t size);

/** The structure of that type in a pNext chain, or null. */
const void *weft_soft_find_structure(const void *chain, VkStructureType type);

#endif
