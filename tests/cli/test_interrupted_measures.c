/* SPDX-License-Identifier: MIT */
/* weft-test: posix */
/* bench, certify and verify, stopped at random moments: what is done is kept or nothing is written, and no row is half done. */
#define _DEFAULT_SOURCE
#include "cli/task_models.h"

#include "cli/cli.h"
#include "cli/interrupt.h"

/* ---- bench ---- */

/* A row is whole, with the hash that it has uninterrupted, or says that it was interrupted. */
static uint32_t expect_row(const json_t *all, const json_t *row) {
    if (strcmp(json_string_value(part(row, "status")), "ok") == 0) {
        assert_true(json_equal(part(row, "output_sha256"), part(all, "output_sha256")));
        assert_true(json_number_value(part(row, "median_ms")) > 0.0);
        return 0;
    }
    assert_string_equal(json_string_value(part(row, "status")), "skipped");
    assert_string_equal(json_string_value(part(row, "reason")), "interrupted");
    assert_true(!json_is_number(part(row, "median_ms")));
    return 1;
}

/* The file has what standard output has. */
static void check_rows(const struct run *whole, const struct run *run) {
    json_t *all = report_of(whole);
    json_t *report = report_of(run);
    const json_t *rows = part(report, "rows");
    uint32_t left_out = 0;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        left_out += expect_row(json_array_get(part(all, "rows"), i), json_array_get(rows, i));
    }
    assert_true(was_stopped(run) || left_out == 0);
    if (!rows) { /* stopped before there was one */
        assert_true(was_stopped(run) && json_is_true(part(report, "stopped")));
        assert_int_equal(weft_test_entries(run->folder), 0);
    } else {
        assert_int_equal(json_array_size(rows), json_array_size(part(all, "rows")));
        json_t *file = json_load_file(weft_test_path(run->folder, "report.json"), 0, NULL);
        assert_true(json_object_del(report, "stopped") == 0 && json_equal(file, report));
        assert_true(json_is_true(part(part(report, "environment"), "interrupted")) ==
                    was_stopped(run));
        json_decref(file);
    }
    json_decref(all);
    json_decref(report);
}

WEFT_TEST(rows_are_those_that_were_measured) {
    const char *const arguments[] = {
        "bench",       "--suite", "ops",         "--size", "smallest",   "--seconds", "0.001",
        "--no-limits", "--out",   "report.json", "--csv",  "report.csv", "--json",    NULL};
    interrupt(arguments, check_rows);
}

/* ---- bench --model ---- */

enum { SPEED_ROUNDS = 3 };

/* Models in their order, each with the rounds that were finished: of all but the last one all. */
static void check_speeds(const struct run *whole, const struct run *run) {
    json_t *all = report_of(whole);
    json_t *report = report_of(run);
    const json_t *decoders = part(report, "decoders");
    const size_t count = json_array_size(decoders);
    for (size_t i = 0; i < count; i++) {
        const json_t *decoder = json_array_get(decoders, i);
        const json_t *other = json_array_get(part(all, "decoders"), i);
        assert_true(json_equal(part(decoder, "model"), part(other, "model")));
        for (size_t k = 0; k < 2; k++) {
            const json_t *test = json_array_get(part(decoder, "tests"), k);
            const size_t rounds = json_array_size(part(test, "rounds_ms"));
            assert_true(rounds == SPEED_ROUNDS ||
                        (was_stopped(run) && i + 1 == count && rounds < SPEED_ROUNDS));
            assert_true(json_is_number(part(test, "tokens_per_s")) == (rounds > 0));
        }
    }
    assert_true(was_stopped(run) || count == 2);
    if (!decoders) { /* stopped before there was one */
        assert_true(was_stopped(run));
        assert_int_equal(weft_test_entries(run->folder), 0);
    } else {
        json_t *file = json_load_file(weft_test_path(run->folder, "speeds.json"), 0, NULL);
        assert_true(json_equal(file, report));
        json_decref(file);
    }
    json_decref(all);
    json_decref(report);
}

PLACE_TEST(speeds_are_of_rounds_that_were_finished, place) {
    const char *model = write_tiny_model(place->folder, "model", &causal);
    const char *const arguments[] = {"bench",       "--model",         model, "--model",
                                     model,         "--prompt-tokens", "5",   "--new-tokens",
                                     "4",           "--rounds",        "3",   "--out",
                                     "speeds.json", "--json",          NULL};
    interrupt(arguments, check_speeds);
}

/* ---- certify ---- */

/* Record and page, or neither. */
static void check_record(const struct run *whole, const struct run *run) {
    (void)whole;
    json_t *report = report_of(run);
    assert_int_equal(weft_test_entries(run->folder), was_stopped(run) ? 0 : 2);
    assert_int_equal(json_object_size(report) == 1, was_stopped(run));
    json_decref(report);
}

/* In so little time that the record may say that nothing was tried, with exit code 1. */
WEFT_TEST(a_record_is_whole_or_not_there) {
    const char *const arguments[] = {"certify",     "--seconds", "0.3", "--out",
                                     "record.json", "--json",    NULL};
    interrupt_with(arguments, WEFT_CLI_FAILED, check_record);
}

/* ---- verify ---- */

/* Those that are done are what they are uninterrupted; the others say that they were skipped. */
static void check_cases(const struct run *whole, const struct run *run) {
    json_t *all = report_of(whole);
    json_t *report = report_of(run);
    const json_t *cases = part(report, "cases");
    long long skipped = 0;
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *one = json_array_get(cases, i);
        const char *reason = json_string_value(part(one, "reason"));
        const bool waits = reason && strcmp(reason, "stopped") == 0;
        skipped += waits;
        assert_true(waits || json_equal(one, json_array_get(part(all, "cases"), i)));
    }
    assert_int_equal(json_integer_value(part(report, "skipped")), skipped);
    assert_int_equal(json_integer_value(part(report, "failed")), 0);
    json_decref(all);
    json_decref(report);
}

WEFT_TEST(cases_are_those_that_were_tried) {
    const char *const arguments[] = {"verify", "--filter", "cumsum", "--json", NULL};
    interrupt(arguments, check_cases);
}
