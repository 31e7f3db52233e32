/* SPDX-License-Identifier: MIT */
/*
 * Random orthogonal matrices from Walsh-Hadamard factors: Choromanski et al., "The unreasonable effectiveness of
 * structured random orthogonal embeddings", 2017.
 */
#include "features/rom.h"

#include <string.h>

#include "features/hadamard.h"

void weft_rom_structure(weft_features_structure *structure, const weft_features_params *params,
                        uint32_t factors) {
    const uint32_t n = weft_hadamard_size(params->columns);
    *structure = (weft_features_structure){.transform = WEFT_FEATURES_HADAMARD,
                                           .size = n,
                                           .blocks = (params->rows - 1) / n + 1,
                                           .rows_per_block = n,
                                           .diagonals = factors,
                                           .scale = (float)weft_hadamard_scale(n, factors)};
}

void weft_rom_parts(struct weft_features_parts out, uint32_t block,
                    const weft_features_structure *structure, const weft_features_params *params) {
    const struct weft_stream stream = weft_features_stream(params, WEFT_DRAW_SIGN);
    const uint64_t count = (uint64_t)structure->diagonals * structure->size;
    for (uint64_t i = 0; i < count; i++) {
        out.diagonals[i] = (float)weft_sample_sign(stream, block * count + i);
    }
}

void weft_rom_expand(double *out, uint32_t row, const float *diagonals, const uint32_t *permutation,
                     const weft_features_structure *structure) {
    (void)permutation;
    memset(out, 0, structure->size * sizeof *out);
    out[row] = 1.0;
    weft_hadamard(out, structure->size);
    weft_hadamard_chain(out, diagonals, structure->diagonals, structure->size);
}

static weft_status check(weft_features_params *params, const weft_host *host) {
    if (params->factors == 0) {
        params->factors = 3;
    }
    return params->factors <= WEFT_FEATURES_MAX_FACTORS
               ? WEFT_OK
               : weft_features_refuse(host, params, "factors", params->factors, "1 to %u",
                                      WEFT_FEATURES_MAX_FACTORS);
}

static void structure_of(weft_features_structure *structure, const weft_features_params *params) {
    weft_rom_structure(structure, params, params->factors);
}

const struct weft_features_family weft_features_rom = {.name = "rom",
                                                       .options = WEFT_OPTION_FACTORS,
                                                       .check = check,
                                                       .structure = structure_of,
                                                       .parts = weft_rom_parts,
                                                       .expand = weft_rom_expand};
