/* SPDX-License-Identifier: MIT */
/* weft-test: slow one device */
/* A session of weft bench with cases of the test's own: interrupted, failing, out of order. */
#include <signal.h>

#include "bench/graph.h"
#include "bench/report.h"
#include "bench/rounds.h"
#include "cli/stop.h"
#include "support.h"

static weft_status build_sum(weft_graph *graph, const weft_bench_case *bench_case) {
    weft_tensor x = {0};
    weft_status status = weft_bench_input(&x, graph, "x", weft_shape_of(1, bench_case->sizes[0]));
    if (status == WEFT_OK) {
        status = weft_graph_binary(&x, graph, WEFT_BINARY_ADD, x, x);
    }
    return status == WEFT_OK ? weft_graph_output(graph, "y", x) : status;
}

/** As if Ctrl-C were pressed while this case is made. */
static weft_status build_interrupted(weft_graph *graph, const weft_bench_case *bench_case) {
    raise(SIGINT);
    return build_sum(graph, bench_case);
}

static weft_status build_wrong(weft_graph *graph, const weft_bench_case *bench_case) {
    (void)bench_case;
    return weft_graph_output(graph, "y", (weft_tensor){0});
}

typedef weft_status (*builder)(weft_graph *graph, const weft_bench_case *bench_case);

static void add(weft_bench_session *session, const char *name, builder build) {
    weft_bench_case made = {.suite = "test", .sizes = {7}, .build = build};
    strncpy(made.name, name, sizeof made.name - 1);
    weft_bench_list_add(&session->cases, &made);
}

static void begin(weft_bench_session *session) {
    const weft_bench_settings settings = {.limit_ms = 1.0, .time_cap = 60};
    weft_bench_session_begin(session, &settings);
}

static const weft_bench_row *row(const weft_bench_session *session, uint32_t index) {
    return &session->results[0].rows[index];
}

WEFT_TEST(interruption_keeps_what_is_done) {
    weft_bench_session session;
    begin(&session);
    add(&session, "first", build_sum);
    add(&session, "second", build_interrupted);
    add(&session, "third", build_sum);
    weft_cli_stop_begin();
    assert_int_equal(weft_bench_session_run(&session), WEFT_CLI_FINE);
    assert_int_equal(weft_cli_stop_end(), SIGINT);
    assert_true(session.interrupted);
    assert_false(session.failed);
    assert_int_equal(session.result_count, 1);
    assert_int_equal(row(&session, 0)->status, WEFT_BENCH_OK);
    for (uint32_t i = 1; i < 3; i++) {
        assert_int_equal(row(&session, i)->status, WEFT_BENCH_SKIPPED);
        assert_string_equal(row(&session, i)->reason, "interrupted");
    }
    json_t *report = weft_bench_report_json(&session);
    assert_true(
        json_is_true(json_object_get(json_object_get(report, "environment"), "interrupted")));
    assert_int_equal(json_array_size(json_object_get(report, "rows")), 3);
    json_decref(report);
    weft_bench_session_end(&session);
}

/* What stopped one session is not left to the next. */
WEFT_TEST(next_session_starts_afresh) {
    weft_bench_session session;
    begin(&session);
    add(&session, "first", build_sum);
    weft_cli_stop_begin();
    assert_int_equal(weft_bench_session_run(&session), WEFT_CLI_FINE);
    assert_int_equal(weft_cli_stop_end(), 0);
    assert_false(session.interrupted);
    assert_int_equal(row(&session, 0)->status, WEFT_BENCH_OK);
    weft_bench_session_end(&session);
}

WEFT_TEST(rounds_are_measured_apart) {
    weft_bench_session session;
    const weft_bench_settings settings = {.limit_ms = 1.0, .time_cap = 60, .rounds = 3};
    weft_bench_session_begin(&session, &settings);
    add(&session, "first", build_sum);
    add(&session, "wrong", build_wrong);
    assert_int_equal(weft_bench_session_run(&session), WEFT_CLI_FINE);
    const weft_bench_row *first = row(&session, 0);
    assert_int_equal(first->status, WEFT_BENCH_OK);
    assert_int_equal(first->rounds, 3);
    assert_true(first->runs >= WEFT_BENCH_MIN_RUNS);
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(first->round_ms[i] >= first->interval_ms[0]);
        assert_true(first->round_ms[i] <= first->interval_ms[1]);
    }
    assert_int_equal(row(&session, 1)->status, WEFT_BENCH_ERROR);
    weft_bench_session_end(&session);
}

/* Two rounds, 3 runs and 5, of known times. */
WEFT_TEST(rounds_are_added_up) {
    const weft_bench_case bench_case = {.tokens = 12};
    weft_bench_row row = {.bench_case = &bench_case,
                          .median_ms = 2.0,
                          .host_ms = 3.0,
                          .cpu_ms = 4.0,
                          .p5_ms = 1.5,
                          .p95_ms = 2.5,
                          .interval_ms = {1.9, 2.1},
                          .runs = 3,
                          .rounds = 1,
                          .round_ms = {2.0}};
    weft_bench_row again = {.median_ms = 4.0,
                            .host_ms = 5.0,
                            .cpu_ms = 6.0,
                            .p5_ms = 3.5,
                            .p95_ms = 4.5,
                            .interval_ms = {3.9, 4.1},
                            .runs = 5};
    weft_bench_add_round(&row, &again);
    assert_true(row.median_ms == 3.0 && row.host_ms == 4.0 && row.cpu_ms == 5.0);
    assert_true(row.p5_ms == 1.5 && row.p95_ms == 4.5);
    assert_true(row.interval_ms[0] == 1.9 && row.interval_ms[1] == 4.1);
    assert_true(row.round_ms[0] == 2.0 && row.round_ms[1] == 4.0);
    assert_true(row.tokens_per_s == 4000.0);
    assert_int_equal(row.runs, 8);
    assert_int_equal(row.rounds, 2);
    assert_false(row.tight);
    again.median_ms = 6.0;
    weft_bench_add_round(&row, &again);
    assert_true(row.median_ms == 4.0);
    const weft_bench_case sized = {.sized = true};
    row.bench_case = &sized;
    row.info.flops = 100.0;
    again.info.flops = 200.0; /* twice the work in twice the time */
    again.median_ms = 8.0;
    weft_bench_add_round(&row, &again);
    assert_true(row.median_ms == 4.0 && row.round_ms[3] == 4.0);
    for (uint32_t rounds = 1; rounds <= WEFT_BENCH_MAX_ROUNDS; rounds++) {
        assert_true(rounds * weft_bench_round_runs(rounds) >= WEFT_BENCH_MIN_RUNS);
    }
}

WEFT_TEST(failing_case_spoils_no_other) {
    weft_bench_session session;
    begin(&session);
    add(&session, "wrong", build_wrong);
    add(&session, "right", build_sum);
    assert_int_equal(weft_bench_session_run(&session), WEFT_CLI_FINE);
    assert_true(session.failed);
    assert_int_equal(row(&session, 0)->status, WEFT_BENCH_ERROR);
    assert_true(row(&session, 0)->reason[0] != '\0');
    assert_int_equal(row(&session, 1)->status, WEFT_BENCH_OK);
    assert_string_equal(row(&session, 1)->reason, "");
    weft_bench_session_end(&session);
}

WEFT_TEST(unknown_device_is_refused) {
    weft_bench_session session;
    begin(&session);
    session.settings.common.device = "no device has this name";
    char error[WEFT_CLI_ERROR_SIZE] = "";
    session.settings.common.error = error;
    add(&session, "first", build_sum);
    assert_int_equal(weft_bench_session_run(&session), WEFT_CLI_NO_DEVICE);
    assert_non_null(strstr(error, "no device has this name"));
    weft_bench_session_end(&session);
}
