/* SPDX-License-Identifier: MIT */
/* What shaders and graphs keep with a device. */
#include "device/device.h"
#include "graph/constant_store.h"
#include "shader/pipeline_store.h"
#include "shader/probe.h"

const struct weft_device_part weft_device_parts[] = {
    {.create = weft_pipeline_store_create,
     .save = weft_pipeline_store_save,
     .destroy = weft_pipeline_store_destroy},
    {.create = weft_weight_store_create, .destroy = weft_weight_store_destroy},
    {.create = weft_device_probe}, /* needs a pipeline */
};
const size_t weft_device_part_count = sizeof weft_device_parts / sizeof weft_device_parts[0];
