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
     * Equal input bits give equal output bits on every conforming driver (the default). Arithmetic is float32 rounded
     * to nearest even after each operation, in an order that the shapes determine. A subnormal operand or result counts
     * as the zero of its sign. Infinities and NaN are those of IEEE 754, and a NaN in an output is 0x7fc00000. Ops that
     * only move elements (gather, reshape) keep all bits. Opening a device that cannot do this fails.
     */
    WEFT_MATH_REPRODUCIBLE = 0,
    /** Contraction, built-in functions and measured choices allowed; accurate, but bits differ between devices. */
    WEFT_MATH_FAST = 1,
    /**
     * As reproducible as WEFT_MATH_REPRODUCIBLE, with other bits: each fma(a, b, c) of a kernel is one operation that
     * rounds a · b + c once, where WEFT_MATH_REPRODUCIBLE rounds the product, too. That halves the arithmetic of
     * devices with such an instruction. Other devices compute it exactly by several instructions
     * (weft_device_info.fma), which takes longer.
     */
    WEFT_MATH_FUSED = 2
} weft_math;

/** "reproducible", "fast" or "fused". */
WEFT_API const char *weft_math_name(weft_math math);

/** Version of the bits of reproducible mode: raised by each release with other bits of any op (CHANGELOG.md, **Bits**). */
#define WEFT_BITS_VERSION 1

/**
 * How a device keeps constant operands of matrix products (mostly the weights of linear layers). Everything else is
 * always f32. So are embedding tables, unless they become bytes.
 *
 * f16 halves memory and bandwidth. Arithmetic stays f32 except on devices with weft_device_info.matrix_shapes. There a
 * product with an f16 weight may round the other tensor to f16, too, after scaling each row by a power of two that
 * keeps it in range; sums stay f32. To avoid this, keep weights as f32.
 *
 * Each weight is stored as f16 times a power of two of its own, rounded to nearest, so that no element overflows. A
 * weight stays f32 when it has elements that are not finite, or when more than 1 % of its non-zero elements are below
 * 2^-21 of its largest and would vanish. Every other element is off by at most 2^-11 of itself.
 * `weft verify --math fast` allows products with f16 weights a relative L2 error of 1e-3 against float64 (2e-4 is
 * usual).
 */
typedef enum weft_weight_storage {
    WEFT_WEIGHTS_AUTO = 0, /**< f16 in fast mode, f32 in the others */
    WEFT_WEIGHTS_F32 = 1,  /**< or as they are stored in 16 bits (weft_stored): not rounded */
    WEFT_WEIGHTS_F16 = 2,  /**< needs WEFT_MATH_FAST; works on every device */
    /**
     * In any math mode: matrices that only products and embeddings read become bytes with a scale for each row or
     * column, as WEFT_STORED_I8 of weft_stored. weft_weight_quantize makes the same bytes. Weights with elements that
     * are not finite stay as they are.
     */
    WEFT_WEIGHTS_I8 = 3,
    WEFT_WEIGHTS_I8_ONLY =
        4 /**< as WEFT_WEIGHTS_I8, with WEFT_STORED_I8_ONLY: the other factor of products remains f32 */
} weft_weight_storage;

/** "auto", "f32", "f16", "int8" or "int8-only". */
WEFT_API const char *weft_weight_storage_name(weft_weight_storage storage);

typedef enum weft_device_type {
    WEFT_DEVICE_DISCRETE = 0,
    WEFT_DEVICE_INTEGRATED,
    WEFT_DEVICE_VIRTUAL,
    WEFT_DEVICE_PROCESSOR, /**< the processor, used by this library without a driver */
    /** A driver that runs on the processor, or this library without LLVM: its speed says nothing about a GPU */
    WEFT_DEVICE_SOFTWARE,
    WEFT_DEVICE_OTHER
} weft_device_type;

/** "discrete", "integrated", "virtual", "processor", "software" or "other". */
WEFT_API const char *weft_device_type_name(weft_device_type type);

/** Sizes of a matrix product that a subgroup computes at once: m×k by k×n. */
typedef struct weft_matrix_shape {
    uint32_t m, n, k;
} weft_matrix_shape;

#define WEFT_MAX_MATRIX_SHAPES 8

/** How a device computes fma(a, b, c) with one rounding. */
typedef enum weft_fma {
    WEFT_FMA_NONE = 0, /**< not known: the device is not open, or its math is not WEFT_MATH_FUSED */
    WEFT_FMA_INSTRUCTION, /**< by its instruction, which the probe has tried */
    WEFT_FMA_EXTENSION, /**< by the instruction of VK_KHR_shader_fma, which the probe has tried, too */
    WEFT_FMA_FLOAT64, /**< by several operations on 64-bit floats */
    WEFT_FMA_INTEGERS /**< by many operations on 32-bit integers */
} weft_fma;

/** "none", "instruction", "extension", "float64" or "integers". */
WEFT_API const char *weft_fma_name(weft_fma fma);

/** Properties of a device. A limit of 0 means unsupported. */
typedef struct weft_device_info {
    /**
     * Position in the system's list; stable as long as the set of drivers is. UINT32_MAX for the processor if it was
     * opened as "processor", without that list. weft_device_params.select accepts this number, too.
     */
    uint32_t index;
    char name[256];
    char driver[256];         /**< driver name, such as "llvmpipe" */
    char driver_version[256]; /**< the driver's own version text */
    weft_device_type type;
    uint32_t vendor_id;
    uint32_t device_id;
    uint32_t api_version[3]; /**< Vulkan major, minor, patch */
    uint32_t subgroup_size;  /**< invocations; never shows in reproducible results */
    uint32_t threads;        /**< of the processor device for computing; 0 on other devices */
    /** Has subgroup arithmetic in compute shaders; without it fast mode uses the reproducible kernels for sums. */
    bool has_subgroup_arithmetic;
    /** Computes in f16 (shaderFloat16). Weft enables it in fast mode, never on adopted devices. */
    bool has_f16_arithmetic;
    /**
     * Has an instruction for sums of products of four bytes (VK_KHR_shader_integer_dot_product). Without it several
     * instructions compute them. Not used on adopted devices.
     */
    bool has_integer_dot_product;
    /**
     * The subgroup sizes that kernels of fast mode can request (VK_EXT_subgroup_size_control): powers of two in this
     * range. Both are 0 if none can be requested, as on adopted devices.
     */
    uint32_t least_subgroup, most_subgroup;
    /**
     * Sizes at which subgroups multiply f16 matrices with f32 sums (VK_KHR_cooperative_matrix); zeros follow the last
     * one. Products with f16 weights may use them in fast mode. Adopted devices have those of weft_device_adopt_params.
     */
    weft_matrix_shape matrix_shapes[WEFT_MAX_MATRIX_SHAPES];
    /**
     * Sizes for signed bytes with int32 sums, laid out like matrix_shapes. These sums are exact: products of int8 may
     * use them in every math mode.
     */
    weft_matrix_shape integer_matrix_shapes[WEFT_MAX_MATRIX_SHAPES];
    uint32_t max_workgroup_invocations;
    uint32_t max_shared_memory;       /**< bytes a workgroup may use */
    uint64_t max_storage_buffer_size; /**< bytes of one binding */
    uint64_t device_memory;           /**< bytes of the largest device-local heap */
    double timestamp_period_ns;       /**< 0: no time stamps on its compute queue */
    /** Alignment in bytes of host memory for weft_buffer_wrap_host; 0: unsupported, as on adopted devices. */
    uint64_t host_memory_alignment;
    bool has_pipeline_feedback; /**< reports whether a pipeline came from the cache */
    /** Reports the compiler's output for kernels, see weft_device_params.executables */
    bool has_executables;
    bool usable;   /**< has everything that Weft needs */
    bool compiles; /**< usable, or lacks only memory: see weft_device_params.compile_only */
    /**
     * Opened only if weft_device_params.select names it. This holds for an OpenCL device that its vendor's Vulkan
     * driver also serves, for OpenCL on the processor, and for OpenCL on top of a Vulkan driver. Always false if the
     * environment has WEFT_OPENCL=1.
     */
    bool by_name_only;
    char reason[256]; /**< when not usable: the missing feature */
    uint8_t uuid[16]; /**< the driver's pipeline cache identity */
    /**
     * How an open device with WEFT_MATH_FUSED rounds once. The environment variable WEFT_FMA, one of the names of
     * weft_fma but "none", overrides the choice; a device that then rounds otherwise is not opened.
     */
    weft_fma fma;
    /**
     * Identify device and driver in every process and API of this machine (VkPhysicalDeviceIDProperties). Weft makes
     * those of OpenCL devices and of the processor itself.
     */
    uint8_t device_uuid[16], driver_uuid[16];
    bool has_luid;         /**< Windows' name of the adapter */
    uint8_t luid[8];       /**< byte by byte as in DXGI and Vulkan; zeros without has_luid */
    bool has_pci;          /**< the driver reports the PCI address (VK_EXT_pci_bus_info) */
    uint32_t pci_place[4]; /**< domain, bus, device, function: 0000:01:00.0 is {0, 1, 0, 0} */
    bool
        has_memory_budget; /**< the driver reports a memory budget for this process (VK_EXT_memory_budget) */
    bool interpreted; /**< it interprets its kernels: the processor device without LLVM */
    /**
     * Reason why the device is far slower than this machine could be, and the remedy; empty if it is not slow.
     * Opening a device that interprets its kernels logs this as a warning. So does a software driver that was chosen,
     * not named, because the processor device lacks LLVM.
     */
    char slow[512];
} weft_device_info;

/**
 * Lists the system's devices: those of Vulkan drivers, the processor, and OpenCL's (see by_name_only; none if the environment has WEFT_OPENCL=0). Writes up to *count entries to
 * infos (may be null when *count is 0) and sets *count to the number of devices. Without a Vulkan loader or driver the
 * processor is the only device. It is missing if the environment has WEFT_PROCESSOR=0. Without LLVM it interprets its
 * kernels, slowly (weft_device_info.slow). Without any device the result is WEFT_OK with *count 0. Devices that compile for the processor are not
 * usable if the system forbids this process to execute code that it generated. host may be null. Thread safe.
 */
WEFT_API weft_status weft_device_list(weft_device_info *infos, uint32_t *count,
                                      const weft_host *host);

/**
 * One opened device with its queue, memory, pipelines and caches.
 * Thread safety: several threads may use a device at once, each with its own buffers, plans and models. They may
 * compile, load, submit, execute, read, write, destroy, trim, save the cache, read the counters and cancel. Calls that
 * take the same buffer, model or plan (with its bindings) must not overlap. No other call may overlap
 * weft_device_destroy. All these threads call the callbacks of `host`, also while the library holds a lock; the
 * callbacks must not call the library.
 *
 * Fork: a child process may destroy objects that were made before the fork. This frees host memory, waits for nothing
 * and calls no driver. The processor device continues in the child with plans and buffers as they were at the fork,
 * and starts new threads when it needs them; the program restarts the threads of `jobs`. If a run was in progress at
 * the fork, or another thread was inside a call on the processor device, calls on that device return WEFT_DEVICE_LOST
 * in the child. Its memory is then freed when the process ends. Calls on all other devices, adopted ones included,
 * always return WEFT_DEVICE_LOST in the child: a driver that the parent uses need not work there, nor return. Open
 * such devices after the fork, or start the child by spawn or exec. A child never waits for its parent's threads, and
 * the parent is not affected. Exported buffers stay shared. A child that is forked in a callback of the library must
 * exit or exec without returning from the callback.
 *
 * Reference rule: destroy buffers, plans and models before their device.
 */
typedef struct weft_device weft_device;

typedef struct weft_device_params {
    weft_host host;
    weft_math math;
    weft_weight_storage weights;
    /**
     * Which device to open. Null or "" prefers discrete over integrated over the processor over software. A number is
     * an index of weft_device_list. Any other text is matched against the names of devices and drivers, ignoring
     * case, and must match a device. "processor" is the processor device: no Vulkan or OpenCL driver is loaded.
     * "opencl:TEXT" is an OpenCL device whose name or platform contains TEXT. "uuid:", "luid:" and "pci:" precede a
     * device_uuid, luid or pci_place of weft_device_info, such as "pci:0000:01:00.0". Null tries OpenCL only in two
     * cases: no other device is usable; or only the processor is, and the system shows a GPU or has WEFT_OPENCL=1.
     */
    const char *select;
    /**
     * Turns on the Khronos validation layer, with its hazard checks, if it is installed. Its messages go to the log and
     * are counted. The environment variable WEFT_VALIDATION=1 turns it on for every device. It cannot check the
     * processor device, which has no loader.
     */
    bool validation;
    /** Largest number of device bytes that may be in use at once; 0: no limit but the device's own. */
    uint64_t memory_limit;
    /**
     * Folder for compiled shaders. Null: $XDG_CACHE_HOME/weft or ~/.cache/weft, on Windows %LOCALAPPDATA%/weft/cache;
     * "": nothing is kept on disk. A relative path starts at the working folder of this call; WEFT_IO_ERROR if that
     * folder is gone.
     *
     * The folder contains machine code that will be executed: it must be as trusted as the program. Weft creates it
     * for this user only (0700, files 0600). It uses the folder only under three conditions: the folder is not a
     * link; folder and file belong to the effective user or to root (for root: to root); nobody else may write to
     * them. On Windows owner and access list are checked alike, with SYSTEM and Administrators in place of root.
     * Otherwise a warning names the fault, and Weft compiles everything anew. Parent folders may be links. Weft looks
     * for missing kernels in the folder weft-kernels that may be installed with the library: beside the library, or
     * among the libraries beside a program's folder. Without a cache folder, as a service has none whose environment
     * names no home, these are all that it finds.
     */
    const char *cache_dir;
    /**
     * Longest estimated time of one submission in milliseconds, so that no watchdog fires. 0: 500 on hardware;
     * unlimited on the processor and on software drivers, which have no watchdog. With weft_host.interrupted, which is
     * called between submissions, 0 means 500 on software drivers, too.
     */
    uint32_t submission_limit_ms;
    /**
     * Threads of the processor device for computing, at most 1024, the waiting thread included. 0: as many as the
     * environment variable WEFT_PROCESSOR_THREADS says, else as many processors as this process may use by its affinity
     * and CPU quota. Other devices ignore this and `jobs`.
     */
    uint32_t threads;
    const weft_job_system
        *jobs; /**< copied; replaces `threads`. Null: the device starts its own threads */
    /**
     * Opens the device for compiling only, for hardware that is absent: RADV without a GPU, or any driver on a shim.
     * Plans are compiled with all their pipelines and can be inspected. Nothing is probed, timed or uploaded; calls
     * that need memory or a queue fail with WEFT_UNSUPPORTED. Where kernels would be timed, the one with the least
     * expected time is taken.
     */
    bool compile_only;
    /**
     * Asks the driver to keep its compiler's output for each kernel, for weft_plan_get_executable. cache_dir is then
     * neither read nor written. Needs weft_device_info.has_executables, else WEFT_UNSUPPORTED.
     */
    bool executables;
    /**
     * Most bytes of the entries in cache_dir, each counted in blocks of 4 KiB; 0: 512 MiB. Above this the entries least
     * recently read or written are removed first; these times are known to the hour. Weft checks the size when it
     * writes the first entry, and then after each sixteenth of the limit, by which each process may exceed it. Entries
     * larger than the limit are not kept.
     */
    uint64_t cache_limit;
} weft_device_params;

#ifndef __cplusplus
#define weft_device_params(...) (&(weft_device_params){__VA_ARGS__})
#endif

/**
 * Opens a device. Errors: WEFT_NO_DEVICE if no device is usable; WEFT_NOT_FOUND if `select` matches none (the log lists
 * them); WEFT_UNSUPPORTED if the selected device lacks something or fails the reproducibility probe;
 * WEFT_INVALID_ARGUMENT for f16 weights in another mode than WEFT_MATH_FAST.
 */
WEFT_API weft_status weft_device_open(weft_device **device, const weft_device_params *params);

/** Waits for the device's work and releases the device. An adopted VkDevice stays alive: it belongs to its owner. */
WEFT_API void weft_device_destroy(weft_device **device);

/**
 * Abandons a device. The current run ends as soon as it can. Waiting calls return WEFT_DEVICE_LOST within 50 ms, later
 * calls at once, and everything can be destroyed. On the processor device a run ends between two workgroups. Kernels
 * from op.h, which may loop forever, also end between two iterations of a loop; `unchecked` kernels and a workgroup of
 * Weft's own that has started run to their end. On other devices work that was submitted cannot be stopped: no more is
 * submitted, and the `_destroy` functions wait for it, on hung hardware until the driver gives up. Any thread may call
 * this before weft_device_destroy begins, also a signal handler: it sets atomic variables and returns. Null is
 * accepted.
 */
WEFT_API void weft_device_cancel(weft_device *device);

WEFT_API weft_status weft_device_get_info(const weft_device *device, weft_device_info *info);

WEFT_API weft_math weft_device_get_math(const weft_device *device);

/** Counters since the device was opened. */
typedef struct weft_device_stats {
    uint64_t bytes_in_use; /**< device memory held now by buffers, weights and plans */
    uint64_t peak_bytes;   /**< largest bytes_in_use since opening or weft_device_reset_peak */
    /** GLSL texts compiled to SPIR-V at run time: generated FFT kernels and users' shaders */
    uint32_t shaders_compiled;
    uint32_t pipelines_created;   /**< pipelines built from SPIR-V, from the cache or not */
    uint32_t pipelines_compiled;  /**< of these, those missing from the cache on disk */
    uint32_t validation_messages; /**< warnings and errors from the validation layer */
    uint64_t submissions;         /**< command buffer submissions, uploads included */
    /**
     * Bytes of the device's own heaps that this process may use now, and that it uses, by Weft or otherwise, as the
     * driver reports them (VK_EXT_memory_budget); else 0. Weft never exceeds a heap's budget: it takes the next heap,
     * or fails.
     */
    uint64_t memory_budget, memory_used;
} weft_device_stats;

WEFT_API weft_status weft_device_get_stats(const weft_device *device, weft_device_stats *stats);

/** Sets stats.peak_bytes to the bytes in use now, to measure the peak of later work. */
WEFT_API void weft_device_reset_peak(weft_device *device);

/** Writes the pipeline cache to disk now instead of at `_destroy`. */
WEFT_API weft_status weft_device_save_cache(weft_device *device);

/**
 * Frees device copies of weights and tables that no plan uses. Otherwise they stay for later plans; the library frees
 * them by itself when device memory runs short.
 */
WEFT_API void weft_device_trim(weft_device *device);

#ifdef __cplusplus
}
#endif

#endif
