/* SPDX-License-Identifier: MIT */
/* Labelled examples through a classifier, and what came of it. */
#ifndef WEFT_CLI_EVAL_RUN_H
#define WEFT_CLI_EVAL_RUN_H

#include "eval_data.h"
#include "session.h"

typedef struct weft_cli_evaluation {
    float *logits;     /* [examples, labels], in the order of the data; free with weft_free */
    uint64_t tokens;   /* all examples' */
    uint32_t plans;    /* one for each length and batch size */
    double compile_ms; /* all plans' */
    double run_ms;     /* all runs, transfers included */
} weft_cli_evaluation;

/**
 * Runs examples of equal length together, at most `batch` at a time: nothing is padded in length,
 * which would change what FNet computes. A last, smaller batch is filled up with copies of its first
 * example, whose results are dropped. Shows a progress bar. Returns an exit code.
 */
int weft_cli_evaluate(weft_cli_evaluation *evaluation, const weft_cli_data *data, uint32_t batch,
                      const weft_cli_session *session);

#endif
