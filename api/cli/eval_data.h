/* SPDX-License-Identifier: MIT */
/* Labelled examples for `weft eval`: an .npz archive, or a folder of texts. */
#ifndef WEFT_CLI_EVAL_DATA_H
#define WEFT_CLI_EVAL_DATA_H

#include "model/npz.h"
#include "session.h"

typedef struct weft_cli_example {
    size_t begin; /* of its tokens in weft_cli_data.tokens */
    uint32_t length;
    uint32_t label; /* below the model's label_count */
} weft_cli_example;

typedef struct weft_cli_data {
    weft_cli_example *examples;
    uint32_t count; /* at least 1 */
    int32_t *tokens;
    uint32_t cut; /* texts that were longer than the model takes */
} weft_cli_data;

/**
 * Reads `path`, and checks every length, token and label against the model. Returns an exit code.
 *
 * An .npz archive has the members `tokens`, int32 or int64 [N, n], and `labels`, int32 or int64 [N];
 * and, optionally, `lengths`, int32 or int64 [N]: row i then has only lengths[i] tokens, and what is
 * behind them is not looked at.
 *
 * A folder has a folder for each label that occurs in it, called as the label or as the label's
 * first word, and in those the texts, NAME.txt, one example each. Examples are in the order of
 * labels, then names.
 */
int weft_cli_data_load(weft_cli_data *data, const char *path, const weft_cli_session *session);

/**
 * The member of an archive as one row of `expected` integers in fresh memory: weft_free. `path` is
 * for messages. Returns an exit code.
 */
int weft_cli_read_row(int32_t **values, weft_npz *npz, const char *member, uint32_t expected,
                      const char *path, const weft_host *host);

/** Frees what the data holds; a zeroed one is fine. */
void weft_cli_data_clear(weft_cli_data *data, const weft_host *host);

#endif
