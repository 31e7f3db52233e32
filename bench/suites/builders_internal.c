/* SPDX-License-Identifier: MIT */
#include "bench/suites/builders_internal.h"

#include "core/host.h"

weft_tensor weft_bench_builder_tokens(weft_bench_builder *b, const char *name) {
    weft_tensor out = {0};
    if (b->status == WEFT_OK) {
        b->status = weft_bench_input(&out, b->graph, name, weft_shape_of(1, b->n, b->d));
    }
    return out;
}

weft_bench_qkv weft_bench_builder_qkv(weft_bench_builder *b) {
    weft_bench_qkv in;
    in.q = weft_bench_builder_tokens(b, "q");
    in.k = weft_bench_builder_tokens(b, "k");
    in.v = weft_bench_builder_tokens(b, "v");
    return in;
}

weft_tensor weft_bench_builder_weight(weft_bench_builder *b, weft_shape shape, uint64_t stream) {
    weft_tensor out = {0};
    if (b->status == WEFT_OK) {
        b->status = weft_bench_weight(&out, b->graph, shape, stream);
    }
    return out;
}

weft_tensor weft_bench_builder_weight_of(weft_bench_builder *b, weft_shape shape,
                                         const float *data) {
    weft_tensor out = {0};
    if (b->status == WEFT_OK) {
        b->status = weft_bench_weight_of(&out, b->graph, shape, data);
    }
    return out;
}

void *weft_bench_builder_memory(weft_bench_builder *b, size_t count, size_t size) {
    void *memory = b->status == WEFT_OK ? weft_alloc_zero(NULL, count, size) : NULL;
    if (!memory && b->status == WEFT_OK) {
        b->status = WEFT_OUT_OF_HOST_MEMORY;
    }
    return memory;
}
