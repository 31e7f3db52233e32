/* SPDX-License-Identifier: MIT */
/* The vector of a text in a graph. With lengths each sequence has the bits that it has alone. */
#include <weft/arithmetic.h>
#include <weft/mixers.h>
#include <weft/movement.h>

#include "core/try.h"
#include "graph/graph.h"
#include "model/embedding/embedding.h"

#define LEAST_LENGTH     1e-12F /* torch.nn.functional.normalize's eps */
#define PYTORCHS_EPSILON 1e-5F  /* of a LayerNorm that names none */
#define TOKENS           1U     /* the axis */

/*
 * Inputs of poolings: the hidden state f32 [B, n, d], and the number of counted tokens of each sequence as i32 [B]
 * and as f32 [B, 1]. `skipped` tokens stood before the first.
 */
struct pooled {
    weft_graph *graph;
    weft_tensor x, lengths, counts;
    weft_shape shape;
    uint32_t skipped;
};

/* ---- sums ---- */

static weft_status reduce(weft_tensor *out, const struct pooled *from, weft_reduction reduction,
                          weft_tensor x) {
    return weft_graph_reduce(
        out, from->graph, reduction, x,
        weft_reduce_params(.axes = {TOKENS}, .axis_count = 1, .lengths = from->lengths));
}

static weft_status mean_sqrt(weft_tensor *out, const struct pooled *from) {
    weft_tensor root = {0};
    WEFT_TRY(reduce(out, from, WEFT_REDUCTION_SUM, from->x));
    WEFT_TRY(weft_graph_unary(&root, from->graph, WEFT_UNARY_SQRT, from->counts, 0, 0));
    return weft_graph_binary(out, from->graph, WEFT_BINARY_DIVIDE, *out, root);
}

/* The places of tokens in their text, from 1 on, as f32 [n, 1] */
static weft_status add_numbers(weft_tensor *out, const struct pooled *from) {
    const weft_host *host = &from->graph->host;
    const uint32_t count = from->shape.dim[TOKENS];
    float *numbers = weft_alloc(host, count * sizeof *numbers);
    if (!numbers) {
        return weft_fail_memory(host, "the weights of tokens");
    }
    for (uint32_t i = 0; i < count; i++) {
        numbers[i] = (float)(from->skipped + i + 1);
    }
    const weft_status status = weft_graph_constant(out, from->graph, "numbers", WEFT_F32,
                                                   weft_shape_of(count, 1), numbers);
    weft_free(host, numbers);
    return status;
}

/* The token at place i counts i times, from 1 on; of n tokens behind s others the weights' sum is n ((n + 1) / 2 + s). */
static weft_status weighted_mean(weft_tensor *out, const struct pooled *from) {
    weft_tensor weights = {0};
    weft_tensor total = {0};
    WEFT_TRY(add_numbers(&weights, from));
    WEFT_TRY(weft_graph_binary(out, from->graph, WEFT_BINARY_MULTIPLY, from->x, weights));
    WEFT_TRY(reduce(out, from, WEFT_REDUCTION_SUM, *out));
    WEFT_TRY(
        weft_graph_affine(&total, from->graph, from->counts, 0.5F, 0.5F + (float)from->skipped));
    WEFT_TRY(weft_graph_binary(&total, from->graph, WEFT_BINARY_MULTIPLY, total, from->counts));
    return weft_graph_binary(out, from->graph, WEFT_BINARY_DIVIDE, *out, total);
}

/* ---- pooling ---- */

static weft_status pool_by(weft_tensor *out, enum weft_embed_pooling pooling,
                           const struct pooled *all, const struct pooled *behind_prompt) {
    switch (pooling) {
    case WEFT_EMBED_CLS:
        return weft_graph_gather(out, all->graph, behind_prompt->x, 0);
    case WEFT_EMBED_MAX:
        return reduce(out, behind_prompt, WEFT_REDUCTION_MAX, behind_prompt->x);
    case WEFT_EMBED_MEAN:
        return reduce(out, behind_prompt, WEFT_REDUCTION_MEAN, behind_prompt->x);
    case WEFT_EMBED_MEAN_SQRT:
        return mean_sqrt(out, behind_prompt);
    case WEFT_EMBED_WEIGHTED_MEAN:
        return weighted_mean(out, behind_prompt);
    case WEFT_EMBED_LAST:
        break;
    }
    return weft_graph_gather_last(out, all->graph, all->x, all->lengths);
}

/* A number for each sequence, i32 [B]. */
static weft_status add_full(weft_tensor *out, weft_graph *graph, const char *name, uint32_t batch,
                            uint32_t value) {
    int32_t *values = weft_alloc(&graph->host, batch * sizeof *values);
    if (!values) {
        return weft_fail_memory(&graph->host, name);
    }
    for (uint32_t i = 0; i < batch; i++) {
        values[i] = (int32_t)value;
    }
    const weft_status status =
        weft_graph_constant(out, graph, name, WEFT_I32, weft_shape_of(batch), values);
    weft_free(&graph->host, values);
    return status;
}

/* Removes the first tokens. */
static weft_status leave_out(struct pooled *from, uint32_t tokens) {
    weft_tensor count = {0};
    if (tokens == 0) {
        return WEFT_OK;
    }
    if (tokens >= from->shape.dim[TOKENS]) {
        return weft_fail(&from->graph->host, WEFT_INVALID_ARGUMENT,
                         "prompt_tokens: expected fewer than the %u tokens of a sequence, found %u",
                         from->shape.dim[TOKENS], tokens);
    }
    from->shape.dim[TOKENS] -= tokens;
    from->skipped = tokens;
    WEFT_TRY(weft_graph_slice(&from->x, from->graph, from->x, TOKENS, tokens,
                              from->shape.dim[TOKENS], 1));
    WEFT_TRY(add_full(&count, from->graph, "prompt", from->shape.dim[0], tokens));
    return weft_graph_binary(&from->lengths, from->graph, WEFT_BINARY_SUBTRACT, from->lengths,
                             count);
}

static weft_status add_counts(struct pooled *from) {
    WEFT_TRY(weft_graph_convert(&from->counts, from->graph, from->lengths, WEFT_F32));
    return weft_graph_reshape(&from->counts, from->graph, from->counts,
                              weft_shape_of(from->shape.dim[0], 1));
}

static weft_status pool(weft_tensor *out, const struct weft_embedding_step *step,
                        const struct pooled *all, uint32_t prompt_tokens) {
    struct pooled behind_prompt = *all;
    weft_tensor parts[WEFT_EMBEDDING_MOST_POOLINGS] = {{0}};
    WEFT_TRY(leave_out(&behind_prompt, step->skips_prompt ? prompt_tokens : 0));
    WEFT_TRY(add_counts(&behind_prompt));
    for (uint32_t i = 0; i < step->pooling_count; i++) {
        WEFT_TRY(pool_by(&parts[i], step->poolings[i], all, &behind_prompt));
    }
    *out = parts[0];
    return step->pooling_count > 1
               ? weft_graph_concat(out, all->graph, parts, step->pooling_count, 1)
               : WEFT_OK;
}

/* ---- SPLADE ---- */

/*
 * log(1 + relu(logit)), once or twice: Formal, Piwowarski and Clinchant, "SPLADE: Sparse lexical and expansion model for first
 * stage ranking", SIGIR 2021, equation 1.
 */
static weft_status saturate(weft_tensor *x, const struct weft_embedding_step *step,
                            weft_graph *graph) {
    WEFT_TRY(weft_graph_activate(x, graph, *x, WEFT_ACTIVATION_RELU));
    WEFT_TRY(weft_graph_unary(x, graph, WEFT_UNARY_LOG1P, *x, 0, 0));
    return step->log_twice ? weft_graph_unary(x, graph, WEFT_UNARY_LOG1P, *x, 0, 0) : WEFT_OK;
}

/* The largest of a function that grows is that of the largest: it is computed once for each word, not for each token. */
static weft_status pool_words(weft_tensor *out, const struct weft_embedding_step *step,
                              const struct pooled *from) {
    weft_tensor x = from->x;
    if (step->sums) {
        WEFT_TRY(saturate(&x, step, from->graph));
        return reduce(out, from, WEFT_REDUCTION_SUM, x);
    }
    WEFT_TRY(reduce(out, from, WEFT_REDUCTION_MAX, x));
    return saturate(out, step, from->graph);
}

/* ---- the rest ---- */

static weft_status normalize(weft_tensor *x, weft_graph *graph) {
    const float one = 1.0F;
    weft_tensor gain = {0};
    WEFT_TRY(weft_graph_constant(&gain, graph, "one", WEFT_F32, weft_shape_of(1), &one));
    return weft_graph_scale_norm(x, graph, *x, gain, LEAST_LENGTH);
}

static weft_status add_input(weft_tensor *y, weft_tensor x, const struct weft_embedding_step *step,
                             weft_graph *graph) {
    weft_tensor weight = {0};
    if (step->residual) {
        WEFT_TRY(weft_graph_weight(&weight, graph, step->residual));
        WEFT_TRY(weft_graph_linear(&x, graph, x, weight, (weft_tensor){0}));
    }
    return weft_graph_binary(y, graph, WEFT_BINARY_ADD, *y, x);
}

static weft_status dense(weft_tensor *x, const struct weft_embedding_step *step,
                         weft_graph *graph) {
    weft_tensor weight = {0};
    weft_tensor bias = {0};
    const weft_tensor input = *x;
    WEFT_TRY(weft_graph_weight(&weight, graph, step->weight));
    if (step->bias) {
        WEFT_TRY(weft_graph_weight(&bias, graph, step->bias));
    }
    WEFT_TRY(weft_graph_linear(x, graph, input, weight, bias));
    if (step->activation != WEFT_ACTIVATION_NONE) {
        WEFT_TRY(weft_graph_activate(x, graph, *x, step->activation));
    }
    return step->adds_input ? add_input(x, input, step, graph) : WEFT_OK;
}

static weft_status layer_norm(weft_tensor *x, const struct weft_embedding_step *step,
                              weft_graph *graph) {
    weft_tensor weight = {0};
    weft_tensor bias = {0};
    WEFT_TRY(weft_graph_weight(&weight, graph, step->weight));
    WEFT_TRY(weft_graph_weight(&bias, graph, step->bias));
    return weft_graph_layer_norm(x, graph, *x, weight, bias, PYTORCHS_EPSILON);
}

static weft_status add_step(weft_tensor *x, const struct weft_embedding_step *step,
                            weft_graph *graph) {
    switch (step->kind) {
    case WEFT_EMBEDDING_DENSE:
        return dense(x, step, graph);
    case WEFT_EMBEDDING_LAYER_NORM:
        return layer_norm(x, step, graph);
    default:
        return normalize(x, graph);
    }
}

/* A vector's first values. */
static weft_status cut_values(weft_tensor *x, uint32_t most, weft_graph *graph) {
    weft_shape shape = {0};
    WEFT_TRY(weft_graph_get_tensor(graph, *x, &shape, NULL));
    return most > 0 && most < shape.dim[1] ? weft_graph_slice(x, graph, *x, 1, 0, most, 1)
                                           : WEFT_OK;
}

/* The hidden state or logits x in one vector for each sequence. */
static weft_status pool_all(weft_tensor *x, const struct weft_embedding *embedding,
                            weft_graph *graph, weft_tensor lengths) {
    struct pooled all = {.graph = graph, .x = *x, .lengths = lengths};
    WEFT_TRY(weft_graph_get_tensor(graph, *x, &all.shape, NULL));
    if (lengths.id == 0) {
        WEFT_TRY(add_full(&all.lengths, graph, "lengths", all.shape.dim[0], all.shape.dim[TOKENS]));
    }
    return weft_embedding_is_sparse(embedding)
               ? pool_words(x, &embedding->steps[0], &all)
               : pool(x, &embedding->steps[0], &all, embedding->prompt_tokens);
}

weft_status weft_embedding_build(weft_tensor *out, const struct weft_embedding *embedding,
                                 weft_graph *graph, weft_tensor x, weft_tensor lengths) {
    if (!weft_embedding_is_of_head(embedding) && !weft_embedding_is_multi(embedding)) {
        WEFT_TRY(pool_all(&x, embedding, graph, lengths));
    }
    for (uint32_t i = 1; i < embedding->step_count; i++) {
        WEFT_TRY(add_step(&x, &embedding->steps[i], graph));
    }
    WEFT_TRY(cut_values(&x, weft_embedding_most_values(embedding), graph));
    if (embedding->normalize && !weft_embedding_ends_normalized(embedding)) {
        WEFT_TRY(normalize(&x, graph));
    }
    *out = x;
    return WEFT_OK;
}

weft_status weft_embedding_size(uint32_t *size, const struct weft_embedding *embedding,
                                uint32_t width) {
    const struct weft_embedding_step *first = &embedding->steps[0];
    const bool stays = weft_embedding_is_sparse(embedding) || weft_embedding_is_multi(embedding);
    *size = weft_embedding_is_of_head(embedding) ? first->out
            : stays                              ? width
                                                 : width * first->pooling_count;
    for (uint32_t i = 1; i < embedding->step_count; i++) {
        const struct weft_embedding_step *step = &embedding->steps[i];
        if (step->kind == WEFT_EMBEDDING_NORMALIZE) {
            continue;
        }
        if (step->in != *size) {
            return weft_fail(
                &embedding->host, WEFT_BAD_FILE,
                "modules.json: module %u: expected %s %u, as the modules before it give, found %u",
                i + 1, step->kind == WEFT_EMBEDDING_DENSE ? "in_features" : "dimension", *size,
                step->in);
        }
        *size = step->out;
    }
    const uint32_t most = weft_embedding_most_values(embedding);
    *size = most > 0 && most < *size ? most : *size;
    return WEFT_OK;
}
