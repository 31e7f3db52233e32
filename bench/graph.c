/* SPDX-License-Identifier: MIT */
#include "bench/graph.h"

#include "core/math/philox.h"

weft_status weft_bench_input(weft_tensor *out, weft_graph *graph, const char *name,
                             weft_shape shape) {
    return weft_graph_input(out, graph, name, WEFT_F32, shape);
}

weft_array weft_bench_weight(weft_case *c, weft_shape shape, uint64_t stream) {
    const uint64_t count = weft_shape_elements(shape);
    float *data = weft_reference_memory(&c->ref, count, sizeof *data);
    if (data) {
        weft_philox_uniform(data, (size_t)count, WEFT_BENCH_SEED, stream);
    }
    return weft_case_weight_of(c, shape, data);
}
