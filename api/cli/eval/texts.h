/* SPDX-License-Identifier: MIT */
/* The folder of texts that eval/load.h describes. */
#ifndef WEFT_CLI_EVAL_TEXTS_H
#define WEFT_CLI_EVAL_TEXTS_H

#include "eval/data.h"

/** Adds sequences, tokens and labels to zeroed data. Returns an exit code. */
int weft_cli_texts_load(weft_cli_data *data, const char *path, const weft_cli_session *session);

#endif
