/* SPDX-License-Identifier: MIT */
/* Whether a submitted record fits: weft certify --check-submission. docs/certify.md has the rules. */
#ifndef WEFT_CLI_CERTIFY_CHECK_H
#define WEFT_CLI_CERTIFY_CHECK_H

#include "certify/findings.h"

/** Everything that is wrong with a record, of which `findings` then has a list, empty where it fits. Only memory can fail. */
weft_status weft_certify_check(weft_certify_findings *findings, const json_t *record,
                               const weft_host *host);

/** Its bits and its models against those that this version knows; check_bits.c. */
weft_status weft_certify_check_bits(weft_certify_findings *findings, const json_t *record,
                                    const weft_host *host);
void weft_certify_check_models(weft_certify_findings *findings, const json_t *record);

/** Its times; check_speed.c. */
weft_status weft_certify_check_speed(weft_certify_findings *findings, const json_t *record,
                                     const weft_host *host);

/** Reads a file, checks it and prints what is wrong. An exit code. */
int weft_certify_check_file(const char *path, const weft_cli_common *common);

#endif
