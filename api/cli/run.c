/* SPDX-License-Identifier: MIT */
/* weft run: one batch through a model. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "commands.h"
#include "core/formats/npy.h"
#include "core/text.h"
#include "core/try.h"
#include "program.h"
#include "run_inputs.h"
#include "run_lines.h"
#include "run_report.h"
#include "session.h"
#include "stop.h"
#include "trace.h"

typedef struct run_options {
    weft_cli_common common;
    const char *model;
    weft_cli_input_paths paths;
    weft_cli_list inputs;  /* --input: the only one is paths.input, unless the model is a program */
    weft_cli_list outs;    /* --out, likewise `out` */
    weft_cli_list symbols; /* of a program */
    const char *pair;      /* the second of --text's pair */
    bool pairs;            /* --lines have two texts */
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
    weft_plan_params params = {.timestamps = state->options->trace != NULL,
                               .checkpoints = state->session.recording.checkpoints,
                               .opening = state->session.recording.opening};
    WEFT_TRY(weft_model_compile(&state->plan, state->session.model, state->session.device,
                                state->inputs.batch, state->inputs.length,
                                state->inputs.types.values != NULL, &params));
    weft_cli_output output;
    WEFT_TRY(weft_cli_output_of(&output, state->plan, state->session.model, state->inputs.batch,
                                state->inputs.length, host));
    state->shape = output.shape;
    state->output = output.elements > SIZE_MAX
                        ? NULL
                        : weft_alloc_zero(host, (size_t)output.elements, sizeof *state->output);
    return !state->output ? weft_fail_memory(host, "the output") : WEFT_OK;
}

static int execute(run_state *state) {
    weft_host_tensor tensors[WEFT_CLI_INPUT_TENSORS + 1];
    uint32_t count = weft_cli_inputs_tensors(tensors, &state->inputs);
    tensors[count++] = (weft_host_tensor){"output", state->output,
                                          weft_shape_elements(state->shape) * sizeof(float)};
    weft_cli_execution execution = {.session = &state->session,
                                    .plan = state->plan,
                                    .tensors = tensors,
                                    .tensor_count = count,
                                    .repeats = state->options->repeats};
    weft_status status = weft_cli_execute(&state->run_ms, &execution);
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
    WEFT_CLI_TRY(weft_cli_exit_code(weft_cli_inputs_note(&state->inputs, &state->session)));
    WEFT_CLI_TRY(weft_cli_check_trace(options->trace, &state->session));
    WEFT_CLI_TRY(weft_cli_exit_code(make_plan(state)));
    return execute(state);
}

/* ---- results ---- */

/* Files first: a report of something that then could not be written would be wrong. */
static int deliver(run_state *state) {
    const run_options *options = state->options;
    weft_cli_stop_settle(true);
    if (options->out) {
        WEFT_CLI_TRY(weft_cli_exit_code(
            weft_npy_write_f32(options->out, state->output, state->shape, &state->session.host)));
    }
    WEFT_CLI_TRY(weft_cli_receipt_end(&state->session.recording, &options->common));
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

static int run_program(run_state *state, const weft_cli_syntax *syntax) {
    const run_options *options = state->options;
    const weft_cli_input_paths *paths = &options->paths;
    if (paths->source.text || paths->source.file || paths->tokens || paths->positions) {
        return weft_cli_usage_error(syntax, "the model %s is a program: it takes --input NAME=FILE",
                                    options->model);
    }
    return weft_cli_run_program(&state->session,
                                &(weft_cli_program_params){.common = &options->common,
                                                           .inputs = &options->inputs,
                                                           .outputs = &options->outs,
                                                           .symbols = &options->symbols,
                                                           .trace = options->trace,
                                                           .repeats = options->repeats},
                                syntax);
}

/* Texts that are answered one by one. `session`: where the model is loaded already, or null. */
static int run_lines(const run_options *options, weft_cli_session *session) {
    const weft_cli_run_lines_params params = {.common = &options->common,
                                              .model = options->model,
                                              .lines = options->paths.lines,
                                              .text = options->paths.source.text,
                                              .file = options->paths.source.file,
                                              .pair = options->pair,
                                              .pairs = options->pairs,
                                              .session = session,
                                              .out = options->out,
                                              .top = options->top,
                                              .answers = options->common.json
                                                             ? WEFT_CLI_ANSWERS_JSON
                                                         : options->jsonl ? WEFT_CLI_ANSWERS_JSONL
                                                         : options->tsv   ? WEFT_CLI_ANSWERS_TSV
                                                                          : WEFT_CLI_ANSWERS_TABLE};
    return weft_cli_run_lines(&params);
}

/* Whether the model finds parts of the text, which are shown as those of lines are. */
static bool finds_parts(const run_state *state) {
    const run_options *options = state->options;
    return state->session.info.task == WEFT_TASK_CLASSIFY_TOKENS &&
           (options->paths.source.text || options->paths.source.file) && !options->out &&
           !options->trace && options->repeats == 1;
}

static int run_all(run_state *state, const weft_cli_syntax *syntax) {
    const run_options *options = state->options;
    WEFT_CLI_TRY(weft_cli_session_load(&state->session, &options->common, options->model));
    if (finds_parts(state)) {
        return run_lines(options, &state->session);
    }
    if (state->session.info.task == WEFT_TASK_PROGRAM) {
        return run_program(state, syntax);
    }
    if (state->session.info.task == WEFT_TASK_TEXT_TO_TEXT) {
        return weft_cli_bad_file(&state->session.host,
                                 state->session.info.input_size > 0
                                     ? "%s: the model writes down speech: see weft transcribe"
                                     : "%s: the model makes one text of another: see weft generate",
                                 options->model);
    }
    if (options->inputs.count > 1 || options->outs.count > 1 || options->symbols.count > 0) {
        return weft_cli_usage_error(
            syntax,
            "several --input or --out, and --symbol, are for programs, which the model %s "
            "is not",
            options->model);
    }
    if (options->paths.input && state->session.info.similarity_scale > 0) {
        if (options->common.receipt) {
            return weft_cli_usage_error(
                syntax, "--receipt: the model %s has two towers, of which --input takes one",
                options->model);
        }
        WEFT_CLI_TRY(weft_cli_session_take_images(&state->session));
    }
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
    if (sources != 1 && weft_ends_with(options->model, ".onnx")) {
        return weft_cli_usage_error(
            syntax,
            "expected a model folder, found %s: python3 -m weft.onnx %s --out FOLDER makes one of "
            "an ONNX model",
            options->model, options->model);
    }
    if (sources != 1) {
        return weft_cli_usage_error(
            syntax, "expected one of --text, --file, --lines, --tokens and --input, found %s",
            sources == 0 ? "none" : "several");
    }
    if (paths->lines && (paths->positions || options->trace || options->repeats > 1)) {
        return weft_cli_usage_error(
            syntax, "--positions, --trace and --repeat need one batch: --lines excludes them");
    }
    if ((options->pair && (!paths->source.text || options->out)) ||
        (options->pairs && !paths->lines)) {
        return weft_cli_usage_error(
            syntax, "--pair needs --text and excludes --out, and --pairs needs --lines");
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

int weft_cli_run(int argc, char **argv) {
    run_options options = {.common = {.command = "run"}, .top = 3, .repeats = 1};
    const weft_cli_option table[] = {
        {"text", WEFT_CLI_TEXT, &options.paths.source.text, "STRING", "the text itself"},
        {"pair", WEFT_CLI_TEXT, &options.pair, "STRING",
         "with --text: the second text of a pair, such as the context of a question"},
        {"file", WEFT_CLI_TEXT, &options.paths.source.file, "FILE",
         "a text (UTF-8) in a file, or - for standard input"},
        {"lines", WEFT_CLI_TEXT, &options.paths.lines, "FILE",
         "a text on each line, or - for standard input: labels or values for each, in "
         "order as they come. Lines of about one length run together, and each has the bits that "
         "it has alone. They are read a window at a time, 64 at first and then up to 8,192. An "
         "empty line has an empty answer. Ctrl-C or SIGTERM keeps the answers so far"},
        {"pairs", WEFT_CLI_FLAG, &options.pairs, NULL,
         "with --lines: each line has two texts with a tab between them, as lines of a model "
         "that answers questions always have: the question and its context"},
        {"jsonl", WEFT_CLI_FLAG, &options.jsonl, NULL,
         "with --lines: print a JSON object on a line for each, with its number as \"line\", "
         "counted "
         "from 1, and with \"top\" or \"values\""},
        {"tsv", WEFT_CLI_FLAG, &options.tsv, NULL,
         "with --lines: print a line for each, of labels and probabilities or of values, "
         "with tabs between them, and ' before what a spreadsheet takes for a formula"},
        {"tokens", WEFT_CLI_TEXT, &options.paths.tokens, "FILE",
         "token ids, .npy, int32 or int64 [batch, length] or [length]"},
        {"token-types", WEFT_CLI_TEXT, &options.paths.types, "FILE",
         "token types, .npy, of the tokens' shape (default: all 0)"},
        {"input", WEFT_CLI_LIST, &options.inputs, "FILE",
         "vectors, .npy, float32 [batch, length, width] or [length, width], or uint8 with "
         "255 for 1, for models that take them; or images, [batch, channels, height, width] "
         "without the batch or with it; of a program an input, or NAME=FILE for each of "
         "its inputs; may be there several times"},
        {"symbol", WEFT_CLI_LIST, &options.symbols, "NAME=N",
         "of a program, a symbol that no axis of its inputs gives"},
        {"positions", WEFT_CLI_TEXT, &options.paths.positions, "FILE",
         "positions, .npy, float32 [batch, length, l] or [length, l], for models that take them"},
        {"out", WEFT_CLI_LIST, &options.outs, "FILE",
         "write the output to this .npy file, float32; of a program also NAME=FILE, for each "
         "output that is to be written"},
        {"top", WEFT_CLI_COUNT, &options.top, "K", "how many labels or tokens to show (default 3)"},
        {"trace", WEFT_CLI_TEXT, &options.trace, "FILE",
         "write the device time of every dispatch as a Chrome trace"},
        {"repeat", WEFT_CLI_COUNT, &options.repeats, "N",
         "run N times and give the median time (default 1)"},
        WEFT_CLI_RECEIPT_OPTIONS(&options.common),
        WEFT_CLI_DEVICE_OPTIONS(&options.common),
        WEFT_CLI_STATE_OPTION(&options.common),
        WEFT_CLI_OUTPUT_OPTIONS(&options.common),
        {.name = NULL},
    };
    const weft_cli_syntax syntax = {
        .command = "run",
        .positionals = "MODEL",
        .positional_count = 1,
        .summary =
            "Runs a model, a folder with config.json and model.safetensors or a GGUF file, on a "
            "text, "
            "on token ids, on vectors or on images, or a program on arrays. It prints a "
            "classifier's best "
            "labels, a "
            "masked language model's best tokens for each [MASK], a causal one's best next tokens, "
            "a regression's values, the entities that a token classifier finds or the answer to a "
            "question, with their places in characters, and otherwise the shape of the output. "
            "Models for retrieval take pairs of sequences.",
        .options = table,
    };
    int exit_code = WEFT_CLI_FINE;
    if (!weft_cli_parse(&syntax, argc, argv, &options.model, &exit_code)) {
        return exit_code;
    }
    options.paths.input = options.inputs.count ? options.inputs.at[0] : NULL;
    options.out = options.outs.count ? options.outs.at[0] : NULL;
    exit_code = check_options(&syntax, &options);
    if (exit_code != WEFT_CLI_FINE) {
        return exit_code;
    }
    return options.paths.lines || options.pair ? run_lines(&options, NULL) : run(&options, &syntax);
}
