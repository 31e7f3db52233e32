/* SPDX-License-Identifier: MIT */
/* Checkpoints of which some matrices are written as bytes. */
#ifndef WEFT_MODEL_INT8_FILE_H
#define WEFT_MODEL_INT8_FILE_H

#include <weft/model.h>

#include "model/files/checkpoint.h"

/** A tensor that a model reads, and what with. */
struct weft_int8_mark {
    struct weft_checkpoint *checkpoint;
    const struct weft_named_tensor *tensor;
    uint32_t weights; /* that are made of it: it, parts of it, or it transposed */
    uint32_t rows,
        columns; /* of these, matrices that become bytes with scales for its rows, or its columns */
};

/** Zeros but for the first two are none. */
struct weft_int8_files {
    weft_stored stored;
    const weft_host *host;
    struct weft_int8_mark *marks;
    uint32_t count, capacity;
};

/** Notes a weight of the model; what is of no file is left out. */
weft_status weft_int8_files_add(struct weft_int8_files *files, const weft_weight *weight);

/** Marks a weight to become bytes, with scales for its rows or columns. */
weft_status weft_int8_files_mark(struct weft_int8_files *files, const weft_weight *weight,
                                 bool columns);

/** How many tensors become bytes. */
uint32_t weft_int8_files_matrices(const struct weft_int8_files *files);

/**
 * Writes each checkpoint as one model.safetensors, at the place below `out` that it has below `folder`, with all tensors. Errors: those of
 * reading and writing; WEFT_UNSUPPORTED where a tensor has the name of scales.
 */
weft_status weft_int8_files_write(weft_quantize_info *info, const struct weft_int8_files *files,
                                  const char *folder, const char *out);

void weft_int8_files_free(struct weft_int8_files *files);

#endif
