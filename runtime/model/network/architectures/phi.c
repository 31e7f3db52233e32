/* SPDX-License-Identifier: MIT */
/*
 * Phi: Li et al., "Textbooks are all you need II: phi-1.5 technical report", 2023; and Phi 3 and 4, which are Llama with packed
 * matrices. Some channels of each head turn.
 */
#include "core/try.h"
#include "model/network/architecture.h"
#include "model/network/decoder_layout.h"

/* ---- Phi ---- */

static const struct weft_tensor_name phi_names[] = {
    {WEFT_NAMED("layers.#.mixer.output", "layers.#.self_attn.dense")},
    {WEFT_NAMED("layers.#.mixer.query_norm", "layers.#.self_attn.q_layernorm")},
    {WEFT_NAMED("layers.#.mixer.key_norm", "layers.#.self_attn.k_layernorm")},
    WEFT_LLAMA_ATTENTION_NAMES,
    {WEFT_NAMED("layers.#.mixer_norm", "layers.#.input_layernorm")},
    {WEFT_NAMED("layers.#.feed_forward.in", "layers.#.mlp.fc1")},
    {WEFT_NAMED("layers.#.feed_forward.out", "layers.#.mlp.fc2")},
    {WEFT_NAMED("norm", "final_layernorm")},
    {.ours = NULL}};

static weft_status read_head_norm(void *value, const weft_json_fields *json, const char *name) {
    bool given = false;
    WEFT_TRY(weft_json_optional_bool(&given, json, name));
    *(uint32_t *)value = given ? WEFT_HEAD_NORM_EACH : WEFT_HEAD_NORM_NONE;
    return WEFT_OK;
}

static const weft_field phi_fields[] = {
    {WEFT_CUSTOM("qk_layernorm", weft_network_config, attention.head_norm, read_head_norm)}};
static const weft_field_table phi_table = {phi_fields, sizeof phi_fields / sizeof phi_fields[0]};

static weft_status check_phi(weft_network_config *config, const struct weft_head *head,
                             const weft_json_fields *json) {
    WEFT_TRY(weft_decoder_check_with(config, head, &weft_half_rotary, json));
    config->biases.head = head->task == WEFT_TASK_CAUSAL_LM || config->biases.head;
    return WEFT_OK;
}

static const weft_network_config phi_defaults = {.norm = WEFT_NORM_LAYER,
                                                 .norm_eps = 1e-5F,
                                                 .activation = WEFT_ACTIVATION_GELU_TANH,
                                                 .pooling = WEFT_POOLING_LAST,
                                                 .causal = true,
                                                 .biases = WEFT_ALL_BIASES,
                                                 .layer.order = WEFT_LAYER_PARALLEL_SHARED};

static const struct weft_layout phi = {.stem = "Phi",
                                       .encoder = "PhiModel",
                                       .prefix = "model.",
                                       .fields = {&weft_size_fields, &weft_act_fields,
                                                  &weft_kv_fields, &weft_layer_norm_fields,
                                                  &phi_table},
                                       .defaults = &phi_defaults,
                                       .check = check_phi,
                                       .names = phi_names,
                                       .heads = weft_decoder_heads,
                                       .unused = weft_decoder_unused};

const struct weft_model_family weft_family_phi = {.model_type = "phi", WEFT_DECODER_LAYOUT(&phi)};

/* ---- Phi 3 and 4 ---- */

static const struct weft_tensor_name phi3_names[] = {
    {WEFT_NAMED("embeddings.tokens", "embed_tokens")},
    WEFT_PACKED_NAMES("layers.#.self_attn.qkv_proj"),
    {WEFT_NAMED("layers.#.mixer.output", "layers.#.self_attn.o_proj")},
    WEFT_PACKED_FEED_FORWARD_NAMES,
    WEFT_LLAMA_NORM_NAMES,
    {.ours = NULL}};

static weft_status check_phi3(weft_network_config *config, const struct weft_head *head,
                              const weft_json_fields *json) {
    weft_decoder_choose_local(config, 0, 0);
    WEFT_TRY(weft_decoder_read_window(config, 0, json));
    return weft_decoder_check_with(config, head, &weft_partial_rotary, json);
}

static const weft_network_config phi3_defaults = {.norm = WEFT_NORM_RMS,
                                                  .norm_eps = 1e-5F,
                                                  .activation = WEFT_ACTIVATION_SILU,
                                                  .feed_forward = WEFT_FEED_FORWARD_GLU,
                                                  .pooling = WEFT_POOLING_LAST,
                                                  .causal = true};

static const struct weft_layout phi3 = {
    .stem = "Phi3",
    .encoder = "Phi3Model",
    .prefix = "model.",
    .fields = {&weft_size_fields, &weft_act_fields, &weft_kv_fields, &weft_rms_fields},
    .defaults = &phi3_defaults,
    .check = check_phi3,
    .names = phi3_names,
    .heads = weft_decoder_heads,
    .unused = weft_decoder_unused};

const struct weft_model_family weft_family_phi3 = {.model_type = "phi3",
                                                   WEFT_DECODER_LAYOUT(&phi3)};
