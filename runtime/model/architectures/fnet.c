/* SPDX-License-Identifier: MIT */
/*
 * FNet (Lee-Thorp et al., "FNet: Mixing tokens with Fourier transforms", 2022) in the tensor layout of Hugging Face's
 * transformers, with its three heads, and the paper's siblings of section 4.1: Hybrid, Linear, Random, FF-only and the
 * attention baseline (tests/data/fnet/README.md has their layout).
 */
#include <stdio.h>
#include <string.h>

#include <weft/mixers.h>

#include "graph/graph.h"
#include "model/architecture.h"
#include "model/config.h"

/* Longest name within a layer, in the encoder, and with the prefix. */
#define LAYER_NAME_SIZE   80
#define ENCODER_NAME_SIZE 128
#define TENSOR_NAME_SIZE  160

struct pair {
    weft_weight *weight;
    weft_weight *bias;
};

struct layer {
    weft_fnet_mixing mixing;
    weft_weight *sequence_matrix;            /* [n, n], linear and random */
    weft_weight *hidden_matrix;              /* [d, d] */
    struct pair query, key, value, attended; /* attention */
    struct pair mixing_norm;                 /* of every mixing but none */
    struct pair intermediate, output, output_norm;
};

struct fnet {
    weft_fnet_config config;
    const char *prefix; /* "fnet." under a head, "" without */
    uint64_t parameters;
    weft_weight *words, *positions, *types;
    struct pair embedding_norm, projection;
    struct layer *layers;
    struct pair pooler;                    /* classify and next_sentence */
    struct pair transform, transform_norm; /* masked_lm */
    struct pair decoder; /* logits of any head; for a tied masked_lm the weight is words */
    uint32_t classes;    /* outputs of decoder for classify and next_sentence */
};

/* ---- loading ---- */

struct loader {
    struct fnet *fnet;
    struct weft_checkpoint *checkpoint;
    weft_status status; /* sticky */
};

static void load_named(struct loader *loader, weft_weight **weight, const char *name,
                       weft_shape shape) {
    if (loader->status == WEFT_OK) {
        loader->status = weft_checkpoint_weight(weight, loader->checkpoint, name, shape);
        loader->fnet->parameters += weft_shape_elements(shape);
    }
}

/** Loads an encoder tensor: its name has the prefix. */
static void load(struct loader *loader, weft_weight **weight, const char *name, weft_shape shape) {
    char full[TENSOR_NAME_SIZE];
    snprintf(full, sizeof full, "%s%s", loader->fnet->prefix, name);
    load_named(loader, weight, full, shape);
}

static void load_layer_tensor(struct loader *loader, uint32_t layer, weft_weight **weight,
                              const char *name, weft_shape shape) {
    char full[ENCODER_NAME_SIZE];
    snprintf(full, sizeof full, "encoder.layer.%u.%s", layer, name);
    load(loader, weight, full, shape);
}

static void load_layer_pair(struct loader *loader, uint32_t layer, struct pair *pair,
                            const char *name, weft_shape shape) {
    char full[LAYER_NAME_SIZE];
    snprintf(full, sizeof full, "%s.weight", name);
    load_layer_tensor(loader, layer, &pair->weight, full, shape);
    snprintf(full, sizeof full, "%s.bias", name);
    load_layer_tensor(loader, layer, &pair->bias, full, weft_shape_of(shape.dim[0]));
}

static void load_head_pair(struct loader *loader, struct pair *pair, const char *name,
                           weft_shape shape) {
    char full[TENSOR_NAME_SIZE];
    snprintf(full, sizeof full, "%s.weight", name);
    load_named(loader, &pair->weight, full, shape);
    snprintf(full, sizeof full, "%s.bias", name);
    load_named(loader, &pair->bias, full, weft_shape_of(shape.dim[0]));
}

static void load_attention(struct loader *loader, uint32_t index, struct layer *layer,
                           weft_shape square) {
    load_layer_pair(loader, index, &layer->query, "attention.self.query", square);
    load_layer_pair(loader, index, &layer->key, "attention.self.key", square);
    load_layer_pair(loader, index, &layer->value, "attention.self.value", square);
    load_layer_pair(loader, index, &layer->attended, "attention.output.dense", square);
}

static void load_mixing(struct loader *loader, uint32_t index, struct layer *layer) {
    const weft_fnet_config *config = &loader->fnet->config;
    weft_shape square = weft_shape_of(config->hidden_size, config->hidden_size);
    weft_shape row = weft_shape_of(config->hidden_size);
    switch (layer->mixing) {
    case WEFT_FNET_FOURIER:
        load_layer_pair(loader, index, &layer->mixing_norm, "fourier.output.LayerNorm", row);
        break;
    case WEFT_FNET_LINEAR:
    case WEFT_FNET_RANDOM:
        load_layer_tensor(loader, index, &layer->sequence_matrix, "mixing.seq.weight",
                          weft_shape_of(config->max_positions, config->max_positions));
        load_layer_tensor(loader, index, &layer->hidden_matrix, "mixing.hidden.weight", square);
        load_layer_pair(loader, index, &layer->mixing_norm, "mixing.output.LayerNorm", row);
        break;
    case WEFT_FNET_ATTENTION:
        load_attention(loader, index, layer, square);
        load_layer_pair(loader, index, &layer->mixing_norm, "attention.output.LayerNorm", row);
        break;
    case WEFT_FNET_NONE:
        break;
    }
}

static void load_encoder(struct loader *loader) {
    struct fnet *fnet = loader->fnet;
    const weft_fnet_config *config = &fnet->config;
    uint32_t d = config->hidden_size;
    uint32_t wide = config->intermediate_size;
    load(loader, &fnet->words, "embeddings.word_embeddings.weight",
         weft_shape_of(config->vocab_size, d));
    load(loader, &fnet->positions, "embeddings.position_embeddings.weight",
         weft_shape_of(config->max_positions, d));
    load(loader, &fnet->types, "embeddings.token_type_embeddings.weight",
         weft_shape_of(config->type_vocab_size, d));
    load(loader, &fnet->embedding_norm.weight, "embeddings.LayerNorm.weight", weft_shape_of(d));
    load(loader, &fnet->embedding_norm.bias, "embeddings.LayerNorm.bias", weft_shape_of(d));
    load(loader, &fnet->projection.weight, "embeddings.projection.weight", weft_shape_of(d, d));
    load(loader, &fnet->projection.bias, "embeddings.projection.bias", weft_shape_of(d));
    for (uint32_t i = 0; i < config->layers && loader->status == WEFT_OK; i++) {
        struct layer *layer = &fnet->layers[i];
        layer->mixing = weft_fnet_layer_mixing(config, i);
        load_mixing(loader, i, layer);
        load_layer_pair(loader, i, &layer->intermediate, "intermediate.dense",
                        weft_shape_of(wide, d));
        load_layer_pair(loader, i, &layer->output, "output.dense", weft_shape_of(d, wide));
        load_layer_pair(loader, i, &layer->output_norm, "output.LayerNorm", weft_shape_of(d));
    }
}

static void load_pooler(struct loader *loader) {
    struct fnet *fnet = loader->fnet;
    uint32_t d = fnet->config.hidden_size;
    load(loader, &fnet->pooler.weight, "pooler.dense.weight", weft_shape_of(d, d));
    load(loader, &fnet->pooler.bias, "pooler.dense.bias", weft_shape_of(d));
}

/** A config without labels says nothing about their number; the classifier does. */
static uint32_t class_count(const struct loader *loader) {
    const weft_fnet_config *config = &loader->fnet->config;
    uint32_t rows = weft_checkpoint_rows(loader->checkpoint, "classifier.weight");
    return config->labels || rows == 0 ? config->label_count : rows;
}

static void load_masked_lm(struct loader *loader) {
    struct fnet *fnet = loader->fnet;
    uint32_t d = fnet->config.hidden_size;
    uint32_t vocabulary = fnet->config.vocab_size;
    load_head_pair(loader, &fnet->transform, "cls.predictions.transform.dense",
                   weft_shape_of(d, d));
    load_head_pair(loader, &fnet->transform_norm, "cls.predictions.transform.LayerNorm",
                   weft_shape_of(d));
    if (!fnet->config.tie_word_embeddings) {
        load_head_pair(loader, &fnet->decoder, "cls.predictions.decoder",
                       weft_shape_of(vocabulary, d));
        return;
    }
    load_named(loader, &fnet->decoder.bias, "cls.predictions.bias", weft_shape_of(vocabulary));
    if (loader->status == WEFT_OK) {
        fnet->decoder.weight = weft_weight_retain(fnet->words);
    }
}

static void load_head(struct loader *loader) {
    struct fnet *fnet = loader->fnet;
    uint32_t d = fnet->config.hidden_size;
    switch (fnet->config.architecture) {
    case WEFT_FNET_MODEL:
        break;
    case WEFT_FNET_SEQUENCE_CLASSIFICATION:
        fnet->classes = class_count(loader);
        load_pooler(loader);
        load_head_pair(loader, &fnet->decoder, "classifier", weft_shape_of(fnet->classes, d));
        break;
    case WEFT_FNET_NEXT_SENTENCE:
        fnet->classes = 2;
        load_pooler(loader);
        load_head_pair(loader, &fnet->decoder, "cls.seq_relationship", weft_shape_of(2, d));
        break;
    case WEFT_FNET_MASKED_LM:
    case WEFT_FNET_PRE_TRAINING:
        load_masked_lm(loader);
        break;
    }
}

static weft_status load_tensors(struct fnet *fnet, const struct weft_model_source *source,
                                const weft_host *host) {
    struct loader loader = {.fnet = fnet};
    loader.status = weft_source_open_checkpoint(&loader.checkpoint, source, host);
    if (loader.status == WEFT_OK) {
        bool under_head =
            weft_checkpoint_has(loader.checkpoint, "fnet.embeddings.word_embeddings.weight");
        fnet->prefix = under_head ? "fnet." : "";
        load_encoder(&loader);
    }
    if (loader.status == WEFT_OK) {
        load_head(&loader);
    }
    weft_checkpoint_close(&loader.checkpoint);
    return loader.status;
}

static weft_status read_config(struct fnet *fnet, const struct weft_model_source *source,
                               const weft_host *host) {
    char *path = weft_source_config_name(source, host);
    if (!path) {
        return weft_fail_memory(host, "a path");
    }
    weft_status status = source->folder
                             ? weft_fnet_config_read(&fnet->config, path, host)
                             : weft_fnet_config_parse(&fnet->config, source->config,
                                                      strlen(source->config), path, host);
    if (status == WEFT_OK && fnet->config.architecture == WEFT_FNET_PRE_TRAINING) {
        weft_log(host, WEFT_LOG_INFO,
                 "%s: of FNetForPreTraining's two heads, the masked language model is run", path);
    }
    weft_free(host, path);
    if (status == WEFT_OK) {
        fnet->layers = weft_alloc_zero(host, fnet->config.layers, sizeof *fnet->layers);
        status = fnet->layers ? WEFT_OK : weft_fail_memory(host, "a model's layers");
    }
    return status;
}

static void destroy_pair(struct pair *pair) {
    weft_weight_destroy(&pair->weight);
    weft_weight_destroy(&pair->bias);
}

static void destroy_layer(struct layer *layer) {
    weft_weight_destroy(&layer->sequence_matrix);
    weft_weight_destroy(&layer->hidden_matrix);
    struct pair *const pairs[] = {&layer->query,    &layer->key,         &layer->value,
                                  &layer->attended, &layer->mixing_norm, &layer->intermediate,
                                  &layer->output,   &layer->output_norm};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        destroy_pair(pairs[i]);
    }
}

static void fnet_destroy(void *state, const weft_host *host) {
    struct fnet *fnet = state;
    weft_weight_destroy(&fnet->words);
    weft_weight_destroy(&fnet->positions);
    weft_weight_destroy(&fnet->types);
    struct pair *const pairs[] = {&fnet->embedding_norm, &fnet->projection,     &fnet->pooler,
                                  &fnet->transform,      &fnet->transform_norm, &fnet->decoder};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        destroy_pair(pairs[i]);
    }
    for (uint32_t i = 0; fnet->layers && i < fnet->config.layers; i++) {
        destroy_layer(&fnet->layers[i]);
    }
    weft_free(host, fnet->layers);
    weft_fnet_config_clear(&fnet->config, host);
    weft_free(host, fnet);
}

static weft_status fnet_load(void **state, const struct weft_architecture *self,
                             const struct weft_model_source *source, const weft_host *host) {
    (void)self;
    struct fnet *fnet = weft_alloc_zero(host, 1, sizeof *fnet);
    if (!fnet) {
        return weft_fail_memory(host, "a model");
    }
    weft_status status = read_config(fnet, source, host);
    if (status == WEFT_OK) {
        status = load_tensors(fnet, source, host);
    }
    if (status != WEFT_OK) {
        fnet_destroy(fnet, host);
        return status;
    }
    *state = fnet;
    return WEFT_OK;
}

/* ---- what it is ---- */

static weft_task task_of(weft_fnet_architecture architecture) {
    switch (architecture) {
    case WEFT_FNET_SEQUENCE_CLASSIFICATION:
        return WEFT_TASK_CLASSIFY;
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

static bool has_exact_length(const struct fnet *fnet) {
    for (uint32_t i = 0; i < fnet->config.layers; i++) {
        if (fnet->layers[i].sequence_matrix) {
            return true;
        }
    }
    return false;
}

static void fnet_describe(const void *state, weft_model_info *info) {
    const struct fnet *fnet = state;
    const weft_fnet_config *config = &fnet->config;
    bool hybrid = config->attention_layers > 0 && config->attention_layers < config->layers &&
                  config->mixing != WEFT_FNET_ATTENTION;
    *info = (weft_model_info){
        .architecture = weft_fnet_architecture_name(config->architecture),
        .mixing = hybrid ? "hybrid" : weft_fnet_mixing_name(weft_fnet_layer_mixing(config, 0)),
        .task = task_of(config->architecture),
        .layers = config->layers,
        .hidden_size = config->hidden_size,
        .intermediate_size = config->intermediate_size,
        .vocabulary = config->vocab_size,
        .max_length = config->max_positions,
        .exact_length = has_exact_length(fnet) ? config->max_positions : 0,
        .label_count = fnet->classes,
        .eos_token = config->eos_token,
        .parameters = fnet->parameters};
}

static const char *fnet_label(const void *state, uint32_t index) {
    const struct fnet *fnet = state;
    return fnet->config.labels && index < fnet->config.label_count ? fnet->config.labels[index]
                                                                   : NULL;
}

static weft_status fnet_make_tokenizer(weft_tokenizer **tokenizer, const void *state,
                                       const char *folder, const weft_host *host) {
    const struct fnet *fnet = state;
    weft_tokenizer_settings settings = {.kind = fnet->config.tokenizer,
                                        .class_name = fnet->config.tokenizer_class,
                                        .vocabulary = fnet->config.vocab_size};
    return weft_tokenizer_load(tokenizer, folder, &settings, host);
}

/* ---- building ---- */

struct builder {
    weft_graph *graph;
    const struct fnet *fnet;
    weft_status status; /* sticky */
};

static weft_tensor constant(struct builder *builder, weft_weight *weight) {
    weft_tensor tensor = {0};
    if (builder->status == WEFT_OK) {
        builder->status = weft_graph_weight(&tensor, builder->graph, weight);
    }
    return tensor;
}

static weft_tensor linear(struct builder *builder, weft_tensor x, const struct pair *pair) {
    weft_tensor weight = constant(builder, pair->weight);
    weft_tensor bias = constant(builder, pair->bias);
    weft_tensor result = {0};
    if (builder->status == WEFT_OK) {
        builder->status = weft_graph_linear(&result, builder->graph, x, weight, bias);
    }
    return result;
}

static weft_tensor activate(struct builder *builder, weft_tensor x, weft_activation activation) {
    weft_tensor result = {0};
    if (builder->status == WEFT_OK) {
        builder->status = weft_graph_activate(&result, builder->graph, x, activation);
    }
    return result;
}

static weft_tensor norm(struct builder *builder, weft_tensor x, const struct pair *pair) {
    weft_tensor gamma = constant(builder, pair->weight);
    weft_tensor beta = constant(builder, pair->bias);
    weft_tensor result = {0};
    if (builder->status == WEFT_OK) {
        builder->status = weft_graph_layer_norm(&result, builder->graph, x, gamma, beta,
                                                builder->fnet->config.layer_norm_eps);
    }
    return result;
}

static weft_tensor norm_of_sum(struct builder *builder, weft_tensor a, weft_tensor b,
                               const struct pair *pair) {
    weft_tensor sum = {0};
    if (builder->status == WEFT_OK) {
        builder->status = weft_graph_binary(&sum, builder->graph, WEFT_BINARY_ADD, a, b);
    }
    return norm(builder, sum, pair);
}

static weft_tensor embed(struct builder *builder, weft_tensor tokens, weft_tensor types) {
    const struct fnet *fnet = builder->fnet;
    weft_embedding_params params = {.tokens = tokens, .types = types};
    params.table = constant(builder, fnet->words);
    params.type_table = constant(builder, fnet->types);
    params.positions = constant(builder, fnet->positions);
    weft_tensor sum = {0};
    if (builder->status == WEFT_OK) {
        builder->status = weft_graph_embedding(&sum, builder->graph, &params);
    }
    return linear(builder, norm(builder, sum, &fnet->embedding_norm), &fnet->projection);
}

static weft_tensor attend(struct builder *builder, weft_tensor x, const struct layer *layer) {
    weft_tensor q = linear(builder, x, &layer->query);
    weft_tensor k = linear(builder, x, &layer->key);
    weft_tensor v = linear(builder, x, &layer->value);
    weft_tensor mixed = {0};
    if (builder->status == WEFT_OK) {
        builder->status = weft_graph_attention(
            &mixed, builder->graph, q, k, v,
            weft_attention_params(.heads = builder->fnet->config.attention_heads));
    }
    return linear(builder, mixed, &layer->attended);
}

/** y = sequence_matrix · x · hidden_matrixᵀ: section 4.1 of the paper, Linear and Random. */
static weft_tensor mix_by_matrices(struct builder *builder, weft_tensor x,
                                   const struct layer *layer) {
    weft_tensor hidden = constant(builder, layer->hidden_matrix);
    weft_tensor sequence = constant(builder, layer->sequence_matrix);
    weft_tensor result = {0};
    if (builder->status == WEFT_OK) {
        builder->status = weft_graph_matmul(&result, builder->graph, x, hidden,
                                            weft_matmul_params(.transpose_b = true));
    }
    if (builder->status == WEFT_OK) {
        builder->status = weft_graph_matmul(&result, builder->graph, sequence, result, NULL);
    }
    return result;
}

static weft_tensor mix(struct builder *builder, weft_tensor x, const struct layer *layer) {
    weft_tensor mixed = {0};
    switch (layer->mixing) {
    case WEFT_FNET_NONE: /* FF-only: the sublayer goes with its residual and norm */
        return x;
    case WEFT_FNET_FOURIER:
        if (builder->status == WEFT_OK) {
            builder->status = weft_graph_fourier(&mixed, builder->graph, x);
        }
        break;
    case WEFT_FNET_LINEAR:
    case WEFT_FNET_RANDOM:
        mixed = mix_by_matrices(builder, x, layer);
        break;
    case WEFT_FNET_ATTENTION:
        mixed = attend(builder, x, layer);
        break;
    }
    return norm_of_sum(builder, x, mixed, &layer->mixing_norm);
}

static weft_tensor feed_forward(struct builder *builder, weft_tensor x, const struct layer *layer) {
    weft_tensor wide = linear(builder, x, &layer->intermediate);
    wide = activate(builder, wide, builder->fnet->config.activation);
    return norm_of_sum(builder, x, linear(builder, wide, &layer->output), &layer->output_norm);
}

/** tanh(W x_0 + b) of the first token. */
static weft_tensor pool(struct builder *builder, weft_tensor hidden) {
    weft_tensor first = {0};
    if (builder->status == WEFT_OK) {
        builder->status = weft_graph_gather(&first, builder->graph, hidden, 0);
    }
    return activate(builder, linear(builder, first, &builder->fnet->pooler), WEFT_ACTIVATION_TANH);
}

static weft_tensor build_head(struct builder *builder, weft_tensor hidden) {
    const struct fnet *fnet = builder->fnet;
    switch (task_of(fnet->config.architecture)) {
    case WEFT_TASK_CLASSIFY:
    case WEFT_TASK_NEXT_SENTENCE:
        return linear(builder, pool(builder, hidden), &fnet->decoder);
    case WEFT_TASK_MASKED_LM: {
        weft_tensor x =
            activate(builder, linear(builder, hidden, &fnet->transform), fnet->config.activation);
        return linear(builder, norm(builder, x, &fnet->transform_norm), &fnet->decoder);
    }
    case WEFT_TASK_HIDDEN:
    case WEFT_TASK_CAUSAL_LM: /* FNet has none of these three */
    case WEFT_TASK_REGRESS:
    case WEFT_TASK_RETRIEVE:
        break;
    }
    return hidden;
}

static weft_status fnet_build(weft_tensor *out, const void *state, weft_graph *graph,
                              const weft_model_inputs *inputs) {
    struct builder builder = {.graph = graph, .fnet = state};
    weft_tensor x = embed(&builder, inputs->tokens, inputs->types);
    for (uint32_t i = 0; i < builder.fnet->config.layers && builder.status == WEFT_OK; i++) {
        const struct layer *layer = &builder.fnet->layers[i];
        x = feed_forward(&builder, mix(&builder, x, layer), layer);
    }
    x = build_head(&builder, x);
    if (builder.status == WEFT_OK) {
        *out = x;
    }
    return builder.status;
}

const struct weft_architecture weft_architecture_fnet = {
    .model_type = "fnet",
    .load = fnet_load,
    .destroy = fnet_destroy,
    .describe = fnet_describe,
    .label = fnet_label,
    .make_tokenizer = fnet_make_tokenizer,
    .build = fnet_build,
};
