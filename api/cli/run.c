/* SPDX-License-Identifier: MIT */
/* weft run: one batch through a model. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "commands.h"
#include "core/npy.h"
#include "core/try.h"
#include "run_inputs.h"
#include "run_lines.h"
#include "run_report.h"
#include "session.h"
#include "trace.h"

typedef struct run_options {
    weft_cli_common common;
    const char *model;
    weft_cli_input_paths paths;
    bool jsonl, tsv;
    const char *out;
    const char *trace;
    uint32_t top;
    uint32_t repeats;
} run_options;

typedef struct run_state {
    const run_options *options;
    weft_cli_session session;
    weft_cli_inputs inputs;
    weft_plan *plan;
    weft_shape shape;
    float *output;
    double run_ms;
} run_state;

/* ---- running ---- */

static weft_status make_plan(run_state *state) {
    const weft_host *host = &state->session.host;
    weft_plan_params params = {.timestamps = state->options->trace != NULL};
    WEFT_TRY(weft_model_compile(&state->plan, state->session.model, state->session.device,
                                state->inputs.batch, state->inputs.length,
                                state->inputs.types.values != NULL, &params));
    WEFT_TRY(weft_cli_output_shape(&state->shape, state->plan));
    uint64_t elements = weft_shape_elements(state->shape);
    state->output =
        elements > SIZE_MAX ? NULL : weft_alloc_zero(host, (size_t)elements, sizeof *state->output);
    return !state->output ? weft_fail_memory(host, "the output") : WEFT_OK;
}

static int execute(run_state *state) {
    weft_host_tensor tensors[WEFT_CLI_INPUT_TENSORS + 1];
    uint32_t count = weft_cli_inputs_tensors(tensors, &state->inputs);
    tensors[count++] = (weft_host_tensor){"output", state->output,
                                          weft_shape_elements(state->shape) * sizeof(float)};
    weft_cli_execution execution = {.plan = state->plan,
                                    .tensors = tensors,
                                    .tensor_count = count,
                                    .repeats = state->options->repeats};
    weft_status status = weft_cli_execute(&state->run_ms, &execution, &state->session.host);
    if (status == WEFT_INVALID_ARGUMENT && state->options->paths.types) {
        /* The tokens were checked before: it is the types. */
        weft_fail(&state->session.host, status, "%s: the model cannot take these token types",
                  state->options->paths.types);
    }
    return weft_cli_exit_code_of_file(status);
}

static int run_on_device(run_state *state) {
    const run_options *options = state->options;
    WEFT_CLI_TRY(weft_cli_session_open(&state->session, &options->common));
    if (options->trace && state->session.device_info.timestamp_period_ns == 0.0) {
        weft_fail(&state->session.host, WEFT_UNSUPPORTED,
                  "--trace: the device %s has no time stamps", state->session.device_info.name);
        return WEFT_CLI_NO_DEVICE;
    }
    WEFT_CLI_TRY(weft_cli_exit_code(make_plan(state)));
    return execute(state);
}

/* ---- results ---- */

/* Files first: a report of something that then could not be written would be wrong. */
static int deliver(run_state *state) {
    const run_options *options = state->options;
    if (options->out) {
        WEFT_CLI_TRY(weft_cli_exit_code(
            weft_npy_write_f32(options->out, state->output, state->shape, &state->session.host)));
    }
    if (options->trace) {
        WEFT_CLI_TRY(weft_cli_write_trace(options->trace, state->plan, &state->session));
    }
    weft_cli_result result = {.session = &state->session,
                              .plan = state->plan,
                              .inputs = &state->inputs,
                              .output = state->output,
                              .shape = state->shape,
                              .top = options->top,
                              .run_ms = state->run_ms,
                              .repeats = options->repeats};
    WEFT_CLI_TRY(options->common.json ? weft_cli_report_json(&result)
                                      : weft_cli_report_text(&result));
    return weft_cli_validation_code(state->session.device);
}

static int run_all(run_state *state, const weft_cli_syntax *syntax) {
    const run_options *options = state->options;
    WEFT_CLI_TRY(weft_cli_session_load(&state->session, &options->common, options->model));
    WEFT_CLI_TRY(weft_cli_inputs_read(&state->inputs, &options->paths, &state->session, syntax));
    WEFT_CLI_TRY(run_on_device(state));
    return deliver(state);
}

static int run(const run_options *options, const weft_cli_syntax *syntax) {
    run_state state = {.options = options};
    int exit_code = run_all(&state, syntax);
    weft_host host = state.session.host;
    weft_plan_destroy(&state.plan);
    weft_free(&host, state.output);
    weft_cli_inputs_clear(&state.inputs, &host);
    weft_cli_session_close(&state.session);
    return exit_code;
}

/* ---- the command line ---- */

/* WEFT_CLI_FINE, or WEFT_CLI_USAGE after a message about options that do not go together. */
static int check_options(const weft_cli_syntax *syntax, const run_options *options) {
    const weft_cli_input_paths *paths = &options->paths;
    int sources = (paths->source.text != NULL) + (paths->source.file != NULL) +
                  (paths->tokens != NULL) + (paths->input != NULL) + (paths->lines != NULL);
    if (sources != 1) {
        return weft_cli_usage_error(
            syntax, "expected one of --text, --file, --lines, --tokens and --input, found %s",
            sources == 0 ? "none" : "several");
    }
    if (paths->lines && (paths->positions || options->trace || options->repeats > 1)) {
        return weft_cli_usage_error(
            syntax, "--positions, --trace and --repeat need one batch: --lines excludes them");
    }
    if ((options->jsonl || options->tsv) &&
        (!paths->lines || options->jsonl + options->tsv + options->common.json > 1)) {
        return weft_cli_usage_error(syntax,
                                    "--jsonl and --tsv need --lines, and exclude each other and "
                                    "--json");
    }
    if (paths->types && !paths->tokens) {
        return weft_cli_usage_error(syntax, "--token-types needs --tokens");
    }
    return WEFT_CLI_FINE;
}

static int run_lines(const run_options *options) {
    const weft_cli_run_lines_params params = {.common = &options->common,
                                              .model = options->model,
                                              .lines = options->paths.lines,
                                              .out = options->out,
                                              .top = options->top,
                                              .answers = options->common.json
                                                             ? WEFT_CLI_ANSWERS_JSON
                                                         : options->jsonl ? WEFT_CLI_ANSWERS_JSONL
                                                         : options->tsv   ? WEFT_CLI_ANSWERS_TSV
                                                                          : WEFT_CLI_ANSWERS_TABLE};
    return weft_cli_run_lines(&params);
}

int weft_cli_run(int argc, char **argv) {
    run_options options = {.top = 3, .repeats = 1};
    const weft_cli_option table[] = {
        {"text", WEFT_CLI_TEXT, &options.paths.source.text, "STRING", "the text itself"},
        {"file", WEFT_CLI_TEXT, &options.paths.source.file, "FILE",
         "a text (UTF-8) in a file, or - for standard input"},
        {"lines", WEFT_CLI_TEXT, &options.paths.lines, "FILE",
         "a text on each line, or - for standard input: labels or values for each, in\n"
         "order as they come; an empty line has an empty answer"},
        {"jsonl", WEFT_CLI_FLAG, &options.jsonl, NULL,
         "with --lines: print a JSON object on a line for each"},
        {"tsv", WEFT_CLI_FLAG, &options.tsv, NULL,
         "with --lines: print a line for each, of labels and probabilities or of values,\n"
         "with tabs between them"},
        {"tokens", WEFT_CLI_TEXT, &options.paths.tokens, "FILE",
         "token ids, .npy, int32 or int64 [batch, length] or [length]"},
        {"token-types", WEFT_CLI_TEXT, &options.paths.types, "FILE",
         "token types, .npy, of the tokens' shape (default: all 0)"},
        {"input", WEFT_CLI_TEXT, &options.paths.input, "FILE",
         "vectors, .npy, float32 [batch, length, width] or [length, width], or uint8 with\n"
         "255 for 1, for models that take them"},
        {"positions", WEFT_CLI_TEXT, &options.paths.positions, "FILE",
         "positions, .npy, float32 [batch, length, l] or [length, l], for models that take\n"
         "them"},
        {"out", WEFT_CLI_TEXT, &options.out, "FILE", "write the output to this .npy file, float32"},
        {"top", WEFT_CLI_COUNT, &options.top, "K", "how many labels or tokens to show (default 3)"},
        {"trace", WEFT_CLI_TEXT, &options.trace, "FILE",
         "write the device time of every dispatch as a Chrome trace"},
        {"repeat", WEFT_CLI_COUNT, &options.repeats, "N",
         "run N times and give the median time (default 1)"},
        WEFT_CLI_DEVICE_OPTIONS(&options.common),
        WEFT_CLI_OUTPUT_OPTIONS(&options.common),
        {.name = NULL},
    };
    const weft_cli_syntax syntax = {
        .command = "run",
        .positionals = "MODEL",
        .positional_count = 1,
        .summary =
            "Runs a model, a folder with config.json and model.safetensors, on a text, on token\n"
            "ids or on vectors. It prints a classifier's best labels, a masked language model's\n"
            "best tokens for each [MASK], a causal one's best next tokens, a regression's\n"
            "values, else the shape of the output. Models for retrieval take pairs of sequences.",
        .options = table,
    };
    int exit_code = WEFT_CLI_FINE;
    if (!weft_cli_parse(&syntax, argc, argv, &options.model, &exit_code)) {
        return exit_code;
    }
    exit_code = check_options(&syntax, &options);
    if (exit_code != WEFT_CLI_FINE) {
        return exit_code;
    }
    return options.paths.lines ? run_lines(&options) : run(&options, &syntax);
}
