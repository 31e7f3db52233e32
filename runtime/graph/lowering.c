/* SPDX-License-Identifier: MIT */
#include "graph/lowering.h"

#include <stdio.h>
#include <string.h>

weft_status weft_lower_status(const struct weft_lowering *lowering) {
    return lowering->status;
}

weft_status weft_lower_fail(struct weft_lowering *lowering, weft_status status) {
    if (lowering->status == WEFT_OK) {
        lowering->status = status;
    }
    return lowering->status;
}

static uint32_t add_storage(struct weft_lowering *lowering, const struct weft_storage *storage) {
    if (lowering->status != WEFT_OK) {
        return 0;
    }
    const weft_host *host = &lowering->device->host;
    if (!weft_grow(host, &lowering->storages, lowering->storage_count, &lowering->storage_capacity,
                   sizeof *lowering->storages)) {
        weft_lower_fail(lowering, weft_fail_memory(host, "a plan's storages"));
        return 0;
    }
    lowering->storages[lowering->storage_count] = *storage;
    return lowering->storage_count++;
}

static uint64_t value_bytes(const struct weft_lowering *lowering, uint32_t value) {
    return weft_shape_elements(lowering->graph->values[value].shape) * 4;
}

static uint32_t add_constant(struct weft_lowering *lowering, const char *key, uint64_t bytes,
                             weft_status (*fill)(void *user, void *data), void *user) {
    struct weft_storage storage = {.kind = WEFT_STORAGE_CONSTANT, .bytes = bytes};
    if (lowering->status != WEFT_OK) {
        return 0;
    }
    weft_status status =
        weft_constant_acquire(&storage.constant, lowering->device, key, bytes, fill, user);
    if (status != WEFT_OK) {
        weft_lower_fail(lowering, status);
        return 0;
    }
    for (uint32_t i = 0; i < lowering->storage_count; i++) {
        if (lowering->storages[i].constant == storage.constant) {
            weft_constant_release(&storage.constant);
            return i;
        }
    }
    uint32_t index = add_storage(lowering, &storage);
    if (lowering->status != WEFT_OK) {
        weft_constant_release(&storage.constant);
    }
    return index;
}

uint32_t weft_lower_value(struct weft_lowering *lowering, uint32_t value) {
    uint32_t root = weft_graph_storage_of(lowering->graph, value);
    if (lowering->storage_of[root] != UINT32_MAX) {
        return lowering->storage_of[root];
    }
    uint32_t index;
    weft_weight *weight = lowering->graph->values[root].weight;
    if (weight) {
        char key[48];
        snprintf(key, sizeof key, "weight/%llu", (unsigned long long)weight->uid);
        /* Cast: with fill null the pointer is only read. */
        index = add_constant(lowering, key, value_bytes(lowering, root), NULL,
                             (void *)(uintptr_t)weight->data);
    } else {
        struct weft_storage storage = {
            .kind = WEFT_STORAGE_ARENA, .bytes = value_bytes(lowering, root), .value = root};
        index = add_storage(lowering, &storage);
    }
    if (lowering->status == WEFT_OK) {
        lowering->storage_of[root] = index;
    }
    return index;
}

bool weft_lower_is_weight(const struct weft_lowering *lowering, uint32_t value) {
    return lowering->graph->values[value].weight != NULL;
}

/** Transposes in square blocks, so that both sides stay in the cache. */
static weft_status fill_transposed(void *user, void *data) {
    const size_t block = 32;
    const weft_weight *weight = user;
    const float *source = weight->data;
    float *target = data;
    size_t rows = weight->shape.dim[0];
    size_t columns = weight->shape.dim[1];
    for (size_t top = 0; top < rows; top += block) {
        size_t bottom = top + block < rows ? top + block : rows;
        for (size_t left = 0; left < columns; left += block) {
            size_t right = left + block < columns ? left + block : columns;
            for (size_t j = left; j < right; j++) {
                for (size_t i = top; i < bottom; i++) {
                    target[j * rows + i] = source[i * columns + j];
                }
            }
        }
    }
    return WEFT_OK;
}

uint32_t weft_lower_transposed_weight(struct weft_lowering *lowering, uint32_t value) {
    weft_weight *weight = lowering->graph->values[value].weight;
    char key[64];
    snprintf(key, sizeof key, "weight/%llu/transposed", (unsigned long long)weight->uid);
    return add_constant(lowering, key, value_bytes(lowering, value), fill_transposed, weight);
}

uint32_t weft_lower_scratch(struct weft_lowering *lowering, uint64_t bytes) {
    struct weft_storage storage = {.kind = WEFT_STORAGE_ARENA, .bytes = bytes};
    return add_storage(lowering, &storage);
}

uint32_t weft_lower_table(struct weft_lowering *lowering, const char *key, uint64_t bytes,
                          weft_status (*fill)(void *user, void *data), void *user) {
    return add_constant(lowering, key, bytes, fill, user);
}

struct weft_dispatch *weft_lower_dispatch(struct weft_lowering *lowering, const char *shader) {
    const weft_host *host = &lowering->device->host;
    memset(&lowering->discarded, 0, sizeof lowering->discarded);
    if (lowering->status != WEFT_OK) {
        return &lowering->discarded;
    }
    if (!weft_grow(host, &lowering->dispatches, lowering->dispatch_count,
                   &lowering->dispatch_capacity, sizeof *lowering->dispatches)) {
        weft_lower_fail(lowering, weft_fail_memory(host, "a plan's dispatches"));
        return &lowering->discarded;
    }
    struct weft_dispatch *dispatch = &lowering->dispatches[lowering->dispatch_count++];
    memset(dispatch, 0, sizeof *dispatch);
    dispatch->pipeline.name = shader;
    memcpy(dispatch->label, lowering->label, sizeof dispatch->label);
    return dispatch;
}

static void bind(struct weft_dispatch *dispatch, uint32_t storage, bool write) {
    dispatch->operand[dispatch->operand_count++] =
        (struct weft_operand){.storage = storage, .write = write};
}

void weft_dispatch_read(struct weft_dispatch *dispatch, uint32_t storage) {
    bind(dispatch, storage, false);
}

void weft_dispatch_write(struct weft_dispatch *dispatch, uint32_t storage) {
    bind(dispatch, storage, true);
}

void weft_dispatch_specialize(struct weft_dispatch *dispatch, uint32_t value) {
    dispatch->pipeline.specialization[dispatch->pipeline.specialization_count++] = value;
}

void weft_dispatch_push_u32(struct weft_dispatch *dispatch, uint32_t value) {
    memcpy(dispatch->push + dispatch->push_size, &value, sizeof value);
    dispatch->push_size += (uint32_t)sizeof value;
}

void weft_dispatch_push_f32(struct weft_dispatch *dispatch, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    weft_dispatch_push_u32(dispatch, bits);
}

static void spread_groups(struct weft_dispatch *dispatch, uint64_t groups) {
    const uint64_t max_x = 65535;
    uint64_t y = (groups + max_x - 1) / max_x;
    dispatch->groups[0] = (uint32_t)((groups + y - 1) / y);
    dispatch->groups[1] = (uint32_t)y;
    dispatch->groups[2] = 1;
}

void weft_dispatch_items(struct weft_dispatch *dispatch, uint64_t count) {
    spread_groups(dispatch, (count + WEFT_ITEMS_PER_GROUP - 1) / WEFT_ITEMS_PER_GROUP);
    weft_dispatch_push_u32(dispatch, (uint32_t)count);
    weft_dispatch_push_u32(dispatch, dispatch->groups[0]);
}

void weft_dispatch_rows(struct weft_dispatch *dispatch, struct weft_rows rows) {
    spread_groups(dispatch, rows.rows);
    weft_dispatch_push_u32(dispatch, (uint32_t)rows.rows);
    weft_dispatch_push_u32(dispatch, rows.columns);
    weft_dispatch_push_u32(dispatch, dispatch->groups[0]);
}
