/* SPDX-License-Identifier: MIT */
/*
 * Single values of a receipt: a command runs inside weft verify, and of its runs only what is opened is computed, out of the
 * maker's tensors (--values), or these are written (--give). Functions return exit codes unless they return a status.
 */
#ifndef WEFT_CLI_RECEIPT_OPEN_H
#define WEFT_CLI_RECEIPT_OPEN_H

#include <weft/receipt.h>

#include "cli.h"

typedef struct weft_cli_target {
    uint32_t record;
    weft_record_info info;
    bool done;
    weft_receipt_opened opened;
    double compile_ms, run_ms, flops;
} weft_cli_target;

typedef struct weft_cli_opening {
    weft_host host;
    const weft_receipt *receipt;
    const weft_receipt *other; /* the second of a referee, or null */
    const weft_model *model;   /* the command's, once it is loaded */
    const char *values;        /* folder of the maker's tensors, record-N.npy … */
    const char *give;          /* … or where they go */
    weft_cli_target *targets;
    uint32_t count, left;
    uint32_t wanted; /* a record that needs no run, to be compared alone, or UINT32_MAX */
    /* What came of it: */
    uint32_t runs;                /* so far */
    uint32_t here_at, receipt_at; /* records compared so far, of those that need no run */
    uint32_t differs;             /* the first of these that differs, or UINT32_MAX */
    bool agrees[2]; /* whether record `wanted` here is that of the receipt, and of the other */
    uint32_t given; /* files written */
    bool finished;  /* so that the command could be stopped */
} weft_cli_opening;

/**
 * Finds what --open names: "record:N", "LAYER:N" (of the first run, counted from 0), "RANDOM:K:SEED", the number of a
 * node, or the name of a value or output of the first run.
 */
int weft_cli_opening_choose(weft_cli_opening *opening, const char *what, weft_receipt *receipt);
/** One record as the target. */
int weft_cli_opening_choose_record(weft_cli_opening *opening, uint32_t record);
void weft_cli_opening_clear(weft_cli_opening *opening);

/**
 * In place of a run: compares its inputs and what stood before it, opens or gives what is wanted of it, and compares the tensors that were used
 * for that. `here` is the receipt of the command that runs. WEFT_CANCELLED when nothing is left to do.
 */
weft_status weft_cli_opening_execute(weft_cli_opening *opening, weft_receipt *here, weft_plan *plan,
                                     const weft_host_tensor *tensors, uint32_t count);

#endif
