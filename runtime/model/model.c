/* SPDX-License-Identifier: MIT */
#include <weft/arithmetic.h>
#include <weft/model.h>
#include <weft/movement.h>

#include <stdio.h>
#include <string.h>

#include "core/formats/json.h"
#include "core/given.h"
#include "core/system/file.h"
#include "core/system/system.h"
#include "core/try.h"
#include "graph/graph.h"
#include "model/embedding/embedding.h"
#include "model/embedding/pair_score.h"
#include "model/end_tokens.h"
#include "model/files/other_weights.h"
#include "model/gguf/gguf_model.h"
#include "model/network/architecture.h"
#include "model/network/network.h"
#include "model/network/network_build.h"
#include "model/network/network_decoder.h"
#include "model/program/program.h"
#include "model/speech_rules.h"
#include "model/static/static_model.h"
#include "model/towers.h"

#define FAMILY(name) &weft_family_##name,
static const struct weft_model_family *const families[] = {WEFT_MODEL_FAMILIES(FAMILY)};
#undef FAMILY

#define FAMILY_COUNT (sizeof families / sizeof families[0])
#define TYPES_SIZE   960 /* a line of the log has 1023 */

struct weft_model {
    weft_host host;
    char *config;                 /* the text of its config.json */
    struct weft_network *network; /* or a program */
    struct weft_program *program;
    struct weft_network *images; /* of two towers, that which the network is not; or null */
    char *images_config;         /* with it: what its config.json would be */
    bool headless;
    struct weft_logit_score score;    /* its task is then that of a classifier with one label */
    struct weft_embedding *embedding; /* or null */
    weft_tokenizer *tokenizer;
    weft_model_info info;
    /* info.max_length of the network, as it was loaded, and as it was asked for, whatever the task of texts is. */
    uint32_t positions, loaded_length, asked_length;
    int32_t *end_tokens;              /* info.eos_tokens */
    struct weft_speech_rules *speech; /* of a model that reads speech, if its folder has them */
    char **default_labels;            /* "LABEL_i", made for models whose config names none */
};

/* ---- loading ---- */

const struct weft_model_family *weft_model_family_at(uint32_t index) {
    return index < FAMILY_COUNT ? families[index] : NULL;
}

static const struct weft_model_family *find_family(const char *model_type) {
    for (size_t i = 0; i < FAMILY_COUNT; i++) {
        if (strcmp(families[i]->model_type, model_type) == 0) {
            return families[i];
        }
    }
    return NULL;
}

/* "a, b, c" */
static const char *list_families(char text[TYPES_SIZE]) {
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < FAMILY_COUNT && used < TYPES_SIZE; i++) {
        int written = snprintf(text + used, TYPES_SIZE - used, "%s%s", i == 0 ? "" : ", ",
                               families[i]->model_type);
        used += written > 0 ? (size_t)written : 0;
    }
    snprintf(text + used, used < TYPES_SIZE ? TYPES_SIZE - used : 0, ", %s, program",
             weft_towers_types());
    return text;
}

static weft_status read_model_type(const struct weft_model_family **family,
                                   const struct weft_model_source *source, const weft_host *host) {
    const char *model_type = NULL;
    const weft_json_fields fields = weft_source_fields(source, host);
    WEFT_TRY(weft_json_string(&model_type, &fields, "model_type"));
    *family = find_family(model_type);
    if (!*family) {
        char types[TYPES_SIZE];
        const weft_status status =
            weft_fields_refuse_model(&fields, "model_type", "a type that Weft has",
                                     json_object_get(fields.object, "model_type"));
        return weft_fail(host, status, "%s: the types are %s", fields.path, list_families(types));
    }
    return WEFT_OK;
}

static weft_status load_program(weft_model *model, const struct weft_model_source *source) {
    WEFT_TRY(weft_program_load(&model->program, json_incref(source->fields), source, &model->host));
    weft_program_describe(model->program, &model->info);
    const struct weft_program_task *task = &model->program->task;
    const bool is_texts = task->task != WEFT_TASK_PROGRAM;
    const weft_tokenizer_settings settings = {
        .kind = is_texts ? task->tokenizer : WEFT_TOKENIZER_UNKNOWN,
        .class_name = is_texts ? task->tokenizer_class : "of a program without a task",
        .vocabulary = task->vocabulary};
    return weft_tokenizer_load(&model->tokenizer, source->folder, &settings, &model->host);
}

static weft_status load_family(struct weft_network **network, weft_model *model,
                               const struct weft_model_source *source) {
    const struct weft_model_family *family = NULL;
    WEFT_TRY(read_model_type(&family, source, &model->host));
    return weft_network_load(network, family, source, &model->host);
}

/* The network is that which reads texts, or the only one. */
static weft_status load_towers(weft_model *model, const struct weft_towers *towers) {
    if (!towers->texts.fields) {
        return load_family(&model->network, model, &towers->images);
    }
    WEFT_TRY(load_family(&model->network, model, &towers->texts));
    WEFT_TRY(load_family(&model->images, model, &towers->images));
    WEFT_TRY(weft_towers_check(towers, model->network, model->images, &model->host));
    model->images_config = weft_json_text(towers->images.fields, 0, &model->host);
    return model->images_config ? WEFT_OK : weft_fail_memory(&model->host, "a tower's config");
}

static weft_status load_networks(weft_model *model, const struct weft_model_source *source) {
    struct weft_towers towers;
    if (!weft_towers_are_there(source)) {
        return load_family(&model->network, model, source);
    }
    weft_status status = weft_towers_split(&towers, source, &model->host);
    if (status == WEFT_OK) {
        status = load_towers(model, &towers);
    }
    weft_towers_clear(&towers, &model->host);
    return status;
}

static weft_status load_network(weft_model *model, const struct weft_model_source *source) {
    WEFT_TRY(load_networks(model, source));
    weft_network_describe(model->network, &model->info);
    if (model->info.task == WEFT_TASK_EMBED) {
        WEFT_TRY(
            weft_embedding_of_head(&model->embedding, model->info.embedding_size, &model->host));
    }
    if (model->images) {
        WEFT_TRY(weft_towers_read_similarity(&model->info, model->network));
    }
    if (source->tokenizer) {
        return weft_tokenizer_create_json(&model->tokenizer, source->tokenizer,
                                          source->tokenizer_size, source->label, &model->host);
    }
    return weft_network_make_tokenizer(&model->tokenizer, model->network, source->folder);
}

static weft_status make_default_labels(weft_model *model) {
    model->default_labels =
        weft_alloc_zero(&model->host, model->info.label_count + 1, sizeof(char *));
    if (!model->default_labels) {
        return weft_fail_memory(&model->host, "label names");
    }
    for (uint32_t i = 0; i < model->info.label_count; i++) {
        model->default_labels[i] = weft_format(&model->host, "LABEL_%u", i);
        if (!model->default_labels[i]) {
            return weft_fail_memory(&model->host, "label names");
        }
    }
    return WEFT_OK;
}

static bool reads_speech(const weft_model *model) {
    return model->info.task == WEFT_TASK_TEXT_TO_TEXT && model->info.input_size > 0;
}

static weft_status load(weft_model *model, struct weft_model_source *source) {
    model->config = weft_strdup(&model->host, source->config);
    if (!model->config) {
        return weft_fail_memory(&model->host, "a model's config");
    }
    WEFT_TRY(weft_program_is_config(source->fields) ? load_program(model, source)
                                                    : load_network(model, source));
    model->info.tokenizer = weft_tokenizer_kind_name(model->tokenizer);
    model->positions = model->loaded_length = model->asked_length = model->info.max_length;
    WEFT_TRY(weft_model_writes(&model->info) ? weft_source_read_generation(source, &model->host)
                                             : WEFT_OK);
    WEFT_TRY(weft_end_tokens_read(&model->end_tokens, &model->info, source, &model->host));
    if (reads_speech(model) && source->folder) {
        WEFT_TRY(weft_speech_rules_read(&model->speech, source, &model->info, &model->host));
    }
    WEFT_TRY(weft_pair_score_describe(&model->info, source, &model->host));
    return make_default_labels(model);
}

static weft_status create(weft_model **out, struct weft_model_source *source,
                          const weft_host *host) {
    weft_model *model = weft_alloc_zero(host, 1, sizeof *model);
    if (!model) {
        return weft_fail_memory(host, "a model");
    }
    model->host = host ? *host : (weft_host){0};
    weft_status status = weft_source_parse(source, &model->host);
    if (status == WEFT_OK) {
        status = load(model, source);
    }
    weft_source_clear(source, &model->host);
    if (status != WEFT_OK) {
        weft_model_destroy(&model);
        return status;
    }
    *out = model;
    return WEFT_OK;
}

/* A config.json that was read and stays open, so that no other file can be taken for it. */
struct config_file {
    int file; /* or -1 */
    uint8_t *text;
    size_t size;
};

static weft_status read_config(struct config_file *config, const char *path,
                               const weft_host *host) {
    uint64_t size = 0;
    WEFT_TRY(weft_file_open(&config->file, &size, path, host));
    WEFT_TRY(weft_file_read_open(&config->text, &config->size, WEFT_JSON_MAX_BYTES, config->file,
                                 path, host));
    return !memchr(config->text, '\0', config->size)
               ? WEFT_OK
               : weft_fail(host, WEFT_BAD_FILE, "%s: expected text, found a zero byte", path);
}

/*
 * Weights and config of two models may fit each other: a writer that replaces both deletes the config first, and another file comes last
 * (model/files/folder_save.h). Equal bytes are not enough: a third save may have brought them back.
 */
static weft_status check_unchanged(const struct config_file *config, const char *path,
                                   const weft_host *host) {
    uint8_t *again = NULL;
    size_t again_size = 0;
    weft_file_facts then, now;
    bool same = weft_system_facts_of(&then, config->file) == 0 &&
                weft_system_facts(&now, path) == 0 && then.volume == now.volume &&
                then.number == now.number;
    if (same) {
        WEFT_TRY(weft_file_read_regular(&again, &again_size, WEFT_JSON_MAX_BYTES, path, host));
        same = again_size == config->size && memcmp(again, config->text, again_size) == 0;
        weft_free(host, again);
    }
    return same ? WEFT_OK
                : weft_fail(host, WEFT_BAD_FILE, "%s: changed while the model was loaded", path);
}

/* `found`: it has a config.json, of whatever contents. */
static weft_status explain(const char *folder, const char *path, bool found, weft_status status,
                           const weft_host *host) {
    return !path || status == WEFT_OUT_OF_HOST_MEMORY ? status
           : found ? weft_other_weights_explain_file(path, status, host)
                   : weft_other_weights_explain_folder(folder, status, host);
}

/* Texts are cut to what the tokenizer or the encoder takes, whichever is less. */
static void limit_length(weft_model *model, const struct weft_embedding *embedding) {
    if (embedding->max_length > 0 && embedding->max_length < model->info.max_length) {
        model->info.max_length = embedding->max_length;
    }
    model->loaded_length = model->asked_length = model->info.max_length;
}

/* Texts of a task may be longer, or shorter, than others. */
static void follow_task(weft_model *model) {
    const struct weft_embedding *embedding = model->embedding;
    const uint32_t most = embedding && weft_embedding_is_multi(embedding)
                              ? weft_multi_vector_most(&embedding->multi, model->asked_length)
                              : model->asked_length;
    model->info.max_length = most < model->positions ? most : model->positions;
}

/* Copies the embedding's fields into info. */
static weft_status describe_embedding(weft_model *model) {
    const struct weft_embedding *embedding = model->embedding;
    weft_model_info *info = &model->info;
    const bool sparse = weft_embedding_is_sparse(embedding);
    WEFT_TRY(weft_embedding_size(&info->embedding_size, embedding,
                                 sparse ? info->vocabulary : info->hidden_size));
    info->task = WEFT_TASK_EMBED;
    info->multi_vector = weft_embedding_is_multi(embedding);
    info->label_count = 0;
    info->multi_label = false;
    model->headless = !sparse && !weft_embedding_is_of_head(embedding);
    follow_task(model);
    return WEFT_OK;
}

static void free_labels(weft_model *model) {
    /* Not label_count: a model that gives embeddings has lost its labels, but not their names. */
    for (char **label = model->default_labels; label && *label; label++) {
        weft_free(&model->host, *label);
    }
    weft_free(&model->host, model->default_labels);
    model->default_labels = NULL;
}

static weft_status check_token(const weft_model *model, const char *field, int64_t token) {
    return token < (int64_t)model->info.vocabulary
               ? WEFT_OK
               : weft_fail(&model->host, WEFT_BAD_FILE,
                           "LogitScore: %s: expected a token from 0 to %u, found %lld", field,
                           model->info.vocabulary - 1, (long long)token);
}

/* A language model in the place of a classifier: its logits for the next token are the score. */
static weft_status take_logit_score(weft_model *model, const struct weft_logit_score *score) {
    weft_model_info *info = &model->info;
    if (info->task != WEFT_TASK_CAUSAL_LM || !model->network) {
        return weft_fail(&model->host, WEFT_UNSUPPORTED,
                         "modules.json: expected a causal language model in config.json, as "
                         "LogitScore follows, found task %s",
                         weft_task_name(info->task));
    }
    WEFT_TRY(check_token(model, "true_token_id", score->yes));
    WEFT_TRY(check_token(model, "false_token_id", score->no));
    model->score = *score;
    info->task = WEFT_TASK_CLASSIFY;
    info->label_count = 1;
    info->multi_label = true;
    info->by_template = score->by_template;
    free_labels(model);
    return make_default_labels(model);
}

/* A CrossEncoder's folder: what scores a pair, and how its logit becomes a score. */
static weft_status take_pair_score(weft_model *model, const struct weft_embedding *embedding) {
    if (embedding->score.is_there) {
        WEFT_TRY(take_logit_score(model, &embedding->score));
    }
    if (embedding->has_activation) {
        model->info.raw_scores = embedding->raw_scores;
    }
    return WEFT_OK;
}

static weft_status fail_expansion(const weft_model *model, const char *field,
                                  const char *expected) {
    return weft_fail(&model->host, WEFT_UNSUPPORTED, "%s: query_expansion: %s: expected %s",
                     model->embedding->encoder, field, expected);
}

/* Copies have places of their own, which others must be able to pass over where they do not read them. */
static weft_status check_expansion(const weft_model *model) {
    const struct weft_query_expansion *expansion = &model->embedding->multi.expansion;
    char text[160];
    if (!expansion->is_there) {
        return WEFT_OK;
    }
    if (expansion->length > model->positions) {
        snprintf(text, sizeof text, "at most the model's %u tokens, found %u", model->positions,
                 expansion->length);
        return fail_expansion(model, "length", text);
    }
    if ((uint32_t)expansion->id >= model->info.vocabulary) {
        snprintf(text, sizeof text, "a token of the model's %u, found %d", model->info.vocabulary,
                 (int)expansion->id);
        return fail_expansion(model, "token", text);
    }
    if (model->network && !weft_network_has_place(model->network, expansion->id)) {
        return fail_expansion(model, "token",
                              "another than the padding token, which has no position in this "
                              "model");
    }
    if (expansion->in_front && (expansion->is_least || !expansion->attends)) {
        return fail_expansion(model, "strategy",
                              "\"fixed\", and attend true, as the tokenizer's padding_side is "
                              "left");
    }
    const bool passes_over =
        model->network && weft_network_reads_by_length(model->network, expansion->length);
    return expansion->attends || passes_over
               ? WEFT_OK
               : fail_expansion(model, "attend",
                                "true, as this model's layers cannot pass over tokens that "
                                "themselves have results");
}

/* Texts longer than the model takes are cut to that. */
static void warn_of_length(const weft_model *model, const char *field, uint32_t length) {
    if (length > model->positions) {
        weft_log(&model->host, WEFT_LOG_WARNING,
                 "%s: field \"%s\": %u is passed over: texts are cut at the model's %u tokens",
                 model->embedding->encoder, field, length, model->positions);
    }
}

/* A vector for each token: what the folder's words are as tokens. */
static weft_status resolve_multi(weft_model *model) {
    struct weft_multi_vector *multi = &model->embedding->multi;
    const struct weft_query_expansion *expansion = &multi->expansion;
    WEFT_TRY(weft_multi_vector_resolve(multi, model->tokenizer, model->embedding->encoder,
                                       &model->host));
    WEFT_TRY(check_expansion(model));
    warn_of_length(model, "query_length", multi->query_length);
    warn_of_length(model, "document_length", multi->document_length);
    return expansion->is_there && multi->query_length > 0 && multi->query_length < expansion->length
               ? fail_expansion(model, "length", "at most query_length")
               : WEFT_OK;
}

static weft_status take_embedding(weft_model *model, struct weft_embedding *embedding) {
    limit_length(model, embedding);
    if (embedding->scores_pairs) {
        const weft_status status = take_pair_score(model, embedding);
        weft_embedding_destroy(&embedding);
        return status;
    }
    const bool sparse = weft_embedding_is_sparse(embedding);
    if (model->info.task != (sparse ? WEFT_TASK_MASKED_LM : WEFT_TASK_HIDDEN)) {
        weft_embedding_destroy(&embedding);
        return weft_fail(&model->host, WEFT_UNSUPPORTED,
                         "modules.json: expected %s in config.json, found task %s",
                         sparse ? "a masked language model" : "an encoder",
                         weft_task_name(model->info.task));
    }
    model->embedding = embedding;
    WEFT_TRY(weft_embedding_is_multi(embedding) ? resolve_multi(model) : WEFT_OK);
    return describe_embedding(model);
}

/* Neither the classifier of a CrossEncoder nor a masked language model. */
static bool asks_encoder(const struct weft_embedding *embedding) {
    return embedding && !embedding->scores_pairs && !weft_embedding_is_sparse(embedding);
}

/* With its modules, or null. Where these ask for an encoder, it does not matter what the config's architectures say, as its head is not run. */
static weft_status load_folder(weft_model **out, const char *folder,
                               const struct weft_embedding *embedding, const weft_host *host) {
    char *path = weft_path_join(folder, "config.json", host);
    struct config_file config = {.file = -1};
    weft_status status = path ? read_config(&config, path, host) : weft_fail_memory(host, "a path");
    const bool found = config.text != NULL;
    weft_model *model = NULL;
    if (status == WEFT_OK) {
        struct weft_model_source source = {
            .folder = folder,
            .config = (const char *)config.text,
            .encoder = asks_encoder(embedding),
            .other_tensor = embedding && embedding->has_artifact ? WEFT_ARTIFACT_MAP : NULL};
        status = create(&model, &source, host);
    }
    if (status == WEFT_OK) {
        status = check_unchanged(&config, path, host);
    }
    if (status == WEFT_OK) {
        *out = model;
    } else {
        weft_model_destroy(&model);
        status = explain(folder, path, found, status, host);
    }
    if (config.file >= 0) {
        (void)weft_system_close(config.file);
    }
    weft_free(host, config.text);
    weft_free(host, path);
    return status;
}

/* As a step of its own, which no later weft_model_set_embedding turns off. */
static weft_status add_normalization(struct weft_embedding *embedding) {
    const uint32_t count = embedding->step_count;
    struct weft_embedding_step *steps =
        weft_alloc_zero(&embedding->host, count + (size_t)1, sizeof *steps);
    if (!steps) {
        return weft_fail_memory(&embedding->host, "steps of an embedding");
    }
    memcpy(steps, embedding->steps, count * sizeof *steps);
    steps[count].kind = WEFT_EMBEDDING_NORMALIZE;
    weft_free(&embedding->host, embedding->steps);
    embedding->steps = steps;
    embedding->step_count = count + 1;
    return WEFT_OK;
}

/* Has a model make vectors of texts, of length 1 if it normalizes. */
static weft_status pool_by(weft_model *model, uint32_t pooling, bool normalizes) {
    WEFT_TRY(
        weft_embedding_set(&model->embedding, weft_embed_params(.pooling = pooling), &model->host));
    WEFT_TRY(normalizes ? add_normalization(model->embedding) : WEFT_OK);
    return describe_embedding(model);
}

static weft_status load_gguf(weft_model **out, const char *path, const weft_host *host) {
    struct weft_gguf_model parts = {.config = NULL};
    weft_model *model = NULL;
    weft_status status = weft_gguf_model_open(&parts, path, host);
    if (status == WEFT_OK) {
        status = create(&model,
                        &(struct weft_model_source){.config = parts.config,
                                                    .checkpoint = parts.checkpoint,
                                                    .tokenizer = parts.tokenizer,
                                                    .tokenizer_size = parts.tokenizer_size,
                                                    .label = path},
                        host);
    }
    if (status == WEFT_OK &&
        parts.pooling != 0) { /* normalized as llama.cpp does it: the file does not say */
        status = pool_by(model, parts.pooling, true);
    }
    weft_gguf_model_clear(&parts, host);
    if (status == WEFT_OK) {
        *out = model;
    } else {
        weft_model_destroy(&model);
    }
    return status;
}

/* The rules of texts that go with a static embedding, once there is its tokenizer. */
static void follow_rules(weft_model *model, enum weft_bag_rules rules) {
    const uint32_t most = weft_tokenizer_facts(model->tokenizer).most;
    if (rules == WEFT_BAG_MODEL2VEC) {
        weft_tokenizer_truncate_plainly(model->tokenizer);
    } else if (most > 0 && most < model->info.max_length) {
        model->info.max_length = model->loaded_length = model->asked_length = most;
    }
}

static weft_status load_static(weft_model **out, const char *folder, enum weft_bag_rules rules,
                               const weft_host *host) {
    struct weft_static_model parts = {.config = NULL};
    weft_model *model = NULL;
    weft_status status = weft_static_model_open(&parts, folder, rules, host);
    if (status == WEFT_OK) {
        status = create(&model,
                        &(struct weft_model_source){.config = parts.config,
                                                    .checkpoint = parts.checkpoint,
                                                    .tokenizer = parts.tokenizer,
                                                    .tokenizer_size = parts.tokenizer_size,
                                                    .label = folder},
                        host);
    }
    if (status == WEFT_OK) {
        follow_rules(model, rules);
        *out = model;
    }
    if (status == WEFT_OK && rules == WEFT_BAG_MODEL2VEC) {
        status = pool_by(model, WEFT_EMBED_MEAN, parts.normalizes);
    }
    weft_static_model_clear(&parts, host);
    return status;
}

static weft_status load_any_folder(weft_model **out, const char *folder, const weft_host *host) {
    struct weft_embedding *embedding = NULL;
    weft_model *model = NULL;
    WEFT_TRY(weft_embedding_load(&embedding, folder, host));
    weft_status status =
        embedding && embedding->is_static
            ? load_static(&model, embedding->encoder, WEFT_BAG_SENTENCE_TRANSFORMERS, host)
        : !embedding && weft_static_model_is_there(folder)
            ? load_static(&model, folder, WEFT_BAG_MODEL2VEC, host)
            : load_folder(&model, embedding ? embedding->encoder : folder, embedding, host);
    if (model && embedding) {
        status = take_embedding(model, embedding);
    } else {
        weft_embedding_destroy(&embedding);
    }
    if (status == WEFT_OK) {
        *out = model;
    } else {
        weft_model_destroy(&model);
    }
    return status;
}

weft_status weft_model_load(weft_model **out, const char *folder, const weft_host *host) {
    WEFT_ENTER;
    WEFT_GIVEN_AS(host, "model, folder", out, folder);
    char *file = NULL;
    WEFT_TRY(weft_gguf_model_find(&file, folder, host));
    const weft_status status =
        file ? load_gguf(out, file, host) : load_any_folder(out, folder, host);
    weft_free(host, file);
    return status;
}

weft_status weft_model_load_memory(weft_model **out, const weft_model_memory *memory,
                                   const weft_host *host) {
    WEFT_ENTER;
    WEFT_GIVEN_AS(host, "model, memory", out, memory);
    WEFT_GIVEN_AS(host, "memory.config_json, memory.weights", memory->config_json, memory->weights);
    const struct weft_checkpoint_memory bytes = {.data = memory->weights,
                                                 .size = memory->weights_size,
                                                 .release = memory->release,
                                                 .release_user = memory->release_user};
    struct weft_checkpoint *checkpoint = NULL;
    weft_status status = weft_checkpoint_open_memory(&checkpoint, &bytes, "weights", host);
    if (status != WEFT_OK) {
        if (bytes.release) {
            bytes.release(bytes.release_user);
        }
        return status;
    }
    status = create(
        out, &(struct weft_model_source){.config = memory->config_json, .checkpoint = checkpoint},
        host);
    weft_checkpoint_close(&checkpoint);
    return status;
}

weft_status weft_model_create_random(weft_model **out, const char *config_json, uint64_t seed,
                                     const weft_host *host) {
    WEFT_ENTER;
    WEFT_GIVEN_AS(host, "model, config_json", out, config_json);
    return create(out, &(struct weft_model_source){.config = config_json, .seed = seed}, host);
}

/* ---- embeddings ---- */

weft_status weft_model_set_embedding(weft_model *model, const weft_embed_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(weft_model_host(model), model, params);
    const weft_task task = model->info.task;
    if (task == WEFT_TASK_RETRIEVE ||
        (model->program && task != WEFT_TASK_HIDDEN && task != WEFT_TASK_EMBED)) {
        return weft_fail(&model->host, WEFT_UNSUPPORTED,
                         "expected a model that gives a vector for each token, found task %s",
                         weft_task_name(task));
    }
    WEFT_TRY(weft_embedding_set(&model->embedding, params, &model->host));
    return describe_embedding(model);
}

weft_status weft_model_get_embedding(const weft_model *model, weft_embed_info *info) {
    WEFT_ENTER;
    WEFT_GIVEN(weft_model_host(model), model, info);
    if (!model->embedding) {
        return weft_fail(&model->host, WEFT_UNSUPPORTED,
                         "expected a model that gives embeddings, found task %s",
                         weft_task_name(model->info.task));
    }
    weft_embedding_describe(model->embedding, info);
    return WEFT_OK;
}

weft_status weft_model_get_prompt(const weft_model *model, uint32_t index, weft_prompt_info *info) {
    WEFT_ENTER;
    WEFT_GIVEN(weft_model_host(model), model, info);
    if (!model->embedding || index >= model->embedding->prompt_count) {
        return WEFT_NOT_FOUND;
    }
    const struct weft_prompt *prompt = &model->embedding->prompts[index];
    *info = (weft_prompt_info){.name = prompt->name, .text = prompt->text};
    return WEFT_OK;
}

weft_status weft_model_set_max_length(weft_model *model, uint32_t length) {
    WEFT_ENTER;
    WEFT_GIVEN(weft_model_host(model), model);
    if (length > model->positions) {
        return weft_fail(&model->host, WEFT_INVALID_ARGUMENT,
                         "length: expected at most %u tokens, for which the model has positions, "
                         "found %u",
                         model->positions, length);
    }
    model->asked_length = length > 0 ? length : model->loaded_length;
    follow_task(model);
    return WEFT_OK;
}

/* ---- programs and models without a head ---- */

struct weft_network *weft_model_network(const weft_model *model) {
    return model->network;
}

struct weft_program *weft_model_program(const weft_model *model) {
    return model->program;
}

/** WEFT_UNSUPPORTED for a program without a task, and where one text becomes another. */
static weft_status expect_task(const weft_model *model, const char *function) {
    if (model->info.task == WEFT_TASK_TEXT_TO_TEXT) {
        return weft_fail(&model->host, WEFT_UNSUPPORTED,
                         "%s: the model makes one text of another (task text_to_text), which "
                         "weft_generator and weft_decoder do; weft_model_without_head is its "
                         "encoder",
                         function);
    }
    return model->info.task != WEFT_TASK_PROGRAM ? WEFT_OK
                                                 : weft_fail(&model->host, WEFT_UNSUPPORTED,
                                                             "%s: the model is a program, which "
                                                             "weft_model_compile_program compiles",
                                                             function);
}

/* Another model of a network, without the files of a tokenizer. */
static weft_status finish(weft_model *model) {
    model->positions = model->loaded_length = model->asked_length = model->info.max_length;
    WEFT_TRY(weft_network_make_tokenizer(&model->tokenizer, model->network, NULL));
    model->info.tokenizer = weft_tokenizer_kind_name(model->tokenizer);
    return make_default_labels(model);
}

static weft_status share_images(weft_model *tower, const weft_model *model) {
    tower->host = model->host;
    tower->network = weft_network_retain(model->images);
    weft_network_describe(tower->network, &tower->info);
    if (tower->info.task == WEFT_TASK_EMBED) {
        WEFT_TRY(
            weft_embedding_of_head(&tower->embedding, tower->info.embedding_size, &tower->host));
    }
    tower->config = weft_strdup(&model->host, model->images_config);
    return tower->config ? finish(tower) : weft_fail_memory(&model->host, "a model's config");
}

weft_status weft_model_image_tower(weft_model **out, weft_model *model) {
    WEFT_ENTER;
    WEFT_GIVEN_AS(weft_model_host(model), "tower, model", out, model);
    if (!model->images) {
        return weft_fail(&model->host, WEFT_UNSUPPORTED,
                         "weft_model_image_tower: expected a model with a tower of texts and one "
                         "of images, found %s",
                         model->info.architecture);
    }
    weft_model *tower = weft_alloc_zero(&model->host, 1, sizeof *tower);
    if (!tower) {
        return weft_fail_memory(&model->host, "a model");
    }
    const weft_status status = share_images(tower, model);
    if (status != WEFT_OK) {
        weft_model_destroy(&tower);
        return status;
    }
    *out = tower;
    return WEFT_OK;
}

static weft_status share(weft_model *headless, const weft_model *model) {
    const struct weft_model_family *family = model->network->family;
    headless->host = model->host;
    headless->headless = true;
    headless->network = weft_network_retain(model->network);
    headless->info = model->info;
    headless->info.similarity_scale = 0;
    headless->info.task = WEFT_TASK_HIDDEN;
    headless->info.label_count = 0;
    headless->info.eos_token = -1;
    headless->info.eos_tokens = NULL;
    headless->info.eos_token_count = 0;
    headless->info.embedding_size = 0;
    headless->info.multi_vector = false;
    headless->info.max_length = model->asked_length; /* whatever the task of texts is */
    if (family->layout) {
        headless->info.architecture = family->layout->encoder;
    }
    headless->config = weft_strdup(&model->host, model->config);
    if (!headless->config) {
        return weft_fail_memory(&model->host, "a model's config");
    }
    WEFT_TRY(finish(headless));
    headless->positions = model->positions;
    headless->loaded_length = headless->asked_length = model->loaded_length;
    return WEFT_OK;
}

weft_status weft_model_without_head(weft_model **out, weft_model *model) {
    WEFT_ENTER;
    WEFT_GIVEN_AS(weft_model_host(model), "headless, model", out, model);
    if (model->program) {
        return weft_fail(&model->host, WEFT_UNSUPPORTED,
                         "weft_model_without_head: the model is a program, whose head is unknown");
    }
    weft_model *headless = weft_alloc_zero(&model->host, 1, sizeof *headless);
    if (!headless) {
        return weft_fail_memory(&model->host, "a model");
    }
    weft_status status = share(headless, model);
    if (status != WEFT_OK) {
        weft_model_destroy(&headless);
        return status;
    }
    *out = headless;
    return WEFT_OK;
}

void weft_model_destroy(weft_model **address) {
    WEFT_ENTER;
    weft_model *model = address ? *address : NULL;
    if (!model) {
        return;
    }
    *address = NULL;
    weft_host host = model->host;
    weft_free(&host, model->config);
    weft_free(&host, model->end_tokens);
    weft_speech_rules_destroy(&model->speech, &host);
    weft_free(&host, model->images_config);
    weft_network_destroy(&model->network);
    weft_network_destroy(&model->images);
    weft_program_destroy(&model->program);
    weft_tokenizer_destroy(&model->tokenizer);
    weft_embedding_destroy(&model->embedding);
    free_labels(model);
    weft_free(&host, model);
}

/* ---- what it is ---- */

weft_status weft_model_get_info(const weft_model *model, weft_model_info *info) {
    WEFT_ENTER;
    WEFT_GIVEN(weft_model_host(model), model, info);
    *info = model->info;
    return WEFT_OK;
}

weft_status weft_model_get_output_shape(const weft_model *model, uint32_t batch, uint32_t length,
                                        weft_shape *shape) {
    WEFT_ENTER;
    WEFT_GIVEN(weft_model_host(model), model, shape);
    if (model->info.task == WEFT_TASK_PROGRAM) {
        return weft_fail(&model->host, WEFT_UNSUPPORTED,
                         "weft_model_get_output_shape: the model is a program without a task");
    }
    *shape = weft_model_output_shape(&model->info, batch, length);
    return WEFT_OK;
}

const char *weft_model_config(const weft_model *model) {
    return model ? model->config : NULL;
}

struct weft_model_parts weft_model_parts(const weft_model *model) {
    return (struct weft_model_parts){.config = model->config,
                                     .checkpoint = model->network ? model->network->loaded
                                                                  : model->program->checkpoint,
                                     .tokenizer = model->tokenizer,
                                     .embedding = model->embedding,
                                     .score = model->score,
                                     .headless = model->headless};
}

weft_status weft_model_weights(weft_model *model, char **bytes, size_t *size) {
    WEFT_ENTER;
    WEFT_GIVEN(weft_model_host(model), model, bytes, size);
    return weft_checkpoint_copy(weft_model_parts(model).checkpoint, bytes, size);
}

const char *weft_model_label(const weft_model *model, uint32_t index) {
    if (!model || index >= model->info.label_count) {
        return NULL;
    }
    const char *label = model->network                ? weft_network_label(model->network, index)
                        : model->program->task.labels ? model->program->task.labels[index]
                                                      : NULL;
    return label ? label : model->default_labels[index];
}

/* ---- tokens ---- */

/* What a chat template makes has its special tokens in it. */
static bool takes_special(const weft_model *model) {
    return model->score.by_template ? false
                                    : model->info.task != WEFT_TASK_CAUSAL_LM ||
                                          weft_tokenizer_marks_prompts(model->tokenizer);
}

static weft_status encode(struct weft_encoded *encoded, const weft_model *model,
                          const struct weft_encode_request *request) {
    const weft_network_config *config = model->network ? &model->network->config : NULL;
    if (config && config->embedding.padded) {
        return weft_fail(&model->host, WEFT_UNSUPPORTED,
                         "%s: expected tokens, found a text: what transformers' tokenizer gives "
                         "with padding=\"max_length\", %u of each text",
                         model->info.architecture, model->info.exact_length);
    }
    return config && config->embedding.bag != WEFT_BAG_NONE
               ? weft_static_encode(encoded, model->tokenizer, request,
                                    (enum weft_bag_rules)config->embedding.bag, config->vocab_size)
               : weft_tokenizer_encode(model->tokenizer, request, encoded);
}

static weft_status fail_without_tokens(const weft_model *model, bool is_empty) {
    return weft_fail(&model->host, WEFT_INVALID_ARGUMENT, "the text %shas no tokens",
                     is_empty ? "is empty and " : "");
}

weft_status weft_model_encode(weft_encoding *encoding, weft_model *model,
                              const weft_encode_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(weft_model_host(model), encoding, model, params);
    WEFT_GIVEN_AS(&model->host, "params.text", params->text);
    const struct weft_encode_request request = {
        .text = params->text,
        .size = params->size,
        .pair = params->pair,
        .pair_size = params->pair_size,
        .no_special = params->no_special || !takes_special(model),
        .with_offsets = true,
        .maximum = params->max_tokens > 0 ? params->max_tokens : model->info.max_length};
    struct weft_encoded encoded = {0};
    if (params->pair && model->score.by_template) {
        return weft_fail(&model->host, WEFT_UNSUPPORTED,
                         "the folder puts pairs into a chat template (modality_config: message), "
                         "which weft.CrossEncoder and Model.rerank of the Python package do: "
                         "expected a text without a pair");
    }
    WEFT_TRY(encode(&encoded, model, &request));
    if (encoded.count == 0) {
        weft_encoded_clear(&encoded, &model->host);
        return fail_without_tokens(model, params->size == 0 && params->pair_size == 0);
    }
    *encoding = (weft_encoding){encoded.tokens,    encoded.types, encoded.begins, encoded.ends,
                                encoded.sequences, encoded.count, encoded.cut};
    return WEFT_OK;
}

void weft_encoding_free(weft_model *model, weft_encoding *encoding) {
    WEFT_ENTER;
    if (model && encoding) {
        struct weft_encoded encoded = {encoding->tokens, encoding->types,     encoding->begins,
                                       encoding->ends,   encoding->sequences, encoding->count,
                                       encoding->cut};
        weft_encoded_clear(&encoded, &model->host);
        *encoding = (weft_encoding){0};
    }
}

weft_status weft_model_tokenize(weft_model *model, const char *text, size_t size, int32_t **tokens,
                                uint32_t *count) {
    WEFT_ENTER;
    WEFT_GIVEN(weft_model_host(model), model, tokens, count);
    WEFT_GIVEN_LIST(weft_model_host(model), text, size);
    WEFT_GIVEN(&model->host, text);
    struct weft_encoded encoded = {0};
    const struct weft_encode_request request = {.text = text,
                                                .size = size,
                                                .no_special = !takes_special(model),
                                                .maximum = model->info.max_length};
    WEFT_TRY(encode(&encoded, model, &request));
    if (encoded.count == 0) {
        weft_encoded_clear(&encoded, &model->host);
        return fail_without_tokens(model, size == 0);
    }
    *tokens = encoded.tokens;
    *count = encoded.count;
    encoded.tokens = NULL;
    weft_encoded_clear(&encoded, &model->host);
    return WEFT_OK;
}

weft_status weft_model_tokenize_prompt(weft_model *model, const char *text, size_t size,
                                       int32_t **tokens, uint32_t *count) {
    return weft_tokenizer_encode_ids(model->tokenizer, text, size, takes_special(model), UINT32_MAX,
                                     tokens, count);
}

void weft_tokens_free(weft_model *model, int32_t **tokens) {
    WEFT_ENTER;
    if (model && tokens) {
        weft_free(&model->host, *tokens);
        *tokens = NULL;
    }
}

weft_status weft_model_detokenize(weft_model *model, const int32_t *tokens, uint32_t count,
                                  char **text, size_t *size) {
    WEFT_ENTER;
    WEFT_GIVEN(weft_model_host(model), model, text, size);
    WEFT_GIVEN_LIST(weft_model_host(model), tokens, count);
    return weft_tokenizer_decode(model->tokenizer, tokens, count, text, size);
}

weft_status weft_model_get_piece(weft_model *model, int32_t token, char **text, size_t *size) {
    WEFT_ENTER;
    WEFT_GIVEN(weft_model_host(model), model, text, size);
    return weft_tokenizer_piece(model->tokenizer, token, text, size);
}

void weft_text_free(weft_model *model, char **text) {
    WEFT_ENTER;
    if (model && text) {
        weft_free(&model->host, *text);
        *text = NULL;
    }
}

/* ---- graphs and plans ---- */

static weft_status check_length(const weft_model *model, uint32_t length) {
    if (model->info.exact_length && length != model->info.exact_length) {
        return weft_fail(&model->host, WEFT_INVALID_ARGUMENT,
                         "the model runs sequences of exactly %u tokens, not %u",
                         model->info.exact_length, length);
    }
    if (length > model->info.max_length) {
        return weft_fail(&model->host, WEFT_INVALID_ARGUMENT,
                         "%u tokens exceed the model's %u positions", length,
                         model->info.max_length);
    }
    return WEFT_OK;
}

/* An input as f32 [B, n, channels], or i32 [B, n] with channels 0. */
static weft_status check_input(const weft_model *model, const weft_graph *graph, weft_tensor tensor,
                               const char *name, weft_shape expected, weft_shape *found) {
    weft_dtype dtype = WEFT_F32;
    weft_dtype wanted = expected.rank == 2 ? WEFT_I32 : WEFT_F32;
    weft_status status = weft_graph_get_tensor(graph, tensor, found, &dtype);
    if (status != WEFT_OK) {
        return weft_fail(&model->host, status, "the model's input \"%s\" is missing", name);
    }
    bool fits = dtype == wanted && found->rank == expected.rank;
    for (uint32_t i = 0; fits && i < expected.rank; i++) {
        fits = expected.dim[i] == 0 || found->dim[i] == expected.dim[i];
    }
    if (!fits) {
        char text[2][WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&model->host, WEFT_SHAPE_MISMATCH,
                         "%s must be %s %s (0: any size), not %s %s", name, weft_dtype_name(wanted),
                         weft_shape_text(expected, text[0]), weft_dtype_name(dtype),
                         weft_shape_text(*found, text[1]));
    }
    return WEFT_OK;
}

static weft_status refuse_input(const weft_model *model, weft_tensor tensor, const char *name) {
    return tensor.id == 0 ? WEFT_OK
                          : weft_fail(&model->host, WEFT_INVALID_ARGUMENT,
                                      "the model has no input \"%s\"", name);
}

static weft_status check_lengths(const weft_model *model, const weft_graph *graph,
                                 weft_tensor lengths, uint32_t batch) {
    if (lengths.id == 0) {
        return WEFT_OK;
    }
    if (!model->info.takes_lengths) {
        return weft_fail(&model->host, WEFT_INVALID_ARGUMENT,
                         "the model has no input \"lengths\": the result of its mixing, %s, "
                         "depends on the sequence's length",
                         model->info.mixing);
    }
    weft_shape shape;
    weft_dtype dtype;
    WEFT_TRY(weft_graph_get_tensor(graph, lengths, &shape, &dtype));
    if (dtype != WEFT_I32 || !weft_shape_equal(shape, weft_shape_of(batch))) {
        char text[WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&model->host, WEFT_SHAPE_MISMATCH, "lengths must be i32 [%u], not %s %s",
                         batch, weft_dtype_name(dtype), weft_shape_text(shape, text));
    }
    return WEFT_OK;
}

/* Pixels, and nothing else. */
static weft_status check_images(const weft_model *model, const weft_graph *graph,
                                const weft_model_inputs *inputs) {
    const weft_model_info *info = &model->info;
    const weft_shape expected = {
        .rank = 4, .dim = {0, info->image_channels, info->image_size, info->image_size}};
    weft_shape shape;
    WEFT_TRY(check_input(model, graph, inputs->pixels, "pixels", expected, &shape));
    WEFT_TRY(refuse_input(model, inputs->tokens, "tokens"));
    WEFT_TRY(refuse_input(model, inputs->types, "token_types"));
    WEFT_TRY(refuse_input(model, inputs->features, "features"));
    WEFT_TRY(refuse_input(model, inputs->positions, "positions"));
    return refuse_input(model, inputs->lengths, "lengths");
}

static weft_status check_inputs(const weft_model *model, const weft_graph *graph,
                                const weft_model_inputs *inputs) {
    const weft_model_info *info = &model->info;
    weft_shape shape = {.rank = 0};
    if (info->image_size) {
        return check_images(model, graph, inputs);
    }
    WEFT_TRY(refuse_input(model, inputs->pixels, "pixels"));
    if (info->input_size) {
        WEFT_TRY(check_input(model, graph, inputs->features, "features",
                             (weft_shape){.rank = 3, .dim = {0, 0, info->input_size}}, &shape));
    } else {
        WEFT_TRY(
            check_input(model, graph, inputs->tokens, "tokens", (weft_shape){.rank = 2}, &shape));
    }
    WEFT_TRY(info->input_size ? refuse_input(model, inputs->tokens, "tokens")
                              : refuse_input(model, inputs->features, "features"));
    if (!info->takes_types) {
        WEFT_TRY(refuse_input(model, inputs->types, "token_types"));
    }
    if (info->position_size) {
        weft_shape ignored;
        weft_shape expected = {.rank = 3, .dim = {shape.dim[0], shape.dim[1], info->position_size}};
        WEFT_TRY(check_input(model, graph, inputs->positions, "positions", expected, &ignored));
    } else {
        WEFT_TRY(refuse_input(model, inputs->positions, "positions"));
    }
    WEFT_TRY(check_lengths(model, graph, inputs->lengths, shape.dim[0]));
    if (info->task == WEFT_TASK_RETRIEVE && shape.dim[0] % 2 != 0) {
        return weft_fail(&model->host, WEFT_INVALID_ARGUMENT,
                         "the model takes pairs of sequences, not %u sequences", shape.dim[0]);
    }
    return check_length(model, shape.dim[1]);
}

/* WEFT_UNSUPPORTED for what a program cannot say. */
static weft_status check_outputs(const weft_model *model,
                                 const struct weft_layer_outputs *outputs) {
    return !outputs || model->network || !(outputs->hidden_states || outputs->attentions)
               ? WEFT_OK
               : weft_fail(&model->host, WEFT_UNSUPPORTED,
                           "%s: the model is a program, whose layers are unknown",
                           outputs->hidden_states ? "hidden_states" : "attentions");
}

/* Whoever reads an output knows its shape from the model: a graph that gives another one must not be run. */
static weft_status check_output(const weft_model *model, const weft_graph *graph,
                                weft_tensor output, const weft_model_inputs *inputs) {
    weft_shape input;
    weft_shape found;
    weft_dtype dtype;
    const weft_model_info *info = &model->info;
    WEFT_TRY(weft_graph_get_tensor(graph,
                                   info->image_size   ? inputs->pixels
                                   : info->input_size ? inputs->features
                                                      : inputs->tokens,
                                   &input, NULL));
    WEFT_TRY(weft_graph_get_tensor(graph, output, &found, &dtype));
    const uint32_t length = info->image_size ? info->exact_length : input.dim[1];
    const weft_shape expected = weft_model_output_shape(info, input.dim[0], length);
    if (dtype == WEFT_F32 && weft_shape_equal(found, expected)) {
        return WEFT_OK;
    }
    char text[2][WEFT_SHAPE_TEXT_SIZE];
    return weft_fail(&model->host, WEFT_BAD_FILE,
                     "the model's output: expected f32 %s for %u sequences of %u tokens, as its "
                     "task %s asks, found %s %s",
                     weft_shape_text(expected, text[0]), input.dim[0], length,
                     weft_task_name(model->info.task), weft_dtype_name(dtype),
                     weft_shape_text(found, text[1]));
}

/* logit [B, V] of a token: [B, 1]. */
static weft_status take_logit(weft_tensor *out, weft_graph *graph, weft_tensor logits,
                              uint32_t token) {
    return weft_graph_slice(out, graph, logits, 1, token, 1, 1);
}

/* The score f32 [B, 1] of the logits f32 [B, 1, V] for the token behind each sequence. */
static weft_status add_score(weft_tensor *out, const struct weft_logit_score *score,
                             weft_graph *graph) {
    weft_shape shape;
    weft_tensor logits = *out;
    weft_tensor no = {0};
    WEFT_TRY(weft_graph_get_tensor(graph, logits, &shape, NULL));
    WEFT_TRY(weft_graph_reshape(&logits, graph, logits, weft_shape_of(shape.dim[0], shape.dim[2])));
    WEFT_TRY(take_logit(out, graph, logits, score->yes));
    if (score->no < 0) {
        return WEFT_OK;
    }
    WEFT_TRY(take_logit(&no, graph, logits, (uint32_t)score->no));
    return weft_graph_binary(out, graph, WEFT_BINARY_SUBTRACT, *out, no);
}

static struct weft_network_way way_of(const weft_model *model) {
    return (struct weft_network_way){.end = model->headless         ? WEFT_END_HEADLESS
                                            : model->score.is_there ? WEFT_END_LAST
                                                                    : WEFT_END_HEAD,
                                     .state = model->info.state};
}

static weft_status build_model(weft_tensor *out, weft_model *model, weft_graph *graph,
                               const weft_model_inputs *inputs,
                               struct weft_layer_outputs *outputs) {
    WEFT_TRY(check_inputs(model, graph, inputs));
    WEFT_TRY(check_outputs(model, outputs));
    WEFT_TRY(model->network
                 ? weft_network_build(out, model->network, graph, inputs, way_of(model), outputs)
                 : weft_program_build_task(out, graph, model->program, inputs));
    if (outputs && outputs->attentions && outputs->maps == 0) {
        return weft_fail(&model->host, WEFT_UNSUPPORTED,
                         "attentions: expected a model with softmax attention, found mixing %s, "
                         "which has no attention maps",
                         model->info.mixing);
    }
    if (model->score.is_there && !model->headless) {
        WEFT_TRY(add_score(out, &model->score, graph));
    }
    if (model->embedding && model->info.task == WEFT_TASK_EMBED) {
        WEFT_TRY(weft_embedding_build(out, model->embedding, graph, *out, inputs->lengths));
    }
    return check_output(model, graph, *out, inputs);
}

weft_status weft_model_build(weft_tensor *out, weft_model *model, weft_graph *graph,
                             const weft_model_inputs *inputs) {
    WEFT_ENTER;
    WEFT_GIVEN(weft_model_host(model), out, model, graph, inputs);
    WEFT_TRY(expect_task(model, "weft_model_build"));
    return build_model(out, model, graph, inputs, NULL);
}

static weft_status build_graph(weft_graph *graph, weft_model *model,
                               const weft_model_shape *shape) {
    weft_model_inputs inputs = {0};
    weft_tensor output = {0};
    struct weft_layer_outputs outputs = {.hidden_states = shape->with_hidden_states,
                                         .attentions = shape->with_attentions};
    if (model->info.image_size) { /* whose inputs do not tell it */
        WEFT_TRY(check_length(model, shape->length));
    }
    WEFT_TRY(weft_model_add_inputs(&inputs, graph, shape->batch, shape->length, &model->info));
    if (shape->with_types) {
        WEFT_TRY(weft_graph_input(&inputs.types, graph, "token_types", WEFT_I32,
                                  weft_shape_of(shape->batch, shape->length)));
    }
    if (shape->with_lengths) {
        WEFT_TRY(weft_graph_input(&inputs.lengths, graph, "lengths", WEFT_I32,
                                  weft_shape_of(shape->batch)));
    }
    WEFT_TRY(build_model(&output, model, graph, &inputs, &outputs));
    return weft_graph_output(graph, "output", output);
}

static weft_status compile(weft_plan **plan, weft_model *model, weft_device *device,
                           const weft_model_shape *shape, const weft_plan_params *params) {
    WEFT_TRY(expect_task(model, "weft_model_compile"));
    weft_graph *graph = NULL;
    WEFT_TRY(weft_graph_create(&graph, &model->host));
    weft_status status = build_graph(graph, model, shape);
    if (status == WEFT_OK) {
        status = weft_plan_compile(plan, device, graph, params);
    }
    weft_graph_destroy(&graph);
    return status;
}

weft_status weft_model_compile(weft_plan **plan, weft_model *model, weft_device *device,
                               uint32_t batch, uint32_t length, bool with_types,
                               const weft_plan_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(weft_model_host(model), plan, model, device);
    return compile(plan, model, device,
                   weft_model_shape(.batch = batch, .length = length, .with_types = with_types),
                   params);
}

weft_status weft_model_compile_lengths(weft_plan **plan, weft_model *model, weft_device *device,
                                       uint32_t batch, uint32_t length,
                                       const weft_plan_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(weft_model_host(model), plan, model, device);
    return compile(plan, model, device,
                   weft_model_shape(.batch = batch, .length = length, .with_lengths = true),
                   params);
}

weft_status weft_model_compile_shape(weft_plan **plan, weft_model *model, weft_device *device,
                                     const weft_model_shape *shape,
                                     const weft_plan_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(weft_model_host(model), plan, model, device, shape);
    return compile(plan, model, device, shape, params);
}

/* ---- one token at a time ---- */

const weft_host *weft_model_host(const weft_model *model) {
    return WEFT_HOST_OF(model, host);
}

const struct weft_speech_rules *weft_model_speech_rules(const weft_model *model) {
    return model->speech;
}

uint32_t weft_model_text_positions(const weft_model *model) {
    const uint32_t positions = model->network ? weft_network_decoder_positions(model->network) : 0;
    return positions > 0 ? positions : model->info.max_length;
}

bool weft_model_is_recurrent(const weft_model *model) {
    return model->network && weft_network_is_recurrent(model->network);
}

static weft_status build_step(weft_graph *graph, const weft_model *model,
                              const struct weft_model_step *step, weft_dtype state) {
    struct weft_step_inputs inputs = {.length = step->length, .state = state};
    const uint32_t batch = step->batch, tokens = step->tokens;
    weft_tensor output = {0};
    WEFT_TRY(
        weft_graph_input(&inputs.tokens, graph, "tokens", WEFT_I32, weft_shape_of(batch, tokens)));
    WEFT_TRY(weft_graph_input(&inputs.position, graph, "position", WEFT_I32, weft_shape_of(batch)));
    if (tokens > 1) {
        WEFT_TRY(
            weft_graph_input(&inputs.lengths, graph, "lengths", WEFT_I32, weft_shape_of(batch)));
    }
    WEFT_TRY(weft_network_build_step(&output, model->network, graph, &inputs));
    return weft_graph_output(graph, "output", output);
}

weft_status weft_model_compile_step(weft_plan **plan, weft_model *model, weft_device *device,
                                    const struct weft_model_step *step,
                                    const weft_plan_params *params) {
    weft_graph *graph = NULL;
    WEFT_TRY(weft_graph_create(&graph, &model->host));
    weft_status status = build_step(graph, model, step, model->info.state);
    if (status == WEFT_OK) {
        status = weft_plan_compile(plan, device, graph, params);
    }
    weft_graph_destroy(&graph);
    return status;
}

/* ---- what states have ---- */

/* Whether a step has states of that type. */
static weft_status find_state(bool *found, const weft_model *model, weft_dtype state) {
    const struct weft_model_step step = {.batch = 1, .tokens = 1, .length = 1};
    weft_graph *graph = NULL;
    *found = false;
    if (!weft_model_is_recurrent(model)) {
        return WEFT_OK;
    }
    WEFT_TRY(weft_graph_create(&graph, &model->host));
    const weft_status status = build_step(graph, model, &step, state);
    for (uint32_t i = 1; status == WEFT_OK && i < graph->value_count; i++) {
        *found = *found || (graph->values[i].is_state && graph->values[i].dtype == state);
    }
    weft_graph_destroy(&graph);
    return status;
}

weft_status weft_model_set_state(weft_model *model, weft_dtype dtype) {
    WEFT_ENTER;
    WEFT_GIVEN(weft_model_host(model), model);
    bool found = true;
    if (dtype != WEFT_F32 && dtype != WEFT_F16) {
        return weft_fail(&model->host, WEFT_INVALID_ARGUMENT,
                         "state: expected f32 or f16, found type %d", (int)dtype);
    }
    WEFT_TRY(dtype == WEFT_F16 ? find_state(&found, model, dtype) : WEFT_OK);
    if (!found) {
        return weft_fail(&model->host, WEFT_UNSUPPORTED,
                         "state f16: expected a decoder whose state has keys and values of softmax "
                         "attention, found %s",
                         model->info.architecture);
    }
    model->info.state = dtype;
    return WEFT_OK;
}
