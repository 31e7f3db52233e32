/* SPDX-License-Identifier: MIT */
#include "eval/run.h"

#include <weft/texts.h>

#include "core/system/clock.h"
#include "core/try.h"

typedef struct evaluator {
    const weft_cli_session *session;
    const weft_cli_data *data;
    weft_cli_evaluation *evaluation;
    weft_cli_score *score;
    uint32_t per_example; /* sequences: 2 of a pair, else 1 */
    weft_cli_progress progress;
    uint32_t done;
    weft_cli_evaluation first; /* its timed values are those of the plans' first runs */
} evaluator;

/* ---- a run ---- */

/* Rows without an example have the first one again, and count as one. */
static void add_time(evaluator *self, const weft_text_batch *batch, double ms) {
    weft_cli_evaluation *times = batch->runs == 0 ? &self->first : self->evaluation;
    self->evaluation->run_ms += ms;
    times->timed_ms += ms;
    times->timed_examples += batch->size;
    times->timed_sequences += (uint64_t)batch->size * self->per_example;
    times->timed_tokens += batch->tokens;
}

/* Which examples the first rows are: those behind them are the first one again. */
static weft_status note_rows(const evaluator *self, const weft_text_batch *batch) {
    const weft_host *host = &self->session->host;
    if (!self->session->recording.receipt) {
        return WEFT_OK;
    }
    uint64_t *numbers = weft_alloc_zero(host, batch->count, sizeof *numbers);
    if (!numbers) {
        return weft_fail_memory(host, "the rows of a receipt");
    }
    for (uint32_t slot = 0; slot < batch->count; slot++) {
        numbers[slot] = weft_cli_data_number(self->data, batch->indices[slot]);
    }
    const weft_status status = weft_cli_receipt_note(
        &self->session->recording, WEFT_RECORD_ROWS, "rows", numbers,
        batch->count * sizeof *numbers, "%u of %u", batch->count, batch->size);
    weft_free(host, numbers);
    return status;
}

static weft_status execute(void *user, weft_plan *plan, const weft_host_tensor *tensors,
                           uint32_t count, const weft_text_batch *batch) {
    evaluator *self = user;
    const double begin = weft_clock_ms();
    WEFT_TRY(weft_cli_session_run(self->session, plan, tensors, count));
    add_time(self, batch, weft_clock_ms() - begin);
    WEFT_TRY(note_rows(self, batch));
    self->done += batch->count;
    weft_cli_progress_set(&self->progress, self->done);
    return WEFT_OK;
}

static weft_status take(void *user, const weft_text_output *output) {
    const evaluator *self = user;
    return weft_cli_score_take(self->score, output->index, output->values, output->rows,
                               output->width);
}

/* ---- all runs ---- */

static const float *values_of(const float *all, size_t begin, uint32_t width) {
    return all ? &all[begin * width] : NULL;
}

/* What the model reads; the data may have more. */
static weft_text_input *make_inputs(const evaluator *self) {
    const weft_cli_data *data = self->data;
    const weft_model_info *info = &self->session->info;
    const float *features = info->input_size > 0 ? data->features : NULL;
    const float *positions = info->position_size > 0 ? data->positions : NULL;
    const int32_t *tokens = info->input_size == 0 ? data->tokens : NULL;
    weft_text_input *inputs =
        weft_alloc_zero(&self->session->host, data->sequence_count, sizeof *inputs);
    for (uint32_t i = 0; inputs && i < data->sequence_count; i++) {
        const weft_cli_sequence *sequence = &data->sequences[i];
        const size_t begin = sequence->begin;
        inputs[i] = (weft_text_input){.tokens = tokens ? &tokens[begin] : NULL,
                                      .types = data->types ? &data->types[begin] : NULL,
                                      .features = values_of(features, begin, data->feature_size),
                                      .positions = values_of(positions, begin, data->position_size),
                                      .length = sequence->length};
    }
    return inputs;
}

static weft_status run_open(evaluator *self, weft_texts *texts, const weft_text_input *inputs,
                            uint32_t batch) {
    weft_cli_evaluation *evaluation = self->evaluation;
    const weft_status status = weft_texts_run(
        texts,
        weft_texts_run_params(.texts = inputs, .count = self->data->sequence_count, .batch = batch,
                              .take = take, .execute = execute, .user = self));
    weft_texts_info info;
    WEFT_TRY(weft_texts_get_info(texts, &info));
    evaluation->plans = (uint32_t)info.plans;
    evaluation->compile_ms = info.compile_ms;
    evaluation->pipelines_compiled = info.pipelines_compiled;
    evaluation->tokens = info.tokens;
    return status;
}

/* One plan at a time: each has memory on the device. */
static weft_status run_all(evaluator *self, uint32_t batch) {
    const weft_cli_session *session = self->session;
    weft_texts *texts = NULL;
    weft_text_input *inputs = make_inputs(self);
    weft_status status =
        inputs ? weft_texts_create(
                     &texts, session->model, session->device,
                     weft_texts_params(.plans = 1,
                                       .plan =
                                           weft_plan_params(.checkpoints =
                                                                session->recording.checkpoints,
                                                            .opening = session->recording.opening)))
               : weft_fail_memory(&session->host, "the examples");
    if (status == WEFT_OK) {
        status = run_open(self, texts, inputs, batch);
    }
    weft_texts_destroy(&texts);
    weft_free(&session->host, inputs);
    return status;
}

/* Speeds are of first runs where there were no others. */
static void finish_times(evaluator *self) {
    weft_cli_evaluation *evaluation = self->evaluation;
    if (evaluation->timed_tokens == 0) {
        evaluation->timed_ms = self->first.timed_ms;
        evaluation->timed_examples = self->first.timed_examples;
        evaluation->timed_sequences = self->first.timed_sequences;
        evaluation->timed_tokens = self->first.timed_tokens;
    }
}

double weft_cli_speed(const weft_cli_evaluation *evaluation, uint64_t amount) {
    return evaluation->timed_ms > 0.0 ? (double)amount / evaluation->timed_ms * 1e3 : 0.0;
}

int weft_cli_evaluate(weft_cli_evaluation *evaluation, weft_cli_score *score, uint32_t batch,
                      const char *label) {
    const weft_cli_session *session = score->session;
    *evaluation = (weft_cli_evaluation){0};
    evaluator self = {.session = session,
                      .data = score->data,
                      .evaluation = evaluation,
                      .score = score,
                      .per_example = session->info.task == WEFT_TASK_RETRIEVE ? 2 : 1};
    weft_cli_progress_begin(&self.progress, label, self.data->example_count);
    weft_status status = run_all(&self, batch);
    weft_cli_progress_end(&self.progress);
    weft_device_stats stats;
    if (status == WEFT_CANCELLED) { /* what is done stays */
        status = WEFT_OK;
    }
    if (status == WEFT_OK) {
        status = weft_device_get_stats(session->device, &stats);
    }
    if (status != WEFT_OK) {
        int exit_code =
            status == WEFT_UNSUPPORTED ? WEFT_CLI_NO_DEVICE : weft_cli_exit_code_of_file(status);
        return score->not_finite ? WEFT_CLI_FAILED : exit_code;
    }
    evaluation->peak_bytes = stats.peak_bytes;
    finish_times(&self);
    weft_cli_score_end(score);
    return WEFT_CLI_FINE;
}
