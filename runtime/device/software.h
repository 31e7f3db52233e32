/* SPDX-License-Identifier: MIT */
/* The devices that are this library's own: back ends of runtime/softvk. */
#ifndef WEFT_DEVICE_SOFTWARE_H
#define WEFT_DEVICE_SOFTWARE_H

#include "softvk/softvk.h"

struct weft_software {
    const struct weft_soft_backend *backend;
    bool (*is_listed)(void); /* whether it is there, and wanted */
};

enum { WEFT_SOFTWARE_COUNT = 2 };

/** In the order in which they are listed, behind those of Vulkan drivers. */
extern const struct weft_software weft_software[WEFT_SOFTWARE_COUNT];

/** The one whose driver has that name, also where a loader has opened it; null for a driver of others. */
const struct weft_software *weft_software_of_driver(const char *name);

#endif
