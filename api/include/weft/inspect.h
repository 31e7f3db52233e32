/* SPDX-License-Identifier: MIT */
/*
 * What a compiled plan consists of, for tools: the memory that its dispatches bind, and the kernel of each with its
 * module, constants and operands. That is all that it takes to run a plan elsewhere, as `weft verify --evaluate` does
 * on the host, or to hand its kernels to another compiler. See also weft_plan_get_dispatch and weft_plan_get_port.
 *
 * Pointers live as long as the plan. Dispatches, storages and bindings count from 0; past the last one the answer is
 * WEFT_NOT_FOUND, which is not logged. WEFT_INVALID_ARGUMENT for null.
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

/** A stretch of memory that dispatches bind. */
typedef struct weft_storage_info {
    weft_storage_kind kind;
    uint64_t bytes;
    uint64_t offset; /**< of WEFT_STORAGE_ARENA: in the arena of weft_plan_info.arena_bytes */
    uint32_t port;   /**< of WEFT_STORAGE_PORT: its index for weft_plan_get_port */
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
    uint32_t subgroup; /**< invocations of a subgroup that the driver is asked for; 0: it chooses */
} weft_kernel_info;

WEFT_API weft_status weft_plan_get_kernel(const weft_plan *plan, uint32_t dispatch,
                                          weft_kernel_info *info);

/** What a binding of a dispatch is. */
typedef struct weft_operand_info {
    uint32_t storage;
    uint64_t offset; /**< bytes, in the storage */
    uint64_t bytes;
    bool written; /**< and perhaps read */
} weft_operand_info;

WEFT_API weft_status weft_plan_get_operand(const weft_plan *plan, uint32_t dispatch,
                                           uint32_t binding, weft_operand_info *info);

typedef enum weft_module_form {
    WEFT_MODULE_OF_DEVICE = 0, /**< the words that the driver of the plan's device got */
    /**
     * Reproducible math only: the words that define the bits, the same on every device; before what a driver needs in
     * order to keep to them (float execution modes, flushing by instructions) is added.
     */
    WEFT_MODULE_PORTABLE
} weft_module_form;

/**
 * The SPIR-V of a dispatch. *size is how many bytes `words` holds, and becomes how many the module has; words may be
 * null, for that number alone. Errors: WEFT_INVALID_ARGUMENT when words are too few; WEFT_UNSUPPORTED for
 * WEFT_MODULE_PORTABLE of a plan in fast math; WEFT_OUT_OF_HOST_MEMORY.
 */
WEFT_API weft_status weft_plan_get_module(const weft_plan *plan, uint32_t dispatch,
                                          weft_module_form form, uint32_t *words, size_t *size);

/* ---- what a driver's compiler made of kernels ---- */

#define WEFT_EXECUTABLE_NAME_SIZE 256

/** A number that the compiler tells, such as of registers; names and units are the driver's. A truth value is 0 or 1. */
typedef struct weft_statistic {
    char name[WEFT_EXECUTABLE_NAME_SIZE];
    char description[WEFT_EXECUTABLE_NAME_SIZE];
    double value;
} weft_statistic;

/** A form that the kernel had on its way, such as "Assembly". */
typedef struct weft_listing {
    char name[WEFT_EXECUTABLE_NAME_SIZE];
    char description[WEFT_EXECUTABLE_NAME_SIZE];
    const char *text;
} weft_listing;

/** The machine code of a kernel; of several, such as one for each subgroup size, the first. */
typedef struct weft_executable {
    char name[WEFT_EXECUTABLE_NAME_SIZE];
    uint32_t subgroup_size;
    uint32_t statistic_count;
    uint32_t listing_count;
    const weft_statistic *statistics;
    const weft_listing *listings;
} weft_executable;

/**
 * What VK_KHR_pipeline_executable_properties tells of a dispatch's kernel, to be given back to weft_executable_destroy. Errors:
 * WEFT_UNSUPPORTED for a device that was opened without weft_device_params.executables; WEFT_OUT_OF_HOST_MEMORY, driver errors.
 */
WEFT_API weft_status weft_plan_get_executable(weft_executable **executable, const weft_plan *plan,
                                              uint32_t dispatch);
WEFT_API void weft_executable_destroy(weft_executable **executable);

#ifdef __cplusplus
}
#endif

#endif
