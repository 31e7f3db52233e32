/* SPDX-License-Identifier: MIT */
/* FMMformer's blend of a near and a far field, of which `lengths`, the bench and the tests have cases. */
#include "verify/trials.h"

WEFT_SHEET_CALL(fmm_attention, x[0], x[1], x[2])

/* Nguyen et al., 2021, (11): the fields, each times the weight of its channel. */
static weft_array mix_fmm_attention(weft_case *c, const weft_array *x, const void *params) {
    const weft_fmm_attention_params *p = params;
    const weft_array q = x[0];
    const weft_array k = x[1];
    const weft_array v = x[2];
    const bool only_values = c->only_values;
    const double *weights[2] = {weft_case_find(c, p->near_weight).value,
                                weft_case_find(c, p->far_weight).value};
    weft_tensor tensor = {0};
    double *out;
    const weft_status status = WEFT_CASE_ADD(
        c, weft_graph_fmm_attention(&tensor, c->graph, q.tensor, k.tensor, v.tensor, p));
    c->only_values = true;
    const weft_array near =
        WEFT_MIX(c, banded_attention,
                 weft_banded_attention_params(.heads = p->heads, .half_width = p->half_width,
                                              .causal = p->causal),
                 q, k, v);
    const weft_array far =
        p->beta.id != 0 ? WEFT_MIX(c, fast_weight, &(weft_fast_weight_params){.heads = p->heads}, q,
                                   k, v, weft_case_find(c, p->beta))
                        : weft_case_kernel_attention(
                              c, q, k, v,
                              &(weft_kernel_attention_params){.heads = p->heads,
                                                              .causal = p->causal,
                                                              .kernels = p->kernels,
                                                              .kernel_count = p->kernel_count},
                              NULL);
    c->only_values = only_values;
    weft_array y = weft_case_made(c, status, tensor, near.shape, true, &out);
    const uint32_t channels = v.shape.dim[2];
    const uint32_t rows = c->rows.count > 0 ? c->rows.count : q.shape.dim[1];
    for (uint64_t i = 0; out && i < (uint64_t)q.shape.dim[0] * rows * channels; i++) {
        out[i] = (weights[0] ? weights[0][i % channels] : 1.0) * near.value[i] +
                 (weights[1] ? weights[1][i % channels] : 1.0) * far.value[i];
    }
    return y;
}

enum { Q, K, V, BETA, NEAR, FAR };

#define PARAMS(...) weft_fmm_attention_params(__VA_ARGS__)
#define WITH(...)   .params = PARAMS(__VA_ARGS__)

static const weft_kernel kernel[] = {{.map = WEFT_FEATURE_ELU1}};

static const weft_use uses[] = {
    {.name = "FMMformer", WITH(.half_width = 7, .kernels = kernel, .kernel_count = 1)},
    {.name = "causal FMMformer",
     WITH(.half_width = 7, .causal = true, .kernels = kernel, .kernel_count = 1)},
    {.name = "FMMformer with fast weights",
     WITH(.half_width = 7, .causal = true),
     .with = 1 << BETA | 1 << NEAR | 1 << FAR},
};

static const weft_trial trials[] = {
    {INVALID, .without_params = true, SAYS("fmm_attention")},
    {INVALID, WITH(.half_width = 5), SAYS("half_width", "5")},
    {INVALID, IS(AS(BETA, 1, 5, 1)), SAYS("causal is 0")},
    {MISMATCH, IS(AS(NEAR, 1, 5, 1)), SAYS("[1, 5, 1]")},
};

const weft_sheet weft_sheet_fmm_attention = {
    WEFT_SHEET_ATTENTION(fmm_attention),
    .operands = {WEFT_OPERANDS_QKV,
                 WEFT_OPTIONAL("beta", weft_fmm_attention_params, beta,
                               WEFT_AXES(WEFT_AXIS_BATCH, WEFT_AXIS_TOKENS, WEFT_AXIS_HEADS),
                               .range = WEFT_RANGE_UNIT),
                 WEFT_OPTIONAL("near", weft_fmm_attention_params, near_weight,
                               WEFT_AXES(WEFT_AXIS_VALUES), .is_weight = true),
                 WEFT_OPTIONAL("far", weft_fmm_attention_params, far_weight,
                               WEFT_AXES(WEFT_AXIS_VALUES), .is_weight = true)},
    .half_width = WEFT_SHEET_FIELD(weft_fmm_attention_params, half_width),
    .lengths_of = "banded_attention",
    .grows_linearly = true,
    .mix = mix_fmm_attention,
    WEFT_SHEET_USES(uses),
    .sizes = {.batch = 2, .n = 5, .heads = 1, .width = 4},
    WEFT_SHEET_TRIALS(trials),
};
