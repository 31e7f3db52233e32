/* SPDX-License-Identifier: MIT */
/* How GGUF files store numbers: each by itself, or in blocks of small integers with scales. */
#ifndef WEFT_MODEL_GGUF_FORMAT_H
#define WEFT_MODEL_GGUF_FORMAT_H

#include "graph/graph.h"
#include "model/files/safetensors.h"

#define WEFT_GGUF_MOST_ELEMENTS 256u /* of a block */
#define WEFT_GGUF_MOST_BYTES    210u
#define WEFT_GGUF_MOST_RUNS     16u /* of a block */

struct weft_gguf_format {
    const char *name;            /* null: there is no such format */
    uint32_t elements, bytes;    /* of a block; 0: Weft does not have the format */
    weft_safetensors_dtype as;   /* what a tensor is read as: its own type, or F32 for blocks */
    struct weft_block_form form; /* of blocks */
    /** Takes a block apart; null: a block is a number of type `as`. */
    void (*take)(const struct weft_blocks *out, const uint8_t *block);
};

/** Numbers of a block of a format that has such, with the bits that dequantize of the package gguf gives. */
void weft_gguf_decode(const struct weft_gguf_format *format, float *out, const uint8_t *block);

/** The format that a file calls by that number; null where nobody has defined one. */
const struct weft_gguf_format *weft_gguf_format_of(uint64_t number);

/** "F32, F16, …": those that Weft has. */
extern const char weft_gguf_format_list[];

#endif
