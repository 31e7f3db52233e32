/* SPDX-License-Identifier: MIT */
/* The receipt of a command's runs (--receipt), for run, embed, rerank and eval; and how weft verify gets the one that a command makes again. */
#ifndef WEFT_CLI_RECEIPT_H
#define WEFT_CLI_RECEIPT_H

#include <weft/receipt.h>

#include "cli.h"

/** What weft verify wants of a command that it runs. All zeros but what it asks for; data is to be freed with the C library's host. */
typedef struct weft_cli_watch {
    weft_checkpoints checkpoints;
    const char *wanted; /* a value of run `run`, whose elements are kept; or null */
    uint32_t run;
    /* What came of it: */
    weft_receipt *receipt;
    uint32_t runs;
    void *data;
    weft_port_info port; /* its name is gone with the plan */
} weft_cli_watch;

/** From now on sessions make a receipt for `watch`, whatever their options say; null: no more. */
void weft_cli_receipt_watch(weft_cli_watch *watch);

/** What a command runs, as far as a receipt says it. Zeros: nobody asked for one. */
typedef struct weft_cli_recording {
    weft_receipt *receipt;
    weft_checkpoints checkpoints; /* of plans */
} weft_cli_recording;

/** Begins the receipt, if there is to be one, of an open device and a model. */
int weft_cli_receipt_begin(weft_cli_recording *recording, weft_model *model, weft_device *device,
                           const weft_cli_common *common);
/** weft_receipt_execute, keeping what weft verify wants. */
weft_status weft_cli_receipt_execute(const weft_cli_recording *recording, weft_plan *plan,
                                     const weft_host_tensor *tensors, uint32_t count);
/** Writes it, if there is one, unless the command was stopped. */
int weft_cli_receipt_end(weft_cli_recording *recording, const weft_cli_common *common);

/** The kind of that name. */
bool weft_cli_checkpoints_named(weft_checkpoints *checkpoints, const char *name);

#endif
