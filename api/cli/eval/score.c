/* SPDX-License-Identifier: MIT */
#include "eval/score.h"

#include <math.h>
#include <string.h>

#include "core/try.h"

weft_cli_measure weft_cli_measure_of(weft_task task) {
    switch (task) {
    case WEFT_TASK_MASKED_LM:
    case WEFT_TASK_CAUSAL_LM:
    case WEFT_TASK_CLASSIFY_TOKENS:
        return WEFT_CLI_MEASURE_TOKENS;
    case WEFT_TASK_REGRESS:
        return WEFT_CLI_MEASURE_VALUES;
    default:
        return WEFT_CLI_MEASURE_LABELS;
    }
}

weft_status weft_cli_score_begin(weft_cli_score *score, const weft_cli_data *data,
                                 const weft_cli_session *session) {
    *score = (weft_cli_score){.measure = weft_cli_measure_of(session->info.task),
                              .data = data,
                              .session = session,
                              .width = weft_cli_output_width(session->model),
                              .many = session->info.multi_vector};
    weft_sha256_begin(&score->hash);
    score->has = weft_alloc_zero(&session->host, data->example_count, sizeof *score->has);
    if (!score->has) {
        return weft_fail_memory(&session->host, "the examples");
    }
    if (score->measure == WEFT_CLI_MEASURE_TOKENS || score->many) {
        return WEFT_OK;
    }
    score->outputs = weft_alloc_zero(&session->host, (size_t)data->example_count * score->width,
                                     sizeof *score->outputs);
    score->counts = weft_alloc_zero(&session->host, score->width, sizeof *score->counts);
    if (!score->outputs || !score->counts) {
        return weft_fail_memory(&session->host, "the outputs");
    }
    return WEFT_OK;
}

void weft_cli_score_clear(weft_cli_score *score) {
    if (score->session) {
        weft_free(&score->session->host, score->outputs);
        weft_free(&score->session->host, score->counts);
        weft_free(&score->session->host, score->has);
    }
    *score = (weft_cli_score){0};
}

/* ---- one example ---- */

static weft_status check_finite(weft_cli_score *score, uint32_t example, const float *output,
                                size_t count) {
    for (size_t index = 0; index < count; index++) {
        if (!isfinite(output[index])) {
            score->not_finite = true;
            return weft_fail(&score->session->host, WEFT_BAD_FILE,
                             "%s: example %u, output %zu: expected a finite value, found %g",
                             score->session->folder, example, index, (double)output[index]);
        }
    }
    return WEFT_OK;
}

/* The token that row `position` is to predict, or -1. */
static int32_t answer_of(const weft_cli_score *score, const weft_cli_sequence *sequence,
                         uint32_t position) {
    const weft_cli_data *data = score->data;
    if (score->session->info.task == WEFT_TASK_MASKED_LM) {
        return data->labels[sequence->begin + position];
    }
    return position + 1 < sequence->length ? data->tokens[sequence->begin + position + 1] : -1;
}

static void take_tokens(weft_cli_score *score, uint32_t example, const float *output,
                        uint32_t width) {
    const weft_cli_sequence *sequence = &score->data->sequences[example];
    for (uint32_t position = 0; position < sequence->length; position++) {
        int32_t answer = answer_of(score, sequence, position);
        if (answer < 0) {
            continue;
        }
        const float *logits = &output[(size_t)position * width];
        score->scored++;
        score->bits += weft_cli_bits(logits, width, (uint32_t)answer);
        score->correct += weft_cli_argmax(logits, width) == (uint32_t)answer;
    }
}

static weft_status take(weft_cli_score *score, uint32_t example, const float *output, uint32_t rows,
                        uint32_t width) {
    const bool several = score->measure == WEFT_CLI_MEASURE_TOKENS || score->many;
    const size_t count = (size_t)width * rows;
    if (width != score->width) {
        return weft_fail(&score->session->host, WEFT_BAD_FILE,
                         "%s: example %u: expected %u outputs in a row, found %u",
                         score->session->folder, example, score->width, width);
    }
    WEFT_TRY(check_finite(score, example, output, count));
    if (several) {
        weft_cli_hash_add(&score->hash, output, count);
        if (score->take) {
            return score->take(score->user, example, output, rows, width);
        }
        take_tokens(score, example, output, width);
    } else {
        memcpy(&score->outputs[(size_t)example * width], output, count * sizeof *output);
    }
    return WEFT_OK;
}

weft_status weft_cli_score_take(weft_cli_score *score, uint32_t example, const float *output,
                                uint32_t rows, uint32_t width) {
    WEFT_TRY(take(score, example, output, rows, width));
    score->has[example] = true;
    score->taken++;
    return WEFT_OK;
}

/* ---- all examples ---- */

static uint32_t count_done(const weft_cli_score *score) {
    uint32_t done = 0;
    while (done < score->data->example_count && score->has[done]) {
        done++;
    }
    return done;
}

static void count_labels(weft_cli_score *score) {
    const weft_cli_data *data = score->data;
    for (uint32_t example = 0; example < data->example_count; example++) {
        if (!score->has[example]) {
            continue;
        }
        uint32_t label = (uint32_t)data->labels[example];
        const float *logits = &score->outputs[(size_t)example * score->width];
        bool correct = weft_cli_argmax(logits, score->width) == label;
        score->counts[label].examples++;
        score->counts[label].correct += correct;
        score->correct += correct;
        score->scored++;
    }
}

static void add_errors(weft_cli_score *score) {
    const uint64_t all = (uint64_t)score->data->example_count * score->width;
    for (uint64_t index = 0; index < all; index++) {
        if (!score->has[index / score->width]) {
            continue;
        }
        score->scored++;
        double error = (double)score->outputs[index] - (double)score->data->targets[index];
        score->squared += error * error;
        score->absolute += fabs(error);
    }
}

void weft_cli_score_end(weft_cli_score *score) {
    score->done = count_done(score);
    if (score->measure == WEFT_CLI_MEASURE_LABELS && !score->only_outputs) {
        count_labels(score);
    } else if (score->measure == WEFT_CLI_MEASURE_VALUES && !score->only_outputs) {
        add_errors(score);
    }
    if (score->outputs) {
        weft_cli_hash_add(&score->hash, score->outputs, (uint64_t)score->done * score->width);
    }
    weft_digest digest = weft_sha256_end(&score->hash);
    weft_digest_text(&digest, score->digest);
}

weft_status weft_cli_score_note(const weft_cli_score *score) {
    const weft_cli_recording *recording = &score->session->recording;
    const bool counted = score->measure != WEFT_CLI_MEASURE_VALUES;
    WEFT_TRY(weft_cli_receipt_note(recording, WEFT_RECORD_ANSWER, "outputs", score->digest,
                                   strlen(score->digest),
                                   "sha256 of all outputs, in hexadecimal digits"));
    const size_t labels = score->counts ? score->width * sizeof *score->counts : 0;
    return counted ? weft_cli_receipt_note(recording, WEFT_RECORD_ANSWER, "counts", score->counts,
                                           labels, "%llu of %llu right",
                                           (unsigned long long)score->correct,
                                           (unsigned long long)score->scored)
                   : WEFT_OK;
}

static double mean(double sum, uint64_t count) {
    return count == 0 ? 0.0 : sum / (double)count;
}

double weft_cli_accuracy(const weft_cli_score *score) {
    return mean((double)score->correct, score->scored);
}

double weft_cli_bits_per_token(const weft_cli_score *score) {
    return mean(score->bits, score->scored);
}

double weft_cli_mean_squared(const weft_cli_score *score) {
    return mean(score->squared, score->scored);
}

double weft_cli_mean_absolute(const weft_cli_score *score) {
    return mean(score->absolute, score->scored);
}
