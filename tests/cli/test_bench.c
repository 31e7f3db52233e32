/* SPDX-License-Identifier: MIT */
/* weft-test: slow one device */
/* weft bench: that it measures, checks, fits and reports. No time is asserted. */
#include "cli/bench_rows.h"

#define SHORT "bench --suite mixers --seconds 0.2 "

WEFT_TEST(series_are_measured_and_fitted) {
    json_t *report = run_json("", SHORT "--filter attention/full_band --lengths 64,96,128");
    assert_int_equal(integer_field(report, "schema"), 2);
    assert_int_equal(json_array_size(field(report, "rows")), 3);
    for (size_t i = 0; i < 3; i++) {
        const json_t *row = row_of(report, i);
        check_measured(row);
        assert_int_equal(integer_field(row, "n"), 64 + 32 * (int)i);
        assert_int_equal(json_integer_value(json_array_get(field(row, "shape"), 1)),
                         64 + 32 * (int)i);
        assert_string_equal(string_field(row, "series"), "attention/full_band");
    }
    assert_int_equal(json_array_size(field(report, "fits")), 1);
    const json_t *fit = json_array_get(field(report, "fits"), 0);
    assert_int_equal(integer_field(fit, "time/lengths"), 3);
    assert_int_equal(integer_field(fit, "time/from"), 64);
    assert_int_equal(integer_field(fit, "time/to"), 128);
    assert_true(json_is_number(field(fit, "time/exponent")));
    assert_true(json_is_number(field(fit, "time/standard_error")));
    assert_int_equal(integer_field(fit, "extra_memory/lengths"), 0); /* it needs none */
    assert_true(json_is_null(field(fit, "crossover")));              /* with itself */
    json_decref(report);
}

/* What CI runs of the suite: its smallest cases, as a functional test. */
WEFT_TEST(every_suite_runs) {
    static const char *const suites[] = {"ops", "mixers",  "fnet",   "fmm",   "flt",
                                         "ski", "spectra", "models", "decode"};
    bool seen[sizeof suites / sizeof suites[0]] = {false};
    json_t *report = run_json("", "bench --size smallest --seconds 0.05");
    for (size_t i = 0; i < json_array_size(field(report, "rows")); i++) {
        const json_t *row = row_of(report, i);
        check_measured(row);
        for (size_t k = 0; k < sizeof suites / sizeof suites[0]; k++) {
            seen[k] = seen[k] || strcmp(string_field(row, "suite"), suites[k]) == 0;
        }
    }
    for (size_t k = 0; k < sizeof suites / sizeof suites[0]; k++) {
        assert_true(seen[k]);
    }
    json_decref(report);
}

WEFT_TEST(suites_of_papers_have_one_name) {
    static const char *const papers[] = {"fnet", "fmm", "flt", "ski", "spectra"};
    uint32_t found = 0; /* a bit for each */
    json_t *report = run_json("", "bench --suite papers --size smallest --seconds 0.05");
    for (size_t i = 0; i < json_array_size(field(report, "rows")); i++) {
        uint32_t k = 0;
        while (k < 5 && strcmp(string_field(row_of(report, i), "suite"), papers[k]) != 0) {
            k++;
        }
        assert_in_range(k, 0, 4);
        found |= 1U << k;
    }
    assert_int_equal(found, 31);
    json_decref(report);
}

/* The longest would take hours, and does not even have its inputs made. */
WEFT_TEST(long_cases_are_skipped) {
    json_t *report =
        run_json("", SHORT "--filter attention/full_band --lengths 64,256,2097152 --time-cap 1");
    const json_t *row = row_of(report, 2);
    assert_string_equal(string_field(row, "status"), "skipped");
    assert_non_null(strstr(string_field(row, "reason"), "more than the 1 s of --time-cap"));
    assert_null(json_object_get(row, "median_ms"));
    const json_t *fit = json_array_get(field(report, "fits"), 0);
    assert_int_equal(integer_field(fit, "time/to"), 256);
    json_decref(report);
}

WEFT_TEST(tables_and_files_are_written) {
    char *folder = weft_test_folder();
    char *path = weft_test_path(folder, "bench.json");
    struct outcome text =
        expect_weft(0, SHORT "--filter banded_attention/n --lengths 64,128 --out '%s'", path);
    expect_part(&text, text.out, "banded_attention/n=128,d=64");
    expect_part(&text, text.out, "Growth with the length");
    expect_part(&text, text.out, "64 - 128");
    json_error_t error;
    json_t *file = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    assert_non_null(file);
    check_measured(row_of(file, 1));
    json_decref(file);
    outcome_clear(&text);
}

/* The same inputs and weights whatever the device, so its bits tell a wrong driver. */
WEFT_TEST(outputs_are_the_same_each_time) {
    json_t *one = run_json("", SHORT "--filter cosformer/n --lengths 64");
    json_t *two = run_json("", SHORT "--filter cosformer/n --lengths 64");
    assert_string_equal(string_field(row_of(one, 0), "output_sha256"),
                        string_field(row_of(two, 0), "output_sha256"));
    json_decref(one);
    json_decref(two);
}

WEFT_TEST(wrong_usage_is_refused) {
    static const char *const lengths[] = {"63", "512,512", "1024,512", "512,",
                                          "''", "a",       "16777217"};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        char *line = weft_test_text("bench --lengths %s", lengths[i]);
        expect_refused(2, line, "--lengths: expected at most 16 whole numbers from 64 to 16777216",
                       NULL);
    }
    static const char *const seconds[] = {"0", "-1", "1e3", ".5", "1.", "1.2.3", "' 1'", "1000001"};
    for (size_t i = 0; i < sizeof seconds / sizeof seconds[0]; i++) {
        char *line = weft_test_text("bench --seconds %s", seconds[i]);
        expect_refused(2, line, "--seconds: expected a number from 0.001 to 1000000", NULL);
    }
    expect_refused(2, "bench --filter nonsense", "nonsense", NULL);
    expect_refused(2, "bench --suite nonsense", "nonsense", NULL);
    expect_refused(2, "bench --time-cap 0", "--time-cap: expected a whole number", NULL);
}
