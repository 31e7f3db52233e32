/* SPDX-License-Identifier: MIT */
/* Makes blocks of numbers (model/files/ggml_format.h). */
#ifndef WEFT_MODEL_GGML_ENCODE_H
#define WEFT_MODEL_GGML_ENCODE_H

#include "model/files/ggml_format.h"

/** Numbers that become blocks: whole blocks of them. */
struct weft_ggml_encoding {
    const struct weft_ggml_format *format; /* Q8_0, Q4_0 or Q4_K */
    const char *path, *name;               /* for messages */
    uint64_t elements;
    weft_status (*read)(void *source, uint64_t first, uint64_t count, float *out);
    void *source;
    weft_status (*add)(void *target, const uint8_t *blocks, size_t size);
    void *target;
    const weft_host *host;
};

/**
 * Gives the blocks, one behind the other. Q8_0 and Q4_0 have the bytes that quantize of the package gguf gives, which has no Q4_K: of that each
 * run of 32 has the scale and the smallest value with the least squared error of those tried, before these become numbers of 6 bits.
 * Errors: WEFT_UNSUPPORTED for a number that is not finite, or too large for a scale of 16 bits; WEFT_CANCELLED; those of `read` and `add`.
 */
weft_status weft_ggml_encode(const struct weft_ggml_encoding *encoding);

#endif
