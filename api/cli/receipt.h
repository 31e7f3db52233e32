/* SPDX-License-Identifier: MIT */
/* The receipt of a command's runs (--receipt), for run, embed, rerank, eval and generate; and how weft verify gets the one that a command makes again. */
#ifndef WEFT_CLI_RECEIPT_H
#define WEFT_CLI_RECEIPT_H

#include <weft/receipt.h>

#include "cli.h"
#include "core/hash.h"

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
    struct weft_cli_opening
        *opening; /* receipt_open.h: then runs are opened in place of run; or null */
} weft_cli_watch;

/** From now on sessions make a receipt for `watch`, whatever their options say; null: no more. */
void weft_cli_receipt_watch(weft_cli_watch *watch);

/** What a command runs, as far as a receipt says it. Zeros: nobody asked for one. */
typedef struct weft_cli_recording {
    weft_receipt *receipt;
    weft_checkpoints checkpoints; /* of plans */
    weft_opening opening;         /* of plans, too */
} weft_cli_recording;

/** Begins the receipt, if there is to be one, of an open device and a model. */
int weft_cli_receipt_begin(weft_cli_recording *recording, weft_model *model, weft_device *device,
                           const weft_cli_common *common);
/**
 * weft_receipt_note, with the type by printf's format, of at most 255 bytes; nothing where no receipt is made. Settings before the first run.
 */
weft_status weft_cli_receipt_note(const weft_cli_recording *recording, weft_record_kind kind,
                                  const char *name, const void *bytes, size_t size,
                                  const char *type, ...) WEFT_PRINTF(6, 7);
/**
 * The hash of a text as a receipt has it, of "SIZE TOKENS CUT", a newline and its bytes. A text without tokens, such as an empty line, has had
 * none.
 */
weft_digest weft_cli_receipt_text_digest(const void *bytes, size_t size, uint32_t tokens,
                                         uint32_t cut);
/** weft_receipt_execute, keeping what weft verify wants. */
weft_status weft_cli_receipt_execute(const weft_cli_recording *recording, weft_plan *plan,
                                     const weft_host_tensor *tensors, uint32_t count);
/** Writes it, if there is one, unless the command was stopped. */
int weft_cli_receipt_end(weft_cli_recording *recording, const weft_cli_common *common);

/** The kind of that name. */
bool weft_cli_checkpoints_named(weft_checkpoints *checkpoints, const char *name);

#endif
