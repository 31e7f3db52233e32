/* SPDX-License-Identifier: MIT */
#include "model/spm_tokenizer.h"

#ifndef WEFT_HAVE_SENTENCEPIECE

struct weft_spm_tokenizer {
    char nothing;
};

weft_status weft_spm_tokenizer_open(struct weft_spm_tokenizer **tokenizer, const char *path,
                                    uint32_t vocabulary, bool plain, const weft_host *host) {
    (void)tokenizer;
    (void)vocabulary;
    (void)plain;
    return weft_fail(host, WEFT_UNSUPPORTED,
                     "%s: this build of Weft does not have the SentencePiece library", path);
}

void weft_spm_tokenizer_destroy(struct weft_spm_tokenizer *tokenizer) {
    (void)tokenizer;
}

/* Never called: without the library there is no tokenizer of this kind. */
/* NOLINTBEGIN(readability-non-const-parameter) */
weft_status weft_spm_tokenizer_encode(const struct weft_spm_tokenizer *tokenizer, const char *text,
                                      size_t size, bool add_special, uint32_t maximum,
                                      int32_t **ids, uint32_t *count) {
    (void)tokenizer;
    (void)text;
    (void)size;
    (void)add_special;
    (void)maximum;
    (void)ids;
    (void)count;
    return WEFT_UNSUPPORTED;
}

weft_status weft_spm_tokenizer_decode(const struct weft_spm_tokenizer *tokenizer,
                                      const int32_t *ids, uint32_t count, char **text,
                                      size_t *size) {
    (void)tokenizer;
    (void)ids;
    (void)count;
    (void)text;
    (void)size;
    return WEFT_UNSUPPORTED;
}
/* NOLINTEND(readability-non-const-parameter) */

#else

#include <string.h>

#include "core/file.h"
#include "core/try.h"
#include "model/sentencepiece_shim.h"
#include "model/spm_check.h"
#include "model/text_class.h"

/* SentencePiece's mark for a space, U+2581. */
#define MARK      "\xE2\x96\x81"
#define MARK_SIZE 3
/* Bytes of a model. Those of 256,000 pieces have 4 MB. */
#define MAX_FILE  ((size_t)64 << 20)

enum { SPECIAL_CLS, SPECIAL_SEP, SPECIAL_MASK, SPECIAL_PAD, SPECIAL_UNK, SPECIAL_COUNT };

static const char *const special_names[SPECIAL_COUNT] = {
    [SPECIAL_CLS] = "[CLS]", [SPECIAL_SEP] = "[SEP]", [SPECIAL_MASK] = "[MASK]",
    [SPECIAL_PAD] = "<pad>", [SPECIAL_UNK] = "<unk>",
};

struct weft_spm_tokenizer {
    weft_host host;
    char *path;
    weft_spm *spm;
    bool plain;                     /* text goes to the library as it is */
    int32_t special[SPECIAL_COUNT]; /* ids, or -1 */
};

/* ---- opening ---- */

static weft_status fail_spm(const struct weft_spm_tokenizer *tokenizer, weft_spm_result result,
                            const char *reason) {
    if (result == WEFT_SPM_OUT_OF_MEMORY) {
        return weft_fail_memory(&tokenizer->host, tokenizer->path);
    }
    return weft_fail(&tokenizer->host, WEFT_BAD_FILE, "%s: SentencePiece: %s", tokenizer->path,
                     reason);
}

static weft_status check_pieces(struct weft_spm_tokenizer *tokenizer, uint32_t vocabulary) {
    uint32_t pieces = weft_spm_size(tokenizer->spm);
    if (pieces > vocabulary) {
        return weft_fail(&tokenizer->host, WEFT_BAD_FILE,
                         "%s: expected at most %u pieces, the model's vocab_size, found %u",
                         tokenizer->path, (unsigned)vocabulary, (unsigned)pieces);
    }
    for (size_t i = 0; i < SPECIAL_COUNT; i++) {
        tokenizer->special[i] =
            weft_spm_find(tokenizer->spm, special_names[i], strlen(special_names[i]));
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
    uint8_t *data = NULL;
    size_t size = 0;
    WEFT_TRY(weft_file_read_regular(&data, &size, MAX_FILE, tokenizer->path, &tokenizer->host));
    weft_status status = weft_spm_check(data, size, tokenizer->path, &tokenizer->host);
    if (status != WEFT_OK) {
        weft_free(&tokenizer->host, data);
        return status;
    }
    char reason[WEFT_SPM_REASON_SIZE] = "";
    weft_spm_result result = weft_spm_create(&tokenizer->spm, data, size, reason);
    weft_free(&tokenizer->host, data);
    return result == WEFT_SPM_OK ? check_pieces(tokenizer, vocabulary)
                                 : fail_spm(tokenizer, result, reason);
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
        weft_spm_destroy(tokenizer->spm);
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
    const weft_spm *spm = output->tokenizer->spm;
    int32_t id = weft_spm_find(spm, piece, size);
    return put_id(output, id >= 0 ? id : weft_spm_unknown(spm));
}

static bool begins_with_mark(const char *piece, size_t size) {
    return size >= MARK_SIZE && memcmp(piece, MARK, MARK_SIZE) == 0;
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

static bool take_number_piece(void *user, const char *piece, size_t size) {
    struct number *number = user;
    bool drop = number->first && number->drop_mark && begins_with_mark(piece, size);
    number->first = false;
    if (drop) {
        piece += MARK_SIZE;
        size -= MARK_SIZE;
    }
    return size == 0 || put_piece(number->output, piece, size);
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
        if (begins_with_mark(piece + i, size - 1 - i)) {
            i += MARK_SIZE;
        } else {
            digits[kept++] = piece[i++];
        }
    }
    struct number number = {output, true, !begins_with_mark(piece, size)};
    char reason[WEFT_SPM_REASON_SIZE] = "";
    weft_spm_result result =
        weft_spm_encode(tokenizer->spm, digits, kept, take_number_piece, &number, reason);
    weft_free(&tokenizer->host, digits);
    if (result != WEFT_SPM_OK) {
        output->status = fail_spm(tokenizer, result, reason);
        return false;
    }
    return put_piece(output, ",", 1);
}

static bool take_piece(void *user, const char *piece, size_t size) {
    return is_number_with_comma(piece, size) ? put_number(user, piece, size)
                                             : put_piece(user, piece, size);
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

/* Text between special tokens. `scratch` holds `size` bytes. */
static weft_status encode_segment(struct output *output, const char *text, size_t size,
                                  char *scratch) {
    size_t prepared = prepare(scratch, text, size);
    if (prepared == 0 || output->count == output->limit) {
        return output->status;
    }
    char reason[WEFT_SPM_REASON_SIZE] = "";
    weft_spm_result result =
        weft_spm_encode(output->tokenizer->spm, scratch, prepared, take_piece, output, reason);
    return result == WEFT_SPM_OK ? output->status : fail_spm(output->tokenizer, result, reason);
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

static bool take_plain_piece(void *user, const char *piece, size_t size) {
    return put_piece(user, piece, size);
}

static weft_status encode_plain(struct output *output, const char *text, size_t size) {
    const struct weft_spm_tokenizer *tokenizer = output->tokenizer;
    char reason[WEFT_SPM_REASON_SIZE] = "";
    weft_spm_result result =
        weft_spm_encode(tokenizer->spm, text, size, take_plain_piece, output, reason);
    return result == WEFT_SPM_OK ? output->status : fail_spm(tokenizer, result, reason);
}

static weft_status encode_text(struct output *output, const char *text, size_t size,
                               char *scratch) {
    if (output->tokenizer->plain) {
        return encode_plain(output, text, size);
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

/* A text's bytes, in the memory of the host. */
struct copy {
    const weft_host *host;
    char *text;
    size_t size;
};

static bool take_text(void *user, const char *text, size_t size) {
    struct copy *copy = user;
    copy->text = weft_alloc(copy->host, size + 1);
    if (copy->text) {
        memcpy(copy->text, text, size);
        copy->text[size] = '\0';
        copy->size = size;
    }
    return false;
}

static bool has_text(const struct weft_spm_tokenizer *tokenizer, int32_t id) {
    bool special = false;
    for (size_t i = 0; i < SPECIAL_COUNT && !tokenizer->plain; i++) {
        special = special || id == tokenizer->special[i];
    }
    return id >= 0 && (uint32_t)id < weft_spm_size(tokenizer->spm) && !special;
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
    struct copy copy = {.host = host};
    char reason[WEFT_SPM_REASON_SIZE] = "";
    weft_spm_result result =
        weft_spm_decode(tokenizer->spm, pieces, used, take_text, &copy, reason);
    weft_free(host, pieces);
    if (result != WEFT_SPM_OK) {
        weft_free(host, copy.text);
        return fail_spm(tokenizer, result, reason);
    }
    *text = copy.text;
    *size = copy.size;
    return copy.text ? WEFT_OK : weft_fail_memory(host, tokenizer->path);
}

#endif
