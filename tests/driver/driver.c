/* SPDX-License-Identifier: MIT */
/* Finding functions by name, and instances of the back end. */
#include "driver/driver.h"

#include <string.h>

#include "softvk/instance.h"

/* The loader knows nothing of back ends. */
static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
                                                      const VkAllocationCallbacks *allocator,
                                                      VkInstance *instance) {
    const struct weft_soft_instance_info which = {
        .sType = WEFT_SOFT_INSTANCE_INFO, .pNext = info->pNext, .backend = weft_driver_backend()};
    VkInstanceCreateInfo chained = *info;
    chained.pNext = &which;
    return WEFT_LIBRARY(CreateInstance)(&chained, allocator, instance);
}

static VKAPI_ATTR VkResult VKAPI_CALL enumerate_groups(VkInstance handle, uint32_t *count,
                                                       VkPhysicalDeviceGroupProperties *groups) {
    struct weft_soft_instance *instance = weft_soft_instance_of(handle);
    if (!groups) {
        *count = 1;
        return VK_SUCCESS;
    }
    if (*count == 0) {
        return VK_INCOMPLETE;
    }
    *count = 1;
    groups[0].physicalDeviceCount = 1;
    groups[0].physicalDevices[0] = WEFT_SOFT_HANDLE(VkPhysicalDevice, &instance->physical);
    groups[0].subsetAllocation = VK_FALSE;
    return VK_SUCCESS;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc_addr(VkDevice device,
                                                                     const char *name);

static const struct weft_soft_function instance_functions[] = {
    WEFT_SOFT_FUNCTION(CreateInstance, create_instance),
    WEFT_SOFT_FUNCTION(EnumeratePhysicalDeviceGroups, enumerate_groups),
    WEFT_SOFT_FUNCTION(GetInstanceProcAddr, weft_driver_get_instance_proc_addr),
    WEFT_SOFT_FUNCTION(GetDeviceProcAddr, get_device_proc_addr),
    {NULL, NULL},
};

static PFN_vkVoidFunction find(const struct weft_soft_function *list, const char *name) {
    while (list->name && strcmp(list->name, name) != 0) {
        list++;
    }
    return list->function;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc_addr(VkDevice device,
                                                                     const char *name) {
    static const struct weft_soft_function *const lists[] = {weft_driver_object_functions,
                                                             weft_driver_command_functions,
                                                             weft_driver_template_functions};
    if (strcmp(name, "vkGetDeviceProcAddr") == 0) {
        return (PFN_vkVoidFunction)get_device_proc_addr;
    }
    PFN_vkVoidFunction found = NULL;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0] && !found; i++) {
        found = find(lists[i], name);
    }
    return found ? found : WEFT_LIBRARY(GetDeviceProcAddr)(device, name);
}

PFN_vkVoidFunction VKAPI_CALL weft_driver_get_physical_proc_addr(VkInstance instance,
                                                                 const char *name) {
    PFN_vkVoidFunction found = find(weft_driver_physical_functions, name);
    return found ? found : weft_soft_get_physical_proc_addr(instance, name);
}

PFN_vkVoidFunction VKAPI_CALL weft_driver_get_instance_proc_addr(VkInstance instance,
                                                                 const char *name) {
    PFN_vkVoidFunction found = find(instance_functions, name);
    found = found ? found : weft_driver_get_physical_proc_addr(instance, name);
    found = found ? found : get_device_proc_addr(VK_NULL_HANDLE, name);
    return found ? found : weft_soft_get_instance_proc_addr(instance, name);
}
