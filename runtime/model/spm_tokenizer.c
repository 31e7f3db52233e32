/* SPDX-License-Identifier: MIT */
#include "model/spm_tokenizer.h"

#include <string.h>

#include "core/file.h"
#include "core/try.h"
#include "model/spm_model.h"
#include "model/text_class.h"

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

static weft_status load(struct weft_spm_tokenizer *tokenizer, uint32_t vocabulary) {
    uint8_t *bytes = NULL;
    size_t size = 0;
    WEFT_TRY(weft_file_read_regular(&bytes, &size, WEFT_SPM_MAX_BYTES, tokenizer->path,
                                    &tokenizer->host));
    WEFT_TRY(weft_spm_model_create(&tokenizer->spm, bytes, size, tokenizer->path, vocabulary,
                                   &tokenizer->host));
    return find_special(tokenizer);
}

weft_status weft_spm_tokenizer_open(struct weft_spm_tokenizer **tokenizer, const char *path,
                                    uint32_t vocabulary, bool plain, const weft_host *host) {
    struct weft_spm_tokenizer *created = weft_alloc_zero(host, 1, sizeof *created);
    if (!created) {
        return weft_fail_memory(host, path);
    }
    created->host = host ? *host : (weft_host){0};
    created->plain = plain;
    created->path = weft_strdup(host, path);
    weft_status status = created->path ? load(created, vocabulary) : weft_fail_memory(host, path);
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

/* Where ids go: an array that grows up to `limit`; further ids are dropped. */
struct output {
    const struct weft_spm_tokenizer *tokenizer;
    int32_t *ids;
    uint32_t count;
    uint32_t capacity;
    uint32_t limit;
    weft_status status; /* the first error */
};

/* Whether there is room for more. */
static bool put_id(struct output *output, int32_t id) {
    const weft_host *host = &output->tokenizer->host;
    if (output->status != WEFT_OK || output->count == output->limit) {
        return false;
    }
    if (!weft_grow(host, &output->ids, output->count, &output->capacity, sizeof id)) {
        output->status = weft_fail_memory(host, output->tokenizer->path);
        return false;
    }
    output->ids[output->count++] = id;
    return output->count < output->limit;
}

static bool put_piece(struct output *output, const char *piece, size_t size) {
    const int32_t id = find(output->tokenizer, piece, size);
    return put_id(output, id >= 0 ? id : output->tokenizer->spm->vocabulary.unknown);
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
    bool first;
    bool drop_mark;
};

static bool take_number_piece(void *user, const char *piece, size_t size, int32_t id) {
    struct number *number = user;
    const bool drop = number->first && number->drop_mark && weft_begins_with_mark(piece, size);
    number->first = false;
    if (!drop) {
        return put_id(number->output, id);
    }
    return size == WEFT_SPACE_MARK_SIZE ||
           put_piece(number->output, piece + WEFT_SPACE_MARK_SIZE, size - WEFT_SPACE_MARK_SIZE);
}

static bool put_number(struct output *output, const char *piece, size_t size) {
    const struct weft_spm_tokenizer *tokenizer = output->tokenizer;
    char *digits = weft_alloc(&tokenizer->host, size);
    if (!digits) {
        output->status = weft_fail_memory(&tokenizer->host, tokenizer->path);
        return false;
    }
    size_t kept = 0;
    for (size_t i = 0; i < size - 1;) {
        if (weft_begins_with_mark(piece + i, size - 1 - i)) {
            i += WEFT_SPACE_MARK_SIZE;
        } else {
            digits[kept++] = piece[i++];
        }
    }
    struct number number = {output, true, !weft_begins_with_mark(piece, size)};
    output->status = weft_spm_encode(tokenizer->spm, digits, kept, take_number_piece, &number);
    weft_free(&tokenizer->host, digits);
    return output->status == WEFT_OK && put_piece(output, ",", 1);
}

static bool take_piece(void *user, const char *piece, size_t size, int32_t id) {
    return is_number_with_comma(piece, size) ? put_number(user, piece, size) : put_id(user, id);
}

/* One space for each run of white space, none at the ends; `` and '' become ". Never longer. */
static size_t prepare(char *out, const char *text, size_t size) {
    size_t used = 0;
    bool space = false;
    for (size_t i = 0; i < size;) {
        uint32_t character;
        size_t length = weft_utf8_decode(text + i, size - i, &character);
        if (weft_is_white_space(character)) {
            space = used > 0;
            i += length;
            continue;
        }
        if (space) {
            out[used++] = ' ';
            space = false;
        }
        bool quote = character == '`' || character == '\'';
        if (quote && i + 1 < size && text[i + 1] == text[i]) {
            out[used++] = '"';
            i += 2;
        } else {
            memcpy(out + used, text + i, length);
            used += length;
            i += length;
        }
    }
    return used;
}

static weft_status encode_with(struct output *output, const char *text, size_t size,
                               weft_spm_take take) {
    const weft_status status = weft_spm_encode(output->tokenizer->spm, text, size, take, output);
    return status != WEFT_OK ? status : output->status;
}

/* Text between special tokens. `scratch` holds `size` bytes. */
static weft_status encode_segment(struct output *output, const char *text, size_t size,
                                  char *scratch) {
    size_t prepared = prepare(scratch, text, size);
    if (prepared == 0 || output->count == output->limit) {
        return output->status;
    }
    return encode_with(output, scratch, prepared, take_piece);
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

static bool take_plain_piece(void *user, const char *piece, size_t size, int32_t id) {
    (void)piece;
    (void)size;
    return put_id(user, id);
}

static weft_status encode_text(struct output *output, const char *text, size_t size,
                               char *scratch) {
    if (output->tokenizer->plain) {
        return encode_with(output, text, size, take_plain_piece);
    }
    size_t begin = 0; /* of the segment */
    size_t i = 0;
    while (i < size && output->status == WEFT_OK && output->count < output->limit) {
        size_t special = special_at(output->tokenizer, text + i, size - i);
        if (special == SPECIAL_COUNT) {
            i++;
            continue;
        }
        WEFT_TRY(encode_segment(output, text + begin, i - begin, scratch));
        (void)put_id(output, output->tokenizer->special[special]);
        i += strlen(special_names[special]);
        begin = i;
    }
    return i > begin ? encode_segment(output, text + begin, i - begin, scratch) : output->status;
}

weft_status weft_spm_tokenizer_encode(const struct weft_spm_tokenizer *tokenizer, const char *text,
                                      size_t size, bool add_special, uint32_t maximum,
                                      int32_t **ids, uint32_t *count) {
    struct output output = {.tokenizer = tokenizer, .status = WEFT_OK};
    add_special = add_special && !tokenizer->plain;
    output.limit = maximum - (add_special ? 1 : 0); /* room for [SEP] */
    if (add_special) {
        (void)put_id(&output, tokenizer->special[SPECIAL_CLS]);
    }
    if (size > 0 && output.status == WEFT_OK) {
        char *scratch = weft_alloc(&tokenizer->host, size);
        output.status = scratch ? encode_text(&output, text, size, scratch)
                                : weft_fail_memory(&tokenizer->host, tokenizer->path);
        weft_free(&tokenizer->host, scratch);
    }
    output.limit = maximum;
    if (add_special) {
        (void)put_id(&output, tokenizer->special[SPECIAL_SEP]);
    }
    if (output.status != WEFT_OK) {
        weft_free(&tokenizer->host, output.ids);
        return output.status;
    }
    *ids = output.ids;
    *count = output.count;
    return WEFT_OK;
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
