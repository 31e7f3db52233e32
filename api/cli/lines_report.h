/* SPDX-License-Identifier: MIT */
/* What `weft run --lines` prints. Functions return exit codes. */
#ifndef WEFT_CLI_LINES_REPORT_H
#define WEFT_CLI_LINES_REPORT_H

#include "session.h"
#include "spans_report.h"

/** How answers are printed. */
typedef enum weft_cli_answers {
    WEFT_CLI_ANSWERS_TABLE, /* for people, with the lines' numbers, and a summary */
    WEFT_CLI_ANSWERS_JSONL, /* a JSON object for each line */
    WEFT_CLI_ANSWERS_TSV, /* a line for each line: labels and probabilities, or values, between tabs */
    WEFT_CLI_ANSWERS_JSON /* one JSON object at the end, of all lines */
} weft_cli_answers;

/** What has become of a line. */
typedef enum weft_cli_line_state {
    WEFT_CLI_LINE_WAITS = 0, /* not run */
    WEFT_CLI_LINE_EMPTY,     /* without a text, and so without an answer */
    WEFT_CLI_LINE_DONE
} weft_cli_line_state;

/** Some lines that follow each other, none of which waits. */
typedef struct weft_cli_lines_result {
    const weft_cli_session *session;
    uint64_t first; /* lines before these */
    uint32_t count;
    uint32_t width;              /* outputs of a line */
    uint32_t top;                /* entries of a line to show */
    const float *outputs;        /* [count, width]: NaN of empty lines; null with … */
    const weft_cli_found *found; /* … what was found in each line */
    const uint8_t *states;
} weft_cli_lines_result;

/** How it went. */
typedef struct weft_cli_lines_summary {
    uint64_t tokens;
    uint32_t plans;
    double compile_ms, run_ms;
    const char *
        digest; /* of all outputs, where they are not kept, and null where some were not delivered */
} weft_cli_lines_summary;

/** What comes before the first answer. */
void weft_cli_lines_head(const weft_cli_session *session, weft_cli_answers answers);

/** Answers, but for JSON. */
int weft_cli_lines_answers(const weft_cli_lines_result *result, weft_cli_answers answers);

/** What comes behind the last answer; JSON as a whole: the result then has all lines. */
int weft_cli_lines_tail(const weft_cli_lines_result *result, const weft_cli_lines_summary *summary,
                        weft_cli_answers answers);

#endif
