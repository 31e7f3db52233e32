/* SPDX-License-Identifier: MIT */
/* SADERF's change of variables: Likhosherstov et al., 2023; Spectraformer, (36). */
#ifndef WEFT_MIXERS_FEATURE_BALANCE_H
#define WEFT_MIXERS_FEATURE_BALANCE_H

#include "lower/lowering.h"

/** Queries and keys, or keys and queries, [batch, tokens, heads, width]: storages, and the tokens of each. */
struct weft_balance {
    uint32_t x, other;
    uint32_t tokens, other_tokens;
    uint32_t batch, heads, width;
};

/**
 * Puts x and other times Ψ and Ψ⁻¹ in their places, in scratch memory: Ψ = (Σ other² / Σ x²)^(1/4) of each sequence, head
 * and channel, 1 where a sum is 0. Exchanging the two gives the same bits.
 */
void weft_lower_balance(struct weft_lowering *lowering, struct weft_balance *balance);

/** The balanced x alone, into the storage `result`. */
void weft_lower_balance_one(struct weft_lowering *lowering, const struct weft_balance *balance,
                            uint32_t result);

#endif
