/* SPDX-License-Identifier: MIT */
/* Reading a tokenizer.json. */
#include "tokenizer/json/json_tokenizer.h"

#include <string.h>

#include "core/formats/json.h"
#include "core/try.h"
#include "tokenizer/json/json_tokenizer_parts.h"

enum {
    FIELD_VERSION,
    FIELD_TRUNCATION,
    FIELD_PADDING,
    FIELD_ADDED,
    FIELD_NORMALIZER,
    FIELD_PRE,
    FIELD_POST,
    FIELD_DECODER,
    FIELD_MODEL,
    FIELD_COUNT
};

static const char *const names[FIELD_COUNT] = {"version",        "truncation", "padding",
                                               "added_tokens",   "normalizer", "pre_tokenizer",
                                               "post_processor", "decoder",    "model"};

struct reader {
    struct weft_json_tokenizer *tokenizer;
    const char *path;
    const weft_host *host;
    struct weft_budget budget;
    weft_json_part parts[FIELD_COUNT]; /* without text: missing */
    struct weft_text place;            /* the path and a field, for messages */
};

static weft_status take_field(void *user, const char *key, const weft_json_part *part) {
    struct reader *reader = user;
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (strcmp(key, names[i]) == 0) {
            const bool twice = reader->parts[i].text != NULL;
            reader->parts[i] = *part;
            return twice ? weft_fail(reader->host, WEFT_BAD_FILE,
                                     "%s: field \"%s\": expected one, found two", reader->path, key)
                         : WEFT_OK;
        }
    }
    return weft_fail(reader->host, WEFT_UNSUPPORTED,
                     "%s: field \"%.64s\": expected no such field, found it", reader->path, key);
}

/* Reads a field by `read`, with a null value where it is missing. */
static weft_status read_field(struct reader *reader, size_t field,
                              weft_status (*read)(struct reader *reader, const json_t *value,
                                                  const char *place)) {
    json_t *value = NULL;
    reader->place.length = 0;
    weft_text_add(&reader->place, "%s: %s", reader->path, names[field]);
    if (reader->place.failed) {
        return weft_fail_memory(reader->host, reader->path);
    }
    if (reader->parts[field].text) {
        WEFT_TRY(weft_json_part_parse(&value, &reader->parts[field]));
    }
    const weft_status status = read(reader, value, reader->place.data);
    json_decref(value);
    return status;
}

static weft_status read_normalizer(struct reader *reader, const json_t *value, const char *place) {
    return weft_normalizer_read(&reader->tokenizer->normalizer, value, place, reader->host);
}

static weft_status read_pre(struct reader *reader, const json_t *value, const char *place) {
    return weft_pre_tokenizer_read(&reader->tokenizer->pre, value, place, reader->host);
}

static weft_status read_added(struct reader *reader, const json_t *value, const char *place) {
    struct weft_json_tokenizer *tokenizer = reader->tokenizer;
    return weft_added_tokens_read(&tokenizer->added, value, &tokenizer->model.vocabulary,
                                  &tokenizer->normalizer, place, &reader->budget);
}

static weft_status read_post(struct reader *reader, const json_t *value, const char *place) {
    return weft_post_processor_read(&reader->tokenizer->post, value, place, reader->host);
}

static weft_status read_truncation(struct reader *reader, const json_t *value, const char *place) {
    return weft_truncation_read(&reader->tokenizer->post.templates.truncation, value, place,
                                reader->host);
}

static weft_status read_decoder(struct reader *reader, const json_t *value, const char *place) {
    return weft_text_decoder_read(&reader->tokenizer->decoder, value, place, reader->host);
}

static weft_status read_model(struct reader *reader) {
    const weft_json_part *part = &reader->parts[FIELD_MODEL];
    if (!part->text) {
        return weft_fail(reader->host, WEFT_BAD_FILE,
                         "%s: field \"model\": expected an object, found nothing", reader->path);
    }
    reader->place.length = 0;
    weft_text_add(&reader->place, "%s: model", reader->path);
    return reader->place.failed ? weft_fail_memory(reader->host, reader->path)
                                : weft_word_model_read(&reader->tokenizer->model, part,
                                                       reader->place.data, &reader->budget);
}

/* Padding is not looked at: it is a matter of batches. Added tokens need what comes before them. */
static weft_status read_all(struct reader *reader, const char *bytes, size_t size) {
    const weft_json_part document = {
        .document = bytes, .text = bytes, .size = size, .path = reader->path, .host = reader->host};
    WEFT_TRY(weft_json_walk(&document, take_field, reader));
    WEFT_TRY(read_model(reader));
    WEFT_TRY(read_field(reader, FIELD_NORMALIZER, read_normalizer));
    WEFT_TRY(read_field(reader, FIELD_PRE, read_pre));
    WEFT_TRY(read_field(reader, FIELD_ADDED, read_added));
    WEFT_TRY(read_field(reader, FIELD_POST, read_post));
    WEFT_TRY(read_field(reader, FIELD_TRUNCATION, read_truncation));
    return read_field(reader, FIELD_DECODER, read_decoder);
}

weft_status weft_json_tokenizer_create(struct weft_json_tokenizer **tokenizer, const char *bytes,
                                       size_t size, const char *path, const weft_host *host) {
    struct weft_json_tokenizer *created = weft_alloc_zero(host, 1, sizeof *created);
    if (!created) {
        return weft_fail_memory(host, path);
    }
    created->host = host ? *host : (weft_host){0};
    weft_ration_begin(&created->ration, host);
    weft_ration_set(&created->ration, size, WEFT_FILE_RATION);
    created->memory = weft_ration_host(&created->ration);
    weft_word_model_begin(&created->model, &created->memory);
    struct reader reader = {.tokenizer = created,
                            .path = path,
                            .host = &created->memory,
                            .place = {.host = created->memory}};
    weft_budget_begin(&reader.budget, WEFT_FILE_STEPS(size), path, &created->memory);
    weft_status status = read_all(&reader, bytes, size);
    status = weft_ration_judge(&created->ration, status, WEFT_BAD_FILE, path);
    weft_free(&created->memory, reader.place.data);
    if (status == WEFT_OK) {
        *tokenizer = created;
    } else {
        weft_json_tokenizer_destroy(created);
    }
    return status;
}

void weft_json_tokenizer_destroy(struct weft_json_tokenizer *tokenizer) {
    if (tokenizer) {
        const weft_host host = tokenizer->memory;
        const weft_host beneath = tokenizer->host;
        weft_encode_work_destroy(atomic_load(&tokenizer->work));
        weft_added_tokens_clear(&tokenizer->added, &host);
        weft_normalizer_clear(&tokenizer->normalizer, &host);
        weft_pre_tokenizer_clear(&tokenizer->pre, &host);
        weft_word_model_clear(&tokenizer->model, &host);
        weft_post_processor_clear(&tokenizer->post, &host);
        weft_text_decoder_clear(&tokenizer->decoder, &host);
        weft_free(&beneath, tokenizer);
    }
}

void weft_json_tokenizer_truncate_left(struct weft_json_tokenizer *tokenizer, bool left) {
    tokenizer->post.templates.truncation.left = left;
}

void weft_json_tokenizer_truncate_plainly(struct weft_json_tokenizer *tokenizer) {
    tokenizer->post.templates.truncation = (struct weft_truncation){0};
}

void weft_json_tokenizer_set_bert(struct weft_json_tokenizer *tokenizer,
                                  const struct weft_bert_rules *rules) {
    for (uint32_t i = 0; i < tokenizer->normalizer.count; i++) {
        struct weft_normal_step *step = &tokenizer->normalizer.steps[i];
        if (step->kind == WEFT_NORMAL_BERT) {
            step->lowercase = rules->lowercase;
            step->strip_accents = rules->strip_accents;
            step->chinese = rules->chinese;
        }
    }
}

int32_t weft_json_tokenizer_find(const struct weft_json_tokenizer *tokenizer, const char *text,
                                 size_t size) {
    const struct weft_added_token *added = weft_added_token_find(&tokenizer->added, text, size);
    return added ? added->id : weft_vocabulary_find(&tokenizer->model.vocabulary, text, size);
}

/* Whether a token is found in its own text, and as it is: an added one may be looked for in another form. */
static weft_status is_found(bool *found, struct weft_json_tokenizer *tokenizer, const char *text,
                            size_t size, int32_t id) {
    const struct weft_added_token *added = weft_added_token_find(&tokenizer->added, text, size);
    struct weft_token_list list = {.host = tokenizer->host};
    *found = !added || (added->found_size == size && memcmp(added->found, text, size) == 0);
    const weft_status status =
        *found ? weft_json_tokenizer_encode(tokenizer, &list, text, size) : WEFT_OK;
    *found = *found && list.count == 1 && list.tokens[0].id == id;
    weft_free(&tokenizer->host, list.tokens);
    return status;
}

weft_status weft_json_tokenizer_make_special(struct weft_json_tokenizer *tokenizer,
                                             const char *text, size_t size) {
    const int32_t id = size > 0 ? weft_json_tokenizer_find(tokenizer, text, size) : -1;
    bool found = id < 0;
    WEFT_TRY(found ? WEFT_OK : is_found(&found, tokenizer, text, size, id));
    return found ? WEFT_OK
                 : weft_added_tokens_make_special(&tokenizer->added, text, size, id,
                                                  &tokenizer->memory);
}

const struct weft_templates *weft_json_tokenizer_templates(
    const struct weft_json_tokenizer *tokenizer) {
    return &tokenizer->post.templates;
}

/* ---- facts ---- */

/* How many tokens have texts of so many characters, which are at most WEFT_MAX_PIECE. */
struct lengths {
    uint32_t tokens[WEFT_MAX_PIECE + 1];
    uint32_t count;
};

static void count_length(struct lengths *lengths, const char *text, size_t size) {
    const size_t characters = weft_utf8_count(text, size);
    lengths->tokens[characters < WEFT_MAX_PIECE ? characters : WEFT_MAX_PIECE]++;
    lengths->count++;
}

static void count_lengths(struct lengths *lengths, const struct weft_json_tokenizer *tokenizer) {
    const struct weft_vocabulary *vocabulary = &tokenizer->model.vocabulary;
    for (uint32_t id = 0; id < vocabulary->count; id++) {
        if (vocabulary->pieces[id].type != WEFT_PIECE_NONE) {
            count_length(lengths, vocabulary->pieces[id].text, vocabulary->pieces[id].size);
        }
    }
    for (uint32_t i = 0; i < tokenizer->added.count; i++) {
        const struct weft_added_token *token = &tokenizer->added.at[i];
        if ((uint32_t)token->id >= vocabulary->count ||
            vocabulary->pieces[token->id].type == WEFT_PIECE_NONE) {
            count_length(lengths, token->text, token->size);
        }
    }
}

/* The length that is in place `rank` of all, from 0 on. */
static uint32_t length_at(const struct lengths *lengths, uint32_t rank) {
    uint32_t length = 0;
    for (uint32_t before = lengths->tokens[0]; before <= rank && length < WEFT_MAX_PIECE;) {
        before += lengths->tokens[++length];
    }
    return length;
}

struct weft_token_facts weft_json_tokenizer_facts(const struct weft_json_tokenizer *tokenizer) {
    struct weft_token_facts facts = {.unknown = tokenizer->model.vocabulary.unknown,
                                     .most = tokenizer->post.templates.truncation.most};
    struct lengths lengths = {.count = 0};
    count_lengths(&lengths, tokenizer);
    if (lengths.count > 0) {
        facts.median_characters = (length_at(&lengths, (lengths.count - 1) / 2) +
                                   length_at(&lengths, lengths.count / 2)) /
                                  2;
    }
    return facts;
}

/* ---- decoding ---- */

/* The piece of the model's vocabulary, or null. */
static const struct weft_piece *piece_of(const struct weft_json_tokenizer *tokenizer, int32_t id) {
    const struct weft_vocabulary *vocabulary = &tokenizer->model.vocabulary;
    const bool in_model = id >= 0 && (uint32_t)id < vocabulary->count &&
                          vocabulary->pieces[id].type != WEFT_PIECE_NONE;
    return in_model ? &vocabulary->pieces[id] : NULL;
}

const char *weft_json_tokenizer_piece(const struct weft_json_tokenizer *tokenizer, int32_t id,
                                      size_t *size) {
    const struct weft_added_token *added = weft_added_token_of(&tokenizer->added, id);
    const struct weft_piece *piece = piece_of(tokenizer, id);
    *size = added ? added->size : piece ? piece->size : 0;
    return added ? added->text : piece ? piece->text : NULL;
}

static void put_token(const struct weft_json_tokenizer *tokenizer, struct weft_text *out,
                      int32_t id, bool *known) {
    const struct weft_added_token *added = weft_added_token_of(&tokenizer->added, id);
    const struct weft_piece *piece = piece_of(tokenizer, id);
    *known = added ? !added->special : piece != NULL;
    if (*known && added) {
        weft_text_put(out, added->found, added->found_size);
    } else if (*known) {
        weft_text_put(out, piece->text, piece->size);
    }
}

weft_status weft_json_tokenizer_decode(const struct weft_json_tokenizer *tokenizer,
                                       const int32_t *ids, uint32_t count, struct weft_text *out) {
    struct weft_texts texts;
    weft_status status = WEFT_OK;
    struct weft_ration ration;
    struct weft_budget budget;
    weft_ration_begin(&ration, &tokenizer->host);
    weft_ration_set(&ration, count, WEFT_DECODE_RATION);
    weft_budget_begin(&budget, WEFT_DECODE_STEPS(count), NULL, &tokenizer->host);
    const weft_host memory = weft_ration_host(&ration);
    weft_texts_begin(&texts, &memory);
    for (uint32_t i = 0; i < count && status == WEFT_OK; i++) {
        bool known = false;
        put_token(tokenizer, &texts.all, ids[i], &known);
        status = known ? weft_texts_end(&texts) : WEFT_OK;
        status = status == WEFT_OK ? weft_budget_spend(&budget, 1) : status;
    }
    if (status == WEFT_OK) {
        status = weft_text_decode(&tokenizer->decoder, &texts, out, &budget);
    }
    weft_texts_clear(&texts);
    return weft_ration_judge(&ration, status, WEFT_INVALID_ARGUMENT, "the text of tokens");
}
