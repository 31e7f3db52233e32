/* SPDX-License-Identifier: MIT */
/*
 * Cooperative matrices in modules: shaders are written with GL_NV_cooperative_matrix, which all compilers know, and drivers of
 * today have VK_KHR_cooperative_matrix. The SPIR-V of the two differs in numbers, in the order of operands, and in that a type
 * of the latter says whether its matrices are the first or the second factor of products, or what they are added to.
 */
#ifndef WEFT_COOPERATIVE_MATRIX_H
#define WEFT_COOPERATIVE_MATRIX_H

#include "core/host.h"

/**
 * *made is a module with SPV_KHR_cooperative_matrix for one with SPV_NV_cooperative_matrix, to be freed, or null for one without.
 * Both are in words. WEFT_COMPILE_ERROR where the matrices of a type are used as more than one of the three, or as none.
 */
weft_status weft_cooperative_translate(uint32_t **made, size_t *made_count, const uint32_t *words,
                                       size_t count, const weft_host *host);

#endif
