/* SPDX-License-Identifier: MIT */
/* weft tokenize: the tokens that a model makes of texts, before any device computes with them. */
#include <string.h>

#include "commands.h"
#include "core/try.h"
#include "lines.h"
#include "session.h"
#include "stop.h"

#define AT_ONCE 1024U /* texts in memory */

typedef struct tokenize_options {
    weft_cli_common common;
    const char *model, *lines;
    weft_cli_list texts;
    weft_cli_table_options table;
    bool pairs, ids;
} tokenize_options;

typedef struct tokenize_state {
    const tokenize_options *options;
    weft_cli_session session;
    weft_cli_lines lines;
    weft_cli_window window;
    json_t *texts; /* with --json, those so far */
    uint64_t count, tokens, cut;
} tokenize_state;

/* ---- what it prints ---- */

static void print_ids(const weft_encoding *encoding) {
    for (uint32_t i = 0; i < encoding->count; i++) {
        weft_cli_print(stdout, i > 0 ? " %d" : "%d", encoding->tokens[i]);
    }
    weft_cli_print(stdout, "\n");
}

/* In fresh memory of the model's; empty for a row of the vocabulary that is no token. */
static int piece_of(char **piece, const tokenize_state *state, int32_t token) {
    size_t size = 0;
    const weft_status status = weft_model_get_piece(state->session.model, token, piece, &size);
    return status == WEFT_NOT_FOUND ? WEFT_CLI_FINE : weft_cli_exit_code(status);
}

static int add_row(weft_cli_table *table, const tokenize_state *state,
                   const weft_encoding *encoding, uint32_t token) {
    char *piece = NULL;
    WEFT_CLI_TRY(piece_of(&piece, state, encoding->tokens[token]));
    const bool special = encoding->sequences[token] == UINT8_MAX;
    weft_cli_table_cell(table, "%llu", (unsigned long long)state->count);
    weft_cli_table_cell(table, "%d", encoding->tokens[token]);
    weft_cli_table_cell(table, "%s", piece ? piece : "");
    if (special) {
        weft_cli_table_cell(table, "%s", "");
        weft_cli_table_cell(table, "%s", "");
    } else {
        weft_cli_table_cell(table, "%u", encoding->begins[token]);
        weft_cli_table_cell(table, "%u", encoding->ends[token]);
    }
    weft_text_free(state->session.model, &piece);
    return WEFT_CLI_FINE;
}

static json_t *span_json(const weft_encoding *encoding, uint32_t token, const uint32_t *ends) {
    return encoding->sequences[token] == UINT8_MAX ? json_null()
                                                   : json_integer((json_int_t)ends[token]);
}

static int add_json(tokenize_state *state, const weft_encoding *encoding) {
    json_t *lists[] = {json_array(), json_array(), json_array(), json_array(), json_array()};
    enum { TOKENS, TYPES, PIECES, BEGINS, ENDS };
    int exit_code = WEFT_CLI_FINE;
    for (uint32_t i = 0; exit_code == WEFT_CLI_FINE && i < encoding->count; i++) {
        char *piece = NULL;
        exit_code = piece_of(&piece, state, encoding->tokens[i]);
        lists[TOKENS] = weft_cli_json_append(lists[TOKENS], json_integer(encoding->tokens[i]));
        lists[TYPES] = weft_cli_json_append(lists[TYPES], json_integer(encoding->types[i]));
        lists[PIECES] =
            weft_cli_json_append(lists[PIECES], piece ? weft_cli_json_text(piece) : json_null());
        lists[BEGINS] =
            weft_cli_json_append(lists[BEGINS], span_json(encoding, i, encoding->begins));
        lists[ENDS] = weft_cli_json_append(lists[ENDS], span_json(encoding, i, encoding->ends));
        weft_text_free(state->session.model, &piece);
    }
    state->texts = weft_cli_json_append(
        state->texts, json_pack("{s:o, s:o, s:o, s:o, s:o, s:I}", "tokens", lists[TOKENS], "types",
                                lists[TYPES], "pieces", lists[PIECES], "begins", lists[BEGINS],
                                "ends", lists[ENDS], "cut", (json_int_t)encoding->cut));
    return exit_code;
}

static int show_window(tokenize_state *state) {
    static const char *const columns[] = {">text", ">token", "piece", ">begin", ">end", NULL};
    const bool rows =
        !state->options->ids && !state->options->common.json && state->window.count > 0;
    weft_cli_table *table = rows ? weft_cli_table_begin(columns) : NULL;
    int exit_code = WEFT_CLI_FINE;
    for (uint32_t i = 0; exit_code == WEFT_CLI_FINE && i < state->window.count; i++) {
        static const weft_encoding nothing = {.count = 0};
        const uint32_t example = state->window.example[i];
        const weft_encoding *encoding =
            example == WEFT_CLI_NO_EXAMPLE ? &nothing : &state->window.kept[example].encoding;
        state->count++;
        state->tokens += encoding->count;
        state->cut += encoding->cut > 0;
        if (state->options->ids) {
            print_ids(encoding);
        } else if (state->options->common.json) {
            exit_code = add_json(state, encoding);
        }
        for (uint32_t k = 0; rows && exit_code == WEFT_CLI_FINE && k < encoding->count; k++) {
            exit_code = add_row(table, state, encoding, k);
        }
    }
    const int printed = rows ? weft_cli_table_print(&table) : WEFT_CLI_FINE;
    weft_cli_window_clear(&state->window, &state->session.host);
    return exit_code == WEFT_CLI_FINE ? printed : exit_code;
}

static int show_end(tokenize_state *state) {
    if (state->cut > 0) {
        weft_cli_print(stderr,
                       "weft: note: %llu of %llu texts were cut: the model takes %u tokens\n",
                       (unsigned long long)state->cut, (unsigned long long)state->count,
                       state->session.info.max_length);
    }
    if (!state->options->common.json) {
        return WEFT_CLI_FINE;
    }
    json_t *texts = state->texts;
    state->texts = NULL;
    return weft_cli_print_json(json_pack("{s:I, s:I, s:b, s:o}", "tokens",
                                         (json_int_t)state->tokens, "cut", (json_int_t)state->cut,
                                         "stopped", (int)weft_cli_stopped(), "texts", texts));
}

/* ---- running ---- */

/* Whether there are tokens around a text, so that an empty one has some. */
static int find_special(bool *special, const tokenize_state *state) {
    weft_model *model = state->session.model;
    weft_encoding encoding = {0};
    WEFT_CLI_TRY(weft_cli_exit_code_of_file(
        weft_model_encode(&encoding, model, weft_encode_params(.text = "a", .size = 1))));
    for (uint32_t i = 0; i < encoding.count; i++) {
        *special = *special || encoding.sequences[i] == UINT8_MAX;
    }
    weft_encoding_free(model, &encoding);
    return WEFT_CLI_FINE;
}

static int take_texts(tokenize_state *state, const weft_cli_form *form) {
    const weft_cli_list *texts = &state->options->texts;
    for (uint32_t i = 0; i < texts->count; i++) {
        const weft_cli_text text = {
            .bytes = texts->at[i], .size = strlen(texts->at[i]), .name = "--text"};
        WEFT_CLI_TRY(weft_cli_window_add(&state->window, &text, form, &state->session));
    }
    return show_window(state);
}

static int take_lines(tokenize_state *state, const weft_cli_form *form) {
    WEFT_CLI_TRY(weft_cli_lines_open(&state->lines, state->options->lines, &state->session));
    weft_cli_lines_tabulate(&state->lines, &state->options->table);
    state->lines.form = *form;
    do {
        const int taken = weft_cli_lines_next(&state->window, &state->lines, AT_ONCE);
        WEFT_CLI_TRY(show_window(state)); /* also those before a text that is refused */
        WEFT_CLI_TRY(taken);
    } while (!weft_cli_lines_ended(&state->lines) && !weft_cli_stopped());
    return WEFT_CLI_FINE;
}

static int run_all(tokenize_state *state) {
    const tokenize_options *options = state->options;
    weft_cli_form form = {.keeps = true, .pairs = options->pairs};
    WEFT_CLI_TRY(weft_cli_session_load(&state->session, &options->common, options->model));
    WEFT_CLI_TRY(find_special(&form.empty_counts, state));
    state->texts = options->common.json ? json_array() : NULL;
    WEFT_CLI_TRY(options->lines ? take_lines(state, &form) : take_texts(state, &form));
    weft_cli_stop_settle(!options->lines || weft_cli_lines_ended(&state->lines));
    return show_end(state);
}

static int run(const tokenize_options *options) {
    tokenize_state state = {.options = options};
    const int exit_code = run_all(&state);
    const weft_host host = weft_cli_host(&options->common);
    json_decref(state.texts);
    weft_cli_lines_close(&state.lines);
    weft_cli_window_clear(&state.window, &host);
    weft_cli_session_close(&state.session);
    return exit_code;
}

/* ---- the command line ---- */

int weft_cli_tokenize(int argc, char **argv) {
    tokenize_options options = {.common = {.command = "tokenize"}};
    const weft_cli_option table[] = {
        {"text", WEFT_CLI_LIST, &options.texts, "STRING", "a text; may be there several times"},
        {"lines", WEFT_CLI_TEXT, &options.lines, "FILE",
         "a text on each line, or - for standard input"},
        WEFT_CLI_TABLE_OPTIONS(&options.table),
        {"pairs", WEFT_CLI_FLAG, &options.pairs, NULL, "each is two texts with a tab between them"},
        {"ids", WEFT_CLI_FLAG, &options.ids, NULL,
         "print the tokens' numbers alone, a line for each text"},
        WEFT_CLI_OUTPUT_OPTIONS(&options.common),
        {.name = NULL},
    };
    const weft_cli_syntax syntax = {
        .command = "tokenize",
        .positionals = "MODEL",
        .positional_count = 1,
        .summary = "Shows the tokens that a model makes of texts, with the special ones and cut to "
                   "the model's length: each one's number, the piece of the vocabulary, and the "
                   "bytes of the text that it stands for; special ones stand for none. Prompts "
                   "are not added. No device is used.",
        .options = table,
    };
    int exit_code = WEFT_CLI_FINE;
    if (!weft_cli_parse(&syntax, argc, argv, &options.model, &exit_code)) {
        return exit_code;
    }
    if ((options.texts.count > 0) == (options.lines != NULL)) {
        return weft_cli_usage_error(&syntax, "expected one of --text and --lines");
    }
    if (options.ids && options.common.json) {
        return weft_cli_usage_error(&syntax, "--ids and --json exclude each other");
    }
    WEFT_CLI_TRY(weft_cli_table_check(&options.table, options.lines, &syntax));
    return run(&options);
}
