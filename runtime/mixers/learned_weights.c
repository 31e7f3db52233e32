/* SPDX-License-Identifier: MIT */
/* Weight matrices of random features that a model has learned: mixtures of Gaussians and generators, as plain ops. */
#include <weft/mixers.h>

#include "core/host.h"
#include "core/shape.h"
#include "graph/graph.h"

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
        weft_status status = weft_graph_get_tensor(graph, tensors[i], &shape[i], &dtype);
        if (status != WEFT_OK) {
            return status;
        }
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
    weft_status status = check_f32(graph, m, shape);
    if (status != WEFT_OK) {
        return status;
    }
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
    weft_weight *weight = NULL;
    float *data = weft_alloc_zero(&graph->host, rows, sizeof *data);
    if (data == NULL) {
        return weft_fail_memory(&graph->host, "ones");
    }
    for (uint32_t i = 0; i < rows; i++) {
        data[i] = 1.0F;
    }
    weft_status status =
        weft_weight_create(&weight,
                           weft_weight_params(.name = "ones", .dtype = WEFT_F32,
                                              .shape = weft_shape_of(rows, 1), .data = data),
                           &graph->host);
    weft_free(&graph->host, data);
    if (status == WEFT_OK) {
        status = weft_graph_weight(out, graph, weight);
    }
    weft_weight_destroy(&weight);
    return status;
}

/** x [C, d] once for each row of a component, [C, s/C, d]: a product with ones, which is exact. */
static weft_status add_repeated(weft_tensor *out, weft_graph *graph, const struct mixture *m,
                                weft_tensor ones, weft_tensor x) {
    const weft_shape rows = weft_shape_of(m->components, 1, m->columns);
    weft_status status = weft_graph_reshape(out, graph, x, rows);
    return status == WEFT_OK ? weft_graph_matmul(out, graph, ones, *out, NULL) : status;
}

static weft_status add_mixture(weft_tensor *out, weft_graph *graph, const struct mixture *m,
                               weft_tensor ones) {
    const uint32_t each = m->rows / m->components;
    weft_tensor w;
    weft_tensor other = {0};
    weft_status status =
        weft_graph_reshape(&w, graph, m->noise, weft_shape_of(m->components, each, m->columns));
    if (status == WEFT_OK && m->diagonal) {
        status = add_repeated(&other, graph, m, ones, m->sigma);
        if (status == WEFT_OK) {
            status = weft_graph_binary(&w, graph, WEFT_BINARY_MULTIPLY, w, other);
        }
    } else if (status == WEFT_OK) {
        status = weft_graph_matmul(&w, graph, w, m->sigma, weft_matmul_params(.transpose_b = true));
    }
    if (status == WEFT_OK) {
        status = add_repeated(&other, graph, m, ones, m->mu);
    }
    if (status == WEFT_OK) {
        status = weft_graph_binary(&w, graph, WEFT_BINARY_ADD, w, other);
    }
    return status == WEFT_OK ? weft_graph_reshape(out, graph, w, weft_shape_of(m->rows, m->columns))
                             : status;
}

weft_status weft_graph_gmm_weights(weft_tensor *out, weft_graph *graph, weft_tensor noise,
                                   weft_tensor sigma, weft_tensor mu) {
    if (!out || !graph) {
        return weft_graph_missing(graph, "weft_graph_gmm_weights");
    }
    struct mixture m = {.noise = noise, .sigma = sigma, .mu = mu};
    weft_tensor ones = {0};
    weft_status status = check_mixture(graph, &m);
    if (status == WEFT_OK) {
        status = add_ones(&ones, graph, m.rows / m.components);
    }
    if (status != WEFT_OK) {
        return status;
    }
    const struct weft_graph_mark mark = weft_graph_mark(graph);
    return weft_graph_end(graph, mark, add_mixture(out, graph, &m, ones));
}

/* ---- generators ---- */

weft_status weft_graph_dgm_weights(weft_tensor *out, weft_graph *graph, weft_tensor noise,
                                   const weft_dgm_weights_params *params) {
    if (!out || !graph || !params) {
        return weft_graph_missing(graph, "weft_graph_dgm_weights");
    }
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
    weft_tensor x = noise;
    weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < params->layers && status == WEFT_OK; i++) {
        status = weft_graph_linear(&x, graph, x, params->weight[i], params->bias[i]);
        if (status == WEFT_OK && i + 1 < params->layers &&
            params->activation != WEFT_ACTIVATION_NONE) {
            status = weft_graph_activate(&x, graph, x, params->activation);
        }
    }
    if (status == WEFT_OK) {
        *out = x;
    }
    return weft_graph_end(graph, mark, status);
}
