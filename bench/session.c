/* SPDX-License-Identifier: MIT */
#include "bench/session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/rounds.h"
#include "core/system/clock.h"
#include "core/try.h"
#include "stop.h"

#define CEILING_LIMIT_MS 500.0 /* for each of the device's limits, which every run needs */

void weft_bench_session_begin(weft_bench_session *session, const weft_bench_settings *settings) {
    *session =
        (weft_bench_session){.settings = *settings, .environment = weft_bench_environment_now()};
    session->environment.label = settings->label;
    session->settings.rounds = settings->rounds > 0 ? settings->rounds : 1;
    session->host = weft_cli_host(&session->settings.common);
    session->cases.host = &session->host;
}

/* ---- rows ---- */

static void skip(weft_bench_row *row, const char *reason) {
    row->status = WEFT_BENCH_SKIPPED;
    snprintf(row->reason, sizeof row->reason, "%s", reason);
}

/** Runs of a case at least: those that are timed, and one in each round that warms up. */
static uint32_t runs_at_least(uint32_t rounds) {
    return rounds * (1 + weft_bench_round_runs(rounds));
}

/** True if the rows before it tell that this one would take too long; skips it then. */
static bool too_long(weft_bench_row *rows, uint32_t index, uint32_t rounds, uint32_t time_cap) {
    const double expected_s =
        runs_at_least(rounds) * 1e-3 * weft_bench_expected_ms(rows, index, rows[index].bench_case);
    if (!(expected_s > time_cap)) { /* NaN where nothing is known */
        return false;
    }
    char reason[WEFT_CLI_ERROR_SIZE];
    snprintf(reason, sizeof reason, "expected to take %.0f s, more than the %u s of --time-cap",
             expected_s, time_cap);
    skip(&rows[index], reason);
    return true;
}

/** In all modes but fast every device gives the bits of the first. */
static void compare_bits(weft_bench_session *session, const weft_bench_result *result,
                         uint32_t index) {
    weft_bench_row *row = &result->rows[index];
    if (session->settings.common.math == WEFT_MATH_FAST || row->status != WEFT_BENCH_OK ||
        row->bench_case->sized) {
        return;
    }
    for (const weft_bench_result *other = session->results; other < result; other++) {
        const weft_bench_row *theirs = &other->rows[index];
        if (theirs->status == WEFT_BENCH_OK && strcmp(theirs->sha256, row->sha256) != 0) {
            row->status = WEFT_BENCH_ERROR;
            snprintf(row->reason, sizeof row->reason,
                     "the output's SHA-256 is %.16s…, but %.16s… on %.160s", row->sha256,
                     theirs->sha256, other->device.name);
            return;
        }
    }
}

/** In reproducible mode the bits are known beforehand, or written down; of weights as they are, not of those that became bytes. */
static void check_hash(weft_bench_session *session, weft_bench_row *row) {
    const weft_bench_case *bench_case = row->bench_case;
    if (session->settings.common.math != WEFT_MATH_REPRODUCIBLE ||
        row->info.int8_weight_bytes > 0 || row->status != WEFT_BENCH_OK || bench_case->sized) {
        return;
    }
    if (session->settings.write_expected) {
        const weft_status status = weft_bench_expected_set(session->expected, bench_case->suite,
                                                           bench_case->name, row->sha256);
        row->status = weft_bench_status_of(status);
        return;
    }
    weft_bench_verify_hash(&row->verification, bench_case, row->sha256, session->expected);
    if (row->verification.wrong) {
        row->status = WEFT_BENCH_ERROR;
        snprintf(row->reason, sizeof row->reason, "%s", row->verification.reason);
    }
}

/** Start-up times of a case that asks for them; a failure is the row's. */
static void measure_start(weft_bench_session *session, weft_bench_row *row, const char *select) {
    const weft_bench_case *bench_case = row->bench_case;
    if (row->status != WEFT_BENCH_OK || !bench_case->start_times) {
        return;
    }
    weft_status status = weft_bench_start_times(&row->start, bench_case, select,
                                                session->settings.common.math, &session->host);
    row->started = status == WEFT_OK;
    row->status = weft_bench_status_of(status);
}

/** True if the time of the whole session has passed. */
static bool is_over(const weft_bench_session *session) {
    return session->settings.end_ms > 0.0 && weft_clock_ms() >= session->settings.end_ms;
}

static weft_bench_effort effort_of(const weft_bench_session *session) {
    return (weft_bench_effort){.limit_ms = session->settings.limit_ms / session->settings.rounds,
                               .least_runs = weft_bench_round_runs(session->settings.rounds)};
}

static void measure_row(weft_bench_session *session, weft_bench_result *result, uint32_t index,
                        const weft_bench_devices *devices) {
    weft_bench_row *row = &result->rows[index];
    if (weft_cli_stopped()) {
        skip(row, "interrupted");
        return;
    }
    if (is_over(session)) {
        skip(row, "the time for all rows was over");
        return;
    }
    if (too_long(result->rows, index, session->settings.rounds, session->settings.time_cap)) {
        return;
    }
    session->settings.common.error = row->reason; /* a row keeps what went wrong with it */
    const weft_bench_effort effort = effort_of(session);
    weft_bench_run(row, devices, &effort, &session->host);
    check_hash(session, row);
    if (!weft_cli_stopped()) {
        measure_start(session, row, result->select);
    }
    session->settings.common.error = NULL;
    if (weft_cli_stopped()) {
        skip(row, "interrupted"); /* its runs may be too few */
        return;
    }
    compare_bits(session, result, index);
    session->failed = session->failed || row->status == WEFT_BENCH_ERROR;
}

/** Another round of a row that is ok; an interrupted one does not count. */
static void measure_again(weft_bench_session *session, weft_bench_row *row,
                          const weft_bench_devices *devices) {
    if (row->status != WEFT_BENCH_OK || weft_cli_stopped()) {
        return;
    }
    const weft_bench_effort effort = effort_of(session);
    weft_bench_row again = {.bench_case = row->bench_case, .repeats = row->repeats};
    if (!row->bench_case->sized) {
        memcpy(again.sha256, row->sha256, sizeof again.sha256);
    }
    session->settings.common.error = again.reason;
    weft_bench_run(&again, devices, &effort, &session->host);
    session->settings.common.error = NULL;
    if (weft_cli_stopped()) {
        return;
    }
    if (again.status == WEFT_BENCH_OK) {
        weft_bench_add_round(row, &again);
        return;
    }
    row->status = again.status;
    memcpy(row->reason, again.reason, sizeof row->reason);
    session->failed = session->failed || row->status == WEFT_BENCH_ERROR;
}

static void measure_rows(weft_bench_session *session, weft_bench_result *result,
                         const weft_bench_devices *devices, uint32_t round) {
    char label[WEFT_CLI_ERROR_SIZE];
    weft_cli_progress progress;
    snprintf(label, sizeof label, "%.200s, %u of %u", result->device.name, round + 1,
             session->settings.rounds);
    weft_cli_progress_begin(&progress, label, session->cases.count);
    for (uint32_t i = 0; i < session->cases.count; i++) {
        weft_cli_progress_set(&progress, i);
        if (round == 0) {
            measure_row(session, result, i, devices);
        } else {
            measure_again(session, &result->rows[i], devices);
        }
    }
    weft_cli_progress_end(&progress);
}

/* ---- devices ---- */

static weft_status make_rows(weft_bench_session *session, weft_bench_result *result) {
    result->rows =
        weft_alloc_zero(&session->host, (size_t)session->cases.count + 1, sizeof *result->rows);
    if (!result->rows) {
        return weft_fail_memory(&session->host, "the rows");
    }
    for (uint32_t i = 0; i < session->cases.count; i++) {
        result->rows[i].bench_case = &session->cases.cases[i];
        result->rows[i].repeats = session->settings.slow_down > 0 ? session->settings.slow_down : 1;
    }
    return WEFT_OK;
}

static weft_status measure_ceilings(weft_bench_session *session, weft_bench_result *result,
                                    weft_device *device, uint32_t round) {
    weft_bench_ceilings ceilings;
    weft_bench_no_ceilings(&ceilings, session->settings.no_limits
                                          ? "--no-limits leaves it out"
                                          : "the time was over, or the command was stopped");
    if (!session->settings.no_limits && !weft_cli_stopped() && !is_over(session)) {
        const weft_status status = weft_bench_measure_ceilings(
            &ceilings, device, &session->settings.common,
            fmin(effort_of(session).limit_ms, CEILING_LIMIT_MS), &session->host);
        if (!weft_cli_stopped()) {
            WEFT_TRY(status);
        }
    }
    if (round == 0) {
        result->ceilings = ceilings;
    } else {
        weft_bench_better_ceilings(&result->ceilings, &ceilings);
    }
    return WEFT_OK;
}

static weft_status measure_device(weft_bench_session *session, weft_bench_result *result,
                                  const weft_bench_devices *devices, uint32_t round) {
    if (round == 0) {
        WEFT_TRY(weft_device_get_info(devices->timed, &result->device));
        WEFT_TRY(make_rows(session, result));
    }
    WEFT_TRY(measure_ceilings(session, result, devices->timed, round));
    measure_rows(session, result, devices, round);
    return WEFT_OK;
}

/** One round of all cases on a device, which is open for that long. */
static int run_device(weft_bench_session *session, weft_bench_result *result, uint32_t round) {
    weft_bench_devices devices = {.timed = NULL};
    WEFT_CLI_TRY(weft_cli_open_exit_code(
        weft_bench_devices_open(&devices, &session->settings.common, result->select, round == 0)));
    weft_device_info info;
    if (weft_device_get_info(devices.timed, &info) == WEFT_OK) {
        result->device.fma = info.fma; /* known only now */
    }
    weft_status status = measure_device(session, result, &devices, round);
    session->failed = weft_bench_devices_close(&devices) || session->failed;
    return weft_cli_exit_code(status);
}

/** What is left when it is stopped: of the devices that were opened. */
static int keep_begun(weft_bench_session *session) {
    uint32_t begun = 0;
    while (begun < session->result_count && session->results[begun].rows) {
        begun++;
    }
    session->result_count = begun;
    return begun > 0 ? WEFT_CLI_FINE : WEFT_CLI_FAILED;
}

/** Rounds go over all devices by turns, so that those of a case are far apart. */
static int run_rounds(weft_bench_session *session) {
    for (uint32_t round = 0; round < session->settings.rounds && !weft_cli_stopped(); round++) {
        for (uint32_t i = 0; i < session->result_count && !weft_cli_stopped(); i++) {
            const int code = run_device(session, &session->results[i], round);
            if (!weft_cli_stopped()) {
                WEFT_CLI_TRY(code);
            }
        }
    }
    if (weft_cli_stopped()) {
        WEFT_CLI_TRY(keep_begun(session));
    }
    for (uint32_t i = 0; i < session->result_count; i++) {
        weft_bench_result *result = &session->results[i];
        WEFT_CLI_TRY(
            weft_cli_exit_code(weft_bench_fits(&result->fits, &result->fit_count, result->rows,
                                               session->cases.count, &session->host)));
    }
    return WEFT_CLI_FINE;
}

/** One for each usable device, or one for the chosen device. */
static weft_status make_results(weft_bench_session *session) {
    const char *select = session->settings.common.device;
    weft_device_info *infos = NULL;
    uint32_t count = 1;
    if (select && strcmp(select, "all") == 0) {
        WEFT_TRY(weft_cli_list_usable(&infos, &count, &session->host));
    }
    session->results = weft_alloc_zero(&session->host, count, sizeof *session->results);
    session->result_count = session->results ? count : 0;
    for (uint32_t i = 0; i < session->result_count; i++) {
        weft_bench_result *result = &session->results[i];
        result->select = infos ? result->index : select;
        snprintf(result->index, sizeof result->index, "%u", infos ? infos[i].index : 0);
    }
    weft_free(&session->host, infos);
    return session->results ? WEFT_OK : weft_fail_memory(&session->host, "the list of devices");
}

static int run(weft_bench_session *session) {
    WEFT_CLI_TRY(weft_cli_exit_code(make_results(session)));
    int code = run_rounds(session);
    session->interrupted = weft_cli_stopped();
    return code;
}

int weft_bench_session_run(weft_bench_session *session) {
    const char *path = session->settings.write_expected;
    WEFT_CLI_TRY(
        weft_cli_exit_code(weft_bench_expected_create(&session->expected, &session->host)));
    WEFT_CLI_TRY(run(session));
    return path && !session->interrupted
               ? weft_cli_exit_code(weft_bench_expected_write(session->expected, path))
               : WEFT_CLI_FINE;
}

void weft_bench_session_end(weft_bench_session *session) {
    for (uint32_t i = 0; i < session->result_count; i++) {
        weft_free(&session->host, session->results[i].rows);
        weft_free(&session->host, session->results[i].fits);
    }
    weft_free(&session->host, session->results);
    weft_bench_expected_destroy(&session->expected);
    weft_bench_list_free(&session->cases);
}
