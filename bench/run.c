/* SPDX-License-Identifier: MIT */
#include "bench/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/graph.h"
#include "core/clock.h"
#include "core/philox.h"

#define MAX_RUNS  200
#define MIN_RUNS  5
#define MAX_PORTS 8

struct bound_port {
    weft_port_info info;
    weft_buffer *buffer;
};

struct bound_plan {
    weft_plan *plan;
    weft_bindings *bindings;
    struct bound_port ports[MAX_PORTS];
    uint32_t port_count;
    weft_timing *timings; /* per dispatch; null without time stamps */
    uint32_t dispatches;
    bool software; /* the processor does the work */
};

struct times {
    double run[MAX_RUNS], host[MAX_RUNS], cpu[MAX_RUNS];
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

/* ---- inputs ---- */

static void fill_input(float *data, size_t count, const char *name, uint32_t stream) {
    weft_philox_uniform(data, count, WEFT_BENCH_SEED + 1, stream);
    if (strcmp(name, WEFT_BENCH_UNIT_INPUT) == 0) {
        for (size_t i = 0; i < count; i++) {
            data[i] = 0.5F * (data[i] + 1.0F);
        }
    }
}

/** Inputs get numbers; outputs NaN, so that a check of them sees what was not written. */
static weft_status fill(const struct bound_port *port, uint32_t stream, const weft_host *host) {
    float *data = weft_alloc(host, (size_t)port->info.bytes);
    if (!data) {
        return weft_fail_memory(host, "an input");
    }
    if (port->info.is_output) {
        memset(data, 0xFF, (size_t)port->info.bytes);
    } else {
        fill_input(data, (size_t)port->info.bytes / sizeof *data, port->info.name, stream);
    }
    weft_status status = weft_buffer_write(port->buffer, 0, data, port->info.bytes);
    weft_free(host, data);
    return status;
}

static weft_status bind_ports(struct bound_plan *bound, weft_device *device,
                              const weft_host *host) {
    weft_status status = weft_bindings_create(&bound->bindings, bound->plan);
    while (status == WEFT_OK && bound->port_count < MAX_PORTS) {
        struct bound_port *port = &bound->ports[bound->port_count];
        if (weft_plan_get_port(bound->plan, bound->port_count, &port->info) != WEFT_OK) {
            break;
        }
        status = weft_buffer_create(&port->buffer, device, port->info.bytes);
        if (status == WEFT_OK) {
            status = fill(port, bound->port_count, host);
        }
        if (status == WEFT_OK) {
            status = weft_bindings_set(bound->bindings, port->info.name, port->buffer);
        }
        bound->port_count++;
    }
    return status;
}

static void unbind(struct bound_plan *bound, const weft_host *host) {
    weft_bindings_destroy(&bound->bindings);
    for (uint32_t i = 0; i < bound->port_count; i++) {
        weft_buffer_destroy(&bound->ports[i].buffer);
    }
    weft_free(host, bound->timings);
    weft_plan_destroy(&bound->plan);
}

/* ---- the plan ---- */

static weft_status compile(struct bound_plan *bound, weft_device *device,
                           const weft_bench_case *bench_case, bool timestamps,
                           const weft_host *host) {
    weft_graph *graph = NULL;
    weft_status status = weft_graph_create(&graph, host);
    if (status == WEFT_OK) {
        status = bench_case->build(graph, bench_case);
    }
    if (status == WEFT_OK) {
        status = weft_plan_compile(&bound->plan, device, graph,
                                   weft_plan_params(.implementation = bench_case->implementation,
                                                    .timestamps = timestamps));
    }
    weft_graph_destroy(&graph);
    return status;
}

static weft_status prepare(weft_bench_row *row, struct bound_plan *bound, weft_device *device,
                           const weft_host *host) {
    weft_device_info device_info;
    weft_status status = weft_device_get_info(device, &device_info);
    double start = weft_clock_ms();
    if (status == WEFT_OK) {
        bound->software = device_info.type == WEFT_DEVICE_SOFTWARE;
        row->device_clock = device_info.timestamp_period_ns > 0.0;
        status = compile(bound, device, row->bench_case, row->device_clock, host);
    }
    row->cold_ms = weft_clock_ms() - start;
    if (status == WEFT_OK) {
        status = weft_plan_get_info(bound->plan, &row->info);
    }
    if (status == WEFT_OK) {
        status = bind_ports(bound, device, host);
    }
    if (status == WEFT_OK) {
        row->shape = bound->ports[0].info.shape;
        bound->dispatches = row->info.dispatches;
        bound->timings =
            weft_alloc_zero(host, (size_t)bound->dispatches + 1, sizeof *bound->timings);
        status = bound->timings ? WEFT_OK : weft_fail_memory(host, "the time stamps");
    }
    return status;
}

/* ---- the output ---- */

static bool all_finite(const float *data, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(data[i])) {
            return false;
        }
    }
    return true;
}

static weft_status digest_outputs(weft_digest *digest, bool *finite, const struct bound_plan *bound,
                                  const weft_host *host) {
    weft_sha256 hash;
    weft_sha256_begin(&hash);
    *finite = true;
    for (uint32_t i = 0; i < bound->port_count; i++) {
        const struct bound_port *port = &bound->ports[i];
        if (!port->info.is_output) {
            continue;
        }
        float *data = weft_alloc(host, (size_t)port->info.bytes);
        if (!data) {
            return weft_fail_memory(host, "an output");
        }
        weft_status status = weft_buffer_read(port->buffer, 0, data, port->info.bytes);
        *finite = *finite && all_finite(data, (size_t)port->info.bytes / sizeof *data);
        weft_sha256_add(&hash, data, (size_t)port->info.bytes);
        weft_free(host, data);
        if (status != WEFT_OK) {
            return status;
        }
    }
    *digest = weft_sha256_end(&hash);
    return WEFT_OK;
}

static void refuse(weft_bench_row *row, const char *reason) {
    row->status = WEFT_BENCH_ERROR;
    snprintf(row->reason, sizeof row->reason, "%s", reason);
}

/** The first time keeps the digest, later ones hold the outputs against it. */
static weft_status check_outputs(weft_bench_row *row, const struct bound_plan *bound,
                                 const weft_host *host) {
    weft_digest digest;
    bool finite = false;
    weft_status status = digest_outputs(&digest, &finite, bound, host);
    if (status != WEFT_OK) {
        return status;
    }
    char text[WEFT_DIGEST_TEXT_SIZE];
    weft_digest_text(&digest, text);
    if (!finite) {
        refuse(row, "the output is not finite everywhere");
    } else if (row->sha256[0] != '\0' && strcmp(text, row->sha256) != 0) {
        refuse(row, "two runs gave different bits");
    }
    memcpy(row->sha256, text, sizeof text);
    return WEFT_OK;
}

/* ---- time ---- */

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void summarize(weft_bench_row *row, struct times *times) {
    const uint32_t last = row->runs - 1;
    qsort(times->run, row->runs, sizeof *times->run, ascending);
    qsort(times->host, row->runs, sizeof *times->host, ascending);
    qsort(times->cpu, row->runs, sizeof *times->cpu, ascending);
    row->host_ms = times->host[row->runs / 2];
    row->cpu_ms = times->cpu[row->runs / 2];
    row->median_ms = times->run[row->runs / 2];
    row->p5_ms = times->run[(uint32_t)(0.05 * last + 0.5)];
    row->p95_ms = times->run[(uint32_t)(0.95 * last + 0.5)];
    row->spread =
        0.5 * (times->run[row->runs * 3 / 4] - times->run[row->runs / 4]) / row->median_ms;
}

/** From the first dispatch's start to the last one's end. */
static weft_status device_time(double *ms, const struct bound_plan *bound) {
    uint32_t count = bound->dispatches;
    weft_status status = weft_plan_get_timings(bound->plan, bound->timings, &count);
    *ms = 0.0;
    for (uint32_t i = 0; i < count && status == WEFT_OK; i++) {
        *ms = fmax(*ms, bound->timings[i].start_ms + bound->timings[i].duration_ms);
    }
    return status;
}

/** Times run number row->runs. */
static weft_status time_run(struct times *times, const weft_bench_row *row,
                            const struct bound_plan *bound) {
    const uint32_t i = row->runs;
    clock_t cpu_start = clock();
    double start = weft_clock_ms();
    weft_status status = weft_plan_run(bound->plan, bound->bindings);
    times->host[i] = weft_clock_ms() - start;
    times->cpu[i] = bound->software ? 1e3 * (double)(clock() - cpu_start) / CLOCKS_PER_SEC : 0.0;
    times->run[i] = times->host[i];
    return status == WEFT_OK && row->device_clock ? device_time(&times->run[i], bound) : status;
}

static weft_status time_runs(weft_bench_row *row, const struct bound_plan *bound, double limit_ms) {
    struct times times;
    weft_status status = WEFT_OK;
    double begin = weft_clock_ms();
    while (status == WEFT_OK && row->runs < MAX_RUNS &&
           (row->runs < MIN_RUNS || weft_clock_ms() - begin < limit_ms)) {
        status = time_run(&times, row, bound);
        row->runs += status == WEFT_OK;
    }
    if (status == WEFT_OK) {
        summarize(row, &times);
    }
    return status;
}

static weft_status warm_and_time(weft_bench_row *row, const struct bound_plan *bound,
                                 double limit_ms, const weft_host *host) {
    weft_status status = weft_plan_run(bound->plan, bound->bindings);
    if (status == WEFT_OK) {
        status = check_outputs(row, bound, host);
    }
    if (status == WEFT_OK && row->status == WEFT_BENCH_OK) {
        status = time_runs(row, bound, limit_ms);
    }
    if (status == WEFT_OK && row->status == WEFT_BENCH_OK) {
        status = check_outputs(row, bound, host);
    }
    return status;
}

static void count_bytes(weft_bench_row *row, const weft_plan *plan) {
    weft_dispatch_info dispatch;
    for (uint32_t i = 0; weft_plan_get_dispatch(plan, i, &dispatch) == WEFT_OK; i++) {
        row->bytes += dispatch.bytes;
    }
}

void weft_bench_run(weft_bench_row *row, weft_device *device, double limit_ms,
                    const weft_host *host) {
    struct bound_plan bound = {0};
    weft_status status = prepare(row, &bound, device, host);
    if (status == WEFT_OK) {
        status = warm_and_time(row, &bound, limit_ms, host);
    }
    if (status == WEFT_OK) {
        weft_device_stats stats;
        count_bytes(row, bound.plan);
        status = weft_device_get_stats(device, &stats);
        row->bytes_in_use = status == WEFT_OK ? stats.bytes_in_use : 0;
    }
    if (status != WEFT_OK) {
        row->status = weft_bench_status_of(status);
    }
    unbind(&bound, host);
    weft_device_trim(device);
}
