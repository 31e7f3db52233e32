/* SPDX-License-Identifier: MIT */
/* The table of weft eval --compare. */
#ifndef WEFT_CLI_EVAL_TABLE_H
#define WEFT_CLI_EVAL_TABLE_H

#include "eval/score.h"

/** A line of it. Its model is closed when the next one runs, so it has copies, in host memory. */
typedef struct weft_cli_eval_row {
    char *name;
    char *mixing;
    uint64_t parameters;
    double accuracy;
    double bits; /* per token */
    double squared;
    double absolute;
    double tokens_per_s;
    uint64_t peak_bytes;
} weft_cli_eval_row;

/** Prints the columns of one measure; `unit` is that of bits. Returns an exit code. */
int weft_cli_eval_table_print(const weft_cli_eval_row *rows, uint32_t count,
                              weft_cli_measure measure, const char *unit);

#endif
