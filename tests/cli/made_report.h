/* SPDX-License-Identifier: MIT */
/* Reports of weft bench with made-up numbers, complete by bench/schema.json. */
#ifndef WEFT_TESTS_CLI_MADE_REPORT_H
#define WEFT_TESTS_CLI_MADE_REPORT_H

#include <jansson.h>

#include "support.h"

#define MADE_DEVICE "Some GPU"
#define MADE_DIGEST "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static inline json_t *made(json_t *object, const json_error_t *error) {
    if (object == NULL) {
        fail_msg("a made-up object: %s", error->text);
    }
    return object;
}

/** A report of one device without rows. */
static inline json_t *made_report(const char *device) {
    json_error_t error;
    json_t *description = json_pack_ex(
        &error, 0,
        "{s:i, s:s, s:s, s:s, s:s, s:i, s:i, s:s, s:i, s:b, s:i, s:i, s:i, s:I, s:f, s:b, s:b, "
        "s:n, s:s, "
        "s:{s:f, s:f, s:n, s:f, s:f}}",
        "index", 0, "name", device, "type", "discrete", "driver", "Some driver", "driver_version",
        "1.2", "vendor_id", 4098, "device_id", 7, "vulkan", "1.3.0", "subgroup_size", 32,
        "subgroup_arithmetic", 1, "max_workgroup_invocations", 1024, "max_shared_memory", 32768,
        "max_storage_buffer_size", 1 << 30, "device_memory", (json_int_t)1 << 34,
        "timestamp_period_ns", 10.0, "pipeline_feedback", 1, "usable", 1, "reason", "uuid",
        "000102030405060708090a0b0c0d0e0f", "ceilings", "copy_gb_per_s", 400.0, "f32_gflop_per_s",
        9000.0, "f16_gflop_per_s", "dispatch_us", 2.5, "submission_us", 40.0);
    return made(
        json_pack_ex(
            &error, 0,
            "{s:i, s:{s:s, s:s, s:s, s:i, s:s, s:s, s:i, s:i, s:b, s:n, s:[o]}, s:[], s:[]}",
            "schema", 2, "environment", "weft", "0.1.0", "started", "2026-11-21T11:00:00Z", "cpu",
            "Some processor", "cores", 8, "system", "Linux", "size", "short", "seconds", 2,
            "rounds", 2, "interrupted", 0, "debug_slow_down", "devices", made(description, &error),
            "rows", "fits"),
        &error);
}

/** What its owner calls the machine, in place of an older report's nothing. */
static inline void made_label(json_t *report, const char *label) {
    json_t *environment = json_object_get(report, "environment");
    assert_int_equal(json_object_set_new(environment, "label", json_string(label)), 0);
}

static inline json_t *made_rows(const json_t *report) {
    return json_object_get(report, "rows");
}

/** A row without measurements, of suite ops in reproducible mode on the report's device; borrowed. */
static inline json_t *made_row(json_t *report, const char *name, const char *status,
                               const char *reason) {
    json_error_t error;
    const json_t *devices = json_object_get(json_object_get(report, "environment"), "devices");
    json_t *device = json_object_get(json_array_get(devices, 0), "name");
    json_t *row = json_pack_ex(
        &error, 0, "{s:s, s:s, s:n, s:n, s:s, s:s, s:O, s:i, s:s, s:s, s:s, s:s, s:b}", "suite",
        "ops", "case", name, "series", "n", "runtime", "weft", "runtime_version", "0.1.0", "device",
        device, "device_index", 0, "driver", "1.2", "math", "reproducible", "status", status,
        "reason", reason, "software_device", 0);
    assert_int_equal(json_array_append_new(made_rows(report), made(row, &error)), 0);
    return row;
}

/** A row that was timed: the median and half its interval, as a part of it. Borrowed. */
static inline json_t *made_time(json_t *report, const char *name, double ms, double half) {
    json_error_t error;
    json_t *row = made_row(report, name, "ok", "");
    json_t *more = json_pack_ex(
        &error, 0,
        "{s:[i,i,i], s:s, s:i, s:[f,f], s:f, s:f, s:f, s:f, s:f, s:f, s:[f,f], s:b, s:f, s:n, s:f, "
        "s:f, s:f, "
        "s:f, "
        "s:n, s:f, s:i, "
        "s:i, s:i, s:i, s:i, s:i, s:{s:s, s:s, s:f}, s:{s:f, s:f, s:f}, s:f, s:n, s:s, s:{s:s, "
        "s:f, s:f, s:s}}",
        "shape", 1, 512, 64, "clock", "device", "runs", 50, "rounds_ms", ms, ms, "median_ms", ms,
        "p5_ms", 0.9 * ms, "p90_ms", 1.1 * ms, "p95_ms", 1.2 * ms, "p99_ms", 1.3 * ms, "spread",
        0.01, "interval_ms", ms * (1.0 - half), ms * (1.0 + half), "tight", 1, "host_ms", 1.1 * ms,
        "cpu_ms", "flops", 1e6, "bytes", 1e5, "gflop_per_s", 1.0 / ms, "gb_per_s", 0.1 / ms,
        "fraction_of_copy", "fraction_of_arithmetic", 0.25, "extra_bytes", 0, "weight_bytes", 4096,
        "peak_bytes", 8192, "dispatches", 2, "barriers", 1, "submissions", 1, "longest_dispatch",
        "kernel", "ops/matmul", "node", "matmul", "ms", 0.5 * ms, "start_ms", "cold", 30.0,
        "warm_cache", 3.0, "steady", 0.5, "cold_ms", 3.5, "tokens_per_s", "output_sha256",
        MADE_DIGEST, "verified", "by", "float64", "rel_l2", 1e-7, "tolerance", 1e-5, "reason", "");
    assert_int_equal(json_object_update(row, made(more, &error)), 0);
    json_decref(more);
    return row;
}

/** The same of a software driver, with its processor time. */
static inline json_t *made_software_time(json_t *report, const char *name, double ms, double half,
                                         double cpu_ms) {
    json_t *row = made_time(report, name, ms, half);
    json_object_set_new(row, "software_device", json_true());
    json_object_set_new(row, "cpu_ms", json_real(cpu_ms));
    return row;
}

#endif
