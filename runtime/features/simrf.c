/* SPDX-License-Identifier: MIT */
/* Simplex random features, with norms independent of the directions or not: Reid et al., "Simplex random features", 2023. */
#include <math.h>

#include "core/try.h"
#include "features/family.h"
#include "features/orthogonal.h"

/* The rows of equation (26): unit vectors in the span of the first d - 1 axes, with products -1/(d-1). */
static void fill_simplex(double *rows, uint32_t d) {
    const double others = (double)(d - 1);
    const double axis = sqrt((double)d / others);
    const double shared = (sqrt((double)d) + 1.0) / (others * sqrt(others));
    for (uint32_t i = 0; i < d; i++) {
        double *row = rows + (size_t)i * d;
        for (uint32_t j = 0; j + 1 < d; j++) {
            row[j] = i + 1 < d ? -shared : 1.0 / sqrt(others);
        }
        row[d - 1] = 0.0;
        if (i + 1 < d) {
            row[i] += axis;
        }
    }
}

/* Equation (27) once, in the order of the rows: each points against the sum of the others and keeps its length. */
static void point_against_others(double *rows, const double *norms, double *sum, uint32_t d) {
    for (uint32_t j = 0; j < d; j++) {
        sum[j] = 0.0;
    }
    for (uint32_t i = 0; i < d; i++) {
        for (uint32_t j = 0; j < d; j++) {
            sum[j] += norms[i] * rows[(size_t)i * d + j];
        }
    }
    for (uint32_t i = 0; i < d; i++) {
        double *row = rows + (size_t)i * d;
        double square = 0.0;
        for (uint32_t j = 0; j < d; j++) {
            sum[j] -= norms[i] * row[j];
            square += sum[j] * sum[j];
        }
        const double length = sqrt(square);
        for (uint32_t j = 0; j < d; j++) {
            if (length > 0.0) {
                row[j] = -sum[j] / length;
            }
            sum[j] += norms[i] * row[j];
        }
    }
}

/* Row of directions times R, whose row k is the image of axis k. */
static void rotate(double *out, const double *direction, const double *rotation, uint32_t d) {
    for (uint32_t j = 0; j < d; j++) {
        out[j] = 0.0;
    }
    for (uint32_t k = 0; k < d; k++) {
        for (uint32_t j = 0; j < d; j++) {
            out[j] += direction[k] * rotation[(size_t)k * d + j];
        }
    }
}

struct scratch {
    double *memory;
    double *directions; /* [d, d] */
    double *rotation;   /* [d, d] */
    double *norms;      /* [d] */
    double *row;        /* [d] */
};

static weft_status fill_block(float *w, uint32_t first, const struct scratch *scratch,
                              const weft_features_params *params, const weft_host *host) {
    const uint32_t d = params->columns;
    for (uint32_t i = 0; i < d; i++) {
        scratch->norms[i] = weft_features_row_norm(params, (uint64_t)first + i, d);
    }
    fill_simplex(scratch->directions, d);
    for (uint32_t sweep = 0; sweep < params->sweeps; sweep++) {
        point_against_others(scratch->directions, scratch->norms, scratch->row, d);
    }
    WEFT_TRY(weft_haar_rows(scratch->rotation, d, d,
                            weft_features_stream(params, WEFT_DRAW_GAUSSIAN), first, host));
    for (uint32_t i = 0; i < d && first + i < params->rows; i++) {
        rotate(scratch->row, scratch->directions + (size_t)i * d, scratch->rotation, d);
        weft_features_store(w + (size_t)(first + i) * d, scratch->row, scratch->norms[i], d);
    }
    return WEFT_OK;
}

static weft_status fill(struct weft_features_target out, const weft_features_params *params,
                        const weft_host *host) {
    const uint32_t d = params->columns;
    struct scratch scratch = {.memory =
                                  weft_alloc_zero(host, 2 * ((size_t)d + 1), d * sizeof(double))};
    if (!scratch.memory) {
        return weft_fail_memory(host, "simplex features");
    }
    scratch.directions = scratch.memory;
    scratch.rotation = scratch.directions + (size_t)d * d;
    scratch.norms = scratch.rotation + (size_t)d * d;
    scratch.row = scratch.norms + d;
    weft_status status = WEFT_OK;
    for (uint32_t first = 0; status == WEFT_OK && first < params->rows; first += d) {
        status = fill_block(out.w, first, &scratch, params, host);
    }
    weft_free(host, scratch.memory);
    return status;
}

static weft_status check(weft_features_params *params, const weft_host *host) {
    return params->columns >= 2 ? WEFT_OK
                                : weft_features_refuse(host, params, "columns", params->columns,
                                                       "2 to %u: a simplex needs two rows",
                                                       WEFT_FEATURES_MAX_COLUMNS);
}

static weft_status check_dependent(weft_features_params *params, const weft_host *host) {
    if (params->sweeps == 0) {
        params->sweeps = 1;
    }
    if (params->sweeps > WEFT_FEATURES_MAX_SWEEPS) {
        return weft_features_refuse(host, params, "sweeps", params->sweeps, "1 to %u",
                                    WEFT_FEATURES_MAX_SWEEPS);
    }
    return check(params, host);
}

const struct weft_features_family weft_features_simrf = {
    .name = "simrf", .options = WEFT_OPTION_NORM, .check = check, .fill = fill};

const struct weft_features_family weft_features_simrf_dependent = {.name = "simrf_dependent",
                                                                   .options = WEFT_OPTION_NORM |
                                                                              WEFT_OPTION_SWEEPS,
                                                                   .check = check_dependent,
                                                                   .fill = fill};
