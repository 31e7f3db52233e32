/* SPDX-License-Identifier: MIT */
/* What `weft run` prints about a finished run. */
#ifndef WEFT_CLI_RUN_REPORT_H
#define WEFT_CLI_RUN_REPORT_H

#include "run_inputs.h"
#include "session.h"

typedef struct weft_cli_result {
    const weft_cli_session *session;
    const weft_plan *plan;
    const weft_cli_inputs *inputs;
    const float *output;
    weft_shape shape; /* of output */
    uint32_t top;     /* entries of a row to show */
    double run_ms;
    uint32_t repeats;
} weft_cli_result;

/** One JSON object on stdout. Returns an exit code, as the next. */
int weft_cli_report_json(const weft_cli_result *result);

/** Text for people. */
int weft_cli_report_text(const weft_cli_result *result);

#endif
