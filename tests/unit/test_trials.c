/* SPDX-License-Identifier: MIT */
/* What every sheet (verify/sheet.h) says of arguments: which are refused with which message, and what others give. */
#include <weft/mixers.h>

#include "core/shape.h"
#include "graph/graph.h"
#include "support.h"
#include "support_graph.h"
#include "verify/sheet.h"

/* ---- the operands of a trial ---- */

/* A graph and what a sheet's op is called with. */
struct call {
    const weft_sheet *sheet;
    const char *trial; /* which one, for messages */
    struct weft_test_host *host;
    weft_graph *graph;
    weft_tensor x[WEFT_OPERANDS];
    weft_sheet_params params;
};

static weft_tensor replace(weft_graph *graph, const char *name, const weft_replacement *by) {
    if (by->is_other) {
        return (weft_tensor){by->id};
    }
    if (by->dtype == WEFT_I32) {
        return by->data ? weft_test_constant_i32(graph, by->shape, by->data)
                        : weft_test_input_i32(graph, name, by->shape);
    }
    return by->data ? weft_test_constant(graph, by->shape, by->data)
                    : weft_test_input(graph, name, by->shape);
}

static const weft_replacement *replacement_of(const weft_trial *trial, uint32_t operand) {
    for (uint32_t i = 0; trial && i < WEFT_COUNT(trial->replaced); i++) {
        const weft_replacement *by = &trial->replaced[i];
        if (by->operand == operand && (by->shape.rank > 0 || by->is_other)) {
            return by;
        }
    }
    return NULL;
}

/* A new graph with the operands of the trial, or the usual ones of none. */
static void begin(struct call *call, const weft_trial *trial) {
    const weft_sheet *sheet = call->sheet;
    const void *params = trial && trial->params ? trial->params : sheet->usual;
    const bool causal = weft_sheet_is_causal(sheet, params);
    assert_ok(weft_graph_create(&call->graph, &call->host->host));
    call->params = (weft_sheet_params){{0}};
    if (params) {
        memcpy(&call->params, params, sheet->params_size);
    }
    for (uint32_t i = 0; i < weft_sheet_operand_count(sheet); i++) {
        const weft_operand *operand = &sheet->operands[i];
        const weft_replacement *by = replacement_of(trial, i);
        call->x[i] = (weft_tensor){0};
        if (by) {
            call->x[i] = replace(call->graph, operand->name, by);
        } else if (!operand->is_optional) {
            call->x[i] = weft_test_input(call->graph, operand->name,
                                         weft_sheet_shape(sheet, i, &sheet->sizes, causal));
        }
        weft_sheet_set(&call->params, operand->field, call->x[i]);
    }
    const weft_replacement *lengths = replacement_of(trial, WEFT_LENGTHS);
    if (lengths) {
        weft_sheet_set(&call->params, sheet->lengths, replace(call->graph, "lengths", lengths));
    }
}

/* ---- what comes of it ---- */

static bool has_all(const char *line, size_t size, const char *const says[4]) {
    bool has = true;
    for (uint32_t i = 0; i < 4 && says[i]; i++) {
        const char *found = strstr(line, says[i]);
        has = has && found && found + strlen(says[i]) <= line + size;
    }
    return has;
}

static void expect_line(const struct call *call, const char *const says[4]) {
    const char *log = weft_test_log(call->host);
    bool found = false;
    for (const char *line = log; *line && !found; line += strcspn(line, "\n") + 1) {
        found = has_all(line, strcspn(line, "\n"), says);
    }
    if (!found) {
        fail_msg("%s, %s: no line has '%s', '%s', '%s' and '%s' in\n%s", call->sheet->name,
                 call->trial, says[0], says[1] ? says[1] : "", says[2] ? says[2] : "",
                 says[3] ? says[3] : "", log);
    }
}

static void expect_result(const struct call *call, weft_tensor y, weft_shape gives) {
    weft_shape shape;
    assert_ok(weft_graph_get_tensor(call->graph, y, &shape, NULL));
    if (gives.rank > 0 && !weft_shape_equal(shape, gives)) {
        char texts[2][WEFT_SHAPE_TEXT_SIZE];
        fail_msg("%s, %s gives %s, not %s", call->sheet->name, call->trial,
                 weft_shape_text(shape, texts[0]), weft_shape_text(gives, texts[1]));
    }
}

/* Calls the op; whatever is refused leaves the graph as it was. */
static void expect(const struct call *call, const void *params, weft_status expected,
                   const char *const says[4], weft_shape gives) {
    const uint32_t values = call->graph->value_count;
    const uint32_t nodes = call->graph->node_count;
    weft_tensor y = {0};
    weft_test_host_reset(call->host);
    const weft_status status = call->sheet->call(&y, call->graph, call->x, params);
    if (status != expected) {
        fail_msg("%s, %s: %s, not %s\n%s", call->sheet->name, call->trial, weft_status_name(status),
                 weft_status_name(expected), weft_test_log(call->host));
    }
    if (status == WEFT_OK) {
        expect_result(call, y, gives);
        return;
    }
    expect_line(call, says);
    assert_int_equal(call->graph->value_count, values);
    assert_int_equal(call->graph->node_count, nodes);
}

WEFT_TEST_ON_HOST(what_sheets_say_of_arguments_holds, host) {
    for (uint32_t s = 0; weft_sheet_at(s); s++) {
        const weft_sheet *sheet = weft_sheet_at(s);
        for (uint32_t i = 0; i < sheet->trial_count; i++) {
            const weft_trial *trial = &sheet->trials[i];
            char name[24];
            snprintf(name, sizeof name, "trial %u", i);
            struct call call = {.sheet = sheet, .trial = name, .host = host};
            begin(&call, trial);
            expect(&call, trial->without_params ? NULL : &call.params, trial->status, trial->says,
                   trial->gives);
            weft_graph_destroy(&call.graph);
        }
    }
}

WEFT_TEST_ON_HOST(no_graph_or_result_is_an_error, host) {
    for (uint32_t s = 0; weft_sheet_at(s); s++) {
        const weft_sheet *sheet = weft_sheet_at(s);
        struct call call = {.sheet = sheet, .trial = "no graph", .host = host};
        weft_tensor y = {0};
        if (!sheet->call) {
            continue;
        }
        begin(&call, NULL);
        const weft_status of[] = {sheet->call(&y, NULL, call.x, &call.params),
                                  sheet->call(NULL, call.graph, call.x, &call.params)};
        for (uint32_t i = 0; i < 2; i++) {
            if (of[i] != WEFT_INVALID_ARGUMENT) {
                fail_msg("%s without a %s: %s", sheet->name, i == 0 ? "graph" : "result",
                         weft_status_name(of[i]));
            }
        }
        weft_graph_destroy(&call.graph);
    }
}

WEFT_TEST_ON_HOST(lengths_of_another_kind_are_refused, host) {
    static const struct {
        const char *found;
        weft_replacement by;
    } wrong[] = {{"f32 [2]", {.shape = {1, {2}}}},
                 {"i32 [3]", {.shape = {1, {3}}, .dtype = WEFT_I32}},
                 {"i32 [2, 1]", {.shape = {2, {2, 1}}, .dtype = WEFT_I32}}};
    for (uint32_t s = 0; weft_sheet_at(s); s++) {
        const weft_sheet *sheet = weft_sheet_at(s);
        for (size_t i = 0; i < WEFT_COUNT(wrong) && sheet->call && sheet->lengths != 0; i++) {
            struct call call = {.sheet = sheet, .trial = wrong[i].found, .host = host};
            begin(&call, NULL);
            weft_sheet_set(&call.params, sheet->lengths,
                           replace(call.graph, "lengths", &wrong[i].by));
            expect(&call, &call.params, WEFT_SHAPE_MISMATCH,
                   (const char *const[4]){sheet->lengths_of ? sheet->lengths_of : sheet->name,
                                          ": lengths must be i32 [2]", wrong[i].found},
                   (weft_shape){0});
            weft_graph_destroy(&call.graph);
        }
    }
}
