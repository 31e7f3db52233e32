/* SPDX-License-Identifier: MIT */
/* Cases of a step that takes the tokens of one operand, [batch, n, d], perhaps behind a prompt of several at once. */
#ifndef WEFT_VERIFY_TOKEN_STEPS_H
#define WEFT_VERIFY_TOKEN_STEPS_H

#include <weft/decode.h>

#include "verify/conformance.h"

/** Adds the step of some tokens x. */
typedef weft_status weft_add_token_step(weft_tensor *y, weft_graph *graph, weft_tensor x,
                                        const weft_step *step, const void *user);

/**
 * The steps of all tokens of x, the first one of `prompt` tokens (0: 1), of which each sequence lacks `shorter` of those that the
 * one before it has, with the state "state". Outputs are the first, a middle
 * and the last token, as `whole` has them: what the mixer's definition makes of x.
 */
void weft_case_expect_steps(weft_case *c, weft_array x, weft_array whole, uint32_t prompt,
                            uint32_t shorter, weft_add_token_step *add, const void *user);

#endif
