/* SPDX-License-Identifier: MIT */
/* A device of Weft's as the VkDevice of a program that has another adopt it. */
#ifndef WEFT_TESTS_SUPPORT_ADOPT_H
#define WEFT_TESTS_SUPPORT_ADOPT_H

#include "device/device.h"

/** The parameters of weft_device_adopt that hand over the `real` device's, without a cache, and what else is given. */
#define WEFT_TEST_ADOPT(real_, ...)                                                              \
    weft_device_adopt_params(.instance = (real_)->instance.handle,                               \
                             .physical_device = (real_)->physical, .device = (real_)->vk.handle, \
                             .queue = (real_)->queue, .queue_family = (real_)->queue_family,     \
                             .get_instance_proc_addr = (real_)->instance.GetInstanceProcAddr,    \
                             .timeline_semaphore = (real_)->has_timeline, .cache_dir = "",       \
                             __VA_ARGS__)

#endif
