/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* weft certify on a device, in seconds. No time is asserted: the check may refuse what had none, and nothing else. */
#include <math.h>

#include "bench/fields.h"
#include "certify/bits.h"
#include "certify/record.h"
#include "certify/speed.h"
#include "cli/command.h"
#include "core/system/clock.h"

/* A part of a finding's field that a short time may cause, or a machine with other work. */
static bool may_lack_time(const char *field) {
    return strcmp(field, "made.seconds_allowed") == 0 || strstr(field, "].tried") != NULL ||
           strncmp(field, "sustained.", 10) == 0 || strstr(field, "medians_ms") != NULL ||
           strstr(field, "gflop_per_s") != NULL;
}

WEFT_TEST(a_record_is_right_but_for_its_time) {
    char *folder = weft_test_folder();
    char *path = weft_test_path(folder, "record.json");
    struct outcome outcome = run_weft("", weft_test_text("certify --seconds 8 --out '%s'", path));
    expect_part(&outcome, outcome.out, "bits, reproducible: ");
    json_error_t error;
    json_t *record = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    assert_non_null(record);
    assert_null(weft_certify_broken_section(record));
    const json_t *summary = json_object_get(record, "summary");
    assert_true(json_integer_value(json_object_get(summary, "cases_tried")) > 0);
    assert_int_equal(outcome.exit_code, !json_is_true(json_object_get(summary, "bits_agree")));
    const json_t *bits = json_object_get(record, "bits");
    for (size_t i = 0; i < 2; i++) {
        const json_t *mode = json_array_get(bits, i);
        assert_true(weft_bench_number(mode, "failed") == 0.0);
        assert_string_equal(weft_bench_text(mode, "status"), "ok");
    }
    outcome_clear(&outcome);
    const json_t *device = json_object_get(record, "device");
    assert_null(json_object_get(device, "uuid"));
    assert_true(json_is_true(json_object_get(device, "software_device")));
    json_decref(record);

    outcome = run_weft("", weft_test_text("certify --json --check-submission '%s'", path));
    assert_int_equal(outcome.exit_code, 1);
    json_t *report = json_of(&outcome);
    size_t i;
    json_t *reason;
    json_array_foreach(json_object_get(report, "reasons"), i, reason) {
        if (!may_lack_time(json_string_value(json_object_get(reason, "field")))) {
            fail_msg("%s", outcome.out);
        }
    }
    json_decref(report);
    outcome_clear(&outcome);
}

/* A case whose output on the device had one other bit, behind the 16th element. */
static json_t *failure_of(const weft_certify_job *job, weft_device *device) {
    const weft_certify_case *what = &job->cases.list[job->cases.order[0]];
    weft_certify_bits bits;
    weft_case c;
    weft_case_result result = {0};
    assert_ok(weft_certify_bits_begin(&bits, WEFT_MATH_REPRODUCIBLE, job));
    assert_ok(weft_case_create(&c, what->family, what->index, &job->host));
    weft_case_run(&result, &c, device);
    assert_true(result.passed && result.size > 68);
    result.bits[64] ^= 1;
    result.digest[3] = result.digest[3] == 'a' ? 'b' : 'a';
    assert_true(weft_certify_judge(&bits, job->cases.order[0], &result, &c, device, job));
    assert_int_equal(bits.results[job->cases.order[0]].outcome, WEFT_CERTIFY_FAILED);
    json_t *failure = json_incref(json_array_get(bits.failures, 0));
    weft_case_result_free(&result);
    weft_case_destroy(&c);
    weft_certify_bits_free(&bits, &job->host);
    return failure;
}

WEFT_TEST(a_wrong_bit_is_told_with_the_first_element) {
    weft_certify_job job = {.common = {.command = "certify"}, .end_ms = INFINITY};
    weft_device *device = NULL;
    job.host = weft_cli_host(&job.common);
    assert_ok(weft_certify_cases_make(&job.cases, 1, &job.host));
    assert_ok(weft_certify_open(&device, &job, WEFT_MATH_REPRODUCIBLE));
    json_t *failure = failure_of(&job, device);
    const char *name = job.cases.list[job.cases.order[0]].name;
    char known[WEFT_CERTIFY_DIGITS_SIZE];
    assert_true(weft_certify_known(known, name, WEFT_MATH_REPRODUCIBLE));
    assert_string_equal(weft_bench_text(failure, "case"), name);
    assert_string_equal(weft_bench_text(failure, "expected"), known);
    assert_string_not_equal(weft_bench_text(failure, "found"), known);
    assert_non_null(strstr(weft_bench_text(failure, "reason"), "device 0x"));
    json_decref(failure);
    weft_certify_close(&device, &job);
    weft_certify_cases_free(&job.cases, &job.host);
}

WEFT_TEST(a_pass_without_time_leaves_the_rows_as_they_are) {
    weft_certify_job job = {.common = {.command = "certify"}, .end_ms = INFINITY};
    job.host = weft_cli_host(&job.common);
    weft_certify_speed speed;
    assert_ok(weft_certify_speed_begin(&speed, &job.host));
    assert_int_equal(
        weft_certify_speed_pass(&speed, &job, WEFT_MATH_REPRODUCIBLE, 0, weft_clock_ms() + 4000.0),
        WEFT_CLI_FINE);
    json_t *before = json_deep_copy(speed.rows);
    assert_true(json_array_size(before) > 0);
    assert_int_equal(
        weft_certify_speed_pass(&speed, &job, WEFT_MATH_REPRODUCIBLE, 1, weft_clock_ms() - 1.0),
        WEFT_CLI_FINE);
    assert_int_equal(json_array_size(speed.rows), json_array_size(before));
    for (size_t i = 0; i < json_array_size(before); i++) {
        const json_t *row = json_array_get(before, i);
        const json_t *after = json_array_get(speed.rows, i);
        assert_string_equal(weft_bench_text(after, "status"), weft_bench_text(row, "status"));
        assert_true(
            json_equal(json_object_get(after, "medians_ms"), json_object_get(row, "medians_ms")));
    }
    json_decref(before);
    weft_certify_speed_free(&speed);
}

/* Also where there is no time for anything. */
WEFT_TEST(the_page_is_whole_and_has_the_record) {
    char *folder = weft_test_folder();
    char *path = weft_test_path(folder, "record.json");
    struct outcome outcome =
        run_weft("", weft_test_text("certify --seconds 0.01 --out '%s'", path));
    assert_int_equal(outcome.exit_code, 1); /* nothing was tried */
    outcome_clear(&outcome);
    FILE *file = fopen(weft_test_path(folder, "record.html"), "r");
    assert_non_null(file);
    char *page = read_all(file);
    fclose(file);
    assert_non_null(strstr(page, "\"mixing_rate_tokens_per_s\""));
    assert_null(strstr(page, "{{"));
    free(page);
}

WEFT_TEST(wrong_usage_is_refused) {
    expect_refused(2, "certify --seconds 0", "--seconds: expected a number", NULL);
    expect_refused(3, "certify --device nonsense", "nonsense", NULL);
}
