/* SPDX-License-Identifier: MIT */
/* Reading examples. */
#ifndef WEFT_CLI_EVAL_LOAD_H
#define WEFT_CLI_EVAL_LOAD_H

#include "eval/data.h"

/**
 * Reads `path` as the model's task wants it, and checks it against the model.
 *
 * An .npz archive has the members
 *   `tokens`, int32 or int64 [S, n], or `inputs`, float32 or float64 [S, n, c], or uint8 [S, n, c],
 *       of which 255 means 1: byte b is float(b) / 255.0f;
 *   `positions`, float32 or float64 [S, n, l], for models that take them;
 *   `lengths`, int32 or int64 [S], optional: row i then has only lengths[i] tokens, and what is
 *       behind them is not looked at;
 *   `labels`, int32 or int64: [S] for classification; [S / 2] for retrieval, whose sequences 2i and
 *       2i + 1 are pair i and have one length; [S, n] for masked language models, -1 where a token
 *       is not scored; none for causal language models, which predict the tokens themselves;
 *   `targets`, float32 or float64 [S, outputs], for regression.
 *
 * A folder, for classification alone, has a folder for each label that occurs in it, called as the
 * label or as the label's first word, and in those the texts, NAME.txt, one example each. Examples
 * are in the order of labels, then names.
 */
int weft_cli_data_load(weft_cli_data *data, const char *path, const weft_cli_session *session);

#endif
