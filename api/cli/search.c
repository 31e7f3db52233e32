/* SPDX-License-Identifier: MIT */
/* weft search: the vectors of a file most like those of queries, all compared. */
#include <string.h>

#include <weft/texts.h>

#include "commands.h"
#include "core/formats/npy.h"
#include "core/system/clock.h"
#include "core/try.h"
#include "embedding.h"
#include "stop.h"

#define DEFAULT_TOP 10U
#define AT_ONCE     ((size_t)1 << 18) /* values of the file in memory */

typedef struct search_options {
    weft_cli_common common;
    const char *vectors, *queries, *model, *lines, *similarity;
    weft_cli_list texts;
    uint32_t top;
    bool jsonl;
    weft_cli_embedding_options how;
    weft_cli_table_options table;
} search_options;

typedef struct search_state {
    const search_options *options;
    weft_host host;
    weft_cli_session session; /* with --model */
    weft_cli_vectors_of_texts queries;
    const char *similarity;
    weft_search *search;
    weft_ranked *ranked; /* of a query */
    uint64_t rows;       /* of the file */
    double search_ms;
} search_state;

/* ---- queries ---- */

static weft_status convert(search_state *state, const weft_npy *npy) {
    weft_cli_vectors_of_texts *queries = &state->queries;
    const uint64_t count = npy->rank == 2 ? npy->shape[0] : 1;
    const uint64_t width = npy->rank == 2 ? npy->shape[1] : npy->rank == 1 ? npy->shape[0] : 0;
    if (count < 1 || width < 1 || count > UINT32_MAX || width > UINT32_MAX) {
        char shape[WEFT_NPY_SHAPE_TEXT_SIZE];
        return weft_fail(&state->host, WEFT_BAD_FILE,
                         "%s: expected an array [queries, size] or [size], found %s", npy->name,
                         weft_npy_shape_text(npy, shape));
    }
    queries->count = (uint32_t)count;
    queries->width = (uint32_t)width;
    queries->values = weft_alloc(&state->host, (size_t)npy->elements * sizeof(float));
    return queries->values ? weft_npy_read_f32(npy, queries->values)
                           : weft_fail_memory(&state->host, npy->name);
}

static int read_queries(search_state *state) {
    weft_npy npy = {0};
    weft_status status = weft_npy_open(&npy, state->options->queries, &state->host);
    if (status == WEFT_OK) {
        status = convert(state, &npy);
        weft_npy_close(&npy);
    }
    return weft_cli_exit_code_of_file(status);
}

static int embed_queries(search_state *state, const weft_cli_syntax *syntax) {
    const search_options *options = state->options;
    weft_cli_embedding_options how = options->how;
    weft_cli_form form;
    weft_embed_info info = {0};
    WEFT_CLI_TRY(weft_cli_session_load(&state->session, &options->common, options->model));
    if (state->session.info.multi_vector) {
        return weft_cli_usage_error(syntax, "--model: expected one that gives a text one vector, "
                                            "found one with several: weft rerank is for it");
    }
    if (!how.prompt) {
        how.prompt = weft_model_role_prompt(state->session.model, WEFT_TEXT_QUERY);
    }
    WEFT_CLI_TRY(weft_cli_embedding_begin(&form, &how, &state->session, syntax));
    WEFT_CLI_TRY(weft_cli_session_open(&state->session, &options->common));
    WEFT_CLI_TRY(weft_cli_embedding_run(&state->queries,
                                        &(weft_cli_texts){.texts = &options->texts,
                                                          .lines = options->lines,
                                                          .table = &options->table},
                                        NULL, &form, how.batch, &state->session));
    if (!state->similarity && weft_model_get_embedding(state->session.model, &info) == WEFT_OK) {
        state->similarity = info.similarity;
    }
    return WEFT_CLI_FINE;
}

/* ---- the file ---- */

static weft_status check_vectors(const search_state *state, const weft_npy *npy) {
    char shape[WEFT_NPY_SHAPE_TEXT_SIZE];
    const bool reals = npy->dtype == WEFT_NPY_F32 || npy->dtype == WEFT_NPY_F64;
    return reals && npy->rank == 2 && npy->shape[1] == state->queries.width
               ? WEFT_OK
               : weft_fail(&state->host, WEFT_BAD_FILE,
                           "%s: expected <f4 or <f8 [vectors, %u], as the queries have values, "
                           "found %s %s",
                           npy->name, state->queries.width, weft_npy_dtype_name(npy->dtype),
                           weft_npy_shape_text(npy, shape));
}

/* Rows of the file at a time, the bytes in one half of `bytes`, the numbers in `values`. */
static weft_status compare_all(search_state *state, const struct weft_npy_stream *stream,
                               const weft_npy *npy, uint8_t *bytes, float *values) {
    const size_t size = weft_npy_dtype_size(npy->dtype);
    const uint32_t width = state->queries.width;
    const uint64_t most = AT_ONCE / width > 0 ? AT_ONCE / width : 1;
    while (state->rows < npy->shape[0]) {
        const uint64_t left = npy->shape[0] - state->rows;
        const uint32_t count = (uint32_t)(left < most ? left : most);
        const size_t elements = (size_t)count * width;
        weft_npy piece = *npy;
        WEFT_TRY(stream->read(stream->user, bytes, elements * size));
        piece.data = bytes;
        piece.elements = elements;
        WEFT_TRY(weft_npy_read_f32(&piece, values));
        WEFT_TRY(weft_search_add(state->search, values, count));
        state->rows += count;
    }
    return WEFT_OK;
}

static weft_status compare(search_state *state, const struct weft_npy_stream *stream,
                           const weft_npy *npy) {
    const weft_host *host = &state->host;
    const size_t width = state->queries.width;
    const size_t elements = AT_ONCE > width ? AT_ONCE : width;
    WEFT_TRY(check_vectors(state, npy));
    WEFT_TRY(weft_search_create(
        &state->search,
        weft_search_params(.queries = state->queries.values, .count = state->queries.count,
                           .width = state->queries.width, .top = state->options->top,
                           .similarity = state->similarity),
        host));
    uint8_t *bytes = weft_alloc(host, elements * sizeof(double));
    float *values = weft_alloc(host, elements * sizeof *values);
    const weft_status status = bytes && values ? compare_all(state, stream, npy, bytes, values)
                                               : weft_fail_memory(host, npy->name);
    weft_free(host, bytes);
    weft_free(host, values);
    return status;
}

static int search_file(search_state *state) {
    const char *path = state->options->vectors;
    struct weft_npy_file file;
    struct weft_npy_stream stream;
    weft_npy npy = {0};
    const double begin_ms = weft_clock_ms();
    WEFT_CLI_TRY(
        weft_cli_exit_code_of_file(weft_npy_file_open(&file, &stream, path, &state->host)));
    weft_status status = weft_npy_look(&npy, &stream, path, &state->host);
    if (status == WEFT_OK) {
        status = compare(state, &stream, &npy);
        weft_npy_close(&npy);
    }
    weft_npy_file_close(&file);
    state->search_ms = weft_clock_ms() - begin_ms;
    return weft_cli_exit_code_of_file(status);
}

/* ---- what it prints ---- */

/* *count results of a query in state->ranked. */
static int results_of(search_state *state, uint32_t query, uint32_t *count) {
    if (!state->ranked) {
        state->ranked = weft_alloc_zero(&state->host, state->options->top, sizeof *state->ranked);
    }
    return weft_cli_exit_code(state->ranked
                                  ? weft_search_best(state->search, query, state->ranked, count)
                                  : weft_fail_memory(&state->host, "the results of a search"));
}

static json_t *results_json(search_state *state, uint32_t query) {
    uint32_t count = 0;
    json_t *list = results_of(state, query, &count) == WEFT_CLI_FINE ? json_array() : NULL;
    for (uint32_t i = 0; list && i < count; i++) {
        list = weft_cli_json_append(list, json_pack("{s:I, s:o}", "row",
                                                    (json_int_t)state->ranked[i].index, "score",
                                                    weft_cli_json_real(state->ranked[i].score)));
    }
    return list;
}

static int print_json_lines(search_state *state) {
    for (uint32_t query = 0; query < state->queries.count; query++) {
        WEFT_CLI_TRY(weft_cli_print_json_line(json_pack(
            "{s:I, s:o}", "query", (json_int_t)query + 1, "results", results_json(state, query))));
    }
    return WEFT_CLI_FINE;
}

static int print_json(search_state *state) {
    json_t *queries = json_array();
    for (uint32_t query = 0; queries && query < state->queries.count; query++) {
        queries = weft_cli_json_append(queries, results_json(state, query));
    }
    return weft_cli_print_json(json_pack(
        "{s:I, s:I, s:s, s:o, s:o}", "queries", (json_int_t)state->queries.count, "vectors",
        (json_int_t)state->rows, "similarity", state->similarity ? state->similarity : "cosine",
        "search_ms", weft_cli_json_real(state->search_ms), "results", queries));
}

static int print_text(search_state *state) {
    static const char *const columns[] = {">query", ">score", ">row", NULL};
    weft_cli_table *table = weft_cli_table_begin(columns);
    for (uint32_t query = 0; query < state->queries.count; query++) {
        uint32_t count = 0;
        WEFT_CLI_TRY(results_of(state, query, &count));
        for (uint32_t i = 0; i < count; i++) {
            weft_cli_table_cell(table, "%u", query + 1);
            weft_cli_table_cell(table, "%.6f", state->ranked[i].score);
            weft_cli_table_cell(table, "%u", state->ranked[i].index);
        }
    }
    return weft_cli_table_print(&table);
}

static int run_all(search_state *state, const weft_cli_syntax *syntax) {
    const search_options *options = state->options;
    WEFT_CLI_TRY(options->model ? embed_queries(state, syntax) : read_queries(state));
    if (weft_cli_stopped()) { /* some queries alone would be another search */
        return WEFT_CLI_FINE;
    }
    WEFT_CLI_TRY(search_file(state));
    weft_cli_stop_settle(true);
    return options->jsonl         ? print_json_lines(state)
           : options->common.json ? print_json(state)
                                  : print_text(state);
}

static int run(const search_options *options, const weft_cli_syntax *syntax) {
    search_state state = {.options = options,
                          .host = weft_cli_host(&options->common),
                          .similarity = options->similarity};
    const int exit_code = run_all(&state, syntax);
    weft_search_destroy(&state.search);
    weft_free(&state.host, state.ranked);
    weft_cli_embedding_clear(&state.queries, &state.host);
    weft_cli_session_close(&state.session);
    return exit_code;
}

/* ---- the command line ---- */

static int check(const search_options *options, const weft_cli_syntax *syntax) {
    const int texts = (options->texts.count > 0) + (options->lines != NULL);
    if (options->queries ? options->model || texts > 0 : !options->model || texts != 1) {
        return weft_cli_usage_error(
            syntax, "expected --queries, or --model with one of --query and --lines");
    }
    return options->jsonl && options->common.json
               ? weft_cli_usage_error(syntax, "--json and --jsonl exclude each other")
               : weft_cli_table_check(&options->table, options->lines, syntax);
}

int weft_cli_search(int argc, char **argv) {
    search_options options = {.common = {.command = "search"}, .top = DEFAULT_TOP};
    const weft_cli_option table[] = {
        {"queries", WEFT_CLI_TEXT, &options.queries, "FILE",
         "the queries' vectors: a .npy file [queries, size]"},
        {"model", WEFT_CLI_TEXT, &options.model, "DIR",
         "the model that made the vectors, for queries that are texts"},
        {"query", WEFT_CLI_LIST, &options.texts, "STRING",
         "with --model: a query; may be there several times"},
        {"lines", WEFT_CLI_TEXT, &options.lines, "FILE",
         "with --model: a query on each line, or - for standard input"},
        WEFT_CLI_TABLE_OPTIONS(&options.table),
        {"top", WEFT_CLI_COUNT, &options.top, "K", "how many vectors to show (default 10)"},
        {"similarity", WEFT_CLI_TEXT, &options.similarity, "cosine|dot|euclidean|manhattan",
         "how vectors are compared (default: as the model's folder says, or cosine)"},
        {"prompt", WEFT_CLI_TEXT, &options.how.prompt, "PROMPT",
         "what stands in front of each query: the name of one of the model's prompts, or the "
         "prompt "
         "itself (default: the model's for queries, if it has one)"},
        {"pooling", WEFT_CLI_TEXT, &options.how.pooling, WEFT_CLI_POOLINGS,
         "how the vectors of tokens become one, for a model without a modules.json"},
        {"normalize", WEFT_CLI_FLAG, &options.how.normalize, NULL,
         "give queries' vectors length 1, also where the model's folder does not say so"},
        {"batch", WEFT_CLI_COUNT, &options.how.batch, "B",
         "run so many queries at once (default: by their length); no bit depends on it"},
        {"jsonl", WEFT_CLI_FLAG, &options.jsonl, NULL, "print a JSON object for each query"},
        WEFT_CLI_DEVICE_OPTIONS(&options.common),
        WEFT_CLI_OUTPUT_OPTIONS(&options.common),
        {.name = NULL},
    };
    const weft_cli_syntax syntax = {
        .command = "search",
        .positionals = "VECTORS",
        .positional_count = 1,
        .summary =
            "Finds the rows of a .npy file, such as weft embed writes, that are most like the "
            "vectors of queries. Every row is compared with every query, in float64 and in one "
            "order, so that the results are the same on every machine; of equal ones the first row "
            "comes first. Rows are numbered from 0. The file is read once, a piece at a time. "
            "Without --model no device is used.",
        .options = table,
    };
    int exit_code = WEFT_CLI_FINE;
    if (!weft_cli_parse(&syntax, argc, argv, &options.vectors, &exit_code)) {
        return exit_code;
    }
    WEFT_CLI_TRY(check(&options, &syntax));
    return run(&options, &syntax);
}
