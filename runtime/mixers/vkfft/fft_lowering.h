/* SPDX-License-Identifier: MIT */
/* FFT programs as dispatches of a plan. */
#ifndef WEFT_MIXERS_VKFFT_FFT_LOWERING_H
#define WEFT_MIXERS_VKFFT_FFT_LOWERING_H

#include "lower/lowering.h"
#include "mixers/vkfft/fft_program.h"

/**
 * Appends the dispatches of a transform along one axis (rank 1), or along both of rank 2, each of more than one element. Its program is
 * made on first use, for any batch, and kept with the device. The storages hold what the transform reads and writes, from their starts
 * on; input stays as it is, unless it is the output, which it may be where VkFFT has one dispatch. Storages without room for the arrays of
 * whole workgroups are copied: see weft_lower_fft_room.
 */
void weft_lower_fft(struct weft_lowering *lowering, const struct weft_fft_desc *desc,
                    uint32_t input, uint32_t output);

/** How many arrays whole workgroups take, at least desc->batch: what a storage has room for that no copy is to be made of. */
uint32_t weft_lower_fft_room(struct weft_lowering *lowering, const struct weft_fft_desc *desc);

/** How many invocations a workgroup of the transform's first dispatch has along y. */
uint32_t weft_lower_fft_rows(struct weft_lowering *lowering, const struct weft_fft_desc *desc);

#endif
