/* SPDX-License-Identifier: MIT */
/*
 * A P-model with a chosen budget of randomness: Choromanski and Sindhwani, "Recycling randomness with structure for
 * sublinear time kernel expansions", 2016. Here P_i[k][j] = 1 for k = (i + j) mod budget, else 0.
 */
#include "features/family.h"

static weft_status check(weft_features_params *params, const weft_host *host) {
    /* Less than columns repeats normals in a row (which is then no normal vector), less than rows repeats rows. */
    const uint32_t least = params->rows > params->columns ? params->rows : params->columns;
    const uint32_t most = params->rows + params->columns - 1;
    if (params->budget == 0) {
        params->budget = most;
    }
    return params->budget >= least && params->budget <= most
               ? WEFT_OK
               : weft_features_refuse(host, params, "budget", params->budget,
                                      "%u to %u (max(rows, columns) to rows + columns - 1)", least,
                                      most);
}

static void structure_of(weft_features_structure *structure, const weft_features_params *params) {
    *structure = (weft_features_structure){.transform = WEFT_FEATURES_CORRELATION,
                                           .size = params->budget,
                                           .blocks = 1,
                                           .rows_per_block = params->rows,
                                           .diagonals = 1,
                                           .scale = 1.0F};
}

static void parts(struct weft_features_parts out, uint32_t block,
                  const weft_features_structure *structure, const weft_features_params *params) {
    (void)block;
    const struct weft_stream normals = weft_features_stream(params, WEFT_DRAW_GAUSSIAN);
    for (uint32_t i = 0; i < structure->size; i++) {
        double normal;
        weft_sample_normals(&normal, normals, i, 1);
        out.diagonals[i] = (float)normal;
    }
}

static void expand(double *out, uint32_t row, const float *diagonals, const uint32_t *permutation,
                   const weft_features_structure *structure) {
    (void)permutation;
    for (uint32_t j = 0; j < structure->size; j++) {
        out[j] = (double)diagonals[(row + j) % structure->size];
    }
}

const struct weft_features_family weft_features_p_model = {.name = "p_model",
                                                           .options = WEFT_OPTION_BUDGET,
                                                           .check = check,
                                                           .structure = structure_of,
                                                           .parts = parts,
                                                           .expand = expand};
