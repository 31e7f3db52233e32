/* SPDX-License-Identifier: MIT */
/* Vulkan drivers that stand in front of another one, and what the loader asks of such. */
#ifndef WEFT_TESTS_DRIVER_BEHIND_H
#define WEFT_TESTS_DRIVER_BEHIND_H

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

#define EXPORTED __attribute__((visibility("default")))

VKAPI_ATTR VkResult VKAPI_CALL vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version);
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vk_icdGetInstanceProcAddr(VkInstance instance,
                                                                   const char *name);
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vk_icdGetPhysicalDeviceProcAddr(VkInstance instance,
                                                                         const char *name);

/** The driver behind. */
struct weft_behind {
    VkResult(VKAPI_PTR *negotiate)(uint32_t *version);
    PFN_vkGetInstanceProcAddr get_instance, get_physical;
};

/** The environment variable that has its path: each driver in front defines it. */
extern const char weft_behind_variable[];

/** Opens it the first time; null where it cannot be opened. Any thread. */
const struct weft_behind *weft_behind(void);

#endif
