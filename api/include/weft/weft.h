/* SPDX-License-Identifier: MIT */
/*
 * Weft: sequence-mixing networks on any Vulkan or OpenCL device and on processors, with the same bits from each.
 *
 * Tiers, lowest first; include only what you use:
 *   weft.h     status values, logging, allocation, shapes (this file)
 *   device.h   finding and opening devices
 *   buffer.h   device memory
 *   external.h device memory and semaphores shared with other libraries and processes
 *   graph.h    building a graph of ops, compiling it to a plan, running it
 *   arithmetic.h functions of elements, reductions, softmax over any axis
 *   movement.h ops that move elements: permutations, slices, and others
 *   mixers.h   the token mixers, as graph ops; includes all of mixers/, which has them by topic
 *   decode.h   the causal mixers, one token at a time
 *   features.h the weight matrices of random features
 *   flt.h      the frequencies and weights of relative positions
 *   model.h    loading a checkpoint folder and its tokenizer
 *   texts.h    many texts through a model, whatever their lengths
 *   generate.h texts that language models make
 *   speech.h   what is said in a sound
 *   receipt.h  what a computation read, went through and gave, as hashes that another device can make again
 *   inspect.h  the contents of a plan, for tools
 *   op.h       ops of your own, with kernels as GLSL or SPIR-V
 *   vulkan.h   embedding: adopt a VkDevice, wrap VkBuffers, record a plan (the only header that shows Vulkan types)
 *   opencl.h   embedding: adopt a cl_context, wrap cl_mem (the only header that shows OpenCL types)
 *
 * Rules that hold everywhere:
 *   - every function that can fail returns weft_status; the out-parameter comes first and is untouched on failure;
 *   - null where it is not allowed is WEFT_INVALID_ARGUMENT, and the log names the parameter; other functions then do nothing,
 *     or return nothing;
 *   - the library never aborts, exits, prints, installs signal handlers, changes the locale or starts threads;
 *   - the float state of the calling thread (rounding, traps, subnormals, flags) changes no result and is preserved;
 *   - `_destroy` takes the address of the handle, accepts a null handle, and nulls it;
 *   - parameter structs: zero means default, and a null pointer means all defaults. In C the macro of the same name
 *     makes one in place from one field or more: weft_device_open(&device, weft_device_params(.math = WEFT_MATH_FAST));
 *   - different threads may use different objects; each type documents its own thread safety.
 */
#ifndef WEFT_WEFT_H
#define WEFT_WEFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(WEFT_SHARED) && (defined(_WIN32) || defined(__CYGWIN__))
#ifdef WEFT_BUILDING
#define WEFT_API __declspec(dllexport)
#else
#define WEFT_API __declspec(dllimport)
#endif
#elif defined(__GNUC__)
#define WEFT_API __attribute__((visibility("default")))
#else
#define WEFT_API
#endif

#define WEFT_VERSION_MAJOR 0
#define WEFT_VERSION_MINOR 1
#define WEFT_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

/** How a call ended. The details (which name, which value) go to the log callback of the object's host. */
typedef enum weft_status {
    WEFT_OK = 0,
    WEFT_INVALID_ARGUMENT,     /**< a parameter is outside its documented range */
    WEFT_SHAPE_MISMATCH,       /**< tensor shapes or types do not fit the op */
    WEFT_NOT_FOUND,            /**< no tensor, op, device or file of that name */
    WEFT_OUT_OF_HOST_MEMORY,   /**< the allocator returned null */
    WEFT_OUT_OF_DEVICE_MEMORY, /**< the device, or the limit set at opening, has too little memory */
    WEFT_NO_DEVICE,            /**< no usable Vulkan device, loader or driver */
    WEFT_UNSUPPORTED,          /**< the device or this build lacks something that was asked for */
    WEFT_DEVICE_LOST,   /**< the device is gone; sticky: only `_destroy` still does anything */
    WEFT_BAD_FILE,      /**< a file's contents are malformed or do not fit */
    WEFT_IO_ERROR,      /**< a file could not be read or written */
    WEFT_COMPILE_ERROR, /**< a shader given or generated at run time does not compile */
    WEFT_DRIVER_ERROR,  /**< the driver returned another error */
    /** weft_host.interrupted returned true: the call is incomplete, and all objects stay valid */
    WEFT_CANCELLED,
    WEFT_STATUS_COUNT
} weft_status;

/** A constant name such as "WEFT_DEVICE_LOST"; never null, also for values outside the enum. Thread safe. */
WEFT_API const char *weft_status_name(weft_status status);

/** The library's version as "major.minor.patch". Thread safe. */
WEFT_API const char *weft_version(void);

/**
 * Description of the build for bug reports: commit, build type, and versions of the compiled-in libraries. Thread
 * safe.
 */
WEFT_API const char *weft_build(void);

typedef enum weft_log_level {
    WEFT_LOG_ERROR =
        0, /**< why a call failed: at least one such line comes before a failing status */
    WEFT_LOG_WARNING, /**< something unusual that was dealt with, such as a damaged cache file; validation messages */
    WEFT_LOG_INFO, /**< what was chosen: device, implementation */
    WEFT_LOG_DEBUG /**< details for people who work on Weft */
} weft_log_level;

/**
 * Callbacks of the program that uses the library. The struct is copied into every object made with it, so the callbacks
 * and their user pointers must outlive those objects. Zero: no log, and the C library's allocator. The library calls
 * every callback, those of the job system and of weft/op.h included, in the default float state (C11, F.8.3).
 *
 * Every callback in these headers must return. The library is C: a C++ exception or a longjmp through it leaves locks
 * held and memory in use. weft.hpp catches exceptions that its callbacks throw.
 */
typedef struct weft_host {
    /**
     * Called with one line without a newline, at most 1023 bytes of UTF-8, by the thread that made the call. Text from
     * files and drivers is escaped in it: control, bidirectional and invisible characters, and bytes that are not UTF-8,
     * as C writes them. Labels, names and texts that functions return are not escaped. May be null.
     */
    void (*log)(void *user, weft_log_level level, const char *message);
    void *log_user;
    /** realloc semantics; size 0 frees and returns null. Must return memory aligned as malloc's. Null: realloc and free. */
    void *(*reallocate)(void *user, void *pointer, size_t size);
    void *allocator_user;
    /**
     * Return true to cancel a long call. The call then undoes what it began, as after any error, and returns
     * WEFT_CANCELLED. The thread that made the call asks between pipelines and measurements of a compile, between
     * tensors of a load and between parts of a run. It also asks about every 50 ms while it waits or computes, and
     * every few milliseconds while it reads a tokenizer or cuts a text. The outputs of a cancelled run and the states
     * of a decoder are undefined; the plan, the device and everything else stay usable. Null: never cancel. The
     * callback must not call the library.
     *
     * On the processor device a run ends between two workgroups, and in kernels from op.h between two iterations of a
     * loop. On other devices weft_plan_run and weft_plan_execute end between two submissions. Each submission is held
     * to weft_device_params.submission_limit_ms (with this callback 500 on software drivers, too). A run submitted by
     * weft_plan_submit goes on there; only the wait for it ends.
     */
    bool (*interrupted)(void *user);
    void *interrupted_user;
} weft_host;

/** Works on `job` until all of its items have started. Concurrent calls have different values of `slot`. */
typedef void (*weft_job)(void *job, uint32_t slot);

/** Lends the program's threads to the processor device (device.h), which then starts none for computing. */
typedef struct weft_job_system {
    /** Most concurrent calls, 1 … 1024: usually the number of threads, the caller's included. */
    uint32_t concurrency;
    void *user;
    /**
     * Calls work(job, slot) once for each slot below `count` (at most `concurrency`), from any threads, and returns when all
     * of these calls have returned. It must call slot 0. It may leave out other slots when threads are busy, since one
     * call finishes the job. For each device, one thread at a time calls `run`: one that waits for the device, or one
     * of the device's own. `work` leaves its thread's float state as it was. A surplus call of `work`, or one after
     * `run` has returned, does nothing. If calls are still in progress when `run` returns, the library waits for them;
     * if there was no call, the calling thread does the job.
     *
     * Neither a C++ exception nor a longjmp may leave `run`. If one does, the device is lost: calls return
     * WEFT_DEVICE_LOST, a line in the log says why, and everything can be destroyed.
     */
    void (*run)(void *user, weft_job work, void *job, uint32_t count);
} weft_job_system;

/** Only inputs and outputs may be f16 or u8; weft_graph_convert converts them to and from f32. */
typedef enum weft_dtype { WEFT_F32 = 0, WEFT_I32 = 1, WEFT_F16 = 2, WEFT_U8 = 3 } weft_dtype;

/** "f32", "i32", "f16" or "u8". */
WEFT_API const char *weft_dtype_name(weft_dtype dtype);

/** Bytes of an element: 4, 4, 2 or 1; 0 for anything else. */
WEFT_API uint32_t weft_dtype_size(weft_dtype dtype);

#define WEFT_MAX_RANK 8

/** Extent of each axis, outermost first; tensors are dense and row-major. Rank 0 is a scalar. No axis may be 0. */
typedef struct weft_shape {
    uint32_t rank;
    uint32_t dim[WEFT_MAX_RANK];
} weft_shape;

#ifndef __cplusplus
/** weft_shape_of(2, 512, 768) is the shape [2, 512, 768]; one to four axes. */
#define weft_shape_of(...)                                                                  \
    ((weft_shape){.rank = (uint32_t)(sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)), \
                  .dim = {__VA_ARGS__}})
#endif

/** Number of elements; 1 for a scalar. Saturates at UINT64_MAX. */
WEFT_API uint64_t weft_shape_elements(weft_shape shape);

/** True if rank and all axes are equal. */
WEFT_API bool weft_shape_equal(weft_shape a, weft_shape b);

/** Room for any shape's text. */
#define WEFT_SHAPE_TEXT_SIZE 104

/** Writes text such as "[2, 512, 768]" to `text`, which has WEFT_SHAPE_TEXT_SIZE bytes, and returns it. */
WEFT_API const char *weft_shape_text(weft_shape shape, char *text);

#ifdef __cplusplus
}
#endif

#endif
