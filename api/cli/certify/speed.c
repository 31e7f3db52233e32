/* SPDX-License-Identifier: MIT */
#include "certify/speed.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/fields.h"
#include "bench/session.h"
#include "core/system/clock.h"

#define TOKENS      1024
#define ROW_PART    0.012 /* of the time of a pass, for the runs of one row … */
#define MOST_ROW_MS 400.0 /* … and at most so much */

/* What is timed: the rows of the mixing rate, then wide ones. */
static const struct {
    const char *suite, *name;
    bool counts; /* in the rate */
} wanted[] = {
    {"mixers", "attention/full_band/n=1024,d=64", true},
    {"mixers", "fourier/n=1024,d=64", true},
    {"mixers", "toeplitz/n=1024,d=64", true},
    {"mixers", "toeplitz_fd/n=1024,d=64", true},
    {"mixers", "ski_toeplitz/linear/n=1024,d=64", true},
    {"mixers", "banded_attention/n=1024,d=64", true},
    {"mixers", "kernel_attention/1/n=1024,d=64", true},
    {"mixers", "fmm_attention/2/n=1024,d=64", true},
    {"mixers", "fast_weight/n=1024,d=64", true},
    {"mixers", "cosformer/n=1024,d=64", true},
    {"mixers", "random_features/n=1024,d=64", true},
    {"mixers", "rfa_attention/n=1024,d=64", true},
    {"mixers", "flt/n=1024,d=64", true},
    {"ops", "matmul/512x3072x768", false},
    {"mixers", "fourier/fft/n=512,d=768", false},
    {"mixers", "attention/n=512,d=768,heads=12", false},
};

#define WANTED (sizeof wanted / sizeof *wanted)

weft_status weft_certify_speed_begin(weft_certify_speed *speed, const weft_host *host) {
    *speed = (weft_certify_speed){.rows = json_array(), .modes = json_array()};
    return speed->rows && speed->modes ? WEFT_OK : weft_fail_memory(host, "the rows");
}

void weft_certify_speed_free(weft_certify_speed *speed) {
    json_decref(speed->rows);
    json_decref(speed->modes);
    *speed = (weft_certify_speed){0};
}

static json_t *find_row(const json_t *rows, const char *math, const char *suite, const char *name) {
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        if (strcmp(weft_bench_text(row, "math"), math) == 0 &&
            strcmp(weft_bench_text(row, "suite"), suite) == 0 &&
            strcmp(weft_bench_text(row, "case"), name) == 0) {
            return row;
        }
    }
    return NULL;
}

bool weft_certify_replicated(const json_t *row) {
    const json_t *medians = json_object_get(row, "medians_ms");
    const size_t count = json_array_size(medians);
    if (count < 2) {
        return false;
    }
    const double a = json_number_value(json_array_get(medians, count - 2));
    const double b = json_number_value(json_array_get(medians, count - 1));
    return a > 0.0 && b > 0.0 && fabs(a - b) <= WEFT_CERTIFY_REPLICATION * fmin(a, b);
}

uint32_t weft_certify_unreplicated(const json_t *rows) {
    uint32_t count = 0;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        count += strcmp(weft_bench_text(row, "status"), "ok") == 0 && !weft_certify_replicated(row);
    }
    return count;
}

/* ---- the mixing rate ---- */

uint32_t weft_certify_rate_tokens(const json_t *row) {
    if (strcmp(weft_bench_text(row, "math"), weft_math_name(WEFT_MATH_REPRODUCIBLE)) != 0) {
        return 0;
    }
    for (size_t i = 0; i < WANTED; i++) {
        if (wanted[i].counts && strcmp(weft_bench_text(row, "suite"), wanted[i].suite) == 0 &&
            strcmp(weft_bench_text(row, "case"), wanted[i].name) == 0) {
            return TOKENS;
        }
    }
    return 0;
}

double weft_certify_rate(char reason[WEFT_CLI_ERROR_SIZE], const json_t *rows) {
    double sum = 0.0;
    uint32_t count = 0;
    for (size_t i = 0; i < WANTED; i++) {
        if (!wanted[i].counts) {
            continue;
        }
        const json_t *row =
            find_row(rows, weft_math_name(WEFT_MATH_REPRODUCIBLE), wanted[i].suite, wanted[i].name);
        const double ms = weft_bench_number(row, "p50_ms");
        if (strcmp(weft_bench_text(row, "status"), "ok") != 0 || !(ms > 0.0)) {
            snprintf(reason, WEFT_CLI_ERROR_SIZE, "%s was not timed", wanted[i].name);
            return NAN;
        }
        if (!weft_certify_replicated(row)) {
            snprintf(reason, WEFT_CLI_ERROR_SIZE, "%s is not replicated", wanted[i].name);
            return NAN;
        }
        sum += log(1e3 * TOKENS / ms);
        count++;
    }
    return exp(sum / count);
}

/* ---- a pass ---- */

static void add_cases(weft_bench_list *cases, const weft_certify_speed *speed, const char *math,
                      uint32_t pass, const weft_host *host) {
    weft_bench_scope scope = {.size = WEFT_BENCH_SHORT, .lengths = {TOKENS}, .length_count = 1};
    weft_bench_list all = {.host = host};
    const weft_bench_suite *suite = NULL;
    for (uint32_t i = 0; (suite = weft_bench_suite_at(i)); i++) {
        if (strcmp(suite->name, "mixers") == 0 || strcmp(suite->name, "ops") == 0) {
            suite->add(&all, &scope);
        }
    }
    for (size_t i = 0; i < WANTED; i++) {
        const json_t *row = find_row(speed->rows, math, wanted[i].suite, wanted[i].name);
        if (pass >= 2 && weft_certify_replicated(row)) {
            continue;
        }
        for (uint32_t k = 0; k < all.count; k++) {
            if (strcmp(all.cases[k].suite, wanted[i].suite) == 0 &&
                strcmp(all.cases[k].name, wanted[i].name) == 0) {
                weft_bench_list_add(cases, &all.cases[k]);
            }
        }
    }
    cases->status = cases->status == WEFT_OK ? all.status : cases->status;
    weft_bench_list_free(&all);
}

static json_t *new_row(const weft_bench_row *row, weft_math math) {
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:[]}", "suite", row->bench_case->suite, "case",
                     row->bench_case->name, "math", weft_math_name(math), "status", json_null(),
                     "reason", json_null(), "medians_ms");
}

/* The mean of a row's last two medians, or the one that there is. */
static double middle(const json_t *row) {
    const json_t *medians = json_object_get(row, "medians_ms");
    const size_t count = json_array_size(medians);
    const double last = json_number_value(json_array_get(medians, count - 1));
    return count < 2 ? last : 0.5 * (last + json_number_value(json_array_get(medians, count - 2)));
}

static int set(json_t *row, const char *name, json_t *value) {
    return json_object_set_new(row, name, value);
}

/* Of a tail the larger one of all passes. */
static double larger(const json_t *row, const char *name, double value) {
    return fmax(weft_bench_number(row, name), value);
}

static int add_times(json_t *row, const weft_bench_row *measured) {
    json_array_append_new(json_object_get(row, "medians_ms"),
                          weft_certify_real(measured->median_ms));
    const double p50 = middle(row);
    const double p90 = larger(row, "p90_ms", fmax(measured->p90_ms, p50));
    return set(row, "p50_ms", weft_certify_real(p50)) | set(row, "p90_ms", weft_certify_real(p90)) |
           set(row, "p99_ms",
               weft_certify_real(larger(row, "p99_ms", fmax(measured->p99_ms, p90)))) |
           set(row, "runs",
               json_integer((json_int_t)weft_bench_number(row, "runs") + measured->runs)) |
           set(row, "clock", json_string(measured->device_clock ? "device" : "host")) |
           set(row, "gflop_per_s", weft_certify_real(measured->info.flops / p50 * 1e-6)) |
           set(row, "output_sha256", json_string(measured->sha256)) |
           set(row, "verified_by",
               json_string(weft_bench_verified_by_name(measured->verification.by))) |
           set(row, "replicated", json_boolean(weft_certify_replicated(row)));
}

static int set_state(json_t *row, weft_bench_status status, const char *reason) {
    return set(row, "status", json_string(weft_bench_status_name(status))) |
           set(row, "reason", reason ? weft_cli_json_text(reason) : json_null());
}

/* False when memory is out. A row keeps its times where a later pass had none to give; `cut`: the end of all time may have cancelled it. */
static bool take_row(weft_certify_speed *speed, const weft_bench_row *measured, weft_math math,
                     bool cut) {
    json_t *row = find_row(speed->rows, weft_math_name(math), measured->bench_case->suite,
                           measured->bench_case->name);
    const bool timed = json_array_size(json_object_get(row, "medians_ms")) > 0;
    const bool fine = measured->status == WEFT_BENCH_OK;
    int failed = 0;
    if (!row) {
        row = new_row(measured, math);
        failed = json_array_append_new(speed->rows, row);
    }
    if (fine && timed && math != WEFT_MATH_FAST && /* which may choose otherwise each time */
        strcmp(weft_bench_text(row, "output_sha256"), measured->sha256) != 0) {
        failed |= set_state(row, WEFT_BENCH_ERROR, "two passes gave other bits");
    } else if (fine) {
        failed |= add_times(row, measured) | set_state(row, WEFT_BENCH_OK, NULL);
    } else if (cut && !timed) {
        failed |= set_state(row, WEFT_BENCH_SKIPPED, "the time was over");
    } else if (!timed || (!cut && measured->status == WEFT_BENCH_ERROR)) {
        failed |= set_state(row, measured->status, measured->reason);
    }
    return failed == 0;
}

static json_t *mode_json(const weft_bench_session *session, const char *reason, weft_math math) {
    const weft_bench_ceilings *ceilings = session->result_count > 0 && session->results[0].rows
                                              ? &session->results[0].ceilings
                                              : NULL;
    return json_pack("{s:s, s:s, s:o, s:o, s:o}", "math", weft_math_name(math), "status",
                     ceilings ? "ok" : "unsupported", "reason",
                     ceilings ? json_null() : weft_cli_json_text(reason), "f32_gflop_per_s",
                     ceilings ? weft_certify_real(ceilings->of[WEFT_BENCH_F32]) : json_null(),
                     "copy_gb_per_s",
                     ceilings ? weft_certify_real(ceilings->of[WEFT_BENCH_COPY]) : json_null());
}

static int take(weft_certify_speed *speed, const weft_bench_session *session, uint32_t pass,
                const weft_certify_job *job, weft_math math) {
    bool fine =
        pass > 0 || json_array_append_new(speed->modes, mode_json(session, job->error, math)) == 0;
    const weft_bench_row *rows = session->result_count > 0 ? session->results[0].rows : NULL;
    for (uint32_t i = 0; fine && rows && i < session->cases.count; i++) {
        fine = take_row(speed, &rows[i], math, weft_certify_is_over(job->end_ms));
    }
    return fine ? WEFT_CLI_FINE : weft_cli_exit_code(weft_fail_memory(&job->host, "the rows"));
}

int weft_certify_speed_pass(weft_certify_speed *speed, weft_certify_job *job, weft_math math,
                            uint32_t pass, double end_ms) {
    const double left_ms = end_ms - weft_clock_ms();
    const double row_ms = fmin(fmax(ROW_PART * left_ms, 1.0), MOST_ROW_MS);
    weft_bench_settings settings = {.common = job->common,
                                    .limit_ms = row_ms,
                                    .rounds = 1,
                                    .time_cap = UINT32_MAX,
                                    .end_ms = end_ms,
                                    .no_limits = pass > 0};
    weft_bench_session session;
    settings.common.math = math;
    job->error[0] = '\0';
    settings.common.error = job->error;
    weft_bench_session_begin(&session, &settings);
    add_cases(&session.cases, speed, weft_math_name(math), pass, &session.host);
    int code = weft_cli_exit_code(session.cases.status);
    if (code == WEFT_CLI_FINE && session.cases.count > 0) {
        code = weft_bench_session_run(&session);
        const bool none = code == WEFT_CLI_NO_DEVICE || /* or no time to open it */
                          (code == WEFT_CLI_FAILED && weft_certify_is_over(job->end_ms));
        code = none ? WEFT_CLI_FINE : code;
        if (code == WEFT_CLI_FINE) {
            code = take(speed, &session, pass, job, math);
        }
    }
    weft_bench_session_end(&session);
    return code;
}
