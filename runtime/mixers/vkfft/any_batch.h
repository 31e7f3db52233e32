/* SPDX-License-Identifier: MIT */
/*
 * Programs of transforms for any number of arrays. VkFFT writes that number into its kernels twice: as the lengths of the buffers
 * that they declare, and as a check where a workgroup takes several rows and the last one has some left over. A program is planned for
 * a batch without such a rest, and its buffers lose their lengths: then only the number of workgroups depends on the batch.
 */
#ifndef WEFT_MIXERS_VKFFT_ANY_BATCH_H
#define WEFT_MIXERS_VKFFT_ANY_BATCH_H

#include "mixers/vkfft/fft_program.h"

/** The most arrays that a workgroup takes. */
#define WEFT_FFT_MOST_ROWS 128u

struct weft_fft_any_batch {
    struct weft_fft_program *program; /* for the batch that it was planned for */
    uint32_t batch;                   /* which is this */
    uint32_t rows;                    /* arrays of a workgroup: a batch is a multiple of them */
};

/**
 * Makes the program for arrays of a transform along one axis (rank 1) or along both axes of more than one element (rank 2);
 * desc->batch is not read. Free what it holds by weft_fft_any_batch_clear, also after an error. Errors: as weft_fft_program_create.
 */
weft_status weft_fft_any_batch_make(struct weft_fft_any_batch *made,
                                    const struct weft_fft_desc *desc, struct weft_cache *cache,
                                    uint32_t *compiled, const weft_host *host);
void weft_fft_any_batch_clear(struct weft_fft_any_batch *made, const weft_host *host);

/** A dispatch, and the bytes of temporary memory, for a batch that is a multiple of `rows`. */
struct weft_fft_dispatch weft_fft_dispatch_of(const struct weft_fft_any_batch *any, uint32_t index,
                                              uint32_t batch);
uint64_t weft_fft_temp_bytes_of(const struct weft_fft_any_batch *any, uint32_t batch);

#endif
