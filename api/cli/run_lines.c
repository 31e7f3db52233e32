/* SPDX-License-Identifier: MIT */
#include "run_lines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/npy.h"
#include "core/try.h"
#include "eval/lines.h"
#include "eval/run.h"
#include "stop.h"

/*
 * Lines that are in memory: few at first, so that the first answers come soon, then so many that most lengths fill their batches.
 */
#define FIRST_WINDOW   64u
#define LARGEST_WINDOW 8192u

#define BETWEEN_NOTES_MS 10000.0

typedef struct lines_state {
    const weft_cli_run_lines_params *params;
    weft_cli_session session;
    weft_cli_lines lines;
    weft_cli_window window;
    weft_cli_score score;
    weft_cli_lines_summary summary;
    uint64_t compiled; /* pipelines */
    uint32_t cut;      /* texts */
    double noted_ms;
    /* Of the lines from `first` on: of a window, or of all where they are wanted as a whole. */
    uint64_t first;
    uint32_t count, outputs_room, states_room;
    float *outputs;
    uint8_t *states;
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

static bool keeps_all(const lines_state *state) {
    return state->params->out || state->params->answers == WEFT_CLI_ANSWERS_JSON;
}

static weft_cli_lines_result result_of(const lines_state *state, uint32_t from) {
    const uint32_t width = state->session.info.label_count;
    return (weft_cli_lines_result){.session = &state->session,
                                   .first = state->first + from,
                                   .count = state->count - from,
                                   .width = width,
                                   .top = state->params->top,
                                   .outputs = state->outputs + (size_t)from * width,
                                   .states = state->states + from};
}

/* ---- on stderr: what else happens ---- */

static void note_compiled(lines_state *state, const weft_cli_evaluation *evaluation) {
    if (evaluation->pipelines_compiled > 0) {
        weft_cli_print(stderr, "weft: note: compiled %llu kernels, once%s\n",
                       (unsigned long long)evaluation->pipelines_compiled,
                       state->params->common->no_cache ? "" : ": they are kept in the cache");
    }
}

static void note_place(lines_state *state) {
    const double now = weft_clock_ms();
    if (now - state->noted_ms >= BETWEEN_NOTES_MS) {
        state->noted_ms = now;
        weft_cli_print(stderr, "weft: note: %llu lines are done\n",
                       (unsigned long long)(state->first + state->count));
    }
}

/* ---- a window ---- */

/* Makes room for the answers of the window's lines, which none of them has yet; *from: where the first one's is. */
static weft_status make_room(lines_state *state, uint32_t *from) {
    const weft_host *host = &state->session.host;
    const uint32_t width = state->session.info.label_count;
    if (!keeps_all(state)) {
        state->first += state->count;
        state->count = 0;
    }
    *from = state->count;
    const size_t needed = (size_t)state->count + state->window.count;
    if (needed > state->outputs_room) {
        const size_t room = 2 * needed;
        float *outputs = room > UINT32_MAX
                             ? NULL
                             : weft_realloc(host, state->outputs, room * width * sizeof *outputs);
        if (!outputs) {
            return weft_fail_memory(host, "the outputs");
        }
        state->outputs = outputs;
        uint8_t *states = weft_realloc(host, state->states, room);
        if (!states) {
            return weft_fail_memory(host, "the outputs");
        }
        state->states = states;
        state->outputs_room = (uint32_t)room;
    }
    for (size_t i = (size_t)state->count * width; i < needed * width; i++) {
        state->outputs[i] = NAN;
    }
    memset(state->states + state->count, WEFT_CLI_LINE_WAITS, state->window.count);
    state->count = (uint32_t)needed;
    return WEFT_OK;
}

/* From the order of texts to that of lines. */
static void take_outputs(lines_state *state, uint32_t from) {
    const uint32_t width = state->session.info.label_count;
    for (uint32_t line = 0; line < state->window.count; line++) {
        const uint32_t example = state->window.example[line];
        if (example == WEFT_CLI_NO_EXAMPLE) {
            state->states[from + line] = WEFT_CLI_LINE_EMPTY;
        } else if (weft_cli_score_has(state->score.outputs, width, example)) {
            memcpy(&state->outputs[(size_t)(from + line) * width],
                   &state->score.outputs[(size_t)example * width], width * sizeof(float));
            state->states[from + line] = WEFT_CLI_LINE_DONE;
        }
    }
}

static int evaluate(lines_state *state) {
    weft_cli_evaluation evaluation;
    state->cut += state->window.data.cut;
    WEFT_CLI_TRY(weft_cli_exit_code(
        weft_cli_score_begin(&state->score, &state->window.data, &state->session)));
    state->score.only_outputs = true;
    WEFT_CLI_TRY(weft_cli_evaluate(&evaluation, &state->score, 0, "texts"));
    note_compiled(state, &evaluation);
    state->summary.tokens += evaluation.tokens;
    state->summary.plans += evaluation.plans;
    state->summary.compile_ms += evaluation.compile_ms;
    state->summary.run_ms += evaluation.run_ms;
    return WEFT_CLI_FINE;
}

static int run_window(lines_state *state) {
    uint32_t from = 0;
    WEFT_CLI_TRY(weft_cli_exit_code(make_room(state, &from)));
    if (state->window.data.example_count > 0) {
        WEFT_CLI_TRY(evaluate(state));
    }
    take_outputs(state, from);
    weft_cli_score_clear(&state->score);
    note_place(state);
    const weft_cli_lines_result result = result_of(state, from);
    return state->params->answers == WEFT_CLI_ANSWERS_JSON
               ? WEFT_CLI_FINE
               : weft_cli_lines_answers(&result, state->params->answers);
}

/* ---- all ---- */

static int run_windows(lines_state *state) {
    uint32_t most = FIRST_WINDOW;
    bool begun = false;
    while (!weft_cli_stopped()) {
        weft_cli_window_clear(&state->window, &state->session.host);
        WEFT_CLI_TRY(weft_cli_lines_next(&state->window, &state->lines, most));
        if (state->window.count == 0) {
            break;
        }
        if (!begun) {
            weft_cli_lines_head(&state->session, state->params->answers);
        }
        begun = true;
        WEFT_CLI_TRY(run_window(state));
        most = most < LARGEST_WINDOW / 4 ? most * 4 : LARGEST_WINDOW;
    }
    return begun || weft_cli_stopped()
               ? WEFT_CLI_FINE
               : weft_cli_bad_file(&state->session.host, "%s: expected texts, found none",
                                   state->lines.name);
}

static int finish(lines_state *state) {
    const weft_cli_run_lines_params *params = state->params;
    const weft_cli_lines_result result = result_of(state, 0);
    if (params->out) { /* rows of texts that were not run are NaN */
        const weft_shape shape = {.rank = 2, .dim = {result.count, result.width}};
        WEFT_CLI_TRY(weft_cli_exit_code(
            weft_npy_write_f32(params->out, state->outputs, shape, &state->session.host)));
    }
    if (state->cut > 0) {
        weft_cli_print(stderr,
                       "weft: note: %u texts are longer than the model's %u positions; the rest of "
                       "them is left out\n",
                       state->cut, state->session.info.max_length);
    }
    WEFT_CLI_TRY(weft_cli_lines_tail(&result, &state->summary, params->answers));
    return weft_cli_validation_code(state->session.device);
}

static int run_all(lines_state *state) {
    const weft_cli_run_lines_params *params = state->params;
    WEFT_CLI_TRY(weft_cli_session_load(&state->session, params->common, params->model));
    WEFT_CLI_TRY(check_task(state));
    WEFT_CLI_TRY(weft_cli_lines_open(&state->lines, params->lines, &state->session));
    WEFT_CLI_TRY(weft_cli_session_open(&state->session, params->common));
    state->noted_ms = weft_clock_ms();
    WEFT_CLI_TRY(run_windows(state));
    return finish(state);
}

int weft_cli_run_lines(const weft_cli_run_lines_params *params) {
    lines_state state = {.params = params};
    const int exit_code = run_all(&state);
    const weft_host host = state.session.host;
    weft_cli_score_clear(&state.score);
    weft_cli_window_clear(&state.window, &host);
    weft_cli_lines_close(&state.lines);
    weft_free(&host, state.outputs);
    weft_free(&host, state.states);
    weft_cli_session_close(&state.session);
    return exit_code;
}
