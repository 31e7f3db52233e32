/* SPDX-License-Identifier: MIT */
/* Parameters of nodes, as weft_graph_add takes them; zeroed before they are filled, so that equal ones compare equal. */
#ifndef WEFT_OPS_PARAMS_H
#define WEFT_OPS_PARAMS_H

#include <weft/mixers.h>

struct weft_activation_node {
    weft_activation activation;
};

struct weft_layer_norm_node {
    float epsilon;
};

struct weft_binary_node {
    weft_binary op;
};

struct weft_matmul_node {
    uint32_t transpose_a;
    uint32_t transpose_b;
    float alpha;
};

struct weft_affine_node {
    float scale;
    float offset;
};

struct weft_gather_node {
    uint32_t position;
};

struct weft_reshape_node {
    weft_shape shape;
};

struct weft_attention_node {
    uint32_t heads;
    float scale;
};

#endif
