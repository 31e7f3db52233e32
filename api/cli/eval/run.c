/* SPDX-License-Identifier: MIT */
#include "eval/run.h"

#include <stdlib.h>
#include <string.h>

#include "core/system/clock.h"
#include "core/try.h"

#define DEFAULT_BATCH 32
/*
 * Unless --batch says otherwise. Softmax attention keeps n numbers for each token and head: 4 heads at
 * 1,024 tokens are then the 128 MiB that every Vulkan device can bind.
 */
#define DEFAULT_MOST_TOKENS 8192
#define DEFAULT_MOST_LOGITS ((uint64_t)1 << 24) /* of a language model */

/* An example's place in the data, and what examples are grouped by. */
typedef struct order_entry {
    uint32_t length;
    uint32_t index;
} order_entry;

typedef struct evaluator {
    const weft_cli_session *session;
    const weft_cli_data *data;
    weft_cli_evaluation *evaluation;
    weft_cli_score *score;
    order_entry *order;   /* all examples, by length and then place */
    uint32_t per_example; /* sequences: 2 of a pair, else 1 */
    weft_cli_progress progress;
    uint32_t done;
    weft_cli_evaluation first; /* its timed values are those of the plans' first runs */
} evaluator;

static int compare_order(const void *left, const void *right) {
    const order_entry *a = left;
    const order_entry *b = right;
    if (a->length != b->length) {
        return a->length < b->length ? -1 : 1;
    }
    return (a->index > b->index) - (a->index < b->index);
}

/* ---- a plan for about one length, with room for its inputs and its output ---- */

typedef struct group {
    uint32_t batch;  /* examples */
    uint32_t length; /* of the longest sequence */
    bool padded;     /* others are shorter */
    weft_plan *plan;
    int32_t *lengths; /* null unless padded */
    int32_t *tokens;  /* null for features */
    int32_t *types;   /* null where the data have none */
    float *features;  /* null for tokens */
    float *positions; /* null where the model takes none */
    float *output;
    uint64_t output_elements;
    uint32_t output_width; /* of a row */
    uint32_t runs;
} group;

static weft_status compile_group(group *made, const evaluator *self) {
    weft_model *model = self->session->model;
    weft_device *device = self->session->device;
    const uint32_t sequences = made->batch * self->per_example;
    WEFT_TRY(weft_model_compile_shape(
        &made->plan, model, device,
        weft_model_shape(.batch = sequences, .length = made->length,
                         .with_types = self->data->types != NULL, .with_lengths = made->padded),
        weft_plan_params(.checkpoints = self->session->recording.checkpoints)));
    weft_plan_info info;
    WEFT_TRY(weft_plan_get_info(made->plan, &info));
    weft_cli_output output;
    WEFT_TRY(weft_cli_output_of(&output, made->plan, model, sequences, made->length,
                                &self->session->host));
    made->output_elements = output.elements;
    made->output_width = output.width;
    self->evaluation->plans++;
    self->evaluation->compile_ms += info.compile_ms;
    self->evaluation->pipelines_compiled += info.pipelines_compiled;
    return WEFT_OK;
}

static weft_status prepare_group(group *made, const evaluator *self) {
    const weft_host *host = &self->session->host;
    const weft_model_info *info = &self->session->info;
    WEFT_TRY(compile_group(made, self));
    size_t tokens = (size_t)made->batch * self->per_example * made->length;
    if (info->input_size == 0) {
        made->tokens = weft_alloc_zero(host, tokens, sizeof *made->tokens);
    } else {
        made->features = weft_alloc_zero(host, tokens * info->input_size, sizeof *made->features);
    }
    if (info->position_size > 0) {
        made->positions =
            weft_alloc_zero(host, tokens * info->position_size, sizeof *made->positions);
    }
    if (made->padded) {
        made->lengths =
            weft_alloc_zero(host, (size_t)made->batch * self->per_example, sizeof *made->lengths);
    }
    made->output = made->output_elements > SIZE_MAX
                       ? NULL
                       : weft_alloc_zero(host, (size_t)made->output_elements, sizeof(float));
    if (self->data->types) {
        made->types = weft_alloc_zero(host, tokens, sizeof *made->types);
    }
    bool fine = (made->tokens || made->features) && made->output &&
                (made->positions || info->position_size == 0) && (made->lengths || !made->padded) &&
                (made->types || !self->data->types);
    return fine ? WEFT_OK : weft_fail_memory(host, "a batch");
}

static void release_group(group *made, const weft_host *host) {
    weft_plan_destroy(&made->plan);
    weft_free(host, made->lengths);
    weft_free(host, made->tokens);
    weft_free(host, made->types);
    weft_free(host, made->features);
    weft_free(host, made->positions);
    weft_free(host, made->output);
}

/* ---- a run ---- */

/* Copies elements of `bytes` each, and zeros behind them. */
static void fill_row_of(void *inputs, const void *data, size_t bytes, const group *made,
                        uint32_t row, const weft_cli_sequence *sequence) {
    if (inputs) {
        uint8_t *to = (uint8_t *)inputs + (size_t)row * made->length * bytes;
        const size_t used = sequence->length * bytes;
        memcpy(to, (const uint8_t *)data + sequence->begin * bytes, used);
        memset(to + used, 0, made->length * bytes - used);
    }
}

/* Copies a sequence of the data to row `row` of the inputs. */
static void fill_row(const group *made, uint32_t row, const weft_cli_sequence *sequence,
                     const weft_cli_data *data) {
    fill_row_of(made->tokens, data->tokens, sizeof *made->tokens, made, row, sequence);
    fill_row_of(made->types, data->types, sizeof *made->types, made, row, sequence);
    fill_row_of(made->features, data->features, data->feature_size * sizeof(float), made, row,
                sequence);
    fill_row_of(made->positions, data->positions, data->position_size * sizeof(float), made, row,
                sequence);
    if (made->lengths) {
        made->lengths[row] = (int32_t)sequence->length;
    }
}

/* The tokens of some examples from place `first` of the order on, without what is behind them. */
static uint64_t count_tokens(const evaluator *self, uint32_t first, uint32_t count) {
    uint64_t tokens = 0;
    for (uint32_t slot = 0; slot < count; slot++) {
        tokens += (uint64_t)self->per_example * self->order[first + slot].length;
    }
    return tokens;
}

static void fill(const evaluator *self, const group *made, uint32_t first, uint32_t count) {
    for (uint32_t slot = 0; slot < made->batch; slot++) {
        uint32_t example = self->order[first + (slot < count ? slot : 0)].index;
        for (uint32_t part = 0; part < self->per_example; part++) {
            size_t sequence = (size_t)example * self->per_example + part;
            fill_row(made, slot * self->per_example + part, &self->data->sequences[sequence],
                     self->data);
        }
    }
}

/* Rows without an example have the first one again, and count as one. */
static void add_time(weft_cli_evaluation *times, const evaluator *self, const group *made,
                     uint64_t tokens, double ms) {
    times->timed_ms += ms;
    times->timed_examples += made->batch;
    times->timed_sequences += (uint64_t)made->batch * self->per_example;
    times->timed_tokens += tokens;
}

/* `tokens`: of all rows, without what is behind them. */
static weft_status execute(evaluator *self, group *made, uint64_t tokens) {
    const weft_model_info *info = &self->session->info;
    const uint64_t sequences = (uint64_t)made->batch * self->per_example;
    const uint64_t places = sequences * made->length;
    weft_host_tensor tensors[5] = {{"output", made->output, made->output_elements * sizeof(float)}};
    uint32_t count = 1;
    tensors[count++] = made->features
                           ? (weft_host_tensor){"features", made->features,
                                                places * info->input_size * sizeof(float)}
                           : (weft_host_tensor){"tokens", made->tokens, places * sizeof(int32_t)};
    if (made->types) {
        tensors[count++] = (weft_host_tensor){"token_types", made->types, places * sizeof(int32_t)};
    }
    if (made->positions) {
        tensors[count++] = (weft_host_tensor){"positions", made->positions,
                                              places * info->position_size * sizeof(float)};
    }
    if (made->lengths) {
        tensors[count++] =
            (weft_host_tensor){"lengths", made->lengths, sequences * sizeof(int32_t)};
    }
    double begin = weft_clock_ms();
    weft_status status = weft_cli_session_run(self->session, made->plan, tensors, count);
    double ms = weft_clock_ms() - begin;
    self->evaluation->run_ms += ms;
    add_time(made->runs == 0 ? &self->first : self->evaluation, self, made, tokens, ms);
    made->runs++;
    return status;
}

/* Which examples the first rows are: those behind them are the first one again. */
static weft_status note_rows(const evaluator *self, const group *made, uint32_t first,
                             uint32_t count) {
    const weft_host *host = &self->session->host;
    if (!self->session->recording.receipt) {
        return WEFT_OK;
    }
    uint64_t *numbers = weft_alloc_zero(host, count, sizeof *numbers);
    if (!numbers) {
        return weft_fail_memory(host, "the rows of a receipt");
    }
    for (uint32_t slot = 0; slot < count; slot++) {
        numbers[slot] = weft_cli_data_number(self->data, self->order[first + slot].index);
    }
    const weft_status status =
        weft_cli_receipt_note(&self->session->recording, WEFT_RECORD_ROWS, "rows", numbers,
                              count * sizeof *numbers, "%u of %u", count, made->batch);
    weft_free(host, numbers);
    return status;
}

/* Runs `count` examples, at most a batch, from place `first` of the order. */
static weft_status run_batch(evaluator *self, group *made, uint32_t first, uint32_t count) {
    const uint64_t tokens = count_tokens(self, first, count);
    const uint64_t again = (uint64_t)(made->batch - count) * count_tokens(self, first, 1);
    fill(self, made, first, count);
    weft_status status = execute(self, made, tokens + again);
    if (status == WEFT_OK) {
        status = note_rows(self, made, first, count);
    }
    uint64_t each = made->output_elements / made->batch;
    for (uint32_t slot = 0; status == WEFT_OK && slot < count; slot++) {
        status = weft_cli_score_take(self->score, self->order[first + slot].index,
                                     &made->output[slot * each], made->output_width);
    }
    self->done += count;
    weft_cli_progress_set(&self->progress, self->done);
    return status;
}

/* ---- all runs ---- */

/* The largest batch for sequences of one length, when none was asked for. */
static uint32_t default_batch(const evaluator *self, uint32_t length) {
    uint64_t tokens = (uint64_t)length * self->per_example;
    uint64_t most = DEFAULT_MOST_TOKENS / tokens;
    if (self->score->measure == WEFT_CLI_MEASURE_TOKENS) {
        uint64_t fitting = DEFAULT_MOST_LOGITS / (tokens * self->session->info.vocabulary);
        most = fitting < most ? fitting : most;
    }
    return most < 1 ? 1 : most < DEFAULT_BATCH ? (uint32_t)most : DEFAULT_BATCH;
}

/* As large as was asked for; or, when nothing was, runs of about equal size, so that few rows are for nothing. */
static uint32_t batch_of(const evaluator *self, uint32_t length, uint32_t count, uint32_t asked) {
    const uint32_t most = asked > 0 ? asked : default_batch(self, length);
    if (count <= most) {
        return count;
    }
    const uint32_t runs = (count - 1) / most + 1;
    return asked > 0 ? most : (count - 1) / runs + 1;
}

/* All examples of about one length: places first to end of the order. */
static weft_status run_group(evaluator *self, uint32_t first, uint32_t end, uint32_t batch) {
    uint32_t length = self->order[end - 1].length;
    group made = {.batch = batch_of(self, length, end - first, batch),
                  .length = length,
                  .padded = self->order[first].length < length};
    weft_status status = prepare_group(&made, self);
    while (status == WEFT_OK && first < end) {
        uint32_t count = end - first < made.batch ? end - first : made.batch;
        status = run_batch(self, &made, first, count);
        first += count;
    }
    release_group(&made, &self->session->host);
    return status;
}

/* Whether a sequence goes with shorter ones: it has the bits that it has alone, and a quarter of the work at most is for nothing. */
static bool goes_with(const evaluator *self, uint32_t longer, uint32_t shortest) {
    return longer == shortest ||
           (self->session->info.takes_lengths && (uint64_t)longer * 3 <= (uint64_t)shortest * 4);
}

static weft_status run_all(evaluator *self, uint32_t batch) {
    const weft_cli_data *data = self->data;
    for (uint32_t index = 0; index < data->example_count; index++) {
        uint32_t length = data->sequences[(size_t)index * self->per_example].length;
        self->order[index] = (order_entry){.length = length, .index = index};
    }
    qsort(self->order, data->example_count, sizeof *self->order, compare_order);
    uint32_t first = 0;
    while (first < data->example_count) {
        uint32_t end = first;
        while (end < data->example_count &&
               goes_with(self, self->order[end].length, self->order[first].length)) {
            end++;
        }
        WEFT_TRY(run_group(self, first, end, batch));
        first = end;
    }
    return WEFT_OK;
}

static void add_tokens(const evaluator *self) {
    for (uint32_t example = 0; example < self->data->example_count; example++) {
        if (self->score->has[example]) {
            self->evaluation->tokens +=
                (uint64_t)self->per_example *
                self->data->sequences[(size_t)example * self->per_example].length;
        }
    }
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
    const weft_host *host = &session->host;
    *evaluation = (weft_cli_evaluation){0};
    evaluator self = {.session = session,
                      .data = score->data,
                      .evaluation = evaluation,
                      .score = score,
                      .per_example = session->info.task == WEFT_TASK_RETRIEVE ? 2 : 1};
    self.order = weft_alloc_zero(host, self.data->example_count, sizeof *self.order);
    weft_cli_progress_begin(&self.progress, label, self.data->example_count);
    weft_status status =
        !self.order ? weft_fail_memory(host, "the examples") : run_all(&self, batch);
    weft_cli_progress_end(&self.progress);
    weft_free(host, self.order);
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
    add_tokens(&self);
    return WEFT_CLI_FINE;
}
