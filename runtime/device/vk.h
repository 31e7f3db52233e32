/* SPDX-License-Identifier: MIT */
/*
 * The Vulkan functions Weft calls, in tables that belong to an instance and a device instead of in globals: two devices
 * from different loaders can be open at once, and nothing here can clash with the host program's own loader.
 */
#ifndef WEFT_DEVICE_VK_H
#define WEFT_DEVICE_VK_H

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <stdbool.h>

#include <vulkan/vulkan.h>

#define WEFT_VK_INSTANCE_FUNCTIONS(X)         \
    X(DestroyInstance)                        \
    X(EnumeratePhysicalDevices)               \
    X(EnumerateDeviceExtensionProperties)     \
    X(GetPhysicalDeviceProperties)            \
    X(GetPhysicalDeviceProperties2)           \
    X(GetPhysicalDeviceFeatures2)             \
    X(GetPhysicalDeviceMemoryProperties)      \
    X(GetPhysicalDeviceQueueFamilyProperties) \
    X(CreateDevice)                           \
    X(GetDeviceProcAddr)

#define WEFT_VK_DEVICE_FUNCTIONS(X) \
    X(DestroyDevice)                \
    X(DeviceWaitIdle)               \
    X(GetDeviceQueue)               \
    X(QueueSubmit)                  \
    X(CreateCommandPool)            \
    X(DestroyCommandPool)           \
    X(AllocateCommandBuffers)       \
    X(FreeCommandBuffers)           \
    X(BeginCommandBuffer)           \
    X(EndCommandBuffer)             \
    X(ResetCommandBuffer)           \
    X(CmdBindPipeline)              \
    X(CmdBindDescriptorSets)        \
    X(CmdPushConstants)             \
    X(CmdDispatch)                  \
    X(CmdDispatchBase)              \
    X(CmdPipelineBarrier)           \
    X(CmdCopyBuffer)                \
    X(CmdFillBuffer)                \
    X(CmdResetQueryPool)            \
    X(CmdWriteTimestamp)            \
    X(CreateQueryPool)              \
    X(DestroyQueryPool)             \
    X(GetQueryPoolResults)          \
    X(CreateBuffer)                 \
    X(DestroyBuffer)                \
    X(GetBufferMemoryRequirements)  \
    X(BindBufferMemory)             \
    X(AllocateMemory)               \
    X(FreeMemory)                   \
    X(MapMemory)                    \
    X(UnmapMemory)                  \
    X(CreateFence)                  \
    X(DestroyFence)                 \
    X(ResetFences)                  \
    X(GetFenceStatus)               \
    X(WaitForFences)                \
    X(CreateSemaphore)              \
    X(DestroySemaphore)             \
    X(CreateShaderModule)           \
    X(DestroyShaderModule)          \
    X(CreateDescriptorSetLayout)    \
    X(DestroyDescriptorSetLayout)   \
    X(CreateDescriptorPool)         \
    X(DestroyDescriptorPool)        \
    X(AllocateDescriptorSets)       \
    X(UpdateDescriptorSets)         \
    X(CreatePipelineLayout)         \
    X(DestroyPipelineLayout)        \
    X(CreateComputePipelines)       \
    X(DestroyPipeline)              \
    X(CreatePipelineCache)          \
    X(DestroyPipelineCache)         \
    X(GetPipelineCacheData)         \
    X(MergePipelineCaches)

/* Functions of devices with timeline semaphores: Vulkan 1.2 or, with the suffix KHR, VK_KHR_timeline_semaphore. */
#define WEFT_VK_TIMELINE_FUNCTIONS(X) \
    X(WaitSemaphores)                 \
    X(GetSemaphoreCounterValue)

#define WEFT_VK_MEMBER(name) PFN_vk##name name;

struct weft_software;

struct weft_vk_instance {
    VkInstance handle;
    const struct weft_software *software; /* what it is of; null for the loader's */
    uint32_t
        version; /* of Vulkan that it was made for: nothing newer may be used, whatever devices have */
    PFN_vkGetInstanceProcAddr GetInstanceProcAddr;
    WEFT_VK_INSTANCE_FUNCTIONS(WEFT_VK_MEMBER)
    PFN_vkGetPhysicalDeviceMemoryProperties2
        GetPhysicalDeviceMemoryProperties2; /* for VK_EXT_memory_budget, or null */
    /* Null where VK_EXT_debug_utils is not enabled. */
    PFN_vkCreateDebugUtilsMessengerEXT CreateDebugUtilsMessengerEXT;
    PFN_vkDestroyDebugUtilsMessengerEXT DestroyDebugUtilsMessengerEXT;
    bool accesses; /* the validation layer takes all that a shader can reach for accessed */
    bool labels;   /* commands are labelled for the validation layer's messages */
    bool
        old_layer; /* the validation layer would complain about cooperative matrices, which came after it */
};

struct weft_vk_device {
    VkDevice handle;
    WEFT_VK_DEVICE_FUNCTIONS(WEFT_VK_MEMBER)
    WEFT_VK_TIMELINE_FUNCTIONS(WEFT_VK_MEMBER)
    /* Null where VK_EXT_external_memory_host is not enabled. */
    PFN_vkGetMemoryHostPointerPropertiesEXT GetMemoryHostPointerPropertiesEXT;
    /* Not on the processor device, which has no images; null there, or of a layer that does not know. */
    PFN_vkCmdCopyImageToBuffer CmdCopyImageToBuffer;
    PFN_vkCmdCopyBufferToImage CmdCopyBufferToImage;
    /* Null where VK_KHR_pipeline_executable_properties is not enabled. */
    PFN_vkGetPipelineExecutablePropertiesKHR GetPipelineExecutableProperties;
    PFN_vkGetPipelineExecutableStatisticsKHR GetPipelineExecutableStatistics;
    PFN_vkGetPipelineExecutableInternalRepresentationsKHR
        GetPipelineExecutableInternalRepresentations;
    /* Null where nothing is named for captures, see debug_label.h. */
    PFN_vkSetDebugUtilsObjectNameEXT SetDebugUtilsObjectNameEXT;
    PFN_vkCmdBeginDebugUtilsLabelEXT CmdBeginDebugUtilsLabelEXT;
    PFN_vkCmdEndDebugUtilsLabelEXT CmdEndDebugUtilsLabelEXT;
};

/* For what others have, too, see external.h. */
struct weft_vk_external {
    PFN_vkGetPhysicalDeviceExternalBufferProperties
        buffer_properties; /* null: no memory of others */
    PFN_vkGetPhysicalDeviceExternalSemaphoreProperties
        semaphore_properties; /* null: no semaphores of others */
    /* The system's: its own types are known where they are called. */
    PFN_vkVoidFunction get_memory, memory_properties, get_semaphore, import_semaphore;
    bool dma_buf; /* VK_EXT_external_memory_dma_buf */
};

#undef WEFT_VK_MEMBER

#endif
