/* SPDX-License-Identifier: MIT */
/*
 * The definitions of ops and mixers in float64, once for `weft verify`, `weft bench` and the tests: straight from the
 * formulas of weft/graph.h and weft/mixers.h, token by token, and without anything that the shaders have.
 *
 * Arrays are dense and row-major, activations [n, channels] of one sequence: head h has the channels h · width …. Results
 * are written, not added, for the tokens that a weft_rows names alone: row r of `out` is token rows.at[r].
 */
#ifndef WEFT_VERIFY_REFERENCE_H
#define WEFT_VERIFY_REFERENCE_H

#include <weft/graph.h>

#include "core/host.h"

/** Tokens of a sequence, in ascending order. */
typedef struct weft_reference_rows {
    const uint32_t *at;
    uint32_t count;
} weft_rows;

/**
 * Memory of references, which lives as long as this, and their limit of operations. The first failure stays in
 * `status`; after it, and when the operations are spent, the functions do nothing.
 */
typedef struct weft_reference {
    weft_host host;
    weft_status status;
    double operations; /* multiplications and additions asked for so far, in pairs */
    double limit;      /* of these; 0: none */
    struct weft_reference_block *blocks;
} weft_reference;

/** Frees the memory; what else there is stays. */
void weft_reference_end(weft_reference *ref);

/** Keeps the first failure; whether there is none. */
bool weft_reference_check(weft_reference *ref, weft_status status);

/** True if nothing has failed and this many more operations are within the limit: to be asked before they are done. */
bool weft_reference_spend(weft_reference *ref, double operations);

/** Zeroed memory; null after noting the failure. */
double *weft_reference_array(weft_reference *ref, uint64_t count);
void *weft_reference_memory(weft_reference *ref, uint64_t count, size_t size);

/** Given elements as float64. */
const double *weft_reference_of(weft_reference *ref, const float *data, uint64_t count);

/** All tokens 0 … n - 1. */
weft_rows weft_reference_all(weft_reference *ref, uint32_t n);

/** These rows of x [.., channels], which may be out. */
void weft_reference_take(double *out, weft_rows rows, const double *x, uint32_t channels);

#endif
