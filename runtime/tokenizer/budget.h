/* SPDX-License-Identifier: MIT */
/*
 * What reading a tokenizer, or one text, may cost. Whatever takes time counts steps here, and the host is asked meanwhile
 * whether the call shall end: files and texts come from strangers.
 */
#ifndef WEFT_TOKENIZER_BUDGET_H
#define WEFT_TOKENIZER_BUDGET_H

#include "core/host.h"

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

/** What weft_budget_take does when the near steps are over. */
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

/** The same as a status. */
static inline weft_status weft_budget_spend(struct weft_budget *budget, uint64_t steps) {
    return weft_budget_take(budget, steps) ? WEFT_OK : budget->status;
}

#endif
