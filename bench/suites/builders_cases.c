/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "bench/suites/builders_internal.h"

weft_status weft_bench_build_mixer(weft_graph *graph, const weft_bench_case *bench_case) {
    weft_bench_builder b = {.graph = graph,
                            .mixer = bench_case->data,
                            .n = bench_case->sizes[0],
                            .d = bench_case->sizes[1],
                            .heads = bench_case->sizes[2]};
    weft_tensor y = {0};
    switch (b.mixer->kind) {
    case WEFT_BENCH_FOURIER:
    case WEFT_BENCH_TOEPLITZ:
    case WEFT_BENCH_TOEPLITZ_FD:
    case WEFT_BENCH_SKI:
        y = weft_bench_build_toeplitz(&b);
        break;
    case WEFT_BENCH_RFA:
    case WEFT_BENCH_FEATURES:
        y = weft_bench_build_features(&b);
        break;
    default:
        y = weft_bench_build_attention(&b);
        break;
    }
    return b.status == WEFT_OK ? weft_graph_output(graph, "y", y) : b.status;
}

weft_bench_case weft_bench_mixer_case_of(const weft_bench_mixer *mixer, const char *suite,
                                         const char *series, const uint32_t sizes[3]) {
    weft_bench_case made = {.suite = suite,
                            .implementation = mixer->implementation,
                            .sizes = {sizes[0], sizes[1], sizes[2]},
                            .data = mixer,
                            .build = weft_bench_build_mixer,
                            .reference = weft_bench_refer_mixer,
                            .series = series ? series : mixer->name,
                            .length = sizes[0],
                            .width = sizes[1],
                            .linear = mixer->growth == WEFT_BENCH_GROWTH_LINEAR,
                            .dense = mixer->growth == WEFT_BENCH_GROWTH_DENSE};
    const int end =
        snprintf(made.name, sizeof made.name, "%s/n=%u,d=%u", mixer->name, sizes[0], sizes[1]);
    if (sizes[2] > 1 && end > 0 && (size_t)end < sizeof made.name) {
        snprintf(made.name + end, sizeof made.name - (size_t)end, ",heads=%u", sizes[2]);
    }
    return made;
}
