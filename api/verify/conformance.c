/* SPDX-License-Identifier: MIT */
/* The table of families, and making cases. */
#include "verify/conformance.h"

#include <stdio.h>
#include <string.h>

#ifdef WEFT_MORE_ROWS /* of tests/example_mixer */
#include WEFT_MORE_ROWS
#else
#define WEFT_MORE_FAMILIES(ROW)
#endif

#define WEFT_DECLARE_MORE(name) extern const weft_case_family weft_family_##name;
WEFT_MORE_FAMILIES(WEFT_DECLARE_MORE)
#undef WEFT_DECLARE_MORE

#define WEFT_FAMILY_ADDRESS(name) &weft_family_##name,
static const weft_case_family *const families[] = {WEFT_FAMILIES(WEFT_FAMILY_ADDRESS)
                                                       WEFT_MORE_FAMILIES(WEFT_FAMILY_ADDRESS)};
#undef WEFT_FAMILY_ADDRESS

const weft_case_family *weft_family_at(uint32_t index) {
    return index < sizeof families / sizeof families[0] ? families[index] : NULL;
}

const char *weft_case_name(char text[WEFT_CASE_NAME_SIZE], const weft_case_family *family,
                           uint32_t index) {
    char rest[WEFT_CASE_NAME_SIZE] = "";
    family->name_case(rest, index);
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%.*s", family->name,
             (int)(WEFT_CASE_NAME_SIZE - strlen(family->name) - 2), rest);
    return text;
}

/* From the name, so that new cases leave the inputs of the others as they are. */
static uint64_t seed_of(const weft_case_family *family, uint32_t index) {
    char name[WEFT_CASE_NAME_SIZE];
    weft_case_name(name, family, index);
    weft_digest digest = weft_digest_of(name, strlen(name));
    uint64_t seed = 0;
    for (int byte = 0; byte < 8; byte++) {
        seed = seed << 8 | digest.bytes[byte];
    }
    return seed;
}

weft_status weft_case_create(weft_case *c, const weft_case_family *family, uint32_t index,
                             const weft_host *host) {
    *c = (weft_case){.host = host == NULL ? (weft_host){0} : *host,
                     .seed = seed_of(family, index),
                     .tolerance = family->tolerance,
                     .only_reproducible = family->only_reproducible};
    weft_case_check(c, weft_graph_create(&c->graph, &c->host));
    if (c->status == WEFT_OK) {
        family->build(c, index);
    }
    return c->status;
}

static void free_ports(weft_case *c, weft_case_port *ports, uint32_t count) {
    for (uint32_t index = 0; index < count; index++) {
        weft_free(&c->host, ports[index].data);
        weft_free(&c->host, ports[index].value);
        weft_free(&c->host, ports[index].allowed);
        weft_free(&c->host, ports[index].words);
    }
}

void weft_case_destroy(weft_case *c) {
    weft_graph_destroy(&c->graph);
    free_ports(c, c->inputs, c->input_count);
    free_ports(c, c->outputs, c->output_count);
    for (uint32_t index = 0; index < c->weight_count; index++) {
        weft_weight_destroy(&c->weights[index]);
        weft_free(&c->host, c->weight_values[index]);
        weft_free(&c->host, c->weight_data[index]);
    }
    *c = (weft_case){0};
}

void weft_case_check(weft_case *c, weft_status status) {
    if (c->status == WEFT_OK) {
        c->status = status;
    }
}

/* ---- inputs, constants, outputs ---- */

double *weft_case_scratch(weft_case *c, uint64_t count) {
    double *scratch =
        c->status == WEFT_OK ? weft_alloc_zero(&c->host, (size_t)count, sizeof *scratch) : NULL;
    if (c->status == WEFT_OK && scratch == NULL) {
        c->status = weft_fail_memory(&c->host, "a float64 reference");
    }
    return scratch;
}

void weft_case_scratch_free(weft_case *c, double *scratch) {
    weft_free(&c->host, scratch);
}

/* The next port of an array, with memory for its values; null after a failure. */
static weft_case_port *add_port(weft_case *c, weft_case_port *ports, uint32_t *port_count,
                                const char *name, weft_shape shape) {
    if (*port_count == WEFT_CASE_PORTS) {
        weft_case_check(c, weft_fail(&c->host, WEFT_INVALID_ARGUMENT,
                                     "a case has at most %d inputs and outputs each",
                                     WEFT_CASE_PORTS));
    }
    double *value = weft_case_scratch(c, weft_shape_elements(shape));
    if (value == NULL) {
        return NULL;
    }
    weft_case_port *port = &ports[(*port_count)++];
    *port = (weft_case_port){
        .shape = shape, .count = weft_shape_elements(shape), .value = value, .column_step = 1};
    snprintf(port->name, sizeof port->name, "%s", name);
    return port;
}

static weft_case_port *add_input(weft_case *c, const char *name, weft_dtype dtype, weft_shape shape,
                                 weft_array *array) {
    weft_case_port *port = add_port(c, c->inputs, &c->input_count, name, shape);
    if (port == NULL) {
        return NULL;
    }
    port->dtype = dtype;
    port->data = weft_alloc_zero(&c->host, (size_t)port->count, sizeof(float));
    weft_case_check(c, port->data == NULL
                           ? weft_fail_memory(&c->host, "an input")
                           : weft_graph_input(&array->tensor, c->graph, name, dtype, shape));
    array->value = port->value;
    array->data = port->data;
    return c->status == WEFT_OK ? port : NULL;
}

/* Inputs and constants take their streams from one sequence. */
static uint64_t next_stream(const weft_case *c) {
    return (uint64_t)c->input_count + c->weight_count;
}

weft_array weft_case_input(weft_case *c, const char *name, weft_shape shape, weft_values values) {
    uint64_t stream = next_stream(c);
    weft_array array = {.value = NULL};
    weft_case_port *port = add_input(c, name, WEFT_F32, shape, &array);
    if (port != NULL) {
        weft_values_fill(port->data, port->count, values, c->seed, stream);
        weft_values_read(port->value, port->data, port->count);
    }
    return array;
}

weft_array weft_case_indices(weft_case *c, const char *name, weft_shape shape, int32_t first,
                             int32_t last) {
    uint64_t stream = next_stream(c);
    weft_array array = {.value = NULL};
    weft_case_port *port = add_input(c, name, WEFT_I32, shape, &array);
    if (port == NULL) {
        return array;
    }
    int32_t *data = port->data;
    uint32_t range = (uint32_t)((int64_t)last - first + 1);
    for (uint64_t index = 0; index < port->count; index++) {
        data[index] = (int32_t)(first + (int64_t)weft_values_below(c->seed, stream, index, range));
    }
    data[0] = last;
    if (port->count > 1) {
        data[port->count - 1] = first;
    }
    for (uint64_t index = 0; index < port->count; index++) {
        port->value[index] = data[index];
    }
    return array;
}

void weft_case_state(weft_case *c, const char *name, weft_shape shape) {
    weft_case_port *port = add_port(c, c->inputs, &c->input_count, name, shape);
    if (port == NULL) {
        return;
    }
    port->is_state = true;
    port->data = weft_alloc(&c->host, (size_t)port->count * sizeof(float));
    if (port->data == NULL) {
        weft_case_check(c, weft_fail_memory(&c->host, "a state"));
        return;
    }
    memset(port->data, 0xff, (size_t)port->count * sizeof(float));
}

/* Creates the constant from `data`, which the case takes over, and keeps its values. */
static void add_weight(weft_case *c, weft_array *array, weft_shape shape, float *data) {
    weft_weight **weight = &c->weights[c->weight_count];
    double *value = weft_case_scratch(c, weft_shape_elements(shape));
    if (value == NULL) {
        weft_free(&c->host, data);
        return;
    }
    c->weight_data[c->weight_count] = data;
    c->weight_values[c->weight_count++] = value;
    weft_case_check(
        c, weft_weight_create(weight, weft_weight_params(.shape = shape, .data = data), &c->host));
    if (c->status == WEFT_OK) {
        weft_case_check(c, weft_graph_weight(&array->tensor, c->graph, *weight));
    }
    weft_values_read(value, data, weft_shape_elements(shape));
    array->value = value;
    array->data = data;
}

weft_array weft_case_weight(weft_case *c, weft_shape shape, weft_values values) {
    weft_array array = {.value = NULL};
    if (c->weight_count == WEFT_CASE_WEIGHTS) {
        weft_case_check(c, weft_fail(&c->host, WEFT_INVALID_ARGUMENT,
                                     "a case has at most %d constants", WEFT_CASE_WEIGHTS));
    }
    if (c->status != WEFT_OK) {
        return array;
    }
    uint64_t count = weft_shape_elements(shape);
    float *data = weft_alloc_zero(&c->host, (size_t)count, sizeof *data);
    if (data == NULL) {
        weft_case_check(c, weft_fail_memory(&c->host, "a constant"));
        return array;
    }
    weft_values_fill(data, count, values, c->seed, next_stream(c));
    add_weight(c, &array, shape, data);
    return array;
}

double *weft_case_output(weft_case *c, const char *name, weft_tensor tensor) {
    weft_shape shape = {0};
    weft_dtype dtype = WEFT_F32;
    if (c->status == WEFT_OK) {
        weft_case_check(c, weft_graph_get_tensor(c->graph, tensor, &shape, &dtype));
    }
    if (c->status == WEFT_OK) {
        weft_case_check(c, weft_graph_output(c->graph, name, tensor));
    }
    weft_case_port *port = add_port(c, c->outputs, &c->output_count, name, shape);
    if (port == NULL) {
        return NULL;
    }
    port->dtype = dtype;
    return port->value;
}

double *weft_case_allowed(weft_case *c) {
    if (c->status != WEFT_OK) {
        return NULL;
    }
    weft_case_port *port = &c->outputs[c->output_count - 1];
    port->allowed = weft_case_scratch(c, port->count);
    return port->allowed;
}

void weft_case_expect_words(weft_case *c, const void *words) {
    if (c->status != WEFT_OK) {
        return;
    }
    weft_case_port *port = &c->outputs[c->output_count - 1];
    port->words = weft_alloc(&c->host, (size_t)port->count * sizeof *port->words);
    if (port->words == NULL) {
        weft_case_check(c, weft_fail_memory(&c->host, "the words of a copy"));
        return;
    }
    memcpy(port->words, words, (size_t)port->count * sizeof *port->words);
    for (uint64_t index = 0; index < port->count; index++) {
        float number;
        memcpy(&number, &port->words[index], sizeof number);
        port->value[index] = (double)number;
    }
}
