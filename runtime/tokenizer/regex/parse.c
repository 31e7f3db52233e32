/* SPDX-License-Identifier: MIT */
/* From a pattern to a tree. */
#include <string.h>

#include "core/try.h"
#include "tokenizer/regex/program.h"
#include "tokenizer/unicode/text_class.h"

weft_status weft_regex_fail(const struct weft_regex_pattern *pattern, const char *message) {
    char shown[40];
    const size_t left = pattern->size - pattern->at;
    weft_harmless(shown, sizeof shown, pattern->text + pattern->at, left < 24 ? left : 24, false);
    return weft_fail(pattern->host, WEFT_UNSUPPORTED,
                     "%s: regular expression, byte %zu: %s, found \"%s\"", pattern->path,
                     pattern->at, message, shown);
}

uint32_t weft_regex_next(struct weft_regex_pattern *pattern) {
    uint32_t code = 0;
    pattern->at +=
        weft_utf8_decode(pattern->text + pattern->at, pattern->size - pattern->at, &code);
    return code;
}

bool weft_regex_accept(struct weft_regex_pattern *pattern, const char *text) {
    const size_t length = strlen(text);
    const bool found = pattern->size - pattern->at >= length &&
                       memcmp(pattern->text + pattern->at, text, length) == 0;
    pattern->at += found ? length : 0;
    return found;
}

static weft_status add_node(struct weft_regex_pattern *pattern, uint32_t *number,
                            struct weft_regex_node node) {
    if (!weft_grow(pattern->host, &pattern->nodes, pattern->node_count, &pattern->node_capacity,
                   sizeof node)) {
        return weft_fail_memory(pattern->host, pattern->path);
    }
    *number = pattern->node_count++;
    pattern->nodes[*number] = node;
    return WEFT_OK;
}

static weft_status add_op(struct weft_regex_pattern *pattern, uint32_t *node,
                          enum weft_regex_node_kind kind, struct weft_regex_op op) {
    return add_node(pattern, node, (struct weft_regex_node){.kind = kind, .op = op});
}

static weft_status add_char(struct weft_regex_pattern *pattern, uint32_t *node, uint32_t code) {
    const struct weft_regex_op op = {.kind =
                                         pattern->fold ? WEFT_REGEX_CHAR_FOLDED : WEFT_REGEX_CHAR,
                                     .a = pattern->fold ? weft_fold(code) : code};
    return add_op(pattern, node, WEFT_NODE_SINGLE, op);
}

static weft_status add_set(struct weft_regex_pattern *pattern, uint32_t *node,
                           struct weft_regex_item item) {
    uint32_t set = 0;
    WEFT_TRY(weft_regex_add_set(pattern, &set));
    WEFT_TRY(weft_regex_add_item(pattern, set, item));
    WEFT_TRY(weft_regex_finish_set(pattern, set));
    return add_op(pattern, node, WEFT_NODE_SINGLE,
                  (struct weft_regex_op){.kind = WEFT_REGEX_SET, .a = set});
}

/* Every character but the end of a line, or really every one. */
static weft_status add_dot(struct weft_regex_pattern *pattern, uint32_t *node) {
    const struct weft_regex_item newline = {
        .kind = WEFT_REGEX_RANGE, .low = '\n', .high = '\n', .negative = true};
    const struct weft_regex_item all = {.kind = WEFT_REGEX_RANGE, .low = 0, .high = 0x10FFFF};
    return add_set(pattern, node, pattern->dot_all ? all : newline);
}

/* ---- groups ---- */

/* i, m and their negation, up to a ")" or ":". */
static bool parse_options(struct weft_regex_pattern *pattern, bool *ends) {
    bool on = true;
    while (pattern->at < pattern->size) {
        const char letter = pattern->text[pattern->at++];
        if (letter == '-') {
            on = false;
        } else if (letter == 'i') {
            pattern->fold = on;
        } else if (letter == 'm') {
            pattern->dot_all = on;
        } else if (letter == ':' || letter == ')') {
            *ends = letter == ')';
            return true;
        } else {
            return false;
        }
    }
    return false;
}

static weft_status parse_group_end(struct weft_regex_pattern *pattern) {
    return weft_regex_accept(pattern, ")") ? WEFT_OK : weft_regex_fail(pattern, "expected a \")\"");
}

static weft_status parse_look(struct weft_regex_pattern *pattern, uint32_t *node, bool negative,
                              bool behind) {
    uint32_t inner = 0;
    WEFT_TRY(weft_regex_parse(pattern, &inner));
    return add_node(pattern, node,
                    (struct weft_regex_node){.kind = WEFT_NODE_LOOK,
                                             .left = inner,
                                             .op = {.negative = negative, .b = behind ? 1 : 0}});
}

/* Behind "(?". Options without a group of their own hold for what follows in the one around: they are its rest. */
static weft_status parse_special_group(struct weft_regex_pattern *pattern, uint32_t *node,
                                       bool *is_option) {
    static const struct {
        const char *begin;
        bool negative, behind;
    } looks[] = {{"=", false, false}, {"!", true, false}, {"<=", false, true}, {"<!", true, true}};
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++) {
        if (weft_regex_accept(pattern, looks[i].begin)) {
            return parse_look(pattern, node, looks[i].negative, looks[i].behind);
        }
    }
    if (weft_regex_accept(pattern, ">")) {
        uint32_t inner = 0;
        WEFT_TRY(weft_regex_parse(pattern, &inner));
        return add_node(pattern, node,
                        (struct weft_regex_node){.kind = WEFT_NODE_ATOMIC, .left = inner});
    }
    if (!parse_options(pattern, is_option)) {
        return weft_regex_fail(pattern, "expected a group (?:, (?=, (?!, (?<=, (?<!, (?> or (?i");
    }
    if (*is_option) { /* the ")" that ends the group around is still to come */
        pattern->at--;
        return add_op(pattern, node, WEFT_NODE_EMPTY, (struct weft_regex_op){0});
    }
    return weft_regex_parse(pattern, node);
}

/* Behind "(". */
static weft_status parse_group(struct weft_regex_pattern *pattern, uint32_t *node) {
    if (pattern->nesting >= WEFT_REGEX_MAX_NESTING) {
        return weft_regex_fail(pattern, "expected less nesting");
    }
    const bool fold = pattern->fold;
    const bool dot_all = pattern->dot_all;
    pattern->nesting++;
    const bool special = weft_regex_accept(pattern, "?");
    bool is_option = false;
    const weft_status status =
        special ? parse_special_group(pattern, node, &is_option) : weft_regex_parse(pattern, node);
    pattern->nesting--;
    WEFT_TRY(status);
    if (!is_option) {
        pattern->fold = fold;
        pattern->dot_all = dot_all;
    }
    return parse_group_end(pattern);
}

/* ---- atoms ---- */

static weft_status parse_escaped(struct weft_regex_pattern *pattern, uint32_t *node) {
    static const struct {
        const char *letter;
        enum weft_regex_op_kind kind;
        bool negative;
    } anchors[] = {{"A", WEFT_REGEX_TEXT_BEGIN, false},
                   {"z", WEFT_REGEX_TEXT_END, false},
                   {"Z", WEFT_REGEX_LAST_LINE_END, false},
                   {"b", WEFT_REGEX_WORD_EDGE, false},
                   {"B", WEFT_REGEX_WORD_EDGE, true}};
    for (size_t i = 0; i < sizeof anchors / sizeof anchors[0]; i++) {
        if (weft_regex_accept(pattern, anchors[i].letter)) {
            const struct weft_regex_op op = {.kind = anchors[i].kind,
                                             .negative = anchors[i].negative};
            return add_op(pattern, node, WEFT_NODE_ANCHOR, op);
        }
    }
    struct weft_regex_item item = {0};
    if (!weft_regex_parse_escape(pattern, &item)) {
        return weft_regex_fail(pattern, "expected a known escape before here");
    }
    return item.kind == WEFT_REGEX_RANGE ? add_char(pattern, node, item.low)
                                         : add_set(pattern, node, item);
}

static weft_status parse_atom(struct weft_regex_pattern *pattern, uint32_t *node) {
    uint32_t set = 0;
    const char letter = pattern->text[pattern->at];
    switch (letter) {
    case '(':
        pattern->at++;
        return parse_group(pattern, node);
    case '[':
        pattern->at++;
        WEFT_TRY(weft_regex_parse_set(pattern, &set));
        return add_op(pattern, node, WEFT_NODE_SINGLE,
                      (struct weft_regex_op){.kind = WEFT_REGEX_SET, .a = set});
    case '\\':
        pattern->at++;
        return parse_escaped(pattern, node);
    case '.':
        pattern->at++;
        return add_dot(pattern, node);
    case '^':
    case '$':
        pattern->at++;
        return add_op(pattern, node, WEFT_NODE_ANCHOR,
                      (struct weft_regex_op){.kind = letter == '^' ? WEFT_REGEX_LINE_BEGIN
                                                                   : WEFT_REGEX_LINE_END});
    case '*':
    case '+':
    case '?':
        return weft_regex_fail(pattern, "expected something to repeat before here");
    default:
        return add_char(pattern, node, weft_regex_next(pattern));
    }
}

/* ---- repeats ---- */

static bool parse_number(struct weft_regex_pattern *pattern, uint32_t *number) {
    bool found = false;
    *number = 0;
    while (pattern->at < pattern->size && pattern->text[pattern->at] >= '0' &&
           pattern->text[pattern->at] <= '9' && *number <= WEFT_REGEX_MAX_REPEAT) {
        *number = *number * 10 + (uint32_t)(pattern->text[pattern->at++] - '0');
        found = true;
    }
    return found;
}

/* {m}, {m,}, {,n} and {m,n}, behind the "{"; anything else is plain text. */
static bool parse_interval(struct weft_regex_pattern *pattern, uint32_t *low, uint32_t *high) {
    const bool has_low = parse_number(pattern, low);
    if (!weft_regex_accept(pattern, ",")) {
        *high = *low;
        return has_low && weft_regex_accept(pattern, "}");
    }
    const bool has_high = parse_number(pattern, high);
    *high = has_high ? *high : UINT32_MAX;
    return (has_low || has_high) && weft_regex_accept(pattern, "}");
}

/* True if a repeat comes next. */
static bool parse_times(struct weft_regex_pattern *pattern, struct weft_regex_op *op) {
    const size_t begin = pattern->at;
    op->low = 0;
    op->high = UINT32_MAX;
    if (weft_regex_accept(pattern, "{")) {
        if (parse_interval(pattern, &op->low, &op->high)) {
            op->mode = weft_regex_accept(pattern, "?") ? WEFT_REGEX_LAZY : WEFT_REGEX_GREEDY;
            return true;
        }
        pattern->at = begin;
        return false;
    }
    if (weft_regex_accept(pattern, "+")) {
        op->low = 1;
    } else if (weft_regex_accept(pattern, "?")) {
        op->high = 1;
    } else if (!weft_regex_accept(pattern, "*")) {
        return false;
    }
    op->mode = weft_regex_accept(pattern, "?")   ? WEFT_REGEX_LAZY
               : weft_regex_accept(pattern, "+") ? WEFT_REGEX_POSSESSIVE
                                                 : WEFT_REGEX_GREEDY;
    return true;
}

static weft_status parse_repeated(struct weft_regex_pattern *pattern, uint32_t *node) {
    struct weft_regex_op op = {0};
    WEFT_TRY(parse_atom(pattern, node));
    if (!parse_times(pattern, &op)) {
        return WEFT_OK;
    }
    const bool bounded = op.high == UINT32_MAX || op.high <= WEFT_REGEX_MAX_REPEAT;
    if (op.low > op.high || op.low > WEFT_REGEX_MAX_REPEAT || !bounded) {
        return weft_regex_fail(pattern, "expected at most 1000 repeats before here");
    }
    WEFT_TRY(add_node(pattern, node,
                      (struct weft_regex_node){.kind = WEFT_NODE_REPEAT, .left = *node, .op = op}));
    return pattern->at < pattern->size && strchr("*+?", pattern->text[pattern->at])
               ? weft_regex_fail(pattern, "expected no repeat of a repeat")
               : WEFT_OK;
}

static weft_status parse_sequence(struct weft_regex_pattern *pattern, uint32_t *node) {
    WEFT_TRY(add_op(pattern, node, WEFT_NODE_EMPTY, (struct weft_regex_op){0}));
    while (pattern->at < pattern->size && pattern->text[pattern->at] != '|' &&
           pattern->text[pattern->at] != ')') {
        uint32_t next = 0;
        WEFT_TRY(parse_repeated(pattern, &next));
        WEFT_TRY(add_node(
            pattern, node,
            (struct weft_regex_node){.kind = WEFT_NODE_THEN, .left = *node, .right = next}));
    }
    return WEFT_OK;
}

weft_status weft_regex_parse(struct weft_regex_pattern *pattern, uint32_t *node) {
    WEFT_TRY(parse_sequence(pattern, node));
    while (weft_regex_accept(pattern, "|")) {
        uint32_t next = 0;
        WEFT_TRY(parse_sequence(pattern, &next));
        WEFT_TRY(add_node(
            pattern, node,
            (struct weft_regex_node){.kind = WEFT_NODE_EITHER, .left = *node, .right = next}));
    }
    return WEFT_OK;
}
