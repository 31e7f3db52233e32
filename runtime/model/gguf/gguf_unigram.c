/* SPDX-License-Identifier: MIT */
/*
 * As transformers makes a tokenizer.json of XLM-RoBERTa's and T5's SentencePiece models: characters by the model's own rules, words at
 * spaces, a mark in front of each. Runs of spaces are one then, which is what remove_extra_whitespaces says.
 */
#include "model/gguf/gguf_unigram.h"

#include <inttypes.h>
#include <string.h>

#include "core/try.h"
#include "tokenizer/json/json_tokenizer.h"

#define RULES "tokenizer.ggml.precompiled_charsmap"
#define METASPACE                                                                             \
    "{\"type\":\"Metaspace\",\"replacement\":\"\xE2\x96\x81\",\"prepend_scheme\":\"always\"," \
    "\"split\":true}"

static void put(struct weft_text *out, const char *text) {
    weft_text_put(out, text, strlen(text));
}

/* ---- rules ---- */

/* Four characters for each three bytes; the last may be filled. */
static void put_base64(struct weft_text *out, const int32_t *bytes, uint64_t count) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (uint64_t i = 0; i < count; i += 3) {
        const uint64_t left = count - i < 3 ? count - i : 3;
        uint32_t bits = 0;
        for (uint64_t j = 0; j < 3; j++) {
            bits = bits << 8 | (j < left ? (uint32_t)bytes[i + j] & 0xff : 0);
        }
        char four[4];
        for (unsigned j = 0; j < 4; j++) {
            four[j] = j <= left ? digits[bits >> (18 - 6 * j) & 63] : '=';
        }
        weft_text_put(out, four, sizeof four);
    }
}

static weft_status put_rules(struct weft_text *out, const weft_gguf *file) {
    const struct weft_gguf_value *value = weft_gguf_find(file, RULES);
    if (!value || value->count == 0) {
        put(out, "\"normalizer\":null,");
        return WEFT_OK;
    }
    int32_t *bytes = NULL;
    if (value->type != WEFT_GGUF_ARRAY ||
        (value->element != WEFT_GGUF_U8 && value->element != WEFT_GGUF_I8) ||
        value->count > WEFT_TOKENIZER_JSON_MAX_BYTES / 2) {
        return weft_gguf_fail(file, WEFT_BAD_FILE, RULES, "an array of bytes of a few MiB at most",
                              "another value");
    }
    WEFT_TRY(weft_gguf_integers(&bytes, file, RULES, value->count));
    put(out, "\"normalizer\":{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"");
    put_base64(out, bytes, value->count);
    put(out, "\"},");
    weft_free(weft_gguf_host(file), bytes);
    return WEFT_OK;
}

weft_status weft_gguf_put_unigram_steps(struct weft_text *out, const weft_gguf *file) {
    WEFT_TRY(put_rules(out, file));
    put(out, "\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":"
             "\"WhitespaceSplit\"}," METASPACE "]},");
    return WEFT_OK;
}

/* ---- pieces ---- */

weft_status weft_gguf_put_unigram(struct weft_text *out, const weft_gguf *file,
                                  const struct weft_gguf_tokens *tokens, int64_t unknown,
                                  bool bytes) {
    if (!tokens->scores) {
        return weft_gguf_fail(file, WEFT_BAD_FILE, "tokenizer.ggml.scores",
                              "a score for each token", "no such key");
    }
    put(out, "\"decoder\":" METASPACE ",");
    weft_text_add(out,
                  "\"model\":{\"type\":\"Unigram\",\"unk_id\":%" PRId64
                  ",\"byte_fallback\":%s,\"vocab\":[",
                  unknown, bytes ? "true" : "false");
    for (uint32_t id = 0; id < tokens->count; id++) {
        put(out, id > 0 ? ",[\"" : "[\"");
        weft_gguf_put_characters(out, weft_gguf_token_text(tokens, id), tokens->at[id].size);
        weft_text_add(out, "\",%.17g]", (double)tokens->scores[id]); /* all of a float's bits */
    }
    put(out, "]}");
    return out->failed ? weft_fail_memory(weft_gguf_host(file), "a tokenizer") : WEFT_OK;
}
