/* SPDX-License-Identifier: MIT */
/* The physical devices of an instance: what they are, whether Weft can use them, and choosing one.
 */
#ifndef WEFT_DEVICE_PHYSICAL_H
#define WEFT_DEVICE_PHYSICAL_H

#include "device/external.h"

#define WEFT_NO_FAMILY UINT32_MAX
/** Index of a device that was opened without a list of all. */
#define WEFT_INDEX_ALONE UINT32_MAX

struct weft_physical {
    VkPhysicalDevice handle;
    const struct weft_vk_instance *instance; /* the one that it was read from */
    weft_device_info info;
    uint32_t
        version; /* of Vulkan that may be used: the device's, or the instance's where that is less */
    uint32_t queue_family;   /* the one Weft uses; WEFT_NO_FAMILY when none computes */
    uint32_t timestamp_bits; /* of its counter: 0 without one, at most 64 */
    bool on_processor;       /* the processor does the work, by this library or by a driver */
    bool native;             /* … in code that this library compiles */
    bool interprets;         /* … in no code that is made for it */
    bool queries_wait;       /* as weft_device::queries_wait */
    bool portability_subset; /* has VK_KHR_portability_subset, which must then be enabled */
    bool host_memory;        /* has VK_EXT_external_memory_host */
    struct weft_external_extensions external; /* has these */
    bool robustness;                          /* has VK_EXT_pipeline_robustness, with its feature */
    bool subgroup_sizes,
        cooperative;   /* has VK_EXT_subgroup_size_control, VK_KHR_cooperative_matrix */
    bool executables;  /* has VK_KHR_pipeline_executable_properties, with its feature */
    bool integer_dots; /* has VK_KHR_shader_integer_dot_product, with its feature */
    /* Has VK_KHR_timeline_semaphore, VK_KHR_shader_float_controls, VK_KHR_shader_float16_int8 and VK_KHR_driver_properties, which
     * are part of Vulkan 1.2: before, they must be enabled to be used. */
    bool timeline_semaphore, float_controls, float16, driver_properties;
    bool timeline; /* timeline semaphores can be used; else submissions are counted by fences */
    uint32_t float_modes; /* execution modes for float32: flags of weft_float_mode */
    bool fma;             /* has VK_KHR_shader_fma, with its feature */
    bool float64;         /* computes in 64 bits: shaderFloat64 and shaderInt64 */
};

/**
 * Reads one device. `family` is the queue family of a caller's queue, or WEFT_NO_FAMILY to choose
 * one. A device that Weft cannot use is not an error: info.usable is false and info.reason says
 * why.
 */
weft_status weft_physical_read(struct weft_physical *physical,
                               const struct weft_vk_instance *instance, VkPhysicalDevice handle,
                               uint32_t index, uint32_t family, const weft_host *host);

/**
 * Appends all devices of an instance, in its order, to a list in host memory of *count devices (null when *count is 0),
 * which the caller frees also after an error.
 */
weft_status weft_physical_list(struct weft_physical **list, uint32_t *count,
                               const struct weft_vk_instance *instance, const weft_host *host);

/**
 * Chooses by weft_device_params::select among those that can be used or, for compiling only, among those that compile; errors are
 * weft_device_open's and name what there is.
 */
weft_status weft_physical_select(const struct weft_physical **chosen,
                                 const struct weft_physical *list, uint32_t count,
                                 const char *select, bool compile_only, const weft_host *host);

/** WEFT_NOT_FOUND with the reason if `select` is of a device of OpenCL's and there is none. */
weft_status weft_physical_expect(const struct weft_physical *list, uint32_t count,
                                 const char *select, const weft_host *host);

/**
 * True if the devices of weft_discover are not enough to choose by `select`: it names none of them or OpenCL's, or, where it is empty, none can be
 * used, or none is a GPU and there may be one.
 */
bool weft_physical_needs_more(const struct weft_physical *list, uint32_t count, const char *select);

/**
 * True if what is chosen by `select` may stand in for the processor device: that is there, and no device was named. Whoever names a driver in
 * software, or hides the processor device, wants that driver.
 */
bool weft_physical_stands_in(const struct weft_physical *list, uint32_t count, const char *select);

/** True if `select` is the name of a device of this library's own that is there: then no driver need be asked. */
bool weft_physical_is_own(const char *select, const weft_host *host);

/** Index of `handle` in the system's order; 0 when the system does not list it. */
weft_status weft_physical_index(uint32_t *index, const struct weft_vk_instance *instance,
                                VkPhysicalDevice handle, const weft_host *host);

#endif
