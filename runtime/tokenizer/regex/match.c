/* SPDX-License-Identifier: MIT */
/* Running the program of a pattern on a text. */
#include "tokenizer/regex/program.h"

#define MAX_FRAMES ((uint32_t)1 << 22)

struct run {
    const struct weft_regex *regex;
    struct weft_regex_work *work;
    struct weft_budget *budget;
    const struct weft_char *text;
    uint32_t count;
};

void weft_regex_begin(struct weft_regex_work *work, struct weft_budget *budget) {
    work->depth = 0;
    work->status = WEFT_OK;
    work->budget = budget;
}

/* False when there are too few left. */
static bool turn(const struct run *run, uint64_t steps) {
    const bool enough = weft_budget_turn(run->budget, steps);
    run->work->status = enough ? WEFT_OK : run->budget->status;
    return enough;
}

static inline bool take_steps(const struct run *run, uint64_t steps) {
    if (steps >= run->budget->near) {
        return turn(run, steps);
    }
    run->budget->near -= steps;
    return true;
}

static inline bool set_has(const struct run *run, uint32_t set, uint32_t code) {
    if (code < 128) {
        return (run->regex->sets[set].ascii[code / 64] >> code % 64 & 1) != 0;
    }
    uint64_t steps = 0;
    const bool has = weft_regex_set_has(run->regex, set, code, &steps);
    return take_steps(run, steps) && has;
}

static inline bool matches_one(const struct run *run, enum weft_regex_op_kind kind, uint32_t a,
                               uint32_t place) {
    const uint32_t code = run->text[place].code;
    return kind == WEFT_REGEX_CHAR  ? code == a
           : kind == WEFT_REGEX_SET ? set_has(run, a, code)
                                    : weft_fold(code) == a;
}

static bool is_word_at(const struct run *run, uint32_t place) {
    return place < run->count && weft_is_word(run->text[place].code);
}

static bool is_newline_at(const struct run *run, uint32_t place) {
    return place < run->count && run->text[place].code == '\n';
}

static bool holds_anchor(const struct run *run, const struct weft_regex_op *op, uint32_t place) {
    switch (op->kind) {
    case WEFT_REGEX_TEXT_BEGIN:
        return place == 0;
    case WEFT_REGEX_TEXT_END:
        return place == run->count;
    case WEFT_REGEX_LAST_LINE_END:
        return place == run->count || (place + 1 == run->count && is_newline_at(run, place));
    case WEFT_REGEX_LINE_BEGIN:
        return place == 0 || (is_newline_at(run, place - 1) && place < run->count);
    case WEFT_REGEX_LINE_END:
        return place == run->count || is_newline_at(run, place);
    default:
        return (place > 0 && is_word_at(run, place - 1)) !=
               (is_word_at(run, place) != op->negative);
    }
}

static bool push(struct run *run, uint32_t at, uint32_t place, uint32_t last) {
    struct weft_regex_work *work = run->work;
    if (work->depth == MAX_FRAMES ||
        !weft_grow(&work->host, &work->stack, work->depth, &work->capacity, sizeof *work->stack)) {
        work->status = weft_fail_memory(&work->host, "a regular expression's stack");
        return false;
    }
    work->stack[work->depth++] = (struct weft_regex_frame){at, place, last};
    return true;
}

/* Goes back to the newest choice above `base`; false when there is none. */
static bool pop(struct weft_regex_work *work, uint32_t base, uint32_t *at, uint32_t *place) {
    if (work->depth == base || work->status != WEFT_OK) {
        return false;
    }
    struct weft_regex_frame *frame = &work->stack[work->depth - 1];
    *at = frame->at;
    *place = frame->place;
    if (frame->place == frame->last) {
        work->depth--;
    } else {
        frame->place += frame->place < frame->last ? 1u : UINT32_MAX; /* one nearer */
    }
    return true;
}

/* A repeat of one character: goes on as far as it likes best, and notes where else it may; false when it is too short. */
static bool loop(struct run *run, const struct weft_regex_op *op, uint32_t at, uint32_t *place) {
    const uint32_t begin = *place;
    const uint32_t room = run->count - begin;
    const uint32_t high = op->high < room ? op->high : room;
    uint32_t length = 0;
    while (length < high && matches_one(run, op->single, op->a, begin + length)) {
        length++;
    }
    if (!take_steps(run, length) || length < op->low) {
        return false;
    }
    const bool lazy = op->mode == WEFT_REGEX_LAZY;
    *place = begin + (lazy ? op->low : length);
    if (length == op->low || op->mode == WEFT_REGEX_POSSESSIVE) {
        return true;
    }
    return lazy ? push(run, at + 1, *place + 1, begin + length)
                : push(run, at + 1, *place - 1, begin + op->low);
}

static bool match(struct run *run, uint32_t at, uint32_t *place);

/* Matches lookarounds and atomic groups; moves `*at` behind the match. */
static bool match_inner(struct run *run, const struct weft_regex_op *op, uint32_t *at,
                        uint32_t *place) {
    const bool look = op->kind == WEFT_REGEX_LOOK;
    uint32_t inner = *place - (look ? op->b : 0);
    const bool matched = (!look || op->b <= *place) && match(run, *at + 1, &inner);
    *at = op->a;
    if (look) {
        return matched != op->negative;
    }
    *place = inner;
    return matched;
}

/* Runs from op `at` on; on success *place is where the match ends. Recursion is as deep as groups nest. */
static bool match(struct run *run, uint32_t at, uint32_t *place) {
    struct weft_regex_work *work = run->work;
    const uint32_t base = work->depth;
    while (work->status == WEFT_OK) {
        const struct weft_regex_op *op = &run->regex->ops[at];
        bool ok = take_steps(run, 1);
        if (!ok) {
            break;
        }
        switch (op->kind) {
        case WEFT_REGEX_MATCH:
            work->depth = base;
            return true;
        case WEFT_REGEX_CHAR:
        case WEFT_REGEX_CHAR_FOLDED:
        case WEFT_REGEX_SET:
            ok = *place < run->count && matches_one(run, op->kind, op->a, *place);
            *place += ok ? 1 : 0;
            at++;
            break;
        case WEFT_REGEX_LOOP:
            ok = loop(run, op, at, place);
            at++;
            break;
        case WEFT_REGEX_SPLIT:
            ok = push(run, op->b, *place, *place);
            at = op->a;
            break;
        case WEFT_REGEX_JUMP:
            at = op->a;
            break;
        case WEFT_REGEX_LOOK:
        case WEFT_REGEX_ATOMIC:
            ok = match_inner(run, op, &at, place);
            break;
        default:
            ok = holds_anchor(run, op, *place);
            at++;
        }
        if (!ok && !pop(work, base, &at, place)) {
            break;
        }
    }
    work->depth = base;
    return false;
}

bool weft_regex_find(const struct weft_regex *regex, struct weft_regex_work *work,
                     const struct weft_char *text, uint32_t count, uint32_t from, uint32_t *begin,
                     uint32_t *end) {
    struct run run = {regex, work, work->budget, text, count};
    for (; from <= count && work->status == WEFT_OK; from++) {
        uint32_t place = from;
        if (match(&run, 0, &place)) {
            *begin = from;
            *end = place;
            return true;
        }
    }
    return false;
}

bool weft_regex_find_next(const struct weft_regex *regex, struct weft_regex_work *work,
                          const struct weft_char *text, uint32_t count,
                          struct weft_regex_matches *matches) {
    uint32_t begin = 0;
    uint32_t end = 0;
    while (weft_regex_find(regex, work, text, count, matches->from, &begin, &end)) {
        matches->from = end > begin ? end : end + 1;
        if (begin == end && matches->any && begin == matches->end) {
            continue;
        }
        matches->begin = begin;
        matches->end = end;
        matches->any = true;
        return true;
    }
    return false;
}
