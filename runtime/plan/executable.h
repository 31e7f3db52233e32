/* SPDX-License-Identifier: MIT */
/* Reading what a driver's compiler tells of a pipeline. */
#ifndef WEFT_PLAN_EXECUTABLE_H
#define WEFT_PLAN_EXECUTABLE_H

#include <weft/inspect.h>

#include "core/host.h"
#include "device/vk.h"

/**
 * Reads the first executable of a pipeline that was made to keep it; `vk` has the functions for that, and `host` must outlive what
 * is made. Errors are those of weft_plan_get_executable.
 */
weft_status weft_executable_read(weft_executable **executable, const struct weft_vk_device *vk,
                                 VkPipeline pipeline, const weft_host *host);

#endif
