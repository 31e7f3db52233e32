/* SPDX-License-Identifier: MIT */
/*
 * DeBERTa: He et al., "DeBERTa: Decoding-enhanced BERT with disentangled attention", 2021, in the layout of its second version, which the
 * third (He et al., 2023) has, too. Scores have parts of the distance of two tokens: equation (4), without its fourth term.
 */
#include <math.h>
#include <string.h>

#include <weft/mixers/conv.h>

#include "core/try.h"
#include "model/network/architecture.h"
#include "model/network/architectures/deberta.h"
#include "model/network/decoder_layout.h"
#include "model/network/network.h"

#define MOST_POSITIONS 32768 /* n (2n - 1) distances are numbered by 32 bits */
#define MOST_TAPS      1023

/* ---- config.json ---- */

/* Numbers of which 0 and less mean that there is nothing. */
static weft_status read_count(void *value, const weft_json_fields *json, const char *name) {
    int64_t number = 0;
    WEFT_TRY(weft_json_optional_integer(&number, json, name, INT32_MIN, 1 << 24));
    *(uint32_t *)value = number > 0 ? (uint32_t)number : 0;
    return WEFT_OK;
}

/* Adds a word to a set, its place in the list as a bit. False: it is none of them. */
static bool add_word(uint32_t *set, const char *word, size_t size, const char *const *words) {
    for (uint32_t i = 0; words[i]; i++) {
        if (strlen(words[i]) == size && memcmp(words[i], word, size) == 0) {
            *set |= 1U << i;
            return true;
        }
    }
    return size == 0;
}

/* Adds words of a text that has | between them. */
static bool add_words(uint32_t *set, const char *text, const char *const *words) {
    for (bool more = true; more;) {
        text += strspn(text, " ");
        const size_t whole = strcspn(text, "|");
        size_t size = whole;
        while (size > 0 && text[size - 1] == ' ') {
            size--;
        }
        if (!add_word(set, text, size, words)) {
            return false;
        }
        more = text[whole] == '|';
        text += whole + more;
    }
    return true;
}

static weft_status read_words(void *value, const weft_json_fields *json, const char *name,
                              const char *const *words, const char *expected) {
    const json_t *found = json_object_get(json->object, name);
    uint32_t *set = value;
    if (!weft_json_has(json, name)) {
        return WEFT_OK;
    }
    bool known = json_is_array(found) ||
                 (json_is_string(found) && add_words(set, json_string_value(found), words));
    for (size_t i = 0; known && i < json_array_size(found); i++) {
        const json_t *word = json_array_get(found, i);
        known = json_is_string(word) &&
                add_word(set, json_string_value(word), json_string_length(word), words);
    }
    return known ? WEFT_OK : weft_json_fail(json, WEFT_UNSUPPORTED, name, expected, found);
}

static weft_status read_terms(void *value, const weft_json_fields *json, const char *name) {
    static const char *const words[] = {"c2p", "p2c", NULL};
    return read_words(value, json, name, words, "\"c2p\", \"p2c\", both with a | between, or null");
}

static weft_status read_table_norm(void *value, const weft_json_fields *json, const char *name) {
    static const char *const words[] = {"none", "layer_norm", NULL};
    uint32_t set = 0;
    WEFT_TRY(read_words(&set, json, name, words, "\"none\" or \"layer_norm\""));
    *(bool *)value = (set & 2U) != 0;
    return WEFT_OK;
}

static weft_status read_positions(void *value, const weft_json_fields *json, const char *name) {
    bool learned = true;
    WEFT_TRY(weft_json_optional_bool(&learned, json, name));
    *(uint32_t *)value = learned ? WEFT_POSITION_LEARNED : WEFT_POSITION_NONE;
    return WEFT_OK;
}

static const weft_field network_fields[] = {
    {WEFT_INTEGER("type_vocab_size", weft_network_config, embedding.types, 0, 65536)},
    {WEFT_INTEGER("embedding_size", weft_network_config, embedding.size, 1, 65536)},
    {WEFT_CUSTOM("position_biased_input", weft_network_config, position_embedding, read_positions)},
};
static const weft_field_table network_table = {network_fields,
                                               sizeof network_fields / sizeof network_fields[0]};

static const weft_field own_fields[] = {
    {WEFT_BOOL("relative_attention", struct weft_deberta, relative)},
    {WEFT_BOOL("share_att_key", struct weft_deberta, shared_maps)},
    {WEFT_CUSTOM("pos_att_type", struct weft_deberta, terms, read_terms)},
    {WEFT_CUSTOM("norm_rel_ebd", struct weft_deberta, table_norm, read_table_norm)},
    {WEFT_CUSTOM("position_buckets", struct weft_deberta, buckets, read_count)},
    {WEFT_CUSTOM("max_relative_positions", struct weft_deberta, farthest, read_count)},
    {WEFT_CUSTOM("conv_kernel_size", struct weft_deberta, taps, read_count)},
    {WEFT_INTEGER("conv_groups", struct weft_deberta, groups, 1, 65536)},
    {WEFT_CUSTOM("conv_act", struct weft_deberta, filter_activation, weft_field_activation)},
};

static void set_defaults(void *config) {
    *(struct weft_deberta *)config =
        (struct weft_deberta){.groups = 1, .filter_activation = WEFT_ACTIVATION_TANH};
}

/* Sizes of which transformers' modules fit together with one value alone. */
static weft_status check_size(const weft_json_fields *json, const char *name, uint32_t value,
                              const char *expected) {
    int64_t given = value;
    WEFT_TRY(weft_json_optional_integer(&given, json, name, 1, INT32_MAX));
    return given == value ? WEFT_OK : weft_fields_refuse(json, name, expected);
}

static weft_status check_table(struct weft_deberta *deberta, const weft_network_config *network,
                               const weft_json_fields *json) {
    const uint32_t middle = deberta->buckets / 2;
    deberta->farthest = deberta->farthest != 0 ? deberta->farthest : network->max_positions;
    deberta->span = deberta->buckets != 0 ? deberta->buckets : deberta->farthest;
    if (deberta->terms == 0) {
        return weft_fields_refuse(json, "pos_att_type",
                                  "c2p or p2c, as relative_attention is true");
    }
    if (deberta->buckets == 1) {
        return weft_fields_refuse(json, "position_buckets", "-1, or at least 2");
    }
    if (network->max_positions > MOST_POSITIONS) {
        return weft_fields_refuse(json, "max_position_embeddings",
                                  "32768 at most, as relative_attention is true");
    }
    return middle == 0 || deberta->farthest > middle + 1 || network->max_positions <= middle + 1
               ? WEFT_OK
               : weft_fields_refuse(json, "max_relative_positions",
                                    "more than half of position_buckets and one");
}

static weft_status check_filter(const struct weft_deberta *deberta,
                                const weft_network_config *network, const weft_json_fields *json) {
    if (deberta->taps == 0) {
        return WEFT_OK;
    }
    if (deberta->taps % 2 == 0 || deberta->taps > MOST_TAPS) {
        return weft_fields_refuse(json, "conv_kernel_size", "an odd number up to 1023, or 0");
    }
    return network->hidden_size % deberta->groups == 0
               ? WEFT_OK
               : weft_fields_refuse(json, "conv_groups", "a divisor of hidden_size");
}

static weft_status check_own(void *config, const weft_network_config *network,
                             const weft_json_fields *json) {
    struct weft_deberta *deberta = config;
    WEFT_TRY(check_size(json, "attention_head_size", weft_network_head_size(network),
                        "hidden_size over num_attention_heads"));
    WEFT_TRY(check_size(json, "pooler_hidden_size", network->hidden_size, "hidden_size"));
    if (deberta->relative) {
        WEFT_TRY(check_table(deberta, network, json));
    }
    return check_filter(deberta, network, json);
}

static weft_status check(weft_network_config *config, const struct weft_head *head,
                         const weft_json_fields *json) {
    const bool narrow = weft_network_embedding_size(config) != config->hidden_size;
    config->embedding.projection = narrow ? WEFT_PROJECTION_BEFORE_NORM : WEFT_PROJECTION_NONE;
    if (head->task == WEFT_TASK_CLASSIFY) {
        config->head.activation = WEFT_ACTIVATION_GELU_ERF;
        return weft_field_activation(&config->head.activation, json, "pooler_hidden_act");
    }
    if (head->unless) { /* its last map is the table itself */
        config->tie_word_embeddings = true;
        return narrow ? weft_fields_refuse(json, "embedding_size", "hidden_size, without legacy")
                      : WEFT_OK;
    }
    return WEFT_OK;
}

/* ---- tensors ---- */

static const struct weft_tensor_name names[] = {
    {WEFT_NAMED("embeddings.projection", "embeddings.embed_proj")},
    {WEFT_NAMED("layers.#.mixer.query", "encoder.layer.#.attention.self.query_proj")},
    {WEFT_NAMED("layers.#.mixer.key", "encoder.layer.#.attention.self.key_proj")},
    {WEFT_NAMED("layers.#.mixer.value", "encoder.layer.#.attention.self.value_proj")},
    {WEFT_NAMED("layers.#.mixer.position_query", "encoder.layer.#.attention.self.pos_query_proj")},
    {WEFT_NAMED("layers.#.mixer.position_key", "encoder.layer.#.attention.self.pos_key_proj")},
    {WEFT_NAMED("distances", "encoder.rel_embeddings")},
    {WEFT_NAMED("distances_norm", "encoder.LayerNorm")},
    {WEFT_NAMED("filter", "encoder.conv.conv")},
    {WEFT_NAMED("filter_norm", "encoder.conv.LayerNorm")},
    WEFT_BERT_NAMES,
    {.ours = NULL}};

#define POOLED .input = WEFT_HEAD_FIRST_TOKEN, .dense = "pooler.dense", .own_activation = true

static const struct weft_head heads[] = {
    {"Model", .task = WEFT_TASK_HIDDEN},
    {"ForMaskedLM", WEFT_TASK_MASKED_LM, .unless = "legacy",
     .dense = "lm_predictions.lm_head.dense", .own_activation = true,
     .norm = "lm_predictions.lm_head.LayerNorm", .out = "lm_predictions.lm_head"},
    {"ForMaskedLM", WEFT_TASK_MASKED_LM, .dense = "cls.predictions.transform.dense",
     .own_activation = true, .norm = "cls.predictions.transform.LayerNorm",
     .out = "cls.predictions.decoder", .bias = "cls.predictions.bias"},
    {"ForSequenceClassification", WEFT_TASK_CLASSIFY, POOLED, .out = "classifier"},
    {"ForMultipleChoice", WEFT_TASK_CLASSIFY, POOLED, .out = "classifier", .outputs = 1},
    {"ForTokenClassification", WEFT_TASK_CLASSIFY_TOKENS, .out = "classifier"},
    {"ForQuestionAnswering", WEFT_TASK_CLASSIFY_TOKENS, .out = "qa_outputs", .outputs = 2},
    {.name = NULL}};

/* Files of models without positions may have a table of them. */
static const char *const unused[] = {"embeddings.position_ids",
                                     "embeddings.position_embeddings.weight", NULL};

static weft_tensor mix(struct weft_builder *builder, weft_tensor x, const void *config) {
    const struct weft_deberta *deberta = config;
    const double parts =
        1.0 + weft_deberta_has(deberta, WEFT_CONTENT_TO_POSITION) +
        weft_deberta_has(deberta, WEFT_POSITION_TO_CONTENT); /* without a table, too */
    struct weft_qkv qkv = weft_layout_qkv(builder, x);
    qkv.scale = (float)(1.0 / sqrt(parts * weft_network_head_size(&builder->network->config)));
    if (deberta->relative) {
        qkv.bias = weft_deberta_scores(builder, deberta, &qkv);
    }
    return weft_layout_mix(builder, &qkv);
}

/* ---- the filter ---- */

/* norm(x + act(filter(before))) behind the first layer, of which these are result and input: the paper's appendix A.5. */
static weft_tensor filter(struct weft_builder *builder, weft_tensor x, weft_tensor before,
                          const void *config) {
    const struct weft_deberta *deberta = config;
    const uint32_t d = builder->width;
    if (!deberta->relative && deberta->table_norm) { /* files have it without a table, too */
        weft_build_norm_params(builder, WEFT_NORM_LAYER, "distances_norm", d);
    }
    if (deberta->taps == 0 || builder->layer != 0) {
        return x;
    }
    const weft_conv_params params = {
        .bias = weft_build_weight(builder, "filter.bias", weft_shape_of(d)),
        .before = {(deberta->taps - 1) / 2},
        .after = {(deberta->taps - 1) / 2},
        .groups = deberta->groups};
    weft_tensor weight = weft_build_weight(builder, "filter.weight",
                                           weft_shape_of(d, d / deberta->groups, deberta->taps));
    weft_tensor tokens =
        weft_build_permute(builder, weft_build_mask(builder, before), weft_shape_of(0, 2, 1));
    weft_tensor out = {0};
    out = WEFT_BUILT(builder, out, weft_graph_conv(&out, builder->graph, tokens, weight, &params));
    out = weft_build_activate(builder, weft_build_permute(builder, out, weft_shape_of(0, 2, 1)),
                              deberta->filter_activation);
    return weft_build_norm(builder, weft_build_binary(builder, WEFT_BINARY_ADD, x, out),
                           "filter_norm", d);
}

static const weft_network_config defaults = {.norm = WEFT_NORM_LAYER,
                                             .norm_position = WEFT_NORM_AFTER,
                                             .norm_eps = 1e-7F,
                                             .activation = WEFT_ACTIVATION_GELU_ERF,
                                             .position_embedding = WEFT_POSITION_LEARNED,
                                             .embedding_norm = true,
                                             .tie_word_embeddings = true,
                                             .biases = WEFT_ALL_BIASES};

static const struct weft_layout layout = {
    .stem = "DebertaV2",
    .encoder = "DebertaV2Model",
    .prefix = "deberta.",
    .fields = {&weft_size_fields, &weft_act_fields, &weft_layer_norm_fields, &network_table},
    .defaults = &defaults,
    .check = check,
    .names = names,
    .heads = heads,
    .unused = unused};

const struct weft_model_family weft_family_deberta_v2 = {
    .model_type = "deberta-v2",
    .fields = {own_fields, sizeof own_fields / sizeof own_fields[0]},
    .config_size = sizeof(struct weft_deberta),
    .set_defaults = set_defaults,
    .check = check_own,
    WEFT_ATTENTION_PARTS,
    .takes_lengths = weft_family_always,
    .mix = mix,
    .behind_layer = filter,
    .layout = &layout};
