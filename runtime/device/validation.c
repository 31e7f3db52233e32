/* SPDX-License-Identifier: MIT */
#include "device/validation.h"

#include <stdlib.h>
#include <string.h>

#include "device/result.h"

bool weft_validation_wanted(bool asked) {
    const char *value = getenv("WEFT_VALIDATION");
    return asked || (value && strcmp(value, "1") == 0);
}

static VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                 VkDebugUtilsMessageTypeFlagsEXT types,
                                                 const VkDebugUtilsMessengerCallbackDataEXT *data,
                                                 void *user) {
    (void)types;
    weft_device *device = user;
    device->stats.validation_messages++;
    weft_log(&device->host, WEFT_LOG_WARNING, "validation %s %s: %s",
             severity >= VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT ? "error" : "warning",
             !data->pMessageIdName ? "(no id)" : data->pMessageIdName,
             !data->pMessage ? "" : data->pMessage);
    return VK_FALSE; /* the call goes on: validation only watches */
}

VkDebugUtilsMessengerCreateInfoEXT weft_validation_messenger_info(weft_device *device) {
    /* The general type is left out: the loader uses it to tell about drivers that have nothing to
     * do with us. */
    return (VkDebugUtilsMessengerCreateInfoEXT){
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                       VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT,
        .pfnUserCallback = on_message,
        .pUserData = device,
    };
}

weft_status weft_validation_start(struct weft_vk_instance *instance, weft_device *device) {
    PFN_vkGetInstanceProcAddr get = instance->GetInstanceProcAddr;
    instance->CreateDebugUtilsMessengerEXT =
        (PFN_vkCreateDebugUtilsMessengerEXT)get(instance->handle, "vkCreateDebugUtilsMessengerEXT");
    instance->DestroyDebugUtilsMessengerEXT = (PFN_vkDestroyDebugUtilsMessengerEXT)get(
        instance->handle, "vkDestroyDebugUtilsMessengerEXT");
    if (!instance->CreateDebugUtilsMessengerEXT || !instance->DestroyDebugUtilsMessengerEXT) {
        return weft_fail(&device->host, WEFT_UNSUPPORTED,
                         "the validation layer has no vkCreateDebugUtilsMessengerEXT");
    }
    VkDebugUtilsMessengerCreateInfoEXT info = weft_validation_messenger_info(device);
    return weft_vk_check(
        &device->host,
        instance->CreateDebugUtilsMessengerEXT(instance->handle, &info, NULL, &device->messenger),
        "vkCreateDebugUtilsMessengerEXT");
}
