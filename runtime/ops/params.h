/* SPDX-License-Identifier: MIT */
/* Parameters of nodes that fusion reads as well as the op that adds them; other ops keep theirs to themselves. */
#ifndef WEFT_OPS_PARAMS_H
#define WEFT_OPS_PARAMS_H

#include <weft/graph.h>

struct weft_activation_node {
    weft_activation activation;
};

struct weft_layer_norm_node {
    float epsilon;
};

struct weft_binary_node {
    weft_binary op;
};

#endif
