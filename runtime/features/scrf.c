/* SPDX-License-Identifier: MIT */
/*
 * Signed circulant random features: Feng et al., "Random feature mapping with signed circulant matrix projection", 2015.
 */
#include "features/family.h"

static void structure_of(weft_features_structure *structure, const weft_features_params *params) {
    const uint32_t d = params->columns;
    *structure = (weft_features_structure){.transform = WEFT_FEATURES_CIRCULANT,
                                           .size = d,
                                           .blocks = (params->rows - 1) / d + 1,
                                           .rows_per_block = d,
                                           .diagonals = 2,
                                           .scale = 1.0F};
}

static void parts(struct weft_features_parts out, uint32_t block,
                  const weft_features_structure *structure, const weft_features_params *params) {
    const uint32_t d = structure->size;
    const struct weft_stream normals = weft_features_stream(params, WEFT_DRAW_GAUSSIAN);
    const struct weft_stream signs = weft_features_stream(params, WEFT_DRAW_SIGN);
    for (uint32_t i = 0; i < d; i++) {
        double normal;
        weft_sample_normals(&normal, normals, (uint64_t)block * d + i, 1);
        out.diagonals[i] = (float)normal;
        out.diagonals[d + i] = (float)weft_sample_sign(signs, (uint64_t)block * d + i);
    }
}

static void expand(double *out, uint32_t row, const float *diagonals, const uint32_t *permutation,
                   const weft_features_structure *structure) {
    (void)permutation;
    const uint32_t d = structure->size;
    for (uint32_t j = 0; j < d; j++) {
        out[j] = (double)diagonals[d + row] * (double)diagonals[(row + d - j) % d];
    }
}

const struct weft_features_family weft_features_scrf = {
    .name = "scrf", .structure = structure_of, .parts = parts, .expand = expand};
