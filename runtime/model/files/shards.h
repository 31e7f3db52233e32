/* SPDX-License-Identifier: MIT */
/* Weights in one or several safetensors files; of several, an index says which tensor is in which. */
#ifndef WEFT_MODEL_SHARDS_H
#define WEFT_MODEL_SHARDS_H

#include "model/files/tensor_names.h"

/** Zeros are none. */
struct weft_shards {
    weft_safetensors **files; /* in the order in which the index first names them */
    uint32_t count, capacity;
    struct weft_tensor_names names;
};

/**
 * Opens and checks all files of an index in Hugging Face's layout, model.safetensors.index.json: `weight_map` is from names of tensors to
 * names of files in the same folder. Other fields, such as the sizes that writers sum up, are not looked at. Errors, which name
 * the index, the tensor and the file: WEFT_BAD_FILE where the map and the files differ, or a name could be of a file elsewhere; WEFT_NOT_FOUND
 * where a file is not there; those of weft_json_read and weft_safetensors_open. In any case close them.
 */
weft_status weft_shards_open(struct weft_shards *shards, const char *folder, const char *index,
                             const weft_host *host);

/** One file, opened, as the only one; it is closed with them or when this fails. In any case close them. */
weft_status weft_shards_take(struct weft_shards *shards, weft_safetensors *file);

void weft_shards_close(struct weft_shards *shards, const weft_host *host);

/**
 * The bytes of one safetensors file with these tensors and their other names, in host memory: those of the file as it was when it was opened,
 * if it is one. Errors: those of weft_safetensors_copy; WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_shards_copy(const struct weft_shards *shards, char **data, size_t *size,
                             const weft_host *host);

#endif
