/* SPDX-License-Identifier: MIT */
/* weft-test: slow one device */
/* What weft bench writes, and the committed results, by bench/schema.json. */
#include <ftw.h>

#include "certify/form.h"
#include "certify/record.h"
#include "cli/command.h"
#include "schema.h"

#define SCHEMA_FILE WEFT_SOURCE_DIR "/bench/schema.json"
#define RESULTS     WEFT_SOURCE_DIR "/bench/results"

static char *schema_text(void) {
    size_t size = 0;
    return (char *)weft_test_read(SCHEMA_FILE, &size);
}

static void expect_valid(const char *schema, const char *text, const char *name) {
    char *said = weft_test_schema_check(schema, text);
    if (said) {
        fail_msg("%s: %s", name, said);
    }
}

/** Runs with these options and --out and --json; both are valid, and the same but for "stopped". The report, to be dropped. */
static json_t *valid_report(const char *options) {
    char *folder = weft_test_folder();
    char *path = weft_test_path(folder, "report.json");
    struct outcome outcome = expect_weft(0, "bench %s --out '%s' --json", options, path);
    char *schema = schema_text();
    size_t size = 0;
    char *file = (char *)weft_test_read(path, &size);
    expect_valid(schema, outcome.out, outcome.line);
    expect_valid(schema, file, outcome.line);
    json_t *report = json_of(&outcome);
    json_t *written = json_loads(file, JSON_REJECT_DUPLICATES, NULL);
    assert_true(json_is_false(json_object_get(report, "stopped")));
    assert_true(json_object_del(report, "stopped") == 0 && json_equal(report, written));
    json_decref(written);
    free(file);
    free(schema);
    outcome_clear(&outcome);
    return report;
}

/* Of every suite. */
WEFT_TEST(smallest_cases_are_valid) {
    json_t *report = valid_report("--size smallest --seconds 0.05");
    assert_true(json_array_size(field(report, "rows")) >= 8);
    json_decref(report);
}

/* Every case of every suite has something that it is held against. */
WEFT_TEST(fast_math_is_valid_and_verified) {
    json_t *report = valid_report("--size smallest --seconds 0.05 --rounds 1 --math fast");
    const json_t *rows = field(report, "rows");
    uint32_t reproducible = 0;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (strcmp(string_field(row, "status"), "ok") == 0) {
            assert_string_not_equal(string_field(row, "verified/by"), "none");
            reproducible += strcmp(string_field(row, "verified/by"), "reproducible") == 0;
        }
    }
    assert_true(reproducible > 0);
    json_decref(report);
}

/* bench/expected.json has the hashes of weights as they are. */
WEFT_TEST(weights_of_bytes_are_held_to_float64) {
    json_t *report = valid_report("--suite ops --filter matmul/512x3072x768 --size short "
                                  "--seconds 0.05 --rounds 1 --weights int8");
    const json_t *row = json_array_get(field(report, "rows"), 0);
    assert_string_equal(string_field(row, "status"), "ok");
    assert_string_equal(string_field(row, "verified/by"), "float64");
    json_decref(report);
}

/* It has no place in the list of drivers' devices, and yet its rows are known by one. */
WEFT_TEST(the_processor_by_its_name_is_valid) {
    json_t *report = valid_report("--device processor --suite decode --filter decode/gated "
                                  "--lengths 64 --seconds 0.05 --rounds 1 --no-limits");
    const json_t *device = json_array_get(field(report, "environment/devices"), 0);
    const json_t *row = json_array_get(field(report, "rows"), 0);
    assert_true(json_equal(field(row, "device_index"), field(device, "index")));
    json_decref(report);
}

WEFT_TEST(skipped_rows_and_fits_are_valid) {
    json_t *report = valid_report("--suite mixers --filter attention/full_band --seconds 0.1 "
                                  "--lengths 64,256,2097152 --time-cap 1");
    const json_t *rows = field(report, "rows");
    assert_string_equal(string_field(json_array_get(rows, 0), "status"), "ok");
    assert_string_equal(string_field(json_array_get(rows, 2), "status"), "skipped");
    assert_int_equal(json_array_size(field(report, "fits")), 1);
    json_decref(report);
}

WEFT_TEST(slowed_down_runs_are_valid_and_say_so) {
    json_t *report = valid_report("--suite ops --size smallest --seconds 0.1 --debug-slow-down 2");
    assert_int_equal(integer_field(report, "environment/debug_slow_down"), 2);
    json_decref(report);
}

/* ---- committed results ---- */

static char *result_schema; /* nftw has no argument for its function */
static size_t results_found;

/* Of this form and as it was written; other versions' bits and cases may be others. */
static void expect_whole_certificate(const json_t *record, const char *path) {
    weft_certify_findings findings = {.list = json_array()};
    weft_certify_check_form(&findings, record);
    if (json_array_size(findings.list) > 0 || weft_certify_broken_section(record)) {
        fail_msg("%s: %s", path, json_dumps(findings.list, 0));
    }
    json_decref(findings.list);
}

static int check_result(const char *path, const struct stat *status, int kind, struct FTW *walk) {
    (void)status;
    (void)walk;
    size_t length = strlen(path);
    if (kind != FTW_F || length < 5 || strcmp(path + length - 5, ".json") != 0) {
        return 0;
    }
    size_t size = 0;
    char *text = (char *)weft_test_read(path, &size);
    json_t *report = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    if (!report) {
        fail_msg("%s is no JSON", path);
    }
    if (json_object_get(report, "certificate")) {
        expect_whole_certificate(report, path);
    } else if (integer_field(report, "schema") !=
               1) { /* older ones are history and stay as they are */
        expect_valid(result_schema, text, path);
    }
    results_found++;
    json_decref(report);
    free(text);
    return 0;
}

WEFT_TEST(committed_results_are_valid) {
    result_schema = schema_text();
    assert_int_equal(nftw(RESULTS, check_result, 8, FTW_PHYS), 0);
    assert_true(results_found > 0);
    free(result_schema);
}
