/* SPDX-License-Identifier: MIT */
/* Comparing logits with those that another program, such as PyTorch, computed. */
#ifndef WEFT_CLI_EVAL_EXPECT_H
#define WEFT_CLI_EVAL_EXPECT_H

#include "eval_data.h"

typedef struct weft_cli_comparison {
    uint32_t different; /* examples whose predicted label differs */
    uint32_t first;     /* of them, when there are any */
    double largest;     /* |difference| between logits */
} weft_cli_comparison;

/** What the other program found. */
typedef struct weft_cli_expected {
    float *logits;   /* [count, labels] */
    int32_t *labels; /* [count], the predicted ones */
} weft_cli_expected;

/**
 * Reads the archive `path`: `logits`, float32 or float64 [N, C], as many as the data and the model
 * have examples and labels; and `labels`, int32 or int64 [N], the labels that were predicted, which
 * may be missing: then they are the indices of the largest logits. Returns an exit code.
 */
int weft_cli_expected_load(weft_cli_expected *expected, const char *path, const weft_cli_data *data,
                           const weft_cli_session *session);

/** Frees what it holds; a zeroed one is fine. */
void weft_cli_expected_clear(weft_cli_expected *expected, const weft_host *host);

/** Compares `logits` [count, labels], and the labels they predict, with what is expected. */
weft_cli_comparison weft_cli_compare(const float *logits, const weft_cli_expected *expected,
                                     uint32_t count, uint32_t labels);

#endif
