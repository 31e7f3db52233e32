/* SPDX-License-Identifier: MIT */
/* Programs as models: their symbols, ports, graphs and plans. */
#include <string.h>

#include "core/given.h"
#include "core/math/float_state.h"
#include "core/try.h"
#include "model/network/architecture.h"
#include "model/program/program.h"

/** Its program; null, with a message, where the model has none. */
static struct weft_program *program_of(const weft_model *model, const char *function) {
    struct weft_program *program = weft_model_program(model);
    if (!program) {
        weft_fail(weft_model_host(model), WEFT_UNSUPPORTED, "%s: the model is no program",
                  function);
    }
    return program;
}

weft_status weft_model_get_symbol(const weft_model *model, uint32_t index, weft_symbol_info *info) {
    WEFT_ENTER;
    WEFT_GIVEN(weft_model_host(model), model, info);
    const struct weft_program *program = weft_model_program(model);
    if (!program || index >= program->symbols.count) {
        return WEFT_NOT_FOUND;
    }
    const struct weft_symbol_row *row = &program->symbols.rows[index];
    *info = (weft_symbol_info){.name = row->name,
                               .minimum = (uint32_t)row->minimum,
                               .maximum = (uint32_t)row->maximum,
                               .example = (uint32_t)row->example};
    return WEFT_OK;
}

weft_status weft_model_get_port(const weft_model *model, uint32_t index,
                                weft_model_port_info *info) {
    WEFT_ENTER;
    WEFT_GIVEN(weft_model_host(model), model, info);
    const struct weft_program *program = weft_model_program(model);
    if (!program || index >= program->port_count) {
        return WEFT_NOT_FOUND;
    }
    *info = program->ports[index];
    return WEFT_OK;
}

/* ---- values of symbols ---- */

static weft_status take_symbols(int64_t values[WEFT_MAX_SYMBOLS],
                                const struct weft_program *program, const weft_symbol *symbols,
                                uint32_t count) {
    bool given[WEFT_MAX_SYMBOLS] = {false};
    for (uint32_t i = 0; i < count; i++) {
        const char *name = symbols[i].name;
        const uint32_t found =
            name ? weft_symbol_find(&program->symbols, name, strlen(name)) : UINT32_MAX;
        if (found == UINT32_MAX || given[found]) {
            return weft_fail(&program->host, WEFT_INVALID_ARGUMENT, "%s: symbol '%.200s' %s",
                             program->path, name ? name : "(null)",
                             found == UINT32_MAX ? "is none of the program's" : "is given twice");
        }
        given[found] = true;
        values[found] = symbols[i].value;
        WEFT_TRY(weft_program_check_symbol(program, found, values[found]));
    }
    for (uint32_t i = 0; i < program->symbols.count; i++) {
        if (!given[i]) {
            return weft_fail(&program->host, WEFT_INVALID_ARGUMENT, "%s: symbol %s has no value",
                             program->path, program->symbols.rows[i].name);
        }
    }
    return WEFT_OK;
}

/* ---- values by shapes ---- */

static weft_status fail_shape(const struct weft_program *program, uint32_t input,
                              weft_shape shape) {
    const weft_model_port_info *port = &program->ports[input];
    char found[WEFT_SHAPE_TEXT_SIZE];
    struct weft_text expected = {.host = program->host};
    for (uint32_t i = 0; i < port->example.rank; i++) {
        weft_text_add(&expected, "%s%s", i ? ", " : "", port->axes[i]);
    }
    char *text = weft_text_take(&expected);
    const weft_status status = weft_fail(
        &program->host, WEFT_SHAPE_MISMATCH, "%s: input %s: expected shape [%s], found %s",
        program->path, port->name, text ? text : "…", weft_shape_text(shape, found));
    weft_free(&program->host, text);
    return status;
}

/** Symbols that are an axis of an input of this shape; those that have a value keep it. */
static void take_axes(int64_t values[WEFT_MAX_SYMBOLS], bool known[WEFT_MAX_SYMBOLS],
                      const struct weft_program *program, uint32_t input, weft_shape shape) {
    const weft_model_port_info *port = &program->ports[input];
    for (uint32_t i = 0; i < port->example.rank && i < shape.rank; i++) {
        const uint32_t symbol =
            weft_symbol_find(&program->symbols, port->axes[i], strlen(port->axes[i]));
        if (symbol != UINT32_MAX && !known[symbol]) {
            values[symbol] = shape.dim[i];
            known[symbol] = true;
        }
    }
}

static weft_status check_shape(const struct weft_program *program, uint32_t input, weft_shape shape,
                               const int64_t *values) {
    const weft_model_port_info *port = &program->ports[input];
    bool fits = shape.rank == port->example.rank;
    for (uint32_t i = 0; i < shape.rank && fits; i++) {
        char message[WEFT_EXPRESSION_MESSAGE_SIZE];
        int64_t size = 0;
        fits = weft_expression_evaluate(&size, port->axes[i], &program->symbols, values, message) &&
               size == shape.dim[i];
    }
    return fits ? WEFT_OK : fail_shape(program, input, shape);
}

static weft_status check_values(const struct weft_program *program, const int64_t *values,
                                const bool *known) {
    for (uint32_t i = 0; i < program->symbols.count; i++) {
        if (!known[i]) {
            return weft_fail(&program->host, WEFT_INVALID_ARGUMENT,
                             "%s: symbol %s has no value: it is no axis of an input, and must be "
                             "given",
                             program->path, program->symbols.rows[i].name);
        }
        WEFT_TRY(weft_program_check_symbol(program, i, values[i]));
    }
    return WEFT_OK;
}

weft_status weft_model_find_symbols(const weft_model *model, weft_symbol *symbols,
                                    uint32_t symbol_count, const weft_shape *shapes,
                                    uint32_t shape_count) {
    WEFT_ENTER;
    WEFT_GIVEN(weft_model_host(model), model);
    WEFT_GIVEN_LIST(weft_model_host(model), symbols, symbol_count);
    WEFT_GIVEN_LIST(weft_model_host(model), shapes, shape_count);
    const struct weft_program *program = program_of(model, "weft_model_find_symbols");
    if (!program) {
        return WEFT_UNSUPPORTED;
    }
    if (symbol_count != program->symbols.count || shape_count != program->input_count) {
        return weft_fail(&program->host, WEFT_INVALID_ARGUMENT,
                         "%s: expected %u symbols and the shapes of %u inputs, found %u and %u",
                         program->path, program->symbols.count, program->input_count, symbol_count,
                         shape_count);
    }
    int64_t values[WEFT_MAX_SYMBOLS] = {0};
    bool known[WEFT_MAX_SYMBOLS] = {false};
    for (uint32_t i = 0; i < program->symbols.count; i++) {
        known[i] = symbols[i].name != NULL;
        values[i] = known[i] ? symbols[i].value : 0;
    }
    for (uint32_t i = 0; i < shape_count; i++) {
        take_axes(values, known, program, i, shapes[i]);
    }
    WEFT_TRY(check_values(program, values, known));
    for (uint32_t i = 0; i < shape_count; i++) {
        WEFT_TRY(check_shape(program, i, shapes[i], values));
    }
    for (uint32_t i = 0; i < program->symbols.count; i++) {
        symbols[i] =
            (weft_symbol){.name = program->symbols.rows[i].name, .value = (uint32_t)values[i]};
    }
    return WEFT_OK;
}

/* ---- graphs and plans ---- */

weft_status weft_model_program_graph(weft_graph **out, weft_model *model,
                                     const weft_symbol *symbols, uint32_t symbol_count) {
    WEFT_ENTER;
    WEFT_GIVEN_AS(weft_model_host(model), "graph, model", out, model);
    WEFT_GIVEN_LIST(weft_model_host(model), symbols, symbol_count);
    struct weft_program *program = program_of(model, "weft_model_program_graph");
    if (!program) {
        return WEFT_UNSUPPORTED;
    }
    int64_t values[WEFT_MAX_SYMBOLS] = {0};
    WEFT_TRY(take_symbols(values, program, symbols, symbol_count));
    weft_graph *graph = NULL;
    WEFT_TRY(weft_graph_create(&graph, &program->host));
    const weft_status status = weft_program_build(NULL, graph, program, values, NULL);
    if (status != WEFT_OK) {
        weft_graph_destroy(&graph);
        return status;
    }
    *out = graph;
    return WEFT_OK;
}

weft_status weft_model_compile_program(weft_plan **plan, weft_model *model, weft_device *device,
                                       const weft_symbol *symbols, uint32_t symbol_count,
                                       const weft_plan_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(weft_model_host(model), plan, model, device);
    WEFT_GIVEN_LIST(weft_model_host(model), symbols, symbol_count);
    weft_graph *graph = NULL;
    WEFT_TRY(weft_model_program_graph(&graph, model, symbols, symbol_count));
    const weft_status status = weft_plan_compile(plan, device, graph, params);
    weft_graph_destroy(&graph);
    return status;
}
