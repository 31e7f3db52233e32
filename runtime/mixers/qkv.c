/* SPDX-License-Identifier: MIT */
#include "mixers/qkv.h"

#include <math.h>
#include <stdio.h>

#include "core/try.h"

static bool fits(const weft_shape *q, const weft_shape *k, const weft_shape *v, bool causal) {
    return q->rank == 3 && k->rank == 3 && v->rank == 3 && q->dim[0] == k->dim[0] &&
           q->dim[2] == k->dim[2] && k->dim[0] == v->dim[0] && k->dim[1] == v->dim[1] &&
           (!causal || q->dim[1] == k->dim[1]);
}

static weft_status read_shapes(weft_shape shape[3], const weft_graph *graph, const char *op,
                               const weft_tensor tensor[3]) {
    static const char *const names[] = {"q", "k", "v"};
    for (uint32_t i = 0; i < 3; i++) {
        weft_dtype dtype;
        WEFT_TRY(weft_graph_get_tensor(graph, tensor[i], &shape[i], &dtype));
        if (dtype != WEFT_F32) {
            return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH, "%s: %s must be f32, not %s", op,
                             names[i], weft_dtype_name(dtype));
        }
    }
    return WEFT_OK;
}

weft_status weft_check_qkv(weft_shape shape[3], const weft_graph *graph, const char *op,
                           const weft_tensor tensor[3], bool causal) {
    WEFT_TRY(read_shapes(shape, graph, op, tensor));
    if (!fits(&shape[0], &shape[1], &shape[2], causal)) {
        char text[3][WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         "%s: q %s, k %s and v %s must be [B, n, d], [B, m, d] and [B, m, d_v]%s",
                         op, weft_shape_text(shape[0], text[0]), weft_shape_text(shape[1], text[1]),
                         weft_shape_text(shape[2], text[2]), causal ? " with m = n" : "");
    }
    return WEFT_OK;
}

weft_status weft_check_heads(const weft_graph *graph, const char *op, uint32_t heads,
                             const weft_shape shape[3]) {
    const uint32_t width = shape[0].dim[2];
    const uint32_t values = shape[2].dim[2];
    if (heads == 0 || width % heads != 0 || values % heads != 0) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "%s: %u heads do not divide %u and %u channels", op, heads, width, values);
    }
    return WEFT_OK;
}

static weft_status check_kv_heads(const weft_graph *graph, const char *op, uint32_t heads,
                                  uint32_t kv_heads) {
    return heads % kv_heads == 0
               ? WEFT_OK
               : weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                           "%s: kv_heads %u must be in 1 … %u and divide the %u heads", op,
                           kv_heads, heads, heads);
}

static bool keys_fit(const weft_shape shape[3], uint32_t heads, uint32_t kv_heads,
                     bool same_length) {
    const weft_shape *q = &shape[0];
    const weft_shape *k = &shape[1];
    return q->rank == 3 && k->rank == 3 && weft_shape_equal(*k, shape[2]) &&
           q->dim[0] == k->dim[0] && (!same_length || q->dim[1] == k->dim[1]) &&
           (uint64_t)q->dim[2] * kv_heads == (uint64_t)k->dim[2] * heads;
}

weft_status weft_check_grouped(weft_shape shape[3], const weft_graph *graph, const char *op,
                               const weft_tensor tensor[3], uint32_t heads, uint32_t kv_heads,
                               bool same_length) {
    kv_heads = weft_kv_heads(kv_heads, heads);
    WEFT_TRY(check_kv_heads(graph, op, heads, kv_heads));
    WEFT_TRY(read_shapes(shape, graph, op, tensor));
    if (!keys_fit(shape, heads, kv_heads, same_length)) {
        char text[3][WEFT_SHAPE_TEXT_SIZE];
        char groups[64] = "";
        if (kv_heads != heads) {
            snprintf(groups, sizeof groups, ", k and v with %u heads for the %u of q", kv_heads,
                     heads);
        }
        return weft_fail(
            &graph->host, WEFT_SHAPE_MISMATCH, "%s: q %s, k %s and v %s must be %s%s", op,
            weft_shape_text(shape[0], text[0]), weft_shape_text(shape[1], text[1]),
            weft_shape_text(shape[2], text[2]),
            same_length ? "[B, n, d], all of them" : "[B, n, d], [B, m, d] and [B, m, d]", groups);
    }
    return WEFT_OK;
}

weft_status weft_check_epsilon(const weft_graph *graph, const char *op, float epsilon) {
    if (!(epsilon >= 0.0F) || isinf(epsilon)) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "%s: epsilon %g must be at least 0 and finite", op, (double)epsilon);
    }
    return WEFT_OK;
}

weft_status weft_infer_qkv(weft_dtype *dtype, weft_shape *shape, const weft_graph *graph,
                           const struct weft_node *node, uint32_t heads, bool causal) {
    const weft_tensor tensor[] = {{node->input[0]}, {node->input[1]}, {node->input[2]}};
    weft_shape qkv[3];
    WEFT_TRY(weft_check_qkv(qkv, graph, node->op->name, tensor, causal));
    WEFT_TRY(weft_check_heads(graph, node->op->name, heads, qkv));
    *dtype = WEFT_F32;
    *shape = weft_shape_of(qkv[0].dim[0], qkv[0].dim[1], qkv[2].dim[2]);
    return WEFT_OK;
}
