/* SPDX-License-Identifier: MIT */
/* What `weft run` prints of parts of texts: entities, and answers to questions. Places are in characters. */
#ifndef WEFT_CLI_SPANS_REPORT_H
#define WEFT_CLI_SPANS_REPORT_H

#include "lines_report.h"

/** The columns' names. */
void weft_cli_found_head(const weft_cli_session *session);

/** What was found in a line: for people, between tabs, or as JSON, where `name` has `number`. The first two return exit codes. */
int weft_cli_found_text(const weft_cli_lines_result *result, uint32_t row);
int weft_cli_found_tsv(const weft_cli_lines_result *result, uint32_t row);
json_t *weft_cli_found_json(const weft_cli_lines_result *result, uint32_t row, const char *name,
                            uint64_t number);

#endif
