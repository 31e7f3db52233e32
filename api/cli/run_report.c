/* SPDX-License-Identifier: MIT */
#include "run_report.h"

#include <stdio.h>
#include <string.h>

#include "logits.h"

#define FIRST_VALUES 8 /* of a hidden state */

/* ---- which rows of the output have entries to show ---- */

static weft_task task_of(const weft_cli_result *result) {
    return result->session->info.task;
}

static bool is_classifier(const weft_cli_result *result) {
    weft_task task = task_of(result);
    return task == WEFT_TASK_CLASSIFY || task == WEFT_TASK_NEXT_SENTENCE ||
           task == WEFT_TASK_RETRIEVE;
}

static uint32_t row_width(const weft_cli_result *result) {
    return result->shape.dim[result->shape.rank - 1];
}

/* Rows are a classifier's sequences or pairs, or every position of a language model. */
static uint32_t row_count(const weft_cli_result *result) {
    bool predicts = task_of(result) == WEFT_TASK_CAUSAL_LM ||
                    (task_of(result) == WEFT_TASK_MASKED_LM && result->inputs->mask >= 0);
    return is_classifier(result) || predicts
               ? (uint32_t)(weft_shape_elements(result->shape) / row_width(result))
               : 0;
}

static bool shows_row(const weft_cli_result *result, uint32_t row) {
    const weft_cli_inputs *inputs = result->inputs;
    if (task_of(result) == WEFT_TASK_CAUSAL_LM) {
        return row % inputs->length == inputs->length - 1; /* what comes next */
    }
    return is_classifier(result) || inputs->tokens.values[row] == inputs->mask;
}

static uint32_t shown_rows(const weft_cli_result *result) {
    uint32_t shown = 0;
    for (uint32_t row = 0; row < row_count(result); row++) {
        shown += shows_row(result, row);
    }
    return shown;
}

/* The best entries of a row in fresh memory, *count of them; null after a message. */
static weft_cli_entry *top_of_row(const weft_cli_result *result, uint32_t row, uint32_t *count) {
    const weft_host *host = &result->session->host;
    uint32_t width = row_width(result);
    uint32_t top = result->top < width ? result->top : width;
    weft_cli_entry *entries = weft_alloc_zero(host, top, sizeof *entries);
    if (!entries) {
        weft_fail_memory(host, "the best entries");
        return NULL;
    }
    const float *logits = &result->output[(size_t)row * width];
    if (weft_cli_top_entries(entries, top, logits, width, result->session->info.multi_label,
                             host) != WEFT_OK) {
        weft_free(host, entries);
        return NULL;
    }
    *count = top;
    return entries;
}

/* ---- what a row is called ---- */

static const char *row_name(const weft_cli_result *result) {
    return task_of(result) == WEFT_TASK_RETRIEVE ? "pair" : "sequence";
}

static bool tokens_are_bytes(const weft_cli_result *result) {
    return strcmp(result->session->info.tokenizer, "bytes") == 0;
}

#define TOKEN_TEXT_SIZE 16

/* A token that is a byte as a character of C, such as 'a' or '\n'; others have no text. */
static const char *token_text(const weft_cli_result *result, uint32_t token,
                              char text[TOKEN_TEXT_SIZE]) {
    if (!tokens_are_bytes(result) || token > 255) {
        text[0] = '\0';
    } else if (token == '\n' || token == '\t') {
        snprintf(text, TOKEN_TEXT_SIZE, "'\\%c'", token == '\n' ? 'n' : 't');
    } else if (token < 32 || token > 126) {
        snprintf(text, TOKEN_TEXT_SIZE, "'\\x%02x'", token);
    } else {
        bool escaped = token == '\'' || token == '\\';
        snprintf(text, TOKEN_TEXT_SIZE, "'%s%c'", escaped ? "\\" : "", (char)token);
    }
    return text;
}

/* ---- JSON ---- */

static json_t *entry_json(const weft_cli_result *result, const weft_cli_entry *entry) {
    if (is_classifier(result)) {
        return json_pack("{s:o, s:I, s:o, s:o}", "label",
                         weft_cli_json_text(weft_model_label(result->session->model, entry->index)),
                         "index", (json_int_t)entry->index, "logit",
                         weft_cli_json_real((double)entry->logit), "probability",
                         weft_cli_json_real(entry->probability));
    }
    char text[TOKEN_TEXT_SIZE];
    return json_pack("{s:I, s:s, s:I, s:o, s:o}", "token", (json_int_t)entry->index, "text",
                     token_text(result, entry->index, text), "index", (json_int_t)entry->index,
                     "logit", weft_cli_json_real((double)entry->logit), "probability",
                     weft_cli_json_real(entry->probability));
}

static json_t *row_json(const weft_cli_result *result, uint32_t row) {
    uint32_t count = 0;
    weft_cli_entry *entries = top_of_row(result, row, &count);
    json_t *top = !entries ? NULL : json_array();
    for (uint32_t index = 0; top && index < count; index++) {
        top = weft_cli_json_append(top, entry_json(result, &entries[index]));
    }
    weft_free(&result->session->host, entries);
    if (is_classifier(result)) {
        return json_pack("{s:I, s:o}", row_name(result), (json_int_t)row, "top", top);
    }
    return json_pack("{s:I, s:I, s:o}", "sequence", (json_int_t)(row / result->inputs->length),
                     "position", (json_int_t)(row % result->inputs->length), "top", top);
}

/* The values of a sequence, of a regression. */
static json_t *values_json(const weft_cli_result *result, uint32_t sequence) {
    json_t *values = json_array();
    for (uint32_t index = 0; index < row_width(result); index++) {
        double value = (double)result->output[(size_t)sequence * row_width(result) + index];
        values = weft_cli_json_append(values, weft_cli_json_real(value));
    }
    return json_pack("{s:I, s:o}", "sequence", (json_int_t)sequence, "values", values);
}

static json_t *rows_json(const weft_cli_result *result) {
    json_t *rows = json_array();
    bool regression = task_of(result) == WEFT_TASK_REGRESS;
    for (uint32_t row = 0; regression && row < result->shape.dim[0]; row++) {
        rows = weft_cli_json_append(rows, values_json(result, row));
    }
    for (uint32_t row = 0; rows && row < row_count(result); row++) {
        if (shows_row(result, row)) {
            rows = weft_cli_json_append(rows, row_json(result, row));
        }
    }
    return rows;
}

static json_t *shape_json(weft_shape shape) {
    json_t *axes = json_array();
    for (uint32_t axis = 0; axis < shape.rank; axis++) {
        json_array_append_new(axes, json_integer((json_int_t)shape.dim[axis]));
    }
    return axes;
}

int weft_cli_report_json(const weft_cli_result *result) {
    char digest[WEFT_DIGEST_TEXT_SIZE];
    weft_cli_digest(result->output, weft_shape_elements(result->shape), digest);
    json_t *report = weft_cli_session_json(result->session, result->plan);
    json_t *run = json_pack(
        "{s:I, s:I, s:o, s:I, s:{s:o, s:s}, s:o}", "batch", (json_int_t)result->inputs->batch,
        "length", (json_int_t)result->inputs->length, "run_ms", weft_cli_json_real(result->run_ms),
        "repeats", (json_int_t)result->repeats, "output", "shape", shape_json(result->shape),
        "sha256", digest, "results", rows_json(result));
    return weft_cli_print_json(weft_cli_json_merge(report, run));
}

/* ---- text ---- */

static void print_time(const weft_cli_result *result) {
    const weft_device_info *device = &result->session->device_info;
    weft_cli_print(stdout, "%.1f ms", result->run_ms);
    if (result->repeats > 1) {
        weft_cli_print(stdout, " (median of %u)", result->repeats);
    }
    weft_cli_print(stdout, " for %u x %u tokens on %s (%s)\n", result->inputs->batch,
                   result->inputs->length, device->name, weft_device_type_name(device->type));
}

static const char *const *row_columns(const weft_cli_result *result) {
    static const char *const labels[] = {"label", ">probability", NULL};
    static const char *const bytes[] = {">token", "text", ">probability", NULL};
    static const char *const tokens[] = {">token", ">probability", NULL};
    return is_classifier(result) ? labels : tokens_are_bytes(result) ? bytes : tokens;
}

static int print_row(const weft_cli_result *result, uint32_t row) {
    uint32_t count = 0;
    weft_cli_entry *entries = top_of_row(result, row, &count);
    if (!entries) {
        return WEFT_CLI_FAILED;
    }
    weft_cli_table *table = weft_cli_table_begin(row_columns(result));
    for (uint32_t index = 0; index < count; index++) {
        uint32_t entry = entries[index].index;
        char text[TOKEN_TEXT_SIZE];
        if (is_classifier(result)) {
            weft_cli_table_cell(table, "%s", weft_model_label(result->session->model, entry));
        } else {
            weft_cli_table_cell(table, "%u", entry);
        }
        if (!is_classifier(result) && tokens_are_bytes(result)) {
            weft_cli_table_cell(table, "%s", token_text(result, entry, text));
        }
        weft_cli_table_cell(table, "%.2f %%", entries[index].probability * 100.0);
    }
    weft_free(&result->session->host, entries);
    return weft_cli_table_print(&table);
}

static void print_row_name(const weft_cli_result *result, uint32_t row) {
    uint32_t length = result->inputs->length;
    if (task_of(result) == WEFT_TASK_CAUSAL_LM) {
        weft_cli_print(stdout, "sequence %u, after its %u tokens\n", row / length, length);
    } else if (!is_classifier(result)) {
        weft_cli_print(stdout, "sequence %u, [MASK] at position %u\n", row / length, row % length);
    } else if (row_count(result) > 1) {
        weft_cli_print(stdout, "%s %u\n", row_name(result), row);
    }
}

static int print_rows(const weft_cli_result *result) {
    for (uint32_t row = 0; row < row_count(result); row++) {
        if (shows_row(result, row)) {
            print_row_name(result, row);
            WEFT_CLI_TRY(print_row(result, row));
        }
    }
    return WEFT_CLI_FINE;
}

/* A line for each value of a regression. */
static int print_values(const weft_cli_result *result) {
    static const char *const columns[] = {">sequence", "output", ">value", NULL};
    uint32_t width = row_width(result);
    weft_cli_table *table = weft_cli_table_begin(columns);
    for (uint64_t index = 0; index < weft_shape_elements(result->shape); index++) {
        weft_cli_table_cell(table, "%u", (uint32_t)(index / width));
        weft_cli_table_cell(table, "%s",
                            weft_model_label(result->session->model, (uint32_t)(index % width)));
        weft_cli_table_cell(table, "%.6g", (double)result->output[index]);
    }
    return weft_cli_table_print(&table);
}

static void print_first_values(const weft_cli_result *result) {
    uint64_t count = weft_shape_elements(result->shape);
    weft_cli_print(stdout, "first values:");
    for (uint64_t index = 0; index < count && index < FIRST_VALUES; index++) {
        weft_cli_print(stdout, " %.6g", (double)result->output[index]);
    }
    weft_cli_print(stdout, "%s\n", count > FIRST_VALUES ? " …" : "");
}

int weft_cli_report_text(const weft_cli_result *result) {
    char shape[WEFT_SHAPE_TEXT_SIZE];
    int exit_code = WEFT_CLI_FINE;
    if (shown_rows(result) > 0) {
        exit_code = print_rows(result);
    } else if (task_of(result) == WEFT_TASK_REGRESS) {
        exit_code = print_values(result);
    } else {
        weft_cli_print(stdout, "%s: f32 %s\n",
                       task_of(result) == WEFT_TASK_HIDDEN  ? "last hidden state"
                       : task_of(result) == WEFT_TASK_EMBED ? "vectors"
                                                            : "logits",
                       weft_shape_text(result->shape, shape));
        print_first_values(result);
        if (result->session->info.task == WEFT_TASK_MASKED_LM) {
            weft_cli_print(stdout,
                           "The input has no [MASK] to fill in; --out FILE writes all logits.\n");
        }
    }
    print_time(result);
    return exit_code;
}
