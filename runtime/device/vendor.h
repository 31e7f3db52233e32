/* SPDX-License-Identifier: MIT */
/* Vendors of GPUs whose compilers are told apart, by the numbers that the PCI SIG gave them: weft_device_info.vendor_id. */
#ifndef WEFT_DEVICE_VENDOR_H
#define WEFT_DEVICE_VENDOR_H

enum weft_vendor {
    WEFT_VENDOR_ARM = 0x13b5,      /* Mali */
    WEFT_VENDOR_BROADCOM = 0x14e4, /* VideoCore, a Raspberry Pi's */
    WEFT_VENDOR_INTEL = 0x8086,
    WEFT_VENDOR_QUALCOMM = 0x5143, /* Adreno */
};

#endif
