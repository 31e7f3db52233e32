/* SPDX-License-Identifier: MIT */
/* What is wrong with a submitted record: a list of {field, expected, found}. */
#ifndef WEFT_CLI_CERTIFY_FINDINGS_H
#define WEFT_CLI_CERTIFY_FINDINGS_H

#include "cli.h"

#define WEFT_CERTIFY_TEXT_SIZE     256
#define WEFT_CERTIFY_MOST_FINDINGS 1000 /* what else is wrong is not told */

typedef struct weft_certify_findings {
    json_t *list;
    bool failed; /* memory ran out: the list is not whole */
} weft_certify_findings;

/** Adds a finding about a field, "bench.rows[3].p50_ms"; `expected` with printf's format. */
void weft_certify_refuse(weft_certify_findings *findings, const char *field, const char *found,
                         const char *expected, ...) WEFT_PRINTF(4, 5);
/** The same; what was found is a value of the record, or null. */
void weft_certify_refuse_value(weft_certify_findings *findings, const char *field,
                               const json_t *found, const char *expected, ...) WEFT_PRINTF(4, 5);

/** printf into `text`; returns text. */
const char *weft_certify_text(char text[WEFT_CERTIFY_TEXT_SIZE], const char *format, ...)
    WEFT_PRINTF(2, 3);

#endif
