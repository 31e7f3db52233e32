/* SPDX-License-Identifier: MIT */
/* One model on one set of data: `weft eval` has one job, `weft eval --compare` one for each model. */
#ifndef WEFT_CLI_EVAL_JOB_H
#define WEFT_CLI_EVAL_JOB_H

#include "eval/expect.h"
#include "eval/run.h"

typedef struct weft_cli_job {
    const weft_cli_common *common;
    bool answers; /* are reported, too */
    weft_cli_session session;
    const weft_cli_data *data; /* `own`, or another job's */
    weft_cli_data own;
    weft_cli_score score;
    weft_cli_evaluation evaluation;
    weft_device_stats stats; /* after the last run */
    weft_cli_expected expected;
    weft_cli_comparison comparison;              /* with `expected`, where that has a path */
    const char *bits_path;                       /* of a file with a digest, or null */
    char expected_digest[WEFT_DIGEST_TEXT_SIZE]; /* that it has */
} weft_cli_job;

/**
 * Loads the model, and the data unless `data` has been loaded for another model with the same task;
 * checks that they fit. Nothing runs yet. Returns an exit code, as the next.
 */
int weft_cli_job_load(weft_cli_job *job, const weft_cli_common *common, const char *model,
                      const char *path, const weft_cli_data *data);

/** Opens the device, runs all examples (see weft_cli_evaluate) and scores them. */
int weft_cli_job_run(weft_cli_job *job, uint32_t batch, const char *label);

/** Whether all examples have been run: they have, unless the command was stopped. */
bool weft_cli_job_is_whole(const weft_cli_job *job);

/** Releases everything; a zeroed job is fine. */
void weft_cli_job_clear(weft_cli_job *job);

/** What a finished job found, as JSON; null when memory is out. */
json_t *weft_cli_job_json(const weft_cli_job *job);

/** The same as text for people. Returns an exit code. */
int weft_cli_job_print(const weft_cli_job *job);

/** "bits per byte" where a token is a byte, else "bits per token". */
const char *weft_cli_bits_unit(const weft_model_info *info);

#endif
