/* SPDX-License-Identifier: MIT */
/* A minute of one product without a pause, which shows whether the device keeps its clock. */
#include <math.h>
#include <string.h>

#include "bench/case.h"
#include "bench/ports.h"
#include "bench/statistics.h"
#include "certify/speed.h"
#include "core/system/clock.h"
#include "core/try.h"

#define CASE  "matmul/512x3072x768"
#define PARTS 6 /* of all time: of a minute ten seconds each */

typedef struct minute {
    double seconds;      /* that it took */
    uint32_t runs;       /* in them */
    double parts[PARTS]; /* runs per second */
    double flops;        /* of a run */
    double slowest_ms;
} minute;

static weft_status measure(minute *measured, weft_plan *plan, weft_bindings *bindings,
                           double seconds) {
    const double begin = weft_clock_ms();
    double last = begin;
    for (uint32_t part = 0; part < PARTS; part++) {
        const double from = last;
        const double until = begin + 1e3 * seconds * (part + 1) / PARTS;
        uint32_t runs = 0;
        while (runs == 0 || last < until) {
            WEFT_TRY(weft_plan_run(plan, bindings));
            const double now = weft_clock_ms();
            measured->slowest_ms = fmax(measured->slowest_ms, now - last);
            last = now;
            runs++;
        }
        measured->parts[part] = 1e3 * runs / (last - from);
        measured->runs += runs;
    }
    measured->seconds = 1e-3 * (last - begin);
    return WEFT_OK;
}

static weft_status find_case(weft_bench_case *found, const weft_host *host) {
    const weft_bench_scope scope = {.size = WEFT_BENCH_SHORT};
    weft_bench_list list = {.host = host};
    const weft_bench_suite *suite = NULL;
    for (uint32_t i = 0; (suite = weft_bench_suite_at(i)); i++) {
        if (strcmp(suite->name, "ops") == 0) {
            suite->add(&list, &scope);
        }
    }
    weft_status status = list.status != WEFT_OK ? list.status : WEFT_NOT_FOUND;
    for (uint32_t i = 0; i < list.count && list.status == WEFT_OK; i++) {
        if (strcmp(list.cases[i].name, CASE) == 0) {
            *found = list.cases[i];
            status = WEFT_OK;
        }
    }
    weft_bench_list_free(&list);
    return status;
}

static weft_status sustain(minute *measured, weft_device *device, double seconds,
                           const weft_host *host) {
    weft_bench_case what;
    weft_plan *plan = NULL;
    weft_bench_ports ports = {0};
    weft_plan_info info;
    WEFT_TRY(find_case(&what, host));
    weft_status status = weft_bench_compile(&plan, device, &what, false, host);
    if (status == WEFT_OK) {
        status = weft_bench_bind(&ports, plan, device, &what, host);
    }
    if (status == WEFT_OK) {
        status = weft_plan_run(plan, ports.bindings);
    }
    if (status == WEFT_OK) {
        status = measure(measured, plan, ports.bindings, seconds);
    }
    if (status == WEFT_OK && weft_plan_get_info(plan, &info) == WEFT_OK) {
        measured->flops = info.flops;
    }
    weft_bench_unbind(&ports, host);
    weft_plan_destroy(&plan);
    return status;
}

json_t *weft_certify_sustain(weft_certify_job *job, double seconds) {
    minute measured = {0};
    weft_device *device = NULL;
    weft_status status = weft_certify_open(&device, job, WEFT_MATH_REPRODUCIBLE);
    if (status == WEFT_OK) {
        status = sustain(&measured, device, seconds, &job->host);
        weft_certify_close(&device, job);
    }
    const bool fine = status == WEFT_OK;
    json_t *parts = json_array();
    for (uint32_t part = 0; fine && parts && part < PARTS; part++) {
        parts = weft_cli_json_append(parts, weft_certify_real(measured.parts[part]));
    }
    return json_pack(
        "{s:s, s:s, s:s, s:o, s:o, s:i, s:o, s:o, s:o, s:o}", "case", CASE, "math",
        weft_math_name(WEFT_MATH_REPRODUCIBLE), "status", fine ? "ok" : weft_status_name(status),
        "reason", fine ? json_null() : weft_cli_json_text(job->error), "seconds",
        weft_certify_real(measured.seconds), "runs", (int)measured.runs, "gflop_per_s",
        fine ? weft_certify_real(1e-9 * measured.flops * measured.runs / measured.seconds)
             : json_null(),
        "slowest_ms", fine ? weft_certify_real(measured.slowest_ms) : json_null(), "runs_per_s",
        parts, "last_over_first",
        fine ? weft_certify_real(measured.parts[PARTS - 1] / measured.parts[0]) : json_null());
}
