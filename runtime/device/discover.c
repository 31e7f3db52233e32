/* SPDX-License-Identifier: MIT */
#include "device/discover.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "device/device.h"
#include "native/kernel.h"

/* Tests of drivers hide the processor, and so can whoever wants to see what a machine without it does. */
static bool has_processor(void) {
    const char *value = getenv("WEFT_PROCESSOR");
    return !(value && strcmp(value, "0") == 0);
}

/*
 * Devices from the list's `first` on that compute by code which they make on the processor: where the system does not let this process execute
 * that, our own fails at the first kernel, and drivers do not survive it.
 */
static void judge_processors(struct weft_discovery *discovery, uint32_t first, bool in_place) {
    for (uint32_t i = first; i < discovery->count; i++) {
        weft_device_info *info = &discovery->list[i].info;
        if (info->compiles && weft_runs_on_processor(info) && !weft_cpu_can_execute(in_place)) {
            info->compiles = info->usable = false;
            (void)snprintf(info->reason, sizeof info->reason,
                           "makes its code while it runs, and the system lets this process execute "
                           "no memory that it has written");
        }
    }
}

static weft_status add_loaded(struct weft_discovery *discovery, const weft_host *host,
                              weft_device *validated) {
    weft_status status =
        weft_instance_create(&discovery->loaded, host, validated, discovery->reason);
    if (status == WEFT_NO_DEVICE) {
        weft_log(host, WEFT_LOG_INFO, "no Vulkan devices: %s", discovery->reason);
        return WEFT_OK;
    }
    WEFT_TRY(status);
    WEFT_TRY(weft_physical_list(&discovery->list, &discovery->count, &discovery->loaded, host));
    judge_processors(discovery, 0, true);
    return WEFT_OK;
}

static weft_status add_processor(struct weft_discovery *discovery, const weft_host *host) {
    const uint32_t first = discovery->count;
    WEFT_TRY(weft_instance_create_processor(&discovery->processor, host));
    WEFT_TRY(weft_physical_list(&discovery->list, &discovery->count, &discovery->processor, host));
    if (weft_cpu_can_compile()) {
        judge_processors(discovery, first, false);
    }
    return WEFT_OK;
}

weft_status weft_discover(struct weft_discovery *discovery, const weft_host *host,
                          weft_device *validated) {
    *discovery = (struct weft_discovery){0};
    WEFT_TRY(add_loaded(discovery, host, validated));
    return has_processor() ? add_processor(discovery, host) : WEFT_OK;
}

struct weft_vk_instance weft_discovery_take(struct weft_discovery *discovery,
                                            const struct weft_physical *physical) {
    struct weft_vk_instance *own =
        physical->instance == &discovery->processor ? &discovery->processor : &discovery->loaded;
    const struct weft_vk_instance taken = *own;
    *own = (struct weft_vk_instance){0};
    return taken;
}

void weft_discovery_end(struct weft_discovery *discovery, const weft_host *host,
                        weft_device *validated) {
    if (discovery->loaded.handle != VK_NULL_HANDLE) {
        weft_instance_destroy(&discovery->loaded,
                              validated ? validated->messenger : VK_NULL_HANDLE);
        if (validated) {
            validated->messenger = VK_NULL_HANDLE;
        }
    }
    weft_instance_destroy(&discovery->processor, VK_NULL_HANDLE);
    weft_free(host, discovery->list);
    *discovery = (struct weft_discovery){0};
}
