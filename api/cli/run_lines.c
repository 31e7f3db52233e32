/* SPDX-License-Identifier: MIT */
#include "run_lines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <weft/texts.h>

#include "core/formats/npy.h"
#include "core/system/clock.h"
#include "core/text.h"
#include "core/try.h"
#include "eval/run.h"
#include "input.h"
#include "lines.h"
#include "logits.h"
#include "stop.h"

/* Lines that are in memory with a receipt, which says what ran together, and is not written where the command is stopped. */
#define RECEIPT_WINDOW         64u
#define LARGEST_RECEIPT_WINDOW 8192u

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
    uint32_t count, outputs_room;
    float *outputs; /* or, of token classifiers, null and … */
    weft_cli_found *found;
    uint8_t *states;
    uint32_t from;    /* the window's first line among them */
    bool whole;       /* all lines of the window were run and, at the end, there are no others */
    weft_sha256 hash; /* of a token classifier's outputs, in the order in which they come */
    char digest[WEFT_DIGEST_TEXT_SIZE];
} lines_state;

static bool finds_parts(const lines_state *state) {
    return state->session.info.task == WEFT_TASK_CLASSIFY_TOKENS;
}

/* Each text has outputs of its own, which no other text is asked for. */
static int check_task(const lines_state *state) {
    const weft_task task = state->session.info.task;
    if (task == WEFT_TASK_CLASSIFY || task == WEFT_TASK_NEXT_SENTENCE ||
        task == WEFT_TASK_REGRESS || finds_parts(state)) {
        return WEFT_CLI_FINE;
    }
    return weft_cli_bad_file(&state->session.host,
                             "%s: expected a model that classifies texts or tokens, or gives "
                             "values of texts; the task of %s is %s%s",
                             state->params->lines ? "--lines" : "--pair", state->params->model,
                             weft_task_name(task),
                             task == WEFT_TASK_EMBED ? ": see weft embed" : "");
}

static int set_form(lines_state *state) {
    const weft_cli_run_lines_params *params = state->params;
    const bool answers = weft_model_answers_questions(state->session.model);
    if (answers && !params->lines && !params->pair) {
        return weft_cli_bad_file(&state->session.host,
                                 "--text: the model %s answers questions: expected the context "
                                 "as --pair",
                                 params->model);
    }
    if (finds_parts(state) && params->out) {
        return weft_cli_bad_file(&state->session.host,
                                 "--out: the model %s finds parts of texts, which --jsonl and "
                                 "--json have; expected --tokens",
                                 params->model);
    }
    state->lines.form = (weft_cli_form){.pairs = params->lines && (params->pairs || answers),
                                        .keeps = finds_parts(state),
                                        .first = params->pair ? params->text : NULL};
    return WEFT_CLI_FINE;
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
                                   .outputs = state->outputs ? state->outputs + (size_t)from * width
                                                             : NULL,
                                   .found = state->found ? state->found + from : NULL,
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
                       (unsigned long long)state->first + state->count);
    }
}

/* ---- a window ---- */

static void clear_found(lines_state *state, uint32_t line) {
    weft_spans_free(state->session.model, &state->found[line].spans);
    weft_free(&state->session.host, state->found[line].text);
    state->found[line] = (weft_cli_found){0};
}

static void drop_found(lines_state *state) {
    for (uint32_t i = 0; state->found && i < state->count; i++) {
        clear_found(state, i);
    }
}

/* Room for so many lines, with what they have. */
static weft_status grow(lines_state *state, size_t room) {
    const weft_host *host = &state->session.host;
    const bool parts = finds_parts(state);
    const size_t size =
        parts ? sizeof *state->found : state->session.info.label_count * sizeof *state->outputs;
    void *old = parts ? (void *)state->found : state->outputs;
    void *grown = room > UINT32_MAX ? NULL : weft_realloc(host, old, room * size);
    if (!grown) {
        return weft_fail_memory(host, "the outputs");
    }
    state->found = parts ? grown : NULL;
    state->outputs = parts ? NULL : grown;
    uint8_t *states = weft_realloc(host, state->states, room);
    if (!states) {
        return weft_fail_memory(host, "the outputs");
    }
    state->states = states;
    state->outputs_room = (uint32_t)room;
    return WEFT_OK;
}

/* Makes room for the answers of the window's lines, which none of them has yet. */
static weft_status make_room(lines_state *state) {
    const uint32_t width = state->session.info.label_count;
    if (!keeps_all(state)) {
        drop_found(state);
        state->first += state->count;
        state->count = 0;
    }
    state->from = state->count;
    const size_t needed = (size_t)state->count + state->window.count;
    if (needed > state->outputs_room) {
        WEFT_TRY(grow(state, 2 * needed));
    }
    for (size_t i = (size_t)state->count * width; state->outputs && i < needed * width; i++) {
        state->outputs[i] = NAN;
    }
    for (size_t i = state->count; state->found && i < needed; i++) {
        state->found[i] = (weft_cli_found){0};
    }
    memset(state->states + state->count, WEFT_CLI_LINE_WAITS, state->window.count);
    state->count = (uint32_t)needed;
    return WEFT_OK;
}

/* An example's line of the window: those without a text have none. */
static uint32_t line_of(const weft_cli_window *window, uint32_t example) {
    uint32_t line = example;
    while (window->example[line] != example) {
        line++;
    }
    return line;
}

/* What the model finds in a text, in fresh memory. */
static weft_status find_spans(weft_cli_found *found, const lines_state *state,
                              const weft_encoding *encoding, const float *output) {
    weft_model *model = state->session.model;
    if (!weft_model_answers_questions(model)) {
        return weft_model_find_entities(&found->spans, &found->count, model, encoding, output);
    }
    found->spans = weft_alloc_zero(&state->session.host, 1, sizeof *found->spans);
    if (!found->spans) {
        return weft_fail_memory(&state->session.host, "an answer");
    }
    found->count = 1;
    return weft_model_find_answer(found->spans, model, encoding, output, 0);
}

static weft_status find_parts(void *user, uint32_t example, const float *output, uint32_t rows,
                              uint32_t width) {
    lines_state *state = user;
    const weft_cli_kept *kept = &state->window.kept[example];
    const uint32_t row = state->from + line_of(&state->window, example);
    weft_cli_found *found = &state->found[row];
    weft_cli_hash_add(&state->hash, output, (uint64_t)rows * width);
    const size_t size =
        kept->size - kept->pair + 1; /* with the zero behind it; there may be others */
    found->text = weft_alloc(&state->session.host, size);
    if (!found->text) {
        return weft_fail_memory(&state->session.host, "a text");
    }
    memcpy(found->text, kept->text + kept->pair, size);
    state->states[row] = WEFT_CLI_LINE_DONE;
    WEFT_TRY(find_spans(found, state, &kept->encoding, output));
    for (uint32_t i = 0; i < found->count; i++) { /* tokens can be parts of a character */
        weft_text_span *span = &found->spans[i];
        const weft_text_part part =
            weft_text_find_part(found->text, size - 1, span->begin, span->end);
        span->begin = (uint32_t)part.begin;
        span->end = (uint32_t)part.end;
    }
    return WEFT_OK;
}

/* From the order of texts to that of lines. */
static void take_outputs(lines_state *state) {
    const uint32_t width = state->session.info.label_count;
    for (uint32_t line = 0; line < state->window.count; line++) {
        const uint32_t example = state->window.example[line];
        if (example == WEFT_CLI_NO_EXAMPLE) {
            state->states[state->from + line] = WEFT_CLI_LINE_EMPTY;
        } else if (state->outputs && example < state->score.done) {
            memcpy(&state->outputs[(size_t)(state->from + line) * width],
                   &state->score.outputs[(size_t)example * width], width * sizeof(float));
            state->states[state->from + line] = WEFT_CLI_LINE_DONE;
        }
    }
}

static int evaluate(lines_state *state) {
    weft_cli_evaluation evaluation;
    state->cut += state->window.data.cut;
    WEFT_CLI_TRY(weft_cli_exit_code(
        weft_cli_score_begin(&state->score, &state->window.data, &state->session)));
    state->score.only_outputs = true;
    state->score.take = finds_parts(state) ? find_parts : NULL;
    state->score.user = state;
    WEFT_CLI_TRY(weft_cli_evaluate(&evaluation, &state->score, 0, "texts"));
    note_compiled(state, &evaluation);
    state->summary.tokens += weft_cli_window_tokens(&state->window, state->score.done);
    state->summary.plans += evaluation.plans;
    state->summary.compile_ms += evaluation.compile_ms;
    state->summary.run_ms += evaluation.run_ms;
    return WEFT_CLI_FINE;
}

/*
 * Leaves what stands before the first line that was not run: others' answers would be answers of a file that nobody has. A
 * token classifier's hash has them already, and is of nothing then.
 */
static void drop_waiting(lines_state *state) {
    const uint32_t all = state->count;
    state->count = state->from;
    while (state->count < all && state->states[state->count] != WEFT_CLI_LINE_WAITS) {
        state->count++;
    }
    state->whole = state->count == all;
    for (uint32_t i = state->count; state->found && i < all; i++) {
        clear_found(state, i);
    }
}

/* ---- in a receipt ---- */

/* Of each line with an answer its number and the outputs. */
static weft_status note_outputs(const lines_state *state, const char *name) {
    const weft_host *host = &state->session.host;
    const uint32_t width = state->session.info.label_count;
    const size_t size = sizeof(uint64_t) + width * sizeof(float);
    uint8_t *bytes = weft_alloc(host, state->window.count * size);
    uint32_t answers = 0;
    if (!bytes) {
        return weft_fail_memory(host, "the answers of a receipt");
    }
    for (uint32_t row = state->from; row < state->count; row++) {
        const uint64_t number = state->first + row + 1;
        if (state->states[row] == WEFT_CLI_LINE_DONE) {
            uint8_t *at = bytes + answers++ * size;
            memcpy(at, &number, sizeof number);
            memcpy(at + sizeof number, &state->outputs[(size_t)row * width], width * sizeof(float));
        }
    }
    const weft_status status = weft_cli_receipt_note(
        &state->session.recording, WEFT_RECORD_ANSWER, name, bytes, answers * size,
        "%u of %u lines, each u64 line, f32 [%u]", answers, state->window.count, width);
    weft_free(host, bytes);
    return status;
}

/* What was found, a line "LINE BEGIN END LABEL" for each part of a text. */
static weft_status note_found(const lines_state *state, const char *name) {
    struct weft_text text = {.host = state->session.host};
    uint32_t answers = 0;
    for (uint32_t row = state->from; row < state->count; row++) {
        const weft_cli_found *found = &state->found[row];
        answers += state->states[row] == WEFT_CLI_LINE_DONE ? 1 : 0;
        for (uint32_t i = 0; i < found->count; i++) {
            const weft_text_span *span = &found->spans[i];
            weft_text_add(&text, "%llu %u %u %s\n", (unsigned long long)state->first + row + 1,
                          span->begin, span->end, span->label ? span->label : "");
        }
    }
    const size_t size = text.length;
    char *lines = weft_text_take(&text);
    const weft_status status =
        lines ? weft_cli_receipt_note(&state->session.recording, WEFT_RECORD_ANSWER, name, lines,
                                      size, "%u of %u lines, parts of texts", answers,
                                      state->window.count)
              : weft_fail_memory(&state->session.host, "the answers of a receipt");
    weft_free(&state->session.host, lines);
    return status;
}

static weft_status note_answers(const lines_state *state) {
    char name[80];
    if (!state->session.recording.receipt) {
        return WEFT_OK;
    }
    snprintf(name, sizeof name, "lines %llu to %llu",
             (unsigned long long)state->first + state->from + 1,
             (unsigned long long)state->first + state->count);
    return state->found ? note_found(state, name) : note_outputs(state, name);
}

static int run_window(lines_state *state) {
    WEFT_CLI_TRY(weft_cli_exit_code(make_room(state)));
    WEFT_CLI_TRY(weft_cli_exit_code(weft_cli_window_note(&state->window, &state->session)));
    if (state->window.data.example_count > 0) {
        WEFT_CLI_TRY(evaluate(state));
    }
    take_outputs(state);
    drop_waiting(state);
    weft_cli_score_clear(&state->score);
    WEFT_CLI_TRY(weft_cli_exit_code(note_answers(state)));
    note_place(state);
    const weft_cli_lines_result result = result_of(state, state->from);
    return state->params->answers == WEFT_CLI_ANSWERS_JSON
               ? WEFT_CLI_FINE
               : weft_cli_lines_answers(&result, state->params->answers);
}

/* ---- all ---- */

static int add_file(lines_state *state) {
    const weft_host *host = &state->session.host;
    weft_cli_file_bytes text = {0};
    int exit_code = weft_cli_exit_code(weft_cli_read_bytes(&text, state->params->file, host));
    if (exit_code == WEFT_CLI_FINE) {
        const weft_cli_text whole = {
            .bytes = text.bytes, .size = text.size, .name = state->params->file};
        exit_code =
            weft_cli_window_add(&state->window, &whole, &state->lines.form, &state->session);
    }
    weft_free(host, text.bytes);
    return exit_code;
}

/* The next lines, or the one text. */
static int next_window(lines_state *state, bool begun, uint32_t most) {
    const weft_cli_run_lines_params *params = state->params;
    if (params->lines || begun) {
        return params->lines ? weft_cli_lines_next(&state->window, &state->lines, most)
                             : WEFT_CLI_FINE;
    }
    if (params->file) {
        return add_file(state);
    }
    const char *bytes = params->pair ? params->pair : params->text;
    const weft_cli_text text = {
        .bytes = bytes, .size = strlen(bytes), .name = params->pair ? "--pair" : "--text"};
    return weft_cli_window_add(&state->window, &text, &state->lines.form, &state->session);
}

static uint32_t window_size(const lines_state *state, uint32_t before) {
    if (!state->session.recording.receipt) {
        return weft_cli_window_size(before);
    }
    return before == 0                           ? RECEIPT_WINDOW
           : before < LARGEST_RECEIPT_WINDOW / 4 ? before * 4
                                                 : LARGEST_RECEIPT_WINDOW;
}

static int run_windows(lines_state *state) {
    uint32_t most = 0;
    bool begun = false;
    while (!weft_cli_stopped()) {
        weft_cli_window_clear(&state->window, &state->session.host);
        most = window_size(state, most);
        WEFT_CLI_TRY(next_window(state, begun, most));
        if (state->window.count == 0) {
            break;
        }
        if (!begun) {
            weft_cli_lines_head(&state->session, state->params->answers);
        }
        begun = true;
        WEFT_CLI_TRY(run_window(state));
    }
    state->whole =
        begun && state->whole && (!state->params->lines || weft_cli_lines_ended(&state->lines));
    return begun || weft_cli_stopped()
               ? WEFT_CLI_FINE
               : weft_cli_bad_file(&state->session.host, "%s: expected texts, found none",
                                   state->lines.name);
}

static int finish(lines_state *state) {
    const weft_cli_run_lines_params *params = state->params;
    const weft_cli_lines_result result = result_of(state, 0);
    weft_cli_stop_settle(state->whole);
    if (params->out && (result.count > 0 || state->whole)) { /* rows of empty lines are NaN */
        const weft_shape shape = {.rank = 2, .dim = {result.count, result.width}};
        WEFT_CLI_TRY(weft_cli_exit_code(
            weft_npy_write_f32(params->out, state->outputs, shape, &state->session.host)));
    }
    WEFT_CLI_TRY(weft_cli_receipt_end(&state->session.recording, params->common));
    if (state->cut > 0) {
        weft_cli_print(stderr,
                       "weft: note: %u texts are longer than the model's %u positions; the rest of "
                       "them is left out\n",
                       state->cut, state->session.info.max_length);
    }
    if (finds_parts(state)) {
        const weft_digest digest = weft_sha256_end(&state->hash);
        weft_digest_text(&digest, state->digest);
        state->summary.digest = state->whole ? state->digest : NULL;
    }
    WEFT_CLI_TRY(weft_cli_lines_tail(&result, &state->summary, params->answers));
    return weft_cli_validation_code(state->session.device);
}

static int run_all(lines_state *state) {
    const weft_cli_run_lines_params *params = state->params;
    if (params->session) {
        state->session = *params->session;
        *params->session = (weft_cli_session){.host = state->session.host};
    } else {
        WEFT_CLI_TRY(weft_cli_session_load(&state->session, params->common, params->model));
    }
    WEFT_CLI_TRY(check_task(state));
    if (params->lines) {
        WEFT_CLI_TRY(weft_cli_lines_open(&state->lines, params->lines, &state->session));
    }
    WEFT_CLI_TRY(set_form(state));
    WEFT_CLI_TRY(weft_cli_session_open(&state->session, params->common));
    if (state->lines.form.first) {
        const char *text = state->lines.form.first;
        WEFT_CLI_TRY(weft_cli_exit_code(
            weft_cli_receipt_note(&state->session.recording, WEFT_RECORD_DATA, "first text", text,
                                  strlen(text), "%zu bytes", strlen(text))));
    }
    state->noted_ms = weft_clock_ms();
    weft_sha256_begin(&state->hash);
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
    drop_found(&state);
    weft_free(&host, state.found);
    weft_free(&host, state.outputs);
    weft_free(&host, state.states);
    weft_cli_session_close(&state.session);
    return exit_code;
}
