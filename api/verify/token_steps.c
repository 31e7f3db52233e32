/* SPDX-License-Identifier: MIT */
#include "verify/token_steps.h"

#include <stdio.h>
#include <string.h>

#define MOST_TOKENS 1280 /* of all sequences, in a prompt */

/* The tokens from `token` on, less what each sequence lacks, as [batch, count, d], an input for each step. */
static weft_tensor take(weft_case *c, weft_array x, uint32_t token, uint32_t count,
                        uint32_t shorter) {
    const uint32_t batch = x.shape.dim[0];
    const uint32_t n = x.shape.dim[1];
    int32_t rows_of[MOST_TOKENS];
    weft_tensor table = {0};
    weft_tensor y = {0};
    for (uint32_t i = 0; i < batch * count; i++) {
        rows_of[i] = (int32_t)(i / count * (n - shorter) + token + i % count);
    }
    const weft_tensor tokens = weft_case_indices_of(c, weft_shape_of(batch, count), rows_of);
    if (c->ref.status == WEFT_OK) {
        weft_case_check(c, weft_graph_reshape(&table, c->graph, x.tensor,
                                              weft_shape_of(batch * n, x.shape.dim[2])));
    }
    if (c->ref.status == WEFT_OK) {
        weft_case_check(
            c, weft_graph_embedding(&y, c->graph,
                                    weft_embedding_params(.tokens = tokens, .table = table)));
    }
    return y;
}

/* The tokens of a step, an output: the first ones of `whole`, of which sequence b has `ends[b]` that count. */
static void expect(weft_case *c, weft_tensor y, weft_array whole, uint32_t count, uint32_t lacks,
                   const uint32_t ends[4]) {
    const uint64_t n = whole.shape.dim[1] - lacks;
    const uint64_t d = whole.shape.dim[2];
    char name[24];
    snprintf(name, sizeof name, "y%u", c->output_count);
    double *expected = weft_case_output(c, name, y);
    for (uint64_t b = 0; expected && whole.value && b < whole.shape.dim[0]; b++) {
        memcpy(expected + b * count * d, whole.value + b * n * d, ends[b] * d * sizeof *expected);
    }
}

void weft_case_expect_steps(weft_case *c, const weft_array *x, uint32_t operands, weft_array whole,
                            weft_token_cuts cuts, weft_add_token_step *add, const void *user) {
    const uint32_t batch = x[0].shape.dim[0];
    const uint32_t n = x[0].shape.dim[1];
    for (uint32_t token = 0; c->ref.status == WEFT_OK && token < n;) {
        const uint32_t count = token == 0 && cuts.prompt ? cuts.prompt : 1;
        const uint32_t lacks = count > 1 ? 0 : cuts.shorter;
        int32_t positions[4];
        uint32_t ends[4];
        for (uint32_t b = 0; b < batch; b++) {
            positions[b] = (int32_t)(token + count - 1 - b * cuts.shorter);
            ends[b] = cuts.zeros_behind && count > 1 ? (uint32_t)positions[b] + 1 : count;
        }
        const weft_step step = {
            .state = "state", .position = weft_case_indices_of(c, weft_shape_of(batch), positions)};
        weft_tensor own[WEFT_TOKEN_OPERANDS] = {{0}};
        weft_tensor y = {0};
        for (uint32_t i = 0; i < operands; i++) {
            own[i] = x[i].tensor.id != 0 ? take(c, x[i], token, count, lacks) : own[i];
        }
        weft_case_check(c, WEFT_CASE_ADD(c, add(&y, c->graph, own, &step, user)));
        if (token == 0 || token == n / 2 || token + 1 == n) {
            weft_array rest = whole;
            rest.value = whole.value ? whole.value + (uint64_t)token * whole.shape.dim[2] : NULL;
            expect(c, y, rest, count, lacks, ends);
        }
        token += count;
    }
}
