/* SPDX-License-Identifier: MIT */
/*
 * HyenaDNA (Nguyen et al., "HyenaDNA: Long-range genomic sequence modeling at single nucleotide resolution", 2023) in the layout of
 * its folders on Hugging Face. The operator of order 2 (Poli et al., "Hyena hierarchy", 2023): x0 ⊙ (h * (x1 ⊙ v) + D ⊙ x1 ⊙ v),
 * with short filters on x0, x1 and v; the long filter h is a small network's of the position, times a window.
 */
#include <stdio.h>

#include "core/try.h"
#include "graph/graph.h"
#include "model/network/architecture.h"
#include "model/network/gated_mixer.h"
#include "model/network/network.h"

#define SHIFT 0.05F /* of the window, a constant of the published code */

enum { TAPS = 3 };

struct hyenadna {
    uint32_t position_size, filter_size, filter_layers;
    uint32_t order, taps, vocabulary_multiple;
    float frequency;
    bool learned_frequency;
};

/* ---- config.json ---- */

static const weft_field network_fields[] = {
    {WEFT_INTEGER("vocab_size", weft_network_config, vocab_size, 1, 1 << 24), .required = true},
    {WEFT_INTEGER("d_model", weft_network_config, hidden_size, 1, 65536), .required = true},
    {WEFT_INTEGER("n_layer", weft_network_config, layers, 1, WEFT_MAX_LAYERS), .required = true},
    {WEFT_INTEGER("d_inner", weft_network_config, intermediate_size, 1, 1 << 20)},
    {WEFT_INTEGER("max_seq_len", weft_network_config, max_positions, 1, 1 << 24), .required = true},
    {WEFT_BOOL("tie_word_embeddings", weft_network_config, tie_word_embeddings)},
    {WEFT_REAL("layer_norm_epsilon", weft_network_config, norm_eps, 0.99e-5, 1.01e-5)},
};
static const weft_field own_fields[] = {
    {WEFT_INTEGER("emb_dim", struct hyenadna, position_size, 3, 65535)},
    {WEFT_INTEGER("filter_order", struct hyenadna, filter_size, 1, 65536)},
    {WEFT_INTEGER("num_inner_mlps", struct hyenadna, filter_layers, 0, 64)},
    {WEFT_INTEGER("hyena_order", struct hyenadna, order, 2, 2)},
    {WEFT_INTEGER("short_filter_order", struct hyenadna, taps, TAPS, TAPS)},
    {WEFT_INTEGER("pad_vocab_size_multiple", struct hyenadna, vocabulary_multiple, 1, 65536)},
    {WEFT_REAL("activation_freq", struct hyenadna, frequency, -1e6, 1e6)},
    {WEFT_BOOL("train_freq", struct hyenadna, learned_frequency)},
};
static const weft_field_table network_table = {network_fields,
                                               sizeof network_fields / sizeof network_fields[0]};
static const weft_field_table own_table = {own_fields, sizeof own_fields / sizeof own_fields[0]};

static weft_status read(void *state, weft_network_config *config, const weft_json_fields *json) {
    struct hyenadna *hyena = state;
    *config = (weft_network_config){.norm = WEFT_NORM_LAYER,
                                    .norm_eps = 1e-5F,
                                    .activation = WEFT_ACTIVATION_GELU_TANH,
                                    .pooling = WEFT_POOLING_LAST,
                                    .causal = true,
                                    .tie_word_embeddings = true,
                                    .eos_token = -1,
                                    .biases = WEFT_ALL_BIASES};
    *hyena = (struct hyenadna){.position_size = 3,
                               .filter_size = 64,
                               .filter_layers = 2,
                               .order = 2,
                               .taps = TAPS,
                               .vocabulary_multiple = 8,
                               .frequency = 1.0F,
                               .learned_frequency = true};
    config->biases.head = false;
    WEFT_TRY(weft_fields_read(config, &network_table, json));
    WEFT_TRY(weft_fields_read(hyena, &own_table, json));
    const uint32_t multiple = hyena->vocabulary_multiple;
    config->vocab_size = (config->vocab_size + multiple - 1) / multiple * multiple;
    config->intermediate_size =
        config->intermediate_size != 0 ? config->intermediate_size : 4 * config->hidden_size;
    return WEFT_OK;
}

/* ---- tensors ---- */

static const struct weft_tensor_name names[] = {
    {WEFT_NAMED("embeddings.tokens", "backbone.embeddings.word_embeddings")},
    {WEFT_NAMED("layers.#.mixer.x0", "backbone.layers.#.mixer.in_proj"), WEFT_PART(0, 3)},
    {WEFT_NAMED("layers.#.mixer.x1", "backbone.layers.#.mixer.in_proj"), WEFT_PART(1, 3)},
    {WEFT_NAMED("layers.#.mixer.v", "backbone.layers.#.mixer.in_proj"), WEFT_PART(2, 3)},
    {WEFT_NAMED("layers.#.mixer.short_x0", "backbone.layers.#.mixer.short_filter"),
     WEFT_PART(0, 3)},
    {WEFT_NAMED("layers.#.mixer.short_x1", "backbone.layers.#.mixer.short_filter"),
     WEFT_PART(1, 3)},
    {WEFT_NAMED("layers.#.mixer.short_v", "backbone.layers.#.mixer.short_filter"), WEFT_PART(2, 3)},
    {WEFT_NAMED("layers.#.mixer.filter", "backbone.layers.#.mixer.filter_fn")},
    {WEFT_NAMED("layers.#.mixer.output", "backbone.layers.#.mixer.out_proj")},
    {WEFT_NAMED("layers.#.mixer_norm", "backbone.layers.#.norm1")},
    {WEFT_NAMED("layers.#.feed_forward.in", "backbone.layers.#.mlp.fc1")},
    {WEFT_NAMED("layers.#.feed_forward.out", "backbone.layers.#.mlp.fc2")},
    {WEFT_NAMED("layers.#.feed_forward_norm", "backbone.layers.#.norm2")},
    {WEFT_NAMED("norm", "backbone.ln_f")},
    {.ours = NULL}};

static const struct weft_head heads[] = {
    {"Model", .task = WEFT_TASK_HIDDEN},
    {"ForCausalLM", WEFT_TASK_CAUSAL_LM, .out = "lm_head"},
    {"ForSequenceClassification", WEFT_TASK_CLASSIFY, WEFT_HEAD_POOLED, .out = "score"},
    {.name = NULL}};

/* One frequency serves all layers of a filter, under any of their names. */
static const char *const unused[] = {".freq", NULL};

/* ---- the filter, of weights alone: it is computed when a plan is compiled ---- */

/* Rows of the positions that sequences reach of a tensor [1, max_positions, width]. */
static weft_tensor rows(struct weft_builder *builder, const char *name, uint32_t width) {
    const uint32_t all = builder->network->config.max_positions;
    weft_tensor whole = weft_build_weight(builder, name, weft_shape_of(1, all, width));
    weft_tensor out = {0};
    if (builder->status != WEFT_OK) {
        return out;
    }
    weft_weight *part = NULL;
    builder->status = weft_weight_part_of(&part, builder->graph->values[whole.id].weight, 0,
                                          weft_shape_of(weft_build_reach(builder), width));
    out = WEFT_BUILT(builder, out, weft_graph_weight(&out, builder->graph, part));
    weft_weight_destroy(&part);
    return out;
}

/* sin(frequency ⊙ x) */
static weft_tensor oscillate(struct weft_builder *builder, weft_tensor x,
                             const struct hyenadna *hyena) {
    char name[64] = "filter.implicit_filter.1.freq";
    for (uint32_t i = 0; i <= hyena->filter_layers; i++) {
        char other[64];
        snprintf(other, sizeof other, "filter.implicit_filter.%u.freq", 2 * i + 1);
        if (weft_build_has(builder, other)) {
            snprintf(name, sizeof name, "%s", other);
            break;
        }
    }
    if (hyena->learned_frequency) {
        weft_tensor frequency =
            weft_build_weight(builder, name, weft_shape_of(1, hyena->filter_size));
        x = weft_build_binary(builder, WEFT_BINARY_MULTIPLY, x, frequency);
    } else {
        x = weft_build_affine(builder, x, hyena->frequency, 0);
    }
    return weft_build_unary(builder, WEFT_UNARY_SIN, x);
}

/* exp(-t |δ|) + shift, [n, d] */
static weft_tensor window(struct weft_builder *builder) {
    weft_tensor time = rows(builder, "filter.pos_emb.t", 1);
    weft_tensor deltas =
        weft_build_weight(builder, "filter.modulation.deltas", weft_shape_of(1, 1, builder->width));
    deltas = weft_build_reshape(builder, weft_build_unary(builder, WEFT_UNARY_ABS, deltas),
                                weft_shape_of(1, builder->width));
    weft_tensor decay = weft_build_binary(builder, WEFT_BINARY_MULTIPLY, time, deltas);
    decay =
        weft_build_activate(builder, weft_build_affine(builder, decay, -1, 0), WEFT_ACTIVATION_EXP);
    return weft_build_affine(builder, decay, 1, SHIFT);
}

/* Row k is lag k, [n, d]. */
static weft_tensor filter(struct weft_builder *builder, const struct hyenadna *hyena) {
    weft_tensor h = rows(builder, "filter.pos_emb.z", hyena->position_size);
    uint32_t width = hyena->position_size;
    char name[64];
    for (uint32_t i = 0; i <= hyena->filter_layers; i++) {
        snprintf(name, sizeof name, "filter.implicit_filter.%u", 2 * i);
        h = weft_build_linear(builder, h, name, width, hyena->filter_size);
        h = oscillate(builder, h, hyena);
        width = hyena->filter_size;
    }
    snprintf(name, sizeof name, "filter.implicit_filter.%u", 2 * hyena->filter_layers + 2);
    h = weft_build_map(builder, h, name, width, builder->width, false);
    return weft_build_binary(builder, WEFT_BINARY_MULTIPLY, h, window(builder));
}

/* ---- the operator ---- */

/* One of the three inputs of the operator: a map and a short filter. */
static weft_tensor input(struct weft_builder *builder, weft_tensor x, const char *name) {
    const uint32_t d = builder->width;
    char text[64];
    x = weft_build_linear(builder, x, name, d, d);
    snprintf(text, sizeof text, "short_%s", name);
    return weft_build_short_filter(builder, x, text, d, TAPS, true);
}

static weft_tensor mix(struct weft_builder *builder, weft_tensor x, const void *state) {
    const uint32_t d = builder->width;
    weft_tensor x0 = input(builder, x, "x0");
    weft_tensor x1 = input(builder, x, "x1");
    weft_tensor v = input(builder, x, "v");
    v = weft_build_binary(builder, WEFT_BINARY_MULTIPLY, v, x1);
    weft_tensor skip =
        weft_build_binary(builder, WEFT_BINARY_MULTIPLY, v,
                          weft_build_weight(builder, "filter.bias", weft_shape_of(d)));
    weft_tensor y = weft_build_toeplitz(builder, v, filter(builder, state));
    y = weft_build_binary(builder, WEFT_BINARY_ADD, y, skip);
    y = weft_build_binary(builder, WEFT_BINARY_MULTIPLY, y, x0);
    return weft_build_linear(builder, y, "output", d, d);
}

static const struct weft_layout layout = {.stem = "HyenaDNA",
                                          .encoder = "HyenaDNAModel",
                                          .prefix = "hyena.",
                                          .read = read,
                                          .names = names,
                                          .heads = heads,
                                          .unused = unused};

const struct weft_model_family weft_family_hyenadna = {.model_type = "hyenadna",
                                                       .config_size = sizeof(struct hyenadna),
                                                       WEFT_ATTENTION_PARTS,
                                                       .recurrent = weft_family_always,
                                                       .mix = mix,
                                                       .layout = &layout};
