/* SPDX-License-Identifier: MIT */
/* For back ends that compile by the intermediate form: what a pipeline is compiled from, without Vulkan's structures. */
#ifndef WEFT_SOFTVK_MODULE_H
#define WEFT_SOFTVK_MODULE_H

#include "softvk/device.h"
#include "spirv/ir/source.h"

/** It holds until `source` goes and weft_soft_module_free. Errors: WEFT_OUT_OF_HOST_MEMORY. */
weft_status weft_soft_module(struct weft_ir_source *module, const struct weft_soft_source *source,
                             const struct weft_soft_device *device, const weft_host *host);
void weft_soft_module_free(struct weft_ir_source *module, const weft_host *host);

#endif
