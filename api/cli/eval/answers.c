/* SPDX-License-Identifier: MIT */
#include "eval/answers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/harmless.h"
#include "core/try.h"

/* The library's allocator, which is the C library's as long as no other is named. */
static const weft_host c_library = {0};

#define TEXT_CHARACTERS 28 /* of an example, at most */

static bool has_answers(const weft_cli_session *session) {
    if (weft_cli_measure_of(session->info.task) == WEFT_CLI_MEASURE_LABELS) {
        return true;
    }
    weft_fail(&session->host, WEFT_BAD_FILE,
              "--answers: expected a model that predicts labels, found %s, whose task is %s",
              session->folder, weft_task_name(session->info.task));
    return false;
}

int weft_cli_job_restrict(weft_cli_job *job, uint32_t examples, bool answers) {
    if (examples > 0 && job->data == &job->own) {
        weft_cli_data_thin(&job->own, examples);
    }
    job->answers = answers;
    return answers && !has_answers(&job->session) ? WEFT_CLI_BAD_FILE : WEFT_CLI_FINE;
}

/* ---- columns ---- */

static weft_status begin(weft_cli_column *column, const char *heading, const weft_cli_job *job) {
    *column = (weft_cli_column){.count = job->data->example_count};
    column->heading = weft_strdup(&c_library, heading);
    column->cells = weft_alloc_zero(&c_library, column->count, sizeof *column->cells);
    return !column->heading || !column->cells ? weft_fail_memory(&job->session.host, "a column")
                                              : WEFT_OK;
}

/* Takes a cell; null means that memory is out. */
static weft_status set(weft_cli_column *column, uint32_t example, char *cell,
                       const weft_cli_job *job) {
    column->cells[example] = cell;
    return !cell ? weft_fail_memory(&job->session.host, "a column") : WEFT_OK;
}

void weft_cli_column_clear(weft_cli_column *column) {
    for (uint32_t example = 0; column->cells && example < column->count; example++) {
        weft_free(&c_library, column->cells[example]);
    }
    weft_free(&c_library, column->cells);
    weft_free(&c_library, column->heading);
    *column = (weft_cli_column){0};
}

weft_status weft_cli_column_places(weft_cli_column *column, const weft_cli_job *job) {
    WEFT_TRY(begin(column, ">example", job));
    for (uint32_t example = 0; example < column->count; example++) {
        uint32_t place = weft_cli_data_place(job->data, example);
        WEFT_TRY(set(column, example, weft_format(&c_library, "%u", place), job));
    }
    return WEFT_OK;
}

weft_status weft_cli_column_labels(weft_cli_column *column, const weft_cli_job *job) {
    WEFT_TRY(begin(column, "label", job));
    for (uint32_t example = 0; example < column->count; example++) {
        uint32_t label = (uint32_t)job->data->labels[example];
        const char *name = weft_model_label(job->session.model, label);
        WEFT_TRY(set(column, example, weft_strdup(&c_library, name), job));
    }
    return WEFT_OK;
}

/* ---- answers ---- */

static weft_status answer_of(weft_cli_entry *answer, uint32_t example, const weft_cli_job *job) {
    const weft_cli_score *score = &job->score;
    return weft_cli_top_entries(answer, 1, &score->outputs[(size_t)example * score->width],
                                score->width, job->session.info.multi_label, &job->session.host);
}

weft_status weft_cli_column_answers(weft_cli_column *column, const weft_cli_job *job,
                                    const char *heading) {
    WEFT_TRY(begin(column, heading, job));
    for (uint32_t example = 0; example < column->count; example++) {
        weft_cli_entry answer = {0};
        WEFT_TRY(answer_of(&answer, example, job));
        bool right = (int32_t)answer.index == job->data->labels[example];
        WEFT_TRY(set(column, example,
                     weft_format(&c_library, "%s %.0f %%%s",
                                 weft_model_label(job->session.model, answer.index),
                                 100.0 * answer.probability, right ? "" : " ✗"),
                     job));
    }
    return WEFT_OK;
}

json_t *weft_cli_answers_json(const weft_cli_job *job) {
    json_t *answers = json_array();
    for (uint32_t example = 0; example < job->data->example_count; example++) {
        weft_cli_entry answer = {0};
        weft_status status = answer_of(&answer, example, job);
        uint32_t label = (uint32_t)job->data->labels[example];
        json_t *row = json_pack(
            "{s:I, s:o, s:o, s:o}", "example", (json_int_t)weft_cli_data_place(job->data, example),
            "label", weft_cli_json_text(weft_model_label(job->session.model, label)), "answer",
            weft_cli_json_text(weft_model_label(job->session.model, answer.index)), "probability",
            weft_cli_json_real(answer.probability));
        if (status != WEFT_OK || json_array_append_new(answers, row) != 0) {
            json_decref(answers);
            return NULL;
        }
    }
    return answers;
}

/* ---- texts ---- */

#define TEXT_SIZE ((size_t)TEXT_CHARACTERS * WEFT_HARMLESS_SIZE + sizeof "…")

/* The first characters of a sequence of bytes on one line. Ids that are no bytes end it. */
static void start_of_text(char text[TEXT_SIZE], const int32_t *ids, uint32_t count) {
    char bytes[4 * TEXT_CHARACTERS +
               8]; /* with what a cut left at the start, and more than is shown */
    size_t size = 0;
    while (size < count && size < sizeof bytes && ids[size] >= 0 && ids[size] <= 0xff) {
        const bool ends_word = ids[size] == '\n' || ids[size] == '\r' || ids[size] == '\t';
        bytes[size] = ends_word ? ' ' : (char)ids[size];
        size++;
    }
    size_t at = 0;
    while (at < size && at < 3 && ((uint8_t)bytes[at] & 0xc0) == 0x80) {
        at++; /* the text was cut within a character */
    }
    size_t length = 0;
    for (uint32_t characters = 0; at < size && characters < TEXT_CHARACTERS; characters++) {
        size_t added = 0;
        at += weft_harmless_character(text + length, &added, bytes + at, size - at,
                                      WEFT_HARMLESS_TEXT, "");
        length += added;
    }
    snprintf(text + length, TEXT_SIZE - length, "%s", at < size ? "…" : "");
}

weft_status weft_cli_column_texts(weft_cli_column *column, const weft_cli_job *job) {
    const weft_cli_data *data = job->data;
    if (!data->tokens || strcmp(job->session.info.tokenizer, "bytes") != 0) {
        *column = (weft_cli_column){0};
        return WEFT_OK;
    }
    WEFT_TRY(begin(column, "text", job));
    size_t per_example = data->sequence_count / data->example_count;
    for (uint32_t example = 0; example < column->count; example++) {
        const weft_cli_sequence *sequence = &data->sequences[example * per_example];
        char text[TEXT_SIZE];
        start_of_text(text, &data->tokens[sequence->begin], sequence->length);
        WEFT_TRY(set(column, example, weft_strdup(&c_library, text), job));
    }
    return WEFT_OK;
}

/* ---- the table ---- */

int weft_cli_columns_print(const weft_cli_column *columns, uint32_t count) {
    const char **headings = calloc((size_t)count + 1, sizeof *headings);
    if (!headings) {
        weft_cli_print(stderr, "weft: error: out of memory for a table\n");
        return WEFT_CLI_FAILED;
    }
    uint32_t shown = 0;
    for (uint32_t column = 0; column < count; column++) {
        if (columns[column].cells) {
            headings[shown++] = columns[column].heading;
        }
    }
    weft_cli_table *table = weft_cli_table_begin(headings);
    for (uint32_t example = 0; example < columns[0].count; example++) {
        for (uint32_t column = 0; column < count; column++) {
            if (columns[column].cells) {
                weft_cli_table_cell(table, "%s", columns[column].cells[example]);
            }
        }
    }
    int exit_code = weft_cli_table_print(&table);
    free(headings);
    return exit_code;
}
