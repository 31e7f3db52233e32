/* SPDX-License-Identifier: MIT */
#include "bench/graph.h"

#include "core/host.h"
#include "core/philox.h"
#include "core/try.h"

weft_status weft_bench_input(weft_tensor *out, weft_graph *graph, const char *name,
                             weft_shape shape) {
    return weft_graph_input(out, graph, name, WEFT_F32, shape);
}

weft_status weft_bench_weight_of(weft_tensor *out, weft_graph *graph, weft_shape shape,
                                 const float *data) {
    weft_weight *weight = NULL;
    WEFT_TRY(weft_weight_create(&weight, weft_weight_params(.shape = shape, .data = data), NULL));
    weft_status status = weft_graph_weight(out, graph, weight);
    weft_weight_destroy(&weight);
    return status;
}

weft_status weft_bench_weight(weft_tensor *out, weft_graph *graph, weft_shape shape,
                              uint64_t stream) {
    size_t count = (size_t)weft_shape_elements(shape);
    float *data = weft_alloc(NULL, count * sizeof *data);
    if (!data) {
        return WEFT_OUT_OF_HOST_MEMORY;
    }
    weft_philox_uniform(data, count, WEFT_BENCH_SEED, stream);
    weft_status status = weft_bench_weight_of(out, graph, shape, data);
    weft_free(NULL, data);
    return status;
}
