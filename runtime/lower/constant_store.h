/* SPDX-License-Identifier: MIT */
#ifndef WEFT_LOWER_CONSTANT_STORE_H
#define WEFT_LOWER_CONSTANT_STORE_H

#include "device/device.h"

/** Makes device->weights, which holds weights and tables on the device and host objects kept with it. */
weft_status weft_weight_store_create(weft_device *device);
/** Takes a device without a store, too. */
void weft_weight_store_destroy(weft_device *device);

#endif
