/* SPDX-License-Identifier: MIT */
/* Bytes of each heap that this process may use before the driver moves memory or fails (VK_EXT_memory_budget). */
#ifndef WEFT_DEVICE_MEMORY_BUDGET_H
#define WEFT_DEVICE_MEMORY_BUDGET_H

#include "device/device.h"

/** True if `size` bytes more of a memory type are within its heap's budget; true where the driver tells none. */
bool weft_memory_is_in_budget(const weft_device *device, uint32_t type, uint64_t size);

/** The budget of all device-local heaps, and what this process takes of it; both 0 where the driver tells none. */
void weft_memory_budget(uint64_t *budget, uint64_t *used, const weft_device *device);

#endif
