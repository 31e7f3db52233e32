/* SPDX-License-Identifier: MIT */
#include "eval/table.h"

#include <math.h>
#include <string.h>

static const char *const *columns_of(weft_cli_measure measure, const char *unit) {
    static const char *const labels[] = {"model",     "mixer",     ">parameters",  ">accuracy",
                                         ">tokens/s", ">relative", ">peak memory", NULL};
    static const char *const bytes[] = {"model",          "mixer",        ">parameters",
                                        ">bits per byte", ">perplexity",  ">tokens/s",
                                        ">relative",      ">peak memory", NULL};
    static const char *const tokens[] = {"model",           "mixer",        ">parameters",
                                         ">bits per token", ">perplexity",  ">tokens/s",
                                         ">relative",       ">peak memory", NULL};
    static const char *const values[] = {"model",
                                         "mixer",
                                         ">parameters",
                                         ">mean squared error",
                                         ">mean absolute error",
                                         ">tokens/s",
                                         ">relative",
                                         ">peak memory",
                                         NULL};
    switch (measure) {
    case WEFT_CLI_MEASURE_TOKENS:
        return strcmp(unit, "bits per byte") == 0 ? bytes : tokens;
    case WEFT_CLI_MEASURE_VALUES:
        return values;
    default:
        return labels;
    }
}

static void add_quality(weft_cli_table *table, const weft_cli_eval_row *found,
                        weft_cli_measure measure) {
    switch (measure) {
    case WEFT_CLI_MEASURE_LABELS:
        weft_cli_table_cell(table, "%.2f %%", 100.0 * found->accuracy);
        break;
    case WEFT_CLI_MEASURE_TOKENS:
        weft_cli_table_cell(table, "%.4f", found->bits);
        weft_cli_table_cell(table, "%.3f", exp2(found->bits));
        break;
    case WEFT_CLI_MEASURE_VALUES:
        weft_cli_table_cell(table, "%.6g", found->squared);
        weft_cli_table_cell(table, "%.6g", found->absolute);
        break;
    }
}

static void add_row(weft_cli_table *table, const weft_cli_eval_row *found, double relative,
                    weft_cli_measure measure) {
    char number[WEFT_CLI_GROUPED_SIZE];
    char bytes[WEFT_CLI_BYTES_SIZE];
    weft_cli_table_cell(table, "%s", found->name);
    weft_cli_table_cell(table, "%s", found->mixing);
    weft_cli_table_cell(table, "%s", weft_cli_grouped(found->parameters, number));
    add_quality(table, found, measure);
    weft_cli_table_cell(table, "%s",
                        weft_cli_grouped((uint64_t)(found->tokens_per_s + 0.5), number));
    weft_cli_table_cell(table, "%.2f×", relative);
    weft_cli_table_cell(table, "%s", weft_cli_bytes(found->peak_bytes, bytes));
}

int weft_cli_eval_table_print(const weft_cli_eval_row *rows, uint32_t count,
                              weft_cli_measure measure, const char *unit) {
    weft_cli_table *table = weft_cli_table_begin(columns_of(measure, unit));
    for (uint32_t index = 0; index < count; index++) {
        add_row(table, &rows[index], rows[index].tokens_per_s / rows[0].tokens_per_s, measure);
    }
    return weft_cli_table_print(&table);
}
