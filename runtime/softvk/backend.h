/* SPDX-License-Identifier: MIT */
/*
 * The seam of the software Vulkan: runtime/softvk has Vulkan's objects, records commands and keeps the queue; a back end has memory,
 * kernels and what runs the commands. docs/adding-a-device.md says how to add one.
 */
#ifndef WEFT_SOFTVK_BACKEND_H
#define WEFT_SOFTVK_BACKEND_H

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <vulkan/vulkan.h>

#include "core/host.h"

struct weft_soft_device;
struct weft_soft_stream;
struct weft_watch;

#define WEFT_SOFT_MAX_BINDINGS 32u  /* storage buffers of a pipeline */
#define WEFT_SOFT_MAX_SETS     8u   /* descriptor sets of a pipeline */
#define WEFT_SOFT_MAX_PUSH     256u /* bytes of push constants */

/** Properties of a device. Zeroed before weft_soft_backend::describe, but for `type`, `limits` and `buffer_alignment`. */
struct weft_soft_properties {
    char name[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE];
    char version[VK_MAX_DRIVER_INFO_SIZE]; /* of the back end, for people */
    uint8_t uuid[VK_UUID_SIZE]; /* differs wherever an object that `compile` made does not fit */
    VkPhysicalDeviceType type;  /* VK_PHYSICAL_DEVICE_TYPE_CPU as given */
    uint32_t vendor_id;         /* as Vulkan has it; 0: none */
    uint64_t memory;            /* bytes of its one heap */
    uint32_t buffer_alignment;  /* of buffers in memory; a power of two, 64 as given */
    bool
        host_memory; /* memory is bytes of this process: it can be imported, and shared with others */
    /* Besides the device's memory there is a type of memory that the host maps. A kernel may be bound to it, too. */
    bool separate_memory;
    bool
        survives_fork; /* it goes on in a forked child: it has no state but memory, threads of softvk and locks */
    /* `compile` heeds weft_soft_device.careful: it has a slower way to compile, for a driver whose usual one miscompiles. */
    bool can_be_careful;
    /* It runs commands within vkQueueSubmit, on the calling thread; otherwise whoever waits for a result runs them, or a thread of the
     * queue's. */
    bool immediate;
    uint32_t threads; /* of its job system, where the program gives none; 0: it needs no jobs */
    bool native;      /* kernels are code of this processor that the library compiles itself */
    bool interprets;  /* kernels are not compiled at all */
    bool accelerates_dots; /* sums of products of four bytes are instructions of their own */
    uint32_t subgroup_size;
    VkSubgroupFeatureFlags subgroup_operations;
    VkPhysicalDeviceLimits limits;
    const char
        *lacks; /* why lists call it unusable, as in "has no compiler", in static memory; or null */
    const char *fault; /* why no device can be made, in static memory; or null */
};

/** A VkDeviceMemory. */
struct weft_soft_memory {
    uint8_t *bytes; /* where it is in this process; null where only `map` finds out */
    uint64_t size;
    void *own;        /* the back end's */
    uint64_t counted; /* bytes of the heap that it takes: none where it was imported */
    bool is_imported; /* the bytes, or `own`, are somebody else's */
    bool for_host;    /* of the type that the host maps, where memory is separate */
    intptr_t shared;  /* a handle that is its own, by which the bytes are shared; or none */
};

/** The bytes of one storage buffer as it is bound. `memory` is null where nothing is. */
struct weft_soft_range {
    const struct weft_soft_memory *memory;
    uint64_t offset, size;
};

/** Source of a pipeline. */
struct weft_soft_source {
    const uint32_t *words; /* SPIR-V that weft_spirv_check accepts */
    size_t size;           /* bytes */
    const char *entry_point;
    const VkSpecializationInfo *constants; /* or null */
    /* Accesses outside of a binding read 0 and write nothing, and loops end where the watch is halted. */
    bool checked;
};

/** Result of `compile`: bytes that a pipeline cache keeps on disk. */
struct weft_soft_object {
    uint8_t *bytes;
    size_t size;
};

struct weft_soft_binding {
    uint32_t set, binding;
};

/** Arguments of a kernel in a dispatch. */
struct weft_soft_kernel {
    uint32_t binding_count;
    struct weft_soft_binding bindings[WEFT_SOFT_MAX_BINDINGS];
    uint32_t push_size; /* bytes */
    void *own;          /* the back end's */
};

/**
 * A kind of device. `state` is what `open` has made of one; `user` is weft_soft_instance_info's. Errors are returned, and logged
 * by `host`. All but `run` may be called by several threads at once.
 */
struct weft_soft_backend {
    const char *driver; /* VkPhysicalDeviceDriverProperties::driverName */
    void (*describe)(struct weft_soft_properties *properties, void *user);
    VkResult (*open)(void **state, struct weft_soft_device *device, void *user);
    void (*close)(void *state);
    /* Memory of memory->size bytes; sets bytes, or own. VK_ERROR_OUT_OF_DEVICE_MEMORY. */
    VkResult (*allocate)(struct weft_soft_memory *memory, void *state);
    void (*free)(struct weft_soft_memory *memory, void *state);
    /* Address of the bytes in this process; null if there is no memory for them. */
    uint8_t *(*map)(struct weft_soft_memory *memory, void *state);
    /* Called on threads of the job system, too, with another host. The caller frees object->bytes with weft_free. */
    weft_status (*compile)(struct weft_soft_object *object, const struct weft_soft_source *source,
                           void *state, const weft_host *host);
    /* Makes a kernel of an object, which may be of a cache and damaged. `kernel` has all bindings of the pipeline's layout, and its push
     * constants: what the object does not use can be left out. */
    weft_status (*load)(struct weft_soft_kernel *kernel, const uint8_t *bytes, size_t size,
                        void *state, const weft_host *host);
    void (*unload)(struct weft_soft_kernel *kernel, void *state);
    /* Runs the records of a stream in their order (softvk/stream.h), and returns when they are done or the watch is halted. */
    void (*run)(const struct weft_soft_stream *stream, struct weft_watch *watch, void *state);
};

#endif
