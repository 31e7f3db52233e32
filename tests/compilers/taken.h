/* SPDX-License-Identifier: MIT */
/* Which kernels a device would ever run. */
#ifndef WEFT_TESTS_COMPILERS_TAKEN_H
#define WEFT_TESTS_COMPILERS_TAKEN_H

#include <weft/device.h>

/**
 * Whether a kernel with these constants, constant_id i having value [i], is a candidate on the device where it is a row of variants: its
 * needs are met, and it is not expected to be hopeless beside the others. Kernels that are no such row are always taken.
 */
bool weft_kernel_is_taken(const weft_device_info *info, weft_math math, const char *kernel,
                          const uint32_t *constants, uint32_t count);

#endif
