/* SPDX-License-Identifier: MIT */
/*
 * The table of a static embedding as one tensor: a row for each token, and behind them a row of zeros for texts without tokens.
 */
#ifndef WEFT_MODEL_STATIC_TABLE_H
#define WEFT_MODEL_STATIC_TABLE_H

#include "model/files/safetensors.h"

/** Name of the tensor that the view has. */
#define WEFT_STATIC_TABLE_NAME "embedding.weight"

/**
 * Makes a file of one tensor, [tokens + 1, size], out of `file`, which it takes also when it fails. That has `embedding.weight` [tokens, size], as
 * sentence-transformers saves a StaticEmbedding; or as model2vec saves a model `embeddings` [rows, size] and perhaps `mapping` [tokens], the
 * row of each token, and `weights` [tokens], its factor: row i is embeddings[mapping[i]] * weights[i], rounded to f32. F16 and BF16 without either
 * stay what they are, all others, I8 too, become F32; rows are made when they are read.
 * Errors: WEFT_BAD_FILE, naming file and tensor, for other tensors, types and shapes, numbers that are not finite, and rows that are not there.
 */
weft_status weft_static_table_open(weft_safetensors **table, weft_safetensors *file);

#endif
