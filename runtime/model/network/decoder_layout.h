/* SPDX-License-Identifier: MIT */
/* What decoders of published layouts have alike: fields, names, heads, and checks beyond them. */
#ifndef WEFT_MODEL_DECODER_LAYOUT_H
#define WEFT_MODEL_DECODER_LAYOUT_H

#include "model/network/layout.h"

/** hidden_act; num_key_value_heads and head_dim; rms_norm_eps; layer_norm_eps; attention_bias alone, and with mlp_bias. */
extern const weft_field_table weft_act_fields, weft_kv_fields, weft_rms_fields,
    weft_layer_norm_fields, weft_attention_bias_fields, weft_bias_fields;
/** num_experts or num_local_experts; moe_intermediate_size and norm_topk_prob; shared_expert_intermediate_size. */
extern const weft_field_table weft_expert_count_fields, weft_expert_fields,
    weft_shared_expert_fields;

/** The model, and ForCausalLM, ForSequenceClassification and ForTokenClassification as transformers makes them for all. */
extern const struct weft_head weft_decoder_heads[];
/** The model and ForCausalLM alone. */
extern const struct weft_head weft_causal_heads[];
/** Layers with Mamba's mixer beside attention or in its place, and a feed-forward. */
extern const struct weft_tensor_name weft_mamba_layer_names[];
/** Frequencies of rotary positions, which old files have. */
extern const char *const weft_decoder_unused[];
/** All channels turn; a share of them, which the file names; that, and half where it names none. */
extern const struct weft_rotary_fields weft_usual_rotary, weft_partial_rotary, weft_half_rotary;

/* Rows of a list of names: the tensors of Llama, by what others have otherwise. */
#define WEFT_LLAMA_ATTENTION_NAMES                                                \
    {WEFT_NAMED("embeddings.tokens", "embed_tokens")},                            \
        {WEFT_NAMED("layers.#.mixer.query", "layers.#.self_attn.q_proj")},        \
        {WEFT_NAMED("layers.#.mixer.key", "layers.#.self_attn.k_proj")},          \
        {WEFT_NAMED("layers.#.mixer.value", "layers.#.self_attn.v_proj")},        \
        {WEFT_NAMED("layers.#.mixer.output", "layers.#.self_attn.o_proj")},       \
        {WEFT_NAMED("layers.#.mixer.query_norm", "layers.#.self_attn.q_norm")}, { \
        WEFT_NAMED("layers.#.mixer.key_norm", "layers.#.self_attn.k_norm")        \
    }
#define WEFT_LLAMA_FEED_FORWARD_NAMES                                       \
    {WEFT_NAMED("layers.#.feed_forward.l1", "layers.#.mlp.gate_proj")},     \
        {WEFT_NAMED("layers.#.feed_forward.l2", "layers.#.mlp.up_proj")}, { \
        WEFT_NAMED("layers.#.feed_forward.l3", "layers.#.mlp.down_proj")    \
    }
/* Gates and values are of one tensor … */
#define WEFT_PACKED_FEED_FORWARD_NAMES                                                            \
    {WEFT_NAMED("layers.#.feed_forward.l1", "layers.#.mlp.gate_up_proj"), WEFT_PART(0, 2)},       \
        {WEFT_NAMED("layers.#.feed_forward.l2", "layers.#.mlp.gate_up_proj"), WEFT_PART(1, 2)}, { \
        WEFT_NAMED("layers.#.feed_forward.l3", "layers.#.mlp.down_proj")                          \
    }
/* … or there are no gates. */
#define WEFT_UNGATED_FEED_FORWARD_NAMES                                   \
    {WEFT_NAMED("layers.#.feed_forward.in", "layers.#.mlp.up_proj")}, {   \
        WEFT_NAMED("layers.#.feed_forward.out", "layers.#.mlp.down_proj") \
    }
#define WEFT_EXPERT_ROW(number, their_name) \
    { WEFT_NAMED("layers.#.feed_forward.experts.l" #number, their_name) }
/* Experts below `module`, each with a matrix of each name; or one tensor has those of all, as GGUF files have it … */
#define WEFT_EXPERT_NAMES(module, gate, value, result)             \
    {WEFT_NAMED("layers.#.feed_forward.router", module ".gate")},  \
        WEFT_EXPERT_ROW(1, module ".experts.*." gate ".weight"),   \
        WEFT_EXPERT_ROW(2, module ".experts.*." value ".weight"),  \
        WEFT_EXPERT_ROW(3, module ".experts.*." result ".weight"), \
        WEFT_EXPERT_ROW(1, module ".experts." gate ".weight"),     \
        WEFT_EXPERT_ROW(2, module ".experts." value ".weight"),    \
        WEFT_EXPERT_ROW(3, module ".experts." result ".weight")
/* … or gates and values are of one tensor, as in transformers' modules and Granite's files. */
#define WEFT_PACKED_EXPERT_NAMES(both, result)                                                  \
    {WEFT_NAMED("layers.#.feed_forward.experts.l1", both), .packed = WEFT_PACKED_EXPERT_GATES}, \
        {WEFT_NAMED("layers.#.feed_forward.experts.l2", both),                                  \
         .packed = WEFT_PACKED_EXPERT_VALUES},                                                  \
    {                                                                                           \
        WEFT_NAMED("layers.#.feed_forward.experts.l3", result), .packed = WEFT_PACKED_EXPERTS   \
    }
#define WEFT_MODULE_EXPERT_NAMES(module) \
    WEFT_PACKED_EXPERT_NAMES(module ".experts.gate_up_proj", module ".experts.down_proj")
#define WEFT_QWEN_EXPERT_NAMES                                                                     \
    WEFT_EXPERT_NAMES("layers.#.mlp", "gate_proj", "up_proj", "down_proj"),                        \
        WEFT_MODULE_EXPERT_NAMES("layers.#.mlp"),                                                  \
        {WEFT_NAMED("layers.#.feed_forward.shared.l1", "layers.#.mlp.shared_expert.gate_proj")},   \
        {WEFT_NAMED("layers.#.feed_forward.shared.l2", "layers.#.mlp.shared_expert.up_proj")},     \
        {WEFT_NAMED("layers.#.feed_forward.shared.l3", "layers.#.mlp.shared_expert.down_proj")}, { \
        WEFT_NAMED("layers.#.feed_forward.shared.gate", "layers.#.mlp.shared_expert_gate")         \
    }
#define WEFT_GRANITE_EXPERTS "layers.#.block_sparse_moe"
#define WEFT_GRANITE_EXPERT_NAMES                                                       \
    {WEFT_NAMED("layers.#.feed_forward.router", WEFT_GRANITE_EXPERTS ".router.layer")}, \
        {WEFT_NAMED("layers.#.feed_forward.router", WEFT_GRANITE_EXPERTS ".router")},   \
        WEFT_PACKED_EXPERT_NAMES(WEFT_GRANITE_EXPERTS ".input_linear.weight",           \
                                 WEFT_GRANITE_EXPERTS ".output_linear.weight"),         \
        WEFT_EXPERT_NAMES(WEFT_GRANITE_EXPERTS, "gate_proj", "up_proj", "down_proj"),   \
        WEFT_MODULE_EXPERT_NAMES(WEFT_GRANITE_EXPERTS)
#define WEFT_LLAMA_NORM_NAMES                                                              \
    {WEFT_NAMED("layers.#.mixer_norm", "layers.#.input_layernorm")},                       \
        {WEFT_NAMED("layers.#.feed_forward_norm", "layers.#.post_attention_layernorm")}, { \
        WEFT_NAMED("norm", "norm")                                                         \
    }

/* A weft_network_config: RMS norms and gated feed-forwards, or norms of layers and two maps. */
#define WEFT_LLAMA_DEFAULTS_BUT_EPS                            \
    .norm = WEFT_NORM_RMS, .activation = WEFT_ACTIVATION_SILU, \
    .feed_forward = WEFT_FEED_FORWARD_GLU, .pooling = WEFT_POOLING_LAST, .causal = true
#define WEFT_LLAMA_DEFAULTS WEFT_LLAMA_DEFAULTS_BUT_EPS, .norm_eps = 1e-6F
#define WEFT_GPT_DEFAULTS                                                               \
    .norm = WEFT_NORM_LAYER, .norm_eps = 1e-5F, .activation = WEFT_ACTIVATION_GELU_ERF, \
    .pooling = WEFT_POOLING_LAST, .causal = true, .biases = WEFT_ALL_BIASES

/* Sizes, activation, heads of keys and values, and RMS norms. */
#define WEFT_LLAMA_FIELDS &weft_size_fields, &weft_act_fields, &weft_kv_fields, &weft_rms_fields

/* A family with Llama's classes, and further tables of fields, of which null stands for none. */
#define WEFT_LLAMA_FAMILY(type, own_stem, own_check, own_defaults, own_names, ...)               \
    static const struct weft_layout type##_layout = {.stem = (own_stem),                         \
                                                     .encoder = own_stem "Model",                \
                                                     .prefix = "model.",                         \
                                                     .fields = {WEFT_LLAMA_FIELDS, __VA_ARGS__}, \
                                                     .defaults = &(own_defaults),                \
                                                     .check = (own_check),                       \
                                                     .names = (own_names),                       \
                                                     .heads = weft_decoder_heads,                \
                                                     .unused = weft_decoder_unused};             \
    const struct weft_model_family weft_family_##type = {.model_type = #type,                    \
                                                         WEFT_DECODER_LAYOUT(&type##_layout)};

/** For weft_layout.check: grouped heads, the bias of a token classifier, and the usual rotary positions. */
weft_status weft_decoder_check(weft_network_config *config, const struct weft_head *head,
                               const weft_json_fields *json);
/** The same with the rotary positions that these fields have. */
weft_status weft_decoder_check_with(weft_network_config *config, const struct weft_head *head,
                                    const struct weft_rotary_fields *rotary,
                                    const weft_json_fields *json);
/** Grouped heads, and the bias of a token classifier. */
weft_status weft_decoder_check_heads(weft_network_config *config, const struct weft_head *head,
                                     const weft_json_fields *json);

/**
 * sliding_window: a token reads so many tokens, itself included, in the layers of layer_types, or without it in those that are in
 * attention.local. `usual` where the field is missing; null or 0: none.
 */
weft_status weft_decoder_read_window(weft_network_config *config, uint32_t usual,
                                     const weft_json_fields *json);
/** Puts layers from `first` on into attention.local, but every so many-th one, counted from 1; 0: all of them. */
void weft_decoder_choose_local(weft_network_config *config, uint32_t first, uint32_t every);

/** hidden_act of a feed-forward without a gate: also "relu2", the square of ReLU, which it is without the field. */
weft_status weft_decoder_read_ungated_act(weft_network_config *config,
                                          const weft_json_fields *json);

/** A number, which the config of transformers may have as null or leave out. */
weft_status weft_decoder_read_real(float *value, double usual, double least,
                                   const weft_json_fields *json, const char *name);

/**
 * What config.json says of experts, but for their number, which the tables of the family read: num_experts_per_tok, of which there are
 * `usual`; the layers of mlp_only_layers, and those that decoder_sparse_step leaves out, have none. `count` is the field with their number.
 */
weft_status weft_decoder_read_experts(weft_network_config *config, uint32_t usual,
                                      const char *count, const weft_json_fields *json);

/** What Granite scales: the embedding, the scores, what each part of a layer adds, and the logits. */
weft_status weft_decoder_read_multipliers(weft_network_config *config,
                                          const weft_json_fields *json);

#endif
