/* SPDX-License-Identifier: MIT */
/*
 * weft bench: times graphs on a device (bench_run.h), fits how they grow with the length (bench_growth.h), and reports.
 * Transfers are not timed. That results are right is `weft verify`'s business; here outputs must be finite and the same
 * in every run.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/report.h"
#include "bench/suites/mixers.h"
#include "commands.h"
#include "core/file.h"

#define MAX_LENGTH    (1U << 24)
#define RUNS_AT_LEAST 6 /* of a case, the one that warms up included: bench_run.h */

struct options {
    weft_cli_common common;
    const char *suite;
    const char *filter;
    const char *json_file;
    const char *size;
    const char *lengths_text; /* null: as the size has them */
    weft_bench_scope scope;
    uint32_t seconds;  /* per case */
    uint32_t time_cap; /* of a case, in seconds */
};

/* ---- which cases ---- */

static int read_lengths(struct options *options, const weft_cli_syntax *syntax) {
    weft_bench_scope *scope = &options->scope;
    const char *at = options->lengths_text;
    uint32_t previous = 0;
    if (!at) {
        weft_bench_default_lengths(scope);
        return WEFT_CLI_FINE;
    }
    scope->lengths_given = true;
    for (;;) {
        char *end = NULL;
        errno = 0;
        unsigned long long value = strtoull(at, &end, 10);
        if (at[0] < '0' || at[0] > '9' || (*end != '\0' && *end != ',') || errno != 0 ||
            value < WEFT_BENCH_MIN_LENGTH || value > MAX_LENGTH || value <= previous ||
            scope->length_count == WEFT_BENCH_MAX_LENGTHS) {
            return weft_cli_usage_error(syntax,
                                        "--lengths: expected at most %d whole numbers from %u to "
                                        "%u in ascending order, as in 512,1024, found '%s'",
                                        WEFT_BENCH_MAX_LENGTHS, WEFT_BENCH_MIN_LENGTH, MAX_LENGTH,
                                        options->lengths_text);
        }
        previous = (uint32_t)value;
        scope->lengths[scope->length_count++] = previous;
        if (*end == '\0') {
            return WEFT_CLI_FINE;
        }
        at = end + 1;
    }
}

static int read_size(struct options *options, const weft_cli_syntax *syntax) {
    static const char *const names[] = {[WEFT_BENCH_FULL] = "full",
                                        [WEFT_BENCH_SHORT] = "short",
                                        [WEFT_BENCH_SMALLEST] = "smallest"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(options->size, names[i]) == 0) {
            options->scope.size = (weft_bench_size)i;
            return WEFT_CLI_FINE;
        }
    }
    return weft_cli_usage_error(syntax, "--size: expected full, short or smallest, found '%s'",
                                options->size);
}

/** The cases of the suites that the options name. */
static int list_cases(weft_bench_list *list, const struct options *options,
                      const weft_cli_syntax *syntax) {
    bool known = false;
    const weft_bench_suite *suite;
    for (uint32_t i = 0; (suite = weft_bench_suite_at(i)) != NULL; i++) {
        if (!options->suite || strcmp(options->suite, suite->name) == 0) {
            suite->add(list, &options->scope);
            known = true;
        }
    }
    return known ? weft_cli_exit_code(list->status)
                 : weft_cli_usage_error(syntax, "--suite: no suite is named '%s'", options->suite);
}

static bool selected(const weft_bench_case *bench_case, const struct options *options) {
    return !options->filter || strstr(bench_case->name, options->filter);
}

/** A row for each case that the options ask for, in fresh memory. */
static weft_status make_rows(weft_bench_row **rows, uint32_t *count, const weft_bench_list *list,
                             const struct options *options, const weft_host *host) {
    *rows = weft_alloc_zero(host, (size_t)list->count + 1, sizeof **rows);
    *count = 0;
    if (!*rows) {
        return weft_fail_memory(host, "the rows");
    }
    for (uint32_t i = 0; i < list->count; i++) {
        if (selected(&list->cases[i], options)) {
            (*rows)[(*count)++].bench_case = &list->cases[i];
        }
    }
    return WEFT_OK;
}

/* ---- the rows ---- */

/** Runs row `index`, unless the rows before it tell that this would take too long. */
static void measure(weft_bench_row *rows, uint32_t index, weft_device *device,
                    struct options *options, const weft_host *host) {
    weft_bench_row *row = &rows[index];
    double expected_s = RUNS_AT_LEAST * 1e-3 * weft_bench_expected_ms(rows, index, row->bench_case);
    if (expected_s > options->time_cap) { /* false where nothing is known */
        row->status = WEFT_BENCH_SKIPPED;
        snprintf(row->reason, sizeof row->reason,
                 "expected to take %.0f s, more than the %u s of --time-cap", expected_s,
                 options->time_cap);
        return;
    }
    options->common.error = row->reason; /* a row keeps what went wrong with it */
    weft_bench_run(row, device, options->seconds * 1e3, host);
    options->common.error = NULL;
}

static bool measure_all(weft_bench_row *rows, uint32_t count, weft_device *device,
                        struct options *options, const weft_host *host) {
    weft_cli_progress progress;
    weft_cli_progress_begin(&progress, "bench", count);
    bool fine = true;
    for (uint32_t i = 0; i < count; i++) {
        weft_cli_progress_set(&progress, i);
        measure(rows, i, device, options, host);
        fine = fine && rows[i].status != WEFT_BENCH_ERROR;
    }
    weft_cli_progress_end(&progress);
    return fine;
}

/* ---- the report ---- */

static weft_status write_report(const char *path, const json_t *json, const weft_host *host) {
    char *text = json ? json_dumps(json, JSON_INDENT(1) | JSON_REAL_PRECISION(12)) : NULL;
    weft_status status = text ? weft_file_write(path, text, strlen(text), host)
                              : weft_fail_memory(host, "the report");
    free(text);
    return status;
}

static int print_report(const weft_bench_report *report, const struct options *options,
                        const weft_host *host) {
    json_t *json = weft_bench_report_json(report);
    int code = WEFT_CLI_FINE;
    if (options->json_file) {
        code = weft_cli_exit_code(write_report(options->json_file, json, host));
    }
    if (code == WEFT_CLI_FINE && options->common.json) {
        return weft_cli_print_json(json);
    }
    json_decref(json);
    return code == WEFT_CLI_FINE ? weft_bench_report_print(report) : code;
}

static int report_rows(const weft_bench_row *rows, uint32_t count, const weft_device *device,
                       const struct options *options, const weft_host *host) {
    weft_bench_report report = {.math = options->common.math, .rows = rows, .row_count = count};
    weft_bench_fit *fits = NULL;
    weft_status status = weft_device_get_info(device, &report.device);
    if (status == WEFT_OK) {
        status = weft_bench_fits(&fits, &report.fit_count, rows, count, host);
    }
    report.fits = fits;
    int code =
        status == WEFT_OK ? print_report(&report, options, host) : weft_cli_exit_code(status);
    weft_free(host, fits);
    return code;
}

/* ---- the command ---- */

static int run_rows(weft_bench_row *rows, uint32_t count, struct options *options,
                    const weft_host *host) {
    weft_device *device = NULL;
    weft_status status = weft_cli_open(&device, &options->common);
    if (status != WEFT_OK) {
        return weft_cli_open_exit_code(status);
    }
    bool fine = measure_all(rows, count, device, options, host);
    fine = !weft_cli_validation_failed(device) && fine;
    int code = report_rows(rows, count, device, options, host);
    weft_device_destroy(&device);
    return code == WEFT_CLI_FINE && !fine ? WEFT_CLI_FAILED : code;
}

static int run_list(const weft_bench_list *list, struct options *options,
                    const weft_cli_syntax *syntax, const weft_host *host) {
    weft_bench_row *rows = NULL;
    uint32_t count = 0;
    weft_status status = make_rows(&rows, &count, list, options, host);
    int code = weft_cli_exit_code(status);
    if (status == WEFT_OK && count == 0) {
        code = weft_cli_usage_error(
            syntax, "no case of %s%s has '%s' in its name", options->suite ? "suite " : "any suite",
            options->suite ? options->suite : "", options->filter ? options->filter : "");
    } else if (status == WEFT_OK) {
        code = run_rows(rows, count, options, host);
    }
    weft_free(host, rows);
    return code;
}

static int run_cases(struct options *options, const weft_cli_syntax *syntax) {
    weft_host host = weft_cli_host(&options->common);
    weft_bench_list list = {.host = &host};
    int code = list_cases(&list, options, syntax);
    if (code == WEFT_CLI_FINE) {
        code = run_list(&list, options, syntax, &host);
    }
    weft_bench_list_free(&list);
    return code;
}

int weft_cli_bench(int argc, char **argv) {
    struct options options = {.seconds = 2, .time_cap = 120, .size = "full"};
    const weft_cli_option list[] = {
        {"suite", WEFT_CLI_TEXT, &options.suite, "NAME", "only this suite (see bench/README.md)"},
        {"filter", WEFT_CLI_TEXT, &options.filter, "TEXT", "only cases whose name has TEXT in it"},
        {"size", WEFT_CLI_TEXT, &options.size, "SIZE",
         "how much of each suite: full, short or smallest (default full)"},
        {"lengths", WEFT_CLI_TEXT, &options.lengths_text, "N,N,...",
         "lengths n that mixers are timed at, or token n of decode\n(default of full: "
         "512,1024,2048,4096,8192,16384)"},
        {"seconds", WEFT_CLI_COUNT, &options.seconds, "N",
         "longest time to repeat a case (default 2)"},
        {"time-cap", WEFT_CLI_COUNT, &options.time_cap, "N",
         "leave out a case of which 6 runs are expected to take longer,\nby its times at shorter "
         "lengths, in seconds (default 120)"},
        {"out", WEFT_CLI_TEXT, &options.json_file, "FILE", "write the rows as JSON to FILE, too"},
        WEFT_CLI_DEVICE_OPTIONS(&options.common),
        WEFT_CLI_OUTPUT_OPTIONS(&options.common),
        {0},
    };
    const weft_cli_syntax syntax = {
        .command = "bench",
        .summary =
            "Times ops, mixers, a whole FNet encoder, and causal mixers a token at a time on\n"
            "a device, and fits how the mixers' time and memory grow with the length.",
        .options = list};
    int code;
    if (!weft_cli_parse(&syntax, argc, argv, NULL, &code)) {
        return code;
    }
    code = read_size(&options, &syntax);
    if (code == WEFT_CLI_FINE) {
        code = read_lengths(&options, &syntax);
    }
    return code == WEFT_CLI_FINE ? run_cases(&options, &syntax) : code;
}
