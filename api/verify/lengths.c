/* SPDX-License-Identifier: MIT */
/*
 * Sequences of different lengths in one batch, with NaN and infinities behind them: what is expected of each is what its
 * mixer's definition makes of it alone.
 */
#include <stdio.h>
#include <string.h>

#include "verify/sheet.h"

enum { HEADS = 2, WIDTH = 8 /* channels of a head */, D = HEADS * WIDTH };

struct row {
    const char *name;
    const weft_sheet *sheet;
    const void *params;
    uint32_t batch, n;
    uint32_t option; /* of the name: what the parameters have */
    uint32_t rows;   /* of a weight matrix */
};

#define BAND(width, ...) weft_banded_attention_params(.half_width = (width), __VA_ARGS__)

static const weft_kernel two[] = {{.map = WEFT_FEATURE_TANH1},
                                  {.map = WEFT_FEATURE_EXP, .weight = 0.5F}};
static const weft_kernel elu[] = {{.map = WEFT_FEATURE_ELU1}};
static const weft_feature_attention features;

static const struct row rows[] = {
    {"attention", &weft_sheet_attention, NULL, 3, 37, 0, 0},
    {"attention", &weft_sheet_attention, NULL, 2, 130, 0, 0},
    {"causal_attention", &weft_sheet_attention, weft_attention_params(.causal = true), 3, 67, 0, 0},
    {"band", &weft_sheet_banded_attention, NULL, 3, 37, 0, 0},
    {"band", &weft_sheet_banded_attention, BAND(5, .causal = false), 3, 37, 5, 0},
    {"band", &weft_sheet_banded_attention, BAND(40, .causal = false), 2, 131, 40, 0},
    {"band", &weft_sheet_banded_attention, BAND(69, .causal = false), 3, 70, 69, 0},
    {"causal_band", &weft_sheet_banded_attention, BAND(9, .causal = true), 3, 67, 9, 0},
    {"linear_attention", &weft_sheet_linear_attention, NULL, 3, 37, 0, 0},
    {"linear_attention", &weft_sheet_linear_attention, NULL, 2, 300, 0, 0},
    {"kernel_attention", &weft_sheet_kernel_attention,
     weft_kernel_attention_params(.kernels = two, .kernel_count = 2), 3, 67, 0, 0},
    {"cosformer", &weft_sheet_cosformer, weft_cosformer_params(.length = 100), 3, 67, 100, 0},
    {"fmm_attention", &weft_sheet_fmm_attention,
     weft_fmm_attention_params(.half_width = 7, .kernels = elu, .kernel_count = 1), 3, 67, 7, 0},
    {"performer_attention", &weft_sheet_performer_attention, NULL, 3, 67, 20, 20},
    {"rfa_attention", &weft_sheet_rfa_attention, NULL, 2, 67, 40, 40},
    {"hybrid_features", &weft_sheet_hybrid_attention, &features, 3, 33, 9, 9},
    {"discrete_features", &weft_sheet_discrete_attention, &features, 3, 33, 0, 8},
    {"toeplitz", &weft_sheet_toeplitz, NULL, 3, 37, 0, 0},
    {"toeplitz", &weft_sheet_toeplitz, NULL, 3, 130, 0, 0},
    {"conv1d", &weft_sheet_conv1d, NULL, 3, 37, 0, 0},
    {"toeplitz_attention", &weft_sheet_toeplitz_attention, NULL, 3, 41, 0, 0},
};

/* ---- cases ---- */

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *r) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/n=%u,d=%u,heads=%u,batch=%u%s", r->name, r->n, D, HEADS,
             r->batch, WEFT_CASE_PART(r->option != 0, ",k=%u", r->option));
}

/* NaN and infinities behind the lengths of the inputs so far. */
static void poison(weft_case *c, const double *lengths) {
    for (uint32_t p = 0; p < c->input_count && c->ref.status == WEFT_OK; p++) {
        const weft_case_port *port = &c->inputs[p];
        const uint64_t size = port->count / port->shape.dim[0];
        for (uint64_t i = 0; port->dtype == WEFT_F32 && i < port->count; i++) {
            const uint64_t token = i % size / D;
            const bool is_behind = (double)token >= lengths[i / size];
            const uint32_t words[] = {0x7fc00000U, 0xff800000U, 0x7f800000U};
            if (is_behind) {
                memcpy((uint32_t *)port->data + i, &words[i % 3], sizeof words[0]);
            }
        }
    }
}

static weft_sizes sizes_of(const struct row *r) {
    return (weft_sizes){.batch = r->batch,
                        .n = r->n,
                        .heads = HEADS,
                        .width = WIDTH,
                        .rows = r->rows,
                        .reach = r->n};
}

/* Number of the operand among q, k and v; x is v. Others are constants. */
static uint32_t input_of(const weft_operand *operand) {
    const char *found = strchr("qkv", operand->name[0] == 'x' ? 'v' : operand->name[0]);
    return operand->is_weight || !found ? 3 : (uint32_t)(found - "qkv");
}

/* The mixer's operands of all sequences, of which q, k and v are given. */
static void make_operands(weft_case *c, const struct row *r, const weft_array qkv[3],
                          weft_array x[WEFT_OPERANDS]) {
    const weft_sizes sizes = sizes_of(r);
    for (uint32_t i = 0; i < weft_sheet_operand_count(r->sheet); i++) {
        const weft_operand *operand = &r->sheet->operands[i];
        const uint32_t input = input_of(operand);
        if (input < 3) {
            x[i] = qkv[input];
        } else if (!operand->is_optional) {
            x[i] = weft_sheet_operand(c, r->sheet, i, &sizes, false, WEFT_VALUES_UNIT);
        }
    }
}

/* Adds the mixer, or with only_values makes what its definition does. */
static weft_array add(weft_case *c, const struct row *r, const weft_array *x, uint32_t n,
                      weft_tensor lengths) {
    weft_sizes sizes = sizes_of(r);
    weft_array own[WEFT_OPERANDS];
    sizes.n = n;
    for (uint32_t i = 0; i < WEFT_OPERANDS; i++) {
        own[i] = i < weft_sheet_operand_count(r->sheet)
                     ? weft_sheet_in_range(c, &r->sheet->operands[i], x[i])
                     : x[i];
    }
    const weft_sheet_params params = weft_sheet_params_of(r->sheet, r->params, &sizes, lengths);
    return weft_sheet_mix(c, r->sheet, own, &params);
}

/* Sequence b alone, as it is before its length. */
static weft_array alone(const struct row *r, const weft_array *x, uint32_t b, uint32_t length) {
    weft_array one = *x;
    if (x->shape.rank == 3 && x->shape.dim[0] == r->batch) {
        one.tensor.id = 0;
        one.shape = weft_shape_of(1, length, D);
        one.value = x->value + (uint64_t)b * r->n * D;
    }
    return one;
}

/* The mixer of all sequences in the graph, and the elements of each alone. */
static weft_array mix(weft_case *c, const struct row *r, const weft_array *x, weft_array lengths) {
    c->only_ops = true;
    weft_array y = add(c, r, x, r->n, lengths.tensor);
    c->only_ops = false;
    double *value = weft_case_scratch(c, (uint64_t)r->batch * r->n * D);
    for (uint32_t b = 0; value && b < r->batch; b++) {
        const uint32_t length = (uint32_t)lengths.value[b];
        weft_array one[WEFT_OPERANDS];
        for (uint32_t i = 0; i < WEFT_OPERANDS; i++) {
            one[i] = alone(r, &x[i], b, length);
        }
        c->only_values = true;
        const weft_array found = add(c, r, one, length, (weft_tensor){0});
        c->only_values = false;
        if (found.value) {
            memcpy(value + (uint64_t)b * r->n * D, found.value,
                   (uint64_t)length * D * sizeof *value);
        }
    }
    y.value = value;
    return y;
}

static void build(weft_case *c, const struct row *r) {
    static const char *const names[] = {"q", "k", "v"};
    weft_array qkv[3];
    weft_array x[WEFT_OPERANDS] = {{.value = NULL}};
    for (uint32_t i = 0; i < 3; i++) {
        qkv[i] = weft_case_input(c, names[i], weft_shape_of(r->batch, r->n, D), WEFT_VALUES_UNIT);
    }
    const weft_array lengths =
        weft_case_indices(c, "lengths", weft_shape_of(r->batch), 1, (int32_t)r->n);
    make_operands(c, r, qkv, x);
    if (c->ref.status == WEFT_OK) {
        poison(c, lengths.value);
        weft_case_expect(c, "y", weft_case_mask(c, mix(c, r, x, lengths), lengths));
    }
}

WEFT_CASE_TABLE(lengths, rows, WEFT_TOLERANCE_EXPONENTIAL, name_case, build);
