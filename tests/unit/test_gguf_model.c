/* SPDX-License-Identifier: MIT */
/* GGUF files as models: keys as a config, tensors as a folder's, tokens as a tokenizer, and what is refused of them. */
#include <stdlib.h>

#include <weft/model.h>

#include "gguf_writer.h"
#include "model/gguf/gguf_weights.h"
#include "support.h"

#define WIDTH 8u
#define WORDS 24u

/* ---- a small Llama ---- */

struct named {
    const char *name;
    uint64_t rows, columns;
};

static void put_zeros(struct gguf_writer *writer, const struct named *tensor) {
    static const float zeros[WORDS * 32] = {0};
    const uint64_t columns = tensor->columns > 0 ? tensor->columns : 1;
    const uint64_t matrix[] = {tensor->columns, tensor->rows};
    gguf_tensor(writer, tensor->name, tensor->columns > 0 ? 2 : 1,
                tensor->columns > 0 ? matrix : &tensor->rows, 0, zeros,
                (size_t)(tensor->rows * columns) * sizeof(float));
}

static void put_tensors(struct gguf_writer *writer, uint32_t inner) {
    const struct named tensors[] = {
        {"token_embd.weight", WORDS, WIDTH},        {"output_norm.weight", WIDTH, 0},
        {"blk.0.attn_norm.weight", WIDTH, 0},       {"blk.0.attn_q.weight", WIDTH, WIDTH},
        {"blk.0.attn_k.weight", WIDTH / 2, WIDTH},  {"blk.0.attn_v.weight", WIDTH / 2, WIDTH},
        {"blk.0.attn_output.weight", WIDTH, WIDTH}, {"blk.0.ffn_norm.weight", WIDTH, 0},
        {"blk.0.ffn_gate.weight", inner, WIDTH},    {"blk.0.ffn_up.weight", inner, WIDTH},
        {"blk.0.ffn_down.weight", WIDTH, inner}};
    for (size_t i = 0; i < sizeof tensors / sizeof tensors[0]; i++) {
        put_zeros(writer, &tensors[i]);
    }
}

/* Two heads of four channels, one of keys. */
static void put_llama_of(struct gguf_writer *writer, uint32_t inner) {
    gguf_string(writer, "general.architecture", "llama");
    gguf_u32(writer, "llama.context_length", 32);
    gguf_u32(writer, "llama.embedding_length", WIDTH);
    gguf_u32(writer, "llama.block_count", 1);
    gguf_u32(writer, "llama.feed_forward_length", inner);
    gguf_u32(writer, "llama.attention.head_count", 2);
    gguf_u32(writer, "llama.attention.head_count_kv", 1);
    gguf_f32(writer, "llama.attention.layer_norm_rms_epsilon", 1e-5F);
    put_tensors(writer, inner);
}

static void put_llama(struct gguf_writer *writer) {
    put_llama_of(writer, WIDTH);
}

static char *write_file(struct gguf_writer *writer, const char *folder, const char *name) {
    struct weft_text bytes = gguf_finish(writer);
    char *path = weft_test_write(folder, name, bytes.data, bytes.length);
    weft_free(NULL, bytes.data);
    return path;
}

static weft_model *load_made(struct gguf_writer *writer, struct weft_test_place *place) {
    weft_model *model = NULL;
    assert_ok(
        weft_model_load(&model, write_file(writer, place->folder, "made.gguf"), &place->host.host));
    return model;
}

/* ---- configs ---- */

static void expect_config(const weft_model *model, const char *field) {
    if (!strstr(weft_model_config(model), field)) {
        fail_msg("expected %s in %s", field, weft_model_config(model));
    }
}

WEFT_TEST_IN_PLACE(keys_become_the_config, place) {
    struct gguf_writer writer = {.key_count = 0};
    put_llama(&writer);
    gguf_f32(&writer, "llama.rope.freq_base", 500.0F);
    gguf_u32(&writer, "llama.rope.dimension_count", 4);
    gguf_f32(&writer, "llama.rope.scaling.factor", 2.0F); /* linear, unless a type says otherwise */
    gguf_u32(&writer, "tokenizer.ggml.eos_token_id", 3);
    gguf_u32(&writer, "tokenizer.ggml.eot_token_id", 5);
    weft_model *model = load_made(&writer, place);
    static const char *const fields[] = {"\"model_type\": \"llama\"",
                                         "\"LlamaForCausalLM\"",
                                         "\"hidden_size\": 8",
                                         "\"num_hidden_layers\": 1",
                                         "\"intermediate_size\": 8",
                                         "\"num_attention_heads\": 2",
                                         "\"num_key_value_heads\": 1",
                                         "\"max_position_embeddings\": 32",
                                         "\"head_dim\": 4",
                                         "\"vocab_size\": 24",
                                         "\"rope_theta\": 500.0",
                                         "\"rope_type\": \"linear\"",
                                         "\"factor\": 2.0",
                                         "\"tie_word_embeddings\": true",
                                         "\"attention_bias\": false",
                                         "\"mlp_bias\": false"};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        expect_config(model, fields[i]);
    }
    weft_model_info info;
    assert_ok(weft_model_get_info(model, &info));
    assert_int_equal(info.task, WEFT_TASK_CAUSAL_LM);
    assert_int_equal(info.eos_token_count, 2);
    assert_true(info.eos_tokens[0] == 3 && info.eos_tokens[1] == 5);
    assert_string_equal(info.tokenizer, "none");
    weft_model_destroy(&model);
}

/* Llama 3.1's scaling is a table in the file. */
WEFT_TEST_IN_PLACE(a_table_of_divisors_is_known_again, place) {
    struct gguf_writer writer = {.key_count = 0};
    put_llama(&writer);
    gguf_f32(&writer, "llama.rope.freq_base", 500000.0F);
    const float divisors[2] = {1.0F, 1.7164F}; /* no factor gives these */
    gguf_tensor(&writer, "rope_freqs.weight", 1, (uint64_t[]){2}, 0, divisors, sizeof divisors);
    char *path = write_file(&writer, place->folder, "made.gguf");
    weft_model *model = NULL;
    WEFT_EXPECT_REFUSED(&place->host, WEFT_UNSUPPORTED,
                        weft_model_load(&model, path, &place->host.host), "rope_freqs.weight",
                        "8192");
    put_llama(&writer);
    const float ones[2] = {1.0F, 1.0F};
    gguf_tensor(&writer, "rope_freqs.weight", 1, (uint64_t[]){2}, 0, ones, sizeof ones);
    model = load_made(&writer, place);
    assert_null(strstr(weft_model_config(model), "rope_scaling"));
    weft_model_destroy(&model);
}

/* ---- tensors ---- */

/* Rows that are numbered in the order of a folder, where each head has its two halves one after the other. */
WEFT_TEST_ON_HOST(rows_of_queries_have_the_order_of_a_folder, test) {
    static const float in_file[WIDTH] = {0, 2, 1, 3, 4, 6, 5, 7};
    struct gguf_writer writer = {.key_count = 0};
    float matrix[WIDTH * 3];
    gguf_string(&writer, "general.architecture", "llama");
    gguf_u32(&writer, "llama.attention.head_count", 2);
    for (size_t i = 0; i < WIDTH * 3; i++) {
        matrix[i] = in_file[i / 3] * 10 + (float)(i % 3);
    }
    gguf_tensor(&writer, "blk.7.attn_q.weight", 2, (uint64_t[]){3, WIDTH}, 0, matrix,
                sizeof matrix);
    struct weft_text bytes = gguf_finish(&writer);
    weft_gguf *file = NULL;
    const struct weft_gguf_family *family = NULL;
    weft_safetensors *weights = NULL;
    assert_ok(weft_gguf_open_memory(&file, bytes.data, bytes.length, "made", &test->host));
    assert_ok(weft_gguf_family_of(&family, file));
    assert_ok(weft_gguf_weights_open(&weights, file, family));
    const weft_safetensors_tensor *tensor =
        weft_safetensors_find(weights, "model.layers.7.self_attn.q_proj.weight");
    assert_non_null(tensor);
    for (uint64_t first = 0; first < WIDTH * 3; first++) { /* from anywhere, and over rows */
        float read[WIDTH * 3];
        assert_ok(weft_safetensors_read_f32(weights, tensor, first, WIDTH * 3 - first, read));
        for (uint64_t i = first; i < WIDTH * 3; i++) {
            assert_true(read[i - first] == (float)(i / 3 * 10 + i % 3));
        }
    }
    weft_safetensors_close(&weights);
    weft_free(NULL, bytes.data);
}

/* ---- tokenizers ---- */

static void put_words(struct gguf_writer *writer, const char *model, const char *const *words,
                      uint32_t count) {
    gguf_string(writer, "tokenizer.ggml.model", model);
    gguf_strings(writer, "tokenizer.ggml.tokens", words, count);
}

static void put_types(struct gguf_writer *writer, const int32_t *types, uint32_t count) {
    gguf_array(writer, "tokenizer.ggml.token_type", WEFT_GGUF_I32, count);
    for (uint32_t i = 0; i < count; i++) {
        gguf_put(&writer->keys, (uint64_t)types[i], 4);
    }
}

static void expect_tokens(weft_model *model, const char *text, const int32_t *expected,
                          uint32_t count) {
    int32_t *tokens = NULL;
    uint32_t found = 0;
    assert_ok(weft_model_tokenize(model, text, strlen(text), &tokens, &found));
    assert_int_equal(found, count);
    assert_memory_equal(tokens, expected, count * sizeof *tokens);
    weft_tokens_free(model, &tokens);
}

WEFT_TEST_IN_PLACE(pairs_of_bytes_are_cut_as_their_pre_tokenizer_says, place) {
    static const char *const words[] = {"<s>",
                                        "a",
                                        "b",
                                        "\xC4\xA0",
                                        "ab",
                                        ("\xC4\xA0"
                                         "ab"),
                                        "1",
                                        "11"};
    static const int32_t types[] = {3, 1, 1, 1, 1, 1, 1, 1};
    static const char *const merges[] = {"a b", "\xC4\xA0 ab", "1 1"};
    struct gguf_writer writer = {.key_count = 0};
    put_llama(&writer);
    put_words(&writer, "gpt2", words, 8);
    put_types(&writer, types, 8);
    gguf_strings(&writer, "tokenizer.ggml.merges", merges, 3);
    gguf_u32(&writer, "tokenizer.ggml.bos_token_id", 0);
    gguf_string(&writer, "tokenizer.ggml.pre", "llama-bpe");
    weft_model *model = load_made(&writer, place);
    expect_tokens(model, "ab ab111", (int32_t[]){0, 4, 5, 7, 6}, 5); /* a word of three digits */
    expect_tokens(model, "b<s>a", (int32_t[]){0, 2, 0, 1}, 4);
    weft_model_destroy(&model);
    put_llama(&writer);
    put_words(&writer, "gpt2", words, 8);
    put_types(&writer, types, 8);
    gguf_strings(&writer, "tokenizer.ggml.merges", merges, 3);
    gguf_string(&writer, "tokenizer.ggml.pre", "qwen2");
    model = load_made(&writer, place);
    expect_tokens(model, "ab ab111", (int32_t[]){4, 5, 6, 6, 6}, 5); /* words of one */
    weft_model_destroy(&model);
}

WEFT_TEST_IN_PLACE(pieces_with_scores_merge_the_best_first, place) {
    static const char *const words[] = {"<unk>",
                                        "<s>",
                                        "</s>",
                                        "<0x0A>",
                                        "\xE2\x96\x81",
                                        "a",
                                        "b",
                                        "ab",
                                        "ba",
                                        ("\xE2\x96\x81"
                                         "a")};
    static const int32_t types[] = {2, 3, 3, 6, 1, 1, 1, 1, 1, 1};
    static const float scores[] = {0, 0, 0, 0, -9, -8, -7, -2, -1, -3};
    struct gguf_writer writer = {.key_count = 0};
    put_llama(&writer);
    put_words(&writer, "llama", words, 10);
    put_types(&writer, types, 10);
    gguf_array(&writer, "tokenizer.ggml.scores", WEFT_GGUF_F32, 10);
    for (size_t i = 0; i < 10; i++) {
        gguf_put_real(&writer.keys, scores[i]);
    }
    weft_model *model = load_made(&writer, place);
    expect_tokens(model, "aba", (int32_t[]){1, 9, 8}, 3); /* "ba" before "ab" */
    expect_tokens(model, "b\nz", (int32_t[]){1, 4, 6, 3, 0}, 5);
    expect_tokens(model, "a</s>b", (int32_t[]){1, 9, 2, 4, 6}, 5);
    char *text = NULL;
    size_t size = 0;
    assert_ok(weft_model_detokenize(model, (int32_t[]){1, 9, 8, 4, 5}, 5, &text, &size));
    assert_string_equal(text, "aba a");
    weft_text_free(model, &text);
    weft_model_destroy(&model);
}

/* ---- refusals ---- */

static void expect_refused(struct weft_test_place *place, weft_status expected,
                           struct gguf_writer *writer, const char *first, const char *second) {
    char *path = write_file(writer, place->folder, "made.gguf");
    weft_model *model = NULL;
    WEFT_EXPECT_REFUSED(&place->host, expected, weft_model_load(&model, path, &place->host.host),
                        "made.gguf", first, second);
    assert_null(model);
}

WEFT_TEST_IN_PLACE(what_changes_the_result_is_refused_by_name, place) {
    static const struct {
        const char *key;
        uint32_t value;
        const char *said;
    } rows[] = {{"llama.expert_used_count", 8, "0: none"},
                {"llama.unheard_of", 0, "keys that Weft knows"},
                {"llama.attention.sliding_window", 16, "context_length"},
                {"llama.attention.value_length", 6, "attention.key_length"},
                {"llama.rope.dimension_count", 2, "the channels of a head"},
                {"llama.pooling_type", 4, "a score"},
                {"general.quantization_version", 1, "expected 2, found 1"},
                {"tokenizer.ggml.unheard_of", 1, ""}};
    struct gguf_writer writer = {.key_count = 0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] - 1; i++) {
        put_llama(&writer);
        gguf_u32(&writer, rows[i].key, rows[i].value);
        expect_refused(place, WEFT_UNSUPPORTED, &writer, rows[i].key, rows[i].said);
    }
    put_llama(&writer);
    gguf_string(&writer, "llama.rope.scaling.type", "dynamic");
    expect_refused(place, WEFT_UNSUPPORTED, &writer, "rope.scaling.type", "found dynamic");
    put_llama(&writer);
    gguf_string(&writer, "llama.rope.scaling.type", "yarn");
    gguf_f32(&writer, "llama.rope.scaling.factor", 4.0F);
    expect_refused(place, WEFT_UNSUPPORTED, &writer, "rope.scaling.original_context_length",
                   "as positions are scaled, found none");
    put_llama(&writer);
    gguf_f32(&writer, "llama.rope.scaling.attn_factor", 2.0F);
    expect_refused(place, WEFT_UNSUPPORTED, &writer, "rope.scaling.attn_factor",
                   "1, or no such key");
    put_llama(&writer);
    gguf_string(&writer, "general.type", "adapter");
    expect_refused(place, WEFT_UNSUPPORTED, &writer, "general.type", "found adapter");
    put_llama(&writer);
    put_zeros(&writer, &(struct named){"blk.0.attn_sinks.weight", 4, 0});
    expect_refused(place, WEFT_UNSUPPORTED, &writer, "blk.0.attn_sinks.weight", "llama");
    put_llama(&writer);
    put_zeros(&writer, &(struct named){"blk.1.ffn_norm.weight", 4, 0});
    expect_refused(place, WEFT_BAD_FILE, &writer, "layers.1.post_attention_layernorm", "no part");
    gguf_string(&writer, "general.architecture", "mamba");
    expect_refused(place, WEFT_UNSUPPORTED, &writer, "llama, qwen2, qwen3, gemma,", "mamba");
    gguf_string(&writer, "general.architecture", "llama");
    put_tensors(&writer, WIDTH);
    expect_refused(place, WEFT_BAD_FILE, &writer, "llama.embedding_length", "no such key");
}

static void put_tokenizer(struct gguf_writer *writer, const char *model, const char *pre) {
    static const char *const words[] = {"a", "b", "ab"};
    static const char *const merges[] = {"a b"};
    put_llama(writer);
    put_words(writer, model, words, 3);
    gguf_string(writer, "tokenizer.ggml.pre", pre);
    gguf_strings(writer, "tokenizer.ggml.merges", merges, 1);
}

WEFT_TEST_IN_PLACE(tokenizers_that_weft_lacks_are_refused_by_name, place) {
    struct gguf_writer writer = {.key_count = 0};
    put_tokenizer(&writer, "gpt2", "default");
    expect_refused(place, WEFT_UNSUPPORTED, &writer, "tokenizer.ggml.pre", "found default");
    put_tokenizer(&writer, "rwkv", "default");
    expect_refused(place, WEFT_UNSUPPORTED, &writer, "tokenizer.ggml.model",
                   "gpt2, llama, t5 or bert");
    put_tokenizer(&writer, "t5", "default");
    expect_refused(place, WEFT_BAD_FILE, &writer, "tokenizer.ggml.scores", "no such key");
    put_tokenizer(&writer, "t5", "default");
    gguf_u32(&writer, "tokenizer.ggml.precompiled_charsmap", 1);
    expect_refused(place, WEFT_BAD_FILE, &writer, "tokenizer.ggml.precompiled_charsmap",
                   "an array of bytes");
    put_tokenizer(&writer, "gpt2", "gpt-2");
    gguf_bool(&writer, "tokenizer.ggml.add_space_prefix", true);
    expect_refused(place, WEFT_UNSUPPORTED, &writer, "add_space_prefix", "expected false");
    put_tokenizer(&writer, "gpt2", "gpt-2");
    gguf_bool(&writer, "tokenizer.ggml.unheard_of", true);
    expect_refused(place, WEFT_UNSUPPORTED, &writer, "tokenizer.ggml.unheard_of", "");
    put_tokenizer(&writer, "gpt2", "gpt-2");
    gguf_bool(&writer, "tokenizer.ggml.add_eos_token", true);
    expect_refused(place, WEFT_BAD_FILE, &writer, "eos_token_id", "expected a token");
    put_tokenizer(&writer, "llama", "default");
    expect_refused(place, WEFT_BAD_FILE, &writer, "tokenizer.ggml.scores", "no such key");
    static const char *const bytes[] = {"a", "\xFF"};
    put_llama(&writer);
    put_words(&writer, "gpt2", bytes, 2);
    gguf_string(&writer, "tokenizer.ggml.pre", "gpt-2");
    expect_refused(place, WEFT_BAD_FILE, &writer, "expected UTF-8", "token 1");
}

/* ---- paths ---- */

WEFT_TEST_IN_PLACE(a_folder_with_one_file_is_that_file, place) {
    struct gguf_writer writer = {.key_count = 0};
    const weft_host *host = &place->host.host;
    weft_model *model = NULL;
    char *folder = weft_test_folder();
    put_llama(&writer);
    write_file(&writer, folder, "one.gguf");
    assert_ok(weft_model_load(&model, folder, host));
    weft_model_destroy(&model);
    put_llama(&writer);
    char *other = write_file(&writer, folder, "two.gguf");
    WEFT_EXPECT_REFUSED(&place->host, WEFT_UNSUPPORTED, weft_model_load(&model, folder, host),
                        "found 2", "name the file");
    assert_ok(weft_model_load(&model, other, host));
    weft_model_destroy(&model);
}

/* What api/python/tests/test_quantize.py reads by the package gguf. */
WEFT_TEST_IN_PLACE(a_file_becomes_one_of_blocks, place) {
    struct gguf_writer writer = {.key_count = 0};
    const weft_host *host = &place->host.host;
    char *folder = weft_test_folder();
    char *out = weft_test_path(folder, "small.gguf");
    weft_quantize_info info;
    weft_model *model = NULL;
    put_llama_of(&writer, 32); /* of which one matrix has rows of whole blocks */
    char *file = write_file(&writer, folder, "one.gguf");
    WEFT_EXPECT_REFUSED(&place->host, WEFT_UNSUPPORTED,
                        weft_model_quantize(NULL, file, out, WEFT_QUANTIZE_I8, host),
                        "one.gguf: expected q8_0, q4_0 or q4_k");
    WEFT_EXPECT_REFUSED(
        &place->host, WEFT_INVALID_ARGUMENT,
        weft_model_quantize(NULL, file, weft_test_path(folder, "out"), WEFT_QUANTIZE_Q8_0, host),
        "a name that ends in .gguf");
    WEFT_EXPECT_REFUSED(&place->host, WEFT_INVALID_ARGUMENT,
                        weft_model_quantize(NULL, file, file, WEFT_QUANTIZE_Q8_0, host),
                        "another place");
    assert_ok(weft_model_quantize(&info, file, out, WEFT_QUANTIZE_Q4_K, host));
    assert_int_equal(info.matrices, 1);
    assert_int_equal(info.as_q8_0, 1);
    assert_true(info.bytes_after < info.bytes_before);
    assert_ok(weft_model_load(&model, out, host));
    weft_model_destroy(&model);
    WEFT_EXPECT_REFUSED(
        &place->host, WEFT_UNSUPPORTED,
        weft_model_quantize(NULL, out, weft_test_path(folder, "b.gguf"), WEFT_QUANTIZE_Q8_0, host),
        "found none");
}
