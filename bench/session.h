/* SPDX-License-Identifier: MIT */
/* A whole run of `weft bench`: the same cases on one device after the other. */
#ifndef WEFT_BENCH_SESSION_H
#define WEFT_BENCH_SESSION_H

#include "bench/ceilings.h"
#include "bench/environment.h"
#include "bench/expected.h"
#include "bench/growth.h"
#include "cli.h"

/** What the command line asked for. */
typedef struct weft_bench_settings {
    weft_cli_common common; /* device "all": every usable device */
    weft_bench_scope scope;
    const char *label; /* of the machine (label.h), or null */
    double limit_ms;   /* longest time to repeat a case */
    uint32_t
        rounds; /* 0 (which is 1) to WEFT_BENCH_MAX_ROUNDS measurements of each case (bench/rounds.h) */
    uint32_t time_cap;          /* of a case, in seconds */
    double end_ms;              /* from that time of weft_clock_ms on rows are skipped; 0: never */
    bool no_limits;             /* the device's own limits are not measured: NaN */
    uint32_t slow_down;         /* every timed run executes its plan that many times; 0: once */
    const char *write_expected; /* file for the hashes found, which are not checked then; or null */
} weft_bench_settings;

/** What one device did. Rows are in the order of the cases, as many. */
typedef struct weft_bench_result {
    const char *select; /* what the device is opened by: `index`, or the option */
    char index[16];     /* as text */
    weft_device_info device;
    weft_bench_ceilings ceilings;
    weft_bench_row *rows;
    weft_bench_fit *fits;
    uint32_t fit_count;
} weft_bench_result;

typedef struct weft_bench_session {
    weft_host host;
    weft_bench_settings settings;
    weft_bench_environment environment;
    weft_bench_list cases;
    weft_bench_expected *expected; /* what the outputs are held against in reproducible mode */
    weft_bench_result *results;
    uint32_t result_count;
    bool interrupted; /* by Ctrl-C: the rows left are skipped */
    bool failed;      /* a row is an error, or the validation layer complained */
} weft_bench_session;

/** An empty session. */
void weft_bench_session_begin(weft_bench_session *session, const weft_bench_settings *settings);

/**
 * Times the session's cases on its devices. Returns an exit code, WEFT_CLI_FINE also where `failed`; results are
 * there whenever it is that.
 */
int weft_bench_session_run(weft_bench_session *session);

void weft_bench_session_end(weft_bench_session *session);

#endif
