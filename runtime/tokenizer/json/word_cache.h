/* SPDX-License-Identifier: MIT */
/* The tokens of words that were cut lately: a text has the same few words again and again. */
#ifndef WEFT_TOKENIZER_WORD_CACHE_H
#define WEFT_TOKENIZER_WORD_CACHE_H

#include "tokenizer/encoding.h"

/** Largest word that is kept, in bytes, and most tokens of one. */
#define WEFT_CACHED_WORD 64u

struct weft_cached_word {
    uint64_t hash; /* 0: an empty place */
    uint32_t text; /* where it begins among the texts */
    uint32_t size;
    uint32_t first; /* of its tokens */
    uint32_t count;
};

/** A table of fixed size, which is emptied when it is full. Begin it with a host alone. */
struct weft_word_cache {
    weft_host host;
    struct weft_cached_word *places;
    uint32_t used;
    char *texts;
    uint32_t text_size;
    struct weft_token *tokens;
    uint32_t token_count;
};

void weft_word_cache_clear(struct weft_word_cache *cache);

/** Its tokens, or null; *place is where it goes. WEFT_OUT_OF_HOST_MEMORY for the table, at the first call. */
weft_status weft_word_cache_find(struct weft_word_cache *cache, const char *text, size_t size,
                                 const struct weft_cached_word **found, uint64_t *hash);

/** Keeps a word of at most WEFT_CACHED_WORD bytes and tokens, which was not found. */
void weft_word_cache_add(struct weft_word_cache *cache, uint64_t hash, const char *text,
                         size_t size, const struct weft_token *tokens, uint32_t count);

#endif
