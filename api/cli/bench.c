/* SPDX-License-Identifier: MIT */
/* weft bench: what bench/ measures, from the command line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/decoders_report.h"
#include "bench/file.h"
#include "bench/label.h"
#include "bench/publish.h"
#include "bench/report.h"
#include "bench/side_by_side.h"
#include "bench/suites/mixers.h"
#include "commands.h"
#include "stop.h"

#define MAX_LENGTH        (1U << 24)
#define CASE_ROUNDS       2
#define MODEL_ROUNDS      5
#define PROMPT_TOKENS     512
#define NEW_TOKENS        128
#define LEAST_SLOW_DOWN   2
#define LARGEST_SLOW_DOWN 10

struct options {
    weft_bench_settings settings;
    const char *suite;
    const char *filter;
    const char *size;
    const char *lengths;     /* null: those of the size */
    const char *from;        /* a report whose rows are taken instead of measuring */
    const char *compare;     /* the report to compare with */
    const char *index;       /* a folder of results to list instead of measuring */
    const char *const *more; /* reports beside that of `from` */
    int more_count;
    const char *baseline;               /* whose times those beside it are divided by */
    weft_cli_list models;               /* whose decoders are timed instead of cases */
    uint32_t prompt_tokens, new_tokens; /* of these; 0: as many as usual */
    weft_bench_outputs outputs;
    double seconds; /* per case */
};

/* ---- which cases ---- */

static int lengths_error(const struct options *options, const weft_cli_syntax *syntax) {
    return weft_cli_usage_error(syntax,
                                "--lengths: expected at most %d whole numbers from %u to %u in "
                                "ascending order, as in 512,1024, found '%s'",
                                WEFT_BENCH_MAX_LENGTHS, WEFT_BENCH_MIN_LENGTH, MAX_LENGTH,
                                options->lengths);
}

static int read_lengths(struct options *options, const weft_cli_syntax *syntax) {
    weft_bench_scope *scope = &options->settings.scope;
    const char *at = options->lengths;
    uint32_t previous = 0;
    scope->lengths_given = true;
    for (;;) {
        uint64_t value = 0;
        if (!weft_cli_take_number(&value, &at) || (*at != '\0' && *at != ',') ||
            value < WEFT_BENCH_MIN_LENGTH || value > MAX_LENGTH || value <= previous ||
            scope->length_count == WEFT_BENCH_MAX_LENGTHS) {
            return lengths_error(options, syntax);
        }
        previous = (uint32_t)value;
        scope->lengths[scope->length_count++] = previous;
        if (*at == '\0') {
            return WEFT_CLI_FINE;
        }
        at++;
    }
}

static int read_scope(struct options *options, const weft_cli_syntax *syntax) {
    weft_bench_size_from_name(&options->settings.scope.size, options->size);
    if (options->lengths) {
        return read_lengths(options, syntax);
    }
    weft_bench_default_lengths(&options->settings.scope);
    return WEFT_CLI_FINE;
}

/** The cases that the options ask for. */
static int list_cases(weft_bench_list *list, const struct options *options,
                      const weft_cli_syntax *syntax) {
    const weft_bench_suite *suite;
    for (uint32_t i = 0; (suite = weft_bench_suite_at(i)); i++) {
        if (!options->suite || weft_bench_suite_is(suite, options->suite)) {
            suite->add(list, &options->settings.scope);
        }
    }
    if (options->filter) {
        weft_bench_list_keep(list, options->filter);
    }
    if (list->status == WEFT_OK && list->count == 0) {
        return weft_cli_usage_error(syntax, "--filter: no case of %s has '%s' in its name",
                                    options->suite ? options->suite : "any suite",
                                    options->filter ? options->filter : "");
    }
    return weft_cli_exit_code(list->status);
}

/* ---- the command ---- */

static int run_session(weft_bench_session *session, const struct options *options,
                       const weft_cli_syntax *syntax) {
    WEFT_CLI_TRY(list_cases(&session->cases, options, syntax));
    WEFT_CLI_TRY(weft_bench_session_run(session));
    weft_cli_stop_settle(!session->interrupted);
    WEFT_CLI_TRY(
        weft_bench_publish(weft_bench_report_json(session), &options->outputs, &session->host));
    return session->failed || session->interrupted ? WEFT_CLI_FAILED : WEFT_CLI_FINE;
}

static int measure(const struct options *options, const weft_cli_syntax *syntax) {
    weft_bench_session session;
    weft_bench_session_begin(&session, &options->settings);
    int code = run_session(&session, options, syntax);
    weft_bench_session_end(&session);
    return code;
}

static int read_report(json_t **report, const char *path, const weft_host *host) {
    return weft_cli_exit_code_of_file(weft_bench_file_read(report, path, host));
}

/* What an option makes of no use. */
enum { BY_FILES = 1, BY_MODELS = 2 };

static int refuse_others(unsigned by, const char *reason, const struct options *options,
                         const weft_cli_syntax *syntax) {
    const weft_bench_settings *settings = &options->settings;
    const struct {
        const char *name;
        bool given;
        unsigned useless;
    } rows[] = {
        {"suite", options->suite != NULL, BY_FILES | BY_MODELS},
        {"filter", options->filter != NULL, BY_FILES | BY_MODELS},
        {"lengths", options->lengths != NULL, BY_FILES | BY_MODELS},
        {"debug-slow-down", settings->slow_down > 0, BY_FILES | BY_MODELS},
        {"write-expected", settings->write_expected != NULL, BY_FILES | BY_MODELS},
        {"label", settings->label != NULL, BY_FILES},
        {"device", settings->common.device != NULL, BY_FILES},
        {"from", options->from != NULL, BY_MODELS},
        {"index", options->index != NULL, BY_MODELS},
        {"compare", options->compare != NULL, BY_MODELS},
        {"csv", options->outputs.csv_file != NULL, BY_MODELS},
        {"html", options->outputs.html_file != NULL, BY_MODELS},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].given && (rows[i].useless & by) != 0) {
            return weft_cli_usage_error(syntax, "--%s: it excludes --%s", reason, rows[i].name);
        }
    }
    return WEFT_CLI_FINE;
}

/** Refuses options that say what to measure, where another one measures nothing. */
static int measures_nothing(const char *option, const struct options *options,
                            const weft_cli_syntax *syntax) {
    char reason[96];
    snprintf(reason, sizeof reason, "%s uses the rows of files and measures nothing", option);
    return refuse_others(BY_FILES, reason, options, syntax);
}

static int convert(const struct options *options, const weft_cli_syntax *syntax,
                   const weft_host *host) {
    WEFT_CLI_TRY(measures_nothing("from", options, syntax));
    json_t *report = NULL;
    WEFT_CLI_TRY(read_report(&report, options->from, host));
    return weft_bench_publish(report, &options->outputs, host);
}

/** Machines side by side, of a folder or of several files. */
static int lay_side_by_side(const struct options *options, const weft_cli_syntax *syntax,
                            const weft_host *host) {
    WEFT_CLI_TRY(measures_nothing(options->index ? "index" : "from", options, syntax));
    if (options->compare || (options->index && options->from)) {
        return weft_cli_usage_error(syntax, options->index
                                                ? "--index excludes --from and --compare"
                                                : "--compare is for one report of --from");
    }
    const weft_bench_machines machines = {.folder = options->index,
                                          .first = options->from,
                                          .more = options->more,
                                          .more_count = (uint32_t)options->more_count,
                                          .baseline = options->baseline,
                                          .outputs = &options->outputs};
    return weft_bench_machines_run(&machines, syntax, host);
}

/** --model: decoders instead of cases. */
static int time_models(const struct options *options, const weft_cli_syntax *syntax) {
    WEFT_CLI_TRY(refuse_others(BY_MODELS, "model times decoders alone", options, syntax));
    const weft_bench_decoders_settings settings = {
        .common = options->settings.common,
        .label = options->settings.label,
        .prompt = options->prompt_tokens > 0 ? options->prompt_tokens : PROMPT_TOKENS,
        .made = options->new_tokens > 0 ? options->new_tokens : NEW_TOKENS,
        .rounds = options->settings.rounds,
        .json_file = options->outputs.json_file};
    return weft_bench_decoders_run(&settings, &options->models);
}

/** Of files that lie beside each other, and of what names a machine. */
static int check_machines(const struct options *options, const weft_cli_syntax *syntax) {
    if (options->more_count > 0 && !options->from) {
        return weft_cli_usage_error(syntax, "unexpected argument '%s': only --from takes files",
                                    options->more[0]);
    }
    if (options->models.count == 0 && (options->prompt_tokens > 0 || options->new_tokens > 0)) {
        return weft_cli_usage_error(syntax, "--%s is for --model",
                                    options->prompt_tokens > 0 ? "prompt-tokens" : "new-tokens");
    }
    if (options->baseline && !options->index && options->more_count == 0) {
        return weft_cli_usage_error(syntax, "--baseline is for --index, and for --from with "
                                            "several files");
    }
    if (options->settings.label && !weft_bench_label_fits(options->settings.label)) {
        return weft_cli_usage_error(syntax,
                                    "--label: expected " WEFT_BENCH_LABEL_RULE ", found '%.100s'",
                                    options->settings.label);
    }
    return WEFT_CLI_FINE;
}

static int check_options(const struct options *options, const weft_cli_syntax *syntax) {
    const uint32_t slow_down = options->settings.slow_down;
    if (slow_down != 0 && (slow_down < LEAST_SLOW_DOWN || slow_down > LARGEST_SLOW_DOWN)) {
        return weft_cli_usage_error(syntax,
                                    "--debug-slow-down: expected a whole number from %d to %d, "
                                    "found '%u'",
                                    LEAST_SLOW_DOWN, LARGEST_SLOW_DOWN, slow_down);
    }
    if (options->settings.rounds > WEFT_BENCH_MAX_ROUNDS) {
        return weft_cli_usage_error(syntax,
                                    "--rounds: expected a whole number from 1 to %d, found '%u'",
                                    WEFT_BENCH_MAX_ROUNDS, options->settings.rounds);
    }
    if (options->settings.write_expected &&
        options->settings.common.math != WEFT_MATH_REPRODUCIBLE) {
        return weft_cli_usage_error(
            syntax,
            "--write-expected: only the bits of --math reproducible are the same everywhere");
    }
    if (!options->compare && (options->outputs.fail_on_slower || options->outputs.noise_percent)) {
        return weft_cli_usage_error(syntax, "--%s is for --compare",
                                    options->outputs.fail_on_slower ? "fail-on-slower" : "noise");
    }
    return WEFT_CLI_FINE;
}

/** Reads the file to compare with before anything is measured. */
static int run_cases(struct options *options, const weft_cli_syntax *syntax,
                     const weft_host *host) {
    if (!options->from) {
        WEFT_CLI_TRY(read_scope(options, syntax));
    }
    json_t *before = NULL;
    if (options->compare) {
        WEFT_CLI_TRY(read_report(&before, options->compare, host));
    }
    options->outputs.before = before;
    options->outputs.measured = !options->from;
    int code = options->from ? convert(options, syntax, host) : measure(options, syntax);
    json_decref(before);
    return code;
}

static int run(struct options *options, const weft_cli_syntax *syntax) {
    const weft_host host = weft_cli_host(&options->settings.common);
    WEFT_CLI_TRY(check_options(options, syntax));
    WEFT_CLI_TRY(check_machines(options, syntax));
    options->outputs.json = options->settings.common.json;
    if (options->models.count > 0) {
        return time_models(options, syntax);
    }
    if (options->index || options->more_count > 0) {
        return lay_side_by_side(options, syntax, &host);
    }
    return run_cases(options, syntax, &host);
}

static int parse_and_run(struct options *options, const weft_cli_syntax *syntax, int argc,
                         char **argv) {
    const char **files = calloc((size_t)argc + 1, sizeof *files);
    if (!files) {
        weft_cli_print(stderr, "weft: error: out of memory for the arguments\n");
        return WEFT_CLI_FAILED;
    }
    int code;
    if (weft_cli_parse(syntax, argc, argv, files, &code)) {
        options->more = files;
        options->settings.limit_ms = 1e3 * options->seconds;
        if (options->settings.rounds == 0) {
            options->settings.rounds = options->models.count > 0 ? MODEL_ROUNDS : CASE_ROUNDS;
        }
        code = run(options, syntax);
    }
    free((void *)files);
    return code;
}

int weft_cli_bench(int argc, char **argv) {
    struct options options = {.seconds = 2, .settings.time_cap = 120, .size = "full"};
    const weft_cli_option list[] = {
        {"suite", WEFT_CLI_TEXT, &options.suite,
         "ops|mixers|papers|fnet|fmm|flt|ski|spectra|models|decode|device",
         "only this suite; papers: fnet to spectra, which have figures of papers"},
        {"filter", WEFT_CLI_TEXT, &options.filter, "TEXT",
         "only the cases whose names contain TEXT"},
        {"size", WEFT_CLI_TEXT, &options.size, "full|short|smallest",
         "how much of each suite (default full)"},
        {"lengths", WEFT_CLI_TEXT, &options.lengths, "N,N,...",
         "lengths n of the series (default of full: 512,1024,2048,4096,8192,16384)"},
        {"seconds", WEFT_CLI_SECONDS, &options.seconds, "S",
         "repeat a case until its median is known to within 2 %, but at least 6 times and at most "
         "for S seconds (default 2)"},
        {"rounds", WEFT_CLI_COUNT, &options.settings.rounds, "N",
         "go through all cases N times (1 to 10), so that a disturbance of the machine shows in "
         "the intervals; --seconds is for all N (default 2, with --model 5)"},
        {"time-cap", WEFT_CLI_COUNT, &options.settings.time_cap, "N",
         "leave out a case if 8 runs of it are expected to take longer than "
         "N seconds, judging by its times at shorter lengths (default 120)"},
        {"no-limits", WEFT_CLI_FLAG, &options.settings.no_limits, NULL,
         "do not measure the device's own limits, which takes some seconds"},
        {"out", WEFT_CLI_TEXT, &options.outputs.json_file, "FILE",
         "also write the report to FILE, as JSON"},
        {"csv", WEFT_CLI_TEXT, &options.outputs.csv_file, "FILE",
         "also write the rows to FILE, as comma-separated values"},
        {"html", WEFT_CLI_TEXT, &options.outputs.html_file, "FILE",
         "also write the report to FILE, as a page with plots"},
        {"label", WEFT_CLI_TEXT, &options.settings.label, "TEXT",
         "what to call this machine in the report, in up to 64 characters (default: nothing)"},
        {"from", WEFT_CLI_TEXT, &options.from, "FILE",
         "measure nothing: use the report in FILE, which --out wrote; with more files behind it "
         "put their times side by side, with ratios to those of the first and geometric means"},
        {"index", WEFT_CLI_TEXT, &options.index, "DIR",
         "measure nothing: list the reports and certificates in the folders of DIR, "
         "as Markdown, and with --html as a page with their rows beside each other"},
        {"baseline", WEFT_CLI_TEXT, &options.baseline, "TEXT",
         "with --index or several files: show times over those of the first machine or device with "
         "TEXT in its name (default: the first file's, or of --index the one that shares most)"},
        {"model", WEFT_CLI_LIST, &options.models, "DIR",
         "time how fast this language model (a folder or a .gguf) reads a prompt and goes on, in "
         "place of cases, as a table in Markdown; may be there several times"},
        {"prompt-tokens", WEFT_CLI_COUNT, &options.prompt_tokens, "N",
         "with --model: tokens that are read at once (default 512)"},
        {"new-tokens", WEFT_CLI_COUNT, &options.new_tokens, "N",
         "with --model: tokens that are read one after the other (default 128)"},
        {"compare", WEFT_CLI_TEXT, &options.compare, "FILE",
         "report rows that are slower or faster, beyond noise, than in FILE, "
         "which --out wrote; with --json print only this"},
        {"noise", WEFT_CLI_COUNT, &options.outputs.noise_percent, "PERCENT",
         "with --compare: the least difference that counts, besides both "
         "intervals (default 3 on a GPU, 25 on a processor)"},
        {"fail-on-slower", WEFT_CLI_FLAG, &options.outputs.fail_on_slower, NULL,
         "with --compare: exit code 1 when a row is slower"},
        {"debug-slow-down", WEFT_CLI_COUNT, &options.settings.slow_down, "FACTOR",
         "execute every case FACTOR times (2 to 10) in each run, to try --compare"},
        {"write-expected", WEFT_CLI_TEXT, &options.settings.write_expected, "FILE",
         "write bench/expected.json with the outputs' SHA-256 as found; they are not checked "
         "then"},
        WEFT_CLI_DEVICE_OPTIONS(&options.settings.common),
        WEFT_CLI_OUTPUT_OPTIONS(&options.settings.common),
        {0},
    };
    const weft_cli_syntax syntax = {
        .command = "bench",
        .positionals = "[FILE...]",
        .positional_found = &options.more_count,
        .summary =
            "Times ops, mixers, whole models and a device's own limits, checks their "
            "results, and fits how time and memory grow with the length. --device all takes "
            "every usable device. Ctrl-C keeps finished cases. FILEs are further reports for "
            "--from.",
        .options = list};
    return parse_and_run(&options, &syntax, argc, argv);
}
