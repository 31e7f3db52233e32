/* SPDX-License-Identifier: MIT */
/* Rotary positions by their definition, pair by pair. */
#include <math.h>
#include <stdio.h>

#include "verify/trials.h"

WEFT_SHEET_CALL(rope, x[0])

enum { X, POSITIONS };

#define WITH(...) .params = weft_rope_params(__VA_ARGS__)

static const weft_trial trials[] = {
    {ACCEPTED, .without_params = true, GIVES(2, 5, 12)},
    {ACCEPTED, IS(AS(X, 2, 3, 5, 4)), GIVES(2, 3, 5, 4)},
    {MISMATCH, IS(AS(X, 5, 12)), SAYS("x must be [B, …, n, d]", "[5, 12]")},
    {MISMATCH, IS(AS_I32(X, 2, 5, 12)), SAYS("x must be f32")},
    {INVALID, WITH(.heads = 5), SAYS("5 heads", "12 channels")},
    {INVALID, WITH(.heads = 4), SAYS("width 3", "even", "2 … 3")},
    {INVALID, WITH(.heads = 2, .width = 8), SAYS("width 8", "2 … 6")},
    {INVALID, WITH(.width = 5), SAYS("width 5", "even")},
    {INVALID, WITH(.base = 0.5F), SAYS("base 0.5", "at least 1")},
    {INVALID, WITH(.base = NAN), SAYS("base nan")},
    {INVALID, WITH(.base = INFINITY), SAYS("base inf")},
    {INVALID, WITH(.scale_factor = 0.5F), SAYS("scale_factor 0.5", "at least 1")},
    {INVALID, WITH(.scale_factor = NAN), SAYS("scale_factor nan")},
    {INVALID, WITH(.scale_low = 1.0F), SAYS("scale_low 1", "without a scale_length")},
    {INVALID, WITH(.scale_length = 8, .scale_low = 2.0F, .scale_high = 1.0F),
     SAYS("scale_low 2", "scale_high 1", "above the first")},
    {INVALID, WITH(.scale_length = 8, .scale_high = 1.0F), SAYS("scale_low 0", "above 0")},
    {INVALID, WITH(.scale_length = 8, .scale_low = 1.0F, .scale_high = INFINITY), SAYS("finite")},
    {ACCEPTED,
     WITH(.scale_factor = 8.0F, .scale_length = 8, .scale_low = 1.0F, .scale_high = 4.0F)},
    {ACCEPTED, IS(AS_I32(POSITIONS, 2))},
    {ACCEPTED, IS(AS_I32(POSITIONS, 2, 5))},
    {MISMATCH, IS(AS_I32(POSITIONS, 5)), SAYS("positions must be i32 [2] or [2, 5]", "[5]")},
    {MISMATCH, IS(AS(POSITIONS, 2)), SAYS("positions must be i32", "f32")},
};

const weft_sheet weft_sheet_rope = {
    WEFT_SHEET_OP(rope),
    .operands = {WEFT_OPERAND_X,
                 WEFT_OPTIONAL("positions", weft_rope_params, positions, .shape = {0})},
    .sizes = {.batch = 2, .n = 5, .heads = 1, .width = 12},
    WEFT_SHEET_TRIALS(trials),
};

/* ---- cases ---- */

struct row {
    weft_shape x;
    uint32_t heads, width; /* width 0: of the head */
    bool interleaved;
    int32_t offset;
    uint32_t positions; /* their rank; 0: none */
    int32_t most;       /* of these, at least minus this much */
    float base;
    weft_values kind;
    uint32_t scale; /* in scales */
};

static const struct scale {
    float factor;
    uint32_t length;
    float low, high;
} scales[] = {{0.0F, 0, 0.0F, 0.0F},
              {1.0F, 0, 0.0F, 0.0F},
              {2.5F, 0, 0.0F, 0.0F},
              {8.0F, 8192, 1.0F, 4.0F},
              {32.0F, 53, 0.5F, 17.0F}};

static const struct row rows[] = {
    {{3, {1, 1, 2}}, 1, 0, false, 0, 0, 0, 0.0F, WEFT_VALUES_UNIT, 0},
    {{3, {1, 1, 2}}, 1, 0, true, 5, 0, 0, 0.0F, WEFT_VALUES_UNIT, 0},
    {{3, {2, 37, 48}}, 3, 0, false, 0, 0, 0, 0.0F, WEFT_VALUES_UNIT, 0},
    {{3, {2, 37, 48}}, 3, 0, true, 0, 0, 0, 0.0F, WEFT_VALUES_UNIT, 0},
    {{3, {3, 7, 65}}, 5, 6, false, 100, 0, 0, 0.0F, WEFT_VALUES_UNIT, 0},
    {{3, {3, 7, 65}}, 5, 4, true, -100, 0, 0, 500000.0F, WEFT_VALUES_UNIT, 0},
    {{4, {2, 3, 131, 10}}, 1, 0, false, 0, 0, 0, 160000.0F, WEFT_VALUES_UNIT, 0},
    {{3, {3, 1, 24}}, 3, 0, false, 0, 1, 4000, 0.0F, WEFT_VALUES_UNIT, 0},
    {{4, {2, 3, 5, 8}}, 1, 0, true, 1, 1, 9, 0.0F, WEFT_VALUES_UNIT, 0},
    {{3, {2, 67, 16}}, 2, 6, true, 0, 2, 1000, 0.0F, WEFT_VALUES_UNIT, 0},
    {{4, {2, 3, 19, 8}}, 1, 0, false, 3, 2, 100000, 0.0F, WEFT_VALUES_UNIT, 0},
    {{3, {1, 5, 256}}, 1, 0, false, 1000000, 2, 1000, 0.0F, WEFT_VALUES_UNIT, 0},
    {{3, {1, 1021, 2}}, 1, 0, false, 0, 0, 0, 1.0F, WEFT_VALUES_UNIT, 0},
    {{3, {2, 37, 48}}, 3, 0, false, 0, 0, 0, 0.0F, WEFT_VALUES_ZEROS, 0},
    {{3, {2, 37, 48}}, 3, 0, false, 0, 0, 0, 0.0F, WEFT_VALUES_MIXED, 0},
    {{3, {2, 37, 48}}, 3, 0, false, 0, 0, 0, 0.0F, WEFT_VALUES_UNIT, 2},
    {{3, {2, 1031, 48}}, 3, 14, true, 7, 0, 0, 0.0F, WEFT_VALUES_UNIT, 1},
    {{3, {1, 67, 128}}, 2, 0, false, 100000, 0, 0, 500000.0F, WEFT_VALUES_UNIT, 3},
    {{3, {2, 131, 24}}, 1, 0, true, 0, 1, 4000, 0.0F, WEFT_VALUES_UNIT, 4},
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    const weft_shape *x = &row->x;
    snprintf(
        text, WEFT_CASE_NAME_SIZE, "%s%s/n=%u,d=%u,heads=%u,rank=%u,batch=%u%s%s%s%s%s%s",
        row->interleaved ? "interleaved/" : "", weft_values_name(row->kind), x->dim[x->rank - 2],
        x->dim[x->rank - 1], row->heads, x->rank, x->dim[0],
        WEFT_CASE_PART(row->width != 0, ",width=%u", row->width),
        WEFT_CASE_PART(row->offset != 0, ",offset=%d", row->offset),
        WEFT_CASE_PART(row->positions != 0, ",positions=%u", row->positions),
        WEFT_CASE_PART(row->base != 0.0F, ",base=%g", (double)row->base),
        WEFT_CASE_PART(row->scale != 0, ",factor=%g", (double)scales[row->scale].factor),
        WEFT_CASE_PART(scales[row->scale].length != 0, ",length=%u", scales[row->scale].length));
}

/* The angle of pair j by wavelengths, as transformers has it ("llama3"). */
static double frequency(const struct row *row, double base, uint32_t j, uint32_t rotated) {
    const double usual = pow(base, -2.0 * j / rotated);
    const struct scale *scale = &scales[row->scale];
    const double factor = scale->factor != 0.0F ? (double)scale->factor : 1.0;
    const double low = (double)scale->low, high = (double)scale->high;
    const double length = 6.283185307179586 / usual;
    if (scale->length == 0 || length > scale->length / low) {
        return usual / factor;
    }
    if (length < scale->length / high) {
        return usual;
    }
    const double smooth = (scale->length / length - low) / (high - low);
    return (1.0 - smooth) * usual / factor + smooth * usual;
}

/* A head of a token. */
static void rotate(double *y, const double *x, const struct row *row, uint32_t width,
                   double position) {
    const uint32_t rotated = row->width != 0 ? row->width : width;
    const double base = row->base != 0.0F ? (double)row->base : 10000.0;
    for (uint32_t c = 0; c < width; c++) {
        y[c] = x[c];
    }
    for (uint32_t j = 0; j < rotated / 2; j++) {
        const uint32_t u = row->interleaved ? 2 * j : j;
        const uint32_t v = row->interleaved ? 2 * j + 1 : j + rotated / 2;
        const double angle = position * frequency(row, base, j, rotated);
        y[u] = x[u] * cos(angle) - x[v] * sin(angle);
        y[v] = x[u] * sin(angle) + x[v] * cos(angle);
    }
}

static double position_of(const struct row *row, const double *positions, uint32_t b, uint32_t i) {
    const uint32_t n = row->x.dim[row->x.rank - 2];
    const double own = !positions            ? i
                       : row->positions == 2 ? positions[(uint64_t)b * n + i]
                                             : positions[b] + i;
    return own + row->offset;
}

static void define(double *y, const struct row *row, const double *x, const double *positions) {
    const uint32_t d = row->x.dim[row->x.rank - 1];
    const uint32_t n = row->x.dim[row->x.rank - 2];
    const uint32_t width = d / row->heads;
    const uint64_t count = weft_shape_elements(row->x) / d;
    for (uint64_t r = 0; r < count; r++) {
        const uint32_t b = (uint32_t)(r / (count / row->x.dim[0]));
        const double position = position_of(row, positions, b, (uint32_t)(r % n));
        for (uint32_t h = 0; h < row->heads; h++) {
            const uint64_t at = r * d + (uint64_t)h * width;
            rotate(y + at, x + at, row, width, position);
        }
    }
}

static void build(weft_case *c, const struct row *row) {
    const weft_array x = weft_case_input(c, "x", row->x, row->kind);
    const weft_shape shapes[] = {weft_shape_of(row->x.dim[0]),
                                 weft_shape_of(row->x.dim[0], row->x.dim[row->x.rank - 2])};
    weft_array positions = {.value = NULL};
    if (row->positions != 0) {
        positions =
            weft_case_indices(c, "positions", shapes[row->positions - 1], -row->most, row->most);
    }
    weft_tensor tensor = {0};
    double *y;
    const weft_status status = WEFT_CASE_ADD(
        c, weft_graph_rope(&tensor, c->graph, x.tensor,
                           weft_rope_params(.heads = row->heads, .width = row->width,
                                            .base = row->base, .interleaved = row->interleaved,
                                            .offset = row->offset, .positions = positions.tensor,
                                            .scale_factor = scales[row->scale].factor,
                                            .scale_length = scales[row->scale].length,
                                            .scale_low = scales[row->scale].low,
                                            .scale_high = scales[row->scale].high)));
    const weft_array made = weft_case_made(c, status, tensor, row->x, false, &y);
    if (y) {
        define(y, row, x.value, positions.value);
    }
    weft_case_expect(c, "y", made);
}

WEFT_CASE_TABLE(rope, rows, WEFT_TOLERANCE_LINEAR, name_case, build);
