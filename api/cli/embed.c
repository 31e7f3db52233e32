/* SPDX-License-Identifier: MIT */
/* weft embed: a vector for each text, as .npy, and the hash of all. */
#include <string.h>

#include <weft/texts.h>

#include "commands.h"
#include "core/formats/npy.h"
#include "core/system/clock.h"
#include "embedding.h"
#include "logits.h"
#include "stop.h"

#define FIRST_VALUES 4U
#define FIRST_TERMS  10U

typedef struct embed_options {
    weft_cli_common common;
    const char *model;
    weft_cli_list texts;
    const char *file, *lines, *out;
    weft_cli_table_options table;
    bool resume;
    uint32_t top;
    weft_cli_embedding_options how;
} embed_options;

typedef struct embed_state {
    const embed_options *options;
    weft_cli_session session;
    weft_cli_form form;
    weft_cli_vectors_of_texts result;
    weft_embed_info info;
    weft_cli_rows rows; /* where they are written as they come */
    weft_cli_partial
        partial;     /* with --resume: what an earlier command has done, else without rows */
    double begin_ms; /* when the command began */
    char digest[WEFT_DIGEST_TEXT_SIZE];
} embed_state;

/* ---- what it prints ---- */

/* Of a few texts their first values, and how like the first one they are. */
static int print_vectors(const embed_state *state) {
    static const char *const columns[] = {">text", ">like text 1", "first values", NULL};
    const weft_cli_vectors_of_texts *result = &state->result;
    weft_cli_table *table = weft_cli_table_begin(columns);
    for (uint32_t i = 0; i < result->count; i++) {
        const float *row = &result->values[(size_t)i * result->width];
        char text[80] = "";
        size_t used = 0;
        for (uint32_t k = 0; k < FIRST_VALUES && k < result->width; k++) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%.6f ", (double)row[k]);
        }
        weft_cli_table_cell(table, "%u", i + 1);
        weft_cli_table_cell(table, "%.4f",
                            weft_vector_similarity(NULL, result->values, row, result->width));
        weft_cli_table_cell(table, "%s…", text);
    }
    return weft_cli_table_print(&table);
}

/* "cat 1.2500, ##s 0.7500, …": the largest `most` of `count` terms. */
static int print_terms(weft_cli_table *table, const embed_state *state, const weft_term *terms,
                       uint32_t count) {
    const weft_host *host = &state->session.host;
    struct weft_text line = {.host = *host};
    weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < count && i < state->options->top && status == WEFT_OK; i++) {
        char *piece = NULL;
        size_t size = 0;
        status = weft_model_get_piece(state->session.model, (int32_t)terms[i].token, &piece, &size);
        weft_text_add(&line, i > 0 ? ", " : "");
        if (status == WEFT_OK) {
            weft_text_add_harmless(&line, piece, size, WEFT_HARMLESS_TEXT, "");
        } else if (status == WEFT_NOT_FOUND) { /* an output behind the vocabulary */
            weft_text_add(&line, "%u", terms[i].token);
            status = WEFT_OK;
        }
        weft_text_add(&line, " %.4f", (double)terms[i].value);
        weft_text_free(state->session.model, &piece);
    }
    status = status == WEFT_OK && line.failed ? weft_fail_memory(host, "terms") : status;
    weft_cli_table_cell(table, "%s%s", line.data ? line.data : "",
                        count > state->options->top ? ", …" : "");
    weft_free(host, line.data);
    return weft_cli_exit_code(status);
}

/* Of a few texts their largest terms, and how like the first one they are. */
static int print_sparse(const embed_state *state) {
    static const char *const columns[] = {">text", ">like text 1", ">terms", "the largest", NULL};
    const weft_cli_vectors_of_texts *result = &state->result;
    const weft_host *host = &state->session.host;
    weft_term *terms = weft_alloc_zero(host, result->width, sizeof *terms);
    weft_cli_table *table = weft_cli_table_begin(columns);
    int exit_code = terms ? WEFT_CLI_FINE : weft_cli_exit_code(weft_fail_memory(host, "terms"));
    for (uint32_t i = 0; i < result->count && exit_code == WEFT_CLI_FINE; i++) {
        const float *row = &result->values[(size_t)i * result->width];
        const uint32_t count = weft_vector_terms(terms, 0, row, result->width);
        weft_cli_table_cell(table, "%u", i + 1);
        weft_cli_table_cell(
            table, "%.4f",
            weft_vector_similarity(state->info.similarity, result->values, row, result->width));
        weft_cli_table_cell(table, "%u", count);
        exit_code = print_terms(table, state, terms, count);
    }
    weft_free(host, terms);
    const int printed = weft_cli_table_print(&table);
    return exit_code == WEFT_CLI_FINE ? printed : exit_code;
}

/* Of a few texts how many vectors each has, how well it answers the first, and the first values. */
static int print_many(const embed_state *state) {
    static const char *const columns[] = {">text", ">vectors", ">answers text 1", "first values",
                                          NULL};
    const weft_cli_vectors_of_texts *result = &state->result;
    weft_cli_table *table = weft_cli_table_begin(columns);
    const weft_vector_list first = {result->values, (uint32_t)result->ends[0]};
    for (uint32_t i = 0; i < result->shown; i++) {
        const uint64_t begin = i > 0 ? result->ends[i - 1] : 0;
        const weft_vector_list text = {&result->values[(size_t)begin * result->width],
                                       (uint32_t)(result->ends[i] - begin)};
        char values[80] = "";
        size_t used = 0;
        for (uint32_t k = 0; text.count > 0 && k < FIRST_VALUES && k < result->width; k++) {
            used += (size_t)snprintf(values + used, sizeof values - used, "%.6f ",
                                     (double)text.values[k]);
        }
        weft_cli_table_cell(table, "%u", i + 1);
        weft_cli_table_cell(table, "%u", text.count);
        weft_cli_table_cell(
            table, "%.4f",
            weft_vectors_similarity(state->info.similarity, &first, &text, result->width));
        weft_cli_table_cell(table, "%s…", values);
    }
    return weft_cli_table_print(&table);
}

/* Values besides 0. */
static uint64_t count_terms(const embed_state *state) {
    const weft_cli_vectors_of_texts *result = &state->result;
    const uint64_t all = (uint64_t)result->count * result->width;
    uint64_t count = 0;
    for (uint64_t i = 0; !result->rows && i < all; i++) {
        count += result->values[i] != 0;
    }
    return result->rows ? result->rows->term_count : count;
}

/* Of texts with one vector each as many as there are texts. */
static uint32_t count_vectors(const embed_state *state) {
    return state->info.multi_vector ? (uint32_t)state->result.rows->vectors : state->result.count;
}

static int print_text(const embed_state *state) {
    const weft_cli_vectors_of_texts *result = &state->result;
    const weft_device_info *device = &state->session.device_info;
    char texts[WEFT_CLI_GROUPED_SIZE];
    char tokens[WEFT_CLI_GROUPED_SIZE];
    char terms[WEFT_CLI_GROUPED_SIZE];
    if (!state->options->lines && !state->options->out && result->count <= WEFT_CLI_MOST_SHOWN) {
        WEFT_CLI_TRY(state->info.sparse         ? print_sparse(state)
                     : state->info.multi_vector ? print_many(state)
                                                : print_vectors(state));
    }
    weft_cli_print(stdout, "%s%s text%s of %s tokens in %.1f s on %s: f32 [%u, %u]",
                   weft_cli_stopped() ? "stopped: the first " : "",
                   weft_cli_grouped(result->count, texts), result->count == 1 ? "" : "s",
                   weft_cli_grouped(result->tokens, tokens),
                   (weft_clock_ms() - state->begin_ms) / 1e3, device->name, count_vectors(state),
                   result->width);
    if (state->info.sparse) {
        weft_cli_print(stdout, ", of which %s are not 0",
                       weft_cli_grouped(count_terms(state), terms));
    }
    weft_cli_print(stdout, "\n");
    weft_cli_print(stdout, "sha256 %s\n", state->digest);
    return WEFT_CLI_FINE;
}

static int print_json(const embed_state *state) {
    const weft_cli_vectors_of_texts *result = &state->result;
    json_t *run = json_pack(
        "{s:b, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:{s:[I, I], s:s}}", "stopped",
        (int)weft_cli_stopped(), "texts", (json_int_t)result->count, "resumed_texts",
        (json_int_t)state->partial.count, "tokens", (json_int_t)result->tokens, "plans",
        (json_int_t)result->plans, "compile_ms", weft_cli_json_real(result->compile_ms), "run_ms",
        weft_cli_json_real(result->run_ms), "total_ms",
        weft_cli_json_real(weft_clock_ms() - state->begin_ms), "output", "shape",
        (json_int_t)count_vectors(state), (json_int_t)result->width, "sha256", state->digest);
    if (state->info.sparse) {
        run = weft_cli_json_field(run, "terms", json_integer((json_int_t)count_terms(state)));
    }
    return weft_cli_print_json(
        weft_cli_json_merge(weft_cli_session_json(&state->session, NULL), run));
}

/* ---- running ---- */

/* What goes on later needs to know whose rows these are. */
static int write_partial(embed_state *state) {
    const embed_options *options = state->options;
    weft_cli_partial *partial = &state->partial;
    weft_sha256 inputs = state->result.inputs;
    const weft_digest digest = weft_sha256_end(&inputs);
    weft_digest_text(&digest, partial->inputs);
    if (!options->resume) { /* which has bound it */
        WEFT_CLI_TRY(weft_cli_partial_bind(partial, state->form.before, &state->session));
    }
    weft_cli_partial written = *partial;
    written.count = state->result.count;
    written.width = state->result.width;
    memcpy(written.rows, state->digest, sizeof written.rows);
    return weft_cli_partial_write(&written, options->out, &state->session.host);
}

/* Whether a command that is stopped can go on. */
static bool can_go_on(const embed_state *state) {
    return state->options->lines && weft_device_get_math(state->session.device) != WEFT_MATH_FAST;
}

/* All rows at once, of few texts or with a receipt. */
static int write_at_once(embed_state *state) {
    const embed_options *options = state->options;
    const weft_cli_vectors_of_texts *result = &state->result;
    const weft_shape shape = {.rank = 2, .dim = {result->count, result->width}};
    const weft_cli_row_form *form = &(weft_cli_row_form){result->width, state->info.sparse, false};
    if (!weft_cli_rows_are_json(options->out) && !weft_cli_rows_are_npz(options->out)) {
        return weft_cli_exit_code(
            weft_npy_write_f32(options->out, result->values, shape, &state->session.host));
    }
    WEFT_CLI_TRY(weft_cli_rows_create(&state->rows, options->out, form, &state->session.host));
    WEFT_CLI_TRY(weft_cli_rows_add(&state->rows, result->values, result->count, NULL, false));
    return weft_cli_rows_place(&state->rows);
}

/* Without new rows a file that is there stays as it is. */
static int write_rows(embed_state *state) {
    const embed_options *options = state->options;
    const weft_cli_vectors_of_texts *result = &state->result;
    if (!options->out || (result->count == 0 && !result->whole)) { /* or there is a hash alone */
        return WEFT_CLI_FINE;
    }
    WEFT_CLI_TRY(result->rows ? weft_cli_rows_place(result->rows) : write_at_once(state));
    if (result->whole && options->resume) {
        weft_cli_partial_remove(options->out, &state->session.host);
    }
    const bool has_more = !result->whole && result->count > state->partial.count;
    return has_more && can_go_on(state) ? write_partial(state) : WEFT_CLI_FINE;
}

static void take_digest(embed_state *state) {
    const weft_cli_vectors_of_texts *result = &state->result;
    if (result->rows) {
        weft_cli_rows_digest(result->rows, state->digest);
    } else {
        weft_cli_digest(result->values, (uint64_t)result->count * result->width, state->digest);
    }
}

/* The file first: a report of something that then could not be written would be wrong. */
static int deliver(embed_state *state) {
    const weft_cli_vectors_of_texts *result = &state->result;
    const size_t size =
        result->rows ? 0 : (size_t)result->count * result->width * sizeof *result->values;
    weft_cli_stop_settle(result->whole);
    take_digest(state);
    WEFT_CLI_TRY(write_rows(state));
    WEFT_CLI_TRY(weft_cli_exit_code(
        state->info.multi_vector
            ? weft_cli_receipt_note(&state->session.recording, WEFT_RECORD_ANSWER, "vectors",
                                    state->digest, strlen(state->digest),
                                    "sha256 of f32 [%u, %u] of %u texts, in hexadecimal digits",
                                    count_vectors(state), result->width, result->count)
            : weft_cli_receipt_note(&state->session.recording, WEFT_RECORD_ANSWER, "vectors",
                                    result->values, size, "f32 [%u, %u]", result->count,
                                    result->width)));
    WEFT_CLI_TRY(weft_cli_receipt_end(&state->session.recording, &state->options->common));
    WEFT_CLI_TRY(state->options->common.json ? print_json(state) : print_text(state));
    return weft_cli_validation_code(state->session.device);
}

/* What an earlier command has done. */
static int read_partial(embed_state *state) {
    weft_cli_partial expected = {.width = weft_cli_output_width(state->session.model)};
    if (!state->options->resume) {
        return WEFT_CLI_FINE;
    }
    WEFT_CLI_TRY(weft_cli_partial_bind(&expected, state->form.before, &state->session));
    WEFT_CLI_TRY(weft_cli_partial_read(&state->partial, state->options->out, &expected,
                                       &state->session.host));
    state->result.count = state->partial.count;
    return WEFT_CLI_FINE;
}

/* With --resume after some rows: whatever ends the process, they are there. */
static int note_rows(void *user) {
    embed_state *state = user;
    take_digest(state);
    return write_partial(state);
}

/* Rows of many texts do not wait in memory; a receipt has all of them. */
static int open_rows(embed_state *state) {
    const embed_options *options = state->options;
    const weft_host *host = &state->session.host;
    const weft_cli_row_form *form = &(weft_cli_row_form){
        weft_cli_output_width(state->session.model), state->info.sparse, state->info.multi_vector};
    const bool waits = !options->out || !options->lines || options->common.receipt ||
                       !weft_cli_rows_fit(options->out);
    if (waits && !form->many) {
        return WEFT_CLI_FINE;
    }
    state->result.rows = &state->rows;
    state->result.user = state;
    state->result.after = options->resume ? note_rows : NULL;
    return state->partial.count > 0
               ? weft_cli_rows_reopen(&state->rows, options->out, form, &state->partial, host)
               : weft_cli_rows_create(&state->rows, options->out, form, host);
}

/* Several vectors of a text. */
static int check_many(const embed_state *state, const weft_cli_syntax *syntax) {
    const char *out = state->options->out;
    if (out && ((!weft_cli_rows_are_npz(out) && !weft_cli_rows_are_json(out)) ||
                !weft_cli_rows_fit(out))) {
        return weft_cli_usage_error(syntax,
                                    "--out: expected a file named .npz or .jsonl, as a text has "
                                    "several vectors, found %s",
                                    out);
    }
    return state->options->resume
               ? weft_cli_usage_error(syntax, "--resume needs a model that gives a text one vector")
               : WEFT_CLI_FINE;
}

/* What the model is decides over names of files. */
static int check_out(embed_state *state, const weft_cli_syntax *syntax) {
    const char *out = state->options->out;
    const bool is_npz = out && weft_cli_rows_are_npz(out);
    WEFT_CLI_TRY(weft_cli_exit_code(weft_model_get_embedding(state->session.model, &state->info)));
    if (state->info.multi_vector) {
        return check_many(state, syntax);
    }
    if (is_npz && state->options->table.id_field) {
        return weft_cli_usage_error(syntax, "--id-field needs --out with a name that ends in "
                                            ".jsonl, as the model gives a text one vector");
    }
    return is_npz && !state->info.sparse
               ? weft_cli_usage_error(syntax, "--out: a .npz has sparse vectors, which the model "
                                              "does not make: expected another name, such as .npy")
           : is_npz && state->options->resume
               ? weft_cli_usage_error(syntax,
                                      "--resume needs an --out that is written as it comes: "
                                      "expected .npy or .jsonl, found .npz")
               : WEFT_CLI_FINE;
}

static int run_all(embed_state *state, const weft_cli_syntax *syntax) {
    const embed_options *options = state->options;
    WEFT_CLI_TRY(weft_cli_session_load(&state->session, &options->common, options->model));
    WEFT_CLI_TRY(weft_cli_embedding_begin(&state->form, &options->how, &state->session, syntax));
    WEFT_CLI_TRY(check_out(state, syntax));
    WEFT_CLI_TRY(weft_cli_session_open(&state->session, &options->common));
    WEFT_CLI_TRY(read_partial(state));
    WEFT_CLI_TRY(open_rows(state));
    WEFT_CLI_TRY(
        weft_cli_exit_code(weft_cli_embedding_note(&state->form, "prompt", &state->session)));
    WEFT_CLI_TRY(weft_cli_embedding_run(&state->result,
                                        &(weft_cli_texts){.texts = &options->texts,
                                                          .file = options->file,
                                                          .lines = options->lines,
                                                          .table = &options->table},
                                        options->resume ? &state->partial : NULL, &state->form,
                                        options->how.batch, &state->session));
    return deliver(state);
}

static int run(const embed_options *options, const weft_cli_syntax *syntax) {
    embed_state state = {.options = options, .begin_ms = weft_clock_ms()};
    const int exit_code = run_all(&state, syntax);
    const weft_host host = state.session.host;
    if (state.rows.is_open && !options->resume) {
        weft_cli_rows_drop(&state.rows); /* nothing would go on with it */
    }
    weft_cli_rows_close(&state.rows);
    weft_cli_embedding_clear(&state.result, &host);
    weft_cli_session_close(&state.session);
    return exit_code;
}

/* ---- the command line ---- */

int weft_cli_embed(int argc, char **argv) {
    embed_options options = {.common = {.command = "embed"}, .top = FIRST_TERMS};
    const weft_cli_option table[] = {
        {"text", WEFT_CLI_LIST, &options.texts, "STRING",
         "a text itself; may be there several times: without --out, a few are shown with the "
         "cosine "
         "of their vectors and that of the first"},
        {"file", WEFT_CLI_TEXT, &options.file, "FILE",
         "a text (UTF-8) in a file, or - for standard input"},
        {"lines", WEFT_CLI_TEXT, &options.lines, "FILE",
         "a text on each line, or - for standard input; an empty line is the empty text"},
        WEFT_CLI_TABLE_OPTIONS(&options.table),
        WEFT_CLI_ID_OPTION(&options.table),
        {"out", WEFT_CLI_TEXT, &options.out, "FILE",
         "write the vectors to this .npy file, float32 [texts, size], in the texts' order; or to a "
         "file named .jsonl, with an object for each text: its id, if --id-field has one, and its "
         "vector; of sparse vectors (SPLADE) the latter are \"indices\" and \"values\", and a file "
         "named .npz is a CSR matrix for scipy.sparse.load_npz; of texts with several vectors "
         "(ColBERT) \"vectors\", or in a .npz \"vectors\" [n, size], \"offsets\" and \"ids\", so "
         "that text i has the rows from offsets[i] to offsets[i + 1]; with --lines they go to "
         "FILE.part "
         "as they come, which is then renamed; if the "
         "command is stopped, it has those of the first lines, and FILE.resume says what they are "
         "of"},
        {"top", WEFT_CLI_COUNT, &options.top, "K",
         "of sparse vectors: how many of the largest values to show with their tokens (default "
         "10)"},
        {"resume", WEFT_CLI_FLAG, &options.resume, NULL,
         "with --lines and --out: go on where a stopped command with the same model, options "
         "and lines left the file, which then is the one that it would have been; without the "
         "file, begin. Whatever ends a command with this option, such as a kill or the power, "
         "leaves "
         "FILE.part and FILE.resume to go on with. FILE.resume binds the rows by SHA-256 to the "
         "model's config, tokenizer, "
         "pooling and weights, to --math and --weights, to the prompt, to the tokens of their "
         "lines in order, and to their own bits: anything else is refused. Lines behind them may "
         "be others"},
        WEFT_CLI_TASK_OPTION(&options.how),
        {"prompt", WEFT_CLI_TEXT, &options.how.prompt, "PROMPT",
         "what stands in front of each text: the name of one of the model's prompts, or "
         "the prompt itself (default: the model's, if it has one)"},
        {"pooling", WEFT_CLI_TEXT, &options.how.pooling, WEFT_CLI_POOLINGS,
         "how the vectors of tokens become one, for a model without a modules.json"},
        {"normalize", WEFT_CLI_FLAG, &options.how.normalize, NULL,
         "give vectors of length 1, also where the model's folder does not say so"},
        {"batch", WEFT_CLI_COUNT, &options.how.batch, "B",
         "run so many texts at once (default: by their length); no bit depends on it"},
        WEFT_CLI_RECEIPT_OPTIONS(&options.common),
        WEFT_CLI_DEVICE_OPTIONS(&options.common),
        WEFT_CLI_OUTPUT_OPTIONS(&options.common),
        {.name = NULL},
    };
    const weft_cli_syntax syntax = {
        .command = "embed",
        .positionals = "MODEL",
        .positional_count = 1,
        .summary =
            "Makes a vector of each text by an encoder: a folder of sentence-transformers as it "
            "is (modules.json with Transformer, Pooling, Normalize and Dense; or MLMTransformer "
            "and "
            "SpladePooling, whose vectors are sparse; or of a MultiVectorEncoder, or of PyLate, "
            "which gives a vector for each token), or any encoder with "
            "--pooling. It prints the number of texts and tokens, the time, the vectors' shape, "
            "and the SHA-256 of their bits as little-endian float32 in the order of the texts: in "
            "reproducible mode the same on every machine. Texts of about one length run together; "
            "each has the bits that it has alone.",
        .options = table,
    };
    int exit_code = WEFT_CLI_FINE;
    if (!weft_cli_parse(&syntax, argc, argv, &options.model, &exit_code)) {
        return exit_code;
    }
    const int sources =
        (options.texts.count > 0) + (options.file != NULL) + (options.lines != NULL);
    if (sources != 1) {
        return weft_cli_usage_error(&syntax, "expected one of --text, --file and --lines, found %s",
                                    sources == 0 ? "none" : "several");
    }
    WEFT_CLI_TRY(weft_cli_table_check(&options.table, options.lines, &syntax));
    if (options.table.id_field &&
        (!options.out || options.common.receipt ||
         (!weft_cli_rows_are_json(options.out) && !weft_cli_rows_are_npz(options.out)))) {
        return weft_cli_usage_error(&syntax, "--id-field needs --out with a name that ends in "
                                             ".jsonl, or .npz of a model with several "
                                             "vectors of a text, and excludes --receipt");
    }
    if (options.resume && (!options.lines || !options.out || options.common.receipt ||
                           options.common.math == WEFT_MATH_FAST)) {
        return weft_cli_usage_error(&syntax, "--resume needs --lines and --out, and excludes "
                                             "--receipt and --math fast");
    }
    return run(&options, &syntax);
}
