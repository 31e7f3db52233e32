/* SPDX-License-Identifier: MIT */
#include "device/debug_label.h"

weft_status weft_debug_label_load(weft_device *device, bool commands) {
    /* Asked of the instance, whose extension it is: a layer may have it without the loader or the driver. */
    const PFN_vkGetInstanceProcAddr get = device->instance.GetInstanceProcAddr;
    struct weft_vk_device loaded = device->vk;
#define LOAD(name)                                                                            \
    loaded.name = (PFN_vk##name)get(device->instance.handle, "vk" #name);                     \
    if (!loaded.name) {                                                                       \
        return weft_fail(&device->host, WEFT_UNSUPPORTED,                                     \
                         "the Vulkan instance has no vk" #name ": VK_EXT_debug_utils is not " \
                         "enabled");                                                          \
    }
    LOAD(SetDebugUtilsObjectNameEXT)
    if (commands) {
        LOAD(CmdBeginDebugUtilsLabelEXT)
        LOAD(CmdEndDebugUtilsLabelEXT)
    }
#undef LOAD
    device->vk = loaded; /* all or none */
    return WEFT_OK;
}

void weft_debug_name(const weft_device *device, VkObjectType type, uint64_t handle,
                     const char *name) {
    if (!device->vk.SetDebugUtilsObjectNameEXT) {
        return;
    }
    const VkDebugUtilsObjectNameInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
        .objectType = type,
        .objectHandle = handle,
        .pObjectName = name,
    };
    (void)device->vk.SetDebugUtilsObjectNameEXT(device->vk.handle, &info);
}

void weft_debug_label_begin(const weft_device *device, VkCommandBuffer commands,
                            const char *label) {
    if (!device->vk.CmdBeginDebugUtilsLabelEXT) {
        return;
    }
    const VkDebugUtilsLabelEXT info = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT,
                                       .pLabelName = label};
    device->vk.CmdBeginDebugUtilsLabelEXT(commands, &info);
}

void weft_debug_label_end(const weft_device *device, VkCommandBuffer commands) {
    if (device->vk.CmdEndDebugUtilsLabelEXT) {
        device->vk.CmdEndDebugUtilsLabelEXT(commands);
    }
}
