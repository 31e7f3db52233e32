/* SPDX-License-Identifier: MIT */
/* An open GGUF file, for gguf_read.c and gguf_values.c alone. */
#ifndef WEFT_MODEL_GGUF_PARTS_H
#define WEFT_MODEL_GGUF_PARTS_H

#include "core/system/kept_file.h"
#include "model/gguf/gguf.h"

struct weft_gguf {
    weft_host host;
    const char *path; /* the name of … */
    weft_kept_file *bytes;
    struct weft_gguf_value *values; /* sorted by key */
    uint32_t value_count, value_capacity;
    uint64_t values_end;              /* in the file */
    struct weft_gguf_tensor *tensors; /* sorted by name */
    uint32_t tensor_count, tensor_capacity;
};

/** Bytes of a value of fixed size; 0 for texts and arrays. */
size_t weft_gguf_type_size(enum weft_gguf_type type);
/** "u32" and the like. */
const char *weft_gguf_type_name(enum weft_gguf_type type);

#endif
