/* SPDX-License-Identifier: MIT */
/* Finding and opening devices. To use a VkDevice of your own instead, see vulkan.h. */
#ifndef WEFT_DEVICE_H
#define WEFT_DEVICE_H

#include <weft/weft.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum weft_math {
    /**
     * Equal input bits give equal output bits on every conforming driver (the default). Arithmetic is float32 rounded to
     * nearest even after each operation, in an order that the shapes fix; a subnormal operand or result counts as the
     * zero of its sign; infinities and NaN are those of IEEE 754, and a NaN in an output is 0x7fc00000. Ops that only
     * move elements (gather, reshape) keep all bits. A device that cannot do this is refused when it is opened.
     */
    WEFT_MATH_REPRODUCIBLE = 0,
    /** Contraction, built-in functions and measured choices allowed; accurate, but bits differ between devices. */
    WEFT_MATH_FAST = 1
} weft_math;

/** "reproducible" or "fast". */
WEFT_API const char *weft_math_name(weft_math math);

/**
 * How a device keeps constant operands of matrix products (mostly the weights of linear layers). Everything else,
 * embedding tables included, is always f32.
 *
 * As f16 they take half the memory and half the bandwidth; arithmetic stays f32, but for products of a tensor and such a weight
 * on devices that have weft_device_info.matrix_shapes: there the tensor, each of its rows times a power of two that keeps it in
 * range, may be rounded to f16 like the weight, and sums are f32. Who does not want that keeps weights as f32. Each weight is kept as f16 times a power
 * of two of its own, rounded to nearest, so that none can overflow. A weight stays f32 when it has elements that are not
 * finite, or when more than 1 % of its non-zero elements are below 2^-21 of its largest and would vanish. Every other
 * element is off by at most 2^-11 of itself. `weft verify --math fast` allows products with such weights a relative L2
 * error of 1e-3 against float64 (2e-4 is usual).
 */
typedef enum weft_weight_storage {
    WEFT_WEIGHTS_AUTO = 0, /**< f16 in fast mode, f32 in reproducible mode */
    WEFT_WEIGHTS_F32 = 1,
    WEFT_WEIGHTS_F16 = 2 /**< needs WEFT_MATH_FAST; works on every device */
} weft_weight_storage;

/** "auto", "f32" or "f16". */
WEFT_API const char *weft_weight_storage_name(weft_weight_storage storage);

typedef enum weft_device_type {
    WEFT_DEVICE_DISCRETE = 0,
    WEFT_DEVICE_INTEGRATED,
    WEFT_DEVICE_VIRTUAL,
    WEFT_DEVICE_PROCESSOR, /**< the processor itself, by this library and without any driver */
    WEFT_DEVICE_SOFTWARE, /**< a driver that runs on the processor, or this library without LLVM: its speed says nothing about a GPU */
    WEFT_DEVICE_OTHER
} weft_device_type;

/** "discrete", "integrated", "virtual", "processor", "software" or "other". */
WEFT_API const char *weft_device_type_name(weft_device_type type);

/** A product of matrices that a subgroup makes at once: m×k by k×n. */
typedef struct weft_matrix_shape {
    uint32_t m, n, k;
} weft_matrix_shape;

#define WEFT_MAX_MATRIX_SHAPES 8

/** What a device is. Limits reported as 0 mean unsupported. */
typedef struct weft_device_info {
    uint32_t index; /**< position in the system's list; stable as long as the set of drivers is */
    char name[256];
    char driver[256];         /**< driver name, such as "llvmpipe" */
    char driver_version[256]; /**< the driver's own version text */
    weft_device_type type;
    uint32_t vendor_id;
    uint32_t device_id;
    uint32_t api_version[3]; /**< Vulkan major, minor, patch */
    uint32_t subgroup_size;  /**< invocations; never shows in reproducible results */
    uint32_t threads;        /**< that the processor device computes with; 0 on other devices */
    /** Adds up over a subgroup in compute shaders; without it fast mode runs the reproducible kernels that need sums. */
    bool has_subgroup_arithmetic;
    /** Computes in f16 (shaderFloat16), which is turned on in fast mode, and never on adopted devices. */
    bool has_f16_arithmetic;
    /** The sizes of subgroups that kernels of fast mode can ask for (VK_EXT_subgroup_size_control): powers of two from one to the
     * other. Both are 0 where they cannot, as on adopted devices. */
    uint32_t least_subgroup, most_subgroup;
    /** The shapes in which subgroups multiply matrices of f16 and add them up in f32 (VK_KHR_cooperative_matrix), zeros behind
     * the last: in fast mode products with weights that are kept as f16 may use them. Adopted devices have none. */
    weft_matrix_shape matrix_shapes[WEFT_MAX_MATRIX_SHAPES];
    uint32_t max_workgroup_invocations;
    uint32_t max_shared_memory;       /**< bytes a workgroup may use */
    uint64_t max_storage_buffer_size; /**< bytes of one binding */
    uint64_t device_memory;           /**< bytes of the largest device-local heap */
    double timestamp_period_ns;       /**< 0: no time stamps on its compute queue */
    /** Bytes that memory of the host must be aligned to for weft_buffer_wrap_host; 0: it cannot work on it. Adopted
     * devices cannot, as far as Weft knows. */
    uint64_t host_memory_alignment;
    bool has_pipeline_feedback; /**< tells whether a pipeline came from the cache */
    bool has_executables; /**< tells what it made of kernels, see weft_device_params.executables */
    bool usable;          /**< meets what Weft needs */
    bool compiles; /**< usable, or lacks nothing but memory: see weft_device_params.compile_only */
    char reason[256]; /**< when not usable: what is missing */
    uint8_t uuid[16]; /**< the driver's pipeline cache identity */
} weft_device_info;

/**
 * Lists the system's devices, first those of Vulkan drivers and then the processor: writes up to *count entries to infos (may
 * be null when *count is 0) and sets *count to the number of devices. A machine without a Vulkan loader or driver has the
 * processor only, and where this library was built without a compiler for it or the environment has WEFT_PROCESSOR=0, no
 * devices: WEFT_OK with *count 0. What computes on the processor is not usable where the system lets this process execute no code of its
 * own making. host may be null. Thread safe.
 */
WEFT_API weft_status weft_device_list(weft_device_info *infos, uint32_t *count,
                                      const weft_host *host);

/**
 * One opened device with its queue, memory, pipelines and caches.
 * Thread safety: several threads may use a device at once, each with buffers, plans and models of its own: compile, load, submit,
 * execute, read, write, destroy, trim, save the cache, read the counters and cancel. Calls that take the same buffer, the same model or the
 * same plan (with its bindings) must not overlap. weft_device_destroy overlaps nothing. The callbacks of `host` are called from
 * all these threads, also while the library holds a lock, and must not call it back.
 * Fork: in a child that was forked since the device was opened, what was made for the device can be destroyed: that frees host memory,
 * waits for nothing, and calls no driver. The processor device goes on there with plans and buffers as they were at the fork, and starts
 * threads of its own when it first needs some; `jobs` are the program's own to start. With any other device, also an adopted one, every
 * call gives WEFT_DEVICE_LOST: devices are opened after the fork only, or the child is started by spawn or exec, since a driver that the
 * parent uses need not work in the child, nor return. That is also what the processor device gives, and it leaves its memory to the end
 * of the process, where a run was under way at the fork or another thread was half-way through a call on it. In none of this does a child
 * wait for what only its parent has, and the parent notices nothing. Buffers that were exported stay shared. A child that is forked in a callback of the library's must end or exec without coming back from it.
 * Reference rule: destroy buffers, plans and models before their device.
 */
typedef struct weft_device weft_device;

typedef struct weft_device_params {
    weft_host host;
    weft_math math;
    weft_weight_storage weights;
    /**
     * Which device: null or "" prefers discrete over integrated over the processor over software; a number is an index of
     * weft_device_list; anything else is matched against the names of devices and drivers, ignoring case, and must match
     * some device. "processor" is the processor device.
     */
    const char *select;
    /**
     * Turns on the Khronos validation layer, with its hazard checks, where it is installed; its messages go to the log
     * and are counted. The environment variable WEFT_VALIDATION=1 turns it on for every device. It cannot watch the
     * processor device, which has no loader.
     */
    bool validation;
    /** Largest number of device bytes that may be in use at once; 0: no limit but the device's own. */
    uint64_t memory_limit;
    /**
     * Folder for compiled shaders. Null: $XDG_CACHE_HOME/weft or ~/.cache/weft, on Windows %LOCALAPPDATA%/weft/cache;
     * "": nothing is kept on disk. A relative path is of the working folder at this call; WEFT_IO_ERROR where that is gone.
     *
     * What is in it is machine code, which is executed: the folder must be as trusted as the program. Weft makes it for this
     * user alone (0700, files 0600), and takes nothing from it and puts nothing into it unless it is a folder and no link to
     * one, and both it and the file belong to this user (the effective one) or to root, and to root where root asks, and
     * nobody else may write to them; on Windows the same by owner and list of access, with SYSTEM and Administrators in
     * root's place. Otherwise one warning says what is wrong, and everything is compiled anew. Folders above it may be links.
     */
    const char *cache_dir;
    /**
     * Longest estimated time of a single submission in milliseconds, so that no watchdog fires. 0: 500 on hardware,
     * unlimited on software drivers and the processor, which have no watchdog (500 on software drivers with
     * weft_host.interrupted, which is asked between submissions).
     */
    uint32_t submission_limit_ms;
    /**
     * Threads that the processor device computes with, at most 1024, the one that waits for it included. 0: as many as this
     * process may use processors by its affinity and its quota of time, or what the environment variable WEFT_PROCESSOR_THREADS says. Other devices ignore this
     * and `jobs`.
     */
    uint32_t threads;
    const weft_job_system
        *jobs; /**< copied; instead of `threads`. Null: threads of the device's own */
    /**
     * Opens the device for compiling only, as for hardware that is not there: RADV without a GPU, any driver on a shim. Plans are
     * compiled, with all their pipelines, and can be inspected; nothing is probed, timed or uploaded, and all that needs memory or
     * a queue fails with WEFT_UNSUPPORTED. Between kernels of which one would be timed, the one expected to be the fastest is taken.
     */
    bool compile_only;
    /**
     * Has the driver keep what its compiler made of each kernel, for weft_plan_get_executable; nothing is read from cache_dir or
     * written to it then. Only where weft_device_info.has_executables; else WEFT_UNSUPPORTED.
     */
    bool executables;
    /**
     * How many bytes the entries of cache_dir may take, each in blocks of 4 KiB; 0: 512 MiB. Beyond that, those go first that
     * were not written or read for the longest time, which is known to the hour. It is looked at when the first entry is
     * written, and then after each sixteenth of the limit, by which each process may exceed it meanwhile. Entries larger than the
     * limit are not kept.
     */
    uint64_t cache_limit;
} weft_device_params;

#ifndef __cplusplus
#define weft_device_params(...) (&(weft_device_params){__VA_ARGS__})
#endif

/**
 * Opens a device. Errors: WEFT_NO_DEVICE when nothing usable is there, WEFT_NOT_FOUND when `select` matches nothing
 * (the log names what there is), WEFT_UNSUPPORTED when the device it names lacks something or the chosen device fails
 * the reproducibility probe, WEFT_INVALID_ARGUMENT for f16 weights in reproducible mode.
 */
WEFT_API weft_status weft_device_open(weft_device **device, const weft_device_params *params);

/** Waits for the device's work and releases the device. An adopted VkDevice stays alive: it belongs to its owner. */
WEFT_API void weft_device_destroy(weft_device **device);

/**
 * Gives a device up: the run in flight ends as soon as it can, calls that wait return WEFT_DEVICE_LOST (within 50 ms), as all later calls do,
 * and everything can be destroyed. On the processor device a run ends between two workgroups and, in kernels of others (op.h), which may
 * never end by themselves, between two turns of a loop; `unchecked` kernels and those of a job that is already in one workgroup of the
 * library's own are waited for. On other devices nothing can stop what was submitted: nothing more is, and the `_destroy` functions
 * wait for it, on hardware that hangs until its driver gives up.
 * To be called from any thread, at any time before weft_device_destroy begins, also in a signal handler: it sets atomic variables and
 * returns. Null is accepted.
 */
WEFT_API void weft_device_cancel(weft_device *device);

WEFT_API weft_status weft_device_get_info(const weft_device *device, weft_device_info *info);

WEFT_API weft_math weft_device_get_math(const weft_device *device);

/** Counters since the device was opened. */
typedef struct weft_device_stats {
    uint64_t bytes_in_use; /**< device memory held now by buffers, weights and plans */
    uint64_t peak_bytes;   /**< the most that was held at once, or since weft_device_reset_peak */
    uint32_t
        shaders_compiled; /**< GLSL texts compiled to SPIR-V at run time (generated FFT kernels and users' shaders) */
    uint32_t pipelines_created;   /**< pipelines built from SPIR-V, from the cache or not */
    uint32_t pipelines_compiled;  /**< those that the cache on disk did not hold */
    uint32_t validation_messages; /**< warnings and errors from the validation layer */
    uint64_t submissions;         /**< command buffer submissions, uploads included */
} weft_device_stats;

WEFT_API weft_status weft_device_get_stats(const weft_device *device, weft_device_stats *stats);

/** Sets stats.peak_bytes to what is in use now, so that it will be the peak of the work that follows. */
WEFT_API void weft_device_reset_peak(weft_device *device);

/** Writes the pipeline cache to disk now instead of at `_destroy`. */
WEFT_API weft_status weft_device_save_cache(weft_device *device);

/**
 * Frees device copies of weights and tables that no plan uses. They are kept otherwise, so that the next plan finds
 * them; the library does this by itself when device memory runs short.
 */
WEFT_API void weft_device_trim(weft_device *device);

#ifdef __cplusplus
}
#endif

#endif
