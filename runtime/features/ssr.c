/* SPDX-License-Identifier: MIT */
/* Spherical-radial quadrature of degree 3: Munkhoeva et al., "Quadrature-based features for kernel approximation", 2018. */
#include <math.h>

#include "features/family.h"
#include "features/orthogonal.h"

static uint32_t rows_per_rule(uint32_t d) {
    return 2 * (d + 1);
}

static weft_status check(weft_features_params *params, const weft_host *host) {
    const uint32_t step = rows_per_rule(params->columns);
    return params->rows > 1 && (params->rows - 1) % step == 0
               ? WEFT_OK
               : weft_features_refuse(host, params, "rows", params->rows,
                                      "1 + %u t for a whole t ≥ 1 (1 + 2 (columns + 1) t)", step);
}

/*
 * Vertex k of d + 1 of the regular simplex around 0 with vertices of length 1. Coordinate j is 0 for the vertices before
 * j; vertex j has what is left of its length, and the others share the opposite so that the sum is 0.
 */
static void simplex_vertex(double *out, uint32_t k, uint32_t d) {
    for (uint32_t j = 0; j < d; j++) {
        const double left = (double)(d - j);
        const double length = sqrt(((double)d + 1.0) / (double)d * left / (left + 1.0));
        out[j] = 0.0;
        if (k == j) {
            out[j] = length;
        } else if (k > j) {
            out[j] = -length / left;
        }
    }
}

/* Row `sign` · ρ Q v_k: Q's rows are the images of the axes. */
static void rotate(double *out, const double *vertex, const double *axes, uint32_t d) {
    for (uint32_t j = 0; j < d; j++) {
        out[j] = 0.0;
    }
    for (uint32_t axis = 0; axis < d; axis++) {
        for (uint32_t j = 0; j < d; j++) {
            out[j] += vertex[axis] * axes[(size_t)axis * d + j];
        }
    }
}

/* Rule `rule`: its rows, and its part of the weights. Returns what it adds to the centre's. */
static double fill_rule(float *w, float *weights, uint32_t rule, double *scratch,
                        const weft_features_params *params) {
    const uint32_t d = params->columns;
    const uint32_t rule_count = (params->rows - 1) / rows_per_rule(d);
    const double rules = (double)rule_count;
    const double *axes = scratch;
    double *vertex = scratch + (size_t)d * d;
    double *row = vertex + d;
    const double radius =
        weft_sample_chi(weft_features_stream(params, WEFT_DRAW_NORM), rule, d + 2);
    const double weight = (double)d / (2.0 * ((double)d + 1.0) * radius * radius) / rules;
    for (uint32_t k = 0; k <= d; k++) {
        simplex_vertex(vertex, k, d);
        rotate(row, vertex, axes, d);
        const size_t plus = 2 * (size_t)k;
        weft_features_store(w + plus * d, row, radius, d);
        weft_features_store(w + (plus + 1) * d, row, -radius, d);
        weights[plus] = (float)weight;
        weights[plus + 1] = (float)weight;
    }
    return (1.0 - (double)d / (radius * radius)) / rules;
}

static weft_status fill(struct weft_features_target out, const weft_features_params *params,
                        const weft_host *host) {
    const uint32_t d = params->columns;
    const uint32_t step = rows_per_rule(d);
    double *scratch = weft_alloc_zero(host, (size_t)d + 2, d * sizeof *scratch);
    if (!scratch) {
        return weft_fail_memory(host, "a quadrature rule");
    }
    weft_status status = WEFT_OK;
    double centre = 0.0;
    for (uint32_t first = 1, rule = 0; status == WEFT_OK && first < params->rows;
         first += step, rule++) {
        status = weft_haar_rows(scratch, d, d, weft_features_stream(params, WEFT_DRAW_ROTATION),
                                (uint64_t)rule * d, host);
        if (status == WEFT_OK) {
            centre +=
                fill_rule(out.w + (size_t)first * d, out.weights + first, rule, scratch, params);
        }
    }
    for (uint32_t j = 0; j < d; j++) {
        out.w[j] = 0.0F;
    }
    out.weights[0] = (float)centre;
    weft_free(host, scratch);
    return status;
}

const struct weft_features_family weft_features_ssr = {
    .name = "ssr", .weighted = true, .check = check, .fill = fill};
