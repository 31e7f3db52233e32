/* SPDX-License-Identifier: MIT */
/* Checkpoints of which some matrices are written as bytes, or as blocks. */
#ifndef WEFT_MODEL_QUANTIZED_FILES_H
#define WEFT_MODEL_QUANTIZED_FILES_H

#include <weft/model.h>

#include "model/files/checkpoint.h"
#include "model/files/ggml_format.h"

/** A tensor that a model reads, and what with. */
struct weft_quantized_mark {
    struct weft_checkpoint *checkpoint;
    const struct weft_named_tensor *tensor;
    uint32_t weights; /* that are made of it: it, parts of it, or it transposed */
    uint32_t rows,
        columns; /* of these, matrices that become bytes with scales for its rows, or its columns */
};

/** Zeros but for the first three are none. */
struct weft_quantized_files {
    weft_stored stored;                    /* of bytes */
    const struct weft_ggml_format *format; /* of blocks, along rows; null: bytes */
    const weft_host *host;
    struct weft_quantized_mark *marks;
    uint32_t count, capacity;
};

/** Notes a weight of the model; what is of no file is left out. WEFT_UNSUPPORTED for one that is blocks already. */
weft_status weft_quantized_files_add(struct weft_quantized_files *files, const weft_weight *weight);

/** Marks a weight to become bytes, with scales for its rows or columns. */
weft_status weft_quantized_files_mark(struct weft_quantized_files *files, const weft_weight *weight,
                                      bool columns);

/** How many tensors become bytes or blocks. */
uint32_t weft_quantized_files_matrices(const struct weft_quantized_files *files);

/**
 * Writes each checkpoint as one model.safetensors, at the place below `out` that it has below `folder`, with all tensors. Errors: those of
 * reading and writing; WEFT_UNSUPPORTED where a tensor has the name of scales or of a matrix of blocks, or numbers that no block can have.
 */
weft_status weft_quantized_files_write(weft_quantize_info *info,
                                       const struct weft_quantized_files *files, const char *folder,
                                       const char *out);

void weft_quantized_files_free(struct weft_quantized_files *files);

#endif
