/* SPDX-License-Identifier: MIT */
/* Normalizing: each step reads all characters of a form and writes the next form. */
#include "tokenizer/json/normalizer.h"

#include <string.h>

#include "core/try.h"
#include "tokenizer/json/normalize_unicode.h"
#include "tokenizer/unicode/unicode.h"
#include "tokenizer/unicode/unicode_history.h"

#define STEP_STEPS 4u /* of any kind, for a character */

/* A form of a text, and where its original begins. */
struct form {
    const struct weft_char *at;
    uint32_t count;
    uint32_t base;
};

void weft_normal_work_begin(struct weft_normal_work *work, const weft_host *host) {
    *work = (struct weft_normal_work){.forms = {{.host = *host}, {.host = *host}},
                                      .changes = {.host = *host},
                                      .text = {.host = *host},
                                      .regex = {.host = *host}};
}

void weft_normal_work_clear(struct weft_normal_work *work) {
    const weft_host *host = &work->changes.host;
    weft_free(host, work->forms[0].at);
    weft_free(host, work->forms[1].at);
    weft_free(host, work->changes.at);
    weft_free(host, work->text.data);
    weft_free(host, work->regex.stack);
}

/* ---- characters one by one ---- */

static void lowercase(struct weft_chars *out, struct weft_char character) {
    const uint32_t code = character.code;
    character.code = weft_lower(code);
    weft_chars_add(out, character);
    if (code == 0x130) { /* the one capital letter whose small form has two characters */
        character.code = 0x307;
        weft_chars_add(out, character);
    }
}

static bool is_chinese(uint32_t code) {
    return (code >= 0x4E00 && code <= 0x9FFF) || (code >= 0x3400 && code <= 0x4DBF) ||
           (code >= 0x20000 && code <= 0x2A6DF) || (code >= 0x2A700 && code <= 0x2B73F) ||
           (code >= 0x2B740 && code <= 0x2B81F) || (code >= 0x2B920 && code <= 0x2CEAF) ||
           (code >= 0xF900 && code <= 0xFAFF) || (code >= 0x2F800 && code <= 0x2FA1F);
}

/* Nothing for control characters, a space for each white one. */
static void clean(struct weft_chars *out, struct weft_char character) {
    const uint32_t code = character.code;
    const bool is_white = weft_is_space(code) && code != '\v' && code != '\f' && code != 0x85;
    const bool control = (weft_category_of(code) & weft_category_control) != 0;
    const bool dropped =
        code == 0xFFFD || (!is_white && weft_history_has(code, WEFT_HISTORY_CONTROL, control));
    if (!dropped) {
        character.code = is_white ? ' ' : code;
        weft_chars_add(out, character);
    }
}

/* Spaces around those that BERT takes for words of their own. */
static void part_chinese(struct weft_chars *out, struct weft_char character) {
    struct weft_char space = character;
    space.code = ' ';
    const bool chinese = is_chinese(character.code);
    if (chinese) {
        weft_chars_add(out, space);
    }
    weft_chars_add(out, character);
    if (chinese) {
        weft_chars_add(out, space);
    }
}

/* SentencePiece's nmt_nfkc, but for the NFKC. */
static void nmt(struct weft_chars *out, struct weft_char character) {
    const uint32_t code = character.code;
    const bool dropped = (code >= 1 && code <= 8) || code == 0x0B ||
                         (code >= 0x0E && code <= 0x1F) || code == 0x7F || code == 0x8F ||
                         code == 0x9F;
    const bool space = code == 9 || code == 10 || code == 12 || code == 13 || code == 0x1680 ||
                       (code >= 0x200B && code <= 0x200F) || code == 0x2028 || code == 0x2029 ||
                       code == 0x2581 || code == 0xFEFF || code == 0xFFFD;
    if (!dropped) {
        character.code = space ? ' ' : code;
        weft_chars_add(out, character);
    }
}

static void put_bytes(struct weft_chars *out, struct weft_char character) {
    char bytes[4];
    const size_t size = weft_utf8_encode(bytes, character.code);
    for (size_t i = 0; i < size; i++) {
        character.code = weft_char_of_byte((uint8_t)bytes[i]);
        weft_chars_add(out, character);
    }
}

static bool is_mark(uint32_t code, weft_categories marks, enum weft_history property) {
    return code >= 0x300 && weft_history_has(code, property, (weft_category_of(code) & marks) != 0);
}

static void drop_nonspacing(struct weft_chars *out, struct weft_char character) {
    if (!is_mark(character.code, weft_category_nonspacing, WEFT_HISTORY_NONSPACING)) {
        weft_chars_add(out, character);
    }
}

static void drop_marks(struct weft_chars *out, struct weft_char character) {
    if (!is_mark(character.code, weft_category_mark, WEFT_HISTORY_MARK)) {
        weft_chars_add(out, character);
    }
}

static void each(struct form form, struct weft_chars *out,
                 void (*put)(struct weft_chars *, struct weft_char)) {
    for (uint32_t i = 0; i < form.count && !out->failed; i++) {
        put(out, form.at[i]);
    }
}

/* ---- steps over all of a form ---- */

/* Characters begin … end; of a form without any, `at` may be null. */
static void put_part(struct form form, uint32_t begin, uint32_t end, struct weft_chars *out) {
    if (begin < end) {
        weft_chars_append(out, form.at + begin, end - begin);
    }
}

static void strip(const struct weft_normal_step *step, struct form form, struct weft_chars *out) {
    uint32_t begin = 0;
    uint32_t end = form.count;
    while (step->left && begin < end && weft_is_space(form.at[begin].code)) {
        begin++;
    }
    while (step->right && end > begin && weft_is_space(form.at[end - 1].code)) {
        end--;
    }
    put_part(form, begin, end, out);
}

/* The content, all of which comes from where that character does. */
static void put_content(const struct weft_chars *content, struct weft_char place,
                        struct weft_chars *out) {
    for (uint32_t i = 0; i < content->count; i++) {
        place.code = content->at[i].code;
        weft_chars_add(out, place);
    }
}

static weft_status replace(const struct weft_normal_step *step, struct weft_normal_work *work,
                           struct form form, struct weft_chars *out) {
    const struct weft_char start = {.begin = form.base, .end = form.base};
    struct weft_regex_matches matches = {0};
    uint32_t done = 0;
    weft_regex_begin(&work->regex, work->budget);
    while (!out->failed &&
           weft_regex_find_next(step->pattern, &work->regex, form.at, form.count, &matches)) {
        put_part(form, done, matches.begin, out);
        put_content(&step->content, matches.end > 0 ? form.at[matches.end - 1] : start, out);
        done = matches.end;
    }
    WEFT_TRY(work->regex.status);
    put_part(form, done, form.count, out);
    return WEFT_OK;
}

static void prepend(const struct weft_normal_step *step, struct form form, struct weft_chars *out) {
    if (form.count > 0) {
        put_content(&step->content, form.at[0], out);
        weft_chars_append(out, form.at, form.count);
    }
}

/* Two forms in turn, so that none is read and written. */
static struct form pass(struct weft_normal_work *work, struct form form, unsigned *turn,
                        void (*put)(struct weft_chars *, struct weft_char)) {
    struct weft_chars *out = &work->forms[*turn];
    out->count = 0;
    each(form, out, put);
    *turn ^= 1;
    return (struct form){out->at, out->count, form.base};
}

static bool is_ascii(struct form form) {
    uint32_t all = 0;
    for (uint32_t i = 0; i < form.count; i++) {
        all |= form.at[i].code;
    }
    return all < 0x80;
}

static struct form bert(const struct weft_normal_step *step, struct weft_normal_work *work,
                        struct form form, unsigned *turn) {
    const bool ascii = is_ascii(form); /* of which no other step would change anything */
    if (step->clean_text) {
        form = pass(work, form, turn, clean);
    }
    if (step->chinese && !ascii) {
        form = pass(work, form, turn, part_chinese);
    }
    if (step->strip_accents && !ascii) {
        struct weft_chars *out = &work->forms[*turn];
        out->count = 0;
        weft_normalize_decomposed(&work->changes, form.at, form.count, false);
        weft_chars_change(out, form.at, form.count, form.base, &work->changes);
        *turn ^= 1;
        form = pass(work, (struct form){out->at, out->count, form.base}, turn, drop_nonspacing);
    }
    return step->lowercase ? pass(work, form, turn, lowercase) : form;
}

/* ---- all steps ---- */

static void change(const struct weft_normal_step *step, struct weft_normal_work *work,
                   struct form form, struct weft_chars *out) {
    struct weft_changes *changes = &work->changes;
    const bool compatible = step->kind == WEFT_NORMAL_NFKC || step->kind == WEFT_NORMAL_NFKD;
    if (step->kind == WEFT_NORMAL_PRECOMPILED) {
        weft_normalize_by_rules(changes, &work->text, &step->rules, form.at, form.count);
    } else if (step->kind == WEFT_NORMAL_NFD || step->kind == WEFT_NORMAL_NFKD) {
        weft_normalize_decomposed(changes, form.at, form.count, compatible);
    } else {
        weft_normalize_composed(changes, form.at, form.count, compatible);
    }
    weft_chars_change(out, form.at, form.count, form.base, changes);
    out->failed = out->failed || work->text.failed;
}

static weft_status run_step(const struct weft_normal_step *step, struct weft_normal_work *work,
                            struct form *form, unsigned *turn) {
    static void (*const singles[])(struct weft_chars *, struct weft_char) = {
        [WEFT_NORMAL_LOWERCASE] = lowercase,
        [WEFT_NORMAL_STRIP_ACCENTS] = drop_marks,
        [WEFT_NORMAL_BYTE_LEVEL] = put_bytes,
        [WEFT_NORMAL_NMT] = nmt,
    };
    if (step->kind == WEFT_NORMAL_BERT) {
        *form = bert(step, work, *form, turn);
        return WEFT_OK;
    }
    struct weft_chars *out = &work->forms[*turn];
    weft_status status = WEFT_OK;
    out->count = 0;
    switch (step->kind) {
    case WEFT_NORMAL_STRIP:
        strip(step, *form, out);
        break;
    case WEFT_NORMAL_REPLACE:
        status = replace(step, work, *form, out);
        break;
    case WEFT_NORMAL_PREPEND:
        prepend(step, *form, out);
        break;
    case WEFT_NORMAL_LOWERCASE:
    case WEFT_NORMAL_STRIP_ACCENTS:
    case WEFT_NORMAL_BYTE_LEVEL:
    case WEFT_NORMAL_NMT:
        each(*form, out, singles[step->kind]);
        break;
    default:
        change(step, work, *form, out);
    }
    *form = (struct form){out->at, out->count, form->base};
    *turn ^= 1;
    return status;
}

weft_status weft_normalize(const struct weft_normalizer *normalizer, struct weft_normal_work *work,
                           const struct weft_char *from, uint32_t count, uint32_t base,
                           struct weft_chars *out) {
    struct form form = {from, count, base};
    unsigned turn = 0;
    for (uint32_t i = 0; i < normalizer->count; i++) {
        const uint64_t before = form.count;
        WEFT_TRY(run_step(&normalizer->steps[i], work, &form, &turn));
        WEFT_TRY(weft_budget_spend(work->budget, (before + form.count) * STEP_STEPS + STEP_STEPS));
    }
    weft_chars_append(out, form.at, form.count);
    const bool failed = work->forms[0].failed || work->forms[1].failed || out->failed;
    return failed ? weft_fail_memory(&out->host, "a normalized text") : WEFT_OK;
}
