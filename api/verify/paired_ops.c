/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "verify/paired.h"

static weft_shape with_last(weft_shape shape, uint32_t columns) {
    shape.dim[shape.rank - 1] = columns;
    return shape;
}

/* ---- by rows: all of them are one sequence ---- */

static weft_rows rows_of(weft_case *c, weft_shape shape) {
    return c->rows.count > 0 ? c->rows : weft_reference_all(&c->ref, weft_case_rows(shape));
}

/* An op of the shape of x, whose elements `out` has to begin with, and that takes `cost` operations for each. */
static weft_array copied(weft_case *c, weft_status status, weft_tensor tensor, weft_array x,
                         double cost, double **out, weft_rows *rows) {
    const uint32_t columns = weft_case_columns(x.shape);
    weft_array y = weft_case_made(c, status, tensor, x.shape, true, out);
    *rows = *out ? rows_of(c, x.shape) : (weft_rows){0};
    if (!*out || !weft_reference_spend(&c->ref, cost * rows->count * columns)) {
        *out = NULL;
        return y;
    }
    weft_reference_take(*out, *rows, x.value, columns);
    return y;
}

weft_array weft_case_linear(weft_case *c, weft_array x, weft_array weight, weft_array bias) {
    weft_tensor tensor = {0};
    double *out;
    const weft_status status = WEFT_CASE_ADD(
        c, weft_graph_linear(&tensor, c->graph, x.tensor, weight.tensor, bias.tensor));
    const weft_shape shape = with_last(x.shape, weight.shape.dim[0]);
    weft_array y = weft_case_made(c, status, tensor, shape, true, &out);
    if (out) {
        weft_reference_linear(&c->ref, out, rows_of(c, x.shape), x.value, weight.shape.dim[1],
                              weight.value, weight.shape.dim[0], bias.value);
    }
    return y;
}

weft_array weft_case_activate(weft_case *c, weft_array x, weft_activation activation) {
    weft_tensor tensor = {0};
    weft_rows rows;
    double *out;
    const weft_status status =
        WEFT_CASE_ADD(c, weft_graph_activate(&tensor, c->graph, x.tensor, activation));
    weft_array y = copied(c, status, tensor, x, 10.0, &out, &rows);
    for (uint64_t i = 0; out && i < (uint64_t)rows.count * weft_case_columns(x.shape); i++) {
        out[i] = weft_reference_activation(activation, out[i]);
    }
    return y;
}

weft_array weft_case_softmax(weft_case *c, weft_array x) {
    weft_tensor tensor = {0};
    weft_rows rows;
    double *out;
    const weft_status status = WEFT_CASE_ADD(c, weft_graph_softmax(&tensor, c->graph, x.tensor));
    weft_array y = copied(c, status, tensor, x, 10.0, &out, &rows);
    if (out) {
        weft_reference_softmax(out, out, rows.count, weft_case_columns(x.shape));
    }
    return y;
}

weft_reference_norm weft_case_norm_of(const weft_case *c, const weft_norm_params *params) {
    return (weft_reference_norm){.kind = params->kind,
                                 .gamma = weft_case_find(c, params->gamma).value,
                                 .beta = weft_case_find(c, params->beta).value,
                                 .mean = weft_case_find(c, params->mean).value,
                                 .variance = weft_case_find(c, params->variance).value,
                                 .epsilon = (double)params->epsilon};
}

weft_array weft_case_norm(weft_case *c, weft_array x, const weft_norm_params *params) {
    weft_tensor tensor = {0};
    weft_rows rows;
    double *out;
    const weft_status status =
        WEFT_CASE_ADD(c, weft_graph_norm(&tensor, c->graph, x.tensor, params));
    weft_array y = copied(c, status, tensor, x, 4.0, &out, &rows);
    if (out) {
        const weft_reference_norm norm = weft_case_norm_of(c, params);
        weft_reference_normalize(out, &norm, rows.count, weft_case_columns(x.shape));
    }
    return y;
}

/* ---- in full ---- */

weft_array weft_case_affine(weft_case *c, weft_array x, float scale, float offset) {
    weft_tensor tensor = {0};
    double *out;
    const weft_status status =
        WEFT_CASE_ADD(c, weft_graph_affine(&tensor, c->graph, x.tensor, scale, offset));
    weft_array y = weft_case_made(c, status, tensor, x.shape, false, &out);
    for (uint64_t i = 0; out && i < weft_shape_elements(x.shape); i++) {
        out[i] = (double)scale * x.value[i] + (double)offset;
    }
    return y;
}

weft_array weft_case_matmul(weft_case *c, weft_array a, weft_array b,
                            const weft_matmul_params *params) {
    static const weft_matmul_params none = {0};
    const weft_matmul_params *p = params ? params : &none;
    const weft_shape as = a.shape;
    const weft_shape bs = b.shape;
    weft_shape shape = as.rank >= bs.rank ? as : bs;
    weft_reference_product product = {.m = as.dim[as.rank - (p->transpose_a ? 1 : 2)],
                                      .k = as.dim[as.rank - (p->transpose_a ? 2 : 1)],
                                      .n = bs.dim[bs.rank - (p->transpose_b ? 2 : 1)],
                                      .transpose_a = p->transpose_a,
                                      .transpose_b = p->transpose_b,
                                      .alpha = p->alpha != 0.0F ? (double)p->alpha : 1.0};
    weft_tensor tensor = {0};
    double *out;
    const weft_status status =
        WEFT_CASE_ADD(c, weft_graph_matmul(&tensor, c->graph, a.tensor, b.tensor, params));
    shape.dim[shape.rank - 2] = product.m;
    shape.dim[shape.rank - 1] = product.n;
    weft_array y = weft_case_made(c, status, tensor, shape, false, &out);
    const uint64_t size = (uint64_t)product.m * product.n;
    for (uint64_t batch = 0; out && batch < weft_shape_elements(shape) / size; batch++) {
        const uint64_t of_a = as.rank > 2 ? batch * product.m * product.k : 0;
        const uint64_t of_b = bs.rank > 2 ? batch * product.k * product.n : 0;
        weft_reference_matmul(out + batch * size, a.value + of_a, b.value + of_b, product);
    }
    return y;
}

weft_array weft_case_reshape(weft_case *c, weft_array x, weft_shape shape) {
    weft_tensor tensor = {0};
    const weft_status status =
        WEFT_CASE_ADD(c, weft_graph_reshape(&tensor, c->graph, x.tensor, shape));
    x.shape = shape;
    return weft_case_named(c, status, tensor, x);
}

/* Token `position` of each sequence. */
weft_array weft_case_gather(weft_case *c, weft_array x, uint32_t position) {
    const uint32_t n = x.shape.dim[1];
    const uint32_t d = x.shape.dim[2];
    weft_tensor tensor = {0};
    double *out;
    const weft_status status =
        WEFT_CASE_ADD(c, weft_graph_gather(&tensor, c->graph, x.tensor, position));
    weft_array y = weft_case_made(c, status, tensor, weft_shape_of(x.shape.dim[0], d), false, &out);
    for (uint64_t batch = 0; out && batch < x.shape.dim[0]; batch++) {
        memcpy(out + batch * d, x.value + (batch * n + position) * d, d * sizeof *out);
    }
    return y;
}

weft_array weft_case_mask(weft_case *c, weft_array x, weft_array lengths) {
    const uint64_t count = weft_shape_elements(x.shape);
    const uint64_t size = count / x.shape.dim[0];
    weft_tensor tensor = {0};
    double *out;
    const weft_status status =
        WEFT_CASE_ADD(c, weft_graph_mask(&tensor, c->graph, x.tensor, lengths.tensor));
    weft_array y = weft_case_made(c, status, tensor, x.shape, false, &out);
    for (uint64_t i = 0; out && i < count; i++) {
        const uint64_t position = i % size / (size / x.shape.dim[1]);
        out[i] = (double)position < lengths.value[i / size] ? x.value[i] : 0.0;
    }
    return y;
}

weft_array weft_case_embedding(weft_case *c, const weft_embedding_params *params) {
    const weft_array tokens = weft_case_find(c, params->tokens);
    const weft_array table = weft_case_find(c, params->table);
    const weft_array types = weft_case_find(c, params->type_table);
    const weft_reference_tables tables = {.tokens = tokens.value,
                                          .table = table.value,
                                          .types = weft_case_find(c, params->types).value,
                                          .type_table = types.value,
                                          .positions = weft_case_find(c, params->positions).value,
                                          .batch = tokens.shape.dim[0],
                                          .n = tokens.shape.dim[1],
                                          .d = table.shape.dim[1],
                                          .vocabulary = table.shape.dim[0],
                                          .type_count = types.shape.dim[0]};
    weft_tensor tensor = {0};
    double *out;
    const weft_status status = WEFT_CASE_ADD(c, weft_graph_embedding(&tensor, c->graph, params));
    weft_array y = weft_case_made(c, status, tensor,
                                  weft_shape_of(tables.batch, tables.n, tables.d), false, &out);
    if (out) {
        weft_reference_embedding(out, &tables);
    }
    return y;
}
