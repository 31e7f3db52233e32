/* SPDX-License-Identifier: MIT */
/*
 * The steps of weft/decode.h as series of cases over the length: the n-th token of a sequence, 8 heads of 64 channels. With
 * n a multiple of 64 it is the last token of a chunk, which reads most.
 */
#include <stdio.h>

#include "bench/graph.h"
#include "bench/suites/suites.h"
#include "core/try.h"
#include "verify/steps.h"

enum {
    HEADS = 8,
    WIDTH = 64,         /* of a head */
    BAND = 30,          /* half-width: FMMformer's */
    COSFORMER = 1 << 20 /* M: the longest sequence */
};

static const weft_kernel kernels[] = {{.map = WEFT_FEATURE_ELU1},
                                      {.map = WEFT_FEATURE_ELU1_NEGATED}};

static const struct step_series {
    const char *name;
    weft_case_step step; /* without heads; BAND: no half-width for the whole sequence */
} series[] = {
    /* Softmax attention with its keys and values kept: */
    {"attention", {WEFT_CASE_STEP_BAND, .option = 0}},
    {"banded_attention", {WEFT_CASE_STEP_BAND, .option = BAND}},
    {"linear_attention", {WEFT_CASE_STEP_LINEAR, .epsilon = 1e-3F}},
    {"kernel_attention/1",
     {WEFT_CASE_STEP_KERNELS, .option = 1, .kernels = kernels, .epsilon = 1e-3F}},
    {"kernel_attention/2",
     {WEFT_CASE_STEP_KERNELS, .option = 2, .kernels = kernels, .epsilon = 1e-3F}},
    {"cosformer", {WEFT_CASE_STEP_COSFORMER, .option = COSFORMER, .epsilon = 1e-3F}},
    {"fast_weight", {WEFT_CASE_STEP_FAST_WEIGHT, .option = 0}},
};

static bool is_dense(const struct step_series *own) {
    return own->step.mixer == WEFT_CASE_STEP_BAND && own->step.option == 0;
}

static weft_status add_position(weft_tensor *out, weft_graph *graph, int32_t position) {
    weft_weight *weight = NULL;
    WEFT_TRY(weft_weight_create(
        &weight,
        weft_weight_params(.dtype = WEFT_I32, .shape = weft_shape_of(1), .data = &position), NULL));
    weft_status status = weft_graph_weight(out, graph, weight);
    weft_weight_destroy(&weight);
    return status;
}

/** Inputs of one token, and its position, the last of `length`. */
static weft_status build(weft_graph *graph, const weft_bench_case *bench_case) {
    const struct step_series *own = bench_case->data;
    const weft_shape shape = weft_shape_of(1, 1, HEADS * WIDTH);
    weft_case_step params = own->step;
    weft_step step = {.state = "state"};
    weft_tensor x[4] = {{0}};
    weft_tensor y = {0};
    params.heads = HEADS;
    params.option = is_dense(own) ? bench_case->length - 1 : params.option;
    WEFT_TRY(weft_bench_input(&x[0], graph, "q", shape));
    WEFT_TRY(weft_bench_input(&x[1], graph, "k", shape));
    WEFT_TRY(weft_bench_input(&x[2], graph, "v", shape));
    WEFT_TRY(add_position(&step.position, graph, (int32_t)bench_case->length - 1));
    if (params.mixer == WEFT_CASE_STEP_FAST_WEIGHT) {
        WEFT_TRY(weft_bench_input(&x[3], graph, WEFT_BENCH_UNIT_INPUT, weft_shape_of(1, 1, HEADS)));
    }
    WEFT_TRY(weft_case_add_step(&y, graph, &params, x, &step));
    return weft_graph_output(graph, "y", y);
}

static weft_bench_case make_case(const struct step_series *own, uint32_t length) {
    weft_bench_case result = {.suite = "decode",
                              .sizes = {length, HEADS * WIDTH},
                              .data = own,
                              .build = build,
                              .series = own->name,
                              .length = length,
                              .dense = is_dense(own)};
    snprintf(result.name, sizeof result.name, "decode/%s/n=%u,d=%u,heads=%u", own->name, length,
             (unsigned)(HEADS * WIDTH), (unsigned)HEADS);
    return result;
}

void weft_bench_add_decode(weft_bench_list *list, const weft_bench_scope *scope) {
    const uint32_t count =
        scope->size == WEFT_BENCH_SMALLEST ? 1 : sizeof series / sizeof series[0];
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < scope->length_count; k++) {
            const weft_bench_case made = make_case(&series[i], scope->lengths[k]);
            weft_bench_list_add(list, &made);
        }
    }
}
