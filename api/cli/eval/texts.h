/* SPDX-License-Identifier: MIT */
/* The folder of texts that eval/load.h describes, and a file with a text on each line. */
#ifndef WEFT_CLI_EVAL_TEXTS_H
#define WEFT_CLI_EVAL_TEXTS_H

#include "eval/data.h"

/** Adds sequences, tokens and labels to zeroed data. Returns an exit code. */
int weft_cli_texts_load(weft_cli_data *data, const char *path, const weft_cli_session *session);

/**
 * Adds sequences and tokens to zeroed data, one for each line of a file, or of standard input for "-". Lines end with \n or
 * \r\n, the last one also without; none may be empty. Returns an exit code.
 */
int weft_cli_lines_load(weft_cli_data *data, const char *path, const weft_cli_session *session);

#endif
