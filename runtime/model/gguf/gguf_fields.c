/* SPDX-License-Identifier: MIT */
/* Fields of config.json that no key of a GGUF file says by itself. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/bytes.h"
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

static weft_status integer(int64_t *value, const struct weft_gguf_reading *reading,
                           const char *name) {
    return weft_gguf_integer(value, reading->file, weft_gguf_own_key(reading, name).text, 0,
                             INT32_MAX);
}

static weft_status fail(const struct weft_gguf_reading *reading, const char *name,
                        const char *expected, const char *found) {
    return weft_gguf_fail(reading->file, WEFT_UNSUPPORTED, weft_gguf_own_key(reading, name).text,
                          expected, found);
}

/* The key, if it is there, must be that number. */
static weft_status expect(const struct weft_gguf_reading *reading, const char *name,
                          int64_t expected, const char *what) {
    int64_t found = expected;
    WEFT_TRY(integer(&found, reading, name));
    if (found == expected) {
        return WEFT_OK;
    }
    char texts[2][96];
    snprintf(texts[0], sizeof texts[0], "%" PRId64 ", %s", expected, what);
    snprintf(texts[1], sizeof texts[1], "%" PRId64, found);
    return fail(reading, name, texts[0], texts[1]);
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

/* ---- positions that turn ---- */

static weft_status set_scaling(const struct weft_gguf_reading *reading, json_t *scaling) {
    return weft_gguf_set(reading, "rope_scaling", scaling);
}

#define LLAMA3_LENGTH 8192.0
#define LLAMA3_HIGH   4.0

/* By how much Llama 3.1 divides a frequency: not for short waves, by `factor` for those longer than its first context, by something between. */
static double llama3_divisor(double wave, double factor) {
    const double turns = LLAMA3_LENGTH / wave;
    const double smooth = turns < 1.0           ? 0.0
                          : turns > LLAMA3_HIGH ? 1.0
                                                : (turns - 1.0) / (LLAMA3_HIGH - 1.0);
    return 1.0 / ((1.0 - smooth) / factor + smooth);
}

struct divisors {
    uint8_t bytes[1024 * sizeof(float)];
    uint64_t count;
};

static double divisor_at(const struct divisors *divisors, uint64_t i) {
    const uint32_t bits =
        (uint32_t)weft_load_bytes(divisors->bytes + i * sizeof(float), sizeof(float));
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A file has Llama 3.1's scaling as a table alone. It must be that of the published parameters, by which the config says it. */
static weft_status match_llama3(const struct weft_gguf_reading *reading,
                                const struct divisors *divisors, double base) {
    static const double pi = 3.14159265358979323846;
    double factor = 1.0;
    bool same = true;
    for (uint64_t i = 0; i < divisors->count; i++) {
        const double divisor = divisor_at(divisors, i);
        factor = divisor > factor ? divisor : factor; /* fmax ends gcc 12 for AArch64 */
    }
    for (uint64_t i = 0; i < divisors->count; i++) {
        const double wave = 2.0 * pi * pow(base, (double)i / (double)divisors->count);
        const double expected = llama3_divisor(wave, factor);
        same = same && fabs(divisor_at(divisors, i) - expected) <= 1e-4 * expected;
    }
    if (!same) {
        return weft_fail(weft_gguf_host(reading->file), WEFT_UNSUPPORTED,
                         "%s: tensor \"rope_freqs.weight\": expected Llama 3.1's scaling of 8192 "
                         "positions with factors 1 and 4, found another",
                         weft_gguf_path(reading->file));
    }
    return factor == 1.0
               ? WEFT_OK
               : set_scaling(reading,
                             json_pack("{s:s, s:f, s:f, s:f, s:i}", "rope_type", "llama3", "factor",
                                       factor, "low_freq_factor", 1.0, "high_freq_factor",
                                       LLAMA3_HIGH, "original_max_position_embeddings",
                                       (int)LLAMA3_LENGTH));
}

static weft_status read_divisors(const struct weft_gguf_reading *reading, double base,
                                 int64_t head) {
    struct divisors divisors = {.count = (uint64_t)head / 2};
    const struct weft_gguf_tensor *tensor =
        weft_gguf_find_tensor(reading->file, "rope_freqs.weight");
    if (!tensor) {
        return WEFT_OK;
    }
    if (strcmp(tensor->format->name, "F32") != 0 || tensor->elements != divisors.count ||
        tensor->bytes > sizeof divisors.bytes) {
        return weft_fail(weft_gguf_host(reading->file), WEFT_BAD_FILE,
                         "%s: tensor \"rope_freqs.weight\": expected F32, one for each two "
                         "channels of a head, found %" PRIu64 " of %s",
                         weft_gguf_path(reading->file), tensor->elements, tensor->format->name);
    }
    WEFT_TRY(weft_gguf_read(reading->file, tensor, 0, divisors.bytes, (size_t)tensor->bytes));
    return match_llama3(reading, &divisors, base);
}

/* By how much positions are divided; 0: not said. Older files have another key. */
static weft_status read_factor(double *factor, const struct weft_gguf_reading *reading) {
    WEFT_TRY(weft_gguf_real(factor, reading->file,
                            weft_gguf_own_key(reading, "rope.scale_linear").text));
    return weft_gguf_real(factor, reading->file,
                          weft_gguf_own_key(reading, "rope.scaling.factor").text);
}

/* A factor without a type is linear, as llama.cpp has it. */
static weft_status read_is_linear(bool *linear, const struct weft_gguf_reading *reading) {
    const weft_host *host = weft_gguf_host(reading->file);
    const struct weft_gguf_own_key key = weft_gguf_own_key(reading, "rope.scaling.type");
    struct weft_text type = {.host = *host};
    *linear = true;
    if (!weft_gguf_find(reading->file, key.text)) {
        return WEFT_OK;
    }
    weft_text_put(&type, "", 0);
    weft_status status = weft_gguf_string(&type, reading->file, key.text, WEFT_GGUF_MAX_NAME);
    if (status == WEFT_OK) {
        status = type.failed ? weft_fail_memory(host, key.text) : WEFT_OK;
    }
    if (status == WEFT_OK) {
        *linear = strcmp(type.data, "linear") == 0;
        status = *linear || strcmp(type.data, "none") == 0
                     ? WEFT_OK
                     : fail(reading, "rope.scaling.type", "none or linear", type.data);
    }
    weft_free(host, type.data);
    return status;
}

static weft_status read_scaling(const struct weft_gguf_reading *reading) {
    double factor = 0;
    bool linear = false;
    WEFT_TRY(read_factor(&factor, reading));
    WEFT_TRY(read_is_linear(&linear, reading));
    return linear && factor != 0 && factor != 1
               ? set_scaling(reading,
                             json_pack("{s:s, s:f}", "rope_type", "linear", "factor", factor))
               : WEFT_OK;
}

static weft_status add_rope(const struct weft_gguf_reading *reading, int64_t head) {
    double base = 10000.0;
    WEFT_TRY(
        weft_gguf_real(&base, reading->file, weft_gguf_own_key(reading, "rope.freq_base").text));
    WEFT_TRY(expect(reading, "rope.dimension_count", head, "the channels of a head"));
    WEFT_TRY(weft_gguf_set(reading, "rope_theta", json_real(base)));
    WEFT_TRY(read_scaling(reading));
    return read_divisors(reading, base, head);
}

/* ---- families ---- */

/* A window that is no shorter than the context changes nothing. */
static weft_status check_window(const struct weft_gguf_reading *reading) {
    int64_t length = 0, window = 0;
    WEFT_TRY(integer(&length, reading, "context_length"));
    WEFT_TRY(integer(&window, reading, "attention.sliding_window"));
    if (window == 0 || window >= length) {
        return WEFT_OK;
    }
    char found[32];
    snprintf(found, sizeof found, "%" PRId64, window);
    return fail(reading, "attention.sliding_window", "none, or as many as context_length", found);
}

static weft_status add_head(const struct weft_gguf_reading *reading, int64_t *head) {
    int64_t hidden = 0, heads = 0;
    WEFT_TRY(integer(&hidden, reading, "embedding_length"));
    WEFT_TRY(integer(&heads, reading, "attention.head_count"));
    *head = heads > 0 ? hidden / heads : 0;
    WEFT_TRY(integer(head, reading, "attention.key_length"));
    WEFT_TRY(expect(reading, "attention.value_length", *head, "as attention.key_length"));
    return weft_gguf_set(reading, "head_dim", json_integer(*head));
}

weft_status weft_gguf_add_qwen(const struct weft_gguf_reading *reading) {
    int64_t head = 0;
    WEFT_TRY(expect_causal(reading, true));
    WEFT_TRY(check_window(reading));
    WEFT_TRY(add_head(reading, &head));
    WEFT_TRY(add_rope(reading, head));
    WEFT_TRY(set_rows(reading, "vocab_size", "token_embd.weight"));
    return weft_gguf_set(reading, "tie_word_embeddings",
                         json_boolean(!has(reading, "output.weight")));
}

weft_status weft_gguf_add_llama(const struct weft_gguf_reading *reading) {
    WEFT_TRY(weft_gguf_add_qwen(reading));
    WEFT_TRY(
        weft_gguf_set(reading, "attention_bias", json_boolean(has(reading, "blk.0.attn_q.bias"))));
    return weft_gguf_set(reading, "mlp_bias", json_boolean(has(reading, "blk.0.ffn_gate.bias")));
}

static weft_status expect_whole_heads(const struct weft_gguf_reading *reading) {
    int64_t heads = 0;
    WEFT_TRY(integer(&heads, reading, "attention.head_count"));
    return expect(reading, "attention.head_count_kv", heads, "as attention.head_count");
}

weft_status weft_gguf_add_gpt2(const struct weft_gguf_reading *reading) {
    WEFT_TRY(expect_whole_heads(reading));
    WEFT_TRY(expect_causal(reading, true));
    WEFT_TRY(set_rows(reading, "vocab_size", "token_embd.weight"));
    return weft_gguf_set(reading, "tie_word_embeddings",
                         json_boolean(!has(reading, "output.weight")));
}

/* Files do not say BERT's activation, which is gelu. Those made of RoBERTa lack the first rows of its table of positions. */
weft_status weft_gguf_add_bert(const struct weft_gguf_reading *reading) {
    WEFT_TRY(expect_whole_heads(reading));
    WEFT_TRY(expect_causal(reading, false));
    WEFT_TRY(weft_gguf_set(reading, "hidden_act", json_string("gelu")));
    WEFT_TRY(set_rows(reading, "vocab_size", "token_embd.weight"));
    WEFT_TRY(set_rows(reading, "max_position_embeddings", "position_embd.weight"));
    return set_rows(reading, "type_vocab_size", "token_types.weight");
}
