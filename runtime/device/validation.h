/* SPDX-License-Identifier: MIT */
/* Messages of the Khronos validation layer: into the log, and counted. */
#ifndef WEFT_DEVICE_VALIDATION_H
#define WEFT_DEVICE_VALIDATION_H

#include "device/device.h"

#define WEFT_VALIDATION_LAYER "VK_LAYER_KHRONOS_validation"

/** True if a caller's wish, or WEFT_VALIDATION=1 in the environment, turns validation on. */
bool weft_validation_wanted(bool asked);

/** Describes a messenger that hands warnings and errors to `device`; it is called by any thread
 * that uses the device. */
VkDebugUtilsMessengerCreateInfoEXT weft_validation_messenger_info(weft_device *device);

/** Makes device->messenger on an instance that has VK_EXT_debug_utils enabled. */
weft_status weft_validation_start(struct weft_vk_instance *instance, weft_device *device);

#endif
