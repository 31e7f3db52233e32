/* SPDX-License-Identifier: MIT */
#include "tokenizer/tokenizer.h"

#include <errno.h>
#include <string.h>

#include "core/formats/json.h"
#include "core/system/file.h"
#include "core/system/system.h"
#include "core/try.h"
#include "tokenizer/json/compare.h"
#include "tokenizer/json/json_tokenizer.h"
#include "tokenizer/known_settings.h"
#include "tokenizer/spm/tokenizer.h"

enum kind { KIND_NONE, KIND_BYTES, KIND_SENTENCEPIECE, KIND_JSON };

/* Keeps the error of a tokenizer.json that is being read; then, what is logged goes on to the host. */
struct relay {
    weft_host host;
    bool reading;
    char *error;
};

struct weft_tokenizer {
    weft_host host;
    enum kind kind;
    char *reason; /* of KIND_NONE: why there is no tokenizer */
    struct weft_spm_tokenizer *spm;
    struct weft_json_tokenizer *json;
    struct relay *relay; /* that json's host logs to, or null */
    weft_digest digest;  /* of the file */
    bool without_types;  /* every token has type 0, whatever the template says */
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
    weft_json_tokenizer_destroy(destroyed->json);
    weft_free(&host, destroyed->relay);
    weft_free(&host, destroyed->reason);
    weft_free(&host, destroyed);
}

const weft_digest *weft_tokenizer_digest(const weft_tokenizer *tokenizer) {
    return &tokenizer->digest;
}

const weft_host *weft_tokenizer_host(const weft_tokenizer *tokenizer) {
    return &tokenizer->host;
}

bool weft_tokenizer_marks_prompts(const weft_tokenizer *tokenizer) {
    return tokenizer->kind == KIND_JSON;
}

const char *weft_tokenizer_kind_name(const weft_tokenizer *tokenizer) {
    static const char *const names[] = {[KIND_NONE] = "none",
                                        [KIND_BYTES] = "bytes",
                                        [KIND_SENTENCEPIECE] = "sentencepiece",
                                        [KIND_JSON] = "tokenizer.json"};
    return names[tokenizer->kind];
}

struct weft_token_facts weft_tokenizer_facts(const weft_tokenizer *tokenizer) {
    return tokenizer->kind == KIND_JSON ? weft_json_tokenizer_facts(tokenizer->json)
                                        : (struct weft_token_facts){.unknown = -1};
}

void weft_tokenizer_truncate_plainly(weft_tokenizer *tokenizer) {
    if (tokenizer->kind == KIND_JSON) {
        weft_json_tokenizer_truncate_plainly(tokenizer->json);
    }
}

int32_t weft_tokenizer_find(const weft_tokenizer *tokenizer, const char *text) {
    const size_t size = strlen(text);
    return tokenizer->kind == KIND_JSON ? weft_json_tokenizer_find(tokenizer->json, text, size)
           : tokenizer->kind == KIND_BYTES && size == 1 ? (uint8_t)text[0]
                                                        : -1;
}

weft_status weft_tokenizer_make_special(weft_tokenizer *tokenizer, const char *text) {
    return tokenizer->kind == KIND_JSON
               ? weft_json_tokenizer_make_special(tokenizer->json, text, strlen(text))
               : WEFT_OK;
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
        status =
            weft_spm_tokenizer_open(&created->spm, &created->digest, path, vocabulary, plain, host);
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

static weft_status read_json(struct weft_json_tokenizer **json, weft_digest *digest,
                             const char *path, const weft_host *host) {
    uint8_t *bytes = NULL;
    size_t size = 0;
    WEFT_TRY(weft_file_read_regular(&bytes, &size, WEFT_TOKENIZER_JSON_MAX_BYTES, path, host));
    const weft_status status =
        weft_json_tokenizer_create(json, (const char *)bytes, size, path, host);
    *digest = weft_digest_of(bytes, size);
    weft_free(host, bytes);
    return status;
}

weft_status weft_tokenizer_open_json(weft_tokenizer **tokenizer, const char *path,
                                     const weft_host *host) {
    weft_tokenizer *created = NULL;
    weft_status status = create(&created, KIND_JSON, host);
    if (status == WEFT_OK) {
        status = read_json(&created->json, &created->digest, path, host);
    }
    if (status == WEFT_OK) {
        *tokenizer = created;
    } else {
        weft_tokenizer_destroy(&created);
    }
    return status;
}

weft_status weft_tokenizer_create_json(weft_tokenizer **tokenizer, const char *text, size_t size,
                                       const char *path, const weft_host *host) {
    weft_tokenizer *created = NULL;
    WEFT_TRY(create(&created, KIND_JSON, host));
    const weft_status status = weft_json_tokenizer_create(&created->json, text, size, path, host);
    created->digest = weft_digest_of((const uint8_t *)text, size);
    if (status == WEFT_OK) {
        *tokenizer = created;
    } else {
        weft_tokenizer_destroy(&created);
    }
    return status;
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

/* True if there is something of that name. */
static bool is_there(const char *path) {
    weft_file_facts facts;
    const int error = weft_system_facts(&facts, path);
    return error != ENOENT && error != ENOTDIR;
}

/* The text preparation that spm/tokenizer.c does; a checkpoint that wants another is refused. */
static weft_status check_settings(const char *path, const weft_host *host) {
    static const struct {
        const char *name;
        bool value;
    } settings[] = {{"do_lower_case", false}, {"keep_accents", true}, {"remove_space", true}};
    json_t *object = NULL;
    weft_status status = weft_json_read_with_reals(&object, path, host);
    if (status != WEFT_OK) {
        return status;
    }
    weft_json_fields fields = {object, path, host};
    status = weft_known_check(&weft_tokenizer_config_fields, &fields);
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

/*
 * transformers gives a model token types if model_input_names lists them. Where the field is missing, the tokenizer's class
 * decides: that of BERT lists them, and those that stand for any tokenizer.json do not.
 */
static weft_status read_types(weft_tokenizer *tokenizer, const weft_json_fields *fields) {
    const json_t *names = json_object_get(fields->object, "model_input_names");
    const char *class_name = "";
    if (!weft_json_has(fields, "model_input_names")) {
        WEFT_TRY(weft_json_optional_string(&class_name, fields, "tokenizer_class"));
        tokenizer->without_types = strcmp(class_name, "PreTrainedTokenizerFast") == 0 ||
                                   strcmp(class_name, "TokenizersBackend") == 0;
        return WEFT_OK;
    }
    if (!json_is_array(names)) {
        return weft_json_fail(fields, WEFT_BAD_FILE, "model_input_names", "an array of names",
                              names);
    }
    tokenizer->without_types = true;
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        tokenizer->without_types &= !name || strcmp(name, "token_type_ids") != 0;
    }
    return WEFT_OK;
}

/* True for the classes that build BERT's normalizer from the fields below, with or without "Fast". */
static bool is_bert_class(const char *name) {
    static const char *const names[] = {"BertTokenizer", "DistilBertTokenizer", "ElectraTokenizer",
                                        "MPNetTokenizer"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t length = strlen(names[i]);
        if (strncmp(name, names[i], length) == 0 &&
            (name[length] == '\0' || strcmp(name + length, "Fast") == 0)) {
            return true;
        }
    }
    return false;
}

/* Without a class, files from before there were tokenizer.json say do_lower_case alone. */
static weft_status read_bert(const weft_tokenizer *tokenizer, const weft_json_fields *fields) {
    const char *name = NULL;
    struct weft_bert_rules rules = {.lowercase = true, .chinese = true};
    WEFT_TRY(weft_json_optional_string(&name, fields, "tokenizer_class"));
    if (name ? !is_bert_class(name) : !weft_json_has(fields, "do_lower_case")) {
        return WEFT_OK;
    }
    WEFT_TRY(weft_json_optional_bool(&rules.lowercase, fields, "do_lower_case"));
    rules.strip_accents = rules.lowercase;
    WEFT_TRY(weft_json_optional_bool(&rules.strip_accents, fields, "strip_accents"));
    WEFT_TRY(weft_json_optional_bool(&rules.chinese, fields, "tokenize_chinese_chars"));
    weft_json_tokenizer_set_bert(tokenizer->json, &rules);
    return WEFT_OK;
}

/* Applies tokenizer_config.json on top of tokenizer.json. */
static weft_status adjust_json(weft_tokenizer *tokenizer, const char *path, const weft_host *host) {
    json_t *object = NULL;
    const char *side = NULL;
    WEFT_TRY(weft_json_read_with_reals(&object, path, host));
    const weft_json_fields fields = {object, path, host};
    weft_status status = weft_known_check(&weft_tokenizer_config_fields, &fields);
    if (status == WEFT_OK) {
        status = weft_json_optional_string(&side, &fields, "truncation_side");
    }
    if (status == WEFT_OK && side) {
        weft_json_tokenizer_truncate_left(tokenizer->json, strcmp(side, "left") == 0);
    }
    if (status == WEFT_OK) {
        status = read_types(tokenizer, &fields);
    }
    if (status == WEFT_OK) {
        status = read_bert(tokenizer, &fields);
    }
    if (status == WEFT_OK) {
        status = weft_json_tokenizer_compare(tokenizer->json, &fields);
    }
    json_decref(object);
    return status;
}

static void relay_log(void *user, weft_log_level level, const char *message) {
    struct relay *relay = user;
    if (!relay->reading || level != WEFT_LOG_ERROR) {
        weft_log(&relay->host, level, "%s", message);
    } else if (!relay->error) {
        relay->error = weft_strdup(&relay->host, message);
    }
}

/* Opens a tokenizer.json, or makes a tokenizer of the reason why Weft does not support it: the model can still run. */
static weft_status open_or_explain(weft_tokenizer **tokenizer, const char *file,
                                   const weft_host *host) {
    struct relay *relay = weft_alloc_zero(host, 1, sizeof *relay);
    if (!relay) {
        return weft_fail_memory(host, file);
    }
    relay->host = host ? *host : (weft_host){0};
    relay->reading = true;
    weft_host own = relay->host;
    own.log = relay_log;
    own.log_user = relay;
    weft_status status = weft_tokenizer_open_json(tokenizer, file, &own);
    relay->reading = false;
    if (status == WEFT_OK) {
        (*tokenizer)->host = relay->host;
        (*tokenizer)->relay = relay;
        return WEFT_OK;
    }
    if (status == WEFT_UNSUPPORTED && relay->error) {
        status = create_none(tokenizer, relay->error, host);
    } else {
        weft_log(host, WEFT_LOG_ERROR, "%s", relay->error ? relay->error : file);
        weft_free(host, relay->error);
    }
    weft_free(host, relay);
    return status;
}

/* The folder's tokenizer.json; *tokenizer stays null where there is none. */
static weft_status load_json(weft_tokenizer **tokenizer, const char *file, const char *preparation,
                             const weft_host *host) {
    if (!is_there(file)) {
        return WEFT_OK;
    }
    WEFT_TRY(open_or_explain(tokenizer, file, host));
    if ((*tokenizer)->kind != KIND_JSON) {
        return WEFT_OK;
    }
    const weft_status status =
        is_there(preparation) ? adjust_json(*tokenizer, preparation, host) : WEFT_OK;
    if (status != WEFT_OK) {
        weft_tokenizer_destroy(tokenizer);
    }
    return status;
}

/* What other libraries have in place of the two files that are read. */
static const char *const other_files[] = {"vocab.txt", "vocab.json", "tokenizer.model",
                                          "sentencepiece.bpe.model"};

static const char *other_file(const char *folder, const weft_host *host) {
    for (size_t i = 0; i < sizeof other_files / sizeof *other_files; i++) {
        char *path = weft_path_join(folder, other_files[i], host);
        const bool found = path && is_there(path);
        weft_free(host, path);
        if (found) {
            return other_files[i];
        }
    }
    return NULL;
}

/* Why neither file makes a tokenizer, and how one gets a tokenizer.json. */
static char *reason_without(const char *folder, const weft_tokenizer_settings *settings,
                            const weft_host *host) {
    const char *other = other_file(folder, host);
    if (other) {
        return weft_format(
            host,
            "%s: expected tokenizer.json or spiece.model, found %s: transformers makes "
            "a tokenizer.json of it: "
            "AutoTokenizer.from_pretrained(folder).save_pretrained(folder)",
            folder, other);
    }
    return settings->kind == WEFT_TOKENIZER_UNKNOWN
               ? weft_format(host, "%s: Weft does not support tokenizer_class %s", folder,
                             settings->class_name)
               : weft_format(host, "%s: expected tokenizer.json or spiece.model, found neither",
                             folder);
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

/* Without a tokenizer.json. */
static weft_status load_other(weft_tokenizer **tokenizer, const char *model,
                              const char *preparation, const char *folder,
                              const weft_tokenizer_settings *settings, const weft_host *host) {
    const bool is_pieces = settings->kind == WEFT_TOKENIZER_PIECES;
    if (settings->kind == WEFT_TOKENIZER_UNKNOWN || (!is_pieces && !is_there(model))) {
        return create_none(tokenizer, reason_without(folder, settings, host), host);
    }
    return load_sentencepiece(tokenizer, model, preparation, settings, host);
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
    char *json = weft_path_join(folder, "tokenizer.json", host);
    char *model = weft_path_join(folder, "spiece.model", host);
    char *preparation = weft_path_join(folder, "tokenizer_config.json", host);
    weft_status status = json && model && preparation ? WEFT_OK : weft_fail_memory(host, folder);
    weft_tokenizer *loaded = NULL;
    if (status == WEFT_OK && settings->kind != WEFT_TOKENIZER_PIECES) {
        status = load_json(&loaded, json, preparation, host);
    }
    if (status == WEFT_OK && !loaded) {
        status = load_other(&loaded, model, preparation, folder, settings, host);
    }
    weft_free(host, json);
    weft_free(host, model);
    weft_free(host, preparation);
    if (status == WEFT_OK) {
        *tokenizer = loaded;
    }
    return status;
}

/* ---- encoding ---- */

static weft_status check_size(const weft_tokenizer *tokenizer, size_t size) {
    return size <= WEFT_TOKENIZER_MAX_TEXT || tokenizer->kind == KIND_BYTES
               ? WEFT_OK
               : weft_fail(&tokenizer->host, WEFT_INVALID_ARGUMENT,
                           "text: expected at most %zu bytes, found %zu", WEFT_TOKENIZER_MAX_TEXT,
                           size);
}

/* The first `maximum` bytes; the others are only counted. */
static weft_status encode_bytes(struct weft_token_list *list, const char *text, size_t size,
                                uint32_t maximum) {
    const uint32_t kept = size < maximum ? (uint32_t)size : maximum;
    list->size = size;
    for (uint32_t i = 0; i < kept; i++) {
        if (!weft_token_list_add(list, (struct weft_token){(uint8_t)text[i], i, i + 1})) {
            return weft_fail_memory(&list->host, "tokens");
        }
    }
    const size_t more = size - kept;
    list->more = more < UINT32_MAX - kept ? (uint32_t)more : UINT32_MAX - kept;
    return WEFT_OK;
}

static weft_status encode_text(const weft_tokenizer *tokenizer, struct weft_token_list *list,
                               const char *text, size_t size,
                               const struct weft_encode_request *request) {
    WEFT_TRY(check_size(tokenizer, size));
    switch (tokenizer->kind) {
    case KIND_BYTES:
        return encode_bytes(list, text, size, request->maximum);
    case KIND_JSON:
        return weft_json_tokenizer_encode(tokenizer->json, list, text, size);
    default:
        return weft_spm_tokenizer_encode(tokenizer->spm, list, text, size, request->with_offsets);
    }
}

static const struct weft_templates *templates_of(const weft_tokenizer *tokenizer) {
    static const struct weft_template_item texts[] = {{.is_text = true},
                                                      {.is_text = true, .sequence = 1, .type = 1}};
    static const struct weft_templates plain = {.single = {texts, 1}, .pair = {texts, 2}};
    return tokenizer->kind == KIND_BYTES  ? &plain
           : tokenizer->kind == KIND_JSON ? weft_json_tokenizer_templates(tokenizer->json)
                                          : weft_spm_tokenizer_templates(tokenizer->spm);
}

weft_status weft_tokenizer_encode(const weft_tokenizer *tokenizer,
                                  const struct weft_encode_request *request,
                                  struct weft_encoded *encoded) {
    const weft_host *host = &tokenizer->host;
    if (tokenizer->kind == KIND_NONE) {
        return weft_fail(host, WEFT_UNSUPPORTED, "no tokenizer: %s", tokenizer->reason);
    }
    struct weft_token_list lists[2] = {{.host = *host}, {.host = *host}};
    weft_status status = encode_text(tokenizer, &lists[0], request->text, request->size, request);
    if (status == WEFT_OK && request->pair) {
        status = encode_text(tokenizer, &lists[1], request->pair, request->pair_size, request);
    }
    if (status == WEFT_OK) {
        status = weft_encoded_make(encoded, templates_of(tokenizer), lists, request->pair != NULL,
                                   request->no_special, request->maximum);
    }
    if (status == WEFT_OK && tokenizer->without_types && encoded->count > 0) {
        memset(encoded->types, 0, encoded->count * sizeof *encoded->types);
    }
    weft_free(host, lists[0].tokens);
    weft_free(host, lists[1].tokens);
    return status;
}

weft_status weft_tokenizer_encode_ids(const weft_tokenizer *tokenizer, const char *text,
                                      size_t size, bool add_special, uint32_t maximum,
                                      int32_t **ids, uint32_t *count) {
    struct weft_encoded encoded = {0};
    const struct weft_encode_request request = {
        .text = text, .size = size, .no_special = !add_special, .maximum = maximum};
    WEFT_TRY(weft_tokenizer_encode(tokenizer, &request, &encoded));
    *count = encoded.count;
    *ids = NULL;
    if (encoded.count > 0) {
        *ids = encoded.tokens;
        encoded.tokens = NULL;
    }
    weft_encoded_clear(&encoded, &tokenizer->host);
    return WEFT_OK;
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

static weft_status decode_json(const weft_tokenizer *tokenizer, const int32_t *ids, uint32_t count,
                               char **text, size_t *size) {
    struct weft_text decoded = {.host = tokenizer->host};
    weft_status status = weft_json_tokenizer_decode(tokenizer->json, ids, count, &decoded);
    *size = decoded.length;
    char *taken = weft_text_take(&decoded);
    if (status == WEFT_OK && !taken) {
        status = weft_fail_memory(&tokenizer->host, "a text");
    }
    if (status != WEFT_OK) {
        weft_free(&tokenizer->host, taken);
        return status;
    }
    *text = taken;
    return WEFT_OK;
}

weft_status weft_tokenizer_decode(const weft_tokenizer *tokenizer, const int32_t *ids,
                                  uint32_t count, char **text, size_t *size) {
    if (tokenizer->kind == KIND_NONE) {
        return weft_fail(&tokenizer->host, WEFT_UNSUPPORTED, "no tokenizer: %s", tokenizer->reason);
    }
    switch (tokenizer->kind) {
    case KIND_BYTES:
        return decode_bytes(tokenizer, ids, count, text, size);
    case KIND_JSON:
        return decode_json(tokenizer, ids, count, text, size);
    default:
        return weft_spm_tokenizer_decode(tokenizer->spm, ids, count, text, size);
    }
}

/* Not copied; `byte` has room for one of the byte tokenizer's. */
static const char *piece_of(const weft_tokenizer *tokenizer, int32_t id, char *byte, size_t *size) {
    switch (tokenizer->kind) {
    case KIND_BYTES:
        *byte = (char)id;
        *size = 1;
        return id >= 0 && id <= UINT8_MAX ? byte : NULL;
    case KIND_JSON:
        return weft_json_tokenizer_piece(tokenizer->json, id, size);
    default:
        return weft_spm_tokenizer_piece(tokenizer->spm, id, size);
    }
}

weft_status weft_tokenizer_piece(const weft_tokenizer *tokenizer, int32_t id, char **text,
                                 size_t *size) {
    const weft_host *host = &tokenizer->host;
    char byte = 0;
    size_t length = 0;
    if (tokenizer->kind == KIND_NONE) {
        return weft_fail(host, WEFT_UNSUPPORTED, "no tokenizer: %s", tokenizer->reason);
    }
    const char *piece = piece_of(tokenizer, id, &byte, &length);
    if (!piece) {
        return WEFT_NOT_FOUND;
    }
    char *copy = weft_alloc(host, length + 1);
    if (!copy) {
        return weft_fail_memory(host, "a token's text");
    }
    memcpy(copy, piece, length);
    copy[length] = '\0';
    *text = copy;
    *size = length;
    return WEFT_OK;
}
