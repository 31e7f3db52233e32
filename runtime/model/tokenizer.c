/* SPDX-License-Identifier: MIT */
#include "model/tokenizer.h"

#include <errno.h>
#include <string.h>

#include "core/file.h"
#include "core/json.h"
#include "core/system.h"
#include "core/try.h"
#include "model/spm_tokenizer.h"

enum kind { KIND_NONE, KIND_BYTES, KIND_SENTENCEPIECE };

struct weft_tokenizer {
    weft_host host;
    enum kind kind;
    char *reason; /* of KIND_NONE: why there is no tokenizer */
    struct weft_spm_tokenizer *spm;
};

static weft_status create(weft_tokenizer **tokenizer, enum kind kind, const weft_host *host) {
    weft_tokenizer *created = weft_alloc_zero(host, 1, sizeof *created);
    if (!created) {
        return weft_fail_memory(host, "a tokenizer");
    }
    created->host = host ? *host : (weft_host){0};
    created->kind = kind;
    *tokenizer = created;
    return WEFT_OK;
}

void weft_tokenizer_destroy(weft_tokenizer **tokenizer) {
    weft_tokenizer *destroyed = *tokenizer;
    if (!destroyed) {
        return;
    }
    *tokenizer = NULL;
    weft_host host = destroyed->host;
    weft_spm_tokenizer_destroy(destroyed->spm);
    weft_free(&host, destroyed->reason);
    weft_free(&host, destroyed);
}

const char *weft_tokenizer_kind_name(const weft_tokenizer *tokenizer) {
    static const char *const names[] = {
        [KIND_NONE] = "none", [KIND_BYTES] = "bytes", [KIND_SENTENCEPIECE] = "sentencepiece"};
    return names[tokenizer->kind];
}

/* ---- the kinds ---- */

weft_status weft_tokenizer_create_bytes(weft_tokenizer **tokenizer, uint32_t vocabulary,
                                        const char *path, const weft_host *host) {
    if (vocabulary < 256) {
        return weft_fail(host, WEFT_BAD_FILE,
                         "%s: field \"vocab_size\": expected at least 256 for ByteTokenizer, found "
                         "%u",
                         path, (unsigned)vocabulary);
    }
    return create(tokenizer, KIND_BYTES, host);
}

static weft_status open_spm(weft_tokenizer **tokenizer, const char *path, uint32_t vocabulary,
                            bool plain, const weft_host *host) {
    weft_tokenizer *created = NULL;
    weft_status status = create(&created, KIND_SENTENCEPIECE, host);
    if (status == WEFT_OK) {
        status = weft_spm_tokenizer_open(&created->spm, path, vocabulary, plain, host);
    }
    if (status == WEFT_OK) {
        *tokenizer = created;
    } else {
        weft_tokenizer_destroy(&created);
    }
    return status;
}

weft_status weft_tokenizer_open_sentencepiece(weft_tokenizer **tokenizer, const char *path,
                                              uint32_t vocabulary, const weft_host *host) {
    return open_spm(tokenizer, path, vocabulary, false, host);
}

weft_status weft_tokenizer_open_pieces(weft_tokenizer **tokenizer, const char *path,
                                       uint32_t vocabulary, const weft_host *host) {
    return open_spm(tokenizer, path, vocabulary, true, host);
}

/* Takes `reason`, which is null when there was no memory for it. */
static weft_status create_none(weft_tokenizer **tokenizer, char *reason, const weft_host *host) {
    weft_tokenizer *created = NULL;
    weft_status status =
        reason ? create(&created, KIND_NONE, host) : weft_fail_memory(host, "a tokenizer");
    if (!created) {
        weft_free(host, reason);
        return status;
    }
    created->reason = reason;
    *tokenizer = created;
    return WEFT_OK;
}

/* ---- a model folder ---- */

/* Whether there is something of that name. */
static bool is_there(const char *path) {
    weft_file_facts facts;
    const int error = weft_system_facts(&facts, path);
    return error != ENOENT && error != ENOTDIR;
}

/* The text preparation that spm_tokenizer.c does; a checkpoint that wants another is refused. */
static weft_status check_settings(const char *path, const weft_host *host) {
    static const struct {
        const char *name;
        bool value;
    } settings[] = {{"do_lower_case", false}, {"keep_accents", true}, {"remove_space", true}};
    json_t *object = NULL;
    weft_status status = weft_json_read(&object, path, host);
    if (status != WEFT_OK) {
        return status;
    }
    weft_json_fields fields = {object, path, host};
    for (size_t i = 0; status == WEFT_OK && i < sizeof settings / sizeof settings[0]; i++) {
        bool value = settings[i].value;
        status = weft_json_optional_bool(&value, &fields, settings[i].name);
        if (status == WEFT_OK && value != settings[i].value) {
            status = weft_json_fail(&fields, WEFT_UNSUPPORTED, settings[i].name,
                                    settings[i].value ? "true" : "false",
                                    json_object_get(object, settings[i].name));
        }
    }
    json_decref(object);
    return status;
}

static weft_status load_sentencepiece(weft_tokenizer **tokenizer, const char *model,
                                      const char *preparation,
                                      const weft_tokenizer_settings *settings,
                                      const weft_host *host) {
    if (!is_there(model)) {
        return create_none(tokenizer, weft_format(host, "%s: the file does not exist", model),
                           host);
    }
    if (settings->kind == WEFT_TOKENIZER_PIECES) {
        return weft_tokenizer_open_pieces(tokenizer, model, settings->vocabulary, host);
    }
    if (is_there(preparation)) {
        WEFT_TRY(check_settings(preparation, host));
    }
    return weft_tokenizer_open_sentencepiece(tokenizer, model, settings->vocabulary, host);
}

weft_status weft_tokenizer_load(weft_tokenizer **tokenizer, const char *folder,
                                const weft_tokenizer_settings *settings, const weft_host *host) {
    if (settings->kind == WEFT_TOKENIZER_BYTES) {
        const char *place = folder ? folder : "config_json";
        return weft_tokenizer_create_bytes(tokenizer, settings->vocabulary, place, host);
    }
    if (!folder) {
        char *reason = weft_strdup(host, "the model has no folder with tokenizer files");
        return create_none(tokenizer, reason, host);
    }
    if (settings->kind == WEFT_TOKENIZER_UNKNOWN) {
        char *reason = weft_format(host, "%s: Weft does not support tokenizer_class %s", folder,
                                   settings->class_name);
        return create_none(tokenizer, reason, host);
    }
    char *model = weft_path_join(folder, "spiece.model", host);
    char *preparation = weft_path_join(folder, "tokenizer_config.json", host);
    weft_status status = model && preparation
                             ? load_sentencepiece(tokenizer, model, preparation, settings, host)
                             : weft_fail_memory(host, folder);
    weft_free(host, model);
    weft_free(host, preparation);
    return status;
}

/* ---- encoding ---- */

static weft_status check_arguments(const weft_tokenizer *tokenizer, size_t size, bool add_special,
                                   uint32_t maximum) {
    const weft_host *host = &tokenizer->host;
    if (tokenizer->kind == KIND_NONE) {
        return weft_fail(host, WEFT_UNSUPPORTED, "no tokenizer: %s", tokenizer->reason);
    }
    if (tokenizer->kind == KIND_BYTES) {
        return WEFT_OK;
    }
    if (add_special && maximum < 2) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "expected room for at least 2 tokens, [CLS] and [SEP], found %u",
                         (unsigned)maximum);
    }
    if (size > WEFT_TOKENIZER_MAX_TEXT) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT, "text: expected at most %zu bytes, found %zu",
                         WEFT_TOKENIZER_MAX_TEXT, size);
    }
    return WEFT_OK;
}

static weft_status encode_bytes(const weft_tokenizer *tokenizer, const char *text, size_t size,
                                uint32_t maximum, int32_t **ids, uint32_t *count) {
    uint32_t found = size < maximum ? (uint32_t)size : maximum;
    int32_t *array = weft_alloc(&tokenizer->host, found * sizeof *array);
    if (!array && found > 0) {
        return weft_fail_memory(&tokenizer->host, "tokens");
    }
    for (uint32_t i = 0; i < found; i++) {
        array[i] = (uint8_t)text[i];
    }
    *ids = array;
    *count = found;
    return WEFT_OK;
}

weft_status weft_tokenizer_encode(const weft_tokenizer *tokenizer, const char *text, size_t size,
                                  bool add_special, uint32_t maximum, int32_t **ids,
                                  uint32_t *count) {
    WEFT_TRY(check_arguments(tokenizer, size, add_special, maximum));
    return tokenizer->kind == KIND_BYTES
               ? encode_bytes(tokenizer, text, size, maximum, ids, count)
               : weft_spm_tokenizer_encode(tokenizer->spm, text, size, add_special, maximum, ids,
                                           count);
}

/* ---- decoding ---- */

static weft_status decode_bytes(const weft_tokenizer *tokenizer, const int32_t *ids, uint32_t count,
                                char **text, size_t *size) {
    char *bytes = weft_alloc(&tokenizer->host, count + (size_t)1);
    if (!bytes) {
        return weft_fail_memory(&tokenizer->host, "a text");
    }
    size_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (ids[i] >= 0 && ids[i] <= UINT8_MAX) {
            bytes[used++] = (char)ids[i];
        }
    }
    bytes[used] = '\0';
    *text = bytes;
    *size = used;
    return WEFT_OK;
}

weft_status weft_tokenizer_decode(const weft_tokenizer *tokenizer, const int32_t *ids,
                                  uint32_t count, char **text, size_t *size) {
    if (tokenizer->kind == KIND_NONE) {
        return weft_fail(&tokenizer->host, WEFT_UNSUPPORTED, "no tokenizer: %s", tokenizer->reason);
    }
    return tokenizer->kind == KIND_BYTES
               ? decode_bytes(tokenizer, ids, count, text, size)
               : weft_spm_tokenizer_decode(tokenizer->spm, ids, count, text, size);
}
