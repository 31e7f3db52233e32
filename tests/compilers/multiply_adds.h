/* SPDX-License-Identifier: MIT */
/* Whether a compiler keeps each Fma of fused math as one operation. */
#ifndef WEFT_TESTS_COMPILERS_MULTIPLY_ADDS_H
#define WEFT_TESTS_COMPILERS_MULTIPLY_ADDS_H

#include <stdint.h>

#include "spirv/edit.h"

/** Of float32, in machine code. */
struct weft_multiply_adds {
    uint32_t kept;  /* instructions that multiply and add with one rounding */
    uint32_t apart; /* sums of what a product has just made, and instructions that round both */
};

/** Counts what the code of a driver has, by VkPhysicalDeviceDriverProperties::driverName; nothing of an unknown driver. */
struct weft_multiply_adds weft_multiply_adds_of(const char *driver, const char *code);

/**
 * A pass that inverts the bits of each product of a module before it is used. The module computes something else then, but each
 * Fma is where it was: in its code a product that goes into a sum is an Fma that the compiler has taken apart.
 */
weft_status weft_spirv_part_products(struct weft_spirv_edit *edit);

#endif
