/* SPDX-License-Identifier: MIT */
#include "lines_report.h"

#include <stdio.h>
#include <string.h>

#include "core/formats/json.h"
#include "core/text.h"
#include "logits.h"
#include "stop.h"

#define NUMBER_WIDTH 8

static bool gives_values(const weft_cli_session *session) {
    return session->info.task == WEFT_TASK_REGRESS;
}

static const float *row_of(const weft_cli_lines_result *result, uint32_t row) {
    return &result->outputs[(size_t)row * result->width];
}

/* The best entries of a line in fresh memory, *count of them: none of an empty one. False after a message. */
static bool find_top(weft_cli_entry **entries, uint32_t *count, const weft_cli_lines_result *result,
                     uint32_t row) {
    const weft_host *host = &result->session->host;
    *entries = NULL;
    *count = result->top < result->width ? result->top : result->width;
    if (result->states[row] != WEFT_CLI_LINE_DONE || *count == 0) {
        *count = 0;
        return true;
    }
    *entries = weft_alloc_zero(host, *count, sizeof **entries);
    if (!*entries) {
        weft_fail_memory(host, "the best entries");
        return false;
    }
    if (weft_cli_top_entries(*entries, *count, row_of(result, row), result->width,
                             result->session->info.multi_label, host) != WEFT_OK) {
        weft_free(host, *entries);
        return false;
    }
    return true;
}

static uint32_t value_count(const weft_cli_lines_result *result, uint32_t row) {
    return result->states[row] == WEFT_CLI_LINE_DONE ? result->width : 0;
}

/* ---- JSON ---- */

static json_t *values_json(const weft_cli_lines_result *result, uint32_t row) {
    json_t *values = json_array();
    for (uint32_t i = 0; i < value_count(result, row); i++) {
        values = weft_cli_json_append(values, weft_cli_json_real((double)row_of(result, row)[i]));
    }
    return values;
}

static json_t *entry_json(const weft_cli_lines_result *result, const weft_cli_entry *entry) {
    const char *label = weft_model_label(result->session->model, entry->index);
    return json_pack("{s:o, s:I, s:o, s:o}", "label", weft_cli_json_text(label), "index",
                     (json_int_t)entry->index, "logit", weft_cli_json_real((double)entry->logit),
                     "probability", weft_cli_json_real(entry->probability));
}

static json_t *top_json(const weft_cli_lines_result *result, uint32_t row) {
    weft_cli_entry *entries = NULL;
    uint32_t count = 0;
    if (!find_top(&entries, &count, result, row)) {
        return NULL;
    }
    json_t *top = json_array();
    for (uint32_t i = 0; top && i < count; i++) {
        top = weft_cli_json_append(top, entry_json(result, &entries[i]));
    }
    weft_free(&result->session->host, entries);
    return top;
}

/* `name` has `number`, which counts from 0 as "sequence" and from 1 as "line". */
static json_t *line_json(const weft_cli_lines_result *result, uint32_t row, const char *name,
                         uint64_t number) {
    if (result->found) {
        const bool answers = weft_model_answers_questions(result->session->model);
        return json_pack("{s:I, s:o}", name, (json_int_t)number, answers ? "answers" : "entities",
                         weft_cli_found_json(&result->found[row]));
    }
    return gives_values(result->session)
               ? json_pack("{s:I, s:o}", name, (json_int_t)number, "values",
                           values_json(result, row))
               : json_pack("{s:I, s:o}", name, (json_int_t)number, "top", top_json(result, row));
}

static json_t *lines_json(const weft_cli_lines_result *result) {
    json_t *lines = json_array();
    for (uint32_t row = 0; lines && row < result->count; row++) {
        lines = weft_cli_json_append(lines, line_json(result, row, "sequence", row));
    }
    return lines;
}

static int print_all_json(const weft_cli_lines_result *result,
                          const weft_cli_lines_summary *summary) {
    char text[WEFT_DIGEST_TEXT_SIZE];
    const char *digest =
        result->session->info.task == WEFT_TASK_CLASSIFY_TOKENS
            ? summary->digest
            : weft_cli_digest(result->outputs, (uint64_t)result->count * result->width, text);
    json_t *run =
        json_pack("{s:b, s:I, s:I, s:I, s:o, s:o, s:{s:[I, I], s:s?}, s:o}", "stopped",
                  (int)weft_cli_stopped(), "texts", (json_int_t)result->count, "tokens",
                  (json_int_t)summary->tokens, "plans", (json_int_t)summary->plans, "compile_ms",
                  weft_cli_json_real(summary->compile_ms), "run_ms",
                  weft_cli_json_real(summary->run_ms), "output", "shape", (json_int_t)result->count,
                  (json_int_t)result->width, "sha256", digest, "results", lines_json(result));
    return weft_cli_print_json(
        weft_cli_json_merge(weft_cli_session_json(result->session, NULL), run));
}

/* ---- a line for a line ---- */

/* A label's own tabs are escaped. */
static void print_tab(bool wanted) {
    weft_cli_print_text(stdout, "\t", wanted ? 1 : 0);
}

static int print_tsv(const weft_cli_lines_result *result, uint32_t row) {
    weft_cli_entry *entries = NULL;
    uint32_t count = 0;
    if (result->found) {
        weft_cli_found_tsv(&result->found[row]);
        return WEFT_CLI_FINE;
    }
    for (uint32_t i = 0; gives_values(result->session) && i < value_count(result, row); i++) {
        print_tab(i > 0);
        weft_cli_print(stdout, "%.9g", (double)row_of(result, row)[i]);
    }
    if (!gives_values(result->session) && !find_top(&entries, &count, result, row)) {
        return WEFT_CLI_FAILED;
    }
    for (uint32_t i = 0; i < count; i++) {
        print_tab(i > 0);
        const char *label = weft_model_label(result->session->model, entries[i].index);
        weft_cli_print_cell(label, strlen(label));
        print_tab(true);
        weft_cli_print(stdout, "%.6g", entries[i].probability);
    }
    weft_free(&result->session->host, entries);
    weft_cli_print(stdout, "\n");
    return WEFT_CLI_FINE;
}

/* ---- for people: columns as wide as the widest label, since no answer waits for the others ---- */

static uint32_t text_width(const char *text) {
    return (uint32_t)weft_utf8_count(text, strlen(text));
}

static uint32_t label_width(const weft_cli_session *session) {
    uint32_t widest = text_width("output");
    for (uint32_t i = 0; i < session->info.label_count; i++) {
        const uint32_t width = text_width(weft_model_label(session->model, i));
        widest = width > widest ? width : widest;
    }
    return widest;
}

/* The number stands at a line's first entry. */
static void print_entry(const weft_cli_lines_result *result, uint32_t row, uint32_t entry,
                        uint32_t index, const char *value) {
    const char *label = weft_model_label(result->session->model, index);
    const int gap = (int)(label_width(result->session) - text_width(label));
    if (entry == 0) {
        weft_cli_print(stdout, "%*llu", NUMBER_WIDTH, (unsigned long long)result->first + row + 1);
    } else {
        weft_cli_print(stdout, "%*s", NUMBER_WIDTH, "");
    }
    weft_cli_print(stdout, "  %s%*s  %12s\n", label, gap, "", value);
}

static int print_row(const weft_cli_lines_result *result, uint32_t row) {
    char text[32];
    weft_cli_entry *entries = NULL;
    uint32_t count = 0;
    if (result->states[row] == WEFT_CLI_LINE_EMPTY) {
        weft_cli_print(stdout, "%*llu\n", NUMBER_WIDTH,
                       (unsigned long long)result->first + row + 1);
        return WEFT_CLI_FINE;
    }
    if (result->found) {
        weft_cli_found_text(&result->found[row], result->first + row + 1);
        return WEFT_CLI_FINE;
    }
    for (uint32_t i = 0; gives_values(result->session) && i < value_count(result, row); i++) {
        snprintf(text, sizeof text, "%.6g", (double)row_of(result, row)[i]);
        print_entry(result, row, i, i, text);
    }
    if (!gives_values(result->session) && !find_top(&entries, &count, result, row)) {
        return WEFT_CLI_FAILED;
    }
    for (uint32_t i = 0; i < count; i++) {
        snprintf(text, sizeof text, "%.2f %%", entries[i].probability * 100.0);
        print_entry(result, row, i, entries[i].index, text);
    }
    weft_free(&result->session->host, entries);
    return WEFT_CLI_FINE;
}

/* ---- all ---- */

void weft_cli_lines_head(const weft_cli_session *session, weft_cli_answers answers) {
    if (answers == WEFT_CLI_ANSWERS_TABLE && session->info.task == WEFT_TASK_CLASSIFY_TOKENS) {
        weft_cli_found_head(session);
    } else if (answers == WEFT_CLI_ANSWERS_TABLE) {
        const bool values = gives_values(session);
        const char *label = values ? "output" : "label";
        weft_cli_print(stdout, "%*s  %s%*s  %12s\n", NUMBER_WIDTH, "line", label,
                       (int)(label_width(session) - text_width(label)), "",
                       values ? "value" : "probability");
    }
}

int weft_cli_lines_answers(const weft_cli_lines_result *result, weft_cli_answers answers) {
    int exit_code = WEFT_CLI_FINE;
    for (uint32_t row = 0; exit_code == WEFT_CLI_FINE && row < result->count; row++) {
        exit_code =
            answers == WEFT_CLI_ANSWERS_JSONL
                ? weft_cli_print_json_line(line_json(result, row, "line", result->first + row + 1))
            : answers == WEFT_CLI_ANSWERS_TSV ? print_tsv(result, row)
                                              : print_row(result, row);
    }
    fflush(stdout);
    return exit_code;
}

int weft_cli_lines_tail(const weft_cli_lines_result *result, const weft_cli_lines_summary *summary,
                        weft_cli_answers answers) {
    const weft_device_info *device = &result->session->device_info;
    if (answers == WEFT_CLI_ANSWERS_JSON) {
        return print_all_json(result, summary);
    }
    if (answers == WEFT_CLI_ANSWERS_TABLE) {
        weft_cli_print(stdout, "%s%.1f ms for %llu texts, %llu tokens, in %u plans on %s (%s)\n",
                       weft_cli_stopped() ? "stopped: " : "", summary->run_ms,
                       (unsigned long long)result->first + result->count,
                       (unsigned long long)summary->tokens, summary->plans, device->name,
                       weft_device_type_name(device->type));
    }
    return WEFT_CLI_FINE;
}
