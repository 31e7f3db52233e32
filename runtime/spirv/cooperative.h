/* SPDX-License-Identifier: MIT */
/*
 * Cooperative matrices in modules: shaders are written with GL_NV_cooperative_matrix, which all compilers know, and drivers of
 * today have VK_KHR_cooperative_matrix. The SPIR-V of the two differs in numbers, in the order of operands, and in that a type
 * of the latter says whether its matrices are the first or the second factor of products, or what they are added to.
 */
#ifndef WEFT_SPIRV_COOPERATIVE_H
#define WEFT_SPIRV_COOPERATIVE_H

#include "core/host.h"

/**
 * Makes a module with SPV_NV_cooperative_matrix, in memory of the host's, one with SPV_KHR_cooperative_matrix: *words is then replaced. Others
 * stay as they are. WEFT_COMPILE_ERROR where the matrices of a type are used as more than one of the three, or as none; those of
 * weft_spirv_check.
 */
weft_status weft_cooperative_translate(uint32_t **words, size_t *size, const weft_host *host);

#endif
