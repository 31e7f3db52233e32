/* SPDX-License-Identifier: MIT */
/* Words into tokens, by one of four models. */
#include "tokenizer/json/word_model.h"

#include "core/try.h"
#include "tokenizer/unicode/text_class.h"

void weft_word_model_begin(struct weft_word_model *model, const weft_host *host) {
    *model = (struct weft_word_model){.vocabulary = {.is_loose = true, .unknown = -1},
                                      .texts = {.host = *host},
                                      .prefix = {.host = *host},
                                      .suffix = {.host = *host},
                                      .prefix_node = UINT32_MAX,
                                      .most_characters = 100};
}

void weft_word_model_clear(struct weft_word_model *model, const weft_host *host) {
    weft_vocabulary_clear(&model->vocabulary, host);
    weft_merges_clear(&model->merges, host);
    weft_free(host, model->texts.data);
    weft_free(host, model->prefix.data);
    weft_free(host, model->suffix.data);
}

void weft_word_work_begin(struct weft_word_work *work, const weft_host *host) {
    *work = (struct weft_word_work){.symbols = {.heap = {.host = *host}}, .text = {.host = *host}};
}

void weft_word_work_clear(struct weft_word_work *work) {
    const weft_host *host = &work->text.host;
    weft_free(host, work->symbols.at);
    weft_free(host, work->symbols.heap.at);
    weft_free(host, work->text.data);
}

static weft_status add(struct weft_token_list *list, int32_t id, size_t begin, size_t end) {
    return weft_token_list_add(list, (struct weft_token){id, (uint32_t)begin, (uint32_t)end})
               ? WEFT_OK
               : weft_fail_memory(&list->host, "the tokens of a text");
}

static weft_status add_unknown(const struct weft_word_model *model, struct weft_token_list *list,
                               size_t begin, size_t end) {
    return model->vocabulary.unknown >= 0
               ? add(list, model->vocabulary.unknown, begin, end)
               : weft_fail(&list->host, WEFT_INVALID_ARGUMENT,
                           "text: it has a character without a token, and the tokenizer has no "
                           "unknown token");
}

/* ---- word pieces ---- */

/* The longest piece that text[begin …] begins with: its id, and its end in *end; -1 when there is none. Counts *steps. */
static int32_t longest_piece(const struct weft_word_model *model, const char *word, size_t size,
                             size_t begin, size_t *end, uint64_t *steps) {
    const struct weft_piece_trie *pieces = &model->vocabulary.all;
    uint32_t node = begin > 0 ? model->prefix_node : 0;
    int32_t found = -1;
    for (size_t i = begin; pieces->nodes && node != UINT32_MAX && i < size; ++*steps) {
        if (!weft_piece_trie_step(pieces, &node, (uint8_t)word[i++])) {
            break;
        }
        if (pieces->nodes[node].id >= 0) {
            found = pieces->nodes[node].id;
            *end = i;
        }
    }
    return found;
}

static bool is_too_long(const char *word, size_t size, uint32_t most) {
    size_t characters = 0;
    for (size_t i = 0; i < size && characters <= most; characters++) {
        i += weft_utf8_size(word + i, size - i);
    }
    return characters > most;
}

/* The longest piece first; a word of which any part has none is unknown. */
static weft_status cut_pieces(const struct weft_word_model *model, struct weft_word_work *work,
                              const char *word, size_t size, struct weft_token_list *list) {
    const uint32_t count = list->count;
    bool known = size <= model->most_characters || !is_too_long(word, size, model->most_characters);
    for (size_t begin = 0, end = 0; known && begin < size; begin = end) {
        uint64_t steps = 0;
        const int32_t id = longest_piece(model, word, size, begin, &end, &steps);
        WEFT_TRY(weft_budget_spend(work->budget, steps));
        known = id >= 0;
        if (known) {
            WEFT_TRY(add(list, id, begin, end));
        }
    }
    if (!known) {
        list->count = count;
        return add_unknown(model, list, 0, size);
    }
    return WEFT_OK;
}

/* ---- pairs ---- */

/* Symbols of unknown characters wait for what follows them. */
struct unknown {
    bool is_there;
    uint32_t size;
};

static weft_status put_unknown(const struct weft_word_model *model, struct weft_symbols *symbols,
                               struct unknown *unknown) {
    const struct unknown put = *unknown;
    *unknown = (struct unknown){0};
    return put.is_there ? weft_symbols_add(symbols, model->vocabulary.unknown, put.size) : WEFT_OK;
}

/* True if all bytes have tokens, which are then added. */
static bool put_bytes(const struct weft_word_model *model, struct weft_symbols *symbols,
                      const char *text, size_t size, weft_status *status) {
    for (size_t i = 0; i < size; i++) {
        if (model->byte_ids[(uint8_t)text[i]] < 0) {
            return false;
        }
    }
    for (size_t i = 0; i < size && *status == WEFT_OK; i++) {
        *status = weft_symbols_add(symbols, model->byte_ids[(uint8_t)text[i]], 1);
    }
    return true;
}

/* A character as it stands in a word: with the prefix unless it is the first, with the suffix if it is the last. */
static weft_status spell(const struct weft_word_model *model, struct weft_text *text,
                         const char *character, size_t size, bool first, bool last) {
    text->length = 0;
    if (!first) {
        weft_text_put(text, model->prefix.data ? model->prefix.data : "", model->prefix.length);
    }
    weft_text_put(text, character, size);
    if (last) {
        weft_text_put(text, model->suffix.data ? model->suffix.data : "", model->suffix.length);
    }
    return text->failed ? weft_fail_memory(&text->host, "the tokens of a text") : WEFT_OK;
}

/* A character that `text` spells, of `size` bytes. */
static weft_status put_character(const struct weft_word_model *model, struct weft_symbols *symbols,
                                 const char *text, size_t spelled, size_t size,
                                 struct unknown *unknown) {
    const int32_t id = weft_vocabulary_find(&model->vocabulary, text, spelled);
    weft_status status = WEFT_OK;
    if (id >= 0) {
        WEFT_TRY(put_unknown(model, symbols, unknown));
        return weft_symbols_add(symbols, id, (uint32_t)size);
    }
    if (model->byte_fallback && put_bytes(model, symbols, text, spelled, &status)) {
        return status;
    }
    if (model->vocabulary.unknown < 0) {
        return WEFT_OK; /* as the package tokenizers: it is left out */
    }
    if (!model->fuse_unknown) {
        WEFT_TRY(put_unknown(model, symbols, unknown));
    }
    unknown->is_there = true;
    unknown->size += (uint32_t)size;
    return WEFT_OK;
}

static weft_status put_characters(const struct weft_word_model *model, struct weft_word_work *work,
                                  const char *word, size_t size) {
    const bool plain = model->prefix.length == 0 && model->suffix.length == 0;
    struct unknown unknown = {0};
    for (size_t i = 0, length = 0; i < size; i += length) {
        length = weft_utf8_size(word + i, size - i);
        const char *text = word + i;
        size_t spelled = length;
        if (!plain) {
            WEFT_TRY(spell(model, &work->text, text, length, i == 0, i + length == size));
            WEFT_TRY(weft_budget_spend(work->budget, work->text.length));
            text = work->text.data;
            spelled = work->text.length;
        }
        WEFT_TRY(put_character(model, &work->symbols, text, spelled, length, &unknown));
    }
    return put_unknown(model, &work->symbols, &unknown);
}

static weft_status cut_by_merges(const struct weft_word_model *model, struct weft_word_work *work,
                                 const char *word, size_t size, struct weft_token_list *list) {
    const int32_t whole =
        model->ignore_merges ? weft_vocabulary_find(&model->vocabulary, word, size) : -1;
    if (whole >= 0) {
        return add(list, whole, 0, size);
    }
    struct weft_symbols *symbols = &work->symbols;
    symbols->count = 0;
    symbols->budget = work->budget;
    WEFT_TRY(put_characters(model, work, word, size));
    WEFT_TRY(weft_symbols_merge(symbols, &model->merges));
    size_t begin = 0;
    for (uint32_t i = 0; i < symbols->count; i++) {
        const struct weft_symbol *symbol = &symbols->at[i];
        if (symbol->size > 0) {
            WEFT_TRY(add(list, symbol->token, begin, begin + symbol->size));
            begin += symbol->size;
        }
    }
    return WEFT_OK;
}

/* ---- unigram ---- */

struct unigram {
    const struct weft_word_model *model;
    struct weft_token_list *list;
    const char *word;
    size_t at;      /* what is not in the list */
    size_t unknown; /* bytes of unknown characters there */
    weft_status status;
};

/* Unknown characters all together: their own piece, bytes, or the unknown one. */
static void flush_unknown(struct unigram *unigram) {
    const struct weft_word_model *model = unigram->model;
    const char *text = unigram->word + unigram->at;
    const size_t begin = unigram->at;
    const size_t end = begin + unigram->unknown;
    if (begin == end) {
        return;
    }
    const int32_t id = weft_vocabulary_find(&model->vocabulary, text, end - begin);
    bool has_bytes = id < 0 && model->byte_fallback;
    for (size_t i = begin; has_bytes && i < end; i++) {
        has_bytes = model->byte_ids[(uint8_t)unigram->word[i]] >= 0;
    }
    for (size_t i = begin; has_bytes && i < end && unigram->status == WEFT_OK; i++) {
        unigram->status =
            add(unigram->list, model->byte_ids[(uint8_t)unigram->word[i]], begin, end);
    }
    if (!has_bytes) {
        unigram->status = id >= 0 ? add(unigram->list, id, begin, end)
                                  : add_unknown(model, unigram->list, begin, end);
    }
    unigram->at = end;
    unigram->unknown = 0;
}

static bool take_unigram(void *user, size_t size, int32_t id) {
    struct unigram *unigram = user;
    if (id == unigram->model->vocabulary.unknown) {
        unigram->unknown += size;
        return true;
    }
    flush_unknown(unigram);
    if (unigram->status == WEFT_OK) {
        unigram->status = add(unigram->list, id, unigram->at, unigram->at + size);
    }
    unigram->at += size;
    return unigram->status == WEFT_OK;
}

static weft_status cut_by_unigram(const struct weft_word_model *model, struct weft_budget *budget,
                                  const char *word, size_t size, struct weft_token_list *list) {
    struct unigram unigram = {.model = model, .list = list, .word = word};
    WEFT_TRY(weft_cut_unigram(&model->vocabulary, word, size, take_unigram, &unigram, &list->host,
                              budget));
    if (unigram.status == WEFT_OK) {
        flush_unknown(&unigram);
    }
    return unigram.status;
}

weft_status weft_word_cut(const struct weft_word_model *model, struct weft_word_work *work,
                          const char *word, size_t size, struct weft_token_list *list) {
    int32_t id = -1;
    switch (model->kind) {
    case WEFT_WORD_PIECE:
        return cut_pieces(model, work, word, size, list);
    case WEFT_WORD_PAIRS:
        return cut_by_merges(model, work, word, size, list);
    case WEFT_WORD_UNIGRAM:
        return cut_by_unigram(model, work->budget, word, size, list);
    case WEFT_WORD_LEVEL:
        break;
    }
    id = weft_vocabulary_find(&model->vocabulary, word, size);
    return id >= 0 ? add(list, id, 0, size) : add_unknown(model, list, 0, size);
}
