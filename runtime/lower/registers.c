/* SPDX-License-Identifier: MIT */
#include "lower/registers.h"

#include "device/vendor.h"

bool weft_has_over_64_registers(const weft_device_info *info) {
    return weft_vendor_has_over_64_registers(info->vendor_id);
}

bool weft_has_registers_for_tiles(const weft_device_info *info) {
    return info->vendor_id != WEFT_VENDOR_INTEL && weft_has_over_64_registers(info);
}

bool weft_has_many_registers(const weft_device_info *info) {
    return info->vendor_id != WEFT_VENDOR_QUALCOMM && weft_has_registers_for_tiles(info);
}
