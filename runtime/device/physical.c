/* SPDX-License-Identifier: MIT */
#include "device/physical.h"

#include <stdio.h>
#include <string.h>

#include "core/kernel_limits.h"
#include "core/math/float_modes.h"
#include "core/try.h"
#include "device/cooperative.h"
#include "device/device.h"
#include "device/executable.h"
#include "device/host_memory.h"
#include "device/identity.h"
#include "device/result.h"
#include "device/robustness.h"
#include "device/shader_fma.h"
#include "device/slow.h"
#include "device/software.h"

/* Limits that every shader may rely on: docs/reproducibility.md, rule 4. */
#define NEEDED_INVOCATIONS   128u
#define NEEDED_SHARED_MEMORY (16u << 10)

/* Vulkan structures queried to fill one weft_physical. */
struct facts {
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceSubgroupProperties subgroup;
    VkPhysicalDeviceDriverProperties driver;
    VkPhysicalDeviceFloatControlsProperties float_controls;
    bool shader_float16, shader_int8;
    uint32_t queue_flags; /* of the family chosen */
};

static weft_device_type type_of(VkPhysicalDeviceType type) {
    switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        return WEFT_DEVICE_DISCRETE;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
        return WEFT_DEVICE_INTEGRATED;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
        return WEFT_DEVICE_VIRTUAL;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
        return WEFT_DEVICE_SOFTWARE;
    default:
        return WEFT_DEVICE_OTHER;
    }
}

static uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

/*
 * The first family that has graphics beside compute, else the first that computes. Every driver has
 * the former where it draws at all; it keeps time stamps, and is the family an embedding program
 * most likely uses. A compute-only family would pay only for running beside somebody's drawing,
 * which Weft by itself does not do.
 */
static uint32_t choose_family(const VkQueueFamilyProperties *families, uint32_t count) {
    const VkQueueFlags both = VK_QUEUE_COMPUTE_BIT | VK_QUEUE_GRAPHICS_BIT;
    for (uint32_t i = 0; i < count; i++) {
        if ((families[i].queueFlags & both) == both) {
            return i;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if ((families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) != 0) {
            return i;
        }
    }
    return WEFT_NO_FAMILY;
}

static weft_status read_family(struct facts *facts, struct weft_physical *physical,
                               const struct weft_vk_instance *instance, uint32_t family,
                               const weft_host *host) {
    uint32_t count = 0;
    instance->GetPhysicalDeviceQueueFamilyProperties(physical->handle, &count, NULL);
    physical->queue_family = WEFT_NO_FAMILY;
    if (count == 0) {
        return WEFT_OK;
    }
    VkQueueFamilyProperties *families = weft_alloc_zero(host, count, sizeof *families);
    if (!families) {
        return weft_fail_memory(host, "queue families");
    }
    instance->GetPhysicalDeviceQueueFamilyProperties(physical->handle, &count, families);
    uint32_t chosen = family == WEFT_NO_FAMILY ? choose_family(families, count) : family;
    if (chosen < count) {
        physical->queue_family = chosen;
        facts->queue_flags = families[chosen].queueFlags;
        physical->timestamp_bits = least(families[chosen].timestampValidBits, 64);
    }
    weft_free(host, families);
    return WEFT_OK;
}

/* Flag for an extension of a device; null for an extension that does not matter. */
static bool *note_of(struct weft_physical *physical, const char *name) {
    const struct {
        const char *name; /* or null: not known to the headers that this was built with */
        bool *note;
    } notes[] = {
        {VK_EXT_PIPELINE_CREATION_FEEDBACK_EXTENSION_NAME, &physical->info.has_pipeline_feedback},
        {VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME, &physical->host_memory},
        {WEFT_EXTERNAL_MEMORY_EXTENSION, &physical->external.memory},
        {WEFT_EXTERNAL_SEMAPHORE_EXTENSION, &physical->external.semaphore},
        {VK_EXT_EXTERNAL_MEMORY_DMA_BUF_EXTENSION_NAME, &physical->external.dma_buf},
        {weft_robustness_extension(), &physical->robustness},
        {VK_EXT_MEMORY_BUDGET_EXTENSION_NAME, &physical->info.has_memory_budget},
        {VK_EXT_PCI_BUS_INFO_EXTENSION_NAME, &physical->info.has_pci},
        {VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME, &physical->executables},
        {VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME, &physical->subgroup_sizes},
        {WEFT_COOPERATIVE_EXTENSION, &physical->cooperative},
        {WEFT_SHADER_FMA_EXTENSION, &physical->fma},
        {VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME, &physical->integer_dots},
        {"VK_KHR_portability_subset", &physical->portability_subset},
        {VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME, &physical->timeline_semaphore},
        {VK_KHR_SHADER_FLOAT_CONTROLS_EXTENSION_NAME, &physical->float_controls},
        {VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME, &physical->float16},
        {VK_KHR_DRIVER_PROPERTIES_EXTENSION_NAME, &physical->driver_properties},
    };
    for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++) {
        if (notes[i].name && strcmp(notes[i].name, name) == 0) {
            return notes[i].note;
        }
    }
    return NULL;
}

static weft_status read_extensions(struct weft_physical *physical,
                                   const struct weft_vk_instance *instance, const weft_host *host) {
    uint32_t count = 0;
    VkResult result =
        instance->EnumerateDeviceExtensionProperties(physical->handle, NULL, &count, NULL);
    if (result != VK_SUCCESS || count == 0) {
        return weft_vk_check(host, result, "vkEnumerateDeviceExtensionProperties");
    }
    VkExtensionProperties *list = weft_alloc_zero(host, count, sizeof *list);
    if (!list) {
        return weft_fail_memory(host, "device extensions");
    }
    result = instance->EnumerateDeviceExtensionProperties(physical->handle, NULL, &count, list);
    if (result == VK_INCOMPLETE) {
        result = VK_SUCCESS;
    }
    for (uint32_t i = 0; result == VK_SUCCESS && i < count; i++) {
        bool *note = note_of(physical, list[i].extensionName);
        if (note) {
            *note = true;
        }
    }
    weft_free(host, list);
    return weft_vk_check(host, result, "vkEnumerateDeviceExtensionProperties");
}

static void link_in_front(void **chain, void *structure, VkStructureType type) {
    VkBaseOutStructure *link = structure;
    link->sType = type;
    link->pNext = *chain;
    *chain = link;
}

/* Vulkan 1.0 has no way to ask for more, and 1.1 needs an extension for what 1.2 has. */
static void read_properties(struct facts *facts, struct weft_physical *physical,
                            const struct weft_vk_instance *instance) {
    *facts = (struct facts){0};
    instance->GetPhysicalDeviceProperties(physical->handle, &facts->properties);
    physical->version = least(facts->properties.apiVersion, instance->version);
    if (physical->version < VK_API_VERSION_1_1) {
        return;
    }
    const bool has_1_2 = physical->version >= VK_API_VERSION_1_2;
    VkPhysicalDeviceProperties2 properties = {.sType =
                                                  VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    link_in_front(&properties.pNext, &facts->subgroup,
                  VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES);
    if (has_1_2 || physical->driver_properties) {
        link_in_front(&properties.pNext, &facts->driver,
                      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES);
    }
    if (has_1_2 || physical->float_controls) {
        link_in_front(&properties.pNext, &facts->float_controls,
                      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES);
    }
    instance->GetPhysicalDeviceProperties2(physical->handle, &properties);
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline = {0};
    VkPhysicalDeviceShaderFloat16Int8Features float16 = {0};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
    if (has_1_2 || physical->timeline_semaphore) {
        link_in_front(&features.pNext, &timeline,
                      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES);
    }
    if (has_1_2 || physical->float16) {
        link_in_front(&features.pNext, &float16,
                      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES);
    }
    instance->GetPhysicalDeviceFeatures2(physical->handle, &features);
    physical->timeline = timeline.timelineSemaphore == VK_TRUE;
    facts->shader_float16 = float16.shaderFloat16 == VK_TRUE;
    facts->shader_int8 = float16.shaderInt8 == VK_TRUE;
}

static uint64_t largest_device_heap(VkPhysicalDevice handle,
                                    const struct weft_vk_instance *instance) {
    VkPhysicalDeviceMemoryProperties memory;
    instance->GetPhysicalDeviceMemoryProperties(handle, &memory);
    uint64_t largest = 0;
    for (uint32_t i = 0; i < memory.memoryHeapCount; i++) {
        const VkMemoryHeap *heap = &memory.memoryHeaps[i];
        if ((heap->flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0 && heap->size > largest) {
            largest = heap->size;
        }
    }
    return largest;
}

/* Ours are known by their drivers' names, so that they are the same devices by way of a loader. One that interprets kernels is
 * no faster than a driver in software, and no more to be preferred. */
static void read_engine(struct weft_physical *physical, const struct facts *facts) {
    const struct weft_software *software = weft_software_of_driver(physical->info.driver);
    const VkPhysicalDeviceType type = facts->properties.deviceType;
    struct weft_soft_properties properties = {0};
    if (software && !software->user) {
        software->backend->describe(&properties, NULL);
    }
    physical->on_processor = type == VK_PHYSICAL_DEVICE_TYPE_CPU;
    physical->native = properties.native;
    physical->interprets = properties.interprets;
    physical->queries_wait = physical->on_processor && !software; /* lavapipe of Mesa 22 */
    physical->info.type = properties.native ? WEFT_DEVICE_PROCESSOR : type_of(type);
    physical->info.threads = properties.threads;
}

/* The driver's own text where it has one; else its packed number, which most drivers pack as Vulkan
 * does. */
static void write_driver_version(weft_device_info *info, const struct facts *facts) {
    if (facts->driver.driverInfo[0] != '\0') {
        (void)snprintf(info->driver_version, sizeof info->driver_version, "%s",
                       facts->driver.driverInfo);
        return;
    }
    uint32_t version = facts->properties.driverVersion;
    (void)snprintf(info->driver_version, sizeof info->driver_version, "%u.%u.%u",
                   VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version),
                   VK_API_VERSION_PATCH(version));
}

static void fill_info(struct weft_physical *physical, const struct facts *facts) {
    weft_device_info *info = &physical->info;
    const VkPhysicalDeviceProperties *properties = &facts->properties;
    const VkPhysicalDeviceLimits *limits = &properties->limits;
    (void)snprintf(info->name, sizeof info->name, "%s", properties->deviceName);
    (void)snprintf(info->driver, sizeof info->driver, "%s", facts->driver.driverName);
    write_driver_version(info, facts);
    info->vendor_id = properties->vendorID;
    info->device_id = properties->deviceID;
    info->api_version[0] = VK_API_VERSION_MAJOR(properties->apiVersion);
    info->api_version[1] = VK_API_VERSION_MINOR(properties->apiVersion);
    info->api_version[2] = VK_API_VERSION_PATCH(properties->apiVersion);
    info->subgroup_size = facts->subgroup.subgroupSize;
    info->has_subgroup_arithmetic =
        (facts->subgroup.supportedOperations & VK_SUBGROUP_FEATURE_ARITHMETIC_BIT) != 0 &&
        (facts->subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0;
    info->has_f16_arithmetic = facts->shader_float16;
    /* Larger workgroups of ours are long in x. */
    info->max_workgroup_invocations =
        limits->maxComputeWorkGroupInvocations < limits->maxComputeWorkGroupSize[0]
            ? limits->maxComputeWorkGroupInvocations
            : limits->maxComputeWorkGroupSize[0];
    info->max_shared_memory = limits->maxComputeSharedMemorySize;
    info->max_storage_buffer_size = limits->maxStorageBufferRange;
    info->timestamp_period_ns =
        physical->timestamp_bits == 0 ? 0.0 : (double)limits->timestampPeriod;
    memcpy(info->uuid, properties->pipelineCacheUUID, sizeof info->uuid);
}

static uint32_t float_modes(const VkPhysicalDeviceFloatControlsProperties *properties) {
    return (properties->shaderDenormFlushToZeroFloat32 ? WEFT_FLOAT_FLUSH : 0u) |
           (properties->shaderSignedZeroInfNanPreserveFloat32 ? WEFT_FLOAT_SPECIAL : 0u) |
           (properties->shaderRoundingModeRTEFloat32 ? WEFT_FLOAT_NEAREST : 0u);
}

/* Sets usable, or the first reason against it. */
static void judge(struct weft_physical *physical, const struct facts *facts) {
    const VkPhysicalDeviceLimits *limits = &facts->properties.limits;
    weft_device_info *info = &physical->info;
    char *reason = info->reason;
    const size_t size = sizeof info->reason;
    const uint32_t bindings =
        least(limits->maxPerStageDescriptorStorageBuffers,
              least(limits->maxDescriptorSetStorageBuffers, limits->maxPerStageResources));
    const uint32_t invocations =
        least(limits->maxComputeWorkGroupInvocations, limits->maxComputeWorkGroupSize[0]);
    const char *lacks = physical->instance->software ? weft_soft_lacks(physical->handle) : NULL;
    if (lacks) {
        (void)snprintf(reason, size, "%s", lacks);
    } else if (physical->version < VK_API_VERSION_1_1) {
        (void)snprintf(reason, size, "supports Vulkan %u.%u, Weft needs 1.1", info->api_version[0],
                       info->api_version[1]);
    } else if (physical->queue_family == WEFT_NO_FAMILY) {
        (void)snprintf(reason, size, "has no compute queue");
    } else if ((facts->queue_flags & VK_QUEUE_COMPUTE_BIT) == 0) {
        (void)snprintf(reason, size, "queue family %u does not compute", physical->queue_family);
    } else if (invocations < NEEDED_INVOCATIONS) {
        (void)snprintf(reason, size, "allows %u invocations in a workgroup, Weft needs %u",
                       invocations, NEEDED_INVOCATIONS);
    } else if (limits->maxComputeSharedMemorySize < NEEDED_SHARED_MEMORY) {
        (void)snprintf(reason, size, "has %u bytes of shared memory, Weft needs %u",
                       limits->maxComputeSharedMemorySize, NEEDED_SHARED_MEMORY);
    } else if (bindings < WEFT_OWN_MAX_BINDINGS) {
        (void)snprintf(reason, size, "allows %u storage buffers in a shader, Weft needs %u",
                       bindings, (unsigned)WEFT_OWN_MAX_BINDINGS);
    } else {
        info->compiles = true;
        info->usable = info->device_memory > 0;
        if (!info->usable) { /* as Mesa's driver of AMD's GPUs without one */
            (void)snprintf(reason, size, "has no memory: it can be opened for compiling only");
        }
    }
}

/* Also of drivers that have it as a part of Vulkan 1.3 and no longer as an extension: there are none. */
static void read_integer_dots(struct weft_physical *physical,
                              const struct weft_vk_instance *instance) {
    VkPhysicalDeviceShaderIntegerDotProductFeatures feature = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &feature};
    VkPhysicalDeviceShaderIntegerDotProductProperties dots = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &dots};
    instance->GetPhysicalDeviceFeatures2(physical->handle, &features);
    instance->GetPhysicalDeviceProperties2(physical->handle, &properties);
    physical->integer_dots = feature.shaderIntegerDotProduct == VK_TRUE;
    physical->info.has_integer_dot_product =
        physical->integer_dots && dots.integerDotProduct4x8BitPackedSignedAccelerated == VK_TRUE;
}

/* Both are for Vulkan 1.2, which has the memory model that modules with cooperative matrices are written for. */
static weft_status read_cooperative(struct weft_physical *physical, bool bytes,
                                    const struct weft_vk_instance *instance,
                                    const weft_host *host) {
    const bool can = physical->info.compiles && physical->version >= VK_API_VERSION_1_2;
    physical->subgroup_sizes = physical->subgroup_sizes && can;
    physical->cooperative =
        physical->cooperative && physical->subgroup_sizes && !instance->old_layer;
    if (physical->subgroup_sizes) {
        weft_subgroup_sizes_read(&physical->info, physical->handle, instance);
    }
    return physical->cooperative
               ? weft_cooperative_read(&physical->info, bytes, physical->handle, instance, host)
               : WEFT_OK;
}

weft_status weft_physical_read(struct weft_physical *physical,
                               const struct weft_vk_instance *instance, VkPhysicalDevice handle,
                               uint32_t index, uint32_t family, const weft_host *host) {
    *physical =
        (struct weft_physical){.handle = handle, .instance = instance, .info = {.index = index}};
    struct facts facts;
    WEFT_TRY(read_extensions(physical, instance, host));
    read_properties(&facts, physical, instance);
    WEFT_TRY(read_family(&facts, physical, instance, family, host));
    fill_info(physical, &facts);
    weft_identity_read(&physical->info, handle, instance);
    read_engine(physical, &facts);
    physical->float_modes = float_modes(&facts.float_controls);
    physical->info.device_memory = largest_device_heap(handle, instance);
    judge(physical, &facts);
    if (physical->info.usable && physical->host_memory) {
        physical->info.host_memory_alignment = weft_host_memory_alignment(handle, instance);
    }
    const bool compiles = physical->info.compiles;
    physical->robustness =
        physical->robustness && compiles && weft_robustness_feature(handle, instance);
    physical->executables =
        physical->executables && compiles && weft_executable_feature(handle, instance);
    physical->info.has_executables = physical->executables;
    if (compiles) {
        weft_shader_fma_read(&physical->fma, &physical->float64,
                             physical->fma && !instance->old_layer, handle, instance);
        physical->float64 = physical->float64 || physical->native; /* whose compiler has doubles */
    }
    physical->integer_dots = physical->integer_dots && compiles;
    if (physical->integer_dots) {
        read_integer_dots(physical, instance);
    }
    weft_slow_write(&physical->info, physical->interprets);
    return read_cooperative(physical, facts.shader_int8, instance, host);
}

/* The handles in the system's order; the caller frees *handles. */
static weft_status list_handles(VkPhysicalDevice **handles, uint32_t *count,
                                const struct weft_vk_instance *instance, const weft_host *host) {
    *handles = NULL;
    *count = 0;
    uint32_t found = 0;
    VkResult result = instance->EnumeratePhysicalDevices(instance->handle, &found, NULL);
    if (result == VK_ERROR_INITIALIZATION_FAILED) { /* how some loaders say that no driver works */
        weft_log(host, WEFT_LOG_INFO,
                 "vkEnumeratePhysicalDevices: VK_ERROR_INITIALIZATION_FAILED, so there are none");
        return WEFT_OK;
    }
    if (result != VK_SUCCESS || found == 0) {
        return weft_vk_check(host, result, "vkEnumeratePhysicalDevices");
    }
    VkPhysicalDevice *list = weft_alloc_zero(host, found, sizeof(VkPhysicalDevice));
    if (!list) {
        return weft_fail_memory(host, "device list");
    }
    result = instance->EnumeratePhysicalDevices(instance->handle, &found, list);
    if (result ==
        VK_INCOMPLETE) { /* more came in between the two calls: what was written is valid */
        result = VK_SUCCESS;
    }
    if (result != VK_SUCCESS || found == 0) { /* or all have gone */
        weft_free(host, list);
        return weft_vk_check(host, result, "vkEnumeratePhysicalDevices");
    }
    *handles = list;
    *count = found;
    return WEFT_OK;
}

/* Makes room for `found` more devices. */
static weft_status grow_list(struct weft_physical **list, uint32_t count, uint32_t found,
                             const weft_host *host) {
    struct weft_physical *devices =
        weft_realloc(host, *list, ((size_t)count + found) * sizeof *devices);
    if (!devices) {
        return weft_fail_memory(host, "device list");
    }
    *list = devices;
    return WEFT_OK;
}

weft_status weft_physical_list(struct weft_physical **list, uint32_t *count,
                               const struct weft_vk_instance *instance, const weft_host *host) {
    VkPhysicalDevice *handles = NULL;
    uint32_t found = 0;
    WEFT_TRY(list_handles(&handles, &found, instance, host));
    if (found == 0) {
        return WEFT_OK;
    }
    weft_status status = grow_list(list, *count, found, host);
    for (uint32_t i = 0; status == WEFT_OK && i < found; i++) {
        status = weft_physical_read(&(*list)[*count], instance, handles[i], *count, WEFT_NO_FAMILY,
                                    host);
        *count += status == WEFT_OK;
    }
    weft_free(host, handles);
    return status;
}

weft_status weft_physical_index(uint32_t *index, const struct weft_vk_instance *instance,
                                VkPhysicalDevice handle, const weft_host *host) {
    VkPhysicalDevice *handles = NULL;
    uint32_t count = 0;
    weft_status status = list_handles(&handles, &count, instance, host);
    *index = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (handles[i] == handle) {
            *index = i;
        }
    }
    weft_free(host, handles);
    return status;
}
