/* SPDX-License-Identifier: MIT */
#include "verify/paired.h"

/* A call's queries, keys and values, and its heads. */
struct call {
    weft_array q, k, v;
    uint32_t heads;
    bool causal;
    const void *params;
    const double *given; /* beta, w, bias: what the mixer reads besides */
    uint32_t count;      /* of w; bias: its reach, or its rank */
    const weft_reference_map *maps;
};

/* A sequence of a call: what a definition takes, and where its rows go. */
struct sequence {
    weft_reference *ref;
    double *out;
    weft_rows rows;
    weft_reference_attention a;
    const struct call *call;
    uint32_t batch; /* which it is */
};

typedef void (*definition)(const struct sequence *s);

static const double *part_of(weft_array x, uint64_t batch) {
    return x.value ? x.value + batch * x.shape.dim[1] * x.shape.dim[2] : NULL;
}

static weft_reference_attention attention_of(const struct call *call, uint32_t batch) {
    const uint32_t heads = call->heads != 0 ? call->heads : 1;
    return (weft_reference_attention){.q = part_of(call->q, batch),
                                      .k = part_of(call->k, batch),
                                      .v = part_of(call->v, batch),
                                      .n = call->q.shape.dim[1],
                                      .m = call->k.shape.dim[1],
                                      .heads = heads,
                                      .width = call->q.shape.dim[2] / heads,
                                      .values = call->v.shape.dim[2] / heads,
                                      .causal = call->causal};
}

/* What the definition makes of each sequence. */
static weft_array attend(weft_case *c, weft_status status, weft_tensor tensor, definition define,
                         const struct call *call) {
    const uint32_t n = call->q.shape.dim[1];
    const uint32_t channels = call->v.shape.dim[2];
    double *out;
    weft_array y = weft_case_made(c, status, tensor,
                                  weft_shape_of(call->q.shape.dim[0], n, channels), true, &out);
    const weft_rows rows = c->rows.count > 0 ? c->rows : weft_reference_all(&c->ref, n);
    for (uint32_t b = 0; out && b < call->q.shape.dim[0]; b++) {
        const struct sequence sequence = {.ref = &c->ref,
                                          .out = out + (uint64_t)b * rows.count * channels,
                                          .rows = rows,
                                          .a = attention_of(call, b),
                                          .call = call,
                                          .batch = b};
        define(&sequence);
    }
    return y;
}

/* ---- softmax ---- */

static void define_attention(const struct sequence *s) {
    const weft_attention_params *p = s->call->params;
    const uint32_t rank = s->call->count; /* of the bias */
    weft_reference_attention a = s->a;
    const uint64_t size = (uint64_t)a.heads * a.n * a.m;
    a.bias = s->call->given && rank == 4 ? s->call->given + s->batch * size : s->call->given;
    a.each_head = rank > 2;
    weft_reference_softmax_attention(s->ref, s->out, s->rows, &a, UINT32_MAX, (double)p->scale);
}

weft_array weft_case_attention(weft_case *c, weft_array q, weft_array k, weft_array v,
                               const weft_attention_params *params) {
    weft_tensor y = {0};
    const weft_status status =
        WEFT_CASE_ADD(c, weft_graph_attention(&y, c->graph, q.tensor, k.tensor, v.tensor, params));
    const weft_array bias = weft_case_find(c, params->bias);
    return attend(c, status, y, define_attention,
                  &(struct call){q, k, v, params->heads, .params = params, .given = bias.value,
                                 .count = bias.shape.rank});
}

static void define_band(const struct sequence *s) {
    const weft_banded_attention_params *p = s->call->params;
    weft_reference_softmax_attention(s->ref, s->out, s->rows, &s->a, p->half_width,
                                     (double)p->scale);
}

weft_array weft_case_banded_attention(weft_case *c, weft_array q, weft_array k, weft_array v,
                                      const weft_banded_attention_params *params) {
    weft_tensor y = {0};
    const weft_status status = WEFT_CASE_ADD(
        c, weft_graph_banded_attention(&y, c->graph, q.tensor, k.tensor, v.tensor, params));
    return attend(c, status, y, define_band,
                  &(struct call){q, k, v, params->heads, params->causal, .params = params});
}

/* ---- far fields ---- */

static void define_kernels(const struct sequence *s) {
    const weft_kernel_attention_params *p = s->call->params;
    weft_reference_kernel_attention(s->ref, s->out, s->rows, &s->a, p->kernels, p->kernel_count,
                                    (double)p->epsilon, s->call->maps);
}

weft_array weft_case_kernel_attention(weft_case *c, weft_array q, weft_array k, weft_array v,
                                      const weft_kernel_attention_params *params,
                                      const weft_reference_map *maps) {
    weft_tensor y = {0};
    const weft_status status = WEFT_CASE_ADD(
        c, weft_graph_kernel_attention(&y, c->graph, q.tensor, k.tensor, v.tensor, params));
    return attend(c, status, y, define_kernels,
                  &(struct call){q, k, v, params->heads, params->causal, params, .maps = maps});
}

static void define_fast_weight(const struct sequence *s) {
    weft_reference_fast_weight(s->ref, s->out, s->rows, &s->a,
                               s->call->given + (uint64_t)s->batch * s->a.n * s->a.heads);
}

weft_array weft_case_fast_weight(weft_case *c, weft_array q, weft_array k, weft_array v,
                                 weft_array beta, const weft_fast_weight_params *params) {
    weft_tensor y = {0};
    const weft_status status = WEFT_CASE_ADD(
        c, weft_graph_fast_weight(&y, c->graph, q.tensor, k.tensor, v.tensor, beta.tensor, params));
    return attend(c, status, y, define_fast_weight,
                  &(struct call){q, k, v, params->heads, true, params, .given = beta.value});
}

/* FMMformer: Nguyen et al., 2021, (11): the fields, each times the weight of its channel. */
weft_array weft_case_fmm_attention(weft_case *c, weft_array q, weft_array k, weft_array v,
                                   const weft_fmm_attention_params *p) {
    const bool only_values = c->only_values;
    const double *weights[2] = {weft_case_find(c, p->near_weight).value,
                                weft_case_find(c, p->far_weight).value};
    weft_tensor tensor = {0};
    double *out;
    const weft_status status = WEFT_CASE_ADD(
        c, weft_graph_fmm_attention(&tensor, c->graph, q.tensor, k.tensor, v.tensor, p));
    c->only_values = true;
    const weft_array near = weft_case_banded_attention(
        c, q, k, v,
        &(weft_banded_attention_params){
            .heads = p->heads, .half_width = p->half_width, .causal = p->causal});
    const weft_array far =
        p->beta.id != 0 ? weft_case_fast_weight(c, q, k, v, weft_case_find(c, p->beta),
                                                &(weft_fast_weight_params){.heads = p->heads})
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

static void define_cosformer(const struct sequence *s) {
    const weft_cosformer_params *p = s->call->params;
    weft_reference_cosformer(s->ref, s->out, s->rows, &s->a, p->length, (double)p->epsilon);
}

weft_array weft_case_cosformer(weft_case *c, weft_array q, weft_array k, weft_array v,
                               const weft_cosformer_params *params) {
    weft_tensor y = {0};
    const weft_status status =
        WEFT_CASE_ADD(c, weft_graph_cosformer(&y, c->graph, q.tensor, k.tensor, v.tensor, params));
    return attend(c, status, y, define_cosformer,
                  &(struct call){q, k, v, params->heads, params->causal, .params = params});
}

/* ---- random features ---- */

static void define_performer(const struct sequence *s) {
    const weft_performer_attention_params *p = s->call->params;
    const float usual = p->unstabilized ? 0.0F : 1e-6F;
    weft_reference_performer(s->ref, s->out, s->rows, &s->a,
                             &(weft_reference_performer_params){
                                 .w = s->call->given,
                                 .count = s->call->count,
                                 .unstabilized = p->unstabilized,
                                 .epsilon = (double)(p->epsilon > 0.0F ? p->epsilon : usual)});
}

weft_array weft_case_performer_attention(weft_case *c, weft_array q, weft_array k, weft_array v,
                                         weft_array w,
                                         const weft_performer_attention_params *params) {
    weft_tensor y = {0};
    const weft_status status =
        WEFT_CASE_ADD(c, weft_graph_performer_attention(&y, c->graph, q.tensor, k.tensor, v.tensor,
                                                        w.tensor, params));
    return attend(c, status, y, define_performer,
                  &(struct call){q, k, v, params->heads, params->causal, params, .given = w.value,
                                 .count = w.shape.dim[0]});
}

static void define_rfa(const struct sequence *s) {
    const weft_rfa_attention_params *p = s->call->params;
    weft_reference_rfa(s->ref, s->out, s->rows, &s->a, s->call->given, s->call->count,
                       (double)p->epsilon);
}

weft_array weft_case_rfa_attention(weft_case *c, weft_array q, weft_array k, weft_array v,
                                   weft_array w, const weft_rfa_attention_params *params) {
    weft_tensor y = {0};
    const weft_status status = WEFT_CASE_ADD(
        c, weft_graph_rfa_attention(&y, c->graph, q.tensor, k.tensor, v.tensor, w.tensor, params));
    return attend(c, status, y, define_rfa,
                  &(struct call){q, k, v, params->heads, params->causal, params, .given = w.value,
                                 .count = w.shape.dim[0]});
}

/* ---- given features ---- */

static weft_reference_features map_of(const struct sequence *s, weft_array features,
                                      const double *x) {
    return features.features ? features.features[s->batch]
                             : weft_reference_elementwise(s->ref, x, s->a.heads, s->a.width, NULL);
}

static void define_linear(const struct sequence *s) {
    const weft_linear_attention_params *p = s->call->params;
    const weft_reference_features phi = map_of(s, s->call->q, s->a.q);
    const weft_reference_features psi = map_of(s, s->call->k, s->a.k);
    const weft_reference_weighing own = weft_reference_weighing_of(&s->a, (double)p->epsilon);
    weft_reference_weigh(s->ref, s->out, s->rows, &phi, &psi, &own);
}

weft_array weft_case_linear_attention(weft_case *c, weft_array q_features, weft_array k_features,
                                      weft_array v, const weft_linear_attention_params *params) {
    weft_tensor y = {0};
    const weft_status status =
        WEFT_CASE_ADD(c, weft_graph_linear_attention(&y, c->graph, q_features.tensor,
                                                     k_features.tensor, v.tensor, params));
    return attend(
        c, status, y, define_linear,
        &(struct call){q_features, k_features, v, params->heads, params->causal, .params = params});
}

static void define_relative(const struct sequence *s) {
    const weft_toeplitz_attention_params *p = s->call->params;
    const weft_reference_features phi = map_of(s, s->call->q, s->a.q);
    const weft_reference_features psi = map_of(s, s->call->k, s->a.k);
    const weft_reference_weighing own = weft_reference_weighing_of(&s->a, (double)p->epsilon);
    weft_reference_toeplitz_attention(s->ref, s->out, s->rows, &phi, &psi, &own, s->call->given,
                                      s->call->count);
}

weft_array weft_case_toeplitz_attention(weft_case *c, weft_array q_features, weft_array k_features,
                                        weft_array v, weft_array bias,
                                        const weft_toeplitz_attention_params *params) {
    const uint32_t lags = bias.shape.dim[0];
    weft_tensor y = {0};
    const weft_status status = WEFT_CASE_ADD(
        c, weft_graph_toeplitz_attention(&y, c->graph, q_features.tensor, k_features.tensor,
                                         v.tensor, bias.tensor, params));
    return attend(c, status, y, define_relative,
                  &(struct call){q_features, k_features, v, params->heads, params->causal, params,
                                 .given = bias.value,
                                 .count = params->causal ? lags : (lags + 1) / 2});
}
