/* SPDX-License-Identifier: MIT */
/* What `weft run --lines` does: many texts through a model, in batches, with answers in order as they come. */
#ifndef WEFT_CLI_RUN_LINES_H
#define WEFT_CLI_RUN_LINES_H

#include "lines_report.h"

typedef struct weft_cli_run_lines_params {
    const weft_cli_common *common;
    const char *model, *lines; /* a folder, and a file with a text on each line */
    const char *out;           /* where the outputs go as .npy, or null */
    uint32_t top;              /* entries of a text to show */
    weft_cli_answers answers;
} weft_cli_run_lines_params;

/** Reads, runs and prints. Returns an exit code. */
int weft_cli_run_lines(const weft_cli_run_lines_params *params);

#endif
