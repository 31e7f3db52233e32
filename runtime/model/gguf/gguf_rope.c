/* SPDX-License-Identifier: MIT */
/* Positions that turn pairs of channels: what a GGUF file says of them in keys and in tables of divisors. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/bytes.h"
#include "core/try.h"
#include "model/gguf/gguf_family.h"

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

/* The numbers of a tensor, one for each two channels that turn; none where the file lacks it. */
static weft_status read_table(struct divisors *divisors, const struct weft_gguf_reading *reading,
                              const char *name, int64_t turning) {
    const struct weft_gguf_tensor *tensor = weft_gguf_find_tensor(reading->file, name);
    *divisors = (struct divisors){.count = 0};
    if (!tensor) {
        return WEFT_OK;
    }
    if (strcmp(tensor->format->name, "F32") != 0 || tensor->elements != (uint64_t)turning / 2 ||
        tensor->bytes > sizeof divisors->bytes) {
        return weft_fail(
            weft_gguf_host(reading->file), WEFT_BAD_FILE,
            "%s: tensor \"%s\": expected F32, one for each two channels of a head that "
            "turn, found %" PRIu64 " of %s",
            weft_gguf_path(reading->file), name, tensor->elements, tensor->format->name);
    }
    divisors->count = tensor->elements;
    return weft_gguf_read(reading->file, tensor, 0, divisors->bytes, (size_t)tensor->bytes);
}

/* ---- LongRoPE ---- */

static weft_status set_table(const struct weft_gguf_reading *scaling, const char *field,
                             const struct divisors *divisors) {
    json_t *list = json_array();
    bool failed = !list;
    for (uint64_t i = 0; !failed && i < divisors->count; i++) {
        failed = json_array_append_new(list, json_real(divisor_at(divisors, i))) != 0;
    }
    if (failed) {
        json_decref(list);
        list = NULL;
    }
    return weft_gguf_set(scaling, field, list);
}

/* The length that a model was trained at before its context grew: without the key the growth is not known. */
static weft_status set_length(const struct weft_gguf_reading *scaling) {
    static const char key[] = "rope.scaling.original_context_length";
    int64_t length = 0;
    WEFT_TRY(weft_gguf_own_integer(&length, scaling, key));
    return length > 0
               ? weft_gguf_set(scaling, "original_max_position_embeddings", json_integer(length))
               : weft_gguf_own_fail(scaling, key, "a length, as positions are scaled", "none");
}

static weft_status fill_long(const struct weft_gguf_reading *scaling, const struct divisors *within,
                             int64_t turning) {
    struct divisors beyond;
    double amplitude = 0;
    WEFT_TRY(read_table(&beyond, scaling, "rope_factors_long.weight", turning));
    WEFT_TRY(set_length(scaling));
    WEFT_TRY(set_table(scaling, "short_factor", within));
    WEFT_TRY(set_table(scaling, "long_factor", &beyond));
    WEFT_TRY(weft_gguf_own_real(&amplitude, scaling, "rope.scaling.attn_factor"));
    return amplitude != 0 ? weft_gguf_set(scaling, "attention_factor", json_real(amplitude))
                          : WEFT_OK;
}

/* ---- by keys ---- */

/* By how much positions are divided; 0: not said. Older files have another key. */
static weft_status read_factor(double *factor, const struct weft_gguf_reading *reading) {
    WEFT_TRY(weft_gguf_own_real(factor, reading, "rope.scale_linear"));
    return weft_gguf_own_real(factor, reading, "rope.scaling.factor");
}

enum kind { LINEAR, NONE, YARN, LONG, KINDS };
static const char *const kinds[KINDS] = {"linear", "none", "yarn", "longrope"};

/* A factor without a type is linear, as llama.cpp has it. */
static weft_status read_kind(enum kind *kind, const struct weft_gguf_reading *reading) {
    const struct weft_gguf_own_key key = weft_gguf_own_key(reading, "rope.scaling.type");
    weft_status status = WEFT_OK;
    char *type = NULL;
    *kind = LINEAR;
    if (!weft_gguf_find(reading->file, key.text)) {
        return WEFT_OK;
    }
    WEFT_TRY(weft_gguf_name(&type, reading->file, key.text));
    while (*kind < KINDS && strcmp(type, kinds[*kind]) != 0) {
        *kind = (enum kind)(*kind + 1);
    }
    if (*kind == KINDS) {
        status = weft_gguf_own_fail(reading, "rope.scaling.type", "none, linear, yarn or longrope",
                                    type);
    }
    weft_free(weft_gguf_host(reading->file), type);
    return status;
}

/* Weights of attention are multiplied by LongRoPE's alone. YaRN's follows from its factor, and bounds are the usual ones: keys of others are refused. */
static weft_status expect_no_amplitude(const struct weft_gguf_reading *reading) {
    double amplitude = 1.0;
    WEFT_TRY(weft_gguf_own_real(&amplitude, reading, "rope.scaling.attn_factor"));
    return amplitude == 1.0 ? WEFT_OK
                            : weft_gguf_own_fail(reading, "rope.scaling.attn_factor",
                                                 "1, or no such key", "another number");
}

/* By a factor; nothing where it changes no position. */
static weft_status fill_by_factor(const struct weft_gguf_reading *scaling, enum kind kind) {
    double factor = 0;
    WEFT_TRY(read_factor(&factor, scaling));
    WEFT_TRY(expect_no_amplitude(scaling));
    if (kind == NONE || kind == LONG || factor == 0 || factor == 1) {
        return WEFT_OK;
    }
    WEFT_TRY(weft_gguf_set(scaling, "rope_type", json_string(kinds[kind])));
    WEFT_TRY(weft_gguf_set(scaling, "factor", json_real(factor)));
    return kind == YARN ? set_length(scaling) : WEFT_OK;
}

static weft_status fill(const struct weft_gguf_reading *scaling, int64_t turning) {
    struct divisors within;
    enum kind kind = LINEAR;
    WEFT_TRY(read_kind(&kind, scaling));
    WEFT_TRY(read_table(&within, scaling, "rope_factors_short.weight", turning));
    if (within.count == 0) {
        return fill_by_factor(scaling, kind);
    }
    WEFT_TRY(weft_gguf_set(scaling, "rope_type", json_string(kinds[LONG])));
    return fill_long(scaling, &within, turning);
}

/* The object is read as a config is, and becomes a field of it. */
static weft_status add_scaling(const struct weft_gguf_reading *reading, int64_t turning) {
    const struct weft_gguf_reading scaling = {reading->file, reading->family, json_object()};
    if (!scaling.config) {
        return weft_fail_memory(weft_gguf_host(reading->file), "a model's config");
    }
    weft_status status = fill(&scaling, turning);
    if (status == WEFT_OK && json_object_size(scaling.config) > 0) {
        status = set_scaling(reading, json_incref(scaling.config));
    }
    json_decref(scaling.config);
    return status;
}

/* ---- the whole ---- */

/* The share of a head whose product with it, cut to whole channels, is their number: a little more, as quotients are rounded. */
static double share_of(int64_t turning, int64_t head) {
    return turning == head ? 1.0 : ((double)turning + 1e-9) / (double)head;
}

/* How many of a head's channels turn: all, unless the family's heads may turn in part. */
static weft_status add_turning(int64_t *turning, const struct weft_gguf_reading *reading,
                               int64_t head) {
    *turning = head;
    if (!reading->family->partial) {
        return weft_gguf_own_expect(reading, "rope.dimension_count", head,
                                    "the channels of a head");
    }
    WEFT_TRY(weft_gguf_own_integer(turning, reading, "rope.dimension_count"));
    if (*turning < 2 || *turning > head) {
        return weft_gguf_own_fail(reading, "rope.dimension_count",
                                  "at least 2, and no more than the channels of a head",
                                  "another number");
    }
    return weft_gguf_set(reading, "partial_rotary_factor", json_real(share_of(*turning, head)));
}

weft_status weft_gguf_add_rope(const struct weft_gguf_reading *reading, int64_t head) {
    double base = 10000.0;
    int64_t turning = 0;
    struct divisors divisors;
    WEFT_TRY(weft_gguf_own_real(&base, reading, "rope.freq_base"));
    WEFT_TRY(add_turning(&turning, reading, head));
    WEFT_TRY(weft_gguf_set(reading, "rope_theta", json_real(base)));
    WEFT_TRY(add_scaling(reading, turning));
    WEFT_TRY(read_table(&divisors, reading, "rope_freqs.weight", turning));
    return divisors.count > 0 ? match_llama3(reading, &divisors, base) : WEFT_OK;
}
