/* SPDX-License-Identifier: MIT */
/* Devices, with what shaders and lowering keep with them. */
#include "core/given.h"
#include "core/try.h"
#include "device/device.h"
#include "lower/constant_store.h"
#include "shader/pipeline_store.h"
#include "shader/probe.h"

#include <weft/opencl.h>

static const struct weft_device_part parts[] = {
    {.create = weft_pipeline_store_create,
     .save = weft_pipeline_store_save,
     .destroy = weft_pipeline_store_destroy},
    {.create = weft_weight_store_create, .destroy = weft_weight_store_destroy},
    {.create = weft_device_probe}, /* needs a pipeline */
    {.create = NULL},
};

weft_status weft_device_open(weft_device **device, const weft_device_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(params, host), device);
    return weft_device_open_with(device, params, parts);
}

weft_status weft_device_adopt_opencl(weft_device **device,
                                     const weft_device_adopt_opencl_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(params, host), device, params);
    return weft_device_adopt_opencl_with(device, params, parts);
}

weft_status weft_device_adopt(weft_device **device, const weft_device_adopt_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(params, host), device, params);
    return weft_device_adopt_with(device, params, parts);
}
