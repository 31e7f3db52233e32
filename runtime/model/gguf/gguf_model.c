/* SPDX-License-Identifier: MIT */
#include "model/gguf/gguf_model.h"

#include <string.h>

#include "core/system/file.h"
#include "core/system/system.h"
#include "core/try.h"
#include "model/gguf/gguf_config.h"
#include "model/gguf/gguf_tokenizer.h"
#include "model/gguf/gguf_weights.h"

#define NAME_END ".gguf"

/* ---- finding the file ---- */

struct search {
    uint32_t count;
    bool has_config;
    char name[256]; /* of the first */
};

static bool look(void *user, const char *name) {
    struct search *search = user;
    search->has_config |= strcmp(name, "config.json") == 0;
    if (weft_ends_with(name, NAME_END) && strlen(name) < sizeof search->name) {
        if (search->count++ == 0) {
            memcpy(search->name, name, strlen(name) + 1);
        }
    }
    return true;
}

static weft_status find_in_folder(char **file, const char *folder, const weft_host *host) {
    struct search search = {.count = 0};
    if (weft_system_list(folder, look, &search) != 0 || search.has_config || search.count == 0) {
        return WEFT_OK; /* whatever it is, others say it */
    }
    if (search.count > 1) {
        return weft_fail(host, WEFT_UNSUPPORTED,
                         "%s: expected one file *.gguf, found %u, such as %s: name the file",
                         folder, search.count, search.name);
    }
    *file = weft_path_join(folder, search.name, host);
    return *file ? WEFT_OK : weft_fail_memory(host, "a path");
}

static bool begins_as_gguf(const char *path) {
    char start[4] = "";
    size_t count = 0;
    int file = -1;
    if (weft_system_open(&file, path, WEFT_OPEN_READ_AT_ONCE) != 0) {
        return false;
    }
    const bool read = weft_system_read(&count, file, start, sizeof start) == 0;
    (void)weft_system_close(file);
    return read && count == sizeof start && memcmp(start, "GGUF", sizeof start) == 0;
}

weft_status weft_gguf_model_find(char **file, const char *path, const weft_host *host) {
    weft_file_facts facts;
    *file = NULL;
    if (weft_system_facts(&facts, path) != 0) {
        return WEFT_OK;
    }
    if (facts.kind == WEFT_FILE_FOLDER) {
        return find_in_folder(file, path, host);
    }
    if (facts.kind == WEFT_FILE_REGULAR &&
        (weft_ends_with(path, NAME_END) || begins_as_gguf(path))) {
        *file = weft_strdup(host, path);
        return *file ? WEFT_OK : weft_fail_memory(host, "a path");
    }
    return WEFT_OK;
}

/* ---- opening it ---- */

static uint32_t vocabulary_of(const weft_gguf *file) {
    const struct weft_gguf_tensor *tensor = weft_gguf_find_tensor(file, "token_embd.weight");
    return tensor && tensor->shape[0] <= UINT32_MAX ? (uint32_t)tensor->shape[0] : 0;
}

/* Takes the file. */
static weft_status take_weights(struct weft_gguf_model *model, weft_gguf *file,
                                const struct weft_gguf_family *family, const weft_host *host) {
    weft_safetensors *weights = NULL;
    WEFT_TRY(weft_gguf_weights_open(&weights, file, family));
    return weft_checkpoint_take(&model->checkpoint, weights, family->as_applied, host);
}

static weft_status read_texts(struct weft_gguf_model *model, const weft_gguf *file,
                              const struct weft_gguf_family *family) {
    WEFT_TRY(weft_gguf_config(&model->config, &model->pooling, file, family));
    return weft_gguf_tokenizer(&model->tokenizer, &model->tokenizer_size, file,
                               vocabulary_of(file));
}

weft_status weft_gguf_model_open(struct weft_gguf_model *model, const char *path,
                                 const weft_host *host) {
    weft_gguf *file = NULL;
    const struct weft_gguf_family *family = NULL;
    WEFT_TRY(weft_gguf_open(&file, path, host));
    weft_status status = weft_gguf_family_of(&family, file);
    if (status == WEFT_OK) {
        status = read_texts(model, file, family);
    }
    if (status != WEFT_OK) {
        weft_gguf_close(&file);
        return status;
    }
    return take_weights(model, file, family, host);
}

void weft_gguf_model_clear(struct weft_gguf_model *model, const weft_host *host) {
    weft_free(host, model->config);
    weft_free(host, model->tokenizer);
    if (model->checkpoint) {
        weft_checkpoint_close(&model->checkpoint);
    }
    *model = (struct weft_gguf_model){.config = NULL};
}
