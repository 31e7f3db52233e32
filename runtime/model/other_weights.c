/* SPDX-License-Identifier: MIT */
#include "model/other_weights.h"

#include <string.h>

#include "core/file.h"
#include "core/system.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

#define SAVE_AGAIN                                                                              \
    "load them with the program that wrote them, and save them as safetensors, for example by " \
    "save_pretrained(folder)"

/* Beside a model.safetensors that is not there. */
static const struct {
    const char *name, *is;
} beside[] = {
    {"model.safetensors.index.json",
     "weights in several files, which Weft does not read: save them as one, for example by "
     "save_pretrained(folder, max_shard_size=\"100GB\")"},
    {"pytorch_model.bin", "PyTorch's pickled weights, which Weft does not read: " SAVE_AGAIN},
    {"pytorch_model.bin.index.json",
     "PyTorch's pickled weights, which Weft does not read: " SAVE_AGAIN},
    {"model.pt", "PyTorch's pickled weights, which Weft does not read: " SAVE_AGAIN},
    {"tf_model.h5", "TensorFlow weights, which Weft does not read: " SAVE_AGAIN},
    {"flax_model.msgpack", "Flax weights, which Weft does not read: " SAVE_AGAIN},
    {"adapter_model.safetensors", "an adapter, not a whole model: merge it into its model, for "
                                  "example by merge_and_unload(), and save the result"},
};

/* In its place. */
static const struct {
    const char *start, *is;
} contents[] = {
    {"version https://git-lfs.", "a Git LFS pointer, not the weights: fetch them by git lfs pull"},
    {"<", "an HTML or XML page, not the weights: the download was an error or a login page"},
    {"PK\x03\x04", "an archive, such as from torch.save, not safetensors: " SAVE_AGAIN},
    {"\x80\x02", "a Python pickle, not safetensors: " SAVE_AGAIN},
    {"GGUF", "a GGUF file, not safetensors"},
    {"{", "JSON, not safetensors"},
    {"\x89HDF", "an HDF5 file, not safetensors: " SAVE_AGAIN},
};

static bool is_there(const char *folder, const char *name, const weft_host *host) {
    weft_file_facts facts;
    char *path = weft_path_join(folder, name, host);
    const bool found = path && weft_system_facts(&facts, path) == 0;
    weft_free(host, path);
    return found;
}

/* Spaces in front are left out. */
static size_t read_start(char *start, size_t size, const char *path) {
    int file = -1;
    size_t count = 0;
    if (weft_system_open(&file, path, WEFT_OPEN_READ_AT_ONCE) != 0) {
        return 0;
    }
    if (weft_system_read(&count, file, start, size) != 0) {
        count = 0;
    }
    (void)weft_system_close(file);
    size_t begin = 0;
    while (begin < count && strchr(" \t\r\n", start[begin]) && start[begin] != '\0') {
        begin++;
    }
    memmove(start, start + begin, count - begin);
    return count - begin;
}

static const char *kind_of(const char *path) {
    char start[64];
    const size_t size = read_start(start, sizeof start, path);
    for (size_t i = 0; i < COUNT(contents); i++) {
        const size_t length = strlen(contents[i].start);
        if (size >= length && memcmp(start, contents[i].start, length) == 0) {
            return contents[i].is;
        }
    }
    return NULL;
}

weft_status weft_other_weights_explain(const char *folder, const char *path, weft_status status,
                                       const weft_host *host) {
    for (size_t i = 0; status == WEFT_NOT_FOUND && i < COUNT(beside); i++) {
        if (is_there(folder, beside[i].name, host)) {
            return weft_fail(host, status, "%s: the folder has %s: %s", folder, beside[i].name,
                             beside[i].is);
        }
    }
    const char *is = status == WEFT_BAD_FILE ? kind_of(path) : NULL;
    return is ? weft_fail(host, status, "%s: this is %s", path, is) : status;
}
