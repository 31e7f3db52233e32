/* SPDX-License-Identifier: MIT */
/* Memory of the host that a device works on in place (VK_EXT_external_memory_host). */
#ifndef WEFT_DEVICE_HOST_MEMORY_H
#define WEFT_DEVICE_HOST_MEMORY_H

#include <weft/buffer.h>

#include "device/vk.h"

/** Alignment in bytes of such memory, on a device that has the extension. */
uint64_t weft_host_memory_alignment(VkPhysicalDevice handle,
                                    const struct weft_vk_instance *instance);

/** Whether buffers of the host's memory can be moved on that device: it is the processor, which has nothing to import. */
bool weft_device_moves_buffers(const weft_device *device);

/** Puts a buffer that weft_buffer_wrap_host made to other memory, as aligned and as large. Nothing is running that uses it. */
void weft_buffer_move(const weft_buffer *buffer, void *memory);

#endif
