/* SPDX-License-Identifier: MIT */
/*
 * The transforms of Fourier mixing for processors: by the operations of VkFFT's kernels for every device, in their order, with
 * rows and columns along the lanes instead of a row's elements.
 */
#ifndef WEFT_MIXERS_FOURIER_LANES_H
#define WEFT_MIXERS_FOURIER_LANES_H

#include "lower/lowering.h"

/** True if transforms of d channels, and of n tokens where n is not 0, are made so. */
bool weft_fourier_lanes_fit(uint32_t n, uint32_t d);

/** The columns of a half spectrum in memory: d/2 + 1, and zeros up to whole vectors. */
uint32_t weft_fourier_lanes_columns(uint32_t n, uint32_t d);

/** The half spectra of x [B, n, d], along both axes: a storage [B, n, weft_fourier_lanes_columns(n, d)] of complex numbers. */
uint32_t weft_lower_fourier_lanes(struct weft_lowering *lowering, uint32_t x, weft_shape shape);

/** The spectra of x's rows alone, `width` rows side by side: [blocks, d, width] complex numbers. */
struct weft_row_spectra {
    uint32_t storage, width;
};
struct weft_row_spectra weft_lower_fourier_rows(struct weft_lowering *lowering, uint32_t x,
                                                weft_shape shape);

#endif
