/* SPDX-License-Identifier: MIT */
/* Reading a program: its symbols, and what it is at their examples. */
#include <string.h>

#include "core/try.h"
#include "model/network/common_fields.h"
#include "model/program/program.h"

#define MOST_SYMBOL INT32_MAX

bool weft_program_is_config(const json_t *config) {
    const char *type = json_string_value(json_object_get(config, "model_type"));
    return type && strcmp(type, "program") == 0;
}

static weft_json_fields fields_of(const struct weft_program *program) {
    return (weft_json_fields){
        .object = program->config, .path = program->path, .host = &program->host};
}

/* ---- what it has as a whole ---- */

static weft_status check_keys(const struct weft_program *program) {
    static const char *const known[] = {
        "model_type", "format",          "symbols",      "inputs",
        "nodes",      "outputs",         "source",       "producer",
        "comment",    "architectures",   "task",         "vocab_size",
        "id2label",   "tokenizer_class", "eos_token_id", NULL};
    const weft_json_fields fields = fields_of(program);
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(program->config, key, value) {
        bool found = key[0] == '_';
        for (size_t i = 0; known[i] && !found; i++) {
            found = strcmp(known[i], key) == 0;
        }
        if (!found) {
            return weft_json_fail(&fields, WEFT_BAD_FILE, key, "no such field", value);
        }
    }
    return WEFT_OK;
}

static weft_status check_list(const struct weft_program *program, const char *name, bool some) {
    const weft_json_fields fields = fields_of(program);
    const json_t *list = json_object_get(program->config, name);
    if (!json_is_array(list) || (some && json_array_size(list) == 0)) {
        return weft_json_fail(&fields, WEFT_BAD_FILE, name,
                              some ? "an array of at least one object" : "an array of objects",
                              list);
    }
    return WEFT_OK;
}

static weft_status check_lists(const struct weft_program *program) {
    int64_t format = 0;
    const weft_json_fields fields = fields_of(program);
    WEFT_TRY(weft_json_integer(&format, &fields, "format", 1, INT32_MAX));
    if (format > WEFT_PROGRAM_FORMAT) {
        return weft_json_fail(&fields, WEFT_UNSUPPORTED, "format",
                              "1, the newest that this version of Weft reads",
                              json_object_get(program->config, "format"));
    }
    WEFT_TRY(check_keys(program));
    WEFT_TRY(check_list(program, "inputs", false));
    WEFT_TRY(check_list(program, "nodes", false));
    return check_list(program, "outputs", true);
}

/* ---- symbols ---- */

static weft_status read_symbol(struct weft_symbol_row *row, const struct weft_program *program,
                               const char *name, const json_t *object) {
    const weft_json_fields symbol = {
        .object = object, .path = program->path, .host = &program->host};
    const char *key = NULL;
    json_t *value = NULL;
    const weft_json_fields fields = fields_of(program);
    if (!weft_symbol_is_name(name) || !json_is_object(object)) {
        return weft_json_fail(&fields, WEFT_BAD_FILE, "symbols",
                              "names of letters, digits, _ and dots with objects", object);
    }
    json_object_foreach((json_t *)(uintptr_t)object, key, value) {
        if (strcmp(key, "min") != 0 && strcmp(key, "max") != 0 && strcmp(key, "example") != 0) {
            return weft_json_fail(&symbol, WEFT_BAD_FILE, key, "no such field", value);
        }
    }
    *row = (struct weft_symbol_row){.name = name, .minimum = 1, .maximum = MOST_SYMBOL};
    WEFT_TRY(weft_json_optional_integer(&row->minimum, &symbol, "min", 0, MOST_SYMBOL));
    WEFT_TRY(weft_json_optional_integer(&row->maximum, &symbol, "max", row->minimum, MOST_SYMBOL));
    row->example = row->minimum;
    return weft_json_optional_integer(&row->example, &symbol, "example", row->minimum,
                                      row->maximum);
}

static weft_status read_symbols(struct weft_program *program) {
    json_t *symbols = json_object_get(program->config, "symbols");
    const weft_json_fields fields = fields_of(program);
    if (symbols && (!json_is_object(symbols) || json_object_size(symbols) > WEFT_MAX_SYMBOLS)) {
        return weft_json_fail(&fields, WEFT_BAD_FILE, "symbols", "an object of at most 16",
                              symbols);
    }
    const char *name = NULL;
    json_t *object = NULL;
    json_object_foreach(symbols, name, object) {
        WEFT_TRY(
            read_symbol(&program->symbols.rows[program->symbols.count], program, name, object));
        program->symbols.count++;
    }
    return WEFT_OK;
}

/* ---- ports ---- */

static void examples(int64_t values[WEFT_MAX_SYMBOLS], const struct weft_program *program) {
    for (uint32_t i = 0; i < program->symbols.count; i++) {
        values[i] = program->symbols.rows[i].example;
    }
}

/** An axis as the config has it. */
static weft_status axis_text(const char **axis, struct weft_program *program, json_t *axes,
                             uint32_t index) {
    const json_t *found = json_array_get(axes, index);
    if (json_is_integer(found)) {
        char *text = weft_format(&program->host, "%lld", (long long)json_integer_value(found));
        json_t *string = text ? json_string(text) : NULL;
        weft_free(&program->host, text);
        if (!string || json_array_set_new(axes, index, string) != 0) {
            return weft_fail_memory(&program->host, program->path);
        }
        found = string;
    }
    *axis = json_string_value(found);
    return WEFT_OK;
}

static weft_status read_input_port(weft_model_port_info *port, struct weft_program *program,
                                   uint32_t index, const struct weft_value *value) {
    json_t *axes =
        json_object_get(json_array_get(json_object_get(program->config, "inputs"), index), "shape");
    *port = (weft_model_port_info){.dtype = value->dtype, .example = value->shape};
    port->name = json_string_value(
        json_object_get(json_array_get(json_object_get(program->config, "inputs"), index), "name"));
    for (uint32_t i = 0; i < value->shape.rank; i++) {
        WEFT_TRY(axis_text(&port->axes[i], program, axes, i));
    }
    return WEFT_OK;
}

/** The values of a graph begin with its inputs, as program/build.c adds them. */
static weft_status read_ports(struct weft_program *program, const weft_graph *graph) {
    const json_t *outputs = json_object_get(program->config, "outputs");
    program->input_count = (uint32_t)json_array_size(json_object_get(program->config, "inputs"));
    program->port_count = program->input_count + graph->result_count;
    program->ports = weft_alloc_zero(&program->host, program->port_count, sizeof *program->ports);
    if (!program->ports) {
        return weft_fail_memory(&program->host, "a program's ports");
    }
    for (uint32_t i = 0; i < program->input_count; i++) {
        WEFT_TRY(read_input_port(&program->ports[i], program, i, &graph->values[i + 1]));
    }
    for (uint32_t i = 0; i < graph->result_count; i++) {
        const struct weft_value *value = &graph->values[graph->results[i].value];
        program->ports[program->input_count + i] = (weft_model_port_info){
            .name = json_string_value(json_object_get(json_array_get(outputs, i), "name")),
            .dtype = value->dtype,
            .is_output = true,
            .example = value->shape};
    }
    return WEFT_OK;
}

static weft_status try_examples(struct weft_program *program) {
    int64_t values[WEFT_MAX_SYMBOLS] = {0};
    weft_graph *graph = NULL;
    examples(values, program);
    WEFT_TRY(weft_graph_create(&graph, &program->host));
    weft_status status = weft_program_build(NULL, graph, program, values, NULL);
    if (status == WEFT_OK) {
        status = read_ports(program, graph);
    }
    weft_graph_destroy(&graph);
    return status;
}

/* ---- as a whole ---- */

static weft_status load(struct weft_program *program, const struct weft_model_source *source) {
    program->path = weft_strdup(&program->host, source->name);
    if (!program->path) {
        return weft_fail_memory(&program->host, "a path");
    }
    WEFT_TRY(check_lists(program));
    WEFT_TRY(read_symbols(program));
    WEFT_TRY(weft_program_read_task(program));
    if (!source->folder && !source->checkpoint) {
        return weft_fail(&program->host, WEFT_UNSUPPORTED,
                         "%s: a program has no random weights: load it with its own",
                         program->path);
    }
    WEFT_TRY(weft_source_open_checkpoint(&program->checkpoint, source, &program->host));
    WEFT_TRY(try_examples(program));
    return weft_program_check_task(program);
}

weft_status weft_program_load(struct weft_program **out, json_t *config,
                              const struct weft_model_source *source, const weft_host *host) {
    struct weft_program *program = weft_alloc_zero(host, 1, sizeof *program);
    if (!program) {
        json_decref(config);
        return weft_fail_memory(host, "a program");
    }
    program->host = host ? *host : (weft_host){0};
    program->config = config;
    const weft_status status = load(program, source);
    if (status != WEFT_OK) {
        weft_program_destroy(&program);
        return status;
    }
    *out = program;
    return WEFT_OK;
}

void weft_program_destroy(struct weft_program **address) {
    struct weft_program *program = *address;
    if (!program) {
        return;
    }
    *address = NULL;
    const weft_host host = program->host;
    for (uint32_t i = 0; i < program->weight_count; i++) {
        weft_weight_destroy(&program->weights[i]);
    }
    weft_free(&host, program->weights);
    weft_digest_map_free(&program->weight_index, &host);
    weft_free(&host, program->ports);
    if (program->checkpoint) {
        weft_checkpoint_close(&program->checkpoint);
    }
    weft_labels_free(&program->task.labels, program->task.named_labels, &host);
    weft_free(&host, program->task.tokenizer_class);
    json_decref(program->config);
    weft_free(&host, program->path);
    weft_free(&host, program);
}
