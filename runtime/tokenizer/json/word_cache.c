/* SPDX-License-Identifier: MIT */
#include "tokenizer/json/word_cache.h"

#include <string.h>

#define PLACES     32768u
#define MOST_USED  (PLACES / 2)
#define TEXT_ROOM  ((size_t)MOST_USED * 16)
#define TOKEN_ROOM ((size_t)MOST_USED * 4)

void weft_word_cache_clear(struct weft_word_cache *cache) {
    weft_free(&cache->host, cache->places);
    weft_free(&cache->host, cache->texts);
    weft_free(&cache->host, cache->tokens);
    *cache = (struct weft_word_cache){.host = cache->host};
}

static bool make(struct weft_word_cache *cache) {
    if (!cache->places) {
        cache->places = weft_alloc_zero(&cache->host, PLACES, sizeof *cache->places);
        cache->texts = weft_alloc(&cache->host, TEXT_ROOM);
        cache->tokens = weft_alloc(&cache->host, TOKEN_ROOM * sizeof *cache->tokens);
    }
    return cache->places && cache->texts && cache->tokens;
}

/* Words are short: eight bytes at a time, mixed by products. Never 0. */
static uint64_t hash_of(const char *text, size_t size) {
    uint64_t hash = 0x9E3779B97F4A7C15u ^ size;
    for (; size > 0;) {
        uint64_t bytes = 0;
        const size_t taken = size < 8 ? size : 8;
        memcpy(&bytes, text, taken);
        hash = (hash ^ bytes) * 0xD6E8FEB86659FD93u;
        hash ^= hash >> 32;
        text += taken;
        size -= taken;
    }
    return hash | 1;
}

static struct weft_cached_word *place_of(const struct weft_word_cache *cache, uint64_t hash,
                                         const char *text, size_t size) {
    for (uint32_t at = (uint32_t)(hash >> 17) % PLACES;; at = (at + 1) % PLACES) {
        struct weft_cached_word *place = &cache->places[at];
        if (place->hash == 0 || (place->hash == hash && place->size == size &&
                                 memcmp(cache->texts + place->text, text, size) == 0)) {
            return place;
        }
    }
}

weft_status weft_word_cache_find(struct weft_word_cache *cache, const char *text, size_t size,
                                 const struct weft_cached_word **found, uint64_t *hash) {
    if (!make(cache)) {
        weft_word_cache_clear(cache);
        return weft_fail_memory(&cache->host, "words of a tokenizer");
    }
    *hash = hash_of(text, size);
    const struct weft_cached_word *place = place_of(cache, *hash, text, size);
    *found = place->hash > 0 ? place : NULL;
    return WEFT_OK;
}

void weft_word_cache_add(struct weft_word_cache *cache, uint64_t hash, const char *text,
                         size_t size, const struct weft_token *tokens, uint32_t count) {
    if (cache->used == MOST_USED || TEXT_ROOM - cache->text_size < size ||
        TOKEN_ROOM - cache->token_count < count) {
        memset(cache->places, 0, PLACES * sizeof *cache->places);
        cache->used = cache->text_size = cache->token_count = 0;
    }
    struct weft_cached_word *place = place_of(cache, hash, text, size);
    *place = (struct weft_cached_word){hash, cache->text_size, (uint32_t)size, cache->token_count,
                                       count};
    memcpy(cache->texts + cache->text_size, text, size);
    if (count > 0) { /* a word may have none */
        memcpy(cache->tokens + cache->token_count, tokens, count * sizeof *tokens);
    }
    cache->text_size += (uint32_t)size;
    cache->token_count += count;
    cache->used++;
}
