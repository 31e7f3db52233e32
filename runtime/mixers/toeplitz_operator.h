/* SPDX-License-Identifier: MIT */
/* Helpers of the Toeplitz operator (toeplitz.c) and its step. Their nodes' first inputs: x, coefficients and decay. */
#ifndef WEFT_MIXERS_TOEPLITZ_OPERATOR_H
#define WEFT_MIXERS_TOEPLITZ_OPERATOR_H

#include <weft/mixers.h>

#include "lower/lowering.h"
#include "mixers/convolution.h"

/** The parameters of toeplitz_kernel. */
struct weft_toeplitz_kernel_node {
    uint32_t causal;
    uint32_t n;      /* length of the sequences it is for */
    uint32_t length; /* of the transforms; 0: the coefficients themselves */
    uint32_t form;   /* of the convolution that the transforms are for: weft_convolution_form */
};

/** Those of the operator. */
struct weft_toeplitz_node {
    uint32_t causal;
};

/** The lags that sequences of length n have. */
uint32_t weft_toeplitz_lags(uint32_t n, bool causal);

/** Checks inputs `first` and `first` + 1 of a node: coefficients for n elements, and decay. */
weft_status weft_toeplitz_check_kernel(const weft_graph *graph, const struct weft_node *node,
                                       uint32_t first, uint32_t n, bool causal);

/** The infer function of both. */
weft_status weft_toeplitz_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                                weft_shape *shape);

/** Lowers a node of toeplitz_kernel into that storage. */
void weft_lower_toeplitz_kernel_to(struct weft_lowering *lowering, const struct weft_node *node,
                                   uint32_t result);

/** The storage of the kernel of a node of toeplitz, for sequences of n elements. */
uint32_t weft_lower_toeplitz_kernel(struct weft_lowering *lowering, const struct weft_node *node,
                                    uint32_t n, uint32_t length, enum weft_convolution_form form);

/** That of its coefficients, decayed. */
uint32_t weft_lower_toeplitz_decayed(struct weft_lowering *lowering, const struct weft_node *node,
                                     uint32_t n);

/** By the definition, with the coefficients that weft_lower_toeplitz_decayed gives for `reach`, at least x's length. */
void weft_lower_toeplitz_direct(struct weft_lowering *lowering, const struct weft_node *node,
                                uint32_t reach);

#endif
