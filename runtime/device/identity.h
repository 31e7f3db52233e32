/* SPDX-License-Identifier: MIT */
/* Which device it is: by UUID, by LUID, by its place on the PCI bus. */
#ifndef WEFT_DEVICE_IDENTITY_H
#define WEFT_DEVICE_IDENTITY_H

#include "device/vk.h"

#include <weft/device.h>

/** Fills in what the driver tells; info->has_pci says whether it has the extension. */
void weft_identity_read(weft_device_info *info, VkPhysicalDevice handle,
                        const struct weft_vk_instance *instance);

/** Device that a text uuid:…, luid:… or pci:… names. */
struct weft_identity {
    enum weft_identity_kind {
        WEFT_IDENTITY_NONE, /* it is of none of these forms */
        WEFT_IDENTITY_UUID,
        WEFT_IDENTITY_LUID,
        WEFT_IDENTITY_PCI
    } kind;
    bool is_valid; /* the rest is what the form wants */
    uint8_t bytes[16];
    uint32_t place[4];
};

struct weft_identity weft_identity_parse(const char *text);

/** True if a device is the one of a valid identity. */
bool weft_identity_is(const struct weft_identity *identity, const weft_device_info *info);

#endif
