/* SPDX-License-Identifier: MIT */
/* Cases of a step that takes tokens of operands, [batch, n, …], perhaps behind a prompt of several at once. */
#ifndef WEFT_VERIFY_TOKEN_STEPS_H
#define WEFT_VERIFY_TOKEN_STEPS_H

#include <weft/decode.h>

#include "verify/conformance.h"

/** The most operands of a token. */
#define WEFT_TOKEN_OPERANDS 7

/** Adds the step of some tokens of the operands x, of which those that are absent have none. */
typedef weft_status weft_add_token_step(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                                        const weft_step *step, const void *user);

/** How a case's tokens are cut into steps. */
typedef struct weft_token_cuts {
    uint32_t prompt;  /**< tokens of the first step; 0: 1, as of all others */
    uint32_t shorter; /**< tokens that each sequence lacks of those that the one before it has */
    bool
        zeros_behind; /**< what a prompt gives behind a sequence's position, in the mixer's place */
} weft_token_cuts;

/**
 * The steps of all tokens of `operands` arrays x, of which only the first must be there, with the state "state". Outputs are the
 * first, a middle and the last token, as `whole` has them: what the mixer's definition makes of x.
 */
void weft_case_expect_steps(weft_case *c, const weft_array *x, uint32_t operands, weft_array whole,
                            weft_token_cuts cuts, weft_add_token_step *add, const void *user);

#endif
