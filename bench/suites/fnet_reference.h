/* SPDX-License-Identifier: MIT */
/*
 * Encoders of Lee-Thorp et al., "FNet: Mixing tokens with Fourier transforms", 2022, with post-norm: embeddings, then in each
 * layer norm(x + mixing(x)) and norm(x + W_2 act(W_1 x)).
 */
#ifndef WEFT_BENCH_FNET_REFERENCE_H
#define WEFT_BENCH_FNET_REFERENCE_H

#include "verify/sheet.h"

typedef enum weft_bench_fnet_mixing {
    WEFT_BENCH_FNET_FOURIER = 0,
    WEFT_BENCH_FNET_LINEAR,    /* a learned [n, n] and [d, d] */
    WEFT_BENCH_FNET_ATTENTION, /* softmax */
    WEFT_BENCH_FNET_NONE,
    WEFT_BENCH_FNET_PERFORMER /* in the layout of model_type "performer": see weft_bench_fnet */
} weft_bench_fnet_mixing;

/**
 * An FNet of weft_model_create_random without a head and without token types, or one of its siblings. The Performer is a
 * network with post-norm, learned positions and a norm behind its embeddings, and with neither types nor a projection.
 */
typedef struct weft_bench_fnet {
    uint32_t n; /* as many positions as it has, too */
    uint32_t d, wide, layers, heads;
    uint32_t vocabulary, types;
    weft_bench_fnet_mixing mixing;
    uint32_t attention_layers; /* of the last ones, whatever `mixing` is */
    uint32_t features;         /* PERFORMER: of a head */
    weft_activation activation;
    double epsilon; /* of the norms */
    uint64_t seed;  /* of the weights */
} weft_bench_fnet;

/** Makes the last hidden state of tokens [n] what is expected of the case. */
void weft_bench_define_fnet(weft_case *c, const double *tokens, const weft_bench_fnet *params);

#endif
