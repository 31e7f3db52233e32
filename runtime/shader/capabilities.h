/* SPDX-License-Identifier: MIT */
/* Capabilities that a SPIR-V module requires of a device. */
#ifndef WEFT_SHADER_CAPABILITIES_H
#define WEFT_SHADER_CAPABILITIES_H

#include <weft/device.h>

/**
 * True if a device offers every capability that a checked module declares. Only those that Weft's
 * own kernels may use are known: what every device of Vulkan 1.1 has without a feature turned on,
 * subgroup arithmetic, f16 arithmetic, which is turned on in fast mode, and cooperative matrices. Weft turns on no other feature for shaders;
 * `others`: what is said of them, since the owner of an adopted device may have.
 */
bool weft_spirv_runs_on(const uint32_t *words, size_t size, const weft_device_info *info,
                        bool others);

#endif
