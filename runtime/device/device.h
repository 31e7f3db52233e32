/* SPDX-License-Identifier: MIT */
/* The opened device as the rest of the library sees it. */
#ifndef WEFT_DEVICE_DEVICE_H
#define WEFT_DEVICE_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>

#include <weft/buffer.h>
#include <weft/device.h>
#include <weft/external.h>
#include <weft/vulkan.h>

#include "core/host.h"
#include "device/vk.h"

struct weft_cache;
struct weft_memory_block;
struct weft_memory_pool;
struct weft_device_adopt_opencl_params;
struct weft_range;
struct weft_pipeline_store;
struct weft_weight_store;
struct weft_commands;
struct weft_fences;

/*
 * Locks for state that a device's threads share. All are held shortly: never while a pipeline is compiled, a plan is
 * measured, a file is read or written, or a thread waits for the device. A thread that holds one takes only locks
 * further down this list. Callbacks of the host (log, allocator) may be called under any of them.
 */
struct weft_device_locks {
    pthread_mutex_t
        constants; /* lists of weights, tables and host objects: lower/constant_store.c */
    pthread_cond_t constant_made; /* a constant that somebody was making is there, or failed */
    uint32_t making;              /* constants that somebody makes, under `constants` */
    pthread_mutex_t pipelines;    /* maps and layouts of the pipeline store */
    pthread_mutex_t memory;       /* the memory pool, bytes_in_use and peak_bytes */
    pthread_mutex_t commands;     /* which commands that run once are taken */
    pthread_mutex_t
        queue; /* vkQueueSubmit, fences, the timeline's newest value and plans' pending runs; within lock_queue of an adopted device */
};

/* weft_device_stats, counted by several threads. */
struct weft_device_counters {
    atomic_uint_least64_t bytes_in_use, peak_bytes; /* set under locks.memory */
    atomic_uint_least32_t shaders_compiled, pipelines_created, pipelines_compiled;
    atomic_uint_least32_t validation_messages;
    atomic_uint_least64_t submissions;
};

/* Which of a row's expected costs (weft_cost) is a device's: that of hardware, of a driver or the interpreter on the processor, or of
 * code that this library compiles for it. */
enum weft_cost_column { WEFT_COST_HARDWARE, WEFT_COST_SOFTWARE, WEFT_COST_PROCESSOR };

struct weft_device {
    weft_host host;
    weft_math math;
    weft_weight_storage weight_storage; /* not AUTO */
    weft_device_info info;
    struct weft_vk_instance instance;
    struct weft_vk_device vk;
    VkPhysicalDevice physical;
    uint32_t
        version; /* of Vulkan that is used: the device's or, where that is less, the instance's */
    bool has_timeline; /* timeline semaphores can be used */
    VkDebugUtilsMessengerEXT messenger;
    bool owns_handles;    /* false for an adopted device */
    uint32_t float_modes; /* execution modes for float32 that it has: flags of weft_float_mode */
    bool robustness;      /* a pipeline can ask for bounds checks */
    bool integer_dots;    /* modules may have SPV_KHR_integer_dot_product */
    bool compile_only;    /* it has no queue, no commands and no memory */
    bool executables;     /* its driver keeps what it tells of pipelines */
    bool queries_wait;    /* vkGetQueryPoolResults waits until it is idle, whatever the flags */
    bool on_processor;    /* the processor does the work, by this library or by a driver */
    enum weft_cost_column cost_column;
    struct weft_vk_external external;
    bool keeps_subnormals;       /* found by the probe: modules need the pass flush */
    bool keeps_small_products;   /* found by the probe: they need it for products alone */
    bool loses_small_products;   /* found by the probe: those modules do more about products */
    bool folds_zeros;            /* found by the probe: modules need the pass hide-zeros */
    bool fma_extension, float64; /* what an exact Fma can be made by: as of weft_physical */
    bool careful;        /* found by the probe: its compiler is right only without optimization */
    uint32_t most_turns; /* found by the probe: of all loops of an invocation; 0: no end */
    uint32_t queue_family;
    uint32_t timestamp_bits; /* that count, of all families that stamp: the least */
    uint32_t families[1 + WEFT_MAX_SHARED_FAMILIES]; /* that use its buffers: queue_family first */
    uint32_t family_count;
    VkQueue queue;
    void (*lock_queue)(void *user); /* null unless the adopter shares the queue */
    void (*unlock_queue)(void *user);
    void *lock_user;
    struct weft_device_locks locks;
    struct weft_commands *commands;       /* that run once */
    VkSemaphore timeline;                 /* counts submissions; or, where there are none, … */
    struct weft_fences *fences;           /* … these do, under locks.queue */
    atomic_uint_least64_t timeline_value; /* of the newest submission; set under locks.queue */
    atomic_bool lost;
    atomic_ulong process;    /* that may use it, see fork.h; the others under it are set with it */
    unsigned long opened_by; /* process */
    /* Weft itself runs this queue, so a wait can be cancelled; then what was submitted has ended or never
     * begins (weft_device_wait_or_cancel). */
    bool in_process;
    bool forgotten; /* it is of the process that forked this one */
    bool
        torn; /* … and what its locks guard may be half-changed: it is left alone, and so is its memory */
    atomic_bool
        cancelled; /* it is lost because of weft_device_cancel: what was submitted goes on */
    VkPhysicalDeviceMemoryProperties memory_properties;
    VkPhysicalDeviceLimits limits;
    uint64_t max_allocation;      /* bytes of one VkDeviceMemory */
    uint32_t submission_limit_ms; /* 0: unlimited */
    _Atomic double
        flops_per_ms; /* measured arithmetic rate, for splitting submissions; starts low, see weft_device_note_rate */
    struct weft_cache *cache; /* null: nothing is kept on disk */
    struct weft_device_counters stats;
    uint64_t memory_limit;
    weft_vulkan_allocator allocator; /* of an adopted device; null functions: the pool's */
    struct weft_memory_pool *memory;
    const struct weft_device_part *parts; /* of the layers above; null until they are made */
    struct weft_pipeline_store *pipelines;
    struct weft_weight_store *weights;
};

/** All or, where the system has no more of them, none and false. */
bool weft_device_locks_create(struct weft_device_locks *locks);
void weft_device_locks_destroy(struct weft_device_locks *locks);
/** True if nobody holds one. */
bool weft_device_locks_are_free(struct weft_device_locks *locks);

/**
 * Turns a VkResult into a status: VK_SUCCESS is WEFT_OK; anything else is logged as "call: VK_ERROR_…"; a lost device
 * is remembered. Callers must not cast const away: `device` is written to when it is lost.
 */
weft_status weft_device_check(weft_device *device, VkResult result, const char *call);

/** Calls a function of the device's table on the VkDevice, as in WEFT_VK(device, CreateFence, &info, NULL, &fence). */
#define WEFT_VK(device, function, ...)                                                   \
    weft_device_check((device), (device)->vk.function((device)->vk.handle, __VA_ARGS__), \
                      "vk" #function)

/**
 * Calls a function that makes one object, as in WEFT_VK_MAKE(device, CreateFence, &info, &fence). A failing driver
 * may leave anything in `made`, so it is then set to null, and cleaning up destroys nothing.
 */
#define WEFT_VK_MAKE(device, function, info, made)                                               \
    weft_device_made((device), (device)->vk.function((device)->vk.handle, (info), NULL, (made)), \
                     "vk" #function, (made), sizeof *(made))
weft_status weft_device_made(weft_device *device, VkResult result, const char *call, void *handle,
                             size_t size);

/** WEFT_DEVICE_LOST when the device is lost or another process's, else WEFT_OK. The first line of every entry point that touches it. */
weft_status weft_device_alive(const weft_device *device);

/** weft_device_alive for calls that need memory or a queue: WEFT_UNSUPPORTED for a device that only compiles. */
weft_status weft_device_runs(const weft_device *device);
/** weft_device_runs for recording into a program's command buffer: WEFT_UNSUPPORTED for an OpenCL device. */
weft_status weft_device_records(const weft_device *device);

/* ---- memory: blocks shared by many buffers ---- */

enum weft_memory_kind {
    WEFT_MEMORY_DEVICE = 0, /* device-local where there is such a type */
    WEFT_MEMORY_STAGING, /* host-visible and coherent, permanently mapped; cached where possible */
};

struct weft_allocation {
    VkDeviceMemory memory;
    VkDeviceSize offset;
    VkDeviceSize size;
    void *mapped; /* start of this allocation for WEFT_MEMORY_STAGING, else null */
    struct weft_memory_block *block; /* the pool's; null: it is the allocator's */
    struct weft_range *range;        /* the pool's */
    weft_vulkan_memory given;        /* the allocator's */
    enum weft_memory_kind kind;
};

/** Makes the pool; called once by weft_device_open and weft_device_adopt. */
weft_status weft_memory_pool_create(weft_device *device);
void weft_memory_pool_destroy(weft_device *device);

/**
 * Memory for a buffer. WEFT_MEMORY_DEVICE counts against stats.bytes_in_use and memory_limit; a request over the limit
 * fails with WEFT_OUT_OF_DEVICE_MEMORY naming bytes asked, in use and the limit. WEFT_MEMORY_STAGING is host memory on
 * most devices and counts against neither.
 */
weft_status weft_memory_allocate(struct weft_allocation **allocation, weft_device *device,
                                 const VkMemoryRequirements *requirements,
                                 enum weft_memory_kind kind);
void weft_memory_free(weft_device *device, struct weft_allocation **allocation);

/** Fills in which families a buffer is for, in what describes one that is to be made. */
void weft_vkbuffer_share(VkBufferCreateInfo *info, const weft_device *device);

/** A storage + transfer buffer with memory bound. */
weft_status weft_vkbuffer_create(VkBuffer *buffer, struct weft_allocation **allocation,
                                 weft_device *device, VkDeviceSize size,
                                 enum weft_memory_kind kind);
void weft_vkbuffer_destroy(weft_device *device, VkBuffer *buffer,
                           struct weft_allocation **allocation);

struct weft_buffer {
    weft_device *device;
    VkBuffer handle;
    uint64_t offset; /* of byte 0 within handle; a multiple of minStorageBufferOffsetAlignment */
    uint64_t size;
    struct weft_allocation *allocation; /* null: wrapped, not ours */
    bool is_opencl;                     /* of a cl_mem, or … */
    bool is_host;                       /* … of the host's memory, or … */
    bool is_external;                   /* … of memory that others may have, … */
    bool is_exportable;                 /* … by handles that are made of it, … */
    weft_external_type external;        /* … of this type */
    VkDeviceMemory imported;            /* which the device has as this */
};

/* ---- transfers and submission ---- */

/** Copies host bytes to a VkBuffer through staging; returns when done. */
weft_status weft_device_upload(weft_device *device, VkBuffer buffer, uint64_t offset,
                               const void *data, uint64_t size);
/** Writes `size` bytes from `begin` on, at most WEFT_STAGING_SIZE and multiples of 4 but for the last. */
typedef weft_status (*weft_upload_source)(void *user, uint64_t begin, void *out, size_t size);
/** Uploads bytes that are made piece by piece, in order, on this thread. */
weft_status weft_device_upload_from(weft_device *device, VkBuffer buffer, uint64_t offset,
                                    uint64_t size, weft_upload_source from, void *user);
/** Copies a VkBuffer's bytes to the host through staging, after all submitted work; returns when done. */
weft_status weft_device_download(weft_device *device, VkBuffer buffer, uint64_t offset, void *data,
                                 uint64_t size);

/** Takes a piece of `size` bytes, which is gone when it returns. */
typedef void (*weft_download_sink)(void *user, const void *data, size_t size);
/** Downloads bytes piece by piece, in order, on this thread. */
weft_status weft_device_download_to(weft_device *device, VkBuffer buffer, uint64_t offset,
                                    uint64_t size, weft_download_sink to, void *user);

/** Submits command buffers in order as one submission. *value is the timeline value that says it is complete. */
weft_status weft_device_submit(weft_device *device, const VkCommandBuffer *commands, uint32_t count,
                               uint64_t *value);
/**
 * vkQueueSubmit for `count` submissions, all or none of which are made. Each signals the timeline, where that is a semaphore; the values
 * for that, which `infos` point to, are set here, one behind the other. *value is the last.
 */
weft_status weft_device_queue_submit(weft_device *device, const VkSubmitInfo *infos,
                                     uint64_t *values, uint32_t count, uint64_t *value);
/**
 * Submits `count` command buffers, each as a submission of its own, all or none of them. The first waits and the last signals
 * as `params` says.
 */
weft_status weft_device_submit_run(weft_device *device, const VkCommandBuffer *commands,
                                   uint32_t count, const weft_submit_params *params,
                                   uint64_t *value);
/**
 * Waits until the timeline reaches `value`; timeout in nanoseconds (UINT64_MAX: for ever). *done may be null. WEFT_CANCELLED where the
 * host says so before.
 */
weft_status weft_device_wait(weft_device *device, uint64_t value, uint64_t timeout_ns, bool *done);
/**
 * Waits for the caller's own submissions, from `first` on. When this returns WEFT_CANCELLED on the processor device,
 * they have ended or never begin.
 */
weft_status weft_device_wait_or_cancel(weft_device *device, uint64_t first, uint64_t value,
                                       uint64_t timeout_ns, bool *done);
/** Waits, whatever anybody says, before what these submissions use goes away. */
void weft_device_settle(weft_device *device, uint64_t value);
/** The newest value that it has reached. */
weft_status weft_device_completed(weft_device *device, uint64_t *value);

/** A pool for command buffers that can be reset, to be used by one thread at a time. */
weft_status weft_command_pool_create(VkCommandPool *pool, weft_device *device);

/** Takes a measured arithmetic rate into account (exponential average). */
void weft_device_note_rate(weft_device *device, double flops, double milliseconds);

/* ---- what the layers above keep with a device ---- */

/** Rows are made in order as soon as the device runs commands, and destroyed in reverse; `create` is null behind the last. */
struct weft_device_part {
    weft_status (*create)(weft_device *device);
    weft_status (*save)(weft_device *device); /* what is new, to disk; or null */
    void (*destroy)(weft_device *device);     /* also one that was never made; or null */
};

/** weft_device_open and weft_device_adopt, with what the layers above keep (lower/device_parts.c). */
weft_status weft_device_open_with(weft_device **device, const weft_device_params *params,
                                  const struct weft_device_part *parts);
weft_status weft_device_adopt_opencl_with(weft_device **device,
                                          const struct weft_device_adopt_opencl_params *params,
                                          const struct weft_device_part *parts);
weft_status weft_device_adopt_with(weft_device **device, const weft_device_adopt_params *params,
                                   const struct weft_device_part *parts);

#endif
