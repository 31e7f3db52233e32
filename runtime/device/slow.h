/* SPDX-License-Identifier: MIT */
/* Devices that compute far slower than the machine could: what is said of them, and when. */
#ifndef WEFT_DEVICE_SLOW_H
#define WEFT_DEVICE_SLOW_H

#include <weft/device.h>

/** Writes `interpreted` and `slow` of a device whose other fields are known. */
void weft_slow_write(weft_device_info *info, bool interprets);

/** Warns before a device is used that interprets its kernels, or is slow and `stands_in` for another (weft_physical_stands_in). */
void weft_slow_warn(const weft_device_info *info, bool stands_in, const weft_host *host);

#endif
