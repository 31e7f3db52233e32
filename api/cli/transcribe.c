/* SPDX-License-Identifier: MIT */
/* weft transcribe: writes down what is said in sound files. */
#include <stdlib.h>
#include <string.h>

#include <weft/speech.h>

#include "commands.h"
#include "core/formats/json.h"
#include "core/system/clock.h"
#include "core/text.h"
#include "core/try.h"
#include "input.h"
#include "session.h"
#include "stop.h"

typedef struct transcribe_options {
    weft_cli_common common;
    const char *model;
    const char *const *files;
    uint32_t file_count;
    const char *language;
    bool translates, without_times, subtitles;
    uint32_t tokens;
} transcribe_options;

/* What is written down of a file. */
typedef struct transcribed {
    struct weft_text text;
    json_t *segments;
    char language[32]; /* of its first segment; empty where the model writes one */
} transcribed;

typedef struct transcribe_state {
    const transcribe_options *options;
    weft_cli_session session;
    weft_transcriber *transcriber;
    weft_transcriber_info info;
    weft_sound sound;  /* of the file under way */
    transcribed file;  /* of that */
    json_t *files;     /* of those that are done, and of one that was stopped */
    uint32_t segments; /* of all files */
    double seconds;    /* of sound that is written down */
    double run_ms;     /* of all steps */
    bool open;         /* somebody is still reading; main says it where nobody does */
    bool whole;        /* every file so far was written down to its end */
    int exit_code;     /* of the first file that could not be read */
} transcribe_state;

static double seconds_of(const transcribe_state *state, uint64_t samples) {
    return (double)samples / (double)state->info.rate;
}

static const char *name_of(const char *file) {
    return strcmp(file, "-") == 0 ? "standard input" : file;
}

/* ---- sounds ---- */

static weft_status read_sound(transcribe_state *state, const char *file) {
    const weft_host *host = &state->session.host;
    weft_cli_file_bytes bytes = {0};
    if (strcmp(file, "-") != 0) {
        return weft_sound_read(&state->sound, file, host);
    }
    weft_status status = weft_cli_read_standard_input(&bytes, host);
    if (status == WEFT_OK) {
        status =
            weft_sound_read_memory(&state->sound, bytes.bytes, bytes.size, name_of(file), host);
    }
    weft_free(host, bytes.bytes);
    return status;
}

/* With a note of what becomes of it, before that takes its time. */
static weft_status prepare_sound(transcribe_state *state, const char *file) {
    const weft_host *host = &state->session.host;
    const weft_transcriber_info *info = &state->info;
    char rates[2][WEFT_CLI_GROUPED_SIZE];
    WEFT_TRY(read_sound(state, file));
    if (state->sound.count == 0) {
        return weft_fail(host, WEFT_BAD_FILE, "%s: expected samples, found none", name_of(file));
    }
    if (state->sound.rate != info->rate) {
        weft_cli_print(stderr, "weft: note: %s: resampled from %s to %s samples a second\n",
                       name_of(file), weft_cli_grouped(state->sound.rate, rates[0]),
                       weft_cli_grouped(info->rate, rates[1]));
    }
    WEFT_TRY(weft_sound_resample(&state->sound, info->rate, host));
    if (state->options->without_times && state->sound.count > info->window) {
        weft_cli_print(stderr,
                       "weft: note: %s: %.1f s are more than the %g s that the model reads at "
                       "once: the sound is cut where it is quietest, and what is said there may be "
                       "lost\n",
                       name_of(file), seconds_of(state, state->sound.count),
                       seconds_of(state, info->window));
    }
    return WEFT_OK;
}

/* ---- segments ---- */

/* "01:02:03,456" of SubRip. */
static void print_clock(const transcribe_state *state, uint64_t sample) {
    const uint64_t ms = (sample * 1000 + state->info.rate / 2) / state->info.rate;
    weft_cli_print(stdout, "%02u:%02u:%02u,%03u", (unsigned)(ms / 3600000),
                   (unsigned)(ms / 60000 % 60), (unsigned)(ms / 1000 % 60), (unsigned)(ms % 1000));
}

/* On a line, without the space that its first word begins with; of subtitles with what stands around it. */
static void print_segment(transcribe_state *state, const weft_segment *segment, uint32_t number,
                          const char *file) {
    const bool subtitles = state->options->subtitles;
    if (subtitles) {
        weft_cli_print(stdout, "%u\n", number + 1);
        print_clock(state, segment->begin);
        weft_cli_print(stdout, " --> ");
        print_clock(state, segment->end);
        weft_cli_print(stdout, "\n");
    }
    weft_cli_print(stdout, "%s\n", segment->text + strspn(segment->text, " "));
    if (subtitles) {
        weft_cli_print(stdout, "\n");
    }
    state->open = fflush(stdout) == 0;
    if (segment->is_cut) {
        weft_cli_print(stderr,
                       "weft: note: %s: the text of %.1f to %.1f s has as many tokens as it may, "
                       "and goes on\n",
                       name_of(file), seconds_of(state, segment->begin),
                       seconds_of(state, segment->end));
    }
}

static json_t *language_json(const char *language) {
    return !language || language[0] == '\0' ? json_null() : weft_cli_json_text(language);
}

static json_t *segment_json(const transcribe_state *state, const weft_segment *segment) {
    json_t *tokens = json_array();
    for (uint32_t i = 0; i < segment->token_count; i++) {
        tokens = weft_cli_json_append(tokens, json_integer((json_int_t)segment->tokens[i]));
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:b}", "begin",
                     weft_cli_json_real(seconds_of(state, segment->begin)), "end",
                     weft_cli_json_real(seconds_of(state, segment->end)), "text",
                     weft_cli_json_text(segment->text), "language",
                     language_json(segment->language), "tokens", tokens, "is_cut",
                     (int)segment->is_cut);
}

static void take_segment(transcribe_state *state, const weft_segment *segment, uint32_t index,
                         const char *file) {
    state->segments++;
    if (!state->options->common.json) {
        print_segment(state, segment, index, file);
        return;
    }
    if (index == 0 && segment->language) {
        snprintf(state->file.language, sizeof state->file.language, "%s", segment->language);
    }
    weft_text_add(&state->file.text, "%s", segment->text);
    state->file.segments = weft_cli_json_append(state->file.segments, segment_json(state, segment));
}

/* Those that a step has made, from *index on; the last one's end. */
static uint64_t take_segments(transcribe_state *state, uint32_t *index, const char *file) {
    weft_segment segment = {.end = 0};
    while (weft_transcriber_get_segment(state->transcriber, *index, &segment) == WEFT_OK) {
        take_segment(state, &segment, (*index)++, file);
    }
    return segment.end;
}

/* Until the sound's end, or a signal: the segments that there are stay. */
static weft_status take_steps(transcribe_state *state, const char *file) {
    bool done = false;
    uint32_t index = 0;
    uint64_t heard = 0;
    while (!done && state->open && !weft_cli_stopped()) {
        const double begin = weft_clock_ms();
        const weft_status status = weft_transcriber_step(state->transcriber, &done);
        state->run_ms += weft_clock_ms() - begin;
        if (status == WEFT_CANCELLED) {
            break;
        }
        WEFT_TRY(status);
        heard = take_segments(state, &index, file);
    }
    state->whole = done;
    state->seconds += seconds_of(state, done ? state->sound.count : heard);
    return WEFT_OK;
}

/* ---- files ---- */

static void keep_file(transcribe_state *state, const char *file) {
    transcribed *made = &state->file;
    const double seconds = seconds_of(state, state->sound.count);
    const char *text = made->text.data ? made->text.data : "";
    json_t *object =
        made->text.failed
            ? NULL
            : json_pack("{s:o, s:o, s:o, s:o}", "file", weft_cli_json_text(name_of(file)),
                        "language", language_json(made->language), "text", weft_cli_json_text(text),
                        "seconds", weft_cli_json_real(seconds));
    object = weft_cli_json_field(object, "segments", made->segments);
    made->segments = NULL;
    state->files = weft_cli_json_append(state->files, object);
}

static void clear_file(transcribe_state *state) {
    const weft_host host = state->session.host;
    json_decref(state->file.segments);
    weft_free(&host, state->file.text.data);
    weft_sound_clear(&state->sound, &host);
    state->file = (transcribed){.text = {.host = host}};
}

/* What the model refuses is the command line's fault: a language that it does not know, a translation, too many tokens. */
static int begin_transcript(transcribe_state *state, const float *samples, uint64_t count) {
    const transcribe_options *options = state->options;
    const weft_transcript_params *params =
        weft_transcript_params(.samples = samples, .count = count, .language = options->language,
                               .translates = options->translates,
                               .without_times = options->without_times, .tokens = options->tokens);
    return weft_cli_exit_code(weft_transcriber_begin(state->transcriber, params));
}

static int write_down(transcribe_state *state, const char *file) {
    const transcribe_options *options = state->options;
    WEFT_CLI_TRY(begin_transcript(state, state->sound.samples, state->sound.count));
    if (options->file_count > 1 && !options->common.json) {
        weft_cli_print(stdout, "%s:\n", name_of(file));
    }
    state->file.segments = json_array();
    WEFT_CLI_TRY(weft_cli_exit_code_of_file(take_steps(state, file)));
    if (options->common.json) {
        keep_file(state, file);
    }
    return WEFT_CLI_FINE;
}

/* Without one that cannot be read the others are written down. */
static int run_file(transcribe_state *state, const char *file) {
    const weft_status status = prepare_sound(state, file);
    if (status == WEFT_CANCELLED) {
        state->whole = false;
        return WEFT_CLI_FINE;
    }
    if (status != WEFT_OK) {
        const int exit_code = weft_cli_exit_code_of_file(status);
        state->exit_code = state->exit_code == WEFT_CLI_FINE ? exit_code : state->exit_code;
        return WEFT_CLI_FINE;
    }
    return write_down(state, file);
}

static int run_files(transcribe_state *state) {
    static const float silence[1];
    const transcribe_options *options = state->options;
    WEFT_CLI_TRY(
        begin_transcript(state, silence, 1)); /* what is refused is so before a file is read */
    uint32_t done = 0;
    while (done < options->file_count && state->whole && state->open && !weft_cli_stopped()) {
        const int exit_code = run_file(state, options->files[done++]);
        clear_file(state);
        WEFT_CLI_TRY(exit_code);
    }
    weft_cli_stop_settle(state->whole && done == options->file_count);
    return WEFT_CLI_FINE;
}

/* ---- what it says ---- */

static int print_json(transcribe_state *state) {
    json_t *run =
        json_pack("{s:b, s:o, s:o}", "stopped", (int)weft_cli_stopped(), "seconds",
                  weft_cli_json_real(state->seconds), "run_ms", weft_cli_json_real(state->run_ms));
    run = weft_cli_json_field(run, "files", state->files);
    state->files = NULL;
    return weft_cli_print_json(
        weft_cli_json_merge(weft_cli_session_json(&state->session, NULL), run));
}

static int print_end(const transcribe_state *state) {
    const weft_device_info *device = &state->session.device_info;
    weft_cli_print(stderr, "weft: %s%.1f s of sound, %u segment%s, in %.1f s; %s (%s)\n",
                   weft_cli_stopped() ? "stopped: the first " : "", state->seconds, state->segments,
                   state->segments == 1 ? "" : "s", state->run_ms / 1e3, device->name,
                   weft_device_type_name(device->type));
    return WEFT_CLI_FINE;
}

static int run_all(transcribe_state *state) {
    const transcribe_options *options = state->options;
    WEFT_CLI_TRY(weft_cli_session_load(&state->session, &options->common, options->model));
    WEFT_CLI_TRY(weft_cli_session_open(&state->session, &options->common));
    WEFT_CLI_TRY(weft_cli_exit_code_of_file(weft_transcriber_create(
        &state->transcriber, state->session.model, state->session.device, NULL)));
    WEFT_CLI_TRY(weft_cli_exit_code(weft_transcriber_get_info(state->transcriber, &state->info)));
    clear_file(state);
    WEFT_CLI_TRY(run_files(state));
    WEFT_CLI_TRY(options->common.json ? print_json(state) : print_end(state));
    const int validation = weft_cli_validation_code(state->session.device);
    return state->exit_code == WEFT_CLI_FINE ? validation : state->exit_code;
}

static int run(const transcribe_options *options) {
    transcribe_state state = {
        .options = options, .files = json_array(), .open = true, .whole = true};
    const int exit_code = run_all(&state);
    clear_file(&state);
    json_decref(state.files);
    weft_transcriber_destroy(&state.transcriber);
    weft_cli_session_close(&state.session);
    return exit_code;
}

/* ---- the command line ---- */

int weft_cli_transcribe(int argc, char **argv) {
    transcribe_options options = {.common = {.command = "transcribe"}};
    const weft_cli_option table[] = {
        {"language", WEFT_CLI_TEXT, &options.language, "CODE",
         "the language that is spoken, such as en (default: found in each file's first window)"},
        {"translate", WEFT_CLI_FLAG, &options.translates, NULL,
         "write English, whatever is spoken"},
        {"srt", WEFT_CLI_FLAG, &options.subtitles, NULL,
         "print subtitles, as SubRip has them: each segment with its times"},
        {"without-times", WEFT_CLI_FLAG, &options.without_times, NULL,
         "let the model write no time stamps: each window is one segment, and a longer sound is "
         "cut "
         "where it is quietest in the last sixth of each, where what is said may be lost"},
        {"tokens", WEFT_CLI_COUNT, &options.tokens, "N",
         "most tokens for a window (default: as many as the model has positions for)"},
        WEFT_CLI_DEVICE_OPTIONS(&options.common),
        WEFT_CLI_OUTPUT_OPTIONS(&options.common),
        {.name = NULL},
    };
    int found = 0;
    const weft_cli_syntax syntax = {
        .command = "transcribe",
        .positionals = "MODEL FILE...",
        .positional_count = 2,
        .positional_found = &found,
        .summary =
            "Writes down what is said in sound files, with a model of Whisper's kind. A FILE is a "
            "WAV file, of any rate and any number of channels, or - for standard input. The model "
            "reads windows of 30 seconds, and parts the text of each by time stamps: each segment "
            "is a line, which is printed once its window has been read, and the next window begins "
            "where the last whole segment ends. Of several files, a line with the file's name "
            "stands before its text. Each token is the most likely one. A file that cannot be read "
            "is named on standard error, and the others are written down.",
        .options = table,
    };
    const char **paths = calloc((size_t)argc + 1, sizeof *paths);
    if (!paths) {
        weft_cli_print(stderr, "weft: error: out of memory for the arguments\n");
        return WEFT_CLI_FAILED;
    }
    int exit_code = WEFT_CLI_FINE;
    if (weft_cli_parse(&syntax, argc, argv, paths, &exit_code)) {
        options.model = paths[0];
        options.files = paths + 1;
        options.file_count = (uint32_t)found - 1;
        exit_code =
            options.subtitles && (options.common.json || options.file_count > 1)
                ? weft_cli_usage_error(&syntax, "--srt takes a single file, and excludes --json")
                : run(&options);
    }
    free(paths);
    return exit_code;
}
