/* SPDX-License-Identifier: MIT */
#include "tokenizer/spm/tokenizer.h"

#include <string.h>

#include "core/system/file.h"
#include "core/try.h"
#include "tokenizer/ration.h"
#include "tokenizer/spm/model.h"
#include "tokenizer/unicode/text_class.h"

enum { SPECIAL_CLS, SPECIAL_SEP, SPECIAL_MASK, SPECIAL_PAD, SPECIAL_UNK, SPECIAL_COUNT };

static const char *const special_names[SPECIAL_COUNT] = {
    [SPECIAL_CLS] = "[CLS]", [SPECIAL_SEP] = "[SEP]", [SPECIAL_MASK] = "[MASK]",
    [SPECIAL_PAD] = "<pad>", [SPECIAL_UNK] = "<unk>",
};

struct weft_spm_tokenizer {
    weft_host host;
    char *path;
    struct weft_spm_model *spm;
    bool plain;                     /* text is encoded as it is */
    int32_t special[SPECIAL_COUNT]; /* ids, or -1 */
    struct weft_template_item items[5];
    struct weft_templates templates;
};

/* ---- opening ---- */

static int32_t find(const struct weft_spm_tokenizer *tokenizer, const char *piece, size_t size) {
    return weft_vocabulary_find(&tokenizer->spm->vocabulary, piece, size);
}

static weft_status find_special(struct weft_spm_tokenizer *tokenizer) {
    for (size_t i = 0; i < SPECIAL_COUNT; i++) {
        tokenizer->special[i] = find(tokenizer, special_names[i], strlen(special_names[i]));
    }
    for (size_t i = SPECIAL_CLS; i <= SPECIAL_SEP; i++) {
        if (tokenizer->special[i] < 0 && !tokenizer->plain) {
            return weft_fail(&tokenizer->host, WEFT_BAD_FILE, "%s: expected a piece %s, found none",
                             tokenizer->path, special_names[i]);
        }
    }
    return WEFT_OK;
}

/* [CLS] A [SEP] B [SEP], or A B; with one text its first part. */
static void make_templates(struct weft_spm_tokenizer *tokenizer) {
    const int32_t sep = tokenizer->special[SPECIAL_SEP];
    struct weft_template_item *items = tokenizer->items;
    uint32_t count = 0;
    uint32_t single = 0;
    for (uint8_t text = 0; text < 2; text++) {
        if (!tokenizer->plain && text == 0) {
            items[count++] = (struct weft_template_item){.token = tokenizer->special[SPECIAL_CLS]};
        }
        items[count++] =
            (struct weft_template_item){.is_text = true, .sequence = text, .type = text};
        if (!tokenizer->plain) {
            items[count++] = (struct weft_template_item){.token = sep, .type = text};
        }
        single = text == 0 ? count : single;
    }
    tokenizer->templates.single = (struct weft_template){items, single};
    tokenizer->templates.pair = (struct weft_template){items, count};
}

static weft_status load(struct weft_spm_tokenizer *tokenizer, weft_digest *digest,
                        uint32_t vocabulary) {
    uint8_t *bytes = NULL;
    size_t size = 0;
    WEFT_TRY(weft_file_read_regular(&bytes, &size, WEFT_SPM_MAX_BYTES, tokenizer->path,
                                    &tokenizer->host));
    *digest = weft_digest_of(bytes, size);
    WEFT_TRY(weft_spm_model_create(&tokenizer->spm, bytes, size, tokenizer->path, vocabulary,
                                   &tokenizer->host));
    WEFT_TRY(find_special(tokenizer));
    make_templates(tokenizer);
    return WEFT_OK;
}

weft_status weft_spm_tokenizer_open(struct weft_spm_tokenizer **tokenizer, weft_digest *digest,
                                    const char *path, uint32_t vocabulary, bool plain,
                                    const weft_host *host) {
    struct weft_spm_tokenizer *created = weft_alloc_zero(host, 1, sizeof *created);
    if (!created) {
        return weft_fail_memory(host, path);
    }
    created->host = host ? *host : (weft_host){0};
    created->plain = plain;
    created->path = weft_strdup(host, path);
    weft_status status =
        created->path ? load(created, digest, vocabulary) : weft_fail_memory(host, path);
    if (status == WEFT_OK) {
        *tokenizer = created;
    } else {
        weft_spm_tokenizer_destroy(created);
    }
    return status;
}

void weft_spm_tokenizer_destroy(struct weft_spm_tokenizer *tokenizer) {
    if (tokenizer) {
        weft_host host = tokenizer->host;
        weft_spm_model_destroy(tokenizer->spm);
        weft_free(&host, tokenizer->path);
        weft_free(&host, tokenizer);
    }
}

/* ---- encoding ---- */

#define TOKEN_STEPS 32u

/* Between the text and the list of its tokens. */
struct output {
    const struct weft_spm_tokenizer *tokenizer;
    struct weft_token_list *list;
    struct weft_ration ration; /* of the memory for the text */
    weft_host host;            /* the tokenizer's with it */
    struct weft_budget budget;
    bool with_offsets;
    char *prepared;              /* room for a segment after preparation */
    struct weft_origin *origins; /* of its bytes in the text, or null */
    size_t count;                /* of its bytes */
    weft_status status;          /* the first error */
};

/* True if there is room for more. */
static bool put_token(struct output *output, struct weft_token token) {
    if (output->status == WEFT_OK) {
        output->status = weft_budget_spend(&output->budget, TOKEN_STEPS);
    }
    if (output->status == WEFT_OK && !weft_token_list_add(output->list, token)) {
        output->status = weft_fail_memory(&output->tokenizer->host, output->tokenizer->path);
    }
    return output->status == WEFT_OK;
}

/* The bytes of the text that a piece of the prepared segment comes from. */
static struct weft_token token_of(const struct output *output, const struct weft_spm_piece *piece) {
    struct weft_token token = {.id = piece->id};
    if (output->origins && piece->end > piece->begin) {
        token.begin = output->origins[piece->begin].begin;
        token.end = output->origins[piece->end - 1].end;
    } else if (output->origins) {
        const bool inside = piece->begin < output->count;
        token.begin =
            inside ? output->origins[piece->begin].begin : output->origins[output->count - 1].end;
        token.end = token.begin;
    } else if (!output->prepared) {
        token.begin = piece->begin;
        token.end = piece->end;
    }
    return token;
}

/* The piece of that text, with the place of another. */
static bool put_piece(struct output *output, struct weft_token token, const char *piece,
                      size_t size) {
    const int32_t id = find(output->tokenizer, piece, size);
    token.id = id >= 0 ? id : output->tokenizer->spm->vocabulary.unknown;
    return put_token(output, token);
}

/* "9," and the like: a digit and then a comma at the end. */
static bool is_number_with_comma(const char *piece, size_t size) {
    if (size < 2 || piece[size - 1] != ',') {
        return false;
    }
    uint32_t character;
    size_t last = weft_utf8_last(piece, size - 1);
    (void)weft_utf8_decode(piece + size - 1 - last, last, &character);
    return weft_is_digit(character);
}

/* The pieces of a number that was encoded again: the first loses the space that was not there. */
struct number {
    struct output *output;
    struct weft_token place; /* of the number */
    bool first;
    bool drop_mark;
};

static bool take_number_piece(void *user, const struct weft_spm_piece *piece) {
    struct number *number = user;
    const bool drop =
        number->first && number->drop_mark && weft_begins_with_mark(piece->text, piece->size);
    number->first = false;
    if (!drop) {
        number->place.id = piece->id;
        return put_token(number->output, number->place);
    }
    return piece->size == WEFT_SPACE_MARK_SIZE ||
           put_piece(number->output, number->place, piece->text + WEFT_SPACE_MARK_SIZE,
                     piece->size - WEFT_SPACE_MARK_SIZE);
}

/* A number and the comma behind it. */
static bool put_number(struct output *output, const struct weft_spm_piece *piece) {
    const struct weft_spm_tokenizer *tokenizer = output->tokenizer;
    char *digits = weft_alloc(&output->host, piece->size);
    if (!digits) {
        output->status = weft_fail_memory(&tokenizer->host, tokenizer->path);
        return false;
    }
    size_t kept = 0;
    for (size_t i = 0; i < piece->size - 1;) {
        if (weft_begins_with_mark(piece->text + i, piece->size - 1 - i)) {
            i += WEFT_SPACE_MARK_SIZE;
        } else {
            digits[kept++] = piece->text[i++];
        }
    }
    struct weft_token place = token_of(output, piece);
    const uint32_t comma = place.end > place.begin ? place.end - 1 : place.end;
    struct number number = {output,
                            {.begin = place.begin, .end = comma},
                            true,
                            !weft_begins_with_mark(piece->text, piece->size)};
    const weft_status status = weft_spm_encode(tokenizer->spm, &output->budget, digits, kept, false,
                                               take_number_piece, &number);
    weft_free(&output->host, digits);
    output->status = output->status == WEFT_OK ? status : output->status;
    place.begin = comma;
    return output->status == WEFT_OK && put_piece(output, place, ",", 1);
}

static bool take_piece(void *user, const struct weft_spm_piece *piece) {
    struct output *output = user;
    return is_number_with_comma(piece->text, piece->size)
               ? put_number(output, piece)
               : put_token(output, token_of(output, piece));
}

static bool take_plain_piece(void *user, const struct weft_spm_piece *piece) {
    struct output *output = user;
    return put_token(output, token_of(output, piece));
}

/* Bytes [begin, end) of the text become what is put into the prepared segment. */
static void put_prepared(struct output *output, const char *bytes, size_t size, size_t begin,
                         size_t end) {
    memcpy(output->prepared + output->count, bytes, size);
    for (size_t i = 0; i < size && output->origins; i++) {
        output->origins[output->count + i] = (struct weft_origin){(uint32_t)begin, (uint32_t)end};
    }
    output->count += size;
}

/*
 * Text from `begin` on: one space for each run of white space, none at the ends; `` and '' become ". Never longer. Where a
 * character is kept, so are its bytes.
 */
static void prepare(struct output *output, const char *text, size_t begin, size_t end) {
    size_t space = 0; /* where a run of white space begins, which does so after other characters */
    output->count = 0;
    for (size_t i = begin; i < end;) {
        uint32_t character;
        size_t length = weft_utf8_decode(text + i, end - i, &character);
        if (weft_is_white_space(character)) {
            space = output->count > 0 && space == 0 ? i : space;
            i += length;
            continue;
        }
        if (space > 0) {
            put_prepared(output, " ", 1, space, i);
            space = 0;
        }
        const bool quote = character == '`' || character == '\'';
        if (quote && i + 1 < end && text[i + 1] == text[i]) {
            put_prepared(output, "\"", 1, i, i + 2);
            i += 2;
        } else {
            put_prepared(output, text + i, length, i, i + length);
            i += length;
        }
    }
}

/* Text between special tokens. */
static weft_status encode_segment(struct output *output, const char *text, size_t begin,
                                  size_t end) {
    prepare(output, text, begin, end);
    if (output->count == 0) {
        return output->status;
    }
    const weft_status status =
        weft_spm_encode(output->tokenizer->spm, &output->budget, output->prepared, output->count,
                        output->with_offsets, take_piece, output);
    return status != WEFT_OK ? status : output->status;
}

/* Which special token's name is at the start of the text, or SPECIAL_COUNT. */
static size_t special_at(const struct weft_spm_tokenizer *tokenizer, const char *text,
                         size_t size) {
    if (text[0] != '[' && text[0] != '<') {
        return SPECIAL_COUNT;
    }
    for (size_t i = 0; i < SPECIAL_COUNT; i++) {
        size_t length = strlen(special_names[i]);
        if (tokenizer->special[i] >= 0 && length <= size &&
            memcmp(text, special_names[i], length) == 0) {
            return i;
        }
    }
    return SPECIAL_COUNT;
}

static weft_status encode_segments(struct output *output, const char *text, size_t size) {
    size_t begin = 0; /* of the segment */
    size_t i = 0;
    while (i < size && output->status == WEFT_OK) {
        size_t special = special_at(output->tokenizer, text + i, size - i);
        if (special == SPECIAL_COUNT) {
            i++;
            continue;
        }
        WEFT_TRY(encode_segment(output, text, begin, i));
        begin = i + strlen(special_names[special]);
        (void)put_token(output,
                        (struct weft_token){.id = output->tokenizer->special[special],
                                            .begin = output->with_offsets ? (uint32_t)i : 0,
                                            .end = output->with_offsets ? (uint32_t)begin : 0});
        i = begin;
    }
    return i > begin ? encode_segment(output, text, begin, i) : output->status;
}

static weft_status encode_prepared(struct output *output, const char *text, size_t size) {
    const weft_host *host = &output->host;
    output->prepared = weft_alloc(host, size);
    output->origins =
        output->with_offsets ? weft_alloc_zero(host, size, sizeof *output->origins) : NULL;
    const bool has_room = output->prepared && (output->origins || !output->with_offsets);
    const weft_status status = has_room ? encode_segments(output, text, size)
                                        : weft_fail_memory(host, output->tokenizer->path);
    weft_free(host, output->prepared);
    weft_free(host, output->origins);
    return status;
}

weft_status weft_spm_tokenizer_encode(const struct weft_spm_tokenizer *tokenizer,
                                      struct weft_token_list *list, const char *text, size_t size,
                                      bool with_offsets) {
    struct output output = {.tokenizer = tokenizer, .list = list, .with_offsets = with_offsets};
    list->size = size;
    if (size == 0) {
        return WEFT_OK;
    }
    weft_ration_begin(&output.ration, &tokenizer->host);
    weft_ration_set(&output.ration, size, WEFT_TEXT_RATION);
    output.host = weft_ration_host(&output.ration);
    weft_budget_begin(&output.budget, WEFT_TEXT_STEPS(size), NULL, &output.host);
    weft_status status = tokenizer->plain
                             ? weft_spm_encode(tokenizer->spm, &output.budget, text, size,
                                               with_offsets, take_plain_piece, &output)
                             : encode_prepared(&output, text, size);
    status = status != WEFT_OK ? status : output.status;
    return weft_ration_judge(&output.ration, status, WEFT_INVALID_ARGUMENT, "text");
}

const struct weft_templates *weft_spm_tokenizer_templates(
    const struct weft_spm_tokenizer *tokenizer) {
    return &tokenizer->templates;
}

/* ---- decoding ---- */

static bool has_text(const struct weft_spm_tokenizer *tokenizer, int32_t id) {
    bool special = false;
    for (size_t i = 0; i < SPECIAL_COUNT && !tokenizer->plain; i++) {
        special = special || id == tokenizer->special[i];
    }
    return id >= 0 && (uint32_t)id < tokenizer->spm->vocabulary.count && !special;
}

weft_status weft_spm_tokenizer_decode(const struct weft_spm_tokenizer *tokenizer,
                                      const int32_t *ids, uint32_t count, char **text,
                                      size_t *size) {
    const weft_host *host = &tokenizer->host;
    int32_t *pieces = weft_alloc(host, (count + (size_t)1) * sizeof *pieces);
    if (!pieces) {
        return weft_fail_memory(host, tokenizer->path);
    }
    uint32_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (has_text(tokenizer, ids[i])) {
            pieces[used++] = ids[i];
        }
    }
    struct weft_text decoded = {.host = *host};
    weft_status status = weft_spm_decode(tokenizer->spm, pieces, used, &decoded);
    weft_free(host, pieces);
    *size = decoded.length;
    char *taken = weft_text_take(&decoded);
    if (status == WEFT_OK && !taken) {
        status = weft_fail_memory(host, tokenizer->path);
    }
    if (status != WEFT_OK) {
        weft_free(host, taken);
        return status;
    }
    *text = taken;
    return WEFT_OK;
}

const char *weft_spm_tokenizer_piece(const struct weft_spm_tokenizer *tokenizer, int32_t id,
                                     size_t *size) {
    const struct weft_vocabulary *vocabulary = &tokenizer->spm->vocabulary;
    const bool there = id >= 0 && (uint32_t)id < vocabulary->count;
    *size = there ? vocabulary->pieces[id].size : 0;
    return there ? vocabulary->pieces[id].text : NULL;
}
