/* SPDX-License-Identifier: MIT */
/* From a GGUF file to one whose matrices are blocks. */
#ifndef WEFT_MODEL_GGUF_QUANTIZE_H
#define WEFT_MODEL_GGUF_QUANTIZE_H

#include <weft/model.h>

#include "model/files/ggml_format.h"

/**
 * Writes the file `out`: keys as they are, but general.file_type and general.quantization_version; matrices of F32, F16 and BF16 as blocks,
 * if their rows are whole ones; no tables of positions or of kinds of tokens, as llama.cpp leaves them. Errors: those of weft_gguf_open and
 * weft_ggml_encode; WEFT_UNSUPPORTED where there is no such matrix; WEFT_IO_ERROR.
 */
weft_status weft_gguf_quantize(weft_quantize_info *info, const char *path, const char *out,
                               const struct weft_ggml_format *format, const weft_host *host);

#endif
