/* SPDX-License-Identifier: MIT */
#include "bench/publish.h"

#include <stdio.h>

#include "bench/compare.h"
#include "bench/csv.h"
#include "bench/file.h"
#include "bench/page.h"
#include "bench/tables.h"
#include "cli.h"
#include "core/try.h"
#include "stop.h"

static weft_status write_files(const json_t *report, const json_t *comparison,
                               const weft_bench_outputs *outputs, const weft_host *host) {
    if (outputs->json_file) {
        WEFT_TRY(weft_bench_file_write(outputs->json_file, report, host));
    }
    if (outputs->csv_file) {
        WEFT_TRY(weft_bench_csv_write(outputs->csv_file, report, host));
    }
    if (outputs->html_file) {
        WEFT_TRY(weft_bench_page_write(outputs->html_file, report, comparison, host));
    }
    return WEFT_OK;
}

static weft_bench_noise noise_of(const weft_bench_outputs *outputs) {
    if (outputs->noise_percent > 0) {
        const double floor = 0.01 * outputs->noise_percent;
        return (weft_bench_noise){.hardware = floor, .software = floor};
    }
    return (weft_bench_noise){.hardware = WEFT_BENCH_HARDWARE_NOISE,
                              .software = WEFT_BENCH_SOFTWARE_NOISE};
}

/** Null without --compare. */
static weft_status compare(json_t **comparison, const json_t *report,
                           const weft_bench_outputs *outputs, const weft_host *host) {
    if (!outputs->before) {
        return WEFT_OK;
    }
    const weft_bench_noise noise = noise_of(outputs);
    *comparison = weft_bench_compare(outputs->before, report, &noise);
    return *comparison ? WEFT_OK : weft_fail_memory(host, "the comparison");
}

static int print_text(const json_t *report, const json_t *comparison,
                      const weft_bench_outputs *outputs) {
    if (!comparison) {
        return weft_bench_tables_print(report);
    }
    if (outputs->measured) {
        WEFT_CLI_TRY(weft_bench_tables_print(report));
        weft_cli_print(stdout, "\n");
    }
    return weft_bench_compare_print(comparison);
}

/** With what every command that was stopped says; a file's "interrupted" is of its measurements. */
static int print_json(json_t *shown) {
    json_t *copy = json_copy(shown);
    json_object_set_new(copy, "stopped", json_boolean(weft_cli_stopped()));
    return weft_cli_print_json(copy);
}

static int print(json_t *report, json_t *comparison, const weft_bench_outputs *outputs) {
    return outputs->json ? print_json(comparison ? comparison : report)
                         : print_text(report, comparison, outputs);
}

static int publish(json_t **comparison, json_t *report, const weft_bench_outputs *outputs,
                   const weft_host *host) {
    WEFT_CLI_TRY(weft_cli_exit_code(report ? WEFT_OK : weft_fail_memory(host, "the report")));
    WEFT_CLI_TRY(weft_cli_exit_code(compare(comparison, report, outputs, host)));
    WEFT_CLI_TRY(weft_cli_exit_code(write_files(report, *comparison, outputs, host)));
    WEFT_CLI_TRY(print(report, *comparison, outputs));
    return outputs->fail_on_slower && weft_bench_compare_count(*comparison, "slower") > 0
               ? WEFT_CLI_FAILED
               : WEFT_CLI_FINE;
}

int weft_bench_publish(json_t *report, const weft_bench_outputs *outputs, const weft_host *host) {
    json_t *comparison = NULL;
    int code = publish(&comparison, report, outputs, host);
    json_decref(comparison);
    json_decref(report);
    return code;
}
