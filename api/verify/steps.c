/* SPDX-License-Identifier: MIT */
/*
 * Steps: a graph that takes a sequence token by token, perhaps behind a prompt of several at once, and what the mixers' formulas
 * make of some of the tokens.
 */
#include <stdio.h>
#include <string.h>

#include "verify/sheet.h"

struct row {
    uint32_t batch, n, heads, width, values;
    uint32_t option; /* kernels, M, or the half-width */
    weft_values kind;
    uint32_t prompt;   /* tokens of the first step; 0: 1, as of all others */
    uint32_t shorter;  /* tokens that each sequence's prompt lacks of the one before it */
    uint32_t kv_heads; /* 0: heads */
    bool unrolled;     /* by the kernel of GPUs, which software drivers would not take */
    bool sinks;        /* in the rates' place */
    bool f16;
};

/* The constant [batch] of `token` less what each sequence lacks. */
static weft_tensor add_position(weft_case *c, uint32_t batch, uint32_t token, uint32_t shorter) {
    int32_t data[4];
    for (uint32_t b = 0; b < batch; b++) {
        data[b] = (int32_t)(token - b * shorter);
    }
    return weft_case_indices_of(c, weft_shape_of(batch), data);
}

/* Token `token` as [batch, 1, columns]. */
static weft_tensor take_token(weft_case *c, weft_tensor x, uint32_t token) {
    weft_tensor y = {0};
    weft_shape shape;
    if (c->ref.status == WEFT_OK) {
        weft_case_check(c, weft_graph_gather(&y, c->graph, x, token));
    }
    if (c->ref.status == WEFT_OK) {
        weft_case_check(c, weft_graph_get_tensor(c->graph, y, &shape, NULL));
        weft_case_check(
            c, weft_graph_reshape(&y, c->graph, y, weft_shape_of(shape.dim[0], 1, shape.dim[1])));
    }
    return y;
}

#define MOST_PROMPT_TOKENS 256 /* of all sequences */

/* The tokens of all sequences from `first` on, less what each lacks, as [batch, count, columns]. */
static weft_tensor take_tokens(weft_case *c, weft_array x, uint32_t first, uint32_t count,
                               uint32_t shorter) {
    const uint32_t batch = x.shape.dim[0];
    int32_t rows[MOST_PROMPT_TOKENS];
    for (uint32_t i = 0; i < batch * count; i++) {
        const uint32_t b = i / count;
        rows[i] = (int32_t)(b * x.shape.dim[1] + first - b * shorter + i % count);
    }
    const weft_tensor tokens = weft_case_indices_of(c, weft_shape_of(batch, count), rows);
    weft_tensor table = {0};
    weft_tensor y = {0};
    if (c->ref.status == WEFT_OK) {
        weft_case_check(c,
                        weft_graph_reshape(&table, c->graph, x.tensor,
                                           weft_shape_of(batch * x.shape.dim[1], x.shape.dim[2])));
    }
    if (c->ref.status == WEFT_OK) {
        weft_case_check(
            c, weft_graph_embedding(&y, c->graph,
                                    weft_embedding_params(.tokens = tokens, .table = table)));
    }
    return y;
}

/* Outputs of the first, a middle and the last token. */
static bool is_shown(const struct row *row, uint32_t token) {
    return token == 0 || token == row->n / 2 || token + 1 == row->n;
}

/* Makes a step's result an output, that of `count` tokens from that one on in each sequence of `whole`. */
static void expect_tokens(weft_case *c, weft_tensor y, weft_array whole, uint32_t token,
                          uint32_t count, uint32_t shorter) {
    const uint64_t channels = whole.shape.dim[2];
    const uint64_t own = count * channels;
    char name[24];
    snprintf(name, sizeof name, "y%u", token);
    double *expected = weft_case_output(c, name, y);
    for (uint64_t b = 0; expected && b < whole.shape.dim[0]; b++) {
        memcpy(expected + b * own,
               whole.value + (b * whole.shape.dim[1] + token - b * shorter) * channels,
               own * sizeof *expected);
    }
}

/* The step of the tokens from that one on. */
static weft_tensor add_step(weft_case *c, const weft_sheet *sheet, const weft_sheet_params *params,
                            const weft_array x[4], uint32_t token, uint32_t count,
                            uint32_t shorter) {
    const weft_step step = {.state = "state",
                            .position =
                                add_position(c, x[0].shape.dim[0], token + count - 1, shorter)};
    weft_tensor y = {0};
    weft_tensor own[4];
    for (uint32_t i = 0; i < 4 && x[i].shape.rank > 1; i++) {
        own[i] = count > 1     ? take_tokens(c, x[i], 0, count, 0)
                 : shorter > 0 ? take_tokens(c, x[i], token, 1, shorter)
                               : take_token(c, x[i].tensor, token);
    }
    weft_case_check(c, WEFT_CASE_ADD(c, sheet->step(&y, c->graph, own, &step, params)));
    return y;
}

/* q, k, v and rates, whether the mixer takes them or not. */
static void make_operands(weft_case *c, weft_array x[WEFT_OPERANDS], const weft_sheet *sheet,
                          const struct row *row) {
    const uint32_t kv_heads = row->kv_heads ? row->kv_heads : row->heads;
    const uint32_t columns[4] = {row->heads * row->width, kv_heads * row->width,
                                 kv_heads * row->values, row->heads};
    static const char *const names[4] = {"q", "k", "v", "b"};
    for (uint32_t i = 0; i < 4; i++) {
        x[i] = weft_case_input(c, names[i], weft_shape_of(row->batch, row->n, columns[i]),
                               i == 3 ? WEFT_VALUES_UNIT : row->kind);
    }
    if (sheet->operands[3].is_optional) {
        x[3] = row->sinks ? weft_case_weight(c, weft_shape_of(row->heads), WEFT_VALUES_UNIT)
                          : (weft_array){.value = NULL};
    }
    for (uint32_t i = 0; i < weft_sheet_operand_count(sheet); i++) {
        x[i] = weft_sheet_in_range(c, &sheet->operands[i], x[i]);
    }
}

static void build_row(weft_case *c, const weft_sheet *sheet, const struct row *row,
                      const void *params) {
    const weft_sizes sizes = {row->batch,
                              row->n,
                              row->heads,
                              row->width,
                              .values = row->values,
                              .kv_heads = row->kv_heads};
    weft_array x[WEFT_OPERANDS] = {{.value = NULL}};
    c->implementation = row->unrolled ? "unrolled" : NULL;
    make_operands(c, x, sheet, row);
    weft_sheet_params own = weft_sheet_params_of(sheet, params, &sizes, (weft_tensor){0});
    weft_sheet_set(&own, sheet->operands[3].field, x[3].tensor);
    const uint32_t elements = sheet->state_size(&sizes, &own);
    weft_case_state(c, "state",
                    weft_shape_of(row->batch, row->f16 ? elements / 2 : elements)); /* in words */
    c->only_values = true;
    const weft_array whole = weft_sheet_mix(c, sheet, x, &own);
    c->only_values = false;
    for (uint32_t token = 0; c->ref.status == WEFT_OK && token < row->n;) {
        const uint32_t count = token == 0 && row->prompt ? row->prompt : 1;
        const weft_tensor y = add_step(c, sheet, &own, x, token, count, row->shorter);
        if (is_shown(row, token)) {
            expect_tokens(c, y, whole, token, count, count > 1 ? 0 : row->shorter);
        }
        token += count;
    }
}

/* ---- the families ---- */

static const struct row linear_rows[] = {
    {1, 1, 1, 1, 1, .kind = WEFT_VALUES_UNIT},
    {2, 17, 2, 8, 8, .kind = WEFT_VALUES_UNIT},
    {1, 67, 3, 7, 5, .kind = WEFT_VALUES_UNIT},
    {1, 130, 1, 4, 4, .kind = WEFT_VALUES_UNIT},
    {1, 66, 1, 70, 131, .kind = WEFT_VALUES_UNIT},
    {1, 66, 1, 150, 30, .kind = WEFT_VALUES_UNIT},
    {2, 17, 2, 8, 8, .kind = WEFT_VALUES_UNIT, .prompt = 5},
    {1, 67, 3, 7, 5, .kind = WEFT_VALUES_UNIT, .prompt = 64},
    {1, 132, 1, 4, 4, .kind = WEFT_VALUES_UNIT, .prompt = 129},
    {1, 68, 1, 70, 131, .kind = WEFT_VALUES_UNIT, .prompt = 66},
    {3, 71, 1, 7, 5, .kind = WEFT_VALUES_UNIT, .prompt = 69, .shorter = 34},
};

static const struct row kernel_rows[] = {
    {2, 17, 2, 8, 8, .option = 1, .kind = WEFT_VALUES_UNIT},
    {1, 67, 3, 7, 5, .option = 3, .kind = WEFT_VALUES_UNIT},
    {1, 66, 1, 4, 4, .option = 2, .kind = WEFT_VALUES_TENS},
    {1, 67, 3, 7, 5, .option = 3, .kind = WEFT_VALUES_UNIT, .prompt = 65},
    {2, 69, 1, 7, 5, .option = 2, .kind = WEFT_VALUES_UNIT, .prompt = 66, .shorter = 1},
};

static const struct row cosformer_rows[] = {
    {2, 17, 2, 8, 8, .option = 17, .kind = WEFT_VALUES_UNIT},
    {1, 67, 3, 7, 5, .option = 100, .kind = WEFT_VALUES_UNIT},
    {2, 20, 2, 8, 8, .option = 33, .kind = WEFT_VALUES_UNIT, .prompt = 17},
    {2, 20, 2, 8, 8, .option = 33, .kind = WEFT_VALUES_UNIT, .prompt = 17, .shorter = 16},
};

static const struct row rule_rows[] = {
    {1, 1, 1, 1, 1, .kind = WEFT_VALUES_UNIT},
    {2, 17, 2, 8, 8, .kind = WEFT_VALUES_UNIT},
    {1, 67, 3, 7, 5, .kind = WEFT_VALUES_UNIT},
    {1, 130, 1, 4, 4, .kind = WEFT_VALUES_UNIT},
    {1, 66, 1, 130, 9, .kind = WEFT_VALUES_UNIT},
    {1, 66, 1, 5, 131, .kind = WEFT_VALUES_UNIT},
    {2, 17, 2, 8, 8, .kind = WEFT_VALUES_UNIT, .prompt = 5},
    {1, 67, 3, 7, 5, .kind = WEFT_VALUES_UNIT, .prompt = 64},
    {1, 132, 1, 4, 4, .kind = WEFT_VALUES_UNIT, .prompt = 129},
    {1, 68, 1, 130, 9, .kind = WEFT_VALUES_UNIT, .prompt = 66},
    {3, 71, 1, 7, 5, .kind = WEFT_VALUES_UNIT, .prompt = 69, .shorter = 34},
};

static const struct row band_rows[] = {
    {1, 1, 1, 1, 1, .kind = WEFT_VALUES_UNIT},
    {2, 17, 2, 8, 8, .option = 4, .kind = WEFT_VALUES_UNIT},
    {1, 67, 3, 7, 7, .option = 31, .kind = WEFT_VALUES_TENS},
    {1, 140, 1, 4, 4, .option = 139, .kind = WEFT_VALUES_UNIT},
    {1, 300, 1, 70, 70, .option = 257, .kind = WEFT_VALUES_UNIT},
    {1, 20, 1, 131, 131, .option = 100, .kind = WEFT_VALUES_UNIT},
    {2, 17, 2, 8, 8, .option = 4, .kind = WEFT_VALUES_UNIT, .prompt = 13},
    {1, 67, 3, 7, 7, .option = 31, .kind = WEFT_VALUES_TENS, .prompt = 20},
    {1, 20, 1, 131, 131, .option = 100, .kind = WEFT_VALUES_UNIT, .prompt = 7},
    {3, 24, 2, 8, 8, .option = 4, .kind = WEFT_VALUES_UNIT, .prompt = 20, .shorter = 9},
    {1, 1, 1, 1, 1, .kind = WEFT_VALUES_UNIT, .unrolled = true},
    {2, 17, 2, 8, 8, .option = 4, .kind = WEFT_VALUES_UNIT, .unrolled = true},
    {1, 67, 3, 7, 7, .option = 31, .kind = WEFT_VALUES_TENS, .unrolled = true},
    {1, 140, 1, 4, 4, .option = 139, .kind = WEFT_VALUES_UNIT, .unrolled = true},
    {1, 300, 1, 70, 70, .option = 257, .kind = WEFT_VALUES_UNIT, .unrolled = true},
    {1, 20, 1, 131, 131, .option = 100, .kind = WEFT_VALUES_UNIT, .unrolled = true},
    {2, 40, 6, 8, 8, .option = 20, .kind = WEFT_VALUES_UNIT, .kv_heads = 2},
    {1, 21, 4, 7, 7, .option = 30, .kind = WEFT_VALUES_UNIT, .prompt = 9, .kv_heads = 1},
    {2, 40, 6, 8, 8, .option = 20, .kind = WEFT_VALUES_UNIT, .kv_heads = 2, .unrolled = true},
    {2, 40, 6, 8, 8, .option = 20, .kind = WEFT_VALUES_UNIT, .kv_heads = 2, .sinks = true},
    {2, 40, 6, 8, 8, .option = 20, .kind = WEFT_VALUES_UNIT, .unrolled = true, .sinks = true},
    {1, 21, 4, 7, 7, .option = 30, .kind = WEFT_VALUES_TENS, .prompt = 9, .sinks = true},
    {1, 1, 1, 1, 1, .kind = WEFT_VALUES_UNIT, .f16 = true},
    {2, 40, 6, 8, 8, .option = 20, .kind = WEFT_VALUES_UNIT, .kv_heads = 2, .f16 = true},
    {1, 67, 3, 7, 7, .option = 31, .kind = WEFT_VALUES_TENS, .sinks = true, .f16 = true},
    {1, 20, 17, 131, 131, .option = 100, .kind = WEFT_VALUES_UNIT, .kv_heads = 1, .f16 = true},
    {1, 40, 1, 66, 66, .option = 15, .kind = WEFT_VALUES_SMALL, .f16 = true},
    {1, 40, 3, 133, 133, .option = 30, .kind = WEFT_VALUES_UNIT, .kv_heads = 1, .f16 = true},
    {2, 150, 2, 5, 5, .option = 139, .kind = WEFT_VALUES_UNIT, .kv_heads = 1, .f16 = true},
    {3, 24, 2, 8, 8, .option = 4, .kind = WEFT_VALUES_UNIT, .prompt = 20, .shorter = 9,
     .f16 = true},
    {1, 50, 4, 7, 7, .option = 30, .kind = WEFT_VALUES_MIXED, .prompt = 43, .kv_heads = 2,
     .f16 = true},
    {2, 40, 6, 8, 8, .option = 20, .kind = WEFT_VALUES_UNIT, .kv_heads = 2, .unrolled = true,
     .f16 = true},
    {1, 67, 3, 7, 7, .option = 31, .kind = WEFT_VALUES_TENS, .unrolled = true, .sinks = true,
     .f16 = true},
    {1, 20, 1, 131, 131, .option = 100, .kind = WEFT_VALUES_UNIT, .unrolled = true, .f16 = true},
};

static void name_row(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    int used = snprintf(
        text, WEFT_CASE_NAME_SIZE, "%s%s/n=%u,d=%u,dv=%u,heads=%u,batch=%u,option=%u",
        row->unrolled ? "unrolled/" : "", weft_values_name(row->kind), row->n,
        row->heads * row->width, row->heads * row->values, row->heads, row->batch, row->option);
    if (used > 0 && used < WEFT_CASE_NAME_SIZE) {
        snprintf(text + used, WEFT_CASE_NAME_SIZE - (size_t)used, "%s%s%s%s%s",
                 WEFT_CASE_PART(row->kv_heads != 0, ",kv=%u", row->kv_heads),
                 WEFT_CASE_PART(row->prompt != 0, ",prompt=%u", row->prompt),
                 WEFT_CASE_PART(row->shorter != 0, ",shorter=%u", row->shorter),
                 row->sinks ? ",sinks" : "", row->f16 ? ",f16" : "");
    }
}

static const weft_kernel kernels[] = {
    {.map = WEFT_FEATURE_ELU1}, {.map = WEFT_FEATURE_EXP}, {.map = WEFT_FEATURE_TANH1}};

/* A family of a mixer's steps, of which `given` are the parameters of a row. */
#define FAMILY(mixer, rows, bound, given)                            \
    static void build_##mixer(weft_case *c, const struct row *row) { \
        build_row(c, &weft_sheet_##mixer, row, given);               \
    }                                                                \
    WEFT_CASE_TABLE(mixer##_step, rows, bound, name_row, build_##mixer)

FAMILY(linear_attention, linear_rows, WEFT_TOLERANCE_LINEAR,
       weft_linear_attention_params(.causal = true));
FAMILY(kernel_attention, kernel_rows, WEFT_TOLERANCE_EXPONENTIAL,
       weft_kernel_attention_params(.causal = true, .kernels = kernels,
                                    .kernel_count = row->option));
FAMILY(cosformer, cosformer_rows, WEFT_TOLERANCE_LINEAR,
       weft_cosformer_params(.causal = true, .length = row->option));
FAMILY(fast_weight, rule_rows, WEFT_TOLERANCE_EXPONENTIAL, weft_fast_weight_params(.heads = 0));
FAMILY(banded_attention, band_rows, WEFT_TOLERANCE_EXPONENTIAL,
       weft_banded_attention_params(.causal = true, .half_width = row->option, .f16 = row->f16));
