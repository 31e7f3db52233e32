/* SPDX-License-Identifier: MIT */
/* The cases of weft verify in the order in which weft certify runs them. */
#ifndef WEFT_CLI_CERTIFY_CASES_H
#define WEFT_CLI_CERTIFY_CASES_H

#include "certify/known.h"
#include "verify/conformance.h"

typedef struct weft_certify_case {
    char name[WEFT_CASE_NAME_SIZE];
    const weft_case_family *family;
    uint32_t index; /* in its family */
} weft_certify_case;

/** All cases, those that execute every kernel first, in the order of weft verify; behind them the others, by a seed. */
typedef struct weft_certify_cases {
    weft_certify_case *list;
    uint32_t *order; /* places of the list */
    uint32_t count;
    uint32_t listed; /* of them, which come first */
} weft_certify_cases;

/** Only memory can fail. weft_certify_cases_free in any case. */
weft_status weft_certify_cases_make(weft_certify_cases *cases, uint32_t seed,
                                    const weft_host *host);
void weft_certify_cases_free(weft_certify_cases *cases, const weft_host *host);

/** The characters of a case's op in its name: of "softmax" in "softmax/unit/rank=1". */
size_t weft_certify_op_length(const char *name);

/** Hashes of the cases of an op or of all, in the order of the list, which have a "NAME DIGITS" and a newline each. */
typedef struct weft_certify_root {
    weft_sha256 hash;
} weft_certify_root;

void weft_certify_root_begin(weft_certify_root *root);
void weft_certify_root_add(weft_certify_root *root, const char *name, const char *digits);
const char *weft_certify_root_end(weft_certify_root *root, char text[WEFT_DIGEST_TEXT_SIZE]);

#endif
