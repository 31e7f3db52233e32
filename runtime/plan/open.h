/* SPDX-License-Identifier: MIT */
/* Parts of a plan: one of its checkpoints or outputs, computed from others. */
#ifndef WEFT_PLAN_OPEN_H
#define WEFT_PLAN_OPEN_H

#include <weft/graph.h>

/**
 * Compiles what makes the output or checkpoint `value` out of those among the `count` names `known` and of the plan's
 * inputs, as a plan whose inputs have these names. Names that are none of the plan's, or `value` itself, do not count.
 * Its bits are those of the whole plan, since kernels are chosen by a node's shapes.
 * Errors: WEFT_INVALID_ARGUMENT for a plan that was not compiled for this; WEFT_NOT_FOUND for a value that the plan
 * does not have; WEFT_UNSUPPORTED for a plan with states; those of weft_plan_compile.
 */
weft_status weft_plan_open(weft_plan **part, const weft_plan *plan, const char *value,
                           const char *const *known, uint32_t count);

#endif
