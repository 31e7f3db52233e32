/* SPDX-License-Identifier: MIT */
/*
 * Embedding Weft in a program that already uses Vulkan: adopt its VkDevice, wrap its VkBuffers, and record a plan into
 * its command buffers. This is the only header that shows Vulkan types. Include your Vulkan headers (or volk) first if
 * you need particular ones.
 */
#ifndef WEFT_VULKAN_H
#define WEFT_VULKAN_H

#include <vulkan/vulkan_core.h>

#include <weft/buffer.h>
#include <weft/external.h>
#include <weft/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Device extensions that an adopted device must have enabled; null-terminated. Vulkan 1.1 and 1.2 need none. */
WEFT_API const char *const *weft_vulkan_required_extensions(void);

/** Device extensions that Weft uses if they are enabled; null-terminated. */
WEFT_API const char *const *weft_vulkan_optional_extensions(void);

/**
 * Sets the features that an adopted device should have enabled in the caller's VkPhysicalDeviceFeatures2 chain:
 * timelineSemaphore of Vulkan 1.2, which weft_device_adopt_params.timeline_semaphore then says. It changes only structures that the chain contains. Features that are already set
 * stay set. Returns WEFT_INVALID_ARGUMENT when the chain has no VkPhysicalDeviceVulkan12Features and no
 * VkPhysicalDeviceTimelineSemaphoreFeatures to set them in.
 */
WEFT_API weft_status weft_vulkan_require_features(VkPhysicalDeviceFeatures2 *features);

/** Memory that an allocator returns for a buffer of Weft's. */
typedef struct weft_vulkan_memory {
    VkDeviceMemory memory; /**< of a type that the requirements permit */
    VkDeviceSize offset;   /**< a multiple of the alignment */
    /** Host pointer to `offset`, if host access was requested; else ignored */
    void *mapped;
    void *handle; /**< the allocator's own, such as a VmaAllocation */
} weft_vulkan_memory;

/**
 * The caller's allocator, such as VMA: `allocate` is vmaAllocateMemory and vmaGetAllocationInfo, `free` is
 * vmaFreeMemory. Each buffer, arena and weight is one allocation. Each thread that transfers data has one of 4 MiB with
 * host access: HOST_VISIBLE, HOST_COHERENT, preferably HOST_CACHED, and mapped until it is freed. Other memory is
 * preferably DEVICE_LOCAL. One thread at a time calls these functions, any that uses the device, and memory is freed
 * only when no work uses it. Neither function may call Weft, throw or longjmp.
 */
typedef struct weft_vulkan_allocator {
    void *user;
    /**
     * Returns VK_SUCCESS and *memory, or an error and no memory. After VK_ERROR_OUT_OF_DEVICE_MEMORY Weft may free
     * memory and try again.
     */
    VkResult (*allocate)(void *user, const VkMemoryRequirements *requirements, bool host_access,
                         weft_vulkan_memory *memory);
    void (*free)(void *user, const weft_vulkan_memory *memory);
} weft_vulkan_allocator;

/** A device that the caller created and owns. All handles must stay alive until the weft_device is destroyed. */
typedef struct weft_device_adopt_params {
    weft_host host;
    weft_math math;
    weft_weight_storage weights; /**< as weft_device_params */
    VkInstance instance;         /**< made for Vulkan 1.1 or later, see instance_version */
    VkPhysicalDevice physical_device;
    VkDevice device;       /**< with the required extensions and features enabled */
    VkQueue queue;         /**< supports compute; used for uploads and weft_plan_run */
    uint32_t queue_family; /**< the family `queue` was taken from */
    PFN_vkGetInstanceProcAddr
        get_instance_proc_addr; /**< the loader's, or null to find the system's */
    /**
     * Called around every use of the queue, if the caller's threads submit to it, too. Set both or neither; they must
     * return.
     */
    void (*lock_queue)(void *user);
    void (*unlock_queue)(void *user);
    void *lock_user;
    uint64_t memory_limit;        /**< as weft_device_params */
    const char *cache_dir;        /**< as weft_device_params: as trusted as the program */
    uint32_t submission_limit_ms; /**< as weft_device_params */
    /**
     * Shows Weft's objects in captures; the instance must have VK_EXT_debug_utils enabled. Pipelines and buffers get
     * names, and each recorded dispatch a label with its node, as in weft_plan_get_dispatch. Khronos' validation layer
     * before version 1.3.242 corrupts its heap when several threads record labelled commands and destroy command pools.
     */
    bool debug_labels;
    /**
     * Other queue families of `device` that use Weft's buffers or execute recordings of its plans. Example: `queue` is
     * an asynchronous compute queue, and a graphics queue draws the outputs. Weft then makes its buffers and arenas
     * with VK_SHARING_MODE_CONCURRENT for these and queue_family, so ownership need not be transferred. Recordings may
     * go to command buffers of any of these families that supports compute. Wrapped buffers keep their owner's sharing
     * mode. At most WEFT_MAX_SHARED_FAMILIES; queue_family may be among them. Plans have time stamps if all of these
     * families that support compute have them.
     */
    const uint32_t *shared_families;
    uint32_t shared_family_count;
    /** Allocates Weft's memory; copied. Null: vkAllocateMemory, in blocks of 64 MiB that buffers share. */
    const weft_vulkan_allocator *allocator;
    /** For weft/external.h: VK_KHR_external_memory_fd is enabled, on Windows VK_KHR_external_memory_win32; … */
    bool external_memory;
    bool external_memory_dma_buf; /**< … and VK_EXT_external_memory_dma_buf; … */
    bool
        external_semaphore; /**< VK_KHR_external_semaphore_fd, on Windows VK_KHR_external_semaphore_win32 */
    /**
     * VkApplicationInfo::apiVersion of `instance`; 0: 1.2 or later. If this or the device's version is below 1.2, Weft
     * uses extensions in place of Vulkan 1.2:
     */
    uint32_t instance_version;
    /**
     * The feature timelineSemaphore is enabled, of Vulkan 1.2 or of VK_KHR_timeline_semaphore: a VkDevice cannot be asked. Without it Weft counts
     * submissions by fences, and weft_device_timeline is null.
     */
    bool timeline_semaphore;
    /**
     * VK_KHR_shader_float_controls is enabled; without it kernels flush subnormals by instructions if the driver keeps
     * them.
     */
    bool float_controls;
    /** For fast math, and products of int8 in every mode, which use only what these fields allow: the feature shaderFloat16 is enabled; … */
    bool float16;
    /** … VK_EXT_subgroup_size_control (Vulkan 1.3 has it) with subgroupSizeControl and computeFullSubgroups; … */
    bool subgroup_size_control;
    /**
     * … VK_KHR_cooperative_matrix with cooperativeMatrix, and vulkanMemoryModel. Needs subgroup_size_control, and float16
     * for matrices of f16, int8 for those of bytes, or both.
     */
    bool cooperative_matrix;
    bool int8;            /**< … shaderInt8. */
    uint64_t cache_limit; /**< as weft_device_params */
} weft_device_adopt_params;

#define WEFT_MAX_SHARED_FAMILIES 8

#ifndef __cplusplus
#define weft_device_adopt_params(...) (&(weft_device_adopt_params){__VA_ARGS__})
#endif

/**
 * Makes a weft_device on the caller's VkDevice. Weft creates its own objects on it and destroys only those.
 * Errors: WEFT_INVALID_ARGUMENT for a null handle (named), a shared family that the device does not have (named), one
 * lock or allocator callback without the other, or f16 weights in reproducible mode; also for cooperative_matrix
 * without subgroup_size_control, or with neither float16 nor int8. WEFT_UNSUPPORTED for a device below Vulkan 1.1, a
 * queue family without compute, a device that fails the reproducibility probe, or debug_labels on an instance without
 * VK_EXT_debug_utils (naming the missing function).
 */
WEFT_API weft_status weft_device_adopt(weft_device **device,
                                       const weft_device_adopt_params *params);

/**
 * Wraps `size` bytes at `offset` of a caller's VkBuffer, which must have been made with
 * VK_BUFFER_USAGE_STORAGE_BUFFER_BIT (and TRANSFER_SRC/DST_BIT for weft_buffer_read/_write) and outlive the wrapper.
 * Errors: WEFT_INVALID_ARGUMENT when offset is not a multiple of minStorageBufferOffsetAlignment (both named).
 */
WEFT_API weft_status weft_buffer_wrap(weft_buffer **buffer, weft_device *device, VkBuffer handle,
                                      uint64_t offset, uint64_t size);

/** The VkBuffer of a weft_buffer, and the buffer's offset in it in bytes. */
WEFT_API VkBuffer weft_buffer_vulkan(const weft_buffer *buffer, uint64_t *offset);

/**
 * Records one run of a plan into a command buffer, which must be in the recording state and outside a render pass.
 * Submit it to a queue of the device's queue family, or of one of its shared_families that supports compute. The call
 * records only dispatches and barriers: it allocates nothing, submits nothing and waits for nothing. `bindings` must
 * have every input and output set, and must not change until the command buffer has finished. A plan may be recorded
 * any number of times. Recordings share its arena, so they must not execute at the same time on different queues,
 * unless their bindings have their own arenas (weft_bindings_create_concurrent).
 *
 * The caller synchronises inputs and outputs. Before the run, a barrier with destination WEFT_PLAN_STAGE /
 * WEFT_PLAN_ACCESS must make writes to the inputs available. The run writes outputs at that stage with
 * VK_ACCESS_SHADER_WRITE_BIT; make them visible to their readers afterwards. Between two recordings in one queue the
 * plan synchronises its own arena.
 */
WEFT_API weft_status weft_plan_record(weft_plan *plan, VkCommandBuffer commands,
                                      weft_bindings *bindings);

/* ---- a run among the caller's own submissions ---- */

/** A caller's semaphore on the device's VkDevice. */
typedef struct weft_semaphore_point {
    VkSemaphore semaphore;
    uint64_t value; /**< of a timeline semaphore; ignored for a binary one */
} weft_semaphore_point;

typedef struct weft_submit_params {
    const weft_semaphore_point
        *waits; /**< before the run's first dispatch; they delay later work of the queue, too */
    uint32_t wait_count;
    const weft_semaphore_point
        *signal_points; /**< when the whole run is done and its outputs are visible */
    uint32_t signal_count;
} weft_submit_params;

#ifndef __cplusplus
#define weft_submit_params(...) (&(weft_submit_params){__VA_ARGS__})
#endif

/**
 * weft_plan_submit with semaphores: the run waits for the caller's submissions to any queue, or for the host, and these
 * can wait for the run. A run, even of several submissions, is one call of vkQueueSubmit. If it fails, plan, bindings
 * and semaphores are unchanged. Waits block the device's whole queue. Until they are signalled, weft_buffer_read,
 * _write and _destroy, weft_plan_compile and every other call that waits for the device wait, too: do not signal from a
 * thread that may be in one of them. Values must follow the rules of vkQueueSubmit, which Weft does not check.
 * Errors also: WEFT_INVALID_ARGUMENT for a null semaphore.
 */
WEFT_API weft_status weft_plan_submit_with(weft_plan *plan, weft_bindings *bindings,
                                           const weft_submit_params *params, uint64_t *ticket);

/**
 * The device's timeline semaphore. Tickets of weft_plan_submit are its values: the caller's submissions may wait for a
 * ticket on any queue of the VkDevice. The device owns it; only Weft signals it. Null for a null device and for a
 * device without timeline semaphores, such as some of Vulkan 1.1.
 */
WEFT_API VkSemaphore weft_device_timeline(const weft_device *device);

/**
 * The VkSemaphore of a weft_semaphore (weft/external.h), for weft_plan_submit_with. The weft_semaphore owns it. Null
 * for null.
 */
WEFT_API VkSemaphore weft_semaphore_vulkan(const weft_semaphore *semaphore);

/* ---- a run in parts, over several frames ---- */

/** One of the plan's weft_plan_info.parts. */
typedef struct weft_part_info {
    uint32_t dispatch; /**< of weft_plan_get_dispatch */
    double share;      /**< of the dispatch's workgroups: 1 where it is not cut */
    /**
     * Expected time: its share of the dispatch's last time by weft_plan_get_timings (which needs timestamps and a run),
     * or else of the time of its operations at the device's measured rate.
     */
    double ms;
    bool measured;
} weft_part_info;

/** WEFT_NOT_FOUND past the last one. */
WEFT_API weft_status weft_plan_get_part(const weft_plan *plan, uint32_t index,
                                        weft_part_info *info);

/**
 * As weft_plan_record, but records only the parts first … first + count - 1 of the run; count > 0. A run is complete
 * when all its parts have been recorded in order and executed, in one queue or ordered by semaphores. Bits do not
 * depend on the cuts. From its first to its last part the run owns the arena: no other run or recording of this plan
 * may execute unless the bindings have their own arena (weft_bindings_create_concurrent). Inputs must not change
 * meanwhile. Each call begins with a barrier after all earlier compute work of the queue. Any thread, one at a time for
 * an arena.
 * Errors: WEFT_INVALID_ARGUMENT for parts that the plan does not have (named); those of weft_plan_record.
 */
WEFT_API weft_status weft_plan_record_range(weft_plan *plan, VkCommandBuffer commands,
                                            weft_bindings *bindings, uint32_t first,
                                            uint32_t count);

/**
 * Cuts the plan's dispatches again, by their times from weft_plan_get_timings, without compiling. Dispatches above
 * part_ms become parts, as weft_plan_params.part_ms does by arithmetic; submissions follow the device's
 * submission_limit_ms. A workgroup is never cut, and no bit changes. Afterwards weft_plan_info.parts and .submissions
 * and weft_plan_get_part report the new parts, and the times of the next run are theirs; weft_plan_describe still
 * reports the old ones. Bindings stay valid. Do not submit earlier recordings again, and do not call this while a run
 * in parts is unfinished. Waits for runs of weft_plan_submit. The call uses the plan and all its bindings: one thread.
 * A failed call leaves the plan unchanged.
 * Errors: WEFT_INVALID_ARGUMENT for a part_ms that is negative or not finite, or if there are no times yet;
 * WEFT_OUT_OF_HOST_MEMORY, WEFT_OUT_OF_DEVICE_MEMORY.
 */
WEFT_API weft_status weft_plan_split_measured(weft_plan *plan, double part_ms);

/** Position of a run that continues from frame to frame. Zeros: at its beginning. */
typedef struct weft_frame_cursor {
    /** The next part. Setting 0 abandons the run; a run with states (decode.h) must be completed */
    uint32_t next;
    bool done; /**< the newest call recorded the last part, and the next one begins a run */
    double ms; /**< expected time of the parts that the newest call recorded */
} weft_frame_cursor;

/**
 * Records parts from cursor->next on, as many as fit into budget_ms by their expected times, but at least one, and
 * advances the cursor. If weft_plan_params.part_ms is at most the budget, frames exceed it only as far as expected
 * times are wrong. Everything else as weft_plan_record_range.
 * Errors also: WEFT_INVALID_ARGUMENT for a budget that is not above 0 or a cursor past the last part; the cursor is
 * then unchanged.
 */
WEFT_API weft_status weft_plan_record_frame(weft_plan *plan, VkCommandBuffer commands,
                                            weft_bindings *bindings, double budget_ms,
                                            weft_frame_cursor *cursor);

/* ---- several runs that share frames ---- */

/**
 * Records several runs in parts, frame after frame, by priority. Destroy it before its device; that drops parts not yet
 * recorded.
 * Thread safety: one thread at a time for the queue with the plans and bindings of its jobs.
 */
typedef struct weft_frame_queue weft_frame_queue;

WEFT_API weft_status weft_frame_queue_create(weft_frame_queue **queue, weft_device *device);
WEFT_API void weft_frame_queue_destroy(weft_frame_queue **queue);

/**
 * Adds a run to the queue as a job. Jobs of higher priority come first; jobs of equal priority run in the order of
 * arrival, each to its end. From the next frame on, a new job precedes a running job of lower priority, which continues
 * after it. There are two exceptions. If both share an arena, the running job is finished first. If they share the
 * buffer of a state (decode.h), the earlier job is. If a job reads another job's output, give both the same priority
 * and add them in order. Plan and bindings (with all inputs and outputs set) and the inputs' contents must not change
 * until the job has been recorded to its end and executed, or is cancelled. *job is 1, 2, 3 ….
 * Errors: WEFT_INVALID_ARGUMENT for bindings of another plan, a plan of another device, or a port that is not set.
 */
WEFT_API weft_status weft_frame_queue_add(weft_frame_queue *queue, weft_plan *plan,
                                          weft_bindings *bindings, int32_t priority, uint64_t *job);

/** Result of a call of weft_frame_queue_record. */
typedef struct weft_frame_info {
    uint32_t parts;
    double ms; /**< their expected time */
    /** Jobs whose last part was recorded: this frame completes their outputs */
    uint32_t finished_count;
    const uint64_t *finished; /**< these jobs; valid until the next call with the queue */
    uint32_t jobs_left;       /**< waiting or running */
} weft_frame_info;

/**
 * Records parts of jobs, as many as fit into budget_ms by their expected times, but at least one if there is a job. If
 * the next part of the first job does not fit, no job of lower priority fills the rest. Submit all frames of a frame
 * queue in order to one queue of the device, or order them by semaphores; else as weft_plan_record_range. *info may be
 * null. If the call fails, the parts it has recorded still count.
 * Errors: WEFT_INVALID_ARGUMENT for a budget that is not above 0; those of weft_plan_record_range.
 */
WEFT_API weft_status weft_frame_queue_record(weft_frame_queue *queue, VkCommandBuffer commands,
                                             double budget_ms, weft_frame_info *info);

/**
 * Cancels a waiting or running job. Parts that were recorded still execute; its outputs are undefined. Its arena is
 * free at once for later recordings of this frame queue, and for others when the frames recorded so far have executed.
 * A job that has ended is unchanged.
 * Errors: WEFT_NOT_FOUND as weft_frame_queue_get_job; WEFT_INVALID_ARGUMENT for a running job of a plan with states
 * (decode.h), which must run to its end.
 */
WEFT_API weft_status weft_frame_queue_cancel(weft_frame_queue *queue, uint64_t job);

typedef enum weft_frame_job_state {
    WEFT_FRAME_JOB_WAITING = 0, /**< no part is recorded */
    WEFT_FRAME_JOB_RUNNING,
    WEFT_FRAME_JOB_DONE, /**< recorded to its end; complete when that frame has executed */
    WEFT_FRAME_JOB_CANCELLED
} weft_frame_job_state;

typedef struct weft_frame_job_info {
    weft_frame_job_state state;
    int32_t priority;
    uint32_t parts;    /**< of the run */
    uint32_t recorded; /**< of these */
} weft_frame_job_info;

/** WEFT_NOT_FOUND for an unknown job, or one that ended more than WEFT_FRAME_QUEUE_REMEMBERS ended jobs ago. */
WEFT_API weft_status weft_frame_queue_get_job(const weft_frame_queue *queue, uint64_t job,
                                              weft_frame_job_info *info);
#define WEFT_FRAME_QUEUE_REMEMBERS 64

/* ---- images ---- */

/** A VkImage of one sample, with a color aspect and VK_IMAGE_USAGE_TRANSFER_SRC_BIT (input) or _DST_BIT (output). */
typedef struct weft_image_params {
    VkImage image;
    VkFormat format;        /**< the image's */
    uint32_t width, height; /**< of the mip level, all of which is copied */
    uint32_t mip_level;
    uint32_t base_layer;        /**< first of as many layers as the tensor has */
    VkImageLayout layout;       /**< when a run begins; for an output also UNDEFINED */
    VkImageLayout final_layout; /**< after a run; neither UNDEFINED nor PREINITIALIZED */
} weft_image_params;

#ifndef __cplusplus
#define weft_image_params(...) (&(weft_image_params){__VA_ARGS__})
#endif

/**
 * Sets an input or output of shape [h, w], [h, w, c] or [layers, h, w, c] to an image. A texel holds the tensor's last
 * axis (for [h, w] one channel) in the format's order. Formats: u8 is R8, R8G8, R8G8B8A8, A8B8G8R8_PACK32 and B8G8R8A8
 * (UNORM, UINT and SRGB: the stored numbers, 0 … 255, which are not decoded); f16 is R16, R16G16 and R16G16B16A16
 * (SFLOAT); f32 is R32, R32G32 and R32G32B32A32 (SFLOAT); i32 the same (SINT, UINT). weft_graph_convert converts u8 and
 * f16 to f32. An input is copied to a buffer of the bindings before the run's first dispatch, an output from one after
 * its last; a run in parts copies with its first and last part. Copies are bit by bit, for any tiling. While it is set,
 * the image must stay alive and match its description; weft_bindings_set or another image replaces it. *image is
 * copied. No unfinished work may use the bindings.
 *
 * The caller synchronises images, by a barrier with destination WEFT_IMAGE_STAGE or a wait of weft_plan_submit_with. It
 * makes an input's contents available to that stage with VK_ACCESS_TRANSFER_READ_BIT, in `layout` and in the device's
 * queue family, and waits for an output's earlier readers. After the run both are in final_layout, written at that
 * stage with VK_ACCESS_TRANSFER_WRITE_BIT. When a run is submitted again, the image must be in `layout` again.
 *
 * Errors: WEFT_INVALID_ARGUMENT for null, an invalid layout, or a state; WEFT_NOT_FOUND for an unknown name;
 * WEFT_SHAPE_MISMATCH when type, height, width or channels differ (both named); WEFT_UNSUPPORTED for another format or
 * the processor device, which has no images; WEFT_OUT_OF_DEVICE_MEMORY for the buffer.
 */
WEFT_API weft_status weft_bindings_set_image(weft_bindings *bindings, const char *name,
                                             const weft_image_params *image);

/** Stage and access in which images are copied. */
#define WEFT_IMAGE_STAGE  VK_PIPELINE_STAGE_TRANSFER_BIT
#define WEFT_IMAGE_ACCESS (VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT)

/** Stage and access in which a recorded plan reads its inputs and writes its outputs. */
#define WEFT_PLAN_STAGE  VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT
#define WEFT_PLAN_ACCESS (VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT)

#ifdef __cplusplus
}
#endif

#endif
