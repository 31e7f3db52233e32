/* SPDX-License-Identifier: MIT */
/* weft rerank: texts by how well they answer a query. */
#include <string.h>

#include <weft/texts.h>

#include "commands.h"
#include "core/try.h"
#include "embedding.h"
#include "eval/run.h"
#include "stop.h"

#define DEFAULT_TOP 10U

typedef struct rerank_options {
    weft_cli_common common;
    const char *model, *query, *lines;
    weft_cli_table_options table;
    uint32_t top;
    weft_cli_embedding_options how;
} rerank_options;

typedef struct rerank_state {
    const rerank_options *options;
    weft_cli_session session;
    weft_cli_lines lines;
    weft_cli_window window;
    weft_cli_score score;
    bool has_query;       /* its vector has been made */
    float *query;         /* of a model that makes vectors: the query's; else null */
    uint32_t query_count; /* where a text has several: so many */
    double *scores;       /* with it: of each text, whose vectors are gone */
    weft_ranked *order;   /* by similarities, or a classifier's outputs as they are */
    uint32_t count;       /* texts that were run: all, unless the command was stopped */
    weft_cli_evaluation evaluation;
} rerank_state;

/* ---- scores ---- */

/* How vectors are compared; of a classifier what it is. */
static const char *measure_of(const rerank_state *state) {
    weft_embed_info info = {0};
    if (state->session.info.task != WEFT_TASK_EMBED) {
        return weft_task_name(state->session.info.task);
    }
    weft_model_get_embedding(state->session.model, &info);
    return info.similarity ? info.similarity : "cosine";
}

static double score_of(const rerank_state *state, uint32_t line) {
    const uint32_t width = state->score.width;
    if (state->scores) {
        return state->scores[line];
    }
    const float *row = &state->score.outputs[(size_t)line * width];
    return state->query ? weft_vector_similarity(measure_of(state), state->query, row, width)
                        : (double)row[0];
}

/* Only what is shown of a classifier is a probability: large outputs have the same. */
static double shown_score(const rerank_state *state, uint32_t place) {
    const weft_ranked *ranked = &state->order[place];
    return state->query ? ranked->score
                        : weft_model_pair_score(state->session.model, (float)ranked->score);
}

static weft_status sort(rerank_state *state) {
    const weft_host *host = &state->session.host;
    const uint32_t all = state->window.count;
    if (all == 0) { /* the command was stopped before its first text */
        return WEFT_OK;
    }
    state->order = weft_alloc_zero(host, all, sizeof *state->order);
    if (!state->order) {
        return weft_fail_memory(host, "the order of texts");
    }
    for (uint32_t line = 0; line < all; line++) {
        if (state->score.has[line]) {
            state->order[state->count++] = (weft_ranked){line, score_of(state, line)};
        }
    }
    weft_rank(state->order, state->count);
    return WEFT_OK;
}

/* ---- in a receipt ---- */

/* Before anything runs. */
static weft_status note_query(const rerank_state *state) {
    const char *query = state->options->query;
    const weft_cli_recording *recording = &state->session.recording;
    WEFT_TRY(weft_cli_receipt_note(recording, WEFT_RECORD_SETTING, "similarity", NULL, 0, "%s",
                                   measure_of(state)));
    return weft_cli_receipt_note(recording, WEFT_RECORD_DATA, "query", query, strlen(query),
                                 "%zu bytes", strlen(query));
}

static weft_status note_ranking(const rerank_state *state) {
    const weft_host *host = &state->session.host;
    struct {
        double score;
        uint64_t line; /* from 1 */
    } *lines = weft_alloc_zero(host, (size_t)state->count + 1, sizeof *lines);
    if (!lines) {
        return weft_fail_memory(host, "the ranking of a receipt");
    }
    for (uint32_t i = 0; i < state->count; i++) {
        lines[i].score = state->order[i].score;
        lines[i].line = (uint64_t)state->order[i].index + 1;
    }
    const weft_status status = weft_cli_receipt_note(
        &state->session.recording, WEFT_RECORD_ANSWER, "ranking", lines,
        state->count * sizeof *lines, "%u texts, each f64 score, u64 line", state->count);
    weft_free(host, lines);
    return status;
}

/* ---- running ---- */

/* Several vectors of the query stay, … */
static weft_status take_query(void *user, uint32_t text, const float *output, uint32_t rows,
                              uint32_t width) {
    rerank_state *state = user;
    const size_t values = (size_t)rows * width;
    (void)text;
    state->query = weft_alloc_zero(&state->session.host, values + 1, sizeof *state->query);
    if (!state->query) {
        return weft_fail_memory(&state->session.host, "a query's vectors");
    }
    memcpy(state->query, output, values * sizeof *output);
    state->query_count = rows;
    return WEFT_OK;
}

/* … and of a text's the score alone. */
static weft_status take_text(void *user, uint32_t text, const float *output, uint32_t rows,
                             uint32_t width) {
    const rerank_state *state = user;
    const weft_vector_list query = {state->query, state->query_count};
    const weft_vector_list found = {output, rows};
    state->scores[text] = weft_vectors_similarity(measure_of(state), &query, &found, width);
    return WEFT_OK;
}

static weft_status begin_many(rerank_state *state) {
    const weft_host *host = &state->session.host;
    state->score.user = state;
    state->score.take = state->query ? take_text : take_query;
    if (state->query) {
        state->scores = weft_alloc_zero(host, state->window.count, sizeof *state->scores);
    }
    return state->scores || !state->query ? WEFT_OK : weft_fail_memory(host, "the scores of texts");
}

static int evaluate(rerank_state *state) {
    if (state->window.count == 0) { /* the command was stopped before its first text */
        return WEFT_CLI_FINE;
    }
    WEFT_CLI_TRY(weft_cli_exit_code(
        weft_cli_score_begin(&state->score, &state->window.data, &state->session)));
    state->score.only_outputs = true;
    WEFT_CLI_TRY(weft_cli_exit_code(state->score.many ? begin_many(state) : WEFT_OK));
    return weft_cli_evaluate(&state->evaluation, &state->score, state->options->how.batch, "texts");
}

static int embed_query(rerank_state *state, const weft_cli_form *form) {
    const weft_host *host = &state->session.host;
    const weft_cli_text text = {
        .bytes = state->options->query, .size = strlen(state->options->query), .name = "--query"};
    WEFT_CLI_TRY(weft_cli_window_add(&state->window, &text, form, &state->session));
    WEFT_CLI_TRY(evaluate(state));
    state->has_query = state->score.done == 1;
    if (!state->score.many) {
        state->query = state->score.outputs;
        state->score.outputs = NULL;
    }
    weft_cli_score_clear(&state->score);
    weft_cli_window_clear(&state->window, host);
    return WEFT_CLI_FINE;
}

/* Two towers: the query's vector, and the form of the texts. */
static int begin_vectors(rerank_state *state, weft_cli_form *form, const weft_cli_syntax *syntax) {
    weft_cli_embedding_options how = state->options->how;
    weft_cli_session *session = &state->session;
    how.task = "query";
    WEFT_CLI_TRY(weft_cli_embedding_begin(form, &how, session, syntax));
    WEFT_CLI_TRY(weft_cli_session_open(session, &state->options->common));
    WEFT_CLI_TRY(weft_cli_exit_code(note_query(state)));
    WEFT_CLI_TRY(weft_cli_exit_code(weft_cli_embedding_note(form, "query's prompt", session)));
    WEFT_CLI_TRY(embed_query(state, form));
    how = (weft_cli_embedding_options){.task = "document"};
    WEFT_CLI_TRY(weft_cli_embedding_begin(form, &how, session, syntax));
    return weft_cli_exit_code(weft_cli_embedding_note(form, "texts' prompt", session));
}

static int begin(rerank_state *state, weft_cli_form *form, const weft_cli_syntax *syntax) {
    const weft_model_info *info = &state->session.info;
    const bool scores = (info->task == WEFT_TASK_CLASSIFY || info->task == WEFT_TASK_REGRESS) &&
                        info->label_count == 1;
    if (!scores) {
        return begin_vectors(state, form, syntax);
    }
    *form = (weft_cli_form){.empty_counts = true, .first = state->options->query};
    WEFT_CLI_TRY(weft_cli_session_open(&state->session, &state->options->common));
    return weft_cli_exit_code(note_query(state));
}

static int run_texts(rerank_state *state, const weft_cli_syntax *syntax) {
    weft_cli_form form;
    WEFT_CLI_TRY(begin(state, &form, syntax));
    if (state->query && !state->has_query) { /* the command was stopped: nothing can be compared */
        return WEFT_CLI_FINE;
    }
    form.keeps = true;
    state->lines.form = form;
    WEFT_CLI_TRY(weft_cli_lines_next(&state->window, &state->lines, UINT32_MAX));
    const bool all = weft_cli_lines_ended(&state->lines);
    if (state->window.count == 0 && all) {
        return weft_cli_bad_file(&state->session.host, "%s: expected texts, found none",
                                 state->lines.name);
    }
    WEFT_CLI_TRY(weft_cli_exit_code(weft_cli_window_note(&state->window, &state->session)));
    WEFT_CLI_TRY(evaluate(state));
    WEFT_CLI_TRY(weft_cli_exit_code(sort(state)));
    WEFT_CLI_TRY(weft_cli_exit_code(note_ranking(state)));
    weft_cli_stop_settle(all && state->count == state->window.count);
    return WEFT_CLI_FINE;
}

/* ---- what it prints ---- */

static uint32_t shown(const rerank_state *state) {
    return state->options->top < state->count ? state->options->top : state->count;
}

/* With its id, where the texts are a table's and have some. */
static json_t *result_json(const rerank_state *state, uint32_t place) {
    const uint32_t line = state->order[place].index;
    json_t *result = json_pack("{s:I, s:o, s:o}", "line", (json_int_t)line + 1, "score",
                               weft_cli_json_real(shown_score(state, place)), "text",
                               weft_cli_json_text(state->window.kept[line].text));
    return state->window.ids
               ? weft_cli_json_field(result, "id",
                                     json_loads(state->window.ids[line], JSON_DECODE_ANY, NULL))
               : result;
}

static json_t *results_json(const rerank_state *state) {
    json_t *list = json_array();
    for (uint32_t i = 0; list && i < shown(state); i++) {
        list = weft_cli_json_append(list, result_json(state, i));
    }
    return list;
}

static int print_json(const rerank_state *state) {
    json_t *run = json_pack(
        "{s:b, s:I, s:I, s:o, s:o}", "stopped", (int)weft_cli_stopped(), "texts",
        (json_int_t)state->count, "tokens", (json_int_t)state->evaluation.tokens, "run_ms",
        weft_cli_json_real(state->evaluation.run_ms), "results", results_json(state));
    return weft_cli_print_json(
        weft_cli_json_merge(weft_cli_session_json(&state->session, NULL), run));
}

static int print_text(const rerank_state *state) {
    static const char *const columns[] = {">score", ">line", "text", NULL};
    weft_cli_table *table = weft_cli_table_begin(columns);
    for (uint32_t i = 0; i < shown(state); i++) {
        const uint32_t line = state->order[i].index;
        weft_cli_table_cell(table, "%.4f", shown_score(state, i));
        weft_cli_table_cell(table, "%llu", (unsigned long long)line + 1);
        weft_cli_table_cell(table, "%s", state->window.kept[line].text);
    }
    WEFT_CLI_TRY(weft_cli_table_print(&table));
    if (weft_cli_stopped()) {
        weft_cli_print(stdout, "stopped: these are of the %u texts that were run\n", state->count);
    }
    return WEFT_CLI_FINE;
}

static int run_all(rerank_state *state, const weft_cli_syntax *syntax) {
    const rerank_options *options = state->options;
    WEFT_CLI_TRY(weft_cli_session_load(&state->session, &options->common, options->model));
    WEFT_CLI_TRY(weft_cli_lines_open(&state->lines, options->lines, &state->session));
    weft_cli_lines_tabulate(&state->lines, &options->table);
    WEFT_CLI_TRY(run_texts(state, syntax));
    WEFT_CLI_TRY(weft_cli_receipt_end(&state->session.recording, &options->common));
    WEFT_CLI_TRY(options->common.json ? print_json(state) : print_text(state));
    return weft_cli_validation_code(state->session.device);
}

static int run(const rerank_options *options, const weft_cli_syntax *syntax) {
    rerank_state state = {.options = options};
    const int exit_code = run_all(&state, syntax);
    const weft_host host = state.session.host;
    weft_cli_score_clear(&state.score);
    weft_cli_window_clear(&state.window, &host);
    weft_cli_lines_close(&state.lines);
    weft_free(&host, state.query);
    weft_free(&host, state.scores);
    weft_free(&host, state.order);
    weft_cli_session_close(&state.session);
    return exit_code;
}

/* ---- the command line ---- */

int weft_cli_rerank(int argc, char **argv) {
    rerank_options options = {.common = {.command = "rerank"}, .top = DEFAULT_TOP};
    const weft_cli_option table[] = {
        {"query", WEFT_CLI_TEXT, &options.query, "STRING", "the query itself"},
        {"lines", WEFT_CLI_TEXT, &options.lines, "FILE",
         "a text on each line, or - for standard input"},
        WEFT_CLI_TABLE_OPTIONS(&options.table),
        WEFT_CLI_ID_OPTION(&options.table),
        {"top", WEFT_CLI_COUNT, &options.top, "K", "how many texts to show (default 10)"},
        {"pooling", WEFT_CLI_TEXT, &options.how.pooling, WEFT_CLI_POOLINGS,
         "how the vectors of tokens become one, for an encoder without a modules.json"},
        {"batch", WEFT_CLI_COUNT, &options.how.batch, "B",
         "run so many texts at once (default: by their length); no bit depends on it"},
        WEFT_CLI_RECEIPT_OPTIONS(&options.common),
        WEFT_CLI_DEVICE_OPTIONS(&options.common),
        WEFT_CLI_OUTPUT_OPTIONS(&options.common),
        {.name = NULL},
    };
    const weft_cli_syntax syntax = {
        .command = "rerank",
        .positionals = "MODEL",
        .positional_count = 1,
        .summary =
            "Sorts texts by how well they answer a query. A cross-encoder, which is a classifier "
            "with one label, or a language model with LogitScore, reads the query with each text; "
            "its score is the sigmoid of its output. A model that makes vectors compares them by "
            "its similarity_fn_name, or by "
            "their cosine, or several of a text by MaxSim, with its prompts for queries and "
            "documents where it has them.",
        .options = table,
    };
    int exit_code = WEFT_CLI_FINE;
    if (!weft_cli_parse(&syntax, argc, argv, &options.model, &exit_code)) {
        return exit_code;
    }
    if (!options.query || !options.lines) {
        return weft_cli_usage_error(&syntax, "expected --query and --lines");
    }
    if (options.table.id_field && !options.common.json) {
        return weft_cli_usage_error(&syntax, "--id-field needs --json, which has ids");
    }
    WEFT_CLI_TRY(weft_cli_table_check(&options.table, options.lines, &syntax));
    return run(&options, &syntax);
}
