/* SPDX-License-Identifier: MIT */
/* Comparing outputs with those that another program, such as PyTorch, computed. */
#ifndef WEFT_CLI_EVAL_EXPECT_H
#define WEFT_CLI_EVAL_EXPECT_H

#include "eval/score.h"

#define WEFT_CLI_EXPECT_TOLERANCE 1e-4 /* of bits per token, and of values relative to their size */

/** What the other program found. */
typedef struct weft_cli_expected {
    const char *path; /* null: nothing was given to compare with */
    float *outputs;   /* labels and values: [examples, width] */
    int32_t *labels;  /* labels: [examples], the predicted ones */
    double bits;      /* tokens: bits per token */
} weft_cli_expected;

typedef struct weft_cli_comparison {
    uint32_t different; /* labels: examples whose predicted label differs */
    uint32_t first;     /* of them, when there are any */
    double largest;     /* labels and values: |difference| between outputs */
    double relative;    /* values: the L2 norm of all differences, over that of what is expected */
    double bits;        /* tokens: the difference in bits per token */
} weft_cli_comparison;

/**
 * Reads the archive `path`, by task:
 * labels: `logits`, float32 or float64 [N, C], as many as there are examples and labels; and
 *     `labels`, int32 or int64 [N], the labels that were predicted, which may be missing: then they
 *     are the indices of the largest logits;
 * tokens: `bits_per_byte`, or by another name `bits_per_token`, float32 or float64 [] or [1];
 * values: `outputs`, or by another name `targets` or `logits`, float32 or float64 [N, C]: what was computed.
 * Returns an exit code. `path` must outlive it.
 */
int weft_cli_expected_load(weft_cli_expected *expected, const char *path, const weft_cli_data *data,
                           const weft_cli_session *session);

/** Frees what it holds; a zeroed one is fine. */
void weft_cli_expected_clear(weft_cli_expected *expected, const weft_host *host);

/** Compares a finished score with what is expected. */
weft_cli_comparison weft_cli_compare(const weft_cli_score *score,
                                     const weft_cli_expected *expected);

/** Whether a comparison is within what is allowed; else prints on stderr what is not. */
bool weft_cli_comparison_holds(const weft_cli_comparison *comparison,
                               const weft_cli_expected *expected, const weft_cli_score *score);

/** A comparison as JSON, or null where there is none. */
json_t *weft_cli_comparison_json(const weft_cli_comparison *comparison,
                                 const weft_cli_expected *expected, const weft_cli_score *score);

/** The same as a line of text. */
void weft_cli_comparison_print(const weft_cli_comparison *comparison,
                               const weft_cli_expected *expected, const weft_cli_score *score);

#endif
