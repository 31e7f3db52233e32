/* SPDX-License-Identifier: MIT */
/* The tensors of one or more safetensors files under all of their names. */
#ifndef WEFT_MODEL_TENSOR_NAMES_H
#define WEFT_MODEL_TENSOR_NAMES_H

#include "model/files/safetensors.h"

/** A tensor under one of its names. All pointers live as long as the file is open. */
struct weft_named_tensor {
    const char *name;
    const weft_safetensors *file;
    const weft_safetensors_tensor *tensor;
};

/** Both lists are in the byte order of names. */
struct weft_tensor_names {
    struct weft_named_tensor *tensors; /* under the files' names */
    uint32_t count;
    /*
     * Names of shared tensors that a file notes in __metadata__, as safetensors.torch.save_model does: {left out: kept}. No tensor
     * of a file has such a name.
     */
    struct weft_named_tensor *others;
    uint32_t other_count;
};

/**
 * Collects them from files that stay open. Errors: WEFT_BAD_FILE, naming the files, where two have a tensor of the same name, or
 * where a name is noted for two tensors; WEFT_OUT_OF_HOST_MEMORY. In any case free them.
 */
weft_status weft_tensor_names_collect(struct weft_tensor_names *names,
                                      weft_safetensors *const *files, uint32_t file_count,
                                      const weft_host *host);
void weft_tensor_names_free(struct weft_tensor_names *names, const weft_host *host);

/** The tensor of that name, or null. */
const struct weft_named_tensor *weft_tensor_names_find(const struct weft_tensor_names *names,
                                                       const char *name);

#endif
