/* SPDX-License-Identifier: MIT */
#include "model/embedding/embedding.h"

#include <float.h>
#include <string.h>

#include "core/formats/json.h"
#include "core/system/file.h"
#include "core/system/system.h"
#include "core/try.h"
#include "model/embedding/embedding_fields.h"
#include "model/embedding/pair_score.h"

#define MOST_TOKENS   16777216 /* 2^24 */
#define ROOM_OF_ROLES 2U       /* prompts that prefixes may add */

/* ---- the files of a folder ---- */

static bool is_there(const char *path) {
    weft_file_facts facts;
    return weft_system_facts(&facts, path) == 0;
}

/* folder/name as an object, or null where there is no such file. */
static weft_status read_optional(json_t **object, char **path, const char *folder, const char *name,
                                 const weft_host *host) {
    *object = NULL;
    *path = weft_path_join(folder, name, host);
    if (!*path) {
        return weft_fail_memory(host, "a path");
    }
    return is_there(*path) ? weft_json_read(object, *path, host) : WEFT_OK;
}

/* SpladePooling behind a Transformer that does not say it is a masked language model would pool hidden states. */
static weft_status check_words(const struct weft_embedding *embedding,
                               const weft_json_fields *fields) {
    return embedding->predicts || weft_json_has(fields, "transformer_task")
               ? WEFT_OK
               : weft_json_fail(fields, WEFT_UNSUPPORTED, "transformer_task",
                                "\"fill-mask\", as SpladePooling follows", NULL);
}

/* Whether pairs go through the chat template: those of a language model do where its folder has that way. */
static weft_status read_ways(struct weft_embedding *embedding, const weft_json_fields *fields) {
    const json_t *ways = json_object_get(fields->object, "modality_config");
    const json_t *message = json_object_get(ways, "message");
    embedding->score.by_template = message && !json_is_null(message);
    return json_is_object(ways)
               ? WEFT_OK
               : weft_json_fail(fields, WEFT_UNSUPPORTED, "modality_config",
                                "an object that says whether pairs go through a chat template",
                                ways);
}

static enum weft_encoder_use use_of(const struct weft_embedding *embedding) {
    return embedding->score.is_there             ? WEFT_ENCODER_OF_SCORES
           : embedding->scores_pairs             ? WEFT_ENCODER_OF_PAIRS
           : weft_embedding_is_sparse(embedding) ? WEFT_ENCODER_OF_WORDS
           : embedding->multi.is_there           ? WEFT_ENCODER_OF_TOKENS
                                                 : WEFT_ENCODER_OF_TEXTS;
}

static weft_status read_length(struct weft_embedding *embedding, const weft_json_fields *fields) {
    const enum weft_encoder_use use = use_of(embedding);
    int64_t length = 0;
    bool lowers = false;
    WEFT_TRY(weft_embedding_check_encoder(fields, use));
    WEFT_TRY(use == WEFT_ENCODER_OF_WORDS ? check_words(embedding, fields) : WEFT_OK);
    WEFT_TRY(use == WEFT_ENCODER_OF_SCORES ? read_ways(embedding, fields) : WEFT_OK);
    WEFT_TRY(use == WEFT_ENCODER_OF_TOKENS
                 ? weft_multi_vector_read_encoder(&embedding->multi, fields)
                 : WEFT_OK);
    WEFT_TRY(weft_json_optional_integer(&length, fields, "max_seq_length", 1, MOST_TOKENS));
    WEFT_TRY(weft_json_optional_bool(&lowers, fields, "do_lower_case"));
    embedding->max_length = (uint32_t)length;
    return lowers ? weft_json_fail(fields, WEFT_UNSUPPORTED, "do_lower_case",
                                   "false: the tokenizer has to do it",
                                   json_object_get(fields->object, "do_lower_case"))
                  : WEFT_OK;
}

/* sentence_bert_config.json, which older versions named after other encoders, too. */
static weft_status read_own_limit(struct weft_embedding *embedding) {
    static const char *const names[] = {
        "sentence_bert_config.json",       "sentence_roberta_config.json",
        "sentence_distilbert_config.json", "sentence_camembert_config.json",
        "sentence_albert_config.json",     "sentence_xlm-roberta_config.json",
        "sentence_xlnet_config.json"};
    const weft_host *host = &embedding->host;
    bool found = false;
    weft_status status = WEFT_OK;
    for (size_t i = 0; status == WEFT_OK && !found && i < sizeof names / sizeof *names; i++) {
        json_t *object = NULL;
        char *path = NULL;
        status = read_optional(&object, &path, embedding->encoder, names[i], host);
        found = object != NULL;
        if (status == WEFT_OK && found) {
            status = read_length(embedding,
                                 &(weft_json_fields){.object = object, .path = path, .host = host});
        }
        json_decref(object);
        weft_free(host, path);
    }
    return status == WEFT_OK && !found && embedding->score.is_there
               ? weft_fail(host, WEFT_UNSUPPORTED,
                           "%s: expected a sentence_bert_config.json, which says whether pairs go "
                           "through a chat template, as LogitScore follows, found none",
                           embedding->encoder)
               : status;
}

/* tokenizer_config.json's model_max_length, where newer versions keep it. It may be 10^30, for "as many as the model has". */
static weft_status read_tokenizer_limit(struct weft_embedding *embedding) {
    const weft_host *host = &embedding->host;
    char *path = weft_path_join(embedding->encoder, "tokenizer_config.json", host);
    json_t *object = NULL;
    double length = MOST_TOKENS;
    weft_status status = !path            ? weft_fail_memory(host, "a path")
                         : is_there(path) ? weft_json_read_with_reals(&object, path, host)
                                          : WEFT_OK;
    if (status == WEFT_OK && object) {
        status = weft_json_optional_real(
            &length, &(weft_json_fields){.object = object, .path = path, .host = host},
            "model_max_length", 1, DBL_MAX);
    }
    if (status == WEFT_OK && length < MOST_TOKENS) {
        embedding->max_length = (uint32_t)length;
    }
    json_decref(object);
    weft_free(host, path);
    return status;
}

static weft_status read_limits(struct weft_embedding *embedding) {
    WEFT_TRY(read_own_limit(embedding));
    return embedding->max_length > 0 ? WEFT_OK : read_tokenizer_limit(embedding);
}

static weft_status add_prompt(struct weft_embedding *embedding, const char *name,
                              const json_t *text, const weft_json_fields *fields) {
    if (!json_is_string(text) && !json_is_null(text)) {
        return weft_json_fail(fields, WEFT_BAD_FILE, name, "a text", text);
    }
    struct weft_prompt *prompt = &embedding->prompts[embedding->prompt_count++];
    prompt->name = weft_strdup(&embedding->host, name);
    prompt->text = weft_strdup(&embedding->host, json_is_null(text) ? "" : json_string_value(text));
    return prompt->name && prompt->text ? WEFT_OK : weft_fail_memory(&embedding->host, "a prompt");
}

static weft_status read_prompts(struct weft_embedding *embedding, const weft_json_fields *fields) {
    json_t *prompts = json_object_get(fields->object, "prompts");
    const json_t *text = NULL;
    const char *name = NULL;
    if (weft_json_has(fields, "prompts") && !json_is_object(prompts)) {
        return weft_json_fail(fields, WEFT_BAD_FILE, "prompts", "an object of texts", prompts);
    }
    embedding->prompts = weft_alloc_zero(
        &embedding->host, json_object_size(prompts) + ROOM_OF_ROLES, sizeof *embedding->prompts);
    if (!embedding->prompts) {
        return weft_fail_memory(&embedding->host, "the prompts");
    }
    const weft_json_fields inner = {.object = prompts, .path = fields->path, .host = fields->host};
    json_object_foreach(prompts, name, text) {
        WEFT_TRY(add_prompt(embedding, name, text, &inner));
    }
    return WEFT_OK;
}

/* What stands in front of all queries, or all documents, in an older layout: also in front of a prompt, unless that begins with it. */
static weft_status add_prefix(struct weft_embedding *embedding, const char *name,
                              const char *prefix) {
    const weft_host *host = &embedding->host;
    uint32_t at = 0;
    while (at < embedding->prompt_count && strcmp(embedding->prompts[at].name, name) != 0) {
        at++;
    }
    struct weft_prompt *prompt = &embedding->prompts[at];
    const char *before = at < embedding->prompt_count ? prompt->text : "";
    const size_t size = strlen(prefix);
    char *text =
        weft_format(host, "%s%s", prefix, before + (strncmp(before, prefix, size) == 0 ? size : 0));
    if (at == embedding->prompt_count) {
        embedding->prompt_count++;
        prompt->name = weft_strdup(host, name);
    }
    weft_free(host, prompt->text);
    prompt->text = text;
    return prompt->name && text ? WEFT_OK : weft_fail_memory(host, "a prompt");
}

static weft_status add_prefixes(struct weft_embedding *embedding) {
    static const char *const names[] = {"query", "document"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *prefix = embedding->multi.prefixes[i];
        WEFT_TRY(prefix ? add_prefix(embedding, names[i], prefix) : WEFT_OK);
    }
    return WEFT_OK;
}

/* Which of the prompts stands before a text for which none is named. */
static weft_status check_default(struct weft_embedding *embedding, const char *name,
                                 const weft_json_fields *fields) {
    for (uint32_t i = 0; name && i < embedding->prompt_count; i++) {
        if (strcmp(embedding->prompts[i].name, name) == 0) {
            embedding->default_prompt = weft_strdup(&embedding->host, name);
            return embedding->default_prompt ? WEFT_OK
                                             : weft_fail_memory(&embedding->host, "a prompt");
        }
    }
    return !name ? WEFT_OK
                 : weft_json_fail(fields, WEFT_BAD_FILE, "default_prompt_name",
                                  "the name of one of the prompts",
                                  json_object_get(fields->object, "default_prompt_name"));
}

/* Before pairs there is no prompt unless a caller puts one there. */
static weft_status read_pair_usage(struct weft_embedding *embedding,
                                   const weft_json_fields *fields) {
    embedding->scores_pairs = true;
    WEFT_TRY(weft_known_check(&weft_pair_usage_fields, fields));
    WEFT_TRY(read_prompts(embedding, fields));
    return weft_pair_score_read(&embedding->has_activation, &embedding->raw_scores, fields,
                                "activation_fn");
}

static weft_status read_text_usage(struct weft_embedding *embedding,
                                   const weft_json_fields *fields) {
    const char *name = NULL;
    const char *similarity = NULL;
    int64_t most = 0;
    int64_t terms = 0;
    WEFT_TRY(weft_known_check(
        embedding->is_sparse ? &weft_sparse_usage_fields : &weft_text_usage_fields, fields));
    WEFT_TRY(read_prompts(embedding, fields));
    WEFT_TRY(weft_json_optional_string(&name, fields, "default_prompt_name"));
    WEFT_TRY(check_default(embedding, name, fields));
    WEFT_TRY(weft_json_optional_integer(&most, fields, "truncate_dim", 1, INT32_MAX));
    if (embedding->is_sparse) {
        WEFT_TRY(weft_json_optional_integer(&terms, fields, "max_active_dims", 1, INT32_MAX));
    }
    embedding->truncate_dim = (uint32_t)most;
    embedding->max_active_dims = (uint32_t)terms;
    WEFT_TRY(weft_json_optional_string(&similarity, fields, "similarity_fn_name"));
    embedding->similarity = weft_strdup(&embedding->host, similarity);
    return similarity && !embedding->similarity ? weft_fail_memory(&embedding->host, "a name")
                                                : WEFT_OK;
}

static weft_status read_multi_usage(struct weft_embedding *embedding,
                                    const weft_json_fields *fields) {
    const char *name = NULL;
    WEFT_TRY(weft_multi_vector_read_usage(&embedding->multi, fields));
    WEFT_TRY(read_prompts(embedding, fields));
    WEFT_TRY(add_prefixes(embedding));
    WEFT_TRY(weft_json_optional_string(&name, fields, "default_prompt_name"));
    return check_default(embedding, name, fields);
}

static weft_status read_usage(struct weft_embedding *embedding, const weft_json_fields *fields) {
    const char *type =
        weft_multi_vector_is_pylate(fields) ? "ColBERT" : "SentenceTransformer"; /* of its first */
    WEFT_TRY(weft_json_optional_string(&type, fields, "model_type"));
    embedding->multi.is_older = strcmp(type, "ColBERT") == 0;
    embedding->multi.is_there =
        embedding->multi.is_older || strcmp(type, "MultiVectorEncoder") == 0;
    if (embedding->multi.is_there) {
        return read_multi_usage(embedding, fields);
    }
    if (strcmp(type, "CrossEncoder") == 0) {
        return read_pair_usage(embedding, fields);
    }
    embedding->is_sparse = strcmp(type, "SparseEncoder") == 0;
    return embedding->is_sparse || strcmp(type, "SentenceTransformer") == 0
               ? read_text_usage(embedding, fields)
               : weft_json_fail(fields, WEFT_UNSUPPORTED, "model_type",
                                "\"SentenceTransformer\", \"SparseEncoder\", "
                                "\"MultiVectorEncoder\", PyLate's \"ColBERT\" or "
                                "\"CrossEncoder\"" WEFT_EMBEDDING_WAY_OUT,
                                json_object_get(fields->object, "model_type"));
}

/* Sparse vectors are compared by their product where the folder says nothing else, and several of a text by the largest of theirs. */
static weft_status name_similarity(struct weft_embedding *embedding) {
    const char *usual = weft_embedding_is_sparse(embedding) ? "dot"
                        : !embedding->multi.is_there        ? NULL
                        : embedding->multi.is_mean          ? "meanmaxsim"
                                                            : "maxsim";
    if (!embedding->similarity && usual) {
        embedding->similarity = weft_strdup(&embedding->host, usual);
    }
    return embedding->similarity || !usual ? WEFT_OK : weft_fail_memory(&embedding->host, "a name");
}

static weft_status read_folder(struct weft_embedding *embedding, const char *folder,
                               const char *modules) {
    const weft_host *host = &embedding->host;
    json_t *object = NULL;
    char *path = NULL;
    weft_status status =
        read_optional(&object, &path, folder, "config_sentence_transformers.json", host);
    if (status == WEFT_OK && object) {
        status = read_usage(embedding,
                            &(weft_json_fields){.object = object, .path = path, .host = host});
    }
    json_decref(object);
    weft_free(host, path);
    WEFT_TRY(status);
    WEFT_TRY(weft_embedding_read_modules(embedding, folder, modules));
    WEFT_TRY(name_similarity(embedding));
    return embedding->is_static ? WEFT_OK
                                : read_limits(embedding); /* its tokenizer.json has them */
}

static struct weft_embedding *create(const weft_host *host) {
    struct weft_embedding *embedding = weft_alloc_zero(host, 1, sizeof *embedding);
    if (embedding) {
        embedding->host = host ? *host : (weft_host){0};
    }
    return embedding;
}

/* ColBERT's authors have no modules.json, and say in a file of their own how texts are read. */
static weft_status read_artifact(struct weft_embedding *embedding, const char *folder,
                                 const char *artifact) {
    embedding->multi.is_there = embedding->multi.is_older = true;
    WEFT_TRY(weft_embedding_read_artifact(embedding, folder, artifact));
    embedding->prompts =
        weft_alloc_zero(&embedding->host, ROOM_OF_ROLES, sizeof *embedding->prompts);
    WEFT_TRY(embedding->prompts ? add_prefixes(embedding)
                                : weft_fail_memory(&embedding->host, "the prompts"));
    WEFT_TRY(name_similarity(embedding));
    return read_tokenizer_limit(embedding);
}

static weft_status read_any(struct weft_embedding **embedding, const char *folder,
                            const char *modules, const char *artifact, const weft_host *host) {
    const bool has_modules = is_there(modules);
    if (!has_modules && !is_there(artifact)) {
        return WEFT_OK;
    }
    *embedding = create(host);
    return !*embedding   ? weft_fail_memory(host, "the modules of an embedding")
           : has_modules ? read_folder(*embedding, folder, modules)
                         : read_artifact(*embedding, folder, artifact);
}

weft_status weft_embedding_load(struct weft_embedding **out, const char *folder,
                                const weft_host *host) {
    char *modules = weft_path_join(folder, "modules.json", host);
    char *artifact = weft_path_join(folder, "artifact.metadata", host);
    struct weft_embedding *embedding = NULL;
    weft_status status = modules && artifact ? read_any(&embedding, folder, modules, artifact, host)
                                             : weft_fail_memory(host, "a path");
    weft_free(host, modules);
    weft_free(host, artifact);
    if (status != WEFT_OK) {
        weft_embedding_destroy(&embedding);
    }
    *out = embedding;
    return status;
}

/* ---- what was asked for ---- */

static weft_status check(const struct weft_embedding *embedding, const weft_embed_params *params,
                         const weft_host *host) {
    if (params->pooling >= 2 * WEFT_EMBED_LAST) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "pooling: expected bits of weft_embed_pooling, found %#x",
                         params->pooling);
    }
    if (params->task > WEFT_EMBED_TASK_DOCUMENT) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT, "task: expected a weft_embed_task, found %d",
                         (int)params->task);
    }
    if (params->dimension > 0 && embedding && weft_embedding_is_multi(embedding)) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "dimension: expected 0, as a text has several vectors, found %u",
                         params->dimension);
    }
    if (params->max_terms > 0 && !(embedding && weft_embedding_is_sparse(embedding))) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "max_terms: expected 0, as the model's vectors are not sparse, found %u",
                         params->max_terms);
    }
    if (embedding && weft_embedding_is_of_head(embedding) && params->pooling != 0) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "pooling: expected none, as the model's class says how its vectors are "
                         "made");
    }
    if (embedding && embedding->encoder && params->pooling != 0) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "pooling: expected none, as the model's folder says how its vectors are "
                         "made (modules.json)");
    }
    return embedding || params->pooling != 0
               ? WEFT_OK
               : weft_fail(host, WEFT_INVALID_ARGUMENT,
                           "the model's folder does not say how vectors of texts are made (it has "
                           "no modules.json): expected a pooling, such as mean");
}

static weft_status create_asked(struct weft_embedding **out, const weft_host *host) {
    struct weft_embedding *embedding = create(host);
    if (embedding) {
        embedding->steps = weft_alloc_zero(host, 1, sizeof *embedding->steps);
        embedding->step_count = 1;
    }
    if (!embedding || !embedding->steps) {
        weft_free(host, embedding);
        return weft_fail_memory(host, "the pooling of a model");
    }
    *out = embedding;
    return WEFT_OK;
}

weft_status weft_embedding_of_head(struct weft_embedding **embedding, uint32_t size,
                                   const weft_host *host) {
    WEFT_TRY(create_asked(embedding, host));
    (*embedding)->steps[0].kind = WEFT_EMBEDDING_HEAD;
    (*embedding)->steps[0].out = size;
    return WEFT_OK;
}

bool weft_embedding_is_of_head(const struct weft_embedding *embedding) {
    return embedding->steps[0].kind == WEFT_EMBEDDING_HEAD;
}

bool weft_embedding_is_sparse(const struct weft_embedding *embedding) {
    return embedding->step_count > 0 && embedding->steps[0].kind == WEFT_EMBEDDING_SPLADE;
}

bool weft_embedding_is_multi(const struct weft_embedding *embedding) {
    return embedding->step_count > 0 && embedding->steps[0].kind == WEFT_EMBEDDING_TOKENS;
}

weft_status weft_embedding_set(struct weft_embedding **embedding, const weft_embed_params *params,
                               const weft_host *host) {
    WEFT_TRY(check(*embedding, params, host));
    if (!*embedding) {
        WEFT_TRY(create_asked(embedding, host));
    }
    if (params->pooling != 0) {
        weft_embedding_set_poolings(&(*embedding)->steps[0], params->pooling);
    }
    (*embedding)->normalize = params->normalize;
    (*embedding)->prompt_tokens = params->prompt_tokens;
    (*embedding)->dimension = params->dimension;
    (*embedding)->max_terms = params->max_terms;
    (*embedding)->multi.task = params->task;
    return WEFT_OK;
}

void weft_embedding_set_poolings(struct weft_embedding_step *step, uint32_t bits) {
    step->pooling_count = 0;
    for (uint32_t bit = 1; bit <= WEFT_EMBED_LAST; bit *= 2) {
        if (bits & bit) {
            step->poolings[step->pooling_count++] = (enum weft_embed_pooling)bit;
        }
    }
}

uint32_t weft_embedding_most_values(const struct weft_embedding *embedding) {
    return embedding->dimension > 0 ? embedding->dimension : embedding->truncate_dim;
}

bool weft_embedding_ends_normalized(const struct weft_embedding *embedding) {
    return weft_embedding_most_values(embedding) == 0 &&
           embedding->steps[embedding->step_count - 1].kind == WEFT_EMBEDDING_NORMALIZE;
}

void weft_embedding_describe(const struct weft_embedding *embedding, weft_embed_info *info) {
    uint32_t pooling = 0;
    for (uint32_t i = 0; i < embedding->steps[0].pooling_count; i++) {
        pooling |= embedding->steps[0].poolings[i];
    }
    *info = (weft_embed_info){
        .pooling = pooling,
        .normalizes = embedding->normalize || weft_embedding_ends_normalized(embedding),
        .skips_prompt = embedding->steps[0].skips_prompt,
        .similarity = embedding->similarity,
        .prompt_count = embedding->prompt_count,
        .default_prompt = embedding->default_prompt,
        .prompt_tokens = embedding->prompt_tokens,
        .dimension = weft_embedding_most_values(embedding),
        .sparse = weft_embedding_is_sparse(embedding),
        .multi_vector = weft_embedding_is_multi(embedding),
        .task = embedding->multi.task,
        .max_terms = embedding->max_terms > 0 ? embedding->max_terms : embedding->max_active_dims};
}

void weft_embedding_destroy(struct weft_embedding **address) {
    struct weft_embedding *embedding = *address;
    *address = NULL;
    if (!embedding) {
        return;
    }
    const weft_host host = embedding->host;
    for (uint32_t i = 0; i < embedding->step_count; i++) {
        weft_weight_destroy(&embedding->steps[i].weight);
        weft_weight_destroy(&embedding->steps[i].bias);
        weft_weight_destroy(&embedding->steps[i].residual);
    }
    for (uint32_t i = 0; i < embedding->prompt_count; i++) {
        weft_free(&host, embedding->prompts[i].name);
        weft_free(&host, embedding->prompts[i].text);
    }
    weft_multi_vector_clear(&embedding->multi, &host);
    weft_free(&host, embedding->steps);
    weft_free(&host, embedding->prompts);
    weft_free(&host, embedding->default_prompt);
    weft_free(&host, embedding->similarity);
    weft_free(&host, embedding->encoder);
    weft_free(&host, embedding);
}
