/* SPDX-License-Identifier: MIT */
/* Random features by their formulas, and attention with them by its n × m weights. */
#include <math.h>
#include <stdio.h>

#include <weft/mixers.h>

#include "verify/conformance.h"

struct row {
    weft_component component;
    weft_stabilizer stabilizer;
    uint32_t batch, n, heads, width, features;
    uint32_t other; /* OPTIMAL, ASYMMETRIC: tokens of the other side */
    float scale;
    float epsilon;
    bool coefficients;
    weft_values kind;
    float a;   /* GENERALIZED */
    int32_t s; /* likewise */
};

#define TRIG WEFT_COMPONENT_TRIGONOMETRIC
#define POS  WEFT_COMPONENT_POSITIVE
#define HYP  WEFT_COMPONENT_HYPERBOLIC
#define OPT  WEFT_COMPONENT_OPTIMAL
#define GEN  WEFT_COMPONENT_GENERALIZED
#define ASY  WEFT_COMPONENT_ASYMMETRIC
#define NONE WEFT_STABILIZER_NONE
#define QRY  WEFT_STABILIZER_QUERY
#define KEY  WEFT_STABILIZER_KEY
#define UNIT WEFT_VALUES_UNIT

static const struct row rows[] = {
    {TRIG, NONE, 1, 1, 1, 1, 1, 0, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {TRIG, NONE, 2, 17, 2, 8, 16, 0, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {TRIG, QRY, 2, 17, 2, 8, 16, 0, 0.0F, 0.0F, true, UNIT, 0.0F, 0},
    {TRIG, KEY, 2, 17, 2, 8, 16, 0, 0.0F, 0.0F, true, UNIT, 0.0F, 0},
    {TRIG, KEY, 1, 131, 3, 5, 7, 0, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {TRIG, NONE, 1, 9, 1, 64, 256, 0, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {TRIG, QRY, 1, 9, 1, 131, 3, 0, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {TRIG, KEY, 1, 33, 2, 8, 9, 0, 0.125F, 0.0F, false, WEFT_VALUES_TENS, 0.0F, 0},
    {TRIG, QRY, 1, 33, 2, 8, 9, 0, 0.0F, 0.0F, false, WEFT_VALUES_ZEROS, 0.0F, 0},
    {POS, NONE, 1, 1, 1, 1, 1, 0, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {POS, NONE, 2, 17, 2, 8, 16, 0, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {POS, QRY, 2, 17, 2, 8, 16, 0, 0.0F, 1e-6F, true, UNIT, 0.0F, 0},
    {POS, KEY, 2, 17, 2, 8, 16, 0, 0.0F, 1e-6F, true, UNIT, 0.0F, 0},
    {POS, KEY, 3, 131, 3, 5, 7, 0, 0.0F, 1e-6F, false, UNIT, 0.0F, 0},
    {POS, KEY, 1, 1009, 1, 4, 5, 0, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {POS, QRY, 1, 9, 1, 64, 256, 0, 0.0F, 1e-6F, false, UNIT, 0.0F, 0},
    {POS, NONE, 1, 9, 2, 131, 3, 0, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {POS, QRY, 1, 33, 2, 8, 129, 0, 0.125F, 0.25F, false, WEFT_VALUES_TENS, 0.0F, 0},
    {POS, KEY, 1, 33, 2, 8, 129, 0, 0.125F, 0.0F, false, WEFT_VALUES_TENS, 0.0F, 0},
    {POS, NONE, 1, 12, 2, 6, 6, 0, 0.0F, 0.0F, false, WEFT_VALUES_EQUAL, 0.0F, 0},
    {POS, KEY, 1, 12, 2, 6, 6, 0, 0.0F, 1e-6F, false, WEFT_VALUES_SMALL, 0.0F, 0},
    {POS, QRY, 1, 12, 13, 6, 6, 0, -0.5F, 1e-6F, false, WEFT_VALUES_ZEROS, 0.0F, 0},
    {HYP, NONE, 1, 1, 1, 1, 1, 0, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {HYP, NONE, 2, 17, 2, 8, 16, 0, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {HYP, QRY, 2, 17, 2, 8, 16, 0, 0.0F, 1e-6F, true, UNIT, 0.0F, 0},
    {HYP, KEY, 2, 17, 2, 8, 16, 0, 0.0F, 1e-6F, true, UNIT, 0.0F, 0},
    {HYP, KEY, 1, 131, 3, 5, 7, 0, 0.0F, 1e-6F, false, UNIT, 0.0F, 0},
    {HYP, QRY, 1, 9, 1, 64, 200, 0, 0.0F, 1e-6F, false, UNIT, 0.0F, 0},
    {HYP, KEY, 1, 33, 2, 8, 9, 0, 0.125F, 0.0F, false, WEFT_VALUES_TENS, 0.0F, 0},
    {OPT, NONE, 1, 1, 1, 1, 1, 1, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {OPT, NONE, 2, 17, 2, 8, 16, 17, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {OPT, QRY, 2, 17, 2, 8, 16, 19, 0.0F, 1e-6F, true, UNIT, 0.0F, 0},
    {OPT, KEY, 2, 17, 2, 8, 16, 5, 0.0F, 1e-6F, true, UNIT, 0.0F, 0},
    {OPT, KEY, 3, 131, 3, 5, 7, 257, 0.0F, 1e-6F, false, UNIT, 0.0F, 0},
    {OPT, NONE, 1, 256, 2, 4, 8, 513, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {OPT, QRY, 1, 600, 1, 7, 3, 255, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {OPT, QRY, 1, 9, 1, 64, 256, 9, 0.0F, 1e-6F, false, UNIT, 0.0F, 0},
    {OPT, NONE, 1, 9, 2, 131, 3, 7, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {OPT, KEY, 1, 33, 2, 8, 129, 20, 0.125F, 0.0F, false, WEFT_VALUES_TENS, 0.0F, 0},
    {OPT, NONE, 1, 12, 2, 6, 6, 12, 0.0F, 0.0F, false, WEFT_VALUES_EQUAL, 0.0F, 0},
    {OPT, QRY, 1, 12, 2, 6, 6, 3, 0.0F, 1e-6F, false, WEFT_VALUES_SMALL, 0.0F, 0},
};

/* Attention through weft_graph_linear_attention, against its weights from the float64 features. */
static const struct row attentions[] = {
    {TRIG, NONE, 1, 40, 2, 4, 512, 0, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {POS, QRY, 2, 70, 2, 8, 32, 0, 0.0F, 1e-6F, false, UNIT, 0.0F, 0},
    {POS, QRY, 1, 300, 1, 16, 64, 0, 0.0F, 1e-6F, true, UNIT, 0.0F, 0},
    {HYP, QRY, 2, 33, 3, 5, 17, 0, 0.0F, 1e-6F, false, UNIT, 0.0F, 0},
    {OPT, QRY, 2, 70, 2, 8, 32, 70, 0.0F, 1e-6F, false, UNIT, 0.0F, 0},
    {OPT, QRY, 1, 131, 1, 16, 64, 131, 0.0F, 1e-6F, true, UNIT, 0.0F, 0},
};

/* Those that take A and s, and SADERF. */
static const struct row later[] = {
    {GEN, NONE, 1, 1, 1, 1, 1, 0, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {GEN, NONE, 2, 17, 2, 8, 16, 0, 0.0F, 0.0F, false, UNIT, -0.125F, 1},
    {GEN, QRY, 2, 17, 2, 8, 16, 0, 0.0F, 1e-6F, true, UNIT, -0.03F, 1},
    {GEN, KEY, 1, 131, 3, 5, 7, 0, 0.0F, 1e-6F, false, UNIT, 0.0625F, 0},
    {GEN, QRY, 1, 9, 1, 64, 256, 0, 0.0F, 1e-6F, false, UNIT, -0.01F, 1},
    {GEN, NONE, 1, 9, 2, 131, 3, 0, 0.0F, 0.0F, false, UNIT, -0.02F, 1},
    {GEN, KEY, 1, 33, 2, 8, 129, 0, 0.125F, 0.0F, false, WEFT_VALUES_TENS, -0.25F, 1},
    {GEN, QRY, 1, 12, 13, 6, 6, 0, -0.5F, 1e-6F, false, WEFT_VALUES_ZEROS, 0.2F, 1},
    {GEN, NONE, 1, 1, 1, 1, 1, 0, 0.0F, 0.0F, false, UNIT, 0.0F, -1},
    {GEN, NONE, 2, 17, 2, 8, 16, 0, 0.0F, 0.0F, false, UNIT, 0.0625F, -1},
    {GEN, QRY, 2, 17, 2, 8, 16, 0, 0.0F, 0.0F, true, UNIT, -0.125F, -1},
    {GEN, KEY, 1, 131, 3, 5, 7, 0, 0.0F, 0.0F, false, UNIT, 0.03F, -1},
    {GEN, KEY, 1, 9, 1, 64, 200, 0, 0.0F, 0.0F, false, UNIT, -0.01F, -1},
    {GEN, QRY, 1, 33, 2, 8, 9, 0, 0.125F, 0.0F, false, WEFT_VALUES_TENS, -0.25F, -1},
    {ASY, NONE, 1, 1, 1, 1, 1, 1, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {ASY, NONE, 2, 17, 2, 8, 16, 17, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {ASY, QRY, 2, 17, 2, 8, 16, 19, 0.0F, 1e-6F, true, UNIT, 0.0F, 0},
    {ASY, KEY, 3, 131, 3, 5, 7, 257, 0.0F, 1e-6F, false, UNIT, 0.0F, 0},
    {ASY, QRY, 1, 600, 1, 7, 3, 255, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {ASY, QRY, 1, 9, 1, 64, 256, 9, 0.0F, 1e-6F, false, UNIT, 0.0F, 0},
    {ASY, NONE, 1, 9, 2, 131, 3, 7, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {ASY, KEY, 1, 33, 2, 8, 129, 20, 0.125F, 0.0F, false, WEFT_VALUES_TENS, 0.0F, 0},
    {ASY, NONE, 2, 2, 3, 5, 6, 1, 0.0F, 0.0F, false, WEFT_VALUES_ZEROS, 0.0F, 0},
    {ASY, NONE, 1, 12, 2, 6, 6, 3, 0.0F, 0.0F, false, WEFT_VALUES_IMPULSE, 0.0F, 0},
    {ASY, QRY, 1, 12, 2, 6, 6, 3, 0.0F, 1e-6F, false, WEFT_VALUES_SMALL, 0.0F, 0},
};

static const struct row later_attentions[] = {
    {GEN, QRY, 2, 70, 2, 8, 32, 0, 0.0F, 1e-6F, false, UNIT, -0.1F, 1},
    {GEN, NONE, 1, 40, 2, 4, 512, 0, 0.0F, 0.0F, false, UNIT, 0.03F, -1},
    {ASY, QRY, 2, 70, 2, 8, 32, 70, 0.0F, 1e-6F, false, UNIT, 0.0F, 0},
    {ASY, QRY, 1, 131, 3, 7, 65, 131, 0.0F, 1e-6F, true, UNIT, 0.0F, 0},
};

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof(array)[0]))

/* The tables one after the other. */
static const struct row *row_at(uint32_t index) {
    const struct {
        const struct row *rows;
        uint32_t count;
    } tables[] = {{rows, COUNT(rows)},
                  {attentions, COUNT(attentions)},
                  {later, COUNT(later)},
                  {later_attentions, COUNT(later_attentions)}};
    uint32_t table = 0;
    while (index >= tables[table].count) {
        index -= tables[table++].count;
    }
    return &tables[table].rows[index];
}

static bool is_attention(uint32_t index) {
    const uint32_t first = COUNT(rows);
    const uint32_t second = first + COUNT(attentions) + COUNT(later);
    return index >= second || (index >= first && index < first + COUNT(attentions));
}

/* ---- the reference ---- */

static bool is_waves(const struct row *row) {
    return row->component == TRIG || (row->component == GEN && row->s < 0);
}

static bool is_two_sided(const struct row *row) {
    return row->component == OPT || row->component == ASY;
}

static uint32_t features_of(const struct row *row) {
    return is_waves(row) || row->component == HYP ? 2 * row->features : row->features;
}

static double scale_of(const struct row *row) {
    return row->scale != 0.0F ? (double)row->scale : (double)(float)pow(row->width, -0.25);
}

/* A of OPRF, from the mean of |x_i + y_j|² over all pairs of one sequence and head. */
static double optimal_a(const struct row *row, const double *x, const double *y) {
    const uint32_t step = row->heads * row->width;
    const double scale = scale_of(row);
    double z = 0.0;
    for (uint32_t i = 0; i < row->n; i++) {
        for (uint32_t j = 0; j < row->other; j++) {
            for (uint32_t c = 0; c < row->width; c++) {
                double sum = scale * (x[(uint64_t)i * step + c] + y[(uint64_t)j * step + c]);
                z += sum * sum / ((double)row->n * row->other);
            }
        }
    }
    const double d = row->width;
    const double rho =
        (sqrt((2.0 * z + d) * (2.0 * z + d) + 8.0 * d * z) - 2.0 * z - d) / (4.0 * z);
    return z < 1e-12 ? 0.0 : (1.0 - 1.0 / rho) / 8.0;
}

struct terms {
    double a, b;
    double log_d;
};

static struct terms terms_of(double a, const struct row *row) {
    return (struct terms){
        .a = a, .b = sqrt(1.0 - 4.0 * a), .log_d = 0.25 * row->width * log(1.0 - 4.0 * a)};
}

/* Exponents of a token's head [features of the row]; of waves, their sizes' and then the angles. */
static void exponents(double *out, const struct row *row, const double *x, const double *w,
                      const struct terms *terms) {
    const double scale = scale_of(row);
    double square = 0.0;
    for (uint32_t c = 0; c < row->width; c++) {
        square += scale * scale * x[c] * x[c];
    }
    for (uint32_t f = 0; f < row->features; f++) {
        double p = 0.0;
        double norm = 0.0;
        for (uint32_t c = 0; c < row->width; c++) {
            p += scale * x[c] * w[(uint64_t)f * row->width + c];
            norm += w[(uint64_t)f * row->width + c] * w[(uint64_t)f * row->width + c];
        }
        const double rest = terms->log_d + (is_waves(row) ? 0.5 : -0.5) * square;
        const double angle = is_waves(row) ? 0.0 : terms->b * p;
        out[f] = terms->a * norm + angle + rest;
        if (row->component == HYP) {
            out[row->features + f] = -p + rest;
        } else if (is_waves(row)) {
            out[row->features + f] = terms->b * p;
        }
    }
}

struct arrays {
    const double *x, *w, *other, *coefficients; /* the last two may be null */
};

static double largest_of(const struct row *row, const double *exponent) {
    const uint32_t count = is_waves(row) ? row->features : features_of(row);
    double largest = -INFINITY;
    for (uint32_t f = 0; f < count; f++) {
        largest = fmax(largest, exponent[f]);
    }
    return largest;
}

static void write_features(double *out, const struct row *row, const double *exponent,
                           double largest, const double *coefficients) {
    for (uint32_t f = 0; f < features_of(row); f++) {
        const uint32_t own = f % row->features;
        double factor = coefficients != NULL ? coefficients[own] : 1.0 / sqrt(row->features);
        factor *= row->component == HYP ? sqrt(0.5) : 1.0;
        if (is_waves(row)) {
            const double angle = exponent[row->features + own];
            const double wave = f < row->features ? cos(angle) : sin(angle);
            out[f] = factor * exp(exponent[own] - largest) * wave;
        } else {
            out[f] = factor * (exp(exponent[f] - largest) + (double)row->epsilon);
        }
    }
}

/* One sequence and head: x and out are at its first element. */
static void reference_head(weft_case *c, double *out, const struct row *row,
                           const struct arrays *a) {
    const uint32_t count = features_of(row);
    const uint64_t in_step = (uint64_t)row->heads * row->width;
    const uint64_t out_step = (uint64_t)row->heads * count;
    const struct terms terms =
        terms_of(is_two_sided(row) ? optimal_a(row, a->x, a->other) : (double)row->a, row);
    double *exponent = weft_case_scratch(c, count);
    double largest = -INFINITY;
    for (uint32_t i = 0; exponent != NULL && row->stabilizer == KEY && i < row->n; i++) {
        exponents(exponent, row, a->x + i * in_step, a->w, &terms);
        largest = fmax(largest, largest_of(row, exponent));
    }
    for (uint32_t i = 0; exponent != NULL && i < row->n; i++) {
        exponents(exponent, row, a->x + i * in_step, a->w, &terms);
        double divisor = row->stabilizer == NONE ? 0.0 : largest;
        divisor = row->stabilizer == QRY ? largest_of(row, exponent) : divisor;
        write_features(out + i * out_step, row, exponent, divisor, a->coefficients);
    }
    weft_case_scratch_free(c, exponent);
}

static void reference_heads(weft_case *c, double *out, const struct row *row,
                            const struct arrays *a) {
    const uint64_t channels = (uint64_t)row->heads * row->width;
    const uint64_t count = features_of(row);
    for (uint32_t b = 0; b < row->batch; b++) {
        for (uint32_t h = 0; h < row->heads; h++) {
            const uint64_t head = (uint64_t)h * row->width;
            struct arrays one = *a;
            one.x = a->x + b * row->n * channels + head;
            one.other =
                a->other != NULL ? a->other + (uint64_t)b * row->other * channels + head : NULL;
            reference_head(c, out + ((uint64_t)b * row->n * row->heads + h) * count, row, &one);
        }
    }
}

/* Sums of squares [batch, channels] over the tokens of x [batch, tokens, channels]. */
static void channel_squares(double *out, const double *x, const struct row *row, uint32_t tokens) {
    const uint64_t channels = (uint64_t)row->heads * row->width;
    for (uint64_t i = 0; i < row->batch * tokens * channels; i++) {
        out[i / (tokens * channels) * channels + i % channels] += x[i] * x[i];
    }
}

/* out = Ψ x: SADERF's change of variables, from the sums of squares of x and of the other side. */
static void balance(double *out, const double *x, const double *own, const double *other,
                    const struct row *row, uint32_t tokens) {
    const uint64_t channels = (uint64_t)row->heads * row->width;
    for (uint64_t i = 0; i < row->batch * tokens * channels; i++) {
        const uint64_t at = i / (tokens * channels) * channels + i % channels;
        const bool has_both = own[at] >= 0x1p-126 && other[at] >= 0x1p-126;
        out[i] = x[i] * (has_both ? pow(other[at] / own[at], 0.25) : 1.0);
    }
}

static void reference(weft_case *c, double *out, const struct row *row, const struct arrays *a) {
    if (row->component != ASY) {
        reference_heads(c, out, row, a);
        return;
    }
    const uint64_t channels = (uint64_t)row->batch * row->heads * row->width;
    double *squares = weft_case_scratch(c, 2 * channels);
    double *x = weft_case_scratch(c, channels * row->n);
    double *other = weft_case_scratch(c, channels * row->other);
    if (squares != NULL && x != NULL && other != NULL) {
        channel_squares(squares, a->x, row, row->n);
        channel_squares(squares + channels, a->other, row, row->other);
        balance(x, a->x, squares, squares + channels, row, row->n);
        balance(other, a->other, squares + channels, squares, row, row->other);
        const struct arrays balanced = {x, a->w, other, a->coefficients};
        reference_heads(c, out, row, &balanced);
    }
    weft_case_scratch_free(c, squares);
    weft_case_scratch_free(c, x);
    weft_case_scratch_free(c, other);
}

/* out [n, heads, values] of one sequence from features of queries and keys [n, heads, features]. */
static void attend(double *out, const struct row *row, const double *q, const double *k,
                   const double *v) {
    const uint64_t count = features_of(row);
    const uint64_t step = row->heads * count;
    const uint64_t values = (uint64_t)row->heads * row->width;
    for (uint64_t i = 0; i < row->n; i++) {
        for (uint64_t h = 0; h < row->heads; h++) {
            double denominator = 0.0;
            for (uint64_t j = 0; j < row->n; j++) {
                double weight = 0.0;
                for (uint64_t f = 0; f < count; f++) {
                    weight += q[i * step + h * count + f] * k[j * step + h * count + f];
                }
                denominator += weight;
                for (uint64_t t = h * row->width; t < (h + 1) * row->width; t++) {
                    out[i * values + t] += weight * v[j * values + t];
                }
            }
            for (uint64_t t = h * row->width; t < (h + 1) * row->width; t++) {
                out[i * values + t] /= denominator;
            }
        }
    }
}

/* ---- the cases ---- */

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct row *row = row_at(index);
    char other[24] = "";
    if (row->other != 0) {
        snprintf(other, sizeof other, ",m=%u", row->other);
    }
    if (row->component == GEN) {
        snprintf(other, sizeof other, ",A=%g", (double)row->a);
    }
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s%s%s%s%s/%s/n=%u%s,d=%u,s=%u,heads=%u,batch=%u",
             is_attention(index) ? "attention-" : "", weft_component_name(row->component),
             row->s < 0 ? "-waves" : "",
             row->stabilizer == NONE ? "" : (row->stabilizer == QRY ? "-query" : "-key"),
             row->coefficients ? "-weighted" : "", weft_values_name(row->kind), row->n, other,
             row->width, row->features, row->heads, row->batch);
}

static weft_tensor add(weft_case *c, const struct row *row, weft_tensor x, weft_tensor w,
                       weft_tensor coefficients, weft_tensor other) {
    weft_tensor y = {0};
    weft_case_check(
        c, weft_graph_random_features(
               &y, c->graph, x, w,
               weft_random_features_params(.component = row->component, .heads = row->heads,
                                           .stabilizer = row->stabilizer, .scale = row->scale,
                                           .epsilon = row->epsilon, .coefficients = coefficients,
                                           .other = other, .a = row->a, .s = row->s)));
    return y;
}

static weft_shape tokens_of(const struct row *row, uint32_t n) {
    return weft_shape_of(row->batch, n, row->heads * row->width);
}

static void build_features(weft_case *c, const struct row *row) {
    weft_array x = weft_case_input(c, "x", tokens_of(row, row->n), row->kind);
    weft_array w = weft_case_weight(c, weft_shape_of(row->features, row->width), UNIT);
    weft_array coefficients = {0};
    weft_array other = {0};
    if (row->coefficients) {
        coefficients = weft_case_weight(c, weft_shape_of(row->features), UNIT);
    }
    if (row->other != 0) {
        other = weft_case_input(c, "other", tokens_of(row, row->other), row->kind);
    }
    weft_tensor y = add(c, row, x.tensor, w.tensor, coefficients.tensor, other.tensor);
    double *expected = weft_case_output(c, "y", y);
    if (expected != NULL) {
        struct arrays arrays = {x.value, w.value, other.value, coefficients.value};
        reference(c, expected, row, &arrays);
    }
}

static void reference_attention(weft_case *c, double *out, const struct row *row,
                                const struct arrays *a, const double *v) {
    struct row key = *row;
    key.stabilizer = row->stabilizer == QRY ? KEY : row->stabilizer;
    const uint64_t features = (uint64_t)row->n * row->heads * features_of(row);
    const uint64_t values = (uint64_t)row->n * row->heads * row->width;
    double *phi = weft_case_scratch(c, row->batch * features);
    double *psi = weft_case_scratch(c, row->batch * features);
    if (phi != NULL && psi != NULL) {
        struct arrays keys = {a->other, a->w, a->x, a->coefficients};
        reference(c, phi, row, a);
        reference(c, psi, &key, &keys);
        for (uint32_t b = 0; b < row->batch; b++) {
            attend(out + b * values, row, phi + b * features, psi + b * features, v + b * values);
        }
    }
    weft_case_scratch_free(c, phi);
    weft_case_scratch_free(c, psi);
}

static void build_attention(weft_case *c, const struct row *row) {
    struct row key = *row;
    key.stabilizer = row->stabilizer == QRY ? KEY : row->stabilizer;
    weft_array q = weft_case_input(c, "q", tokens_of(row, row->n), row->kind);
    weft_array k = weft_case_input(c, "k", tokens_of(row, row->n), row->kind);
    weft_array v = weft_case_input(c, "v", tokens_of(row, row->n), UNIT);
    weft_array w = weft_case_weight(c, weft_shape_of(row->features, row->width), UNIT);
    weft_array coefficients = {0};
    if (row->coefficients) {
        coefficients = weft_case_weight(c, weft_shape_of(row->features), UNIT);
    }
    const weft_tensor none = {0};
    const bool both = is_two_sided(row);
    weft_tensor phi = add(c, row, q.tensor, w.tensor, coefficients.tensor, both ? k.tensor : none);
    weft_tensor psi = add(c, &key, k.tensor, w.tensor, coefficients.tensor, both ? q.tensor : none);
    weft_tensor y = {0};
    weft_case_check(c,
                    weft_graph_linear_attention(&y, c->graph, phi, psi, v.tensor,
                                                weft_linear_attention_params(.heads = row->heads)));
    double *expected = weft_case_output(c, "y", y);
    if (expected != NULL) {
        struct arrays arrays = {q.value, w.value, k.value, coefficients.value};
        reference_attention(c, expected, row, &arrays, v.value);
    }
}

static void build(weft_case *c, uint32_t index) {
    if (is_attention(index)) {
        build_attention(c, row_at(index));
    } else {
        build_features(c, row_at(index));
    }
}

const weft_case_family weft_family_random_features = {
    .name = "random_features",
    .count = COUNT(rows) + COUNT(attentions) + COUNT(later) + COUNT(later_attentions),
    .tolerance = WEFT_TOLERANCE_EXPONENTIAL,
    .name_case = name_case,
    .build = build};
