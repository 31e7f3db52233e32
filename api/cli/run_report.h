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

/** Of many texts, in batches: what the result, whose plan is null, does not say. */
typedef struct weft_cli_texts {
    uint64_t tokens;
    uint32_t plans;
    double compile_ms;
} weft_cli_texts;

/** The same two for many texts: inputs->batch of them, with a row of the output each. */
int weft_cli_report_texts_json(const weft_cli_result *result, const weft_cli_texts *texts);
int weft_cli_report_texts(const weft_cli_result *result, const weft_cli_texts *texts);

#endif
