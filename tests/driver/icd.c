/* SPDX-License-Identifier: MIT */
/* What the system's Vulkan loader asks of a driver. With it the validation layer can watch what Weft does on the processor device. */
#include "driver/driver.h"

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
    return weft_driver_get_instance_proc_addr(instance, name);
}

EXPORTED VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
vk_icdGetPhysicalDeviceProcAddr(VkInstance instance, const char *name) {
    return weft_driver_get_physical_proc_addr(instance, name);
}
