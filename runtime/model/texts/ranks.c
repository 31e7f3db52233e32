/* SPDX-License-Identifier: MIT */
/* Texts by how well they answer a query. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/texts.h>

#include "core/given.h"
#include "core/host.h"
#include "core/math/portable_math.h"
#include "model/network/architecture.h"
#include "model/texts/texts.h"
#include "model/texts/vectors.h"

/* ---- scores ---- */

double weft_vector_similarity(const char *similarity, const float *a, const float *b,
                              uint32_t width) {
    const char *name = similarity ? similarity : "cosine";
    double products = 0;
    double lengths[2] = {0};
    double squares = 0;
    double sizes = 0;
    for (uint32_t i = 0; a && b && i < width; i++) {
        const double x = (double)a[i];
        const double y = (double)b[i];
        products += x * y;
        lengths[0] += x * x;
        lengths[1] += y * y;
        squares += (x - y) * (x - y);
        sizes += fabs(x - y);
    }
    const double both = sqrt(lengths[0] * lengths[1]);
    return strcmp(name, "dot") == 0         ? products
           : strcmp(name, "euclidean") == 0 ? -sqrt(squares)
           : strcmp(name, "manhattan") == 0 ? -sizes
           : both > 0                       ? products / both
                                            : 0; /* a vector of zeros is like no other */
}

/* The library's own exponential function: equal values have equal scores on every machine. */
double weft_model_pair_score(const weft_model *model, float value) {
    weft_model_info info = {0};
    if (!model || weft_model_get_info(model, &info) != WEFT_OK || info.raw_scores) {
        return (double)value;
    }
    const double small = weft_portable_exp(-fabs((double)value));
    return (value >= 0 ? 1.0 : small) / (1.0 + small);
}

int weft_ranked_compare(const void *left, const void *right) {
    const weft_ranked *a = left;
    const weft_ranked *b = right;
    const bool numbers[] = {!isnan(a->score), !isnan(b->score)};
    if (numbers[0] != numbers[1]) {
        return numbers[0] ? -1 : 1;
    }
    if (numbers[0] && a->score != b->score) {
        return a->score > b->score ? -1 : 1;
    }
    return (a->index > b->index) - (a->index < b->index);
}

void weft_rank(weft_ranked *ranked, uint32_t count) {
    WEFT_ENTER;
    if (ranked && count > 0) {
        qsort(ranked, count, sizeof *ranked, weft_ranked_compare);
    }
}

/* ---- ranking ---- */

struct ranking {
    weft_texts *texts;
    weft_model *model;
    const weft_rank_params *params;
    weft_text_input *pairs; /* of the query and each text */
    float *query;           /* its vectors */
    uint32_t query_count;
    bool is_multi; /* there may be another number than one of a text */
    const char *similarity;
    float *values; /* of pairs: [count] */
    weft_ranked *ranked;
};

/* By the outputs as they are: sigmoids of large ones are equal. */
static weft_status rank_pairs(struct ranking *self) {
    const weft_rank_params *params = self->params;
    const weft_host *host = weft_model_host(self->model);
    self->values = weft_alloc_zero(host, params->count, sizeof *self->values);
    self->ranked = weft_alloc_zero(host, params->count, sizeof *self->ranked);
    self->pairs = weft_alloc_zero(host, params->count, sizeof *self->pairs);
    if (!self->values || !self->ranked || !self->pairs) {
        return weft_fail_memory(host, "pairs of texts");
    }
    for (uint32_t i = 0; i < params->count; i++) {
        self->pairs[i] = *params->query;
        self->pairs[i].pair = params->texts[i].text;
        self->pairs[i].pair_size = params->texts[i].size;
    }
    WEFT_TRY(weft_texts_run(self->texts,
                            weft_texts_run_params(.texts = self->pairs, .count = params->count,
                                                  .batch = params->batch, .values = self->values,
                                                  .cut = params->cut, .take = params->take,
                                                  .user = params->user)));
    for (uint32_t i = 0; i < params->count; i++) {
        self->ranked[i] = (weft_ranked){i, (double)self->values[i]};
    }
    weft_rank(self->ranked, params->count);
    for (uint32_t i = 0; i < params->count; i++) {
        self->ranked[i].score =
            weft_model_pair_score(self->model, self->values[self->ranked[i].index]);
    }
    return WEFT_OK;
}

/* Keeps a query's vectors. */
static weft_status take_query(void *user, const weft_text_output *output) {
    struct ranking *self = user;
    const size_t values = (size_t)output->rows * output->width;
    self->query = weft_alloc_zero(weft_model_host(self->model), values + 1, sizeof *self->query);
    if (!self->query) {
        return weft_fail_memory(weft_model_host(self->model), "a query's vectors");
    }
    if (values > 0) {
        memcpy(self->query, output->values, values * sizeof *self->query);
    }
    self->query_count = output->rows;
    return WEFT_OK;
}

static weft_status embed_query(struct ranking *self) {
    const char *prompt = NULL;
    WEFT_TRY(weft_vectors_set_role(&prompt, self->model, WEFT_TEXT_QUERY));
    return weft_texts_run(self->texts, weft_texts_run_params(.texts = self->params->query,
                                                             .count = 1, .prompt = prompt,
                                                             .take = take_query, .user = self));
}

/* The text's vectors are gone behind the call. */
static weft_status take_text(void *user, const weft_text_output *output) {
    struct ranking *self = user;
    const weft_rank_params *params = self->params;
    const weft_vector_list query = {self->query, self->query_count};
    const weft_vector_list text = {output->values, output->rows};
    self->ranked[output->index] = (weft_ranked){
        output->index,
        self->is_multi
            ? weft_vectors_similarity(self->similarity, &query, &text, output->width)
            : weft_vector_similarity(self->similarity, self->query, output->values, output->width)};
    return params->take ? params->take(params->user, output) : WEFT_OK;
}

static weft_status rank_vectors(struct ranking *self) {
    const weft_rank_params *params = self->params;
    const weft_host *host = weft_model_host(self->model);
    weft_embed_info info = {0};
    weft_model_info model;
    const char *prompt = NULL;
    WEFT_TRY(weft_model_get_info(self->model, &model));
    if (model.task != WEFT_TASK_EMBED) {
        return weft_fail(host, WEFT_UNSUPPORTED,
                         "expected a model that gives embeddings, or a cross-encoder, which has "
                         "one label, found task %s",
                         weft_task_name(model.task));
    }
    if (weft_model_parts(self->model).embedding) {
        WEFT_TRY(weft_model_get_embedding(self->model, &info));
    }
    self->is_multi = model.multi_vector;
    self->similarity = info.similarity;
    self->ranked = weft_alloc_zero(host, params->count, sizeof *self->ranked);
    if (!self->ranked) {
        return weft_fail_memory(host, "the scores of texts");
    }
    WEFT_TRY(embed_query(self));
    WEFT_TRY(weft_vectors_set_role(&prompt, self->model, WEFT_TEXT_DOCUMENT));
    WEFT_TRY(weft_texts_run(
        self->texts, weft_texts_run_params(.texts = params->texts, .count = params->count,
                                           .batch = params->batch, .prompt = prompt,
                                           .cut = params->cut, .take = take_text, .user = self)));
    weft_rank(self->ranked, params->count);
    return WEFT_OK;
}

/* A cross-encoder reads texts alone. */
static weft_status check(const struct ranking *self, const weft_text_input *input, const char *what,
                         uint32_t number, bool scores) {
    const bool wrong = input->pair || (scores && !input->text);
    return wrong ? weft_fail(weft_model_host(self->model), WEFT_INVALID_ARGUMENT,
                             "%s %u: expected a text without a pair, found %s", what, number,
                             input->pair ? "a pair" : "a sequence")
                 : WEFT_OK;
}

static weft_status check_all(const struct ranking *self, bool scores) {
    WEFT_TRY(check(self, self->params->query, "query", 0, scores));
    for (uint32_t i = 0; i < self->params->count; i++) {
        WEFT_TRY(check(self, &self->params->texts[i], "text", i, scores));
    }
    return WEFT_OK;
}

static weft_status rank_all(struct ranking *self) {
    weft_model_info info;
    WEFT_TRY(weft_model_get_info(self->model, &info));
    const bool scores = (info.task == WEFT_TASK_CLASSIFY || info.task == WEFT_TASK_REGRESS) &&
                        info.label_count == 1;
    WEFT_TRY(check_all(self, scores));
    if (scores) {
        return rank_pairs(self);
    }
    const struct weft_vectors_state before = weft_vectors_state(self->model);
    const weft_status status = rank_vectors(self);
    const weft_status restored =
        before.task == WEFT_TASK_EMBED ? weft_vectors_restore(self->model, &before) : WEFT_OK;
    return status == WEFT_OK ? restored : status;
}

weft_status weft_texts_rank(weft_ranked *ranked, weft_texts *texts,
                            const weft_rank_params *params) {
    WEFT_ENTER;
    weft_model *model = texts ? weft_texts_model(texts) : NULL;
    const weft_host *host = weft_model_host(model);
    WEFT_GIVEN(host, ranked, texts, params);
    if (params->count == 0) {
        return WEFT_OK;
    }
    WEFT_GIVEN_AS(host, "params.query, params.texts", params->query, params->texts);
    struct ranking self = {.texts = texts, .model = model, .params = params};
    const weft_status status = rank_all(&self);
    if (status == WEFT_OK) {
        memcpy(ranked, self.ranked, params->count * sizeof *ranked);
    }
    weft_free(host, self.pairs);
    weft_free(host, self.query);
    weft_free(host, self.values);
    weft_free(host, self.ranked);
    return status;
}
