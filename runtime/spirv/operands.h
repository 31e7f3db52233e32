/* SPDX-License-Identifier: MIT */
#ifndef WEFT_SPIRV_OPERANDS_H
#define WEFT_SPIRV_OPERANDS_H

#include "spirv/grammar.h"

/* Words that are ids, for the compiler. */
static inline void weft_spirv_value_words(uint32_t *first, uint32_t *end,
                                          const uint32_t *instruction) {
    const struct weft_spirv_layout layout = weft_spirv_layout(weft_spirv_opcode(instruction[0]));
    const bool is_mixed =
        layout.more_ids && layout.ids != 0 && !weft_spirv_is_id(&layout, layout.least - 1);
    *first = is_mixed ? layout.least : layout.first;
    *end = layout.more_ids ? weft_spirv_length(instruction[0]) : layout.least;
}

#endif
