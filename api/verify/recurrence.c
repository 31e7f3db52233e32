/* SPDX-License-Identifier: MIT */
/* Recurrences by their definition, token by token. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "verify/bytes.h"
#include "verify/trials.h"

WEFT_SHEET_CALL(recurrence, x[0], x[1])

/* A sequence: what it is made of, and the hidden state with, of LSTM, c behind it. */
struct sequence {
    const weft_recurrence_params *params;
    uint32_t width, parts, kept;
    const double *weight, *bias; /* bias may be null */
    const double *h;             /* as W is multiplied with it */
    double *state, *next;        /* [kept] */
    double *scaled;              /* [width]: r · h */
    double
        *stepped; /* [width]: h as the bytes that a weight of bytes is multiplied with; or null */
    float *line;  /* [width]: h */
};

static uint32_t parts_of(weft_cell cell) {
    return cell == WEFT_CELL_LSTM ? 4 : cell >= WEFT_CELL_GRU ? 3 : 1;
}

static double logistic(double x) {
    return 1.0 / (1.0 + exp(-x));
}

/* (W h + bias) of a part of unit i. */
static double recurrent(const struct sequence *s, const double *h, uint32_t part, uint32_t i) {
    const uint32_t row = part * s->width + i;
    double sum = s->bias ? s->bias[row] : 0.0;
    for (uint32_t j = 0; j < s->width; j++) {
        sum += s->weight[(uint64_t)row * s->width + j] * h[j];
    }
    return sum;
}

static double gate(const struct sequence *s, const double *x, uint32_t part, uint32_t i) {
    return logistic(x[part * s->width + i] + recurrent(s, s->h, part, i));
}

static double next_of_gru(const struct sequence *s, const double *x, uint32_t i) {
    const bool is_first = s->params->cell == WEFT_CELL_GRU_RESET_FIRST;
    const double a =
        is_first ? recurrent(s, s->scaled, 2, i) : gate(s, x, 0, i) * recurrent(s, s->h, 2, i);
    const double z = gate(s, x, 1, i);
    return (1.0 - z) * tanh(x[2 * s->width + i] + a) + z * s->state[i];
}

/* h as W is multiplied with it. */
static const double *multiplied(struct sequence *s) {
    if (!s->stepped) {
        return s->state;
    }
    for (uint32_t j = 0; j < s->width; j++) {
        s->line[j] = (float)s->state[j];
    }
    const struct weft_ref_steps steps = weft_ref_steps_of(s->line, s->width);
    for (uint32_t j = 0; j < s->width; j++) {
        s->stepped[j] = weft_ref_step_of(s->line[j], steps) * (double)steps.scale;
    }
    return s->stepped;
}

/* The state behind a token whose gates are x. */
static void take_token(struct sequence *s, const double *x) {
    const weft_cell cell = s->params->cell;
    s->h = multiplied(s);
    for (uint32_t j = 0; j < s->width && cell == WEFT_CELL_GRU_RESET_FIRST; j++) {
        s->scaled[j] = gate(s, x, 0, j) * s->state[j];
    }
    for (uint32_t i = 0; i < s->width; i++) {
        if (cell == WEFT_CELL_LSTM) {
            const double new = tanh(x[2 * s->width + i] + recurrent(s, s->h, 2, i));
            const double c = gate(s, x, 1, i) * s->state[s->width + i] + gate(s, x, 0, i) * new;
            s->next[s->width + i] = c;
            s->next[i] = gate(s, x, 3, i) * tanh(c);
        } else if (s->parts == 3) {
            s->next[i] = next_of_gru(s, x, i);
        } else {
            const double sum = x[i] + recurrent(s, s->h, 0, i);
            s->next[i] = cell == WEFT_CELL_RELU ? fmax(sum, 0.0) : tanh(sum);
        }
    }
    memcpy(s->state, s->next, s->kept * sizeof *s->state);
}

static void take_tokens(struct sequence *s, double *y, const double *gates, uint32_t tokens) {
    for (uint32_t step = 0; step < tokens; step++) {
        const uint64_t t = s->params->reverse ? tokens - 1 - step : step;
        take_token(s, gates + t * s->parts * s->width);
        memcpy(y + t * s->kept, s->state, s->kept * sizeof *y);
    }
}

static weft_array mix_recurrence(weft_case *c, const weft_array *x, const void *params) {
    static const weft_recurrence_params none;
    const weft_recurrence_params *p = params ? params : &none;
    const weft_array state = weft_case_find(c, p->state);
    const weft_array lengths = weft_case_find(c, p->lengths);
    const uint32_t batch = x[0].shape.dim[0], n = x[0].shape.dim[1], width = x[1].shape.dim[1];
    const uint32_t kept = p->cell == WEFT_CELL_LSTM ? 2 * width : width;
    struct sequence s = {.params = p,
                         .width = width,
                         .parts = parts_of(p->cell),
                         .kept = kept,
                         .weight = x[1].value,
                         .bias = weft_case_find(c, p->bias).value};
    weft_tensor tensor = {0};
    double *y;
    const weft_status status = WEFT_CASE_ADD(
        c, weft_graph_recurrence(&tensor, c->graph, x[0].tensor, x[1].tensor, params));
    const weft_array made =
        weft_case_made(c, status, tensor, weft_shape_of(batch, n, kept), false, &y);
    s.state = y ? weft_case_scratch(c, 3 * (uint64_t)kept) : NULL;
    if (c->has_bytes && p->cell != WEFT_CELL_GRU_RESET_FIRST) {
        s.stepped = weft_case_scratch(c, width);
        s.line = weft_reference_memory(&c->ref, width, sizeof *s.line);
    }
    for (uint32_t b = 0; s.state && c->ref.status == WEFT_OK && b < batch; b++) {
        s.next = s.state + kept;
        s.scaled = s.next + kept;
        for (uint32_t i = 0; i < kept; i++) {
            s.state[i] = state.value ? state.value[(uint64_t)b * kept + i] : 0.0;
        }
        take_tokens(&s, y + (uint64_t)b * n * kept, x[0].value + (uint64_t)b * n * s.parts * width,
                    lengths.value ? (uint32_t)lengths.value[b] : n);
    }
    return made;
}

enum { GATES, WEIGHT, BIAS, STATE };

#define PARAMS(...) weft_recurrence_params(__VA_ARGS__)
#define WITH(...)   .params = PARAMS(__VA_ARGS__)

static const weft_use uses[] = {{.name = "a recurrence"}};

static const weft_trial trials[] = {
    {ACCEPTED, .without_params = true, GIVES(2, 9, 6)},
    {ACCEPTED, IS(AS(BIAS, 6), AS(STATE, 2, 6)), WITH(.cell = WEFT_CELL_RELU), GIVES(2, 9, 6)},
    {ACCEPTED, IS(AS(GATES, 2, 9, 20), AS(WEIGHT, 20, 5), AS(BIAS, 20), AS(STATE, 2, 10)),
     WITH(.cell = WEFT_CELL_LSTM, .reverse = true), GIVES(2, 9, 10)},
    {ACCEPTED, IS(AS(GATES, 2, 9, 15), AS(WEIGHT, 15, 5), AS(STATE, 2, 5)),
     WITH(.cell = WEFT_CELL_GRU), GIVES(2, 9, 5)},
    {ACCEPTED, IS(AS(GATES, 2, 9, 15), AS(WEIGHT, 15, 5)), WITH(.cell = WEFT_CELL_GRU_RESET_FIRST),
     GIVES(2, 9, 5)},
    {MISMATCH, IS(AS(GATES, 9, 6)), SAYS("gates must be [B, n, gates·d]", "[9, 6]")},
    {MISMATCH, IS(AS(WEIGHT, 6)), SAYS("weight must be [gates·d, d]", "[6]")},
    {MISMATCH, IS(AS(WEIGHT, 5, 6)), SAYS("weight must be [6, 6]", "[5, 6]")},
    {MISMATCH, WITH(.cell = WEFT_CELL_LSTM), SAYS("weight must be [24, 6]", "[6, 6]")},
    {MISMATCH, IS(AS(GATES, 2, 9, 7)), SAYS("gates must be [2, 9, 6]", "[2, 9, 7]")},
    {MISMATCH, IS(AS(BIAS, 5)), SAYS("bias must be [6]", "[5]")},
    {MISMATCH, IS(AS(STATE, 2, 12)), SAYS("state must be [2, 6]", "[2, 12]")},
    {MISMATCH, IS(AS_I32(STATE, 2, 6)), SAYS("state must be f32")},
    {INVALID, IS(AS_NOTHING(WEIGHT)), SAYS("input 1")},
    {INVALID, WITH(.cell = WEFT_CELL_COUNT), SAYS("unknown cell 5")},
    {UNSUPPORTED, IS(AS(GATES, 2, 9, 2049), AS(WEIGHT, 2049, 2049)),
     SAYS("2049 channels, more than 2048")},
};

const weft_sheet weft_sheet_recurrence = {
    WEFT_SHEET_OP(recurrence),
    WEFT_SHEET_LENGTHS(weft_recurrence_params),
    .is_causal = true,
    .operands = {WEFT_INPUT("gates",
                            WEFT_AXES(WEFT_AXIS_BATCH, WEFT_AXIS_TOKENS, WEFT_AXIS_CHANNELS)),
                 WEFT_WEIGHT("weight", WEFT_AXIS_CHANNELS, WEFT_AXIS_CHANNELS),
                 WEFT_OPTIONAL("bias", weft_recurrence_params, bias, WEFT_AXES(WEFT_AXIS_CHANNELS),
                               .is_weight = true),
                 WEFT_OPTIONAL("state", weft_recurrence_params, state, .shape = {0})},
    .grows_linearly = true,
    .mix = mix_recurrence,
    WEFT_SHEET_USES(uses),
    .sizes = {.batch = 2, .n = 9, .heads = 1, .width = 6},
    WEFT_SHEET_TRIALS(trials),
};

/* ---- cases ---- */

struct row {
    uint32_t batch, n, width;
    weft_cell cell;
    bool has_bias, has_state, has_lengths, reverse;
    weft_values kind;
    enum { CONSTANT, COMPUTED, BYTES } weight;
};

/* Lanes of all widths with and without a rest, blocks of sums, more units than invocations, dispatches that go on, and units of a step in many
 * workgroups. */
static const struct row rows[] = {
    {1, 1, 1, WEFT_CELL_TANH, false, false, false, false, WEFT_VALUES_UNIT, CONSTANT},
    {1, 1, 1, WEFT_CELL_LSTM, true, true, false, false, WEFT_VALUES_UNIT, CONSTANT},
    {2, 19, 37, WEFT_CELL_TANH, true, true, false, false, WEFT_VALUES_UNIT, CONSTANT},
    {3, 11, 16, WEFT_CELL_TANH, false, true, true, true, WEFT_VALUES_UNIT, COMPUTED},
    {2, 19, 37, WEFT_CELL_RELU, true, true, false, true, WEFT_VALUES_UNIT, CONSTANT},
    {3, 7, 67, WEFT_CELL_RELU, false, false, true, false, WEFT_VALUES_UNIT, CONSTANT},
    {2, 19, 37, WEFT_CELL_GRU, true, true, false, false, WEFT_VALUES_UNIT, CONSTANT},
    {3, 11, 131, WEFT_CELL_GRU, true, false, true, true, WEFT_VALUES_UNIT, CONSTANT},
    {2, 5, 24, WEFT_CELL_GRU, false, true, false, false, WEFT_VALUES_MIXED, COMPUTED},
    {2, 19, 37, WEFT_CELL_GRU_RESET_FIRST, true, true, false, false, WEFT_VALUES_UNIT, CONSTANT},
    {3, 11, 131, WEFT_CELL_GRU_RESET_FIRST, false, false, true, true, WEFT_VALUES_UNIT, CONSTANT},
    {2, 5, 24, WEFT_CELL_GRU_RESET_FIRST, true, false, true, false, WEFT_VALUES_MIXED, COMPUTED},
    {2, 19, 37, WEFT_CELL_LSTM, true, true, false, false, WEFT_VALUES_UNIT, CONSTANT},
    {3, 11, 131, WEFT_CELL_LSTM, false, true, true, true, WEFT_VALUES_UNIT, CONSTANT},
    {2, 5, 64, WEFT_CELL_LSTM, true, false, true, false, WEFT_VALUES_ZEROS, COMPUTED},
    {1, 3, 301, WEFT_CELL_LSTM, true, true, false, false, WEFT_VALUES_TENS, CONSTANT},
    {2, 4099, 1, WEFT_CELL_GRU, true, false, true, true, WEFT_VALUES_UNIT, CONSTANT},
    {1, 12, 1024, WEFT_CELL_LSTM, true, true, false, true, WEFT_VALUES_UNIT, CONSTANT},
    {1, 3, 2048, WEFT_CELL_TANH, false, true, false, false, WEFT_VALUES_UNIT, CONSTANT},
    {2, 1, 77, WEFT_CELL_LSTM, true, true, false, false, WEFT_VALUES_UNIT, CONSTANT},
    {3, 4, 217, WEFT_CELL_GRU, true, true, true, true, WEFT_VALUES_UNIT, CONSTANT},
    {1, 1, 1, WEFT_CELL_TANH, false, true, false, false, WEFT_VALUES_UNIT, BYTES},
    {2, 19, 37, WEFT_CELL_RELU, true, true, false, true, WEFT_VALUES_UNIT, BYTES},
    {3, 11, 67, WEFT_CELL_GRU, true, false, true, true, WEFT_VALUES_UNIT, BYTES},
    {2, 5, 24, WEFT_CELL_GRU_RESET_FIRST, true, true, false, false, WEFT_VALUES_UNIT, BYTES},
    {2, 7, 132, WEFT_CELL_LSTM, false, true, true, true, WEFT_VALUES_UNIT, BYTES},
    {1, 13, 64, WEFT_CELL_LSTM, true, false, false, false, WEFT_VALUES_MIXED, BYTES},
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    static const char *const cells[] = {"tanh", "relu", "gru", "gru_reset_first", "lstm"};
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s%s%s/n=%u,d=%u,batch=%u%s%s%s%s", cells[row->cell],
             row->weight == BYTES ? "int8/" : "", row->reverse ? "reverse/" : "",
             weft_values_name(row->kind), row->n, row->width, row->batch,
             row->has_bias ? ",bias" : "", row->has_state ? ",state" : "",
             row->has_lengths ? ",lengths" : "", row->weight == COMPUTED ? ",computed" : "");
}

/* Bytes with a scale for each row. */
static weft_array bytes_of(weft_case *c, uint32_t rows_of_it, uint32_t width) {
    const weft_shape shape = weft_shape_of(rows_of_it, width);
    const uint64_t count = weft_shape_elements(shape);
    float *x = weft_reference_memory(&c->ref, count, sizeof *x);
    float *scales = weft_reference_memory(&c->ref, rows_of_it, sizeof *scales);
    int8_t *data = weft_reference_memory(&c->ref, count, sizeof *data);
    double *value = weft_case_scratch(c, count);
    weft_tensor tensor = {0};
    weft_weight *weight = NULL;
    if (c->ref.status != WEFT_OK) {
        return (weft_array){.shape = shape};
    }
    weft_values_fill(x, count, WEFT_VALUES_UNIT, c->seed,
                     (uint64_t)c->input_count + c->weight_count++);
    for (uint64_t i = 0; i < count; i++) {
        x[i] /= sqrtf((float)width);
    }
    for (uint64_t i = 0; i < count; i++) {
        const struct weft_ref_scaling scaling =
            weft_ref_scaling_of(x + i / width * width, width, 1);
        const double byte = weft_ref_byte_of(x[i], scaling);
        scales[i / width] = scaling.scale;
        data[i] = (int8_t)byte;
        value[i] = byte * (double)scaling.scale;
    }
    weft_case_check(
        c, weft_weight_create(&weight,
                              weft_weight_params(.shape = shape, .data = data,
                                                 .stored = WEFT_STORED_I8, .scales = scales),
                              &c->ref.host));
    if (c->ref.status == WEFT_OK) {
        weft_case_check(c, weft_graph_weight(&tensor, c->graph, weight));
    }
    weft_weight_destroy(&weight);
    return weft_case_named(c, c->ref.status, tensor, (weft_array){.shape = shape, .value = value});
}

/* Uniform numbers that make no more of h than there is of it, so that errors do not grow from token to token. */
static weft_array weight_of(weft_case *c, const struct row *row, uint32_t rows_of_it) {
    if (row->weight == BYTES) {
        c->has_bytes = true;
        return bytes_of(c, rows_of_it, row->width);
    }
    const weft_shape shape = weft_shape_of(rows_of_it, row->width);
    const weft_array weight = row->weight == COMPUTED
                                  ? weft_case_input(c, "weight", shape, WEFT_VALUES_UNIT)
                                  : weft_case_weight(c, shape, WEFT_VALUES_UNIT);
    return weft_case_affine(c, weight, 1.0F / sqrtf((float)row->width), 0.0F);
}

static void build(weft_case *c, const struct row *row) {
    const uint32_t parts = parts_of(row->cell) * row->width;
    const uint32_t kept = row->cell == WEFT_CELL_LSTM ? 2 * row->width : row->width;
    const weft_array x[] = {
        weft_case_input(c, "gates", weft_shape_of(row->batch, row->n, parts), row->kind),
        weight_of(c, row, parts)};
    const weft_array bias = weft_case_optional_weight(c, row->has_bias, weft_shape_of(parts));
    weft_recurrence_params params = {
        .cell = row->cell, .bias = bias.tensor, .reverse = row->reverse};
    if (row->has_state) {
        params.state =
            weft_case_input(c, "state", weft_shape_of(row->batch, kept), WEFT_VALUES_UNIT).tensor;
    }
    if (row->has_lengths) {
        params.lengths =
            weft_case_indices(c, "lengths", weft_shape_of(row->batch), 1, (int32_t)row->n).tensor;
    }
    weft_case_expect(c, "y", mix_recurrence(c, x, &params));
}

WEFT_CASE_TABLE(recurrence, rows, WEFT_TOLERANCE_EXPONENTIAL, name_case, build);
