/* SPDX-License-Identifier: MIT */
/* FFT programs as dispatches of a plan. */
#ifndef WEFT_MIXERS_VKFFT_FFT_LOWERING_H
#define WEFT_MIXERS_VKFFT_FFT_LOWERING_H

#include "lower/lowering.h"
#include "mixers/vkfft/fft_program.h"

/**
 * Appends the dispatches of a transform along one axis (rank 1), or along both of rank 2, each of more than one element. Its program is
 * made on first use, for any batch, and kept with the device. The storages hold what the transform reads and writes, from their starts
 * on; input stays as it is. Some workgroups take up to WEFT_FFT_MOST_ROWS arrays: storages without room for those of whole workgroups are
 * copied.
 */
void weft_lower_fft(struct weft_lowering *lowering, const struct weft_fft_desc *desc,
                    uint32_t input, uint32_t output);

#endif
