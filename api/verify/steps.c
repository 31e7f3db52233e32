/* SPDX-License-Identifier: MIT */
/*
 * Steps: a graph that takes a sequence token by token, perhaps behind a prompt of several at once, and what the mixers' formulas
 * make of some of the tokens.
 */
#include <stdio.h>
#include <string.h>

#include "verify/paired.h"
#include "verify/steps.h"

struct row {
    uint32_t batch, n, heads, width, values;
    uint32_t option; /* as weft_case_step */
    weft_values kind;
    uint32_t prompt; /* tokens of the first step; 0: 1, as of all others */
    bool unrolled;   /* by the kernel of GPUs, which software drivers would not take */
};

/* Added to the features of WEFT_CASE_STEP_LINEAR: above 1 makes them positive. */
#define SHIFT 1.25F

static const weft_kernel kernels[] = {
    {.map = WEFT_FEATURE_ELU1}, {.map = WEFT_FEATURE_EXP}, {.map = WEFT_FEATURE_TANH1}};

/* What the mixer of whole sequences makes of them. */
static weft_array define(weft_case *c, weft_case_step_mixer mixer, const struct row *row,
                         const weft_array x[4]) {
    switch (mixer) {
    case WEFT_CASE_STEP_LINEAR:
        return weft_case_linear_attention(
            c, x[0], x[1], x[2], weft_linear_attention_params(.heads = row->heads, .causal = true));
    case WEFT_CASE_STEP_KERNELS:
        return weft_case_kernel_attention(
            c, x[0], x[1], x[2],
            weft_kernel_attention_params(.heads = row->heads, .causal = true, .kernels = kernels,
                                         .kernel_count = row->option),
            NULL);
    case WEFT_CASE_STEP_COSFORMER:
        return weft_case_cosformer(
            c, x[0], x[1], x[2],
            weft_cosformer_params(.heads = row->heads, .causal = true, .length = row->option));
    case WEFT_CASE_STEP_FAST_WEIGHT:
        return weft_case_fast_weight(c, x[0], x[1], x[2], x[3],
                                     weft_fast_weight_params(.heads = row->heads));
    default:
        return weft_case_banded_attention(c, x[0], x[1], x[2],
                                          weft_banded_attention_params(.heads = row->heads,
                                                                       .half_width = row->option,
                                                                       .causal = true));
    }
}

/* ---- the graph ---- */

/* weft/decode.h: elements of the state of a sequence. */
static uint32_t state_size(weft_case_step_mixer mixer, const struct row *row) {
    uint32_t m = mixer == WEFT_CASE_STEP_COSFORMER ? 2 * row->width : row->width;
    uint32_t w = row->values;
    if (mixer == WEFT_CASE_STEP_FAST_WEIGHT) {
        return row->heads * (m * (m + 2 * w) + 128 * (m + w));
    }
    if (mixer == WEFT_CASE_STEP_BAND) {
        return 2 * row->heads * m * (row->option + 1);
    }
    return (mixer == WEFT_CASE_STEP_KERNELS ? row->option : 1) * row->heads *
           (6 * m * (w + 1) + 64 * (m + w));
}

weft_status weft_case_add_step(weft_tensor *y, weft_graph *graph, const weft_case_step *p,
                               const weft_tensor x[4], const weft_step *step) {
    switch (p->mixer) {
    case WEFT_CASE_STEP_LINEAR:
        return weft_graph_linear_attention_step(
            y, graph, x[0], x[1], x[2], step,
            weft_linear_attention_params(.heads = p->heads, .epsilon = p->epsilon));
    case WEFT_CASE_STEP_KERNELS:
        return weft_graph_kernel_attention_step(
            y, graph, x[0], x[1], x[2], step,
            weft_kernel_attention_params(.heads = p->heads, .kernels = p->kernels,
                                         .kernel_count = p->option, .epsilon = p->epsilon));
    case WEFT_CASE_STEP_COSFORMER:
        return weft_graph_cosformer_step(
            y, graph, x[0], x[1], x[2], step,
            weft_cosformer_params(.heads = p->heads, .length = p->option, .epsilon = p->epsilon));
    case WEFT_CASE_STEP_FAST_WEIGHT:
        return weft_graph_fast_weight_step(y, graph, x[0], x[1], x[2], x[3], step,
                                           weft_fast_weight_params(.heads = p->heads));
    case WEFT_CASE_STEP_BAND:
        return weft_graph_banded_attention_step(
            y, graph, x[0], x[1], x[2], step,
            weft_banded_attention_params(.heads = p->heads, .half_width = p->option));
    }
    return WEFT_INVALID_ARGUMENT;
}

/* The constant [batch] of `token` in every element. */
static weft_tensor add_position(weft_case *c, uint32_t batch, uint32_t token) {
    int32_t data[4];
    for (uint32_t b = 0; b < batch; b++) {
        data[b] = (int32_t)token;
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

/* The first tokens of all sequences, as [batch, count, columns]. */
static weft_tensor take_tokens(weft_case *c, weft_array x, uint32_t count) {
    const uint32_t batch = x.shape.dim[0];
    int32_t rows[MOST_PROMPT_TOKENS];
    for (uint32_t i = 0; i < batch * count; i++) {
        rows[i] = (int32_t)(i / count * x.shape.dim[1] + i % count);
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
                          uint32_t count) {
    const uint64_t channels = whole.shape.dim[2];
    const uint64_t own = count * channels;
    char name[24];
    snprintf(name, sizeof name, "y%u", token);
    double *expected = weft_case_output(c, name, y);
    for (uint64_t b = 0; expected && b < whole.shape.dim[0]; b++) {
        memcpy(expected + b * own, whole.value + (b * whole.shape.dim[1] + token) * channels,
               own * sizeof *expected);
    }
}

/* The step of the tokens from that one on. */
static weft_tensor add_step(weft_case *c, const weft_case_step *params, const weft_array x[4],
                            uint32_t token, uint32_t count) {
    weft_step step = {.state = "state", .position = add_position(c, x[0].shape.dim[0], token)};
    weft_tensor y = {0};
    weft_tensor own[4];
    for (uint32_t i = 0; i < 4; i++) {
        own[i] = count > 1 ? take_tokens(c, x[i], count) : take_token(c, x[i].tensor, token);
    }
    weft_case_check(c, WEFT_CASE_ADD(c, weft_case_add_step(&y, c->graph, params, own, &step)));
    return y;
}

static void build_row(weft_case *c, weft_case_step_mixer mixer, const struct row *row) {
    c->implementation = row->unrolled ? "unrolled" : NULL;
    const uint32_t columns[4] = {row->heads * row->width, row->heads * row->width,
                                 row->heads * row->values, row->heads};
    static const char *const names[4] = {"q", "k", "v", "b"};
    weft_array x[4];
    for (uint32_t i = 0; i < 4; i++) {
        x[i] = weft_case_input(c, names[i], weft_shape_of(row->batch, row->n, columns[i]),
                               i == 3 ? WEFT_VALUES_UNIT : row->kind);
    }
    x[3] = mixer == WEFT_CASE_STEP_FAST_WEIGHT
               ? weft_case_activate(c, x[3], WEFT_ACTIVATION_SIGMOID)
               : x[3];
    for (uint32_t i = 0; mixer == WEFT_CASE_STEP_LINEAR && i < 2; i++) {
        x[i] = weft_case_affine(c, x[i], 1.0F, SHIFT);
    }
    weft_case_state(c, "state", weft_shape_of(row->batch, state_size(mixer, row)));
    const weft_case_step params = {
        .mixer = mixer, .heads = row->heads, .option = row->option, .kernels = kernels};
    c->only_values = true;
    const weft_array whole = define(c, mixer, row, x);
    c->only_values = false;
    for (uint32_t token = 0; c->ref.status == WEFT_OK && token < row->n;) {
        const uint32_t count = token == 0 && row->prompt ? row->prompt : 1;
        const weft_tensor y = add_step(c, &params, x, token, count);
        if (is_shown(row, token)) {
            expect_tokens(c, y, whole, token, count);
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
    {2, 17, 2, 8, 8, .kind = WEFT_VALUES_UNIT, .prompt = 5},
    {1, 67, 3, 7, 5, .kind = WEFT_VALUES_UNIT, .prompt = 64},
    {1, 132, 1, 4, 4, .kind = WEFT_VALUES_UNIT, .prompt = 129},
    {1, 68, 1, 70, 131, .kind = WEFT_VALUES_UNIT, .prompt = 66},
};

static const struct row kernel_rows[] = {
    {2, 17, 2, 8, 8, .option = 1, .kind = WEFT_VALUES_UNIT},
    {1, 67, 3, 7, 5, .option = 3, .kind = WEFT_VALUES_UNIT},
    {1, 66, 1, 4, 4, .option = 2, .kind = WEFT_VALUES_TENS},
    {1, 67, 3, 7, 5, .option = 3, .kind = WEFT_VALUES_UNIT, .prompt = 65},
};

static const struct row cosformer_rows[] = {
    {2, 17, 2, 8, 8, .option = 17, .kind = WEFT_VALUES_UNIT},
    {1, 67, 3, 7, 5, .option = 100, .kind = WEFT_VALUES_UNIT},
    {2, 20, 2, 8, 8, .option = 33, .kind = WEFT_VALUES_UNIT, .prompt = 17},
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
    {1, 1, 1, 1, 1, .kind = WEFT_VALUES_UNIT, .unrolled = true},
    {2, 17, 2, 8, 8, .option = 4, .kind = WEFT_VALUES_UNIT, .unrolled = true},
    {1, 67, 3, 7, 7, .option = 31, .kind = WEFT_VALUES_TENS, .unrolled = true},
    {1, 140, 1, 4, 4, .option = 139, .kind = WEFT_VALUES_UNIT, .unrolled = true},
    {1, 300, 1, 70, 70, .option = 257, .kind = WEFT_VALUES_UNIT, .unrolled = true},
    {1, 20, 1, 131, 131, .option = 100, .kind = WEFT_VALUES_UNIT, .unrolled = true},
};

static void name_row(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    int used = snprintf(
        text, WEFT_CASE_NAME_SIZE, "%s%s/n=%u,d=%u,dv=%u,heads=%u,batch=%u,option=%u",
        row->unrolled ? "unrolled/" : "", weft_values_name(row->kind), row->n,
        row->heads * row->width, row->heads * row->values, row->heads, row->batch, row->option);
    if (row->prompt && used > 0 && used < WEFT_CASE_NAME_SIZE) {
        snprintf(text + used, WEFT_CASE_NAME_SIZE - (size_t)used, ",prompt=%u", row->prompt);
    }
}

#define FAMILY(label, mixer, rows, bound)                            \
    static void build_##label(weft_case *c, const struct row *row) { \
        build_row(c, mixer, row);                                    \
    }                                                                \
    WEFT_CASE_TABLE(label, rows, bound, name_row, build_##label)

FAMILY(linear_attention_step, WEFT_CASE_STEP_LINEAR, linear_rows, WEFT_TOLERANCE_LINEAR);
FAMILY(kernel_attention_step, WEFT_CASE_STEP_KERNELS, kernel_rows, WEFT_TOLERANCE_EXPONENTIAL);
FAMILY(cosformer_step, WEFT_CASE_STEP_COSFORMER, cosformer_rows, WEFT_TOLERANCE_LINEAR);
FAMILY(fast_weight_step, WEFT_CASE_STEP_FAST_WEIGHT, rule_rows, WEFT_TOLERANCE_EXPONENTIAL);
FAMILY(banded_attention_step, WEFT_CASE_STEP_BAND, band_rows, WEFT_TOLERANCE_EXPONENTIAL);
