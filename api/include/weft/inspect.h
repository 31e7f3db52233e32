/* SPDX-License-Identifier: MIT */
/*
 * The contents of a compiled plan, for tools: the memory that its dispatches bind, and each kernel with its module,
 * constants and operands. This is enough to run a plan elsewhere, as `weft verify --evaluate` does on the host, or to
 * pass its kernels to another compiler. See also weft_plan_get_dispatch and weft_plan_get_port.
 *
 * Pointers live as long as the plan. Dispatches, storages and bindings count from 0.
 * Errors: WEFT_NOT_FOUND past the last one, which is not logged; WEFT_INVALID_ARGUMENT for null.
 */
#ifndef WEFT_INSPECT_H
#define WEFT_INSPECT_H

#include <weft/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- memory ---- */

typedef enum weft_storage_kind {
    WEFT_STORAGE_ARENA = 0, /**< an intermediate tensor or scratch memory */
    WEFT_STORAGE_PORT,      /**< an input or output of the plan */
    WEFT_STORAGE_CONSTANT   /**< a weight or a table on the device */
} weft_storage_kind;

/** A range of memory that dispatches bind. */
typedef struct weft_storage_info {
    weft_storage_kind kind;
    uint64_t bytes;
    uint64_t offset; /**< of WEFT_STORAGE_ARENA: in the arena of weft_plan_info.arena_bytes */
    uint32_t port;   /**< of WEFT_STORAGE_PORT: index for weft_plan_get_port */
} weft_storage_info;

WEFT_API weft_status weft_plan_get_storage(const weft_plan *plan, uint32_t storage,
                                           weft_storage_info *info);

/**
 * Reads a WEFT_STORAGE_CONSTANT back from the device; `data` holds the storage's `bytes`. Waits for submitted work.
 * Errors: WEFT_INVALID_ARGUMENT for another storage; WEFT_DEVICE_LOST, driver errors.
 */
WEFT_API weft_status weft_plan_read_constant(const weft_plan *plan, uint32_t storage, void *data);

/* ---- kernels ---- */

typedef struct weft_kernel_info {
    const uint32_t *specialization; /**< constant_id i has value [i] */
    uint32_t specialization_count;
    const uint8_t *push; /**< constants */
    uint32_t push_bytes;
    uint32_t operand_count; /**< storage buffers at set 0, bindings 0 … operand_count - 1 */
    uint32_t subgroup;      /**< requested subgroup size in invocations; 0: the driver chooses */
} weft_kernel_info;

WEFT_API weft_status weft_plan_get_kernel(const weft_plan *plan, uint32_t dispatch,
                                          weft_kernel_info *info);

/** The memory at a binding of a dispatch. */
typedef struct weft_operand_info {
    uint32_t storage;
    uint64_t offset; /**< bytes, in the storage */
    uint64_t bytes;
    bool written; /**< and perhaps read */
} weft_operand_info;

WEFT_API weft_status weft_plan_get_operand(const weft_plan *plan, uint32_t dispatch,
                                           uint32_t binding, weft_operand_info *info);

typedef enum weft_module_form {
    WEFT_MODULE_OF_DEVICE = 0, /**< the words that the driver of the plan's device received */
    /**
     * Reproducible math only: the words that define the bits, the same on every device. They lack the additions that
     * make a driver follow them (float execution modes, flushing by instructions).
     */
    WEFT_MODULE_PORTABLE
} weft_module_form;

/**
 * The SPIR-V of a dispatch. *size is the size of `words` in bytes, and is set to the module's size; words may be null
 * to ask for the size alone.
 * Errors: WEFT_INVALID_ARGUMENT when `words` is too small; WEFT_UNSUPPORTED for WEFT_MODULE_PORTABLE of a plan in fast
 * math; WEFT_OUT_OF_HOST_MEMORY.
 */
WEFT_API weft_status weft_plan_get_module(const weft_plan *plan, uint32_t dispatch,
                                          weft_module_form form, uint32_t *words, size_t *size);

/* ---- a driver's compiled kernels ---- */

#define WEFT_EXECUTABLE_NAME_SIZE 256

/** A number that the compiler reports, such as registers; names and units are the driver's. A Boolean is 0 or 1. */
typedef struct weft_statistic {
    char name[WEFT_EXECUTABLE_NAME_SIZE];
    char description[WEFT_EXECUTABLE_NAME_SIZE];
    double value;
} weft_statistic;

/** An internal representation of the kernel, such as "Assembly". */
typedef struct weft_listing {
    char name[WEFT_EXECUTABLE_NAME_SIZE];
    char description[WEFT_EXECUTABLE_NAME_SIZE];
    const char *text;
} weft_listing;

/** The machine code of a kernel. If there are several, such as one for each subgroup size, it is the first. */
typedef struct weft_executable {
    char name[WEFT_EXECUTABLE_NAME_SIZE];
    uint32_t subgroup_size;
    uint32_t statistic_count;
    uint32_t listing_count;
    const weft_statistic *statistics;
    const weft_listing *listings;
} weft_executable;

/**
 * The report of VK_KHR_pipeline_executable_properties on a dispatch's kernel. Release it by weft_executable_destroy.
 * Errors: WEFT_UNSUPPORTED for a device that was opened without weft_device_params.executables;
 * WEFT_OUT_OF_HOST_MEMORY, driver errors.
 */
WEFT_API weft_status weft_plan_get_executable(weft_executable **executable, const weft_plan *plan,
                                              uint32_t dispatch);
WEFT_API void weft_executable_destroy(weft_executable **executable);

#ifdef __cplusplus
}
#endif

#endif
