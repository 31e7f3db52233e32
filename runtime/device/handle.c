/* SPDX-License-Identifier: MIT */
/* Properties of an open device, and closing it. */
#include "device/commands.h"

#include <math.h>

#include "core/given.h"
#include "core/system/disk_cache.h"
#include "core/try.h"
#include "device/fences.h"
#include "device/fork.h"
#include "device/instance.h"
#include "device/memory_budget.h"
#include "softvk/softvk.h"

const char *weft_math_name(weft_math math) {
    return math == WEFT_MATH_FAST ? "fast" : math == WEFT_MATH_FUSED ? "fused" : "reproducible";
}

const char *weft_fma_name(weft_fma fma) {
    static const char *const names[] = {[WEFT_FMA_NONE] = "none",
                                        [WEFT_FMA_INSTRUCTION] = "instruction",
                                        [WEFT_FMA_EXTENSION] = "extension",
                                        [WEFT_FMA_FLOAT64] = "float64",
                                        [WEFT_FMA_INTEGERS] = "integers"};
    return (unsigned)fma <= WEFT_FMA_INTEGERS ? names[fma] : names[WEFT_FMA_NONE];
}

const char *weft_weight_storage_name(weft_weight_storage storage) {
    switch (storage) {
    case WEFT_WEIGHTS_F32:
        return "f32";
    case WEFT_WEIGHTS_F16:
        return "f16";
    case WEFT_WEIGHTS_I8:
        return "int8";
    case WEFT_WEIGHTS_I8_ONLY:
        return "int8-only";
    default:
        return "auto";
    }
}

const char *weft_device_type_name(weft_device_type type) {
    switch (type) {
    case WEFT_DEVICE_DISCRETE:
        return "discrete";
    case WEFT_DEVICE_INTEGRATED:
        return "integrated";
    case WEFT_DEVICE_VIRTUAL:
        return "virtual";
    case WEFT_DEVICE_PROCESSOR:
        return "processor";
    case WEFT_DEVICE_SOFTWARE:
        return "software";
    default:
        return "other";
    }
}

weft_status weft_device_get_info(const weft_device *device, weft_device_info *info) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(device, host), device, info);
    WEFT_TRY(weft_device_alive(device));
    *info = device->info;
    return WEFT_OK;
}

weft_math weft_device_get_math(const weft_device *device) {
    return !device ? WEFT_MATH_REPRODUCIBLE : device->math;
}

weft_status weft_device_get_stats(const weft_device *device, weft_device_stats *stats) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(device, host), device, stats);
    WEFT_TRY(weft_device_alive(device));
    const struct weft_device_counters *counters = &device->stats;
    uint64_t budget = 0;
    uint64_t used = 0;
    weft_memory_budget(&budget, &used, device);
    *stats = (weft_device_stats){.memory_budget = budget,
                                 .memory_used = used,
                                 .bytes_in_use = counters->bytes_in_use,
                                 .peak_bytes = counters->peak_bytes,
                                 .shaders_compiled = counters->shaders_compiled,
                                 .pipelines_created = counters->pipelines_created,
                                 .pipelines_compiled = counters->pipelines_compiled,
                                 .validation_messages = counters->validation_messages,
                                 .submissions = counters->submissions};
    return WEFT_OK;
}

void weft_device_reset_peak(weft_device *device) {
    WEFT_ENTER;
    if (device) {
        weft_device_inherit(device);
        pthread_mutex_lock(&device->locks.memory);
        device->stats.peak_bytes = atomic_load(&device->stats.bytes_in_use);
        pthread_mutex_unlock(&device->locks.memory);
    }
}

void weft_device_cancel(weft_device *device) {
    WEFT_ENTER;
    if (!device) {
        return;
    }
    atomic_store(&device->cancelled, true);
    atomic_store(&device->lost, true);
    if (device->in_process) {
        weft_soft_cancel(device->vk.handle);
    }
}

weft_status weft_device_save_cache(weft_device *device) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(device, host), device);
    WEFT_TRY(weft_device_alive(device));
    for (const struct weft_device_part *part = device->parts; part->create; part++) {
        if (part->save) {
            WEFT_TRY(part->save(device));
        }
    }
    return WEFT_OK;
}

void weft_device_note_rate(weft_device *device, double flops, double milliseconds) {
    const double newest_share = 0.25;
    const double rate = flops / milliseconds;
    if (flops > 0.0 && milliseconds > 0.0 && isfinite(rate)) {
        /* Two threads may overwrite each other's rate: it is an estimate. */
        const double known = device->flops_per_ms;
        device->flops_per_ms = known + newest_share * (rate - known);
    }
}

/* Weft's own objects, newest first; each may be missing when setting up stopped half-way. */
static void destroy_objects(weft_device *device) {
    if (device->timeline != VK_NULL_HANDLE || device->fences) {
        /* Only our submissions: the rest of an adopted device's work is its owner's to wait for. */
        weft_device_settle(device, device->timeline_value);
    }
    size_t count = 0;
    while (device->parts && device->parts[count].create) {
        count++;
    }
    while (count-- > 0) {
        const struct weft_device_part *part = &device->parts[count];
        if (part->save && !device->lost) {
            /* A cache that cannot be written was logged, and costs only time at the next start. */
            (void)part->save(device);
        }
        if (part->destroy) {
            part->destroy(device);
        }
    }
    weft_commands_destroy(device);
    weft_memory_pool_destroy(device);
    weft_fences_destroy(device);
    if (device->timeline != VK_NULL_HANDLE) {
        device->vk.DestroySemaphore(device->vk.handle, device->timeline, NULL);
    }
}

void weft_device_destroy(weft_device **device) {
    WEFT_ENTER;
    if (!device || !*device) {
        return;
    }
    weft_device *old = *device;
    weft_device_inherit(old);
    if (!old->torn) {
        destroy_objects(old);
    }
    if (old->owns_handles) {
        if (old->vk.handle != VK_NULL_HANDLE && old->vk.DestroyDevice) {
            old->vk.DestroyDevice(old->vk.handle, NULL);
        }
        weft_instance_destroy(&old->instance, old->messenger);
    }
    const weft_host host = old->host;
    weft_cache_destroy(&old->cache, &host);
    weft_device_locks_destroy(&old->locks);
    weft_free(&host, old);
    *device = NULL;
}
