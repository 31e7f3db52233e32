/* SPDX-License-Identifier: MIT */
/* What the builders of mixers share. After a failure, which stays in `status`, the functions do nothing. */
#ifndef WEFT_BENCH_BUILDERS_INTERNAL_H
#define WEFT_BENCH_BUILDERS_INTERNAL_H

#include "bench/graph.h"
#include "bench/suites/builders.h"

typedef struct weft_bench_builder {
    weft_graph *graph;
    const weft_bench_mixer *mixer;
    uint32_t n, d, heads;
    weft_status status;
} weft_bench_builder;

typedef struct weft_bench_qkv {
    weft_tensor q, k, v;
} weft_bench_qkv;

/** An input [1, n, d]. */
weft_tensor weft_bench_builder_tokens(weft_bench_builder *b, const char *name);

weft_bench_qkv weft_bench_builder_qkv(weft_bench_builder *b);

/** weft_bench_weight, weft_bench_weight_of. */
weft_tensor weft_bench_builder_weight(weft_bench_builder *b, weft_shape shape, uint64_t stream);
weft_tensor weft_bench_builder_weight_of(weft_bench_builder *b, weft_shape shape,
                                         const float *data);

/** Zeroed host memory, to be freed with weft_free(NULL, …); null after a failure. */
void *weft_bench_builder_memory(weft_bench_builder *b, size_t count, size_t size);

/* The outputs of the kinds of mixers, one file each: */
weft_tensor weft_bench_build_attention(weft_bench_builder *b); /* dense, banded, kernels … */
weft_tensor weft_bench_build_toeplitz(weft_bench_builder *b);  /* Fourier, Toeplitz, SKI, FD */
weft_tensor weft_bench_build_features(weft_bench_builder *b);  /* random features, RFA */

#endif
