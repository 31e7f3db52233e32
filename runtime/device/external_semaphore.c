/* SPDX-License-Identifier: MIT */
/* Semaphores that others have, too. */
#include "core/given.h"
#include "core/try.h"
#include "device/external.h"
#include "device/fork.h"

struct weft_semaphore {
    weft_device *device;
    VkSemaphore handle;
    bool is_exportable;
};

weft_status weft_device_get_external_semaphore(const weft_device *device, bool timeline,
                                               weft_external_info *info) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(device, host), device, info);
    WEFT_TRY(weft_device_alive(device));
    *info = (weft_external_info){false, false};
    if (!device->external.semaphore_properties || (timeline && !device->has_timeline)) {
        return WEFT_OK;
    }
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = timeline ? VK_SEMAPHORE_TYPE_TIMELINE
                                                                      : VK_SEMAPHORE_TYPE_BINARY};
    const VkPhysicalDeviceExternalSemaphoreInfo asked = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO,
        .pNext = timeline ? &type : NULL,
        .handleType = weft_external_names.semaphore};
    VkExternalSemaphoreProperties found = {.sType =
                                               VK_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_PROPERTIES};
    device->external.semaphore_properties(device->physical, &asked, &found);
    const VkExternalSemaphoreFeatureFlags features = found.externalSemaphoreFeatures;
    info->exports = (features & VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT) != 0;
    info->imports = (features & VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT) != 0;
    return WEFT_OK;
}

/* ---- making ---- */

static weft_status check(const weft_device *device, weft_semaphore *const *semaphore, bool timeline,
                         bool imports, const char *function) {
    weft_external_info info;
    if (!semaphore) {
        return weft_fail(&device->host, WEFT_INVALID_ARGUMENT, "%s: semaphore is null", function);
    }
    WEFT_TRY(weft_device_runs(device));
    WEFT_TRY(weft_device_get_external_semaphore(device, timeline, &info));
    if (!(imports ? info.imports : info.exports)) {
        return weft_fail(&device->host, WEFT_UNSUPPORTED, "%s: %s %s no %s semaphores", function,
                         device->info.name, imports ? "imports" : "exports",
                         timeline ? "timeline" : "binary");
    }
    return WEFT_OK;
}

static weft_status make(weft_semaphore **semaphore, weft_device *device, bool timeline,
                        bool is_exportable) {
    const VkExportSemaphoreCreateInfo exported = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO,
        .handleTypes = weft_external_names.semaphore};
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .pNext = is_exportable ? &exported : NULL,
                                            .semaphoreType = timeline ? VK_SEMAPHORE_TYPE_TIMELINE
                                                                      : VK_SEMAPHORE_TYPE_BINARY};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = timeline ? &type : type.pNext};
    weft_semaphore *made = weft_alloc_zero(&device->host, 1, sizeof *made);
    if (!made) {
        return weft_fail_memory(&device->host, "semaphore");
    }
    *made = (weft_semaphore){.device = device, .is_exportable = is_exportable};
    const weft_status status = WEFT_VK_MAKE(device, CreateSemaphore, &info, &made->handle);
    if (status != WEFT_OK) {
        weft_semaphore_destroy(&made);
        return status;
    }
    *semaphore = made;
    return WEFT_OK;
}

weft_status weft_semaphore_create_exportable(weft_semaphore **semaphore, weft_device *device,
                                             bool timeline) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(device, host), semaphore, device);
    WEFT_TRY(check(device, semaphore, timeline, false, "weft_semaphore_create_exportable"));
    return make(semaphore, device, timeline, true);
}

weft_status weft_semaphore_import_handle(weft_semaphore **semaphore, weft_device *device,
                                         bool timeline, weft_external_handle handle) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(device, host), semaphore, device);
    weft_semaphore *made = NULL;
    WEFT_TRY(check(device, semaphore, timeline, true, "weft_semaphore_import_handle"));
    WEFT_TRY(weft_external_check(device, handle, "weft_semaphore_import_handle"));
    WEFT_TRY(make(&made, device, timeline, false));
    const weft_status status = weft_external_semaphore_import(device, made->handle, handle);
    if (status != WEFT_OK) {
        weft_semaphore_destroy(&made);
        return status;
    }
    *semaphore = made;
    return WEFT_OK;
}

weft_status weft_semaphore_export_handle(weft_semaphore *semaphore, weft_external_handle *handle) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(semaphore, device->host), semaphore, handle);
    if (!semaphore->is_exportable) {
        return weft_fail(&semaphore->device->host, WEFT_INVALID_ARGUMENT,
                         "weft_semaphore_export_handle: the semaphore is not exportable");
    }
    WEFT_TRY(weft_device_runs(semaphore->device));
    return weft_external_semaphore_export(handle, semaphore->device, semaphore->handle);
}

void weft_semaphore_destroy(weft_semaphore **semaphore) {
    WEFT_ENTER;
    if (!semaphore || !*semaphore) {
        return;
    }
    weft_semaphore *old = *semaphore;
    weft_device *device = old->device;
    weft_device_inherit(device);
    if (old->handle != VK_NULL_HANDLE) {
        /* A run that was submitted may wait for it, or signal it. */
        weft_device_settle(device, device->timeline_value);
        device->vk.DestroySemaphore(device->vk.handle, old->handle, NULL);
    }
    weft_free(&device->host, old);
    *semaphore = NULL;
}

VkSemaphore weft_semaphore_vulkan(const weft_semaphore *semaphore) {
    return semaphore ? semaphore->handle : VK_NULL_HANDLE;
}
