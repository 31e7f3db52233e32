/* SPDX-License-Identifier: MIT */
/* Low-discrepancy sequences in the unit cube. */
#ifndef WEFT_FEATURES_SEQUENCE_H
#define WEFT_FEATURES_SEQUENCE_H

#include <weft/features.h>

#include "features/sample.h"

struct weft_sequence {
    weft_features_sequence kind;
    uint32_t dimensions;
    bool shifted;
    /** Sobol': the direction numbers, [dimensions, 32], and the shift's words, [dimensions]. */
    uint32_t *directions;
    uint32_t *shift;
    /** Halton: the bases, [dimensions], and the shift's digits, [dimensions, WEFT_HALTON_DIGITS]. */
    uint32_t *bases;
    uint16_t *digits;
    weft_host host;
};

/** Digits of a Halton point: base 2 needs that many for more points than a matrix has rows. */
#define WEFT_HALTON_DIGITS 48

/** kind is WEFT_FEATURES_SOBOL or WEFT_FEATURES_HALTON. shift: null for none, else where its digits come from. */
weft_status weft_sequence_begin(struct weft_sequence *sequence, weft_features_sequence kind,
                                uint32_t dimensions, const struct weft_stream *shift,
                                const weft_host *host);
void weft_sequence_end(struct weft_sequence *sequence);

/** Point `index` ≥ 1 of the sequence, each coordinate in (0, 1). Point 0, the origin, is for nobody. */
void weft_sequence_point(double *out, const struct weft_sequence *sequence, uint32_t index);

/** Direction numbers of Sobol's sequence, into out [dimensions, 32]; see sobol.c. */
void weft_sobol_directions(uint32_t *out, uint32_t dimensions);

#endif
