/* SPDX-License-Identifier: MIT */
#include "bench/suites/builders.h"

#include <stdio.h>

#include "bench/graph.h"
#include "bench/suites/builders_features.h"

/* ---- relative position encoders ---- */

struct rpe {
    weft_norm_params norm;
    weft_rpe_layer layers[WEFT_BENCH_RPE_LAYERS];
    weft_rpe_params params;
};

/** TNN's: ReLU and its own norm in front of each layer, the last of which gives `channels`. */
static void make_rpe(struct rpe *rpe, weft_case *c, uint32_t channels) {
    const uint32_t width = WEFT_BENCH_RPE_WIDTH;
    uint64_t stream = WEFT_BENCH_STREAM_RPE;
    *rpe = (struct rpe){.norm = {.kind = WEFT_NORM_SIMPLE_RMS},
                        .params = {.layers = rpe->layers,
                                   .layer_count = WEFT_BENCH_RPE_LAYERS,
                                   .activation = WEFT_ACTIVATION_RELU}};
    rpe->params.weight = weft_bench_weight(c, weft_shape_of(width, 1), stream++).tensor;
    rpe->params.bias = weft_bench_weight(c, weft_shape_of(width), stream++).tensor;
    for (uint32_t i = 0; i < WEFT_BENCH_RPE_LAYERS; i++) {
        const uint32_t rows = i + 1 == WEFT_BENCH_RPE_LAYERS ? channels : width;
        weft_rpe_layer *layer = &rpe->layers[i];
        layer->norm = &rpe->norm;
        layer->weight = weft_bench_weight(c, weft_shape_of(rows, width), stream++).tensor;
        layer->bias = weft_bench_weight(c, weft_shape_of(rows), stream++).tensor;
    }
    c->tolerance = WEFT_TOLERANCE_EXPONENTIAL;
}

/** By an RPE's coefficients, which do not decay by themselves. */
static weft_array toeplitz_of_rpe(weft_case *c, bool causal, weft_array x) {
    const uint32_t d = x.shape.dim[2];
    struct rpe rpe;
    float *decay = weft_reference_memory(&c->ref, d, sizeof *decay);
    for (uint32_t i = 0; decay && i < d; i++) {
        decay[i] = WEFT_BENCH_TNN_DECAY;
    }
    make_rpe(&rpe, c, d);
    weft_array coefficients = weft_case_toeplitz_rpe(c, x.shape.dim[1], &rpe.params,
                                                     weft_toeplitz_rpe_params(.causal = causal));
    weft_array gamma = weft_case_weight_of(c, weft_shape_of(d), decay);
    return weft_case_toeplitz(c, x, coefficients,
                              weft_toeplitz_params(.causal = causal, .decay = gamma.tensor));
}

static weft_array toeplitz_fd_of_rpe(weft_case *c, bool causal, weft_array x) {
    struct rpe rpe;
    make_rpe(&rpe, c, (causal ? 1U : 2U) * x.shape.dim[2]);
    const weft_array response =
        weft_case_toeplitz_fd_rpe(c, x.shape.dim[1], &rpe.params, WEFT_RPE_FREQUENCY);
    return weft_case_toeplitz_fd(c, x, response, weft_toeplitz_fd_params(.causal = causal));
}

/* ---- cases ---- */

static weft_array tokens(weft_case *c, const weft_bench_case *bench_case, const char *name) {
    return weft_case_input(c, name, weft_shape_of(1, bench_case->sizes[0], bench_case->sizes[1]),
                           WEFT_VALUES_UNIT);
}

static weft_bench_qkv qkv(weft_case *c, const weft_bench_case *bench_case) {
    weft_bench_qkv in = {.heads = bench_case->sizes[2]};
    in.q = tokens(c, bench_case, "q");
    in.k = tokens(c, bench_case, "k");
    in.v = tokens(c, bench_case, "v");
    return in;
}

weft_array weft_bench_sheet(weft_case *c, const weft_sheet *sheet, const weft_sizes *sizes,
                            const void *params, uint32_t with) {
    const bool causal = weft_sheet_is_causal(sheet, params);
    const weft_sheet_params own = weft_sheet_params_of(sheet, params, sizes, (weft_tensor){0});
    weft_array x[WEFT_OPERANDS] = {{.value = NULL}};
    uint64_t stream = WEFT_BENCH_STREAM_KERNEL;
    for (uint32_t i = 0; i < weft_sheet_operand_count(sheet); i++) {
        const weft_operand *operand = &sheet->operands[i];
        const weft_shape shape = weft_sheet_shape(sheet, i, sizes, causal);
        if (!operand->is_optional || (with >> i & 1) != 0) {
            x[i] = operand->is_weight ? weft_bench_weight(c, shape, stream++)
                                      : weft_case_input(c, operand->name, shape, WEFT_VALUES_UNIT);
        }
    }
    return weft_sheet_mix(c, sheet, x, &own);
}

static weft_sizes sizes_of(const weft_bench_case *bench_case) {
    const uint32_t heads = bench_case->sizes[2];
    return (weft_sizes){.batch = 1,
                        .n = bench_case->sizes[0],
                        .heads = heads,
                        .width = bench_case->sizes[1] / heads,
                        .rows = WEFT_BENCH_SKI_GRID,
                        .taps = WEFT_BENCH_SKI_TAPS};
}

static void define(weft_case *c, const weft_bench_case *bench_case) {
    const weft_bench_mixer *mixer = bench_case->data;
    const bool causal = mixer->sheet && weft_sheet_is_causal(mixer->sheet, mixer->params);
    const weft_sizes sizes = sizes_of(bench_case);
    weft_array y;
    if (mixer->exponential) {
        c->tolerance = WEFT_TOLERANCE_EXPONENTIAL;
    }
    if (!mixer->sheet) {
        const weft_bench_qkv in = qkv(c, bench_case);
        y = weft_bench_feature_attention(c, mixer, &in);
    } else if (!mixer->rpe) {
        y = weft_bench_sheet(c, mixer->sheet, &sizes, mixer->params, mixer->with);
    } else if (mixer->sheet == &weft_sheet_toeplitz) {
        y = toeplitz_of_rpe(c, causal, tokens(c, bench_case, "x"));
    } else {
        y = toeplitz_fd_of_rpe(c, causal, tokens(c, bench_case, "x"));
    }
    weft_case_expect(c, "y", y);
}

weft_bench_case weft_bench_mixer_case_of(const weft_bench_mixer *mixer, const char *suite,
                                         const char *series, const uint32_t sizes[3]) {
    weft_bench_case made = {.suite = suite,
                            .implementation = mixer->implementation,
                            .sizes = {sizes[0], sizes[1], sizes[2]},
                            .data = mixer,
                            .define = define,
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

void weft_bench_list_add_mixers(weft_bench_list *list, const weft_bench_scope *scope,
                                const weft_bench_mixers *series) {
    const bool smallest = scope->size == WEFT_BENCH_SMALLEST;
    const uint32_t first = smallest ? series->smallest : 0;
    const uint32_t end = smallest                          ? first + 1
                         : scope->size == WEFT_BENCH_SHORT ? series->short_count
                                                           : series->count;
    const uint32_t width = series->width == 0 ? WEFT_BENCH_WIDTH : series->width;
    for (uint32_t i = first; i < end; i++) {
        for (uint32_t k = 0; k < scope->length_count; k++) {
            const weft_bench_case made = weft_bench_mixer_case_of(
                &series->mixers[i], series->suite, series->names ? series->names[i] : NULL,
                (uint32_t[]){scope->lengths[k], width, 1});
            weft_bench_list_add(list, &made);
        }
    }
}
