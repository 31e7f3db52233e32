/* SPDX-License-Identifier: MIT */
/* weft generate: continues texts, token by token. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "commands.h"
#include "core/system/clock.h"
#include "core/system/file.h"
#include "core/try.h"
#include "generate_prompts.h"
#include "generate_report.h"
#include "stop.h"

#define LARGEST_BATCH 16U

typedef struct generate_options {
    weft_cli_common common;
    const char *model;
    weft_cli_prompt_source source;
    weft_cli_list stops;
    const char *seed;
    const char *temperature;
    const char *top_p;
    const char *repetition_penalty;
    const char *out;
    const char *state_out;
    bool greedy;
    weft_generator_params params; /* what these come to, but for the prompts */
} generate_options;

typedef struct generate_state {
    const generate_options *options;
    weft_cli_session session;
    weft_cli_prompts prompts;
    weft_generator *generator;
    uint32_t first, batch; /* prompts that the generator has */
    uint32_t front;        /* text that is being shown; those before it are done */
    size_t shown;          /* bytes of it */
    bool open;             /* somebody is still reading; main says it where nobody does */
    bool whole;            /* the generator's texts have come to their ends */
    weft_cli_generation result;
} generate_state;

static int check_model(const weft_cli_session *session) {
    const weft_model_info *info = &session->info;
    if (info->task != WEFT_TASK_CAUSAL_LM && info->task != WEFT_TASK_TEXT_TO_TEXT) {
        return weft_cli_bad_file(
            &session->host,
            "%s: expected a language model (task causal_lm or text_to_text), found task %s",
            session->folder, weft_task_name(info->task));
    }
    if (strcmp(info->tokenizer, "none") == 0) {
        return weft_cli_bad_file(&session->host,
                                 "%s: expected a model with a tokenizer (tokenizer.json, "
                                 "spiece.model, or tokenizer_class "
                                 "ByteTokenizer), found none",
                                 session->folder);
    }
    return WEFT_CLI_FINE;
}

/* ---- showing ---- */

/* Of several texts each is a line. */
static bool print_part(const generate_state *state, const char *text, size_t size) {
    if (state->result.is_single) {
        return weft_cli_print_text(stdout, text, size);
    }
    for (size_t begin = 0; begin < size;) {
        const char *newline = memchr(text + begin, '\n', size - begin);
        const size_t length = newline ? (size_t)(newline - text) - begin : size - begin;
        if (!weft_cli_print_text(stdout, text + begin, length)) {
            return false;
        }
        if (newline) {
            weft_cli_print(stdout, "\\n");
        }
        begin += length + (newline ? 1 : 0);
    }
    return true;
}

/* Shows what is new of the first text that has not ended, and of those before it. */
static weft_status show(generate_state *state, bool is_last) {
    while (!state->options->common.json && state->open && state->front < state->batch) {
        weft_generated now;
        WEFT_TRY(weft_generator_get_text(state->generator, state->front, &now));
        if (now.text_size > state->shown) {
            state->open = print_part(state, now.text + state->shown, now.text_size - state->shown);
            state->shown = now.text_size;
        }
        if (now.ending == WEFT_ENDING_NONE && !is_last) {
            break;
        }
        if (!state->result.is_single) {
            weft_cli_print(stdout, "\n");
        }
        state->front++;
        state->shown = 0;
    }
    state->open = state->open && fflush(stdout) == 0;
    return WEFT_OK;
}

/* ---- generating ---- */

static weft_status note_time(weft_cli_generation *result, double begin, const weft_host *host) {
    if (!weft_grow(host, &result->times, result->steps, &result->times_capacity,
                   sizeof *result->times)) {
        return weft_fail_memory(host, "times");
    }
    result->times[result->steps++] = weft_clock_ms() - begin;
    return WEFT_OK;
}

/* One after the other until *done, or a signal. */
static weft_status take_steps(generate_state *state, bool *done) {
    const double begin = weft_clock_ms();
    WEFT_TRY(weft_generator_step(state->generator, done));
    state->result.prompt_ms += weft_clock_ms() - begin;
    while (state->open && !*done && !weft_cli_stopped()) {
        const double step_begin = weft_clock_ms();
        WEFT_TRY(weft_generator_step(state->generator, done));
        WEFT_TRY(note_time(&state->result, step_begin, &state->session.host));
        WEFT_TRY(show(state, false));
    }
    return WEFT_OK;
}

/* What there is stays, also where a signal ended the first step. */
static weft_status run_steps(generate_state *state) {
    bool done = false;
    const weft_status status = take_steps(state, &done);
    if (status != WEFT_OK && status != WEFT_CANCELLED) {
        return status;
    }
    state->whole = status == WEFT_OK && done;
    return show(state, true);
}

static weft_status keep(weft_cli_made *made, const weft_generated *generated,
                        const weft_host *host) {
    *made = (weft_cli_made){.count = generated->count,
                            .text_size = generated->text_size,
                            .prompt_length = generated->prompt_count,
                            .ending = generated->ending,
                            .tokens = weft_alloc(host, (generated->count + 1) * sizeof(int32_t)),
                            .text = weft_alloc(host, generated->text_size + 1)};
    if (!made->tokens || !made->text) {
        return weft_fail_memory(host, "the generated tokens");
    }
    memcpy(made->tokens, generated->tokens, generated->count * sizeof(int32_t));
    memcpy(made->text, generated->text, generated->text_size);
    return WEFT_OK;
}

static weft_status keep_all(generate_state *state) {
    weft_cli_generation *result = &state->result;
    for (uint32_t i = 0; i < state->batch; i++) {
        weft_generated generated;
        WEFT_TRY(weft_generator_get_text(state->generator, i, &generated));
        if (!weft_grow(&state->session.host, &result->made, result->count, &result->capacity,
                       sizeof *result->made)) {
            return weft_fail_memory(&state->session.host, "texts");
        }
        const weft_status status =
            keep(&result->made[result->count++], &generated, &state->session.host);
        WEFT_TRY(status);
    }
    return weft_generator_get_decoder_info(state->generator, &result->info);
}

/* A line without a text has no answer, and keeps its place. */
static weft_status pass_empty(generate_state *state) {
    weft_cli_generation *result = &state->result;
    if (!weft_grow(&state->session.host, &result->made, result->count, &result->capacity,
                   sizeof *result->made)) {
        return weft_fail_memory(&state->session.host, "texts");
    }
    result->made[result->count++] = (weft_cli_made){.text = NULL};
    if (!state->options->common.json) {
        weft_cli_print(stdout, "\n");
    }
    return WEFT_OK;
}

static uint32_t count_batch(const generate_state *state) {
    uint32_t count = 0;
    while (count < LARGEST_BATCH && state->first + count < state->prompts.count &&
           (!state->prompts.are_lines || state->prompts.prompts[state->first + count].size > 0)) {
        count++;
    }
    return count;
}

/* Of a text that was interrupted, too, once it has a token. */
static int save_state(const generate_state *state) {
    weft_generated text;
    if (!state->options->state_out) {
        return WEFT_CLI_FINE;
    }
    WEFT_CLI_TRY(weft_cli_exit_code(weft_generator_get_text(state->generator, 0, &text)));
    return text.count > 0 ? weft_cli_exit_code(
                                weft_generator_save(state->generator, 0, state->options->state_out))
                          : WEFT_CLI_FINE;
}

/* What is wrong with a prompt or a parameter is the command line's fault. */
static int run_batch(generate_state *state) {
    const weft_host *host = &state->session.host;
    weft_generator_params params = state->options->params;
    params.prompts = state->prompts.prompts + state->first;
    params.prompt_count = state->batch;
    state->front = 0;
    state->shown = 0;
    const weft_status status = weft_generator_create(&state->generator, state->session.model,
                                                     state->session.device, &params);
    if (status == WEFT_CANCELLED) { /* the texts before these stay */
        state->whole = false;
        return WEFT_CLI_FINE;
    }
    if (status != WEFT_OK && state->prompts.count > state->batch) {
        weft_fail(host, status, "prompts %u to %u (counted from 0) failed", state->first,
                  state->first + state->batch - 1);
    }
    WEFT_CLI_TRY(weft_cli_exit_code(status));
    WEFT_CLI_TRY(weft_cli_exit_code_of_file(run_steps(state)));
    WEFT_CLI_TRY(weft_cli_exit_code(keep_all(state)));
    WEFT_CLI_TRY(save_state(state));
    weft_generator_destroy(&state->generator);
    return WEFT_CLI_FINE;
}

/* ---- in a receipt ---- */

static weft_status note_texts(const weft_cli_recording *recording, weft_record_kind kind,
                              const char *noun, uint32_t index, const void *text, size_t size,
                              const char *type) {
    char name[64];
    snprintf(name, sizeof name, "%s %u", noun, index + 1);
    return weft_cli_receipt_note(recording, kind, name, text, size, "%zu bytes%s", size, type);
}

/* All that decides the text, but for the model. Reals in hexadecimal, as they are. */
static weft_status note_request(const generate_state *state) {
    const weft_cli_recording *recording = &state->session.recording;
    const weft_generator_params *params = &state->options->params;
    const weft_sampling *sampling = &params->sampling;
    WEFT_TRY(weft_cli_receipt_note(
        recording, WEFT_RECORD_SETTING, "sampling", NULL, 0,
        "temperature %a, top_k %u, top_p %a, seed %llu, repetition_penalty %a",
        sampling->temperature, sampling->top_k, sampling->top_p, (unsigned long long)sampling->seed,
        params->repetition_penalty));
    WEFT_TRY(weft_cli_receipt_note(recording, WEFT_RECORD_SETTING, "tokens", NULL, 0,
                                   "%u, window %u%s", params->tokens, params->window,
                                   params->reevaluate ? ", reevaluated" : ""));
    for (uint32_t i = 0; i < params->stop_count; i++) {
        WEFT_TRY(note_texts(recording, WEFT_RECORD_DATA, "stop", i, params->stops[i],
                            strlen(params->stops[i]), ""));
    }
    for (uint32_t i = 0; i < state->prompts.count; i++) {
        const weft_prompt *prompt = &state->prompts.prompts[i];
        WEFT_TRY(note_texts(recording, WEFT_RECORD_DATA, state->prompts.are_lines ? "line" : "text",
                            i, prompt->text, prompt->size, ""));
    }
    return WEFT_OK;
}

static weft_status note_made(const generate_state *state) {
    for (uint32_t i = 0; i < state->result.count; i++) {
        const weft_cli_made *made = &state->result.made[i];
        char type[128];
        snprintf(type, sizeof type, " of %u tokens behind %u, ending %s", made->count,
                 made->prompt_length, weft_ending_name(made->ending));
        WEFT_TRY(note_texts(&state->session.recording, WEFT_RECORD_ANSWER,
                            state->prompts.are_lines ? "line" : "text", i, made->text,
                            made->text_size, type));
    }
    return WEFT_OK;
}

static int run_batches(generate_state *state) {
    state->whole = true;
    while (state->first < state->prompts.count && state->open && state->whole &&
           !weft_cli_stopped()) {
        state->batch = count_batch(state);
        if (state->batch == 0) {
            WEFT_CLI_TRY(weft_cli_exit_code(pass_empty(state)));
            state->first++;
            continue;
        }
        WEFT_CLI_TRY(run_batch(state));
        state->first += state->batch;
    }
    weft_cli_stop_settle(state->whole && state->first >= state->prompts.count);
    return WEFT_CLI_FINE;
}

/* What was shown, byte for byte. */
static int deliver(generate_state *state) {
    const weft_cli_generation *result = &state->result;
    if (state->options->out && result->count > 0) {
        WEFT_CLI_TRY(
            weft_cli_exit_code(weft_file_write(state->options->out, result->made[0].text,
                                               result->made[0].text_size, &state->session.host)));
    }
    WEFT_CLI_TRY(weft_cli_exit_code(note_made(state)));
    WEFT_CLI_TRY(weft_cli_receipt_end(&state->session.recording, &state->options->common));
    WEFT_CLI_TRY(state->options->common.json ? weft_cli_generation_json(result, &state->session)
                                             : weft_cli_generation_text(result, &state->session));
    return weft_cli_validation_code(state->session.device);
}

/* Without a text it is that of the state. */
static int read_prompts(generate_state *state) {
    const weft_cli_prompt_source *source = &state->options->source;
    return source->texts.count > 0 || source->file || source->lines
               ? weft_cli_read_prompts(&state->prompts, source, &state->session.host)
               : weft_cli_exit_code(
                     weft_cli_add_empty_prompt(&state->prompts, &state->session.host));
}

static int run_all(generate_state *state) {
    const generate_options *options = state->options;
    WEFT_CLI_TRY(weft_cli_session_load(&state->session, &options->common, options->model));
    WEFT_CLI_TRY(check_model(&state->session));
    WEFT_CLI_TRY(read_prompts(state));
    state->result.is_single = state->prompts.count == 1 && !state->prompts.are_lines;
    WEFT_CLI_TRY(weft_cli_session_open(&state->session, &options->common));
    WEFT_CLI_TRY(weft_cli_exit_code(note_request(state)));
    WEFT_CLI_TRY(run_batches(state));
    return deliver(state);
}

static int run(const generate_options *options) {
    generate_state state = {.options = options, .open = true, .result.params = &options->params};
    int exit_code = run_all(&state);
    weft_host host = state.session.host;
    weft_generator_destroy(&state.generator);
    weft_cli_prompts_clear(&state.prompts, &host);
    weft_cli_generation_clear(&state.result, &host);
    weft_cli_session_close(&state.session);
    return exit_code;
}

/* ---- the command line ---- */

static bool read_seed(uint64_t *seed, const char *text) {
    return weft_cli_take_number(seed, &text) && *text == '\0';
}

/* Reads an option that is a number from least to most; false after a usage error. */
static bool read_real(double *value, const weft_cli_syntax *syntax, const char *option,
                      const char *text, double least, double most) {
    char *end = NULL;
    if (!text) {
        return true;
    }
    *value = strtod(text, &end);
    if (text[0] != '\0' && *end == '\0' && *value >= least && *value <= most) {
        return true;
    }
    weft_cli_usage_error(syntax, "--%s: expected a number from %g to %g, found '%s'", option, least,
                         most, text);
    return false;
}

/* A state is of one text, and has it: a receipt would lack it. */
static int check_states(const weft_cli_syntax *syntax, const generate_options *options) {
    const weft_cli_prompt_source *source = &options->source;
    const char *found = options->params.state ? "--state-in" : "--state-out";
    if (!options->params.state && !options->state_out) {
        return WEFT_CLI_FINE;
    }
    if (source->lines || source->texts.count > 1) {
        return weft_cli_usage_error(syntax, "%s takes a single text", found);
    }
    if (options->common.receipt) {
        return weft_cli_usage_error(syntax, "%s excludes --receipt, which has no states", found);
    }
    return options->params.window > 0
               ? weft_cli_usage_error(syntax, "%s excludes --window, which lets tokens go", found)
               : WEFT_CLI_FINE;
}

static int check_sources(const weft_cli_syntax *syntax, const generate_options *options) {
    const weft_cli_prompt_source *source = &options->source;
    const int found = (source->texts.count > 0) + (source->file != NULL) + (source->lines != NULL);
    WEFT_CLI_TRY(check_states(syntax, options));
    if (found != 1 && (found > 1 || !options->params.state)) {
        return weft_cli_usage_error(syntax, "expected one of --text, --file and --lines, found %s",
                                    found == 0 ? "none" : "several");
    }
    if (options->out && (source->lines || source->texts.count > 1)) {
        return weft_cli_usage_error(syntax, "--out takes a single text; --json has all of several");
    }
    return WEFT_CLI_FINE;
}

static int check_options(const weft_cli_syntax *syntax, generate_options *options) {
    weft_generator_params *params = &options->params;
    WEFT_CLI_TRY(check_sources(syntax, options));
    const bool samples =
        options->seed || options->temperature || options->top_p || params->sampling.top_k != 0;
    if (samples && options->greedy) {
        return weft_cli_usage_error(
            syntax,
            "--greedy excludes --seed, --temperature, --top-k and --top-p: it draws nothing");
    }
    params->sampling.temperature = samples ? 1.0 : 0.0;
    params->stops = options->stops.at;
    params->stop_count = options->stops.count;
    if (options->seed && !read_seed(&params->sampling.seed, options->seed)) {
        return weft_cli_usage_error(
            syntax, "--seed: expected a whole number from 0 to 18446744073709551615, found '%s'",
            options->seed);
    }
    const bool fits =
        read_real(&params->sampling.temperature, syntax, "temperature", options->temperature, 1e-3,
                  1e3) &&
        read_real(&params->sampling.top_p, syntax, "top-p", options->top_p, 1e-6, 1.0) &&
        read_real(&params->repetition_penalty, syntax, "repetition-penalty",
                  options->repetition_penalty, 1e-3, 1e3);
    return fits ? WEFT_CLI_FINE : WEFT_CLI_USAGE;
}

/* Rows for how tokens are chosen. */
#define SAMPLING_OPTIONS(options)                                                       \
    {"greedy", WEFT_CLI_FLAG, &(options)->greedy, NULL,                                 \
     "take the likeliest token each time (default without the four below)"},            \
        {"seed", WEFT_CLI_TEXT, &(options)->seed, "S",                                  \
         "draw tokens: the same seed draws the same text on every device (default 0)"}, \
        {"temperature", WEFT_CLI_TEXT, &(options)->temperature, "T",                    \
         "draw by softmax(logits / T) (default 1)"},                                    \
        {"top-k", WEFT_CLI_COUNT, &(options)->params.sampling.top_k, "K",               \
         "draw among the K likeliest tokens (default: all)"},                           \
        {"top-p", WEFT_CLI_TEXT, &(options)->top_p, "P",                                \
         "draw among the fewest tokens whose probabilities reach P (default 1: all)"},  \
        {"repetition-penalty", WEFT_CLI_TEXT, &(options)->repetition_penalty, "R",      \
         "make tokens that the text has already less likely, by R (default 1: not)"},   \
    {                                                                                   \
        "stop", WEFT_CLI_LIST, &(options)->stops, "STRING",                             \
            "end a text before this string; may be there several times"                 \
    }

int weft_cli_generate(int argc, char **argv) {
    generate_options options = {.common = {.command = "generate"}};
    weft_generator_params *params = &options.params;
    const weft_cli_option table[] = {
        {"text", WEFT_CLI_LIST, &options.source.texts, "STRING",
         "a text to continue; may be there several times"},
        {"file", WEFT_CLI_TEXT, &options.source.file, "FILE",
         "the same in a file, or - for standard input"},
        {"lines", WEFT_CLI_TEXT, &options.source.lines, "FILE",
         "each line of a file, or - for standard input, is a text to continue"},
        {"tokens", WEFT_CLI_COUNT, &params->tokens, "N",
         "how many tokens to make (default 200, or as many as the model has positions for)"},
        SAMPLING_OPTIONS(&options),
        {"window", WEFT_CLI_COUNT, &params->window, "N",
         "go on behind the model's last position with the last N tokens (default: an error)"},
        {"out", WEFT_CLI_TEXT, &options.out, "FILE",
         "write the new text to this file, byte for byte"},
        {"state-out", WEFT_CLI_TEXT, &options.state_out, "FILE",
         "write the model's state behind the text to this file (it has the text's tokens, too)"},
        {"state-in", WEFT_CLI_TEXT, &params->state, "FILE",
         "go on from such a state, with the bits of one run: with its text, or with a text that "
         "begins with it"},
        {"reevaluate", WEFT_CLI_FLAG, &params->reevaluate, NULL,
         "run the whole text again for each token, even if a state would do"},
        {"receipt", WEFT_CLI_TEXT, &options.common.receipt, "FILE",
         "write hashes of the model, the texts, the settings and what came of them as JSON: "
         "weft verify --receipt FILE makes them again, on any device"},
        WEFT_CLI_DEVICE_OPTIONS(&options.common),
        WEFT_CLI_STATE_OPTION(&options.common),
        WEFT_CLI_OUTPUT_OPTIONS(&options.common),
        {.name = NULL},
    };
    const weft_cli_syntax syntax = {
        .command = "generate",
        .positionals = "MODEL",
        .positional_count = 1,
        .summary =
            "Continues texts with a causal language model, or answers them with one of T5's kind. "
            "It "
            "prints new text on standard output at once, with control characters other than "
            "newlines and tabs escaped as "
            "\\x1b (--out and --json give the text as it is), and times on standard error. A text "
            "ends at the model's eos_token_id, which is not shown, if there is one. Of several "
            "texts each is a line, in which \\n is a newline: they are made together, and each is "
            "the one that it is alone.",
        .options = table,
    };
    int exit_code = WEFT_CLI_FINE;
    if (!weft_cli_parse(&syntax, argc, argv, &options.model, &exit_code)) {
        return exit_code;
    }
    exit_code = check_options(&syntax, &options);
    return exit_code == WEFT_CLI_FINE ? run(&options) : exit_code;
}
