/* SPDX-License-Identifier: MIT */
/* weft verify: every op and mixer against float64, and device against device. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "commands.h"
#include "core/try.h"
#include "stop.h"
#include "verify_list.h"
#include "verify_receipt.h"
#include "verify_record.h"

#define MOST_REPEATS 10000U /* more would find what is rarer than one in 1,400 */

typedef struct verify_options {
    weft_cli_common common;
    const char *filter;
    const char *bits;
    const char *write_bits;
    const char *list;
    const char *check_list;
    const char *write_list;
    bool kernels_once;
    bool prints_cases;
    bool evaluate;
    uint32_t evaluate_limit; /* million steps; 0: none */
    uint32_t repeats;        /* of each case; 0: it runs once */
} verify_options;

/* ---- which cases ---- */

static weft_status add_case(weft_verify_record *record, uint32_t *capacity,
                            const weft_verify_case *what) {
    if (!weft_grow(&record->host, &record->cases, record->case_count, capacity,
                   sizeof *record->cases)) {
        return weft_fail_memory(&record->host, "the list of cases");
    }
    record->cases[record->case_count++] = *what;
    return WEFT_OK;
}

static weft_status collect_cases(weft_verify_record *record) {
    uint32_t capacity = 0;
    const weft_case_family *family = NULL;
    for (uint32_t which = 0; (family = weft_case_family_at(which)); which++) {
        for (uint32_t index = 0; index < family->count; index++) {
            weft_verify_case what = {.family = family, .index = index};
            weft_case_name(what.name, family, index);
            WEFT_TRY(add_case(record, &capacity, &what));
        }
    }
    return WEFT_OK;
}

static void keep_filtered(weft_verify_record *record, const char *filter) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < record->case_count; i++) {
        if (strstr(record->cases[i].name, filter)) {
            record->cases[kept++] = record->cases[i];
        }
    }
    record->case_count = kept;
}

/* All cases but those that the options leave out. */
static int choose_cases(weft_verify_record *record, const verify_options *options,
                        const weft_cli_syntax *syntax) {
    WEFT_CLI_TRY(weft_cli_exit_code(collect_cases(record)));
    if (options->list) {
        WEFT_CLI_TRY(weft_verify_read_list(record, options->list));
        weft_verify_keep_listed(record);
    }
    if (options->check_list) {
        WEFT_CLI_TRY(weft_verify_read_list(record, options->check_list));
    }
    if (options->filter) {
        keep_filtered(record, options->filter);
    }
    if (record->case_count > 0) {
        return WEFT_CLI_FINE;
    }
    return options->filter
               ? weft_cli_usage_error(syntax, "--filter: no case's name contains '%s'",
                                      options->filter)
               : weft_cli_usage_error(syntax, "--list: %s names no case", options->list);
}

/* ---- which devices ---- */

static bool wants_all(const verify_options *options) {
    return options->common.device && strcmp(options->common.device, "all") == 0;
}

/* One run for each usable device, or one for the chosen device, which is told when it is opened. */
static weft_status collect_devices(weft_verify_record *record, const verify_options *options) {
    weft_device_info *infos = NULL;
    uint32_t count = 1;
    record->all_devices = wants_all(options);
    record->lists_cases = options->prints_cases;
    record->kernels_once = options->kernels_once;
    if (record->all_devices) {
        WEFT_TRY(weft_cli_list_usable(&infos, &count, &record->host));
    }
    record->runs = weft_alloc_zero(&record->host, count, sizeof *record->runs);
    record->run_count = record->runs ? count : 0;
    for (uint32_t index = 0; infos && index < record->run_count; index++) {
        record->runs[index].info = infos[index];
    }
    weft_free(&record->host, infos);
    return record->runs ? WEFT_OK : weft_fail_memory(&record->host, "the list of devices");
}

static weft_status open_device(weft_device **device, weft_verify_run *run,
                               const weft_verify_record *record, const verify_options *options) {
    if (record->all_devices) {
        char select[16];
        snprintf(select, sizeof select, "%u", run->info.index);
        WEFT_TRY(weft_cli_open_selected(device, &options->common, select));
    } else {
        WEFT_TRY(weft_cli_open(device, &options->common));
    }
    return weft_device_get_info(*device, &run->info);
}

/* ---- running ---- */

/* The run whose bits of a case the others' are compared with: the first that has them. Null before any other has. */
static const weft_verify_run *first_run(const weft_verify_record *record,
                                        const weft_verify_run *run, uint32_t index) {
    for (const weft_verify_run *other = record->runs; other < run; other++) {
        if (other->status == WEFT_OK && !other->results[index].skipped) {
            return other;
        }
    }
    return NULL;
}

/* Compares a case's bits with those of the first device, then lets go of those nobody needs. */
static weft_status compare_devices(weft_verify_record *record, weft_verify_run *run, uint32_t index,
                                   const weft_case *c) {
    const weft_verify_run *first = first_run(record, run, index);
    weft_status status = WEFT_OK;
    char text[WEFT_REASON_SIZE];
    if (first && !run->results[index].skipped && record->math != WEFT_MATH_FAST &&
        !weft_case_same_bits(text, c, &first->results[index], &run->results[index])) {
        weft_verify_difference difference = {.case_index = index,
                                             .run = run,
                                             .other = first,
                                             .text = weft_strdup(&record->host, text)};
        status = weft_verify_add_difference(record, difference);
    }
    if (first || record->run_count == 1) {
        weft_case_result_free(&run->results[index]);
    }
    return status;
}

/* Compares a case with its evaluation on the host, when that was asked for. */
static void evaluate_case(const weft_verify_record *record, weft_verify_run *run, uint32_t index,
                          const weft_case *c, weft_device *device) {
    weft_case_result *result = &run->results[index];
    if (record->evaluator) {
        weft_case_evaluate(result, c, device, record->evaluator, record->evaluation_limit);
        run->evaluated += result->evaluation == WEFT_EVALUATED;
        run->evaluations_skipped += result->evaluation == WEFT_EVALUATION_SKIPPED;
    }
}

/* The command was stopped before the case was done. */
static void skip_case(weft_verify_run *run, uint32_t index) {
    weft_case_result *result = &run->results[index];
    weft_case_result_free(result);
    result->passed = false;
    result->skipped = true;
    snprintf(result->reason, sizeof result->reason, "stopped");
    run->skipped++;
    run->stopped = true;
}

/* Runs a case again: each time it has the bits of the first, or it fails. */
static void repeat_case(weft_verify_record *record, weft_case_result *result, const weft_case *c,
                        weft_device *device) {
    for (uint32_t i = 1; i < record->repeats && result->passed && !weft_cli_stopped(); i++) {
        weft_case_result again = {0};
        weft_case_run(&again, c, device);
        if (!again.passed || strcmp(again.digest, result->digest) != 0) {
            result->passed = false;
            snprintf(result->reason, sizeof result->reason, "run %u of %u: %.200s", i + 1,
                     record->repeats, again.passed ? "other bits than in the first" : again.reason);
        }
        weft_case_result_free(&again);
    }
}

static weft_status run_case(weft_verify_record *record, weft_verify_run *run, uint32_t index,
                            weft_device *device) {
    const weft_verify_case *what = &record->cases[index];
    weft_case_result *result = &run->results[index];
    weft_case c;
    weft_status status = weft_case_create(&c, what->family, what->index, &record->host);
    if (status != WEFT_OUT_OF_HOST_MEMORY) {
        weft_case_run(result, &c, device);
        repeat_case(record, result, &c, device);
        evaluate_case(record, run, index, &c, device);
        if (weft_cli_stopped()) {
            skip_case(run, index);
            weft_case_destroy(&c);
            return WEFT_OK;
        }
        run->passed += result->passed;
        run->skipped += result->skipped;
        run->failed += !result->passed && !result->skipped;
        status = compare_devices(record, run, index, &c);
    }
    if (status == WEFT_OK && run->kernels && !result->skipped) {
        status = weft_case_list_kernels(&run->kernels[index], &c, device, record->kernels_once);
    }
    weft_case_destroy(&c);
    return status;
}

static weft_status run_cases(weft_verify_record *record, weft_verify_run *run, weft_device *device,
                             const verify_options *options) {
    run->results = weft_alloc_zero(&record->host, record->case_count, sizeof *run->results);
    if (!run->results) {
        return weft_fail_memory(&record->host, "the results");
    }
    if (options->check_list || options->write_list) {
        WEFT_TRY(weft_verify_note_kernels(record, run));
    }
    weft_cli_progress progress;
    weft_cli_progress_begin(&progress, run->info.name, record->case_count);
    weft_status status = WEFT_OK;
    for (uint32_t index = 0; index < record->case_count && status == WEFT_OK; index++) {
        if (weft_cli_stopped()) {
            skip_case(run, index);
            continue;
        }
        status = run_case(record, run, index, device);
        weft_cli_progress_set(&progress, index + 1);
    }
    weft_cli_progress_end(&progress);
    if (status == WEFT_OK && options->check_list && !run->stopped) {
        status = weft_verify_check_list(record, run, options->check_list);
    }
    return status;
}

static weft_status run_device(weft_verify_record *record, weft_verify_run *run,
                              const verify_options *options) {
    weft_device *device = NULL;
    run->status = open_device(&device, run, record, options);
    weft_status status = WEFT_OK;
    if (run->status == WEFT_OK) {
        status = run_cases(record, run, device, options);
        weft_device_stats stats;
        if (weft_cli_validation_failed(device) &&
            weft_device_get_stats(device, &stats) == WEFT_OK) {
            run->validation_messages = stats.validation_messages;
        }
    }
    weft_device_destroy(&device);
    return status;
}

/* ---- the command ---- */

/* The exit code of a finished record: what was found weighs more than what could not be tried. */
static int judge(const weft_verify_record *record) {
    if (!weft_verify_is_fine(record)) {
        return WEFT_CLI_FAILED;
    }
    for (uint32_t device = 0; device < record->run_count; device++) {
        if (record->runs[device].status != WEFT_OK) {
            return weft_cli_open_exit_code(record->runs[device].status);
        }
    }
    return WEFT_CLI_FINE;
}

/* Whether all cases were tried, on all devices. */
static bool is_whole(const weft_verify_record *record) {
    bool whole = true;
    for (uint32_t device = 0; device < record->run_count; device++) {
        const weft_verify_run *run = &record->runs[device];
        whole = whole && !run->stopped && run->status != WEFT_CANCELLED;
    }
    return whole;
}

static int report(weft_verify_record *record, const verify_options *options) {
    weft_cli_stop_settle(is_whole(record));
    if (options->bits) {
        WEFT_CLI_TRY(
            weft_verify_compare_bits(record, options->bits, options->filter || options->list));
    }
    WEFT_CLI_TRY(options->common.json ? weft_verify_report_json(record)
                                      : weft_verify_report_text(record));
    WEFT_CLI_TRY(judge(record));
    if (weft_cli_stopped()) { /* files of all cases are not for some */
        return WEFT_CLI_FAILED;
    }
    if (options->write_bits) {
        WEFT_CLI_TRY(weft_verify_write_bits(record, options->write_bits));
    }
    if (options->write_list) {
        WEFT_CLI_TRY(weft_verify_write_list(record, options->write_list));
    }
    return WEFT_CLI_FINE;
}

static int verify(weft_verify_record *record, const verify_options *options) {
    for (uint32_t device = 0; device < record->run_count; device++) {
        WEFT_CLI_TRY(weft_cli_exit_code(run_device(record, &record->runs[device], options)));
    }
    if (!record->all_devices && record->run_count > 0 && record->runs[0].status != WEFT_OK) {
        return weft_cli_open_exit_code(record->runs[0].status);
    }
    return report(record, options);
}

/* Options that do not go together. */
static int check_options(const verify_options *options, const weft_cli_syntax *syntax) {
    bool fast = options->common.math == WEFT_MATH_FAST;
    if ((options->bits || options->write_bits) && fast) {
        return weft_cli_usage_error(syntax,
                                    "--bits and --write-bits need --math reproducible or fused: "
                                    "the bits of fast mode differ between devices");
    }
    if (options->evaluate && fast) {
        return weft_cli_usage_error(syntax, "--evaluate needs --math reproducible or fused: the "
                                            "bits of fast mode are the device's choice");
    }
    if (options->evaluate_limit != 0 && !options->evaluate) {
        return weft_cli_usage_error(syntax, "--evaluate-limit needs --evaluate");
    }
    if (options->repeats > MOST_REPEATS) {
        return weft_cli_usage_error(syntax, "--repeat: expected at most %u", MOST_REPEATS);
    }
    if (options->write_bits && (options->filter || options->list)) {
        return weft_cli_usage_error(syntax,
                                    "--write-bits needs every case: leave out --filter and --list");
    }
    if (options->kernels_once && !options->check_list && !options->write_list) {
        return weft_cli_usage_error(syntax, "--kernels-once needs --check-list or --write-list");
    }
    if ((options->check_list || options->write_list) && fast) {
        return weft_cli_usage_error(syntax, "--check-list and --write-list need --math "
                                            "reproducible or fused: fast mode chooses by "
                                            "measurement");
    }
    return WEFT_CLI_FINE;
}

static weft_status create_evaluator(weft_verify_record *record, const verify_options *options) {
    record->evaluation_limit = options->evaluate_limit * UINT64_C(1000000);
    record->evaluator = weft_evaluator_create(&record->host);
    return record->evaluator ? WEFT_OK : weft_fail_memory(&record->host, "the evaluator");
}

/* Everything that can be wrong before a device is opened. */
static int prepare(weft_verify_record *record, const verify_options *options,
                   const weft_cli_syntax *syntax) {
    WEFT_CLI_TRY(check_options(options, syntax));
    WEFT_CLI_TRY(choose_cases(record, options, syntax));
    if (options->evaluate) {
        WEFT_CLI_TRY(weft_cli_exit_code(create_evaluator(record, options)));
    }
    if (options->bits) {
        WEFT_CLI_TRY(weft_verify_check_bits_file(options->bits, record->math, &record->host));
    }
    return weft_cli_exit_code(collect_devices(record, options));
}

int weft_cli_verify(int argc, char **argv) {
    if (weft_cli_verifies_receipt(argc, argv)) {
        return weft_cli_verify_receipt(argc, argv);
    }
    verify_options options = {.filter = NULL};
    const char *receipt = NULL; /* and what goes with it: taken by the above */
    const weft_cli_option table[] = {
        {"filter", WEFT_CLI_TEXT, &options.filter, "S",
         "only the cases whose names contain S, such as fourier/fft"},
        {"bits", WEFT_CLI_TEXT, &options.bits, "FILE",
         "also compare the bits of every output with a file of SHA-256 digests, or with a folder "
         "that has a file OP.json for each op"},
        {"write-bits", WEFT_CLI_TEXT, &options.write_bits, "FILE",
         "write such a file, or into such a folder, if nothing failed"},
        {"cases", WEFT_CLI_FLAG, &options.prints_cases, NULL,
         "print a line for each case with the SHA-256 of its output"},
        {"list", WEFT_CLI_TEXT, &options.list, "FILE",
         "only the cases that a text names, one on each line; lines that begin with # are "
         "comments"},
        {"check-list", WEFT_CLI_TEXT, &options.check_list, "FILE",
         "fail unless those cases that such a list names execute every kernel that all do, with "
         "each value of each of its constants"},
        {"write-list", WEFT_CLI_TEXT, &options.write_list, "FILE",
         "write such a list, if nothing failed"},
        {"kernels-once", WEFT_CLI_FLAG, &options.kernels_once, NULL,
         "of these two lists ask for each kernel once, whatever its constants"},
        {"evaluate", WEFT_CLI_FLAG, &options.evaluate, NULL,
         "also evaluate each case's shaders in plain C on the host: a device whose bits "
         "differ from that does not do what the shaders say"},
        {"evaluate-limit", WEFT_CLI_COUNT, &options.evaluate_limit, "N",
         "skip evaluations that take more than N million steps (default: skip none)"},
        {"repeat", WEFT_CLI_COUNT, &options.repeats, "N",
         "run each case N times, which all must have the same bits; it says from which probability "
         "on a fault that comes and goes is found (default 1)"},
        {"receipt", WEFT_CLI_TEXT, &receipt, "FILE",
         "instead make a receipt again: behind it stand the model and inputs of the command "
         "that wrote it, such as MODEL --text STRING; exit code 1 when anything differs, and it "
         "says what, and the first values"},
        {"against", WEFT_CLI_TEXT, &receipt, "SEL",
         "with --receipt: where it differs, run every node here on this device, too, and "
         "find the first one in which the two differ"},
        {"open", WEFT_CLI_TEXT, &receipt, "WHAT",
         "with --receipt: compute one value of it alone, out of the maker's tensors: its name or "
         "the number of its node, record:N, LAYER:N, or RANDOM:K:SEED for K that the seed draws"},
        {"values", WEFT_CLI_TEXT, &receipt, "FOLDER",
         "with --open or --referee: the maker's tensors, record-N.npy for record N"},
        {"give", WEFT_CLI_TEXT, &receipt, "FOLDER",
         "with --open, for the maker: write there what --values then takes"},
        {"referee", WEFT_CLI_TEXT, &receipt, "FILE",
         "with --receipt: find the first record in which this other receipt differs, by asking "
         "both for few records, compute it, and say who is right"},
        {"prove", WEFT_CLI_TEXT, &receipt, "N",
         "with --receipt: print record N with the hashes that lead from it to the root"},
        {"proof", WEFT_CLI_TEXT, &receipt, "FILE", "instead check such a record, against --root"},
        {"root", WEFT_CLI_TEXT, &receipt, "SHA256", "with --proof: the root of the receipt"},
        {"statement", WEFT_CLI_TEXT, &receipt, "FILE",
         "with --receipt: write an in-toto Statement about it, for tools that sign"},
        {"envelope", WEFT_CLI_TEXT, &receipt, "FILE",
         "with --receipt: the same as the payload of a DSSE envelope without a signature"},
        WEFT_CLI_DEVICE_OPTIONS(&options.common),
        WEFT_CLI_STATE_OPTION(&options.common),
        WEFT_CLI_OUTPUT_OPTIONS(&options.common),
        {.name = NULL},
    };
    const weft_cli_syntax syntax = {
        .command = "verify",
        .summary = "Runs every op and mixer on many shapes and compares the results with float64. "
                   "--device all takes every usable device, and in reproducible mode compares "
                   "their bits. With --receipt it makes the receipt of a run again. Exit code 1 "
                   "when a case fails, a bit differs, or the validation layer complains; 3 when "
                   "there is no usable device.",
        .options = table,
    };
    int exit_code = WEFT_CLI_FINE;
    if (!weft_cli_parse(&syntax, argc, argv, NULL, &exit_code)) {
        return exit_code;
    }
    weft_verify_record record = {.host = weft_cli_host(&options.common),
                                 .math = options.common.math,
                                 .repeats = options.repeats};
    exit_code = prepare(&record, &options, &syntax);
    if (exit_code == WEFT_CLI_FINE) {
        exit_code = verify(&record, &options);
    }
    weft_verify_record_free(&record);
    return exit_code;
}
