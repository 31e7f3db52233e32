/* SPDX-License-Identifier: MIT */
/* The exponential moving average, as a mixer of a program's own. */
#ifndef MOVING_AVERAGE_H
#define MOVING_AVERAGE_H

#include <weft/graph.h>

typedef struct moving_average_params {
    bool reverse; /**< from the last token to the first */
} moving_average_params;

#define moving_average_params(...) (&(moving_average_params){__VA_ARGS__})

/**
 * The exponential moving average along the sequence, channel by channel: y_i = α x_i + (1 - α) y_{i-1}, y_{-1} = 0. Ma et
 * al., "Mega: Moving average equipped gated attention", 2023.
 * x f32 [B, n, d], alpha f32 [d], out [B, n, d]. Computed in chunks of 64 tokens; time is linear in n, memory beside the
 * result B d ⌈n/64⌉ elements. Token i reads the tokens 0 … i and no other (with reverse, i … n - 1).
 * Errors: WEFT_SHAPE_MISMATCH; WEFT_INVALID_ARGUMENT for a weight as alpha with an element outside (0, 1]. An alpha that
 * is no weight is taken as it is. params may be null.
 */
weft_status graph_moving_average(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                 weft_tensor alpha, const moving_average_params *params);

#endif
