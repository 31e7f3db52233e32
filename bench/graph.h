/* SPDX-License-Identifier: MIT */
/* What the graphs that `weft bench` times are built with: inputs and Philox weights. */
#ifndef WEFT_BENCH_GRAPH_H
#define WEFT_BENCH_GRAPH_H

#include "verify/conformance.h"

#define WEFT_BENCH_SEED 2026

/** An input of this name is filled with numbers from 0 to 1, every other with ones in [-1, 1). */
#define WEFT_BENCH_UNIT_INPUT "beta"

weft_status weft_bench_input(weft_tensor *out, weft_graph *graph, const char *name,
                             weft_shape shape);

/** A weight of uniform values in [-1, 1); `stream` tells the weights of a case apart. */
weft_array weft_bench_weight(weft_case *c, weft_shape shape, uint64_t stream);

#endif
