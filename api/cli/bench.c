/* SPDX-License-Identifier: MIT */
/*
 * weft bench: times graphs on a device. A case is compiled (that is the cold time), run once to warm up, and then again
 * until its time is up, at least MIN_RUNS and at most MAX_RUNS times. Transfers are not timed: inputs and outputs stay
 * on the device, and the time is that of weft_plan_run. Correctness is `weft verify`'s business.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_cases.h"
#include "cli.h"
#include "commands.h"
#include "core/clock.h"
#include "core/file.h"
#include "core/philox.h"

#define MAX_RUNS  200
#define MIN_RUNS  5
#define MAX_PORTS 4

struct options {
    weft_cli_common common;
    const char *suite;
    const char *filter;
    const char *json_file;
    uint32_t seconds; /* per case */
};

struct row {
    const weft_bench_case *bench_case;
    weft_status status;
    double cold_ms, median_ms, p95_ms, spread; /* spread: half the middle half over the median */
    uint32_t runs;
    double flops, bytes;
    weft_plan_info info;
    uint64_t peak_bytes;
};

/* ---- one case ---- */

struct bound_plan {
    weft_plan *plan;
    weft_bindings *bindings;
    weft_buffer *buffers[MAX_PORTS];
};

static weft_status fill(weft_buffer *buffer, uint64_t bytes) {
    float *data = weft_alloc(NULL, (size_t)bytes);
    if (!data) {
        return WEFT_OUT_OF_HOST_MEMORY;
    }
    weft_philox_uniform(data, (size_t)bytes / sizeof *data, 1, 0);
    weft_status status = weft_buffer_write(buffer, 0, data, bytes);
    weft_free(NULL, data);
    return status;
}

static weft_status bind_ports(struct bound_plan *bound, weft_device *device) {
    weft_status status = weft_bindings_create(&bound->bindings, bound->plan);
    weft_port_info port;
    for (uint32_t i = 0; i < MAX_PORTS && status == WEFT_OK; i++) {
        if (weft_plan_get_port(bound->plan, i, &port) != WEFT_OK) {
            break;
        }
        status = weft_buffer_create(&bound->buffers[i], device, port.bytes);
        if (status == WEFT_OK) {
            status = fill(bound->buffers[i], port.bytes);
        }
        if (status == WEFT_OK) {
            status = weft_bindings_set(bound->bindings, port.name, bound->buffers[i]);
        }
    }
    return status;
}

static void unbind(struct bound_plan *bound) {
    weft_bindings_destroy(&bound->bindings);
    for (uint32_t i = 0; i < MAX_PORTS; i++) {
        weft_buffer_destroy(&bound->buffers[i]);
    }
    weft_plan_destroy(&bound->plan);
}

static weft_status compile(struct bound_plan *bound, weft_device *device,
                           const weft_bench_case *bench_case, const weft_host *host) {
    weft_graph *graph = NULL;
    weft_status status = weft_graph_create(&graph, host);
    if (status == WEFT_OK) {
        status = bench_case->build(graph, bench_case);
    }
    if (status == WEFT_OK) {
        status = weft_plan_compile(&bound->plan, device, graph,
                                   weft_plan_params(.implementation = bench_case->implementation));
    }
    weft_graph_destroy(&graph);
    return status == WEFT_OK ? bind_ports(bound, device) : status;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void summarize(struct row *row, double *times) {
    qsort(times, row->runs, sizeof *times, ascending);
    row->median_ms = times[row->runs / 2];
    row->p95_ms = times[(uint32_t)(0.95 * (row->runs - 1) + 0.5)];
    row->spread = 0.5 * (times[row->runs * 3 / 4] - times[row->runs / 4]) / row->median_ms;
}

static weft_status time_runs(struct row *row, struct bound_plan *bound, double limit_ms) {
    double times[MAX_RUNS];
    weft_status status = weft_plan_run(bound->plan, bound->bindings); /* warms up */
    double begin = weft_clock_ms();
    while (status == WEFT_OK && row->runs < MAX_RUNS &&
           (row->runs < MIN_RUNS || weft_clock_ms() - begin < limit_ms)) {
        double start = weft_clock_ms();
        status = weft_plan_run(bound->plan, bound->bindings);
        times[row->runs++] = weft_clock_ms() - start;
    }
    if (status == WEFT_OK) {
        summarize(row, times);
    }
    return status;
}

static void count_bytes(struct row *row, const weft_plan *plan) {
    weft_dispatch_info dispatch;
    for (uint32_t i = 0; weft_plan_get_dispatch(plan, i, &dispatch) == WEFT_OK; i++) {
        row->bytes += dispatch.bytes;
    }
}

static void measure(struct row *row, weft_device *device, const struct options *options,
                    const weft_host *host) {
    struct bound_plan bound = {0};
    double start = weft_clock_ms();
    row->status = compile(&bound, device, row->bench_case, host);
    row->cold_ms = weft_clock_ms() - start;
    if (row->status == WEFT_OK) {
        row->status = time_runs(row, &bound, options->seconds * 1e3);
    }
    if (row->status == WEFT_OK) {
        weft_device_stats stats;
        row->status = weft_plan_get_info(bound.plan, &row->info);
        row->flops = row->info.flops;
        count_bytes(row, bound.plan);
        if (weft_device_get_stats(device, &stats) == WEFT_OK) {
            row->peak_bytes = stats.bytes_in_use;
        }
    }
    unbind(&bound);
    weft_device_trim(device);
}

/* ---- output ---- */

static json_t *row_json(const struct row *row, const weft_device_info *device, weft_math math) {
    const char *status = row->status == WEFT_OK            ? "ok"
                         : row->status == WEFT_UNSUPPORTED ? "unsupported"
                                                           : "error";
    return json_pack(
        "{s:s, s:s, s:o, s:o, s:s, s:s, s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:I, s:i, s:o, s:b}",
        "suite", row->bench_case->suite, "case", row->bench_case->name, "device",
        weft_cli_json_text(device->name), "driver", weft_cli_json_text(device->driver_version),
        "math", weft_math_name(math), "status", status, "reason",
        row->status == WEFT_OK ? "" : weft_status_name(row->status), "runs", (int)row->runs,
        "median_ms", weft_cli_json_real(row->median_ms), "p95_ms", weft_cli_json_real(row->p95_ms),
        "spread", weft_cli_json_real(row->spread), "gflop_per_s",
        weft_cli_json_real(row->flops / row->median_ms * 1e-6), "gb_per_s",
        weft_cli_json_real(row->bytes / row->median_ms * 1e-6), "bytes_in_use",
        (json_int_t)row->peak_bytes, "dispatches", (int)row->info.dispatches, "cold_ms",
        weft_cli_json_real(row->cold_ms), "software_device", device->type == WEFT_DEVICE_SOFTWARE);
}

static json_t *report_json(const struct row *rows, uint32_t count, const weft_device_info *device,
                           weft_math math) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++) {
        json_array_append_new(list, row_json(&rows[i], device, math));
    }
    return json_pack("{s:i, s:{s:s, s:o}, s:o}", "schema", 1, "environment", "weft", weft_version(),
                     "device", weft_cli_device_json(device), "rows", list);
}

static int print_table(const struct row *rows, uint32_t count) {
    static const char *const columns[] = {"suite",       "case",     ">median ms", ">p95 ms",
                                          ">spread",     ">GFLOP/s", ">GB/s",      ">cold ms",
                                          ">dispatches", NULL};
    weft_cli_table *table = weft_cli_table_begin(columns);
    for (uint32_t i = 0; i < count; i++) {
        const struct row *row = &rows[i];
        weft_cli_table_cell(table, "%s", row->bench_case->suite);
        weft_cli_table_cell(table, "%s", row->bench_case->name);
        if (row->status != WEFT_OK) {
            weft_cli_table_cell(table, "%s", weft_status_name(row->status));
            for (uint32_t k = 0; k < 6; k++) {
                weft_cli_table_cell(table, "%s", "");
            }
            continue;
        }
        weft_cli_table_cell(table, "%.3f", row->median_ms);
        weft_cli_table_cell(table, "%.3f", row->p95_ms);
        weft_cli_table_cell(table, "%.1f %%", 100.0 * row->spread);
        weft_cli_table_cell(table, "%.2f", row->flops / row->median_ms * 1e-6);
        weft_cli_table_cell(table, "%.2f", row->bytes / row->median_ms * 1e-6);
        weft_cli_table_cell(table, "%.1f", row->cold_ms);
        weft_cli_table_cell(table, "%u", row->info.dispatches);
    }
    return weft_cli_table_print(&table);
}

static int report(const struct row *rows, uint32_t count, const weft_device *device,
                  const struct options *options, const weft_host *host) {
    weft_device_info info;
    if (weft_device_get_info(device, &info) != WEFT_OK) {
        return WEFT_CLI_NO_DEVICE;
    }
    json_t *json = report_json(rows, count, &info, options->common.math);
    int code = WEFT_CLI_FINE;
    if (options->json_file) {
        char *text = json ? json_dumps(json, JSON_INDENT(1)) : NULL;
        weft_status status = text ? weft_file_write(options->json_file, text, strlen(text), host)
                                  : weft_fail_memory(host, "the report");
        free(text);
        code = weft_cli_exit_code(status);
    }
    if (options->common.json) {
        return code == WEFT_CLI_FINE ? weft_cli_print_json(json) : code;
    }
    json_decref(json);
    printf("%s, %s (%s), %s math%s\n\n", info.name, info.driver, info.driver_version,
           weft_math_name(options->common.math),
           info.type == WEFT_DEVICE_SOFTWARE ? "; a software driver: not a statement about any GPU"
                                             : "");
    int printed = print_table(rows, count);
    return code == WEFT_CLI_FINE ? printed : code;
}

/* ---- the command ---- */

static bool selected(const weft_bench_case *bench_case, const struct options *options) {
    return (!options->suite || strcmp(options->suite, bench_case->suite) == 0) &&
           (!options->filter || strstr(bench_case->name, options->filter));
}

static int run_cases(weft_device *device, const struct options *options, const weft_host *host) {
    uint32_t case_count;
    const weft_bench_case *cases = weft_bench_cases(&case_count);
    struct row *rows = weft_alloc_zero(host, case_count, sizeof *rows);
    if (!rows) {
        return weft_cli_exit_code(weft_fail_memory(host, "the rows"));
    }
    weft_cli_progress progress;
    weft_cli_progress_begin(&progress, "bench", case_count);
    uint32_t count = 0;
    bool failed = false;
    for (uint32_t i = 0; i < case_count; i++) {
        weft_cli_progress_set(&progress, i);
        if (selected(&cases[i], options)) {
            rows[count].bench_case = &cases[i];
            measure(&rows[count], device, options, host);
            failed =
                failed || (rows[count].status != WEFT_OK && rows[count].status != WEFT_UNSUPPORTED);
            count++;
        }
    }
    weft_cli_progress_end(&progress);
    int code = report(rows, count, device, options, host);
    weft_free(host, rows);
    return code == WEFT_CLI_FINE && failed ? WEFT_CLI_FAILED : code;
}

int weft_cli_bench(int argc, char **argv) {
    struct options options = {.seconds = 2};
    const weft_cli_option list[] = {
        {"suite", WEFT_CLI_TEXT, &options.suite, "NAME", "only this suite: ops, mixers or fnet"},
        {"filter", WEFT_CLI_TEXT, &options.filter, "TEXT", "only cases whose name has TEXT in it"},
        {"seconds", WEFT_CLI_COUNT, &options.seconds, "N",
         "longest time to repeat a case (default 2)"},
        {"out", WEFT_CLI_TEXT, &options.json_file, "FILE", "write the rows as JSON to FILE, too"},
        WEFT_CLI_DEVICE_OPTIONS(&options.common),
        WEFT_CLI_OUTPUT_OPTIONS(&options.common),
        {0},
    };
    const weft_cli_syntax syntax = {.command = "bench",
                                    .summary =
                                        "Times ops, mixers and a whole FNet encoder on a device.",
                                    .options = list};
    int code;
    if (!weft_cli_parse(&syntax, argc, argv, NULL, &code)) {
        return code;
    }
    weft_host host = weft_cli_host(&options.common);
    weft_device *device = NULL;
    weft_status status = weft_cli_open(&device, &options.common);
    if (status != WEFT_OK) {
        return weft_cli_open_exit_code(status);
    }
    code = run_cases(device, &options, &host);
    weft_device_destroy(&device);
    return code;
}
