/* SPDX-License-Identifier: MIT */
#include "eval/compare.h"

#include <stdio.h>
#include <string.h>

#include "core/try.h"
#include "eval/answers.h"
#include "eval/names.h"
#include "eval/table.h"
#include "stop.h"

typedef struct comparison {
    const weft_cli_comparison_params *params;
    weft_host host;
    weft_cli_job *jobs;
    weft_cli_eval_row *rows;
    uint32_t done;   /* models; all but those left when it was stopped */
    json_t *reports; /* with --json */
    weft_cli_measure measure;
    uint32_t examples;
    const char *unit; /* of bits */
    char device[sizeof((weft_device_info *)0)->name];
    const char *device_type;
    weft_cli_column *columns; /* of answers: place, label, one for each model, text */
    bool failed;              /* the validation layer had something to say */
} comparison;

/* ---- the work ---- */

/* Texts are read for each model, since labels and tokens are the model's. */
static int load(comparison *self) {
    const weft_cli_comparison_params *params = self->params;
    bool shared = !weft_cli_is_folder(params->data);
    for (uint32_t index = 0; index < params->count; index++) {
        const weft_cli_data *data = shared && index > 0 ? self->jobs[0].data : NULL;
        weft_cli_job *job = &self->jobs[index];
        WEFT_CLI_TRY(
            weft_cli_job_load(job, params->common, params->models[index], params->data, data));
        WEFT_CLI_TRY(weft_cli_job_restrict(job, params->examples, params->answers));
    }
    return WEFT_CLI_FINE;
}

/* The end of a model's path, or all of it where ends do not tell the models apart. */
static char *copy_name(const comparison *self, uint32_t index) {
    const weft_cli_comparison_params *params = self->params;
    int length;
    const char *name = weft_cli_last_part(params->models[index], &length);
    return weft_cli_last_parts_differ(params->models, params->count)
               ? weft_format(&self->host, "%.*s", length, name)
               : weft_strdup(&self->host, params->models[index]);
}

static int keep(comparison *self, uint32_t index) {
    const weft_cli_job *job = &self->jobs[index];
    const weft_cli_evaluation *evaluation = &job->evaluation;
    weft_cli_eval_row *row = &self->rows[index];
    *row = (weft_cli_eval_row){.name = copy_name(self, index),
                               .mixing = weft_strdup(&self->host, job->session.info.mixing),
                               .parameters = job->session.info.parameters,
                               .accuracy = weft_cli_accuracy(&job->score),
                               .bits = weft_cli_bits_per_token(&job->score),
                               .squared = weft_cli_mean_squared(&job->score),
                               .absolute = weft_cli_mean_absolute(&job->score),
                               .tokens_per_s = weft_cli_speed(evaluation, evaluation->timed_tokens),
                               .peak_bytes = evaluation->peak_bytes};
    self->failed |= weft_cli_validation_failed(job->session.device);
    return !row->name || !row->mixing
               ? weft_cli_exit_code(weft_fail_memory(&self->host, "the table"))
               : WEFT_CLI_FINE;
}

static double relative_speed(const comparison *self, uint32_t index) {
    return self->rows[index].tokens_per_s / self->rows[0].tokens_per_s;
}

static int keep_json(comparison *self, uint32_t index) {
    json_t *report = weft_cli_job_json(&self->jobs[index]);
    json_t *relative = weft_cli_json_real(relative_speed(self, index));
    if (json_object_set_new(report, "relative_speed", relative) != 0 ||
        json_array_append(self->reports, report) != 0) {
        json_decref(report);
        return weft_cli_exit_code(weft_fail_memory(&self->host, "the report"));
    }
    json_decref(report);
    return WEFT_CLI_FINE;
}

/* What all models share is copied, as the first job is closed before the report. */
static void keep_setting(comparison *self) {
    const weft_cli_session *session = &self->jobs[0].session;
    self->measure = self->jobs[0].score.measure;
    self->examples = self->jobs[0].data->example_count;
    self->unit = weft_cli_bits_unit(&session->info);
    memcpy(self->device, session->device_info.name, sizeof self->device);
    self->device_type = weft_device_type_name(session->device_info.type);
}

/* A model's answers; with the first model also the questions. */
static weft_status keep_answers(comparison *self, uint32_t index) {
    const weft_cli_job *job = &self->jobs[index];
    if (index == 0) {
        WEFT_TRY(weft_cli_column_places(&self->columns[0], job));
        WEFT_TRY(weft_cli_column_labels(&self->columns[1], job));
        WEFT_TRY(weft_cli_column_texts(&self->columns[self->params->count + 2], job));
    }
    int length;
    const char *name = weft_cli_last_part(self->params->models[index], &length);
    int skipped = weft_cli_common_prefix(self->params->models, self->params->count);
    char *heading = weft_format(&self->host, "%.*s", length - skipped, name + skipped);
    if (!heading) {
        return weft_fail_memory(&self->host, "a column");
    }
    weft_status status = weft_cli_column_answers(&self->columns[index + 2], job, heading);
    weft_free(&self->host, heading);
    return status;
}

/* What the report says of a job that has run. */
static int keep_all(comparison *self, uint32_t index) {
    if (index == 0) {
        keep_setting(self);
    }
    WEFT_CLI_TRY(keep(self, index));
    if (self->reports) {
        return keep_json(self, index);
    }
    return self->params->answers ? weft_cli_exit_code(keep_answers(self, index)) : WEFT_CLI_FINE;
}

/* Models and devices are released one by one; the first job's data stays for the others. */
static int run(comparison *self) {
    int exit_code = WEFT_CLI_FINE;
    for (uint32_t index = 0;
         index < self->params->count && exit_code == WEFT_CLI_FINE && !weft_cli_stopped();
         index++) {
        weft_cli_job *job = &self->jobs[index];
        int length;
        const char *name = weft_cli_last_part(self->params->models[index], &length);
        char label[64];
        snprintf(label, sizeof label, "%u/%u %.*s", index + 1, self->params->count,
                 length < 40 ? length : 40, name);
        exit_code = weft_cli_job_run(job, self->params->batch, label);
        if (exit_code == WEFT_CLI_FINE && weft_cli_job_is_whole(job)) {
            exit_code = keep_all(self, index);
            self->done += exit_code == WEFT_CLI_FINE;
        }
        weft_cli_score_clear(&job->score);
        weft_cli_session_close(&job->session);
    }
    return exit_code;
}

/* ---- the report ---- */

static int print_text(const comparison *self) {
    if (self->params->answers && self->done == self->params->count) {
        WEFT_CLI_TRY(weft_cli_columns_print(self->columns, self->params->count + 3));
        weft_cli_print(stdout, "\n");
    }
    weft_cli_print(stdout, "%s: %u examples, on %s (%s), %s\n\n", self->params->data,
                   self->examples, self->device, self->device_type,
                   weft_math_name(self->params->common->math));
    WEFT_CLI_TRY(weft_cli_eval_table_print(self->rows, self->done, self->measure, self->unit));
    if (weft_cli_stopped()) {
        weft_cli_print(stdout, "stopped: %u of %u models were run\n", self->done,
                       self->params->count);
    }
    return WEFT_CLI_FINE;
}

static int print_json(comparison *self) {
    json_t *reports = self->reports;
    self->reports = NULL;
    return weft_cli_print_json(json_pack(
        "{s:b, s:o, s:s, s:I, s:o}", "stopped", (int)weft_cli_stopped(), "data",
        weft_cli_json_text(self->params->data), "math", weft_math_name(self->params->common->math),
        "examples", (json_int_t)self->examples, "models", reports));
}

/* ---- all of it ---- */

static int make_room(comparison *self) {
    self->jobs = weft_alloc_zero(&self->host, self->params->count, sizeof *self->jobs);
    self->rows = weft_alloc_zero(&self->host, self->params->count, sizeof *self->rows);
    self->columns =
        weft_alloc_zero(&self->host, (size_t)self->params->count + 3, sizeof *self->columns);
    self->reports = self->params->common->json ? json_array() : NULL;
    bool fine =
        self->jobs && self->rows && self->columns && (self->reports || !self->params->common->json);
    return fine ? WEFT_CLI_FINE : weft_cli_exit_code(weft_fail_memory(&self->host, "the models"));
}

static void clear(comparison *self) {
    for (uint32_t index = 0; index < self->params->count; index++) {
        if (self->jobs) {
            weft_cli_job_clear(&self->jobs[index]);
        }
        if (self->rows) {
            weft_free(&self->host, self->rows[index].name);
            weft_free(&self->host, self->rows[index].mixing);
        }
    }
    for (uint32_t column = 0; self->columns && column < self->params->count + 3; column++) {
        weft_cli_column_clear(&self->columns[column]);
    }
    weft_free(&self->host, self->columns);
    weft_free(&self->host, self->jobs);
    weft_free(&self->host, self->rows);
    json_decref(self->reports);
}

static int compare(comparison *self) {
    WEFT_CLI_TRY(make_room(self));
    WEFT_CLI_TRY(load(self));
    WEFT_CLI_TRY(run(self));
    weft_cli_stop_settle(self->done == self->params->count);
    if (self->done == 0) {
        return WEFT_CLI_FAILED;
    }
    WEFT_CLI_TRY(self->params->common->json ? print_json(self) : print_text(self));
    return self->failed ? WEFT_CLI_FAILED : WEFT_CLI_FINE;
}

int weft_cli_eval_compare(const weft_cli_comparison_params *params) {
    comparison self = {.params = params, .host = weft_cli_host(params->common)};
    int exit_code = compare(&self);
    clear(&self);
    return exit_code;
}
