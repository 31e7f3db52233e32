/* SPDX-License-Identifier: MIT */
/*
 * A device in a child that was forked since it was opened. The child has a copy of the memory, but none of the threads. The processor device
 * goes on there, unless something was half done. Of any other device, a driver and hardware know only the parent: it counts as lost, and
 * what is closed is forgotten: host memory is freed, and no driver is called.
 */
#ifndef WEFT_DEVICE_FORK_H
#define WEFT_DEVICE_FORK_H

#include "device/device.h"

/** From now on the device is this process's. */
void weft_device_own(weft_device *device);

/**
 * Makes of a device of the parent's what it can be here, once. Whoever is about to touch a device calls this first: weft_device_alive does,
 * and so does what cannot fail.
 */
void weft_device_inherit(const weft_device *device);

/** Logs that it is of another process. */
weft_status weft_device_forgotten(const weft_device *device);

#endif
