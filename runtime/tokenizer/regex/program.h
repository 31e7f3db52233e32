/* SPDX-License-Identifier: MIT */
/* Parts of patterns, for the files regex_*.c alone. */
#ifndef WEFT_TOKENIZER_REGEX_PROGRAM_H
#define WEFT_TOKENIZER_REGEX_PROGRAM_H

#include "tokenizer/regex/regex.h"
#include "tokenizer/unicode/unicode.h"

#define WEFT_REGEX_NONE        UINT32_MAX
#define WEFT_REGEX_MAX_OPS     20000u
#define WEFT_REGEX_MAX_NESTING 24u

enum weft_regex_item_kind {
    WEFT_REGEX_RANGE,
    WEFT_REGEX_CATEGORIES,
    WEFT_REGEX_SPACE,
    WEFT_REGEX_WORD,
    WEFT_REGEX_SUBSET
};

/** A part of a class. */
struct weft_regex_item {
    enum weft_regex_item_kind kind;
    bool negative;
    uint32_t
        low; /* of a range; categories; number of a class; of words, whether ² and the like are in them */
    uint32_t high;
    uint32_t next; /* item of the class */
};

/** A class: what one of its items has, and the class `both`. */
struct weft_regex_set {
    uint64_t ascii[2]; /* the answer for U+0000 … U+007F */
    uint32_t first;    /* item */
    uint32_t both;     /* another class, or none */
    bool negative;
    bool fold; /* without regard to case */
};

enum weft_regex_op_kind {
    WEFT_REGEX_CHAR, /* a: code */
    WEFT_REGEX_CHAR_FOLDED,
    WEFT_REGEX_SET,   /* a: number */
    WEFT_REGEX_LOOP,  /* of one character: `single` and a; from `low` to `high` times */
    WEFT_REGEX_SPLIT, /* to a, or else to b */
    WEFT_REGEX_JUMP,  /* to a */
    WEFT_REGEX_LOOK,  /* behind it up to a: what must match here, or b characters before */
    WEFT_REGEX_ATOMIC,
    WEFT_REGEX_TEXT_BEGIN,
    WEFT_REGEX_TEXT_END,
    WEFT_REGEX_LAST_LINE_END,
    WEFT_REGEX_LINE_BEGIN,
    WEFT_REGEX_LINE_END,
    WEFT_REGEX_WORD_EDGE,
    WEFT_REGEX_MATCH
};

enum weft_regex_mode { WEFT_REGEX_GREEDY, WEFT_REGEX_LAZY, WEFT_REGEX_POSSESSIVE };

struct weft_regex_op {
    enum weft_regex_op_kind kind;
    enum weft_regex_op_kind single;
    enum weft_regex_mode mode;
    bool negative;
    uint32_t a, b;
    uint32_t low, high;
};

struct weft_regex {
    struct weft_regex_op *ops;
    uint32_t op_count;
    uint32_t op_capacity;
    struct weft_regex_set *sets;
    uint32_t set_count;
    uint32_t set_capacity;
    struct weft_regex_item *items;
    uint32_t item_count;
    uint32_t item_capacity;
};

/** True if a class has a character, by its items, not by its table. Adds those that it asks to *steps. */
bool weft_regex_set_has(const struct weft_regex *regex, uint32_t set, uint32_t code,
                        uint64_t *steps);

/* ---- the tree of a pattern ---- */

enum weft_regex_node_kind {
    WEFT_NODE_EMPTY,
    WEFT_NODE_SINGLE, /* op: a character or class */
    WEFT_NODE_ANCHOR, /* op */
    WEFT_NODE_THEN,   /* left and right */
    WEFT_NODE_EITHER,
    WEFT_NODE_REPEAT, /* left */
    WEFT_NODE_LOOK,
    WEFT_NODE_ATOMIC
};

struct weft_regex_node {
    enum weft_regex_node_kind kind;
    uint32_t left, right;
    struct weft_regex_op
        op; /* of a repeat: mode, low, high; of a look: negative, and b is 1 for one behind */
};

/** A pattern that is being compiled. */
struct weft_regex_pattern {
    struct weft_regex *regex;
    const char *path;
    const weft_host *host;
    const char *text;
    size_t size;
    size_t at;
    bool fold;
    bool dot_all;
    uint32_t nesting;
    struct weft_regex_node *nodes;
    uint32_t node_count;
    uint32_t node_capacity;
    struct weft_budget budget;
};

/** WEFT_UNSUPPORTED, logged with the place and what was expected. */
weft_status weft_regex_fail(const struct weft_regex_pattern *pattern, const char *message);
/** A class without items; its number. */
weft_status weft_regex_add_set(struct weft_regex_pattern *pattern, uint32_t *set);
weft_status weft_regex_add_item(struct weft_regex_pattern *pattern, uint32_t set,
                                struct weft_regex_item item);
/** Fills in the table of a class whose items are complete. */
weft_status weft_regex_finish_set(struct weft_regex_pattern *pattern, uint32_t set);
/** Reads a class behind its "[". */
weft_status weft_regex_parse_set(struct weft_regex_pattern *pattern, uint32_t *set);
/** Reads what stands behind a backslash: a character (*item is a range of it), or a class. False when it is none of these. */
bool weft_regex_parse_escape(struct weft_regex_pattern *pattern, struct weft_regex_item *item);
/** The next character of the pattern, which has one. */
uint32_t weft_regex_next(struct weft_regex_pattern *pattern);
bool weft_regex_accept(struct weft_regex_pattern *pattern, const char *text);
/** Reads alternatives up to the end, or to a ")". */
weft_status weft_regex_parse(struct weft_regex_pattern *pattern, uint32_t *node);
/** Appends the program of a node. */
weft_status weft_regex_emit(struct weft_regex_pattern *pattern, uint32_t node);

#endif
