/* SPDX-License-Identifier: MIT */
/* Which status a VkResult becomes. */
#ifndef WEFT_DEVICE_RESULT_H
#define WEFT_DEVICE_RESULT_H

#include "core/host.h"
#include "device/vk.h"

/** WEFT_OK, or logs "call: VK_ERROR_…" and returns the status: weft_device_check where there is no
 * device yet. */
weft_status weft_vk_check(const weft_host *host, VkResult result, const char *call);

#endif
