/* SPDX-License-Identifier: MIT */
#include "model/gguf/gguf_tokens.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/try.h"
#include "tokenizer/unicode/text_class.h"

#define TOKENS "tokenizer.ggml.tokens"

struct reader {
    struct weft_gguf_tokens *tokens;
    const weft_gguf *file;
};

static weft_status take_token(void *user, uint32_t index, const char *text, size_t size) {
    const struct reader *reader = user;
    struct weft_gguf_tokens *tokens = reader->tokens;
    const weft_host *host = weft_gguf_host(reader->file);
    if (!weft_utf8_is_text(text, size)) {
        char found[48];
        snprintf(found, sizeof found, "other bytes in token %" PRIu32, index);
        return weft_gguf_fail(reader->file, WEFT_BAD_FILE, TOKENS, "UTF-8", found);
    }
    if (!weft_grow(host, &tokens->at, tokens->count, &tokens->capacity, sizeof *tokens->at)) {
        return weft_fail_memory(host, "tokens");
    }
    tokens->at[tokens->count++] = (struct weft_gguf_token){tokens->texts.length, (uint32_t)size};
    weft_text_put(&tokens->texts, text, size);
    return tokens->texts.failed ? weft_fail_memory(host, "tokens") : WEFT_OK;
}

weft_status weft_gguf_tokens_read(struct weft_gguf_tokens *tokens, const weft_gguf *file,
                                  uint32_t vocabulary) {
    struct reader reader = {tokens, file};
    *tokens = (struct weft_gguf_tokens){.texts = {.host = *weft_gguf_host(file)}};
    WEFT_TRY(weft_gguf_walk(file, TOKENS, WEFT_GGUF_MAX_TOKEN, take_token, &reader));
    if (tokens->count == 0 || tokens->count > vocabulary) {
        char expected[80], found[32];
        snprintf(expected, sizeof expected,
                 "1 to %" PRIu32 " tokens, as many as token_embd.weight has rows", vocabulary);
        snprintf(found, sizeof found, "%" PRIu32, tokens->count);
        return weft_gguf_fail(file, WEFT_BAD_FILE, TOKENS, expected, found);
    }
    WEFT_TRY(weft_gguf_integers(&tokens->types, file, "tokenizer.ggml.token_type", tokens->count));
    return weft_gguf_reals(&tokens->scores, file, "tokenizer.ggml.scores", tokens->count);
}

void weft_gguf_tokens_free(struct weft_gguf_tokens *tokens, const weft_host *host) {
    weft_free(host, tokens->texts.data);
    weft_free(host, tokens->at);
    weft_free(host, tokens->types);
    weft_free(host, tokens->scores);
    *tokens = (struct weft_gguf_tokens){.count = 0};
}

void weft_gguf_put_characters(struct weft_text *out, const char *text, size_t size) {
    for (size_t i = 0; i < size; i++) {
        const uint8_t byte = (uint8_t)text[i];
        if (byte == '"' || byte == '\\') {
            weft_text_put(out, "\\", 1);
        }
        if (byte < 0x20) {
            weft_text_add(out, "\\u%04x", (unsigned)byte);
        } else {
            weft_text_put(out, &text[i], 1);
        }
    }
}
