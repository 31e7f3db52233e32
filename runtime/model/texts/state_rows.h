/* SPDX-License-Identifier: MIT */
/* Rows of states that consist of rings, and what is kept of them: those of the newest tokens, the oldest first. */
#ifndef WEFT_MODEL_STATE_ROWS_H
#define WEFT_MODEL_STATE_ROWS_H

#include "model/texts/state_file.h"

/**
 * Copies them out of a sequence's state, after so many tokens, as [count, min(tokens, rows), width]; or puts them there, where what else
 * the state has stays as it is.
 */
void weft_state_copy_rows(void *state, void *kept, const struct weft_state_part *part,
                          uint32_t tokens, bool put);

#endif
