/* SPDX-License-Identifier: MIT */
/* Modules of sentence-transformers: modules.json, and each one's folder. */
#include <stdio.h>
#include <string.h>

#include "core/formats/json.h"
#include "core/system/file.h"
#include "core/system/system.h"
#include "core/try.h"
#include "graph/graph.h"
#include "model/embedding/embedding.h"
#include "model/embedding/embedding_fields.h"
#include "model/embedding/pooling_names.h"
#include "model/files/checkpoint.h"
#include "model/files/other_weights.h"

#define COUNT(array)  (sizeof(array) / sizeof(array)[0])
#define MOST_CHANNELS 16777216
#define MOST_TOKEN    (INT32_MAX - 1)
#define MOST_MODULES  64 /* each reads files and becomes nodes; people use up to 6 */

/* ---- a module's config.json ---- */

typedef weft_status (*read_fields)(struct weft_embedding *embedding,
                                   const weft_json_fields *fields);

/* The step that is being read. */
static struct weft_embedding_step *newest(struct weft_embedding *embedding) {
    return &embedding->steps[embedding->step_count - 1];
}

/* Reads the file, and what `read` takes of its fields, all of which `table` has. */
static weft_status read_config(struct weft_embedding *embedding, const char *folder,
                               const weft_known_table *table, read_fields read) {
    const weft_host *host = &embedding->host;
    json_t *object = NULL;
    char *path = weft_path_join(folder, "config.json", host);
    weft_status status =
        path ? weft_json_read(&object, path, host) : weft_fail_memory(host, "a path");
    const weft_json_fields fields = {.object = object, .path = path, .host = host};
    if (status == WEFT_OK) {
        status = weft_known_check(table, &fields);
    }
    if (status == WEFT_OK) {
        status = read(embedding, &fields);
    }
    json_decref(object);
    weft_free(host, path);
    return status;
}

/* ---- pooling ---- */

static weft_status add_pooling(struct weft_embedding_step *step, const char *field,
                               const struct weft_pooling_name *name,
                               const weft_json_fields *fields) {
    if (step->pooling_count == WEFT_EMBEDDING_MOST_POOLINGS) {
        return weft_json_fail(fields, WEFT_UNSUPPORTED, field, "at most 6 poolings",
                              json_object_get(fields->object, field));
    }
    step->poolings[step->pooling_count++] = name->pooling;
    return WEFT_OK;
}

static weft_status add_word(struct weft_embedding_step *step, const json_t *word,
                            const weft_json_fields *fields) {
    for (size_t i = 0; json_is_string(word) && i < WEFT_POOLING_COUNT; i++) {
        if (strcmp(json_string_value(word), weft_pooling_table[i].word) == 0) {
            return add_pooling(step, "pooling_mode", &weft_pooling_table[i], fields);
        }
    }
    return weft_json_fail(fields, WEFT_UNSUPPORTED, "pooling_mode",
                          "cls, max, mean, mean_sqrt_len_tokens, weightedmean or lasttoken", word);
}

static weft_status read_words(struct weft_embedding_step *step, const weft_json_fields *fields) {
    const json_t *words = json_object_get(fields->object, "pooling_mode");
    const json_t *word = NULL;
    size_t index = 0;
    if (!json_is_array(words)) {
        return add_word(step, words, fields);
    }
    json_array_foreach(words, index, word) {
        WEFT_TRY(add_word(step, word, fields));
    }
    return index > 0 ? WEFT_OK
                     : weft_json_fail(fields, WEFT_BAD_FILE, "pooling_mode", "a pooling", words);
}

/* A pooling that Weft does not have must not be chosen. */
static weft_status check_flags(const weft_json_fields *fields) {
    static const char start[] = "pooling_mode_";
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)(uintptr_t)fields->object, key, value) {
        bool chosen = false;
        size_t i = 0;
        if (strncmp(key, start, sizeof start - 1) != 0) {
            continue;
        }
        WEFT_TRY(weft_json_optional_bool(&chosen, fields, key));
        while (i < WEFT_POOLING_COUNT && strcmp(key, weft_pooling_table[i].flag) != 0) {
            i++;
        }
        if (chosen && i == WEFT_POOLING_COUNT) {
            return weft_json_fail(fields, WEFT_UNSUPPORTED, key,
                                  "false: Weft does not have this pooling", value);
        }
    }
    return WEFT_OK;
}

/* Flags have no order: results stand in that of the table, whatever the file's. */
static weft_status read_flags(struct weft_embedding_step *step, const weft_json_fields *fields) {
    WEFT_TRY(check_flags(fields));
    for (size_t i = 0; i < WEFT_POOLING_COUNT; i++) {
        bool chosen = false;
        WEFT_TRY(weft_json_optional_bool(&chosen, fields, weft_pooling_table[i].flag));
        if (chosen) {
            WEFT_TRY(add_pooling(step, weft_pooling_table[i].flag, &weft_pooling_table[i], fields));
        }
    }
    return WEFT_OK;
}

/* The words of newer versions count more than the flags of older ones, and without either it is the mean. */
static weft_status read_pooling_fields(struct weft_embedding *embedding,
                                       const weft_json_fields *fields) {
    struct weft_embedding_step *step = newest(embedding);
    bool include_prompt = true;
    WEFT_TRY(weft_json_has(fields, "pooling_mode") ? read_words(step, fields)
                                                   : read_flags(step, fields));
    WEFT_TRY(weft_json_optional_bool(&include_prompt, fields, "include_prompt"));
    step->skips_prompt = !include_prompt;
    if (step->pooling_count == 0) {
        weft_embedding_set_poolings(step, WEFT_EMBED_MEAN);
    }
    return WEFT_OK;
}

static weft_status read_pooling(struct weft_embedding *embedding, const char *folder) {
    newest(embedding)->kind = WEFT_EMBEDDING_POOL;
    return read_config(embedding, folder, &weft_pooling_fields, read_pooling_fields);
}

/* ---- SPLADE ---- */

/* One of two words, of which the second sets *is_second; without the field it is the first. */
static weft_status read_choice(bool *is_second, const weft_json_fields *fields, const char *field,
                               const char *first, const char *second) {
    const char *word = first;
    WEFT_TRY(weft_json_optional_string(&word, fields, field));
    *is_second = strcmp(word, second) == 0;
    char expected[64];
    snprintf(expected, sizeof expected, "\"%s\" or \"%s\"", first, second);
    return *is_second || strcmp(word, first) == 0
               ? WEFT_OK
               : weft_json_fail(fields, WEFT_UNSUPPORTED, field, expected,
                                json_object_get(fields->object, field));
}

static weft_status read_splade_fields(struct weft_embedding *embedding,
                                      const weft_json_fields *fields) {
    struct weft_embedding_step *step = newest(embedding);
    WEFT_TRY(read_choice(&step->sums, fields, "pooling_strategy", "max", "sum"));
    return read_choice(&step->log_twice, fields, "activation_function", "relu", "log1p_relu");
}

static weft_status read_splade(struct weft_embedding *embedding, const char *folder) {
    newest(embedding)->kind = WEFT_EMBEDDING_SPLADE;
    return read_config(embedding, folder, &weft_splade_fields, read_splade_fields);
}

/* ---- scores of pairs ---- */

/* Not a step: nothing is made of a hidden state. */
static weft_status read_score_fields(struct weft_embedding *embedding,
                                     const weft_json_fields *fields) {
    int64_t yes = 0;
    embedding->score.is_there = true;
    embedding->score.no = -1;
    WEFT_TRY(weft_json_integer(&yes, fields, "true_token_id", 0, MOST_TOKEN));
    embedding->score.yes = (uint32_t)yes;
    return weft_json_optional_integer(&embedding->score.no, fields, "false_token_id", 0,
                                      MOST_TOKEN);
}

/* ---- maps ---- */

static weft_status read_activation(weft_activation *activation, const weft_json_fields *fields) {
    static const struct {
        const char *name;
        weft_activation activation;
    } known[] = {{"Identity", WEFT_ACTIVATION_NONE}, {"Tanh", WEFT_ACTIVATION_TANH},
                 {"ReLU", WEFT_ACTIVATION_RELU},     {"GELU", WEFT_ACTIVATION_GELU_ERF},
                 {"SiLU", WEFT_ACTIVATION_SILU},     {"Sigmoid", WEFT_ACTIVATION_SIGMOID}};
    const char *name = "torch.nn.Tanh";
    WEFT_TRY(weft_json_optional_string(&name, fields, "activation_function"));
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < COUNT(known); i++) {
        if (strncmp(name, "torch.nn.", 9) == 0 && strcmp(dot + 1, known[i].name) == 0) {
            *activation = known[i].activation;
            return WEFT_OK;
        }
    }
    return weft_json_fail(fields, WEFT_UNSUPPORTED, "activation_function",
                          "Identity, Tanh, ReLU, GELU, SiLU or Sigmoid of torch.nn",
                          json_object_get(fields->object, "activation_function"));
}

/* A Dense layer may only follow pooling: it maps the text's vector, and nothing else; or else the vectors of tokens. */
static weft_status check_names(const weft_json_fields *fields, bool is_multi) {
    static const char *const names[] = {"module_input_name", "module_output_name"};
    const char *expected = is_multi ? "token_embeddings" : "sentence_embedding";
    for (size_t i = 0; i < COUNT(names); i++) {
        const char *name = expected;
        WEFT_TRY(weft_json_optional_string(&name, fields, names[i]));
        if (strcmp(name, expected) != 0) {
            return weft_json_fail(fields, WEFT_UNSUPPORTED, names[i],
                                  is_multi ? "\"token_embeddings\"" : "\"sentence_embedding\"",
                                  json_object_get(fields->object, names[i]));
        }
    }
    return WEFT_OK;
}

/* The weights of a module's folder, to be closed. */
static weft_status open_weights(struct weft_checkpoint **checkpoint, const char *folder,
                                const weft_host *host) {
    char *path = weft_path_join(folder, "model.safetensors", host);
    if (!path) {
        return weft_fail_memory(host, "a path");
    }
    weft_status status = weft_other_weights_explain(
        folder, path, weft_checkpoint_open(checkpoint, path, host), host);
    weft_free(host, path);
    return status;
}

static weft_status read_map(struct weft_embedding_step *step, const char *folder,
                            const weft_host *host) {
    struct weft_checkpoint *checkpoint = NULL;
    weft_status status = open_weights(&checkpoint, folder, host);
    if (status == WEFT_OK) {
        status = weft_checkpoint_weight(&step->weight, checkpoint, "linear.weight",
                                        weft_shape_of(step->out, step->in));
    }
    if (status == WEFT_OK && step->has_bias) {
        status = weft_checkpoint_weight(&step->bias, checkpoint, "linear.bias",
                                        weft_shape_of(step->out));
    }
    if (status == WEFT_OK && step->adds_input && step->in != step->out) {
        status = weft_checkpoint_weight(&step->residual, checkpoint, "residual.weight",
                                        weft_shape_of(step->out, step->in));
    }
    if (checkpoint) {
        weft_checkpoint_close(&checkpoint);
    }
    return status;
}

static weft_status read_dense_fields(struct weft_embedding *embedding,
                                     const weft_json_fields *fields) {
    struct weft_embedding_step *step = newest(embedding);
    int64_t in = 0;
    int64_t out = 0;
    step->has_bias = true;
    WEFT_TRY(weft_json_integer(&in, fields, "in_features", 1, MOST_CHANNELS));
    WEFT_TRY(weft_json_integer(&out, fields, "out_features", 1, MOST_CHANNELS));
    WEFT_TRY(weft_json_optional_bool(&step->has_bias, fields, "bias"));
    WEFT_TRY(weft_json_optional_bool(&step->adds_input, fields, "use_residual"));
    WEFT_TRY(read_activation(&step->activation, fields));
    step->in = (uint32_t)in;
    step->out = (uint32_t)out;
    return check_names(fields, embedding->multi.is_there);
}

static weft_status read_dense(struct weft_embedding *embedding, const char *folder) {
    newest(embedding)->kind = WEFT_EMBEDDING_DENSE;
    WEFT_TRY(read_config(embedding, folder, &weft_dense_fields, read_dense_fields));
    return read_map(newest(embedding), folder, &embedding->host);
}

/* ---- norms ---- */

static weft_status read_gains(struct weft_embedding_step *step, const char *folder,
                              const weft_host *host) {
    struct weft_checkpoint *checkpoint = NULL;
    WEFT_TRY(open_weights(&checkpoint, folder, host));
    weft_status status =
        weft_checkpoint_weight(&step->weight, checkpoint, "norm.weight", weft_shape_of(step->out));
    if (status == WEFT_OK) {
        status =
            weft_checkpoint_weight(&step->bias, checkpoint, "norm.bias", weft_shape_of(step->out));
    }
    weft_checkpoint_close(&checkpoint);
    return status;
}

static weft_status read_norm_fields(struct weft_embedding *embedding,
                                    const weft_json_fields *fields) {
    struct weft_embedding_step *step = newest(embedding);
    int64_t dimension = 0;
    WEFT_TRY(weft_json_integer(&dimension, fields, "dimension", 1, MOST_CHANNELS));
    step->in = step->out = (uint32_t)dimension;
    return WEFT_OK;
}

static weft_status read_layer_norm(struct weft_embedding *embedding, const char *folder) {
    newest(embedding)->kind = WEFT_EMBEDDING_LAYER_NORM;
    WEFT_TRY(read_config(embedding, folder, &weft_module_norm_fields, read_norm_fields));
    return read_gains(newest(embedding), folder, &embedding->host);
}

/* Its config.json came with version 5.7. */
static weft_status check_normalize(const struct weft_embedding *embedding, const char *folder) {
    const weft_host *host = &embedding->host;
    json_t *object = NULL;
    weft_file_facts facts;
    char *path = weft_path_join(folder, "config.json", host);
    weft_status status = path ? WEFT_OK : weft_fail_memory(host, "a path");
    if (status == WEFT_OK && weft_system_facts(&facts, path) == 0) {
        status = weft_json_read(&object, path, host);
    }
    if (object) {
        const weft_json_fields fields = {.object = object, .path = path, .host = host};
        status = weft_known_check(embedding->multi.is_there ? &weft_token_normalize_fields
                                                            : &weft_normalize_fields,
                                  &fields);
    }
    if (status == WEFT_OK && embedding->multi.is_there &&
        !json_object_get(object, "module_input_name")) { /* it would be another vector's */
        status =
            weft_json_fail(&(weft_json_fields){.object = object, .path = path, .host = host},
                           WEFT_UNSUPPORTED, "module_input_name", "\"token_embeddings\"", NULL);
    }
    json_decref(object);
    weft_free(host, path);
    return status;
}

/* ---- ColBERT's own folders ---- */

/* The map stands among the encoder's weights. */
static weft_status read_artifact_map(struct weft_embedding_step *step, const char *folder,
                                     uint32_t size, const weft_host *host) {
    struct weft_checkpoint *checkpoint = NULL;
    weft_weight *any = NULL;
    WEFT_TRY(open_weights(&checkpoint, folder, host));
    weft_status status = weft_checkpoint_any(&any, checkpoint, WEFT_ARTIFACT_MAP);
    if (status == WEFT_OK && (any->shape.rank != 2 || (size > 0 && any->shape.dim[0] != size))) {
        char shape[WEFT_SHAPE_TEXT_SIZE];
        status = weft_fail(host, WEFT_BAD_FILE,
                           "%s: tensor \"" WEFT_ARTIFACT_MAP
                           "\": expected [dim, hidden_size], dim being "
                           "that of artifact.metadata, found %s",
                           folder, weft_shape_text(any->shape, shape));
    }
    if (status == WEFT_OK) {
        step->kind = WEFT_EMBEDDING_DENSE;
        step->out = any->shape.dim[0];
        step->in = any->shape.dim[1];
        status = weft_checkpoint_weight(&step->weight, checkpoint, WEFT_ARTIFACT_MAP, any->shape);
    }
    weft_weight_destroy(&any);
    weft_checkpoint_close(&checkpoint);
    return status;
}

weft_status weft_embedding_read_artifact(struct weft_embedding *embedding, const char *folder,
                                         const char *path) {
    const weft_host *host = &embedding->host;
    json_t *object = NULL;
    uint32_t size = 0;
    WEFT_TRY(weft_json_read_with_reals(&object, path, host));
    const weft_status status = weft_multi_vector_read_artifact(
        &embedding->multi, &size,
        &(weft_json_fields){.object = object, .path = path, .host = host});
    json_decref(object);
    WEFT_TRY(status);
    embedding->has_artifact = true;
    embedding->encoder = weft_strdup(host, folder);
    embedding->steps = weft_alloc_zero(host, 3, sizeof *embedding->steps);
    if (!embedding->encoder || !embedding->steps) {
        return weft_fail_memory(host, "the modules of an embedding");
    }
    embedding->step_count = 3;
    embedding->steps[0].kind = WEFT_EMBEDDING_TOKENS;
    embedding->steps[2].kind = WEFT_EMBEDDING_NORMALIZE;
    WEFT_TRY(read_artifact_map(&embedding->steps[1], folder, size, host));
    return weft_multi_vector_finish(&embedding->multi, host);
}

/* ---- modules.json ---- */

/* "Pooling" for "sentence_transformers.models.Pooling"; null for another package's module. PyLate's map is the same. */
static const char *module_name(const char *type) {
    const char *dot = strrchr(type, '.');
    const bool is_known = strncmp(type, "sentence_transformers.", 22) == 0 ||
                          strcmp(type, "pylate.models.Dense.Dense") == 0;
    return dot && is_known ? dot + 1 : NULL;
}

/* A module's folder is below that of modules.json. */
static bool is_below(const char *path) {
    return path[0] != '/' && path[0] != '\\' && !strchr(path, ':') && !strstr(path, "..");
}

enum module {
    TRANSFORMER,
    MLM_TRANSFORMER,
    STATIC_EMBEDDING,
    POOLING,
    SPLADE_POOLING,
    NORMALIZE,
    DENSE,
    LAYER_NORM,
    DROPOUT,
    LOGIT_SCORE,
    MULTI_VECTOR_MASK,
    OTHER
};

static enum module module_of(const char *type) {
    static const char *const names[] = {"Transformer", "MLMTransformer", "StaticEmbedding",
                                        "Pooling",     "SpladePooling",  "Normalize",
                                        "Dense",       "LayerNorm",      "Dropout",
                                        "LogitScore",  "MultiVectorMask"};
    const char *name = module_name(type);
    size_t i = 0;
    while (name && i < COUNT(names) && strcmp(name, names[i]) != 0) {
        i++;
    }
    return name ? (enum module)i : OTHER;
}

static weft_status fail_order(const weft_json_fields *fields) {
    return weft_json_fail(
        fields, WEFT_UNSUPPORTED, "type",
        "sentence_transformers' Transformer and Pooling, or StaticEmbedding, then "
        "any of Normalize, Dense, LayerNorm and Dropout; or MLMTransformer and "
        "SpladePooling; or of a MultiVectorEncoder Transformer, Dense, MultiVectorMask and "
        "Normalize" WEFT_EMBEDDING_WAY_OUT,
        json_object_get(fields->object, "type"));
}

static weft_status read_mask_fields(struct weft_embedding *embedding,
                                    const weft_json_fields *fields) {
    return weft_multi_vector_read_mask(&embedding->multi, fields);
}

/* Behind the encoder of a MultiVectorEncoder; where the mask stands among the others does not matter. */
static weft_status read_multi_step(struct weft_embedding *embedding, enum module module,
                                   const char *folder, const weft_json_fields *fields) {
    if (module == MULTI_VECTOR_MASK && !embedding->multi.masks && !embedding->multi.is_older) {
        return read_config(embedding, folder, &weft_mask_fields, read_mask_fields);
    }
    if (module != DENSE && (module != NORMALIZE || embedding->multi.is_older)) {
        return fail_order(fields);
    }
    embedding->step_count++;
    if (module == DENSE) {
        return read_dense(embedding, folder);
    }
    newest(embedding)->kind = WEFT_EMBEDDING_NORMALIZE;
    return check_normalize(embedding, folder);
}

static weft_status read_step(struct weft_embedding *embedding, enum module module,
                             const char *folder, const weft_json_fields *fields) {
    if (embedding->multi.is_there) {
        return read_multi_step(embedding, module, folder, fields);
    }
    if (module == LOGIT_SCORE) {
        return read_config(embedding, folder, &weft_logit_score_fields, read_score_fields);
    }
    const bool pools = module == POOLING || module == SPLADE_POOLING;
    if (pools != (embedding->step_count == 0) || weft_embedding_is_sparse(embedding) ||
        (module == POOLING && embedding->predicts)) {
        return fail_order(fields);
    }
    embedding->step_count++;
    switch (module) {
    case POOLING:
        return read_pooling(embedding, folder);
    case SPLADE_POOLING:
        return read_splade(embedding, folder);
    case DENSE:
        return read_dense(embedding, folder);
    case LAYER_NORM:
        return read_layer_norm(embedding, folder);
    default:
        newest(embedding)->kind = WEFT_EMBEDDING_NORMALIZE;
        return check_normalize(embedding, folder);
    }
}

/* The mean of its rows is the text's vector. */
static void take_static(struct weft_embedding *embedding) {
    struct weft_embedding_step *step = &embedding->steps[embedding->step_count++];
    embedding->is_static = true;
    step->kind = WEFT_EMBEDDING_POOL;
    weft_embedding_set_poolings(step, WEFT_EMBED_MEAN);
}

/* The first module, whose folder it takes. */
static weft_status take_encoder(struct weft_embedding *embedding, enum module module,
                                char *folder) {
    embedding->encoder = folder;
    embedding->predicts = module == MLM_TRANSFORMER;
    if (embedding->multi.is_there) {
        embedding->steps[embedding->step_count++].kind = WEFT_EMBEDDING_TOKENS;
    }
    if (module == STATIC_EMBEDDING) {
        take_static(embedding);
    }
    return WEFT_OK;
}

static weft_status check_place(const struct weft_embedding *embedding, enum module module,
                               const weft_json_fields *fields) {
    const bool is_first =
        module == TRANSFORMER || module == MLM_TRANSFORMER || module == STATIC_EMBEDDING;
    const json_t *type = json_object_get(fields->object, "type");
    if (embedding->scores_pairs) {
        return module == (embedding->encoder ? LOGIT_SCORE : TRANSFORMER) &&
                       !embedding->score.is_there
                   ? WEFT_OK
                   : weft_json_fail(fields, WEFT_UNSUPPORTED, "type",
                                    "a Transformer alone, or with LogitScore behind it, in a "
                                    "CrossEncoder's folder",
                                    type);
    }
    const bool fits = embedding->multi.is_there
                          ? module != DROPOUT && (embedding->encoder || module == TRANSFORMER)
                          : module != LOGIT_SCORE && module != MULTI_VECTOR_MASK;
    return module != OTHER && fits && is_first == !embedding->encoder ? WEFT_OK
                                                                      : fail_order(fields);
}

static weft_status read_module(struct weft_embedding *embedding, const char *folder,
                               const weft_json_fields *fields) {
    const weft_host *host = &embedding->host;
    const char *type = NULL;
    const char *path = "";
    WEFT_TRY(weft_known_check(&weft_module_fields, fields));
    WEFT_TRY(weft_json_string(&type, fields, "type"));
    WEFT_TRY(weft_json_optional_string(&path, fields, "path"));
    const bool is_other = strncmp(type, "pylate.", 7) == 0 && !embedding->multi.is_there;
    const enum module module = is_other ? OTHER : module_of(type);
    WEFT_TRY(check_place(embedding, module, fields));
    if (module == DROPOUT) { /* only training drops values */
        return WEFT_OK;
    }
    if (!is_below(path)) {
        return weft_json_fail(fields, WEFT_BAD_FILE, "path", "a folder in this one",
                              json_object_get(fields->object, "path"));
    }
    char *inner = path[0] == '\0' ? weft_strdup(host, folder) : weft_path_join(folder, path, host);
    if (!inner) {
        return weft_fail_memory(host, "a path");
    }
    if (!embedding->encoder) {
        return take_encoder(embedding, module, inner);
    }
    const weft_status status = read_step(embedding, module, inner, fields);
    weft_free(host, inner);
    return status;
}

/* What PyLate does behind the modules that it names. */
static weft_status finish_older(struct weft_embedding *embedding) {
    if (!embedding->multi.is_older) {
        return WEFT_OK;
    }
    embedding->steps[embedding->step_count++].kind = WEFT_EMBEDDING_NORMALIZE;
    return weft_multi_vector_finish(&embedding->multi, &embedding->host);
}

static weft_status read_list(struct weft_embedding *embedding, const char *folder, const char *path,
                             const json_t *list) {
    const size_t count = json_array_size(list);
    const json_t *module = NULL;
    size_t index = 0;
    if (count > MOST_MODULES) {
        return weft_fail(&embedding->host, WEFT_UNSUPPORTED,
                         "%s: expected at most %u modules, found %zu", path, MOST_MODULES, count);
    }
    embedding->steps = weft_alloc_zero(&embedding->host, count + 2, sizeof *embedding->steps);
    if (!embedding->steps) {
        return weft_fail_memory(&embedding->host, "the modules of an embedding");
    }
    json_array_foreach(list, index, module) {
        WEFT_TRY(read_module(
            embedding, folder,
            &(weft_json_fields){.object = module, .path = path, .host = &embedding->host}));
    }
    WEFT_TRY(finish_older(embedding));
    if (embedding->is_sparse && !weft_embedding_is_sparse(embedding)) {
        return weft_fail(&embedding->host, WEFT_UNSUPPORTED,
                         "%s: expected MLMTransformer and SpladePooling in a SparseEncoder's "
                         "folder, found others",
                         path);
    }
    return embedding->encoder && (embedding->step_count > 0 || embedding->scores_pairs)
               ? WEFT_OK
               : weft_fail(&embedding->host, WEFT_UNSUPPORTED,
                           "%s: expected a Transformer%s, found %zu modules", path,
                           embedding->scores_pairs ? "" : " and a Pooling", count);
}

weft_status weft_embedding_read_modules(struct weft_embedding *embedding, const char *folder,
                                        const char *path) {
    const weft_host *host = &embedding->host;
    uint8_t *text = NULL;
    size_t size = 0;
    json_t *list = NULL;
    WEFT_TRY(weft_file_read_regular(&text, &size, WEFT_JSON_MAX_BYTES, path, host));
    const weft_json_part part = {.document = (const char *)text,
                                 .text = (const char *)text,
                                 .size = size,
                                 .path = path,
                                 .host = host};
    weft_status status = weft_json_part_parse(&list, &part);
    if (status == WEFT_OK) {
        status = json_is_array(list)
                     ? read_list(embedding, folder, path, list)
                     : weft_fail(host, WEFT_BAD_FILE, "%s: expected an array of modules", path);
    }
    json_decref(list);
    weft_free(host, text);
    return status;
}
