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

/** Device extensions an adopted device must have enabled; null-terminated. Vulkan 1.1 and 1.2 need none. */
WEFT_API const char *const *weft_vulkan_required_extensions(void);

/** Device extensions Weft makes use of where they are enabled; null-terminated. */
WEFT_API const char *const *weft_vulkan_optional_extensions(void);

/**
 * Sets, in a caller's chain that already contains them, the features an adopted device must have enabled
 * (VkPhysicalDeviceVulkan12Features::timelineSemaphore, of Vulkan 1.2). `features` may be any VkPhysicalDeviceFeatures2 chain;
 * structures that are not in the chain are left out. Features that are set already stay set.
 * Returns WEFT_INVALID_ARGUMENT when the chain has no VkPhysicalDeviceVulkan12Features and no
 * VkPhysicalDeviceTimelineSemaphoreFeatures to set them in.
 */
WEFT_API weft_status weft_vulkan_require_features(VkPhysicalDeviceFeatures2 *features);

/** Memory for one of Weft's buffers, as an allocator gives it. */
typedef struct weft_vulkan_memory {
    VkDeviceMemory memory; /**< of a type that the requirements permit */
    VkDeviceSize offset;   /**< a multiple of the alignment */
    void *mapped;          /**< what is at offset, if host access was asked for; else ignored */
    void *handle;          /**< the allocator's own, such as a VmaAllocation */
} weft_vulkan_memory;

/**
 * Memory from the caller's allocator, such as VMA: `allocate` is vmaAllocateMemory and vmaGetAllocationInfo, `free` vmaFreeMemory.
 * Each buffer of Weft's, arena and weight is one allocation, and each thread that transfers has one of 4 MiB with host access:
 * of memory that is HOST_VISIBLE, HOST_COHERENT and mapped until it is freed, HOST_CACHED by preference. Other memory is DEVICE_LOCAL by
 * preference. Called by one thread at a time, any that uses the device, and never while a buffer is in use; neither may call Weft, throw or longjmp.
 */
typedef struct weft_vulkan_allocator {
    void *user;
    /** VK_SUCCESS and *memory, or an error, which leaves nothing; VK_ERROR_OUT_OF_DEVICE_MEMORY may be followed by frees and a second try. */
    VkResult (*allocate)(void *user, const VkMemoryRequirements *requirements, bool host_access,
                         weft_vulkan_memory *memory);
    void (*free)(void *user, const weft_vulkan_memory *memory);
} weft_vulkan_allocator;

/** A device that the caller made and keeps. All handles must stay alive until the weft_device is destroyed. */
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
    /** Called around every use of the queue where other threads of the caller submit to it too. Both or neither; they must return. */
    void (*lock_queue)(void *user);
    void (*unlock_queue)(void *user);
    void *lock_user;
    uint64_t memory_limit;        /**< as weft_device_params */
    const char *cache_dir;        /**< as weft_device_params: as trusted as the program */
    uint32_t submission_limit_ms; /**< as weft_device_params */
    /**
     * The instance has VK_EXT_debug_utils enabled, and captures are to show what is Weft's: names of its pipelines and buffers,
     * and while a plan is recorded a label around each dispatch, with its node, as weft_plan_get_dispatch has it. Khronos' validation
     * layer breaks its heap before version 1.3.242 where several threads record labelled commands and destroy command pools.
     */
    bool debug_labels;
    /**
     * Other queue families of `device` whose queues use Weft's buffers or execute recordings of its plans, as when `queue` is an
     * asynchronous compute queue and the outputs are drawn by a graphics queue. Buffers and arenas that Weft makes are then shared among
     * these and queue_family (VK_SHARING_MODE_CONCURRENT), and need no transfer of ownership; and recordings may go to command buffers
     * of any of these families that computes. Buffers that are wrapped are as their owner made them. At most
     * WEFT_MAX_SHARED_FAMILIES; queue_family itself may be among them. Plans have time stamps where all of these that compute have.
     */
    const uint32_t *shared_families;
    uint32_t shared_family_count;
    /** Where Weft's memory comes from; copied. Null: vkAllocateMemory, in blocks of 64 MiB that buffers share. */
    const weft_vulkan_allocator *allocator;
    /** For weft/external.h: VK_KHR_external_memory_fd is enabled, on Windows VK_KHR_external_memory_win32; … */
    bool external_memory;
    bool external_memory_dma_buf; /**< … and VK_EXT_external_memory_dma_buf; … */
    bool
        external_semaphore; /**< VK_KHR_external_semaphore_fd, on Windows VK_KHR_external_semaphore_win32 */
    /**
     * VkApplicationInfo::apiVersion that `instance` was made with; 0: 1.2 or later. Where that or the device's version is below 1.2,
     * extensions take the place of what 1.2 has:
     */
    uint32_t instance_version;
    /** VK_KHR_timeline_semaphore is enabled, with its feature; without it submissions are counted by fences. */
    bool timeline_semaphore;
    /** VK_KHR_shader_float_controls is enabled; without it kernels flush subnormals by instructions where drivers keep them. */
    bool float_controls;
    /**
     * For fast math, which does without what is not said here: the feature shaderFloat16 is enabled; …
     */
    bool float16;
    /** … VK_EXT_subgroup_size_control (Vulkan 1.3 has it) with subgroupSizeControl and computeFullSubgroups; … */
    bool subgroup_size_control;
    /** … VK_KHR_cooperative_matrix with cooperativeMatrix, and vulkanMemoryModel. Needs the two above. */
    bool cooperative_matrix;
    uint64_t cache_limit; /**< as weft_device_params */
} weft_device_adopt_params;

#define WEFT_MAX_SHARED_FAMILIES 8

#ifndef __cplusplus
#define weft_device_adopt_params(...) (&(weft_device_adopt_params){__VA_ARGS__})
#endif

/**
 * Makes a weft_device on the caller's VkDevice. Weft creates its own objects on it and destroys only those.
 * Errors: WEFT_INVALID_ARGUMENT for a null handle (named), one lock callback or one of the allocator's without the other, or f16
 * weights in reproducible mode, or a shared family that the device does not have (named), or
 * cooperative_matrix without float16 and subgroup_size_control, WEFT_UNSUPPORTED
 * for a device below Vulkan 1.1, a queue family without compute, one that fails the reproducibility probe, or debug_labels on an
 * instance without VK_EXT_debug_utils (the function that is missing is named).
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

/** The VkBuffer behind a weft_buffer, and where it starts in it (bytes). */
WEFT_API VkBuffer weft_buffer_vulkan(const weft_buffer *buffer, uint64_t *offset);

/**
 * Records one run of a plan into a command buffer that is in the recording state, outside a render pass, and that will
 * be submitted to a queue of the device's queue family, or of one of its shared_families that computes. Records dispatches and barriers only: it allocates nothing,
 * submits nothing and waits for nothing. `bindings` must have every input and output set and must stay unchanged until
 * the command buffer has finished. May be called any number of times; recordings of one plan share its arena, so they
 * must not run at the same time on different queues, unless their bindings have arenas of their own
 * (weft_bindings_create_concurrent).
 *
 * Synchronisation, the caller's part: writes to the inputs must be made available before, with a barrier whose
 * destination is WEFT_PLAN_STAGE / WEFT_PLAN_ACCESS; outputs are written at that stage with
 * VK_ACCESS_SHADER_WRITE_BIT and must be made visible to their readers after. Between two recordings in one queue the
 * plan takes care of its own arena.
 */
WEFT_API weft_status weft_plan_record(weft_plan *plan, VkCommandBuffer commands,
                                      weft_bindings *bindings);

/* ---- a run that is submitted among the caller's own submissions ---- */

/** A semaphore of the caller's, of the device's VkDevice. */
typedef struct weft_semaphore_point {
    VkSemaphore semaphore;
    uint64_t value; /**< of a timeline semaphore; ignored for a binary one */
} weft_semaphore_point;

typedef struct weft_submit_params {
    const weft_semaphore_point
        *waits; /**< before the run's first dispatch; later work of the queue waits, too */
    uint32_t wait_count;
    const weft_semaphore_point
        *signals; /**< when all of the run is done and its outputs are visible */
    uint32_t signal_count;
} weft_submit_params;

#ifndef __cplusplus
#define weft_submit_params(...) (&(weft_submit_params){__VA_ARGS__})
#endif

/**
 * weft_plan_submit with semaphores, so that a run waits for the caller's submissions to any queue, or for the host, and these
 * wait for the run. All of a run, whose submissions may be several, is one call of vkQueueSubmit: one that fails leaves plan,
 * bindings and semaphores as they were. Waits hold back the device's whole queue: until they are signalled, weft_buffer_read,
 * _write and _destroy, weft_plan_compile, and whatever else waits for the device, wait as well; who signals must not be waiting in one
 * of these. Values follow the rules of vkQueueSubmit, which Weft does not check. Errors also: WEFT_INVALID_ARGUMENT for a semaphore
 * that is null.
 */
WEFT_API weft_status weft_plan_submit_with(weft_plan *plan, weft_bindings *bindings,
                                           const weft_submit_params *params, uint64_t *ticket);

/**
 * The timeline semaphore of which the tickets of weft_plan_submit are values: the caller's submissions may wait for a ticket,
 * on any queue of the VkDevice. It is the device's; only Weft signals it. Null for a null device, and for
 * one without timeline semaphores, as some of Vulkan 1.1 are.
 */
WEFT_API VkSemaphore weft_device_timeline(const weft_device *device);

/** A semaphore of weft/external.h, for weft_plan_submit_with; it stays the weft_semaphore's. Null for null. */
WEFT_API VkSemaphore weft_semaphore_vulkan(const weft_semaphore *semaphore);

/* ---- a run in parts, over several frames ---- */

/** One of the plan's weft_plan_info.parts. */
typedef struct weft_part_info {
    uint32_t dispatch; /**< of weft_plan_get_dispatch */
    double share;      /**< of the dispatch's workgroups: 1 where it is not cut */
    /**
     * How long it is expected to take: its share of what weft_plan_get_timings found last for the dispatch (so of a plan with
     * timestamps, after a run), or until then of what its operations take at the device's measured rate.
     */
    double ms;
    bool measured;
} weft_part_info;

/** WEFT_NOT_FOUND past the last one. */
WEFT_API weft_status weft_plan_get_part(const weft_plan *plan, uint32_t index,
                                        weft_part_info *info);

/**
 * As weft_plan_record, but the parts first … first + count - 1 of the run alone; count > 0. A run is complete when all its parts
 * have been recorded, in order, and executed, in one queue or ordered by semaphores; bits do not depend on where it was cut. Between
 * its first and its last part the arena is the run's: no other run or recording of this plan may execute, unless the bindings have
 * an arena of their own (weft_bindings_create_concurrent), and inputs must stay as they are. Each call begins with a barrier behind
 * all earlier compute work of the queue. Any thread, one at a time for an arena.
 * Errors: WEFT_INVALID_ARGUMENT for parts that the plan does not have (named); those of weft_plan_record.
 */
WEFT_API weft_status weft_plan_record_range(weft_plan *plan, VkCommandBuffer commands,
                                            weft_bindings *bindings, uint32_t first,
                                            uint32_t count);

/**
 * Cuts the plan's dispatches again, by what weft_plan_get_timings found them to take, and compiles nothing: those of more than
 * part_ms into parts, as weft_plan_params.part_ms does by their arithmetic, and submissions by the device's submission_limit_ms.
 * One workgroup is not cut. No bit changes. weft_plan_info.parts and .submissions and weft_plan_get_part say what there is then,
 * and times of a run after it what the parts take; weft_plan_describe tells what there was. Bindings stay, recordings made before
 * must not be submitted any more, and runs in parts begin anew: none may be under way. Waits for runs of weft_plan_submit. Uses the
 * plan and all of its bindings: one thread. What fails leaves the plan as it was. Errors: WEFT_INVALID_ARGUMENT for a part_ms that
 * is negative or not finite, or times that are not known yet; WEFT_OUT_OF_HOST_MEMORY, WEFT_OUT_OF_DEVICE_MEMORY.
 */
WEFT_API weft_status weft_plan_split_measured(weft_plan *plan, double part_ms);

/** Where a run is that goes on from frame to frame. Zeros: at its beginning. */
typedef struct weft_frame_cursor {
    uint32_t
        next; /**< the part that comes next. Set to 0 it gives up a run; one with states (decode.h) must be ended */
    bool done; /**< the newest call recorded the last part, and the next one begins a run */
    double ms; /**< how long what the newest call recorded is expected to take */
} weft_frame_cursor;

/**
 * Records as many parts from cursor->next on as are expected to take at most budget_ms together, one at least, and moves the
 * cursor behind them. With part_ms of weft_plan_params no larger than the budget, frames exceed it by as much as expectations are
 * wrong. Everything else as weft_plan_record_range. Errors also: WEFT_INVALID_ARGUMENT for a budget that is not above 0 or a
 * cursor behind the last part; the cursor is then as it was.
 */
WEFT_API weft_status weft_plan_record_frame(weft_plan *plan, VkCommandBuffer commands,
                                            weft_bindings *bindings, double budget_ms,
                                            weft_frame_cursor *cursor);

/* ---- several runs that share frames ---- */

/**
 * Runs that are recorded in parts, frame after frame, those of the highest priority first. Destroy it before its device; that
 * drops what has not been recorded. Thread safety: one thread at a time, which uses the plans and bindings of its jobs with it.
 */
typedef struct weft_frame_queue weft_frame_queue;

WEFT_API weft_status weft_frame_queue_create(weft_frame_queue **queue, weft_device *device);
WEFT_API void weft_frame_queue_destroy(weft_frame_queue **queue);

/**
 * Adds a run, a job from now on: larger priorities come first, and equal ones in the order of arrival, each to its end. A job
 * that comes while one of lower priority is under way goes first from its next frame on, and the other goes on behind it; but where both
 * share an arena, so that only one can be under way, the one that has begun is finished first, and where they share the buffer of a
 * state (decode.h), the one that came first. Where a job reads what another one writes, give them the same priority, in
 * their order. Plan and bindings, which have all inputs and outputs set, stay as they are, and the inputs' contents too, until
 * the job has been recorded to its end and executed, or is cancelled. *job is 1, 2, 3 ….
 * Errors: WEFT_INVALID_ARGUMENT for bindings of another plan, a plan of another device, or a port that is not set.
 */
WEFT_API weft_status weft_frame_queue_add(weft_frame_queue *queue, weft_plan *plan,
                                          weft_bindings *bindings, int32_t priority, uint64_t *job);

/** What one call of weft_frame_queue_record has recorded. */
typedef struct weft_frame_info {
    uint32_t parts;
    double ms; /**< that they are expected to take */
    uint32_t
        finished_count; /**< jobs whose last part is among them: their outputs are complete with this frame */
    const uint64_t *finished; /**< these jobs; until the next call that takes the queue */
    uint32_t jobs_left;       /**< waiting or running */
} weft_frame_info;

/**
 * Records parts of jobs that are expected to take at most budget_ms together, one at least where there is a job. Nothing of
 * a job of lower priority fills what is left when the next part of the first one does not fit. All frames of a queue go to one queue of
 * the device, in their order, or are ordered by semaphores; else as weft_plan_record_range. *info may be null. Where it fails, what it
 * has recorded counts all the same. Errors: WEFT_INVALID_ARGUMENT for a budget that is not above 0; those of
 * weft_plan_record_range.
 */
WEFT_API weft_status weft_frame_queue_record(weft_frame_queue *queue, VkCommandBuffer commands,
                                             double budget_ms, weft_frame_info *info);

/**
 * Gives a job up that waits or is running. What was recorded of it still executes; its arena is free for later recordings of the
 * queue at once, and for others when the frames recorded so far have been executed, and its outputs have no meaning. One that has ended
 * stays as it is. Errors: WEFT_NOT_FOUND as weft_frame_queue_get_job; WEFT_INVALID_ARGUMENT for a running job of a plan
 * with states (decode.h), which would be left halfway: it must end.
 */
WEFT_API weft_status weft_frame_queue_cancel(weft_frame_queue *queue, uint64_t job);

typedef enum weft_frame_job_state {
    WEFT_FRAME_JOB_WAITING = 0, /**< nothing of it is recorded */
    WEFT_FRAME_JOB_RUNNING,
    WEFT_FRAME_JOB_DONE, /**< recorded to its end; executed when that frame is */
    WEFT_FRAME_JOB_CANCELLED
} weft_frame_job_state;

typedef struct weft_frame_job_info {
    weft_frame_job_state state;
    int32_t priority;
    uint32_t parts;    /**< of the run */
    uint32_t recorded; /**< of these */
} weft_frame_job_info;

/** WEFT_NOT_FOUND for a job that was never there, or that ended more than WEFT_FRAME_QUEUE_REMEMBERS ended jobs ago. */
WEFT_API weft_status weft_frame_queue_get_job(const weft_frame_queue *queue, uint64_t job,
                                              weft_frame_job_info *info);
#define WEFT_FRAME_QUEUE_REMEMBERS 64

/* ---- images ---- */

/** A VkImage of one sample, with a color aspect and VK_IMAGE_USAGE_TRANSFER_SRC_BIT (input) or _DST_BIT (output). */
typedef struct weft_image_params {
    VkImage image;
    VkFormat format;        /**< the image's */
    uint32_t width, height; /**< of the mip level, which is taken whole */
    uint32_t mip_level;
    uint32_t base_layer;        /**< of as many layers as the tensor has */
    VkImageLayout layout;       /**< it is in when a run begins; of an output also UNDEFINED */
    VkImageLayout final_layout; /**< it is left in; neither UNDEFINED nor PREINITIALIZED */
} weft_image_params;

#ifndef __cplusplus
#define weft_image_params(...) (&(weft_image_params){__VA_ARGS__})
#endif

/**
 * Sets an input or output of shape [h, w], [h, w, c] or [layers, h, w, c] to an image, whose texels are the tensor's last axis (one
 * channel where there is none), in the format's order: u8 is R8, R8G8, R8G8B8A8, A8B8G8R8_PACK32 and B8G8R8A8 (UNORM, UINT and SRGB: the
 * stored numbers, 0 … 255, which are not decoded), f16 is R16, R16G16 and R16G16B16A16 (SFLOAT), f32 is R32, R32G32 and
 * R32G32B32A32 (SFLOAT), i32 the same (SINT, UINT). weft_graph_convert makes f32 of the first two. Copied whole to a buffer of the
 * bindings' before the run's first dispatch, or from one behind its last (of a run in parts with its first and last part):
 * bit by bit, whatever the tiling. The image stays alive and as it was described while it is set; weft_bindings_set or another
 * image takes its place. *image is copied. The bindings must not be in use by work that has not finished.
 *
 * Synchronisation, the caller's part: an input's contents must be available, in `layout` and in the device's queue family, to
 * WEFT_IMAGE_STAGE with VK_ACCESS_TRANSFER_READ_BIT, and an output's earlier readers must be done with it, by a barrier whose
 * destination is that stage or by a wait of weft_plan_submit_with. Behind the run both are in final_layout, written at that
 * stage with VK_ACCESS_TRANSFER_WRITE_BIT. A run that is submitted again finds the image in `layout` again.
 *
 * Errors: WEFT_INVALID_ARGUMENT for null, a layout that cannot be, or a state; WEFT_NOT_FOUND for an unknown name;
 * WEFT_SHAPE_MISMATCH when type, height, width or channels differ (both named); WEFT_UNSUPPORTED for another format or the
 * processor device, which has no images; WEFT_OUT_OF_DEVICE_MEMORY for the buffer.
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
