/* SPDX-License-Identifier: MIT */
/* FFT programs as bytes, for the disk cache. */
#ifndef WEFT_MIXERS_VKFFT_PROGRAM_FILE_H
#define WEFT_MIXERS_VKFFT_PROGRAM_FILE_H

#include "mixers/vkfft/program.h"

/** Raised whenever the bytes' layout changes; part of the cache key. */
#define WEFT_FFT_PROGRAM_FORMAT 2u

/** Writes a program to host memory; the caller frees it. Errors: WEFT_OUT_OF_HOST_MEMORY. */
weft_status weft_fft_program_write(uint8_t **data, size_t *size,
                                   const struct weft_fft_program *program, const weft_host *host);

/**
 * Reads a program back. `program` is zero but for input_bytes and output_bytes, which must be those
 * in the data; on failure it is again. Every count, index, offset and size is checked against what
 * is there, so that a program that was read can be run without reaching outside of a buffer's
 * binding. Thread safe. Errors: WEFT_BAD_FILE (not logged) for anything malformed;
 * WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_fft_program_read(struct weft_fft_program *program, const uint8_t *data,
                                  size_t size, const weft_host *host);

#endif
