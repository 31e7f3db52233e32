/* SPDX-License-Identifier: MIT */
#include "device/discover.h"

#include <stdio.h>

#include "core/system/write_signals.h"
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
            !weft_native_can_execute(!physical->native)) {
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

/* A device that a Vulkan driver of the same vendor serves, too, is used by that. */
static bool has_vulkan_twin(const struct weft_discovery *discovery, const weft_device_info *info) {
    bool found = false;
    for (uint32_t i = 0; i < discovery->count; i++) {
        const struct weft_physical *other = &discovery->list[i];
        found = found || (!other->instance->software && other->info.usable &&
                          other->info.vendor_id == info->vendor_id);
    }
    return found;
}

static weft_status add_own(struct weft_discovery *discovery, const struct weft_software *software,
                           uint32_t index, const weft_host *host) {
    struct weft_vk_instance *instance = &discovery->own[discovery->own_count];
    void *user = software->user ? software->user(index) : NULL;
    const uint32_t first = discovery->count;
    WEFT_TRY(weft_instance_create_software(instance, software, user, host));
    discovery->own_count++;
    WEFT_TRY(add_devices(discovery, instance, host));
    for (uint32_t i = first; software->is_second_choice && i < discovery->count; i++) {
        weft_device_info *info = &discovery->list[i].info;
        info->by_name_only = software->is_second_choice(user, has_vulkan_twin(discovery, info));
    }
    return WEFT_OK;
}

static weft_status add_all(struct weft_discovery *discovery, bool slow, const weft_host *host) {
    for (uint32_t i = 0; i < WEFT_SOFTWARE_COUNT; i++) {
        const struct weft_software *software = &weft_software[i];
        const uint32_t count = software->is_slow_to_list == slow ? software->count(host) : 0;
        for (uint32_t k = 0; k < count && discovery->own_count < WEFT_MAX_OWN; k++) {
            WEFT_TRY(add_own(discovery, software, k, host));
        }
    }
    judge_processors(discovery);
    return WEFT_OK;
}

weft_status weft_discover(struct weft_discovery *discovery, const weft_host *host,
                          weft_device *validated, const char *select) {
    struct weft_write_signals signals;
    weft_status status = WEFT_OK;
    *discovery = (struct weft_discovery){0};
    const bool alone = weft_physical_is_own(select, host);
    weft_write_signals_hold(&signals); /* drivers begin with files of their caches */
    if (!alone) {
        status = add_loaded(discovery, host, validated);
    }
    if (status == WEFT_OK) {
        status = add_all(discovery, false, host);
    }
    weft_write_signals_release(&signals);
    for (uint32_t i = 0; alone && i < discovery->count; i++) {
        discovery->list[i].info.index =
            WEFT_INDEX_ALONE; /* how many drivers' come before is not known */
    }
    return status;
}

weft_status weft_discover_slow(struct weft_discovery *discovery, const weft_host *host) {
    struct weft_write_signals signals;
    weft_write_signals_hold(&signals);
    const weft_status status = add_all(discovery, true, host);
    weft_write_signals_release(&signals);
    return status;
}

struct weft_vk_instance weft_discovery_take(struct weft_discovery *discovery,
                                            const struct weft_physical *physical) {
    struct weft_vk_instance *own = &discovery->loaded;
    for (uint32_t i = 0; i < discovery->own_count; i++) {
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
    for (uint32_t i = 0; i < discovery->own_count; i++) {
        weft_instance_destroy(&discovery->own[i], VK_NULL_HANDLE);
    }
    weft_free(host, discovery->list);
    *discovery = (struct weft_discovery){0};
}
