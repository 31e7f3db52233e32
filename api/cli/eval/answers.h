/* SPDX-License-Identifier: MIT */
/* weft eval --answers: what was predicted, example by example. */
#ifndef WEFT_CLI_EVAL_ANSWERS_H
#define WEFT_CLI_EVAL_ANSWERS_H

#include "eval/job.h"

/** A column of the table of answers: a text for each example; release with weft_cli_column_clear. */
typedef struct weft_cli_column {
    char *heading;
    char **cells;
    uint32_t count;
} weft_cli_column;

/**
 * What the options ask of a loaded job: so many of the examples of data of its own (0: all), and whether answers are
 * reported, too. WEFT_CLI_BAD_FILE after a message where a model has none to show: labels alone can be.
 */
int weft_cli_job_restrict(weft_cli_job *job, uint32_t examples, bool answers);

/** The place of each example in the file, and its true label. */
weft_status weft_cli_column_places(weft_cli_column *column, const weft_cli_job *job);
weft_status weft_cli_column_labels(weft_cli_column *column, const weft_cli_job *job);

/** A finished job's labels and their probabilities; a wrong one is marked. */
weft_status weft_cli_column_answers(weft_cli_column *column, const weft_cli_job *job,
                                    const char *heading);

/** The start of each example's text, where tokens are bytes; else the column stays empty. */
weft_status weft_cli_column_texts(weft_cli_column *column, const weft_cli_job *job);

void weft_cli_column_clear(weft_cli_column *column);

/** Prints the columns that are not empty as a table. Returns an exit code. */
int weft_cli_columns_print(const weft_cli_column *columns, uint32_t count);

/** The answers of a finished job as JSON; null when memory is out. */
json_t *weft_cli_answers_json(const weft_cli_job *job);

#endif
