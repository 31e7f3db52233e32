/* SPDX-License-Identifier: MIT */
#include "model/texts/plans.h"

#include <string.h>

#include "core/try.h"
#include "model/network/architecture.h"

static void release(struct weft_text_plan *plan, const weft_host *host) {
    weft_plan_destroy(&plan->plan);
    weft_free(host, plan->tokens);
    weft_free(host, plan->types);
    weft_free(host, plan->lengths);
    weft_free(host, plan->features);
    weft_free(host, plan->positions);
    weft_free(host, plan->output);
    *plan = (struct weft_text_plan){0};
}

void weft_text_plans_drop(struct weft_text_plans *plans) {
    for (uint32_t i = 0; plans->kept && i < plans->most; i++) {
        release(&plans->kept[i], &plans->host);
    }
}

/* ---- making one ---- */

static weft_status compile(struct weft_text_plan *plan, struct weft_text_plans *plans) {
    WEFT_TRY(weft_model_compile_shape(
        &plan->plan, plans->model, plans->device,
        weft_model_shape(.batch = plan->sequences, .length = plan->length,
                         .with_types = plan->has_types, .with_lengths = plan->padded),
        plans->params));
    weft_plan_info info;
    WEFT_TRY(weft_plan_get_info(plan->plan, &info));
    plans->done->plans++;
    plans->done->compile_ms += info.compile_ms;
    plans->done->pipelines_compiled += info.pipelines_compiled;
    return WEFT_OK;
}

/* True where nothing is wanted. */
static bool allocate(void *address, bool wanted, size_t count, uint32_t width,
                     const weft_host *host) {
    void *made = wanted && count <= SIZE_MAX / width
                     ? weft_alloc_zero(host, count * width, sizeof(float))
                     : NULL;
    memcpy(address, &made, sizeof made);
    return made || !wanted;
}

static weft_status make_room(struct weft_text_plan *plan,
                             const struct weft_text_sequences *sequences) {
    const weft_model_info *info = &sequences->info;
    const weft_host *host = weft_model_host(sequences->model);
    const weft_shape shape = weft_model_output_shape(info, plan->sequences, plan->length);
    const size_t places = (size_t)plan->sequences * plan->length;
    plan->width = shape.dim[shape.rank - 1];
    plan->rows = shape.rank == 3 ? 0 : 1;
    plan->values = weft_shape_elements(shape);
    const uint32_t features = info->input_size > 0 ? info->input_size : 1;
    const uint32_t positions = info->position_size > 0 ? info->position_size : 1;
    return allocate(&plan->tokens, info->input_size == 0, places, 1, host) &&
                   allocate(&plan->types, plan->has_types, places, 1, host) &&
                   allocate(&plan->lengths, plan->padded, plan->sequences, 1, host) &&
                   allocate(&plan->features, info->input_size > 0, places, features, host) &&
                   allocate(&plan->positions, info->position_size > 0, places, positions, host) &&
                   plan->values <= SIZE_MAX &&
                   allocate(&plan->output, true, (size_t)plan->values, 1, host)
               ? WEFT_OK
               : weft_fail_memory(host, "a batch of texts");
}

/* ---- keeping some ---- */

static bool serves(const struct weft_text_plan *plan, const struct weft_text_plan *wanted) {
    return plan->plan && plan->sequences == wanted->sequences && plan->length == wanted->length &&
           plan->padded == wanted->padded && plan->has_types == wanted->has_types;
}

weft_status weft_text_plans_find(struct weft_text_plan **found, struct weft_text_plans *plans,
                                 const struct weft_batch_group *group,
                                 const struct weft_text_sequences *sequences) {
    struct weft_text_plan made = {.sequences = group->size * sequences->per_item,
                                  .length = group->length,
                                  .padded = group->padded,
                                  .has_types = group->has_types,
                                  .used = ++plans->used};
    struct weft_text_plan *place = &plans->kept[0];
    for (uint32_t i = 0; i < plans->most; i++) {
        struct weft_text_plan *kept = &plans->kept[i];
        if (serves(kept, &made)) {
            kept->used = made.used;
            *found = kept;
            return WEFT_OK;
        }
        place = kept->used < place->used ? kept : place;
    }
    release(place, &plans->host); /* first: its memory may be needed */
    weft_status status = compile(&made, plans);
    if (status == WEFT_OK) {
        status = make_room(&made, sequences);
    }
    if (status != WEFT_OK) {
        release(&made, &plans->host);
        return status;
    }
    *place = made;
    *found = place;
    return WEFT_OK;
}

/* ---- its inputs ---- */

static void fill(void *inputs, const void *data, uint32_t width, uint32_t row, uint32_t used,
                 uint32_t length) {
    if (inputs) {
        const size_t bytes = width * sizeof(float); /* int32_t has as many */
        uint8_t *to = (uint8_t *)inputs + (size_t)row * length * bytes;
        const size_t given = data ? used * bytes : 0;
        if (given > 0) {
            memcpy(to, data, given);
        }
        memset(to + given, 0, length * bytes - given);
    }
}

void weft_text_plan_fill(const struct weft_text_plan *plan, uint32_t row,
                         const struct weft_text_row *sequence, const weft_model_info *info) {
    const uint32_t used = sequence->length;
    fill(plan->tokens, sequence->tokens, 1, row, used, plan->length);
    fill(plan->types, sequence->types, 1, row, used, plan->length);
    fill(plan->features, sequence->features, info->input_size, row, used, plan->length);
    fill(plan->positions, sequence->positions, info->position_size, row, used, plan->length);
    if (plan->lengths) {
        plan->lengths[row] = (int32_t)sequence->read;
    }
}

uint32_t weft_text_plan_tensors(weft_host_tensor tensors[6], const struct weft_text_plan *plan,
                                const weft_model_info *info) {
    const uint64_t places = (uint64_t)plan->sequences * plan->length;
    const weft_host_tensor all[] = {
        {"output", plan->output, plan->values * sizeof(float)},
        {"features", plan->features, places * info->input_size * sizeof(float)},
        {"tokens", plan->tokens, places * sizeof(int32_t)},
        {"token_types", plan->types, places * sizeof(int32_t)},
        {"positions", plan->positions, places * info->position_size * sizeof(float)},
        {"lengths", plan->lengths, plan->sequences * sizeof(int32_t)}};
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i].data) {
            tensors[count++] = all[i];
        }
    }
    return count;
}
