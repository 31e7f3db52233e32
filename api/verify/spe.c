/* SPDX-License-Identifier: MIT */
/* Stochastic positional encoding: every code by its definition, in float64. */
#include <math.h>
#include <stdio.h>

#include "verify/trials.h"

WEFT_SHEET_CALL(sine_spe, x[0], x[1])
WEFT_SHEET_CALL(conv_spe, x[0], x[1])

enum { X, NOISE, FREQUENCIES, GAINS, PHASES, FILTERS = FREQUENCIES };

static const weft_trial sine_trials[] = {
    {ACCEPTED, GIVES(2, 5, 20)},
    {MISMATCH, IS(AS(X, 5, 6)), SAYS("x must be [B, n, d]", "[5, 6]")},
    {MISMATCH, IS(AS(NOISE, 6, 4, 10)), SAYS("noise [6, 4, 10] must be [6, 8, s]")},
    {MISMATCH, IS(AS(NOISE, 5, 6)), SAYS("noise must be [d, 2t, s]", "[5, 6]")},
    {INVALID, .params = weft_sine_spe_params(.heads = 4), SAYS("4 heads", "6 channels")},
    {MISMATCH, IS(AS(GAINS, 6, 3)), SAYS("gains must be [6, 4], not [6, 3]")},
    {MISMATCH, IS(AS(PHASES, 6, 3)), SAYS("phases must be [6, 4], not [6, 3]")},
    {MISMATCH, IS(AS(FREQUENCIES, 5, 6)), SAYS("frequencies must be [6, 6], not [5, 6]")},
    {INVALID, IS(AS_NOTHING(FREQUENCIES)), SAYS("frequencies is missing")},
    {INVALID, IS(AS_NOTHING(GAINS)), SAYS("gains is missing")},
    {UNSUPPORTED,
     IS(AS(X, 1, (1 << 24) + 1, 1), AS(NOISE, 1, 2, 1), AS(FREQUENCIES, 1, 1), AS(GAINS, 1, 1),
        AS_NOTHING(PHASES)),
     .params = weft_sine_spe_params(.heads = 1), SAYS("n 16777217", "16777216")},
    {INVALID, .without_params = true, SAYS("sine_spe")},
};

static const weft_trial conv_trials[] = {
    {ACCEPTED, GIVES(2, 5, 30)},
    {MISMATCH, IS(AS(NOISE, 6, 6, 10)), SAYS("noise [6, 6, 10] must be [at least 7, 6, s]")},
    {MISMATCH, IS(AS(NOISE, 7, 5, 10)), SAYS("noise [7, 5, 10]")},
    {INVALID, .params = weft_conv_spe_params(.heads = 4), SAYS("4 heads", "6 channels")},
    {MISMATCH, IS(AS(FILTERS, 3, 5)), SAYS("filters must be [3, 6], not [3, 5]")},
    {MISMATCH, IS(AS(FILTERS, 7, 6, 10)), SAYS("filters must be [p, d], not [7, 6, 10]")},
    {INVALID, IS(AS_NOTHING(FILTERS)), SAYS("filters is missing")},
    {INVALID, .without_params = true, SAYS("conv_spe")},
};

#define EACH(text, member)                                      \
    {                                                           \
        .name = (text), .shape = {2, {6, 4}},                   \
        .field = WEFT_SHEET_FIELD(weft_sine_spe_params, member) \
    }

const weft_sheet weft_sheet_sine_spe = {
    WEFT_SHEET_OP(sine_spe),
    .operands = {WEFT_OPERAND_X, WEFT_INPUT("noise", .shape = {3, {6, 8, 10}}),
                 EACH("frequencies", frequencies), EACH("gains", gains), EACH("phases", phases)},
    .sizes = {.batch = 2, .n = 5, .heads = 2, .width = 3},
    .usual = weft_sine_spe_params(.heads = 2),
    WEFT_SHEET_TRIALS(sine_trials),
};

const weft_sheet weft_sheet_conv_spe = {
    WEFT_SHEET_OP(conv_spe),
    .operands = {WEFT_OPERAND_X,
                 WEFT_INPUT("noise", .shape = {3, {7, 6, 10}}),
                 {.name = "filters",
                  .shape = {2, {3, 6}},
                  .field = WEFT_SHEET_FIELD(weft_conv_spe_params, filters)}},
    .sizes = {.batch = 2, .n = 5, .heads = 3, .width = 2},
    .usual = weft_conv_spe_params(.heads = 3),
    WEFT_SHEET_TRIALS(conv_trials),
};

/* ---- cases ---- */

struct row {
    uint32_t batch, n, heads, width, realizations;
    uint32_t size;    /* sineSPE: t, the frequencies of a channel; convSPE: p, the taps */
    uint32_t spare;   /* convSPE: positions of the noise that are not used */
    bool phases;      /* sineSPE */
    bool noise_given; /* an input, and the codes are made in every run */
    weft_values kind; /* of x */
};

static const struct row sine_rows[] = {
    {1, 1, 1, 1, 1, 1, 0, false, false, WEFT_VALUES_UNIT},
    {1, 2, 1, 3, 2, 1, 0, true, true, WEFT_VALUES_UNIT},
    {2, 5, 2, 4, 3, 5, 0, true, false, WEFT_VALUES_UNIT},
    {1, 7, 3, 5, 16, 2, 0, false, true, WEFT_VALUES_MIXED},
    {2, 31, 2, 8, 17, 10, 0, true, true, WEFT_VALUES_UNIT},
    {1, 64, 1, 16, 64, 5, 0, true, false, WEFT_VALUES_UNIT},
    {3, 65, 5, 2, 7, 3, 0, false, false, WEFT_VALUES_UNIT},
    {1, 97, 2, 6, 129, 4, 0, true, true, WEFT_VALUES_UNIT},
    {1, 130, 1, 3, 1, 33, 0, true, true, WEFT_VALUES_UNIT},
    {1, 257, 1, 4, 8, 2, 0, true, true, WEFT_VALUES_UNIT},
    {1, 2053, 1, 1, 2, 1, 0, true, false, WEFT_VALUES_UNIT},
    {1, 33, 2, 131, 2, 1, 0, false, true, WEFT_VALUES_UNIT},
    {2, 33, 1, 4, 4, 2, 0, true, true, WEFT_VALUES_ZEROS},
    {2, 33, 1, 4, 4, 2, 0, true, true, WEFT_VALUES_LARGE},
    {2, 33, 1, 4, 4, 2, 0, true, true, WEFT_VALUES_SUBNORMAL},
};

static const struct row conv_rows[] = {
    {1, 1, 1, 1, 1, 1, 0, false, false, WEFT_VALUES_UNIT},
    {1, 2, 1, 3, 2, 1, 3, false, true, WEFT_VALUES_UNIT},
    {2, 5, 2, 4, 3, 5, 0, false, false, WEFT_VALUES_UNIT},
    {1, 7, 3, 5, 16, 20, 11, false, true, WEFT_VALUES_MIXED},
    {2, 31, 2, 8, 17, 10, 1, false, true, WEFT_VALUES_UNIT},
    {1, 64, 1, 16, 64, 5, 0, false, false, WEFT_VALUES_UNIT},
    {3, 65, 5, 2, 7, 128, 0, false, false, WEFT_VALUES_UNIT},
    {1, 97, 2, 6, 129, 4, 0, false, true, WEFT_VALUES_UNIT},
    {1, 130, 1, 3, 1, 33, 0, false, true, WEFT_VALUES_UNIT},
    {1, 257, 1, 4, 8, 2, 100, false, true, WEFT_VALUES_UNIT},
    {1, 33, 2, 131, 2, 3, 0, false, true, WEFT_VALUES_UNIT},
    {2, 33, 1, 4, 4, 2, 0, false, true, WEFT_VALUES_ZEROS},
    {2, 33, 1, 4, 4, 2, 0, false, true, WEFT_VALUES_LARGE},
    {2, 33, 1, 4, 4, 2, 0, false, true, WEFT_VALUES_SUBNORMAL},
};

static uint32_t channels_of(const struct row *row) {
    return row->heads * row->width;
}

static weft_array add_noise(weft_case *c, weft_shape shape, const struct row *row) {
    return row->noise_given ? weft_case_input(c, "noise", shape, WEFT_VALUES_UNIT)
                            : weft_case_weight(c, shape, WEFT_VALUES_UNIT);
}

/* Applies the codes, [n, d, s], of all heads to x. */
static void apply(double *out, const double *x, const double *codes, const struct row *row) {
    uint64_t d = channels_of(row);
    uint32_t s = row->realizations;
    double scale = 1.0 / sqrt(sqrt((double)row->width) * (double)s);
    for (uint64_t token = 0; token < (uint64_t)row->batch * row->n; token++) {
        for (uint32_t head = 0; head < row->heads; head++) {
            for (uint32_t r = 0; r < s; r++) {
                double sum = 0.0;
                for (uint32_t w = 0; w < row->width; w++) {
                    uint64_t channel = (uint64_t)head * row->width + w;
                    sum += x[token * d + channel] * codes[(token % row->n * d + channel) * s + r];
                }
                out[(token * row->heads + head) * s + r] = scale * sum;
            }
        }
    }
}

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *row, const char *size) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s%s%s/n=%u,d=%u,%s=%u,s=%u,heads=%u,batch=%u",
             weft_values_name(row->kind), row->phases ? "-phases" : "",
             row->noise_given ? "-input" : "", row->n, channels_of(row), size, row->size,
             row->realizations, row->heads, row->batch);
}

/* ---- sineSPE ---- */

struct waves {
    const double *frequencies, *gains, *phases; /* phases may be null */
};

static void sine_codes(double *codes, const double *noise, const struct waves *waves,
                       const struct row *row) {
    const double two_pi = 6.28318530717958647693;
    uint64_t d = channels_of(row);
    uint32_t s = row->realizations;
    for (uint64_t i = 0; i < row->n * d; i++) {
        uint64_t token = i / d;
        uint64_t channel = i % d;
        for (uint32_t k = 0; k < row->size; k++) {
            uint64_t at = channel * row->size + k;
            double turns = waves->frequencies[at] * (double)token;
            turns += waves->phases ? waves->phases[at] : 0.0;
            double angle = two_pi * (turns - floor(turns));
            for (uint32_t r = 0; r < s; r++) {
                codes[i * s + r] += waves->gains[at] * (cos(angle) * noise[2 * at * s + r] +
                                                        sin(angle) * noise[(2 * at + 1) * s + r]);
            }
        }
    }
}

static void build_sine(weft_case *c, const struct row *row) {
    const uint32_t d = channels_of(row);
    const weft_shape each = weft_shape_of(d, row->size);
    c->only_reproducible = row->kind == WEFT_VALUES_SUBNORMAL;
    weft_array x = weft_case_input(c, "x", weft_shape_of(row->batch, row->n, d), row->kind);
    weft_array noise = add_noise(c, weft_shape_of(d, 2 * row->size, row->realizations), row);
    weft_array frequencies = weft_case_weight(c, each, WEFT_VALUES_UNIT);
    weft_array gains = weft_case_weight(c, each, WEFT_VALUES_UNIT);
    weft_array phases = weft_case_optional_weight(c, row->phases, each);
    weft_tensor y = {0};
    weft_case_check(c,
                    weft_graph_sine_spe(
                        &y, c->graph, x.tensor, noise.tensor,
                        weft_sine_spe_params(.heads = row->heads, .frequencies = frequencies.tensor,
                                             .gains = gains.tensor, .phases = phases.tensor)));
    double *expected = weft_case_output(c, "y", y);
    double *codes = weft_case_scratch(c, (uint64_t)row->n * d * row->realizations);
    if (expected && codes) {
        struct waves waves = {frequencies.value, gains.value, phases.value};
        sine_codes(codes, noise.value, &waves, row);
        apply(expected, x.value, codes, row);
    }
}

static void name_sine(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    name_case(text, row, "t");
}

WEFT_CASE_TABLE(sine_spe, sine_rows, WEFT_TOLERANCE_LINEAR, name_sine, build_sine);

/* ---- convSPE ---- */

static void conv_codes(double *codes, const double *noise, const double *filters,
                       const struct row *row) {
    uint64_t d = channels_of(row);
    uint32_t s = row->realizations;
    for (uint64_t i = 0; i < row->n * d; i++) {
        for (uint32_t u = 0; u < row->size; u++) {
            for (uint32_t r = 0; r < s; r++) {
                codes[i * s + r] += filters[u * d + i % d] * noise[(i + u * d) * s + r];
            }
        }
    }
}

static void build_conv(weft_case *c, const struct row *row) {
    const uint32_t d = channels_of(row);
    const uint32_t positions = row->n + row->size - 1 + row->spare;
    c->only_reproducible = row->kind == WEFT_VALUES_SUBNORMAL;
    weft_array x = weft_case_input(c, "x", weft_shape_of(row->batch, row->n, d), row->kind);
    weft_array noise = add_noise(c, weft_shape_of(positions, d, row->realizations), row);
    weft_array filters = weft_case_weight(c, weft_shape_of(row->size, d), WEFT_VALUES_UNIT);
    weft_tensor y = {0};
    weft_case_check(c, weft_graph_conv_spe(
                           &y, c->graph, x.tensor, noise.tensor,
                           weft_conv_spe_params(.heads = row->heads, .filters = filters.tensor)));
    double *expected = weft_case_output(c, "y", y);
    double *codes = weft_case_scratch(c, (uint64_t)row->n * d * row->realizations);
    if (expected && codes) {
        conv_codes(codes, noise.value, filters.value, row);
        apply(expected, x.value, codes, row);
    }
}

static void name_conv(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    name_case(text, row, "p");
}

WEFT_CASE_TABLE(conv_spe, conv_rows, WEFT_TOLERANCE_LINEAR, name_conv, build_conv);
