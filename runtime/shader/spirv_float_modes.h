/* SPDX-License-Identifier: MIT */
/* Execution modes that tell a driver how to treat the special values of float32. */
#ifndef WEFT_SHADER_SPIRV_FLOAT_MODES_H
#define WEFT_SHADER_SPIRV_FLOAT_MODES_H

#include "core/float_modes.h"
#include "core/host.h"

/**
 * Adds the modes (flags of weft_float_mode) with their capabilities to every entry point of a
 * module that weft_spirv_check has passed; those that it declares already stay as they are. The
 * result is in host memory; the caller frees it. Errors: WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_spirv_add_float_modes(uint32_t **words, size_t *size, const uint32_t *source,
                                       size_t source_size, uint32_t modes, const weft_host *host);

#endif
