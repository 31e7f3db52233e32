/* SPDX-License-Identifier: MIT */
#include "tokenizer/budget.h"

#define NEAR ((uint64_t)1 << 18) /* about a millisecond */

static void bring_near(struct weft_budget *budget) {
    budget->near = budget->left < NEAR ? budget->left : NEAR;
    budget->left -= budget->near;
}

void weft_budget_begin(struct weft_budget *budget, uint64_t steps, const char *what,
                       const weft_host *host) {
    *budget = (struct weft_budget){.host = host, .what = what, .given = steps, .left = steps};
    bring_near(budget);
}

static weft_status fail(const struct weft_budget *budget) {
    const unsigned long long given = (unsigned long long)budget->given;
    return budget->what
               ? weft_fail(budget->host, WEFT_BAD_FILE,
                           "%s: expected a tokenizer that is made in %llu steps, for its size, "
                           "found one that takes more",
                           budget->what, given)
               : weft_fail(budget->host, WEFT_INVALID_ARGUMENT,
                           "text: expected one that the tokenizer cuts in %llu steps, for its "
                           "size, found one that takes more",
                           given);
}

bool weft_budget_turn(struct weft_budget *budget, uint64_t steps) {
    if (budget->status == WEFT_OK) {
        budget->status = weft_interrupted(budget->host);
    }
    if (budget->status == WEFT_OK && steps > budget->near && steps - budget->near > budget->left) {
        budget->status = fail(budget);
    }
    if (budget->status != WEFT_OK) {
        budget->near = budget->left = 0;
        return false;
    }
    budget->left = budget->left + budget->near - steps;
    bring_near(budget);
    return true;
}
