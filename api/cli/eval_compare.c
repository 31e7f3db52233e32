/* SPDX-License-Identifier: MIT */
#include "eval_compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "eval_answers.h"

/* What the table shows of a model, which is closed when the next one runs. */
typedef struct row {
    char *mixing; /* in host memory */
    uint64_t parameters;
    double accuracy;
    double bits;
    double squared;
    double absolute;
    double tokens_per_s;
    uint64_t peak_bytes;
} row;

typedef struct comparison {
    const weft_cli_comparison_params *params;
    weft_host host;
    weft_cli_job *jobs;
    row *rows;
    json_t *reports; /* with --json */
    weft_cli_measure measure;
    uint32_t examples;
    const char *unit; /* of bits */
    char device[sizeof((weft_device_info *)0)->name];
    const char *device_type;
    weft_cli_column *columns; /* of answers: place, label, one for each model, text */
    bool failed;              /* the validation layer had something to say */
} comparison;

/* ---- names ---- */

/* The last part of a path, of which trailing slashes are none; its length in *length. */
static const char *last_part(const char *path, int *length) {
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/') {
        end--;
    }
    size_t begin = end;
    while (begin > 0 && path[begin - 1] != '/') {
        begin--;
    }
    *length = (int)(end - begin);
    return path + begin;
}

/*
 * How much of the last parts is the same word or words up to a hyphen, as the task in "text-fnet"
 * and "text-tnn": columns are narrow. Nothing for a single model.
 */
static int common_prefix(const weft_cli_comparison_params *params) {
    int length;
    const char *first = last_part(params->models[0], &length);
    int common = params->count > 1 ? length - 1 : 0;
    for (uint32_t index = 1; index < params->count; index++) {
        int other_length;
        const char *other = last_part(params->models[index], &other_length);
        int same = 0;
        while (same < common && same < other_length - 1 && first[same] == other[same]) {
            same++;
        }
        common = same;
    }
    while (common > 0 && first[common - 1] != '-') {
        common--;
    }
    return common;
}

/* Whether the last parts of the paths tell the models apart. */
static bool last_parts_differ(const comparison *self) {
    for (uint32_t first = 0; first < self->params->count; first++) {
        for (uint32_t second = first + 1; second < self->params->count; second++) {
            int lengths[2];
            const char *one = last_part(self->params->models[first], &lengths[0]);
            const char *other = last_part(self->params->models[second], &lengths[1]);
            if (lengths[0] == lengths[1] && strncmp(one, other, (size_t)lengths[0]) == 0) {
                return false;
            }
        }
    }
    return true;
}

/* ---- the work ---- */

/* Texts are read for each model, since labels and tokens are the model's. */
static int load(comparison *self) {
    const weft_cli_comparison_params *params = self->params;
    bool shared = !weft_cli_is_folder(params->data);
    int exit_code = WEFT_CLI_FINE;
    for (uint32_t index = 0; index < params->count && exit_code == WEFT_CLI_FINE; index++) {
        const weft_cli_data *data = shared && index > 0 ? self->jobs[0].data : NULL;
        weft_cli_job *job = &self->jobs[index];
        exit_code =
            weft_cli_job_load(job, params->common, params->models[index], params->data, data);
        job->answers = params->answers;
        if (exit_code == WEFT_CLI_FINE && params->examples > 0 && data == NULL) {
            weft_cli_data_thin(&job->own, params->examples);
        }
        if (exit_code == WEFT_CLI_FINE && params->answers && !weft_cli_has_answers(&job->session)) {
            exit_code = WEFT_CLI_BAD_FILE;
        }
    }
    return exit_code;
}

static int keep(comparison *self, uint32_t index) {
    const weft_cli_job *job = &self->jobs[index];
    const weft_cli_evaluation *evaluation = &job->evaluation;
    self->rows[index] = (row){.mixing = weft_strdup(&self->host, job->session.info.mixing),
                              .parameters = job->session.info.parameters,
                              .accuracy = weft_cli_accuracy(&job->score),
                              .bits = weft_cli_bits_per_token(&job->score),
                              .squared = weft_cli_mean_squared(&job->score),
                              .absolute = weft_cli_mean_absolute(&job->score),
                              .tokens_per_s = weft_cli_speed(evaluation, evaluation->timed_tokens),
                              .peak_bytes = evaluation->peak_bytes};
    self->failed |= weft_cli_validation_failed(job->session.device);
    return self->rows[index].mixing == NULL
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

/* What is the same for all models, which the first job's end would take away. */
static void keep_setting(comparison *self) {
    const weft_cli_session *session = &self->jobs[0].session;
    self->measure = self->jobs[0].score.measure;
    self->examples = self->jobs[0].data->example_count;
    self->unit = weft_cli_bits_unit(&session->info);
    memcpy(self->device, session->device_info.name, sizeof self->device);
    self->device_type = weft_device_type_name(session->device_info.type);
}

/* A model's answers, and with the first model what they are answers to. */
static int keep_answers(comparison *self, uint32_t index) {
    const weft_cli_job *job = &self->jobs[index];
    weft_status status = WEFT_OK;
    if (index == 0) {
        status = weft_cli_column_places(&self->columns[0], job);
        status = status == WEFT_OK ? weft_cli_column_labels(&self->columns[1], job) : status;
        status = status == WEFT_OK
                     ? weft_cli_column_texts(&self->columns[self->params->count + 2], job)
                     : status;
    }
    int length;
    const char *name = last_part(self->params->models[index], &length);
    int skipped = common_prefix(self->params);
    char *heading = weft_format(&self->host, "%.*s", length - skipped, name + skipped);
    if (heading == NULL) {
        status = weft_fail_memory(&self->host, "a column");
    }
    if (status == WEFT_OK) {
        status = weft_cli_column_answers(&self->columns[index + 2], job, heading);
    }
    weft_free(&self->host, heading);
    return weft_cli_exit_code(status);
}

/* What the report says of a job that has run. */
static int keep_all(comparison *self, uint32_t index) {
    if (index == 0) {
        keep_setting(self);
    }
    int exit_code = keep(self, index);
    if (exit_code == WEFT_CLI_FINE && self->reports != NULL) {
        exit_code = keep_json(self, index);
    } else if (exit_code == WEFT_CLI_FINE && self->params->answers) {
        exit_code = keep_answers(self, index);
    }
    return exit_code;
}

/* Models and devices are released one by one; the first job's data stays for the others. */
static int run(comparison *self) {
    int exit_code = WEFT_CLI_FINE;
    for (uint32_t index = 0; index < self->params->count && exit_code == WEFT_CLI_FINE; index++) {
        weft_cli_job *job = &self->jobs[index];
        int length;
        const char *name = last_part(self->params->models[index], &length);
        char label[64];
        snprintf(label, sizeof label, "%u/%u %.*s", index + 1, self->params->count,
                 length < 40 ? length : 40, name);
        exit_code = weft_cli_job_run(job, self->params->batch, label);
        if (exit_code == WEFT_CLI_FINE) {
            exit_code = keep_all(self, index);
        }
        weft_cli_score_clear(&job->score);
        weft_cli_session_close(&job->session);
    }
    return exit_code;
}

/* ---- the table ---- */

static const char *const *columns_of(weft_cli_measure measure, const char *unit) {
    static const char *const labels[] = {"model",     "mixer",     ">parameters",  ">accuracy",
                                         ">tokens/s", ">relative", ">peak memory", NULL};
    static const char *const bytes[] = {"model",          "mixer",        ">parameters",
                                        ">bits per byte", ">perplexity",  ">tokens/s",
                                        ">relative",      ">peak memory", NULL};
    static const char *const tokens[] = {"model",           "mixer",        ">parameters",
                                         ">bits per token", ">perplexity",  ">tokens/s",
                                         ">relative",       ">peak memory", NULL};
    static const char *const values[] = {"model",
                                         "mixer",
                                         ">parameters",
                                         ">mean squared error",
                                         ">mean absolute error",
                                         ">tokens/s",
                                         ">relative",
                                         ">peak memory",
                                         NULL};
    switch (measure) {
    case WEFT_CLI_MEASURE_TOKENS:
        return strcmp(unit, "bits per byte") == 0 ? bytes : tokens;
    case WEFT_CLI_MEASURE_VALUES:
        return values;
    default:
        return labels;
    }
}

static void add_quality(weft_cli_table *table, const row *found, weft_cli_measure measure) {
    switch (measure) {
    case WEFT_CLI_MEASURE_LABELS:
        weft_cli_table_cell(table, "%.2f %%", 100.0 * found->accuracy);
        break;
    case WEFT_CLI_MEASURE_TOKENS:
        weft_cli_table_cell(table, "%.4f", found->bits);
        weft_cli_table_cell(table, "%.3f", exp2(found->bits));
        break;
    case WEFT_CLI_MEASURE_VALUES:
        weft_cli_table_cell(table, "%.6g", found->squared);
        weft_cli_table_cell(table, "%.6g", found->absolute);
        break;
    }
}

static void add_row(weft_cli_table *table, const comparison *self, uint32_t index, bool whole) {
    const row *found = &self->rows[index];
    char number[WEFT_CLI_GROUPED_SIZE];
    char bytes[WEFT_CLI_BYTES_SIZE];
    int length;
    const char *name = last_part(self->params->models[index], &length);
    if (whole) {
        weft_cli_table_cell(table, "%s", self->params->models[index]);
    } else {
        weft_cli_table_cell(table, "%.*s", length, name);
    }
    weft_cli_table_cell(table, "%s", found->mixing);
    weft_cli_table_cell(table, "%s", weft_cli_grouped(found->parameters, number));
    add_quality(table, found, self->measure);
    weft_cli_table_cell(table, "%s",
                        weft_cli_grouped((uint64_t)(found->tokens_per_s + 0.5), number));
    weft_cli_table_cell(table, "%.2f×", relative_speed(self, index));
    weft_cli_table_cell(table, "%s", weft_cli_bytes(found->peak_bytes, bytes));
}

static int print_text(const comparison *self) {
    bool whole = !last_parts_differ(self);
    if (self->params->answers) {
        int exit_code = weft_cli_columns_print(self->columns, self->params->count + 3);
        if (exit_code != WEFT_CLI_FINE) {
            return exit_code;
        }
        putchar('\n');
    }
    printf("%s: %u examples, on %s (%s), %s\n\n", self->params->data, self->examples, self->device,
           self->device_type, weft_math_name(self->params->common->math));
    weft_cli_table *table = weft_cli_table_begin(columns_of(self->measure, self->unit));
    for (uint32_t index = 0; index < self->params->count; index++) {
        add_row(table, self, index, whole);
    }
    return weft_cli_table_print(&table);
}

static int print_json(comparison *self) {
    json_t *reports = self->reports;
    self->reports = NULL;
    return weft_cli_print_json(json_pack("{s:o, s:s, s:I, s:o}", "data",
                                         weft_cli_json_text(self->params->data), "math",
                                         weft_math_name(self->params->common->math), "examples",
                                         (json_int_t)self->examples, "models", reports));
}

/* ---- all of it ---- */

static int make_room(comparison *self) {
    self->jobs = weft_alloc_zero(&self->host, self->params->count, sizeof *self->jobs);
    self->rows = weft_alloc_zero(&self->host, self->params->count, sizeof *self->rows);
    self->columns =
        weft_alloc_zero(&self->host, (size_t)self->params->count + 3, sizeof *self->columns);
    self->reports = self->params->common->json ? json_array() : NULL;
    bool fine = self->jobs != NULL && self->rows != NULL && self->columns != NULL &&
                (self->reports != NULL || !self->params->common->json);
    return fine ? WEFT_CLI_FINE : weft_cli_exit_code(weft_fail_memory(&self->host, "the models"));
}

static void clear(comparison *self) {
    for (uint32_t index = 0; index < self->params->count; index++) {
        if (self->jobs != NULL) {
            weft_cli_job_clear(&self->jobs[index]);
        }
        if (self->rows != NULL) {
            weft_free(&self->host, self->rows[index].mixing);
        }
    }
    for (uint32_t column = 0; self->columns != NULL && column < self->params->count + 3; column++) {
        weft_cli_column_clear(&self->columns[column]);
    }
    weft_free(&self->host, self->columns);
    weft_free(&self->host, self->jobs);
    weft_free(&self->host, self->rows);
    json_decref(self->reports);
}

int weft_cli_eval_compare(const weft_cli_comparison_params *params) {
    comparison self = {.params = params, .host = weft_cli_host(params->common)};
    int exit_code = make_room(&self);
    if (exit_code == WEFT_CLI_FINE) {
        exit_code = load(&self);
    }
    if (exit_code == WEFT_CLI_FINE) {
        exit_code = run(&self);
    }
    if (exit_code == WEFT_CLI_FINE) {
        exit_code = params->common->json ? print_json(&self) : print_text(&self);
    }
    if (exit_code == WEFT_CLI_FINE && self.failed) {
        exit_code = WEFT_CLI_FAILED;
    }
    clear(&self);
    return exit_code;
}
