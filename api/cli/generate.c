/* SPDX-License-Identifier: MIT */
/* weft generate: continues a text, token by token. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "commands.h"
#include "core/clock.h"
#include "core/file.h"
#include "core/try.h"
#include "generate_report.h"
#include "input.h"
#include "stop.h"

#define USUAL_TOKENS 200

typedef struct generate_options {
    weft_cli_common common;
    const char *model;
    weft_cli_source prompt;
    const char *seed;
    const char *temperature;
    const char *out;
    uint32_t tokens; /* 0: not given */
    uint32_t top_k;  /* 0: all */
    bool greedy;
    bool reevaluate;
    weft_sampling sampling; /* what these come to */
} generate_options;

typedef struct generate_state {
    const generate_options *options;
    weft_cli_session session;
    weft_cli_tokens prompt;
    weft_decoder *decoder;
    float *logits;
    weft_cli_generation result;
} generate_state;

/* ---- the model and the prompt ---- */

static int check_model(const weft_cli_session *session) {
    const weft_model_info *info = &session->info;
    if (info->task != WEFT_TASK_CAUSAL_LM) {
        return weft_cli_bad_file(
            &session->host, "%s: expected a causal language model (task causal_lm), found task %s",
            session->folder, weft_task_name(info->task));
    }
    if (strcmp(info->tokenizer, "none") == 0) {
        return weft_cli_bad_file(
            &session->host,
            "%s: expected a model with a tokenizer (tokenizer_class ByteTokenizer, or a "
            "spiece.model), found none",
            session->folder);
    }
    return WEFT_CLI_FINE;
}

static int read_prompt(generate_state *state) {
    const generate_options *options = state->options;
    const weft_cli_session *session = &state->session;
    weft_cli_text_note note = {0};
    WEFT_CLI_TRY(weft_cli_read_text(&state->prompt, &note, session->model, &options->prompt,
                                    &session->host));
    const char *name = weft_cli_source_name(&options->prompt);
    const bool bytes = strcmp(session->info.tokenizer, "bytes") == 0;
    if (bytes && note.bytes > session->info.max_length) {
        return weft_cli_bad_file(&session->host,
                                 "%s: the prompt has %zu bytes, more than the model's %u positions",
                                 name, note.bytes, session->info.max_length);
    }
    if (!bytes && state->prompt.length == session->info.max_length) {
        return weft_cli_bad_file(
            &session->host, "%s: the prompt fills the model's %u positions, or has more tokens",
            name, session->info.max_length);
    }
    return WEFT_CLI_FINE;
}

/* How many tokens to make; the last one needs no position of its own. */
static int count_tokens(generate_state *state, const weft_cli_syntax *syntax) {
    const uint32_t wanted = state->options->tokens;
    const uint32_t most = state->session.info.max_length - state->prompt.length + 1;
    if (wanted > most) {
        return weft_cli_usage_error(
            syntax, "--tokens %u: the model's %u positions leave %u tokens after a prompt of %u",
            wanted, state->session.info.max_length, most, state->prompt.length);
    }
    const uint32_t usual = most < USUAL_TOKENS ? most : USUAL_TOKENS;
    state->result.capacity = wanted != 0 ? wanted : usual;
    return WEFT_CLI_FINE;
}

/* ---- generating ---- */

static weft_status make_decoder(generate_state *state) {
    const weft_host *host = &state->session.host;
    const uint32_t capacity = state->result.capacity;
    WEFT_TRY(
        weft_decoder_create(&state->decoder, state->session.model, state->session.device,
                            weft_decoder_params(.max_length = state->prompt.length + capacity - 1,
                                                .reevaluate = state->options->reevaluate)));
    state->logits = weft_alloc_zero(host, state->session.info.vocabulary, sizeof *state->logits);
    state->result.tokens = weft_alloc_zero(host, capacity, sizeof *state->result.tokens);
    state->result.times = weft_alloc_zero(host, capacity, sizeof *state->result.times);
    return state->logits && state->result.tokens && state->result.times
               ? WEFT_OK
               : weft_fail_memory(host, "the generated tokens");
}

/* At once: it gives the first logits. */
static weft_status take_prompt(generate_state *state) {
    const double begin = weft_clock_ms();
    weft_status status = weft_decoder_prompt(state->decoder, state->prompt.values,
                                             state->prompt.length, state->logits);
    state->result.prompt_ms = weft_clock_ms() - begin;
    return status;
}

/* The text of the prompt and of what is made so far; free it with weft_text_free. */
static weft_status text_so_far(char **text, size_t *size, const generate_state *state) {
    const weft_host *host = &state->session.host;
    const uint32_t made = state->result.count - state->result.ended;
    const uint32_t count = state->prompt.length + made;
    int32_t *tokens = weft_alloc(host, count * sizeof *tokens);
    if (!tokens) {
        return weft_fail_memory(host, "a text");
    }
    memcpy(tokens, state->prompt.values, state->prompt.length * sizeof *tokens);
    for (uint32_t i = 0; i < made; i++) {
        tokens[state->prompt.length + i] = (int32_t)state->result.tokens[i];
    }
    weft_status status = weft_model_detokenize(state->session.model, tokens, count, text, size);
    weft_free(host, tokens);
    return status;
}

/* How much of a text is whole characters: tokens can be parts of one. Text that is no UTF-8 at all counts as whole. */
static size_t whole_characters(const char *text, size_t size) {
    size_t end = size;
    while (end > 0 && size - end < 3 && ((uint8_t)text[end - 1] & 0xc0) == 0x80) {
        end--;
    }
    const uint8_t first = end > 0 ? (uint8_t)text[end - 1] : 0;
    const size_t wanted = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
    return wanted > size - end + 1 ? end - 1 : size;
}

/* Keeps the text that the newest token adds, and shows it. *open: somebody is still reading. */
static weft_status show(generate_state *state, bool *open, bool is_last) {
    weft_cli_generation *result = &state->result;
    char *text = NULL;
    size_t size = 0;
    WEFT_TRY(text_so_far(&text, &size, state));
    const bool bytes = strcmp(state->session.info.tokenizer, "bytes") == 0;
    const bool all = is_last || (bytes && result->count == 0); /* a prompt of bytes is what it is */
    const size_t whole = all ? size : whole_characters(text, size);
    if (result->count == 0) {
        result->prompt_size = whole;
    } else if (!state->options->common.json && whole > result->shown) {
        const size_t more = whole - result->shown;
        *open = weft_cli_print_text(stdout, text + result->shown, more) && fflush(stdout) == 0;
    }
    result->shown = whole > result->shown ? whole : result->shown;
    weft_text_free(state->session.model, &result->text);
    result->text = text;
    result->text_size = size;
    return WEFT_OK;
}

/* Takes in the token before, unless that is the prompt's, and chooses. */
static weft_status make_token(generate_state *state) {
    weft_cli_generation *result = &state->result;
    const double begin = weft_clock_ms();
    uint32_t token = 0;
    if (result->count > 0) {
        const int32_t last = (int32_t)result->tokens[result->count - 1];
        WEFT_TRY(weft_decoder_step(state->decoder, &last, state->logits));
    }
    WEFT_TRY(weft_sample(&token, state->logits, state->session.info.vocabulary,
                         &state->options->sampling, result->count, &state->session.host));
    result->times[result->count] = weft_clock_ms() - begin;
    result->tokens[result->count++] = token;
    result->ended = (int32_t)token == state->session.info.eos_token;
    return WEFT_OK;
}

static weft_status generate(generate_state *state) {
    weft_cli_generation *result = &state->result;
    bool open = true; /* main says it where nobody reads any more */
    WEFT_TRY(take_prompt(state));
    WEFT_TRY(show(state, &open, false));
    while (open && !result->ended && result->count < result->capacity && !weft_cli_stopped()) {
        const weft_status status = make_token(state);
        if (status == WEFT_CANCELLED) { /* what there is stays */
            break;
        }
        WEFT_TRY(status);
        WEFT_TRY(show(state, &open, result->ended || result->count == result->capacity));
    }
    return WEFT_OK;
}

static int generate_on_device(generate_state *state) {
    WEFT_CLI_TRY(weft_cli_session_open(&state->session, &state->options->common));
    WEFT_CLI_TRY(weft_cli_exit_code(make_decoder(state)));
    WEFT_CLI_TRY(weft_cli_exit_code_of_file(generate(state)));
    return weft_cli_exit_code(weft_decoder_get_info(state->decoder, &state->result.info));
}

/* What was shown, byte for byte. */
static int write_text(const weft_cli_generation *result, const char *path, const weft_host *host) {
    const size_t begin = weft_cli_generation_begin(result);
    return weft_cli_exit_code(
        weft_file_write(path, result->text + begin, result->text_size - begin, host));
}

static int deliver(const generate_state *state) {
    const weft_cli_generation *result = &state->result;
    if (state->options->out) {
        WEFT_CLI_TRY(write_text(result, state->options->out, &state->session.host));
    }
    WEFT_CLI_TRY(state->options->common.json ? weft_cli_generation_json(result, &state->session)
                                             : weft_cli_generation_text(result, &state->session));
    return weft_cli_validation_code(state->session.device);
}

static int run_all(generate_state *state, const weft_cli_syntax *syntax) {
    const generate_options *options = state->options;
    WEFT_CLI_TRY(weft_cli_session_load(&state->session, &options->common, options->model));
    WEFT_CLI_TRY(check_model(&state->session));
    WEFT_CLI_TRY(read_prompt(state));
    state->result.prompt_length = state->prompt.length;
    WEFT_CLI_TRY(count_tokens(state, syntax));
    WEFT_CLI_TRY(generate_on_device(state));
    return deliver(state);
}

static int run(const generate_options *options, const weft_cli_syntax *syntax) {
    generate_state state = {.options = options, .result.sampling = options->sampling};
    int exit_code = run_all(&state, syntax);
    weft_host host = state.session.host;
    weft_decoder_destroy(&state.decoder);
    weft_text_free(state.session.model, &state.result.text);
    weft_free(&host, state.prompt.values);
    weft_free(&host, state.logits);
    weft_free(&host, state.result.tokens);
    weft_free(&host, state.result.times);
    weft_cli_session_close(&state.session);
    return exit_code;
}

/* ---- the command line ---- */

static bool read_seed(uint64_t *seed, const char *text) {
    char *end = NULL;
    errno = 0;
    *seed = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
}

static bool read_temperature(double *temperature, const char *text) {
    char *end = NULL;
    *temperature = strtod(text, &end);
    return text[0] != '\0' && *end == '\0' && isfinite(*temperature) && *temperature >= 1e-3 &&
           *temperature <= 1e3;
}

static int check_options(const weft_cli_syntax *syntax, generate_options *options) {
    if ((options->prompt.file != NULL) == (options->prompt.text != NULL)) {
        return weft_cli_usage_error(syntax, "expected one of --text and --file, found %s",
                                    !options->prompt.file ? "none" : "both");
    }
    const bool samples = options->seed || options->temperature || options->top_k != 0;
    if (samples && options->greedy) {
        return weft_cli_usage_error(
            syntax, "--greedy excludes --seed, --temperature and --top-k: it draws nothing");
    }
    options->sampling =
        (weft_sampling){.temperature = samples ? 1.0 : 0.0, .top_k = options->top_k};
    if (options->seed && !read_seed(&options->sampling.seed, options->seed)) {
        return weft_cli_usage_error(
            syntax, "--seed: expected a whole number from 0 to 18446744073709551615, found '%s'",
            options->seed);
    }
    if (options->temperature &&
        !read_temperature(&options->sampling.temperature, options->temperature)) {
        return weft_cli_usage_error(syntax,
                                    "--temperature: expected a number from 0.001 to 1000, found "
                                    "'%s'",
                                    options->temperature);
    }
    return WEFT_CLI_FINE;
}

int weft_cli_generate(int argc, char **argv) {
    generate_options options = {.tokens = 0};
    const weft_cli_option table[] = {
        {"text", WEFT_CLI_TEXT, &options.prompt.text, "STRING", "the text to continue"},
        {"file", WEFT_CLI_TEXT, &options.prompt.file, "FILE",
         "the same in a file, or - for standard input"},
        {"tokens", WEFT_CLI_COUNT, &options.tokens, "N",
         "how many tokens to make (default 200, or as many as the model has positions for)"},
        {"greedy", WEFT_CLI_FLAG, &options.greedy, NULL,
         "take the likeliest token each time (default without the three below)"},
        {"seed", WEFT_CLI_TEXT, &options.seed, "S",
         "draw tokens: the same seed draws the same text on every device (default 0)"},
        {"temperature", WEFT_CLI_TEXT, &options.temperature, "T",
         "draw by softmax(logits / T) (default 1)"},
        {"top-k", WEFT_CLI_COUNT, &options.top_k, "K",
         "draw among the K likeliest tokens (default: all)"},
        {"out", WEFT_CLI_TEXT, &options.out, "FILE",
         "write the new text to this file, byte for byte"},
        {"reevaluate", WEFT_CLI_FLAG, &options.reevaluate, NULL,
         "run the whole text again for each token, even if a state would do"},
        WEFT_CLI_DEVICE_OPTIONS(&options.common),
        WEFT_CLI_OUTPUT_OPTIONS(&options.common),
        {.name = NULL},
    };
    const weft_cli_syntax syntax = {
        .command = "generate",
        .positionals = "MODEL",
        .positional_count = 1,
        .summary =
            "Continues a text with a causal language model of bytes or pieces (SentencePiece). "
            "It\n"
            "prints new text on standard output at once, with control characters other than\n"
            "newlines and tabs escaped as \\x1b, and times on standard error. It ends at the\n"
            "model's eos_token_id, which is not shown, if there is one.",
        .options = table,
    };
    int exit_code = WEFT_CLI_FINE;
    if (!weft_cli_parse(&syntax, argc, argv, &options.model, &exit_code)) {
        return exit_code;
    }
    exit_code = check_options(&syntax, &options);
    return exit_code == WEFT_CLI_FINE ? run(&options, &syntax) : exit_code;
}
