/* SPDX-License-Identifier: MIT */
/* What `weft run` does with texts that are answered one by one: through a model in batches, with answers in order as they come. */
#ifndef WEFT_CLI_RUN_LINES_H
#define WEFT_CLI_RUN_LINES_H

#include "lines_report.h"

typedef struct weft_cli_run_lines_params {
    const weft_cli_common *common;
    const char *model,
        *lines; /* a folder, and a file with a text on each line; or, without it, … */
    const char *text, *file;   /* … one text or the file that it is in, */
    const char *pair;          /* and the second text of its pair, or null */
    weft_cli_session *session; /* where the model is loaded already: it is taken over; or null */
    bool pairs;                /* a line has two texts, with a tab between them */
    const char *out;           /* where the outputs go as .npy, or null */
    uint32_t top;              /* entries of a text to show */
    weft_cli_answers answers;
} weft_cli_run_lines_params;

/** Reads, runs and prints. Returns an exit code. */
int weft_cli_run_lines(const weft_cli_run_lines_params *params);

#endif
