/* SPDX-License-Identifier: MIT */
#include "verify/paired.h"

static const double *part_of(weft_array x, uint64_t batch) {
    return x.value ? x.value + batch * x.shape.dim[1] * x.shape.dim[2] : NULL;
}

static uint32_t heads_of(const weft_call *call) {
    return call->heads != 0 ? call->heads : 1;
}

static uint32_t kv_heads_of(const weft_call *call) {
    return call->kv_heads != 0 ? call->kv_heads : heads_of(call);
}

static weft_reference_attention attention_of(const weft_call *call, uint32_t batch) {
    const uint32_t heads = heads_of(call);
    return (weft_reference_attention){.q = part_of(call->q, batch),
                                      .k = part_of(call->k, batch),
                                      .v = part_of(call->v, batch),
                                      .n = call->q.shape.dim[1],
                                      .m = call->k.shape.dim[1],
                                      .heads = heads,
                                      .kv_heads = kv_heads_of(call),
                                      .width = call->q.shape.dim[2] / heads,
                                      .values = call->v.shape.dim[2] / kv_heads_of(call),
                                      .causal = call->causal};
}

weft_array weft_case_attend(weft_case *c, weft_status status, weft_tensor tensor,
                            weft_definition define, const weft_call *call) {
    const uint32_t n = call->q.shape.dim[1];
    const uint32_t channels = call->v.shape.dim[2] / kv_heads_of(call) * heads_of(call);
    double *out;
    weft_array y = weft_case_made(c, status, tensor,
                                  weft_shape_of(call->q.shape.dim[0], n, channels), true, &out);
    const weft_rows rows = c->rows.count > 0 ? c->rows : weft_reference_all(&c->ref, n);
    for (uint32_t b = 0; out && b < call->q.shape.dim[0]; b++) {
        const weft_sequence sequence = {.ref = &c->ref,
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

static void define_attention(const weft_sequence *s) {
    const weft_attention_params *p = s->call->params;
    const uint32_t rank = s->call->count; /* of the bias */
    weft_reference_attention a = s->a;
    const uint64_t size = (uint64_t)a.heads * a.n * a.m;
    a.bias = s->call->given && rank == 4 ? s->call->given + s->batch * size : s->call->given;
    a.each_head = rank > 2;
    a.sinks = s->call->sinks;
    weft_reference_softmax_attention(s->ref, s->out, s->rows, &a, UINT32_MAX, (double)p->scale);
}

weft_array weft_case_attention(weft_case *c, weft_array q, weft_array k, weft_array v,
                               const weft_attention_params *params) {
    weft_tensor y = {0};
    const weft_status status =
        WEFT_CASE_ADD(c, weft_graph_attention(&y, c->graph, q.tensor, k.tensor, v.tensor, params));
    const weft_array bias = weft_case_find(c, params->bias);
    return weft_case_attend(c, status, y, define_attention,
                            &(weft_call){q, k, v, params->heads, params->causal, params,
                                         .given = bias.value, .count = bias.shape.rank,
                                         .sinks = weft_case_find(c, params->sinks).value,
                                         .kv_heads = params->kv_heads});
}

/* ---- far fields ---- */

static void define_kernels(const weft_sequence *s) {
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
    return weft_case_attend(
        c, status, y, define_kernels,
        &(weft_call){q, k, v, params->heads, params->causal, params, .maps = maps});
}

/* ---- given features ---- */

weft_reference_features weft_features_of(const weft_sequence *s, weft_array features,
                                         const double *x) {
    return features.features ? features.features[s->batch]
                             : weft_reference_elementwise(s->ref, x, s->a.heads, s->a.width, NULL);
}

static void define_linear(const weft_sequence *s) {
    const weft_linear_attention_params *p = s->call->params;
    const weft_reference_features phi = weft_features_of(s, s->call->q, s->a.q);
    const weft_reference_features psi = weft_features_of(s, s->call->k, s->a.k);
    const weft_reference_weighing own = weft_reference_weighing_of(&s->a, (double)p->epsilon);
    weft_reference_weigh(s->ref, s->out, s->rows, &phi, &psi, &own);
}

weft_array weft_case_linear_attention(weft_case *c, weft_array q_features, weft_array k_features,
                                      weft_array v, const weft_linear_attention_params *params) {
    weft_tensor y = {0};
    const weft_status status =
        WEFT_CASE_ADD(c, weft_graph_linear_attention(&y, c->graph, q_features.tensor,
                                                     k_features.tensor, v.tensor, params));
    return weft_case_attend(
        c, status, y, define_linear,
        &(weft_call){q_features, k_features, v, params->heads, params->causal, .params = params});
}
