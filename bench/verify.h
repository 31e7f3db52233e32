/* SPDX-License-Identifier: MIT */
/* Whether what a case of `weft bench` computed is right: against float64 and the hashes of expected.json. */
#ifndef WEFT_BENCH_VERIFY_H
#define WEFT_BENCH_VERIFY_H

#include "bench/case.h"
#include "bench/expected.h"

#define WEFT_BENCH_REFERENCE_ROWS 16 /* tokens of a sequence that are held against float64 */
/** An input or output of a plan, as far as a reference needs it. */
typedef struct weft_bench_view {
    weft_port_info info;
    const void *data; /* its elements; an input may have null: what weft_bench_fill_input writes */
} weft_bench_view;

#define WEFT_BENCH_REFERENCE_LIMIT     4e9 /* operations of a reference: seconds */
#define WEFT_BENCH_VERIFICATION_REASON 256

typedef enum weft_bench_verified_by {
    WEFT_BENCH_BY_NONE = 0,
    WEFT_BENCH_BY_FLOAT64,
    WEFT_BENCH_BY_HASH,         /* of expected.json, in reproducible mode */
    WEFT_BENCH_BY_REPRODUCIBLE, /* what reproducible mode gives, in fast mode */
} weft_bench_verified_by;

/** "none", "float64", "hash" or "reproducible". */
const char *weft_bench_verified_by_name(weft_bench_verified_by by);

typedef struct weft_bench_verification {
    weft_bench_verified_by by;                   /* float64 where both say so */
    bool wrong;                                  /* what `reason` says about */
    double rel_l2, tolerance;                    /* by float64 or reproducible; NaN otherwise */
    uint32_t rows;                               /* tokens that were compared with float64 */
    char reason[WEFT_BENCH_VERIFICATION_REASON]; /* empty but when wrong, or by none */
} weft_bench_verification;

/** What a case came to. */
typedef struct weft_bench_outcome {
    const weft_bench_view *ports; /* inputs, then outputs with their data */
    uint32_t port_count;
    double
        rounding; /* of weights: WEFT_TOLERANCE_HALF or _BYTES, which results are then held to; 0: none */
    double limit; /* operations of the reference; 0: WEFT_BENCH_REFERENCE_LIMIT */
} weft_bench_outcome;

const weft_bench_view *weft_bench_first_output(const weft_bench_outcome *outcome);

/**
 * Holds the first output against the case's reference, if it has one that is not too expensive. Errors:
 * WEFT_OUT_OF_HOST_MEMORY, and those of a reference; a wrong output is none.
 */
weft_status weft_bench_verify(weft_bench_verification *result, const weft_bench_case *bench_case,
                              const weft_bench_outcome *outcome, const weft_host *host);

/**
 * Holds the hash of the outputs, made in reproducible mode, against the expected one, if there is one. `result` is
 * weft_bench_verify's.
 */
void weft_bench_verify_hash(weft_bench_verification *result, const weft_bench_case *bench_case,
                            const char *sha256, const weft_bench_expected *expected);

/**
 * Holds the first output (float32), made in fast mode, against the one that the same case gives on `device`, the same
 * physical device opened in reproducible mode with weights as f32: to the rounding of weights if there is any,
 * else to WEFT_TOLERANCE_EXPONENTIAL. `result` is weft_bench_verify's where that compared nothing, and stays by none
 * with one more reason where the device cannot run the plan in reproducible mode, for its memory, say. Errors: those of
 * compiling and running it otherwise.
 */
weft_status weft_bench_verify_reproducible(weft_bench_verification *result,
                                           const weft_bench_case *bench_case,
                                           const weft_bench_outcome *outcome, weft_device *device,
                                           const weft_host *host);

/**
 * Tokens of a sequence of n to look at, in ascending order, at most WEFT_BENCH_REFERENCE_ROWS: all of a short one; else
 * the first and the last, those around the first chunk's end and the middle, and Philox-chosen ones. Returns how many.
 */
uint32_t weft_bench_sample_rows(uint32_t rows[WEFT_BENCH_REFERENCE_ROWS], uint32_t n);

#endif
