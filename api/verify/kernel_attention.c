/* SPDX-License-Identifier: MIT */
/* FMMformer's far field: every kernel's n × m matrix of weights, normalised by itself, and their blend. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <weft/mixers.h>

#include "verify/dense_attention.h"

/* x² + 1/2, as a caller would register it. */
static const char square_text[] = "float weft_feature(float x)\n"
                                  "{\n"
                                  "    return x * x + 0.5f;\n"
                                  "}\n";

/* softplus, from functions of math.glsl. */
static const char softplus_text[] =
    "float weft_feature(float x) { return weft_log(1.0f + weft_exp(x)); }";

/* What a letter of a row's `kernels` stands for. */
static const struct letter {
    char letter;
    weft_feature_map map;
    const char *glsl;
} letters[] = {
    {'e', WEFT_FEATURE_ELU1, NULL},         {'n', WEFT_FEATURE_ELU1_NEGATED, NULL},
    {'t', WEFT_FEATURE_TANH, NULL},         {'1', WEFT_FEATURE_TANH1, NULL},
    {'r', WEFT_FEATURE_RELU, NULL},         {'x', WEFT_FEATURE_EXP, NULL},
    {'s', WEFT_FEATURE_COUNT, square_text}, {'p', WEFT_FEATURE_COUNT, softplus_text},
};

static const struct letter *find_letter(char letter) {
    const struct letter *found = letters;
    while (found->letter != letter) {
        found++;
    }
    return found;
}

/* fmmformer.txt, section 3.2, and the further maps that weft_feature_map names. */
static double apply_map(char letter, double x) {
    switch (letter) {
    case 'e':
        return x > 0.0 ? x + 1.0 : exp(x);
    case 'n':
        return x < 0.0 ? 1.0 - x : exp(-x);
    case 't':
        return tanh(x);
    case '1':
        return 2.0 / (1.0 + exp(-2.0 * x)); /* tanh(x) + 1 */
    case 'r':
        return x > 0.0 ? x : 0.0;
    case 'x':
        return exp(x);
    case 's':
        return x * x + 0.5;
    default:
        return log1p(exp(x));
    }
}

struct row {
    const char *kernels;  /* letters */
    uint32_t batch, n, m; /* m 0: causal */
    uint32_t heads, width, values;
    float shift;   /* added to q and k */
    float epsilon; /* 0: the default */
    weft_values kind;
};

static double factor_of(uint32_t kernel) {
    static const float weights[WEFT_MAX_KERNELS] = {1.0F, 0.375F, -0.5F, 0.75F, 0.125F};
    return (double)weights[kernel];
}

static double least_of(const struct row *row, char letter) {
    bool may_change_sign = letter == 't' || letter == 's' || letter == 'p';
    return row->epsilon > 0.0F ? (double)row->epsilon : may_change_sign ? 1e-6 : 0x1p-126;
}

struct kernel {
    const struct row *row;
    char letter;
};

static double weight_of(const void *user, const double *q, const double *k, uint32_t i,
                        uint32_t j) {
    (void)i;
    (void)j;
    const struct kernel *kernel = user;
    const double shift = (double)kernel->row->shift;
    double sum = 0.0;
    for (uint32_t f = 0; f < kernel->row->width; f++) {
        sum += apply_map(kernel->letter, q[f] + shift) * apply_map(kernel->letter, k[f] + shift);
    }
    return sum;
}

static const struct row rows[] = {
    {"e", 1, 1, 0, 1, 1, 1, 0.0F, 0.0F, WEFT_VALUES_UNIT},
    {"e", 2, 63, 0, 2, 8, 8, 0.0F, 0.0F, WEFT_VALUES_UNIT},
    {"e", 1, 64, 0, 2, 8, 8, 0.0F, 0.0F, WEFT_VALUES_UNIT},
    {"e", 1, 65, 0, 2, 8, 8, 0.0F, 0.0F, WEFT_VALUES_UNIT},
    {"e", 1, 521, 0, 1, 12, 12, 0.0F, 0.0F, WEFT_VALUES_UNIT},
    {"e", 1, 130, 0, 1, 64, 64, 0.0F, 0.0F, WEFT_VALUES_UNIT},
    {"n", 1, 97, 0, 2, 7, 7, 0.0F, 0.0F, WEFT_VALUES_UNIT},
    {"x", 1, 97, 0, 2, 7, 5, 0.0F, 0.0F, WEFT_VALUES_UNIT},
    {"1", 1, 97, 0, 2, 7, 5, 0.0F, 0.0F, WEFT_VALUES_UNIT},
    {"r", 1, 97, 0, 2, 7, 5, 0.0F, 0.0F, WEFT_VALUES_UNIT},
    {"t", 1, 97, 0, 2, 7, 5, 1.5F, 0.0F, WEFT_VALUES_UNIT},
    {"t", 1, 97, 0, 2, 7, 5, 0.0F, 1e3F, WEFT_VALUES_UNIT},
    {"en", 2, 129, 0, 3, 5, 5, 0.0F, 0.0F, WEFT_VALUES_UNIT},
    {"ent", 1, 193, 0, 2, 16, 16, 1.5F, 0.0F, WEFT_VALUES_UNIT},
    {"en1rx", 1, 70, 0, 2, 8, 8, 0.0F, 0.0F, WEFT_VALUES_UNIT},
    {"s", 1, 130, 0, 2, 8, 8, 0.0F, 0.0F, WEFT_VALUES_UNIT},
    {"ps", 1, 70, 0, 2, 8, 8, 0.0F, 0.0F, WEFT_VALUES_UNIT},
    {"e", 1, 70, 0, 1, 8, 8, 0.0F, 0.0F, WEFT_VALUES_TENS},
    {"x", 1, 70, 0, 1, 8, 8, 0.0F, 0.0F, WEFT_VALUES_TENS},
    {"e", 1, 70, 0, 1, 8, 8, 0.0F, 0.0F, WEFT_VALUES_EQUAL},
    {"e", 1, 70, 0, 1, 8, 8, 0.0F, 0.0F, WEFT_VALUES_ZEROS},
    {"e", 1, 1, 1, 1, 1, 1, 0.0F, 0.0F, WEFT_VALUES_UNIT},
    {"e", 2, 37, 257, 2, 8, 8, 0.0F, 0.0F, WEFT_VALUES_UNIT},
    {"n", 1, 65, 33, 2, 7, 7, 0.0F, 0.0F, WEFT_VALUES_UNIT},
    {"x", 1, 65, 33, 2, 7, 5, 0.0F, 0.0F, WEFT_VALUES_UNIT},
    {"1", 1, 65, 33, 2, 7, 5, 0.0F, 0.0F, WEFT_VALUES_TENS},
    {"r", 1, 65, 33, 2, 7, 5, 0.0F, 0.0F, WEFT_VALUES_UNIT},
    {"t", 1, 65, 33, 2, 7, 5, 1.5F, 0.0F, WEFT_VALUES_UNIT},
    {"t", 1, 65, 33, 2, 7, 5, 0.0F, 1e3F, WEFT_VALUES_UNIT},
    {"ent", 1, 129, 300, 2, 16, 16, 1.5F, 0.0F, WEFT_VALUES_UNIT},
    {"en1rx", 2, 19, 1, 2, 8, 8, 0.0F, 0.0F, WEFT_VALUES_UNIT},
    {"sp", 1, 65, 33, 1, 64, 64, 0.0F, 0.0F, WEFT_VALUES_UNIT},
    {"e", 1, 64, 1031, 1, 4, 4, 0.0F, 0.0F, WEFT_VALUES_UNIT},
    {"e", 1, 33, 65, 1, 8, 8, 0.0F, 0.0F, WEFT_VALUES_TENS},
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct row *row = &rows[index];
    char keys[24] = "";
    if (row->m != 0) {
        snprintf(keys, sizeof keys, ",m=%u", row->m);
    }
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s/%s%s%s/n=%u%s,d=%u,dv=%u,heads=%u,batch=%u",
             row->m == 0 ? "causal" : "full", row->kernels, weft_values_name(row->kind),
             row->shift > 0.0F ? "-shifted" : "", row->epsilon > 0.0F ? "-guarded" : "", row->n,
             keys, row->heads * row->width, row->heads * row->values, row->heads, row->batch);
}

static weft_tensor shifted(weft_case *c, weft_tensor x, float shift) {
    weft_tensor y = x;
    if (shift != 0.0F) {
        weft_case_check(c, weft_graph_affine(&y, c->graph, x, 1.0F, shift));
    }
    return y;
}

static void build(weft_case *c, uint32_t index) {
    const struct row *row = &rows[index];
    uint32_t keys = row->m != 0 ? row->m : row->n;
    uint32_t d = row->heads * row->width;
    weft_kernel kernels[WEFT_MAX_KERNELS];
    uint32_t count = (uint32_t)strlen(row->kernels);
    for (uint32_t i = 0; i < count; i++) {
        const struct letter *letter = find_letter(row->kernels[i]);
        kernels[i] =
            (weft_kernel){.map = letter->map, .glsl = letter->glsl, .weight = (float)factor_of(i)};
    }
    weft_array q = weft_case_input(c, "q", weft_shape_of(row->batch, row->n, d), row->kind);
    weft_array k = weft_case_input(c, "k", weft_shape_of(row->batch, keys, d), row->kind);
    weft_array v = weft_case_input(
        c, "v", weft_shape_of(row->batch, keys, row->heads * row->values), row->kind);
    weft_tensor moved_q = shifted(c, q.tensor, row->shift);
    weft_tensor moved_k = shifted(c, k.tensor, row->shift);
    weft_tensor y = {0};
    weft_case_check(c, weft_graph_kernel_attention(
                           &y, c->graph, moved_q, moved_k, v.tensor,
                           weft_kernel_attention_params(.heads = row->heads, .causal = row->m == 0,
                                                        .kernels = kernels, .kernel_count = count,
                                                        .epsilon = row->epsilon)));
    double *expected = weft_case_output(c, "y", y);
    if (expected != NULL) {
        for (uint32_t i = 0; i < count; i++) {
            const struct kernel kernel = {.row = row, .letter = row->kernels[i]};
            const struct weft_dense_attention attention = {.batch = row->batch,
                                                           .n = row->n,
                                                           .m = row->m,
                                                           .heads = row->heads,
                                                           .width = row->width,
                                                           .values = row->values,
                                                           .factor = factor_of(i),
                                                           .least = least_of(row, kernel.letter),
                                                           .weight = weight_of,
                                                           .user = &kernel};
            weft_add_dense_attention(c, expected, q.value, k.value, v.value, &attention);
        }
    }
}

const weft_case_family weft_family_kernel_attention = {.name = "kernel_attention",
                                                       .count = sizeof rows / sizeof rows[0],
                                                       .tolerance = WEFT_TOLERANCE_EXPONENTIAL,
                                                       .name_case = name_case,
                                                       .build = build};
