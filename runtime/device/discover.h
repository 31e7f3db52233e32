/* SPDX-License-Identifier: MIT */
/* Finding all devices there are: those of the system's Vulkan drivers, and this library's own. */
#ifndef WEFT_DEVICE_DISCOVER_H
#define WEFT_DEVICE_DISCOVER_H

#include "device/instance.h"
#include "device/physical.h"
#include "device/software.h"

/** Most devices without a Vulkan driver. */
#define WEFT_MAX_OWN 34

struct weft_discovery {
    struct weft_vk_instance loaded;            /* the loader's, zeroed where there is none */
    struct weft_vk_instance own[WEFT_MAX_OWN]; /* one for each of the others */
    uint32_t own_count;
    struct weft_physical *list; /* of `count`; in host memory */
    uint32_t count;
    char reason[WEFT_REASON_SIZE]; /* why the loader has no devices, or empty */
};

/**
 * Lists the devices but those that are slow to list; where `select`, which may be null, is the name of one of this library's own, only these: no
 * loader and no driver is loaded then. That there are none is no error. `validated` as for weft_instance_create. Threads and the
 * compiler of the processor device are not touched. Call weft_discovery_end also after an error.
 */
weft_status weft_discover(struct weft_discovery *discovery, const weft_host *host,
                          weft_device *validated, const char *select);

/** Lists those that are slow to list behind the others: their drivers start threads and compilers in this process. */
weft_status weft_discover_slow(struct weft_discovery *discovery, const weft_host *host);

/** Takes the instance of one of the devices out, for the caller to keep. */
struct weft_vk_instance weft_discovery_take(struct weft_discovery *discovery,
                                            const struct weft_physical *physical);

/** Destroys what is left. With the loader's instance goes the messenger of `validated`, which may be null. */
void weft_discovery_end(struct weft_discovery *discovery, const weft_host *host,
                        weft_device *validated);

#endif
