/* SPDX-License-Identifier: MIT */
/* Names of objects and labels of commands for captures and validation, by VK_EXT_debug_utils. */
#ifndef WEFT_DEVICE_DEBUG_LABEL_H
#define WEFT_DEVICE_DEBUG_LABEL_H

#include "device/device.h"

/**
 * Loads what names of objects and, where wanted, labels of commands need, on an instance with VK_EXT_debug_utils enabled. Where it
 * is not called, nothing is named and nothing labelled. Errors: WEFT_UNSUPPORTED naming the function that is missing.
 */
weft_status weft_debug_label_load(weft_device *device, bool commands);

/** Names an object that no other thread uses yet. A name that the driver has no memory for is left out. */
void weft_debug_name(const weft_device *device, VkObjectType type, uint64_t handle,
                     const char *name);

/** Commands recorded between the two calls are shown under the label. */
void weft_debug_label_begin(const weft_device *device, VkCommandBuffer commands, const char *label);
void weft_debug_label_end(const weft_device *device, VkCommandBuffer commands);

#endif
