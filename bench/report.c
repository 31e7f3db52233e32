/* SPDX-License-Identifier: MIT */
#include "bench/report.h"

#include <math.h>
#include <string.h>

/** What the series of a suite are held against. */
static const char *baseline_of(const char *suite) {
    return strcmp(suite, "ski") == 0 ? "the TNN's Toeplitz operator" : "dense attention";
}

static json_t *shape_json(const weft_shape *shape) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < shape->rank; i++) {
        json_array_append_new(list, json_integer(shape->dim[i]));
    }
    return list;
}

static json_t *optional_text(const char *text) {
    return text && text[0] != '\0' ? weft_cli_json_text(text) : json_null();
}

static json_t *longest_json(const weft_bench_longest *longest) {
    return longest->kernel[0] == '\0'
               ? json_null()
               : json_pack("{s:s, s:s, s:o}", "kernel", longest->kernel, "node", longest->node,
                           "ms", weft_cli_json_real(longest->ms));
}

static json_t *rounds_json(const weft_bench_row *row) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < row->rounds; i++) {
        json_array_append_new(list, weft_cli_json_real(row->round_ms[i]));
    }
    return list;
}

static json_t *times_json(const weft_bench_row *row) {
    return json_pack(
        "{s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:[o, o], s:b, s:o, s:o, s:o}", "clock",
        row->device_clock ? "device" : "host", "runs", (int)row->runs, "rounds_ms",
        rounds_json(row), "median_ms", weft_cli_json_real(row->median_ms), "p5_ms",
        weft_cli_json_real(row->p5_ms), "p90_ms", weft_cli_json_real(row->p90_ms), "p95_ms",
        weft_cli_json_real(row->p95_ms), "p99_ms", weft_cli_json_real(row->p99_ms), "spread",
        weft_cli_json_real(row->spread), "interval_ms", weft_cli_json_real(row->interval_ms[0]),
        weft_cli_json_real(row->interval_ms[1]), "tight", (int)row->tight, "host_ms",
        weft_cli_json_real(row->host_ms), "cpu_ms",
        row->cpu_ms > 0.0 ? json_real(row->cpu_ms) : json_null(), "tokens_per_s",
        weft_cli_json_real(row->tokens_per_s));
}

static json_t *counts_json(const weft_bench_row *row) {
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:i, s:i, s:i, s:o, s:o, s:s}",
                     "shape", shape_json(&row->shape), "flops", weft_cli_json_real(row->info.flops),
                     "bytes", weft_cli_json_real(row->bytes), "gflop_per_s",
                     weft_cli_json_real(row->info.flops / row->median_ms * 1e-6), "gb_per_s",
                     weft_cli_json_real(row->bytes / row->median_ms * 1e-6), "extra_bytes",
                     (json_int_t)row->info.arena_bytes, "weight_bytes",
                     (json_int_t)row->info.weight_bytes, "peak_bytes", (json_int_t)row->peak_bytes,
                     "dispatches", (int)row->info.dispatches, "barriers", (int)row->info.barriers,
                     "submissions", (int)row->info.submissions, "longest_dispatch",
                     longest_json(&row->longest), "cold_ms", weft_cli_json_real(row->cold_ms),
                     "output_sha256", row->sha256);
}

static json_t *verification_json(const weft_bench_verification *verification) {
    return json_pack("{s:s, s:o, s:o, s:s}", "by", weft_bench_verified_by_name(verification->by),
                     "rel_l2", weft_cli_json_real(verification->rel_l2), "tolerance",
                     weft_cli_json_real(verification->tolerance), "reason", verification->reason);
}

static json_t *start_json(const weft_bench_row *row) {
    return row->started
               ? json_pack("{s:o, s:o, s:o}", "cold", weft_cli_json_real(row->start.cold_ms),
                           "warm_cache", weft_cli_json_real(row->start.warm_cache_ms), "steady",
                           weft_cli_json_real(row->start.steady_ms))
               : json_null();
}

static json_t *limits_json(const weft_bench_row *row, const weft_bench_ceilings *ceilings) {
    const double gflop_per_s = row->info.flops / row->median_ms * 1e-6;
    const double gb_per_s = row->bytes / row->median_ms * 1e-6;
    return json_pack(
        "{s:o, s:o, s:o}", "fraction_of_copy",
        weft_cli_json_real(weft_bench_fraction(gb_per_s, ceilings->of[WEFT_BENCH_COPY])),
        "fraction_of_arithmetic",
        weft_cli_json_real(weft_bench_fraction(gflop_per_s, ceilings->of[WEFT_BENCH_F32])),
        "start_ms", start_json(row));
}

static json_t *row_json(const weft_bench_row *row, const weft_bench_result *result,
                        weft_math math) {
    const weft_bench_case *bench_case = row->bench_case;
    json_t *object = json_pack(
        "{s:s, s:s, s:o, s:o, s:s, s:s, s:o, s:I, s:o, s:s, s:s, s:o, s:b}", "suite",
        bench_case->suite, "case", bench_case->name, "series", optional_text(bench_case->series),
        "n", bench_case->series ? json_integer(bench_case->length) : json_null(), "runtime", "weft",
        "runtime_version", weft_version(), "device", weft_cli_json_text(result->device.name),
        "device_index", (json_int_t)result->device.index, "driver",
        weft_cli_json_text(result->device.driver_version), "math", weft_math_name(math), "status",
        weft_bench_status_name(row->status), "reason", weft_cli_json_text(row->reason),
        "software_device",
        (int)(result->device.type == WEFT_DEVICE_SOFTWARE ||
              result->device.type == WEFT_DEVICE_PROCESSOR));
    if (object && row->status == WEFT_BENCH_OK) {
        object = weft_cli_json_merge(object, times_json(row));
        object = weft_cli_json_merge(object, counts_json(row));
        object = weft_cli_json_merge(object, limits_json(row, &result->ceilings));
        object = weft_cli_json_field(object, "verified", verification_json(&row->verification));
    }
    return object;
}

static json_t *growth_json(const weft_growth *growth) {
    return json_pack("{s:i, s:o, s:o, s:o, s:o}", "lengths", (int)growth->count, "from",
                     growth->count > 0 ? json_integer((json_int_t)growth->from) : json_null(), "to",
                     growth->count > 0 ? json_integer((json_int_t)growth->to) : json_null(),
                     "exponent", weft_cli_json_real(growth->exponent), "standard_error",
                     weft_cli_json_real(growth->standard_error));
}

static const char *crossover_name(weft_crossover_kind kind) {
    static const char *const names[] = {"unknown", "below", "at", "never"};
    return names[kind];
}

static json_t *crossover_json(const weft_crossover *crossover, const char *suite) {
    return json_pack("{s:s, s:s, s:o, s:o, s:o}", "baseline", baseline_of(suite), "kind",
                     crossover_name(crossover->kind), "n", weft_cli_json_real(crossover->n), "from",
                     weft_cli_json_real(crossover->from), "to", weft_cli_json_real(crossover->to));
}

static json_t *fit_json(const weft_bench_fit *fit, const weft_bench_result *result,
                        weft_math math) {
    return json_pack("{s:s, s:s, s:o, s:I, s:s, s:b, s:o, s:o, s:o, s:o, s:o}", "suite", fit->suite,
                     "series", fit->series, "device", weft_cli_json_text(result->device.name),
                     "device_index", (json_int_t)result->device.index, "math", weft_math_name(math),
                     "linear", (int)fit->linear, "time", growth_json(&fit->time), "cpu_time",
                     growth_json(&fit->cpu_time), "extra_memory", growth_json(&fit->memory),
                     "crossover",
                     fit->dense ? json_null() : crossover_json(&fit->crossover, fit->suite),
                     "speedup", fit->dense ? json_null() : weft_cli_json_real(fit->speedup));
}

/* ---- the environment ---- */

static json_t *ceilings_json(const weft_bench_ceilings *ceilings) {
    json_t *object = json_object();
    json_t *reasons = json_object();
    for (uint32_t i = 0; i < WEFT_BENCH_CEILING_COUNT; i++) {
        const char *name = weft_bench_ceiling_names[i];
        object = weft_cli_json_field(object, name, weft_cli_json_real(ceilings->of[i]));
        if (ceilings->reasons[i][0] != '\0') {
            reasons = weft_cli_json_field(reasons, name, weft_cli_json_text(ceilings->reasons[i]));
        }
    }
    return weft_cli_json_field(object, "reasons", reasons);
}

static json_t *device_json(const weft_bench_result *result) {
    json_t *device = weft_cli_device_json(&result->device);
    json_object_del(device, "uuid"); /* the identity of the single device: reports are handed on */
    json_object_set_new(device, "ceilings", ceilings_json(&result->ceilings));
    return device;
}

static json_t *environment_json(const weft_bench_session *session) {
    const weft_bench_environment *environment = &session->environment;
    json_t *devices = json_array();
    for (uint32_t i = 0; i < session->result_count; i++) {
        json_array_append_new(devices, device_json(&session->results[i]));
    }
    const uint32_t slow_down = session->settings.slow_down;
    json_t *made = json_pack(
        "{s:s, s:s, s:s, s:f, s:i, s:b, s:o, s:o}", "weft", weft_version(), "started",
        environment->started, "size", weft_bench_size_name(session->settings.scope.size), "seconds",
        session->settings.limit_ms * 1e-3, "rounds", (int)session->settings.rounds, "interrupted",
        (int)session->interrupted, "debug_slow_down",
        slow_down > 0 ? json_integer(slow_down) : json_null(), "devices", devices);
    return weft_cli_json_merge(weft_bench_environment_json(environment), made);
}

json_t *weft_bench_report_json(const weft_bench_session *session) {
    const weft_math math = session->settings.common.math;
    json_t *rows = json_array();
    json_t *fits = json_array();
    for (uint32_t i = 0; i < session->result_count; i++) {
        const weft_bench_result *result = &session->results[i];
        for (uint32_t k = 0; k < session->cases.count && result->rows; k++) {
            json_array_append_new(rows, row_json(&result->rows[k], result, math));
        }
        for (uint32_t k = 0; k < result->fit_count; k++) {
            json_array_append_new(fits, fit_json(&result->fits[k], result, math));
        }
    }
    return json_pack("{s:i, s:o, s:o, s:o}", "schema", WEFT_BENCH_SCHEMA, "environment",
                     environment_json(session), "rows", rows, "fits", fits);
}
