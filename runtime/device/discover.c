/* SPDX-License-Identifier: MIT */
#include "device/discover.h"

#include <stdio.h>

#include "core/try.h"
#include "device/device.h"
#include "native/kernel.h"

/*
 * Devices that compute by code which they make on the processor: where the system does not let this process execute
 * that, our own fails at the first kernel, and drivers do not survive it.
 */
static void judge_processors(struct weft_discovery *discovery) {
    for (uint32_t i = 0; i < discovery->count; i++) {
        struct weft_physical *physical = &discovery->list[i];
        weft_device_info *info = &physical->info;
        if (info->compiles && physical->on_processor && !physical->interprets &&
            !weft_cpu_can_execute(!physical->native)) {
            info->compiles = info->usable = false;
            (void)snprintf(info->reason, sizeof info->reason,
                           "makes its code while it runs, and the system lets this process execute "
                           "no memory that it has written");
        }
    }
}

static weft_status add_devices(struct weft_discovery *discovery,
                               const struct weft_vk_instance *instance, const weft_host *host) {
    return weft_physical_list(&discovery->list, &discovery->count, instance, host);
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
    return add_devices(discovery, &discovery->loaded, host);
}

weft_status weft_discover(struct weft_discovery *discovery, const weft_host *host,
                          weft_device *validated) {
    *discovery = (struct weft_discovery){0};
    WEFT_TRY(add_loaded(discovery, host, validated));
    for (uint32_t i = 0; i < WEFT_SOFTWARE_COUNT; i++) {
        struct weft_vk_instance *instance = &discovery->own[i];
        if (weft_software[i].is_listed()) {
            WEFT_TRY(weft_instance_create_software(instance, &weft_software[i], NULL, host));
            WEFT_TRY(add_devices(discovery, instance, host));
        }
    }
    judge_processors(discovery);
    return WEFT_OK;
}

struct weft_vk_instance weft_discovery_take(struct weft_discovery *discovery,
                                            const struct weft_physical *physical) {
    struct weft_vk_instance *own = &discovery->loaded;
    for (uint32_t i = 0; i < WEFT_SOFTWARE_COUNT; i++) {
        own = physical->instance == &discovery->own[i] ? &discovery->own[i] : own;
    }
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
    for (uint32_t i = 0; i < WEFT_SOFTWARE_COUNT; i++) {
        weft_instance_destroy(&discovery->own[i], VK_NULL_HANDLE);
    }
    weft_free(host, discovery->list);
    *discovery = (struct weft_discovery){0};
}
