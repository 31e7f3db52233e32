/* SPDX-License-Identifier: MIT */
/* One value of a graph with all that it is made of, as a graph of its own. */
#ifndef WEFT_PLAN_ISOLATE_H
#define WEFT_PLAN_ISOLATE_H

#include "graph/graph.h"

/** What is needed to isolate values of a graph one after the other; each costs as much as it is made of. */
struct weft_isolation {
    const weft_graph *graph;
    const char **given; /* per value: the name of the input that it becomes, borrowed; or null */
    /* Values that one value is made of, itself included, in the graph's order: */
    uint32_t *needed;
    uint32_t needed_count;
    bool *is_needed;  /* per value */
    weft_tensor *map; /* per value that is needed, its tensor in the graph of its own */
};

/** False when memory is out; then, too, weft_isolation_end frees. The graph outlives it, unchanged but in values that become weights. */
bool weft_isolation_begin(struct weft_isolation *isolation, const weft_graph *graph);
void weft_isolation_end(struct weft_isolation *isolation);

/**
 * Makes an empty graph that of `value`, its output `name`. Inputs stay inputs, in their order. A value with a name in
 * `given` becomes an input, but for `value` itself, and what it is made of is left out. States must not be among them.
 */
weft_status weft_isolate(weft_graph *alone, struct weft_isolation *isolation, uint32_t value,
                         const char *name);

#endif
