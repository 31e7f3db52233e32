/* SPDX-License-Identifier: MIT */
#include "model/gguf/gguf_family.h"

#include <stdio.h>
#include <string.h>

#include "core/try.h"

/* ---- keys ---- */

#define INTEGER(key, text) \
    { .name = (key), .field = (text), .use = WEFT_GGUF_INTEGER, .required = true }
#define OPTIONAL(key, text) \
    { .name = (key), .field = (text), .use = WEFT_GGUF_INTEGER }
#define REAL(key, text) \
    { .name = (key), .field = (text), .use = WEFT_GGUF_REAL, .required = true }
#define FACTOR(key, text) \
    { .name = (key), .field = (text), .use = WEFT_GGUF_REAL }
#define READ(key) \
    { .name = (key), .use = WEFT_GGUF_READ }
#define NONE(key) \
    { .name = (key), .use = WEFT_GGUF_NONE }

/* Sizes, under the names that most folders have. */
#define SIZES                                                                                \
    INTEGER("embedding_length", "hidden_size"), INTEGER("block_count", "num_hidden_layers"), \
        INTEGER("feed_forward_length", "intermediate_size"),                                 \
        INTEGER("attention.head_count", "num_attention_heads")

/* What decoders have that turn channels by positions. */
#define DECODER    DECODER_OF_LAYERS, OPTIONAL("attention.head_count_kv", "num_key_value_heads")
#define ALL_LAYERS NONE("nextn_predict_layers")
/* But for what may differ from layer to layer. */
#define DECODER_OF_LAYERS DECODER_OF_ANY, WITHOUT_EXPERTS, ALL_LAYERS
#define WITHOUT_EXPERTS   NONE("expert_count"), NONE("expert_used_count")
/* With experts, whose matrices have a size of their own unless that of a feed-forward is theirs. */
#define DECODER_OF_EXPERTS(count)               \
    DECODER_OF_ANY, ALL_LAYERS, EXPERTS(count), \
        OPTIONAL("attention.head_count_kv", "num_key_value_heads")
#define EXPERTS(count) \
    INTEGER("expert_count", count), INTEGER("expert_used_count", "num_experts_per_tok")
#define DECODER_OF_ANY                                                                          \
    SIZES, INTEGER("context_length", "max_position_embeddings"), READ("attention.key_length"),  \
        READ("attention.value_length"), READ("attention.causal"),                               \
        READ("attention.sliding_window"), READ("rope.freq_base"), READ("rope.dimension_count"), \
        READ("rope.scale_linear"), READ("rope.scaling.type"), READ("rope.scaling.factor"),      \
        READ("rope.scaling.original_context_length"), READ("rope.scaling.attn_factor"),         \
        READ("rope.scaling.finetuned") /* says how it was trained */, READ("pooling_type"),     \
        READ("vocab_size"), READ("tensor_data_layout") /* says whose file it was made of */

#define RMS REAL("attention.layer_norm_rms_epsilon", "rms_norm_eps")
#define END \
    { .name = NULL }

static const struct weft_gguf_key llama_keys[] = {DECODER, RMS, END};
#define GRANITE_FACTORS                                    \
    FACTOR("attention.scale", "attention_multiplier"),     \
        FACTOR("embedding_scale", "embedding_multiplier"), \
        FACTOR("residual_scale", "residual_multiplier"), FACTOR("logit_scale", "logits_scaling")
static const struct weft_gguf_key granite_keys[] = {DECODER, RMS, GRANITE_FACTORS, END};

static const struct weft_gguf_key mixtral_keys[] = {DECODER_OF_EXPERTS("num_local_experts"), RMS,
                                                    END};
static const struct weft_gguf_key granitemoe_keys[] = {
    DECODER_OF_EXPERTS("num_local_experts"), RMS, GRANITE_FACTORS,
    NONE("expert_shared_feed_forward_length"), END};
static const struct weft_gguf_key olmoe_keys[] = {DECODER_OF_EXPERTS("num_experts"), RMS, END};
static const struct weft_gguf_key qwen2moe_keys[] = {
    DECODER_OF_EXPERTS("num_experts"), RMS,
    INTEGER("expert_feed_forward_length", "moe_intermediate_size"),
    INTEGER("expert_shared_feed_forward_length", "shared_expert_intermediate_size"), END};
static const struct weft_gguf_key qwen3moe_keys[] = {
    DECODER_OF_EXPERTS("num_experts"), RMS,
    INTEGER("expert_feed_forward_length", "moe_intermediate_size"), END};
static const struct weft_gguf_key gemma2_keys[] = {DECODER,
                                                   RMS,
                                                   READ("attn_logit_softcapping"),
                                                   READ("final_logit_softcapping"),
                                                   READ("attention.sliding_window_pattern"),
                                                   END};
static const struct weft_gguf_key gemma3_keys[] = {DECODER,
                                                   RMS,
                                                   READ("final_logit_softcapping"),
                                                   READ("attention.sliding_window_pattern"),
                                                   READ("rope.freq_base_swa"),
                                                   END};
static const struct weft_gguf_key cohere_keys[] = {
    DECODER, REAL("attention.layer_norm_epsilon", "layer_norm_eps"),
    FACTOR("logit_scale", "logit_scale"), END};
static const struct weft_gguf_key phi_keys[] = {
    DECODER, REAL("attention.layer_norm_epsilon", "layer_norm_eps"), END};
static const struct weft_gguf_key stablelm_keys[] = {
    DECODER, REAL("attention.layer_norm_epsilon", "layer_norm_eps"), READ("use_parallel_residual"),
    END};
static const struct weft_gguf_key starcoder2_keys[] = {
    DECODER, REAL("attention.layer_norm_epsilon", "norm_epsilon"), END};

static const struct weft_gguf_key nemotron_keys[] = {
    DECODER, REAL("attention.layer_norm_epsilon", "norm_eps"), END};

static const struct weft_gguf_key lfm2_keys[] = {
    DECODER_OF_LAYERS, READ("attention.head_count_kv"), /* 0 in layers of filters */
    REAL("attention.layer_norm_rms_epsilon", "norm_eps"),
    INTEGER("shortconv.l_cache", "conv_L_cache"), END};

static const struct weft_gguf_key lfm2moe_keys[] = {
    DECODER_OF_ANY,
    ALL_LAYERS,
    EXPERTS("num_experts"),
    READ("attention.head_count_kv"),
    REAL("attention.layer_norm_rms_epsilon", "norm_eps"),
    INTEGER("shortconv.l_cache", "conv_L_cache"),
    INTEGER("expert_feed_forward_length", "moe_intermediate_size"),
    INTEGER("leading_dense_block_count", "num_dense_layers"),
    READ("expert_gating_func"),
    END};

/* Layers that predict further tokens are left out. */
#define DELTA_NET                                      \
    DELTA_NET_OF_ANY, READ("rope.dimension_sections"), \
        INTEGER("full_attention_interval", "full_attention_interval")
#define DELTA_NET_OF_ANY                                                             \
    DECODER_OF_ANY, RMS, OPTIONAL("attention.head_count_kv", "num_key_value_heads"), \
        READ("nextn_predict_layers"), READ("ssm.inner_size"),                        \
        INTEGER("ssm.conv_kernel", "linear_conv_kernel_dim"),                        \
        INTEGER("ssm.state_size", "linear_key_head_dim"),                            \
        INTEGER("ssm.group_count", "linear_num_key_heads"),                          \
        INTEGER("ssm.time_step_rank", "linear_num_value_heads")
static const struct weft_gguf_key qwen35_keys[] = {DELTA_NET, WITHOUT_EXPERTS, END};
#define WITH_SHARED_EXPERT                                                                  \
    EXPERTS("num_experts"), INTEGER("expert_feed_forward_length", "moe_intermediate_size"), \
        INTEGER("expert_shared_feed_forward_length", "shared_expert_intermediate_size")
static const struct weft_gguf_key qwen35moe_keys[] = {DELTA_NET, WITH_SHARED_EXPERT, END};
/* Older files do not say which layers are attention. */
static const struct weft_gguf_key qwen3next_keys[] = {
    DELTA_NET_OF_ANY, WITH_SHARED_EXPERT,
    OPTIONAL("full_attention_interval", "full_attention_interval"), END};

#define MAMBA_SIZES                                                                               \
    INTEGER("ssm.inner_size", "mamba_d_ssm"), INTEGER("ssm.conv_kernel", "mamba_d_conv"),         \
        INTEGER("ssm.state_size", "mamba_d_state"), INTEGER("ssm.group_count", "mamba_n_groups"), \
        INTEGER("ssm.time_step_rank", "mamba_n_heads")
static const struct weft_gguf_key granitehybrid_keys[] = {DECODER_OF_ANY,
                                                          ALL_LAYERS,
                                                          RMS,
                                                          GRANITE_FACTORS,
                                                          MAMBA_SIZES,
                                                          READ("attention.head_count_kv"),
                                                          READ("expert_count"),
                                                          READ("expert_used_count"),
                                                          READ("expert_shared_feed_forward_length"),
                                                          END};
static const struct weft_gguf_key falcon_h1_keys[] = {DECODER, RMS, MAMBA_SIZES, END};

static const struct weft_gguf_key gpt_oss_keys[] = {DECODER_OF_EXPERTS("num_local_experts"), RMS,
                                                    READ("expert_feed_forward_length"), END};

static const struct weft_gguf_key gpt2_keys[] = {
    INTEGER("context_length", "n_positions"),
    INTEGER("embedding_length", "n_embd"),
    INTEGER("block_count", "n_layer"),
    INTEGER("feed_forward_length", "n_inner"),
    INTEGER("attention.head_count", "n_head"),
    REAL("attention.layer_norm_epsilon", "layer_norm_epsilon"),
    READ("attention.head_count_kv"),
    READ("attention.causal"),
    READ("vocab_size"),
    READ("tensor_data_layout"),
    END};

#define ENCODER                                                                          \
    SIZES, REAL("attention.layer_norm_epsilon", "layer_norm_eps"),                       \
        READ("attention.head_count_kv"), READ("attention.causal"), READ("pooling_type"), \
        READ("vocab_size")

static const struct weft_gguf_key bert_keys[] = {ENCODER, READ("context_length"), END};
static const struct weft_gguf_key nomic_keys[] = {
    ENCODER,
    INTEGER("context_length", "max_position_embeddings"),
    READ("attention.key_length"),
    READ("attention.value_length"),
    READ("rope.freq_base"),
    READ("rope.dimension_count"),
    READ("rope.scaling.type"),
    READ("rope.scaling.factor"),
    NONE("moe_every_n_layers"),
    END};

/* ---- tensors ---- */

#define ATTENTION "model.layers.#.self_attn."
#define LAYER     "model.layers.#."
#define MLP       "model.layers.#.mlp."
#define LAST \
    { .theirs = NULL }

#define EMBEDDING_NAMES                                       \
    {.theirs = "token_embd", .ours = "model.embed_tokens"}, { \
        .theirs = "output", .ours = "lm_head"                 \
    }
#define VALUE_NAMES                                               \
    {.theirs = "blk.#.attn_v", .ours = ATTENTION "v_proj"}, {     \
        .theirs = "blk.#.attn_output", .ours = ATTENTION "o_proj" \
    }
#define QUERY_NAMES                                           \
    {.theirs = "blk.#.attn_q", .ours = ATTENTION "q_proj"}, { \
        .theirs = "blk.#.attn_k", .ours = ATTENTION "k_proj"  \
    }
/* The two halves of a head's channels lie in turn, as the first programs that ran Llama turned neighbours. */
#define QUERY_NAMES_IN_TURN                                            \
    {"blk.#.attn_q", ATTENTION "q_proj", WEFT_GGUF_ROWS_OF_QUERIES}, { \
        "blk.#.attn_k", ATTENTION "k_proj", WEFT_GGUF_ROWS_OF_KEYS     \
    }
/* A norm of each head's queries and keys. */
#define HEAD_NORM_NAMES(change)                            \
    {"blk.#.attn_q_norm", ATTENTION "q_norm", (change)}, { \
        "blk.#.attn_k_norm", ATTENTION "k_norm", (change)  \
    }
#define GATED_NAMES                                          \
    {.theirs = "blk.#.ffn_gate", .ours = MLP "gate_proj"},   \
        {.theirs = "blk.#.ffn_up", .ours = MLP "up_proj"}, { \
        .theirs = "blk.#.ffn_down", .ours = MLP "down_proj"  \
    }
#define UNGATED_NAMES                                       \
    {.theirs = "blk.#.ffn_up", .ours = MLP "up_proj"}, {    \
        .theirs = "blk.#.ffn_down", .ours = MLP "down_proj" \
    }
/* In front of each part. */
#define NORM_NAMES(change)                                                    \
    {"output_norm", "model.norm", (change)},                                  \
        {"blk.#.attn_norm", "model.layers.#.input_layernorm", (change)}, {    \
        "blk.#.ffn_norm", "model.layers.#.post_attention_layernorm", (change) \
    }
#define NORM_BEHIND_NAMES(change)                                                         \
    {"blk.#.post_attention_norm", "model.layers.#.post_attention_layernorm", (change)}, { \
        "blk.#.post_ffw_norm", "model.layers.#.post_feedforward_layernorm", (change)      \
    }
#define NORM_AROUND_NAMES                                                                   \
    {"output_norm", "model.norm", WEFT_GGUF_LESS_ONE},                                      \
        {"blk.#.attn_norm", "model.layers.#.input_layernorm", WEFT_GGUF_LESS_ONE},          \
        {"blk.#.ffn_norm", "model.layers.#.pre_feedforward_layernorm", WEFT_GGUF_LESS_ONE}, \
        NORM_BEHIND_NAMES(WEFT_GGUF_LESS_ONE)

/* Experts, of whose matrices each tensor has those of all. */
#define EXPERT_NAMES_IN(module, gate, value, result)                         \
    {"blk.#.ffn_gate_exps", module "experts." gate, WEFT_GGUF_EXPERTS},      \
        {"blk.#.ffn_up_exps", module "experts." value, WEFT_GGUF_EXPERTS}, { \
        "blk.#.ffn_down_exps", module "experts." result, WEFT_GGUF_EXPERTS   \
    }
#define EXPERT_NAMES                                             \
    EXPERT_NAMES_IN(MLP, "gate_proj", "up_proj", "down_proj"), { \
        .theirs = "blk.#.ffn_gate_inp", .ours = MLP "gate"       \
    }
#define SPARSE "model.layers.#.block_sparse_moe."

static const struct weft_gguf_name mixtral_names[] = {
    EMBEDDING_NAMES,
    QUERY_NAMES_IN_TURN,
    VALUE_NAMES,
    EXPERT_NAMES_IN(SPARSE, "w1", "w3", "w2"),
    {.theirs = "blk.#.ffn_gate_inp", .ours = SPARSE "gate"},
    NORM_NAMES(WEFT_GGUF_SAME),
    LAST};
static const struct weft_gguf_name granitemoe_names[] = {
    EMBEDDING_NAMES,
    QUERY_NAMES_IN_TURN,
    VALUE_NAMES,
    EXPERT_NAMES_IN(SPARSE, "gate_proj", "up_proj", "down_proj"),
    {.theirs = "blk.#.ffn_gate_inp", .ours = SPARSE "router.layer"},
    NORM_NAMES(WEFT_GGUF_SAME),
    LAST};
#define SHARED_EXPERT_NAMES                                                        \
    {"blk.#.ffn_gate_inp_shexp", MLP "shared_expert_gate", WEFT_GGUF_ROW},         \
        {.theirs = "blk.#.ffn_gate_shexp", .ours = MLP "shared_expert.gate_proj"}, \
        {.theirs = "blk.#.ffn_up_shexp", .ours = MLP "shared_expert.up_proj"}, {   \
        .theirs = "blk.#.ffn_down_shexp", .ours = MLP "shared_expert.down_proj"    \
    }
static const struct weft_gguf_name qwen_expert_names[] = {EMBEDDING_NAMES,
                                                          QUERY_NAMES,
                                                          VALUE_NAMES,
                                                          EXPERT_NAMES,
                                                          SHARED_EXPERT_NAMES,
                                                          NORM_NAMES(WEFT_GGUF_SAME),
                                                          HEAD_NORM_NAMES(WEFT_GGUF_SAME),
                                                          LAST};

#define SHARED_MLP "model.layers.#.shared_mlp."
#define MAMBA      "model.layers.#.mamba."
#define MAMBA_NAMES                                                  \
    {.theirs = "blk.#.ssm_in", .ours = MAMBA "in_proj"},             \
        {.theirs = "blk.#.ssm_out", .ours = MAMBA "out_proj"},       \
        {"blk.#.ssm_conv1d", MAMBA "conv1d", WEFT_GGUF_FILTER},      \
        {"blk.#.ssm_a", MAMBA "A_log", WEFT_GGUF_RATE},              \
        {"blk.#.ssm_d", MAMBA "D", WEFT_GGUF_FLAT},                  \
        {"blk.#.ssm_dt.bias", MAMBA "dt_bias", WEFT_GGUF_WHOLE}, {   \
        "blk.#.ssm_norm.weight", MAMBA "norm.weight", WEFT_GGUF_FLAT \
    }
static const struct weft_gguf_name granitehybrid_names[] = {
    EMBEDDING_NAMES,
    QUERY_NAMES_IN_TURN,
    VALUE_NAMES,
    EXPERT_NAMES_IN(SPARSE, "gate_proj", "up_proj", "down_proj"),
    {.theirs = "blk.#.ffn_gate_inp", .ours = SPARSE "router.layer"},
    {.theirs = "blk.#.ffn_gate_shexp", .ours = SHARED_MLP "gate_proj"},
    {.theirs = "blk.#.ffn_up_shexp", .ours = SHARED_MLP "up_proj"},
    {.theirs = "blk.#.ffn_down_shexp", .ours = SHARED_MLP "output_linear"},
    {.theirs = "blk.#.ffn_gate", .ours = SHARED_MLP "gate_proj"}, /* without experts */
    {.theirs = "blk.#.ffn_up", .ours = SHARED_MLP "up_proj"},
    {.theirs = "blk.#.ffn_down", .ours = SHARED_MLP "output_linear"},
    NORM_NAMES(WEFT_GGUF_SAME),
    MAMBA_NAMES,
    LAST};

static const struct weft_gguf_name falcon_h1_names[] = {
    EMBEDDING_NAMES,
    QUERY_NAMES,
    VALUE_NAMES,
    {.theirs = "blk.#.ffn_gate", .ours = LAYER "feed_forward.gate_proj"},
    {.theirs = "blk.#.ffn_up", .ours = LAYER "feed_forward.up_proj"},
    {.theirs = "blk.#.ffn_down", .ours = LAYER "feed_forward.down_proj"},
    {.theirs = "output_norm", .ours = "model.final_layernorm"},
    {.theirs = "blk.#.attn_norm", .ours = LAYER "input_layernorm"},
    {"blk.#.ffn_norm", LAYER "pre_ff_layernorm.weight", WEFT_GGUF_WHOLE}, /* as llama.cpp has it */
    {"blk.#.ffn_norm.weight", LAYER "pre_ff_layernorm.weight", WEFT_GGUF_WHOLE},
    MAMBA_NAMES,
    LAST};

static const struct weft_gguf_name gpt_oss_names[] = {
    EMBEDDING_NAMES,
    QUERY_NAMES,
    VALUE_NAMES,
    EXPERT_NAMES_IN(MLP, "gate_proj", "up_proj", "down_proj"),
    {.theirs = "blk.#.ffn_gate_inp", .ours = MLP "router"},
    {"blk.#.attn_sinks.weight", "model.layers.#.self_attn.sinks", WEFT_GGUF_WHOLE},
    {.theirs = "blk.#.post_attention_norm", .ours = "model.layers.#.post_attention_layernorm"},
    NORM_NAMES(WEFT_GGUF_SAME),
    LAST};
static const struct weft_gguf_name llama_names[] = {
    EMBEDDING_NAMES, QUERY_NAMES_IN_TURN,        VALUE_NAMES,
    GATED_NAMES,     NORM_NAMES(WEFT_GGUF_SAME), LAST};
static const struct weft_gguf_name qwen_names[] = {EMBEDDING_NAMES,
                                                   QUERY_NAMES,
                                                   VALUE_NAMES,
                                                   GATED_NAMES,
                                                   NORM_NAMES(WEFT_GGUF_SAME),
                                                   HEAD_NORM_NAMES(WEFT_GGUF_SAME),
                                                   LAST};
static const struct weft_gguf_name gemma_names[] = {
    EMBEDDING_NAMES, QUERY_NAMES, VALUE_NAMES, GATED_NAMES, NORM_NAMES(WEFT_GGUF_LESS_ONE), LAST};
static const struct weft_gguf_name gemma2_names[] = {
    EMBEDDING_NAMES, QUERY_NAMES, VALUE_NAMES, GATED_NAMES, NORM_AROUND_NAMES, LAST};
static const struct weft_gguf_name gemma3_names[] = {EMBEDDING_NAMES,
                                                     QUERY_NAMES,
                                                     VALUE_NAMES,
                                                     GATED_NAMES,
                                                     NORM_AROUND_NAMES,
                                                     HEAD_NORM_NAMES(WEFT_GGUF_LESS_ONE),
                                                     LAST};
static const struct weft_gguf_name olmo2_names[] = {EMBEDDING_NAMES,
                                                    QUERY_NAMES,
                                                    VALUE_NAMES,
                                                    GATED_NAMES,
                                                    {.theirs = "output_norm", .ours = "model.norm"},
                                                    NORM_BEHIND_NAMES(WEFT_GGUF_SAME),
                                                    HEAD_NORM_NAMES(WEFT_GGUF_SAME),
                                                    LAST};
static const struct weft_gguf_name arcee_names[] = {
    EMBEDDING_NAMES, QUERY_NAMES_IN_TURN,        VALUE_NAMES,
    UNGATED_NAMES,   NORM_NAMES(WEFT_GGUF_SAME), LAST};
static const struct weft_gguf_name nemotron_names[] = {
    EMBEDDING_NAMES, QUERY_NAMES, VALUE_NAMES, UNGATED_NAMES, NORM_NAMES(WEFT_GGUF_LESS_ONE), LAST};
static const struct weft_gguf_name seed_oss_names[] = {
    EMBEDDING_NAMES,
    QUERY_NAMES,
    VALUE_NAMES,
    GATED_NAMES,
    {.theirs = "output_norm", .ours = "model.norm"},
    {.theirs = "blk.#.attn_norm", .ours = "model.layers.#.input_layernorm"},
    {.theirs = "blk.#.post_attention_norm", .ours = "model.layers.#.post_attention_layernorm"},
    LAST};
static const struct weft_gguf_name glm4_names[] = {
    EMBEDDING_NAMES,
    QUERY_NAMES,
    VALUE_NAMES,
    NORM_NAMES(WEFT_GGUF_SAME),
    {.theirs = "blk.#.post_attention_norm", .ours = "model.layers.#.post_self_attn_layernorm"},
    {.theirs = "blk.#.post_ffw_norm", .ours = "model.layers.#.post_mlp_layernorm"},
    {.theirs = "blk.#.ffn_up", .ours = MLP "gate_up_proj"},
    {.theirs = "blk.#.ffn_down", .ours = MLP "down_proj"},
    LAST};
static const struct weft_gguf_name starcoder2_names[] = {
    EMBEDDING_NAMES,
    QUERY_NAMES,
    VALUE_NAMES,
    NORM_NAMES(WEFT_GGUF_SAME),
    {.theirs = "blk.#.ffn_up", .ours = MLP "c_fc"},
    {.theirs = "blk.#.ffn_down", .ours = MLP "c_proj"},
    LAST};
static const struct weft_gguf_name phi2_names[] = {
    EMBEDDING_NAMES,
    QUERY_NAMES,
    {.theirs = "blk.#.attn_v", .ours = ATTENTION "v_proj"},
    {.theirs = "blk.#.attn_output", .ours = ATTENTION "dense"},
    {.theirs = "output_norm", .ours = "model.final_layernorm"},
    {.theirs = "blk.#.attn_norm", .ours = "model.layers.#.input_layernorm"},
    {.theirs = "blk.#.ffn_up", .ours = MLP "fc1"},
    {.theirs = "blk.#.ffn_down", .ours = MLP "fc2"},
    LAST};
static const struct weft_gguf_name phi3_names[] = {
    EMBEDDING_NAMES,
    NORM_NAMES(WEFT_GGUF_SAME),
    {.theirs = "blk.#.attn_qkv", .ours = ATTENTION "qkv_proj"},
    {.theirs = "blk.#.attn_output", .ours = ATTENTION "o_proj"},
    {.theirs = "blk.#.ffn_up", .ours = MLP "gate_up_proj"},
    {.theirs = "blk.#.ffn_down", .ours = MLP "down_proj"},
    LAST};

#define DELTA "model.layers.#.linear_attn."
#define DELTA_NET_NAMES                                                             \
    EMBEDDING_NAMES, QUERY_NAMES, VALUE_NAMES, HEAD_NORM_NAMES(WEFT_GGUF_LESS_ONE), \
        {"output_norm", "model.norm", WEFT_GGUF_LESS_ONE},                          \
        {"blk.#.attn_norm", "model.layers.#.input_layernorm", WEFT_GGUF_LESS_ONE},  \
        {"blk.#.post_attention_norm", "model.layers.#.post_attention_layernorm",    \
         WEFT_GGUF_LESS_ONE},                                                       \
        {.theirs = "blk.#.attn_qkv", .ours = DELTA "in_proj_qkv"},                  \
        {.theirs = "blk.#.attn_gate", .ours = DELTA "in_proj_z"},                   \
        {.theirs = "blk.#.ssm_beta", .ours = DELTA "in_proj_b"},                    \
        {.theirs = "blk.#.ssm_alpha", .ours = DELTA "in_proj_a"},                   \
        {.theirs = "blk.#.ssm_out", .ours = DELTA "out_proj"},                      \
        {.theirs = "blk.#.ssm_norm", .ours = DELTA "norm"},                         \
        {"blk.#.ssm_conv1d", DELTA "conv1d", WEFT_GGUF_FILTER},                     \
        {"blk.#.ssm_a", DELTA "A_log", WEFT_GGUF_RATE}, {                           \
        "blk.#.ssm_dt.bias", DELTA "dt_bias", WEFT_GGUF_WHOLE                       \
    }
static const struct weft_gguf_name qwen35_names[] = {DELTA_NET_NAMES, GATED_NAMES, LAST};
/* Older files have one map, as folders do. */
static const struct weft_gguf_name qwen3next_names[] = {
    DELTA_NET_NAMES,
    {.theirs = "blk.#.ssm_in", .ours = DELTA "in_proj_qkvz"},
    {.theirs = "blk.#.ssm_ba", .ours = DELTA "in_proj_ba"},
    EXPERT_NAMES,
    SHARED_EXPERT_NAMES,
    LAST};
static const struct weft_gguf_name qwen35moe_names[] = {DELTA_NET_NAMES, EXPERT_NAMES,
                                                        SHARED_EXPERT_NAMES, LAST};

/* With experts behind the first layers, or without. */
static const struct weft_gguf_name lfm2_names[] = {
    EXPERT_NAMES_IN(LAYER "feed_forward.", "w1", "w3", "w2"),
    {.theirs = "blk.#.ffn_gate_inp", .ours = LAYER "feed_forward.gate"},
    {"blk.#.exp_probs_b.bias", LAYER "feed_forward.expert_bias", WEFT_GGUF_WHOLE},
    EMBEDDING_NAMES,
    {.theirs = "token_embd_norm", .ours = "model.embedding_norm"}, /* the last one, by that name */
    {.theirs = "blk.#.attn_norm", .ours = LAYER "operator_norm"},
    {.theirs = "blk.#.ffn_norm", .ours = LAYER "ffn_norm"},
    QUERY_NAMES,
    {.theirs = "blk.#.attn_v", .ours = ATTENTION "v_proj"},
    {.theirs = "blk.#.attn_output", .ours = ATTENTION "out_proj"},
    {.theirs = "blk.#.attn_q_norm", .ours = ATTENTION "q_layernorm"},
    {.theirs = "blk.#.attn_k_norm", .ours = ATTENTION "k_layernorm"},
    {"blk.#.shortconv.conv", LAYER "conv.conv", WEFT_GGUF_FILTER},
    {.theirs = "blk.#.shortconv.in_proj", .ours = LAYER "conv.in_proj"},
    {.theirs = "blk.#.shortconv.out_proj", .ours = LAYER "conv.out_proj"},
    {.theirs = "blk.#.ffn_gate", .ours = LAYER "feed_forward.w1"},
    {.theirs = "blk.#.ffn_up", .ours = LAYER "feed_forward.w3"},
    {.theirs = "blk.#.ffn_down", .ours = LAYER "feed_forward.w2"},
    LAST};

static const struct weft_gguf_name gpt2_names[] = {
    {.theirs = "token_embd", .ours = "transformer.wte"},
    {.theirs = "position_embd", .ours = "transformer.wpe"},
    {.theirs = "output_norm", .ours = "transformer.ln_f"},
    {.theirs = "output", .ours = "lm_head"},
    {.theirs = "blk.#.attn_norm", .ours = "transformer.h.#.ln_1"},
    {.theirs = "blk.#.attn_qkv", .ours = "transformer.h.#.attn.c_attn"},
    {.theirs = "blk.#.attn_output", .ours = "transformer.h.#.attn.c_proj"},
    {.theirs = "blk.#.ffn_norm", .ours = "transformer.h.#.ln_2"},
    {.theirs = "blk.#.ffn_up", .ours = "transformer.h.#.mlp.c_fc"},
    {.theirs = "blk.#.ffn_down", .ours = "transformer.h.#.mlp.c_proj"},
    LAST};

#define BERT_LAYER "encoder.layer.#."
#define BERT_EMBEDDING_NAMES                                                \
    {.theirs = "token_embd", .ours = "embeddings.word_embeddings"}, {       \
        .theirs = "token_types", .ours = "embeddings.token_type_embeddings" \
    }

static const struct weft_gguf_name bert_names[] = {
    BERT_EMBEDDING_NAMES,
    {.theirs = "position_embd", .ours = "embeddings.position_embeddings"},
    {.theirs = "token_embd_norm", .ours = "embeddings.LayerNorm"},
    {.theirs = "blk.#.attn_q", .ours = BERT_LAYER "attention.self.query"},
    {.theirs = "blk.#.attn_k", .ours = BERT_LAYER "attention.self.key"},
    {.theirs = "blk.#.attn_v", .ours = BERT_LAYER "attention.self.value"},
    {.theirs = "blk.#.attn_output", .ours = BERT_LAYER "attention.output.dense"},
    {.theirs = "blk.#.attn_output_norm", .ours = BERT_LAYER "attention.output.LayerNorm"},
    {.theirs = "blk.#.ffn_up", .ours = BERT_LAYER "intermediate.dense"},
    {.theirs = "blk.#.ffn_down", .ours = BERT_LAYER "output.dense"},
    {.theirs = "blk.#.layer_output_norm", .ours = BERT_LAYER "output.LayerNorm"},
    LAST};

#define NOMIC_LAYER "encoder.layers.#."
static const struct weft_gguf_name nomic_names[] = {
    BERT_EMBEDDING_NAMES,
    {.theirs = "token_embd_norm", .ours = "emb_ln"},
    {.theirs = "blk.#.attn_qkv", .ours = NOMIC_LAYER "attn.Wqkv"},
    {.theirs = "blk.#.attn_output", .ours = NOMIC_LAYER "attn.out_proj"},
    {.theirs = "blk.#.attn_output_norm", .ours = NOMIC_LAYER "norm1"},
    {.theirs = "blk.#.ffn_up", .ours = NOMIC_LAYER "mlp.fc11"},
    {.theirs = "blk.#.ffn_gate", .ours = NOMIC_LAYER "mlp.fc12"},
    {.theirs = "blk.#.ffn_down", .ours = NOMIC_LAYER "mlp.fc2"},
    {.theirs = "blk.#.layer_output_norm", .ours = NOMIC_LAYER "norm2"},
    LAST};

/* ---- families ---- */

#define FAMILY(name, type, stem)                                                  \
    .architecture = (name), .model_type = (type), .language = stem "ForCausalLM", \
    .encoder = stem "Model"

static const struct weft_gguf_family families[] = {
    {FAMILY("llama", "llama", "Llama"), .keys = llama_keys, .names = llama_names,
     .add = weft_gguf_add_llama},
    {FAMILY("qwen2", "qwen2", "Qwen2"), .keys = llama_keys, .names = qwen_names,
     .add = weft_gguf_add_qwen},
    {FAMILY("qwen3", "qwen3", "Qwen3"), .keys = llama_keys, .names = qwen_names,
     .add = weft_gguf_add_qwen},
    {FAMILY("gemma", "gemma", "Gemma"), .keys = llama_keys, .names = gemma_names,
     .add = weft_gguf_add_qwen},
    {FAMILY("gemma2", "gemma2", "Gemma2"), .keys = gemma2_keys, .names = gemma2_names,
     .add = weft_gguf_add_gemma2},
    {.architecture = "gemma3",
     .model_type = "gemma3_text",
     .language = "Gemma3ForCausalLM",
     .encoder = "Gemma3TextModel",
     .keys = gemma3_keys,
     .names = gemma3_names,
     .add = weft_gguf_add_gemma3},
    {.architecture = "gemma-embedding",
     .model_type = "gemma3_text",
     .encoder = "Gemma3TextModel",
     .both_ways = true,
     .keys = gemma3_keys,
     .names = gemma3_names,
     .add = weft_gguf_add_gemma3},
    {FAMILY("phi2", "phi", "Phi"), .partial = true, .keys = phi_keys, .names = phi2_names,
     .add = weft_gguf_add_qwen},
    {FAMILY("phi3", "phi3", "Phi3"), .partial = true, .keys = llama_keys, .names = phi3_names,
     .add = weft_gguf_add_qwen},
    {FAMILY("granite", "granite", "Granite"), .keys = granite_keys, .names = llama_names,
     .add = weft_gguf_add_llama},
    {FAMILY("smollm3", "smollm3", "SmolLM3"), .keys = llama_keys, .names = llama_names,
     .add = weft_gguf_add_llama},
    {FAMILY("arcee", "arcee", "Arcee"), .keys = llama_keys, .names = arcee_names,
     .add = weft_gguf_add_llama},
    {FAMILY("seed_oss", "seed_oss", "SeedOss"), .keys = llama_keys, .names = seed_oss_names,
     .add = weft_gguf_add_seed_oss},
    {FAMILY("ernie4_5", "ernie4_5", "Ernie4_5"), .keys = llama_keys, .names = qwen_names,
     .add = weft_gguf_add_starcoder2},
    {FAMILY("exaone4", "exaone4", "Exaone4"), .keys = llama_keys, .names = olmo2_names,
     .add = weft_gguf_add_exaone4},
    {FAMILY("glm4", "glm4", "Glm4"), .partial = true, .keys = llama_keys, .names = glm4_names,
     .add = weft_gguf_add_llama},
    {FAMILY("nemotron", "nemotron", "Nemotron"), .partial = true, .keys = nemotron_keys,
     .names = nemotron_names, .add = weft_gguf_add_llama},
    {FAMILY("olmo2", "olmo2", "Olmo2"), .keys = llama_keys, .names = olmo2_names,
     .add = weft_gguf_add_qwen},
    {FAMILY("command-r", "cohere", "Cohere"), .keys = cohere_keys, .names = qwen_names,
     .add = weft_gguf_add_qwen},
    {FAMILY("cohere2", "cohere2", "Cohere2"), .keys = cohere_keys, .names = qwen_names,
     .add = weft_gguf_add_cohere2},
    {FAMILY("stablelm", "stablelm", "StableLm"), .partial = true, .keys = stablelm_keys,
     .names = qwen_names, .add = weft_gguf_add_stablelm},
    {FAMILY("starcoder2", "starcoder2", "Starcoder2"), .keys = starcoder2_keys,
     .names = starcoder2_names, .add = weft_gguf_add_starcoder2},
    {FAMILY("lfm2", "lfm2", "Lfm2"), .keys = lfm2_keys, .names = lfm2_names,
     .add = weft_gguf_add_lfm2},
    {.architecture = "gpt2",
     .model_type = "gpt2",
     .language = "GPT2LMHeadModel",
     .encoder = "GPT2Model",
     .as_applied = true,
     .keys = gpt2_keys,
     .names = gpt2_names,
     .add = weft_gguf_add_gpt2},
    {.architecture = "bert",
     .model_type = "bert",
     .encoder = "BertModel",
     .keys = bert_keys,
     .names = bert_names,
     .add = weft_gguf_add_bert},
    {.architecture = "nomic-bert",
     .model_type = "nomic_bert",
     .encoder = "NomicBertModel",
     .keys = nomic_keys,
     .names = nomic_names,
     .add = weft_gguf_add_nomic_bert},
    {FAMILY("llama", "mixtral", "Mixtral"), .experts = true, .keys = mixtral_keys,
     .names = mixtral_names, .add = weft_gguf_add_llama},
    {FAMILY("granitemoe", "granitemoe", "GraniteMoe"), .experts = true, .keys = granitemoe_keys,
     .names = granitemoe_names, .add = weft_gguf_add_llama},
    {FAMILY("olmoe", "olmoe", "Olmoe"), .experts = true, .keys = olmoe_keys,
     .names = qwen_expert_names, .add = weft_gguf_add_qwen},
    {FAMILY("qwen2moe", "qwen2_moe", "Qwen2Moe"), .experts = true, .keys = qwen2moe_keys,
     .names = qwen_expert_names, .add = weft_gguf_add_qwen},
    {FAMILY("qwen3moe", "qwen3_moe", "Qwen3Moe"), .experts = true, .keys = qwen3moe_keys,
     .names = qwen_expert_names, .add = weft_gguf_add_qwen3moe},
    {FAMILY("lfm2moe", "lfm2_moe", "Lfm2Moe"), .experts = true, .keys = lfm2moe_keys,
     .names = lfm2_names, .add = weft_gguf_add_lfm2moe},
    {FAMILY("gpt-oss", "gpt_oss", "GptOss"), .experts = true, .keys = gpt_oss_keys,
     .names = gpt_oss_names, .add = weft_gguf_add_gpt_oss},
    {FAMILY("granitehybrid", "granitemoehybrid", "GraniteMoeHybrid"), .keys = granitehybrid_keys,
     .names = granitehybrid_names, .add = weft_gguf_add_granitehybrid},
    {FAMILY("falcon-h1", "falcon_h1", "FalconH1"), .keys = falcon_h1_keys, .names = falcon_h1_names,
     .add = weft_gguf_add_falcon_h1},
    {FAMILY("qwen3next", "qwen3_next", "Qwen3Next"), .partial = true, .experts = true,
     .keys = qwen3next_keys, .names = qwen3next_names, .add = weft_gguf_add_qwen3next},
    {.architecture = "qwen35",
     .model_type = "qwen3_5_text",
     .language = "Qwen3_5ForCausalLM",
     .encoder = "Qwen3_5TextModel",
     .partial = true,
     .keys = qwen35_keys,
     .names = qwen35_names,
     .add = weft_gguf_add_qwen35},
    {.architecture = "qwen35moe",
     .model_type = "qwen3_5_moe_text",
     .language = "Qwen3_5MoeForCausalLM",
     .encoder = "Qwen3_5MoeTextModel",
     .partial = true,
     .experts = true,
     .keys = qwen35moe_keys,
     .names = qwen35moe_names,
     .add = weft_gguf_add_qwen35},
};
#define FAMILY_COUNT (sizeof families / sizeof families[0])

#define EXPECTED_SIZE 448

static bool is_listed(size_t index) {
    bool is = false;
    for (size_t i = 0; i < index && !is; i++) {
        is = strcmp(families[i].architecture, families[index].architecture) == 0;
    }
    return is;
}

/* "a, b, c" */
static const char *list_families(char text[EXPECTED_SIZE]) {
    size_t used = 0;
    for (size_t i = 0; i < FAMILY_COUNT && used < EXPECTED_SIZE; i++) {
        used += is_listed(i) ? 0
                             : (size_t)snprintf(text + used, EXPECTED_SIZE - used, "%s%s",
                                                i == 0 ? "" : ", ", families[i].architecture);
    }
    return text;
}

static weft_status find_family(const struct weft_gguf_family **family, const weft_gguf *file,
                               const char *architecture) {
    char expected[EXPECTED_SIZE];
    *family = NULL;
    for (size_t i = 0; i < FAMILY_COUNT; i++) {
        const struct weft_gguf_family *row = &families[i];
        const struct weft_gguf_reading reading = {.file = file, .family = row};
        int64_t experts = 0;
        if (strcmp(architecture, row->architecture) != 0) {
            continue;
        }
        WEFT_TRY(weft_gguf_own_integer(&experts, &reading, "expert_count"));
        if (!*family || row->experts == (experts > 0)) {
            *family = row; /* whose keys say what is wrong where there is no better one */
        }
    }
    if (*family) {
        return WEFT_OK;
    }
    return weft_gguf_fail(file, WEFT_UNSUPPORTED, "general.architecture", list_families(expected),
                          architecture[0] != '\0' ? architecture : "no text");
}

weft_status weft_gguf_family_of(const struct weft_gguf_family **family, const weft_gguf *file) {
    char *name = NULL;
    WEFT_TRY(weft_gguf_name(&name, file, "general.architecture"));
    const weft_status status = find_family(family, file, name);
    weft_free(weft_gguf_host(file), name);
    return status;
}
