/* SPDX-License-Identifier: MIT */
/* Texts as static embeddings read them. */
#include <string.h>

#include "core/text.h"
#include "core/try.h"
#include "model/static/static_model.h"

/* Bytes of a text's first characters. */
static size_t size_of_characters(const char *text, size_t size, uint64_t most) {
    size_t end = 0;
    for (uint64_t characters = 0; end < size; end++) {
        if (!weft_utf8_goes_on(text[end]) && characters++ == most) {
            break;
        }
    }
    return end;
}

/* Where model2vec cuts a text before it looks for tokens: StaticModel._encode_dispatch of the package, 0.10. */
static size_t size_for_model2vec(const struct weft_encode_request *request,
                                 const struct weft_token_facts *facts) {
    const uint64_t most = (uint64_t)request->maximum * facts->median_characters;
    return most < request->size ? size_of_characters(request->text, request->size, most)
                                : request->size;
}

/* Leaves out the tokens of that number. */
static void leave_out(struct weft_encoded *encoded, int32_t token) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < encoded->count; i++) {
        if (encoded->tokens[i] != token) {
            encoded->tokens[kept] = encoded->tokens[i];
            encoded->types[kept] = encoded->types[i];
            encoded->begins[kept] = encoded->begins[i];
            encoded->ends[kept] = encoded->ends[i];
            encoded->sequences[kept++] = encoded->sequences[i];
        }
    }
    encoded->count = kept;
}

/* The token of a text without any, as a special one. */
static weft_status put_none(struct weft_encoded *encoded, int32_t token, const weft_host *host) {
    const uint32_t cut = encoded->cut;
    weft_encoded_clear(encoded, host);
    *encoded = (struct weft_encoded){.tokens = weft_alloc_zero(host, 1, sizeof(int32_t)),
                                     .types = weft_alloc_zero(host, 1, sizeof(int32_t)),
                                     .begins = weft_alloc_zero(host, 1, sizeof(uint32_t)),
                                     .ends = weft_alloc_zero(host, 1, sizeof(uint32_t)),
                                     .sequences = weft_alloc_zero(host, 1, sizeof(uint8_t)),
                                     .count = 1,
                                     .cut = cut};
    if (!encoded->tokens || !encoded->types || !encoded->begins || !encoded->ends ||
        !encoded->sequences) {
        weft_encoded_clear(encoded, host);
        return weft_fail_memory(host, "tokens");
    }
    encoded->tokens[0] = token;
    encoded->sequences[0] = UINT8_MAX;
    return WEFT_OK;
}

static weft_status check_rows(const struct weft_encoded *encoded, uint32_t none,
                              const weft_host *host) {
    for (uint32_t i = 0; i < encoded->count; i++) {
        if ((uint32_t)encoded->tokens[i] >= none) {
            return weft_fail(host, WEFT_BAD_FILE,
                             "tokenizer.json: expected tokens from 0 to %u, which have a row in "
                             "the table, found %d",
                             none - 1, (int)encoded->tokens[i]);
        }
    }
    return WEFT_OK;
}

static weft_status finish(struct weft_encoded *encoded, uint32_t none, const weft_host *host) {
    WEFT_TRY(check_rows(encoded, none, host));
    return encoded->count > 0 ? WEFT_OK : put_none(encoded, (int32_t)none, host);
}

weft_status weft_static_encode(struct weft_encoded *encoded, const weft_tokenizer *tokenizer,
                               const struct weft_encode_request *request, enum weft_bag_rules rules,
                               uint32_t rows) {
    const weft_host *host = weft_tokenizer_host(tokenizer);
    const struct weft_token_facts facts = weft_tokenizer_facts(tokenizer);
    struct weft_encode_request own = *request;
    if (request->pair) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "pair: expected null, as a static embedding reads one text");
    }
    own.no_special = true;
    if (rules == WEFT_BAG_MODEL2VEC) {
        own.size = size_for_model2vec(request, &facts);
    }
    WEFT_TRY(weft_tokenizer_encode(tokenizer, &own, encoded));
    if (rules == WEFT_BAG_MODEL2VEC) {
        leave_out(encoded, facts.unknown);
        encoded->cut += own.size < request->size ? 1 : 0; /* at least */
    }
    const weft_status status = finish(encoded, rows - 1, host);
    if (status != WEFT_OK) {
        weft_encoded_clear(encoded, host);
    }
    return status;
}
