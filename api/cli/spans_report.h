/* SPDX-License-Identifier: MIT */
/* What `weft run` prints of parts of texts: entities, and answers to questions. Places are in characters. */
#ifndef WEFT_CLI_SPANS_REPORT_H
#define WEFT_CLI_SPANS_REPORT_H

#include "session.h"

/** What a token classifier has found in a line. */
typedef struct weft_cli_found {
    weft_text_span *spans; /* entities, or one answer */
    uint32_t count;
    char *text; /* that they are parts of; both are in fresh memory */
} weft_cli_found;

/** The columns' names. */
void weft_cli_found_head(const weft_cli_session *session);

/** What was found in the line of that number, for people or between tabs. */
void weft_cli_found_text(const weft_cli_found *found, uint64_t number);
void weft_cli_found_tsv(const weft_cli_found *found);
/** The same as a JSON array. */
json_t *weft_cli_found_json(const weft_cli_found *found);

#endif
