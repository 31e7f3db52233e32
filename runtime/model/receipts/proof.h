/* SPDX-License-Identifier: MIT */
/* A record that was shown to belong to a root. */
#ifndef WEFT_MODEL_RECEIPT_PROOF_H
#define WEFT_MODEL_RECEIPT_PROOF_H

#include "model/receipts/merkle.h"

/** Longest proof: two texts of WEFT_RECEIPT_MAX_NAME, escaped, and 18 hashes. */
#define WEFT_PROOF_MAX_BYTES ((size_t)64 << 10)

struct weft_proof {
    weft_host host;
    uint32_t index, count;
    struct weft_record record; /* its texts are the proof's */
    weft_digest before;        /* the chain before it */
    struct weft_merkle_path path;
};

#endif
