/* SPDX-License-Identifier: MIT */
/* Examples through a model, in batches. */
#ifndef WEFT_CLI_EVAL_RUN_H
#define WEFT_CLI_EVAL_RUN_H

#include "eval/score.h"

typedef struct weft_cli_evaluation {
    uint64_t tokens;             /* of the examples that were run */
    uint32_t plans;              /* one for each group of lengths */
    double compile_ms;           /* all plans' */
    uint64_t pipelines_compiled; /* for plans, that no cache held */
    double run_ms;               /* all runs, transfers included */
    /*
     * What speeds are taken from: all runs but the first of each plan, in which a driver may still
     * compile; all runs where there are no others. What a run computes is counted, also rows that
     * fill up a batch.
     */
    double timed_ms;
    uint64_t timed_examples;
    uint64_t timed_sequences;
    uint64_t timed_tokens;
    uint64_t peak_bytes; /* the most device memory that weights, arenas and buffers held at once */
} weft_cli_evaluation;

/** Amount per second. */
double weft_cli_speed(const weft_cli_evaluation *evaluation, uint64_t amount);

/**
 * Runs the examples by weft_texts_run, with batches of at most `batch`, 0: by their length. Where that is cancelled, what is done stays.
 * Shows a progress bar with that label. The session is open. Returns an exit code.
 */
int weft_cli_evaluate(weft_cli_evaluation *evaluation, weft_cli_score *score, uint32_t batch,
                      const char *label);

#endif
