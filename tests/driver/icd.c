/* SPDX-License-Identifier: MIT */
/*
 * The processor device as a driver that the system's Vulkan loader opens: what the loader asks for, around the functions that
 * Weft itself calls directly. With it the validation layer can watch what Weft does on that device.
 */
#include "softvk/softvk.h"

#define NEWEST_INTERFACE 5u /* of the loader: the one whose rules this keeps */

VKAPI_ATTR VkResult VKAPI_CALL vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version);
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vk_icdGetInstanceProcAddr(VkInstance instance,
                                                                   const char *name);
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vk_icdGetPhysicalDeviceProcAddr(VkInstance instance,
                                                                         const char *name);

#if defined(__GNUC__)
#define EXPORTED __attribute__((visibility("default")))
#else
#define EXPORTED
#endif

EXPORTED VKAPI_ATTR VkResult VKAPI_CALL
vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version) {
    *version = *version < NEWEST_INTERFACE ? *version : NEWEST_INTERFACE;
    return VK_SUCCESS;
}

EXPORTED VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vk_icdGetInstanceProcAddr(VkInstance instance,
                                                                            const char *name) {
    return weft_soft_get_instance_proc_addr(instance, name);
}

EXPORTED VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
vk_icdGetPhysicalDeviceProcAddr(VkInstance instance, const char *name) {
    return weft_soft_get_physical_proc_addr(instance, name);
}
