/* SPDX-License-Identifier: MIT */
/* Machine code that keeps, or does not keep, to what reproducible and fused math promise. */
#ifndef WEFT_COMPILERS_RULES_H
#define WEFT_COMPILERS_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include <weft/device.h>

/** The machine code of a compiler whose instructions are known here. */
struct weft_isa;

/** By VkPhysicalDeviceDriverProperties::driverName; null for a driver whose machine code is not known. */
const struct weft_isa *weft_isa_of(const char *driver);

/** Whether what the driver calls `representation` is that machine code. */
bool weft_isa_is(const struct weft_isa *isa, const char *representation);

/** The first instruction that breaks fused math, or any other than that reproducible math, is written to `why`. */
bool weft_isa_breaks(const struct weft_isa *isa, char *why, size_t size, weft_math math,
                     const char *code);

/** Whether code that has to set its own float modes, as Intel's, sets none. */
bool weft_isa_lacks_modes(const struct weft_isa *isa, const char *code);

#endif
