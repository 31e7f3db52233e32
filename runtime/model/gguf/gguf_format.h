/* SPDX-License-Identifier: MIT */
/* How GGUF files store numbers: each by itself, or in blocks of small integers with scales. */
#ifndef WEFT_MODEL_GGUF_FORMAT_H
#define WEFT_MODEL_GGUF_FORMAT_H

#include "model/files/safetensors.h"

#define WEFT_GGUF_MOST_ELEMENTS 256u /* of a block */
#define WEFT_GGUF_MOST_BYTES    210u

struct weft_gguf_format {
    const char *name;          /* null: there is no such format */
    uint32_t elements, bytes;  /* of a block; 0: Weft does not have the format */
    weft_safetensors_dtype as; /* what a tensor is read as: its own type, or F32 for blocks */
    /** Numbers of a block, with the bits that dequantize of the package gguf gives; null: a block is a number of type `as`. */
    void (*decode)(float *out, const uint8_t *block);
};

/** The format that a file calls by that number; null where nobody has defined one. */
const struct weft_gguf_format *weft_gguf_format_of(uint64_t number);

/** "F32, F16, …": those that Weft has. */
extern const char weft_gguf_format_list[];

#endif
