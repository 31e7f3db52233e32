/* SPDX-License-Identifier: MIT */
#include "model/files/other_weights.h"

#include <string.h>

#include "core/system/file.h"
#include "core/system/system.h"
#include "core/text.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

#define SAVE_AGAIN                                                                              \
    "load them with the program that wrote them, and save them as safetensors, for example by " \
    "save_pretrained(folder, safe_serialization=True)"
#define ONNX                                                                                    \
    "an ONNX model: python3 -m weft.onnx FILE --out FOLDER makes a model folder of it, and in " \
    "Python weft.from_onnx(path) a program"
#define PICKLED "PyTorch's pickled weights, which Weft does not read: " SAVE_AGAIN

/* In place of a model.safetensors; `name` is the end of a file's name. The first row that fits any file is said. */
static const struct {
    const char *name, *is;
} beside[] = {
    {"adapter_model.safetensors", "an adapter, not a whole model: merge it into its model, for "
                                  "example by merge_and_unload(), and save the result"},
    {"adapter_config.json", "an adapter, not a whole model: merge it into its model, for "
                            "example by merge_and_unload(), and save the result"},
    {"-of-00001.safetensors", "weights under another name: call the file model.safetensors"},
    {"pytorch_model.bin", PICKLED},
    {"pytorch_model.bin.index.json", PICKLED},
    {"tf_model.h5", "TensorFlow weights, which Weft does not read: " SAVE_AGAIN},
    {"flax_model.msgpack", "Flax weights, which Weft does not read: " SAVE_AGAIN},
    {"model.onnx", ONNX},
    {".safetensors", "weights, but no model.safetensors and no model.safetensors.index.json: fetch "
                     "the rest, or give a single file that name"},
    {".gguf", "GGUF weights, which have their own config and tokenizer: name that file to load it"},
    {".onnx", ONNX},
    {"onnx", ONNX},
    {".pt", PICKLED},
    {".pth", PICKLED},
    {".ckpt", PICKLED},
    {".bin", PICKLED},
    {".h5", "HDF5 weights, which Weft does not read: " SAVE_AGAIN},
    {"saved_model.pb", "a TensorFlow model, which Weft does not read: " SAVE_AGAIN},
    {".tflite", "a TensorFlow Lite model, which Weft does not read: take the model's safetensors"},
};

/* In place of any file. */
static const struct {
    const char *start, *is;
} contents[] = {
    {"version https://git-lfs.", "a Git LFS pointer, not the file: fetch it by git lfs pull"},
    {"<", "an HTML or XML page, not the file: the download was an error or a login page"},
    {"PK\x03\x04", "an archive, such as from torch.save, not safetensors: " SAVE_AGAIN},
    {"\x80\x02", "a Python pickle, not safetensors: " SAVE_AGAIN},
    {"GGUF", "a GGUF file, not safetensors: name that file to load it"},
    {"{", "JSON, not safetensors"},
    {"\x89HDF", "an HDF5 file, not safetensors: " SAVE_AGAIN},
};

/* ---- files of a folder ---- */

/* The first row of those that fit an entry of a folder, and that entry. */
struct search {
    size_t row;
    char name[256];
};

static bool look(void *user, const char *name) {
    struct search *search = user;
    for (size_t i = 0; i < search->row; i++) {
        const char *end = beside[i].name;
        const bool fits =
            end[0] == '.' || end[0] == '-' ? weft_ends_with(name, end) : strcmp(name, end) == 0;
        if (fits && strlen(name) < sizeof search->name) {
            search->row = i;
            memcpy(search->name, name, strlen(name) + 1);
        }
    }
    return true;
}

static weft_status explain_beside(const char *folder, weft_status status, const weft_host *host) {
    struct search search = {.row = COUNT(beside)};
    if (weft_system_list(folder, look, &search) != 0 || search.row == COUNT(beside)) {
        return status;
    }
    return weft_fail(host, status, "%s: the folder has %s: %s", folder, search.name,
                     beside[search.row].is);
}

/* ---- contents of a file ---- */

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
    char start[64] = "";
    const bool json = weft_ends_with(path, ".json");
    const size_t size = read_start(start, sizeof start, path);
    for (size_t i = 0; i < COUNT(contents); i++) {
        const size_t length = strlen(contents[i].start);
        if (size >= length && memcmp(start, contents[i].start, length) == 0 &&
            !(json && start[0] == '{')) {
            return contents[i].is;
        }
    }
    return NULL;
}

weft_status weft_other_weights_explain_file(const char *path, weft_status status,
                                            const weft_host *host) {
    const char *is = status == WEFT_BAD_FILE ? kind_of(path) : NULL;
    return is ? weft_fail(host, status, "%s: this is %s", path, is) : status;
}

weft_status weft_other_weights_explain(const char *folder, const char *path, weft_status status,
                                       const weft_host *host) {
    return status == WEFT_NOT_FOUND ? explain_beside(folder, status, host)
                                    : weft_other_weights_explain_file(path, status, host);
}

/* ---- the folder ---- */

/* "organization/model", of the letters that the Hub has. */
static bool is_hub_name(const char *name) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789-_.";
    const size_t owner = strspn(name, letters);
    const char *model = name + owner + (name[owner] == '/');
    return owner > 0 && name[0] != '.' && name[owner] == '/' && model[0] != '\0' &&
           model[0] != '.' && model[strspn(model, letters)] == '\0';
}

static weft_status explain_single_file(const char *path, weft_status status,
                                       const weft_host *host) {
    struct search search = {.row = COUNT(beside)};
    const char *is = kind_of(path);
    const char *name = path;
    for (const char *at = path; *at != '\0'; at++) {
        name = weft_system_is_separator(*at) ? at + 1 : name;
    }
    look(&search, name);
    if (!is && search.row < COUNT(beside) && !weft_ends_with(path, ".safetensors")) {
        is = beside[search.row].is;
    }
    return is ? weft_fail(host, status, "%s: this is %s", path, is)
              : weft_fail(host, status,
                          "%s: this is a file: a model is a folder with config.json and "
                          "model.safetensors",
                          path);
}

weft_status weft_other_weights_explain_folder(const char *folder, weft_status status,
                                              const weft_host *host) {
    weft_file_facts facts;
    if (weft_system_facts(&facts, folder) != 0) {
        return is_hub_name(folder)
                   ? weft_fail(host, status,
                               "%s: there is no such folder. If this is a model of the Hugging "
                               "Face Hub, fetch it first, for example by hf download %s "
                               "--local-dir FOLDER, and give that folder",
                               folder, folder)
                   : status;
    }
    return facts.kind == WEFT_FILE_FOLDER ? explain_beside(folder, status, host)
                                          : explain_single_file(folder, status, host);
}
