/* SPDX-License-Identifier: MIT */
/* weft run: one batch through a model. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "commands.h"
#include "input.h"
#include "model/npy.h"
#include "run_report.h"
#include "session.h"
#include "trace.h"

typedef struct run_options {
    weft_cli_common common;
    const char *model;
    const char *text;
    const char *tokens;
    const char *types;
    const char *input;
    const char *out;
    const char *trace;
    uint32_t top;
    uint32_t repeats;
} run_options;

typedef struct run_state {
    const run_options *options;
    weft_cli_session session;
    weft_cli_tokens tokens;
    weft_cli_tokens types; /* values are null: none given */
    int32_t mask;
    weft_plan *plan;
    weft_shape shape;
    float *output;
    double run_ms;
} run_state;

/* ---- inputs ---- */

/* The id of [MASK], where the tokenizer makes one piece of it, else -1. */
static int32_t find_mask(weft_model *model, const weft_model_info *info) {
    static const char mask[] = "[MASK]";
    int32_t *ids = NULL;
    uint32_t count = 0;
    int32_t found = -1;
    if (strcmp(info->tokenizer, "sentencepiece") == 0 && info->max_length >= 3 &&
        weft_model_tokenize(model, mask, strlen(mask), &ids, &count) == WEFT_OK) {
        found = count == 3 ? ids[1] : -1; /* between [CLS] and [SEP] */
        weft_tokens_free(model, &ids);
    }
    return found;
}

static void tell_cut(const run_state *state, const weft_cli_text_note *note) {
    const char *path = state->options->text;
    if (note->cut) {
        fprintf(stderr,
                "weft: note: %s: the text is longer than the model's %u positions; the rest is "
                "left out\n",
                path, state->session.info.max_length);
    } else if (note->full && strcmp(state->session.info.tokenizer, "bytes") != 0) {
        fprintf(stderr,
                "weft: note: %s: the text fills the model's %u positions; what is beyond them, if "
                "anything, is left out\n",
                path, state->session.info.max_length);
    }
}

static int read_types(run_state *state) {
    const run_options *options = state->options;
    const weft_host *host = &state->session.host;
    int exit_code = weft_cli_read_tokens(&state->types, options->types, host);
    if (exit_code != WEFT_CLI_FINE) {
        return exit_code;
    }
    if (state->types.batch != state->tokens.batch || state->types.length != state->tokens.length) {
        weft_fail(host, WEFT_BAD_FILE, "%s: expected the tokens' shape [%u, %u], found [%u, %u]",
                  options->types, state->tokens.batch, state->tokens.length, state->types.batch,
                  state->types.length);
        return WEFT_CLI_BAD_FILE;
    }
    return WEFT_CLI_FINE;
}

static int read_inputs(run_state *state) {
    const run_options *options = state->options;
    const weft_host *host = &state->session.host;
    weft_cli_text_note note = {0};
    int exit_code =
        options->text != NULL
            ? weft_cli_read_text(&state->tokens, &note, state->session.model, options->text, host)
            : weft_cli_read_tokens(&state->tokens, options->tokens, host);
    if (exit_code != WEFT_CLI_FINE) {
        return exit_code;
    }
    tell_cut(state, &note);
    exit_code =
        weft_cli_check_tokens(&state->tokens, &state->session.info,
                              options->text != NULL ? options->text : options->tokens, host);
    if (exit_code == WEFT_CLI_FINE && options->types != NULL) {
        exit_code = read_types(state);
    }
    if (state->session.info.task == WEFT_TASK_MASKED_LM) {
        state->mask = find_mask(state->session.model, &state->session.info);
    }
    return exit_code;
}

/* ---- running ---- */

static weft_status make_plan(run_state *state) {
    const weft_host *host = &state->session.host;
    weft_plan_params params = {.timestamps = state->options->trace != NULL};
    weft_status status = weft_model_compile(
        &state->plan, state->session.model, state->session.device, state->tokens.batch,
        state->tokens.length, state->types.values != NULL, &params);
    if (status == WEFT_OK) {
        status = weft_cli_output_shape(&state->shape, state->plan);
    }
    if (status != WEFT_OK) {
        return status;
    }
    uint64_t elements = weft_shape_elements(state->shape);
    state->output =
        elements > SIZE_MAX ? NULL : weft_alloc_zero(host, (size_t)elements, sizeof *state->output);
    return state->output == NULL ? weft_fail_memory(host, "the output") : WEFT_OK;
}

static int execute(run_state *state) {
    uint64_t input_bytes = (uint64_t)state->tokens.batch * state->tokens.length * sizeof(int32_t);
    const weft_host_tensor tensors[] = {
        {"tokens", state->tokens.values, input_bytes},
        {"output", state->output, weft_shape_elements(state->shape) * sizeof(float)},
        {"token_types", state->types.values, input_bytes},
    };
    weft_cli_execution execution = {.plan = state->plan,
                                    .tensors = tensors,
                                    .tensor_count = state->types.values != NULL ? 3 : 2,
                                    .repeats = state->options->repeats};
    weft_status status = weft_cli_execute(&state->run_ms, &execution, &state->session.host);
    if (status == WEFT_INVALID_ARGUMENT && state->options->types != NULL) {
        /* The tokens were checked before: it is the types. */
        weft_fail(&state->session.host, status, "%s: the model cannot take these token types",
                  state->options->types);
    }
    return weft_cli_exit_code_of_file(status);
}

static int run_on_device(run_state *state) {
    const run_options *options = state->options;
    int exit_code = weft_cli_session_open(&state->session, &options->common);
    if (exit_code != WEFT_CLI_FINE) {
        return exit_code;
    }
    if (options->trace != NULL && state->session.device_info.timestamp_period_ns == 0.0) {
        weft_fail(&state->session.host, WEFT_UNSUPPORTED,
                  "--trace: the device %s has no time stamps", state->session.device_info.name);
        return WEFT_CLI_NO_DEVICE;
    }
    exit_code = weft_cli_exit_code(make_plan(state));
    return exit_code == WEFT_CLI_FINE ? execute(state) : exit_code;
}

/* ---- results ---- */

/* Files first: a report of something that then could not be written would be wrong. */
static int deliver(run_state *state) {
    const run_options *options = state->options;
    int exit_code = WEFT_CLI_FINE;
    if (options->out != NULL) {
        exit_code = weft_cli_exit_code(
            weft_npy_write_f32(options->out, state->output, state->shape, &state->session.host));
    }
    if (exit_code == WEFT_CLI_FINE && options->trace != NULL) {
        exit_code = weft_cli_write_trace(options->trace, state->plan, &state->session);
    }
    if (exit_code != WEFT_CLI_FINE) {
        return exit_code;
    }
    weft_cli_result result = {.session = &state->session,
                              .plan = state->plan,
                              .tokens = &state->tokens,
                              .output = state->output,
                              .shape = state->shape,
                              .mask = state->mask,
                              .top = options->top,
                              .run_ms = state->run_ms,
                              .repeats = options->repeats};
    exit_code =
        options->common.json ? weft_cli_report_json(&result) : weft_cli_report_text(&result);
    if (exit_code == WEFT_CLI_FINE && weft_cli_validation_failed(state->session.device)) {
        exit_code = WEFT_CLI_FAILED;
    }
    return exit_code;
}

static int run(const run_options *options) {
    run_state state = {.options = options, .mask = -1};
    int exit_code = weft_cli_session_load(&state.session, &options->common, options->model);
    if (exit_code == WEFT_CLI_FINE) {
        exit_code = read_inputs(&state);
    }
    if (exit_code == WEFT_CLI_FINE) {
        exit_code = run_on_device(&state);
    }
    if (exit_code == WEFT_CLI_FINE) {
        exit_code = deliver(&state);
    }
    weft_host host = state.session.host;
    weft_plan_destroy(&state.plan);
    weft_free(&host, state.output);
    weft_free(&host, state.tokens.values);
    weft_free(&host, state.types.values);
    weft_cli_session_close(&state.session);
    return exit_code;
}

/* ---- the command line ---- */

/* WEFT_CLI_FINE, or WEFT_CLI_USAGE after a message about options that do not go together. */
static int check_options(const weft_cli_syntax *syntax, const run_options *options) {
    int sources = (options->text != NULL) + (options->tokens != NULL) + (options->input != NULL);
    if (sources != 1) {
        return weft_cli_usage_error(syntax,
                                    "expected one of --text, --tokens and --input, found %s",
                                    sources == 0 ? "none" : "several");
    }
    if (options->input != NULL) {
        return weft_cli_usage_error(
            syntax, "--input %s: FNet models take tokens, not embeddings: use --tokens or --text",
            options->input);
    }
    if (options->types != NULL && options->tokens == NULL) {
        return weft_cli_usage_error(syntax, "--token-types goes with --tokens only");
    }
    return WEFT_CLI_FINE;
}

int weft_cli_run(int argc, char **argv) {
    run_options options = {.top = 3, .repeats = 1};
    const weft_cli_option table[] = {
        {"text", WEFT_CLI_TEXT, &options.text, "FILE", "a text (UTF-8), or - for standard input"},
        {"tokens", WEFT_CLI_TEXT, &options.tokens, "FILE",
         "token ids, .npy, int32 or int64 [batch, length] or [length]"},
        {"token-types", WEFT_CLI_TEXT, &options.types, "FILE",
         "token types, .npy, of the tokens' shape (default: all 0)"},
        {"input", WEFT_CLI_TEXT, &options.input, "FILE",
         "embeddings, .npy, for models that take them; FNet models do not"},
        {"out", WEFT_CLI_TEXT, &options.out, "FILE", "write the output to this .npy file, float32"},
        {"top", WEFT_CLI_COUNT, &options.top, "K", "how many labels or tokens to show (default 3)"},
        {"trace", WEFT_CLI_TEXT, &options.trace, "FILE",
         "write the device time of every dispatch as a Chrome trace"},
        {"repeat", WEFT_CLI_COUNT, &options.repeats, "N",
         "run so many times and give the median time (default 1)"},
        WEFT_CLI_DEVICE_OPTIONS(&options.common),
        WEFT_CLI_OUTPUT_OPTIONS(&options.common),
        {.name = NULL},
    };
    const weft_cli_syntax syntax = {
        .command = "run",
        .positionals = "MODEL",
        .positional_count = 1,
        .summary =
            "Runs a model, a folder with config.json and model.safetensors, on a text or on\n"
            "token ids. A classifier's best labels are printed, a masked language model's\n"
            "best tokens for each [MASK], else the shape of the output.",
        .options = table,
    };
    int exit_code = WEFT_CLI_FINE;
    if (!weft_cli_parse(&syntax, argc, argv, &options.model, &exit_code)) {
        return exit_code;
    }
    exit_code = check_options(&syntax, &options);
    return exit_code == WEFT_CLI_FINE ? run(&options) : exit_code;
}
