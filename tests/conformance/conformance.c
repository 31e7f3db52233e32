/* SPDX-License-Identifier: MIT */
/* The table of families, and making cases. */
#include "conformance/conformance.h"

#include <stdio.h>
#include <string.h>

#include "core/philox.h"

#define WEFT_FAMILY_ADDRESS(name) &weft_family_##name,
static const weft_family *const families[] = {WEFT_FAMILIES(WEFT_FAMILY_ADDRESS)};
#undef WEFT_FAMILY_ADDRESS

const weft_family *weft_family_at(uint32_t index) {
    return index < sizeof families / sizeof families[0] ? families[index] : NULL;
}

const char *weft_case_name(char text[WEFT_CASE_NAME_SIZE], const weft_family *family,
                           uint32_t index) {
    char rest[WEFT_CASE_NAME_SIZE] = "";
    family->name_case(rest, index);
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%.*s", family->name,
             (int)(WEFT_CASE_NAME_SIZE - strlen(family->name) - 2), rest);
    return text;
}

/* From the name, so that new cases leave the inputs of the others as they are. */
static uint64_t seed_of(const weft_family *family, uint32_t index) {
    char name[WEFT_CASE_NAME_SIZE];
    weft_case_name(name, family, index);
    weft_digest digest = weft_digest_of(name, strlen(name));
    uint64_t seed = 0;
    for (int byte = 0; byte < 8; byte++) {
        seed = seed << 8 | digest.bytes[byte];
    }
    return seed;
}

weft_status weft_case_create(weft_case *c, const weft_family *family, uint32_t index,
                             const weft_host *host) {
    *c = (weft_case){.host = host == NULL ? (weft_host){0} : *host,
                     .seed = seed_of(family, index),
                     .tolerance = family->tolerance};
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
    }
}

void weft_case_destroy(weft_case *c) {
    weft_graph_destroy(&c->graph);
    free_ports(c, c->inputs, c->input_count);
    free_ports(c, c->outputs, c->output_count);
    for (uint32_t index = 0; index < c->weight_count; index++) {
        weft_weight_destroy(&c->weights[index]);
        weft_free(&c->host, c->weight_values[index]);
    }
    *c = (weft_case){0};
}

void weft_case_check(weft_case *c, weft_status status) {
    if (c->status == WEFT_OK) {
        c->status = status;
    }
}

/* ---- values ---- */

const char *weft_values_name(weft_values values) {
    static const char *const names[WEFT_VALUES_COUNT] = {
        "unit", "tens", "hundreds", "large", "small", "mixed", "zeros", "equal", "impulse"};
    return (unsigned)values < WEFT_VALUES_COUNT ? names[values] : "unknown";
}

/* An element of a stream of whole numbers below `limit`, nearly uniform. */
static uint32_t whole_number(uint64_t seed, uint64_t stream, uint64_t index, uint32_t limit) {
    return (uint32_t)((uint64_t)weft_philox_u32(seed, stream, index) * limit >> 32);
}

/* The stream that decides how the values of `stream` are changed. */
#define CHANGES(stream) ((stream) + (UINT64_C(1) << 32))

static float mixed_scale(uint64_t seed, uint64_t stream, uint64_t index) {
    uint32_t exponent = whole_number(seed, CHANGES(stream), index, 25);
    float scale = 0x1p-12F;
    for (uint32_t step = 0; step < exponent; step++) {
        scale *= 2.0F;
    }
    return scale;
}

static float zero_or(float value, uint64_t seed, uint64_t stream, uint64_t index) {
    uint32_t kind = whole_number(seed, CHANGES(stream), index, 3);
    return kind == 0 ? -0.0F : kind == 1 ? 0.0F : value;
}

static void fill(float *data, uint64_t count, weft_values values, uint64_t seed, uint64_t stream) {
    weft_philox_uniform(data, (size_t)count, seed, stream);
    for (uint64_t index = 0; index < count; index++) {
        float *value = &data[index];
        switch (values) {
        case WEFT_VALUES_TENS:
            *value *= 16.0F;
            break;
        case WEFT_VALUES_HUNDREDS:
            *value *= 128.0F;
            break;
        case WEFT_VALUES_LARGE:
            *value *= 0x1p40F;
            break;
        case WEFT_VALUES_SMALL:
            *value *= 0x1p-40F;
            break;
        case WEFT_VALUES_MIXED:
            *value *= mixed_scale(seed, stream, index);
            break;
        case WEFT_VALUES_ZEROS:
            *value = zero_or(*value, seed, stream, index);
            break;
        case WEFT_VALUES_EQUAL:
            *value = 0.5F;
            break;
        case WEFT_VALUES_IMPULSE:
            *value = index == 0 ? 1.0F : 0.0F;
            break;
        default:
            break;
        }
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
        float *data = port->data;
        fill(data, port->count, values, c->seed, stream);
        for (uint64_t index = 0; index < port->count; index++) {
            port->value[index] = data[index];
        }
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
        data[index] = (int32_t)(first + (int64_t)whole_number(c->seed, stream, index, range));
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

/* Creates the constant from `data` and keeps its values. */
static void add_weight(weft_case *c, weft_array *array, weft_shape shape, const float *data) {
    weft_weight **weight = &c->weights[c->weight_count];
    double **value = &c->weight_values[c->weight_count];
    *value = weft_case_scratch(c, weft_shape_elements(shape));
    if (*value == NULL) {
        return;
    }
    c->weight_count++;
    weft_case_check(
        c, weft_weight_create(weight, weft_weight_params(.shape = shape, .data = data), &c->host));
    if (c->status == WEFT_OK) {
        weft_case_check(c, weft_graph_weight(&array->tensor, c->graph, *weight));
    }
    for (uint64_t index = 0; index < weft_shape_elements(shape); index++) {
        (*value)[index] = data[index];
    }
    array->value = *value;
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
    fill(data, count, values, c->seed, next_stream(c));
    add_weight(c, &array, shape, data);
    weft_free(&c->host, data);
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
