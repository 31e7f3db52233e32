/* SPDX-License-Identifier: MIT */
#include "bench/compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/fields.h"
#include "cli.h"

#define SAME_DEVICE "(the one device)"

struct comparison {
    const json_t *before, *after; /* the rows of both */
    const weft_bench_noise *noise;
    bool across_devices;
    const char *before_device, *after_device; /* where that is so */
    uint32_t comparisons;
    double quantile;
    json_t *partners; /* of each row of `after`, its row of `before`, or null */
    json_t *rows;     /* the result */
};

static bool is_ok(const json_t *row) {
    return strcmp(weft_bench_text(row, "status"), "ok") == 0;
}

/* ---- which rows belong together ---- */

/** What a row is known by; the caller drops it. */
static json_t *key_of(const json_t *row, const char *one_device) {
    const char *device = weft_bench_text(row, "device");
    if (one_device && strcmp(device, one_device) == 0) {
        device = SAME_DEVICE;
    }
    return json_sprintf("%s\n%s\n%s\n%s\n%s", weft_bench_text(row, "suite"),
                        weft_bench_text(row, "case"), weft_bench_text(row, "runtime"),
                        weft_bench_text(row, "math"), device);
}

/** Lists of rows, by their keys. */
static json_t *index_rows(const json_t *rows, const char *one_device) {
    json_t *index = json_object();
    for (size_t i = 0; index && i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        json_t *key = key_of(row, one_device);
        json_t *list = key ? json_object_get(index, json_string_value(key)) : NULL;
        int failed = key ? 0 : -1;
        if (key && !list) {
            list = json_array();
            failed = json_object_set_new(index, json_string_value(key), list);
        }
        if (failed != 0 || json_array_append(list, row) != 0) {
            json_decref(index);
            index = NULL;
        }
        json_decref(key);
    }
    return index;
}

/** Takes the first row of that key out of the index; null when there is none. The caller drops it. */
static json_t *take(json_t *index, const json_t *key) {
    json_t *list = json_object_get(index, json_string_value(key));
    json_t *row = json_incref(json_array_get(list, 0));
    json_array_remove(list, 0);
    return row;
}

static const char *only_device(const json_t *report) {
    const json_t *devices = json_object_get(json_object_get(report, "environment"), "devices");
    return json_array_size(devices) == 1 ? weft_bench_text(json_array_get(devices, 0), "name")
                                         : NULL;
}

static void choose_devices(struct comparison *comparison, const json_t *before,
                           const json_t *after) {
    const char *one = only_device(before);
    const char *other = only_device(after);
    if (one && other && strcmp(one, other) != 0) {
        comparison->across_devices = true;
        comparison->before_device = one;
        comparison->after_device = other;
    }
}

/* ---- rows of the result ---- */

static json_t *real_or_null(double value) {
    return value > 0.0 ? weft_cli_json_real(value) : json_null();
}

static json_t *copy_of(const json_t *row, const char *name) {
    return json_incref(json_object_get(row, name));
}

/** Adds a row; `change` is null where times are not compared. False when memory is out. */
static bool add_row(struct comparison *comparison, const json_t *row, const char *verdict,
                    const char *reason, const weft_bench_change *change, bool output_changed) {
    static const weft_bench_change none = {0};
    const char *time = change && change->by_cpu ? "cpu_ms" : "median_ms";
    json_t *time_json = change ? json_string(time) : json_null();
    change = change ? change : &none;
    json_t *object = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "suite",
        copy_of(row, "suite"), "case", copy_of(row, "case"), "runtime", copy_of(row, "runtime"),
        "math", copy_of(row, "math"), "device", copy_of(row, "device"), "verdict", verdict,
        "reason", weft_cli_json_text(reason), "time", time_json, "before_ms",
        real_or_null(change->before_ms), "after_ms", real_or_null(change->after_ms), "ratio",
        real_or_null(change->ratio), "median_ratio", real_or_null(change->median_ratio), "noise",
        real_or_null(change->noise), "output_changed", (int)output_changed);
    return json_array_append_new(comparison->rows, object) == 0;
}

static weft_bench_timing timing_of(const json_t *row) {
    const json_t *interval = json_object_get(row, "interval_ms");
    weft_bench_timing timing = {.median_ms = weft_bench_number(row, "median_ms"),
                                .low_ms = json_number_value(json_array_get(interval, 0)),
                                .high_ms = json_number_value(json_array_get(interval, 1)),
                                .cpu_ms = weft_bench_number(row, "cpu_ms")};
    timing.noisy = timing.cpu_ms > 0.0 || json_is_true(json_object_get(row, "software_device")) ||
                   strcmp(weft_bench_text(row, "clock"), "device") != 0;
    return timing;
}

/** Operations, or where there are none, bytes. */
static double work_of(const json_t *row) {
    const double flops = weft_bench_number(row, "flops");
    return flops > 0.0 ? flops : weft_bench_number(row, "bytes");
}

/**
 * What times of `after` are multiplied by to be of the work of `before`: 1 but for suite `device`, whose cases have the size
 * that the device takes some milliseconds for. 0 where the work cannot be compared.
 */
static double scale_of(const json_t *before, const json_t *after) {
    if (json_equal(json_object_get(before, "shape"), json_object_get(after, "shape"))) {
        return 1.0;
    }
    const double was = work_of(before);
    const double is = work_of(after);
    return strcmp(weft_bench_text(after, "suite"), "device") == 0 && was > 0.0 && is > 0.0
               ? was / is
               : 0.0;
}

static void scale(weft_bench_timing *timing, double factor) {
    timing->median_ms *= factor;
    timing->low_ms *= factor;
    timing->high_ms *= factor;
    timing->cpu_ms *= factor;
}

static bool output_changed(const json_t *before, const json_t *after) {
    const char *was = weft_bench_text(before, "output_sha256");
    const char *is = weft_bench_text(after, "output_sha256");
    return strcmp(weft_bench_text(after, "math"), "fast") != 0 && was[0] != '\0' && is[0] != '\0' &&
           strcmp(was, is) != 0 &&
           json_equal(json_object_get(before, "shape"), json_object_get(after, "shape"));
}

#define REASON_SIZE 600

/** Why the times of two rows cannot be compared, in `reason`; false when they can be, or neither has any. */
static bool incomparable(char reason[REASON_SIZE], const json_t *before, const json_t *after) {
    if (strcmp(weft_bench_text(before, "status"), weft_bench_text(after, "status")) != 0) {
        const char *why = weft_bench_text(is_ok(after) ? before : after, "reason");
        snprintf(reason, REASON_SIZE, "was %s, is %s%s%s", weft_bench_text(before, "status"),
                 weft_bench_text(after, "status"), why[0] != '\0' ? ": " : "", why);
        return true;
    }
    if (is_ok(after) && scale_of(before, after) <= 0.0) {
        snprintf(reason, REASON_SIZE, "the shape of the input is another");
        return true;
    }
    if (strcmp(weft_bench_text(before, "clock"), weft_bench_text(after, "clock")) != 0) {
        snprintf(reason, REASON_SIZE, "timed by the clock of the %s, before by that of the %s",
                 weft_bench_text(after, "clock"), weft_bench_text(before, "clock"));
        return true;
    }
    if (output_changed(before, after)) { /* they may have done other work */
        snprintf(reason, REASON_SIZE, "other bits: SHA-256 %.16s…, before %.16s…",
                 weft_bench_text(after, "output_sha256"), weft_bench_text(before, "output_sha256"));
        return true;
    }
    return false;
}

static bool add_pair(struct comparison *comparison, const json_t *before, const json_t *after) {
    static const char *const verdicts[] = {"faster", "same", "slower"};
    char reason[REASON_SIZE];
    if (incomparable(reason, before, after)) {
        return add_row(comparison, after, "incomparable", reason, NULL,
                       output_changed(before, after));
    }
    if (!is_ok(after)) {
        snprintf(reason, sizeof reason, "%s in both: %s", weft_bench_text(after, "status"),
                 weft_bench_text(after, "reason"));
        return add_row(comparison, after, "unmeasured", reason, NULL, false);
    }
    const weft_bench_timing was = timing_of(before);
    weft_bench_timing is = timing_of(after);
    scale(&is, scale_of(before, after));
    const weft_bench_change change =
        weft_bench_noise_compare(&was, &is, comparison->noise, comparison->quantile);
    return add_row(comparison, after, verdicts[change.direction + 1], "", &change, false);
}

/* ---- all rows ---- */

/** Fills `partners`, which empties the index but for the rows that are gone; counts the comparisons. */
static bool find_partners(struct comparison *comparison, json_t *index) {
    for (size_t i = 0; i < json_array_size(comparison->after); i++) {
        const json_t *row = json_array_get(comparison->after, i);
        char reason[REASON_SIZE];
        json_t *key = key_of(row, comparison->after_device);
        if (!key) {
            return false;
        }
        json_t *partner = take(index, key);
        json_decref(key);
        comparison->comparisons += partner && is_ok(row) && !incomparable(reason, partner, row);
        if (json_array_append_new(comparison->partners, partner ? partner : json_null()) != 0) {
            return false;
        }
    }
    return true;
}

static bool add_rows(struct comparison *comparison, json_t *index) {
    bool fine = find_partners(comparison, index);
    comparison->quantile = weft_bench_noise_quantile(comparison->comparisons);
    for (size_t i = 0; fine && i < json_array_size(comparison->after); i++) {
        const json_t *row = json_array_get(comparison->after, i);
        const json_t *partner = json_array_get(comparison->partners, i);
        fine = json_is_null(partner) ? add_row(comparison, row, "new", "", NULL, false)
                                     : add_pair(comparison, partner, row);
    }
    const char *key = NULL;
    json_t *rest = NULL;
    json_object_foreach(index, key, rest) {
        for (size_t i = 0; fine && i < json_array_size(rest); i++) {
            fine = add_row(comparison, json_array_get(rest, i), "gone", "", NULL, false);
        }
    }
    return fine;
}

static bool compare_rows(struct comparison *comparison) {
    json_t *index = index_rows(comparison->before, comparison->before_device);
    comparison->partners = json_array();
    comparison->rows = json_array();
    bool fine = index && comparison->partners && comparison->rows && add_rows(comparison, index);
    json_decref(index);
    json_decref(comparison->partners);
    comparison->partners = NULL;
    return fine;
}

/* ---- what sums it up ---- */

uint32_t weft_bench_compare_count(const json_t *comparison, const char *verdict) {
    return (uint32_t)json_integer_value(
        json_object_get(json_object_get(comparison, "counts"), verdict));
}

static json_t *counts_json(const json_t *rows) {
    json_t *counts =
        json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i}", "slower", 0, "faster", 0, "same", 0,
                  "new", 0, "gone", 0, "unmeasured", 0, "incomparable", 0, "output_changed", 0);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        json_t *count = json_object_get(counts, weft_bench_text(row, "verdict"));
        json_integer_set(count, json_integer_value(count) + 1);
        count = json_object_get(counts, "output_changed");
        json_integer_set(count, json_integer_value(count) +
                                    json_is_true(json_object_get(row, "output_changed")));
    }
    return counts;
}

/** The geometric mean of the ratios of a suite; null when none of its rows is compared. */
static json_t *suite_json(const json_t *rows, const char *suite) {
    double sum = 0.0;
    int count = 0;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        double ratio = weft_bench_number(row, "ratio");
        if (ratio > 0.0 && strcmp(weft_bench_text(row, "suite"), suite) == 0) {
            sum += log(ratio);
            count++;
        }
    }
    return count == 0 ? NULL
                      : json_pack("{s:s, s:i, s:f}", "suite", suite, "rows", count, "ratio",
                                  exp(sum / count));
}

static bool has_suite(const json_t *suites, const char *suite) {
    for (size_t i = 0; i < json_array_size(suites); i++) {
        if (strcmp(weft_bench_text(json_array_get(suites, i), "suite"), suite) == 0) {
            return true;
        }
    }
    return false;
}

static json_t *suites_json(const json_t *rows) {
    json_t *suites = json_array();
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const char *suite = weft_bench_text(json_array_get(rows, i), "suite");
        json_t *object = has_suite(suites, suite) ? NULL : suite_json(rows, suite);
        if (object) {
            json_array_append_new(suites, object);
        }
    }
    return suites;
}

/* ---- the environments ---- */

static const json_t *environment_of(const json_t *report) {
    return json_object_get(report, "environment");
}

static json_t *side_json(const json_t *report) {
    const json_t *environment = environment_of(report);
    const json_t *devices = json_object_get(environment, "devices");
    json_t *names = json_array();
    for (size_t i = 0; i < json_array_size(devices); i++) {
        json_array_append(names, json_object_get(json_array_get(devices, i), "name"));
    }
    return json_pack("{s:o, s:o, s:o}", "weft", copy_of(environment, "weft"), "started",
                     copy_of(environment, "started"), "devices", names);
}

static void add_difference(json_t *list, const char *name, const json_t *before,
                           const json_t *after, const char *field) {
    if (!json_equal(json_object_get(before, field), json_object_get(after, field))) {
        json_array_append_new(list,
                              json_pack("{s:s, s:o, s:o}", "field", name, "before",
                                        copy_of(before, field), "after", copy_of(after, field)));
    }
}

static json_t *differences_json(const json_t *before, const json_t *after) {
    static const char *const fields[] = {"weft",
                                         "label",
                                         "cpu",
                                         "cores",
                                         "system",
                                         "memory",
                                         "governor",
                                         "energy_preference",
                                         "power_plan",
                                         "seconds",
                                         "debug_slow_down"};
    json_t *list = json_array();
    const json_t *was = environment_of(before);
    const json_t *is = environment_of(after);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        add_difference(list, fields[i], was, is, fields[i]);
    }
    const json_t *devices = json_object_get(was, "devices");
    const json_t *others = json_object_get(is, "devices");
    if (json_array_size(devices) == json_array_size(others)) {
        for (size_t i = 0; i < json_array_size(devices); i++) {
            add_difference(list, "driver", json_array_get(devices, i), json_array_get(others, i),
                           "driver_version");
        }
    }
    return list;
}

json_t *weft_bench_compare(const json_t *before, const json_t *after,
                           const weft_bench_noise *noise) {
    struct comparison comparison = {.before = json_object_get(before, "rows"),
                                    .after = json_object_get(after, "rows"),
                                    .noise = noise};
    choose_devices(&comparison, before, after);
    if (!compare_rows(&comparison)) {
        json_decref(comparison.rows);
        return NULL;
    }
    return json_pack("{s:o, s:o, s:b, s:{s:f, s:f, s:i, s:f}, s:o, s:o, s:o, s:o}", "before",
                     side_json(before), "after", side_json(after), "across_devices",
                     (int)comparison.across_devices, "noise", "hardware", noise->hardware,
                     "software", noise->software, "comparisons", (int)comparison.comparisons,
                     "quantile", comparison.quantile, "differences",
                     differences_json(before, after), "counts", counts_json(comparison.rows),
                     "suites", suites_json(comparison.rows), "rows", comparison.rows);
}
