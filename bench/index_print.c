/* SPDX-License-Identifier: MIT */
/* An index as a page in Markdown. */
#include <stdio.h>
#include <string.h>

#include "bench/fields.h"
#include "bench/index.h"
#include "bench/markdown.h"
#include "cli.h"

static const char *name_of(const json_t *index, const json_t *column) {
    return weft_bench_text(weft_bench_item(index, "machines", column, "machine"), "name");
}

/* ---- what there is ---- */

static void print_entry(const json_t *index, const json_t *entry) {
    static const char *const texts[] = {"device", "driver", "type", "math", "weft"};
    const json_t *rate = json_object_get(entry, "mixing_rate_tokens_per_s");
    char date[11];
    snprintf(date, sizeof date, "%s", weft_bench_text(entry, "started"));
    weft_cli_print(stdout, "| ");
    weft_bench_print_markdown(name_of(index, weft_bench_item(index, "columns", entry, "column")));
    weft_cli_print(stdout, " | ");
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        weft_bench_print_markdown(weft_bench_text(entry, texts[i]));
        weft_cli_print(stdout, " | ");
    }
    weft_bench_print_markdown(date);
    weft_cli_print(stdout, " | %.0f | ", weft_bench_number(entry, "rows"));
    const double skipped = weft_bench_number(entry, "skipped");
    if (json_is_integer(json_object_get(entry, "ran"))) {
        weft_cli_print(stdout, "%.0f of %.0f, %.0f wrong", weft_bench_number(entry, "ran"),
                       weft_bench_number(entry, "cases"), weft_bench_number(entry, "failed"));
        if (skipped > 0.0) {
            weft_cli_print(stdout, ", %.0f skipped", skipped);
        }
        weft_cli_print(stdout, " | ");
    } else {
        weft_cli_print(stdout, "– | ");
    }
    if (json_is_number(rate)) {
        weft_cli_print(stdout, "%.4g | ", 1e-6 * json_number_value(rate));
    } else {
        weft_cli_print(stdout, "– | ");
    }
    weft_cli_print(stdout, "[");
    weft_bench_print_markdown(weft_bench_text(entry, "file"));
    weft_cli_print(stdout, "](%s) |\n", weft_bench_text(entry, "href") + strlen("./"));
}

/* ---- machines ---- */

static void print_machine(const json_t *machine) {
    static const char *const settings[] = {"governor", "energy_preference", "power_plan"};
    char bytes[WEFT_CLI_BYTES_SIZE];
    const double memory = weft_bench_number(machine, "memory");
    const char *separator = "";
    weft_cli_print(stdout, "| ");
    weft_bench_print_markdown(weft_bench_text(machine, "name"));
    weft_cli_print(stdout, " | ");
    weft_bench_print_markdown(weft_bench_text(machine, "cpu"));
    weft_cli_print(stdout, " | %.0f | %s | ", weft_bench_number(machine, "cores"),
                   memory > 0.0 ? weft_cli_bytes((uint64_t)memory, bytes) : "–");
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        const char *value = weft_bench_text(machine, settings[i]);
        if (value[0] != '\0') {
            weft_cli_print(stdout, "%s", separator);
            weft_bench_print_markdown(value);
            separator = ", ";
        }
    }
    weft_cli_print(stdout, "%s |\n", separator[0] != '\0' ? "" : "–");
}

static void print_machines(const json_t *index) {
    const json_t *machines = json_object_get(index, "machines");
    weft_cli_print_lines(stdout,
                         "\n## Machines\n\n"
                         "| machine | processor | cores | memory | governor or power plan |\n"
                         "|---|---|---:|---:|---|\n");
    for (size_t i = 0; i < json_array_size(machines); i++) {
        print_machine(json_array_get(machines, i));
    }
}

/* ---- ratios ---- */

static bool is_of_all(const json_t *mean) {
    return json_is_null(json_object_get(mean, "suite"));
}

/* "ops 1.5 (8), mixers 1.2 (40)" of a column in a mode. */
static void print_suites(const json_t *ratios, const json_t *all) {
    const char *separator = "";
    for (size_t i = 0; i < json_array_size(ratios); i++) {
        const json_t *mean = json_array_get(ratios, i);
        if (!is_of_all(mean) &&
            json_equal(json_object_get(mean, "math"), json_object_get(all, "math")) &&
            json_equal(json_object_get(mean, "column"), json_object_get(all, "column"))) {
            weft_cli_print(stdout, "%s", separator);
            weft_bench_print_markdown(weft_bench_text(mean, "suite"));
            weft_cli_print(stdout, " %.3g (%.0f)", weft_bench_number(mean, "ratio"),
                           weft_bench_number(mean, "cases"));
            separator = ", ";
        }
    }
}

static void print_column(const json_t *index, const json_t *column) {
    weft_bench_print_markdown(name_of(index, column));
    weft_cli_print(stdout, " | ");
    weft_bench_print_markdown(weft_bench_text(column, "device"));
    weft_cli_print(stdout, " | ");
    weft_bench_print_markdown(weft_bench_text(column, "driver"));
}

static void print_ratios(const json_t *index) {
    const json_t *ratios = json_object_get(index, "ratios");
    if (json_array_size(ratios) == 0) {
        return;
    }
    const json_t *baseline = weft_bench_item(index, "columns", index, "baseline");
    weft_cli_print_lines(stdout, "\n## Beside each other\n\nTimes over those of ");
    weft_bench_print_markdown(name_of(index, baseline));
    weft_cli_print(stdout, " (");
    weft_bench_print_markdown(weft_bench_text(baseline, "device"));
    weft_cli_print(stdout, ", ");
    weft_bench_print_markdown(weft_bench_text(baseline, "driver"));
    weft_cli_print_lines(
        stdout, "): geometric means over the cases that both timed, with the same bits; 2 is twice "
                "as long.\n`--baseline` chooses another one, as the page does.\n\n"
                "| machine | device | driver | math | ratio | cases | by suite |\n"
                "|---|---|---|---|---:|---:|---|\n");
    for (size_t i = 0; i < json_array_size(ratios); i++) {
        const json_t *mean = json_array_get(ratios, i);
        const json_t *column = weft_bench_item(index, "columns", mean, "column");
        if (is_of_all(mean) && column != baseline) {
            weft_cli_print(stdout, "| ");
            print_column(index, column);
            weft_cli_print(stdout, " | ");
            weft_bench_print_markdown(weft_bench_text(mean, "math"));
            weft_cli_print(stdout, " | %.3g | %.0f | ", weft_bench_number(mean, "ratio"),
                           weft_bench_number(mean, "cases"));
            print_suites(ratios, mean);
            weft_cli_print(stdout, " |\n");
        }
    }
}

/* ---- the page ---- */

int weft_bench_index_print(const json_t *index) {
    const json_t *entries = json_object_get(index, "entries");
    const json_t *rows = json_object_get(index, "cases");
    size_t refused = 0;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *cells = json_object_get(json_array_get(rows, i), "cells");
        for (size_t k = 0; k < json_array_size(cells); k++) {
            refused += json_is_true(json_object_get(json_array_get(cells, k), "refused"));
        }
    }
    weft_cli_print_lines(
        stdout, "# Results\n\n"
                "Written by `weft bench --index bench/results > bench/results/README.md`; "
                "`--html FILE` also makes a page with\n"
                "the rows of all machines beside each other. Times of one case are "
                "compared only where its bits are the same.\n\n"
                "| machine | device | driver | type | math | Weft | date | rows | bits | million "
                "tokens/s ([mixing rate](../../docs/certify.md#the-mixing-rate)) | file |\n"
                "|---|---|---|---|---|---|---|---:|---|---:|---|\n");
    for (size_t i = 0; i < json_array_size(entries); i++) {
        print_entry(index, json_array_get(entries, i));
    }
    weft_cli_print(stdout,
                   "\n%zu cases were timed by more than one of these; %zu times are not "
                   "compared, as their bits are others.\n",
                   json_array_size(rows), refused);
    print_machines(index);
    print_ratios(index);
    return WEFT_CLI_FINE;
}
