/* SPDX-License-Identifier: MIT */
/*
 * The steps of weft/decode.h as series of cases over the length: the n-th token of a sequence, 8 heads of 64 channels. With
 * n a multiple of 64 it is the last token of a chunk, which reads most.
 */
#include <stdio.h>

#include "bench/graph.h"
#include "bench/suites/suites.h"
#include "core/try.h"
#include "verify/sheet.h"

enum {
    HEADS = 8,
    WIDTH = 64,         /* of a head */
    BAND = 30,          /* half-width: FMMformer's */
    COSFORMER = 1 << 20 /* M: the longest sequence */
};

static const weft_kernel kernels[] = {{.map = WEFT_FEATURE_ELU1},
                                      {.map = WEFT_FEATURE_ELU1_NEGATED}};

#define KERNELS(count) \
    weft_kernel_attention_params(.kernels = kernels, .kernel_count = (count), .epsilon = 1e-3F)

static weft_status add_weight(weft_tensor *out, weft_graph *graph, weft_dtype dtype,
                              weft_shape shape, const void *data) {
    weft_weight *weight = NULL;
    WEFT_TRY(weft_weight_create(
        &weight, weft_weight_params(.dtype = dtype, .shape = shape, .data = data), NULL));
    weft_status status = weft_graph_weight(out, graph, weight);
    weft_weight_destroy(&weight);
    return status;
}

/* The decay is 0, which costs what others do: so each run has the same output, whatever the one before it left behind. */
static weft_status add_gated(weft_tensor *y, weft_graph *graph, const weft_step *step,
                             bool is_delta) {
    static const float decay[HEADS] = {0};
    const weft_shape vectors = weft_shape_of(1, 1, HEADS * WIDTH);
    const weft_shape factors = weft_shape_of(1, 1, HEADS);
    weft_gated_state_params params = {.heads = HEADS};
    weft_tensor q, k, v;
    WEFT_TRY(weft_bench_input(&q, graph, "q", vectors));
    WEFT_TRY(weft_bench_input(&k, graph, "k", vectors));
    WEFT_TRY(weft_bench_input(&v, graph, "v", vectors));
    WEFT_TRY(add_weight(&params.decay, graph, WEFT_F32, factors, decay));
    if (is_delta) {
        WEFT_TRY(weft_bench_input(&params.beta, graph, WEFT_BENCH_UNIT_INPUT, factors));
        params.erase = k;
    }
    return weft_graph_gated_state_step(y, graph, q, k, v, step, &params);
}

static weft_status add_gated_state(weft_tensor *y, weft_graph *graph, const weft_step *step) {
    return add_gated(y, graph, step, false);
}

static weft_status add_gated_delta(weft_tensor *y, weft_graph *graph, const weft_step *step) {
    return add_gated(y, graph, step, true);
}

static const struct step_series {
    const char *name;
    const weft_sheet *sheet;
    const void *params; /* null: a band of the whole sequence */
    weft_status (*add)(weft_tensor *y, weft_graph *graph,
                       const weft_step *step); /* without a sheet */
} series[] = {
    /* Softmax attention with its keys and values kept: */
    {"attention", .sheet = &weft_sheet_banded_attention},
    {"banded_attention", .sheet = &weft_sheet_banded_attention,
     .params = weft_banded_attention_params(.half_width = BAND)},
    {"linear_attention", .sheet = &weft_sheet_linear_attention,
     .params = weft_linear_attention_params(.epsilon = 1e-3F)},
    {"kernel_attention/1", .sheet = &weft_sheet_kernel_attention, .params = KERNELS(1)},
    {"kernel_attention/2", .sheet = &weft_sheet_kernel_attention, .params = KERNELS(2)},
    {"cosformer", .sheet = &weft_sheet_cosformer,
     .params = weft_cosformer_params(.length = COSFORMER, .epsilon = 1e-3F)},
    {"fast_weight", .sheet = &weft_sheet_fast_weight,
     .params = weft_fast_weight_params(.heads = HEADS)},
    {"gated_state", .add = add_gated_state},
    {"gated_delta", .add = add_gated_delta},
};

static bool is_dense(const struct step_series *own) {
    return own->sheet && own->params == NULL;
}

/** Inputs of one token, of a sequence of that length. */
static weft_status add_by_sheet(weft_tensor *y, weft_graph *graph, const struct step_series *own,
                                const weft_step *step, uint32_t length) {
    const weft_sizes sizes = {1, 1, HEADS, WIDTH, .values = WIDTH};
    const weft_banded_attention_params whole = {.half_width = length - 1};
    const weft_sheet_params params = weft_sheet_params_of(
        own->sheet, is_dense(own) ? &whole : own->params, &sizes, (weft_tensor){0});
    weft_tensor x[WEFT_OPERANDS] = {{0}};
    for (uint32_t i = 0; i < weft_sheet_operand_count(own->sheet); i++) {
        if (own->sheet->operands[i].is_optional) {
            continue;
        }
        WEFT_TRY(weft_bench_input(&x[i], graph, own->sheet->operands[i].name,
                                  weft_sheet_shape(own->sheet, i, &sizes, true)));
    }
    return own->sheet->step(y, graph, x, step, &params);
}

static weft_status build(weft_graph *graph, const weft_bench_case *bench_case) {
    const struct step_series *own = bench_case->data;
    const int32_t position = (int32_t)bench_case->length - 1;
    weft_step step = {.state = "state"};
    weft_tensor y = {0};
    WEFT_TRY(add_weight(&step.position, graph, WEFT_I32, weft_shape_of(1), &position));
    WEFT_TRY(own->add ? own->add(&y, graph, &step)
                      : add_by_sheet(&y, graph, own, &step, bench_case->length));
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
    if (own->sheet == &weft_sheet_banded_attention) {
        result.rings.heads = HEADS;
        result.rings.width = WIDTH;
    }
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
