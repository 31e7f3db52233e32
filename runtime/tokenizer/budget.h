/* SPDX-License-Identifier: MIT */
/*
 * Budget for reading a tokenizer or one text. Everything that takes time counts steps here, and meanwhile the host is
 * asked if the call shall end: files and texts come from strangers.
 */
#ifndef WEFT_TOKENIZER_BUDGET_H
#define WEFT_TOKENIZER_BUDGET_H

#include "core/host.h"

/**
 * Steps for a text of so many bytes, for a file, and for the text of so many tokens. Tokenizers that people use take twenty to
 * seventy for a byte of a text.
 */
#define WEFT_TEXT_STEPS(size)    (((uint64_t)1 << 22) + (uint64_t)(size)*512)
#define WEFT_FILE_STEPS(size)    (((uint64_t)1 << 24) + (uint64_t)(size)*256)
#define WEFT_DECODE_STEPS(count) (((uint64_t)1 << 22) + (uint64_t)(count)*4096)

/** Begin it with weft_budget_begin. */
struct weft_budget {
    const weft_host *host;
    const char *what;   /* a file's path; null: a text */
    uint64_t given;     /* for messages */
    uint64_t left;      /* behind those that are near */
    uint64_t near;      /* steps until the host is asked again */
    weft_status status; /* why there are none left */
};

/** `host`, whose `interrupted` is asked, and `what` are borrowed. */
void weft_budget_begin(struct weft_budget *budget, uint64_t steps, const char *what,
                       const weft_host *host);

/** Continues weft_budget_take when the near steps are over. */
bool weft_budget_turn(struct weft_budget *budget, uint64_t steps);

/**
 * Takes steps, each of which costs some nanoseconds. False when too few are left or the host wants an end, which is then in
 * budget->status and in the log: WEFT_INVALID_ARGUMENT for a text, WEFT_BAD_FILE for a file, WEFT_CANCELLED. A null budget has
 * no end.
 */
static inline bool weft_budget_take(struct weft_budget *budget, uint64_t steps) {
    if (budget && steps >= budget->near) {
        return weft_budget_turn(budget, steps);
    }
    if (budget) {
        budget->near -= steps;
    }
    return true;
}

/** weft_budget_take with a status. */
static inline weft_status weft_budget_spend(struct weft_budget *budget, uint64_t steps) {
    return weft_budget_take(budget, steps) ? WEFT_OK : budget->status;
}

#endif
