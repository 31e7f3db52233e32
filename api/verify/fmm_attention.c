/* SPDX-License-Identifier: MIT */
/* FMMformer's blend of a near and a far field, of which `lengths`, the bench and the tests have cases. */
#include "verify/trials.h"

WEFT_SHEET_CALL(fmm_attention, x[0], x[1], x[2])
WEFT_SHEET_MIX(fmm_attention, x[0], x[1], x[2])

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
    .name = "fmm_attention",
    .operands = {WEFT_OPERAND_Q,
                 WEFT_OPERAND_K,
                 WEFT_OPERAND_V,
                 {.name = "beta",
                  .axes = {WEFT_AXIS_BATCH, WEFT_AXIS_TOKENS, WEFT_AXIS_HEADS},
                  .field = WEFT_FIELD(weft_fmm_attention_params, beta),
                  .range = WEFT_RANGE_UNIT,
                  .is_optional = true},
                 {.name = "near",
                  .axes = {WEFT_AXIS_VALUES},
                  .is_weight = true,
                  .is_optional = true,
                  .field = WEFT_FIELD(weft_fmm_attention_params, near_weight)},
                 {.name = "far",
                  .axes = {WEFT_AXIS_VALUES},
                  .is_weight = true,
                  .is_optional = true,
                  .field = WEFT_FIELD(weft_fmm_attention_params, far_weight)}},
    WEFT_SHEET_PARAMS(weft_fmm_attention_params),
    .heads = WEFT_FIELD(weft_fmm_attention_params, heads),
    .causal = WEFT_FIELD(weft_fmm_attention_params, causal),
    .lengths = WEFT_FIELD(weft_fmm_attention_params, lengths),
    .half_width = WEFT_FIELD(weft_fmm_attention_params, half_width),
    .lengths_of = "banded_attention",
    .grows_linearly = true,
    .call = call_fmm_attention,
    .mix = mix_fmm_attention,
    WEFT_SHEET_USES(uses),
    .sizes = {.batch = 2, .n = 5, .heads = 1, .width = 4},
    WEFT_SHEET_TRIALS(trials),
};
