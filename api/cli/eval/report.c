/* SPDX-License-Identifier: MIT */
/* What `weft eval` says about a finished job. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/try.h"
#include "eval/answers.h"

static bool counts_bytes(const weft_model_info *info) {
    return strcmp(info->tokenizer, "bytes") == 0;
}

const char *weft_cli_bits_unit(const weft_model_info *info) {
    return counts_bytes(info) ? "bits per byte" : "bits per token";
}

static double label_accuracy(const weft_cli_label_count *count) {
    return count->examples == 0 ? (double)NAN : (double)count->correct / (double)count->examples;
}

/* ---- JSON ---- */

static json_t *labels_json(const weft_cli_job *job) {
    const weft_cli_score *score = &job->score;
    json_t *labels = json_array();
    bool has_labels = score->measure == WEFT_CLI_MEASURE_LABELS;
    for (uint32_t label = 0; has_labels && label < score->width; label++) {
        const weft_cli_label_count *count = &score->counts[label];
        json_t *row =
            json_pack("{s:o, s:I, s:I, s:o}", "label",
                      weft_cli_json_text(weft_model_label(job->session.model, label)), "examples",
                      (json_int_t)count->examples, "correct", (json_int_t)count->correct,
                      "accuracy", weft_cli_json_real(label_accuracy(count)));
        labels = weft_cli_json_append(labels, row);
    }
    return labels;
}

/* Model, data and device. */
static json_t *setting_json(const weft_cli_job *job) {
    const weft_cli_session *session = &job->session;
    const weft_model_info *info = &session->info;
    return json_pack(
        "{s:o, s:s, s:s, s:s, s:I, s:o, s:o, s:s, s:I, s:I, s:I}", "model",
        weft_cli_json_text(session->folder), "architecture", info->architecture, "mixing",
        info->mixing, "task", weft_task_name(info->task), "parameters",
        (json_int_t)info->parameters, "data", weft_cli_json_text(job->data->path), "device",
        weft_cli_device_json(&session->device_info), "math", weft_math_name(job->common->math),
        "examples", (json_int_t)job->data->example_count, "sequences",
        (json_int_t)job->data->sequence_count, "cut_texts", (json_int_t)job->data->cut);
}

/* A figure of one measure, or null. */
static json_t *figure(const weft_cli_score *score, weft_cli_measure measure, double value) {
    return score->measure == measure ? weft_cli_json_real(value) : json_null();
}

static json_t *quality_json(const weft_cli_job *job) {
    const weft_cli_score *score = &job->score;
    double bits = weft_cli_bits_per_token(score);
    bool values = score->measure == WEFT_CLI_MEASURE_VALUES;
    return json_pack(
        "{s:b, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "stopped",
        (int)!weft_cli_job_is_whole(job), "evaluated", (json_int_t)score->taken, "scored",
        (json_int_t)score->scored, "correct",
        values ? json_null() : json_integer((json_int_t)score->correct), "accuracy",
        values ? json_null() : weft_cli_json_real(weft_cli_accuracy(score)), "bits_per_token",
        figure(score, WEFT_CLI_MEASURE_TOKENS, bits), "bits_per_byte",
        counts_bytes(&job->session.info) ? figure(score, WEFT_CLI_MEASURE_TOKENS, bits)
                                         : json_null(),
        "perplexity", figure(score, WEFT_CLI_MEASURE_TOKENS, exp2(bits)), "mean_squared_error",
        figure(score, WEFT_CLI_MEASURE_VALUES, weft_cli_mean_squared(score)), "mean_absolute_error",
        figure(score, WEFT_CLI_MEASURE_VALUES, weft_cli_mean_absolute(score)), "labels",
        labels_json(job));
}

static json_t *cost_json(const weft_cli_job *job) {
    const weft_cli_evaluation *evaluation = &job->evaluation;
    return json_pack("{s:o, s:I, s:o, s:o, s:o, s:o, s:I, s:I, s:I}", "run_ms",
                     weft_cli_json_real(evaluation->run_ms), "plans", (json_int_t)evaluation->plans,
                     "compile_ms", weft_cli_json_real(evaluation->compile_ms), "examples_per_s",
                     weft_cli_json_real(weft_cli_speed(evaluation, evaluation->timed_examples)),
                     "sequences_per_s",
                     weft_cli_json_real(weft_cli_speed(evaluation, evaluation->timed_sequences)),
                     "tokens_per_s",
                     weft_cli_json_real(weft_cli_speed(evaluation, evaluation->timed_tokens)),
                     "peak_bytes", (json_int_t)evaluation->peak_bytes, "shaders_compiled",
                     (json_int_t)job->stats.shaders_compiled, "validation_messages",
                     (json_int_t)job->stats.validation_messages);
}

static json_t *bits_json(const weft_cli_job *job) {
    /* A language model's are taken in the order of lengths: a part of them has no meaning. */
    const bool has_digest = weft_cli_job_is_whole(job) || job->score.outputs;
    return json_pack("{s:s?, s:I, s:o, s:o}", "logits_sha256",
                     has_digest ? job->score.digest : NULL, "hashed_examples",
                     (json_int_t)(has_digest ? job->score.done : 0), "expected_sha256",
                     !job->bits_path ? json_null() : json_string(job->expected_digest), "expected",
                     weft_cli_job_is_whole(job)
                         ? weft_cli_comparison_json(&job->comparison, &job->expected, &job->score)
                         : json_null());
}

json_t *weft_cli_job_json(const weft_cli_job *job) {
    json_t *(*const parts[])(const weft_cli_job *) = {quality_json, cost_json, bits_json};
    json_t *report = setting_json(job);
    for (size_t part = 0; part < sizeof parts / sizeof parts[0]; part++) {
        report = weft_cli_json_merge(report, parts[part](job));
    }
    return job->answers && weft_cli_job_is_whole(job)
               ? weft_cli_json_field(report, "answers", weft_cli_answers_json(job))
               : report;
}

/* ---- text ---- */

static int print_labels(const weft_cli_job *job) {
    static const char *const columns[] = {"label", ">examples", ">correct", ">accuracy", NULL};
    const weft_cli_score *score = &job->score;
    weft_cli_table *table = weft_cli_table_begin(columns);
    for (uint32_t label = 0; label < score->width; label++) {
        const weft_cli_label_count *count = &score->counts[label];
        if (count->examples == 0) {
            continue;
        }
        weft_cli_table_cell(table, "%s", weft_model_label(job->session.model, label));
        weft_cli_table_cell(table, "%u", count->examples);
        weft_cli_table_cell(table, "%u", count->correct);
        weft_cli_table_cell(table, "%.2f %%", 100.0 * label_accuracy(count));
    }
    int exit_code = weft_cli_table_print(&table);
    weft_cli_print(stdout, "\naccuracy %.4f %%: %llu of %u examples\n",
                   100.0 * weft_cli_accuracy(score), (unsigned long long)score->correct,
                   score->taken);
    return exit_code;
}

static int print_quality(const weft_cli_job *job) {
    const weft_cli_score *score = &job->score;
    double bits = weft_cli_bits_per_token(score);
    char scored[WEFT_CLI_GROUPED_SIZE];
    weft_cli_grouped(score->scored, scored);
    switch (score->measure) {
    case WEFT_CLI_MEASURE_LABELS:
        return print_labels(job);
    case WEFT_CLI_MEASURE_TOKENS:
        weft_cli_print(
            stdout,
            "%.6f %s, perplexity %.4f, over %s tokens in %u sequences; the likeliest token is the "
            "right one %.2f %% of the time\n",
            bits, weft_cli_bits_unit(&job->session.info), exp2(bits), scored, score->taken,
            100.0 * weft_cli_accuracy(score));
        break;
    case WEFT_CLI_MEASURE_VALUES:
        weft_cli_print(
            stdout,
            "mean squared error %.6g (root %.6g), mean absolute error %.6g, over %s values of %u "
            "examples\n",
            weft_cli_mean_squared(score), sqrt(weft_cli_mean_squared(score)),
            weft_cli_mean_absolute(score), scored, score->taken);
        break;
    }
    return WEFT_CLI_FINE;
}

static void print_cost(const weft_cli_job *job) {
    const weft_cli_evaluation *evaluation = &job->evaluation;
    const weft_device_info *device = &job->session.device_info;
    char parameters[WEFT_CLI_GROUPED_SIZE];
    char peak[WEFT_CLI_BYTES_SIZE];
    weft_cli_print(stdout,
                   "%.1f sequences/s, %.0f tokens/s on %s (%s), %s; %u plans compiled in %.0f ms\n",
                   weft_cli_speed(evaluation, evaluation->timed_sequences),
                   weft_cli_speed(evaluation, evaluation->timed_tokens), device->name,
                   weft_device_type_name(device->type), weft_math_name(job->common->math),
                   evaluation->plans, evaluation->compile_ms);
    weft_cli_print(stdout, "%s parameters; %s of device memory at most\n",
                   weft_cli_grouped(job->session.info.parameters, parameters),
                   weft_cli_bytes(evaluation->peak_bytes, peak));
}

static weft_status make_columns(weft_cli_column columns[4], const weft_cli_job *job) {
    WEFT_TRY(weft_cli_column_places(&columns[0], job));
    WEFT_TRY(weft_cli_column_labels(&columns[1], job));
    WEFT_TRY(weft_cli_column_answers(&columns[2], job, "answer"));
    return weft_cli_column_texts(&columns[3], job);
}

static int print_answers(const weft_cli_job *job) {
    weft_cli_column columns[4] = {{0}};
    weft_status status = make_columns(columns, job);
    int exit_code =
        status == WEFT_OK ? weft_cli_columns_print(columns, 4) : weft_cli_exit_code(status);
    for (size_t column = 0; column < 4; column++) {
        weft_cli_column_clear(&columns[column]);
    }
    weft_cli_print(stdout, "\n");
    return exit_code;
}

int weft_cli_job_print(const weft_cli_job *job) {
    const bool whole = weft_cli_job_is_whole(job);
    int exit_code = job->answers && whole ? print_answers(job) : WEFT_CLI_FINE;
    if (!whole) {
        weft_cli_print(stdout, "stopped: %u of %u examples were run\n", job->score.taken,
                       job->data->example_count);
    }
    if (exit_code == WEFT_CLI_FINE) {
        exit_code = print_quality(job);
    }
    if (job->data->cut > 0) {
        weft_cli_print(stdout, "%u texts were cut to the model's %u tokens\n", job->data->cut,
                       job->session.info.max_length);
    }
    print_cost(job);
    bool same = job->bits_path && strcmp(job->score.digest, job->expected_digest) == 0;
    if (whole) {
        weft_cli_print(stdout, "SHA-256 of the outputs' bits: %s%s\n", job->score.digest,
                       same ? ", as expected" : "");
    } else if (job->score.outputs) {
        weft_cli_print(stdout, "SHA-256 of the bits of the first %u outputs: %s\n", job->score.done,
                       job->score.digest);
    }
    if (job->expected.path && whole) {
        weft_cli_comparison_print(&job->comparison, &job->expected, &job->score);
    }
    return exit_code;
}
