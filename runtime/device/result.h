/* SPDX-License-Identifier: MIT */
/* What a VkResult is called and which status it becomes. */
#ifndef WEFT_DEVICE_RESULT_H
#define WEFT_DEVICE_RESULT_H

#include "core/host.h"
#include "device/vk.h"

/** "VK_ERROR_DEVICE_LOST"; "VkResult" for values that Vulkan 1.2 core functions do not return. */
const char *weft_vk_result_name(VkResult result);

/** WEFT_OK for VK_SUCCESS; anything without a status of its own is WEFT_DRIVER_ERROR. */
weft_status weft_vk_result_status(VkResult result);

/** WEFT_OK, or logs "call: VK_ERROR_…" and returns the status: weft_device_check where there is no
 * device yet. */
weft_status weft_vk_check(const weft_host *host, VkResult result, const char *call);

#endif
