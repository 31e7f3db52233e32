/* SPDX-License-Identifier: MIT */
/* What weft verify --receipt was asked for, for the files that do it. Functions return exit codes. */
#ifndef WEFT_CLI_VERIFICATION_H
#define WEFT_CLI_VERIFICATION_H

#include "receipt.h"

#define WEFT_CLI_MOST_ARGUMENTS 256

/** A command that makes receipts. */
struct weft_cli_maker {
    const char *name;
    int (*run)(int argc, char **argv);
};

typedef struct verification {
    weft_cli_common common;
    weft_host host;
    const char *path;                 /* of the receipt */
    const char *against;              /* the second device, or null */
    const char *open, *values, *give; /* what is opened, and the folder of tensors; or null */
    const char *referee;              /* path of the other receipt, or null */
    const char *prove, *proof, *root;
    const char *statement, *envelope;
    char *rest[WEFT_CLI_MOST_ARGUMENTS]; /* what the command gets */
    int rest_count;
    const struct weft_cli_maker *maker;
    weft_receipt *receipt;
    char sha256[WEFT_DIGEST_TEXT_SIZE]; /* of its file */
    weft_receipt *again;                /* what was made here */
    weft_receipt *other;                /* the referee's second */
    weft_checkpoints checkpoints;
} verification;

int weft_cli_read_receipt(weft_receipt **receipt, char sha256[WEFT_DIGEST_TEXT_SIZE],
                          const char *path, const weft_host *host);

/** Runs the maker's command on a device, or on that of the arguments, for `watch`. */
int weft_cli_run_again(const verification *v, const char *device, weft_cli_watch *watch);

/** verify_open.c */
int weft_cli_verify_open(verification *v);
int weft_cli_verify_referee(verification *v);

/** verify_proof.c */
int weft_cli_verify_proof(const verification *v);
int weft_cli_print_proof(const verification *v);
int weft_cli_write_statement(const verification *v);

#endif
