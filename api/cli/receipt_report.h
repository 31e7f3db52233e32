/* SPDX-License-Identifier: MIT */
/* What weft verify --receipt says. Functions return exit codes. */
#ifndef WEFT_CLI_RECEIPT_REPORT_H
#define WEFT_CLI_RECEIPT_REPORT_H

#include "receipt.h"

typedef struct weft_cli_receipt_verdict {
    const char *path;
    const weft_receipt *receipt, *again; /* given, and made here */
    double seconds;
    uint32_t first; /* record in which they differ, or UINT32_MAX */
    /* Elements of that value here, if it is one; or with a second device those of the first node that differs, on both. */
    weft_cli_watch kept[2];
    const char *against;    /* the second device, where it has run */
    weft_receipt *nodes[2]; /* receipts with every node, then */
    uint32_t node;          /* record in which these differ, or UINT32_MAX */
} weft_cli_receipt_verdict;

int weft_cli_receipt_report_text(const weft_cli_receipt_verdict *verdict);
int weft_cli_receipt_report_json(const weft_cli_receipt_verdict *verdict);

#endif
