/* SPDX-License-Identifier: MIT */
#include "eval_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"

/* An example's place in the data, and what examples are grouped by. */
typedef struct order_entry {
    uint32_t length;
    uint32_t index;
} order_entry;

typedef struct evaluator {
    const weft_cli_session *session;
    const weft_cli_data *data;
    weft_cli_evaluation *evaluation;
    order_entry *order; /* all examples, by length and then place */
    weft_cli_progress progress;
    uint32_t done;
} evaluator;

static int compare_order(const void *left, const void *right) {
    const order_entry *a = left;
    const order_entry *b = right;
    if (a->length != b->length) {
        return a->length < b->length ? -1 : 1;
    }
    return (a->index > b->index) - (a->index < b->index);
}

/* A plan for one length, with room for its inputs and outputs. */
typedef struct group {
    uint32_t batch;
    uint32_t length;
    weft_plan *plan;
    int32_t *tokens;
    float *logits;
} group;

static weft_status prepare_group(group *made, const evaluator *self) {
    const weft_host *host = &self->session->host;
    weft_status status =
        weft_model_compile(&made->plan, self->session->model, self->session->device, made->batch,
                           made->length, false, NULL);
    weft_plan_info info;
    if (status == WEFT_OK) {
        status = weft_plan_get_info(made->plan, &info);
    }
    if (status != WEFT_OK) {
        return status;
    }
    self->evaluation->plans++;
    self->evaluation->compile_ms += info.compile_ms;
    made->tokens = weft_alloc_zero(host, (size_t)made->batch * made->length, sizeof *made->tokens);
    made->logits = weft_alloc_zero(host, (size_t)made->batch * self->session->info.label_count,
                                   sizeof *made->logits);
    return made->tokens == NULL || made->logits == NULL ? weft_fail_memory(host, "a batch")
                                                        : WEFT_OK;
}

static void release_group(group *made, const weft_host *host) {
    weft_plan_destroy(&made->plan);
    weft_free(host, made->tokens);
    weft_free(host, made->logits);
}

/* Runs `count` examples, at most a batch, from place `first` of the order. */
static weft_status run_batch(evaluator *self, const group *made, uint32_t first, uint32_t count) {
    const weft_cli_data *data = self->data;
    uint32_t labels = self->session->info.label_count;
    for (uint32_t row = 0; row < made->batch; row++) {
        uint32_t index = self->order[first + (row < count ? row : 0)].index;
        memcpy(&made->tokens[(size_t)row * made->length],
               &data->tokens[data->examples[index].begin], made->length * sizeof *made->tokens);
    }
    const weft_host_tensor tensors[] = {
        {"tokens", made->tokens, (uint64_t)made->batch * made->length * sizeof *made->tokens},
        {"output", made->logits, (uint64_t)made->batch * labels * sizeof *made->logits},
    };
    double begin = weft_clock_ms();
    weft_status status = weft_plan_execute(made->plan, tensors, 2);
    self->evaluation->run_ms += weft_clock_ms() - begin;
    for (uint32_t row = 0; status == WEFT_OK && row < count; row++) {
        uint32_t index = self->order[first + row].index;
        memcpy(&self->evaluation->logits[(size_t)index * labels],
               &made->logits[(size_t)row * labels], labels * sizeof(float));
    }
    self->evaluation->tokens += (uint64_t)count * made->length;
    self->done += count;
    weft_cli_progress_set(&self->progress, self->done);
    return status;
}

/* All examples of one length: places first to end of the order. */
static weft_status run_group(evaluator *self, uint32_t first, uint32_t end, uint32_t batch) {
    group made = {.batch = end - first < batch ? end - first : batch,
                  .length = self->order[first].length};
    weft_status status = prepare_group(&made, self);
    while (status == WEFT_OK && first < end) {
        uint32_t count = end - first < made.batch ? end - first : made.batch;
        status = run_batch(self, &made, first, count);
        first += count;
    }
    release_group(&made, &self->session->host);
    return status;
}

static weft_status run_all(evaluator *self, uint32_t batch) {
    const weft_cli_data *data = self->data;
    for (uint32_t index = 0; index < data->count; index++) {
        self->order[index] = (order_entry){.length = data->examples[index].length, .index = index};
    }
    qsort(self->order, data->count, sizeof *self->order, compare_order);
    weft_status status = WEFT_OK;
    uint32_t first = 0;
    while (status == WEFT_OK && first < data->count) {
        uint32_t end = first;
        while (end < data->count && self->order[end].length == self->order[first].length) {
            end++;
        }
        status = run_group(self, first, end, batch);
        first = end;
    }
    return status;
}

/* A NaN has no largest entry: its label would be a guess. */
static int check_finite(const weft_cli_evaluation *evaluation, const weft_cli_data *data,
                        const weft_cli_session *session) {
    uint32_t labels = session->info.label_count;
    for (uint64_t index = 0; index < (uint64_t)data->count * labels; index++) {
        if (!isfinite(evaluation->logits[index])) {
            weft_fail(&session->host, WEFT_BAD_FILE, "example %llu, label %llu: the logit is %g",
                      (unsigned long long)(index / labels), (unsigned long long)(index % labels),
                      (double)evaluation->logits[index]);
            return WEFT_CLI_FAILED;
        }
    }
    return WEFT_CLI_FINE;
}

int weft_cli_evaluate(weft_cli_evaluation *evaluation, const weft_cli_data *data, uint32_t batch,
                      const weft_cli_session *session) {
    const weft_host *host = &session->host;
    *evaluation = (weft_cli_evaluation){0};
    evaluator self = {.session = session, .data = data, .evaluation = evaluation};
    self.order = weft_alloc_zero(host, data->count, sizeof *self.order);
    evaluation->logits = weft_alloc_zero(host, (size_t)data->count * session->info.label_count,
                                         sizeof *evaluation->logits);
    weft_status status = WEFT_OK;
    if (self.order == NULL || evaluation->logits == NULL) {
        status = weft_fail_memory(host, "the logits");
    }
    weft_cli_progress_begin(&self.progress, "eval", data->count);
    if (status == WEFT_OK) {
        status = run_all(&self, batch);
    }
    weft_cli_progress_end(&self.progress);
    weft_free(host, self.order);
    int exit_code = weft_cli_exit_code_of_file(status);
    if (status == WEFT_UNSUPPORTED) {
        exit_code = WEFT_CLI_NO_DEVICE;
    }
    return exit_code == WEFT_CLI_FINE ? check_finite(evaluation, data, session) : exit_code;
}
