/* SPDX-License-Identifier: MIT */
/* Parts of cases: arrays, inputs, constants, outputs. */
#include "core/math/half.h"
#include "verify/conformance.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "verify/reference/features.h"

const char *weft_case_part(char text[WEFT_CASE_PART_SIZE], const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, WEFT_CASE_PART_SIZE, format, arguments);
    va_end(arguments);
    return text;
}

void weft_case_check(weft_case *c, weft_status status) {
    weft_reference_check(&c->ref, status);
}

double *weft_case_scratch(weft_case *c, uint64_t count) {
    return weft_reference_array(&c->ref, count);
}

/* ---- arrays ---- */

uint32_t weft_case_columns(weft_shape shape) {
    return shape.rank == 0 ? 1 : shape.dim[shape.rank - 1];
}

uint32_t weft_case_rows(weft_shape shape) {
    return (uint32_t)(weft_shape_elements(shape) / weft_case_columns(shape));
}

struct weft_case_arrays {
    struct weft_case_arrays *next;
    weft_array array;
};

static void keep(weft_case *c, weft_array array) {
    struct weft_case_arrays *kept = weft_reference_memory(&c->ref, 1, sizeof *kept);
    if (kept != NULL) {
        *kept = (struct weft_case_arrays){.next = c->arrays, .array = array};
        c->arrays = kept;
    }
}

weft_array weft_case_find(const weft_case *c, weft_tensor tensor) {
    for (const struct weft_case_arrays *kept = c->arrays; kept != NULL && tensor.id != 0;
         kept = kept->next) {
        if (kept->array.tensor.id == tensor.id) {
            return kept->array;
        }
    }
    return (weft_array){.value = NULL};
}

weft_array weft_case_made(weft_case *c, weft_status status, weft_tensor tensor, weft_shape shape,
                          bool by_row, double **out) {
    weft_array array = {.tensor = tensor, .shape = shape};
    uint64_t count = weft_shape_elements(shape);
    *out = NULL;
    if (!weft_reference_check(&c->ref, status)) {
        return array;
    }
    if (by_row && c->rows.count > 0) {
        count = count / shape.dim[shape.rank - 2] * c->rows.count;
    }
    *out = c->only_graph || c->only_ops ? NULL : weft_case_scratch(c, count);
    array.value = *out;
    keep(c, array);
    return array;
}

weft_array weft_case_named(weft_case *c, weft_status status, weft_tensor tensor,
                           weft_array values) {
    weft_case_check(c, status);
    values.tensor = tensor;
    keep(c, values);
    return values;
}

/* ---- inputs, constants, outputs ---- */

/* The next port, with memory for its values; null after a failure. */
static weft_case_port *add_port(weft_case *c, weft_case_port *ports, uint32_t *port_count,
                                const char *name, weft_shape shape) {
    const uint64_t count = weft_shape_elements(shape);
    if (*port_count == WEFT_CASE_PORTS) {
        weft_case_check(c, weft_fail(&c->ref.host, WEFT_INVALID_ARGUMENT,
                                     "a case has at most %d inputs and outputs each",
                                     WEFT_CASE_PORTS));
    }
    double *value = c->ref.status == WEFT_OK
                        ? weft_alloc_zero(&c->ref.host, (size_t)count, sizeof *value)
                        : NULL;
    if (value == NULL) {
        weft_case_check(c, weft_fail_memory(&c->ref.host, "the elements of a case"));
        return NULL;
    }
    weft_case_port *port = &ports[(*port_count)++];
    *port = (weft_case_port){.shape = shape, .count = count, .value = value};
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
    port->data = weft_alloc_zero(&c->ref.host, (size_t)port->count, sizeof(float));
    weft_case_check(c, port->data == NULL
                           ? weft_fail_memory(&c->ref.host, "an input")
                           : weft_graph_input(&array->tensor, c->graph, name, dtype, shape));
    array->value = port->value;
    array->data = port->data;
    return c->ref.status == WEFT_OK ? port : NULL;
}

/* Inputs and constants take their streams from one sequence. */
static uint64_t next_stream(const weft_case *c) {
    return (uint64_t)c->input_count + c->weight_count;
}

/* An input whose elements are not the case's. */
static weft_array read_input(weft_case *c, const char *name, weft_shape shape) {
    weft_array array = {.shape = shape};
    if (c->ref.status == WEFT_OK) {
        weft_case_check(c, weft_graph_input(&array.tensor, c->graph, name, WEFT_F32, shape));
    }
    if (!c->only_graph) {
        array.value = c->read(c->user, name, &array.shape);
    }
    keep(c, array);
    return array;
}

weft_array weft_case_input(weft_case *c, const char *name, weft_shape shape, weft_values values) {
    if (c->only_graph || c->read != NULL) {
        return read_input(c, name, shape);
    }
    uint64_t stream = next_stream(c);
    weft_array array = {.shape = shape};
    weft_case_port *port = add_input(c, name, WEFT_F32, shape, &array);
    if (port != NULL) {
        weft_values_fill(port->data, port->count, values, c->seed, stream);
        weft_values_read(port->value, port->data, port->count);
    }
    keep(c, array);
    return array;
}

weft_array weft_case_indices(weft_case *c, const char *name, weft_shape shape, int32_t first,
                             int32_t last) {
    uint64_t stream = next_stream(c);
    weft_array array = {.shape = shape};
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
    keep(c, array);
    return array;
}

void weft_case_state(weft_case *c, const char *name, weft_shape shape) {
    weft_case_port *port = add_port(c, c->inputs, &c->input_count, name, shape);
    if (port == NULL) {
        return;
    }
    port->is_state = true;
    port->data = weft_alloc(&c->ref.host, (size_t)port->count * sizeof(float));
    if (port->data == NULL) {
        weft_case_check(c, weft_fail_memory(&c->ref.host, "a state"));
        return;
    }
    memset(port->data, 0xff, (size_t)port->count * sizeof(float));
}

/* A weight of the graph, of 32-bit elements. */
static weft_tensor add_stored(weft_case *c, weft_dtype dtype, weft_shape shape, const void *data,
                              weft_stored stored) {
    weft_tensor tensor = {0};
    weft_weight *weight = NULL;
    if (c->ref.status == WEFT_OK) {
        weft_case_check(c, weft_weight_create(&weight,
                                              weft_weight_params(.dtype = dtype, .shape = shape,
                                                                 .data = data, .stored = stored),
                                              &c->ref.host));
    }
    if (c->ref.status == WEFT_OK) {
        weft_case_check(c, weft_graph_weight(&tensor, c->graph, weight));
    }
    weft_weight_destroy(&weight);
    return tensor;
}

static weft_tensor add_weight(weft_case *c, weft_dtype dtype, weft_shape shape, const void *data) {
    return add_stored(c, dtype, shape, data, WEFT_STORED_WHOLE);
}

/* The tensor of these elements, with their values. */
static weft_array with_values(weft_case *c, weft_tensor tensor, weft_shape shape,
                              const float *data) {
    const uint64_t count = weft_shape_elements(shape);
    weft_array array = {.shape = shape, .tensor = tensor};
    double *value = c->only_graph ? NULL : weft_case_scratch(c, count);
    if (value != NULL) {
        weft_values_read(value, data, count);
    }
    array.value = value;
    keep(c, array);
    return array;
}

weft_array weft_case_weight_of(weft_case *c, weft_shape shape, const float *data) {
    return with_values(c, add_weight(c, WEFT_F32, shape, data), shape, data);
}

weft_array weft_case_weight_rounded(weft_case *c, weft_shape shape, float scale, weft_stored type,
                                    bool widened) {
    const uint64_t count = weft_shape_elements(shape);
    float *data = weft_reference_memory(&c->ref, count, sizeof *data);
    uint16_t *halves = weft_reference_memory(&c->ref, count, sizeof *halves);
    if (data == NULL || halves == NULL) {
        return (weft_array){.shape = shape};
    }
    weft_values_fill(data, count, WEFT_VALUES_UNIT, c->seed, next_stream(c));
    c->weight_count++;
    for (uint64_t i = 0; i < count; i++) {
        const float value = data[i] * scale;
        const bool f16 = type == WEFT_STORED_F16;
        halves[i] = f16 ? weft_half_of_float(value) : weft_bfloat_of_float(value);
        data[i] = f16 ? weft_float_of_half(halves[i]) : weft_float_of_bfloat(halves[i]);
    }
    const weft_tensor tensor = widened ? add_weight(c, WEFT_F32, shape, data)
                                       : add_stored(c, WEFT_F32, shape, halves, type);
    weft_array array = with_values(c, tensor, shape, data);
    array.data = data;
    return array;
}

weft_tensor weft_case_indices_of(weft_case *c, weft_shape shape, const int32_t *data) {
    return add_weight(c, WEFT_I32, shape, data);
}

weft_array weft_case_weight(weft_case *c, weft_shape shape, weft_values values) {
    const uint64_t count = weft_shape_elements(shape);
    float *data = weft_reference_memory(&c->ref, count, sizeof *data);
    if (data == NULL) {
        return (weft_array){.shape = shape};
    }
    weft_values_fill(data, count, values, c->seed, next_stream(c));
    c->weight_count++;
    weft_array array = weft_case_weight_of(c, shape, data);
    array.data = data;
    return array;
}

weft_array weft_case_optional_weight(weft_case *c, bool present, weft_shape shape) {
    return present ? weft_case_weight(c, shape, WEFT_VALUES_UNIT) : (weft_array){0};
}

double *weft_case_output(weft_case *c, const char *name, weft_tensor tensor) {
    weft_shape shape = {0};
    weft_dtype dtype = WEFT_F32;
    if (c->ref.status == WEFT_OK) {
        weft_case_check(c, weft_graph_get_tensor(c->graph, tensor, &shape, &dtype));
    }
    if (c->ref.status == WEFT_OK) {
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
    if (c->ref.status != WEFT_OK) {
        return NULL;
    }
    weft_case_port *port = &c->outputs[c->output_count - 1];
    port->allowed = weft_alloc_zero(&c->ref.host, (size_t)port->count, sizeof *port->allowed);
    if (port->allowed == NULL) {
        weft_case_check(c, weft_fail_memory(&c->ref.host, "the errors of an output"));
    }
    return port->allowed;
}

void weft_case_expect_words(weft_case *c, const void *words) {
    if (c->ref.status != WEFT_OK) {
        return;
    }
    weft_case_port *port = &c->outputs[c->output_count - 1];
    port->words = weft_alloc(&c->ref.host, (size_t)port->count * sizeof *port->words);
    if (port->words == NULL) {
        weft_case_check(c, weft_fail_memory(&c->ref.host, "the words of a copy"));
        return;
    }
    memcpy(port->words, words, (size_t)port->count * sizeof *port->words);
    for (uint64_t index = 0; index < port->count; index++) {
        float number;
        int32_t whole;
        memcpy(&number, &port->words[index], sizeof number);
        memcpy(&whole, &port->words[index], sizeof whole);
        port->value[index] = port->dtype == WEFT_I32 ? (double)whole : (double)number;
    }
}

/* The elements of features that only have their map: of the rows. */
static const double *write_features(weft_case *c, weft_array array) {
    const uint32_t heads = array.shape.dim[2] / array.features->count;
    double *out = weft_case_scratch(c, (uint64_t)c->rows.count * array.shape.dim[2]);
    if (out != NULL) {
        weft_reference_write_features(&c->ref, out, c->rows, heads, array.features);
    }
    return out;
}

void weft_case_expect(weft_case *c, const char *name, weft_array array) {
    if (c->only_graph || c->read != NULL) {
        if (c->ref.status == WEFT_OK) {
            weft_case_check(c, weft_graph_output(c->graph, name, array.tensor));
        }
        c->expected = array;
        if (array.features != NULL && c->ref.status == WEFT_OK) {
            c->expected.value = write_features(c, array);
        }
        return;
    }
    double *expected = weft_case_output(c, name, array.tensor);
    if (expected != NULL && !c->only_ops) {
        memcpy(expected, array.value, (size_t)weft_shape_elements(array.shape) * sizeof *expected);
    }
}
