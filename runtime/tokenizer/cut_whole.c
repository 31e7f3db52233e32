/* SPDX-License-Identifier: MIT */
/* Words and characters: cutting without a choice. */
#include <string.h>

#include "core/try.h"
#include "tokenizer/unicode/text_class.h"
#include "tokenizer/vocabulary.h"

static int32_t id_of(const struct weft_vocabulary *vocabulary, const char *text, size_t size) {
    const int32_t id = weft_vocabulary_match(vocabulary, text, size);
    return id >= 0 ? id : vocabulary->unknown;
}

weft_status weft_cut_words(const struct weft_vocabulary *vocabulary, const char *text, size_t size,
                           weft_take_piece take, void *user, const weft_host *host,
                           struct weft_budget *budget) {
    (void)host;
    size_t begin = 0;
    for (size_t i = 0; i < size;) {
        i += weft_utf8_size(text + i, size - i);
        if (i == size || weft_begins_with_mark(text + i, size - i)) {
            WEFT_TRY(weft_budget_spend(budget, i - begin));
            if (!take(user, i - begin, id_of(vocabulary, text + begin, i - begin))) {
                break;
            }
            begin = i;
        }
    }
    return WEFT_OK;
}

weft_status weft_cut_characters(const struct weft_vocabulary *vocabulary, const char *text,
                                size_t size, weft_take_piece take, void *user,
                                const weft_host *host, struct weft_budget *budget) {
    (void)host;
    for (size_t i = 0, length = 0; i < size; i += length) {
        uint64_t steps = 1;
        length = weft_piece_trie_longest(&vocabulary->user_defined, text + i, size - i, &steps);
        WEFT_TRY(weft_budget_spend(budget, steps));
        if (length == 0) {
            length = weft_utf8_size(text + i, size - i);
        }
        if (!take(user, length, id_of(vocabulary, text + i, length))) {
            break;
        }
    }
    return WEFT_OK;
}
