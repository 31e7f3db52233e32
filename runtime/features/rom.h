/* SPDX-License-Identifier: MIT */
/* The product √n Π H D_i, of which SORF is one length. */
#ifndef WEFT_FEATURES_ROM_H
#define WEFT_FEATURES_ROM_H

#include "features/family.h"

void weft_rom_structure(weft_features_structure *structure, const weft_features_params *params,
                        uint32_t factors);
/** Random signs: diagonal k of a block is words (block · diagonals + k) · size … of the sign stream. */
void weft_rom_parts(struct weft_features_parts out, uint32_t block,
                    const weft_features_structure *structure, const weft_features_params *params);
void weft_rom_expand(double *out, uint32_t row, const float *diagonals, const uint32_t *permutation,
                     const weft_features_structure *structure);

#endif
