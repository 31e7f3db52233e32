/* SPDX-License-Identifier: MIT */
/*
 * Weft: sequence-mixing networks on any Vulkan 1.1 device.
 *
 * Tiers, lowest first; include only what you use:
 *   weft.h     status values, logging, allocation, shapes (this file)
 *   device.h   finding and opening devices
 *   buffer.h   device memory
 *   external.h device memory and semaphores that others have, too
 *   graph.h    building a graph of ops, compiling it to a plan, running it
 *   mixers.h   the token mixers, as graph ops; it includes all of mixers/, where they are by topic
 *   decode.h   the causal ones, one token at a time
 *   features.h the weight matrices of random features
 *   flt.h      the frequencies and weights of relative positions
 *   model.h    loading a checkpoint folder and its tokenizer
 *   inspect.h  what a plan consists of, for tools
 *   op.h       ops of your own, with kernels as GLSL or SPIR-V
 *   vulkan.h   embedding: adopt a VkDevice, wrap VkBuffers, record a plan (the only header that shows Vulkan types)
 *
 * Rules that hold everywhere:
 *   - every function that can fail returns weft_status; the out-parameter comes first and is untouched on failure;
 *   - the library never aborts, exits, prints, installs signal handlers, changes the locale or starts threads;
 *   - the float state of the calling thread (rounding, traps, subnormals, flags) changes no result and is left as it was;
 *   - `_destroy` takes the address of the handle, accepts a null handle, and nulls it;
 *   - parameter structs: zero means default, and a null pointer means all defaults. In C the macro of the same name
 *     makes one in place from one field or more: weft_device_open(&device, weft_device_params(.math = WEFT_MATH_FAST));
 *   - functions may be called from different threads on different objects; what one object allows is said at its type.
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
    WEFT_DRIVER_ERROR,  /**< the driver returned an error that is none of the above */
    WEFT_CANCELLED, /**< weft_host.interrupted said so: what was asked for is not done, and all objects are good */
    WEFT_STATUS_COUNT
} weft_status;

/** A constant name such as "WEFT_DEVICE_LOST"; never null, also for values outside the enum. Thread safe. */
WEFT_API const char *weft_status_name(weft_status status);

/** The library's version as "major.minor.patch". Thread safe. */
WEFT_API const char *weft_version(void);

typedef enum weft_log_level {
    WEFT_LOG_ERROR =
        0, /**< why a call failed: at least one such line comes before a failing status */
    WEFT_LOG_WARNING, /**< something unusual that was dealt with, such as a damaged cache file; validation messages */
    WEFT_LOG_INFO, /**< what was chosen: device, implementation */
    WEFT_LOG_DEBUG /**< details for people who work on Weft */
} weft_log_level;

/**
 * What the library gets from the program around it. Copied by value into every object made with it, so the callbacks and
 * their user pointers must outlive those objects. Zero: no log, and the C library's allocator. Every callback, the job
 * system's and those of weft/op.h included, is called in the default float state (C11, F.8.3), whatever the caller's is.
 *
 * No callback of any struct of these headers may leave its function in another way than by returning: the library is C, and a C++
 * exception or a longjmp that passes through it leaves locks taken and memory in use. weft.hpp catches what callbacks that it takes throw.
 */
typedef struct weft_host {
    /**
     * Called with one line without a newline, at most 1023 bytes of UTF-8, from whichever thread made the call. What a file or
     * a driver brought along is harmless in it: control, bidirectional and invisible characters and bytes that are no UTF-8
     * are escaped (\x1b, \u202e). Labels, names and texts that functions give are as the file has them. May be null.
     */
    void (*log)(void *user, weft_log_level level, const char *message);
    void *log_user;
    /** realloc semantics; size 0 frees and returns null. Must return memory aligned as malloc's. Null: realloc and free. */
    void *(*reallocate)(void *user, void *pointer, size_t size);
    void *allocator_user;
    /**
     * Whether a call that takes long is to end before its time: it then returns WEFT_CANCELLED, and undoes what it had begun, as for
     * any error. Asked by the thread that made the call, and only there: between pipelines and measurements of a compile, tensors of a
     * load, parts of a run, and every 50 ms or so while it waits or computes. What a cancelled run should have written (outputs,
     * the states of a decoder) is undefined; the plan, the device and all else can be used again. On the processor device a run
     * ends between two workgroups, and in kernels of others (op.h) between two turns of a loop. On other devices it
     * ends between two submissions of weft_plan_run or weft_plan_execute, each of which is held to weft_device_params.submission_limit_ms
     * (with this callback 500 on software drivers, too); what was submitted by weft_plan_submit goes on there, and only the wait
     * for it ends. Null: never. It must not call the library.
     */
    bool (*interrupted)(void *user);
    void *interrupted_user;
} weft_host;

/** Runs a part of a job, until nothing of it is left to begin. `slot` tells calls that go on at once from one another. */
typedef void (*weft_job)(void *job, uint32_t slot);

/** Threads of the program's own, for the processor device (device.h) to compute with: it then starts none for computing. */
typedef struct weft_job_system {
    /** Calls that may go on at once, 1 … 1024: as a rule, the threads there are, the caller's included. */
    uint32_t slots;
    void *user;
    /**
     * Calls work(job, slot) once for slots below `count` (at most `slots`), from any threads, and returns when all of these
     * calls have returned. Slot 0 must be called; others may be left out when everybody is busy, since one call alone finishes the
     * job. Called from one thread at a time per device: one that waits for the device, or one of the device's own.
     * Each call leaves its thread's float state as it was. A call that is one too many, or comes when `run` has returned, does nothing;
     * calls that still go on then are waited for; and where none was made, the calling thread does the job.
     *
     * Must return: neither a C++ exception nor a longjmp may leave it. Where one does all the same, the device is lost: calls
     * return WEFT_DEVICE_LOST, with a line in the log that says why, and everything can be destroyed.
     */
    void (*run)(void *user, weft_job work, void *job, uint32_t count);
} weft_job_system;

/** f16 and u8 are types of inputs and outputs alone: weft_graph_convert makes f32 of them, and them of f32. */
typedef enum weft_dtype { WEFT_F32 = 0, WEFT_I32 = 1, WEFT_F16 = 2, WEFT_U8 = 3 } weft_dtype;

/** "f32", "i32", "f16" or "u8". */
WEFT_API const char *weft_dtype_name(weft_dtype dtype);

/** Bytes of an element: 4, 4, 2 or 1; 0 for anything else. */
WEFT_API uint32_t weft_dtype_size(weft_dtype dtype);

#define WEFT_MAX_RANK 4

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

/** Whether rank and all axes are equal. */
WEFT_API bool weft_shape_equal(weft_shape a, weft_shape b);

/** Room for any shape's text. */
#define WEFT_SHAPE_TEXT_SIZE 56

/** Writes "[2, 512, 768]" to text, which holds WEFT_SHAPE_TEXT_SIZE bytes, and returns it. */
WEFT_API const char *weft_shape_text(weft_shape shape, char *text);

#ifdef __cplusplus
}
#endif

#endif
