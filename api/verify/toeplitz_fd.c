/* SPDX-License-Identifier: MIT */
/* The Toeplitz operator by its frequency response. */
#include <stdio.h>

#include "verify/trials.h"

WEFT_SHEET_CALL(toeplitz_fd, x[0], x[1])
WEFT_SHEET_MIX(toeplitz_fd, x[0], x[1])

enum { X, RESPONSE };

#define WITH(...) .params = weft_toeplitz_fd_params(__VA_ARGS__)

static const weft_use uses[] = {
    {.name = "frequency response"},
    {.name = "causal frequency response", WITH(.causal = true), .longest = 1, .tolerance = 1e-5F},
};

static const weft_trial trials[] = {
    {MISMATCH, IS(AS(X, 6, 3)), SAYS("x must", "[6, 3]")},
    {MISMATCH, IS(AS(RESPONSE, 6, 6)), SAYS("response", "N >= 6", "[6, 6]")},
    {MISMATCH, IS(AS(RESPONSE, 7, 7)), SAYS("response", "[7, 7]")},
    {MISMATCH, IS(AS(RESPONSE, 7, 8)), SAYS("response", "[7, 8]", "[2, 6, 3]")},
    {MISMATCH, IS(AS(RESPONSE, 7, 6)), WITH(.causal = true),
     SAYS("causal response", "[7, 6]", "[2, 6, 3]")},
    {ACCEPTED, .without_params = true},
};

const weft_sheet weft_sheet_toeplitz_fd = {
    WEFT_SHEET_OP(toeplitz_fd),
    WEFT_SHEET_CAUSAL(weft_toeplitz_fd_params),
    .operands = {WEFT_OPERAND_X, WEFT_WEIGHT("response", WEFT_AXIS_POINTS, WEFT_AXIS_SPECTRUM)},
    .mix = mix_toeplitz_fd,
    WEFT_SHEET_USES(uses),
    .sizes = {.batch = 2, .n = 6, .heads = 1, .width = 3},
    WEFT_SHEET_TRIALS(trials),
};

/* ---- cases ---- */

struct row {
    const char *implementation; /* null: the usual choice */
    bool causal;
    bool given; /* the response is an input, and not a constant */
    uint32_t n, grid, d, batch;
    weft_values values;
};

#define BY(implementation, ...)             \
    {implementation, false, __VA_ARGS__}, { \
        implementation, true, __VA_ARGS__   \
    }
#define BOTH(...) BY(NULL, __VA_ARGS__)

static const struct row rows[] = {
    BOTH(false, 1, 1, 1, 1, WEFT_VALUES_UNIT),
    BOTH(true, 1, 3, 3, 2, WEFT_VALUES_UNIT),
    BOTH(false, 2, 2, 5, 1, WEFT_VALUES_UNIT),
    BOTH(true, 5, 7, 4, 3, WEFT_VALUES_UNIT),
    BOTH(false, 31, 31, 37, 2, WEFT_VALUES_UNIT),
    BOTH(true, 31, 32, 37, 2, WEFT_VALUES_UNIT),
    BOTH(false, 64, 64, 33, 1, WEFT_VALUES_UNIT),
    BOTH(false, 65, 127, 16, 2, WEFT_VALUES_UNIT),
    BOTH(true, 100, 128, 12, 1, WEFT_VALUES_UNIT),
    BOTH(false, 300, 521, 3, 2, WEFT_VALUES_UNIT),
    BOTH(false, 500, 512, 8, 1, WEFT_VALUES_UNIT),
    BOTH(true, 1000, 1000, 4, 2, WEFT_VALUES_UNIT),
    BOTH(false, 1021, 1021, 2, 1, WEFT_VALUES_UNIT),
    BY("fft", false, 2048, 2048, 2, 1, WEFT_VALUES_UNIT),
    BY("fft_shared", false, 3, 4, 5, 2, WEFT_VALUES_UNIT),
    BY("fft_shared", true, 8, 8, 19, 1, WEFT_VALUES_UNIT),
    BY("fft", false, 60, 64, 33, 1, WEFT_VALUES_UNIT),
    BOTH(false, 700, 1024, 3, 2, WEFT_VALUES_UNIT),
    BOTH(true, 2048, 2048, 2, 1, WEFT_VALUES_UNIT),
    BOTH(false, 31, 31, 37, 2, WEFT_VALUES_LARGE),
    BOTH(true, 31, 32, 37, 2, WEFT_VALUES_SMALL),
    BOTH(false, 31, 32, 37, 2, WEFT_VALUES_MIXED),
    BOTH(true, 31, 31, 37, 2, WEFT_VALUES_ZEROS),
    BOTH(false, 31, 32, 37, 2, WEFT_VALUES_EQUAL),
    BOTH(false, 64, 64, 33, 1, WEFT_VALUES_IMPULSE),
    BOTH(true, 64, 64, 33, 1, WEFT_VALUES_SUBNORMAL),
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s%s%s/%s/%s/n=%u,grid=%u,d=%u,batch=%u",
             row->implementation ? row->implementation : "", row->implementation ? "/" : "",
             row->causal ? "causal" : "both", row->given ? "given" : "constant",
             weft_values_name(row->values), row->n, row->grid, row->d, row->batch);
}

static void build(weft_case *c, const struct row *row) {
    c->implementation = row->implementation;
    weft_array x = weft_case_input(c, "x", weft_shape_of(row->batch, row->n, row->d), row->values);
    weft_shape shape = weft_shape_of(row->grid + 1, row->causal ? row->d : 2 * row->d);
    /* The impulse is to meet a response that is not mostly zeros. */
    weft_values values = row->values == WEFT_VALUES_IMPULSE ? WEFT_VALUES_UNIT : row->values;
    weft_array response = row->given ? weft_case_input(c, "response", shape, values)
                                     : weft_case_weight(c, shape, values);
    weft_case_expect(
        c, "y",
        weft_case_toeplitz_fd(c, x, response, weft_toeplitz_fd_params(.causal = row->causal)));
}

WEFT_CASE_TABLE(toeplitz_fd, rows, WEFT_TOLERANCE_LINEAR, name_case, build);
