/* SPDX-License-Identifier: MIT */
#include "model/speech_rules.h"

#include <string.h>

#include "core/formats/known_fields.h"
#include "core/try.h"
#include "model/files/source.h"

#define COUNT(array)   (sizeof(array) / sizeof(array)[0])
#define MOST_RATE      768000
#define MOST_FRAME     4096 /* samples: the matrix of its spectrum has the square of it */
#define MOST_SECONDS   3600
#define MOST_LANGUAGES 1024U
#define MOST_CODE      16U /* bytes of a language's */
#define CODE_LETTERS   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
#define NO_TOKEN       (-1)

const char *const weft_speech_fields[] = {
    "suppress_tokens", "begin_suppress_tokens", "lang_to_id", "task_to_id",
    "no_timestamps_token_id", "is_multilingual", "max_initial_timestamp_index",
    /* Of words' time stamps, of texts that came before, of older programs. */
    "alignment_heads", "median_filter_width", "prev_sot_token_id", "forced_decoder_ids", "language",
    "task", NULL};

/* ---- the spectrum ---- */

static const weft_known_field preprocessor_rows[] = {
    {.name = "feature_extractor_type"},
    {.name = "feature_size"},
    {.name = "sampling_rate"},
    {.name = "hop_length"},
    {.name = "chunk_length"},
    {.name = "n_fft"},
    {.name = "n_samples"},
    {.name = "nb_max_frames"},
    /* Of calls, of programs; the filters follow from the other fields. */
    {.name = "mel_filters"},
    {.name = "processor_class"},
    {.name = "return_attention_mask"},
    {.name = "_*"},
    {"padding_value", WEFT_KNOWN_REFUSED, "[0]", NULL},
    {"padding_side", WEFT_KNOWN_REFUSED, "[\"right\"]", NULL},
    {"dither", WEFT_KNOWN_REFUSED, "[0]", NULL},
    {"do_normalize", WEFT_KNOWN_WARNED, "[false]", NULL},
};
static const weft_known_table preprocessor = WEFT_KNOWN_TABLE(preprocessor_rows);

/* A number of samples or the like, where the file does not have to say it. */
static weft_status read_number(uint32_t *number, const weft_json_fields *json, const char *name,
                               int64_t usual, int64_t most) {
    int64_t value = usual;
    WEFT_TRY(weft_json_optional_integer(&value, json, name, 1, most));
    *number = (uint32_t)value;
    return WEFT_OK;
}

/* A field that says again what others do. */
static weft_status expect_number(const weft_json_fields *json, const char *name,
                                 uint32_t expected) {
    int64_t value = expected;
    WEFT_TRY(weft_json_optional_integer(&value, json, name, 0, INT64_MAX));
    return value == expected
               ? WEFT_OK
               : weft_json_fail(json, WEFT_BAD_FILE, name,
                                "what follows from sampling_rate, chunk_length and hop_length",
                                json_object_get(json->object, name));
}

static weft_status check_spectrum(const struct weft_speech_rules *rules,
                                  const weft_model_info *info, const weft_json_fields *json) {
    if (rules->frame % 2 != 0) {
        return weft_json_fail(json, WEFT_UNSUPPORTED, "n_fft", "an even number",
                              json_object_get(json->object, "n_fft"));
    }
    if (rules->window % rules->hop != 0 || rules->window <= rules->frame) {
        return weft_json_fail(json, WEFT_BAD_FILE, "hop_length",
                              "a divisor of chunk_length * sampling_rate, which is more than n_fft",
                              json_object_get(json->object, "hop_length"));
    }
    if (2 * rules->bands != info->input_size) {
        return weft_json_fail(json, WEFT_BAD_FILE, "feature_size", "num_mel_bins of config.json",
                              json_object_get(json->object, "feature_size"));
    }
    if (rules->frames != 2 * (uint64_t)info->exact_length) {
        return weft_json_fail(json, WEFT_BAD_FILE, "chunk_length",
                              "so many seconds that their frames are twice max_source_positions of "
                              "config.json",
                              json_object_get(json->object, "chunk_length"));
    }
    WEFT_TRY(expect_number(json, "n_samples", rules->window));
    return expect_number(json, "nb_max_frames", rules->frames);
}

static weft_status read_spectrum(struct weft_speech_rules *rules, const weft_model_info *info,
                                 const weft_json_fields *json) {
    const char *type = "";
    uint32_t seconds = 0;
    WEFT_TRY(weft_json_string(&type, json, "feature_extractor_type"));
    if (strcmp(type, "WhisperFeatureExtractor") != 0) {
        return weft_json_fail(json, WEFT_UNSUPPORTED, "feature_extractor_type",
                              "WhisperFeatureExtractor",
                              json_object_get(json->object, "feature_extractor_type"));
    }
    WEFT_TRY(weft_known_check(&preprocessor, json));
    WEFT_TRY(read_number(&rules->rate, json, "sampling_rate", 16000, MOST_RATE));
    WEFT_TRY(read_number(&rules->hop, json, "hop_length", 160, MOST_RATE));
    WEFT_TRY(read_number(&rules->frame, json, "n_fft", 400, MOST_FRAME));
    WEFT_TRY(read_number(&rules->bands, json, "feature_size", 80, 1024));
    WEFT_TRY(read_number(&seconds, json, "chunk_length", 30, MOST_SECONDS));
    rules->window = seconds * rules->rate; /* below 2^32, as their limits say */
    rules->frames = rules->window / rules->hop;
    return check_spectrum(rules, info, json);
}

/* ---- tokens ---- */

static bool is_token(const json_t *value, const weft_model_info *info) {
    return json_is_integer(value) && json_integer_value(value) >= 0 &&
           json_integer_value(value) < (json_int_t)info->vocabulary;
}

static weft_status read_token(int32_t *token, const weft_json_fields *json, const char *name,
                              const weft_model_info *info) {
    const json_t *value = json_object_get(json->object, name);
    *token = NO_TOKEN;
    if (!weft_json_has(json, name)) {
        return WEFT_OK;
    }
    if (!is_token(value, info)) {
        return weft_json_fail(json, WEFT_BAD_FILE, name, "a token of the vocabulary", value);
    }
    *token = (int32_t)json_integer_value(value);
    return WEFT_OK;
}

static weft_status read_tokens(struct weft_speech_tokens *tokens, const weft_json_fields *json,
                               const char *name, const weft_model_info *info) {
    const json_t *list = json_object_get(json->object, name);
    if (!weft_json_has(json, name)) {
        return WEFT_OK;
    }
    if (!json_is_array(list)) {
        return weft_json_fail(json, WEFT_BAD_FILE, name, "a list of tokens", list);
    }
    tokens->tokens = weft_alloc_zero(json->host, json_array_size(list) + 1, sizeof(int32_t));
    if (!tokens->tokens) {
        return weft_fail_memory(json->host, name);
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *value = json_array_get(list, i);
        if (!json_is_integer(value)) {
            return weft_json_fail(json, WEFT_BAD_FILE, name, "a list of tokens", value);
        }
        if (is_token(value, info)) {
            tokens->tokens[tokens->count++] = (int32_t)json_integer_value(value);
        }
    }
    return WEFT_OK;
}

/* An object of names and tokens, or none. */
static weft_status find_object(weft_json_fields *inner, const weft_json_fields *json,
                               const char *name) {
    *inner = (weft_json_fields){
        .object = json_object_get(json->object, name), .path = json->path, .host = json->host};
    return !weft_json_has(json, name) || json_is_object(inner->object)
               ? WEFT_OK
               : weft_json_fail(json, WEFT_BAD_FILE, name, "an object of names and tokens",
                                inner->object);
}

/* "<|en|>" is en. */
static weft_status add_language(struct weft_speech_rules *rules, const char *key,
                                const weft_json_fields *languages, const weft_model_info *info) {
    struct weft_speech_language *language = &rules->languages[rules->language_count];
    const size_t size = strlen(key);
    const bool framed = size > 4 && size <= MOST_CODE + 4 && strncmp(key, "<|", 2) == 0 &&
                        strspn(key + 2, CODE_LETTERS) == size - 4 &&
                        strcmp(key + size - 2, "|>") == 0;
    if (!framed) {
        return weft_json_fail(languages, WEFT_BAD_FILE, "lang_to_id", "names such as \"<|en|>\"",
                              json_object_get(languages->object, key));
    }
    WEFT_TRY(read_token(&language->token, languages, key, info));
    language->code = weft_format(languages->host, "%.*s", (int)(size - 4), key + 2);
    if (!language->code) {
        return weft_fail_memory(languages->host, "a language");
    }
    rules->language_count++;
    return language->token != NO_TOKEN
               ? WEFT_OK
               : weft_json_fail(languages, WEFT_BAD_FILE, key, "a token of the vocabulary", NULL);
}

static weft_status read_languages(struct weft_speech_rules *rules, const weft_json_fields *json,
                                  const weft_model_info *info) {
    weft_json_fields languages;
    void *position = NULL;
    WEFT_TRY(find_object(&languages, json, "lang_to_id"));
    const size_t count = json_object_size(languages.object);
    if (count > MOST_LANGUAGES) {
        return weft_json_fail(json, WEFT_BAD_FILE, "lang_to_id", "at most 1024 languages",
                              languages.object);
    }
    rules->languages = weft_alloc_zero(json->host, count + 1, sizeof *rules->languages);
    if (!rules->languages) {
        return weft_fail_memory(json->host, "languages");
    }
    /* Jansson keeps the file's order, and iterates over what nobody changes. */
    json_t *object = (json_t *)(uintptr_t)languages.object;
    for (position = json_object_iter(object); position;
         position = json_object_iter_next(object, position)) {
        WEFT_TRY(add_language(rules, json_object_iter_key(position), &languages, info));
    }
    return WEFT_OK;
}

static weft_status read_text(struct weft_speech_rules *rules, const weft_model_info *info,
                             const weft_json_fields *json) {
    weft_json_fields tasks;
    bool several = false;
    int64_t latest = UINT32_MAX;
    WEFT_TRY(find_object(&tasks, json, "task_to_id"));
    WEFT_TRY(read_token(&rules->transcribe, &tasks, "transcribe", info));
    WEFT_TRY(read_token(&rules->translate, &tasks, "translate", info));
    WEFT_TRY(read_token(&rules->no_time_stamps, json, "no_timestamps_token_id", info));
    WEFT_TRY(read_tokens(&rules->never, json, "suppress_tokens", info));
    WEFT_TRY(read_tokens(&rules->never_first, json, "begin_suppress_tokens", info));
    WEFT_TRY(read_languages(rules, json, info));
    WEFT_TRY(
        weft_json_optional_integer(&latest, json, "max_initial_timestamp_index", 0, UINT32_MAX));
    rules->latest_first = (uint32_t)latest;
    WEFT_TRY(weft_json_optional_bool(&several, json, "is_multilingual"));
    if ((several || rules->language_count > 0) &&
        (rules->language_count == 0 || rules->transcribe == NO_TOKEN)) {
        return weft_json_fail(json, WEFT_BAD_FILE,
                              rules->language_count == 0 ? "lang_to_id" : "task_to_id",
                              "the tokens of a multilingual model", NULL);
    }
    return WEFT_OK;
}

/* ---- the files ---- */

/* transformers 5 may write the extractor's fields into the processor's file. */
static weft_status read_preprocessor(struct weft_speech_rules *rules, bool *found,
                                     const char *folder, const weft_model_info *info,
                                     const weft_host *host) {
    static const char *const files[] = {"preprocessor_config.json", "processor_config.json"};
    weft_status status = WEFT_OK;
    *found = false;
    for (size_t i = 0; i < COUNT(files) && status == WEFT_OK && !*found; i++) {
        json_t *document = NULL;
        char *path = NULL;
        status = weft_source_read_optional(&document, &path, folder, files[i], host);
        const json_t *fields = i == 0 ? document : json_object_get(document, "feature_extractor");
        if (status == WEFT_OK && json_is_object(fields)) {
            *found = true;
            status = read_spectrum(
                rules, info, &(weft_json_fields){.object = fields, .path = path, .host = host});
        }
        json_decref(document);
        weft_free(host, path);
    }
    return status;
}

weft_status weft_speech_rules_read(struct weft_speech_rules **out,
                                   const struct weft_model_source *source,
                                   const weft_model_info *info, const weft_host *host) {
    struct weft_speech_rules *rules = weft_alloc_zero(host, 1, sizeof *rules);
    const bool has_text = source->generation != NULL;
    bool has_spectrum = false;
    if (!rules) {
        return weft_fail_memory(host, "a model's speech");
    }
    weft_status status = read_preprocessor(rules, &has_spectrum, source->folder, info, host);
    if (status == WEFT_OK && has_text) {
        status = read_text(rules, info,
                           &(weft_json_fields){.object = source->generation,
                                               .path = source->generation_name,
                                               .host = host});
    }
    if (status != WEFT_OK || !has_spectrum || !has_text) {
        weft_speech_rules_destroy(&rules, host);
    }
    *out = rules;
    return status;
}

void weft_speech_rules_destroy(struct weft_speech_rules **address, const weft_host *host) {
    struct weft_speech_rules *rules = *address;
    *address = NULL;
    if (!rules) {
        return;
    }
    for (uint32_t i = 0; rules->languages && i <= rules->language_count; i++) {
        weft_free(host, rules->languages[i].code);
    }
    weft_free(host, rules->languages);
    weft_free(host, rules->never.tokens);
    weft_free(host, rules->never_first.tokens);
    weft_free(host, rules);
}
