/* SPDX-License-Identifier: MIT */
/* The devices without a Vulkan driver: back ends of runtime/softvk. */
#ifndef WEFT_DEVICE_SOFTWARE_H
#define WEFT_DEVICE_SOFTWARE_H

#include "softvk/softvk.h"

struct weft_software {
    const struct weft_soft_backend *backend;
    bool is_slow_to_list; /* looked for only where no other device serves */
    /* How many devices there are, and wanted, and what weft_soft_instance_info::user is of each. */
    uint32_t (*count)(const weft_host *host);
    void *(*user)(uint32_t index); /* null: none */
    /* Null: none is. Whether it is opened only by name; `has_twin`: a Vulkan driver of the same vendor serves. */
    bool (*is_second_choice)(const void *user, bool has_twin);
    const char *alone; /* the selection that means it and nothing else, or null */
};

enum { WEFT_SOFTWARE_COUNT = 3 };

/** In the order in which they are listed, behind those of Vulkan drivers. */
extern const struct weft_software weft_software[WEFT_SOFTWARE_COUNT];

/** True if a GPU may be there that only a device of this kind serves: no driver is started to find out. */
bool weft_software_may_have_gpu(void);

/** The one whose driver has that name, also where a loader has opened it; null for a driver of others. */
const struct weft_software *weft_software_of_driver(const char *name);

#endif
