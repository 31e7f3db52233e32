/* SPDX-License-Identifier: MIT */
#include "run_lines.h"

#include <stdio.h>

#include "core/npy.h"
#include "core/try.h"
#include "eval/run.h"
#include "eval/texts.h"
#include "run_report.h"

typedef struct lines_state {
    const weft_cli_run_lines_params *params;
    weft_cli_session session;
    weft_cli_data data;
    weft_cli_score score;
    weft_cli_evaluation evaluation;
} lines_state;

/* Each text has outputs of its own, which no other text is asked for. */
static int check_task(const lines_state *state) {
    const weft_task task = state->session.info.task;
    if (task == WEFT_TASK_CLASSIFY || task == WEFT_TASK_NEXT_SENTENCE ||
        task == WEFT_TASK_REGRESS) {
        return WEFT_CLI_FINE;
    }
    return weft_cli_bad_file(&state->session.host,
                             "--lines: expected a model that classifies texts or gives values of "
                             "them; the task of %s is "
                             "%s",
                             state->params->model, weft_task_name(task));
}

static int run_texts(lines_state *state) {
    const weft_cli_run_lines_params *params = state->params;
    WEFT_CLI_TRY(weft_cli_session_load(&state->session, params->common, params->model));
    WEFT_CLI_TRY(check_task(state));
    WEFT_CLI_TRY(weft_cli_lines_load(&state->data, params->lines, &state->session));
    WEFT_CLI_TRY(weft_cli_session_open(&state->session, params->common));
    WEFT_CLI_TRY(
        weft_cli_exit_code(weft_cli_score_begin(&state->score, &state->data, &state->session)));
    state->score.only_outputs = true;
    return weft_cli_evaluate(&state->evaluation, &state->score, 0, "texts");
}

static int deliver(lines_state *state) {
    const weft_cli_run_lines_params *params = state->params;
    const weft_shape shape = {.rank = 2, .dim = {state->data.example_count, state->score.width}};
    if (params->out) { /* rows of texts that were not run are NaN */
        WEFT_CLI_TRY(weft_cli_exit_code(
            weft_npy_write_f32(params->out, state->score.outputs, shape, &state->session.host)));
    }
    if (state->data.cut > 0) {
        weft_cli_print(stderr,
                       "weft: note: %u texts are longer than the model's %u positions; the rest of "
                       "them is left out\n",
                       state->data.cut, state->session.info.max_length);
    }
    const weft_cli_inputs inputs = {.batch = state->data.example_count, .mask = -1};
    const weft_cli_result result = {.session = &state->session,
                                    .inputs = &inputs,
                                    .output = state->score.outputs,
                                    .shape = shape,
                                    .top = params->top,
                                    .run_ms = state->evaluation.run_ms,
                                    .repeats = 1};
    const weft_cli_texts texts = {.tokens = state->evaluation.tokens,
                                  .plans = state->evaluation.plans,
                                  .compile_ms = state->evaluation.compile_ms};
    WEFT_CLI_TRY(params->common->json ? weft_cli_report_texts_json(&result, &texts)
                                      : weft_cli_report_texts(&result, &texts));
    return weft_cli_validation_code(state->session.device);
}

int weft_cli_run_lines(const weft_cli_run_lines_params *params) {
    lines_state state = {.params = params};
    int exit_code = run_texts(&state);
    if (exit_code == WEFT_CLI_FINE) {
        exit_code = deliver(&state);
    }
    const weft_host host = state.session.host;
    weft_cli_score_clear(&state.score);
    weft_cli_data_clear(&state.data, &host);
    weft_cli_session_close(&state.session);
    return exit_code;
}
