/* SPDX-License-Identifier: MIT */
/* The Toeplitz operator by each implementation. */
#include <stdio.h>
#include <string.h>

#include "core/math/philox.h"
#include "verify/trials.h"

WEFT_SHEET_CALL(toeplitz, x[0], x[1])
WEFT_SHEET_MIX(toeplitz, x[0], x[1])

enum { X, COEFFICIENTS, DECAYS };

#define PARAMS(...) weft_toeplitz_params(__VA_ARGS__)
#define WITH(...)   .params = PARAMS(__VA_ARGS__)

/* By definition up to these lengths; transforms are of other bits for other lengths. */
static const weft_use uses[] = {
    {.name = "Toeplitz", .sizes.reach = 1024, .longest = 96},
    {.name = "causal Toeplitz", WITH(.causal = true), .sizes.reach = 1024, .longest = 192},
    {.name = "Toeplitz by transforms", .implementation = "fft", .longest = 1},
    {.name = "causal Toeplitz by transforms",
     WITH(.causal = true),
     .implementation = "fft",
     .longest = 1,
     .tolerance = 1e-5F},
};

#define GAMMA(x) \
    IS(AS(X, 1, 4, 2), AS(COEFFICIENTS, 7, 2), AS_DATA(DECAYS, ((const float[]){1.0F, x}), 2))

static const weft_trial trials[] = {
    {MISMATCH, IS(AS(X, 6, 3)), SAYS("x must", "[6, 3]")},
    {MISMATCH, IS(AS(COEFFICIENTS, 12, 3)), SAYS("coefficients", "2m - 1", "m >= 6", "[12, 3]")},
    {MISMATCH, IS(AS(COEFFICIENTS, 9, 3)), SAYS("coefficients", "m >= 6", "[9, 3]")},
    {MISMATCH, IS(AS(COEFFICIENTS, 2, 11, 3)), SAYS("coefficients", "[2, 11, 3]")},
    {MISMATCH, IS(AS(COEFFICIENTS, 11, 4)), SAYS("[11, 4]", "[2, 6, 3]")},
    {MISMATCH, IS(AS(COEFFICIENTS, 5, 3)), WITH(.causal = true),
     SAYS("causal", "[m, d]", "m >= 6", "[5, 3]")},
    {MISMATCH, IS(AS(DECAYS, 5, 3)), SAYS("decay", "[3]", "[5, 3]")},
    {ACCEPTED, .without_params = true},
    {ACCEPTED, IS(AS(COEFFICIENTS, 12, 3)), WITH(.causal = true), GIVES(2, 6, 3)},
    {INVALID, GAMMA(0.0F), SAYS("decay[1]", "is 0,", "(0, 1]")},
    {INVALID, GAMMA(-0.5F), SAYS("decay[1]", "is -0.5,", "(0, 1]")},
    {INVALID, GAMMA(1.0000001F), SAYS("decay[1]", "is 1,", "(0, 1]")},
    {INVALID, GAMMA(NAN), SAYS("decay[1]", "nan", "(0, 1]")},
    {INVALID, GAMMA(INFINITY), SAYS("decay[1]", "is inf,", "(0, 1]")},
    {ACCEPTED, GAMMA(1e-30F)},
};

const weft_sheet weft_sheet_toeplitz = {
    WEFT_SHEET_OP(toeplitz),
    WEFT_SHEET_CAUSAL(weft_toeplitz_params),
    WEFT_SHEET_LENGTHS(weft_toeplitz_params),
    .operands = {WEFT_OPERAND_X, WEFT_WEIGHT("coefficients", WEFT_AXIS_LAGS, WEFT_AXIS_CHANNELS),
                 WEFT_OPTIONAL("decay", weft_toeplitz_params, decay, WEFT_AXES(WEFT_AXIS_CHANNELS),
                               .is_weight = true)},
    .lengths_of = "mask",
    .mix = mix_toeplitz,
    WEFT_SHEET_USES(uses),
    .sizes = {.batch = 2, .n = 6, .heads = 1, .width = 3},
    WEFT_SHEET_TRIALS(trials),
};

/* ---- cases ---- */

enum decay { PLAIN = 0, DECAY };

/* Sources of the coefficients and the decay: constants or inputs. */
enum source { CONSTANT = 0, GIVEN };

struct row {
    const char *implementation; /* null: the usual choice */
    bool causal;
    enum decay decay;
    enum source source;
    uint32_t n, d, batch;
    uint32_t reach; /* coefficients for lags up to reach - 1; 0: n */
    weft_values values;
};

/* Transforms within a workgroup of 512 invocations, by the rows of that name. */
#define WIDE             "wide"
#define WIDE_INVOCATIONS 512

#define EACH(...)                                           \
    {"direct", __VA_ARGS__}, {"fft_shared", __VA_ARGS__}, { \
        "fft", __VA_ARGS__                                  \
    }
#define ALL(...)          \
    EACH(__VA_ARGS__), {  \
        NULL, __VA_ARGS__ \
    }

/*
 * Other values, decays and sources come on transforms that are there already: drivers take long to compile new ones.
 * The length of a transform follows from n, its batch from d and batch.
 */
static const struct row rows[] = {
    EACH(false, PLAIN, CONSTANT, 1, 1, 1, 0, WEFT_VALUES_UNIT),
    EACH(true, DECAY, GIVEN, 1, 3, 2, 0, WEFT_VALUES_UNIT),
    EACH(false, PLAIN, GIVEN, 2, 5, 1, 0, WEFT_VALUES_UNIT),
    EACH(true, PLAIN, CONSTANT, 7, 4, 3, 0, WEFT_VALUES_UNIT),
    EACH(false, DECAY, CONSTANT, 8, 33, 1, 0, WEFT_VALUES_UNIT),
    EACH(false, DECAY, GIVEN, 31, 37, 2, 0, WEFT_VALUES_UNIT),
    EACH(true, DECAY, CONSTANT, 31, 37, 2, 0, WEFT_VALUES_UNIT),
    EACH(false, PLAIN, CONSTANT, 64, 32, 2, 0, WEFT_VALUES_UNIT),
    EACH(true, PLAIN, GIVEN, 65, 16, 1, 0, WEFT_VALUES_UNIT),
    EACH(false, PLAIN, CONSTANT, 256, 20, 1, 0, WEFT_VALUES_UNIT),
    EACH(false, PLAIN, CONSTANT, 257, 20, 1, 0, WEFT_VALUES_UNIT),
    {"fft_shared", true, DECAY, GIVEN, 3, 2, 1, 0, WEFT_VALUES_UNIT},
    {"fft_shared", false, PLAIN, CONSTANT, 4, 17, 2, 0, WEFT_VALUES_UNIT},
    {"fft_shared", false, DECAY, CONSTANT, 5, 40, 1, 0, WEFT_VALUES_UNIT},
    {"fft_shared", true, PLAIN, CONSTANT, 17, 6, 2, 0, WEFT_VALUES_UNIT},
    {"fft_shared", false, PLAIN, GIVEN, 128, 9, 2, 0, WEFT_VALUES_UNIT},
    {"fft_shared", true, DECAY, CONSTANT, 129, 16, 1, 0, WEFT_VALUES_UNIT},
    {WIDE, false, PLAIN, CONSTANT, 1, 1, 1, 0, WEFT_VALUES_UNIT},
    {WIDE, true, DECAY, GIVEN, 31, 37, 2, 0, WEFT_VALUES_UNIT},
    {WIDE, false, PLAIN, GIVEN, 128, 9, 2, 0, WEFT_VALUES_UNIT},
    {WIDE, true, DECAY, CONSTANT, 513, 8, 3, 0, WEFT_VALUES_UNIT},
    {WIDE, false, DECAY, CONSTANT, 1021, 3, 2, 0, WEFT_VALUES_MIXED},
    {WIDE, true, DECAY, GIVEN, 2048, 4, 1, 0, WEFT_VALUES_UNIT},
    {NULL, false, PLAIN, CONSTANT, 96, 20, 1, 0, WEFT_VALUES_UNIT},
    {NULL, false, PLAIN, CONSTANT, 97, 20, 1, 0, WEFT_VALUES_UNIT},
    {NULL, true, DECAY, CONSTANT, 192, 8, 3, 0, WEFT_VALUES_UNIT},
    {NULL, true, DECAY, CONSTANT, 193, 8, 3, 0, WEFT_VALUES_UNIT},
    {NULL, true, DECAY, CONSTANT, 512, 8, 3, 0, WEFT_VALUES_UNIT},
    {NULL, false, DECAY, CONSTANT, 1024, 7, 1, 0, WEFT_VALUES_UNIT},
    EACH(true, DECAY, CONSTANT, 513, 8, 3, 0, WEFT_VALUES_UNIT),
    EACH(false, DECAY, CONSTANT, 509, 5, 1, 0, WEFT_VALUES_UNIT),
    ALL(false, PLAIN, CONSTANT, 1000, 24, 1, 0, WEFT_VALUES_UNIT),
    EACH(true, PLAIN, CONSTANT, 1021, 3, 2, 0, WEFT_VALUES_UNIT),
    ALL(true, DECAY, GIVEN, 2048, 4, 1, 0, WEFT_VALUES_UNIT),
    {"fft", false, DECAY, CONSTANT, 4099, 2, 1, 0, WEFT_VALUES_UNIT},
    {NULL, false, DECAY, CONSTANT, 4099, 2, 1, 0, WEFT_VALUES_UNIT},
    EACH(false, PLAIN, CONSTANT, 31, 37, 2, 40, WEFT_VALUES_UNIT),
    EACH(true, DECAY, CONSTANT, 31, 37, 2, 63, WEFT_VALUES_UNIT),
    EACH(false, DECAY, GIVEN, 64, 32, 2, 65, WEFT_VALUES_UNIT),
    EACH(false, PLAIN, CONSTANT, 64, 32, 2, 0, WEFT_VALUES_LARGE),
    EACH(true, PLAIN, CONSTANT, 64, 32, 2, 0, WEFT_VALUES_SMALL),
    EACH(false, DECAY, CONSTANT, 31, 37, 2, 0, WEFT_VALUES_MIXED),
    EACH(true, PLAIN, GIVEN, 31, 37, 2, 0, WEFT_VALUES_ZEROS),
    EACH(false, PLAIN, CONSTANT, 31, 37, 2, 0, WEFT_VALUES_EQUAL),
    EACH(false, PLAIN, CONSTANT, 64, 32, 2, 0, WEFT_VALUES_IMPULSE),
    EACH(true, DECAY, CONSTANT, 64, 32, 2, 0, WEFT_VALUES_SUBNORMAL),
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s%s/%s/%s/n=%u,d=%u,batch=%u%s",
             !row->implementation ? "usual" : row->implementation, row->causal ? "causal" : "both",
             row->decay == DECAY ? ",decay" : "", row->source == GIVEN ? "given" : "constant",
             weft_values_name(row->values), row->n, row->d, row->batch,
             WEFT_CASE_PART(row->reach != 0, ",reach=%u", row->reach));
}

static weft_array coefficients(weft_case *c, const struct row *row) {
    uint32_t reach = row->reach == 0 ? row->n : row->reach;
    weft_shape shape = weft_shape_of(row->causal ? reach : 2 * reach - 1, row->d);
    /* The impulse is to meet coefficients that are not mostly zeros. */
    weft_values values = row->values == WEFT_VALUES_IMPULSE ? WEFT_VALUES_UNIT : row->values;
    return row->source == GIVEN ? weft_case_input(c, "t", shape, values)
                                : weft_case_weight(c, shape, values);
}

/* ---- decay ---- */

#define DECAY_STREAM 100 /* beyond those of the arrays */

/* In (0, 1], and mostly near 1, as trained ones are. */
static void fill_decay(const weft_case *c, float *gamma, double *value, uint32_t d) {
    weft_philox_uniform(gamma, d, c->seed, DECAY_STREAM);
    for (uint32_t i = 0; i < d; i++) {
        double u = gamma[i];
        gamma[i] = (float)(1.0 - 0.9 * u * u * u * u);
        value[i] = (double)gamma[i];
    }
}

static weft_array given_decay(weft_case *c, uint32_t d) {
    weft_array array = weft_case_input(c, "decay", weft_shape_of(d), WEFT_VALUES_EQUAL);
    if (array.value) {
        weft_case_port *port = &c->inputs[c->input_count - 1];
        fill_decay(c, port->data, port->value, d);
    }
    return array;
}

static weft_array constant_decay(weft_case *c, uint32_t d) {
    double *value = weft_case_scratch(c, d);
    float *gamma = weft_reference_memory(&c->ref, d, sizeof *gamma);
    if (!gamma) {
        return (weft_array){.value = NULL};
    }
    fill_decay(c, gamma, value, d);
    return weft_case_weight_of(c, weft_shape_of(d), gamma);
}

static weft_array decay(weft_case *c, const struct row *row) {
    if (row->decay == PLAIN) {
        return (weft_array){.value = NULL};
    }
    return row->source == GIVEN ? given_decay(c, row->d) : constant_decay(c, row->d);
}

static void build(weft_case *c, const struct row *row) {
    c->implementation = row->implementation;
    c->invocations =
        row->implementation && strcmp(row->implementation, WIDE) == 0 ? WIDE_INVOCATIONS : 0;
    /* Every implementation gets the same input. */
    c->seed = (uint64_t)row->n << 32 | (uint64_t)row->d << 8 | row->batch;
    weft_array x = weft_case_input(c, "x", weft_shape_of(row->batch, row->n, row->d), row->values);
    weft_array t = coefficients(c, row);
    weft_array gamma = decay(c, row);
    weft_case_expect(
        c, "y",
        weft_case_toeplitz(c, x, t,
                           weft_toeplitz_params(.causal = row->causal, .decay = gamma.tensor)));
}

WEFT_CASE_TABLE(toeplitz, rows, WEFT_TOLERANCE_LINEAR, name_case, build);
