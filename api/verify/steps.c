/* SPDX-License-Identifier: MIT */
/* Steps: a graph that takes a sequence token by token, and what the mixers' formulas make of some of the tokens. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <weft/decode.h>

#include "verify/conformance.h"

enum mixer { LINEAR, KERNELS, COSFORMER, RULE, BAND };

struct row {
    uint32_t batch, n, heads, width, values;
    uint32_t option; /* KERNELS: how many; COSFORMER: the length; BAND: the half-width */
    weft_values kind;
};

struct arrays {
    const double *q, *k, *v, *beta;
};

#define SHIFT 1.25 /* added to the features of LINEAR: above 1 makes them positive */

/* ---- the reference ---- */

static double elu1(double x) {
    return x > 0.0 ? x + 1.0 : exp(x);
}

static double feature(enum mixer mixer, uint32_t kernel, double x) {
    switch (mixer) {
    case LINEAR:
        return x + SHIFT;
    case KERNELS:
        return kernel == 0 ? elu1(x) : kernel == 1 ? exp(x) : 1.0 + tanh(x);
    case COSFORMER:
        return x > 0.0 ? x : 0.0;
    case RULE:
    case BAND:
        return x;
    }
    return 0.0;
}

/* The weight that query i gives key j before it is normalised. */
static double weight(enum mixer mixer, const struct row *row, uint32_t kernel, const double *q,
                     const double *k, uint32_t i, uint32_t j) {
    double sum = 0.0;
    for (uint32_t c = 0; c < row->width; c++) {
        sum += feature(mixer, kernel, q[c]) * feature(mixer, kernel, k[c]);
    }
    if (mixer == BAND) {
        return i - j > row->option ? 0.0 : exp(sum / sqrt(row->width));
    }
    if (mixer == COSFORMER) {
        return sum * cos(3.14159265358979323846 * (double)(i - j) / (2.0 * row->option));
    }
    return sum;
}

/* A token and head of the mixers that weigh values: docs/mixers.md, section 3 and section 5. */
static void attend(double *out, enum mixer mixer, const struct row *row, const struct arrays *a,
                   uint32_t i) {
    const uint64_t step = (uint64_t)row->heads * row->width;
    const uint64_t value_step = (uint64_t)row->heads * row->values;
    const uint32_t kernels = mixer == KERNELS ? row->option : 1;
    for (uint32_t kernel = 0; kernel < kernels; kernel++) {
        double total = 0.0;
        for (uint32_t j = 0; j <= i; j++) {
            total += weight(mixer, row, kernel, a->q + i * step, a->k + j * step, i, j);
        }
        for (uint32_t j = 0; j <= i; j++) {
            double w = weight(mixer, row, kernel, a->q + i * step, a->k + j * step, i, j);
            for (uint32_t t = 0; t < row->values && w != 0.0; t++) {
                out[t] += w / total * a->v[j * value_step + t];
            }
        }
    }
}

/* A head's S [values, width] after token i: docs/mixers.md, section 3. */
static void write_rule(double *s, double *key, const struct row *row, const struct arrays *a,
                       uint32_t i) {
    const double *k = a->k + (uint64_t)i * row->heads * row->width;
    const double *v = a->v + (uint64_t)i * row->heads * row->values;
    const double beta = 1.0 / (1.0 + exp(-a->beta[(uint64_t)i * row->heads]));
    double sum = 0.0;
    for (uint32_t c = 0; c < row->width; c++) {
        key[c] = elu1(k[c]);
        sum += key[c];
    }
    for (uint32_t t = 0; t < row->values; t++) {
        double held = 0.0;
        for (uint32_t c = 0; c < row->width; c++) {
            held += s[t * row->width + c] * key[c] / sum;
        }
        for (uint32_t c = 0; c < row->width; c++) {
            s[t * row->width + c] += beta * (v[t] - held) * key[c] / sum;
        }
    }
}

static void read_rule(double *out, const double *s, const struct row *row, const struct arrays *a,
                      uint32_t i) {
    const double *q = a->q + (uint64_t)i * row->heads * row->width;
    double sum = 0.0;
    for (uint32_t c = 0; c < row->width; c++) {
        sum += elu1(q[c]);
    }
    for (uint32_t t = 0; t < row->values; t++) {
        for (uint32_t c = 0; c < row->width; c++) {
            out[t] += s[t * row->width + c] * elu1(q[c]) / sum;
        }
    }
}

static void apply_rule(weft_case *c, double *out, const struct row *row, const struct arrays *a,
                       uint32_t token) {
    const uint64_t size = (uint64_t)row->values * row->width;
    double *s = weft_case_scratch(c, size + row->width);
    for (uint32_t i = 0; s != NULL && i <= token; i++) {
        write_rule(s, s + size, row, a, i);
    }
    if (s != NULL) {
        read_rule(out, s, row, a, token);
    }
    weft_case_scratch_free(c, s);
}

/* Token `token` of every sequence and head. */
static void reference(weft_case *c, double *out, enum mixer mixer, const struct row *row,
                      const struct arrays *a, uint32_t token) {
    for (uint32_t head = 0; head < row->batch * row->heads; head++) {
        uint64_t first = (uint64_t)(head / row->heads) * row->n * row->heads + head % row->heads;
        struct arrays one = {.q = a->q + first * row->width,
                             .k = a->k + first * row->width,
                             .v = a->v + first * row->values,
                             .beta = a->beta + first};
        double *y = out + (uint64_t)head * row->values;
        if (mixer == RULE) {
            apply_rule(c, y, row, &one, token);
        } else {
            attend(y, mixer, row, &one, token);
        }
    }
}

/* ---- the graph ---- */

/* weft/decode.h: elements of the state of a sequence. */
static uint32_t state_size(enum mixer mixer, const struct row *row) {
    uint32_t m = mixer == COSFORMER ? 2 * row->width : row->width;
    uint32_t w = row->values;
    if (mixer == RULE) {
        return row->heads * (m * (m + 2 * w) + 128 * (m + w));
    }
    if (mixer == BAND) {
        return 2 * row->heads * m * (row->option + 1);
    }
    return (mixer == KERNELS ? row->option : 1) * row->heads * (6 * m * (w + 1) + 64 * (m + w));
}

static weft_status add_step(weft_tensor *y, weft_graph *graph, enum mixer mixer,
                            const struct row *row, const weft_tensor x[4], const weft_step *step) {
    static const weft_kernel kernels[] = {
        {.map = WEFT_FEATURE_ELU1}, {.map = WEFT_FEATURE_EXP}, {.map = WEFT_FEATURE_TANH1}};
    switch (mixer) {
    case LINEAR:
        return weft_graph_linear_attention_step(y, graph, x[0], x[1], x[2], step,
                                                weft_linear_attention_params(.heads = row->heads));
    case KERNELS:
        return weft_graph_kernel_attention_step(
            y, graph, x[0], x[1], x[2], step,
            weft_kernel_attention_params(.heads = row->heads, .kernels = kernels,
                                         .kernel_count = row->option));
    case COSFORMER:
        return weft_graph_cosformer_step(
            y, graph, x[0], x[1], x[2], step,
            weft_cosformer_params(.heads = row->heads, .length = row->option));
    case RULE:
        return weft_graph_fast_weight_step(y, graph, x[0], x[1], x[2], x[3], step,
                                           weft_fast_weight_params(.heads = row->heads));
    case BAND:
        return weft_graph_banded_attention_step(
            y, graph, x[0], x[1], x[2], step,
            weft_banded_attention_params(.heads = row->heads, .half_width = row->option));
    }
    return WEFT_INVALID_ARGUMENT;
}

/* The constant [batch] of `token` in every element. */
static void add_position(weft_case *c, weft_tensor *position, uint32_t batch, uint32_t token) {
    int32_t data[4];
    weft_weight *weight = NULL;
    for (uint32_t b = 0; b < batch; b++) {
        data[b] = (int32_t)token;
    }
    weft_case_check(c, weft_weight_create(&weight,
                                          weft_weight_params(.dtype = WEFT_I32, .data = data,
                                                             .shape = weft_shape_of(batch)),
                                          &c->host));
    if (c->status == WEFT_OK) {
        weft_case_check(c, weft_graph_weight(position, c->graph, weight));
    }
    weft_weight_destroy(&weight);
}

/* Token `token` as [batch, 1, columns]. */
static weft_tensor take_token(weft_case *c, weft_tensor x, uint32_t token) {
    weft_tensor y = {0};
    weft_shape shape;
    if (c->status == WEFT_OK) {
        weft_case_check(c, weft_graph_gather(&y, c->graph, x, token));
    }
    if (c->status == WEFT_OK) {
        weft_case_check(c, weft_graph_get_tensor(c->graph, y, &shape, NULL));
        weft_case_check(
            c, weft_graph_reshape(&y, c->graph, y, weft_shape_of(shape.dim[0], 1, shape.dim[1])));
    }
    return y;
}

/* Outputs of the first, a middle and the last token. */
static bool is_shown(const struct row *row, uint32_t token) {
    return token == 0 || token == row->n / 2 || token + 1 == row->n;
}

static void build_row(weft_case *c, enum mixer mixer, const struct row *row) {
    const uint32_t columns[4] = {row->heads * row->width, row->heads * row->width,
                                 row->heads * row->values, row->heads};
    static const char *const names[4] = {"q", "k", "v", "b"};
    weft_array array[4];
    weft_tensor x[4];
    for (uint32_t i = 0; i < 4; i++) {
        array[i] = weft_case_input(c, names[i], weft_shape_of(row->batch, row->n, columns[i]),
                                   i == 3 ? WEFT_VALUES_UNIT : row->kind);
        x[i] = array[i].tensor;
    }
    if (c->status == WEFT_OK && mixer == RULE) {
        weft_case_check(c, weft_graph_activate(&x[3], c->graph, x[3], WEFT_ACTIVATION_SIGMOID));
    }
    for (uint32_t i = 0; c->status == WEFT_OK && mixer == LINEAR && i < 2; i++) {
        weft_case_check(c, weft_graph_affine(&x[i], c->graph, x[i], 1.0F, (float)SHIFT));
    }
    weft_case_state(c, "state", weft_shape_of(row->batch, state_size(mixer, row)));
    const struct arrays arrays = {array[0].value, array[1].value, array[2].value, array[3].value};
    for (uint32_t token = 0; c->status == WEFT_OK && token < row->n; token++) {
        weft_step step = {.state = "state"};
        weft_tensor y = {0};
        weft_tensor own[4];
        add_position(c, &step.position, row->batch, token);
        for (uint32_t i = 0; i < 4; i++) {
            own[i] = take_token(c, x[i], token);
        }
        if (c->status == WEFT_OK) {
            weft_case_check(c, add_step(&y, c->graph, mixer, row, own, &step));
        }
        if (is_shown(row, token)) {
            char name[24];
            snprintf(name, sizeof name, "y%u", token);
            double *expected = weft_case_output(c, name, y);
            if (expected != NULL) {
                reference(c, expected, mixer, row, &arrays, token);
            }
        }
    }
}

/* ---- the families ---- */

static const struct row linear_rows[] = {
    {1, 1, 1, 1, 1, 0, WEFT_VALUES_UNIT},     {2, 17, 2, 8, 8, 0, WEFT_VALUES_UNIT},
    {1, 67, 3, 7, 5, 0, WEFT_VALUES_UNIT},    {1, 130, 1, 4, 4, 0, WEFT_VALUES_UNIT},
    {1, 66, 1, 70, 131, 0, WEFT_VALUES_UNIT},
};

static const struct row kernel_rows[] = {
    {2, 17, 2, 8, 8, 1, WEFT_VALUES_UNIT},
    {1, 67, 3, 7, 5, 3, WEFT_VALUES_UNIT},
    {1, 66, 1, 4, 4, 2, WEFT_VALUES_TENS},
};

static const struct row cosformer_rows[] = {
    {2, 17, 2, 8, 8, 17, WEFT_VALUES_UNIT},
    {1, 67, 3, 7, 5, 100, WEFT_VALUES_UNIT},
};

static const struct row rule_rows[] = {
    {1, 1, 1, 1, 1, 0, WEFT_VALUES_UNIT},    {2, 17, 2, 8, 8, 0, WEFT_VALUES_UNIT},
    {1, 67, 3, 7, 5, 0, WEFT_VALUES_UNIT},   {1, 130, 1, 4, 4, 0, WEFT_VALUES_UNIT},
    {1, 66, 1, 130, 9, 0, WEFT_VALUES_UNIT}, {1, 66, 1, 5, 131, 0, WEFT_VALUES_UNIT},
};

static const struct row band_rows[] = {
    {1, 1, 1, 1, 1, 0, WEFT_VALUES_UNIT},        {2, 17, 2, 8, 8, 4, WEFT_VALUES_UNIT},
    {1, 67, 3, 7, 7, 31, WEFT_VALUES_TENS},      {1, 140, 1, 4, 4, 139, WEFT_VALUES_UNIT},
    {1, 20, 1, 131, 131, 100, WEFT_VALUES_UNIT},
};

static void name_row(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/n=%u,d=%u,dv=%u,heads=%u,batch=%u,option=%u",
             weft_values_name(row->kind), row->n, row->heads * row->width, row->heads * row->values,
             row->heads, row->batch, row->option);
}

#define FAMILY(label, mixer, rows, bound)                                                  \
    static void name_##label(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {             \
        name_row(text, &(rows)[index]);                                                    \
    }                                                                                      \
    static void build_##label(weft_case *c, uint32_t index) {                              \
        build_row(c, mixer, &(rows)[index]);                                               \
    }                                                                                      \
    const weft_case_family weft_family_##label = {.name = #label,                          \
                                                  .count = sizeof(rows) / sizeof(rows)[0], \
                                                  .tolerance = (bound),                    \
                                                  .name_case = name_##label,               \
                                                  .build = build_##label}

FAMILY(linear_attention_step, LINEAR, linear_rows, WEFT_TOLERANCE_LINEAR);
FAMILY(kernel_attention_step, KERNELS, kernel_rows, WEFT_TOLERANCE_EXPONENTIAL);
FAMILY(cosformer_step, COSFORMER, cosformer_rows, WEFT_TOLERANCE_LINEAR);
FAMILY(fast_weight_step, RULE, rule_rows, WEFT_TOLERANCE_EXPONENTIAL);
FAMILY(banded_attention_step, BAND, band_rows, WEFT_TOLERANCE_EXPONENTIAL);
