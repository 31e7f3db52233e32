/* SPDX-License-Identifier: MIT */
/* The form of a record: which fields it has, and of which types. */
#ifndef WEFT_CLI_CERTIFY_FORM_H
#define WEFT_CLI_CERTIFY_FORM_H

#include "certify/findings.h"

/** The version of the form: 2 counts what ran. */
#define WEFT_CERTIFY_FORM 2

void weft_certify_check_form(weft_certify_findings *findings, const json_t *record);

#endif
