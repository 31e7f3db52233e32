/* SPDX-License-Identifier: MIT */
/* Tensors of a GGUF file as those of a model folder: under a folder's names, in its order of rows. Matrices of blocks are F32 that can be had as blocks, too. */
#ifndef WEFT_MODEL_GGUF_WEIGHTS_H
#define WEFT_MODEL_GGUF_WEIGHTS_H

#include "model/files/safetensors.h"
#include "model/gguf/gguf_family.h"

/**
 * Takes the GGUF file, which is closed with this one or when this fails. Numbers are read, and blocks decoded, when they are needed.
 * Errors, naming the tensor: WEFT_UNSUPPORTED for one that the architecture does not have; WEFT_BAD_FILE.
 */
weft_status weft_gguf_weights_open(weft_safetensors **weights, weft_gguf *file,
                                   const struct weft_gguf_family *family);

#endif
