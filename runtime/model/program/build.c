/* SPDX-License-Identifier: MIT */
/* From a program and values of its symbols to a graph. */
#include <string.h>

#include "core/try.h"
#include "model/program/program.h"

#define WHOLE UINT32_MAX

struct build {
    weft_graph *graph;
    struct weft_program *program;
    struct weft_digest_map values; /* ids by the names of inputs and nodes */
    struct weft_program_place place;
    const weft_model_inputs *given; /* or null */
    weft_tensor *out;               /* with given */
};

static const json_t *list_of(const struct weft_program *program, const char *name) {
    return json_object_get(program->config, name);
}

/** Goes to an entry of a list. */
static void enter(struct build *b, const char *list, uint32_t index) {
    b->place.list = list;
    b->place.index = index;
    b->place.object = json_array_get(list_of(b->program, list), index);
}

/* ---- names ---- */

static uint32_t find(const struct build *b, const char *name) {
    return weft_index_find(&b->values, name, strlen(name));
}

/** Reads the name of an input or a node, which must be new. */
static weft_status new_name(const char **name, const struct build *b, const char *field) {
    WEFT_TRY(weft_program_string(name, &b->place, field));
    const bool is_tensor = weft_checkpoint_has_exactly(b->program->checkpoint, *name);
    if (is_tensor || find(b, *name) != WEFT_INDEX_NONE) {
        return weft_program_fail(&b->place, field, WHOLE,
                                 is_tensor ? "a name that no tensor of model.safetensors has"
                                           : "a name that no input or node before it has",
                                 json_object_get(b->place.object, field));
    }
    return WEFT_OK;
}

static weft_status keep_name(struct build *b, const char *name, weft_tensor tensor) {
    return weft_index_set(&b->values, name, strlen(name), tensor.id, &b->program->host)
               ? WEFT_OK
               : weft_fail_memory(&b->program->host, "a program's names");
}

/* ---- weights ---- */

static weft_status keep_weight(struct weft_program *program, const char *name,
                               weft_weight *weight) {
    if (!weft_grow(&program->host, &program->weights, program->weight_count,
                   &program->weight_capacity, sizeof(weft_weight *)) ||
        !weft_index_set(&program->weight_index, name, strlen(name), program->weight_count,
                        &program->host)) {
        return weft_fail_memory(&program->host, "a program's weights");
    }
    program->weights[program->weight_count++] = weight;
    program->parameters += weft_shape_elements(weight->shape);
    return WEFT_OK;
}

/** The tensor of that name, as the same weight each time. */
static weft_status take_weight(weft_weight **out, struct weft_program *program, const char *name) {
    const uint32_t found = weft_index_find(&program->weight_index, name, strlen(name));
    if (found != WEFT_INDEX_NONE) {
        *out = program->weights[found];
        return WEFT_OK;
    }
    weft_weight *weight = NULL;
    WEFT_TRY(weft_checkpoint_any(&weight, program->checkpoint, name));
    const weft_status status = keep_weight(program, name, weight);
    if (status != WEFT_OK) {
        weft_weight_destroy(&weight);
    }
    *out = weight;
    return status;
}

/** An input, a node or a tensor by its name, which is in a field of this entry. */
static weft_status take_value(weft_tensor *out, struct build *b, const char *field,
                              uint32_t element, const json_t *json) {
    const char *name = json_string_value(json);
    const uint32_t found = name ? find(b, name) : WEFT_INDEX_NONE;
    if (found != WEFT_INDEX_NONE) {
        out->id = found;
        return WEFT_OK;
    }
    if (!name || strlen(name) != json_string_length(json) ||
        !weft_checkpoint_has_exactly(b->program->checkpoint, name)) {
        return weft_program_fail(
            &b->place, field, element,
            "the name of an input, an earlier node or a tensor of model.safetensors", json);
    }
    weft_weight *weight = NULL;
    WEFT_TRY(take_weight(&weight, b->program, name));
    return weft_graph_weight(out, b->graph, weight);
}

/* ---- entries ---- */

static weft_status add_input(struct build *b) {
    static const char *const known[] = {"name", "dtype", "shape", NULL};
    const char *name = NULL;
    uint32_t dtype = 0;
    weft_shape shape;
    weft_tensor tensor;
    WEFT_TRY(weft_program_check_keys(&b->place, known, NULL));
    WEFT_TRY(new_name(&name, b, "name"));
    WEFT_TRY(weft_program_word(&dtype, &b->place, "dtype",
                               json_object_get(b->place.object, "dtype"), weft_dtype_words,
                               WEFT_DTYPE_COUNT));
    WEFT_TRY(weft_program_shape(&shape, &b->place));
    WEFT_TRY(b->given ? weft_program_given_input(&tensor, b->graph, b->given, name, shape)
                      : weft_graph_input(&tensor, b->graph, name, (weft_dtype)dtype, shape));
    return keep_name(b, name, tensor);
}

static weft_status take_inputs(weft_tensor inputs[WEFT_MAX_NODE_INPUTS], uint32_t *count,
                               struct build *b, const struct weft_op *op) {
    const json_t *names = json_object_get(b->place.object, "inputs");
    const bool none = !names && op->min_inputs == 0;
    if ((!json_is_array(names) && !none) || json_array_size(names) > WEFT_MAX_NODE_INPUTS) {
        return weft_program_fail(&b->place, "inputs", WHOLE, "an array of at most 10 names", names);
    }
    *count = (uint32_t)json_array_size(names);
    for (uint32_t i = 0; i < *count; i++) {
        const json_t *name = json_array_get(names, i);
        inputs[i].id = 0;
        if (!json_is_string(name) || json_string_length(name) > 0) {
            WEFT_TRY(take_value(&inputs[i], b, "inputs", i, name));
        }
    }
    return WEFT_OK;
}

static weft_status find_op(const struct weft_op **op, const struct build *b, const char *name) {
    *op = weft_op_named(name);
    if (*op && weft_op_is_for_programs(*op)) {
        return WEFT_OK;
    }
    return weft_program_fail(&b->place, "op", WHOLE,
                             *op ? "an op that programs can have" : "an op of this version of Weft",
                             json_object_get(b->place.object, "op"));
}

static weft_status add_op(weft_tensor *out, struct build *b, const char *name, const char *output) {
    static const char *const known[] = {"op", "inputs", "output", "comment", NULL};
    const struct weft_op *op = NULL;
    weft_tensor inputs[WEFT_MAX_NODE_INPUTS] = {{0}};
    uint32_t count = 0;
    union {
        uint8_t bytes[WEFT_MAX_PARAMETER_BYTES];
        uint64_t alignment;
    } params = {{0}};
    WEFT_TRY(find_op(&op, b, name));
    WEFT_TRY(weft_program_check_keys(&b->place, known, op));
    WEFT_TRY(take_inputs(inputs, &count, b, op));
    WEFT_TRY(weft_program_params(params.bytes, &b->place, op));
    const weft_status status =
        weft_graph_add(out, b->graph, op, inputs, count, params.bytes, op->params_size);
    return status == WEFT_OK
               ? WEFT_OK
               : weft_fail(&b->program->host, status, "%s: nodes[%u], \"%.200s\": see above",
                           b->program->path, b->place.index, output);
}

static weft_status add_node(struct build *b) {
    const char *op = NULL;
    const char *name = NULL;
    weft_tensor tensor;
    WEFT_TRY(weft_program_string(&op, &b->place, "op"));
    WEFT_TRY(new_name(&name, b, "output"));
    WEFT_TRY(weft_program_is_constant(op)
                 ? weft_program_add_constant(&tensor, b->graph, &b->place, op, name)
                 : add_op(&tensor, b, op, name));
    return keep_name(b, name, tensor);
}

static weft_status add_output(struct build *b) {
    static const char *const known[] = {"name", "value", NULL};
    const char *name = NULL;
    weft_tensor value = {0};
    WEFT_TRY(weft_program_check_keys(&b->place, known, NULL));
    WEFT_TRY(weft_program_string(&name, &b->place, "name"));
    WEFT_TRY(take_value(&value, b, "value", WHOLE, json_object_get(b->place.object, "value")));
    if (b->given) {
        *b->out = value;
        return WEFT_OK;
    }
    return weft_graph_output(b->graph, name, value);
}

static weft_status add_list(struct build *b, const char *list, weft_status (*add)(struct build *)) {
    const size_t count = json_array_size(list_of(b->program, list));
    for (uint32_t i = 0; i < count; i++) {
        enter(b, list, i);
        WEFT_TRY(add(b));
    }
    return WEFT_OK;
}

weft_status weft_program_build(weft_tensor *out, weft_graph *graph, struct weft_program *program,
                               const int64_t *values, const weft_model_inputs *given) {
    uint64_t constants = WEFT_PROGRAM_MAX_CONSTANTS;
    struct build b = {.graph = graph,
                      .program = program,
                      .place = {.program = program, .values = values, .constants = &constants},
                      .given = given,
                      .out = out};
    weft_status status = add_list(&b, "inputs", add_input);
    if (status == WEFT_OK) {
        status = add_list(&b, "nodes", add_node);
    }
    if (status == WEFT_OK) {
        status = add_list(&b, "outputs", add_output);
    }
    weft_digest_map_free(&b.values, &program->host);
    return status;
}
