/* SPDX-License-Identifier: MIT */
#include "tokenizer/json/added_tokens.h"

#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "tokenizer/json/component.h"
#include "tokenizer/unicode/unicode.h"

#define MOST_TOKENS 65536u
#define MOST_MORE   ((int64_t)1 << 17) /* ids beyond those of the vocabulary */

/* ---- finding ---- */

/* The token of the longest text that the characters from `at` on begin with, its end in *end; null when there is none. Adds the
 * what it takes to *steps. */
static const struct weft_added_token *find_at(const struct weft_added_tokens *tokens,
                                              bool normalized, const struct weft_char *text,
                                              uint32_t count, uint32_t at, uint32_t *end,
                                              uint64_t *steps) {
    const struct weft_piece_trie *trie = &tokens->tries[normalized];
    const struct weft_added_token *found = NULL;
    uint32_t node = 0;
    for (uint32_t i = at; i < count; i++) {
        *steps += 2;
        char bytes[4];
        const size_t size = weft_utf8_encode(bytes, text[i].code);
        for (size_t j = 0; j < size; j++) {
            if (!weft_piece_trie_step(trie, &node, (uint8_t)bytes[j])) {
                return found;
            }
        }
        if (trie->nodes[node].id >= 0) {
            found = &tokens->at[trie->nodes[node].id];
            *end = i + 1;
        }
    }
    return found;
}

/* The package's regular expressions here take joiners for parts of words. */
static bool is_word(uint32_t code) {
    return weft_is_word(code) || code == 0x200C || code == 0x200D;
}

static bool stands_alone(const struct weft_char *text, uint32_t count, uint32_t begin,
                         uint32_t end) {
    return (begin == 0 || !is_word(text[begin - 1].code)) &&
           (end == count || !is_word(text[end].code));
}

/* A stretch of the text, which is a token or none. */
struct stretch {
    uint32_t begin;
    uint32_t end;
    int32_t token;
};

static weft_status put(struct weft_parts *parts, uint32_t first, struct stretch stretch) {
    if (stretch.begin >= stretch.end) {
        return WEFT_OK;
    }
    return weft_parts_add(parts,
                          (struct weft_part){.first = first + stretch.begin,
                                             .count = stretch.end - stretch.begin,
                                             .base = parts->chars.at[first + stretch.begin].begin,
                                             .token = stretch.token});
}

static void take_spaces(const struct weft_added_token *token, const struct weft_char *text,
                        uint32_t count, uint32_t done, struct stretch *stretch) {
    while (token->left && stretch->begin > done && weft_is_space(text[stretch->begin - 1].code)) {
        stretch->begin--;
    }
    while (token->right && stretch->end < count && weft_is_space(text[stretch->end].code)) {
        stretch->end++;
    }
}

weft_status weft_added_tokens_split(const struct weft_added_tokens *tokens, bool normalized,
                                    struct weft_parts *parts, uint32_t count, uint32_t base,
                                    struct weft_budget *budget) {
    const uint32_t first = parts->chars.count - count;
    uint32_t done = 0; /* what is in the parts */
    if (!tokens->tries[normalized].nodes) {
        return weft_parts_add(parts, (struct weft_part){first, count, base, -1});
    }
    for (uint32_t i = 0, end = 0; i < count; i = end) {
        const struct weft_char *text = parts->chars.at + first;
        char bytes[4];
        weft_utf8_encode(bytes, text[i].code);
        end = i + 1;
        uint64_t steps = 1;
        const struct weft_added_token *token =
            tokens->begins[normalized][(uint8_t)bytes[0]]
                ? find_at(tokens, normalized, text, count, i, &end, &steps)
                : NULL;
        WEFT_TRY(weft_budget_spend(budget, steps));
        if (!token || (token->single_word && !stands_alone(text, count, i, end))) {
            continue;
        }
        /* As in the package, white space that the token before has taken may be a token all the same. */
        struct stretch stretch = {i, end, token->id};
        take_spaces(token, text, count, done, &stretch);
        WEFT_TRY(weft_budget_spend(budget, stretch.end - stretch.begin));
        WEFT_TRY(put(parts, first, (struct stretch){done, stretch.begin, -1}));
        WEFT_TRY(put(parts, first, stretch));
        done = stretch.end;
    }
    return done == 0 ? weft_parts_add(parts, (struct weft_part){first, count, base, -1})
                     : put(parts, first, (struct stretch){done, count, -1});
}

const struct weft_added_token *weft_added_token_of(const struct weft_added_tokens *tokens,
                                                   int32_t id) {
    const bool known = id >= 0 && (uint32_t)id < tokens->id_count && tokens->by_id[id] >= 0;
    return known ? &tokens->at[tokens->by_id[id]] : NULL;
}

/* ---- reading ---- */

struct reader {
    struct weft_added_tokens *tokens;
    const struct weft_vocabulary *vocabulary;
    const struct weft_normalizer *normalizer;
    const char *path;
    const weft_host *host;
    struct weft_budget *budget;
};

static char *copy(const char *text, size_t size, const weft_host *host) {
    char *made = weft_alloc(host, size + 1);
    if (made) {
        memcpy(made, text, size);
        made[size] = '\0';
    }
    return made;
}

/* The normal form of the token's text. */
static weft_status normalize(const struct reader *reader, struct weft_added_token *token) {
    struct weft_normal_work work;
    struct weft_chars chars = {.host = *reader->host};
    struct weft_chars normal = {.host = *reader->host};
    struct weft_text text = {.host = *reader->host};
    weft_normal_work_begin(&work, reader->host);
    work.budget = reader->budget;
    weft_chars_decode(&chars, token->text, token->size);
    weft_status status =
        chars.failed ? weft_fail_memory(reader->host, reader->path)
                     : weft_normalize(reader->normalizer, &work, chars.at, chars.count, 0, &normal);
    weft_chars_put(&text, normal.at, normal.count);
    token->found_size = text.length;
    token->found = weft_text_take(&text);
    if (status == WEFT_OK && !token->found) {
        status = weft_fail_memory(reader->host, reader->path);
    }
    weft_normal_work_clear(&work);
    weft_free(reader->host, chars.at);
    weft_free(reader->host, normal.at);
    return status;
}

static weft_status read_fields(struct reader *reader, const weft_json_fields *fields,
                               struct weft_added_token *token) {
    const char *text = NULL;
    int64_t id = 0;
    token->normalized = true;
    WEFT_TRY(weft_json_string(&text, fields, "content"));
    WEFT_TRY(weft_json_integer(&id, fields, "id", 0, reader->vocabulary->count + MOST_MORE));
    WEFT_TRY(weft_json_optional_bool(&token->special, fields, "special"));
    WEFT_TRY(weft_json_optional_bool(&token->single_word, fields, "single_word"));
    WEFT_TRY(weft_json_optional_bool(&token->left, fields, "lstrip"));
    WEFT_TRY(weft_json_optional_bool(&token->right, fields, "rstrip"));
    WEFT_TRY(weft_json_optional_bool(&token->normalized, fields, "normalized"));
    token->size = strlen(text);
    const int32_t known = weft_vocabulary_find(reader->vocabulary, text, token->size);
    token->id = known >= 0 ? known : (int32_t)id;
    token->text = copy(text, token->size, reader->host);
    if (!token->text) {
        return weft_fail_memory(reader->host, reader->path);
    }
    if (token->normalized) {
        return normalize(reader, token);
    }
    token->found = copy(text, token->size, reader->host);
    token->found_size = token->size;
    return token->found ? WEFT_OK : weft_fail_memory(reader->host, reader->path);
}

static weft_status read_token(struct reader *reader, const json_t *value) {
    static const char *const names[] = {"id",     "content", "single_word", "lstrip",
                                        "rstrip", "special", "normalized",  NULL};
    struct weft_added_tokens *tokens = reader->tokens;
    const struct weft_component component = {.fields = {value, reader->path, reader->host}};
    if (!json_is_object(value)) {
        return weft_fail(reader->host, WEFT_BAD_FILE, "%s: expected objects, found another value",
                         reader->path);
    }
    WEFT_TRY(weft_component_allow(&component, names));
    if (!weft_grow(reader->host, &tokens->at, tokens->count, &tokens->capacity,
                   sizeof *tokens->at)) {
        return weft_fail_memory(reader->host, reader->path);
    }
    struct weft_added_token *token = &tokens->at[tokens->count++];
    *token = (struct weft_added_token){0};
    return read_fields(reader, &component.fields, token);
}

/* ---- making the tables ---- */

/* The last of equal texts counts. */
static uint32_t drop_equal(struct weft_piece_entry *entries, uint32_t count) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        const bool again = i + 1 < count && entries[i].size == entries[i + 1].size &&
                           memcmp(entries[i].text, entries[i + 1].text, entries[i].size) == 0;
        if (!again) {
            entries[kept++] = entries[i];
        }
    }
    return kept;
}

static weft_status make_trie(struct reader *reader, struct weft_piece_entry *entries,
                             bool normalized) {
    struct weft_added_tokens *tokens = reader->tokens;
    uint32_t count = 0;
    for (uint32_t i = 0; i < tokens->count; i++) {
        const struct weft_added_token *token = &tokens->at[i];
        if (token->normalized == normalized && token->found_size > 0) {
            entries[count++] =
                (struct weft_piece_entry){token->found, (uint32_t)token->found_size, (int32_t)i};
            tokens->begins[normalized][(uint8_t)token->found[0]] = true;
        }
    }
    if (count == 0) {
        return WEFT_OK;
    }
    qsort(entries, count, sizeof *entries, weft_piece_entry_compare);
    count = drop_equal(entries, count);
    return weft_piece_trie_create(&tokens->tries[normalized], entries, count, reader->path,
                                  reader->host);
}

static weft_status make_ids(struct reader *reader) {
    struct weft_added_tokens *tokens = reader->tokens;
    for (uint32_t i = 0; i < tokens->count; i++) {
        const uint32_t id = (uint32_t)tokens->at[i].id;
        tokens->id_count = id >= tokens->id_count ? id + 1 : tokens->id_count;
    }
    tokens->by_id = weft_alloc_zero(reader->host, tokens->id_count + (size_t)1, sizeof(int32_t));
    if (!tokens->by_id) {
        return weft_fail_memory(reader->host, reader->path);
    }
    for (uint32_t id = 0; id < tokens->id_count; id++) {
        tokens->by_id[id] = -1;
    }
    for (uint32_t i = 0; i < tokens->count; i++) {
        tokens->by_id[tokens->at[i].id] = (int32_t)i;
    }
    return WEFT_OK;
}

static weft_status make_tables(struct reader *reader) {
    const uint32_t count = reader->tokens->count;
    struct weft_piece_entry *entries = weft_alloc_zero(reader->host, count, sizeof *entries);
    if (!entries) {
        return weft_fail_memory(reader->host, reader->path);
    }
    weft_status status = make_trie(reader, entries, false);
    status = status == WEFT_OK ? make_trie(reader, entries, true) : status;
    weft_free(reader->host, entries);
    return status == WEFT_OK ? make_ids(reader) : status;
}

weft_status weft_added_tokens_read(struct weft_added_tokens *tokens, const json_t *value,
                                   const struct weft_vocabulary *vocabulary,
                                   const struct weft_normalizer *normalizer, const char *path,
                                   struct weft_budget *budget) {
    const weft_host *host = budget->host;
    struct reader reader = {tokens, vocabulary, normalizer, path, host, budget};
    if (!value || json_is_null(value)) {
        return WEFT_OK;
    }
    if (!json_is_array(value) || json_array_size(value) > MOST_TOKENS) {
        return weft_fail(host, WEFT_BAD_FILE, "%s: expected an array of at most 65536", path);
    }
    for (size_t i = 0; i < json_array_size(value); i++) {
        WEFT_TRY(read_token(&reader, json_array_get(value, i)));
    }
    return tokens->count > 0 ? make_tables(&reader) : WEFT_OK;
}

/* ---- changing ---- */

/* Of equal texts the last counts. */
struct weft_added_token *weft_added_token_find(const struct weft_added_tokens *tokens,
                                               const char *text, size_t size) {
    for (uint32_t i = tokens->count; i > 0; i--) {
        struct weft_added_token *token = &tokens->at[i - 1];
        if (token->size == size && memcmp(token->text, text, size) == 0) {
            return token;
        }
    }
    return NULL;
}

static void clear_tables(struct weft_added_tokens *tokens, const weft_host *host) {
    weft_free(host, tokens->by_id);
    weft_piece_trie_clear(&tokens->tries[0], host);
    weft_piece_trie_clear(&tokens->tries[1], host);
    memset(tokens->begins, 0, sizeof tokens->begins);
    tokens->by_id = NULL;
    tokens->id_count = 0;
}

weft_status weft_added_tokens_make_special(struct weft_added_tokens *tokens, const char *text,
                                           size_t size, int32_t id, const weft_host *host) {
    struct reader reader = {.tokens = tokens, .path = "an added token", .host = host};
    struct weft_added_token *token = weft_added_token_find(tokens, text, size);
    if (!token) {
        if (!weft_grow(host, &tokens->at, tokens->count, &tokens->capacity, sizeof *tokens->at)) {
            return weft_fail_memory(host, reader.path);
        }
        token = &tokens->at[tokens->count++];
        *token = (struct weft_added_token){.size = size};
        token->text = copy(text, size, host);
    }
    weft_free(host, token->found);
    token->found = copy(text, size, host);
    token->found_size = size;
    token->id = id;
    token->special = true;
    token->single_word = token->left = token->right = token->normalized = false;
    clear_tables(tokens, host);
    return token->text && token->found ? make_tables(&reader) : weft_fail_memory(host, reader.path);
}

void weft_added_tokens_clear(struct weft_added_tokens *tokens, const weft_host *host) {
    for (uint32_t i = 0; i < tokens->count; i++) {
        weft_free(host, tokens->at[i].text);
        weft_free(host, tokens->at[i].found);
    }
    weft_free(host, tokens->at);
    clear_tables(tokens, host);
    *tokens = (struct weft_added_tokens){0};
}
