/* SPDX-License-Identifier: MIT */
/* Listing the system's devices, and opening one with our own instance and VkDevice. */
#include "core/given.h"
#include "core/math/float_state.h"
#include "core/rules.h"
#include "core/system/write_signals.h"
#include "core/try.h"
#include "device/cooperative.h"
#include "device/debug_label.h"
#include "device/discover.h"
#include "device/executable.h"
#include "device/result.h"
#include "device/robustness.h"
#include "device/setup.h"
#include "device/shader_fma.h"
#include "device/slow.h"
#include "device/validation.h"
#include "native/kernel.h"
#include "softvk/softvk.h"

weft_status weft_device_list(weft_device_info *infos, uint32_t *count, const weft_host *host) {
    WEFT_ENTER;
    WEFT_GIVEN(host, count);
    WEFT_GIVEN_LIST(host, infos, *count);
    struct weft_discovery discovery;
    weft_native_try_compiler();
    weft_status status = weft_discover(&discovery, host, NULL, NULL);
    if (status == WEFT_OK) {
        status = weft_discover_slow(&discovery, host);
    }
    for (uint32_t i = 0; status == WEFT_OK && i < discovery.count && i < *count; i++) {
        infos[i] = discovery.list[i].info;
    }
    if (status == WEFT_OK) {
        *count = discovery.count;
    }
    weft_discovery_end(&discovery, host, NULL);
    return status;
}

/* For cooperative matrices; and `weft bench` measures it. */
static bool uses_f16(const weft_device *device, const struct weft_physical *physical) {
    return device->math == WEFT_MATH_FAST && physical->info.has_f16_arithmetic;
}

/* Those of bytes add up exactly, so that they are for every mode. */
static bool uses_matrices_of_bytes(const weft_device *device) {
    return device->info.integer_matrix_shapes[0].m != 0;
}

static bool uses_matrices(const weft_device *device, const struct weft_physical *physical) {
    return uses_matrices_of_bytes(device) ||
           (uses_f16(device, physical) && device->info.matrix_shapes[0].m != 0);
}

static bool uses_subgroup_sizes(const weft_device *device, const struct weft_physical *physical) {
    return device->info.most_subgroup != 0 &&
           (uses_f16(device, physical) || uses_matrices_of_bytes(device));
}

static bool uses_float16_int8(const weft_device *device, const struct weft_physical *physical) {
    return uses_f16(device, physical) || uses_matrices_of_bytes(device);
}

enum { MAX_EXTENSIONS = 15 };

static uint32_t choose_extensions(const char *extensions[MAX_EXTENSIONS], const weft_device *device,
                                  const struct weft_physical *physical) {
    const bool before_1_2 = physical->version < VK_API_VERSION_1_2;
    const struct {
        const char *name;
        bool wanted;
    } choices[MAX_EXTENSIONS] = {
        {VK_EXT_PIPELINE_CREATION_FEEDBACK_EXTENSION_NAME, physical->info.has_pipeline_feedback},
        {"VK_KHR_portability_subset", physical->portability_subset},
        {VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME, physical->info.host_memory_alignment != 0},
        {WEFT_EXTERNAL_MEMORY_EXTENSION, physical->external.memory},
        {VK_EXT_EXTERNAL_MEMORY_DMA_BUF_EXTENSION_NAME,
         physical->external.memory && physical->external.dma_buf},
        {WEFT_EXTERNAL_SEMAPHORE_EXTENSION, physical->external.semaphore},
        {weft_robustness_extension(), physical->robustness},
        {VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME, device->executables},
        {VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME, uses_subgroup_sizes(device, physical)},
        {WEFT_COOPERATIVE_EXTENSION, uses_matrices(device, physical)},
        {WEFT_SHADER_FMA_EXTENSION, device->fma_extension},
        {VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME, physical->integer_dots},
        {VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME, before_1_2 && physical->timeline},
        {VK_KHR_SHADER_FLOAT_CONTROLS_EXTENSION_NAME, before_1_2 && physical->float_controls},
        {VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME, before_1_2 && uses_f16(device, physical)},
    };
    uint32_t count = 0;
    for (uint32_t i = 0; i < MAX_EXTENSIONS; i++) {
        if (choices[i].wanted) {
            extensions[count++] = choices[i].name;
        }
    }
    return count;
}

/*
 * With timeline semaphores where there are any, memory of the host and of others, dot products of bytes, bounds checks for kernels that are
 * not its own, cooperative matrices of bytes where there are any, with sizes of subgroups, in fast mode these of f16, too, and f16 arithmetic,
 * and in fused mode what an exact Fma may be made by. Nothing else is turned on, so nothing else can come to matter.
 */
static weft_status create_device(weft_device *device, const struct weft_physical *physical,
                                 const struct weft_soft_jobs_info *jobs) {
    const char *extensions[MAX_EXTENSIONS];
    const float priority = 1.0f;
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = physical->queue_family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executables = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR,
        .pNext = (void *)(uintptr_t)jobs, /* which nobody writes to */
        .pipelineExecutableInfo = VK_TRUE,
    };
    VkPhysicalDeviceShaderFloat16Int8Features float16 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES,
        .pNext = device->executables ? &executables : executables.pNext,
        .shaderFloat16 = uses_f16(device, physical),
        .shaderInt8 = uses_matrices_of_bytes(device),
    };
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
        .pNext = uses_float16_int8(device, physical) ? &float16 : float16.pNext,
        .timelineSemaphore = VK_TRUE,
    };
    void *features = physical->timeline ? &timeline : timeline.pNext;
    struct weft_cooperative_links cooperative;
    features = weft_cooperative_enable(&cooperative, uses_subgroup_sizes(device, physical),
                                       uses_matrices(device, physical), features);
    struct weft_shader_fma_features fma;
    if (device->fma_extension) {
        features = weft_shader_fma_enable(&fma, features);
    }
    const VkPhysicalDeviceFeatures wide = {.shaderFloat64 = VK_TRUE, .shaderInt64 = VK_TRUE};
    VkPhysicalDeviceShaderIntegerDotProductFeatures integer_dots = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES,
        .pNext = features,
        .shaderIntegerDotProduct = VK_TRUE,
    };
    features = physical->integer_dots ? &integer_dots : features;
    struct weft_robustness_link robustness;
    VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = physical->robustness ? weft_robustness_enable(&robustness, features) : features,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = choose_extensions(extensions, device, physical),
        .ppEnabledExtensionNames = extensions,
        .pEnabledFeatures = device->float64 && !physical->native ? &wide : NULL,
    };
    return weft_device_made(
        device, device->instance.CreateDevice(physical->handle, &info, NULL, &device->vk.handle),
        "vkCreateDevice", &device->vk.handle, sizeof device->vk.handle);
}

weft_status weft_device_create(weft_device *device, const struct weft_physical *physical,
                               const struct weft_soft_jobs_info *jobs) {
    weft_setup_physical(device, physical);
    device->fma_extension = device->math == WEFT_MATH_FUSED && physical->fma;
    device->float64 = device->math == WEFT_MATH_FUSED && physical->float64;
    WEFT_TRY(create_device(device, physical, jobs));
    /* Loaded first: it is what destroys the handle should another function be missing. */
    device->vk.DestroyDevice = (PFN_vkDestroyDevice)device->instance.GetDeviceProcAddr(
        device->vk.handle, "vkDestroyDevice");
    WEFT_TRY(weft_vk_load_device(&device->vk, &device->instance, &device->host));
    if (physical->timeline) {
        WEFT_TRY(weft_vk_load_timeline(&device->vk, physical->version, &device->instance,
                                       &device->host));
    }
    if (physical->info.host_memory_alignment != 0) {
        device->vk.GetMemoryHostPointerPropertiesEXT =
            (PFN_vkGetMemoryHostPointerPropertiesEXT)device->instance.GetDeviceProcAddr(
                device->vk.handle, "vkGetMemoryHostPointerPropertiesEXT");
        if (!device->vk.GetMemoryHostPointerPropertiesEXT) {
            device->info.host_memory_alignment = 0;
        }
    }
    weft_external_load(device, &physical->external);
    if (device->executables) {
        WEFT_TRY(weft_executable_load(&device->vk, &device->instance, &device->host));
    }
    if (device->instance.CreateDebugUtilsMessengerEXT) { /* for the validation layer's messages */
        WEFT_TRY(weft_debug_label_load(device, device->instance.labels));
    }
    device->vk.GetDeviceQueue(device->vk.handle, device->queue_family, 0, &device->queue);
    return WEFT_OK;
}

/* Opens what is asked for; of the instances the device keeps the one that it is of. */
static weft_status open_chosen(weft_device *device, struct weft_discovery *discovery,
                               const weft_device_params *params) {
    const struct weft_physical *chosen = NULL;
    if (weft_physical_needs_more(discovery->list, discovery->count, params->select)) {
        WEFT_TRY(weft_discover_slow(discovery, &device->host));
    }
    WEFT_TRY(
        weft_physical_expect(discovery->list, discovery->count, params->select, &device->host));
    if (discovery->count == 0 && discovery->reason[0] != '\0') {
        return weft_fail(&device->host, WEFT_NO_DEVICE,
                         "%s, and the processor device is turned off or lacks its compiler, LLVM",
                         discovery->reason);
    }
    WEFT_TRY(weft_physical_select(&chosen, discovery->list, discovery->count, params->select,
                                  params->compile_only, &device->host));
    if (params->executables && !chosen->executables) {
        return weft_fail(&device->host, WEFT_UNSUPPORTED,
                         "%s tells nothing of its kernels: its driver lacks "
                         "VK_KHR_pipeline_executable_properties",
                         chosen->info.name);
    }
    weft_slow_warn(&chosen->info,
                   weft_physical_stands_in(discovery->list, discovery->count, params->select),
                   &device->host);
    device->compile_only = params->compile_only;
    device->executables = params->executables;
    const struct weft_soft_jobs_info jobs = {
        .sType = WEFT_SOFT_JOBS_INFO, .threads = params->threads, .jobs = params->jobs};
    device->in_process = chosen->instance->software != NULL;
    if (device->in_process && weft_validation_wanted(params->validation)) {
        weft_log(&device->host, WEFT_LOG_DEBUG,
                 "validation layers cannot watch %s, which has no loader", chosen->info.name);
    }
    device->instance = weft_discovery_take(discovery, chosen);
    WEFT_TRY(weft_device_create(device, chosen, device->in_process ? &jobs : NULL));
    if (device->info.threads > 0 && device->in_process && (params->jobs || params->threads > 0)) {
        device->info.threads = params->jobs ? params->jobs->concurrency : params->threads;
    }
    return WEFT_OK;
}

/* Threads that a driver starts meanwhile get no signal for what they write either. */
static weft_status open_system_device(weft_device *device, const weft_device_params *params) {
    weft_device *validated = weft_validation_wanted(params->validation) ? device : NULL;
    struct weft_discovery discovery;
    struct weft_write_signals signals;
    weft_write_signals_hold(&signals);
    device->owns_handles = true;
    weft_status status = weft_discover(&discovery, &device->host, validated, params->select);
    if (status == WEFT_OK) {
        status = open_chosen(device, &discovery, params);
    }
    weft_discovery_end(&discovery, &device->host, validated);
    weft_write_signals_release(&signals);
    return status;
}

/*
 * A driver that runs shaders on the processor starts its threads here, and they inherit how this
 * thread treats subnormals. Reproducible math wants them flushed, and lavapipe has no execution mode
 * for that: flushing by instructions costs it time (measured: 1.4 × in matmul, 2.8 × in GELU). Should a driver start
 * its threads elsewhere, the probe finds out that it keeps subnormals.
 */
static weft_status open_flushing(weft_device *device, const void *open_params) {
    const weft_device_params *params = open_params;
    if (params->math == WEFT_MATH_FAST || !weft_rule_holds("thread-flush")) {
        return open_system_device(device, params);
    }
    const weft_float_state state = weft_float_state_kernel();
    weft_status status = open_system_device(device, params);
    weft_float_state_restore(&state);
    return status;
}

static weft_status check_jobs(const weft_device_params *params) {
    enum { MOST = 1024 };
    const weft_job_system *jobs = params->jobs;
    if (params->threads > MOST || (jobs && (jobs->concurrency == 0 || jobs->concurrency > MOST))) {
        return weft_fail(&params->host, WEFT_INVALID_ARGUMENT,
                         "weft_device_open: %s is %u, expected %s to %d",
                         jobs ? "jobs.concurrency" : "threads",
                         jobs ? jobs->concurrency : params->threads, jobs ? "1" : "0", MOST);
    }
    if (jobs && !jobs->run) {
        return weft_fail(&params->host, WEFT_INVALID_ARGUMENT,
                         "weft_device_open: jobs has no function `run`");
    }
    return WEFT_OK;
}

weft_status weft_device_open_with(weft_device **device, const weft_device_params *params,
                                  const struct weft_device_part *parts) {
    static const weft_device_params defaults = {.host = {0}};
    params = !params ? &defaults : params;
    if (!device) {
        return weft_fail(&params->host, WEFT_INVALID_ARGUMENT, "weft_device_open: device is null");
    }
    WEFT_TRY(check_jobs(params));
    const struct weft_setup setup = WEFT_SETUP(params, parts);
    const uint32_t changes = weft_native_compiler_changes();
    const weft_status status = weft_setup_device(device, &setup, open_flushing, params);
    if (status == WEFT_OK || changes == weft_native_compiler_changes()) {
        return status;
    }
    /* The first kernel has shown that the LLVM that is there cannot be loaded. From now on the processor is known as a device that
     * interprets, or that has another LLVM. */
    return weft_setup_device(device, &setup, open_flushing, params);
}
