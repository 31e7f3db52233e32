/* SPDX-License-Identifier: MIT */
/* Vendors of GPUs whose compilers are told apart, by the numbers that the PCI SIG gave them: weft_device_info.vendor_id. */
#ifndef WEFT_CORE_VENDOR_H
#define WEFT_CORE_VENDOR_H

#include <stdbool.h>
#include <stdint.h>

enum weft_vendor {
    WEFT_VENDOR_ARM = 0x13b5,      /* Mali */
    WEFT_VENDOR_BROADCOM = 0x14e4, /* VideoCore, a Raspberry Pi's */
    WEFT_VENDOR_IMAGINATION = 0x1010,
    WEFT_VENDOR_INTEL = 0x8086,
    WEFT_VENDOR_NVIDIA = 0x10de,
    WEFT_VENDOR_QUALCOMM = 0x5143, /* Adreno */
};

/** Not VideoCore and Mali, whose invocations have 64 at most. */
static inline bool weft_vendor_has_over_64_registers(uint32_t vendor_id) {
    return vendor_id != WEFT_VENDOR_BROADCOM && vendor_id != WEFT_VENDOR_ARM;
}

#endif
