/* SPDX-License-Identifier: MIT */
/* weft eval: how good a model's answers on data are, and what they cost. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "commands.h"
#include "core/formats/npy.h"
#include "eval/answers.h"
#include "eval/compare.h"
#include "stop.h"

typedef struct eval_options {
    weft_cli_common common;
    const char *out;
    const char *expect;
    const char *bits;
    uint32_t batch;    /* 0: not given */
    uint32_t examples; /* 0: all */
    bool compare;
    bool answers;
} eval_options;

/* ---- one model ---- */

static int load(weft_cli_job *job, const eval_options *options, const char *const *paths) {
    WEFT_CLI_TRY(weft_cli_job_load(job, &options->common, paths[0], paths[1], NULL));
    if (options->out && weft_cli_measure_of(job->session.info.task) == WEFT_CLI_MEASURE_TOKENS) {
        weft_cli_print(stderr,
                       "weft eval: --out: %s is a language model with too many logits to keep; use "
                       "weft run --out for a few sequences\n",
                       paths[0]);
        return WEFT_CLI_USAGE;
    }
    WEFT_CLI_TRY(weft_cli_job_restrict(job, options->examples, options->answers));
    if (options->expect) {
        WEFT_CLI_TRY(
            weft_cli_expected_load(&job->expected, options->expect, job->data, &job->session));
    }
    if (options->bits) {
        job->bits_path = options->bits;
        WEFT_CLI_TRY(weft_cli_exit_code_of_file(
            weft_cli_read_digest(job->expected_digest, options->bits, &job->session.host)));
    }
    return WEFT_CLI_FINE;
}

static int write_outputs(const weft_cli_job *job, const char *path) {
    weft_shape shape = weft_shape_of(job->score.done, job->score.width);
    if (job->score.done == 0) { /* a file that is there is not replaced by one of nothing */
        return WEFT_CLI_FINE;
    }
    return weft_cli_exit_code(
        weft_npy_write_f32(path, job->score.outputs, shape, &job->session.host));
}

/* Prints the report, and on stderr whatever is wrong. */
static int report(const weft_cli_job *job) {
    WEFT_CLI_TRY(job->common->json ? weft_cli_print_json(weft_cli_job_json(job))
                                   : weft_cli_job_print(job));
    int exit_code = WEFT_CLI_FINE;
    if (weft_cli_stopped()) { /* not all outputs are there to compare */
        return WEFT_CLI_FAILED;
    }
    if (job->bits_path && strcmp(job->score.digest, job->expected_digest) != 0) {
        weft_cli_print(stderr, "weft: error: the outputs' bits have SHA-256 %s, but %s has %s\n",
                       job->score.digest, job->bits_path, job->expected_digest);
        exit_code = WEFT_CLI_FAILED;
    }
    if (job->expected.path &&
        !weft_cli_comparison_holds(&job->comparison, &job->expected, &job->score)) {
        exit_code = WEFT_CLI_FAILED;
    }
    return weft_cli_validation_failed(job->session.device) ? WEFT_CLI_FAILED : exit_code;
}

static int run_job(weft_cli_job *job, const eval_options *options, const char *const *paths) {
    WEFT_CLI_TRY(load(job, options, paths));
    WEFT_CLI_TRY(weft_cli_job_run(job, options->batch, "eval"));
    weft_cli_stop_settle(weft_cli_job_is_whole(job));
    if (options->out) {
        WEFT_CLI_TRY(write_outputs(job, options->out));
    }
    WEFT_CLI_TRY(weft_cli_receipt_end(&job->session.recording, &options->common));
    return report(job);
}

static int eval_one(const eval_options *options, const char *const *paths) {
    weft_cli_job job = {0};
    int exit_code = run_job(&job, options, paths);
    weft_cli_job_clear(&job);
    return exit_code;
}

/* ---- the command line ---- */

static int check_options(const weft_cli_syntax *syntax, const eval_options *options,
                         const char *const *paths, int found) {
    if (!options->compare && found > 2) {
        return weft_cli_usage_error(
            syntax, "unexpected argument '%s'; for several models use --compare MODEL... DATA",
            paths[2]);
    }
    if (options->compare &&
        (options->out || options->expect || options->bits || options->common.receipt)) {
        return weft_cli_usage_error(syntax, "--out, --expect, --bits and --receipt are for one "
                                            "model, without --compare");
    }
    if (options->examples > 0 && options->expect) {
        return weft_cli_usage_error(syntax, "--expect is for all examples, without --examples");
    }
    if (options->bits && options->common.math == WEFT_MATH_FAST) {
        return weft_cli_usage_error(syntax,
                                    "--bits needs --math reproducible or fused: the bits of "
                                    "fast mode differ between devices");
    }
    return WEFT_CLI_FINE;
}

static int run(const weft_cli_syntax *syntax, const eval_options *options, const char *const *paths,
               int found) {
    WEFT_CLI_TRY(check_options(syntax, options, paths, found));
    if (!options->compare) {
        return eval_one(options, paths);
    }
    const weft_cli_comparison_params params = {.common = &options->common,
                                               .models = paths,
                                               .count = (uint32_t)found - 1,
                                               .data = paths[found - 1],
                                               .batch = options->batch,
                                               .examples = options->examples,
                                               .answers = options->answers};
    return weft_cli_eval_compare(&params);
}

int weft_cli_eval(int argc, char **argv) {
    eval_options options = {.common = {.command = "eval"}};
    const weft_cli_option table[] = {
        {"compare", WEFT_CLI_FLAG, &options.compare, NULL,
         "take several models, before DATA, and print one line for each"},
        {"examples", WEFT_CLI_COUNT, &options.examples, "N",
         "take only N examples, evenly spread over the data"},
        {"answers", WEFT_CLI_FLAG, &options.answers, NULL,
         "show every example's predicted label, too; wrong ones are marked"},
        {"batch", WEFT_CLI_COUNT, &options.batch, "N",
         "examples in a run, at most (default 32, or fewer that have 8,192 tokens and, "
         "of a language model, 2^24 logits together)"},
        {"out", WEFT_CLI_TEXT, &options.out, "FILE",
         "write the outputs to this .npy file, float32 [examples, outputs]"},
        {"bits", WEFT_CLI_TEXT, &options.bits, "FILE",
         "compare the SHA-256 of all outputs with the digest that begins this file; "
         "exit code 1 when they differ (not in fast mode)"},
        {"expect", WEFT_CLI_TEXT, &options.expect, "FILE",
         "compare with another program's results in an .npz file; exit code 1 when "
         "they differ. Classification and retrieval: logits [N, C], and labels "
         "[N] where they were predicted otherwise: every label; language models: "
         "bits_per_byte, to 1e-4; regression: outputs [N, C], to 1e-4 relative"},
        WEFT_CLI_RECEIPT_OPTIONS(&options.common),
        WEFT_CLI_DEVICE_OPTIONS(&options.common),
        WEFT_CLI_STATE_OPTION(&options.common),
        WEFT_CLI_OUTPUT_OPTIONS(&options.common),
        {.name = NULL},
    };
    int found = 0;
    const weft_cli_syntax syntax = {
        .command = "eval",
        .positionals = "MODEL DATA",
        .positional_count = 2,
        .positional_found = &found,
        .summary =
            "Measures a model: accuracy, bits per byte or mean errors, by its task; speed; "
            "memory.\n"
            "With --compare: MODEL MODEL... DATA.\n"
            "\n"
            "DATA is an .npz file with the members\n"
            "  tokens [S, n], or inputs [S, n, c] (float32, or uint8 with 255 for 1)\n"
            "  labels [S] for classification; [S / 2] for retrieval, with pairs of "
            "sequences; [S, n] for masked language models, -1 where a token is not scored\n"
            "  targets [S, outputs] for regression\n"
            "  positions [S, n, l] if the model takes them\n"
            "  lengths [S] if sequences are shorter than n\n"
            "or, for classification, a folder of texts, LABEL/NAME.txt, where LABEL is a label or "
            "its first word. Speeds exclude a plan's first run.",
        .options = table,
    };
    const char **paths = calloc((size_t)argc + 1, sizeof *paths);
    if (!paths) {
        weft_cli_print(stderr, "weft: error: out of memory for the arguments\n");
        return WEFT_CLI_FAILED;
    }
    int exit_code = WEFT_CLI_FINE;
    if (weft_cli_parse(&syntax, argc, argv, paths, &exit_code)) {
        exit_code = run(&syntax, &options, paths, found);
    }
    free(paths);
    return exit_code;
}
