/* SPDX-License-Identifier: MIT */
/* Weight matrices of random features that a model has learned: mixtures of Gaussians and generators, as plain ops. */
#include <weft/mixers.h>

#include "core/given.h"
#include "core/host.h"
#include "core/shape.h"
#include "core/try.h"
#include "graph/graph.h"
#include "ops/binary.h"

/* ---- mixtures ---- */

struct mixture {
    weft_tensor noise, sigma, mu;
    uint32_t rows, columns, components;
    bool diagonal;
};

static weft_status check_f32(const weft_graph *graph, const struct mixture *m,
                             weft_shape shape[3]) {
    static const char *const names[] = {"noise", "sigma", "mu"};
    const weft_tensor tensors[] = {m->noise, m->sigma, m->mu};
    for (int i = 0; i < 3; i++) {
        weft_dtype dtype;
        WEFT_TRY(weft_graph_get_tensor(graph, tensors[i], &shape[i], &dtype));
        if (dtype != WEFT_F32) {
            return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                             "gmm_weights: %s must be f32, not %s", names[i],
                             weft_dtype_name(dtype));
        }
    }
    return WEFT_OK;
}

static weft_status check_mixture(const weft_graph *graph, struct mixture *m) {
    weft_shape shape[3] = {{0}};
    WEFT_TRY(check_f32(graph, m, shape));
    const uint32_t d = shape[0].rank == 2 ? shape[0].dim[1] : 0;
    const uint32_t c = shape[2].dim[0];
    m->diagonal = shape[1].rank == 2;
    const weft_shape sigma = m->diagonal ? weft_shape_of(c, d) : weft_shape_of(c, d, d);
    if (d == 0 || shape[2].rank != 2 || shape[2].dim[1] != d ||
        !weft_shape_equal(shape[1], sigma)) {
        char text[3][WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         "gmm_weights: noise %s, sigma %s and mu %s must be [s, d], [C, d] or "
                         "[C, d, d], and [C, d]",
                         weft_shape_text(shape[0], text[0]), weft_shape_text(shape[1], text[1]),
                         weft_shape_text(shape[2], text[2]));
    }
    m->rows = shape[0].dim[0];
    m->columns = d;
    m->components = c;
    if (m->rows % c != 0) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "gmm_weights: %u components do not divide %u rows of noise", c, m->rows);
    }
    return WEFT_OK;
}

/** Ones [rows, 1]. */
static weft_status add_ones(weft_tensor *out, weft_graph *graph, uint32_t rows) {
    float *data = weft_alloc_zero(&graph->host, rows, sizeof *data);
    if (!data) {
        return weft_fail_memory(&graph->host, "ones");
    }
    for (uint32_t i = 0; i < rows; i++) {
        data[i] = 1.0F;
    }
    const weft_status status =
        weft_graph_constant(out, graph, "ones", WEFT_F32, weft_shape_of(rows, 1), data);
    weft_free(&graph->host, data);
    return status;
}

/** x [C, d] once for each row of a component, [C, s/C, d]: a product with ones, which is exact. */
static weft_status add_repeated(weft_tensor *out, weft_graph *graph, const struct mixture *m,
                                weft_tensor ones, weft_tensor x) {
    const weft_shape rows = weft_shape_of(m->components, 1, m->columns);
    WEFT_TRY(weft_graph_reshape(out, graph, x, rows));
    return weft_graph_matmul(out, graph, ones, *out, NULL);
}

static weft_status add_mixture(weft_tensor *out, weft_graph *graph, const struct mixture *m) {
    const uint32_t each = m->rows / m->components;
    weft_tensor ones = {0};
    weft_tensor w;
    weft_tensor other = {0};
    WEFT_TRY(add_ones(&ones, graph, each));
    WEFT_TRY(
        weft_graph_reshape(&w, graph, m->noise, weft_shape_of(m->components, each, m->columns)));
    if (m->diagonal) {
        WEFT_TRY(add_repeated(&other, graph, m, ones, m->sigma));
        WEFT_TRY(weft_graph_binary_of_shape(&w, graph, WEFT_BINARY_MULTIPLY, w, other));
    } else {
        WEFT_TRY(
            weft_graph_matmul(&w, graph, w, m->sigma, weft_matmul_params(.transpose_b = true)));
    }
    WEFT_TRY(add_repeated(&other, graph, m, ones, m->mu));
    WEFT_TRY(weft_graph_binary_of_shape(&w, graph, WEFT_BINARY_ADD, w, other));
    return weft_graph_reshape(out, graph, w, weft_shape_of(m->rows, m->columns));
}

weft_status weft_graph_gmm_weights(weft_tensor *out, weft_graph *graph, weft_tensor noise,
                                   weft_tensor sigma, weft_tensor mu) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    struct mixture m = {.noise = noise, .sigma = sigma, .mu = mu};
    WEFT_TRY(check_mixture(graph, &m));
    const struct weft_graph_mark mark = weft_graph_mark(graph);
    return weft_graph_end(graph, mark, add_mixture(out, graph, &m));
}

/* ---- generators ---- */

static weft_status add_generator(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                 const weft_dgm_weights_params *params) {
    for (uint32_t i = 0; i < params->layers; i++) {
        WEFT_TRY(weft_graph_linear(&x, graph, x, params->weight[i], params->bias[i]));
        if (i + 1 < params->layers && params->activation != WEFT_ACTIVATION_NONE) {
            WEFT_TRY(weft_graph_activate(&x, graph, x, params->activation));
        }
    }
    *out = x;
    return WEFT_OK;
}

weft_status weft_graph_dgm_weights(weft_tensor *out, weft_graph *graph, weft_tensor noise,
                                   const weft_dgm_weights_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph, params);
    if (params->layers < 1 || params->layers > WEFT_DGM_MAX_LAYERS) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "dgm_weights: layers %u must be in 1 … %u", params->layers,
                         WEFT_DGM_MAX_LAYERS);
    }
    if ((uint32_t)params->activation >= WEFT_ACTIVATION_COUNT) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "dgm_weights: activation %u must be in 0 … %u",
                         (uint32_t)params->activation, WEFT_ACTIVATION_COUNT - 1);
    }
    const struct weft_graph_mark mark = weft_graph_mark(graph);
    return weft_graph_end(graph, mark, add_generator(out, graph, noise, params));
}
