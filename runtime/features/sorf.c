/* SPDX-License-Identifier: MIT */
/* Structured orthogonal random features: Yu et al., "Orthogonal random features", 2016. */
#include "features/rom.h"

static void structure_of(weft_features_structure *structure, const weft_features_params *params) {
    weft_rom_structure(structure, params, 3);
}

const struct weft_features_family weft_features_sorf = {
    .name = "sorf", .structure = structure_of, .parts = weft_rom_parts, .expand = weft_rom_expand};
