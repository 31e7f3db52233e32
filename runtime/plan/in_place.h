/* SPDX-License-Identifier: MIT */
/*
 * Inputs and outputs of weft_plan_execute where the caller has them, on a device that works on this process's memory: the processor.
 * There a copy takes as long as many an op.
 */
#ifndef WEFT_PLAN_IN_PLACE_H
#define WEFT_PLAN_IN_PLACE_H

#include "plan/plan.h"

/** Makes the buffer of a port in memory of the plan's, or, where the port is never in place, leaves *buffer null. */
weft_status weft_host_port_make(weft_buffer **buffer, weft_plan *plan, uint32_t port);

/** Decides which ports a run has in place, of the tensors in plan->given, and puts their buffers there. */
void weft_host_ports_begin(weft_plan *plan);

/** Puts all buffers back. Nothing runs any more. */
void weft_host_ports_end(weft_plan *plan);

#endif
