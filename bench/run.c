/* SPDX-License-Identifier: MIT */
#include "bench/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/system/clock.h"
#include "core/try.h"
#include "verify/conformance.h"

struct bound_plan {
    weft_device *device;
    weft_device *reproducible; /* or null: weft_bench_devices */
    weft_plan *plan;
    weft_bench_ports ports;
    bool software;   /* the processor does the work */
    uint64_t before; /* device memory in use */
};

const char *weft_bench_status_name(weft_bench_status status) {
    static const char *const names[] = {"ok", "unsupported", "skipped", "error"};
    return names[status];
}

weft_bench_status weft_bench_status_of(weft_status status) {
    switch (status) {
    case WEFT_OK:
        return WEFT_BENCH_OK;
    case WEFT_UNSUPPORTED:
        return WEFT_BENCH_UNSUPPORTED;
    case WEFT_OUT_OF_DEVICE_MEMORY:
        return WEFT_BENCH_SKIPPED;
    default:
        return WEFT_BENCH_ERROR;
    }
}

/* ---- the plan ---- */

static weft_status compile(weft_bench_row *row, struct bound_plan *bound, const weft_host *host) {
    const double start = weft_clock_ms();
    weft_status status =
        weft_bench_compile(&bound->plan, bound->device, row->bench_case, row->device_clock, host);
    row->cold_ms = weft_clock_ms() - start;
    return status;
}

static weft_status prepare(weft_bench_row *row, struct bound_plan *bound, const weft_host *host) {
    weft_device_info info;
    weft_device_stats stats;
    WEFT_TRY(weft_device_get_info(bound->device, &info));
    weft_device_reset_peak(bound->device);
    WEFT_TRY(weft_device_get_stats(bound->device, &stats));
    bound->before = stats.bytes_in_use;
    bound->software = info.type == WEFT_DEVICE_SOFTWARE || info.type == WEFT_DEVICE_PROCESSOR;
    row->device_clock = info.timestamp_period_ns > 0.0 && !row->bench_case->host_clock;
    WEFT_TRY(compile(row, bound, host));
    WEFT_TRY(weft_bench_bind(&bound->ports, bound->plan, bound->device, row->bench_case, host));
    row->shape = bound->ports.list[0].info.shape;
    return WEFT_OK;
}

/* ---- the output ---- */

static void refuse(weft_bench_row *row, const char *reason) {
    row->status = WEFT_BENCH_ERROR;
    snprintf(row->reason, sizeof row->reason, "%s", reason);
}

/** The first time keeps the digest, later ones hold the outputs against it. */
static weft_status check_outputs(weft_bench_row *row, const struct bound_plan *bound,
                                 const weft_host *host) {
    char text[WEFT_DIGEST_TEXT_SIZE];
    bool finite = false;
    WEFT_TRY(weft_bench_digest_outputs(text, &finite, &bound->ports, host));
    if (!finite) {
        refuse(row, "the output is not finite everywhere");
    } else if (row->sha256[0] != '\0' && strcmp(text, row->sha256) != 0) {
        refuse(row, "two runs gave different bits");
    }
    memcpy(row->sha256, text, sizeof text);
    return WEFT_OK;
}

static weft_status verify_reproducible(weft_bench_row *row, const weft_bench_outcome *outcome,
                                       weft_device *device, const weft_host *host) {
    WEFT_TRY(
        weft_bench_verify_reproducible(&row->verification, row->bench_case, outcome, device, host));
    row->reason[0] = '\0'; /* what was logged where there is nothing to compare with */
    return WEFT_OK;
}

/** What the first run gave, against what it ought to have given. */
static weft_status verify_views(weft_bench_row *row, const struct bound_plan *bound,
                                weft_bench_view *views, const weft_host *host) {
    const weft_bench_outcome outcome = {.ports = views,
                                        .port_count = bound->ports.count,
                                        .rounding =
                                            row->info.int8_weight_bytes > 0  ? WEFT_TOLERANCE_BYTES
                                            : row->info.f16_weight_bytes > 0 ? WEFT_TOLERANCE_HALF
                                                                             : 0.0};
    for (uint32_t i = 0; i < bound->ports.count; i++) {
        const weft_bench_port *port = &bound->ports.list[i];
        views[i].info = port->info;
        if (port->info.is_output) {
            void *data = NULL;
            WEFT_TRY(weft_bench_read_port(&data, port, host));
            views[i].data = data;
        }
    }
    WEFT_TRY(weft_bench_verify(&row->verification, row->bench_case, &outcome, host));
    if (row->verification.by == WEFT_BENCH_BY_NONE && bound->reproducible &&
        !row->bench_case->sized) {
        WEFT_TRY(verify_reproducible(row, &outcome, bound->reproducible, host));
    }
    if (row->verification.wrong) {
        refuse(row, row->verification.reason);
    }
    return WEFT_OK;
}

static weft_status verify_outputs(weft_bench_row *row, const struct bound_plan *bound,
                                  const weft_host *host) {
    const uint32_t count = bound->ports.count;
    weft_bench_view *views = weft_alloc_zero(host, count, sizeof *views);
    if (!views) {
        return weft_fail_memory(host, "the outputs");
    }
    weft_status status = weft_plan_get_info(bound->plan, &row->info);
    if (status == WEFT_OK) {
        status = verify_views(row, bound, views, host);
    }
    for (uint32_t i = 0; i < count; i++) {
        weft_free(host, (void *)(uintptr_t)views[i].data);
    }
    weft_free(host, views);
    return status;
}

/* ---- time and counts ---- */

static void take_longest(weft_bench_row *row, const weft_bench_times *times,
                         const weft_plan *plan) {
    weft_dispatch_info dispatch;
    row->longest = (weft_bench_longest){.ms = NAN};
    if (times->device_clock &&
        weft_plan_get_dispatch(plan, times->longest_dispatch, &dispatch) == WEFT_OK) {
        row->longest.ms = times->longest_dispatch_ms;
        snprintf(row->longest.kernel, sizeof row->longest.kernel, "%s", dispatch.kernel);
        snprintf(row->longest.node, sizeof row->longest.node, "%s", dispatch.node);
    }
}

static void take_times(weft_bench_row *row, const weft_bench_times *times,
                       const struct bound_plan *bound) {
    const uint32_t tokens = row->bench_case->tokens;
    row->runs = times->runs;
    row->rounds = 1;
    row->round_ms[0] = times->run.median;
    row->device_clock = times->device_clock;
    row->median_ms = times->run.median;
    row->p5_ms = times->run.p5;
    row->p90_ms = times->run.p90;
    row->p95_ms = times->run.p95;
    row->p99_ms = times->run.p99;
    row->spread = times->run.spread;
    row->interval_ms[0] = times->run.low;
    row->interval_ms[1] = times->run.high;
    row->tight = times->run.tight;
    row->host_ms = times->host_ms;
    row->cpu_ms = bound->software ? times->cpu_ms : 0.0;
    row->tokens_per_s = tokens > 0 ? 1e3 * tokens / times->run.median : (double)NAN;
    take_longest(row, times, bound->plan);
}

static weft_status time_runs(weft_bench_row *row, const struct bound_plan *bound, double warmed_ms,
                             const weft_bench_effort *effort, const weft_host *host) {
    weft_bench_times times;
    WEFT_TRY(weft_bench_measure(&times, bound->plan, bound->ports.bindings, row->device_clock,
                                row->repeats, warmed_ms, effort, host));
    take_times(row, &times, bound);
    return WEFT_OK;
}

static weft_status warm_and_time(weft_bench_row *row, const struct bound_plan *bound,
                                 const weft_bench_effort *effort, const weft_host *host) {
    const bool known = row->sha256[0] != '\0'; /* the bits, so they have been verified */
    const double start = weft_clock_ms();
    WEFT_TRY(weft_plan_run(bound->plan, bound->ports.bindings));
    const double first_ms = weft_clock_ms() - start;
    WEFT_TRY(check_outputs(row, bound, host));
    if (row->status == WEFT_BENCH_OK && !known) {
        WEFT_TRY(verify_outputs(row, bound, host));
    }
    if (row->status == WEFT_BENCH_OK) {
        WEFT_TRY(time_runs(row, bound, first_ms, effort, host));
    }
    if (row->status == WEFT_BENCH_OK) {
        WEFT_TRY(check_outputs(row, bound, host));
    }
    return WEFT_OK;
}

static weft_status count(weft_bench_row *row, const struct bound_plan *bound) {
    weft_dispatch_info dispatch;
    for (uint32_t i = 0; weft_plan_get_dispatch(bound->plan, i, &dispatch) == WEFT_OK; i++) {
        row->bytes += dispatch.bytes;
    }
    weft_device_stats stats;
    WEFT_TRY(weft_plan_get_info(bound->plan, &row->info));
    WEFT_TRY(weft_device_get_stats(bound->device, &stats));
    row->peak_bytes = stats.peak_bytes - bound->before;
    return WEFT_OK;
}

static weft_status run(weft_bench_row *row, struct bound_plan *bound,
                       const weft_bench_effort *effort, const weft_host *host) {
    WEFT_TRY(prepare(row, bound, host));
    WEFT_TRY(warm_and_time(row, bound, effort, host));
    return count(row, bound);
}

void weft_bench_run(weft_bench_row *row, const weft_bench_devices *devices,
                    const weft_bench_effort *effort, const weft_host *host) {
    struct bound_plan bound = {.device = devices->timed, .reproducible = devices->reproducible};
    weft_status status = run(row, &bound, effort, host);
    if (status != WEFT_OK) {
        row->status = weft_bench_status_of(status);
    }
    weft_bench_unbind(&bound.ports, host);
    weft_plan_destroy(&bound.plan);
    weft_device_trim(devices->timed);
}
