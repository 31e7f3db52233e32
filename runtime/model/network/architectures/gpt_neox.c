/* SPDX-License-Identifier: MIT */
/* GPT-NeoX: Black et al., "GPT-NeoX-20B: An open-source autoregressive language model", 2022, which Pythia is, too; and GPT-J, 2021. */
#include "core/try.h"
#include "model/network/architecture.h"
#include "model/network/decoder_layout.h"

/* ---- GPT-NeoX ---- */

static const struct weft_tensor_name neox_names[] = {
    {WEFT_NAMED("embeddings.tokens", "embed_in")},
    WEFT_PACKED_NAMES("layers.#.attention.query_key_value"),
    {WEFT_NAMED("layers.#.mixer.output", "layers.#.attention.dense")},
    {WEFT_NAMED("layers.#.feed_forward.in", "layers.#.mlp.dense_h_to_4h")},
    {WEFT_NAMED("layers.#.feed_forward.out", "layers.#.mlp.dense_4h_to_h")},
    {WEFT_NAMED("layers.#.mixer_norm", "layers.#.input_layernorm")},
    {WEFT_NAMED("layers.#.feed_forward_norm", "layers.#.post_attention_layernorm")},
    {WEFT_NAMED("norm", "final_layer_norm")},
    {.ours = NULL}};

static const struct weft_head neox_heads[] = {
    {"Model", .task = WEFT_TASK_HIDDEN},
    {"ForCausalLM", WEFT_TASK_CAUSAL_LM, .out = "lm_head", .older = "embed_out"},
    {"ForSequenceClassification", WEFT_TASK_CLASSIFY, WEFT_HEAD_POOLED, .out = "score"},
    {"ForTokenClassification", WEFT_TASK_CLASSIFY_TOKENS, .out = "classifier"},
    {.name = NULL}};

/* Masks and frequencies that old versions kept among the tensors. */
static const char *const neox_unused[] = {".attention.bias", ".attention.masked_bias",
                                          "rotary_emb.inv_freq", NULL};

static const weft_field neox_fields[] = {
    {WEFT_BOOL("attention_bias", weft_network_config, biases.attention)}};
static const weft_field_table neox_table = {neox_fields,
                                            sizeof neox_fields / sizeof neox_fields[0]};

static const struct weft_rotary_fields neox_rotary = {.base = "rotary_emb_base",
                                                      .share = "rotary_pct",
                                                      .usual_base = 10000.0,
                                                      .usual_share = 0.25,
                                                      .partial = true};

/* Each head has its query, key and value one behind the other. */
static weft_status check_neox(weft_network_config *config, const struct weft_head *head,
                              const weft_json_fields *json) {
    bool parallel = true;
    WEFT_TRY(weft_json_optional_bool(&parallel, json, "use_parallel_residual"));
    config->layer.order = parallel ? WEFT_LAYER_PARALLEL : WEFT_LAYER_SERIAL;
    config->attention.groups = config->attention.heads;
    config->biases.output = config->biases.attention;
    return weft_decoder_check_with(config, head, &neox_rotary, json);
}

static const weft_network_config defaults = {WEFT_GPT_DEFAULTS};

static const struct weft_layout neox = {
    .stem = "GPTNeoX",
    .encoder = "GPTNeoXModel",
    .prefix = "gpt_neox.",
    .fields = {&weft_size_fields, &weft_act_fields, &weft_layer_norm_fields, &neox_table},
    .defaults = &defaults,
    .check = check_neox,
    .names = neox_names,
    .heads = neox_heads,
    .unused = neox_unused};

const struct weft_model_family weft_family_gpt_neox = {.model_type = "gpt_neox",
                                                       WEFT_DECODER_LAYOUT(&neox)};

/* ---- GPT-J ---- */

static const struct weft_tensor_name gptj_names[] = {
    {WEFT_NAMED("embeddings.tokens", "wte")},
    {WEFT_NAMED("layers.#.mixer.query", "h.#.attn.q_proj")},
    {WEFT_NAMED("layers.#.mixer.key", "h.#.attn.k_proj")},
    {WEFT_NAMED("layers.#.mixer.value", "h.#.attn.v_proj")},
    {WEFT_NAMED("layers.#.mixer.output", "h.#.attn.out_proj")},
    {WEFT_NAMED("layers.#.mixer_norm", "h.#.ln_1")},
    {WEFT_NAMED("layers.#.feed_forward.in", "h.#.mlp.fc_in")},
    {WEFT_NAMED("layers.#.feed_forward.out", "h.#.mlp.fc_out")},
    {WEFT_NAMED("norm", "ln_f")},
    {.ours = NULL}};

static const struct weft_head gptj_heads[] = {
    {"Model", .task = WEFT_TASK_HIDDEN},
    {"ForCausalLM", WEFT_TASK_CAUSAL_LM, .out = "lm_head"},
    {"ForSequenceClassification", WEFT_TASK_CLASSIFY, WEFT_HEAD_POOLED, .out = "score"},
    {.name = NULL}};

static const char *const gptj_unused[] = {".attn.bias", ".attn.masked_bias",
                                          ".attn.embed_positions", NULL};

static const weft_field gptj_fields[] = {
    {WEFT_INTEGER("rotary_dim", weft_network_config, attention.rotary.width, 2, 65536)},
    {WEFT_REAL("layer_norm_epsilon", weft_network_config, norm_eps, 0, 1)}};
static const weft_field_table gptj_table = {gptj_fields,
                                            sizeof gptj_fields / sizeof gptj_fields[0]};

static weft_status check_gptj(weft_network_config *config, const struct weft_head *head,
                              const weft_json_fields *json) {
    const uint32_t width = config->attention.rotary.width;
    config->biases.head = head->task == WEFT_TASK_CAUSAL_LM;
    config->attention.rotary.base = 10000.0F;
    if (config->intermediate_size == 0) {
        config->intermediate_size = 4 * config->hidden_size;
    }
    return width % 2 == 0 && width <= weft_network_head_size(config)
               ? WEFT_OK
               : weft_fields_refuse(json, "rotary_dim",
                                    "an even number, at most the channels of a head");
}

static const weft_network_config gptj_defaults = {
    .norm = WEFT_NORM_LAYER,
    .norm_eps = 1e-5F,
    .activation = WEFT_ACTIVATION_GELU_TANH,
    .pooling = WEFT_POOLING_LAST,
    .causal = true,
    .biases = {.feed_forward = true, .norm = true},
    .attention.rotary = {.width = 64, .interleaved = true},
    .layer.order = WEFT_LAYER_PARALLEL_SHARED};

static const struct weft_layout gptj = {.stem = "GPTJ",
                                        .encoder = "GPTJModel",
                                        .prefix = "transformer.",
                                        .fields = {&weft_gpt2_fields, &gptj_table},
                                        .defaults = &gptj_defaults,
                                        .check = check_gptj,
                                        .names = gptj_names,
                                        .heads = gptj_heads,
                                        .unused = gptj_unused};

const struct weft_model_family weft_family_gptj = {.model_type = "gptj",
                                                   WEFT_DECODER_LAYOUT(&gptj)};
