/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "bench/expected.h"
#include "bench/fields.h"
#include "certify/check.h"
#include "certify/speed.h"
#include "core/try.h"

/*
 * A row may come so many times over the device's own limit: that was measured in the same run, but perhaps while the machine had other
 * work, and operations are counted by formulas that transforms may undercut.
 */
#define MOST_OVER_LIMIT 4.0
#define LEAST_RUNS      6
#define LEAST_MINUTE_S  59.0
#define ROUNDING        1e-4 /* of numbers of six digits */

static bool is(const json_t *object, const char *name, const char *text) {
    return strcmp(weft_bench_text(object, name), text) == 0;
}

static bool near(double a, double b) {
    return fabs(a - b) <= ROUNDING * fmax(fabs(a), fabs(b));
}

static const json_t *find_mode(const json_t *bench, const char *math) {
    const json_t *modes = json_object_get(bench, "modes");
    for (size_t i = 0; i < json_array_size(modes); i++) {
        if (is(json_array_get(modes, i), "math", math)) {
            return json_array_get(modes, i);
        }
    }
    return NULL;
}

static void refuse_in(weft_certify_findings *findings, size_t index, const char *name,
                      const json_t *row, const char *expected) {
    char field[WEFT_CERTIFY_TEXT_SIZE];
    weft_certify_text(field, "bench.rows[%zu] (%.80s, %.20s) %.30s", index,
                      weft_bench_text(row, "case"), weft_bench_text(row, "math"), name);
    weft_certify_refuse_value(findings, field, json_object_get(row, name), "%s", expected);
}

/* ---- rows ---- */

static void check_times(weft_certify_findings *findings, size_t index, const json_t *row) {
    const json_t *medians = json_object_get(row, "medians_ms");
    const double p50 = weft_bench_number(row, "p50_ms");
    const double p90 = weft_bench_number(row, "p90_ms");
    const size_t count = json_array_size(medians);
    double middle = json_number_value(json_array_get(medians, count - 1));
    for (size_t i = 0; i < count; i++) {
        if (!(json_number_value(json_array_get(medians, i)) > 0.0)) {
            refuse_in(findings, index, "medians_ms", row, "times above 0");
        }
    }
    if (count > 1) {
        middle = 0.5 * (middle + json_number_value(json_array_get(medians, count - 2)));
    }
    if (!(p50 > 0.0) || !near(p50, middle)) {
        refuse_in(findings, index, "p50_ms", row, "the mean of the last two medians, above 0");
    }
    if (p90 < p50) {
        refuse_in(findings, index, "p90_ms", row, "at least p50_ms");
    }
    if (weft_bench_number(row, "p99_ms") < p90) {
        refuse_in(findings, index, "p99_ms", row, "at least p90_ms");
    }
    if (weft_bench_number(row, "runs") < LEAST_RUNS) {
        refuse_in(findings, index, "runs", row, "at least 6");
    }
}

static void check_replication(weft_certify_findings *findings, size_t index, const json_t *row) {
    const bool replicated = weft_certify_replicated(row);
    if (!replicated) {
        refuse_in(findings, index, "medians_ms", row,
                  "two last medians that differ by at most 5 %: measure on an idle machine");
    }
    if (json_is_true(json_object_get(row, "replicated")) != replicated) {
        refuse_in(findings, index, "replicated", row,
                  replicated ? "true, by its medians" : "false, by its medians");
    }
}

static void check_limit(weft_certify_findings *findings, size_t index, const json_t *row,
                        const json_t *bench) {
    const double limit =
        weft_bench_number(find_mode(bench, weft_bench_text(row, "math")), "f32_gflop_per_s");
    const bool fast = is(row, "math", weft_math_name(WEFT_MATH_FAST)); /* may use matrix units */
    if (!fast && limit > 0.0 && weft_bench_number(row, "gflop_per_s") > MOST_OVER_LIMIT * limit) {
        char expected[WEFT_CERTIFY_TEXT_SIZE];
        weft_certify_text(expected, "at most %.6g, 4 times the device's own limit",
                          MOST_OVER_LIMIT * limit);
        refuse_in(findings, index, "gflop_per_s", row, expected);
    }
}

static void check_hash(weft_certify_findings *findings, size_t index, const json_t *row,
                       const weft_bench_expected *expected) {
    const char *known = weft_bench_expected_hash(expected, weft_bench_text(row, "suite"),
                                                 weft_bench_text(row, "case"));
    if (known && is(row, "math", weft_math_name(WEFT_MATH_REPRODUCIBLE)) &&
        !is(row, "output_sha256", known)) {
        refuse_in(findings, index, "output_sha256", row, known);
    }
    if (is(row, "verified_by", "none") || is(row, "verified_by", "")) {
        refuse_in(findings, index, "verified_by", row, "float64, hash or reproducible");
    }
}

static void check_row(weft_certify_findings *findings, size_t index, const json_t *bench,
                      const weft_bench_expected *expected) {
    const json_t *row = json_array_get(json_object_get(bench, "rows"), index);
    if (is(row, "status", "skipped") || is(row, "status", "unsupported")) {
        return;
    }
    if (!is(row, "status", "ok")) {
        refuse_in(findings, index, "status", row, "ok, skipped or unsupported");
        return;
    }
    check_times(findings, index, row);
    check_replication(findings, index, row);
    check_limit(findings, index, row, bench);
    check_hash(findings, index, row, expected);
}

static void check_modes(weft_certify_findings *findings, const json_t *bench) {
    static const weft_math modes[] = {WEFT_MATH_REPRODUCIBLE, WEFT_MATH_FUSED, WEFT_MATH_FAST};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (!find_mode(bench, weft_math_name(modes[i]))) {
            weft_certify_refuse(findings, "bench.modes", "none", "an entry for %s math",
                                weft_math_name(modes[i]));
        }
    }
}

/* ---- the minute ---- */

static void check_minute(weft_certify_findings *findings, const json_t *record) {
    const json_t *minute = json_object_get(record, "sustained");
    const json_t *parts = json_object_get(minute, "runs_per_s");
    const size_t count = json_array_size(parts);
    if (!is(minute, "status", "ok")) {
        weft_certify_refuse_value(findings, "sustained.status", json_object_get(minute, "status"),
                                  "ok");
        return;
    }
    if (weft_bench_number(minute, "seconds") < LEAST_MINUTE_S) {
        weft_certify_refuse_value(findings, "sustained.seconds", json_object_get(minute, "seconds"),
                                  "at least %g", LEAST_MINUTE_S);
    }
    const double first = json_number_value(json_array_get(parts, 0));
    const double last = json_number_value(json_array_get(parts, count - 1));
    if (count != 6 || !(first > 0.0)) {
        weft_certify_refuse_value(findings, "sustained.runs_per_s", parts,
                                  "six rates above 0, of ten seconds each");
    } else if (!near(weft_bench_number(minute, "last_over_first"), last / first)) {
        weft_certify_refuse_value(findings, "sustained.last_over_first",
                                  json_object_get(minute, "last_over_first"), "%.6g, by runs_per_s",
                                  last / first);
    }
}

weft_status weft_certify_check_speed(weft_certify_findings *findings, const json_t *record,
                                     const weft_host *host) {
    weft_bench_expected *expected = NULL;
    const json_t *bench = json_object_get(record, "bench");
    const json_t *rows = json_object_get(bench, "rows");
    WEFT_TRY(weft_bench_expected_create(&expected, host));
    check_modes(findings, bench);
    if (json_array_size(rows) == 0) {
        weft_certify_refuse_value(findings, "bench.rows", rows, "rows");
    }
    for (size_t i = 0; i < json_array_size(rows); i++) {
        check_row(findings, i, bench, expected);
    }
    check_minute(findings, record);
    weft_bench_expected_destroy(&expected);
    return WEFT_OK;
}
