/* SPDX-License-Identifier: MIT */
/* Timing the ways to do a piece of work, by plans of that work alone. */
#ifndef WEFT_PLAN_MEASURE_H
#define WEFT_PLAN_MEASURE_H

#include "plan/passes.h"

/** The least milliseconds of a few runs of a node by itself, under one of its implementations, on made-up input. */
weft_status weft_measure_node(double *ms, weft_device *device, const weft_graph *graph,
                              const struct weft_node *node, const char *implementation);

/** Measures a single dispatch. */
weft_status weft_measure_dispatch(double *ms, weft_device *device,
                                  const struct weft_measured_dispatch *dispatch);

/** Makes the pipelines of dispatches that will be timed one after the other, all at once: a device may compile them on its threads. */
weft_status weft_compile_dispatches(weft_device *device,
                                    const struct weft_measured_dispatch *dispatches,
                                    uint32_t count);

#endif
