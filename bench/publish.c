/* SPDX-License-Identifier: MIT */
#include "bench/publish.h"

#include <stdio.h>

#include "bench/compare.h"
#include "bench/csv.h"
#include "bench/file.h"
#include "bench/tables.h"
#include "cli.h"

static weft_status write_files(const json_t *report, const weft_bench_outputs *outputs,
                               const weft_host *host) {
    weft_status status = WEFT_OK;
    if (outputs->json_file) {
        status = weft_bench_file_write(outputs->json_file, report, host);
    }
    if (status == WEFT_OK && outputs->csv_file) {
        status = weft_bench_csv_write(outputs->csv_file, report, host);
    }
    return status;
}

static weft_bench_noise noise_of(const weft_bench_outputs *outputs) {
    if (outputs->noise_percent > 0) {
        const double floor = 0.01 * outputs->noise_percent;
        return (weft_bench_noise){.hardware = floor, .software = floor};
    }
    return (weft_bench_noise){.hardware = WEFT_BENCH_HARDWARE_NOISE,
                              .software = WEFT_BENCH_SOFTWARE_NOISE};
}

/** Takes the comparison. */
static int print_comparison(json_t *comparison, const weft_bench_outputs *outputs) {
    const bool slower = weft_bench_compare_count(comparison, "slower") > 0;
    int code;
    if (outputs->json) {
        code = weft_cli_print_json(comparison);
    } else {
        code = weft_bench_compare_print(comparison);
        json_decref(comparison);
    }
    return code == WEFT_CLI_FINE && slower && outputs->fail_on_slower ? WEFT_CLI_FAILED : code;
}

static int print_all(json_t *report, const weft_bench_outputs *outputs, const weft_host *host) {
    if (outputs->json && !outputs->before) {
        return weft_cli_print_json(json_incref(report));
    }
    const bool with_tables = !outputs->json && (outputs->measured || !outputs->before);
    int code = with_tables ? weft_bench_tables_print(report) : WEFT_CLI_FINE;
    if (code != WEFT_CLI_FINE || !outputs->before) {
        return code;
    }
    if (with_tables) {
        putchar('\n');
    }
    const weft_bench_noise noise = noise_of(outputs);
    json_t *comparison = weft_bench_compare(outputs->before, report, &noise);
    return comparison ? print_comparison(comparison, outputs)
                      : weft_cli_exit_code(weft_fail_memory(host, "the comparison"));
}

int weft_bench_publish(json_t *report, const weft_bench_outputs *outputs, const weft_host *host) {
    weft_status status =
        report ? write_files(report, outputs, host) : weft_fail_memory(host, "the report");
    int code = weft_cli_exit_code(status);
    if (code == WEFT_CLI_FINE) {
        code = print_all(report, outputs, host);
    }
    json_decref(report);
    return code;
}
