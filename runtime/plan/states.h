/* SPDX-License-Identifier: MIT */
/* Plans that go on with one another's states: decoders have one for prompts and one for tokens. */
#ifndef WEFT_PLAN_STATES_H
#define WEFT_PLAN_STATES_H

#include <weft/graph.h>

/**
 * From its first weft_plan_execute on the plan has the states of `from`, by their names, in place of its own: what one leaves in
 * them the other finds. `from` has them all, on the same device, and outlives the plan. WEFT_NOT_FOUND for one that it lacks.
 */
weft_status weft_plan_borrow_states(weft_plan *plan, weft_plan *from);

#endif
