/* SPDX-License-Identifier: MIT */
/*
 * The model of a tokenizer.json. Its vocabulary and its merges, which may have hundreds of thousands of entries, are read one
 * after the other; a tree of all would take ten times the memory.
 */
#include <string.h>

#include "core/try.h"
#include "tokenizer/json/component.h"
#include "tokenizer/json/word_model.h"
#include "tokenizer/unicode/text_class.h"

#define MOST_ENTRIES ((uint32_t)1 << 21)
#define ENTRY_STEPS  64u /* beside its bytes */

/* A piece on its way: its text lies in the model's texts, which still grow. */
struct entry {
    size_t begin;
    size_t size;
    int64_t id;
    double score;
};

struct reader {
    struct weft_word_model *model;
    const char *path;
    const weft_host *host;
    struct weft_budget *budget;
    json_t *small;         /* the fields that have no part of their own */
    weft_json_part vocab;  /* without text: missing */
    weft_json_part merges; /* likewise */
    struct entry *entries;
    uint32_t count;
    uint32_t capacity;
    uint32_t rank;             /* of the next merge */
    struct weft_text together; /* its token's text */
    size_t prefix;
};

/* ---- the vocabulary ---- */

static weft_status add_entry(struct reader *reader, const char *text, int64_t id, double score) {
    const size_t size = strlen(text);
    WEFT_TRY(weft_budget_spend(reader->budget, ENTRY_STEPS + size));
    if (reader->count == MOST_ENTRIES || !weft_grow(reader->host, &reader->entries, reader->count,
                                                    &reader->capacity, sizeof *reader->entries)) {
        return weft_fail_memory(reader->host, reader->path);
    }
    reader->entries[reader->count++] = (struct entry){reader->model->texts.length, size, id, score};
    weft_text_put(&reader->model->texts, text, size);
    return reader->model->texts.failed ? weft_fail_memory(reader->host, reader->path) : WEFT_OK;
}

/* "piece": id */
static weft_status read_entry(void *user, const char *key, const weft_json_part *part) {
    struct reader *reader = user;
    json_t *value = NULL;
    WEFT_TRY(weft_json_part_parse(&value, part));
    const bool is_id = json_is_integer(value) && json_integer_value(value) >= 0;
    const int64_t id = json_integer_value(value);
    json_decref(value);
    return is_id ? add_entry(reader, key, id, 0)
                 : weft_fail(reader->host, WEFT_BAD_FILE,
                             "%s: field \"vocab\": expected numbers of tokens, found another value "
                             "for entry %u",
                             reader->path, (unsigned)reader->count);
}

/* ["piece", score] */
static weft_status read_scored(void *user, const weft_json_part *part) {
    struct reader *reader = user;
    json_t *value = NULL;
    WEFT_TRY(weft_json_part_parse(&value, part));
    const char *text = json_string_value(json_array_get(value, 0));
    const json_t *score = json_array_get(value, 1);
    const weft_status status =
        text && json_is_number(score) && json_array_size(value) == 2
            ? add_entry(reader, text, reader->count, json_number_value(score))
            : weft_fail(reader->host, WEFT_BAD_FILE,
                        "%s: field \"vocab\": expected a text and a number, found another value "
                        "for entry %u",
                        reader->path, (unsigned)reader->count);
    json_decref(value);
    return status;
}

/* Numbers may be missing, but not most of them. */
static weft_status count_pieces(struct reader *reader) {
    const int64_t most = (int64_t)reader->count * 8 + 65536;
    uint32_t count = 0;
    for (uint32_t i = 0; i < reader->count; i++) {
        if (reader->entries[i].id >= most) {
            return weft_fail(reader->host, WEFT_BAD_FILE,
                             "%s: field \"vocab\": expected a number below %lld for entry %u, "
                             "found %lld",
                             reader->path, (long long)most, (unsigned)i,
                             (long long)reader->entries[i].id);
        }
        const uint32_t id = (uint32_t)reader->entries[i].id;
        count = id >= count ? id + 1 : count;
    }
    reader->model->vocabulary.count = count;
    return WEFT_OK;
}

static weft_status make_pieces(struct reader *reader) {
    struct weft_vocabulary *vocabulary = &reader->model->vocabulary;
    if (vocabulary->count == 0) {
        return weft_fail(reader->host, WEFT_BAD_FILE,
                         "%s: field \"vocab\": expected a token, found none", reader->path);
    }
    vocabulary->pieces =
        weft_alloc_zero(reader->host, vocabulary->count + (size_t)1, sizeof *vocabulary->pieces);
    if (!vocabulary->pieces) {
        return weft_fail_memory(reader->host, reader->path);
    }
    for (uint32_t i = 0; i < reader->count; i++) {
        const struct entry *entry = &reader->entries[i];
        struct weft_piece *piece = &vocabulary->pieces[entry->id];
        if (piece->type != WEFT_PIECE_NONE) {
            return weft_fail(reader->host, WEFT_BAD_FILE,
                             "%s: field \"vocab\": expected one token of number %lld, found two",
                             reader->path, (long long)entry->id);
        }
        if (entry->size > 0) { /* no text has a piece without one */
            *piece = (struct weft_piece){.text = reader->model->texts.data + entry->begin,
                                         .size = entry->size,
                                         .score = entry->score,
                                         .type = WEFT_PIECE_NORMAL};
        }
    }
    return weft_vocabulary_finish(vocabulary, reader->path, reader->host);
}

static weft_status read_vocabulary(struct reader *reader) {
    const bool scored = reader->model->kind == WEFT_WORD_UNIGRAM;
    if (!reader->vocab.text) {
        return weft_fail(reader->host, WEFT_BAD_FILE,
                         "%s: field \"vocab\": expected %s, found nothing", reader->path,
                         scored ? "an array" : "an object");
    }
    WEFT_TRY(scored ? weft_json_walk_array(&reader->vocab, read_scored, reader)
                    : weft_json_walk(&reader->vocab, read_entry, reader));
    WEFT_TRY(count_pieces(reader));
    return make_pieces(reader);
}

/* ---- merges ---- */

static weft_status fail_merge(const struct reader *reader, const char *found) {
    return weft_fail(reader->host, WEFT_BAD_FILE,
                     "%s: field \"merges\": expected two tokens that are one together, found %s at "
                     "entry %u",
                     reader->path, found, (unsigned)reader->rank);
}

static weft_status add_merge(struct reader *reader, const char *left, size_t left_size,
                             const char *right, size_t right_size) {
    struct weft_word_model *model = reader->model;
    const struct weft_vocabulary *vocabulary = &model->vocabulary;
    WEFT_TRY(weft_budget_spend(reader->budget, ENTRY_STEPS + left_size + right_size));
    if (right_size < reader->prefix) {
        return fail_merge(reader, "a token without the prefix");
    }
    struct weft_text *together = &reader->together;
    together->length = 0;
    weft_text_put(together, left, left_size);
    weft_text_put(together, right + reader->prefix, right_size - reader->prefix);
    if (together->failed) {
        return weft_fail_memory(reader->host, reader->path);
    }
    const struct weft_merge merge = {
        .left = weft_vocabulary_find(vocabulary, left, left_size),
        .right = weft_vocabulary_find(vocabulary, right, right_size),
        .token = weft_vocabulary_find(vocabulary, together->data, together->length),
        .rank = reader->rank};
    if (merge.left < 0 || merge.right < 0 || merge.token < 0) {
        return fail_merge(reader, "one that is not in the vocabulary");
    }
    weft_merges_add(&model->merges, merge);
    reader->rank++;
    return WEFT_OK;
}

static weft_status read_merge_value(struct reader *reader, const json_t *value) {
    const json_t *left = json_array_get(value, 0);
    const json_t *right = json_array_get(value, 1);
    if (json_is_string(left) && json_is_string(right) && json_array_size(value) == 2) {
        return add_merge(reader, json_string_value(left), json_string_length(left),
                         json_string_value(right), json_string_length(right));
    }
    const char *text = json_string_value(value);
    const char *space = text ? strchr(text, ' ') : NULL;
    if (!space || strchr(space + 1, ' ')) {
        return fail_merge(reader, "another value");
    }
    return add_merge(reader, text, (size_t)(space - text), space + 1, strlen(space + 1));
}

static weft_status read_merge(void *user, const weft_json_part *part) {
    struct reader *reader = user;
    json_t *value = NULL;
    WEFT_TRY(weft_json_part_parse(&value, part));
    const weft_status status = read_merge_value(reader, value);
    json_decref(value);
    return status;
}

static weft_status count_merge(void *user, const weft_json_part *part) {
    (void)part;
    uint32_t *count = user;
    *count += *count < MOST_ENTRIES ? 1 : 0;
    return WEFT_OK;
}

static weft_status read_merges(struct reader *reader) {
    uint32_t count = 0;
    reader->prefix = reader->model->prefix.length;
    if (!reader->merges.text) {
        return weft_fail(reader->host, WEFT_BAD_FILE,
                         "%s: field \"merges\": expected an array, found nothing", reader->path);
    }
    WEFT_TRY(weft_json_walk_array(&reader->merges, count_merge, &count));
    if (count == MOST_ENTRIES) {
        return weft_fail_memory(reader->host, reader->path);
    }
    WEFT_TRY(weft_merges_begin(&reader->model->merges, count, reader->host));
    return weft_json_walk_array(&reader->merges, read_merge, reader);
}

/* ---- small fields ---- */

static weft_status read_text(struct weft_text *text, const weft_json_fields *fields,
                             const char *name, const char *value) {
    WEFT_TRY(weft_json_optional_string(&value, fields, name));
    weft_text_put(text, value, strlen(value));
    return text->failed ? weft_fail_memory(fields->host, fields->path) : WEFT_OK;
}

/* The token of that name is the unknown one. */
static weft_status read_unknown(struct reader *reader, const weft_json_fields *fields,
                                const char *name) {
    struct weft_vocabulary *vocabulary = &reader->model->vocabulary;
    WEFT_TRY(weft_json_optional_string(&name, fields, "unk_token"));
    vocabulary->unknown = name ? weft_vocabulary_find(vocabulary, name, strlen(name)) : -1;
    return WEFT_OK;
}

static void find_bytes(struct weft_word_model *model) {
    for (unsigned byte = 0; byte < 256; byte++) {
        static const char digits[] = "0123456789ABCDEF";
        const char text[] = {'<', '0', 'x', digits[byte / 16], digits[byte % 16], '>'};
        model->byte_ids[byte] = weft_vocabulary_find(&model->vocabulary, text, sizeof text);
    }
}

static void find_prefix(struct weft_word_model *model) {
    const struct weft_piece_trie *pieces = &model->vocabulary.all;
    uint32_t node = 0;
    for (size_t i = 0; i < model->prefix.length; i++) {
        if (!pieces->nodes ||
            !weft_piece_trie_step(pieces, &node, (uint8_t)model->prefix.data[i])) {
            return;
        }
    }
    model->prefix_node = node;
}

/* ---- the models ---- */

static weft_status read_word_pieces(struct reader *reader, const struct weft_component *component) {
    static const char *const names[] = {"unk_token", "continuing_subword_prefix",
                                        "max_input_chars_per_word", NULL};
    struct weft_word_model *model = reader->model;
    int64_t most = model->most_characters;
    WEFT_TRY(weft_component_allow(component, names));
    WEFT_TRY(read_text(&model->prefix, &component->fields, names[1], "##"));
    WEFT_TRY(weft_json_optional_integer(&most, &component->fields, names[2], 0, INT32_MAX));
    model->most_characters = (uint32_t)most;
    WEFT_TRY(read_vocabulary(reader));
    find_prefix(model);
    return read_unknown(reader, &component->fields, "[UNK]");
}

static weft_status read_pairs(struct reader *reader, const struct weft_component *component) {
    static const char *const names[] = {
        "dropout",       "unk_token",          "fuse_unk",      "continuing_subword_prefix",
        "byte_fallback", "end_of_word_suffix", "ignore_merges", NULL};
    struct weft_word_model *model = reader->model;
    const weft_json_fields *fields = &component->fields;
    double dropout = 0;
    WEFT_TRY(weft_component_allow(component, names));
    WEFT_TRY(weft_json_optional_real(&dropout, fields, names[0], 0, 1));
    if (dropout > 0) {
        return weft_json_fail(fields, WEFT_UNSUPPORTED, names[0], "none",
                              json_object_get(fields->object, names[0]));
    }
    WEFT_TRY(read_text(&model->prefix, fields, "continuing_subword_prefix", ""));
    WEFT_TRY(read_text(&model->suffix, fields, "end_of_word_suffix", ""));
    WEFT_TRY(weft_json_optional_bool(&model->fuse_unknown, fields, "fuse_unk"));
    WEFT_TRY(weft_json_optional_bool(&model->byte_fallback, fields, "byte_fallback"));
    WEFT_TRY(weft_json_optional_bool(&model->ignore_merges, fields, "ignore_merges"));
    WEFT_TRY(read_vocabulary(reader));
    find_bytes(model);
    WEFT_TRY(read_unknown(reader, fields, NULL));
    return read_merges(reader);
}

static weft_status read_unigram(struct reader *reader, const struct weft_component *component) {
    static const char *const names[] = {"unk_id", "byte_fallback", NULL};
    struct weft_word_model *model = reader->model;
    int64_t unknown = -1;
    WEFT_TRY(weft_component_allow(component, names));
    WEFT_TRY(weft_json_optional_bool(&model->byte_fallback, &component->fields, names[1]));
    WEFT_TRY(read_vocabulary(reader));
    find_bytes(model);
    WEFT_TRY(weft_json_optional_integer(&unknown, &component->fields, names[0], 0,
                                        (int64_t)model->vocabulary.count - 1));
    model->vocabulary.unknown = (int32_t)unknown;
    return WEFT_OK;
}

static weft_status read_word_level(struct reader *reader, const struct weft_component *component) {
    static const char *const names[] = {"unk_token", NULL};
    WEFT_TRY(weft_component_allow(component, names));
    WEFT_TRY(read_vocabulary(reader));
    return read_unknown(reader, &component->fields, "<unk>");
}

static const struct {
    const char *type;
    enum weft_word_kind kind;
    weft_status (*read)(struct reader *reader, const struct weft_component *component);
} rows[] = {
    {"WordPiece", WEFT_WORD_PIECE, read_word_pieces},
    {"BPE", WEFT_WORD_PAIRS, read_pairs},
    {"Unigram", WEFT_WORD_UNIGRAM, read_unigram},
    {"WordLevel", WEFT_WORD_LEVEL, read_word_level},
};

/* Files of old versions have no type: it shows in the fields. */
static weft_status add_type(struct reader *reader) {
    const bool has = json_object_get(reader->small, "type") != NULL;
    const char *type = reader->merges.text                                           ? "BPE"
                       : json_object_get(reader->small, "continuing_subword_prefix") ? "WordPiece"
                       : json_object_get(reader->small, "unk_id")                    ? "Unigram"
                                                                                     : NULL;
    return has || !type || json_object_set_new(reader->small, "type", json_string(type)) == 0
               ? WEFT_OK
               : weft_fail_memory(reader->host, reader->path);
}

static weft_status read_model(struct reader *reader) {
    struct weft_component component;
    WEFT_TRY(add_type(reader));
    WEFT_TRY(weft_component_open(&component, reader->small, reader->path, reader->host));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(component.type, rows[i].type) == 0) {
            reader->model->kind = rows[i].kind;
            return rows[i].read(reader, &component);
        }
    }
    return weft_component_fail_type(&component);
}

static weft_status fail_twice(const struct reader *reader, const char *key) {
    return weft_fail(reader->host, WEFT_BAD_FILE, "%s: field \"%s\": expected one, found two",
                     reader->path, key);
}

static weft_status take_field(void *user, const char *key, const weft_json_part *part) {
    struct reader *reader = user;
    if (strcmp(key, "vocab") == 0 || strcmp(key, "merges") == 0) {
        weft_json_part *kept = key[0] == 'v' ? &reader->vocab : &reader->merges;
        const bool twice = kept->text != NULL;
        *kept = *part;
        return twice ? fail_twice(reader, key) : WEFT_OK;
    }
    if (json_object_get(reader->small, key)) {
        return fail_twice(reader, key);
    }
    json_t *value = NULL;
    WEFT_TRY(weft_json_part_parse(&value, part));
    return json_object_set_new(reader->small, key, value) == 0
               ? WEFT_OK
               : weft_fail_memory(reader->host, reader->path);
}

weft_status weft_word_model_read(struct weft_word_model *model, const weft_json_part *part,
                                 const char *path, struct weft_budget *budget) {
    const weft_host *host = budget->host;
    struct reader reader = {.model = model,
                            .path = path,
                            .host = host,
                            .budget = budget,
                            .small = json_object(),
                            .together = {.host = *host}};
    weft_status status =
        reader.small ? weft_json_walk(part, take_field, &reader) : weft_fail_memory(host, path);
    if (status == WEFT_OK) {
        status = read_model(&reader);
    }
    json_decref(reader.small);
    weft_free(host, reader.entries);
    weft_free(host, reader.together.data);
    return status;
}
