/* SPDX-License-Identifier: MIT */
#include "model/end_tokens.h"

#include <string.h>

#include "core/formats/known_fields.h"
#include "core/try.h"
#include "model/network/architecture.h"
#include "model/speech_rules.h"

#define FIELD "eos_token_id"

struct found {
    int32_t *tokens;
    uint32_t count;
    bool is_said; /* a file has the field */
};

static weft_status add(struct found *found, const json_t *token, const weft_json_fields *fields,
                       uint32_t vocabulary) {
    if (!json_is_integer(token)) {
        return weft_json_fail(fields, WEFT_BAD_FILE, FIELD, "a token or a list of tokens", token);
    }
    const json_int_t value = json_integer_value(token);
    if (value >= 0 && value < (json_int_t)vocabulary) {
        found->tokens[found->count++] = (int32_t)value;
    }
    return WEFT_OK;
}

static weft_status read_field(struct found *found, const weft_json_fields *fields,
                              uint32_t vocabulary) {
    const json_t *value = json_object_get(fields->object, FIELD);
    if (!weft_json_has(fields, FIELD)) {
        return WEFT_OK;
    }
    const size_t count = json_is_array(value) ? json_array_size(value) : 1;
    found->is_said = true;
    found->count = 0;
    weft_free(fields->host, found->tokens);
    found->tokens = weft_alloc_zero(fields->host, count + 1, sizeof *found->tokens);
    if (!found->tokens) {
        return weft_fail_memory(fields->host, "tokens that end a text");
    }
    if (!json_is_array(value)) {
        return add(found, value, fields, vocabulary);
    }
    for (size_t i = 0; i < count; i++) {
        WEFT_TRY(add(found, json_array_get(value, i), fields, vocabulary));
    }
    return WEFT_OK;
}

/* Reads a document, and releases it. */
static weft_status read_document(struct found *found, const json_t *document, const char *path,
                                 uint32_t vocabulary, const weft_host *host) {
    const weft_json_fields fields = {.object = document, .path = path, .host = host};
    return read_field(found, &fields, vocabulary);
}

#define OF_CALLS "a call of Weft says how it generates"

/* generation_config.json: what transformers generates by where a call does not say. */
static const weft_known_field generation_rows[] = {
    {.name = FIELD},
    {.name = "bos_token_id"},
    {.name = "pad_token_id"},
    {.name = "decoder_start_token_id"},
    {.name = "transformers_version"},
    {.name = "max_length"}, /* of calls, as these are */
    {.name = "max_new_tokens"},
    {.name = "use_cache"},
    {.name = "cache_*"},
    {.name = "return_*"},
    {.name = "output_*"},
    {.name = "trust_remote_code"},
    {.name = "chat_format"},
    {.name = "_*"},
    {"do_sample", WEFT_KNOWN_WARNED, "[false]", OF_CALLS},
    {"temperature", WEFT_KNOWN_WARNED, "[1]", OF_CALLS},
    {"top_k", WEFT_KNOWN_WARNED, "[50, 0]", OF_CALLS},
    {"top_p", WEFT_KNOWN_WARNED, "[1]", OF_CALLS},
    {"repetition_penalty", WEFT_KNOWN_WARNED, "[1]", OF_CALLS},
    {"num_beams", WEFT_KNOWN_WARNED, "[1]", NULL},
    {"num_beam_groups", WEFT_KNOWN_WARNED, "[1]", NULL},
    {"num_return_sequences", WEFT_KNOWN_WARNED, "[1]", NULL},
    {"min_length", WEFT_KNOWN_WARNED, "[0]", NULL},
    {"no_repeat_ngram_size", WEFT_KNOWN_WARNED, "[0]", NULL},
    {"encoder_no_repeat_ngram_size", WEFT_KNOWN_WARNED, "[0]", NULL},
    {"length_penalty", WEFT_KNOWN_READ, NULL, NULL}, /* of beams alone, as this is */
    {"early_stopping", WEFT_KNOWN_READ, NULL, NULL},
    {"diversity_penalty", WEFT_KNOWN_READ, NULL, NULL},
    {"typical_p", WEFT_KNOWN_WARNED, "[1]", NULL},
    {"min_p", WEFT_KNOWN_WARNED, "[0]", NULL},
    {"remove_invalid_values", WEFT_KNOWN_WARNED, "[false]", NULL},
    {"*", WEFT_KNOWN_WARNED, "[[], {}, false, 0]", NULL},
};

/* Holds the document to the table, but for fields that somebody else reads; null is the last of these. */
static weft_status check_fields(const json_t *document, const char *const *others, const char *path,
                                const weft_host *host) {
    static const weft_known_table known = WEFT_KNOWN_TABLE(generation_rows);
    json_t *rest = json_copy((json_t *)(uintptr_t)document); /* which it only reads */
    for (size_t i = 0; rest && others && others[i]; i++) {
        json_object_del(rest, others[i]);
    }
    const weft_status status =
        rest ? weft_known_check(&known,
                                &(weft_json_fields){.object = rest, .path = path, .host = host})
             : weft_fail_memory(host, path);
    json_decref(rest);
    return status;
}

/* generation_config.json, if there is one. */
static weft_status read_generation_config(struct found *found,
                                          const struct weft_model_source *source,
                                          const weft_model_info *info, const weft_host *host) {
    if (!source->generation) {
        return WEFT_OK;
    }
    WEFT_TRY(check_fields(source->generation, info->input_size > 0 ? weft_speech_fields : NULL,
                          source->generation_name, host));
    return read_document(found, source->generation, source->generation_name, info->vocabulary,
                         host);
}

weft_status weft_end_tokens_read(int32_t **tokens, weft_model_info *info,
                                 const struct weft_model_source *source, const weft_host *host) {
    struct found found = {0};
    if (!weft_model_writes(info)) {
        return WEFT_OK;
    }
    weft_status status =
        read_document(&found, source->fields, source->name, info->vocabulary, host);
    if (status == WEFT_OK) {
        status = read_generation_config(&found, source, info, host);
    }
    if (status == WEFT_OK && !found.is_said && info->eos_token >= 0) {
        found.tokens = weft_alloc_zero(host, 1, sizeof *found.tokens);
        status = found.tokens ? WEFT_OK : weft_fail_memory(host, "tokens that end a text");
        if (status == WEFT_OK) {
            found.tokens[found.count++] = info->eos_token;
        }
    }
    if (status != WEFT_OK) {
        weft_free(host, found.tokens);
        return status;
    }
    *tokens = found.tokens;
    info->eos_tokens = found.tokens;
    info->eos_token_count = found.count;
    info->eos_token = found.count > 0 ? found.tokens[0] : -1;
    return WEFT_OK;
}
