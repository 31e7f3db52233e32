/* SPDX-License-Identifier: MIT */
#include "mixers/qkv.h"

#include <math.h>

#include "core/try.h"

static bool fits(const weft_shape *q, const weft_shape *k, const weft_shape *v, bool causal) {
    return q->rank == 3 && k->rank == 3 && v->rank == 3 && q->dim[0] == k->dim[0] &&
           q->dim[2] == k->dim[2] && k->dim[0] == v->dim[0] && k->dim[1] == v->dim[1] &&
           (!causal || q->dim[1] == k->dim[1]);
}

weft_status weft_check_qkv(weft_shape shape[3], const weft_graph *graph, const char *op,
                           const weft_tensor tensor[3], bool causal) {
    static const char *const names[] = {"q", "k", "v"};
    for (uint32_t i = 0; i < 3; i++) {
        weft_dtype dtype;
        WEFT_TRY(weft_graph_get_tensor(graph, tensor[i], &shape[i], &dtype));
        if (dtype != WEFT_F32) {
            return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH, "%s: %s must be f32, not %s", op,
                             names[i], weft_dtype_name(dtype));
        }
    }
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
