/* SPDX-License-Identifier: MIT */
/* What becomes of texts of a model with a vector for each token: copies in queries, and which vectors count. */
#include "model/embedding/multi_vector.h"

#include <stdlib.h>
#include <string.h>

#include "core/host.h"

void weft_multi_vector_clear(struct weft_multi_vector *multi, const weft_host *host) {
    for (uint32_t i = 0; i < multi->words.count; i++) {
        weft_free(host, multi->words.at[i]);
    }
    weft_free(host, multi->words.at);
    weft_free(host, multi->skipped.at);
    weft_free(host, multi->kept.at);
    weft_free(host, multi->expansion.token);
    weft_free(host, multi->prefixes[0]);
    weft_free(host, multi->prefixes[1]);
    *multi = (struct weft_multi_vector){.is_there = false};
}

/* ---- lengths ---- */

static bool expands(const struct weft_multi_vector *multi) {
    return multi->task == WEFT_EMBED_TASK_QUERY && multi->expansion.is_there;
}

static uint32_t larger(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

uint32_t weft_multi_vector_most(const struct weft_multi_vector *multi, uint32_t own) {
    const struct weft_query_expansion *expansion = &multi->expansion;
    if (expands(multi) && !expansion->is_least) {
        return expansion->length;
    }
    const uint32_t asked = multi->task == WEFT_EMBED_TASK_QUERY      ? multi->query_length
                           : multi->task == WEFT_EMBED_TASK_DOCUMENT ? multi->document_length
                                                                     : 0;
    const uint32_t most = asked > 0 ? asked : own;
    return expands(multi) ? larger(most, expansion->length) : most;
}

uint32_t weft_multi_vector_length(const struct weft_multi_vector *multi, uint32_t count) {
    return expands(multi) ? larger(count, multi->expansion.length) : count;
}

void weft_multi_vector_expand(int32_t *out, uint32_t length, const struct weft_multi_vector *multi,
                              const int32_t *tokens, uint32_t count) {
    const uint32_t before = multi->expansion.in_front ? length - count : 0;
    for (uint32_t i = 0; i < length; i++) {
        const bool is_copy = i < before || i - before >= count;
        out[i] = is_copy ? multi->expansion.id : tokens[i - before];
    }
}

/* ---- which vectors count ---- */

static int compare(const void *left, const void *right) {
    const int32_t a = *(const int32_t *)left;
    const int32_t b = *(const int32_t *)right;
    return (a > b) - (a < b);
}

static bool has(const struct weft_token_set *set, int32_t token) {
    return set->count > 0 && bsearch(&token, set->at, set->count, sizeof *set->at, compare) != NULL;
}

/* Copies that others read are tokens like any other; those that nobody reads count by the mask alone. */
static bool counts(const struct weft_multi_vector *multi, int32_t token, bool is_copy) {
    const bool is_query = multi->task == WEFT_EMBED_TASK_QUERY;
    const bool skips = is_query ? multi->skips_queries : multi->skips_documents;
    if (is_copy && !multi->masks && !multi->expansion.attends) {
        return false;
    }
    return !(multi->masks && skips && has(&multi->skipped, token)) &&
           (is_query || multi->kept.count == 0 || has(&multi->kept, token));
}

uint32_t weft_multi_vector_keep(float *vectors, uint32_t width,
                                const struct weft_multi_vector *multi, const int32_t *tokens,
                                uint32_t length, uint32_t count) {
    const uint32_t before = multi->expansion.in_front ? length - count : 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < length; i++) {
        const bool is_copy = i < before || i - before >= count;
        if (!counts(multi, tokens[i], is_copy)) {
            continue;
        }
        if (kept < i) {
            memcpy(&vectors[(size_t)kept * width], &vectors[(size_t)i * width],
                   width * sizeof *vectors);
        }
        kept++;
    }
    return kept;
}
