/* SPDX-License-Identifier: MIT */
/* Rows of a report of `weft bench`. */
#ifndef WEFT_TESTS_CLI_BENCH_ROWS_H
#define WEFT_TESTS_CLI_BENCH_ROWS_H

#include "cli/command.h"

static inline const json_t *row_of(const json_t *report, size_t index) {
    const json_t *row = json_array_get(field(report, "rows"), index);
    assert_non_null(row);
    return row;
}

/* That a case was measured, and what it says about that is possible. */
static inline void check_measured(const json_t *row) {
    assert_string_equal(string_field(row, "status"), "ok");
    assert_string_equal(string_field(row, "reason"), "");
    assert_in_range(integer_field(row, "runs"), 6, 2000); /* of two rounds */
    assert_true(number_field(row, "median_ms") > 0.0);
    assert_true(number_field(row, "p5_ms") <= number_field(row, "median_ms"));
    assert_true(number_field(row, "median_ms") <= number_field(row, "p95_ms"));
    const double low = json_number_value(json_array_get(field(row, "interval_ms"), 0));
    const double high = json_number_value(json_array_get(field(row, "interval_ms"), 1));
    assert_true(low <= number_field(row, "median_ms") && number_field(row, "median_ms") <= high);
    assert_true(json_is_true(field(row, "tight")) ==
                (high - low <= 0.04 * number_field(row, "median_ms")));
    assert_true(number_field(row, "host_ms") > 0.0);
    assert_true(json_is_real(field(row, "cpu_ms")) == json_is_true(field(row, "software_device")));
    assert_true(number_field(row, "cold_ms") > 0.0);
    assert_true(integer_field(row, "dispatches") >= 1);
    assert_true(integer_field(row, "barriers") < integer_field(row, "dispatches"));
    assert_true(integer_field(row, "submissions") >= 1);
    assert_true(integer_field(row, "extra_bytes") >= 0);
    assert_true(integer_field(row, "peak_bytes") >
                integer_field(row, "extra_bytes") + integer_field(row, "weight_bytes"));
    const json_t *longest = field(row, "longest_dispatch");
    if (strcmp(string_field(row, "clock"), "device") == 0) {
        assert_true(number_field(longest, "ms") > 0.0);
        assert_true(strlen(string_field(longest, "kernel")) > 0);
        assert_true(strlen(string_field(longest, "node")) > 0);
    } else {
        assert_true(json_is_null(longest));
    }
    assert_int_equal(strlen(string_field(row, "output_sha256")), 64);
}

#endif
