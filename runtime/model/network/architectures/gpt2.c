/* SPDX-License-Identifier: MIT */
/* GPT-2: Radford et al., "Language models are unsupervised multitask learners", 2019. Its matrices are [in, out]. */
#include "model/network/architecture.h"

static const weft_field size_fields[] = {
    {WEFT_INTEGER("vocab_size", weft_network_config, vocab_size, 1, 1 << 24), .required = true},
    {WEFT_INTEGER("n_embd", weft_network_config, hidden_size, 1, 65536), .required = true},
    {WEFT_INTEGER("n_layer", weft_network_config, layers, 1, WEFT_MAX_LAYERS), .required = true},
    {WEFT_INTEGER("n_head", weft_network_config, attention.heads, 1, 65536), .required = true},
    {WEFT_INTEGER("n_positions", weft_network_config, max_positions, 1, 1 << 24), .required = true},
    {WEFT_INTEGER("n_inner", weft_network_config, intermediate_size, 1, 1 << 20)},
    {WEFT_CUSTOM("activation_function", weft_network_config, activation, weft_field_activation)},
    {WEFT_BOOL("tie_word_embeddings", weft_network_config, tie_word_embeddings)},
};
const weft_field_table weft_gpt2_fields = {size_fields, sizeof size_fields / sizeof size_fields[0]};

static const weft_field fields[] = {
    {WEFT_REAL("layer_norm_epsilon", weft_network_config, norm_eps, 0, 1)},
    WEFT_REFUSED("scale_attn_weights", weft_field_true),
    WEFT_REFUSED("scale_attn_by_inverse_layer_idx", weft_field_false),
    WEFT_REFUSED("add_cross_attention", weft_field_false),
};
static const weft_field_table table = {fields, sizeof fields / sizeof fields[0]};

static const struct weft_tensor_name names[] = {
    {WEFT_NAMED("embeddings.tokens", "wte")},
    {WEFT_NAMED("embeddings.positions", "wpe")},
    {WEFT_NAMED("layers.#.mixer.query", "h.#.attn.c_attn"), true, WEFT_PART(0, 3)},
    {WEFT_NAMED("layers.#.mixer.key", "h.#.attn.c_attn"), true, WEFT_PART(1, 3)},
    {WEFT_NAMED("layers.#.mixer.value", "h.#.attn.c_attn"), true, WEFT_PART(2, 3)},
    {WEFT_NAMED("layers.#.mixer.output", "h.#.attn.c_proj"), true},
    {WEFT_NAMED("layers.#.mixer_norm", "h.#.ln_1")},
    {WEFT_NAMED("layers.#.feed_forward.in", "h.#.mlp.c_fc"), true},
    {WEFT_NAMED("layers.#.feed_forward.out", "h.#.mlp.c_proj"), true},
    {WEFT_NAMED("layers.#.feed_forward_norm", "h.#.ln_2")},
    {WEFT_NAMED("norm", "ln_f")},
    {.ours = NULL}};

static const struct weft_head heads[] = {
    {"Model", .task = WEFT_TASK_HIDDEN},
    {"LMHeadModel", WEFT_TASK_CAUSAL_LM, .out = "lm_head"},
    {"ForSequenceClassification", WEFT_TASK_CLASSIFY, WEFT_HEAD_POOLED, .out = "score"},
    {"ForTokenClassification", WEFT_TASK_CLASSIFY_TOKENS, .out = "classifier"},
    {.name = NULL}};

/* Masks that old versions kept among the tensors. */
static const char *const unused[] = {".attn.bias", ".attn.masked_bias", NULL};

static weft_status check(weft_network_config *config, const struct weft_head *head,
                         const weft_json_fields *json) {
    (void)json;
    config->biases.head = head->task == WEFT_TASK_CLASSIFY_TOKENS;
    if (config->intermediate_size == 0) {
        config->intermediate_size = 4 * config->hidden_size;
    }
    return WEFT_OK;
}

static const weft_network_config defaults = {.norm = WEFT_NORM_LAYER,
                                             .norm_eps = 1e-5F,
                                             .activation = WEFT_ACTIVATION_GELU_TANH,
                                             .position_embedding = WEFT_POSITION_LEARNED,
                                             .pooling = WEFT_POOLING_LAST,
                                             .causal = true,
                                             .tie_word_embeddings = true,
                                             .biases = WEFT_ALL_BIASES};

static const struct weft_layout layout = {.stem = "GPT2",
                                          .encoder = "GPT2Model",
                                          .prefix = "transformer.",
                                          .fields = {&weft_gpt2_fields, &table},
                                          .defaults = &defaults,
                                          .check = check,
                                          .names = names,
                                          .heads = heads,
                                          .unused = unused};

const struct weft_model_family weft_family_gpt2 = {.model_type = "gpt2",
                                                   WEFT_DECODER_LAYOUT(&layout)};
