/* SPDX-License-Identifier: MIT */
/*
 * FFTs through VkFFT, used as a compiler: VkFFT plans and generates kernels against a recording
 * device of runtime/softvk (recorder.h) that answers every question about the device with constants.
 * What comes out is a program - SPIR-V modules, tables and a list of dispatches - that depends on
 * the transform alone, so it is the same for every driver, can be cached on disk, and is placed,
 * recorded, split and timed like any other dispatches of a plan.
 */
#ifndef WEFT_MIXERS_VKFFT_FFT_PROGRAM_H
#define WEFT_MIXERS_VKFFT_FFT_PROGRAM_H

#include "mixers/vkfft/program.h"

struct weft_cache;

/**
 * Makes the program for a transform. Kernels use at most 128 invocations and 16 KiB of shared
 * memory, and no arithmetic but + − × and fma. cache may be null; *compiled is the number of
 * kernels that had to be compiled (0 when the program came from the cache). Thread safe: VkFFT and
 * glslang keep process-wide state, so planning is serialised with weft_glslang_lock.
 * Errors, all logged:
 *   WEFT_INVALID_ARGUMENT: a desc outside of what weft_fft_desc says;
 *   WEFT_UNSUPPORTED: a complex transform whose transformed axes all have length 1, which is a copy
 *     (real ones of length 1 are made); a buffer over 4 GiB; more than 65535 work groups along one
 *     dimension of a dispatch (which takes over 65535 arrays of rank 2, or of rank 1 and over 1024
 *     elements; more of shorter ones); a length that VkFFT cannot plan within the limits;
 *   WEFT_COMPILE_ERROR, WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_fft_program_create(struct weft_fft_program **program,
                                    const struct weft_fft_desc *desc, struct weft_cache *cache,
                                    uint32_t *compiled, const weft_host *host);
void weft_fft_program_destroy(struct weft_fft_program **program, const weft_host *host);

#endif
