/* SPDX-License-Identifier: MIT */
/*
 * Regular expressions as tokenizers have them, in Oniguruma's Ruby syntax: alternatives, groups, classes with properties of
 * Unicode and &&, greedy, lazy and possessive repeats, look around, anchors. Without captures and back references, which
 * splitting a text never needs; a pattern with anything else is refused. Matching takes as many steps as a budget has.
 */
#ifndef WEFT_TOKENIZER_REGEX_H
#define WEFT_TOKENIZER_REGEX_H

#include "tokenizer/budget.h"
#include "tokenizer/chars.h"

/** Of what is repeated a known number of times. */
#define WEFT_REGEX_MAX_REPEAT 1000u

/** Immutable once made. */
struct weft_regex;

/**
 * Compiles `size` bytes of UTF-8, or with `literal` what matches exactly them. WEFT_UNSUPPORTED, logged with `path`, the place
 * in the pattern and what is there; WEFT_BAD_FILE when it takes too many steps for its size; WEFT_OUT_OF_HOST_MEMORY,
 * WEFT_CANCELLED. host may be null.
 */
weft_status weft_regex_create(struct weft_regex **regex, const char *pattern, size_t size,
                              bool literal, const char *path, const weft_host *host);
void weft_regex_destroy(struct weft_regex *regex, const weft_host *host);

struct weft_regex_frame {
    uint32_t at;    /* in the program */
    uint32_t place; /* in the text, and the last that is to be tried */
    uint32_t last;
};

/** Working state of matching, reused from text to text. Begin it with a host alone, and free `stack`. */
struct weft_regex_work {
    weft_host host;
    struct weft_regex_frame *stack;
    uint32_t depth;
    uint32_t capacity;
    struct weft_budget *budget; /* of the text, or of what is read */
    weft_status status;
};

/** For another text, which takes its steps from `budget`. */
void weft_regex_begin(struct weft_regex_work *work, struct weft_budget *budget);

/** Matches one after the other. Begin it with zeros. */
struct weft_regex_matches {
    uint32_t begin; /* of the newest match */
    uint32_t end;
    uint32_t from; /* where the next is searched for */
    bool any;
};

/** The next match: none overlap, and an empty one does not follow right behind another. False as weft_regex_find. */
bool weft_regex_find_next(const struct weft_regex *regex, struct weft_regex_work *work,
                          const struct weft_char *text, uint32_t count,
                          struct weft_regex_matches *matches);

/**
 * The first match from `from` on, *begin ≤ *end; false when there is none, and after an error, which is in work->status:
 * as weft_budget_take, or WEFT_OUT_OF_HOST_MEMORY.
 */
bool weft_regex_find(const struct weft_regex *regex, struct weft_regex_work *work,
                     const struct weft_char *text, uint32_t count, uint32_t from, uint32_t *begin,
                     uint32_t *end);

#endif
