/* SPDX-License-Identifier: MIT */
/* Many texts through a model: sequences.c makes tokens of them, batches.c says which run together, plans.c has the plans. */
#include "model/texts/texts.h"

#include <string.h>

#include "core/given.h"
#include "core/host.h"
#include "model/embedding/multi_vector.h"
#include "model/network/architecture.h"
#include "model/texts/plans.h"
#include "model/texts/vectors.h"

#define KEPT_PLANS 8U
#define MOST_PLANS 1024U

struct weft_texts {
    weft_host host;
    weft_model *model;
    weft_device *device;
    weft_plan_params plan_params;
    struct weft_text_plans plans;
    struct weft_vectors_state vectors; /* for which the plans are */
    weft_texts_info done;
};

/* ---- making and releasing ---- */

static weft_status begin(weft_texts *texts, const weft_texts_params *params) {
    texts->plan_params = params->plan ? *params->plan : (weft_plan_params){0};
    texts->plans = (struct weft_text_plans){.host = texts->host,
                                            .model = texts->model,
                                            .device = texts->device,
                                            .params = &texts->plan_params,
                                            .most = params->plans == 0           ? KEPT_PLANS
                                                    : params->plans < MOST_PLANS ? params->plans
                                                                                 : MOST_PLANS,
                                            .done = &texts->done};
    texts->plans.kept = weft_alloc_zero(&texts->host, texts->plans.most, sizeof *texts->plans.kept);
    return texts->plans.kept ? WEFT_OK : weft_fail_memory(&texts->host, "plans for texts");
}

weft_status weft_texts_create(weft_texts **out, weft_model *model, weft_device *device,
                              const weft_texts_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN_AS(weft_model_host(model), "texts, model, device", out, model, device);
    const weft_host *host = weft_model_host(model);
    weft_shape shape;
    WEFT_TRY(weft_model_get_output_shape(model, 2, 1, &shape)); /* says what has none */
    weft_texts *texts = weft_alloc_zero(host, 1, sizeof *texts);
    if (!texts) {
        return weft_fail_memory(host, "texts");
    }
    texts->host = *host;
    texts->model = model;
    texts->device = device;
    const weft_status status = begin(texts, params ? params : weft_texts_params(0));
    if (status != WEFT_OK) {
        weft_texts_destroy(&texts);
        return status;
    }
    *out = texts;
    return WEFT_OK;
}

void weft_texts_destroy(weft_texts **address) {
    WEFT_ENTER;
    weft_texts *texts = address ? *address : NULL;
    if (!texts) {
        return;
    }
    *address = NULL;
    const weft_host host = texts->host;
    weft_text_plans_drop(&texts->plans);
    weft_free(&host, texts->plans.kept);
    weft_free(&host, texts);
}

weft_model *weft_texts_model(const weft_texts *texts) {
    return texts->model;
}

weft_status weft_texts_get_info(const weft_texts *texts, weft_texts_info *info) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(texts, host), texts, info);
    *info = texts->done;
    return WEFT_OK;
}

/* ---- a batch ---- */

struct run {
    weft_texts *texts;
    const weft_texts_run_params *params;
    struct weft_text_sequences sequences;
    uint32_t *indices;   /* of a batch */
    uint32_t most_terms; /* of sparse vectors, where not all count, or 0 */
    weft_term *terms;    /* room for them */
};

static uint32_t tokens_of(const struct run *self, uint32_t item) {
    uint32_t tokens = 0;
    for (uint32_t part = 0; part < self->sequences.per_item; part++) {
        tokens += weft_text_row_of(&self->sequences, item * self->sequences.per_item + part).length;
    }
    return tokens;
}

/* Rows without an item have the first one again. */
static uint64_t fill(const struct run *self, const struct weft_text_plan *plan,
                     const weft_text_batch *batch) {
    const uint32_t per_item = self->sequences.per_item;
    uint64_t tokens = 0;
    for (uint32_t slot = 0; slot < batch->size; slot++) {
        const uint32_t item = batch->indices[slot < batch->count ? slot : 0];
        for (uint32_t part = 0; part < per_item; part++) {
            const struct weft_text_row row =
                weft_text_row_of(&self->sequences, item * per_item + part);
            weft_text_plan_fill(plan, slot * per_item + part, &row, &self->sequences.info);
        }
        tokens += tokens_of(self, item);
    }
    return tokens;
}

static weft_status execute(const struct run *self, struct weft_text_plan *plan,
                           const weft_text_batch *batch) {
    const weft_texts_run_params *params = self->params;
    weft_host_tensor tensors[6];
    const uint32_t count = weft_text_plan_tensors(tensors, plan, &self->sequences.info);
    plan->runs++;
    return params->execute ? params->execute(params->user, plan->plan, tensors, count, batch)
                           : weft_plan_execute(plan->plan, tensors, count);
}

/* Of a model with a vector for each token those that count come first. */
static uint32_t count_rows(const struct run *self, uint32_t item, float *values,
                           const struct weft_text_plan *plan) {
    if (plan->rows > 0 || !self->sequences.multi) {
        return plan->rows > 0 ? plan->rows : tokens_of(self, item);
    }
    const struct weft_text_row row = weft_text_row_of(&self->sequences, item);
    return weft_multi_vector_keep(values, plan->width, self->sequences.multi, row.tokens,
                                  row.length, row.own);
}

static weft_status deliver_one(struct run *self, uint32_t item, float *values,
                               const struct weft_text_plan *plan) {
    const weft_texts_run_params *params = self->params;
    const bool is_text = self->sequences.per_item == 1 && params->texts[item].text;
    const weft_text_output output = {.index = item,
                                     .values = values,
                                     .rows = count_rows(self, item, values, plan),
                                     .width = plan->width,
                                     .encoding = is_text ? &self->sequences.encodings[item] : NULL};
    if (params->values) {
        memcpy(&params->values[(size_t)item * plan->width], values, plan->width * sizeof *values);
    }
    WEFT_TRY(params->take ? params->take(params->user, &output) : WEFT_OK);
    if (params->has) {
        params->has[item] = true;
    }
    self->texts->done.texts++;
    self->texts->done.tokens += tokens_of(self, item);
    return WEFT_OK;
}

static weft_status run_batch(struct run *self, const struct weft_batch_group *group, uint32_t first,
                             struct weft_text_plan *plan) {
    const uint32_t left = group->end - first;
    weft_text_batch batch = {.indices = self->indices,
                             .count = left < group->size ? left : group->size,
                             .size = group->size,
                             .length = group->length,
                             .runs = plan->runs};
    for (uint32_t slot = 0; slot < batch.count; slot++) {
        self->indices[slot] = self->sequences.items[first + slot].index;
    }
    batch.tokens = fill(self, plan, &batch);
    WEFT_TRY(execute(self, plan, &batch));
    const uint64_t each = plan->values / group->size;
    for (uint32_t slot = 0; slot < batch.count; slot++) {
        float *values = &plan->output[slot * each];
        if (self->most_terms > 0) {
            weft_terms_keep(values, plan->width, self->terms, self->most_terms);
        }
        WEFT_TRY(deliver_one(self, self->indices[slot], values, plan));
    }
    return WEFT_OK;
}

/* ---- all ---- */

static weft_status run_groups(struct run *self, const struct weft_batch_rule *rule) {
    const struct weft_text_sequences *sequences = &self->sequences;
    uint32_t first = 0;
    while (first < sequences->item_count) {
        const struct weft_batch_group group =
            weft_batch_group_at(sequences->items, sequences->item_count, first, rule);
        struct weft_text_plan *plan = NULL;
        WEFT_TRY(weft_text_plans_find(&plan, &self->texts->plans, &group, sequences));
        for (; first < group.end;
             first += group.end - first < group.size ? group.end - first : group.size) {
            WEFT_TRY(weft_interrupted(&self->texts->host));
            WEFT_TRY(run_batch(self, &group, first, plan));
        }
    }
    return WEFT_OK;
}

/* Plans of other vectors make something else. */
static void follow_model(weft_texts *texts) {
    const struct weft_vectors_state now = weft_vectors_state(texts->model);
    const struct weft_vectors_state *then = &texts->vectors;
    if (now.task != then->task || now.pooling != then->pooling ||
        now.normalize != then->normalize || now.prompt_tokens != then->prompt_tokens ||
        now.dimension != then->dimension) {
        weft_text_plans_drop(&texts->plans);
    }
    texts->vectors = now;
}

static weft_status make_room(struct run *self) {
    const weft_host *host = &self->texts->host;
    self->most_terms = weft_vectors_most_terms(self->texts->model);
    self->indices = weft_alloc_zero(host, self->sequences.item_count, sizeof *self->indices);
    self->terms = weft_alloc_zero(host, (size_t)self->most_terms + 1, sizeof *self->terms);
    return self->indices && self->terms ? WEFT_OK : weft_fail_memory(host, "a batch of texts");
}

static weft_status run_all(struct run *self) {
    struct weft_text_sequences *sequences = &self->sequences;
    weft_shape shape;
    WEFT_TRY(weft_model_get_output_shape(self->texts->model, 2, 1, &shape));
    const bool each_token = shape.rank == 3;
    const uint32_t row_values =
        each_token || weft_vectors_are_sparse(self->texts->model)
            ? shape.dim[shape.rank - 1]
            : 0; /* sparse vectors are made of as many logits for each token */
    if (each_token && self->params->values) {
        return weft_fail(&self->texts->host, WEFT_INVALID_ARGUMENT,
                         "values: expected null, as the model's task has a row for each token");
    }
    WEFT_TRY(weft_text_sequences_read(sequences));
    WEFT_TRY(make_room(self));
    return run_groups(self, &(struct weft_batch_rule){.asked = self->params->batch,
                                                      .per_item = sequences->per_item,
                                                      .row_values = row_values,
                                                      .mixes = sequences->info.takes_lengths});
}

weft_status weft_texts_run(weft_texts *texts, const weft_texts_run_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(texts, host), texts, params);
    if (params->count == 0) {
        return WEFT_OK;
    }
    WEFT_GIVEN_AS(&texts->host, "params.texts", params->texts);
    struct run self = {
        .texts = texts, .params = params, .sequences = {.model = texts->model, .params = params}};
    follow_model(texts);
    const weft_status status = run_all(&self);
    texts->done.cut_texts += self.sequences.cut;
    weft_text_sequences_clear(&self.sequences);
    weft_free(&texts->host, self.indices);
    weft_free(&texts->host, self.terms);
    return status;
}
