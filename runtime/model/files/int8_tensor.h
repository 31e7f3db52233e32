/* SPDX-License-Identifier: MIT */
/*
 * Tensors of bytes: an I8 matrix NAME, and beside it the F32 tensor NAME.scale of shape [rows, 1] or [1, columns], or NAME.scale_only where
 * products leave what they multiply it with f32 (weft_stored).
 */
#ifndef WEFT_MODEL_INT8_TENSOR_H
#define WEFT_MODEL_INT8_TENSOR_H

#include <weft/graph.h>

#include "model/files/tensor_names.h"

#define WEFT_SCALE_NAME(stored) ((stored) == WEFT_STORED_I8_ONLY ? ".scale_only" : ".scale")

/**
 * Reads a matrix's scales, to be freed, into params->scales, and sets params->stored and scale_columns; *read is their tensor. All elements of the
 * matrix are looked at.
 * Errors: WEFT_BAD_FILE, naming file, tensor, expected and found: no scales or two kinds, of another type or shape, a scale that is
 * neither 0 nor positive and normal, an element of -128.
 */
weft_status weft_int8_tensor_read(weft_weight_params *params, const struct weft_named_tensor **read,
                                  const struct weft_tensor_names *names,
                                  const struct weft_named_tensor *matrix, const weft_host *host);

/** True if a tensor has the scales of a matrix of bytes. */
bool weft_int8_tensor_is_scale(const struct weft_tensor_names *names, const char *name);

#endif
