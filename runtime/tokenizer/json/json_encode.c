/* SPDX-License-Identifier: MIT */
/* Texts to tokens by a tokenizer.json. */
#include <string.h>

#include "core/try.h"
#include "tokenizer/json/json_tokenizer_parts.h"
#include "tokenizer/unicode/text_class.h"
#include "tokenizer/unicode/unicode.h"

/* ---- what encoding needs ---- */

static struct weft_encode_work *create_work(const weft_host *host) {
    struct weft_encode_work *work = weft_alloc_zero(host, 1, sizeof *work);
    if (work) {
        weft_ration_begin(&work->ration, host);
        const weft_host memory = weft_ration_host(&work->ration);
        weft_parts_begin(&work->parts, &memory);
        weft_parts_begin(&work->spare, &memory);
        weft_normal_work_begin(&work->normal, &memory);
        weft_word_work_begin(&work->word, &memory);
        work->normal.budget = work->word.budget = &work->budget;
        work->bytes.host = memory;
        work->list.host = memory;
        work->cache.host = memory;
    }
    return work;
}

void weft_encode_work_destroy(struct weft_encode_work *work) {
    if (work) {
        const weft_host host = work->ration.beneath;
        weft_parts_clear(&work->parts);
        weft_parts_clear(&work->spare);
        weft_normal_work_clear(&work->normal);
        weft_word_work_clear(&work->word);
        weft_word_cache_clear(&work->cache);
        weft_free(&work->bytes.host, work->bytes.data);
        weft_free(&work->list.host, work->list.tokens);
        weft_free(&host, work);
    }
}

static weft_status lend_work(struct weft_json_tokenizer *tokenizer,
                             struct weft_encode_work **work) {
    *work = atomic_exchange(&tokenizer->work, NULL);
    if (!*work) {
        *work = create_work(&tokenizer->host);
    }
    return *work ? WEFT_OK : weft_fail_memory(&tokenizer->host, "a tokenizer");
}

/* Not after an error, where it may lack something; nor where it has grown with a very long text. */
static void return_work(struct weft_json_tokenizer *tokenizer, struct weft_encode_work *work,
                        weft_status status) {
    const bool keep = status == WEFT_OK && work->ration.used < WEFT_RATION_LEAST / 2;
    weft_encode_work_destroy(keep ? atomic_exchange(&tokenizer->work, work) : work);
}

/* ---- parts ---- */

static weft_status check_chars(const struct weft_chars *chars) {
    return chars->failed ? weft_fail_memory(&chars->host, "the characters of a text") : WEFT_OK;
}

static void swap_parts(struct weft_encode_work *work) {
    const struct weft_parts parts = work->parts;
    work->parts = work->spare;
    work->spare = parts;
}

/* The normal forms of all parts, cut at the tokens that are found in them. */
static weft_status normalize(const struct weft_json_tokenizer *tokenizer,
                             struct weft_encode_work *work) {
    const struct weft_parts *from = &work->parts;
    struct weft_parts *to = &work->spare;
    if (tokenizer->normalizer.count == 0 && !tokenizer->added.tries[1].nodes) {
        return WEFT_OK;
    }
    weft_parts_reset(to);
    for (uint32_t i = 0; i < from->count; i++) {
        struct weft_part part = from->at[i];
        const struct weft_char *text = from->chars.at + part.first;
        const uint32_t begin = to->chars.count;
        if (part.token >= 0) {
            part.first = begin;
            WEFT_TRY(weft_budget_spend(&work->budget, part.count));
            weft_chars_append(&to->chars, text, part.count);
            WEFT_TRY(weft_parts_add(to, part));
            continue;
        }
        WEFT_TRY(weft_normalize(&tokenizer->normalizer, &work->normal, text, part.count, part.base,
                                &to->chars));
        WEFT_TRY(weft_added_tokens_split(&tokenizer->added, true, to, to->chars.count - begin,
                                         part.base, &work->budget));
    }
    swap_parts(work);
    return check_chars(&work->parts.chars);
}

/* ---- offsets ---- */

/* Cost of a token, and of a character of a part. */
#define TOKEN_STEPS 32u
#define CHAR_STEPS  4u

/* The text that is encoded, and where its tokens go. */
struct output {
    const struct weft_json_tokenizer *tokenizer;
    struct weft_token_list *list;
    struct weft_budget *budget;
    const char *text;
    size_t size;
};

static bool is_blank(uint32_t code) {
    return code == 0x120 || weft_is_space(code); /* U+0120 stands for a space among bytes */
}

/* Takes characters off the ends of a token's place, which has so many blank ones there. */
static void trim(const struct output *output, struct weft_token *token, uint32_t leading,
                 uint32_t trailing) {
    const bool first = output->list->count == 0 || token->begin == 0;
    leading = first && output->tokenizer->post.prefix_space && leading == 1 ? 0 : leading;
    for (; leading > 0 && token->begin < token->end; leading--) {
        uint32_t code = 0;
        token->begin += (uint32_t)weft_utf8_decode(output->text + token->begin,
                                                   output->size - token->begin, &code);
    }
    token->begin = token->begin < token->end ? token->begin : token->end;
    for (; trailing > 0 && token->end > token->begin; trailing--) {
        token->end -=
            (uint32_t)weft_utf8_last(output->text + token->begin, token->end - token->begin);
    }
}

static void count_blanks(const char *text, size_t size, uint32_t *leading, uint32_t *trailing) {
    bool only = true;
    *leading = *trailing = 0;
    for (size_t i = 0; i < size;) {
        uint32_t code = 0;
        i += weft_utf8_decode(text + i, size - i, &code);
        const bool blank = is_blank(code);
        *leading += blank && only ? 1 : 0;
        only = only && blank;
        *trailing = blank ? *trailing + 1 : 0;
    }
}

static weft_status put(struct output *output, struct weft_token token, const char *text,
                       size_t size) {
    const bool trims = output->tokenizer->post.trims;
    WEFT_TRY(weft_budget_spend(output->budget, TOKEN_STEPS + (trims ? size : 0)));
    if (trims) {
        uint32_t leading = 0;
        uint32_t trailing = 0;
        count_blanks(text, size, &leading, &trailing);
        if (leading > 0 || trailing > 0) {
            trim(output, &token, leading, trailing);
        }
    }
    return weft_token_list_add(output->list, token)
               ? WEFT_OK
               : weft_fail_memory(&output->list->host, "tokens");
}

/* ---- words ---- */

/* The UTF-8 of a part. */
static weft_status spell(struct weft_encode_work *work, const struct weft_char *from,
                         uint32_t count) {
    work->bytes.length = 0;
    for (uint32_t i = 0; i < count; i++) {
        char bytes[WEFT_CACHED_WORD];
        size_t size = 0;
        for (; i < count && size + 4 <= sizeof bytes; i++) {
            size += weft_utf8_encode(bytes + size, from[i].code);
        }
        i--;
        weft_text_put(&work->bytes, bytes, size);
    }
    return work->bytes.failed ? weft_fail_memory(&work->bytes.host, "a word") : WEFT_OK;
}

/* Walks through a word that is not ASCII. */
struct walk {
    const struct weft_char *from;
    uint32_t at; /* character, and its first byte */
    uint32_t byte;
};

/* The character of a byte, which is not before the one of the last call. */
static uint32_t walk_to(struct walk *walk, uint32_t byte) {
    char spelled[4];
    size_t size = weft_utf8_encode(spelled, walk->from[walk->at].code);
    while (walk->byte + size <= byte) {
        walk->byte += (uint32_t)size;
        size = weft_utf8_encode(spelled, walk->from[++walk->at].code);
    }
    return walk->at;
}

/* The first and the last character of a token's place, a stretch of the word's bytes. */
static void place_token(struct walk *walk, bool ascii, const struct weft_token *place,
                        uint32_t *first, uint32_t *last) {
    if (ascii) {
        *first = place->begin;
        *last = place->end - 1;
        return;
    }
    if (place->begin < walk->byte) {
        *walk = (struct walk){.from = walk->from};
    }
    *first = walk_to(walk, place->begin);
    *last = walk_to(walk, place->end - 1);
}

/*
 * Puts the tokens of a word, whose places are bytes of it, as those of its characters in the text. Bytes that stand for a
 * prefix or suffix, which the text does not have, may lie behind the word: they belong to its last character.
 */
static weft_status put_tokens(struct output *output, struct weft_encode_work *work,
                              const struct weft_char *from, uint32_t count,
                              const struct weft_token *tokens, uint32_t token_count) {
    const struct weft_vocabulary *vocabulary = &output->tokenizer->model.vocabulary;
    const uint32_t size = (uint32_t)work->bytes.length;
    const bool ascii = size == count; /* a byte for each character */
    struct walk walk = {.from = from};
    struct weft_token before = {0};
    uint32_t first = 0;
    uint32_t last = 0;
    for (uint32_t i = 0; i < token_count; i++) {
        const struct weft_token *token = &tokens[i];
        const struct weft_token place = {.begin = token->begin < size ? token->begin : size - 1,
                                         .end = token->end < size ? token->end : size};
        if (place.begin != before.begin || place.end != before.end) { /* those of bytes are equal */
            place_token(&walk, ascii, &place, &first, &last);
            before = place;
        }
        const struct weft_piece *piece = &vocabulary->pieces[token->id];
        WEFT_TRY(put(output, (struct weft_token){token->id, from[first].begin, from[last].end},
                     piece->text, piece->size));
    }
    return WEFT_OK;
}

static weft_status encode_word(struct output *output, struct weft_encode_work *work,
                               const struct weft_char *from, uint32_t count) {
    const struct weft_cached_word *found = NULL;
    uint64_t hash = 0;
    WEFT_TRY(spell(work, from, count));
    const char *text = work->bytes.data;
    const size_t size = work->bytes.length;
    if (size <= WEFT_CACHED_WORD) {
        WEFT_TRY(weft_word_cache_find(&work->cache, text, size, &found, &hash));
    }
    if (found) {
        return put_tokens(output, work, from, count, work->cache.tokens + found->first,
                          found->count);
    }
    work->list.count = 0;
    WEFT_TRY(weft_word_cut(&output->tokenizer->model, &work->word, text, size, &work->list));
    if (size <= WEFT_CACHED_WORD && work->list.count <= WEFT_CACHED_WORD) {
        weft_word_cache_add(&work->cache, hash, text, size, work->list.tokens, work->list.count);
    }
    return put_tokens(output, work, from, count, work->list.tokens, work->list.count);
}

/* An added token; with the white space that it takes its text is that, too. */
static weft_status put_added(struct output *output, struct weft_encode_work *work,
                             const struct weft_char *from, const struct weft_part *part) {
    WEFT_TRY(spell(work, from, part->count));
    return put(output, (struct weft_token){part->token, from[0].begin, from[part->count - 1].end},
               work->bytes.data, work->bytes.length);
}

static weft_status encode_parts(struct output *output, struct weft_encode_work *work) {
    for (uint32_t i = 0; i < work->parts.count; i++) {
        const struct weft_part *part = &work->parts.at[i];
        const struct weft_char *from = work->parts.chars.at + part->first;
        WEFT_TRY(weft_budget_spend(&work->budget, (uint64_t)part->count * CHAR_STEPS));
        WEFT_TRY(part->token >= 0 ? put_added(output, work, from, part)
                                  : encode_word(output, work, from, part->count));
    }
    return WEFT_OK;
}

static weft_status encode(struct output *output, struct weft_encode_work *work) {
    const struct weft_json_tokenizer *tokenizer = output->tokenizer;
    struct weft_parts *parts = &work->parts;
    weft_parts_reset(parts);
    weft_chars_decode(&parts->chars, output->text, output->size);
    WEFT_TRY(check_chars(&parts->chars));
    WEFT_TRY(weft_added_tokens_split(&tokenizer->added, false, parts, parts->chars.count, 0,
                                     &work->budget));
    WEFT_TRY(normalize(tokenizer, work));
    WEFT_TRY(weft_pre_tokenize(&tokenizer->pre, parts, &work->spare, &work->normal.regex,
                               &work->budget));
    return encode_parts(output, work);
}

weft_status weft_json_tokenizer_encode(struct weft_json_tokenizer *tokenizer,
                                       struct weft_token_list *list, const char *text,
                                       size_t size) {
    struct weft_encode_work *work = NULL;
    WEFT_TRY(lend_work(tokenizer, &work));
    struct output output = {tokenizer, list, &work->budget, text, size};
    list->size = size;
    weft_ration_set(&work->ration, size, WEFT_TEXT_RATION);
    weft_budget_begin(&work->budget, WEFT_TEXT_STEPS(size), NULL, &tokenizer->host);
    weft_status status = encode(&output, work);
    status = weft_ration_judge(&work->ration, status, WEFT_INVALID_ARGUMENT, "text");
    return_work(tokenizer, work, status);
    return status;
}
