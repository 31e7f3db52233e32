/* SPDX-License-Identifier: MIT */
#include "spans_report.h"

#include <string.h>

#include <weft/texts.h>

#define NUMBER_WIDTH 8
#define LABEL_WIDTH  12

/* Whole characters, as spans of the command are (run_lines.c). */
static weft_text_part part_of(const weft_cli_found *found, const weft_text_span *span) {
    return weft_text_find_part(found->text, span->end, span->begin, span->end);
}

static const char *label_of(const weft_text_span *span) {
    return span->label ? span->label : "answer";
}

void weft_cli_found_head(const weft_cli_session *session) {
    const bool answers = weft_model_answers_questions(session->model);
    weft_cli_print(stdout, "%*s  %-*s  %7s  %13s  %s\n", NUMBER_WIDTH, "line", LABEL_WIDTH,
                   answers ? "" : "label", "score", "characters", "text");
}

void weft_cli_found_text(const weft_cli_found *found, uint64_t number) {
    for (uint32_t i = 0; i < found->count || i == 0; i++) {
        if (i == 0) {
            weft_cli_print(stdout, "%*llu", NUMBER_WIDTH, (unsigned long long)number);
        } else {
            weft_cli_print(stdout, "%*s", NUMBER_WIDTH, "");
        }
        if (i < found->count) {
            const weft_text_span *span = &found->spans[i];
            weft_cli_print(stdout, "  %-*s  %7.4f  %6u-%-6u  %.*s", LABEL_WIDTH, label_of(span),
                           span->score, (uint32_t)part_of(found, span).first,
                           (uint32_t)part_of(found, span).last, (int)(span->end - span->begin),
                           found->text + span->begin);
        }
        weft_cli_print(stdout, "\n");
    }
}

void weft_cli_found_tsv(const weft_cli_found *found) {
    for (uint32_t i = 0; i < found->count; i++) {
        const weft_text_span *span = &found->spans[i];
        weft_cli_print_text(stdout, "\t", i > 0 ? 1 : 0);
        weft_cli_print_cell(label_of(span), strlen(label_of(span)));
        weft_cli_print_text(stdout, "\t", 1);
        weft_cli_print(stdout, "%.6g", span->score);
        weft_cli_print_text(stdout, "\t", 1);
        weft_cli_print(stdout, "%u", (uint32_t)part_of(found, span).first);
        weft_cli_print_text(stdout, "\t", 1);
        weft_cli_print(stdout, "%u", (uint32_t)part_of(found, span).last);
        weft_cli_print_text(stdout, "\t", 1);
        weft_cli_print_cell(found->text + span->begin, span->end - span->begin);
    }
    weft_cli_print(stdout, "\n");
}

static json_t *span_json(const weft_cli_found *found, const weft_text_span *span) {
    json_t *object = json_pack("{s:o, s:o, s:I, s:I}", "word",
                               json_stringn(found->text + span->begin, span->end - span->begin),
                               "score", weft_cli_json_real(span->score), "begin",
                               (json_int_t)(uint32_t)part_of(found, span).first, "end",
                               (json_int_t)(uint32_t)part_of(found, span).last);
    return span->label ? weft_cli_json_field(object, "label", weft_cli_json_text(span->label))
                       : object;
}

json_t *weft_cli_found_json(const weft_cli_found *found) {
    json_t *list = json_array();
    for (uint32_t i = 0; list && i < found->count; i++) {
        list = weft_cli_json_append(list, span_json(found, &found->spans[i]));
    }
    return list;
}
