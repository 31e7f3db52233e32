/* SPDX-License-Identifier: MIT */
#include "bench/tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/fields.h"

/* ---- fields ---- */

/** Null members and such that are not there give NaN. */
static double number(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static bool is_text(const json_t *object, const char *key, const char *expected) {
    return strcmp(weft_bench_text(object, key), expected) == 0;
}

/** Names of devices need not differ, indices do. */
static bool is_of(const json_t *row, double device_index) {
    return number(row, "device_index") == device_index;
}

/* ---- cells ---- */

static void number_cell(weft_cli_table *table, const char *format, double value) {
    char cell[64] = "-";
    if (isfinite(value)) {
        snprintf(cell, sizeof cell, format, value);
    }
    weft_cli_table_cell(table, "%s", cell);
}

static void bytes_cell(weft_cli_table *table, double bytes) {
    char cell[WEFT_CLI_BYTES_SIZE];
    weft_cli_table_cell(table, "%s", isfinite(bytes) ? weft_cli_bytes((uint64_t)bytes, cell) : "-");
}

/* ---- rows ---- */

static void row_cells(weft_cli_table *table, const json_t *row) {
    number_cell(table, "%.3f", number(row, "median_ms"));
    number_cell(table, "%.3f", number(row, "p95_ms"));
    number_cell(table, "%.1f %%", 100.0 * number(row, "spread"));
    number_cell(table, "%.0f", number(row, "runs"));
    number_cell(table, "%.2f", number(row, "gflop_per_s"));
    number_cell(table, "%.2f", number(row, "gb_per_s"));
    bytes_cell(table, number(row, "extra_bytes"));
    number_cell(table, "%.1f", number(row, "cold_ms"));
    number_cell(table, "%.0f", number(row, "dispatches"));
}

static int print_rows(const json_t *rows, double device) {
    static const char *const columns[] = {"suite",         "case",     ">median ms",  ">p95 ms",
                                          ">spread",       ">runs",    ">GFLOP/s",    ">GB/s",
                                          ">extra memory", ">cold ms", ">dispatches", NULL};
    weft_cli_table *table = weft_cli_table_begin(columns);
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row) {
        if (!is_of(row, device)) {
            continue;
        }
        weft_cli_table_cell(table, "%s", weft_bench_text(row, "suite"));
        weft_cli_table_cell(table, "%s", weft_bench_text(row, "case"));
        if (is_text(row, "status", "ok")) {
            row_cells(table, row);
            continue;
        }
        weft_cli_table_cell(table, "%s", weft_bench_text(row, "status"));
        for (uint32_t k = 0; k < 8; k++) {
            weft_cli_table_cell(table, "%s", "");
        }
    }
    return weft_cli_table_print(&table);
}

static void print_reasons(const json_t *rows, double device) {
    const char *separator = "\n";
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row) {
        if (is_of(row, device) && !is_text(row, "status", "ok")) {
            weft_cli_print_lines(stdout, separator);
            weft_cli_print(stdout, "%s %s: %s: %s\n", weft_bench_text(row, "suite"),
                           weft_bench_text(row, "case"), weft_bench_text(row, "status"),
                           weft_bench_text(row, "reason"));
            separator = "";
        }
    }
}

/* ---- fits ---- */

static void exponent_cell(weft_cli_table *table, const json_t *growth) {
    const double exponent = number(growth, "exponent");
    const double error = number(growth, "standard_error");
    if (isfinite(error)) {
        weft_cli_table_cell(table, "%.3f ± %.3f", exponent, error);
    } else {
        number_cell(table, "%.3f", exponent);
    }
}

static void crossover_cell(weft_cli_table *table, const json_t *crossover) {
    if (is_text(crossover, "kind", "below")) {
        weft_cli_table_cell(table, "below %.0f", number(crossover, "from"));
    } else if (is_text(crossover, "kind", "never")) {
        weft_cli_table_cell(table, "not up to %.0f", number(crossover, "to"));
    } else {
        number_cell(table, "%.0f", number(crossover, "n"));
    }
}

static void speedup_cell(weft_cli_table *table, const json_t *fit) {
    const double speedup = number(fit, "speedup");
    if (isfinite(speedup)) {
        weft_cli_table_cell(table, "%.2fx at %.0f", speedup,
                            number(json_object_get(fit, "crossover"), "to"));
    } else {
        weft_cli_table_cell(table, "%s", "-");
    }
}

static void fit_cells(weft_cli_table *table, const json_t *fit) {
    const json_t *time = json_object_get(fit, "time");
    weft_cli_table_cell(table, "%s", weft_bench_text(fit, "suite"));
    weft_cli_table_cell(table, "%s", weft_bench_text(fit, "series"));
    if (isfinite(number(time, "from"))) {
        weft_cli_table_cell(table, "%.0f - %.0f", number(time, "from"), number(time, "to"));
    } else {
        weft_cli_table_cell(table, "%s", "-");
    }
    exponent_cell(table, time);
    exponent_cell(table, json_object_get(fit, "cpu_time"));
    exponent_cell(table, json_object_get(fit, "extra_memory"));
    crossover_cell(table, json_object_get(fit, "crossover"));
    speedup_cell(table, fit);
}

static int print_fits(const json_t *fits, double device) {
    static const char *const columns[] = {"suite",      "series",         ">lengths",
                                          ">time ~ n^", ">CPU time ~ n^", ">extra memory ~ n^",
                                          ">crossover", ">against dense", NULL};
    weft_cli_table *table = NULL;
    size_t i;
    json_t *fit;
    json_array_foreach(fits, i, fit) {
        if (is_of(fit, device) && number(json_object_get(fit, "time"), "lengths") >= 2.0) {
            table = table ? table : weft_cli_table_begin(columns);
            fit_cells(table, fit);
        }
    }
    if (!table) {
        return WEFT_CLI_FINE;
    }
    weft_cli_print(
        stdout,
        "\nGrowth with the length (least squares in log-log, ± standard error), and the length "
        "from which on\n");
    weft_cli_print(stdout, "a mixer is no slower than dense attention in its faster form there, or "
                           "(suite ski) than the TNN:\n\n");
    return weft_cli_table_print(&table);
}

/* ---- the machine ---- */

/* What the report tells of it, on a line: "laptop A: Some processor, 8 cores, 16 GiB of memory, governor powersave". */
static void print_machine(const json_t *environment) {
    static const char *const settings[][2] = {{"governor", "governor"},
                                              {"energy_preference", "energy preference"},
                                              {"power_plan", "power plan"}};
    char size[WEFT_CLI_BYTES_SIZE];
    const char *label = weft_bench_text(environment, "label");
    const char *cpu = weft_bench_text(environment, "cpu");
    const double memory = number(environment, "memory");
    weft_cli_print(stdout, "%s%s%s%s%.0f cores", label, label[0] != '\0' ? ": " : "", cpu,
                   cpu[0] != '\0' ? ", " : "", number(environment, "cores"));
    if (memory > 0.0) {
        weft_cli_print(stdout, ", %s of memory", weft_cli_bytes((uint64_t)memory, size));
    }
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        const char *value = weft_bench_text(environment, settings[i][0]);
        if (value[0] != '\0') {
            weft_cli_print(stdout, ", %s %s", settings[i][1], value);
        }
    }
    weft_cli_print(stdout, "\n\n");
}

/* ---- a device ---- */

static int print_device(const json_t *report, const json_t *device, const char *separator) {
    const json_t *rows = json_object_get(report, "rows");
    const double index = number(device, "index");
    const bool software = is_text(device, "type", "software");
    const bool processor = is_text(device, "type", "processor");
    weft_cli_print_lines(stdout, separator);
    weft_cli_print(stdout, "%s, %s%s\n\n", weft_bench_text(device, "name"),
                   weft_bench_text(device, "driver"),
                   software    ? "; a software driver: not a statement about any GPU"
                   : processor ? "; the processor itself"
                               : "");
    WEFT_CLI_TRY(print_rows(rows, index));
    print_reasons(rows, index);
    return print_fits(json_object_get(report, "fits"), index);
}

int weft_bench_tables_print(const json_t *report) {
    const json_t *environment = json_object_get(report, "environment");
    const json_t *devices = json_object_get(environment, "devices");
    const json_t *slow_down = json_object_get(environment, "debug_slow_down");
    size_t i;
    json_t *device;
    if (json_is_integer(slow_down)) {
        weft_cli_print(stdout,
                       "Debugging: each time is of %lld executions (--debug-slow-down).\n\n",
                       (long long)json_integer_value(slow_down));
    }
    print_machine(environment);
    json_array_foreach(devices, i, device) {
        WEFT_CLI_TRY(print_device(report, device, i > 0 ? "\n" : ""));
    }
    return WEFT_CLI_FINE;
}
