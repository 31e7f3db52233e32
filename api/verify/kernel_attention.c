/* SPDX-License-Identifier: MIT */
/* FMMformer's far field: kernels of the library's and of callers', and their blend. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "verify/trials.h"

WEFT_SHEET_CALL(kernel_attention, x[0], x[1], x[2])
WEFT_SHEET_STEP(kernel_attention, x[0], x[1], x[2])

static weft_array mix_kernel_attention(weft_case *c, const weft_array *x, const void *params) {
    return weft_case_kernel_attention(c, x[0], x[1], x[2], params, NULL);
}

static uint32_t state_size(const weft_sizes *s, const void *params) {
    const weft_kernel_attention_params *p = params;
    return p->kernel_count * weft_far_state_size(s, s->width);
}

enum { Q, K, V };

#define PARAMS(...)        weft_kernel_attention_params(__VA_ARGS__)
#define KERNELS(list, ...) PARAMS(.kernels = (list), .kernel_count = WEFT_COUNT(list), __VA_ARGS__)
#define WITH(...)          .params = PARAMS(__VA_ARGS__)
#define WITH_COUNT(n, ...) \
    WITH(.kernels = (const weft_kernel[WEFT_MAX_KERNELS + 1]){{__VA_ARGS__}}, .kernel_count = (n))

static const weft_kernel two[] = {{.map = WEFT_FEATURE_TANH1},
                                  {.map = WEFT_FEATURE_EXP, .weight = 0.5F}};
static const weft_kernel others[] = {{.map = WEFT_FEATURE_ELU1},
                                     {.map = WEFT_FEATURE_TANH1, .weight = 0.5F}};
static const weft_kernel one[] = {{.map = WEFT_FEATURE_ELU1}};
static const weft_kernel five[] = {
    {.map = WEFT_FEATURE_ELU1},
    {.map = WEFT_FEATURE_TANH, .weight = -0.25F},
    {.glsl = "float weft_feature(float x) { return weft_relu(x) + 0.5; }", .weight = 3.0F},
    {.map = WEFT_FEATURE_ELU1_NEGATED},
    {.map = WEFT_FEATURE_EXP, .weight = 0.5F}};

static const weft_use uses[] = {
    {.name = "kernels", .params = KERNELS(two, .causal = false)},
    {.name = "causal kernels", .params = KERNELS(others, .causal = true)}};

static const weft_use steps[] = {
    {.name = "kernels, one",
     .params = KERNELS(one, .causal = true),
     .sizes = {2, 200, 2, 8, .values = 8}},
    {.name = "kernels, five",
     .params = KERNELS(five, .causal = true),
     .sizes = {2, 131, 3, 6, .values = 10}},
};

static const weft_trial trials[] = {
    {INVALID, WITH_COUNT(0, .weight = 1.0F), SAYS("kernel_count 0", "1 … 5")},
    {INVALID, WITH_COUNT(6, .weight = 1.0F), SAYS("kernel_count 6", "1 … 5")},
    {INVALID, WITH_COUNT(1, .map = WEFT_FEATURE_COUNT), SAYS("map 6", "0 … 5")},
    {INVALID, WITH_COUNT(1, .weight = INFINITY), SAYS("weight inf")},
    {INVALID, WITH_COUNT(1, .glsl = ""), SAYS("glsl", "0 bytes")},
    {INVALID, WITH(.kernel_count = 2), SAYS("kernel_count is 2", "kernels is null")},
    {INVALID,
     WITH(.heads = 4, .kernel_count = 1,
          .kernels = (const weft_kernel[]){{.glsl = "float weft_feature(float x) { return x; }"}}),
     SAYS("4 heads", "6")},
    EPSILONS,
    {MISMATCH, IS(AS(K, 5, 6)), SAYS("[5, 6]", "[2, 5, 6]")},
    {MISMATCH, IS(AS(K, 2, 7, 6), AS(V, 2, 7, 6)), WITH(.causal = true), SAYS("m = n")},
    {INVALID, IS(AS_UNKNOWN(K)), SAYS("99")},
};

const weft_sheet weft_sheet_kernel_attention = {
    WEFT_SHEET_ATTENTION(kernel_attention),
    .operands = {WEFT_OPERANDS_QKV},
    .grows_linearly = true,
    .mix = mix_kernel_attention,
    .step = step_kernel_attention,
    .state_size = state_size,
    WEFT_SHEET_USES(uses),
    WEFT_SHEET_STEPS(steps),
    .sizes = {.batch = 2, .n = 5, .heads = 1, .width = 6},
    WEFT_SHEET_TRIALS(trials),
};

/* ---- cases ---- */

/* x² + 1/2, as a caller would register it. */
static const char square_text[] = "float weft_feature(float x)\n"
                                  "{\n"
                                  "    return x * x + 0.5f;\n"
                                  "}\n";

/* softplus, from functions of math.glsl. */
static const char softplus_text[] =
    "float weft_feature(float x) { return weft_log(1.0f + weft_exp(x)); }";

static double square(double x) {
    return x * x + 0.5;
}

static double softplus(double x) {
    return log1p(exp(x));
}

/* Meaning of a letter of a row's `kernels`. */
static const struct letter {
    char letter;
    weft_feature_map map;
    const char *glsl;
    weft_reference_map define; /* of GLSL */
} letters[] = {
    {'e', WEFT_FEATURE_ELU1, NULL, NULL},
    {'n', WEFT_FEATURE_ELU1_NEGATED, NULL, NULL},
    {'t', WEFT_FEATURE_TANH, NULL, NULL},
    {'1', WEFT_FEATURE_TANH1, NULL, NULL},
    {'r', WEFT_FEATURE_RELU, NULL, NULL},
    {'x', WEFT_FEATURE_EXP, NULL, NULL},
    {'s', WEFT_FEATURE_COUNT, square_text, square},
    {'p', WEFT_FEATURE_COUNT, softplus_text, softplus},
};

static const struct letter *find_letter(char letter) {
    const struct letter *found = letters;
    while (found->letter != letter) {
        found++;
    }
    return found;
}

struct row {
    const char *kernels;  /* letters */
    uint32_t batch, n, m; /* m 0: causal */
    uint32_t heads, width, values;
    float shift;   /* added to q and k */
    float epsilon; /* 0: the default */
    weft_values kind;
};

static const float weights[WEFT_MAX_KERNELS] = {1.0F, 0.375F, -0.5F, 0.75F, 0.125F};

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

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s/%s%s%s/n=%u%s,d=%u,dv=%u,heads=%u,batch=%u",
             row->m == 0 ? "causal" : "full", row->kernels, weft_values_name(row->kind),
             row->shift > 0.0F ? "-shifted" : "", row->epsilon > 0.0F ? "-guarded" : "", row->n,
             WEFT_CASE_PART(row->m != 0, ",m=%u", row->m), row->heads * row->width,
             row->heads * row->values, row->heads, row->batch);
}

static weft_array shifted(weft_case *c, weft_array x, float shift) {
    return shift != 0.0F ? weft_case_affine(c, x, 1.0F, shift) : x;
}

static void build(weft_case *c, const struct row *row) {
    uint32_t keys = row->m != 0 ? row->m : row->n;
    uint32_t d = row->heads * row->width;
    weft_kernel kernels[WEFT_MAX_KERNELS];
    weft_reference_map maps[WEFT_MAX_KERNELS];
    uint32_t count = (uint32_t)strlen(row->kernels);
    for (uint32_t i = 0; i < count; i++) {
        const struct letter *letter = find_letter(row->kernels[i]);
        kernels[i] = (weft_kernel){.map = letter->map, .glsl = letter->glsl, .weight = weights[i]};
        maps[i] = letter->define;
    }
    weft_array q = weft_case_input(c, "q", weft_shape_of(row->batch, row->n, d), row->kind);
    weft_array k = weft_case_input(c, "k", weft_shape_of(row->batch, keys, d), row->kind);
    weft_array v = weft_case_input(
        c, "v", weft_shape_of(row->batch, keys, row->heads * row->values), row->kind);
    q = shifted(c, q, row->shift);
    k = shifted(c, k, row->shift);
    weft_case_expect(c, "y",
                     weft_case_kernel_attention(
                         c, q, k, v,
                         weft_kernel_attention_params(.heads = row->heads, .causal = row->m == 0,
                                                      .kernels = kernels, .kernel_count = count,
                                                      .epsilon = row->epsilon),
                         maps));
}

WEFT_CASE_TABLE(kernel_attention, rows, WEFT_TOLERANCE_EXPONENTIAL, name_case, build);
