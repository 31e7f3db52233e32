/* SPDX-License-Identifier: MIT */
/* The comparison of two reports of weft bench: made-up ones, of which it is known what differs. */
#include <math.h>

#include "bench/compare.h"
#include "made_report.h"
#include "support.h"

#define ROWS   300
#define NARROW 0.002

static const weft_bench_noise noise = {.hardware = WEFT_BENCH_HARDWARE_NOISE,
                                       .software = WEFT_BENCH_SOFTWARE_NOISE};

/** ROWS rows from 1 ms on. */
static json_t *many_rows(void) {
    json_t *report = made_report(MADE_DEVICE);
    for (int i = 0; i < ROWS; i++) {
        char name[32];
        snprintf(name, sizeof name, "case %d", i);
        made_time(report, name, 1.0 + 0.1 * i, NARROW);
    }
    return report;
}

/** Makes a row's times that many times longer. */
static void slow_down(json_t *row, double factor) {
    static const char *const names[] = {"median_ms", "cpu_ms"};
    for (size_t i = 0; i < 2; i++) {
        const json_t *value = json_object_get(row, names[i]);
        if (json_is_real(value)) {
            json_object_set_new(row, names[i], json_real(factor * json_real_value(value)));
        }
    }
    json_t *interval = json_object_get(row, "interval_ms");
    for (size_t i = 0; i < 2; i++) {
        double value = json_real_value(json_array_get(interval, i));
        json_array_set_new(interval, i, json_real(factor * value));
    }
}

static json_t *row_of(const json_t *report, size_t index) {
    json_t *row = json_array_get(made_rows(report), index);
    assert_non_null(row);
    return row;
}

static const char *verdict_of(const json_t *comparison, size_t index) {
    return json_string_value(json_object_get(row_of(comparison, index), "verdict"));
}

static const char *reason_of(const json_t *comparison, size_t index) {
    return json_string_value(json_object_get(row_of(comparison, index), "reason"));
}

static double real_of(const json_t *comparison, size_t index, const char *name) {
    return json_number_value(json_object_get(row_of(comparison, index), name));
}

static json_t *compare(const json_t *before, const json_t *after) {
    json_t *comparison = weft_bench_compare(before, after, &noise);
    assert_non_null(comparison);
    return comparison;
}

/** Compares two reports of one row each, drops them, and gives the row's verdict. */
static void expect_verdict(const char *verdict, json_t *before, json_t *after) {
    json_t *comparison = compare(before, after);
    assert_int_equal(json_array_size(made_rows(comparison)), 1);
    assert_string_equal(verdict_of(comparison, 0), verdict);
    json_decref(comparison);
    json_decref(before);
    json_decref(after);
}

/* ---- times ---- */

WEFT_TEST(same_report_has_no_change) {
    json_t *report = many_rows();
    json_t *comparison = compare(report, report);
    assert_int_equal(weft_bench_compare_count(comparison, "same"), ROWS);
    assert_int_equal(json_array_size(made_rows(comparison)), ROWS);
    assert_int_equal(json_array_size(json_object_get(comparison, "differences")), 0);
    const json_t *suite = json_array_get(json_object_get(comparison, "suites"), 0);
    assert_true(json_real_value(json_object_get(suite, "ratio")) == 1.0);
    assert_int_equal(weft_bench_compare_print(comparison), 0);
    json_decref(comparison);
    json_decref(report);
}

WEFT_TEST(one_slower_row_is_found_alone) {
    json_t *before = many_rows();
    json_t *after = many_rows();
    slow_down(row_of(after, 17), 1.5);
    json_t *comparison = compare(before, after);
    assert_int_equal(weft_bench_compare_count(comparison, "slower"), 1);
    assert_int_equal(weft_bench_compare_count(comparison, "same"), ROWS - 1);
    assert_string_equal(verdict_of(comparison, 17), "slower");
    assert_true(fabs(real_of(comparison, 17, "ratio") - 1.5) < 1e-9);
    const json_t *suite = json_array_get(json_object_get(comparison, "suites"), 0);
    double ratio = json_real_value(json_object_get(suite, "ratio"));
    assert_true(fabs(ratio - pow(1.5, 1.0 / ROWS)) < 1e-9);
    json_decref(comparison);

    comparison = compare(after, before);
    assert_string_equal(verdict_of(comparison, 17), "faster");
    assert_int_equal(weft_bench_compare_count(comparison, "faster"), 1);
    assert_int_equal(weft_bench_compare_count(comparison, "slower"), 0);
    json_decref(comparison);
    json_decref(before);
    json_decref(after);
}

static json_t *one_row(double ms, double half) {
    json_t *report = made_report(MADE_DEVICE);
    made_time(report, "matmul", ms, half);
    return report;
}

static json_t *one_software_row(double ms, double half, double cpu_ms) {
    json_t *report = made_report(MADE_DEVICE);
    made_software_time(report, "matmul", ms, half, cpu_ms);
    return report;
}

WEFT_TEST(wide_intervals_hide_a_change) {
    expect_verdict("slower", one_row(1.0, NARROW), one_row(1.5, NARROW));
    expect_verdict("same", one_row(1.0, NARROW), one_row(1.5, 0.4));
    expect_verdict("same", one_row(1.0, 0.4), one_row(1.5, NARROW));
    expect_verdict("slower", one_row(1.0, 0.4), one_row(3.0, NARROW));
    expect_verdict("same", one_row(1.0, 1.0), one_row(100.0, NARROW)); /* from 0 on */
}

WEFT_TEST(floors_are_those_of_the_clock) {
    expect_verdict("same", one_row(1.0, 1e-4), one_row(1.02, 1e-4));
    expect_verdict("slower", one_row(1.0, 1e-4), one_row(1.04, 1e-4));
    expect_verdict("faster", one_row(1.04, 1e-4), one_row(1.0, 1e-4));
    json_t *before = one_row(1.0, 1e-4);
    json_t *after = one_row(1.2, 1e-4);
    json_object_set_new(row_of(before, 0), "clock", json_string("host"));
    json_object_set_new(row_of(after, 0), "clock", json_string("host"));
    expect_verdict("same", before, after);
}

/* A machine that does something else: the clock goes on while the processor does not work for us. */
WEFT_TEST(processor_time_and_clock_must_agree) {
    expect_verdict("same", one_software_row(1.0, NARROW, 2.0), one_software_row(2.0, NARROW, 1.9));
    expect_verdict("same", one_software_row(1.0, NARROW, 2.0), one_software_row(1.0, NARROW, 3.0));
    expect_verdict("same", one_software_row(1.0, NARROW, 2.0), one_software_row(1.2, NARROW, 2.4));
    expect_verdict("slower", one_software_row(1.0, NARROW, 2.0),
                   one_software_row(1.3, NARROW, 2.6));
    /* Far beyond the floor the processor time is enough. */
    expect_verdict("slower", one_software_row(1.0, NARROW, 2.0),
                   one_software_row(0.8, NARROW, 3.3));
    expect_verdict("faster", one_software_row(1.0, 0.4, 3.3), one_software_row(1.0, 0.4, 2.0));
    expect_verdict("faster", one_software_row(1.3, NARROW, 2.6),
                   one_software_row(1.0, NARROW, 2.0));
    json_t *before = one_software_row(1.0, NARROW, 2.0);
    json_t *after = one_software_row(1.3, NARROW, 2.8);
    json_t *comparison = compare(before, after);
    assert_string_equal(json_string_value(json_object_get(row_of(comparison, 0), "time")),
                        "cpu_ms");
    assert_true(fabs(real_of(comparison, 0, "ratio") - 1.4) < 1e-9);
    assert_true(fabs(real_of(comparison, 0, "median_ratio") - 1.3) < 1e-9);
    json_decref(comparison);
    json_decref(before);
    json_decref(after);
}

/* Medians of the same work with 2 % of noise, which their intervals say: none of 300 rows is reported. */
WEFT_TEST(many_noisy_rows_raise_no_alarm) {
    const double half = 0.02;
    uint32_t random = 1;
    json_t *reports[2];
    for (size_t side = 0; side < 2; side++) {
        reports[side] = made_report(MADE_DEVICE);
        for (int i = 0; i < ROWS; i++) {
            double normal = -6.0; /* a sum of twelve uniform numbers */
            for (int k = 0; k < 12; k++) {
                random = 1664525U * random + 1013904223U;
                normal += random / 4294967296.0;
            }
            char name[32];
            snprintf(name, sizeof name, "case %d", i);
            made_time(reports[side], name, 1.0 + half / 1.96 * normal, half);
        }
    }
    json_t *comparison = compare(reports[0], reports[1]);
    assert_int_equal(weft_bench_compare_count(comparison, "same"), ROWS);
    double quantile =
        json_real_value(json_object_get(json_object_get(comparison, "noise"), "quantile"));
    assert_true(quantile > 3.5 && quantile < 4.0); /* 5 % shared by 300 */
    json_decref(comparison);
    /* Taken each for itself, some are beyond it without a floor. */
    const weft_bench_noise none = {0};
    uint32_t alarms = 0;
    for (size_t i = 0; i < ROWS; i++) {
        double before = real_of(reports[0], i, "median_ms");
        double after = real_of(reports[1], i, "median_ms");
        const weft_bench_timing was = {before, before * (1.0 - half), before * (1.0 + half), 0.0,
                                       false};
        const weft_bench_timing is = {after, after * (1.0 - half), after * (1.0 + half), 0.0,
                                      false};
        double single = weft_bench_noise_quantile(1);
        alarms += weft_bench_noise_compare(&was, &is, &none, single).direction != 0;
    }
    assert_in_range(alarms, 3, 40);
    json_decref(reports[0]);
    json_decref(reports[1]);
}

/* ---- rows that are not compared ---- */

WEFT_TEST(other_statuses_are_told_with_their_reason) {
    json_t *before = made_report(MADE_DEVICE);
    json_t *after = made_report(MADE_DEVICE);
    made_time(before, "a", 1.0, NARROW);
    made_row(after, "a", "error", "not finite");
    made_row(before, "b", "skipped", "too long");
    made_time(after, "b", 1.0, NARROW);
    made_row(before, "c", "unsupported", "no f16");
    made_row(after, "c", "unsupported", "no f16");
    made_time(before, "d", 1.0, NARROW);
    json_object_set_new(made_time(after, "d", 9.0, NARROW), "shape", json_pack("[i]", 7));
    made_time(before, "e", 1.0, NARROW);
    json_object_set_new(made_time(after, "e", 9.0, NARROW), "clock", json_string("host"));
    json_t *comparison = compare(before, after);
    static const char *const verdicts[] = {"incomparable", "incomparable", "unmeasured",
                                           "incomparable", "incomparable"};
    static const char *const reasons[] = {
        "was ok, is error: not finite", "was skipped, is ok: too long",
        "unsupported in both: no f16", "the shape of the input is another",
        "timed by the clock of the host, before by that of the device"};
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(verdict_of(comparison, i), verdicts[i]);
        assert_string_equal(reason_of(comparison, i), reasons[i]);
        assert_true(json_is_null(json_object_get(row_of(comparison, i), "ratio")));
    }
    assert_int_equal(weft_bench_compare_count(comparison, "incomparable"), 4);
    assert_int_equal(weft_bench_compare_print(comparison), 0);
    json_decref(comparison);
    json_decref(before);
    json_decref(after);
}

/** A row of suite device that did `flops` operations on n numbers in ms. */
static void made_limit(json_t *report, int n, double flops, double ms) {
    json_t *row = made_time(report, "arithmetic/f32", ms, NARROW);
    json_object_set_new(row, "suite", json_string("device"));
    json_object_set_new(row, "shape", json_pack("[i]", n));
    json_object_set_new(row, "flops", json_real(flops));
    json_object_set_new(row, "output_sha256", json_sprintf("%064x", n));
}

/* Cases of suite device choose how much they do. */
WEFT_TEST(limits_are_compared_by_their_rates) {
    static const struct {
        double ms;
        const char *verdict;
        double ratio;
    } cases[] = {{2.0, "same", 1.0}, {6.0, "slower", 3.0}, {1.0, "faster", 0.5}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        json_t *before = made_report(MADE_DEVICE);
        json_t *after = made_report(MADE_DEVICE);
        made_limit(before, 100, 4e6, 4.0);
        made_limit(after, 50, 2e6, cases[i].ms);
        json_t *comparison = compare(before, after);
        assert_string_equal(verdict_of(comparison, 0), cases[i].verdict);
        assert_true(fabs(real_of(comparison, 0, "ratio") - cases[i].ratio) < 1e-12);
        assert_int_equal(weft_bench_compare_count(comparison, "output_changed"), 0);
        json_decref(comparison);
        json_decref(before);
        json_decref(after);
    }
}

WEFT_TEST(rows_of_one_file_are_new_or_gone) {
    json_t *before = made_report(MADE_DEVICE);
    json_t *after = made_report(MADE_DEVICE);
    made_time(before, "old", 1.0, NARROW);
    made_time(before, "both", 1.0, NARROW);
    made_time(after, "both", 1.0, NARROW);
    made_time(after, "young", 1.0, NARROW);
    json_t *comparison = compare(before, after);
    assert_int_equal(json_array_size(made_rows(comparison)), 3);
    assert_string_equal(verdict_of(comparison, 0), "same");
    assert_string_equal(verdict_of(comparison, 1), "new");
    assert_string_equal(verdict_of(comparison, 2), "gone");
    json_decref(comparison);
    json_decref(before);
    json_decref(after);
}

/* Suite, runtime and math belong to a row's name; so does its place among equal ones. */
WEFT_TEST(only_the_same_rows_are_matched) {
    static const char *const fields[] = {"suite", "runtime", "math", "device"};
    static const char *const values[] = {"mixers", "torch", "fast", "Another GPU"};
    for (size_t i = 0; i < 4; i++) {
        json_t *before = one_row(1.0, NARROW);
        json_t *after = one_row(2.0, NARROW);
        json_object_set_new(row_of(after, 0), fields[i], json_string(values[i]));
        json_t *comparison = compare(before, after);
        assert_int_equal(weft_bench_compare_count(comparison, "new"), 1);
        assert_int_equal(weft_bench_compare_count(comparison, "gone"), 1);
        json_decref(comparison);
        json_decref(before);
        json_decref(after);
    }
    json_t *before = one_row(1.0, NARROW);
    made_time(before, "matmul", 5.0, NARROW);
    json_t *comparison = compare(before, before);
    assert_int_equal(weft_bench_compare_count(comparison, "same"), 2);
    json_decref(comparison);
    json_decref(before);
}

/* Rows of a peer on the processor stay with those of the same name. */
WEFT_TEST(devices_are_compared) {
    json_t *before = one_row(1.0, NARROW);
    json_t *after = made_report("Another GPU");
    made_time(after, "matmul", 0.5, NARROW);
    json_object_set_new(made_software_time(before, "matmul", 4.0, NARROW, 8.0), "device",
                        json_string("Some processor"));
    json_object_set_new(made_software_time(after, "matmul", 4.0, NARROW, 8.0), "device",
                        json_string("Some processor"));
    json_t *comparison = compare(before, after);
    assert_true(json_is_true(json_object_get(comparison, "across_devices")));
    assert_int_equal(json_array_size(made_rows(comparison)), 2);
    assert_string_equal(verdict_of(comparison, 0), "faster");
    assert_string_equal(verdict_of(comparison, 1), "same");
    json_decref(comparison);
    json_decref(before);
    json_decref(after);
}

/* ---- what else has changed ---- */

WEFT_TEST(other_bits_are_told) {
    static const char other[] = "ff23456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    for (int fast = 0; fast < 2; fast++) {
        json_t *before = one_row(1.0, NARROW);
        json_t *after = one_row(1.0, NARROW);
        json_object_set_new(row_of(after, 0), "output_sha256", json_string(other));
        if (fast) {
            json_object_set_new(row_of(before, 0), "math", json_string("fast"));
            json_object_set_new(row_of(after, 0), "math", json_string("fast"));
        }
        json_t *comparison = compare(before, after);
        assert_int_equal(weft_bench_compare_count(comparison, "output_changed"), fast ? 0 : 1);
        assert_string_equal(verdict_of(comparison, 0), fast ? "same" : "incomparable");
        assert_int_equal(weft_bench_compare_print(comparison), 0);
        json_decref(comparison);
        json_decref(before);
        json_decref(after);
    }
}

WEFT_TEST(environments_are_held_against_each_other) {
    json_t *before = one_row(1.0, NARROW);
    json_t *after = one_row(1.0, NARROW);
    json_t *environment = json_object_get(after, "environment");
    json_object_set_new(environment, "debug_slow_down", json_integer(3));
    json_t *device = json_array_get(json_object_get(environment, "devices"), 0);
    json_object_set_new(device, "driver_version", json_string("1.3"));
    json_t *comparison = compare(before, after);
    const json_t *differences = json_object_get(comparison, "differences");
    assert_int_equal(json_array_size(differences), 2);
    static const char *const fields[] = {"debug_slow_down", "driver"};
    for (size_t i = 0; i < 2; i++) {
        const json_t *field = json_object_get(json_array_get(differences, i), "field");
        assert_string_equal(json_string_value(field), fields[i]);
    }
    assert_int_equal(weft_bench_compare_print(comparison), 0);
    json_decref(comparison);
    json_decref(before);
    json_decref(after);
}
