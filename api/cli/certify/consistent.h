/* SPDX-License-Identifier: MIT */
/* Whether what a record says follows from what else it says: of any version and device, without a device. */
#ifndef WEFT_CLI_CERTIFY_CONSISTENT_H
#define WEFT_CLI_CERTIFY_CONSISTENT_H

#include "certify/findings.h"

/** Adds what is wrong with the counts, roots, models and rates of a record. Hashes that were invented are not found by this. */
void weft_certify_check_consistent(weft_certify_findings *findings, const json_t *record);

/** False, with a finding, for lists longer than any record has: others are compared each with each. */
bool weft_certify_check_lengths(weft_certify_findings *findings, const json_t *record);

/** Cases of a mode that ran. Records of form 1 have no such number. */
json_int_t weft_certify_ran(const json_t *mode);

/** WEFT_BAD_FILE, with the first reason, for a record of a file that is not consistent; for a page that shows it. */
weft_status weft_certify_consistent(const json_t *record, const char *path, const weft_host *host);

#endif
