/* SPDX-License-Identifier: MIT */
/*
 * Cooperative matrices in modules: shaders are written with GL_NV_cooperative_matrix, which all compilers know, and drivers of
 * today have VK_KHR_cooperative_matrix. The SPIR-V of the two differs in numbers, in the order of operands, and in that a type
 * of the latter says whether its matrices are the first or the second factor of products, or what they are added to.
 */
#ifndef WEFT_COOPERATIVE_MATRIX_H
#define WEFT_COOPERATIVE_MATRIX_H

#include "spirv/edit.h"

/**
 * Makes a module with SPV_NV_cooperative_matrix one with SPV_KHR_cooperative_matrix; others stay as they are. WEFT_COMPILE_ERROR where the
 * matrices of a type are used as more than one of the three, or as none.
 */
weft_status weft_cooperative_translate(struct weft_spirv_edit *edit);

#endif
