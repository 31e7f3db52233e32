/* SPDX-License-Identifier: MIT */
/* Classes of characters: [...], \p{...}, \s and the like. */
#include <stdio.h>
#include <string.h>

#include "core/try.h"
#include "tokenizer/regex/program.h"
#include "tokenizer/unicode/text_class.h"

/* ---- asking ---- */

static bool item_has(const struct weft_regex_item *item, uint32_t code) {
    bool has = false;
    switch (item->kind) {
    case WEFT_REGEX_RANGE:
        has = code >= item->low && code <= item->high;
        break;
    case WEFT_REGEX_CATEGORIES:
        has = (weft_category_of(code) & item->low) != 0;
        break;
    case WEFT_REGEX_SPACE:
        has = weft_is_space(code);
        break;
    case WEFT_REGEX_WORD:
        has = weft_is_word(code) ||
              (item->low > 0 && code < 256 && (weft_category_of(code) & weft_category_number) != 0);
        break;
    case WEFT_REGEX_SUBSET:
        break;
    }
    return has != item->negative;
}

/*
 * A character and, without regard to case, its small form and the capital letter of that: answers are bits, one for each.
 * Classes in one another are so asked once, however deep they lie.
 */
struct asked {
    uint32_t codes[3];
    unsigned count;
};

static unsigned all_of(const struct asked *asked) {
    return (1u << asked->count) - 1;
}

static struct asked ask(uint32_t code, bool fold) {
    const uint32_t small = fold ? weft_fold(code) : code;
    const bool letter = small >= 'a' && small <= 'z';
    return (struct asked){{code, small, letter ? small - 'a' + 'A' : small}, fold ? 3 : 1};
}

static unsigned set_has(const struct weft_regex *regex, uint32_t number, const struct asked *asked,
                        uint64_t *steps);

/* By the table of a class that lies within another: U+0000 … U+007F have their small forms there, too. */
static unsigned table_has(const struct weft_regex_set *set, const struct asked *asked) {
    unsigned has = 0;
    for (unsigned i = 0; i < asked->count; i++) {
        const uint32_t code = asked->codes[i];
        has |= (unsigned)(set->ascii[code / 64] >> code % 64 & 1) << i;
    }
    return has;
}

static unsigned items_have(const struct weft_regex *regex, const struct weft_regex_set *set,
                           const struct asked *asked, uint64_t *steps) {
    unsigned has = 0;
    for (uint32_t at = set->first; at != WEFT_REGEX_NONE && has != all_of(asked);
         at = regex->items[at].next) {
        const struct weft_regex_item *item = &regex->items[at];
        ++*steps;
        if (item->kind != WEFT_REGEX_SUBSET) {
            for (unsigned i = 0; i < asked->count; i++) {
                has |= item_has(item, asked->codes[i]) ? 1u << i : 0;
            }
        } else if (asked->codes[0] < 128) {
            has |= table_has(&regex->sets[item->low], asked);
        } else {
            has |= set_has(regex, item->low, asked, steps);
        }
    }
    /* The small form and its capital letter have the same small form; the character may be another one. */
    const unsigned small = has & 6u;
    return set->fold && small > 0 ? all_of(asked) : has;
}

static unsigned set_has(const struct weft_regex *regex, uint32_t number, const struct asked *asked,
                        uint64_t *steps) {
    unsigned has = all_of(asked);
    for (uint32_t at = number; at != WEFT_REGEX_NONE && has > 0; at = regex->sets[at].both) {
        has &= items_have(regex, &regex->sets[at], asked, steps);
    }
    return regex->sets[number].negative ? ~has & all_of(asked) : has;
}

bool weft_regex_set_has(const struct weft_regex *regex, uint32_t number, uint32_t code,
                        uint64_t *steps) {
    const struct asked asked = ask(code, regex->sets[number].fold);
    return (set_has(regex, number, &asked, steps) & 1) != 0;
}

/* ---- making ---- */

weft_status weft_regex_add_set(struct weft_regex_pattern *pattern, uint32_t *set) {
    struct weft_regex *regex = pattern->regex;
    if (!weft_grow(pattern->host, &regex->sets, regex->set_count, &regex->set_capacity,
                   sizeof *regex->sets)) {
        return weft_fail_memory(pattern->host, pattern->path);
    }
    *set = regex->set_count++;
    regex->sets[*set] = (struct weft_regex_set){
        .first = WEFT_REGEX_NONE, .both = WEFT_REGEX_NONE, .fold = pattern->fold};
    return WEFT_OK;
}

weft_status weft_regex_add_item(struct weft_regex_pattern *pattern, uint32_t set,
                                struct weft_regex_item item) {
    struct weft_regex *regex = pattern->regex;
    if (!weft_grow(pattern->host, &regex->items, regex->item_count, &regex->item_capacity,
                   sizeof *regex->items)) {
        return weft_fail_memory(pattern->host, pattern->path);
    }
    item.next = regex->sets[set].first;
    regex->items[regex->item_count] = item;
    regex->sets[set].first = regex->item_count++;
    return WEFT_OK;
}

weft_status weft_regex_finish_set(struct weft_regex_pattern *pattern, uint32_t set) {
    struct weft_regex *regex = pattern->regex;
    for (uint32_t code = 0; code < 128; code++) {
        uint64_t steps = 0;
        const uint64_t has = weft_regex_set_has(regex, set, code, &steps) ? 1 : 0;
        regex->sets[set].ascii[code / 64] |= has << code % 64;
        WEFT_TRY(weft_budget_spend(&pattern->budget, steps));
    }
    return WEFT_OK;
}

/* ---- reading ---- */

/* The name in {...}; false when there is none, or it is too long. */
static bool parse_name(struct weft_regex_pattern *pattern, char name[24]) {
    size_t length = 0;
    if (!weft_regex_accept(pattern, "{")) {
        return false;
    }
    while (pattern->at < pattern->size && pattern->text[pattern->at] != '}' && length < 23) {
        name[length++] = pattern->text[pattern->at++];
    }
    name[length] = '\0';
    return weft_regex_accept(pattern, "}");
}

/* \p{...} behind its p. */
static bool parse_property(struct weft_regex_pattern *pattern, struct weft_regex_item *item) {
    static const struct {
        const char *name;
        enum weft_regex_item_kind kind;
    } others[] = {
        {"Space", WEFT_REGEX_SPACE}, {"White_Space", WEFT_REGEX_SPACE}, {"Word", WEFT_REGEX_WORD}};
    char text[24];
    if (!parse_name(pattern, text)) {
        return false;
    }
    const char *name = text;
    if (*name == '^') {
        item->negative = !item->negative;
        name++;
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (strcmp(name, others[i].name) == 0) {
            item->kind = others[i].kind;
            return true;
        }
    }
    item->kind = WEFT_REGEX_CATEGORIES;
    item->low = weft_categories_named(name);
    return item->low != 0;
}

/* `most` hexadecimal digits, or up to a "}". */
static bool parse_hex(struct weft_regex_pattern *pattern, size_t most, uint32_t *code) {
    const bool braces = weft_regex_accept(pattern, "{");
    size_t digits = 0;
    *code = 0;
    while (pattern->at < pattern->size && digits < (braces ? 8 : most)) {
        static const char letters[] = "0123456789abcdef0123456789ABCDEF";
        const char *found = memchr(letters, pattern->text[pattern->at], sizeof letters - 1);
        if (!found) {
            break;
        }
        *code = *code * 16 + (uint32_t)(found - letters) % 16;
        digits++;
        pattern->at++;
    }
    return digits > 0 && *code <= 0x10FFFF && (!braces || weft_regex_accept(pattern, "}"));
}

static bool set_class(struct weft_regex_item *item, enum weft_regex_item_kind kind,
                      weft_categories categories, bool negative) {
    *item = (struct weft_regex_item){.kind = kind, .low = categories, .negative = negative};
    return true;
}

static bool set_char(struct weft_regex_item *item, uint32_t code) {
    *item = (struct weft_regex_item){.kind = WEFT_REGEX_RANGE, .low = code, .high = code};
    return true;
}

/* The character that a letter behind a backslash names, or 0. */
static uint32_t control_of(uint32_t letter) {
    static const char letters[] = "tnrfvae";
    static const char codes[] = "\t\n\r\f\v\a\x1B";
    const char *found = letter < 0x80 && letter > 0 ? strchr(letters, (int)letter) : NULL;
    return found ? (uint32_t)codes[found - letters] : 0;
}

bool weft_regex_parse_escape(struct weft_regex_pattern *pattern, struct weft_regex_item *item) {
    uint32_t code = 0;
    if (pattern->at == pattern->size) {
        return false;
    }
    const uint32_t letter = weft_regex_next(pattern);
    switch (letter) {
    case 's':
    case 'S':
        return set_class(item, WEFT_REGEX_SPACE, 0, letter == 'S');
    case 'w':
    case 'W':
        /* Below U+0100 Oniguruma goes by Latin-1, where all numbers belong to words. */
        return set_class(item, WEFT_REGEX_WORD, 1, letter == 'W');
    case 'd':
    case 'D':
        return set_class(item, WEFT_REGEX_CATEGORIES, weft_category_decimal, letter == 'D');
    case 'p':
    case 'P':
        set_class(item, WEFT_REGEX_CATEGORIES, 0, letter == 'P');
        return parse_property(pattern, item);
    case 'x':
        return parse_hex(pattern, 2, &code) && set_char(item, code);
    case 'u':
        return parse_hex(pattern, 4, &code) && set_char(item, code);
    default:
        break;
    }
    const uint32_t control = control_of(letter);
    const bool plain = letter >= 0x80 || !weft_is_word(letter) || letter == '_';
    return (control > 0 || plain) && set_char(item, control > 0 ? control : letter);
}

/* [:name:] behind its "[:". */
static weft_status parse_posix(struct weft_regex_pattern *pattern, struct weft_regex_item *item) {
    const bool negative = weft_regex_accept(pattern, "^");
    if (weft_regex_accept(pattern, "space:]")) {
        set_class(item, WEFT_REGEX_SPACE, 0, negative);
    } else if (weft_regex_accept(pattern, "digit:]")) {
        set_class(item, WEFT_REGEX_CATEGORIES, weft_category_decimal, negative);
    } else if (weft_regex_accept(pattern, "word:]")) {
        set_class(item, WEFT_REGEX_WORD, 0, negative);
    } else {
        return weft_regex_fail(pattern, "expected [:space:], [:digit:] or [:word:]");
    }
    return WEFT_OK;
}

static weft_status parse_item(struct weft_regex_pattern *pattern, struct weft_regex_item *item) {
    if (weft_regex_accept(pattern, "[:")) {
        return parse_posix(pattern, item);
    }
    if (weft_regex_accept(pattern, "[")) {
        *item = (struct weft_regex_item){.kind = WEFT_REGEX_SUBSET};
        return weft_regex_parse_set(pattern, &item->low);
    }
    if (weft_regex_accept(pattern, "\\")) {
        return weft_regex_parse_escape(pattern, item)
                   ? WEFT_OK
                   : weft_regex_fail(pattern, "expected a known escape before here");
    }
    (void)set_char(item, weft_regex_next(pattern));
    return WEFT_OK;
}

/* An item, or a range from it to another. */
static weft_status parse_range(struct weft_regex_pattern *pattern, uint32_t set) {
    struct weft_regex_item item = {0};
    WEFT_TRY(parse_item(pattern, &item));
    const bool is_char = item.kind == WEFT_REGEX_RANGE;
    const bool dash = is_char && pattern->at + 1 < pattern->size &&
                      pattern->text[pattern->at] == '-' && pattern->text[pattern->at + 1] != ']';
    if (dash) {
        struct weft_regex_item high = {0};
        pattern->at++;
        WEFT_TRY(parse_item(pattern, &high));
        if (high.kind != WEFT_REGEX_RANGE || high.low < item.low) {
            return weft_regex_fail(pattern, "expected a range that ends behind its begin");
        }
        item.high = high.low;
    }
    return weft_regex_add_item(pattern, set, item);
}

static weft_status parse_items(struct weft_regex_pattern *pattern, uint32_t set) {
    uint32_t part = set; /* of those that && joins */
    bool first = true;
    while (pattern->at < pattern->size) {
        if (!first && weft_regex_accept(pattern, "]")) {
            return WEFT_OK;
        }
        first = false;
        if (weft_regex_accept(pattern, "&&")) {
            uint32_t next = 0;
            WEFT_TRY(weft_regex_add_set(pattern, &next));
            pattern->regex->sets[part].both = next;
            part = next;
            continue;
        }
        WEFT_TRY(parse_range(pattern, part));
    }
    return weft_regex_fail(pattern, "expected a \"]\"");
}

weft_status weft_regex_parse_set(struct weft_regex_pattern *pattern, uint32_t *set) {
    if (pattern->nesting >= WEFT_REGEX_MAX_NESTING) {
        return weft_regex_fail(pattern, "expected less nesting");
    }
    WEFT_TRY(weft_regex_add_set(pattern, set));
    pattern->nesting++;
    const bool negative = weft_regex_accept(pattern, "^");
    const weft_status status = parse_items(pattern, *set);
    pattern->nesting--;
    WEFT_TRY(status);
    pattern->regex->sets[*set].negative = negative;
    return weft_regex_finish_set(pattern, *set);
}
