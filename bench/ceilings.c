/* SPDX-License-Identifier: MIT */
#include "bench/ceilings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/suites/suites.h"

const char *const weft_bench_ceiling_names[WEFT_BENCH_CEILING_COUNT] = {
    "copy_gb_per_s",         "f32_gflop_per_s",         "f16_gflop_per_s", "f16_matrix_gflop_per_s",
    "int8_matrix_gop_per_s", "bf16_matrix_gflop_per_s", "dispatch_us",     "submission_us"};

static const weft_bench_row *find(const weft_bench_row *rows, uint32_t count, const char *name) {
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(rows[i].bench_case->suite, "device") == 0 &&
            strcmp(rows[i].bench_case->name, name) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

/** The row if it was measured; else null, and the reason is set. */
static const weft_bench_row *measured(const weft_bench_row *rows, uint32_t count, const char *name,
                                      char *reason) {
    const weft_bench_row *row = find(rows, count, name);
    if (row && row->status == WEFT_BENCH_OK) {
        return row;
    }
    snprintf(reason, WEFT_CLI_ERROR_SIZE, "%s: %.200s", name, row ? row->reason : "not run");
    return NULL;
}

static double copy_rate(const weft_bench_row *rows, uint32_t count, char *reason) {
    static const char *const names[] = {"copy/words", "copy/vectors"};
    double best = NAN;
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const weft_bench_row *row = measured(rows, count, names[i], reason);
        if (row) {
            best = fmax(best, row->bytes / row->median_ms * 1e-6); /* fmax(NaN, x) is x */
        }
    }
    if (!isnan(best)) {
        reason[0] = '\0'; /* one is enough */
    }
    return best;
}

static double rate(const weft_bench_row *rows, uint32_t count, const char *name, char *reason) {
    const weft_bench_row *row = measured(rows, count, name, reason);
    return row ? row->info.flops / row->median_ms * 1e-6 : (double)NAN;
}

/** A difference of times, in microseconds; where other work on the machine has made it negative, the reason is set. */
static double microseconds(double ms, char *reason) {
    if (ms >= 0.0) {
        return 1e3 * ms;
    }
    snprintf(reason, WEFT_CLI_ERROR_SIZE, "lost in noise: the difference of two times is %.3g ms",
             ms);
    return NAN;
}

static double dispatch_time(const weft_bench_row *rows, uint32_t count, char *reason) {
    const weft_bench_row *few = measured(rows, count, "dispatch/16", reason);
    const weft_bench_row *many = measured(rows, count, "dispatch/256", reason);
    if (!few || !many) {
        return NAN;
    }
    const uint32_t more = many->info.dispatches - few->info.dispatches;
    /* Other programs only ever lengthen a run, and of two short ones they do it unevenly. */
    return microseconds((many->p5_ms - few->p5_ms) / more, reason);
}

static double submission_time(const weft_bench_row *rows, uint32_t count, char *reason) {
    const weft_bench_row *row = measured(rows, count, "submission", reason);
    if (row && !row->device_clock) {
        snprintf(reason, WEFT_CLI_ERROR_SIZE, "the device has no time stamps");
        return NAN;
    }
    return row ? microseconds(row->host_ms - row->median_ms, reason) : (double)NAN;
}

void weft_bench_no_ceilings(weft_bench_ceilings *ceilings, const char *reason) {
    for (uint32_t i = 0; i < WEFT_BENCH_CEILING_COUNT; i++) {
        ceilings->of[i] = NAN;
        snprintf(ceilings->reasons[i], sizeof ceilings->reasons[i], "%s", reason);
    }
}

void weft_bench_take_ceilings(weft_bench_ceilings *ceilings, const weft_bench_row *rows,
                              uint32_t count) {
    static const struct {
        weft_bench_ceiling ceiling;
        const char *name;
    } rates[] = {{WEFT_BENCH_F32, "arithmetic/f32"},
                 {WEFT_BENCH_F16, "arithmetic/f16"},
                 {WEFT_BENCH_F16_MATRICES, "matrix/f16"},
                 {WEFT_BENCH_INT8_MATRICES, "matrix/int8"},
                 {WEFT_BENCH_BF16_MATRICES, "matrix/bf16"}};
    double *of = ceilings->of;
    weft_bench_no_ceilings(ceilings, "");
    for (uint32_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        const weft_bench_ceiling ceiling = rates[i].ceiling;
        of[ceiling] = rate(rows, count, rates[i].name, ceilings->reasons[ceiling]);
    }
    of[WEFT_BENCH_COPY] = copy_rate(rows, count, ceilings->reasons[WEFT_BENCH_COPY]);
    of[WEFT_BENCH_DISPATCH] = dispatch_time(rows, count, ceilings->reasons[WEFT_BENCH_DISPATCH]);
    of[WEFT_BENCH_SUBMISSION] =
        submission_time(rows, count, ceilings->reasons[WEFT_BENCH_SUBMISSION]);
}

weft_status weft_bench_measure_ceilings(weft_bench_ceilings *ceilings, weft_device *device,
                                        weft_cli_common *common, double limit_ms,
                                        const weft_host *host) {
    const weft_bench_scope scope = {.size = WEFT_BENCH_FULL};
    const weft_bench_effort effort = {.limit_ms = limit_ms, .least_runs = WEFT_BENCH_MIN_RUNS};
    const weft_bench_devices devices = {.timed = device};
    weft_bench_list list = {.host = host};
    weft_bench_add_device(&list, &scope);
    weft_status status = list.status;
    weft_bench_row *rows = weft_alloc_zero(host, (size_t)list.count + 1, sizeof *rows);
    if (status == WEFT_OK && !rows) {
        status = weft_fail_memory(host, "the device's limits");
    }
    if (status == WEFT_OK) {
        for (uint32_t i = 0; i < list.count; i++) {
            rows[i].bench_case = &list.cases[i];
            rows[i].repeats = 1;
            common->error = rows[i].reason;
            weft_bench_run(&rows[i], &devices, &effort, host);
        }
        common->error = NULL;
        weft_bench_take_ceilings(ceilings, rows, list.count);
    }
    weft_free(host, rows);
    weft_bench_list_free(&list);
    return status;
}

void weft_bench_better_ceilings(weft_bench_ceilings *ceilings, const weft_bench_ceilings *again) {
    for (uint32_t i = 0; i < WEFT_BENCH_CEILING_COUNT; i++) {
        const double before = ceilings->of[i];
        const double now = again->of[i];
        if (isnan(before) ? !isnan(now) : i < WEFT_BENCH_DISPATCH ? now > before : now < before) {
            ceilings->of[i] = now;
            memcpy(ceilings->reasons[i], again->reasons[i], sizeof ceilings->reasons[i]);
        }
    }
}

double weft_bench_fraction(double value, double ceiling) {
    return ceiling > 0.0 ? value / ceiling : (double)NAN;
}
