/* SPDX-License-Identifier: MIT */
/* VkFFT itself, planning against the recorder. Only fft_program.c calls this. */
#ifndef WEFT_MIXERS_VKFFT_VKFFT_UNIT_H
#define WEFT_MIXERS_VKFFT_VKFFT_UNIT_H

#include "mixers/vkfft/program.h"

/** Room for weft_fft_vkfft_identity's text. */
#define WEFT_FFT_IDENTITY_SIZE 256

/**
 * Names everything but the transform that a program depends on - versions of VkFFT and glslang, and
 * every constant that VkFFT is configured with - for cache keys. Thread safe.
 */
void weft_fft_vkfft_identity(char text[WEFT_FFT_IDENTITY_SIZE]);

/** 10304 is VkFFT 1.3.4. */
int weft_fft_vkfft_version(void);

/**
 * Plans `desc` (checked by the caller; at least one transformed axis is longer than 1) and fills a
 * zeroed program, whose contents the caller frees. *compiled counts the kernels compiled. The
 * caller holds weft_glslang_lock. Errors: WEFT_UNSUPPORTED, WEFT_COMPILE_ERROR,
 * WEFT_OUT_OF_HOST_MEMORY; *reason then says why.
 */
weft_status weft_fft_vkfft_plan(struct weft_fft_program *program, const struct weft_fft_desc *desc,
                                uint32_t *compiled, const char **reason, const weft_host *host);

#endif
