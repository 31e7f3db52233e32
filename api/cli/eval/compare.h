/* SPDX-License-Identifier: MIT */
/* weft eval --compare: several models on the same data, side by side. */
#ifndef WEFT_CLI_EVAL_COMPARE_H
#define WEFT_CLI_EVAL_COMPARE_H

#include "cli.h"

typedef struct weft_cli_comparison_params {
    const weft_cli_common *common;
    const char *const *models;
    uint32_t count; /* at least 1 */
    const char *data;
    uint32_t batch;    /* 0: as weft_cli_evaluate chooses */
    uint32_t examples; /* so many are looked at; 0: all */
    bool answers;      /* a table of the answers is printed, too */
} weft_cli_comparison_params;

/**
 * Loads the models and checks that all have one task and fit the data before any runs; runs them one
 * after the other, each on a device opened for it, so that its peak of memory is its own; and prints
 * a table, or one JSON object. Returns an exit code.
 */
int weft_cli_eval_compare(const weft_cli_comparison_params *params);

#endif
