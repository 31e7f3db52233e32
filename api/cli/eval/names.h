/* SPDX-License-Identifier: MIT */
/* What models are called in tables: the ends of their folders' paths. */
#ifndef WEFT_CLI_EVAL_NAMES_H
#define WEFT_CLI_EVAL_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/** The last part of a path, without trailing slashes; its length in *length. */
const char *weft_cli_last_part(const char *path, int *length);

/**
 * How many characters of the last parts are the same word or words up to a hyphen, as the task in
 * "text-fnet" and "text-tnn", which narrow columns leave out. None of a single model's.
 */
int weft_cli_common_prefix(const char *const *models, uint32_t count);

/** Whether the last parts of the paths tell the models apart. */
bool weft_cli_last_parts_differ(const char *const *models, uint32_t count);

#endif
