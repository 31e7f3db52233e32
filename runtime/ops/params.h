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

struct weft_linear_attention_node {
    uint32_t heads;
    uint32_t causal;
    float epsilon;
};

struct weft_kernel_attention_node {
    uint32_t heads;
    uint32_t causal;
    float epsilon;
    uint32_t count;
    uint32_t map[WEFT_MAX_KERNELS]; /* WEFT_FEATURE_COUNT: GLSL text, in input 3 + its index */
    float weight[WEFT_MAX_KERNELS];
};

struct weft_cosformer_node {
    uint32_t heads;
    uint32_t causal;
    uint32_t length; /* M */
    float epsilon;
};

struct weft_fast_weight_node {
    uint32_t heads;
};

struct weft_banded_attention_node {
    uint32_t heads;
    uint32_t half_width;
    uint32_t causal;
    float scale;
};

struct weft_random_features_node {
    weft_component component;
    weft_stabilizer stabilizer;
    uint32_t heads;
    float scale;
    float epsilon;
};

struct weft_flt_features_node {
    weft_flt_side side;
    uint32_t heads;
    float scale;
};

struct weft_toeplitz_node {
    uint32_t causal;
};

struct weft_toeplitz_kernel_node {
    uint32_t causal;
    uint32_t n;      /* length of the sequences it is for */
    uint32_t length; /* of the transforms; 0: the coefficients themselves */
};

struct weft_toeplitz_fd_node {
    uint32_t causal;
};

struct weft_ski_toeplitz_node {
    uint32_t points;
    float gamma;
    weft_interpolation interpolation;
};

struct weft_rms_norm_node {
    float epsilon;
};

struct weft_batch_norm_node {
    float epsilon;
};

#endif
