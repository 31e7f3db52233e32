/* SPDX-License-Identifier: MIT */
#include "bench/side.h"

#include <stdio.h>
#include <string.h>

#include "bench/fields.h"

#define HEADING_SIZE 32

/* Headings that numbers are in, for a table; `names` ends with null. */
struct headings {
    char (*texts)[HEADING_SIZE];
    const char **names;
    size_t count;
};

static size_t column_count(const json_t *index) {
    return json_array_size(json_object_get(index, "columns"));
}

static size_t baseline_of(const json_t *index) {
    return (size_t)weft_bench_number(index, "baseline");
}

/* ---- headings ---- */

static void end_headings(struct headings *headings, const weft_host *host) {
    weft_free(host, headings->texts);
    weft_free(host, (void *)headings->names);
}

/* With room for some names, and two texts of each column. Returns an exit code. */
static int begin_headings(struct headings *headings, const char *const *first, size_t columns,
                          const weft_host *host) {
    *headings =
        (struct headings){.texts = weft_alloc_zero(host, 2 * columns + 1, sizeof *headings->texts),
                          .names = weft_alloc_zero(host, 2 * columns + 8, sizeof *headings->names)};
    if (!headings->texts || !headings->names) {
        end_headings(headings, host);
        return weft_cli_exit_code(weft_fail_memory(host, "a table"));
    }
    while (first[headings->count]) {
        headings->names[headings->count] = first[headings->count];
        headings->count++;
    }
    return WEFT_CLI_FINE;
}

static void add_heading(struct headings *headings, size_t text, const char *format, size_t column,
                        size_t baseline) {
    snprintf(headings->texts[text], HEADING_SIZE, format, column + 1, baseline + 1);
    headings->names[headings->count++] = headings->texts[text];
}

/* ---- machines ---- */

static void power_cell(weft_cli_table *table, const json_t *machine) {
    const char *governor = weft_bench_text(machine, "governor");
    const char *preference = weft_bench_text(machine, "energy_preference");
    const char *plan = weft_bench_text(machine, "power_plan");
    weft_cli_table_cell(table, "%s%s%s%s", governor, preference[0] != '\0' ? ", " : "", preference,
                        plan);
}

static void memory_cell(weft_cli_table *table, const json_t *machine) {
    char bytes[WEFT_CLI_BYTES_SIZE];
    const double memory = weft_bench_number(machine, "memory");
    weft_cli_table_cell(table, "%s", memory > 0.0 ? weft_cli_bytes((uint64_t)memory, bytes) : "");
}

static int print_machines(const json_t *index) {
    static const char *const names[] = {">no.",   "machine", "device", "driver", "processor",
                                        ">cores", ">memory", "power",  NULL};
    weft_cli_table *table = weft_cli_table_begin(names);
    for (size_t i = 0; i < column_count(index); i++) {
        const json_t *column = json_array_get(json_object_get(index, "columns"), i);
        const json_t *machine = weft_bench_item(index, "machines", column, "machine");
        weft_cli_table_cell(table, "%zu", i + 1);
        weft_cli_table_cell(table, "%s", weft_bench_text(machine, "name"));
        weft_cli_table_cell(table, "%s", weft_bench_text(column, "device"));
        weft_cli_table_cell(table, "%s", weft_bench_text(column, "driver"));
        weft_cli_table_cell(table, "%s", weft_bench_text(machine, "cpu"));
        weft_cli_table_cell(table, "%.0f", weft_bench_number(machine, "cores"));
        memory_cell(table, machine);
        power_cell(table, machine);
    }
    return weft_cli_table_print(&table);
}

/* ---- cases ---- */

/* The newest time of a column; null where it has none. */
static const json_t *cell_of(const json_t *index, const json_t *line, size_t column) {
    const json_t *cells = json_object_get(line, "cells");
    for (size_t i = 0; i < json_array_size(cells); i++) {
        const json_t *cell = json_array_get(cells, i);
        if (json_is_true(json_object_get(cell, "newest")) &&
            weft_bench_number(weft_bench_item(index, "entries", cell, "entry"), "column") ==
                (double)column) {
            return cell;
        }
    }
    return NULL;
}

static void time_cells(weft_cli_table *table, const json_t *cell, bool is_baseline) {
    if (!cell) {
        weft_cli_table_cell(table, "-");
    } else if (json_is_true(json_object_get(cell, "refused"))) {
        weft_cli_table_cell(table, "other bits");
    } else {
        weft_cli_table_cell(table, "%.3f", weft_bench_number(cell, "median_ms"));
    }
    if (is_baseline) {
        return;
    }
    if (json_is_number(json_object_get(cell, "ratio"))) {
        weft_cli_table_cell(table, "%.2fx", weft_bench_number(cell, "ratio"));
    } else {
        weft_cli_table_cell(table, "-");
    }
}

static int print_cases(const json_t *index, const weft_host *host) {
    static const char *const first[] = {"suite", "case", "math", NULL};
    const json_t *cases = json_object_get(index, "cases");
    const size_t baseline = baseline_of(index);
    const size_t count = column_count(index);
    struct headings headings;
    WEFT_CLI_TRY(begin_headings(&headings, first, count, host));
    for (size_t i = 0; i < count; i++) {
        add_heading(&headings, 2 * i, ">no. %zu ms", i, baseline);
        if (i != baseline) {
            add_heading(&headings, 2 * i + 1, ">%zu / %zu", i, baseline);
        }
    }
    weft_cli_table *table = weft_cli_table_begin(headings.names);
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *line = json_array_get(cases, i);
        for (size_t k = 0; first[k]; k++) {
            weft_cli_table_cell(table, "%s", weft_bench_text(line, first[k]));
        }
        for (size_t k = 0; k < count; k++) {
            time_cells(table, cell_of(index, line, k), k == baseline);
        }
    }
    const int code = weft_cli_table_print(&table);
    end_headings(&headings, host);
    return code;
}

/* ---- means ---- */

static bool is_same_row(const json_t *one, const json_t *other) {
    return json_equal(json_object_get(one, "math"), json_object_get(other, "math")) &&
           json_equal(json_object_get(one, "suite"), json_object_get(other, "suite"));
}

/* The mean of a column among those from `begin` to `end`; null where it has none. */
static const json_t *mean_of(const json_t *ratios, size_t begin, size_t end, size_t column) {
    for (size_t i = begin; i < end; i++) {
        const json_t *mean = json_array_get(ratios, i);
        if (weft_bench_number(mean, "column") == (double)column) {
            return mean;
        }
    }
    return NULL;
}

/* The cells of the means from `begin` on that have one math and suite; gives the place behind them. */
static size_t mean_cells(weft_cli_table *table, const json_t *index, size_t begin) {
    const json_t *ratios = json_object_get(index, "ratios");
    const json_t *first = json_array_get(ratios, begin);
    size_t end = begin + 1;
    while (end < json_array_size(ratios) && is_same_row(first, json_array_get(ratios, end))) {
        end++;
    }
    const bool is_all = json_is_null(json_object_get(first, "suite"));
    weft_cli_table_cell(table, "%s", weft_bench_text(first, "math"));
    weft_cli_table_cell(table, "%s", is_all ? "(all)" : weft_bench_text(first, "suite"));
    for (size_t i = 0; i < column_count(index); i++) {
        const json_t *mean = mean_of(ratios, begin, end, i);
        if (i != baseline_of(index) && mean) {
            weft_cli_table_cell(table, "%.2fx (%.0f)", weft_bench_number(mean, "ratio"),
                                weft_bench_number(mean, "cases"));
        } else if (i != baseline_of(index)) {
            weft_cli_table_cell(table, "-");
        }
    }
    return end;
}

static int print_means(const json_t *index, const weft_host *host) {
    static const char *const first[] = {"math", "suite", NULL};
    const size_t baseline = baseline_of(index);
    const size_t count = column_count(index);
    struct headings headings;
    WEFT_CLI_TRY(begin_headings(&headings, first, count, host));
    for (size_t i = 0; i < count; i++) {
        if (i != baseline) {
            add_heading(&headings, i, ">%zu / %zu (cases)", i, baseline);
        }
    }
    weft_cli_print(stdout, "\nGeometric means of the ratios, over the cases with the same bits:\n");
    weft_cli_print(stdout, "\n");
    weft_cli_table *table = weft_cli_table_begin(headings.names);
    for (size_t i = 0; i < json_array_size(json_object_get(index, "ratios"));) {
        i = mean_cells(table, index, i);
    }
    const int code = weft_cli_table_print(&table);
    end_headings(&headings, host);
    return code;
}

int weft_bench_side_print(const json_t *index) {
    const weft_host host = {0};
    WEFT_CLI_TRY(print_machines(index));
    weft_cli_print(stdout, "\n");
    if (json_array_size(json_object_get(index, "cases")) == 0) {
        weft_cli_print(stdout, "No case was timed by two of them.\n");
        return WEFT_CLI_FINE;
    }
    WEFT_CLI_TRY(print_cases(index, &host));
    return print_means(index, &host);
}
