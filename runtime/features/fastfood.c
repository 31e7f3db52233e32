/* SPDX-License-Identifier: MIT */
/* FastFood: Le et al., "Fastfood: computing Hilbert space expansions in loglinear time", 2013. */
#include <math.h>
#include <string.h>

#include "features/family.h"
#include "features/hadamard.h"

enum { SIGNS = 0, NORMALS = 1, SCALES = 2, DIAGONALS = 3 };

static void structure_of(weft_features_structure *structure, const weft_features_params *params) {
    const uint32_t n = weft_hadamard_size(params->columns);
    *structure = (weft_features_structure){.transform = WEFT_FEATURES_HADAMARD,
                                           .size = n,
                                           .blocks = (params->rows - 1) / n + 1,
                                           .rows_per_block = n,
                                           .diagonals = DIAGONALS,
                                           .permuted = true,
                                           .scale = (float)(1.0 / sqrt((double)n))};
}

static void parts(struct weft_features_parts out, uint32_t block,
                  const weft_features_structure *structure, const weft_features_params *params) {
    const uint32_t n = structure->size;
    const uint64_t first = (uint64_t)block * n;
    const struct weft_stream signs = weft_features_stream(params, WEFT_DRAW_SIGN);
    const struct weft_stream normals = weft_features_stream(params, WEFT_DRAW_GAUSSIAN);
    const double length = weft_sample_chi(normals, block, n); /* ‖G‖: of the same draws */
    for (uint32_t i = 0; i < n; i++) {
        double normal;
        weft_sample_normals(&normal, normals, first + i, 1);
        out.diagonals[(size_t)SIGNS * n + i] = (float)weft_sample_sign(signs, first + i);
        out.diagonals[(size_t)NORMALS * n + i] = (float)normal;
        out.diagonals[(size_t)SCALES * n + i] =
            (float)(weft_features_row_norm(params, first + i, n) / length);
    }
    weft_sample_permutation(out.permutation, n, weft_features_stream(params, WEFT_DRAW_PERMUTATION),
                            first);
}

/* Row `row` of S H G P H B, from the left. */
static void expand(double *out, uint32_t row, const float *diagonals, const uint32_t *permutation,
                   const weft_features_structure *structure) {
    const uint32_t n = structure->size;
    const float *normals = diagonals + (size_t)NORMALS * n;
    const double scale = (double)diagonals[(size_t)SCALES * n + row];
    memset(out, 0, n * sizeof *out);
    for (uint32_t i = 0; i < n; i++) {
        bool odd = false; /* parity of the bits of row & i: the sign of H[row][i] */
        for (uint32_t bits = row & i; bits != 0; bits &= bits - 1) {
            odd = !odd;
        }
        /* += : a given permutation need not be one. */
        out[permutation[i]] += (odd ? -scale : scale) * (double)normals[i];
    }
    weft_hadamard(out, n);
    weft_hadamard_chain(out, diagonals + (size_t)SIGNS * n, 1, n);
}

const struct weft_features_family weft_features_fastfood = {.name = "fastfood",
                                                            .options = WEFT_OPTION_NORM,
                                                            .structure = structure_of,
                                                            .parts = parts,
                                                            .expand = expand};
