/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as choices of a grammar: a GGUF file of a small model and tokenizer, whose keys, tensors and tokens are right, odd, missing or there
 * twice, and which is damaged at last. All that opens is read to its end, and loaded as a model; what that costs is bounded.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <weft/model.h>

#include "fuzz.h"
#include "model/gguf/gguf.h"
#include "tests/support/gguf_writer.h"

#define MEMORY  ((size_t)1 << 28)
#define SECONDS 4.0

struct row {
    const char *name;
    uint64_t rows, columns; /* without columns one axis */
    uint64_t experts;       /* that each have such a matrix; 0: there is one, and no axis for it */
};

/* What a file of an architecture has, in lists of tensors that a null name ends. */
struct architecture {
    const char *name;
    const struct row *rows[6];
    bool rms;
    unsigned expert_keys; /* how many it has of those of EXPERTS experts: 0, if it has none */
};

struct choices {
    const uint8_t *data;
    size_t size;
    struct gguf_writer out;
    const struct architecture *architecture;
};

static unsigned choose(struct choices *choices, unsigned count) {
    if (choices->size == 0) {
        return 0;
    }
    choices->size--;
    return *choices->data++ % count;
}

#define COUNT(list)         (sizeof(list) / sizeof(list)[0])
#define PICK(choices, list) ((list)[choose(choices, (unsigned)COUNT(list))])

/* One time in 64, and never at the end of the choices. */
static bool rarely(struct choices *choices) {
    return choose(choices, 64) == 63;
}

static const uint64_t odd[] = {0,          1,         2,          3,          7,
                               64,         65535,     65536,      0x7fffffff, 0x80000000,
                               UINT32_MAX, INT64_MAX, UINT64_MAX, 1ULL << 62, 1ULL << 33,
                               0x7fc00000, 0x7f800000};

/* ---- architectures ---- */

#define EXPERTS 3
#define LAST \
    { NULL, 0, 0, 0 }
#define MATRIX(name) \
    { name ".weight", 32, 32, 0 }
#define VECTOR(name) \
    { name, 32, 0, 0 }
#define MATRICES(name) \
    { name ".weight", 32, 32, EXPERTS }

static const struct row attention[] = {MATRIX("token_embd"),        MATRIX("blk.0.attn_q"),
                                       MATRIX("blk.0.attn_k"),      MATRIX("blk.0.attn_v"),
                                       MATRIX("blk.0.attn_output"), MATRIX("blk.0.ffn_up"),
                                       MATRIX("blk.0.ffn_down"),    LAST};
static const struct row mixing[] = {MATRIX("token_embd"),        MATRIX("blk.0.attn_q"),
                                    MATRIX("blk.0.attn_k"),      MATRIX("blk.0.attn_v"),
                                    MATRIX("blk.0.attn_output"), LAST};
static const struct row shared[] = {VECTOR("blk.0.ffn_gate_inp_shexp.weight"),
                                    MATRIX("blk.0.ffn_gate_shexp"), MATRIX("blk.0.ffn_up_shexp"),
                                    MATRIX("blk.0.ffn_down_shexp"), LAST};
static const struct row norms[] = {VECTOR("output_norm.weight"), VECTOR("blk.0.attn_norm.weight"),
                                   VECTOR("blk.0.ffn_norm.weight"), LAST};
static const struct row gated[] = {MATRIX("blk.0.ffn_gate"), VECTOR("output_norm.weight"),
                                   VECTOR("blk.0.attn_norm.weight"),
                                   VECTOR("blk.0.ffn_norm.weight"), LAST};
static const struct row front[] = {VECTOR("output_norm.weight"), VECTOR("blk.0.attn_norm.weight"),
                                   LAST};
static const struct row gate[] = {MATRIX("blk.0.ffn_gate"), LAST};
static const struct row behind[] = {MATRIX("blk.0.ffn_gate"), VECTOR("output_norm.weight"), LAST};
static const struct row behind_norms[] = {VECTOR("blk.0.post_attention_norm.weight"),
                                          VECTOR("blk.0.post_ffw_norm.weight"), LAST};
static const struct row norm_behind[] = {VECTOR("blk.0.post_attention_norm.weight"), LAST};
static const struct row biases[] = {VECTOR("blk.0.attn_q.bias"), VECTOR("blk.0.attn_k.bias"),
                                    VECTOR("blk.0.attn_v.bias"), LAST};
static const struct row output_bias[] = {VECTOR("blk.0.attn_output.bias"), LAST};
static const struct row last_bias[] = {VECTOR("blk.0.ffn_norm.bias"), LAST};
static const struct row all_biases[] = {
    VECTOR("blk.0.attn_q.bias"),      VECTOR("blk.0.attn_k.bias"),    VECTOR("blk.0.attn_v.bias"),
    VECTOR("blk.0.attn_output.bias"), VECTOR("blk.0.ffn_up.bias"),    VECTOR("blk.0.ffn_down.bias"),
    VECTOR("output_norm.bias"),       VECTOR("blk.0.attn_norm.bias"), LAST};
static const struct row norm_biases[] = {VECTOR("output_norm.bias"), VECTOR("blk.0.attn_norm.bias"),
                                         VECTOR("blk.0.ffn_norm.bias"), LAST};
static const struct row head_norms[] = {
    {"blk.0.attn_q_norm.weight", 8, 0, 0}, {"blk.0.attn_k_norm.weight", 8, 0, 0}, LAST};
static const struct row whole_norms[] = {VECTOR("blk.0.attn_q_norm.weight"),
                                         VECTOR("blk.0.attn_k_norm.weight"), LAST};
static const struct row head[] = {MATRIX("output"), VECTOR("output.bias"), LAST};
static const struct row packed[] = {
    MATRIX("token_embd"),        {"blk.0.attn_qkv.weight", 96, 32, 0},
    MATRIX("blk.0.attn_output"), {"blk.0.ffn_up.weight", 64, 32, 0},
    MATRIX("blk.0.ffn_down"),    LAST};
static const struct row half_packed[] = {
    MATRIX("token_embd"),        MATRIX("blk.0.attn_q"),
    MATRIX("blk.0.attn_k"),      MATRIX("blk.0.attn_v"),
    MATRIX("blk.0.attn_output"), {"blk.0.ffn_up.weight", 64, 32, 0},
    MATRIX("blk.0.ffn_down"),    LAST};
static const struct row rates[] = {
    {"blk.0.ssm_beta.weight", 2, 32, 0}, {"blk.0.ssm_alpha.weight", 2, 32, 0}, LAST};
static const struct row both_rates[] = {{"blk.0.ssm_ba.weight", 4, 32, 0}, LAST};
static const struct row delta_net[] = {MATRIX("token_embd"),
                                       {"blk.0.attn_qkv.weight", 96, 32, 0},
                                       MATRIX("blk.0.attn_gate"),
                                       MATRIX("blk.0.ssm_out"),
                                       {"blk.0.ssm_norm.weight", 16, 0, 0},
                                       {"blk.0.ssm_conv1d.weight", 96, 4, 0},
                                       {"blk.0.ssm_a", 2, 0, 0},
                                       {"blk.0.ssm_dt.bias", 2, 0, 0},
                                       LAST};
static const struct row mamba[] = {MATRIX("token_embd"),
                                   {"blk.0.ssm_in.weight", 130, 32, 0},
                                   {"blk.0.ssm_conv1d.weight", 96, 4, 0},
                                   {"blk.0.ssm_conv1d.bias", 96, 0, 0},
                                   {"blk.0.ssm_a", 2, 1, 0},
                                   {"blk.0.ssm_d", 2, 1, 0},
                                   {"blk.0.ssm_dt.bias", 2, 0, 0},
                                   {"blk.0.ssm_norm.weight", 2, 16, 0},
                                   MATRIX("blk.0.ssm_out"),
                                   LAST};
static const struct row experts[] = {{"blk.0.ffn_gate_inp.weight", EXPERTS, 32, 0},
                                     MATRICES("blk.0.ffn_gate_exps"),
                                     MATRICES("blk.0.ffn_up_exps"),
                                     MATRICES("blk.0.ffn_down_exps"),
                                     LAST};
static const struct row gpt_oss[] = {{"blk.0.attn_sinks.weight", 4, 0, 0},
                                     {"blk.0.ffn_gate_inp.bias", EXPERTS, 0, 0},
                                     {"blk.0.ffn_gate_exps.bias", EXPERTS, 32, 0},
                                     {"blk.0.ffn_up_exps.bias", EXPERTS, 32, 0},
                                     {"blk.0.ffn_down_exps.bias", EXPERTS, 32, 0},
                                     VECTOR("blk.0.attn_q.bias"),
                                     VECTOR("blk.0.attn_k.bias"),
                                     VECTOR("blk.0.attn_v.bias"),
                                     VECTOR("blk.0.attn_output.bias"),
                                     LAST};
static const struct row maps[] = {MATRIX("blk.0.ffn_gate"), MATRIX("blk.0.ffn_up"),
                                  MATRIX("blk.0.ffn_down"), LAST};
static const struct row gpt2[] = {MATRIX("token_embd"),
                                  {"position_embd.weight", 16, 32, 0},
                                  {"blk.0.attn_qkv.weight", 96, 32, 0},
                                  {"blk.0.attn_qkv.bias", 96, 0, 0},
                                  MATRIX("blk.0.attn_output"),
                                  VECTOR("blk.0.attn_output.bias"),
                                  MATRIX("blk.0.ffn_up"),
                                  VECTOR("blk.0.ffn_up.bias"),
                                  MATRIX("blk.0.ffn_down"),
                                  VECTOR("blk.0.ffn_down.bias"),
                                  LAST};
static const struct row encoder[] = {
    {"token_types.weight", 2, 32, 0},       VECTOR("token_embd_norm.weight"),
    VECTOR("token_embd_norm.bias"),         VECTOR("blk.0.attn_output_norm.weight"),
    VECTOR("blk.0.attn_output_norm.bias"),  VECTOR("blk.0.layer_output_norm.weight"),
    VECTOR("blk.0.layer_output_norm.bias"), LAST};
static const struct row bert[] = {{"position_embd.weight", 16, 32, 0},
                                  VECTOR("blk.0.ffn_up.bias"),
                                  VECTOR("blk.0.ffn_down.bias"),
                                  VECTOR("blk.0.attn_output.bias"),
                                  LAST};
static const struct row nomic[] = {MATRIX("token_embd"),
                                   {"blk.0.attn_qkv.weight", 96, 32, 0},
                                   MATRIX("blk.0.attn_output"),
                                   MATRIX("blk.0.ffn_up"),
                                   MATRIX("blk.0.ffn_gate"),
                                   MATRIX("blk.0.ffn_down"),
                                   LAST};

static const struct architecture architectures[] = {
    {"llama", {attention, gated}, true, 0},
    {"llama", {mixing, experts, norms}, true, 2},
    {"granitemoe", {mixing, experts, norms}, true, 2},
    {"olmoe", {mixing, experts, norms, whole_norms}, true, 2},
    {"qwen2moe", {mixing, experts, norms, shared}, true, 4},
    {"qwen3moe", {mixing, experts, norms, head_norms}, true, 3},
    {"gpt-oss", {mixing, experts, front, norm_behind, gpt_oss}, true, 3},
    {"qwen35", {delta_net, rates, front, norm_behind, maps}, true, 0},
    {"qwen35moe", {delta_net, rates, front, norm_behind, experts, shared}, true, 4},
    {"qwen3next", {delta_net, both_rates, front, norm_behind, experts, shared}, true, 4},
    {"granitehybrid", {mamba, norms, maps}, true, 0},
    {"qwen2", {attention, gated, biases}, true, 0},
    {"qwen3", {attention, gated, head_norms}, true, 0},
    {"gemma", {attention, gated}, true, 0},
    {"gemma2", {attention, gated, behind_norms}, true, 0},
    {"gemma3", {attention, gated, behind_norms, head_norms}, true, 0},
    {"gemma-embedding", {attention, gated, behind_norms, head_norms}, true, 0},
    {"phi2", {attention, front, all_biases, head}, false, 0},
    {"phi3", {packed, norms}, true, 0},
    {"granite", {attention, gated}, true, 0},
    {"smollm3", {attention, gated}, true, 0},
    {"arcee", {attention, norms}, true, 0},
    {"seed_oss", {attention, front, norm_behind, gate}, true, 0},
    {"ernie4_5", {attention, gated}, true, 0},
    {"exaone4", {attention, behind, behind_norms, head_norms}, true, 0},
    {"glm4", {half_packed, norms, behind_norms}, true, 0},
    {"nemotron", {attention, norms, norm_biases}, false, 0},
    {"olmo2", {attention, behind, behind_norms, whole_norms}, true, 0},
    {"command-r", {attention, front, gate}, false, 0},
    {"cohere2", {attention, front, gate}, false, 0},
    {"stablelm", {attention, gated, norm_biases}, false, 0},
    {"starcoder2", {attention, norms, all_biases, last_bias}, false, 0},
    {"gpt2", {gpt2, norms, norm_biases}, false, 0},
    {"bert", {attention, encoder, bert, biases}, false, 0},
    {"nomic-bert", {nomic, encoder}, false, 0},
    {"clip", {attention}, false, 0}};

/* ---- keys ---- */

static void put_odd(struct choices *choices, const char *key) {
    static const enum weft_gguf_type types[] = {
        WEFT_GGUF_U8,  WEFT_GGUF_I8,     WEFT_GGUF_U16,  WEFT_GGUF_I16, WEFT_GGUF_U32,
        WEFT_GGUF_I32, WEFT_GGUF_F32,    WEFT_GGUF_BOOL, WEFT_GGUF_U64, WEFT_GGUF_I64,
        WEFT_GGUF_F64, WEFT_GGUF_STRING, WEFT_GGUF_ARRAY};
    static const size_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 8, 8, 8, 8, 4};
    const unsigned type = choose(choices, (unsigned)COUNT(types));
    gguf_key(&choices->out, key, types[type]);
    gguf_put(&choices->out.keys, PICK(choices, odd), sizes[type]);
    if (types[type] == WEFT_GGUF_ARRAY) {
        gguf_put(&choices->out.keys, PICK(choices, odd), 8);
        gguf_put(&choices->out.keys, PICK(choices, odd), 8);
    }
}

/* True where the key was put otherwise, or left out. */
static bool differs(struct choices *choices, const char *key) {
    if (!rarely(choices)) {
        return false;
    }
    if (choose(choices, 3) > 0) {
        put_odd(choices, key);
    }
    return choose(choices, 4) > 0; /* else it is there twice */
}

static const char *own(const struct choices *choices, char key[128], const char *name) {
    snprintf(key, 128, "%s.%s", choices->architecture->name, name);
    return key;
}

struct number {
    const char *name;
    uint32_t value;
};

static void put_expected(struct choices *choices, const struct number *numbers, size_t count) {
    char key[128];
    for (size_t i = 0; i < count; i++) {
        if (!differs(choices, own(choices, key, numbers[i].name))) {
            gguf_u32(&choices->out, key, numbers[i].value);
        }
    }
}

static void put_numbers(struct choices *choices) {
    static const struct number of_experts[] = {{"expert_count", EXPERTS},
                                               {"expert_used_count", 2},
                                               {"expert_feed_forward_length", 32},
                                               {"expert_shared_feed_forward_length", 32}};
    static const struct number rows[] = {{"context_length", 16},
                                         {"embedding_length", 32},
                                         {"block_count", 1},
                                         {"feed_forward_length", 32},
                                         {"attention.head_count", 4}};
    static const struct number of_states[] = {{"ssm.conv_kernel", 4},
                                              {"ssm.state_size", 16},
                                              {"ssm.group_count", 2},
                                              {"ssm.time_step_rank", 2},
                                              {"ssm.inner_size", 32}};
    static const struct number of_delta_nets[] = {{"full_attention_interval", 2},
                                                  {"nextn_predict_layers", 0}};
    static const char *const others[] = {"attention.head_count_kv",
                                         "attention.key_length",
                                         "attention.value_length",
                                         "rope.dimension_count",
                                         "attention.sliding_window",
                                         "expert_count",
                                         "pooling_type",
                                         "vocab_size",
                                         "rope.scaling.factor",
                                         "rope.scaling.original_context_length",
                                         "rope.scaling.attn_factor",
                                         "rope.freq_base_swa",
                                         "attention.sliding_window_pattern",
                                         "attn_logit_softcapping",
                                         "attention.scale",
                                         "logit_scale",
                                         "use_parallel_residual",
                                         "unheard.of"};
    char key[128];
    put_expected(choices, rows, COUNT(rows));
    put_expected(choices, of_experts, choices->architecture->expert_keys);
    const bool is_delta_net = choices->architecture->rows[0] == delta_net;
    const bool is_mamba = choices->architecture->rows[0] == mamba;
    put_expected(choices, of_states, is_delta_net || is_mamba ? COUNT(of_states) : 0);
    put_expected(choices, of_delta_nets, is_delta_net ? COUNT(of_delta_nets) : 0);
    if (is_mamba && !rarely(choices)) {
        gguf_array(&choices->out, own(choices, key, "attention.head_count_kv"), WEFT_GGUF_I32, 1);
        gguf_put(&choices->out.keys, choose(choices, 8) == 7 ? 4 : 0, 4);
        gguf_bool(&choices->out, own(choices, key, "rope.scaling.finetuned"), rarely(choices));
    }
    for (size_t i = 0; i < COUNT(others); i++) {
        if (rarely(choices)) {
            gguf_u32(&choices->out, own(choices, key, others[i]), choose(choices, 9));
        }
    }
    own(choices, key,
        choices->architecture->rms ? "attention.layer_norm_rms_epsilon"
                                   : "attention.layer_norm_epsilon");
    if (!differs(choices, key)) {
        gguf_f32(&choices->out, key, 1e-5F);
    }
    if (choose(choices, 4) == 3) {
        static const char *const types[] = {"linear", "none", "yarn", "longrope", "dynamic", ""};
        gguf_string(&choices->out, own(choices, key, "rope.scaling.type"), PICK(choices, types));
    }
}

static void put_general(struct choices *choices) {
    static const uint32_t alignments[] = {32, 32, 8, 1, 64, 0, 3, 1U << 31};
    choices->architecture = &PICK(choices, architectures);
    if (!differs(choices, "general.architecture")) {
        gguf_string(&choices->out, "general.architecture", choices->architecture->name);
    }
    if (rarely(choices)) {
        choices->out.alignment = PICK(choices, alignments);
        gguf_u32(&choices->out, "general.alignment", (uint32_t)choices->out.alignment);
        choices->out.alignment = choices->out.alignment > 64 ? 64 : choices->out.alignment;
    }
    if (rarely(choices)) {
        static const char *const keys[] = {"general.type", "general.quantization_version",
                                           "split.count", "general.name"};
        put_odd(choices, PICK(choices, keys));
    }
}

/* ---- the tokenizer ---- */

static const char *const atoms[] = {
    "a",        "b",        " ",   "\xE2\x96\x81", "ab", "##b", "[CLS]", "[UNK]", "<0x41>",
    "\xC4\xA0", "\xC3\xA9", "<s>", "\"",           "\\", "\n",  "A",     "a a",   "\xE7\xB9\x94",
    "",         "abab",     "ba",  "\xFF"};

/* Most tokens are those in this order, or have a number that makes them different. */
static void put_token(struct choices *choices, unsigned index) {
    char text[256] = "";
    if (index < COUNT(atoms) && choose(choices, 8) < 6) {
        gguf_put_text(&choices->out.keys, atoms[index]);
        return;
    }
    for (unsigned left = 1 + choose(choices, 6); left > 0; left--) {
        strcat(text, PICK(choices, atoms));
    }
    if (choose(choices, 16) < 15) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "%u", index);
    }
    gguf_put_text(&choices->out.keys, text);
}

static void put_merges(struct choices *choices) {
    static const char *const merges[] = {"a b", "b a", "ab ab", "\xC4\xA0 a",
                                         "a",   " ",   "a  b",  "x y"};
    const unsigned count = choose(choices, 4);
    gguf_array(&choices->out, "tokenizer.ggml.merges", WEFT_GGUF_STRING, count);
    for (unsigned i = 0; i < count; i++) {
        gguf_put_text(&choices->out.keys, merges[choose(choices, rarely(choices) ? 8 : 3)]);
    }
}

static void put_list(struct choices *choices, const char *key, enum weft_gguf_type type,
                     unsigned count, unsigned most) {
    gguf_array(&choices->out, key, type, count);
    for (unsigned i = 0; i < count; i++) {
        const unsigned value = 1 + choose(choices, most);
        if (type == WEFT_GGUF_F32) {
            gguf_put_real(&choices->out.keys, -(float)value);
        } else {
            gguf_put(&choices->out.keys, value, 4);
        }
    }
}

static void put_settings(struct choices *choices) {
    static const char *const bools[] = {"add_bos_token",
                                        "add_eos_token",
                                        "add_sep_token",
                                        "add_space_prefix",
                                        "remove_extra_whitespaces",
                                        "normalizer.lowercase",
                                        "unheard_of"};
    char key[128];
    for (size_t i = 0; i < COUNT(bools); i++) {
        snprintf(key, sizeof key, "tokenizer.ggml.%s", bools[i]);
        if (choose(choices, 8) == 7) {
            gguf_bool(&choices->out, key, choose(choices, 2) > 0);
        }
    }
    static const char *const ids[] = {"bos", "eos", "unknown", "seperator", "padding", "mask"};
    for (size_t i = 0; i < COUNT(ids); i++) {
        snprintf(key, sizeof key, "tokenizer.ggml.%s_token_id", ids[i]);
        if (!differs(choices, key)) {
            gguf_u32(&choices->out, key, (uint32_t)i);
        }
    }
}

/* SentencePiece's rules, which are bytes. */
static void put_rules(struct choices *choices) {
    const unsigned count = choose(choices, 64);
    gguf_array(&choices->out, "tokenizer.ggml.precompiled_charsmap",
               choose(choices, 2) ? WEFT_GGUF_U8 : WEFT_GGUF_I8, count);
    for (unsigned i = 0; i < count; i++) {
        gguf_put(&choices->out.keys, choose(choices, 256), 1);
    }
}

static void put_tokenizer(struct choices *choices) {
    static const char *const models[] = {"gpt2", "llama", "bert", "t5", "none"};
    static const char *const pres[] = {"gpt-2",  "llama-bpe", "qwen2",  "tekken",
                                       "smollm", "gpt-4o",    "default"};
    const unsigned count = 8 + choose(choices, 25);
    if (choose(choices, 8) == 7) {
        return;
    }
    gguf_string(&choices->out, "tokenizer.ggml.model", PICK(choices, models));
    gguf_string(&choices->out, "tokenizer.ggml.pre", PICK(choices, pres));
    if (!differs(choices, "tokenizer.ggml.tokens")) {
        gguf_array(&choices->out, "tokenizer.ggml.tokens", WEFT_GGUF_STRING, count);
        for (unsigned i = 0; i < count; i++) {
            put_token(choices, i);
        }
    }
    if (!differs(choices, "tokenizer.ggml.token_type")) {
        put_list(choices, "tokenizer.ggml.token_type", WEFT_GGUF_I32, count, 7);
    }
    if (!differs(choices, "tokenizer.ggml.scores")) {
        put_list(choices, "tokenizer.ggml.scores", WEFT_GGUF_F32, count, 5);
    }
    if (!differs(choices, "tokenizer.ggml.merges")) {
        put_merges(choices);
    }
    if (choose(choices, 8) == 7) {
        put_rules(choices);
    }
    put_settings(choices);
}

/* ---- tensors ---- */

static void put_tensor(struct choices *choices, const struct row *row) {
    static const uint8_t zeros[130 * 32 * 4] = {0};
    static const uint8_t below[8] = {0, 0, 0x80, 0xBF, 0, 0, 0x80, 0xBF}; /* below 0, in F32 */
    const bool is_rate = strcmp(row->name, "blk.0.ssm_a") == 0 && !rarely(choices);
    static const struct {
        uint32_t format;
        size_t elements, bytes;
    } formats[] = {{0, 1, 4},   {1, 1, 2},   {30, 1, 2},   {8, 32, 34},  {2, 32, 18},  {3, 32, 20},
                   {6, 32, 22}, {7, 32, 24}, {12, 32, 18}, {14, 32, 26}, {10, 32, 12}, {99, 32, 4}};
    const unsigned some = choose(choices, rarely(choices) ? (unsigned)COUNT(formats) : 8);
    const unsigned kind = is_rate ? 0 : some;
    const uint64_t columns = row->columns > 0 ? row->columns : 1;
    const uint64_t count = row->experts > 0 ? row->experts : 1;
    uint64_t shape[4] = {row->columns > 0 ? columns : row->rows, row->rows, count, 1};
    uint32_t rank = row->experts > 0 ? 3 : row->columns > 0 ? 2 : 1;
    const size_t elements = (size_t)(row->rows * columns * count);
    if (!rarely(choices)) {
        gguf_tensor(&choices->out, row->name, rank, shape, formats[kind].format,
                    is_rate ? below : zeros,
                    elements / formats[kind].elements * formats[kind].bytes);
        return;
    }
    shape[choose(choices, 2)] = PICK(choices, odd);
    rank = choose(choices, 6);
    gguf_entry(&choices->out, row->name, rank > 4 ? 4 : rank, shape, formats[kind].format,
               choose(choices, 2) ? PICK(choices, odd) : 32 * choose(choices, 64));
}

static void put_rows(struct choices *choices, const struct row *rows) {
    for (; rows->name; rows++) {
        put_tensor(choices, rows);
    }
}

static void put_tensors(struct choices *choices) {
    static const char *const others[] = {"rope_freqs.weight",
                                         "rope_factors_short.weight",
                                         "rope_factors_long.weight",
                                         "blk.1.attn_q.bias",
                                         "output.weight",
                                         "output.bias",
                                         "blk.99999.attn_q.weight",
                                         "unheard.of",
                                         ""};
    for (size_t i = 0; i < COUNT(choices->architecture->rows) && choices->architecture->rows[i];
         i++) {
        put_rows(choices, choices->architecture->rows[i]);
    }
    if (choose(choices, 8) == 7) {
        put_rows(choices, biases);
        put_rows(choices, output_bias);
    }
    while (rarely(choices)) {
        const char *name = PICK(choices, others);
        put_tensor(choices, &(struct row){name, 4, choose(choices, 2) ? 32 : 0, 0});
    }
}

/* ---- damage ---- */

static void damage(struct choices *choices, struct weft_text *file) {
    for (unsigned left = rarely(choices) ? choose(choices, 4) : 0; left > 0; left--) {
        const size_t at = (choose(choices, 256) + 256U * choose(choices, 16)) % file->length;
        const unsigned how = choose(choices, 3);
        if (how == 2) {
            file->length = at > 0 ? at : 1;
        } else {
            file->data[at] = (char)(how == 0 ? file->data[at] ^ (1 << choose(choices, 8))
                                             : (int)choose(choices, 256));
        }
    }
}

/* ---- what must hold ---- */

static void read_values(const weft_gguf *file) {
    struct weft_text text = {.data = NULL};
    for (uint32_t i = 0; i < weft_gguf_value_count(file); i++) {
        const struct weft_gguf_value *value = weft_gguf_value_at(file, i);
        fuzz_expect(weft_gguf_find(file, value->key) == value);
        fuzz_expect(value->offset <= weft_gguf_size(file));
        int64_t integer = 0;
        double real = 0;
        bool choice = false;
        float *reals = NULL;
        int32_t *integers = NULL;
        (void)weft_gguf_integer(&integer, file, value->key, INT64_MIN, INT64_MAX);
        (void)weft_gguf_real(&real, file, value->key);
        (void)weft_gguf_bool(&choice, file, value->key);
        (void)weft_gguf_string(&text, file, value->key, 4096);
        (void)weft_gguf_reals(&reals, file, value->key, value->count);
        (void)weft_gguf_integers(&integers, file, value->key, value->count);
        weft_free(NULL, reals);
        weft_free(NULL, integers);
    }
    weft_free(NULL, text.data);
}

static void read_tensors(const weft_gguf *file) {
    for (uint32_t i = 0; i < weft_gguf_tensor_count(file); i++) {
        const struct weft_gguf_tensor *tensor = weft_gguf_tensor_at(file, i);
        fuzz_expect(weft_gguf_find_tensor(file, tensor->name) == tensor);
        fuzz_expect(tensor->offset + tensor->bytes <= weft_gguf_size(file));
        uint8_t *bytes = malloc((size_t)tensor->bytes);
        if (bytes) {
            fuzz_expect(weft_gguf_read(file, tensor, 0, bytes, (size_t)tensor->bytes) == WEFT_OK);
        }
        free(bytes);
    }
}

static void use_model(const uint8_t *data, size_t size) {
    static const char text[] = "a abab \xC3\xA9 [CLS] <s>ba  A\n";
    size_t left = 0;
    const weft_host host = fuzz_small_host(&left, MEMORY);
    weft_model *model = NULL;
    const weft_status status = weft_model_load(&model, fuzz_file(data, size), &host);
    fuzz_expect((status == WEFT_OK) == (model != NULL));
    if (model) {
        int32_t *tokens = NULL;
        uint32_t count = 0;
        char *again = NULL;
        size_t again_size = 0;
        weft_model_info info;
        fuzz_expect(weft_model_get_info(model, &info) == WEFT_OK);
        if (weft_model_tokenize(model, text, sizeof text - 1, &tokens, &count) == WEFT_OK) {
            for (uint32_t i = 0; i < count; i++) {
                fuzz_expect(tokens[i] >= 0 && (uint32_t)tokens[i] < info.vocabulary);
            }
            (void)weft_model_detokenize(model, tokens, count, &again, &again_size);
        }
        weft_text_free(model, &again);
        weft_tokens_free(model, &tokens);
    }
    weft_model_destroy(&model);
    fuzz_expect(left == MEMORY);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct choices choices = {.data = data, .size = size};
    const clock_t begin = clock();
    weft_gguf *file = NULL;
    put_general(&choices);
    put_numbers(&choices);
    put_tensors(&choices);
    put_tokenizer(&choices);
    struct weft_text made = gguf_finish(&choices.out);
    fuzz_expect(made.data);
    damage(&choices, &made);
    if (weft_gguf_open_memory(&file, made.data, made.length, "fuzz.gguf", NULL) == WEFT_OK) {
        read_values(file);
        read_tensors(file);
    }
    weft_gguf_close(&file);
    use_model((const uint8_t *)made.data, made.length);
    weft_free(NULL, made.data);
    fuzz_expect((double)(clock() - begin) / CLOCKS_PER_SEC < SECONDS); /* with sanitizers */
    return 0;
}
