/* SPDX-License-Identifier: MIT */
/* Plans that go on with one another's states: decoders have one for prompts and one for tokens. */
#ifndef WEFT_PLAN_STATES_H
#define WEFT_PLAN_STATES_H

#include "graph/graph.h"

/** A state of a plan as weft_plan_execute has it: for each sequence `elements` of that type, one sequence behind the other. */
struct weft_plan_state {
    const char *name;    /* lives as long as the plan */
    weft_buffer *buffer; /* the plan's */
    weft_dtype dtype;
    uint64_t elements;
    struct weft_state_rings rings; /* of these, or zeros */
};

/** Number of a plan's states. */
uint32_t weft_plan_state_count(const weft_plan *plan);
/** State `index` in the order of ports, below that number. Makes the buffers where no weft_plan_execute has. */
weft_status weft_plan_get_state(struct weft_plan_state *state, weft_plan *plan, uint32_t index);

/**
 * From its first weft_plan_execute on the plan has the states of `from`, by their names, in place of its own: what one leaves in
 * them the other finds. `from` has them all, on the same device, and outlives the plan. WEFT_NOT_FOUND for one that it lacks.
 */
weft_status weft_plan_borrow_states(weft_plan *plan, weft_plan *from);

#endif
