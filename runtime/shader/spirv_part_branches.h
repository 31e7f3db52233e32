/* SPDX-License-Identifier: MIT */
/*
 * Branches on devices whose compiler does not end where two of them, one behind the other, have the same condition: V3DV's of Mesa
 * 25.0.7 takes out what the first leaves for the side of the second that does not use it (nir_opt_if: the value becomes undefined), makes
 * it 0 (nir_lower_undef_to_zero), and goes on as long as either finds something to do. VkFFT's kernels are full of such pairs. What such a
 * compiler cannot see to be the same it does not touch.
 */
#ifndef WEFT_SHADER_SPIRV_PART_BRANCHES_H
#define WEFT_SHADER_SPIRV_PART_BRANCHES_H

#include "core/host.h"
#include "weft/device.h"

/** Whether modules for this device need the pass. */
bool weft_branches_are_parted(const weft_device_info *info);

/**
 * Rewrites a module that weft_spirv_check has passed: of the selections that follow one another, on each level of nesting, every second one
 * gets its condition or'ed with "a number of a workgroup or invocation is above 2^31 - 1", which is false in every dispatch that Vulkan
 * devices and Weft allow, as no compiler knows. All else stays. Costs two integer instructions each. The result is in host memory; the
 * caller frees it.
 *
 * A module is copied unchanged where it has specialization constants, because branches on those are decided when it is compiled, or reads
 * no such number as a vector.
 * Errors: WEFT_COMPILE_ERROR when no ids are left; WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_spirv_part_branches(uint32_t **words, size_t *size, const uint32_t *source,
                                     size_t source_size, const weft_host *host);

#endif
