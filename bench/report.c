/* SPDX-License-Identifier: MIT */
#include "bench/report.h"

#include <math.h>
#include <stdio.h>

#define SCHEMA   1
#define BASELINE "dense attention"

/* ---- JSON ---- */

static json_t *shape_json(const weft_shape *shape) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < shape->rank; i++) {
        json_array_append_new(list, json_integer(shape->dim[i]));
    }
    return list;
}

static json_t *optional_text(const char *text) {
    return text && text[0] != '\0' ? weft_cli_json_text(text) : json_null();
}

/* Adds what only a case that ran has. */
static void add_measurements(json_t *object, const weft_bench_row *row) {
    json_t *more = json_pack(
        "{s:o, s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:i, s:o, s:s}",
        "shape", shape_json(&row->shape), "clock", row->device_clock ? "device" : "host", "runs",
        (int)row->runs, "median_ms", weft_cli_json_real(row->median_ms), "p5_ms",
        weft_cli_json_real(row->p5_ms), "p95_ms", weft_cli_json_real(row->p95_ms), "spread",
        weft_cli_json_real(row->spread), "host_ms", weft_cli_json_real(row->host_ms), "cpu_ms",
        row->cpu_ms > 0.0 ? json_real(row->cpu_ms) : json_null(), "gflop_per_s",
        weft_cli_json_real(row->info.flops / row->median_ms * 1e-6), "gb_per_s",
        weft_cli_json_real(row->bytes / row->median_ms * 1e-6), "extra_bytes",
        (json_int_t)row->info.arena_bytes, "weight_bytes", (json_int_t)row->info.weight_bytes,
        "bytes_in_use", (json_int_t)row->bytes_in_use, "dispatches", (int)row->info.dispatches,
        "cold_ms", weft_cli_json_real(row->cold_ms), "output_sha256", row->sha256);
    json_object_update(object, more);
    json_decref(more);
}

static json_t *row_json(const weft_bench_row *row, const weft_bench_report *report) {
    const weft_bench_case *bench_case = row->bench_case;
    json_t *object = json_pack(
        "{s:s, s:s, s:o, s:o, s:o, s:o, s:s, s:s, s:o, s:b}", "suite", bench_case->suite, "case",
        bench_case->name, "series", optional_text(bench_case->series), "n",
        bench_case->series ? json_integer(bench_case->length) : json_null(), "device",
        weft_cli_json_text(report->device.name), "driver",
        weft_cli_json_text(report->device.driver_version), "math", weft_math_name(report->math),
        "status", weft_bench_status_name(row->status), "reason", weft_cli_json_text(row->reason),
        "software_device", (int)(report->device.type == WEFT_DEVICE_SOFTWARE));
    if (object && row->status == WEFT_BENCH_OK) {
        add_measurements(object, row);
    }
    return object;
}

static json_t *growth_json(const weft_growth *growth) {
    return json_pack("{s:i, s:o, s:o, s:o, s:o}", "lengths", (int)growth->count, "from",
                     growth->count > 0 ? json_integer((json_int_t)growth->from) : json_null(), "to",
                     growth->count > 0 ? json_integer((json_int_t)growth->to) : json_null(),
                     "exponent", weft_cli_json_real(growth->exponent), "standard_error",
                     weft_cli_json_real(growth->standard_error));
}

static const char *crossover_name(weft_crossover_kind kind) {
    static const char *const names[] = {"unknown", "below", "at", "never"};
    return names[kind];
}

static json_t *crossover_json(const weft_crossover *crossover) {
    return json_pack("{s:s, s:s, s:o, s:o, s:o}", "baseline", BASELINE, "kind",
                     crossover_name(crossover->kind), "n", weft_cli_json_real(crossover->n), "from",
                     weft_cli_json_real(crossover->from), "to", weft_cli_json_real(crossover->to));
}

static json_t *fit_json(const weft_bench_fit *fit) {
    return json_pack("{s:s, s:s, s:b, s:o, s:o, s:o, s:o, s:o}", "suite", fit->suite, "series",
                     fit->series, "linear", (int)fit->linear, "time", growth_json(&fit->time),
                     "cpu_time", growth_json(&fit->cpu_time), "extra_memory",
                     growth_json(&fit->memory), "crossover",
                     fit->dense ? json_null() : crossover_json(&fit->crossover), "speedup",
                     fit->dense ? json_null() : weft_cli_json_real(fit->speedup));
}

json_t *weft_bench_report_json(const weft_bench_report *report) {
    json_t *rows = json_array();
    json_t *fits = json_array();
    for (uint32_t i = 0; i < report->row_count; i++) {
        json_array_append_new(rows, row_json(&report->rows[i], report));
    }
    for (uint32_t i = 0; i < report->fit_count; i++) {
        json_array_append_new(fits, fit_json(&report->fits[i]));
    }
    return json_pack("{s:i, s:{s:s, s:o}, s:o, s:o}", "schema", SCHEMA, "environment", "weft",
                     weft_version(), "device", weft_cli_device_json(&report->device), "rows", rows,
                     "fits", fits);
}

/* ---- tables ---- */

static void bytes_cell(weft_cli_table *table, uint64_t bytes) {
    char text[WEFT_CLI_BYTES_SIZE];
    weft_cli_table_cell(table, "%s", weft_cli_bytes(bytes, text));
}

static int print_rows(const weft_bench_report *report) {
    static const char *const columns[] = {"suite",         "case",     ">median ms",  ">p95 ms",
                                          ">spread",       ">runs",    ">GFLOP/s",    ">GB/s",
                                          ">extra memory", ">cold ms", ">dispatches", NULL};
    weft_cli_table *table = weft_cli_table_begin(columns);
    for (uint32_t i = 0; i < report->row_count; i++) {
        const weft_bench_row *row = &report->rows[i];
        weft_cli_table_cell(table, "%s", row->bench_case->suite);
        weft_cli_table_cell(table, "%s", row->bench_case->name);
        if (row->status != WEFT_BENCH_OK) {
            weft_cli_table_cell(table, "%s", weft_bench_status_name(row->status));
            for (uint32_t k = 0; k < 8; k++) {
                weft_cli_table_cell(table, "%s", "");
            }
            continue;
        }
        weft_cli_table_cell(table, "%.3f", row->median_ms);
        weft_cli_table_cell(table, "%.3f", row->p95_ms);
        weft_cli_table_cell(table, "%.1f %%", 100.0 * row->spread);
        weft_cli_table_cell(table, "%u", row->runs);
        weft_cli_table_cell(table, "%.2f", row->info.flops / row->median_ms * 1e-6);
        weft_cli_table_cell(table, "%.2f", row->bytes / row->median_ms * 1e-6);
        bytes_cell(table, row->info.arena_bytes);
        weft_cli_table_cell(table, "%.1f", row->cold_ms);
        weft_cli_table_cell(table, "%u", row->info.dispatches);
    }
    return weft_cli_table_print(&table);
}

static void print_reasons(const weft_bench_report *report) {
    const char *separator = "\n";
    for (uint32_t i = 0; i < report->row_count; i++) {
        const weft_bench_row *row = &report->rows[i];
        if (row->status != WEFT_BENCH_OK) {
            printf("%s%s: %s: %s\n", separator, row->bench_case->name,
                   weft_bench_status_name(row->status), row->reason);
            separator = "";
        }
    }
}

static void exponent_cell(weft_cli_table *table, const weft_growth *growth) {
    if (isfinite(growth->standard_error)) {
        weft_cli_table_cell(table, "%.3f ± %.3f", growth->exponent, growth->standard_error);
    } else if (isfinite(growth->exponent)) {
        weft_cli_table_cell(table, "%.3f", growth->exponent);
    } else {
        weft_cli_table_cell(table, "%s", "-");
    }
}

static void crossover_cell(weft_cli_table *table, const weft_bench_fit *fit) {
    const weft_crossover *crossover = &fit->crossover;
    weft_crossover_kind kind = fit->dense ? WEFT_CROSSOVER_UNKNOWN : crossover->kind;
    switch (kind) {
    case WEFT_CROSSOVER_ALWAYS:
        weft_cli_table_cell(table, "below %.0f", crossover->from);
        break;
    case WEFT_CROSSOVER_AT:
        weft_cli_table_cell(table, "%.0f", crossover->n);
        break;
    case WEFT_CROSSOVER_NEVER:
        weft_cli_table_cell(table, "not up to %.0f", crossover->to);
        break;
    default:
        weft_cli_table_cell(table, "%s", "-");
    }
}

static void speedup_cell(weft_cli_table *table, const weft_bench_fit *fit) {
    if (fit->dense || !isfinite(fit->speedup)) {
        weft_cli_table_cell(table, "%s", "-");
    } else {
        weft_cli_table_cell(table, "%.2fx at %.0f", fit->speedup, fit->crossover.to);
    }
}

static int print_fits(const weft_bench_report *report) {
    static const char *const columns[] = {
        "series",     ">lengths",       ">time ~ n^", ">CPU time ~ n^", ">extra memory ~ n^",
        ">crossover", ">against dense", NULL};
    weft_cli_table *table = weft_cli_table_begin(columns);
    for (uint32_t i = 0; i < report->fit_count; i++) {
        const weft_bench_fit *fit = &report->fits[i];
        weft_cli_table_cell(table, "%s", fit->series);
        if (fit->time.count > 0) {
            weft_cli_table_cell(table, "%.0f - %.0f", fit->time.from, fit->time.to);
        } else {
            weft_cli_table_cell(table, "%s", "-");
        }
        exponent_cell(table, &fit->time);
        exponent_cell(table, &fit->cpu_time);
        exponent_cell(table, &fit->memory);
        crossover_cell(table, fit);
        speedup_cell(table, fit);
    }
    printf(
        "\nGrowth with the length (least squares in log-log, ± standard error), and the length "
        "from which on\na mixer is no slower than dense attention in its faster form there:\n\n");
    return weft_cli_table_print(&table);
}

int weft_bench_report_print(const weft_bench_report *report) {
    const weft_device_info *device = &report->device;
    printf("%s, %s (%s), %s math%s\n\n", device->name, device->driver, device->driver_version,
           weft_math_name(report->math),
           device->type == WEFT_DEVICE_SOFTWARE
               ? "; a software driver: not a statement about any GPU"
               : "");
    int code = print_rows(report);
    print_reasons(report);
    return code == WEFT_CLI_FINE && report->fit_count > 0 ? print_fits(report) : code;
}
