/* SPDX-License-Identifier: MIT */
/* One file out of several. */
#include <string.h>

#include "core/try.h"
#include "model/files/safetensors_header.h"
#include "model/files/shards.h"

static weft_status copy_file(const weft_safetensors *file, char **data, size_t *size,
                             const weft_host *host) {
    const size_t bytes = (size_t)weft_safetensors_size(file);
    char *copy = weft_alloc(host, bytes);
    weft_status status = copy ? weft_safetensors_copy(file, copy)
                              : weft_fail_memory(host, weft_safetensors_path(file));
    if (status != WEFT_OK) {
        weft_free(host, copy);
        return status;
    }
    *data = copy;
    *size = bytes;
    return WEFT_OK;
}

static weft_status end_header(struct weft_safetensors_header *header,
                              const struct weft_tensor_names *names, const weft_host *host) {
    const uint32_t count = names->other_count;
    weft_safetensors_note *notes = weft_alloc_zero(host, count + 1, sizeof *notes);
    if (!notes) {
        return weft_fail_memory(host, "names of tensors");
    }
    for (uint32_t i = 0; i < count; i++) {
        notes[i] = (weft_safetensors_note){names->others[i].name, names->others[i].tensor->name};
    }
    const weft_status status = weft_safetensors_header_end(header, notes, count);
    weft_free(host, notes);
    return status;
}

static weft_status make_header(struct weft_safetensors_header *header,
                               const struct weft_tensor_names *names, const weft_host *host) {
    for (uint32_t i = 0; i < names->count; i++) {
        const weft_safetensors_tensor *tensor = names->tensors[i].tensor;
        WEFT_TRY(weft_safetensors_header_add(header, tensor->name, tensor->dtype, tensor->shape,
                                             tensor->rank));
    }
    return end_header(header, names, host);
}

static weft_status read_all(char *data, const struct weft_tensor_names *names) {
    for (uint32_t i = 0; i < names->count; i++) {
        const struct weft_named_tensor *named = &names->tensors[i];
        const size_t bytes = (size_t)named->tensor->bytes;
        if (bytes > 0) {
            WEFT_TRY(weft_safetensors_read(named->file, named->tensor, 0, data, bytes));
        }
        data += bytes;
    }
    return WEFT_OK;
}

static weft_status join(char **data, size_t *size, const struct weft_safetensors_header *header,
                        const struct weft_tensor_names *names, const weft_host *host) {
    const size_t start = header->text.length;
    char *joined = weft_alloc(host, start + (size_t)header->data);
    if (!joined) {
        return weft_fail_memory(host, "the weights of a model");
    }
    memcpy(joined, header->text.data, start);
    const weft_status status = read_all(joined + start, names);
    if (status != WEFT_OK) {
        weft_free(host, joined);
        return status;
    }
    *data = joined;
    *size = start + (size_t)header->data;
    return WEFT_OK;
}

weft_status weft_shards_copy(const struct weft_shards *shards, char **data, size_t *size,
                             const weft_host *host) {
    if (shards->count == 1 && !weft_safetensors_is_view(shards->files[0])) {
        return copy_file(shards->files[0], data, size, host);
    }
    struct weft_safetensors_header header = {.text = {.host = *host}};
    weft_status status = make_header(&header, &shards->names, host);
    if (status == WEFT_OK) {
        status = join(data, size, &header, &shards->names, host);
    }
    weft_free(host, header.text.data);
    return status;
}
