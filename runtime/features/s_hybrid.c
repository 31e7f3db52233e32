/* SPDX-License-Identifier: MIT */
/*
 * S-Hybrid: a product of Walsh-Hadamard factors whose last diagonal is on the complex unit circle. Choromanski et al.,
 * "The unreasonable effectiveness of structured random orthogonal embeddings", 2017.
 */
#include <math.h>
#include <string.h>

#include "core/math/trig.h"
#include "features/family.h"
#include "features/hadamard.h"

static weft_status check(weft_features_params *params, const weft_host *host) {
    if (params->factors == 0) {
        params->factors = 3;
    }
    if (params->factors < 2 || params->factors > WEFT_FEATURES_MAX_FACTORS) {
        return weft_features_refuse(host, params, "factors", params->factors, "2 to %u",
                                    WEFT_FEATURES_MAX_FACTORS);
    }
    if (params->rows % 2 != 0) {
        return weft_features_refuse(host, params, "rows", params->rows,
                                    "even: real and imaginary parts are pairs");
    }
    return WEFT_OK;
}

static void structure_of(weft_features_structure *structure, const weft_features_params *params) {
    const uint32_t n = weft_hadamard_size(params->columns);
    *structure = (weft_features_structure){
        .transform = WEFT_FEATURES_HADAMARD,
        .size = n,
        .blocks = (params->rows - 1) / (2 * n) + 1,
        .rows_per_block = 2 * n,
        .diagonals = params->factors + 1,
        .scale = (float)(sqrt(2.0) * weft_hadamard_scale(n, params->factors))};
}

static void parts(struct weft_features_parts out, uint32_t block,
                  const weft_features_structure *structure, const weft_features_params *params) {
    const uint32_t n = structure->size;
    const uint64_t signs = (uint64_t)(structure->diagonals - 2) * n;
    const struct weft_stream stream = weft_features_stream(params, WEFT_DRAW_SIGN);
    const struct weft_stream angles = weft_features_stream(params, WEFT_DRAW_ANGLE);
    for (uint64_t i = 0; i < signs; i++) {
        out.diagonals[i] = (float)weft_sample_sign(stream, block * signs + i);
    }
    float *cosines = out.diagonals + signs;
    for (uint32_t i = 0; i < n; i++) {
        double cosine;
        double sine;
        weft_unit_root(&cosine, &sine, weft_sample_word(angles, (uint64_t)block * n + i),
                       UINT64_C(1) << 32);
        cosines[i] = (float)cosine;
        cosines[n + i] = (float)sine;
    }
}

static void expand(double *out, uint32_t row, const float *diagonals, const uint32_t *permutation,
                   const weft_features_structure *structure) {
    (void)permutation;
    const uint32_t n = structure->size;
    const uint32_t signs = structure->diagonals - 2;
    memset(out, 0, n * sizeof *out);
    out[row / 2] = 1.0;
    weft_hadamard(out, n);
    weft_hadamard_chain(out, diagonals + (size_t)(signs + row % 2) * n, 1, n);
    weft_hadamard(out, n);
    weft_hadamard_chain(out, diagonals, signs, n);
}

const struct weft_features_family weft_features_s_hybrid = {.name = "s_hybrid",
                                                            .options = WEFT_OPTION_FACTORS,
                                                            .check = check,
                                                            .structure = structure_of,
                                                            .parts = parts,
                                                            .expand = expand};
