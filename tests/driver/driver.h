/* SPDX-License-Identifier: MIT */
/*
 * The processor device as a whole driver of Vulkan 1.2: the functions of runtime/softvk, which are those that Weft calls, and those that
 * programs and layers may call besides. What it adds to a command buffer are calls (WEFT_SOFT_CALL).
 */
#ifndef WEFT_TESTS_DRIVER_DRIVER_H
#define WEFT_TESTS_DRIVER_DRIVER_H

#include "softvk/backend.h"
#include "softvk/functions.h"

PFN_vkVoidFunction VKAPI_CALL weft_driver_get_instance_proc_addr(VkInstance instance,
                                                                 const char *name);
/** What the driver is made of: the processor device (processor.c), or one that lies (tests/lying). */
const struct weft_soft_backend *weft_driver_backend(void);
/** The functions whose first parameter is a VkPhysicalDevice, for a loader. */
PFN_vkVoidFunction VKAPI_CALL weft_driver_get_physical_proc_addr(VkInstance instance,
                                                                 const char *name);

/* physical.c, objects.c, commands.c, template.c */
extern const struct weft_soft_function weft_driver_physical_functions[];
extern const struct weft_soft_function weft_driver_object_functions[];
extern const struct weft_soft_function weft_driver_command_functions[];
extern const struct weft_soft_function weft_driver_template_functions[];

/** The library's function of that name. */
#define WEFT_LIBRARY(name) \
    ((PFN_vk##name)weft_soft_get_instance_proc_addr(VK_NULL_HANDLE, "vk" #name))

#endif
