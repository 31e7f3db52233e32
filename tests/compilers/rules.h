/* SPDX-License-Identifier: MIT */
/* Machine code that keeps, or does not keep, to what reproducible math promises. */
#ifndef WEFT_COMPILERS_RULES_H
#define WEFT_COMPILERS_RULES_H

#include <stdbool.h>
#include <stddef.h>

/** The machine code of a compiler whose instructions are known here. */
struct weft_isa {
    const char *driver;         /* the beginning of VkPhysicalDeviceDriverProperties::driverName */
    const char *representation; /* what the driver calls its machine code */
    bool (*breaks)(char *why, size_t size, const char *code);
};

/** Null for a driver whose machine code is not known. */
const struct weft_isa *weft_isa_of(const char *driver);

#endif
