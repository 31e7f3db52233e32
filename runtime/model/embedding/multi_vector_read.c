/* SPDX-License-Identifier: MIT */
/* What the files of a folder say of a model with a vector for each token. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/host.h"
#include "core/system/file.h"
#include "core/system/system.h"
#include "core/try.h"
#include "model/embedding/embedding_fields.h"
#include "model/embedding/multi_vector.h"

#define MOST_TOKENS  16777216 /* 2^24 */
#define MOST_WORDS   4096U
#define MOST_KEPT    65536U
#define USUAL_LENGTH 32 /* of queries: ColBERT, section 4.1 */

/* What Python's str.split takes for white space, in ASCII. */
#define SPACES " \t\n\r\v\f\x1c\x1d\x1e\x1f"

/* ---- fields ---- */

/* A length, where the field is there; null counts as no length. */
static weft_status read_length(uint32_t *length, const weft_json_fields *fields, const char *name) {
    int64_t value = 0;
    if (!json_object_get(fields->object, name)) {
        return WEFT_OK;
    }
    WEFT_TRY(weft_json_optional_integer(&value, fields, name, 1, MOST_TOKENS));
    *length = (uint32_t)value;
    return WEFT_OK;
}

static weft_status copy_text(char **copy, const char *text, const weft_host *host) {
    weft_free(host, *copy);
    *copy = weft_strdup(host, text);
    return *copy || !text ? WEFT_OK : weft_fail_memory(host, "a text of a model's folder");
}

static weft_status read_strategy(bool *is_least, const weft_json_fields *fields) {
    const char *strategy = NULL;
    WEFT_TRY(weft_json_string(&strategy, fields, "strategy"));
    *is_least = strcmp(strategy, "min") == 0;
    return *is_least || strcmp(strategy, "fixed") == 0
               ? WEFT_OK
               : weft_json_fail(fields, WEFT_UNSUPPORTED, "strategy", "\"fixed\" or \"min\"",
                                json_object_get(fields->object, "strategy"));
}

/* Null: there is none. */
static weft_status read_expansion(struct weft_query_expansion *expansion,
                                  const weft_json_fields *outer) {
    const json_t *value = json_object_get(outer->object, "query_expansion");
    const weft_json_fields fields = {.object = value, .path = outer->path, .host = outer->host};
    const char *token = NULL;
    int64_t length = 0;
    expansion->is_there = !json_is_null(value);
    if (!expansion->is_there) {
        return WEFT_OK;
    }
    if (!json_is_object(value)) {
        return weft_json_fail(outer, WEFT_BAD_FILE, "query_expansion", "an object", value);
    }
    WEFT_TRY(weft_known_check(&weft_expansion_fields, &fields));
    WEFT_TRY(read_strategy(&expansion->is_least, &fields));
    expansion->attends = false;
    WEFT_TRY(weft_json_optional_bool(&expansion->attends, &fields, "attend"));
    WEFT_TRY(weft_json_optional_string(&token, &fields, "token"));
    WEFT_TRY(weft_json_integer(&length, &fields, "length", 1, MOST_TOKENS));
    expansion->length = (uint32_t)length;
    return copy_text(&expansion->token, token, outer->host);
}

static weft_status add_word(struct weft_word_list *words, const json_t *word, const char *name,
                            const weft_json_fields *fields) {
    const char *text = json_string_value(word);
    if (!text || strlen(text) != json_string_length(word)) {
        return weft_json_fail(fields, WEFT_BAD_FILE, name, "texts", word);
    }
    words->at[words->count] = weft_strdup(fields->host, text);
    return words->at[words->count++] ? WEFT_OK : weft_fail_memory(fields->host, "a word");
}

/* In the place of those that are there. */
static weft_status read_words(struct weft_word_list *words, const weft_json_fields *fields,
                              const char *name) {
    const json_t *list = json_object_get(fields->object, name);
    const json_t *word = NULL;
    size_t index = 0;
    if (!json_is_array(list) || json_array_size(list) > MOST_WORDS) {
        return weft_json_fail(fields, WEFT_BAD_FILE, name, "an array of at most 4096 texts", list);
    }
    words->at = weft_alloc_zero(fields->host, json_array_size(list) + 1, sizeof *words->at);
    if (!words->at) {
        return weft_fail_memory(fields->host, "words");
    }
    json_array_foreach(list, index, word) {
        WEFT_TRY(add_word(words, word, name, fields));
    }
    return WEFT_OK;
}

/* ---- PyLate's fields ---- */

static const char *const marks[] = {
    "query_length",       "document_length",       "query_expansion",
    "do_query_expansion", "query_prefix",          "attend_to_expansion_tokens",
    "document_prefix",    "attend_to_mask_tokens", "skiplist_words"};

bool weft_multi_vector_is_pylate(const weft_json_fields *fields) {
    bool found = false;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        found = found || json_object_get(fields->object, marks[i]);
    }
    return found;
}

/* Where nothing is said, all queries have as many tokens as `query_length`, which then is no limit of its own. */
static weft_status read_older_expansion(struct weft_multi_vector *multi,
                                        const weft_json_fields *fields) {
    struct weft_query_expansion *expansion = &multi->expansion;
    expansion->is_there = true;
    WEFT_TRY(weft_json_optional_bool(&expansion->is_there, fields, "do_query_expansion"));
    if (!expansion->is_there) {
        return WEFT_OK;
    }
    WEFT_TRY(weft_json_optional_bool(&expansion->attends, fields,
                                     json_object_get(fields->object, "attend_to_expansion_tokens")
                                         ? "attend_to_expansion_tokens"
                                         : "attend_to_mask_tokens"));
    expansion->length = multi->query_length > 0 ? multi->query_length : USUAL_LENGTH;
    multi->query_length = 0;
    return WEFT_OK;
}

static weft_status read_prefixes(struct weft_multi_vector *multi, const weft_json_fields *fields) {
    static const char *const names[] = {"query_prefix", "document_prefix"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *prefix = NULL;
        WEFT_TRY(weft_json_optional_string(&prefix, fields, names[i]));
        WEFT_TRY(copy_text(&multi->prefixes[i], prefix, fields->host));
    }
    return WEFT_OK;
}

weft_status weft_multi_vector_read_usage(struct weft_multi_vector *multi,
                                         const weft_json_fields *fields) {
    const char *similarity = "maxsim";
    WEFT_TRY(weft_known_check(
        multi->is_older ? &weft_pylate_usage_fields : &weft_multi_usage_fields, fields));
    WEFT_TRY(weft_json_optional_string(&similarity, fields, "similarity_fn_name"));
    multi->is_mean = strcmp(similarity, "meanmaxsim") == 0;
    WEFT_TRY(read_length(&multi->query_length, fields, "query_length"));
    WEFT_TRY(read_length(&multi->document_length, fields, "document_length"));
    WEFT_TRY(read_prefixes(multi, fields));
    if (weft_json_has(fields, "skiplist_words")) { /* of an older layout: else it is refused */
        multi->masks = true;
        WEFT_TRY(read_words(&multi->words, fields, "skiplist_words"));
    }
    if (json_object_get(fields->object, "query_expansion")) {
        return read_expansion(&multi->expansion, fields);
    }
    return weft_multi_vector_is_pylate(fields) ? read_older_expansion(multi, fields) : WEFT_OK;
}

weft_status weft_multi_vector_finish(struct weft_multi_vector *multi, const weft_host *host) {
    static const char punctuation[] = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
    const uint32_t count = sizeof punctuation - 1;
    multi->skips_documents = true;
    if (multi->masks) { /* which it says */
        return WEFT_OK;
    }
    multi->masks = true;
    multi->words.at = weft_alloc_zero(host, count, sizeof *multi->words.at);
    for (uint32_t i = 0; multi->words.at && i < count; i++) {
        multi->words.at[i] = weft_format(host, "%c", punctuation[i]);
        if (!multi->words.at[i]) {
            return weft_fail_memory(host, "a word");
        }
        multi->words.count++;
    }
    return multi->words.at ? WEFT_OK : weft_fail_memory(host, "words");
}

/* ---- ColBERT's own ---- */

/* A marker is a token of its own in front of the text, which then begins with a space. */
static weft_status read_marker(char **prefix, const weft_json_fields *fields, const char *name,
                               const char *usual) {
    const char *token = usual;
    WEFT_TRY(weft_json_optional_string(&token, fields, name));
    weft_free(fields->host, *prefix);
    *prefix = weft_format(fields->host, "%s ", token[0] != '\0' ? token : usual);
    return *prefix ? WEFT_OK : weft_fail_memory(fields->host, "a prefix");
}

weft_status weft_multi_vector_read_artifact(struct weft_multi_vector *multi, uint32_t *size,
                                            const weft_json_fields *fields) {
    struct weft_query_expansion *expansion = &multi->expansion;
    int64_t length = USUAL_LENGTH;
    int64_t dim = 0;
    bool masks = true;
    WEFT_TRY(weft_known_check(&weft_artifact_fields, fields));
    WEFT_TRY(read_marker(&multi->prefixes[0], fields, "query_token_id", "[unused0]"));
    WEFT_TRY(read_marker(&multi->prefixes[1], fields, "doc_token_id", "[unused1]"));
    WEFT_TRY(read_length(&multi->document_length, fields, "doc_maxlen"));
    WEFT_TRY(weft_json_optional_integer(&length, fields, "query_maxlen", 1, MOST_TOKENS));
    WEFT_TRY(weft_json_optional_integer(&dim, fields, "dim", 1, MOST_TOKENS));
    WEFT_TRY(weft_json_optional_bool(&expansion->attends, fields, "attend_to_mask_tokens"));
    WEFT_TRY(weft_json_optional_bool(&masks, fields, "mask_punctuation"));
    expansion->is_there = true;
    expansion->length = (uint32_t)length;
    multi->masks = !masks; /* by no words */
    *size = (uint32_t)dim;
    return WEFT_OK;
}

/* ---- sentence_bert_config.json ---- */

/* Where the tokenizer puts what it pads with, if an argument of it says so. */
static weft_status read_side(struct weft_multi_vector *multi, const weft_json_fields *outer,
                             const char *name) {
    const json_t *value = json_object_get(outer->object, name);
    const weft_json_fields fields = {.object = value, .path = outer->path, .host = outer->host};
    const char *side = NULL;
    if (!json_is_object(value)) { /* which was checked */
        return WEFT_OK;
    }
    WEFT_TRY(weft_json_optional_string(&side, &fields, "padding_side"));
    if (side) {
        multi->side_is_said = true;
        multi->expansion.in_front = strcmp(side, "left") == 0;
    }
    return WEFT_OK;
}

weft_status weft_multi_vector_read_encoder(struct weft_multi_vector *multi,
                                           const weft_json_fields *fields) {
    WEFT_TRY(read_length(&multi->query_length, fields, "query_length"));
    WEFT_TRY(read_length(&multi->document_length, fields, "document_length"));
    WEFT_TRY(read_side(multi, fields, "tokenizer_args"));
    WEFT_TRY(read_side(multi, fields, "processor_kwargs"));
    return json_object_get(fields->object, "query_expansion")
               ? read_expansion(&multi->expansion, fields)
               : WEFT_OK;
}

/* ---- MultiVectorMask ---- */

static weft_status read_task(struct weft_multi_vector *multi, const json_t *task,
                             const weft_json_fields *fields) {
    const char *name = json_string_value(task);
    if (!name) {
        return weft_json_fail(fields, WEFT_BAD_FILE, "skiplist_tasks", "names of tasks", task);
    }
    multi->skips_queries = multi->skips_queries || strcmp(name, "query") == 0;
    multi->skips_documents = multi->skips_documents || strcmp(name, "document") == 0;
    return WEFT_OK;
}

/* One, or several; without the field documents. */
static weft_status read_tasks(struct weft_multi_vector *multi, const weft_json_fields *fields) {
    const json_t *tasks = json_object_get(fields->object, "skiplist_tasks");
    const json_t *task = NULL;
    size_t index = 0;
    multi->skips_documents = !weft_json_has(fields, "skiplist_tasks");
    if (multi->skips_documents) {
        return WEFT_OK;
    }
    if (!json_is_array(tasks)) {
        return read_task(multi, tasks, fields);
    }
    json_array_foreach(tasks, index, task) {
        WEFT_TRY(read_task(multi, task, fields));
    }
    return WEFT_OK;
}

static int compare(const void *left, const void *right) {
    const int32_t a = *(const int32_t *)left;
    const int32_t b = *(const int32_t *)right;
    return (a > b) - (a < b);
}

static void sort(struct weft_token_set *set) {
    if (set->count > 0) {
        qsort(set->at, set->count, sizeof *set->at, compare);
    }
}

static weft_status read_kept(struct weft_token_set *kept, const weft_json_fields *fields) {
    const json_t *list = json_object_get(fields->object, "keep_only_token_ids");
    const json_t *token = NULL;
    size_t index = 0;
    if (!weft_json_has(fields, "keep_only_token_ids")) {
        return WEFT_OK;
    }
    if (!json_is_array(list) || json_array_size(list) > MOST_KEPT) {
        return weft_json_fail(fields, WEFT_BAD_FILE, "keep_only_token_ids",
                              "an array of at most 65536 tokens", list);
    }
    kept->at = weft_alloc_zero(fields->host, json_array_size(list) + 1, sizeof *kept->at);
    if (!kept->at) {
        return weft_fail_memory(fields->host, "tokens");
    }
    json_array_foreach(list, index, token) {
        const json_int_t id = json_is_integer(token) ? json_integer_value(token) : -1;
        if (id < 0 || id > INT32_MAX) {
            return weft_json_fail(fields, WEFT_BAD_FILE, "keep_only_token_ids", "tokens from 0 on",
                                  token);
        }
        kept->at[kept->count++] = (int32_t)id;
    }
    sort(kept);
    return WEFT_OK;
}

weft_status weft_multi_vector_read_mask(struct weft_multi_vector *multi,
                                        const weft_json_fields *fields) {
    multi->masks = true;
    if (weft_json_has(fields, "skiplist_words")) {
        WEFT_TRY(read_words(&multi->words, fields, "skiplist_words"));
    }
    WEFT_TRY(read_tasks(multi, fields));
    return read_kept(&multi->kept, fields);
}

/* ---- what texts are as tokens ---- */

/* The text of a special token in tokenizer_config.json or special_tokens_map.json: itself, or an object with it. */
static const char *special_of(const json_t *object, const char *name) {
    const json_t *value = json_object_get(object, name);
    return json_string_value(json_is_object(value) ? json_object_get(value, "content") : value);
}

/* What the tokenizer's own files say. */
struct specials {
    const weft_host *host;
    char *mask, *end;
    bool pads_left;
};

static void clear(struct specials *specials) {
    weft_free(specials->host, specials->mask);
    weft_free(specials->host, specials->end);
}

static weft_status take(char **text, const json_t *object, const char *name,
                        const weft_host *host) {
    const char *found = *text ? NULL : special_of(object, name);
    return found ? copy_text(text, found, host) : WEFT_OK;
}

static weft_status take_all(struct specials *specials, const json_t *object) {
    const char *side = json_string_value(json_object_get(object, "padding_side"));
    specials->pads_left = specials->pads_left || (side && strcmp(side, "left") == 0);
    WEFT_TRY(take(&specials->mask, object, "mask_token", specials->host));
    return take(&specials->end, object, "eos_token", specials->host);
}

static weft_status read_file(struct specials *specials, const char *folder, const char *name) {
    json_t *document = NULL;
    weft_file_facts facts;
    char *path = weft_path_join(folder, name, specials->host);
    weft_status status = path ? WEFT_OK : weft_fail_memory(specials->host, "a path");
    if (status == WEFT_OK && weft_system_facts(&facts, path) == 0) {
        status = weft_json_read_with_reals(&document, path, specials->host);
    }
    if (document) {
        status = take_all(specials, document);
    }
    json_decref(document);
    weft_free(specials->host, path);
    return status;
}

/* Older versions of transformers write the second, too. */
static weft_status read_specials(struct specials *specials, const char *folder) {
    WEFT_TRY(read_file(specials, folder, "tokenizer_config.json"));
    return read_file(specials, folder, "special_tokens_map.json");
}

static weft_status find_copy(struct weft_query_expansion *expansion,
                             const struct specials *specials, const weft_tokenizer *tokenizer,
                             const char *folder) {
    const char *text = expansion->token ? expansion->token
                       : specials->mask ? specials->mask
                                        : specials->end;
    expansion->id = text ? weft_tokenizer_find(tokenizer, text) : -1;
    if (expansion->id >= 0) {
        return WEFT_OK;
    }
    return text ? weft_fail(specials->host, WEFT_BAD_FILE,
                            "%s: query_expansion: token: expected a token of tokenizer.json, "
                            "found \"%s\"",
                            folder, text)
                : weft_fail(specials->host, WEFT_BAD_FILE,
                            "%s: query_expansion: token: expected a token, as "
                            "tokenizer_config.json has neither a mask_token nor an eos_token, "
                            "found null",
                            folder);
}

/* A word that is no token would stand for all that are none. */
static weft_status find_skipped(struct weft_multi_vector *multi, const weft_tokenizer *tokenizer,
                                const char *folder, const weft_host *host) {
    uint32_t missing = 0;
    const char *first = NULL;
    multi->skipped.at =
        weft_alloc_zero(host, multi->words.count + (size_t)1, sizeof *multi->skipped.at);
    if (!multi->skipped.at) {
        return weft_fail_memory(host, "the tokens of words");
    }
    for (uint32_t i = 0; i < multi->words.count; i++) {
        const int32_t id = weft_tokenizer_find(tokenizer, multi->words.at[i]);
        if (id >= 0) {
            multi->skipped.at[multi->skipped.count++] = id;
        } else {
            first = missing++ == 0 ? multi->words.at[i] : first;
        }
    }
    sort(&multi->skipped);
    if (missing > 0) {
        weft_log(host, WEFT_LOG_WARNING,
                 "%s: skiplist_words: %u of %u, \"%s\" first, are passed over: they are no tokens "
                 "of tokenizer.json",
                 folder, missing, multi->words.count, first);
    }
    return WEFT_OK;
}

/* Where the prefix is a token, or its first word is: it stays one in texts, as when the model was trained. */
static weft_status keep_whole(const char *prefix, weft_tokenizer *tokenizer,
                              const weft_host *host) {
    const size_t spaces = prefix ? strspn(prefix, SPACES) : 0;
    const size_t size = prefix ? strcspn(prefix + spaces, SPACES) : 0;
    if (size == 0) {
        return WEFT_OK;
    }
    if (weft_tokenizer_find(tokenizer, prefix) >= 0) {
        return weft_tokenizer_make_special(tokenizer, prefix);
    }
    char *word = weft_format(host, "%.*s", (int)size, prefix + spaces);
    const weft_status status =
        word ? weft_tokenizer_make_special(tokenizer, word) : weft_fail_memory(host, "a prefix");
    weft_free(host, word);
    return status;
}

/* One that has texts of its tokens. */
static weft_status check_tokenizer(const struct weft_multi_vector *multi,
                                   const weft_tokenizer *tokenizer, const char *folder,
                                   const weft_host *host) {
    const char *kind = weft_tokenizer_kind_name(tokenizer);
    const bool needs = multi->expansion.is_there || multi->words.count > 0 || multi->prefixes[0] ||
                       multi->prefixes[1];
    return !needs || strcmp(kind, "tokenizer.json") == 0 || strcmp(kind, "bytes") == 0
               ? WEFT_OK
               : weft_fail(host, WEFT_UNSUPPORTED,
                           "%s: query_expansion, skiplist_words or prefixes: expected a "
                           "tokenizer.json, whose tokens they name, found tokenizer %s",
                           folder, kind);
}

weft_status weft_multi_vector_resolve(struct weft_multi_vector *multi, weft_tokenizer *tokenizer,
                                      const char *folder, const weft_host *host) {
    struct specials specials = {.host = host};
    WEFT_TRY(check_tokenizer(multi, tokenizer, folder, host));
    weft_status status = read_specials(&specials, folder);
    if (status == WEFT_OK && !multi->side_is_said) {
        multi->expansion.in_front = specials.pads_left;
    }
    if (status == WEFT_OK && multi->expansion.is_there) {
        status = find_copy(&multi->expansion, &specials, tokenizer, folder);
    }
    clear(&specials);
    WEFT_TRY(status);
    WEFT_TRY(keep_whole(multi->prefixes[0], tokenizer, host));
    WEFT_TRY(keep_whole(multi->prefixes[1], tokenizer, host));
    return find_skipped(multi, tokenizer, folder, host);
}
