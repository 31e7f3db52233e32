/* SPDX-License-Identifier: MIT */
/*
 * The system's Vulkan loader, opened at run time: libweft links no Vulkan library, and no symbol of it is named like
 * one of Vulkan's.
 */
#ifndef WEFT_DEVICE_LOADER_H
#define WEFT_DEVICE_LOADER_H

#include "device/vk.h"

/**
 * The loader's vkGetInstanceProcAddr, or null when the system has none. The loader stays open for the rest of the
 * process. Thread safe.
 */
PFN_vkGetInstanceProcAddr weft_loader_open(void);

#endif
