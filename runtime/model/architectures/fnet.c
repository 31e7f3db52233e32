/* SPDX-License-Identifier: MIT */
/*
 * FNet (Lee-Thorp et al., "FNet: Mixing tokens with Fourier transforms", 2022) in the tensor layout of Hugging Face's
 * transformers, with all of its heads, and the paper's siblings of section 4.1: Hybrid, Linear, Random, FF-only and the
 * attention baseline (tests/data/fnet/README.md has their layout).
 */
#include <stdio.h>
#include <string.h>

#include "model/architecture.h"
#include "model/config.h"
#include "model/network.h"

struct fnet {
    weft_fnet_config config; /* its labels and the tokenizer's class are the network's */
    uint32_t classes;        /* outputs of a head that classifies; 0 without one */
};

/* ---- config.json ---- */

static weft_task task_of(const weft_fnet_config *config) {
    switch (config->architecture) {
    case WEFT_FNET_SEQUENCE_CLASSIFICATION:
        return config->problem == WEFT_FNET_REGRESSION ? WEFT_TASK_REGRESS : WEFT_TASK_CLASSIFY;
    case WEFT_FNET_MULTIPLE_CHOICE:
        return WEFT_TASK_CLASSIFY;
    case WEFT_FNET_TOKEN_CLASSIFICATION:
    case WEFT_FNET_QUESTION_ANSWERING:
        return WEFT_TASK_CLASSIFY_TOKENS;
    case WEFT_FNET_MASKED_LM:
    case WEFT_FNET_PRE_TRAINING:
        return WEFT_TASK_MASKED_LM;
    case WEFT_FNET_NEXT_SENTENCE:
        return WEFT_TASK_NEXT_SENTENCE;
    case WEFT_FNET_MODEL:
        break;
    }
    return WEFT_TASK_HIDDEN;
}

static weft_status read(void *state, weft_network_config *network, const weft_json_fields *json) {
    weft_fnet_config *config = &((struct fnet *)state)->config;
    weft_status status = weft_fnet_config_fields(config, json);
    *network = (weft_network_config){.vocab_size = config->vocab_size,
                                     .hidden_size = config->hidden_size,
                                     .layers = config->layers,
                                     .max_positions = config->max_positions,
                                     .type_vocab_size = config->type_vocab_size,
                                     .biases = WEFT_ALL_BIASES,
                                     .norm = WEFT_NORM_LAYER,
                                     .norm_eps = config->layer_norm_eps,
                                     .intermediate_size = config->intermediate_size,
                                     .activation = config->activation,
                                     .tie_word_embeddings = config->tie_word_embeddings,
                                     .eos_token = config->eos_token,
                                     .label_count = config->label_count,
                                     .labels = config->labels,
                                     .tokenizer = config->tokenizer,
                                     .tokenizer_class = config->tokenizer_class};
    weft_network_set_task(network, task_of(config));
    if (status == WEFT_OK && config->architecture == WEFT_FNET_PRE_TRAINING) {
        weft_log(json->host, WEFT_LOG_INFO,
                 "%s: FNetForPreTraining has two heads; Weft runs the masked language model",
                 json->path);
    }
    return status;
}

/* ---- what it is ---- */

/* A matrix over tokens fits one length only. */
static uint32_t exact_length(const void *state) {
    const weft_fnet_config *config = &((const struct fnet *)state)->config;
    bool matrices = config->mixing == WEFT_FNET_LINEAR || config->mixing == WEFT_FNET_RANDOM;
    return matrices && config->attention_layers < config->layers ? config->max_positions : 0;
}

static void describe(const void *state, weft_model_info *info) {
    const struct fnet *fnet = state;
    const weft_fnet_config *config = &fnet->config;
    bool hybrid = config->attention_layers > 0 && config->attention_layers < config->layers &&
                  config->mixing != WEFT_FNET_ATTENTION;
    info->architecture = weft_fnet_architecture_name(config->architecture);
    info->mixing = hybrid ? "hybrid" : weft_fnet_mixing_name(weft_fnet_layer_mixing(config, 0));
    info->label_count = fnet->classes;
    info->multi_label = config->architecture == WEFT_FNET_SEQUENCE_CLASSIFICATION &&
                        (config->problem == WEFT_FNET_MULTI_LABEL ||
                         (config->problem == WEFT_FNET_ANY_PROBLEM && fnet->classes == 1));
}

/* ---- building ---- */

static const weft_tensor none = {0};

/** The names that follow belong to a part of the encoder, which has a prefix when there is a head on it. */
static void enter(struct weft_builder *builder, const char *part) {
    builder->scope[0] = '\0';
    bool under_head = weft_build_has(builder, "fnet.embeddings.position_embeddings.weight");
    snprintf(builder->scope, sizeof builder->scope, "%s%s", under_head ? "fnet." : "", part);
}

static weft_tensor square(struct weft_builder *builder, weft_tensor x, const char *name) {
    return weft_build_linear(builder, x, name, builder->width, builder->width);
}

static weft_tensor norm_of_sum(struct weft_builder *builder, weft_tensor a, weft_tensor b,
                               const char *name) {
    weft_tensor sum = weft_build_binary(builder, WEFT_BINARY_ADD, a, b);
    return weft_build_norm(builder, sum, name, builder->width);
}

static weft_tensor word_embeddings(struct weft_builder *builder) {
    enter(builder, "embeddings");
    return weft_build_weight(builder, "word_embeddings.weight",
                             weft_shape_of(builder->network->config.vocab_size, builder->width));
}

static weft_tensor embed(struct weft_builder *builder, const weft_fnet_config *config,
                         const weft_model_inputs *inputs) {
    weft_embedding_params params = {.tokens = inputs->tokens, .types = inputs->types};
    params.table = word_embeddings(builder);
    params.positions = weft_build_weight(builder, "position_embeddings.weight",
                                         weft_shape_of(config->max_positions, builder->width));
    params.type_table = weft_build_weight(builder, "token_type_embeddings.weight",
                                          weft_shape_of(config->type_vocab_size, builder->width));
    weft_tensor sum = none;
    sum = WEFT_BUILT(builder, sum, weft_graph_embedding(&sum, builder->graph, &params));
    return square(builder, weft_build_norm(builder, sum, "LayerNorm", builder->width),
                  "projection");
}

static weft_tensor transform(struct weft_builder *builder, weft_tensor x) {
    weft_tensor out = none;
    out = WEFT_BUILT(builder, out, weft_graph_fourier(&out, builder->graph, x));
    return norm_of_sum(builder, x, out, "fourier.output.LayerNorm");
}

/** y = sequence matrix · x · hidden matrixᵀ: section 4.1 of the paper, Linear and Random. */
static weft_tensor mix_by_matrices(struct weft_builder *builder, weft_tensor x) {
    uint32_t n = builder->network->config.max_positions;
    uint32_t d = builder->width;
    weft_tensor sequence = weft_build_weight(builder, "mixing.seq.weight", weft_shape_of(n, n));
    weft_tensor hidden = weft_build_weight(builder, "mixing.hidden.weight", weft_shape_of(d, d));
    weft_tensor out = none;
    out = WEFT_BUILT(builder, out,
                     weft_graph_matmul(&out, builder->graph, x, hidden,
                                       weft_matmul_params(.transpose_b = true)));
    out = WEFT_BUILT(builder, out, weft_graph_matmul(&out, builder->graph, sequence, out, NULL));
    return norm_of_sum(builder, x, out, "mixing.output.LayerNorm");
}

static weft_tensor attend(struct weft_builder *builder, weft_tensor x, uint32_t heads) {
    struct weft_qkv qkv = {.query = square(builder, x, "attention.self.query"),
                           .key = square(builder, x, "attention.self.key"),
                           .value = square(builder, x, "attention.self.value")};
    weft_tensor mixed = weft_build_softmax_attention(builder, &qkv, heads);
    return norm_of_sum(builder, x, square(builder, mixed, "attention.output.dense"),
                       "attention.output.LayerNorm");
}

static weft_tensor mix(struct weft_builder *builder, weft_tensor x, const weft_fnet_config *config,
                       weft_fnet_mixing mixing) {
    switch (mixing) {
    case WEFT_FNET_FOURIER:
        return transform(builder, x);
    case WEFT_FNET_LINEAR:
    case WEFT_FNET_RANDOM:
        return mix_by_matrices(builder, x);
    case WEFT_FNET_ATTENTION:
        return attend(builder, x, config->attention_heads);
    case WEFT_FNET_NONE: /* FF-only: the sublayer goes with its residual and norm */
        break;
    }
    return x;
}

static weft_tensor feed_forward(struct weft_builder *builder, weft_tensor x) {
    const weft_network_config *config = &builder->network->config;
    uint32_t d = config->hidden_size;
    uint32_t wide = config->intermediate_size;
    weft_tensor y = weft_build_linear(builder, x, "intermediate.dense", d, wide);
    y = weft_build_activate(builder, y, config->activation);
    y = weft_build_linear(builder, y, "output.dense", wide, d);
    return norm_of_sum(builder, x, y, "output.LayerNorm");
}

/** W tanh(V x_0 + b) + c of the first token. */
static weft_tensor pooled_head(struct weft_builder *builder, weft_tensor hidden, const char *name,
                               uint32_t classes) {
    weft_tensor x = none;
    x = WEFT_BUILT(builder, x, weft_graph_gather(&x, builder->graph, hidden, 0));
    enter(builder, "pooler");
    x = weft_build_activate(builder, square(builder, x, "dense"), WEFT_ACTIVATION_TANH);
    builder->scope[0] = '\0';
    return weft_build_linear(builder, x, name, builder->width, classes);
}

static weft_tensor tied_matrix(struct weft_builder *builder, weft_shape shape) {
    enter(builder, "embeddings.word_embeddings.weight");
    char words[WEFT_SCOPE_SIZE];
    memcpy(words, builder->scope, sizeof words);
    return weft_build_tied(builder, "cls.predictions.decoder.weight", words, shape);
}

static weft_tensor masked_lm_head(struct weft_builder *builder, weft_tensor x) {
    const weft_network_config *config = &builder->network->config;
    snprintf(builder->scope, sizeof builder->scope, "cls.predictions");
    x = weft_build_activate(builder, square(builder, x, "transform.dense"), config->activation);
    x = weft_build_norm(builder, x, "transform.LayerNorm", builder->width);
    const weft_shape shape = weft_shape_of(config->vocab_size, builder->width);
    weft_tensor bias = weft_build_tied(builder, "cls.predictions.decoder.bias",
                                       "cls.predictions.bias", weft_shape_of(config->vocab_size));
    weft_tensor matrix = config->tie_word_embeddings
                             ? tied_matrix(builder, shape)
                             : weft_build_weight(builder, "cls.predictions.decoder.weight", shape);
    weft_tensor out = none;
    return WEFT_BUILT(builder, out, weft_graph_linear(&out, builder->graph, x, matrix, bias));
}

/**
 * A config without labels says nothing about their number; the classifier does. Whether a token begins an answer and whether it ends
 * one are two numbers; a choice has one, whose softmax is over the choices.
 */
static uint32_t class_count(const struct weft_network *network, const struct fnet *fnet) {
    if (fnet->config.architecture == WEFT_FNET_QUESTION_ANSWERING) {
        return 2;
    }
    if (fnet->config.architecture == WEFT_FNET_MULTIPLE_CHOICE) {
        return 1;
    }
    uint32_t rows = weft_checkpoint_rows(network->checkpoint, "classifier.weight");
    return network->config.labels || rows == 0 ? network->config.label_count : rows;
}

static weft_tensor head(struct weft_builder *builder, weft_tensor x, struct fnet *fnet) {
    const struct weft_network *network = builder->network;
    const weft_task task = weft_network_task(&network->config);
    const bool labelled = task == WEFT_TASK_CLASSIFY || task == WEFT_TASK_REGRESS ||
                          task == WEFT_TASK_CLASSIFY_TOKENS;
    if (labelled && network->checkpoint) {
        fnet->classes = class_count(network, fnet);
    }
    switch (task) {
    case WEFT_TASK_CLASSIFY:
    case WEFT_TASK_REGRESS:
        return pooled_head(builder, x, "classifier", fnet->classes);
    case WEFT_TASK_CLASSIFY_TOKENS:
        builder->scope[0] = '\0';
        return weft_build_linear(
            builder, x,
            fnet->config.architecture == WEFT_FNET_QUESTION_ANSWERING ? "qa_outputs" : "classifier",
            builder->width, fnet->classes);
    case WEFT_TASK_NEXT_SENTENCE:
        fnet->classes = 2;
        return pooled_head(builder, x, "cls.seq_relationship", fnet->classes);
    case WEFT_TASK_MASKED_LM:
        return masked_lm_head(builder, x);
    default:
        return x;
    }
}

static weft_tensor build(struct weft_builder *builder, const weft_model_inputs *inputs) {
    struct fnet *fnet = builder->network->family_config;
    weft_tensor x = embed(builder, &fnet->config, inputs);
    for (uint32_t i = 0; i < fnet->config.layers && builder->status == WEFT_OK; i++) {
        char layer[32];
        snprintf(layer, sizeof layer, "encoder.layer.%u", i);
        enter(builder, layer);
        x = mix(builder, x, &fnet->config, weft_fnet_layer_mixing(&fnet->config, i));
        x = feed_forward(builder, x);
    }
    return builder->headless ? x : head(builder, x, fnet);
}

/* ---- other tensors ---- */

static bool begins(const char *name, const char *start) {
    return strncmp(name, start, strlen(start)) == 0;
}

static bool ends(const char *name, const char *end) {
    const size_t length = strlen(name), size = strlen(end);
    return length >= size && strcmp(name + length - size, end) == 0;
}

/* Where a task's head has its tensors, but for the pooler's. */
static const char *head_of(weft_task task) {
    switch (task) {
    case WEFT_TASK_MASKED_LM:
        return "cls.predictions.";
    case WEFT_TASK_NEXT_SENTENCE:
        return "cls.seq_relationship.";
    case WEFT_TASK_CLASSIFY:
    case WEFT_TASK_REGRESS:
    case WEFT_TASK_CLASSIFY_TOKENS:
        return "classifier.";
    default:
        return "fnet.";
    }
}

static enum weft_other_tensor other(weft_task task, const char *name) {
    static const char *const elsewhere[] = {"cls.", "classifier.", "qa_outputs.", "fnet.pooler.",
                                            "pooler."};
    static const char *const buffers[] = {"embeddings.position_ids", "embeddings.token_type_ids"};
    if (begins(name, head_of(task)) && !begins(name, "fnet.")) {
        return WEFT_TENSOR_PART;
    }
    for (size_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; i++) {
        if (begins(name, elsewhere[i])) {
            return WEFT_TENSOR_ELSEWHERE;
        }
    }
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++) {
        if (ends(name, buffers[i])) {
            return WEFT_TENSOR_ELSEWHERE;
        }
    }
    const bool encoder =
        begins(name, "fnet.") || begins(name, "embeddings.") || begins(name, "encoder.");
    return encoder ? WEFT_TENSOR_PART : WEFT_TENSOR_UNKNOWN;
}

/* Those of a masked language model: safetensors keeps one of the names that share memory. */
static const struct weft_tensor_alias aliases[] = {
    {"fnet.embeddings.word_embeddings.weight", "cls.predictions.decoder.weight", .tied = true},
    {"cls.predictions.bias", "cls.predictions.decoder.bias", .tied = false},
    {.name = NULL}};

static const struct weft_foreign_layout layout = {
    .read = read, .build = build, .describe = describe, .other = other, .encoder = "FNetModel"};

const struct weft_model_family weft_family_fnet = {
    .model_type = "fnet",
    .config_size = sizeof(struct fnet),
    .exact_length = exact_length,
    .foreign = &layout,
    .aliases = aliases,
};
