/* SPDX-License-Identifier: MIT */
/* Weft's own VkInstance, and the function tables of an instance and of a device. */
#ifndef WEFT_DEVICE_INSTANCE_H
#define WEFT_DEVICE_INSTANCE_H

#include "device/device.h"

#define WEFT_REASON_SIZE 256

/**
 * Makes an instance for Vulkan 1.2 on the system's loader, or for 1.1 where that has no more. WEFT_NO_DEVICE, which is not
 * logged but told in `reason` (WEFT_REASON_SIZE bytes), when there is no loader, no driver or only Vulkan 1.0; other errors are logged. Where `validated` is not null, the validation layer is on and
 * its messages go to that device's log and counter (device->messenger must be destroyed with it,
 * see weft_instance_destroy).
 */
weft_status weft_instance_create(struct weft_vk_instance *instance, const weft_host *host,
                                 weft_device *validated, char *reason);

/** Makes the instance of a device of this library's own, which has no loader; it allocates and logs with `host`. `user` is for its back end. */
weft_status weft_instance_create_software(struct weft_vk_instance *instance,
                                          const struct weft_software *software, void *user,
                                          const weft_host *host);

/** Destroys an instance, with its messenger (may be null), and zeroes the table; one that was never made is fine. */
void weft_instance_destroy(struct weft_vk_instance *instance, VkDebugUtilsMessengerEXT messenger);

/**
 * Fills the table for instance->handle through instance->GetInstanceProcAddr.
 * Errors: WEFT_UNSUPPORTED naming the function that is missing.
 */
weft_status weft_vk_load_instance(struct weft_vk_instance *instance, const weft_host *host);

/** Fills the table for device->handle through instance->GetDeviceProcAddr. Errors likewise. */
weft_status weft_vk_load_device(struct weft_vk_device *device,
                                const struct weft_vk_instance *instance, const weft_host *host);

/** And for its timeline semaphores, where it has them, used as a device of that version of Vulkan. */
weft_status weft_vk_load_timeline(struct weft_vk_device *device, uint32_t version,
                                  const struct weft_vk_instance *instance, const weft_host *host);

#endif
