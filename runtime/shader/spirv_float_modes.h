/* SPDX-License-Identifier: MIT */
/* Execution modes that tell a driver how to treat the special values of float32. */
#ifndef WEFT_SHADER_SPIRV_FLOAT_MODES_H
#define WEFT_SHADER_SPIRV_FLOAT_MODES_H

#include "core/host.h"

/** The modes of SPV_KHR_float_controls (Vulkan 1.2, section 47.6) that Weft declares, as flags. */
enum weft_float_mode {
    WEFT_FLOAT_FLUSH = 1,   /* DenormFlushToZero 32 */
    WEFT_FLOAT_SPECIAL = 2, /* SignedZeroInfNanPreserve 32: nothing assumes they do not occur */
    WEFT_FLOAT_NEAREST = 4  /* RoundingModeRTE 32 */
};

/**
 * Adds the modes (flags of weft_float_mode) with their capabilities to every entry point of a
 * module that weft_spirv_check has passed; those that it declares already stay as they are. The
 * result is in host memory; the caller frees it. Errors: WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_spirv_add_float_modes(uint32_t **words, size_t *size, const uint32_t *source,
                                       size_t source_size, uint32_t modes, const weft_host *host);

#endif
