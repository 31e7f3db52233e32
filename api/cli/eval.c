/* SPDX-License-Identifier: MIT */
/* weft eval: a classifier's accuracy on labelled data. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "commands.h"
#include "eval_data.h"
#include "eval_expect.h"
#include "eval_run.h"
#include "logits.h"
#include "model/npy.h"
#include "session.h"

typedef struct eval_options {
    weft_cli_common common;
    const char *paths[2]; /* model, data */
    const char *out;
    const char *expect;
    const char *bits;
    uint32_t batch;
} eval_options;

typedef struct label_count {
    uint32_t examples;
    uint32_t correct;
} label_count;

typedef struct eval_state {
    const eval_options *options;
    weft_cli_session session;
    weft_cli_data data;
    weft_cli_evaluation evaluation;
    weft_cli_expected expected; /* of --expect, or zeroed */
    weft_cli_comparison comparison;
    label_count *counts; /* of each label */
    uint32_t correct;
    char digest[WEFT_DIGEST_TEXT_SIZE];
    char expected_digest[WEFT_DIGEST_TEXT_SIZE]; /* of --bits, or empty */
} eval_state;

/* ---- the work ---- */

static weft_status count_correct(eval_state *state) {
    uint32_t labels = state->session.info.label_count;
    state->counts = weft_alloc_zero(&state->session.host, labels, sizeof *state->counts);
    if (state->counts == NULL) {
        return weft_fail_memory(&state->session.host, "the counts");
    }
    for (uint32_t index = 0; index < state->data.count; index++) {
        uint32_t label = state->data.examples[index].label;
        const float *logits = &state->evaluation.logits[(size_t)index * labels];
        bool correct = weft_cli_argmax(logits, labels) == label;
        state->counts[label].examples++;
        state->counts[label].correct += correct;
        state->correct += correct;
    }
    weft_cli_digest(state->evaluation.logits, (uint64_t)state->data.count * labels, state->digest);
    return WEFT_OK;
}

static int check_model(const eval_state *state) {
    const weft_model_info *info = &state->session.info;
    if (info->label_count > 0) {
        return WEFT_CLI_FINE;
    }
    weft_fail(&state->session.host, WEFT_BAD_FILE,
              "%s: expected a model with labels, found %s, whose task is %s", state->session.folder,
              info->architecture, weft_task_name(info->task));
    return WEFT_CLI_BAD_FILE;
}

static int load(eval_state *state) {
    const eval_options *options = state->options;
    int exit_code = weft_cli_session_load(&state->session, &options->common, options->paths[0]);
    if (exit_code == WEFT_CLI_FINE) {
        exit_code = check_model(state);
    }
    if (exit_code == WEFT_CLI_FINE) {
        exit_code = weft_cli_data_load(&state->data, options->paths[1], &state->session);
    }
    if (exit_code == WEFT_CLI_FINE && options->expect != NULL) {
        exit_code = weft_cli_expected_load(&state->expected, options->expect, &state->data,
                                           &state->session);
    }
    if (exit_code == WEFT_CLI_FINE && options->bits != NULL) {
        exit_code = weft_cli_exit_code_of_file(
            weft_cli_read_digest(state->expected_digest, options->bits, &state->session.host));
    }
    return exit_code;
}

static int evaluate(eval_state *state) {
    const eval_options *options = state->options;
    uint32_t labels = state->session.info.label_count;
    int exit_code = weft_cli_session_open(&state->session, &options->common);
    if (exit_code == WEFT_CLI_FINE) {
        exit_code =
            weft_cli_evaluate(&state->evaluation, &state->data, options->batch, &state->session);
    }
    if (exit_code == WEFT_CLI_FINE && options->expect != NULL) {
        state->comparison =
            weft_cli_compare(state->evaluation.logits, &state->expected, state->data.count, labels);
    }
    if (exit_code == WEFT_CLI_FINE && options->out != NULL) {
        weft_shape shape = weft_shape_of(state->data.count, labels);
        exit_code = weft_cli_exit_code(weft_npy_write_f32(options->out, state->evaluation.logits,
                                                          shape, &state->session.host));
    }
    return exit_code == WEFT_CLI_FINE ? weft_cli_exit_code(count_correct(state)) : exit_code;
}

/* ---- the report ---- */

static bool has_expected_bits(const eval_state *state) {
    return strcmp(state->digest, state->expected_digest) == 0;
}

static double ratio(uint32_t part, uint32_t whole) {
    return whole == 0 ? 0.0 : (double)part / (double)whole;
}

static double per_second(double amount, double ms) {
    return ms > 0.0 ? amount / ms * 1e3 : 0.0;
}

static json_t *labels_json(const eval_state *state) {
    json_t *labels = json_array();
    for (uint32_t label = 0; label < state->session.info.label_count; label++) {
        const label_count *count = &state->counts[label];
        json_t *row = json_pack(
            "{s:o, s:I, s:I, s:o}", "label",
            weft_cli_json_text(weft_model_label(state->session.model, label)), "examples",
            (json_int_t)count->examples, "correct", (json_int_t)count->correct, "accuracy",
            count->examples == 0 ? json_null()
                                 : weft_cli_json_real(ratio(count->correct, count->examples)));
        if (json_array_append_new(labels, row) != 0) {
            json_decref(labels);
            return NULL;
        }
    }
    return labels;
}

static json_t *comparison_json(const eval_state *state) {
    if (state->options->expect == NULL) {
        return json_null();
    }
    return json_pack("{s:o, s:I, s:o}", "file", weft_cli_json_text(state->options->expect),
                     "different_labels", (json_int_t)state->comparison.different,
                     "max_logit_difference", weft_cli_json_real(state->comparison.largest));
}

static int report_json(const eval_state *state) {
    const weft_cli_session *session = &state->session;
    const weft_cli_evaluation *evaluation = &state->evaluation;
    weft_device_stats stats;
    weft_status status = weft_device_get_stats(session->device, &stats);
    if (status != WEFT_OK) {
        return weft_cli_exit_code(status);
    }
    double examples = (double)state->data.count;
    return weft_cli_print_json(json_pack(
        "{s:o, s:o, s:o, s:s, s:I, s:I, s:o, s:I, s:o, s:I, s:o, s:o, s:o, s:I, s:I, s:o, s:s, "
        "s:o, s:o}",
        "model", weft_cli_json_text(session->folder), "data",
        weft_cli_json_text(state->options->paths[1]), "device",
        weft_cli_device_json(&session->device_info), "math",
        weft_math_name(state->options->common.math), "examples", (json_int_t)state->data.count,
        "correct", (json_int_t)state->correct, "accuracy",
        weft_cli_json_real(ratio(state->correct, state->data.count)), "cut_texts",
        (json_int_t)state->data.cut, "run_ms", weft_cli_json_real(evaluation->run_ms), "plans",
        (json_int_t)evaluation->plans, "compile_ms", weft_cli_json_real(evaluation->compile_ms),
        "examples_per_s", weft_cli_json_real(per_second(examples, evaluation->run_ms)),
        "tokens_per_s",
        weft_cli_json_real(per_second((double)evaluation->tokens, evaluation->run_ms)),
        "shaders_compiled", (json_int_t)stats.shaders_compiled, "validation_messages",
        (json_int_t)stats.validation_messages, "labels", labels_json(state), "logits_sha256",
        state->digest, "expected_sha256",
        state->options->bits == NULL ? json_null() : json_string(state->expected_digest),
        "expected", comparison_json(state)));
}

static int print_labels(const eval_state *state) {
    static const char *const columns[] = {"label", ">examples", ">correct", ">accuracy", NULL};
    weft_cli_table *table = weft_cli_table_begin(columns);
    for (uint32_t label = 0; label < state->session.info.label_count; label++) {
        const label_count *count = &state->counts[label];
        if (count->examples == 0) {
            continue;
        }
        weft_cli_table_cell(table, "%s", weft_model_label(state->session.model, label));
        weft_cli_table_cell(table, "%u", count->examples);
        weft_cli_table_cell(table, "%u", count->correct);
        weft_cli_table_cell(table, "%.2f %%", 100.0 * ratio(count->correct, count->examples));
    }
    return weft_cli_table_print(&table);
}

static int report_text(const eval_state *state) {
    const weft_cli_evaluation *evaluation = &state->evaluation;
    const weft_device_info *device = &state->session.device_info;
    int exit_code = print_labels(state);
    printf("\naccuracy %.4f %%: %u of %u examples\n",
           100.0 * ratio(state->correct, state->data.count), state->correct, state->data.count);
    if (state->data.cut > 0) {
        printf("%u texts were cut to the model's %u tokens\n", state->data.cut,
               state->session.info.max_length);
    }
    printf("%.1f examples/s, %.0f tokens/s on %s (%s), %s; %u plans compiled in %.0f ms\n",
           per_second((double)state->data.count, evaluation->run_ms),
           per_second((double)evaluation->tokens, evaluation->run_ms), device->name,
           weft_device_type_name(device->type), weft_math_name(state->options->common.math),
           evaluation->plans, evaluation->compile_ms);
    printf("SHA-256 of the logits' bits: %s%s\n", state->digest,
           state->options->bits != NULL && has_expected_bits(state) ? ", as expected" : "");
    if (state->options->expect != NULL) {
        printf("%s: %u labels differ, largest logit difference %.3g\n", state->options->expect,
               state->comparison.different, state->comparison.largest);
    }
    return exit_code;
}

static int report(const eval_state *state) {
    int exit_code = state->options->common.json ? report_json(state) : report_text(state);
    if (exit_code != WEFT_CLI_FINE) {
        return exit_code;
    }
    if (state->options->bits != NULL && !has_expected_bits(state)) {
        fprintf(stderr, "weft: error: the logits' bits have SHA-256 %s, but %s has %s\n",
                state->digest, state->options->bits, state->expected_digest);
        exit_code = WEFT_CLI_FAILED;
    }
    if (state->options->expect != NULL && state->comparison.different > 0) {
        fprintf(stderr,
                "weft: error: %u predicted labels differ from %s, the first at example %u\n",
                state->comparison.different, state->options->expect, state->comparison.first);
        exit_code = WEFT_CLI_FAILED;
    }
    return weft_cli_validation_failed(state->session.device) ? WEFT_CLI_FAILED : exit_code;
}

int weft_cli_eval(int argc, char **argv) {
    eval_options options = {.batch = 32};
    const weft_cli_option table[] = {
        {"batch", WEFT_CLI_COUNT, &options.batch, "N", "examples in a run, at most (default 32)"},
        {"out", WEFT_CLI_TEXT, &options.out, "FILE",
         "write the logits to this .npy file, float32 [examples, labels]"},
        {"bits", WEFT_CLI_TEXT, &options.bits, "FILE",
         "compare the SHA-256 of all logits with the one that this file starts with;\n"
         "exit code 1 when they differ (reproducible math only)"},
        {"expect", WEFT_CLI_TEXT, &options.expect, "FILE",
         "compare with another program's logits, the members `logits` and,\n"
         "for the predicted labels, `labels` of an .npz file; exit code 1\n"
         "when a predicted label differs"},
        WEFT_CLI_DEVICE_OPTIONS(&options.common),
        WEFT_CLI_OUTPUT_OPTIONS(&options.common),
        {.name = NULL},
    };
    const weft_cli_syntax syntax = {
        .command = "eval",
        .positionals = "MODEL DATA",
        .positional_count = 2,
        .summary =
            "Measures a classifier's accuracy. DATA is an .npz file with tokens [N, n] and labels\n"
            "[N], and lengths [N] where rows are shorter than n; or a folder of texts,\n"
            "LABEL/NAME.txt, where LABEL is a label or its first word.",
        .options = table,
    };
    int exit_code = WEFT_CLI_FINE;
    if (!weft_cli_parse(&syntax, argc, argv, options.paths, &exit_code)) {
        return exit_code;
    }
    if (options.bits != NULL && options.common.math != WEFT_MATH_REPRODUCIBLE) {
        return weft_cli_usage_error(&syntax, "--bits needs --math reproducible: the bits of fast "
                                             "mode differ between devices");
    }
    eval_state state = {.options = &options};
    exit_code = load(&state);
    if (exit_code == WEFT_CLI_FINE) {
        exit_code = evaluate(&state);
    }
    if (exit_code == WEFT_CLI_FINE) {
        exit_code = report(&state);
    }
    weft_host host = state.session.host;
    weft_free(&host, state.counts);
    weft_free(&host, state.evaluation.logits);
    weft_cli_expected_clear(&state.expected, &host);
    weft_cli_data_clear(&state.data, &host);
    weft_cli_session_close(&state.session);
    return exit_code;
}
