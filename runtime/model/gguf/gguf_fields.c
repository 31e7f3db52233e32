/* SPDX-License-Identifier: MIT */
/* Fields of config.json that no key of a GGUF file says by itself. */
#include <inttypes.h>
#include <stdio.h>

#include "core/text.h"
#include "core/try.h"
#include "model/gguf/gguf_family.h"

struct weft_gguf_own_key weft_gguf_own_key(const struct weft_gguf_reading *reading,
                                           const char *name) {
    struct weft_gguf_own_key key;
    snprintf(key.text, sizeof key.text, "%s.%s", reading->family->architecture, name);
    return key;
}

weft_status weft_gguf_set(const struct weft_gguf_reading *reading, const char *field,
                          json_t *value) {
    return json_object_set_new(reading->config, field, value) == 0
               ? WEFT_OK
               : weft_fail_memory(weft_gguf_host(reading->file), "a model's config");
}

/* ---- values of own keys ---- */

weft_status weft_gguf_own_integer(int64_t *value, const struct weft_gguf_reading *reading,
                                  const char *name) {
    return weft_gguf_integer(value, reading->file, weft_gguf_own_key(reading, name).text, 0,
                             INT32_MAX);
}

weft_status weft_gguf_own_real(double *value, const struct weft_gguf_reading *reading,
                               const char *name) {
    return weft_gguf_real(value, reading->file, weft_gguf_own_key(reading, name).text);
}

weft_status weft_gguf_own_fail(const struct weft_gguf_reading *reading, const char *name,
                               const char *expected, const char *found) {
    return weft_gguf_fail(reading->file, WEFT_UNSUPPORTED, weft_gguf_own_key(reading, name).text,
                          expected, found);
}

weft_status weft_gguf_own_expect(const struct weft_gguf_reading *reading, const char *name,
                                 int64_t expected, const char *what) {
    int64_t found = expected;
    WEFT_TRY(weft_gguf_own_integer(&found, reading, name));
    if (found == expected) {
        return WEFT_OK;
    }
    char texts[2][96];
    snprintf(texts[0], sizeof texts[0], "%" PRId64 ", %s", expected, what);
    snprintf(texts[1], sizeof texts[1], "%" PRId64, found);
    return weft_gguf_own_fail(reading, name, texts[0], texts[1]);
}

weft_status weft_gguf_own_layers(int64_t *layers, const struct weft_gguf_reading *reading) {
    int64_t further = 0;
    *layers = 0;
    WEFT_TRY(weft_gguf_own_integer(layers, reading, "block_count"));
    WEFT_TRY(weft_gguf_own_integer(&further, reading, "nextn_predict_layers"));
    *layers -= further;
    return *layers >= 0 ? WEFT_OK
                        : weft_gguf_own_fail(reading, "nextn_predict_layers",
                                             "no more than block_count", "more");
}

static weft_status expect_causal(const struct weft_gguf_reading *reading, bool expected) {
    return weft_gguf_expect_bool(reading->file, weft_gguf_own_key(reading, "attention.causal").text,
                                 expected);
}

static bool has(const struct weft_gguf_reading *reading, const char *tensor) {
    return weft_gguf_find_tensor(reading->file, tensor) != NULL;
}

/* A field that is the number of a tensor's rows; without the tensor it is missing, which the config's reader says. */
static weft_status set_rows(const struct weft_gguf_reading *reading, const char *field,
                            const char *name) {
    const struct weft_gguf_tensor *tensor = weft_gguf_find_tensor(reading->file, name);
    return tensor && tensor->rank == 2
               ? weft_gguf_set(reading, field, json_integer((json_int_t)tensor->shape[0]))
               : WEFT_OK;
}

/* ---- what families have in common ---- */

/* A window that is no shorter than the context changes nothing. */
static weft_status check_window(const struct weft_gguf_reading *reading) {
    int64_t length = 0, window = 0;
    WEFT_TRY(weft_gguf_own_integer(&length, reading, "context_length"));
    WEFT_TRY(weft_gguf_own_integer(&window, reading, "attention.sliding_window"));
    if (window == 0 || window >= length) {
        return WEFT_OK;
    }
    char found[32];
    snprintf(found, sizeof found, "%" PRId64, window);
    return weft_gguf_own_fail(reading, "attention.sliding_window",
                              "none, or as many as context_length", found);
}

static weft_status add_head(const struct weft_gguf_reading *reading, int64_t *head) {
    int64_t hidden = 0, heads = 0;
    WEFT_TRY(weft_gguf_own_integer(&hidden, reading, "embedding_length"));
    WEFT_TRY(weft_gguf_own_integer(&heads, reading, "attention.head_count"));
    if (!weft_gguf_find(reading->file,
                        weft_gguf_own_key(reading, "attention.head_count_kv").text)) {
        WEFT_TRY(weft_gguf_set(reading, "num_key_value_heads", json_integer(heads)));
    }
    *head = heads > 0 ? hidden / heads : 0;
    WEFT_TRY(weft_gguf_own_integer(head, reading, "attention.key_length"));
    WEFT_TRY(
        weft_gguf_own_expect(reading, "attention.value_length", *head, "as attention.key_length"));
    return weft_gguf_set(reading, "head_dim", json_integer(*head));
}

static weft_status add_vocabulary(const struct weft_gguf_reading *reading) {
    WEFT_TRY(set_rows(reading, "vocab_size", "token_embd.weight"));
    return weft_gguf_set(reading, "tie_word_embeddings",
                         json_boolean(!has(reading, "output.weight")));
}

static weft_status expect_whole_heads(const struct weft_gguf_reading *reading) {
    int64_t heads = 0;
    WEFT_TRY(weft_gguf_own_integer(&heads, reading, "attention.head_count"));
    return weft_gguf_own_expect(reading, "attention.head_count_kv", heads,
                                "as attention.head_count");
}

/* A field that says whether the first layer has a tensor. */
static weft_status set_has(const struct weft_gguf_reading *reading, const char *field,
                           const char *tensor) {
    return weft_gguf_set(reading, field, json_boolean(has(reading, tensor)));
}

/* A decoder with rotary positions, or an encoder of that form. */
static weft_status add_decoder(const struct weft_gguf_reading *reading) {
    int64_t head = 0;
    WEFT_TRY(expect_causal(reading, !reading->family->both_ways));
    WEFT_TRY(add_head(reading, &head));
    WEFT_TRY(weft_gguf_add_rope(reading, head));
    return add_vocabulary(reading);
}

/* ---- families ---- */

weft_status weft_gguf_add_qwen(const struct weft_gguf_reading *reading) {
    WEFT_TRY(check_window(reading));
    return add_decoder(reading);
}

/* The factors of experts add up to 1 in every model of these files. */
weft_status weft_gguf_add_qwen3moe(const struct weft_gguf_reading *reading) {
    WEFT_TRY(weft_gguf_set(reading, "norm_topk_prob", json_true()));
    return weft_gguf_add_qwen(reading);
}

weft_status weft_gguf_add_llama(const struct weft_gguf_reading *reading) {
    WEFT_TRY(weft_gguf_add_qwen(reading));
    WEFT_TRY(set_has(reading, "attention_bias", "blk.0.attn_q.bias"));
    return set_has(reading, "mlp_bias", "blk.0.ffn_up.bias");
}

weft_status weft_gguf_add_seed_oss(const struct weft_gguf_reading *reading) {
    WEFT_TRY(weft_gguf_add_llama(reading));
    return set_has(reading, "attention_out_bias", "blk.0.attn_output.bias");
}

/* A window that changes nothing is none: with one, other layers would have no positions. */
weft_status weft_gguf_add_exaone4(const struct weft_gguf_reading *reading) {
    WEFT_TRY(weft_gguf_set(reading, "sliding_window", json_null()));
    return weft_gguf_add_qwen(reading);
}

weft_status weft_gguf_add_starcoder2(const struct weft_gguf_reading *reading) {
    WEFT_TRY(weft_gguf_add_qwen(reading));
    return set_has(reading, "use_bias", "blk.0.attn_q.bias");
}

weft_status weft_gguf_add_stablelm(const struct weft_gguf_reading *reading) {
    bool parallel = false;
    WEFT_TRY(weft_gguf_bool(&parallel, reading->file,
                            weft_gguf_own_key(reading, "use_parallel_residual").text));
    WEFT_TRY(weft_gguf_add_qwen(reading));
    WEFT_TRY(weft_gguf_set(reading, "use_parallel_residual", json_boolean(parallel)));
    return set_has(reading, "use_qkv_bias", "blk.0.attn_q.bias");
}

static weft_status add_local_layers(const struct weft_gguf_reading *reading, int64_t window) {
    WEFT_TRY(weft_gguf_own_integer(&window, reading, "attention.sliding_window"));
    WEFT_TRY(add_decoder(reading));
    return weft_gguf_set(reading, "sliding_window", json_integer(window));
}

/* Local layers are those that the folder has where it does not list them: files do not list them. */
weft_status weft_gguf_add_cohere2(const struct weft_gguf_reading *reading) {
    return add_local_layers(reading, 4096);
}

/* Local layers likewise. Files do not say that the bounds of the scaled channels are not whole, as in the published folders. */
weft_status weft_gguf_add_gpt_oss(const struct weft_gguf_reading *reading) {
    int64_t size = 0;
    WEFT_TRY(weft_gguf_own_integer(&size, reading, "feed_forward_length"));
    WEFT_TRY(weft_gguf_own_expect(reading, "expert_feed_forward_length", size,
                                  "as feed_forward_length"));
    WEFT_TRY(add_local_layers(reading, 128));
    json_t *scaling = json_object_get(reading->config, "rope_scaling");
    if (scaling && json_object_set_new(scaling, "truncate", json_false()) != 0) {
        return weft_fail_memory(weft_gguf_host(reading->file), "a model's config");
    }
    return set_has(reading, "attention_bias", "blk.0.attn_q.bias");
}

/* The largest models divide by the root of the channels for each head, and not of a head: files do not say it, llama.cpp knows them by their layers. */
static weft_status add_query_scale(const struct weft_gguf_reading *reading, int64_t largest) {
    int64_t layers = 0, hidden = 0, heads = 1, head = 256;
    WEFT_TRY(weft_gguf_own_integer(&layers, reading, "block_count"));
    WEFT_TRY(weft_gguf_own_integer(&hidden, reading, "embedding_length"));
    WEFT_TRY(weft_gguf_own_integer(&heads, reading, "attention.head_count"));
    WEFT_TRY(weft_gguf_own_integer(&head, reading, "attention.key_length"));
    const int64_t per_query = layers == largest && heads > 0 ? hidden / heads : head;
    return weft_gguf_set(reading, "query_pre_attn_scalar", json_integer(per_query));
}

/* Caps that a file does not have are none. */
static weft_status add_cap(const struct weft_gguf_reading *reading, const char *name) {
    double cap = 0;
    WEFT_TRY(weft_gguf_own_real(&cap, reading, name));
    return weft_gguf_set(reading, name, cap > 0 ? json_real(cap) : json_null());
}

static weft_status add_window(const struct weft_gguf_reading *reading, int64_t every) {
    int64_t window = 0;
    WEFT_TRY(weft_gguf_own_integer(&window, reading, "attention.sliding_window"));
    WEFT_TRY(weft_gguf_own_expect(reading, "attention.sliding_window_pattern", every,
                                  "the published models' number of layers from one that sees "
                                  "everything to the next"));
    /* Without a window every layer sees everything. */
    WEFT_TRY(
        weft_gguf_set(reading, "sliding_window_pattern", json_integer(window > 0 ? every : 1)));
    return window > 0 ? weft_gguf_set(reading, "sliding_window", json_integer(window)) : WEFT_OK;
}

weft_status weft_gguf_add_gemma2(const struct weft_gguf_reading *reading) {
    WEFT_TRY(add_decoder(reading));
    WEFT_TRY(add_query_scale(reading, 46));
    WEFT_TRY(add_cap(reading, "attn_logit_softcapping"));
    WEFT_TRY(add_cap(reading, "final_logit_softcapping"));
    return add_window(reading, 2);
}

/* Local layers have positions of their own. */
weft_status weft_gguf_add_gemma3(const struct weft_gguf_reading *reading) {
    double base = 10000.0;
    WEFT_TRY(weft_gguf_own_real(&base, reading, "rope.freq_base_swa"));
    WEFT_TRY(weft_gguf_set(reading, "rope_local_base_freq", json_real(base)));
    WEFT_TRY(weft_gguf_set(reading, "use_bidirectional_attention",
                           json_boolean(reading->family->both_ways)));
    WEFT_TRY(add_decoder(reading));
    WEFT_TRY(add_query_scale(reading, 62));
    WEFT_TRY(add_cap(reading, "final_logit_softcapping"));
    return add_window(reading, 6);
}

/* Numbers of heads of keys, one for each layer; to be freed. Null where the key is a single number, or missing. */
static weft_status read_layer_heads(int32_t **heads, int64_t *layers,
                                    const struct weft_gguf_reading *reading) {
    const struct weft_gguf_own_key key = weft_gguf_own_key(reading, "attention.head_count_kv");
    const struct weft_gguf_value *value = weft_gguf_find(reading->file, key.text);
    *heads = NULL;
    WEFT_TRY(weft_gguf_own_integer(layers, reading, "block_count"));
    return value && value->type == WEFT_GGUF_ARRAY
               ? weft_gguf_integers(heads, reading->file, key.text, (uint64_t)*layers)
               : WEFT_OK;
}

/* Layers without heads of keys are of another kind; the others have as many as each other. */
static weft_status find_heads(int64_t *found, const struct weft_gguf_reading *reading,
                              const int32_t *heads, int64_t layers) {
    *found = 0;
    for (int64_t i = 0; i < layers; i++) {
        if (heads[i] < 0 || (heads[i] > 0 && *found > 0 && heads[i] != *found)) {
            return weft_gguf_own_fail(reading, "attention.head_count_kv",
                                      "0 or one number of heads", "several");
        }
        *found = heads[i] > 0 ? heads[i] : *found;
    }
    return WEFT_OK;
}

weft_status weft_gguf_own_key_heads(int64_t *heads, const struct weft_gguf_reading *reading) {
    int32_t *each = NULL;
    int64_t layers = 0;
    WEFT_TRY(read_layer_heads(&each, &layers, reading));
    if (!each) {
        return weft_gguf_own_integer(heads, reading, "attention.head_count_kv");
    }
    const weft_status status = find_heads(heads, reading, each, layers);
    weft_free(weft_gguf_host(reading->file), each);
    return status;
}

static weft_status set_layer_kinds(const struct weft_gguf_reading *reading, const int32_t *heads,
                                   int64_t layers, const char *other) {
    int64_t found = 0;
    WEFT_TRY(find_heads(&found, reading, heads, layers));
    json_t *kinds = json_array();
    for (int64_t i = 0; kinds && i < layers; i++) {
        if (json_array_append_new(kinds, json_string(heads[i] > 0 ? "full_attention" : other)) !=
            0) {
            json_decref(kinds);
            kinds = NULL;
        }
    }
    WEFT_TRY(weft_gguf_set(reading, "layer_types", kinds));
    return found > 0 ? weft_gguf_set(reading, "num_key_value_heads", json_integer(found)) : WEFT_OK;
}

static weft_status add_layer_kinds(const struct weft_gguf_reading *reading, const char *other) {
    int64_t layers = 0;
    int32_t *heads = NULL;
    WEFT_TRY(read_layer_heads(&heads, &layers, reading));
    const weft_status status = heads ? set_layer_kinds(reading, heads, layers, other)
                                     : weft_gguf_own_fail(reading, "attention.head_count_kv",
                                                          "a number for each layer", "none");
    weft_free(weft_gguf_host(reading->file), heads);
    return status;
}

weft_status weft_gguf_add_lfm2(const struct weft_gguf_reading *reading) {
    WEFT_TRY(add_layer_kinds(reading, "conv"));
    WEFT_TRY(weft_gguf_set(reading, "block_auto_adjust_ff_dim", json_false()));
    return weft_gguf_add_qwen(reading);
}

/* Sizes of Mamba's mixers; all layers that have one have the same biases. */
static weft_status add_mamba(const struct weft_gguf_reading *reading) {
    int64_t channels = 0, heads = 0;
    bool filter_bias = false, map_bias = false;
    WEFT_TRY(weft_gguf_own_integer(&channels, reading, "ssm.inner_size"));
    WEFT_TRY(weft_gguf_own_integer(&heads, reading, "ssm.time_step_rank"));
    if (heads == 0 || channels % heads != 0) {
        return weft_gguf_own_fail(reading, "ssm.inner_size", "a multiple of ssm.time_step_rank",
                                  "another number");
    }
    for (uint32_t i = 0; i < weft_gguf_tensor_count(reading->file); i++) {
        const char *name = weft_gguf_tensor_at(reading->file, i)->name;
        filter_bias = filter_bias || weft_ends_with(name, ".ssm_conv1d.bias");
        map_bias = map_bias || weft_ends_with(name, ".ssm_in.bias");
    }
    WEFT_TRY(weft_gguf_set(reading, "mamba_d_head", json_integer(channels / heads)));
    WEFT_TRY(weft_gguf_set(reading, "mamba_conv_bias", json_boolean(filter_bias)));
    return weft_gguf_set(reading, "mamba_proj_bias", json_boolean(map_bias));
}

/* Files have the factors in their weights, which folders have beside them; a norm is behind the gate, as llama.cpp has it. */
weft_status weft_gguf_add_falcon_h1(const struct weft_gguf_reading *reading) {
    WEFT_TRY(add_mamba(reading));
    WEFT_TRY(set_has(reading, "mamba_rms_norm", "blk.0.ssm_norm.weight"));
    WEFT_TRY(weft_gguf_set(reading, "mamba_norm_before_gate", json_false()));
    WEFT_TRY(set_has(reading, "projectors_bias", "blk.0.ssm_out.bias"));
    return weft_gguf_add_llama(reading);
}

/* How often the channels of a hybrid's mixers are those of the model. */
static weft_status add_expansion(const struct weft_gguf_reading *reading) {
    int64_t channels = 0, hidden = 0;
    WEFT_TRY(weft_gguf_own_integer(&channels, reading, "ssm.inner_size"));
    WEFT_TRY(weft_gguf_own_integer(&hidden, reading, "embedding_length"));
    return hidden > 0 && channels % hidden == 0
               ? weft_gguf_set(reading, "mamba_expand", json_integer(channels / hidden))
               : weft_gguf_own_fail(reading, "ssm.inner_size", "a multiple of embedding_length",
                                    "another number");
}

/* With experts, or without, where the layers of all tokens have the file's usual size. */
static weft_status add_hybrid_sizes(const struct weft_gguf_reading *reading) {
    int64_t experts = 0, chosen = 0, shared = 0;
    WEFT_TRY(weft_gguf_own_integer(&experts, reading, "expert_count"));
    WEFT_TRY(weft_gguf_own_integer(&chosen, reading, "expert_used_count"));
    WEFT_TRY(weft_gguf_own_integer(&shared, reading,
                                   experts > 0 ? "expert_shared_feed_forward_length"
                                               : "feed_forward_length"));
    WEFT_TRY(weft_gguf_set(reading, "num_local_experts", json_integer(experts)));
    WEFT_TRY(weft_gguf_set(reading, "shared_intermediate_size", json_integer(shared)));
    return experts > 0 ? weft_gguf_set(reading, "num_experts_per_tok", json_integer(chosen))
                       : WEFT_OK;
}

/* Files whose attention has positions are Bamba's. */
weft_status weft_gguf_add_granitehybrid(const struct weft_gguf_reading *reading) {
    const struct weft_gguf_own_key key = weft_gguf_own_key(reading, "rope.scaling.finetuned");
    bool has_positions = true;
    WEFT_TRY(weft_gguf_bool(&has_positions, reading->file, key.text));
    if (has_positions) {
        return weft_gguf_own_fail(reading, "rope.scaling.finetuned", "false",
                                  "true, which it is where it is missing");
    }
    WEFT_TRY(weft_gguf_set(reading, "position_embedding_type", json_string("nope")));
    WEFT_TRY(add_hybrid_sizes(reading));
    WEFT_TRY(add_mamba(reading));
    WEFT_TRY(add_expansion(reading));
    WEFT_TRY(add_layer_kinds(reading, "linear_attention"));
    return weft_gguf_add_llama(reading);
}

/* The bias is added where experts are compared. */
weft_status weft_gguf_add_lfm2moe(const struct weft_gguf_reading *reading) {
    WEFT_TRY(weft_gguf_own_expect(reading, "expert_gating_func", 2, "a sigmoid"));
    return weft_gguf_add_lfm2(reading);
}

static weft_status add_delta_net(const struct weft_gguf_reading *reading) {
    int64_t layers = 0, channels = 0, heads = 0;
    WEFT_TRY(weft_gguf_own_layers(&layers, reading));
    WEFT_TRY(weft_gguf_set(reading, "num_hidden_layers", json_integer(layers)));
    WEFT_TRY(weft_gguf_own_integer(&channels, reading, "ssm.inner_size"));
    WEFT_TRY(weft_gguf_own_integer(&heads, reading, "ssm.time_step_rank"));
    if (heads == 0 || channels % heads != 0) {
        return weft_gguf_own_fail(reading, "ssm.inner_size", "a multiple of ssm.time_step_rank",
                                  "another number");
    }
    WEFT_TRY(weft_gguf_set(reading, "linear_value_head_dim", json_integer(channels / heads)));
    return weft_gguf_add_qwen(reading);
}

/*
 * Heads of values that share one of keys are not side by side, as in folders: the first of each come first. Positions of images have
 * sections, which are one for texts.
 */
weft_status weft_gguf_add_qwen35(const struct weft_gguf_reading *reading) {
    int64_t heads = 0, keys = 0;
    WEFT_TRY(weft_gguf_own_integer(&heads, reading, "ssm.time_step_rank"));
    WEFT_TRY(weft_gguf_own_integer(&keys, reading, "ssm.group_count"));
    WEFT_TRY(weft_gguf_set(reading, "weft_tiled_value_heads", json_boolean(heads != keys)));
    return add_delta_net(reading);
}

/* Queries, keys and values have a map, and gates one, but for older files: there heads of keys stand with what belongs to them. */
weft_status weft_gguf_add_qwen3next(const struct weft_gguf_reading *reading) {
    WEFT_TRY(weft_gguf_set(reading, "weft_split_maps",
                           json_boolean(!has(reading, "blk.0.ssm_in.weight"))));
    return add_delta_net(reading);
}
weft_status weft_gguf_add_gpt2(const struct weft_gguf_reading *reading) {
    WEFT_TRY(expect_whole_heads(reading));
    WEFT_TRY(expect_causal(reading, true));
    return add_vocabulary(reading);
}

static weft_status add_encoder(const struct weft_gguf_reading *reading) {
    WEFT_TRY(expect_whole_heads(reading));
    WEFT_TRY(expect_causal(reading, false));
    WEFT_TRY(set_rows(reading, "vocab_size", "token_embd.weight"));
    return set_rows(reading, "type_vocab_size", "token_types.weight");
}

/* Files do not say BERT's activation, which is gelu. Those made of RoBERTa lack the first rows of its table of positions. */
weft_status weft_gguf_add_bert(const struct weft_gguf_reading *reading) {
    WEFT_TRY(add_encoder(reading));
    WEFT_TRY(weft_gguf_set(reading, "hidden_act", json_string("gelu")));
    return set_rows(reading, "max_position_embeddings", "position_embd.weight");
}

weft_status weft_gguf_add_nomic_bert(const struct weft_gguf_reading *reading) {
    int64_t head = 0;
    WEFT_TRY(add_encoder(reading));
    WEFT_TRY(weft_gguf_set(reading, "hidden_act", json_string("silu")));
    WEFT_TRY(add_head(reading, &head));
    return weft_gguf_add_rope(reading, head);
}
