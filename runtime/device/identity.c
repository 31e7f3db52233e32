/* SPDX-License-Identifier: MIT */
#include "device/identity.h"

#include <string.h>

void weft_identity_read(weft_device_info *info, VkPhysicalDevice handle,
                        const struct weft_vk_instance *instance) {
    VkPhysicalDevicePCIBusInfoPropertiesEXT pci = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT};
    VkPhysicalDeviceIDProperties id = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES,
                                       .pNext = info->has_pci ? &pci : NULL};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &id};
    if (info->api_version[0] == 1 && info->api_version[1] == 0) {
        info->has_pci = false; /* what tells it came with Vulkan 1.1 */
        return;
    }
    instance->GetPhysicalDeviceProperties2(handle, &properties);
    memcpy(info->device_uuid, id.deviceUUID, sizeof info->device_uuid);
    memcpy(info->driver_uuid, id.driverUUID, sizeof info->driver_uuid);
    info->has_luid = id.deviceLUIDValid == VK_TRUE;
    if (info->has_luid) {
        memcpy(info->luid, id.deviceLUID, sizeof info->luid);
    }
    const uint32_t place[] = {pci.pciDomain, pci.pciBus, pci.pciDevice, pci.pciFunction};
    memcpy(info->pci_place, place, sizeof place);
}

/* ---- texts ---- */

static int digit(char c) {
    return c >= '0' && c <= '9'                     ? c - '0'
           : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                    : -1;
}

/* Behind the prefix, in any case, or null. */
static const char *behind(const char *text, const char *prefix) {
    for (; *prefix != '\0'; prefix++, text++) {
        if (*text != *prefix && *text != *prefix - 'a' + 'A') {
            return NULL;
        }
    }
    return text;
}

/* Pairs of digits, between which there may be "-". */
static bool parse_bytes(uint8_t *bytes, size_t count, const char *text) {
    for (size_t i = 0; i < count; i++) {
        text += i > 0 && *text == '-';
        const int high = digit(text[0]);
        const int low = high < 0 ? -1 : digit(text[1]);
        if (low < 0) {
            return false;
        }
        bytes[i] = (uint8_t)(high << 4 | low);
        text += 2;
    }
    return *text == '\0';
}

/* Digits, one to `most`; behind them, or null. */
static const char *parse_number(uint32_t *value, const char *text, int most) {
    int count = 0;
    *value = 0;
    for (; count < most && digit(text[count]) >= 0; count++) {
        *value = *value << 4 | (uint32_t)digit(text[count]);
    }
    return count > 0 ? text + count : NULL;
}

/* [domain:]bus:device.function, in hexadecimal digits, as lspci writes it. */
static bool parse_place(uint32_t place[4], const char *text) {
    uint32_t first = 0;
    const char *rest = parse_number(&first, text, 8);
    const char *second = rest && *rest == ':' ? parse_number(&place[1], rest + 1, 8) : NULL;
    if (!second) {
        return false;
    }
    place[0] = first;
    if (*second == '.') { /* no domain */
        place[0] = 0;
        place[2] = place[1];
        place[1] = first;
    } else {
        second = *second == ':' ? parse_number(&place[2], second + 1, 8) : NULL;
    }
    const char *end = second && *second == '.' ? parse_number(&place[3], second + 1, 1) : NULL;
    return end && *end == '\0';
}

struct weft_identity weft_identity_parse(const char *text) {
    struct weft_identity identity = {.kind = WEFT_IDENTITY_NONE};
    const char *rest = NULL;
    if ((rest = behind(text, "uuid:")) != NULL) {
        identity.kind = WEFT_IDENTITY_UUID;
        identity.is_valid = parse_bytes(identity.bytes, 16, rest);
    } else if ((rest = behind(text, "luid:")) != NULL) {
        identity.kind = WEFT_IDENTITY_LUID;
        identity.is_valid = parse_bytes(identity.bytes, 8, rest);
    } else if ((rest = behind(text, "pci:")) != NULL) {
        identity.kind = WEFT_IDENTITY_PCI;
        identity.is_valid = parse_place(identity.place, rest);
    }
    return identity;
}

bool weft_identity_is(const struct weft_identity *identity, const weft_device_info *info) {
    switch (identity->kind) {
    case WEFT_IDENTITY_UUID:
        return memcmp(identity->bytes, info->device_uuid, sizeof info->device_uuid) == 0;
    case WEFT_IDENTITY_LUID:
        return info->has_luid && memcmp(identity->bytes, info->luid, sizeof info->luid) == 0;
    case WEFT_IDENTITY_PCI:
        return info->has_pci &&
               memcmp(identity->place, info->pci_place, sizeof info->pci_place) == 0;
    default:
        return false;
    }
}
