/* SPDX-License-Identifier: MIT */
/* From the tree of a pattern to its program. */
#include "tokenizer/regex/regex.h"

#include "core/try.h"
#include "tokenizer/regex/program.h"

#define MAX_PATTERN 16384u /* bytes */
/* Steps for a pattern and for each of its bytes: what repeats emit again, and classes' tables, are many times as long. */
#define LEAST_STEPS ((uint64_t)1 << 19)
#define BYTE_STEPS  512u

static weft_status add_op(struct weft_regex_pattern *pattern, struct weft_regex_op op) {
    struct weft_regex *regex = pattern->regex;
    if (regex->op_count == WEFT_REGEX_MAX_OPS) {
        return weft_regex_fail(pattern, "expected a shorter pattern");
    }
    if (!weft_grow(pattern->host, &regex->ops, regex->op_count, &regex->op_capacity, sizeof op)) {
        return weft_fail_memory(pattern->host, pattern->path);
    }
    regex->ops[regex->op_count++] = op;
    return WEFT_OK;
}

/* ---- what is known of a node ---- */

/*
 * Sequences and alternatives lean to the left, as long as the pattern: they are walked without recursion, which is as deep as
 * groups nest.
 */

static bool is_chain(const struct weft_regex_node *node) {
    return node->kind == WEFT_NODE_THEN || node->kind == WEFT_NODE_EITHER;
}

/* The fewest characters that a node matches, and whether it always matches as many. */
static uint32_t width_of(const struct weft_regex_pattern *pattern, uint32_t number, bool *fixed,
                         uint64_t *steps);

static uint32_t width_of_chain(const struct weft_regex_pattern *pattern, uint32_t number,
                               bool *fixed, uint64_t *steps) {
    const enum weft_regex_node_kind kind = pattern->nodes[number].kind;
    const bool either = kind == WEFT_NODE_EITHER;
    uint64_t width = either ? UINT32_MAX : 0;
    while (true) {
        const struct weft_regex_node *node = &pattern->nodes[number];
        const bool goes_on = node->kind == kind;
        const uint32_t part = width_of(pattern, goes_on ? node->right : number, fixed, steps);
        if (either) {
            *fixed = *fixed && (width == UINT32_MAX || width == part);
            width = part < width ? part : width;
        } else {
            width += part;
        }
        if (!goes_on) {
            return width < UINT32_MAX ? (uint32_t)width : UINT32_MAX - 1;
        }
        number = node->left;
    }
}

static uint32_t width_of(const struct weft_regex_pattern *pattern, uint32_t number, bool *fixed,
                         uint64_t *steps) {
    const struct weft_regex_node *node = &pattern->nodes[number];
    ++*steps;
    if (is_chain(node)) {
        return width_of_chain(pattern, number, fixed, steps);
    }
    switch (node->kind) {
    case WEFT_NODE_SINGLE:
        return 1;
    case WEFT_NODE_ATOMIC:
        return width_of(pattern, node->left, fixed, steps);
    case WEFT_NODE_REPEAT: {
        const uint64_t width = (uint64_t)width_of(pattern, node->left, fixed, steps) * node->op.low;
        *fixed = *fixed && node->op.low == node->op.high;
        return width < UINT32_MAX ? (uint32_t)width : UINT32_MAX - 1;
    }
    default:
        return 0;
    }
}

/* ---- programs ---- */

static weft_status emit_repeat_of_one(struct weft_regex_pattern *pattern,
                                      const struct weft_regex_op *single,
                                      const struct weft_regex_op *times) {
    return add_op(pattern, (struct weft_regex_op){.kind = WEFT_REGEX_LOOP,
                                                  .single = single->kind,
                                                  .a = single->a,
                                                  .mode = times->mode,
                                                  .low = times->low,
                                                  .high = times->high});
}

static struct weft_regex_op split(bool lazy, uint32_t into, uint32_t past) {
    return (struct weft_regex_op){
        .kind = WEFT_REGEX_SPLIT, .a = lazy ? past : into, .b = lazy ? into : past};
}

/* A group as often as it must be there, and then as often as it may. */
static weft_status emit_times(struct weft_regex_pattern *pattern, uint32_t inner,
                              const struct weft_regex_op *times) {
    struct weft_regex *regex = pattern->regex;
    const bool lazy = times->mode == WEFT_REGEX_LAZY;
    for (uint32_t i = 0; i < times->low; i++) {
        WEFT_TRY(weft_regex_emit(pattern, inner));
    }
    const bool endless = times->high == UINT32_MAX;
    const uint32_t more = endless ? 1 : times->high - times->low;
    const uint32_t first = regex->op_count;
    for (uint32_t i = 0; i < more; i++) {
        const uint32_t at = regex->op_count;
        WEFT_TRY(add_op(pattern, split(lazy, at + 1, WEFT_REGEX_NONE)));
        WEFT_TRY(weft_regex_emit(pattern, inner));
        if (endless) {
            WEFT_TRY(add_op(pattern, (struct weft_regex_op){.kind = WEFT_REGEX_JUMP, .a = at}));
        }
    }
    for (uint32_t at = first; at < regex->op_count; at++) {
        struct weft_regex_op *op = &regex->ops[at];
        if (op->kind == WEFT_REGEX_SPLIT) {
            op->a = op->a == WEFT_REGEX_NONE ? regex->op_count : op->a;
            op->b = op->b == WEFT_REGEX_NONE ? regex->op_count : op->b;
        }
    }
    return WEFT_OK;
}

/* A program of its own, between an op that says where it ends and a match. */
static weft_status emit_inner(struct weft_regex_pattern *pattern, struct weft_regex_op op,
                              uint32_t inner, const struct weft_regex_op *times) {
    struct weft_regex *regex = pattern->regex;
    const uint32_t at = regex->op_count;
    WEFT_TRY(add_op(pattern, op));
    WEFT_TRY(times ? emit_times(pattern, inner, times) : weft_regex_emit(pattern, inner));
    WEFT_TRY(add_op(pattern, (struct weft_regex_op){.kind = WEFT_REGEX_MATCH}));
    regex->ops[at].a = regex->op_count;
    return WEFT_OK;
}

/* The fewest characters that a node matches. What is repeated is asked again and again: that takes steps. */
static weft_status measure(struct weft_regex_pattern *pattern, uint32_t number, uint32_t *width,
                           bool *fixed) {
    uint64_t steps = 0;
    *fixed = true;
    *width = width_of(pattern, number, fixed, &steps);
    return weft_budget_spend(&pattern->budget, steps);
}

static weft_status emit_repeat(struct weft_regex_pattern *pattern,
                               const struct weft_regex_node *node) {
    const struct weft_regex_node *inner = &pattern->nodes[node->left];
    if (inner->kind == WEFT_NODE_SINGLE) {
        return emit_repeat_of_one(pattern, &inner->op, &node->op);
    }
    uint32_t width = 0;
    bool fixed = true;
    WEFT_TRY(measure(pattern, node->left, &width, &fixed));
    if (width == 0) {
        return weft_regex_fail(pattern, "expected no repeat of what may be empty");
    }
    const struct weft_regex_op atomic = {.kind = WEFT_REGEX_ATOMIC};
    return node->op.mode == WEFT_REGEX_POSSESSIVE
               ? emit_inner(pattern, atomic, node->left, &node->op)
               : emit_times(pattern, node->left, &node->op);
}

static weft_status emit_look(struct weft_regex_pattern *pattern,
                             const struct weft_regex_node *node) {
    struct weft_regex_op op = {.kind = WEFT_REGEX_LOOK, .negative = node->op.negative};
    bool fixed = true;
    if (node->op.b > 0) {
        WEFT_TRY(measure(pattern, node->left, &op.b, &fixed));
        if (!fixed || op.b == 0) {
            return weft_regex_fail(pattern, "expected to look behind for a fixed length");
        }
    }
    return emit_inner(pattern, op, node->left, NULL);
}

/* The parts of a chain from the left on; gives how many there are. */
static weft_status list_chain(struct weft_regex_pattern *pattern, uint32_t number, uint32_t **parts,
                              uint32_t *count) {
    const enum weft_regex_node_kind kind = pattern->nodes[number].kind;
    *count = 1;
    for (uint32_t at = number; pattern->nodes[at].kind == kind; at = pattern->nodes[at].left) {
        ++*count;
    }
    *parts = weft_alloc_zero(pattern->host, *count, sizeof **parts);
    if (!*parts) {
        return weft_fail_memory(pattern->host, pattern->path);
    }
    for (uint32_t i = *count - 1; i > 0; i--) {
        (*parts)[i] = pattern->nodes[number].right;
        number = pattern->nodes[number].left;
    }
    (*parts)[0] = number;
    return WEFT_OK;
}

/* Each but the last may be skipped for the next, and goes behind the last. */
static weft_status emit_alternatives(struct weft_regex_pattern *pattern, const uint32_t *parts,
                                     uint32_t count) {
    struct weft_regex *regex = pattern->regex;
    uint32_t last_jump = WEFT_REGEX_NONE; /* jumps to the end are a list until that is known */
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t at = regex->op_count;
        const bool last = i + 1 == count;
        if (!last) {
            WEFT_TRY(add_op(pattern, split(false, at + 1, 0)));
        }
        WEFT_TRY(weft_regex_emit(pattern, parts[i]));
        if (!last) {
            WEFT_TRY(
                add_op(pattern, (struct weft_regex_op){.kind = WEFT_REGEX_JUMP, .a = last_jump}));
            last_jump = regex->op_count - 1;
            regex->ops[at].b = regex->op_count;
        }
    }
    while (last_jump != WEFT_REGEX_NONE) {
        const uint32_t before = regex->ops[last_jump].a;
        regex->ops[last_jump].a = regex->op_count;
        last_jump = before;
    }
    return WEFT_OK;
}

static weft_status emit_chain(struct weft_regex_pattern *pattern, uint32_t number) {
    uint32_t *parts = NULL;
    uint32_t count = 0;
    WEFT_TRY(list_chain(pattern, number, &parts, &count));
    weft_status status = WEFT_OK;
    if (pattern->nodes[number].kind == WEFT_NODE_EITHER) {
        status = emit_alternatives(pattern, parts, count);
    } else {
        for (uint32_t i = 0; i < count && status == WEFT_OK; i++) {
            status = weft_regex_emit(pattern, parts[i]);
        }
    }
    weft_free(pattern->host, parts);
    return status;
}

weft_status weft_regex_emit(struct weft_regex_pattern *pattern, uint32_t number) {
    const struct weft_regex_node *node = &pattern->nodes[number];
    WEFT_TRY(weft_budget_spend(&pattern->budget, 1));
    switch (node->kind) {
    case WEFT_NODE_EMPTY:
        return WEFT_OK;
    case WEFT_NODE_SINGLE:
    case WEFT_NODE_ANCHOR:
        return add_op(pattern, node->op);
    case WEFT_NODE_REPEAT:
        return emit_repeat(pattern, node);
    case WEFT_NODE_LOOK:
        return emit_look(pattern, node);
    case WEFT_NODE_ATOMIC:
        return emit_inner(pattern, (struct weft_regex_op){.kind = WEFT_REGEX_ATOMIC}, node->left,
                          NULL);
    default:
        return emit_chain(pattern, number);
    }
}

/* ---- compiling ---- */

static weft_status compile(struct weft_regex_pattern *pattern, bool literal) {
    uint32_t node = 0;
    if (pattern->size > MAX_PATTERN) {
        return weft_regex_fail(pattern, "expected at most 16384 bytes");
    }
    while (literal && pattern->at < pattern->size) {
        const uint32_t code = weft_regex_next(pattern);
        WEFT_TRY(add_op(pattern, (struct weft_regex_op){.kind = WEFT_REGEX_CHAR, .a = code}));
    }
    if (!literal) {
        WEFT_TRY(weft_regex_parse(pattern, &node));
        if (pattern->at < pattern->size) {
            return weft_regex_fail(pattern, "expected a \"(\" for this");
        }
        WEFT_TRY(weft_regex_emit(pattern, node));
    }
    return add_op(pattern, (struct weft_regex_op){.kind = WEFT_REGEX_MATCH});
}

weft_status weft_regex_create(struct weft_regex **regex, const char *text, size_t size,
                              bool literal, const char *path, const weft_host *host) {
    struct weft_regex *created = weft_alloc_zero(host, 1, sizeof *created);
    if (!created) {
        return weft_fail_memory(host, path);
    }
    struct weft_regex_pattern pattern = {
        .regex = created, .path = path, .host = host, .text = text, .size = size};
    weft_budget_begin(&pattern.budget, LEAST_STEPS + size * BYTE_STEPS, path, host);
    const weft_status status = compile(&pattern, literal);
    weft_free(host, pattern.nodes);
    if (status == WEFT_OK) {
        *regex = created;
    } else {
        weft_regex_destroy(created, host);
    }
    return status;
}

void weft_regex_destroy(struct weft_regex *regex, const weft_host *host) {
    if (regex) {
        weft_free(host, regex->ops);
        weft_free(host, regex->sets);
        weft_free(host, regex->items);
        weft_free(host, regex);
    }
}
