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
#define READ(key) \
    { .name = (key), .use = WEFT_GGUF_READ }
#define NONE(key) \
    { .name = (key), .use = WEFT_GGUF_NONE }

static const struct weft_gguf_key llama_keys[] = {
    INTEGER("context_length", "max_position_embeddings"),
    INTEGER("embedding_length", "hidden_size"),
    INTEGER("block_count", "num_hidden_layers"),
    INTEGER("feed_forward_length", "intermediate_size"),
    INTEGER("attention.head_count", "num_attention_heads"),
    OPTIONAL("attention.head_count_kv", "num_key_value_heads"),
    REAL("attention.layer_norm_rms_epsilon", "rms_norm_eps"),
    READ("attention.key_length"),
    READ("attention.value_length"),
    READ("attention.causal"),
    READ("attention.sliding_window"),
    READ("rope.freq_base"),
    READ("rope.dimension_count"),
    READ("rope.scale_linear"),
    READ("rope.scaling.type"),
    READ("rope.scaling.factor"),
    READ("rope.scaling.original_context_length"), /* of YaRN, which is refused */
    READ("rope.scaling.finetuned"),               /* says how it was trained */
    READ("pooling_type"),
    READ("vocab_size"),
    READ("tensor_data_layout"), /* says whose file it was made of */
    NONE("expert_count"),
    NONE("expert_used_count"),
    NONE("nextn_predict_layers"),
    {.name = NULL}};

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
    {.name = NULL}};

static const struct weft_gguf_key bert_keys[] = {
    INTEGER("embedding_length", "hidden_size"),
    INTEGER("block_count", "num_hidden_layers"),
    INTEGER("feed_forward_length", "intermediate_size"),
    INTEGER("attention.head_count", "num_attention_heads"),
    REAL("attention.layer_norm_epsilon", "layer_norm_eps"),
    READ("context_length"),
    READ("attention.head_count_kv"),
    READ("attention.causal"),
    READ("pooling_type"),
    READ("vocab_size"),
    {.name = NULL}};

/* ---- tensors ---- */

#define DECODER_NAMES                                                                             \
    {.theirs = "token_embd", .ours = "model.embed_tokens"},                                       \
        {.theirs = "output_norm", .ours = "model.norm"}, {.theirs = "output", .ours = "lm_head"}, \
        {.theirs = "blk.#.attn_norm", .ours = "model.layers.#.input_layernorm"},                  \
        {.theirs = "blk.#.attn_v", .ours = "model.layers.#.self_attn.v_proj"},                    \
        {.theirs = "blk.#.attn_output", .ours = "model.layers.#.self_attn.o_proj"},               \
        {.theirs = "blk.#.ffn_norm", .ours = "model.layers.#.post_attention_layernorm"},          \
        {.theirs = "blk.#.ffn_gate", .ours = "model.layers.#.mlp.gate_proj"},                     \
        {.theirs = "blk.#.ffn_up", .ours = "model.layers.#.mlp.up_proj"}, {                       \
        .theirs = "blk.#.ffn_down", .ours = "model.layers.#.mlp.down_proj"                        \
    }

/* The two halves of a head's channels lie in turn, as the first programs that ran Llama turned neighbours. */
static const struct weft_gguf_name llama_names[] = {
    DECODER_NAMES,
    {"blk.#.attn_q", "model.layers.#.self_attn.q_proj", WEFT_GGUF_ROWS_QUERIES},
    {"blk.#.attn_k", "model.layers.#.self_attn.k_proj", WEFT_GGUF_ROWS_KEYS},
    {.theirs = NULL}};

static const struct weft_gguf_name qwen_names[] = {
    DECODER_NAMES,
    {.theirs = "blk.#.attn_q", .ours = "model.layers.#.self_attn.q_proj"},
    {.theirs = "blk.#.attn_k", .ours = "model.layers.#.self_attn.k_proj"},
    {.theirs = "blk.#.attn_q_norm", .ours = "model.layers.#.self_attn.q_norm"},
    {.theirs = "blk.#.attn_k_norm", .ours = "model.layers.#.self_attn.k_norm"},
    {.theirs = NULL}};

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
    {.theirs = NULL}};

static const struct weft_gguf_name bert_names[] = {
    {.theirs = "token_embd", .ours = "embeddings.word_embeddings"},
    {.theirs = "token_types", .ours = "embeddings.token_type_embeddings"},
    {.theirs = "position_embd", .ours = "embeddings.position_embeddings"},
    {.theirs = "token_embd_norm", .ours = "embeddings.LayerNorm"},
    {.theirs = "blk.#.attn_q", .ours = "encoder.layer.#.attention.self.query"},
    {.theirs = "blk.#.attn_k", .ours = "encoder.layer.#.attention.self.key"},
    {.theirs = "blk.#.attn_v", .ours = "encoder.layer.#.attention.self.value"},
    {.theirs = "blk.#.attn_output", .ours = "encoder.layer.#.attention.output.dense"},
    {.theirs = "blk.#.attn_output_norm", .ours = "encoder.layer.#.attention.output.LayerNorm"},
    {.theirs = "blk.#.ffn_up", .ours = "encoder.layer.#.intermediate.dense"},
    {.theirs = "blk.#.ffn_down", .ours = "encoder.layer.#.output.dense"},
    {.theirs = "blk.#.layer_output_norm", .ours = "encoder.layer.#.output.LayerNorm"},
    {.theirs = NULL}};

/* ---- families ---- */

#define FAMILY(name, stem)                                                        \
    .architecture = (name), .model_type = (name), .language = stem "ForCausalLM", \
    .encoder = stem "Model", .keys = llama_keys

static const struct weft_gguf_family families[] = {
    {FAMILY("llama", "Llama"), .names = llama_names, .add = weft_gguf_add_llama},
    {FAMILY("qwen2", "Qwen2"), .names = qwen_names, .add = weft_gguf_add_qwen},
    {FAMILY("qwen3", "Qwen3"), .names = qwen_names, .add = weft_gguf_add_qwen},
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
};
#define FAMILY_COUNT (sizeof families / sizeof families[0])

#define EXPECTED_SIZE 128

/* "a, b, c" */
static const char *list_families(char text[EXPECTED_SIZE]) {
    size_t used = 0;
    for (size_t i = 0; i < FAMILY_COUNT && used < EXPECTED_SIZE; i++) {
        used += (size_t)snprintf(text + used, EXPECTED_SIZE - used, "%s%s", i == 0 ? "" : ", ",
                                 families[i].architecture);
    }
    return text;
}

static weft_status find_family(const struct weft_gguf_family **family, const weft_gguf *file,
                               const char *architecture) {
    char expected[EXPECTED_SIZE];
    for (size_t i = 0; i < FAMILY_COUNT; i++) {
        if (strcmp(architecture, families[i].architecture) == 0) {
            *family = &families[i];
            return WEFT_OK;
        }
    }
    return weft_gguf_fail(file, WEFT_UNSUPPORTED, "general.architecture", list_families(expected),
                          architecture[0] != '\0' ? architecture : "no text");
}

weft_status weft_gguf_family_of(const struct weft_gguf_family **family, const weft_gguf *file) {
    struct weft_text name = {.host = *weft_gguf_host(file)};
    weft_text_put(&name, "", 0);
    weft_status status = weft_gguf_string(&name, file, "general.architecture", WEFT_GGUF_MAX_NAME);
    if (status == WEFT_OK) {
        status = name.failed ? weft_fail_memory(weft_gguf_host(file), weft_gguf_path(file))
                             : find_family(family, file, name.data);
    }
    weft_free(weft_gguf_host(file), name.data);
    return status;
}
