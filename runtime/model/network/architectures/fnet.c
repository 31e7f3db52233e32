/* SPDX-License-Identifier: MIT */
/*
 * FNet (Lee-Thorp et al., "FNet: Mixing tokens with Fourier transforms", 2022) in the tensor layout of Hugging Face's
 * transformers, with all of its heads, and the paper's siblings of section 4.1: Hybrid, Linear, Random, FF-only and the
 * attention baseline (tests/data/fnet/README.md has their layout).
 */
#include "model/network/architecture.h"
#include "model/network/config.h"
#include "model/network/network.h"

/* ---- config.json ---- */

static weft_status read(void *state, weft_network_config *network, const weft_json_fields *json) {
    weft_fnet_config *config = state;
    const weft_status status = weft_fnet_config_fields(config, json);
    *network = (weft_network_config){.vocab_size = config->vocab_size,
                                     .hidden_size = config->hidden_size,
                                     .layers = config->layers,
                                     .max_positions = config->max_positions,
                                     .position_embedding = WEFT_POSITION_LEARNED,
                                     .embedding.types = config->type_vocab_size,
                                     .embedding_norm = true,
                                     .embedding.projection = WEFT_PROJECTION_BEHIND_NORM,
                                     .norm = WEFT_NORM_LAYER,
                                     .norm_position = 1,
                                     .norm_eps = config->layer_norm_eps,
                                     .biases = WEFT_ALL_BIASES,
                                     .intermediate_size = config->intermediate_size,
                                     .activation = config->activation,
                                     .tie_word_embeddings = config->tie_word_embeddings,
                                     .eos_token = config->eos_token};
    return status;
}

/* A matrix over tokens fits one length only. */
static uint32_t exact_length(const void *state) {
    const weft_fnet_config *config = state;
    const bool matrices = config->mixing == WEFT_FNET_LINEAR || config->mixing == WEFT_FNET_RANDOM;
    return matrices && config->attention_layers < config->layers ? config->max_positions : 0;
}

static const char *mixing(const void *state) {
    const weft_fnet_config *config = state;
    const bool hybrid = config->attention_layers > 0 && config->attention_layers < config->layers &&
                        config->mixing != WEFT_FNET_ATTENTION;
    return hybrid ? "hybrid" : weft_fnet_mixing_name(weft_fnet_layer_mixing(config, 0));
}

/* ---- building ---- */

/* y = sequence matrix · x · hidden matrixᵀ: section 4.1 of the paper, Linear and Random. */
static weft_tensor mix_by_matrices(struct weft_builder *builder, weft_tensor x) {
    const uint32_t n = builder->network->config.max_positions;
    const uint32_t d = builder->width;
    weft_tensor sequence = weft_build_weight(builder, "sequence.weight", weft_shape_of(n, n));
    weft_tensor hidden = weft_build_weight(builder, "hidden.weight", weft_shape_of(d, d));
    weft_tensor out = {0};
    out = WEFT_BUILT(builder, out,
                     weft_graph_matmul(&out, builder->graph, x, hidden,
                                       weft_matmul_params(.transpose_b = true)));
    return WEFT_BUILT(builder, out, weft_graph_matmul(&out, builder->graph, sequence, out, NULL));
}

static weft_tensor attend(struct weft_builder *builder, weft_tensor x, uint32_t heads) {
    const struct weft_qkv qkv = weft_build_qkv(builder, x);
    weft_tensor mixed = weft_build_softmax_attention(builder, &qkv, heads);
    return weft_build_linear(builder, mixed, "output", builder->width, builder->width);
}

static weft_tensor mix(struct weft_builder *builder, weft_tensor x, const void *state) {
    const weft_fnet_config *config = state;
    weft_tensor out = {0};
    switch (weft_fnet_layer_mixing(config, builder->layer)) {
    case WEFT_FNET_FOURIER:
        return WEFT_BUILT(builder, out, weft_graph_fourier(&out, builder->graph, x));
    case WEFT_FNET_LINEAR:
    case WEFT_FNET_RANDOM:
        return mix_by_matrices(builder, x);
    case WEFT_FNET_ATTENTION:
        return attend(builder, x, config->attention_heads);
    case WEFT_FNET_NONE:
        break;
    }
    return x;
}

/* FF-only: the sublayer goes with its residual and norm. */
static const char *mixer_norm(const void *state, uint32_t layer) {
    static const char *const norms[] = {[WEFT_FNET_FOURIER] = "fourier_norm",
                                        [WEFT_FNET_LINEAR] = "matrix_norm",
                                        [WEFT_FNET_RANDOM] = "matrix_norm",
                                        [WEFT_FNET_NONE] = NULL,
                                        [WEFT_FNET_ATTENTION] = "mixer_norm"};
    return norms[weft_fnet_layer_mixing(state, layer)];
}

/* ---- tensors ---- */

static const struct weft_tensor_name names[] = {
    WEFT_BERT_NAMES,
    {WEFT_NAMED("layers.#.fourier_norm", "encoder.layer.#.fourier.output.LayerNorm")},
    {WEFT_NAMED("layers.#.mixer.sequence", "encoder.layer.#.mixing.seq")},
    {WEFT_NAMED("layers.#.mixer.hidden", "encoder.layer.#.mixing.hidden")},
    {WEFT_NAMED("layers.#.matrix_norm", "encoder.layer.#.mixing.output.LayerNorm")},
    {.ours = NULL}};

static void clear(void *state, const weft_host *host) {
    weft_fnet_config_clear(state, host);
}

static const struct weft_layout layout = {.stem = "FNet",
                                          .encoder = "FNetModel",
                                          .prefix = "fnet.",
                                          .read = read,
                                          .names = names,
                                          .heads = weft_bert_heads,
                                          .unused = weft_bert_unused};

const struct weft_model_family weft_family_fnet = {.model_type = "fnet",
                                                   .config_size = sizeof(weft_fnet_config),
                                                   WEFT_ATTENTION_PARTS,
                                                   .clear = clear,
                                                   .mixer_norm_of = mixer_norm,
                                                   .exact_length = exact_length,
                                                   .mixing = mixing,
                                                   .mix = mix,
                                                   .layout = &layout};
