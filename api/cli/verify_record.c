/* SPDX-License-Identifier: MIT */
#include "verify_record.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stop.h"

#define FOUND 0.999 /* how probably a fault is to be found that comes and goes */

/* ---- the record ---- */

weft_status weft_verify_add_difference(weft_verify_record *record, weft_verify_difference what) {
    bool between_devices = what.other != NULL;
    weft_verify_difference **list =
        between_devices ? &record->differences : &record->bits_differences;
    uint32_t *count = between_devices ? &record->difference_count : &record->bits_difference_count;
    uint32_t *capacity =
        between_devices ? &record->difference_capacity : &record->bits_difference_capacity;
    if (!what.text || !weft_grow(&record->host, list, *count, capacity, sizeof **list)) {
        weft_free(&record->host, what.text);
        return weft_fail_memory(&record->host, "a difference");
    }
    (*list)[(*count)++] = what;
    return WEFT_OK;
}

static void free_differences(const weft_verify_record *record, weft_verify_difference *list,
                             uint32_t count) {
    for (uint32_t index = 0; index < count; index++) {
        weft_free(&record->host, list[index].text);
    }
    weft_free(&record->host, list);
}

void weft_verify_record_free(weft_verify_record *record) {
    for (uint32_t device = 0; device < record->run_count; device++) {
        weft_verify_run *run = &record->runs[device];
        for (uint32_t index = 0; run->results && index < record->case_count; index++) {
            weft_case_result_free(&run->results[index]);
        }
        weft_free(&record->host, run->results);
        for (uint32_t index = 0; run->kernels && index < record->case_count; index++) {
            weft_free(&record->host, run->kernels[index].kernels);
        }
        weft_free(&record->host, run->kernels);
    }
    free_differences(record, record->differences, record->difference_count);
    free_differences(record, record->bits_differences, record->bits_difference_count);
    weft_free(&record->host, record->runs);
    weft_free(&record->host, record->cases);
    weft_evaluator_destroy(&record->evaluator);
    *record = (weft_verify_record){0};
}

bool weft_verify_is_fine(const weft_verify_record *record) {
    bool fine = record->difference_count == 0 && record->bits_difference_count == 0;
    for (uint32_t device = 0; device < record->run_count; device++) {
        const weft_verify_run *run = &record->runs[device];
        fine = fine && run->failed == 0 && run->validation_messages == 0;
    }
    return fine;
}

/* ---- JSON ---- */

static const char *status_of(const weft_case_result *result) {
    return result->passed ? "pass" : result->skipped ? "skip" : "fail";
}

static json_t *evaluation_json(const weft_case_result *result) {
    static const char *const states[] = {[WEFT_NOT_EVALUATED] = "none",
                                         [WEFT_EVALUATED] = "compared",
                                         [WEFT_EVALUATION_SKIPPED] = "skipped"};
    return json_pack("{s:s, s:I}", "state", states[result->evaluation], "steps",
                     (json_int_t)result->evaluation_steps);
}

static json_t *case_json(const weft_verify_record *record, uint32_t index,
                         const weft_case_result *result) {
    json_t *error = result->has_error ? weft_cli_json_real(result->rel_l2) : json_null();
    json_t *object = json_pack("{s:o, s:o, s:o, s:s, s:s}", "name",
                               weft_cli_json_text(record->cases[index].name), "rel_l2", error,
                               "tolerance", weft_cli_json_real(result->tolerance), "sha256",
                               result->digest, "status", status_of(result));
    if (!result->passed) {
        object = weft_cli_json_field(object, "reason", weft_cli_json_text(result->reason));
    }
    if (record->evaluator) {
        object = weft_cli_json_field(object, "evaluation", evaluation_json(result));
    }
    return object;
}

static json_t *run_json(const weft_verify_record *record, const weft_verify_run *run) {
    json_t *cases = json_array();
    bool ran = run->status == WEFT_OK;
    for (uint32_t index = 0; ran && cases && index < record->case_count; index++) {
        cases = weft_cli_json_append(cases, case_json(record, index, &run->results[index]));
    }
    json_t *error = ran ? json_null() : json_string(weft_status_name(run->status));
    json_t *object = json_pack("{s:b, s:o, s:s, s:o, s:o, s:I, s:I, s:I, s:I}", "stopped",
                               (int)weft_cli_stopped(), "device", weft_cli_device_json(&run->info),
                               "math", weft_math_name(record->math), "error", error, "cases", cases,
                               "passed", (json_int_t)run->passed, "failed", (json_int_t)run->failed,
                               "skipped", (json_int_t)run->skipped, "validation_messages",
                               (json_int_t)run->validation_messages);
    if (record->evaluator) {
        object = weft_cli_json_field(object, "evaluated", json_integer(run->evaluated));
        object = weft_cli_json_field(object, "evaluations_skipped",
                                     json_integer(run->evaluations_skipped));
    }
    return object;
}

/* Name and driver, as two versions of one driver may be there. */
#define DEVICE_NAME_SIZE 800

static const char *device_name(char text[DEVICE_NAME_SIZE], const weft_verify_run *run) {
    snprintf(text, DEVICE_NAME_SIZE, "%s (%s %s)", run->info.name, run->info.driver,
             run->info.driver_version);
    return text;
}

static json_t *device_name_json(const weft_verify_run *run) {
    char text[DEVICE_NAME_SIZE];
    return weft_cli_json_text(device_name(text, run));
}

static json_t *difference_json(const weft_verify_record *record,
                               const weft_verify_difference *difference) {
    bool is_case = difference->case_index != UINT32_MAX;
    json_t *name =
        is_case ? weft_cli_json_text(record->cases[difference->case_index].name) : json_null();
    json_t *devices = json_array();
    if (difference->other) {
        devices = weft_cli_json_append(devices, device_name_json(difference->other));
    }
    if (difference->run) {
        devices = weft_cli_json_append(devices, device_name_json(difference->run));
    }
    return json_pack("{s:o, s:o, s:o}", "case", name, "devices", devices, "difference",
                     weft_cli_json_text(difference->text));
}

static json_t *differences_json(const weft_verify_record *record,
                                const weft_verify_difference *list, uint32_t count) {
    json_t *array = json_array();
    for (uint32_t index = 0; array && index < count; index++) {
        array = weft_cli_json_append(array, difference_json(record, &list[index]));
    }
    return array;
}

static json_t *devices_json(const weft_verify_record *record) {
    json_t *devices = json_array();
    for (uint32_t device = 0; devices && device < record->run_count; device++) {
        devices = weft_cli_json_append(devices, run_json(record, &record->runs[device]));
    }
    json_t *differences = differences_json(record, record->differences, record->difference_count);
    return json_pack("{s:o, s:o}", "devices", devices, "differences", differences);
}

int weft_verify_report_json(const weft_verify_record *record) {
    json_t *report =
        record->all_devices ? devices_json(record) : run_json(record, &record->runs[0]);
    if (record->has_bits) {
        report = weft_cli_json_field(
            report, "bits_differences",
            differences_json(record, record->bits_differences, record->bits_difference_count));
    }
    return weft_cli_print_json(report);
}

/* ---- text ---- */

typedef struct tally {
    uint32_t cases, passed, skipped;
    double error, tolerance;
} tally;

static tally tally_family(const weft_verify_record *record, const weft_verify_run *run,
                          const weft_case_family *family) {
    tally sums = {0};
    for (uint32_t index = 0; index < record->case_count; index++) {
        const weft_case_result *result = &run->results[index];
        if (record->cases[index].family != family) {
            continue;
        }
        sums.cases++;
        sums.passed += result->passed;
        sums.skipped += result->skipped;
        if (result->has_error && !(result->rel_l2 <= sums.error)) {
            sums.error = result->rel_l2;
        }
        sums.tolerance = fmax(sums.tolerance, result->tolerance);
    }
    return sums;
}

static int print_families(const weft_verify_record *record, const weft_verify_run *run) {
    static const char *const columns[] = {"family",  ">cases",  ">worst error", ">tolerance",
                                          ">passed", ">failed", ">skipped",     NULL};
    weft_cli_table *table = weft_cli_table_begin(columns);
    const weft_case_family *family = NULL;
    for (uint32_t index = 0; (family = weft_case_family_at(index)); index++) {
        tally sums = tally_family(record, run, family);
        if (sums.cases > 0) {
            weft_cli_table_cell(table, "%s", family->name);
            weft_cli_table_cell(table, "%u", sums.cases);
            weft_cli_table_cell(table, "%.2g", sums.error);
            weft_cli_table_cell(table, "%.2g", sums.tolerance);
            weft_cli_table_cell(table, "%u", sums.passed);
            weft_cli_table_cell(table, "%u", sums.cases - sums.passed - sums.skipped);
            weft_cli_table_cell(table, "%u", sums.skipped);
        }
    }
    weft_cli_table_cell(table, "all");
    weft_cli_table_cell(table, "%u", record->case_count);
    weft_cli_table_cell(table, "%s", "");
    weft_cli_table_cell(table, "%s", "");
    weft_cli_table_cell(table, "%u", run->passed);
    weft_cli_table_cell(table, "%u", run->failed);
    weft_cli_table_cell(table, "%u", run->skipped);
    return weft_cli_table_print(&table);
}

static void print_evaluations(const weft_verify_record *record, const weft_verify_run *run) {
    if (!record->evaluator) {
        return;
    }
    weft_cli_print(stdout, "%u of %u cases compared with the shaders' evaluation on the host",
                   run->evaluated, record->case_count);
    if (run->evaluations_skipped > 0) {
        weft_cli_print(stdout, "; %u skipped, which take more than %llu million steps",
                       run->evaluations_skipped,
                       (unsigned long long)(record->evaluation_limit / 1000000));
    }
    weft_cli_print(stdout, "\n");
}

/* As sha256sum does, so that two listings can be compared with diff. */
static void print_digests(const weft_verify_record *record, const weft_verify_run *run) {
    for (uint32_t index = 0; record->lists_cases && index < record->case_count; index++) {
        const char *digest = run->results[index].digest;
        weft_cli_print(stdout, "%-64s  %s\n", digest[0] != '\0' ? digest : "-",
                       record->cases[index].name);
    }
}

static int print_run(const weft_verify_record *record, const weft_verify_run *run) {
    char name[DEVICE_NAME_SIZE];
    weft_cli_print(stdout, "%s, %s\n", device_name(name, run), weft_math_name(record->math));
    if (run->status != WEFT_OK) {
        weft_cli_print(stdout, "could not be opened: %s\n\n", weft_status_name(run->status));
        return WEFT_CLI_FINE;
    }
    print_digests(record, run);
    int exit_code = print_families(record, run);
    const char *reason = "";
    for (uint32_t index = 0; index < record->case_count; index++) {
        const weft_case_result *result = &run->results[index];
        if (result->skipped && strcmp(result->reason, reason) != 0) {
            reason = result->reason; /* once for all that follow */
            weft_cli_print(stdout, "SKIPPED %s and others: %s\n", record->cases[index].name,
                           reason);
        } else if (!result->passed && !result->skipped) {
            weft_cli_print(stdout, "FAILED %s: %s\n", record->cases[index].name, result->reason);
        }
    }
    print_evaluations(record, run);
    weft_cli_print(stdout, "\n");
    return exit_code;
}

static void print_differences(const weft_verify_record *record, const weft_verify_difference *list,
                              uint32_t count) {
    for (uint32_t index = 0; index < count; index++) {
        const weft_verify_difference *difference = &list[index];
        weft_cli_print(stdout, "DIFFERENT");
        if (difference->case_index != UINT32_MAX) {
            weft_cli_print(stdout, " %s", record->cases[difference->case_index].name);
        }
        char name[DEVICE_NAME_SIZE];
        if (difference->other) {
            weft_cli_print(stdout, " on %s and", device_name(name, difference->other));
        }
        if (difference->run) {
            weft_cli_print(stdout, "%s %s", !difference->other ? " on" : "",
                           device_name(name, difference->run));
        }
        weft_cli_print(stdout, ": %s\n", difference->text);
    }
}

static uint32_t count_devices_that_ran(const weft_verify_record *record) {
    uint32_t count = 0;
    for (uint32_t device = 0; device < record->run_count; device++) {
        count += record->runs[device].status == WEFT_OK;
    }
    return count;
}

static bool skips_some(const weft_verify_record *record) {
    for (uint32_t device = 0; device < record->run_count; device++) {
        if (record->runs[device].skipped > 0) {
            return true;
        }
    }
    return false;
}

/* (1 - p)^N is how often a fault that strikes with probability p stays hidden in N runs. */
static void print_repeats(const weft_verify_record *record) {
    if (record->repeats > 1) {
        const double least = 1.0 - exp(log(1.0 - FOUND) / record->repeats);
        weft_cli_print(stdout,
                       "Each case ran %u times: a fault that strikes it in %.3g %% of its runs or "
                       "more is found with a probability of 99.9 %%.\n",
                       record->repeats, 100.0 * least);
    }
}

int weft_verify_report_text(const weft_verify_record *record) {
    int exit_code = WEFT_CLI_FINE;
    for (uint32_t device = 0; device < record->run_count; device++) {
        int code = print_run(record, &record->runs[device]);
        exit_code = exit_code == WEFT_CLI_FINE ? code : exit_code;
    }
    print_differences(record, record->differences, record->difference_count);
    print_differences(record, record->bits_differences, record->bits_difference_count);
    if (record->math != WEFT_MATH_FAST && count_devices_that_ran(record) > 1 &&
        record->difference_count == 0) {
        weft_cli_print(stdout, "The same bits on all %u devices%s.\n",
                       count_devices_that_ran(record),
                       skips_some(record) ? ", but for what one of them skips" : "");
    }
    if (record->has_bits && count_devices_that_ran(record) > 0 &&
        record->bits_difference_count == 0) {
        weft_cli_print(stdout, "The bits are those of the file.\n");
    }
    print_repeats(record);
    return exit_code;
}
