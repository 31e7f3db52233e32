/* SPDX-License-Identifier: MIT */
/* DeBERTa's config, and the parts that distances have of its scores: for deberta.c and deberta_distances.c. */
#ifndef WEFT_MODEL_DEBERTA_H
#define WEFT_MODEL_DEBERTA_H

#include "model/network/family.h"

/** Parts of a score: the query's with a key's distance, and the key's with a query's. */
enum weft_deberta_term { WEFT_CONTENT_TO_POSITION = 0, WEFT_POSITION_TO_CONTENT = 1 };

struct weft_deberta {
    bool relative;     /* scores have parts of distances */
    bool shared_maps;  /* rows of the table are mapped as tokens are */
    uint32_t terms;    /* bits of weft_deberta_term */
    bool table_norm;   /* rows of the table are normalized */
    uint32_t buckets;  /* of distances; 0: each is its own */
    uint32_t farthest; /* the greatest distance that has a bucket of its own, less one */
    uint32_t span;     /* the table has twice as many rows, that of distance 0 in the middle */
    uint32_t taps;     /* of the filter behind the first layer; 0: there is none */
    uint32_t groups;
    weft_activation filter_activation;
};

static inline bool weft_deberta_has(const struct weft_deberta *deberta,
                                    enum weft_deberta_term term) {
    return (deberta->terms >> term & 1U) != 0;
}

/** The parts of scores that distances make, f32 [B, heads, n, n], times qkv.scale: He et al., 2021, equation (4). */
weft_tensor weft_deberta_scores(struct weft_builder *builder, const struct weft_deberta *deberta,
                                const struct weft_qkv *qkv);

#endif
