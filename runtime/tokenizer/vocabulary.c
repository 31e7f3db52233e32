/* SPDX-License-Identifier: MIT */
#include "tokenizer/vocabulary.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "tokenizer/unicode/text_class.h"

/* Place in the file, for messages of the checks. */
struct place {
    const char *path;
    const weft_host *host;
};

static weft_status check_text(const struct weft_piece *piece, uint32_t id,
                              const struct place *place) {
    if (piece->size == 0 || piece->size > WEFT_MAX_PIECE) {
        return weft_fail(place->host, WEFT_BAD_FILE, "%s: piece %u: expected %s bytes, found %zu",
                         place->path, (unsigned)id,
                         piece->size == 0 ? "at least 1" : "at most 4096", piece->size);
    }
    if (!weft_utf8_is_text(piece->text, piece->size)) {
        return weft_fail(place->host, WEFT_BAD_FILE,
                         "%s: piece %u: expected UTF-8 without a zero byte, found other bytes",
                         place->path, (unsigned)id);
    }
    return WEFT_OK;
}

static weft_status check_piece(const struct weft_piece *piece, uint32_t id,
                               const struct place *place) {
    WEFT_TRY(check_text(piece, id, place));
    if (!(piece->score >= -DBL_MAX && piece->score <= DBL_MAX)) { /* nor a NaN */
        return weft_fail(place->host, WEFT_BAD_FILE,
                         "%s: piece %u: score: expected a finite number, found %g", place->path,
                         (unsigned)id, piece->score);
    }
    if (piece->type < WEFT_PIECE_NORMAL || piece->type > WEFT_PIECE_BYTE) {
        return weft_fail(place->host, WEFT_BAD_FILE,
                         "%s: piece %u: type: expected 1 to 6, found %d", place->path, (unsigned)id,
                         (int)piece->type);
    }
    return WEFT_OK;
}

static void note_marks(struct weft_vocabulary *vocabulary, const struct weft_piece *piece) {
    vocabulary->has_unused = vocabulary->has_unused || piece->type == WEFT_PIECE_UNUSED;
    for (size_t i = 0; i + WEFT_SPACE_MARK_SIZE <= piece->size; i++) {
        const size_t end = i + WEFT_SPACE_MARK_SIZE;
        if (weft_begins_with_mark(piece->text + i, piece->size - i)) {
            vocabulary->before_mark[i > 0 ? (uint8_t)piece->text[i - 1] : 0] = 1;
            vocabulary->after_mark[end < piece->size ? (uint8_t)piece->text[end] : 0] = 1;
        }
    }
}

static weft_status check_pieces(struct weft_vocabulary *vocabulary, const struct place *place) {
    vocabulary->unknown = vocabulary->is_loose ? vocabulary->unknown : -1;
    vocabulary->least = FLT_MAX;
    vocabulary->most = FLT_MIN;
    for (uint32_t id = 0; id < vocabulary->count; id++) {
        const struct weft_piece *piece = &vocabulary->pieces[id];
        if (vocabulary->is_loose && piece->type == WEFT_PIECE_NONE) {
            continue;
        }
        WEFT_TRY(check_piece(piece, id, place));
        if (weft_piece_in_text(piece->type)) {
            note_marks(vocabulary, piece);
        }
        if (piece->type == WEFT_PIECE_NORMAL) {
            vocabulary->least = piece->score < vocabulary->least ? piece->score : vocabulary->least;
            vocabulary->most = piece->score > vocabulary->most ? piece->score : vocabulary->most;
        }
        if (piece->type == WEFT_PIECE_UNKNOWN && vocabulary->unknown >= 0) {
            return weft_fail(place->host, WEFT_BAD_FILE,
                             "%s: piece %u: type: expected one unknown piece, found another, %d",
                             place->path, (unsigned)id, (int)vocabulary->unknown);
        }
        if (piece->type == WEFT_PIECE_UNKNOWN) {
            vocabulary->unknown = (int32_t)id;
        }
    }
    return vocabulary->unknown >= 0 || vocabulary->is_loose
               ? WEFT_OK
               : weft_fail(place->host, WEFT_BAD_FILE, "%s: expected one unknown piece, found none",
                           place->path);
}

/* ---- the trees ---- */

static weft_status check_once(const struct weft_piece_entry *entries, uint32_t count,
                              const struct place *place) {
    for (uint32_t i = 1; i < count; i++) {
        if (entries[i].size == entries[i - 1].size &&
            memcmp(entries[i].text, entries[i - 1].text, entries[i].size) == 0) {
            return weft_fail(place->host, WEFT_BAD_FILE,
                             "%s: piece %d: expected a text of its own, found that of piece %d",
                             place->path, (int)entries[i].id, (int)entries[i - 1].id);
        }
    }
    return WEFT_OK;
}

static uint32_t keep_user_defined(const struct weft_vocabulary *vocabulary,
                                  struct weft_piece_entry *entries, uint32_t count) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (vocabulary->pieces[entries[i].id].type == WEFT_PIECE_USER_DEFINED) {
            entries[kept++] = entries[i];
        }
    }
    return kept;
}

static weft_status make_trees(struct weft_vocabulary *vocabulary, struct weft_piece_entry *entries,
                              const struct place *place) {
    uint32_t count = 0;
    for (uint32_t id = 0; id < vocabulary->count; id++) {
        const struct weft_piece *piece = &vocabulary->pieces[id];
        if (piece->type != WEFT_PIECE_NONE) {
            entries[count++] =
                (struct weft_piece_entry){piece->text, (uint32_t)piece->size, (int32_t)id};
        }
    }
    qsort(entries, count, sizeof *entries, weft_piece_entry_compare);
    WEFT_TRY(check_once(entries, count, place));
    WEFT_TRY(weft_piece_trie_create(&vocabulary->all, entries, count, place->path, place->host));
    const uint32_t kept = keep_user_defined(vocabulary, entries, count);
    return kept > 0 ? weft_piece_trie_create(&vocabulary->user_defined, entries, kept, place->path,
                                             place->host)
                    : WEFT_OK;
}

weft_status weft_vocabulary_finish(struct weft_vocabulary *vocabulary, const char *path,
                                   const weft_host *host) {
    const struct place place = {path, host};
    WEFT_TRY(check_pieces(vocabulary, &place));
    struct weft_piece_entry *entries = weft_alloc_zero(host, vocabulary->count, sizeof *entries);
    weft_status status =
        entries ? make_trees(vocabulary, entries, &place) : weft_fail_memory(host, path);
    weft_free(host, entries);
    return status;
}

void weft_vocabulary_clear(struct weft_vocabulary *vocabulary, const weft_host *host) {
    weft_piece_trie_clear(&vocabulary->all, host);
    weft_piece_trie_clear(&vocabulary->user_defined, host);
    weft_free(host, vocabulary->pieces);
    *vocabulary = (struct weft_vocabulary){0};
}

size_t weft_vocabulary_stretch(const struct weft_vocabulary *vocabulary, const char *text,
                               size_t size) {
    for (size_t i = 0; i < size;) {
        const char *lead = memchr(text + i, WEFT_SPACE_MARK[0], size - i);
        if (!lead) {
            return size;
        }
        i = (size_t)(lead - text);
        if (!weft_begins_with_mark(lead, size - i)) {
            i++;
            continue;
        }
        if (i > 0 && !vocabulary->before_mark[(uint8_t)text[i - 1]]) {
            return i;
        }
        i += WEFT_SPACE_MARK_SIZE;
        if (i < size && !vocabulary->after_mark[(uint8_t)text[i]]) {
            return i;
        }
    }
    return size;
}

int32_t weft_vocabulary_find(const struct weft_vocabulary *vocabulary, const char *text,
                             size_t size) {
    return weft_piece_trie_find(&vocabulary->all, text, size);
}

int32_t weft_vocabulary_match(const struct weft_vocabulary *vocabulary, const char *text,
                              size_t size) {
    const int32_t id = weft_piece_trie_find(&vocabulary->all, text, size);
    return id >= 0 && weft_piece_in_text(vocabulary->pieces[id].type) ? id : -1;
}
