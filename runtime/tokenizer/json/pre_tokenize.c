/* SPDX-License-Identifier: MIT */
/* Cutting a text into parts. */
#include "core/try.h"
#include "tokenizer/json/normalizer.h"
#include "tokenizer/json/pre_tokenizer.h"

/* Cost of a part, and of each of its characters, in every step, without the cost of patterns. */
#define PART_STEPS 16u
#define CHAR_STEPS 4u

void weft_parts_begin(struct weft_parts *parts, const weft_host *host) {
    *parts = (struct weft_parts){.chars = {.host = *host}};
}

void weft_parts_clear(struct weft_parts *parts) {
    weft_free(&parts->chars.host, parts->chars.at);
    weft_free(&parts->chars.host, parts->at);
}

void weft_parts_reset(struct weft_parts *parts) {
    parts->count = 0;
    parts->chars.count = 0;
}

weft_status weft_parts_add(struct weft_parts *parts, struct weft_part part) {
    if (part.count == 0) {
        return WEFT_OK;
    }
    if (!weft_grow(&parts->chars.host, &parts->at, parts->count, &parts->capacity, sizeof part)) {
        return weft_fail_memory(&parts->chars.host, "the parts of a text");
    }
    parts->at[parts->count++] = part;
    return WEFT_OK;
}

/* ---- from matches to parts ---- */

/* A part that may still grow: with the match before it, or with the text behind it. */
struct splitter {
    struct weft_parts *parts;
    const struct weft_char *text;
    uint32_t first; /* of the text, in the characters of `parts` */
    enum weft_split split;
    bool open;         /* there is a part in hand: begin and end */
    bool last_matched; /* the newest one is a match */
    uint32_t begin;
    uint32_t end;
};

static weft_status put_part(struct splitter *splitter) {
    if (!splitter->open || splitter->begin == splitter->end) {
        return WEFT_OK;
    }
    splitter->open = false;
    return weft_parts_add(splitter->parts,
                          (struct weft_part){.first = splitter->first + splitter->begin,
                                             .count = splitter->end - splitter->begin,
                                             .base = splitter->text[splitter->begin].begin,
                                             .token = -1});
}

/* True if what comes next belongs to the part in hand. */
static bool joins(const struct splitter *splitter, bool is_match) {
    switch (splitter->split) {
    case WEFT_SPLIT_CONTIGUOUS:
        return is_match == splitter->last_matched;
    case WEFT_SPLIT_WITH_PREVIOUS:
        return is_match && !splitter->last_matched;
    case WEFT_SPLIT_WITH_NEXT:
        return !is_match && splitter->last_matched;
    default:
        return false;
    }
}

/* The next stretch of the text, which is a match or lies between two. */
static weft_status put_stretch(struct splitter *splitter, uint32_t begin, uint32_t end,
                               bool is_match) {
    if (splitter->open && joins(splitter, is_match)) {
        splitter->end = end;
    } else {
        WEFT_TRY(put_part(splitter));
        splitter->open = true;
        splitter->begin = begin;
        splitter->end = end;
    }
    if (splitter->split == WEFT_SPLIT_REMOVED && is_match) {
        splitter->open = false;
    }
    splitter->last_matched = is_match;
    return WEFT_OK;
}

static weft_status split_by_characters(const struct weft_pre_step *step, struct splitter *splitter,
                                       uint32_t count) {
    uint32_t done = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t code = splitter->text[i].code;
        if (!(step->is_in ? step->is_in(code) : code == step->code)) {
            continue;
        }
        if (done < i) {
            WEFT_TRY(put_stretch(splitter, done, i, false));
        }
        WEFT_TRY(put_stretch(splitter, i, i + 1, true));
        done = i + 1;
    }
    return done < count ? put_stretch(splitter, done, count, false) : WEFT_OK;
}

static weft_status split_by_pattern(const struct weft_pre_step *step, struct splitter *splitter,
                                    uint32_t count, struct weft_regex_work *work) {
    struct weft_regex_matches matches = {0};
    uint32_t done = 0;
    weft_regex_begin(work, work->budget);
    while (weft_regex_find_next(step->pattern, work, splitter->text, count, &matches)) {
        if (done < matches.begin) {
            WEFT_TRY(put_stretch(splitter, done, matches.begin, step->invert));
        }
        WEFT_TRY(put_stretch(splitter, matches.begin, matches.end, !step->invert));
        done = matches.end;
    }
    WEFT_TRY(work->status);
    return done < count ? put_stretch(splitter, done, count, step->invert) : WEFT_OK;
}

/* Cuts the last `count` characters of the parts' text. */
static weft_status split(const struct weft_pre_step *step, struct weft_parts *parts, uint32_t count,
                         struct weft_regex_work *work) {
    struct splitter splitter = {.parts = parts,
                                .text = parts->chars.at + parts->chars.count - count,
                                .first = parts->chars.count - count,
                                .split = step->split};
    WEFT_TRY(step->pattern ? split_by_pattern(step, &splitter, count, work)
                           : split_by_characters(step, &splitter, count));
    return put_part(&splitter);
}

/* ---- steps that change characters ---- */

static weft_status put_whole(struct weft_parts *parts, uint32_t count, uint32_t base) {
    return weft_parts_add(
        parts, (struct weft_part){
                   .first = parts->chars.count - count, .count = count, .base = base, .token = -1});
}

/* A character before the others, which comes from where the first does. */
static void put_before(struct weft_chars *out, struct weft_char first, uint32_t code) {
    first.code = code;
    weft_chars_add(out, first);
}

/* Each part that the last step has added becomes the characters of its bytes. Reads `from`, writes to `to`. */
static void put_bytes_of(struct weft_chars *to, const struct weft_char *from, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        char bytes[4];
        struct weft_char character = from[i];
        const size_t size = weft_utf8_encode(bytes, character.code);
        for (size_t j = 0; j < size; j++) {
            character.code = weft_char_of_byte((uint8_t)bytes[j]);
            weft_chars_add(to, character);
        }
    }
}

static weft_status split_metaspace(const struct weft_pre_step *step, struct weft_parts *to,
                                   const struct weft_char *from, const struct weft_part *part,
                                   struct weft_regex_work *work) {
    const uint32_t begin = to->chars.count;
    const bool starts = from[0].code == step->code || from[0].code == ' ';
    const bool wanted = step->prepend == WEFT_PREPEND_ALWAYS ||
                        (step->prepend == WEFT_PREPEND_FIRST && part->base == 0);
    if (wanted && !starts) {
        put_before(&to->chars, from[0], step->code);
    }
    for (uint32_t i = 0; i < part->count; i++) {
        struct weft_char character = from[i];
        character.code = character.code == ' ' ? step->code : character.code;
        weft_chars_add(&to->chars, character);
    }
    const uint32_t count = to->chars.count - begin;
    if (to->chars.failed) {
        return WEFT_OK; /* the caller says so */
    }
    return step->whole ? put_whole(to, count, part->base) : split(step, to, count, work);
}

/* The parts of one part, with a space before it where that is wanted. */
static weft_status split_plain(const struct weft_pre_step *step, struct weft_parts *to,
                               const struct weft_char *from, const struct weft_part *part,
                               struct weft_regex_work *work) {
    const uint32_t begin = to->chars.count;
    if (step->prefix_space && from[0].code != ' ') {
        put_before(&to->chars, from[0], ' ');
    }
    weft_chars_append(&to->chars, from, part->count);
    const uint32_t count = to->chars.count - begin;
    if (to->chars.failed) {
        return WEFT_OK; /* the caller says so */
    }
    return step->whole ? put_whole(to, count, part->base) : split(step, to, count, work);
}

static weft_status split_part(const struct weft_pre_step *step, struct weft_parts *to,
                              const struct weft_char *from, const struct weft_part *part,
                              struct weft_regex_work *work) {
    if (part->token >= 0) {
        struct weft_part copy = *part;
        copy.first = to->chars.count;
        weft_chars_append(&to->chars, from, part->count);
        return weft_parts_add(to, copy);
    }
    return step->kind == WEFT_PRE_METASPACE ? split_metaspace(step, to, from, part, work)
                                            : split_plain(step, to, from, part, work);
}

static void swap(struct weft_parts *a, struct weft_parts *b) {
    const struct weft_parts moved = *a;
    *a = *b;
    *b = moved;
}

static weft_status check(const struct weft_parts *parts) {
    return parts->chars.failed ? weft_fail_memory(&parts->chars.host, "the parts of a text")
                               : WEFT_OK;
}

/* All parts that are no tokens, as characters of bytes. */
static weft_status map_bytes(struct weft_parts *parts, struct weft_parts *spare) {
    weft_parts_reset(spare);
    for (uint32_t i = 0; i < parts->count; i++) {
        struct weft_part part = parts->at[i];
        const struct weft_char *from = parts->chars.at + part.first;
        part.first = spare->chars.count;
        if (part.token >= 0) {
            weft_chars_append(&spare->chars, from, part.count);
        } else {
            put_bytes_of(&spare->chars, from, part.count);
        }
        part.count = spare->chars.count - part.first;
        WEFT_TRY(weft_parts_add(spare, part));
    }
    swap(parts, spare);
    return check(parts);
}

weft_status weft_pre_tokenize(const struct weft_pre_tokenizer *tokenizer, struct weft_parts *parts,
                              struct weft_parts *spare, struct weft_regex_work *work,
                              struct weft_budget *budget) {
    work->budget = budget;
    for (uint32_t i = 0; i < tokenizer->count; i++) {
        const struct weft_pre_step *step = &tokenizer->steps[i];
        weft_parts_reset(spare);
        for (uint32_t j = 0; j < parts->count; j++) {
            const struct weft_part *part = &parts->at[j];
            WEFT_TRY(weft_budget_spend(budget, PART_STEPS + (uint64_t)part->count * CHAR_STEPS));
            WEFT_TRY(split_part(step, spare, parts->chars.at + part->first, part, work));
        }
        swap(parts, spare);
        WEFT_TRY(check(parts));
        if (step->kind == WEFT_PRE_BYTE_LEVEL) {
            WEFT_TRY(map_bytes(parts, spare));
        }
    }
    return WEFT_OK;
}
