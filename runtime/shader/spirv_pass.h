/* SPDX-License-Identifier: MIT */
/* SPIR-V passes that every module goes through before the driver sees it. */
#ifndef WEFT_SHADER_SPIRV_PASS_H
#define WEFT_SHADER_SPIRV_PASS_H

#include "core/host.h"

/**
 * Rewrites a module so that its arithmetic cannot depend on the driver's contraction habits: every floating-point
 * arithmetic instruction that can be contracted gets the NoContraction decoration, and each GLSL.std.450 Fma becomes
 * OpFMul and OpFAdd (docs/reproducibility.md, rule 1). The result is in host memory; the caller frees it.
 * Errors: WEFT_COMPILE_ERROR when the words are not a well-formed SPIR-V module.
 */
weft_status weft_spirv_make_reproducible(uint32_t **words, size_t *size, const uint32_t *source,
                                         size_t source_size, const weft_host *host);

#endif
