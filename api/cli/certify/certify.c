/* SPDX-License-Identifier: MIT */
/* weft certify: a device's bits and speed in ten minutes, as one file that can be sent. */
#include <stdio.h>
#include <string.h>

#include "bench/fields.h"
#include "bench/file.h"
#include "bench/label.h"
#include "bench/page.h"
#include "certify/bits.h"
#include "certify/check.h"
#include "certify/models.h"
#include "certify/record.h"
#include "certify/speed.h"
#include "commands.h"
#include "core/system/clock.h"
#include "core/text.h"
#include "stop.h"

typedef struct certify_options {
    weft_cli_common common;
    const char *out;
    const char *html;
    const char *check;
    const char *label;
    double seconds;
    uint32_t seed;
} certify_options;

/*
 * Until when each part may run, of all time. A part that is done before leaves its time to the later ones, of which the last,
 * all other cases, takes what there is.
 */
static const double listed_until[] = {0.15, 0.25}; /* by mode */
static const double models_until[] = {0.32, 0.38};
static const double first_pass_until[] = {0.46, 0.52, 0.58};
static const double second_pass_until[] = {0.75, 0.80, 0.85};
#define MORE_PASSES_UNTIL 0.90
#define SUSTAINED_PART    (60.0 / WEFT_CERTIFY_SECONDS)
#define WAIT_PART         (1.0 / WEFT_CERTIFY_SECONDS) /* to see the load before */

static const weft_math modes[] = {WEFT_MATH_REPRODUCIBLE, WEFT_MATH_FUSED, WEFT_MATH_FAST};

#define MODES      3
#define BITS_MODES 2 /* fast mode has no bits to compare */

/* A record while it is made. */
typedef struct maker {
    weft_certify_job job;
    weft_certify_bits bits[BITS_MODES];
    weft_certify_speed speed;
    weft_bench_environment environment;
    weft_bench_state state; /* the last one that was noted */
    json_t *record;
} maker;

/* ---- parts ---- */

static int note_state(maker *made, const char *when) {
    const weft_bench_state now = weft_bench_state_now();
    json_t *states = json_object_get(made->record, "states");
    json_t *state = weft_certify_state_json(when, &made->state, &now);
    made->state = now;
    return json_array_append_new(states, state) == 0
               ? WEFT_CLI_FINE
               : weft_cli_exit_code(weft_fail_memory(&made->job.host, "the record"));
}

static int note(maker *made, const char *name, json_t *section) {
    return json_object_set_new(made->record, name, section) == 0
               ? WEFT_CLI_FINE
               : weft_cli_exit_code(weft_fail_memory(&made->job.host, "the record"));
}

/* Opens the device, which runs the probe, before anything takes time. */
static int note_device(maker *made) {
    weft_device *device = NULL;
    weft_device_info info;
    made->job.common.math = WEFT_MATH_REPRODUCIBLE;
    WEFT_CLI_TRY(weft_cli_open_exit_code(weft_cli_open(&device, &made->job.common)));
    const weft_status status = weft_device_get_info(device, &info);
    weft_device_destroy(&device);
    WEFT_CLI_TRY(weft_cli_exit_code(status));
    return note(made, "device", weft_certify_device_json(&info));
}

static int run_bits(maker *made, bool all) {
    for (int i = 0; i < BITS_MODES; i++) {
        const uint32_t last = all ? made->job.cases.count : made->job.cases.listed;
        const double now = weft_clock_ms();
        const double end_ms = all ? now + (made->job.end_ms - now) /
                                              (BITS_MODES - i) /* what is left, in equal parts */
                                  : weft_certify_time_at(&made->job, listed_until[i]);
        WEFT_CLI_TRY(
            weft_cli_exit_code(weft_certify_bits_run(&made->bits[i], &made->job, last, end_ms)));
    }
    return WEFT_CLI_FINE;
}

static int run_models(maker *made) {
    json_t *rows = json_array();
    WEFT_CLI_TRY(note(made, "models", rows));
    for (int i = 0; i < BITS_MODES; i++) {
        WEFT_CLI_TRY(weft_cli_exit_code(weft_certify_models_run(
            rows, &made->job, modes[i], weft_certify_time_at(&made->job, models_until[i]))));
    }
    return WEFT_CLI_FINE;
}

static int run_pass(maker *made, uint32_t pass) {
    const double *until = pass == 0 ? first_pass_until : second_pass_until;
    for (int i = 0; i < MODES; i++) {
        const double end = pass < 2 ? until[i] : MORE_PASSES_UNTIL;
        WEFT_CLI_TRY(weft_certify_speed_pass(&made->speed, &made->job, modes[i], pass,
                                             weft_certify_time_at(&made->job, end)));
    }
    return WEFT_CLI_FINE;
}

static int run_bench(maker *made) {
    WEFT_CLI_TRY(run_pass(made, 0));
    WEFT_CLI_TRY(note_state(made, "after the first pass of the bench"));
    WEFT_CLI_TRY(note(made, "sustained",
                      weft_certify_sustain(&made->job, SUSTAINED_PART * made->job.seconds)));
    WEFT_CLI_TRY(note_state(made, "after the sustained minute"));
    WEFT_CLI_TRY(run_pass(made, 1));
    const double end_ms = weft_certify_time_at(&made->job, MORE_PASSES_UNTIL);
    for (uint32_t pass = 2; pass < WEFT_CERTIFY_PASSES && !weft_certify_is_over(end_ms) &&
                            weft_certify_unreplicated(made->speed.rows) > 0;
         pass++) {
        WEFT_CLI_TRY(run_pass(made, pass));
    }
    WEFT_CLI_TRY(note_state(made, "after the bench"));
    return note(made, "bench",
                json_pack("{s:f, s:O, s:O}", "replication", WEFT_CERTIFY_REPLICATION, "modes",
                          made->speed.modes, "rows", made->speed.rows));
}

static int run_parts(maker *made) {
    WEFT_CLI_TRY(note(made, "states", json_array()));
    made->state = weft_bench_state_now();
    weft_bench_state_wait((uint32_t)(1e3 * WAIT_PART * made->job.seconds));
    WEFT_CLI_TRY(note_state(made, "before"));
    WEFT_CLI_TRY(run_bits(made, false));
    WEFT_CLI_TRY(run_models(made));
    WEFT_CLI_TRY(run_bench(made));
    WEFT_CLI_TRY(run_bits(made, true));
    return note_state(made, "at the end");
}

/* ---- the record ---- */

static int finish(maker *made) {
    json_t *bits = json_array();
    json_object_set_new(json_object_get(made->record, "device"), "fma",
                        json_string(weft_fma_name(made->bits[1].fma))); /* of fused math */
    for (int i = 0; bits && i < BITS_MODES; i++) {
        bits = weft_cli_json_append(bits, weft_certify_bits_json(&made->bits[i], &made->job));
    }
    WEFT_CLI_TRY(note(made, "bits", bits));
    WEFT_CLI_TRY(note(made, "program", weft_certify_program_json(&made->job)));
    WEFT_CLI_TRY(note(made, "made", weft_certify_made_json(&made->job, made->environment.started)));
    WEFT_CLI_TRY(note(made, "system", weft_bench_environment_json(&made->environment)));
    WEFT_CLI_TRY(note(made, "summary", weft_certify_summary_json(made->record)));
    return weft_certify_seal(made->record)
               ? WEFT_CLI_FINE
               : weft_cli_exit_code(weft_fail_memory(&made->job.host, "the record"));
}

/* "weft-certificate-DEVICE-DATE.json" in host memory, or null. */
static char *name_record(const maker *made) {
    const char *device = weft_bench_text(json_object_get(made->record, "device"), "name");
    char slug[41];
    size_t length = 0;
    for (; *device != '\0' && length + 1 < sizeof slug; device++) {
        const char c = *device >= 'A' && *device <= 'Z' ? (char)(*device - 'A' + 'a') : *device;
        const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (plain || (length > 0 && slug[length - 1] != '-')) {
            slug[length++] = plain ? c : '-';
        }
    }
    length -= length > 0 && slug[length - 1] == '-';
    slug[length] = '\0';
    return weft_format(&made->job.host, "weft-certificate-%s-%.10s.json", slug,
                       made->environment.started);
}

/* The record's name with another ending, in host memory, or null. */
static char *name_page(const char *out, const weft_host *host) {
    const size_t ending = weft_ends_with(out, ".json") ? strlen(".json") : 0;
    return weft_format(host, "%.*s.html", (int)(strlen(out) - ending), out);
}

static int write_files(const maker *made, const certify_options *options) {
    const weft_host *host = &made->job.host;
    char *out = options->out ? weft_strdup(host, options->out) : name_record(made);
    char *html = options->html ? weft_strdup(host, options->html)
                 : out         ? name_page(out, host)
                               : NULL;
    weft_status status = out && html ? weft_bench_file_write(out, made->record, host)
                                     : weft_fail_memory(host, "the names of files");
    if (status == WEFT_OK) {
        status = weft_bench_certificate_page_write(html, made->record, host);
    }
    if (status == WEFT_OK && !options->common.json) {
        weft_cli_print(stdout, "%s and %s\n", out, html);
    }
    weft_free(host, out);
    weft_free(host, html);
    return weft_cli_exit_code_of_file(status);
}

/* What was tried and what came of it, a line each. */
static void print_bits(const json_t *record) {
    const json_t *bits = json_object_get(record, "bits");
    for (size_t i = 0; i < json_array_size(bits); i++) {
        const json_t *mode = json_array_get(bits, i);
        weft_cli_print(stdout,
                       "bits, %s: %.0f of %.0f cases ran, %.0f wrong, %.0f skipped; of %.0f that "
                       "execute every kernel %.0f ran\n",
                       weft_bench_text(mode, "math"), weft_bench_number(mode, "ran"),
                       weft_bench_number(mode, "cases"), weft_bench_number(mode, "failed"),
                       weft_bench_number(mode, "skipped"), weft_bench_number(mode, "listed"),
                       weft_bench_number(mode, "listed_ran"));
        const json_t *skips = json_object_get(mode, "listed_skips");
        for (size_t k = 0; k < json_array_size(skips); k++) {
            const json_t *skip = json_array_get(skips, k);
            weft_cli_print(stdout, "skipped %s: %s\n", weft_bench_text(skip, "case"),
                           weft_bench_text(skip, "reason"));
        }
        const json_t *failures = json_object_get(mode, "failures");
        for (size_t k = 0; k < json_array_size(failures); k++) {
            const json_t *failure = json_array_get(failures, k);
            weft_cli_print(stdout, "FAILED %s: %s\n", weft_bench_text(failure, "case"),
                           weft_bench_text(failure, "reason"));
        }
    }
}

static void print_record(const json_t *record) {
    const json_t *summary = json_object_get(record, "summary");
    const json_t *device = json_object_get(record, "device");
    const json_t *rate = json_object_get(summary, "mixing_rate_tokens_per_s");
    weft_cli_print(stdout, "%s (%s %s)\n", weft_bench_text(device, "name"),
                   weft_bench_text(device, "driver"), weft_bench_text(device, "driver_version"));
    if (weft_bench_number(summary, "cases_ran") == 0.0) {
        weft_cli_print(stdout, "no case ran: nothing is known of the bits\n");
    }
    print_bits(record);
    weft_cli_print(stdout, "models: %.0f of %.0f with the known logits\n",
                   weft_bench_number(summary, "models_agreeing"),
                   weft_bench_number(summary, "models"));
    if (json_is_null(rate)) {
        weft_cli_print(stdout, "no mixing rate: %s\n", weft_bench_text(summary, "reason"));
    } else {
        weft_cli_print(stdout, "mixing rate: %.4g million tokens/s\n",
                       1e-6 * json_number_value(rate));
    }
}

static int make(maker *made, const certify_options *options) {
    weft_certify_job *job = &made->job;
    job->begin_ms = weft_clock_ms();
    job->end_ms = job->begin_ms + 1e3 * job->seconds;
    made->record = json_pack("{s:i}", "certificate", WEFT_CERTIFY_FORM);
    for (uint32_t i = 0; weft_certify_section(i); i++) { /* which are then in that order */
        WEFT_CLI_TRY(note(made, weft_certify_section(i), json_null()));
    }
    WEFT_CLI_TRY(weft_cli_exit_code(weft_certify_cases_make(&job->cases, job->seed, &job->host)));
    WEFT_CLI_TRY(weft_cli_exit_code(weft_certify_speed_begin(&made->speed, &job->host)));
    for (int i = 0; i < BITS_MODES; i++) {
        WEFT_CLI_TRY(weft_cli_exit_code(weft_certify_bits_begin(&made->bits[i], modes[i], job)));
    }
    WEFT_CLI_TRY(note_device(
        made)); /* which fails with a reason; later the end of the time may cancel what opens it */
    weft_cli_cancel_at(job->end_ms);
    const int code = run_parts(made);
    weft_cli_cancel_at(0.0);
    WEFT_CLI_TRY(code);
    if (weft_cli_stopped()) {
        return WEFT_CLI_FAILED;
    }
    weft_cli_stop_settle(true);
    WEFT_CLI_TRY(finish(made));
    WEFT_CLI_TRY(write_files(made, options));
    if (options->common.json) {
        WEFT_CLI_TRY(weft_cli_print_json(json_incref(made->record)));
    } else {
        print_record(made->record);
    }
    const json_t *summary = json_object_get(made->record, "summary");
    return json_is_true(json_object_get(summary, "bits_agree")) ? WEFT_CLI_FINE : WEFT_CLI_FAILED;
}

static int certify(const certify_options *options) {
    maker made = {
        .job = {.common = options->common, .seconds = options->seconds, .seed = options->seed},
        .environment = weft_bench_environment_now()};
    made.environment.label = options->label;
    made.job.host = weft_cli_host(&made.job.common);
    const int code = make(&made, options);
    for (int i = 0; i < BITS_MODES; i++) {
        weft_certify_bits_free(&made.bits[i], &made.job.host);
    }
    weft_certify_speed_free(&made.speed);
    weft_certify_cases_free(&made.job.cases, &made.job.host);
    json_decref(made.record);
    return code;
}

int weft_cli_certify(int argc, char **argv) {
    certify_options options = {
        .common = {.command = "certify"}, .seconds = WEFT_CERTIFY_SECONDS, .seed = 1};
    const weft_cli_option table[] = {
        {"out", WEFT_CLI_TEXT, &options.out, "FILE",
         "write the record to FILE (default: weft-certificate-DEVICE-DATE.json)"},
        {"html", WEFT_CLI_TEXT, &options.html, "FILE",
         "write the page to FILE (default: beside the record, .html)"},
        {"seconds", WEFT_CLI_SECONDS, &options.seconds, "S",
         "be done in S seconds (default 540): every part gets its share, and what does not "
         "fit is left out and counted"},
        {"seed", WEFT_CLI_COUNT, &options.seed, "N",
         "of the order of the cases behind those that execute every kernel (default 1)"},
        {"check-submission", WEFT_CLI_TEXT, &options.check, "FILE",
         "instead say whether a record fits, with every reason against it: exit code 1 if not"},
        {"label", WEFT_CLI_TEXT, &options.label, "TEXT",
         "what to call this machine in the record, in up to 64 characters (default: nothing)"},
        {"device", WEFT_CLI_TEXT, &options.common.device, "SEL",
         "which device: an index or part of a name (see weft devices)"},
        {"no-cache", WEFT_CLI_FLAG, &options.common.no_cache, NULL,
         "keep no compiled shaders on disk, and use none"},
        WEFT_CLI_OUTPUT_OPTIONS(&options.common),
        {.name = NULL},
    };
    const weft_cli_syntax syntax = {
        .command = "certify",
        .summary =
            "Tries a device for ten minutes: the bits of the cases of weft verify and of three "
            "models in reproducible and fused math, a short bench twice, a minute without a "
            "pause. Writes a record as JSON, and a page. All that it needs is in the program. Exit "
            "code 1 when a bit is wrong or no case ran in a mode; if it is stopped, it writes "
            "nothing.",
        .options = table,
    };
    int code = WEFT_CLI_FINE;
    if (!weft_cli_parse(&syntax, argc, argv, NULL, &code)) {
        return code;
    }
    if (options.label && !weft_bench_label_fits(options.label)) {
        return weft_cli_usage_error(
            &syntax, "--label: expected " WEFT_BENCH_LABEL_RULE ", found '%.100s'", options.label);
    }
    return options.check ? weft_certify_check_file(options.check, &options.common)
                         : certify(&options);
}
