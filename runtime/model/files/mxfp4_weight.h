/* SPDX-License-Identifier: MIT */
/*
 * Matrices in MXFP4 (Open Compute Project, "OCP microscaling formats (MX) specification", 2023) as transformers stores them for gpt-oss: U8
 * NAME_blocks [groups, rows, columns / 32, 16], of which each byte has two numbers, the first in its lower half, and U8
 * NAME_scales [groups, rows, columns / 32], the exponent of each block.
 */
#ifndef WEFT_MODEL_MXFP4_WEIGHT_H
#define WEFT_MODEL_MXFP4_WEIGHT_H

#include "model/files/checkpoint.h"

/** Of each of `groups` matrices with `rows` rows: the rows first, first + step …, count of them. */
struct weft_mxfp4_rows {
    uint32_t groups, rows;
    uint32_t first, step, count;
};

/**
 * These rows of tensor `blocks`, matrix by matrix, as an f32 weight [groups · count, columns] that keeps their form: MXFP4's of GGUF files. The
 * exponents are looked at. Errors, naming file, tensor, expected and found: WEFT_NOT_FOUND; WEFT_BAD_FILE for another type or shape,
 * and for an exponent of which some number would not be finite.
 */
weft_status weft_mxfp4_weight(weft_weight **weight, struct weft_checkpoint *checkpoint,
                              const char *blocks, weft_shape shape,
                              const struct weft_mxfp4_rows *rows);

/** True if a tensor has the exponents of another. */
bool weft_mxfp4_is_scale(const struct weft_checkpoint *checkpoint, const char *name);

#endif
