/* SPDX-License-Identifier: MIT */
/* A comparison as text. */
#include <stdio.h>
#include <string.h>

#include "bench/compare.h"
#include "bench/fields.h"
#include "cli.h"
#include "core/formats/json.h"

#define MOST_NAMES 10 /* of the rows that one file has alone */

static bool is_verdict(const json_t *row, const char *verdict) {
    return strcmp(weft_bench_text(row, "verdict"), verdict) == 0;
}

static bool has_new_bits(const json_t *row) {
    return json_is_true(json_object_get(row, "output_changed"));
}

/* ---- what is compared ---- */

static void print_side(const char *title, const json_t *side) {
    const json_t *devices = json_object_get(side, "devices");
    weft_cli_print(stdout, "%s weft %s, %s", title, weft_bench_text(side, "weft"),
                   weft_bench_text(side, "started"));
    for (size_t i = 0; i < json_array_size(devices); i++) {
        weft_cli_print(stdout, "%s %s", i == 0 ? "," : " and",
                       json_string_value(json_array_get(devices, i)));
    }
    weft_cli_print(stdout, "\n");
}

static void print_value(const json_t *value) {
    const weft_host c_library = {0};
    char *text = json_is_string(value) ? NULL : weft_json_text(value, JSON_ENCODE_ANY, &c_library);
    weft_cli_print(stdout, "%s",
                   json_is_string(value) ? json_string_value(value)
                   : text                ? text
                                         : "?");
    weft_free(&c_library, text);
}

static void print_sides(const json_t *comparison) {
    print_side("before:", json_object_get(comparison, "before"));
    print_side("after: ", json_object_get(comparison, "after"));
    const json_t *differences = json_object_get(comparison, "differences");
    for (size_t i = 0; i < json_array_size(differences); i++) {
        const json_t *difference = json_array_get(differences, i);
        weft_cli_print(stdout, "%s: ", weft_bench_text(difference, "field"));
        print_value(json_object_get(difference, "before"));
        weft_cli_print(stdout, " -> ");
        print_value(json_object_get(difference, "after"));
        weft_cli_print(stdout, "\n");
    }
    weft_cli_print(stdout, "\n");
}

/* ---- the changes ---- */

static void change_row(weft_cli_table *table, const json_t *row) {
    static const char *const texts[] = {"verdict", "suite", "case", "runtime"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        weft_cli_table_cell(table, "%s", weft_bench_text(row, texts[i]));
    }
    weft_cli_table_cell(table, "%s",
                        weft_bench_text(row, "math")[0] ? weft_bench_text(row, "math") : "-");
    weft_cli_table_cell(table, "%s", weft_bench_text(row, "device"));
    const bool timed = weft_bench_number(row, "ratio") > 0.0;
    if (timed) {
        const bool by_cpu = strcmp(weft_bench_text(row, "time"), "cpu_ms") == 0;
        weft_cli_table_cell(table, "%s", by_cpu ? "processor" : "clock");
        weft_cli_table_cell(table, "%.3f", weft_bench_number(row, "before_ms"));
        weft_cli_table_cell(table, "%.3f", weft_bench_number(row, "after_ms"));
        weft_cli_table_cell(table, "%.2fx", weft_bench_number(row, "ratio"));
        weft_cli_table_cell(table, "%.2fx", weft_bench_number(row, "median_ratio"));
        weft_cli_table_cell(table, "%.0f %%", 100.0 * weft_bench_number(row, "noise"));
    }
    for (int i = 0; !timed && i < 6; i++) {
        weft_cli_table_cell(table, "-");
    }
    weft_cli_table_cell(table, "%s",
                        has_new_bits(row) ? "other bits" : weft_bench_text(row, "reason"));
}

static int print_changes(const json_t *comparison) {
    static const char *const columns[] = {
        "verdict",    "suite",     "case",   "runtime",      "math",   "device", "time",
        ">before ms", ">after ms", ">ratio", ">clock ratio", ">noise", "note",   NULL};
    const json_t *rows = json_object_get(comparison, "rows");
    weft_cli_table *table = weft_cli_table_begin(columns);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (is_verdict(row, "slower") || is_verdict(row, "faster") ||
            is_verdict(row, "incomparable") || has_new_bits(row)) {
            change_row(table, row);
        }
    }
    int code = weft_cli_table_print(&table);
    weft_cli_print(stdout, "\n");
    return code;
}

static void print_names(const json_t *comparison, const char *verdict) {
    const json_t *rows = json_object_get(comparison, "rows");
    uint32_t printed = 0;
    uint32_t count = weft_bench_compare_count(comparison, verdict);
    for (size_t i = 0; i < json_array_size(rows) && printed < MOST_NAMES; i++) {
        const json_t *row = json_array_get(rows, i);
        if (is_verdict(row, verdict)) {
            weft_cli_print(stdout, "%s: %s (suite %s, %s, %s)\n", verdict,
                           weft_bench_text(row, "case"), weft_bench_text(row, "suite"),
                           weft_bench_text(row, "runtime"), weft_bench_text(row, "device"));
            printed++;
        }
    }
    if (count > printed) {
        weft_cli_print(stdout, "%s: %u more\n", verdict, count - printed);
    }
    if (count > 0) {
        weft_cli_print(stdout, "\n");
    }
}

/* ---- sums ---- */

static int print_suites(const json_t *comparison) {
    static const char *const columns[] = {"suite", ">rows", ">ratio (geometric mean)", NULL};
    const json_t *suites = json_object_get(comparison, "suites");
    if (json_array_size(suites) == 0) {
        return WEFT_CLI_FINE;
    }
    weft_cli_table *table = weft_cli_table_begin(columns);
    for (size_t i = 0; i < json_array_size(suites); i++) {
        const json_t *suite = json_array_get(suites, i);
        weft_cli_table_cell(table, "%s", weft_bench_text(suite, "suite"));
        weft_cli_table_cell(table, "%.0f", weft_bench_number(suite, "rows"));
        weft_cli_table_cell(table, "%.3fx", weft_bench_number(suite, "ratio"));
    }
    weft_cli_print(stdout, "\n");
    return weft_cli_table_print(&table);
}

static void print_counts(const json_t *comparison) {
    static const char *const verdicts[] = {"slower", "faster",     "same",        "new",
                                           "gone",   "unmeasured", "incomparable"};
    for (size_t i = 0; i < sizeof verdicts / sizeof verdicts[0]; i++) {
        weft_cli_print(stdout, "%s%u %s", i > 0 ? ", " : "",
                       weft_bench_compare_count(comparison, verdicts[i]), verdicts[i]);
    }
    uint32_t changed = weft_bench_compare_count(comparison, "output_changed");
    if (changed > 0) {
        weft_cli_print(stdout, "; %u with other bits", changed);
    }
    weft_cli_print(stdout, "\n");
}

static void print_noise(const json_t *comparison, bool no_change) {
    const json_t *noise = json_object_get(comparison, "noise");
    weft_cli_print(
        stdout,
        "%s%.0f %% (software drivers, processors) or %.0f %% (GPUs) and the 95 %% intervals of "
        "%.0f comparisons\n",
        no_change ? "No change beyond noise: " : "Noise: ",
        100.0 * weft_bench_number(noise, "software"), 100.0 * weft_bench_number(noise, "hardware"),
        weft_bench_number(noise, "comparisons"));
}

int weft_bench_compare_print(const json_t *comparison) {
    const bool timed = weft_bench_compare_count(comparison, "slower") > 0 ||
                       weft_bench_compare_count(comparison, "faster") > 0;
    const bool listed = timed || weft_bench_compare_count(comparison, "incomparable") > 0 ||
                        weft_bench_compare_count(comparison, "output_changed") > 0;
    print_sides(comparison);
    int code = listed ? print_changes(comparison) : WEFT_CLI_FINE;
    print_names(comparison, "new");
    print_names(comparison, "gone");
    print_counts(comparison);
    print_noise(comparison, !timed);
    return code == WEFT_CLI_FINE ? print_suites(comparison) : code;
}
