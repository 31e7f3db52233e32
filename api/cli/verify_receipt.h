/* SPDX-License-Identifier: MIT */
/* weft verify --receipt: makes a receipt again, and says where it differs. */
#ifndef WEFT_CLI_VERIFY_RECEIPT_H
#define WEFT_CLI_VERIFY_RECEIPT_H

/** Whether the arguments of weft verify ask for it. */
bool weft_cli_verifies_receipt(int argc, char **argv);

int weft_cli_verify_receipt(int argc, char **argv);

#endif
