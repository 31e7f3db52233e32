/* SPDX-License-Identifier: MIT */
/* What the Vulkan objects of the processor device have in common: handles, and the lists of functions. */
#ifndef WEFT_CPU_VK_H
#define WEFT_CPU_VK_H

#include "cpu/driver.h"

/* The first member of dispatchable objects: a loader checks it, and puts its own there. */
#define WEFT_CPU_LOADER_MAGIC ((uintptr_t)0x01CDC0DE)

/* A handle for an object, and weft_cpu_NAME_of for the object of a handle; handles are pointers, or integers on 32 bits. */
#define WEFT_CPU_HANDLE(Type, object) ((Type)(uintptr_t)(object))
#define WEFT_CPU_OBJECT(Type, name)                                                   \
    static inline struct weft_cpu_##name *weft_cpu_##name##_of(Type handle) {         \
        return (struct weft_cpu_##name *)(uintptr_t)handle; /* NOLINT(*int-to-ptr) */ \
    }

/* One of a subject's functions; a function of another type than its name's does not compile. */
#define WEFT_CPU_FUNCTION(name, function) \
    { "vk" #name, (PFN_vkVoidFunction)(1 ? (function) : (PFN_vk##name)NULL) }

struct weft_cpu_function {
    const char *name; /* null behind the last */
    PFN_vkVoidFunction function;
};

/* Of instances and before them, of physical devices, and of devices, queues and command buffers. */
extern const struct weft_cpu_function weft_cpu_instance_functions[];
extern const struct weft_cpu_function weft_cpu_physical_functions[];
extern const struct weft_cpu_function weft_cpu_physical_feature_functions[];
extern const struct weft_cpu_function weft_cpu_device_functions[];
extern const struct weft_cpu_function weft_cpu_memory_functions[];
extern const struct weft_cpu_function weft_cpu_shared_memory_functions[];
extern const struct weft_cpu_function weft_cpu_layout_functions[];
extern const struct weft_cpu_function weft_cpu_descriptor_functions[];
extern const struct weft_cpu_function weft_cpu_template_functions[];
extern const struct weft_cpu_function weft_cpu_pipeline_functions[];
extern const struct weft_cpu_function weft_cpu_cache_functions[];
extern const struct weft_cpu_function weft_cpu_command_functions[];
extern const struct weft_cpu_function weft_cpu_dispatch_functions[];
extern const struct weft_cpu_function weft_cpu_transfer_functions[];
extern const struct weft_cpu_function weft_cpu_query_functions[];
extern const struct weft_cpu_function weft_cpu_queue_functions[];
extern const struct weft_cpu_function weft_cpu_sync_functions[];

/** vkGetDeviceProcAddr. */
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL weft_cpu_get_device_proc_addr(VkDevice device,
                                                                       const char *name);

/** Writes as many of `count` items as there is room for, as Vulkan's enumerations do. */
VkResult weft_cpu_enumerate(void *to, uint32_t *room, const void *items, uint32_t count,
                            size_t size);

/** The structure of that type in a pNext chain, or null. */
const void *weft_cpu_find_structure(const void *chain, VkStructureType type);

#endif
