/* SPDX-License-Identifier: MIT */
/* How GGUF files, and folders of `weft quantize`, store numbers: each by itself, or in blocks of small integers with scales. */
#ifndef WEFT_MODEL_GGML_FORMAT_H
#define WEFT_MODEL_GGML_FORMAT_H

#include "graph/graph.h"
#include "model/files/safetensors_dtype.h"

#define WEFT_GGML_MOST_ELEMENTS 256u /* of a block */
#define WEFT_GGML_MOST_BYTES    210u
#define WEFT_GGML_MOST_RUNS     16u /* of a block */

struct weft_ggml_format {
    const char *name;            /* null: there is no such format */
    uint32_t elements, bytes;    /* of a block; 0: Weft does not have the format */
    weft_safetensors_dtype as;   /* what a tensor is read as: its own type, or F32 for blocks */
    struct weft_block_form form; /* of blocks */
    /** For weft_ggml_take; null: a block is a number of type `as`. */
    void (*take)(const struct weft_blocks *out, const uint8_t *block);
};

/** Takes a block of a format that has such apart. */
void weft_ggml_take(const struct weft_ggml_format *format, const struct weft_blocks *out,
                    const uint8_t *block);

/** Numbers of a block of a format that has such, with the bits that dequantize of the package gguf gives. */
void weft_ggml_decode(const struct weft_ggml_format *format, float *out, const uint8_t *block);

/** The format that a file calls by that number; null where nobody has defined one. */
const struct weft_ggml_format *weft_ggml_format_of(uint64_t number);

/** The format of blocks, of those that Weft has, that is called so in small letters: "q4_0"; or null. */
const struct weft_ggml_format *weft_ggml_format_called(const char *name);

/** Its number in files. */
uint32_t weft_ggml_number_of(const struct weft_ggml_format *format);

/** What rows of so many elements are quantized to, where the format is asked for: Q8_0, whose blocks are smaller, where they are no whole blocks; or null. */
const struct weft_ggml_format *weft_ggml_format_fit(const struct weft_ggml_format *format,
                                                    uint64_t columns);

/** What the name of a tensor ends with that is stored so: ".q4_0". */
#define WEFT_GGML_ENDING_SIZE 8
const char *weft_ggml_ending(char ending[WEFT_GGML_ENDING_SIZE],
                             const struct weft_ggml_format *format);

/** "F32, F16, …": those that Weft has. */
extern const char weft_ggml_format_list[];

#endif
