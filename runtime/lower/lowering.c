/* SPDX-License-Identifier: MIT */
#include "lower/lowering.h"
#include "core/given.h"
#include "core/try.h"

#include <stdio.h>
#include <string.h>

const weft_graph *weft_lower_graph(const weft_lowering *lowering) {
    return lowering ? lowering->graph : NULL;
}

weft_device *weft_lower_device(const weft_lowering *lowering) {
    return lowering ? lowering->device : NULL;
}

weft_status weft_lower_status(const struct weft_lowering *lowering) {
    WEFT_ENTER;
    return lowering ? lowering->status : WEFT_INVALID_ARGUMENT;
}

weft_status weft_lower_fail(struct weft_lowering *lowering, weft_status status) {
    WEFT_ENTER;
    if (!lowering) {
        return WEFT_INVALID_ARGUMENT;
    }
    if (lowering->status == WEFT_OK) {
        lowering->status = status;
    }
    return lowering->status;
}

/** True if a callback gave a lowering and this pointer; if not, that is the lowering's error. */
static bool is_given(struct weft_lowering *lowering, const char *function, const char *name,
                     const void *pointer) {
    return lowering && weft_lower_fail(lowering, weft_check_given(&lowering->device->host, function,
                                                                  name, &pointer, 1)) == WEFT_OK;
}

bool weft_lower_countable(struct weft_lowering *lowering, double count, const char *what) {
    if (count <= (double)INT32_MAX) {
        return true;
    }
    weft_lower_fail(lowering, weft_fail(&lowering->device->host, WEFT_UNSUPPORTED,
                                        "%s: %.0f %s, more than %d", lowering->label, count, what,
                                        INT32_MAX));
    return false;
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

uint32_t weft_lower_part(struct weft_lowering *lowering, uint32_t storage, uint64_t offset,
                         uint64_t bytes) {
    const struct weft_storage part = {
        .is_part = true, .whole = storage, .offset = offset, .bytes = bytes};
    return add_storage(lowering, &part);
}

struct weft_operand weft_lower_operand(const struct weft_lowering *lowering, uint32_t storage,
                                       uint64_t offset, uint64_t range) {
    struct weft_operand operand = {.storage = storage, .offset = offset, .range = range};
    while (operand.storage < lowering->storage_count &&
           lowering->storages[operand.storage].is_part) {
        const struct weft_storage *part = &lowering->storages[operand.storage];
        operand.range = operand.range ? operand.range : part->bytes - operand.offset;
        operand.offset += part->offset;
        operand.storage = part->whole;
    }
    return operand;
}

static uint64_t value_bytes(const struct weft_lowering *lowering, uint32_t value) {
    return weft_value_bytes(&lowering->graph->values[value]);
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
    const weft_host *host = &lowering->device->host;
    const void *constant = storage.constant;
    const uint32_t found =
        weft_index_find(&lowering->constants, (const void *)&constant, sizeof constant);
    if (found < lowering->storage_count && lowering->storages[found].constant == storage.constant) {
        weft_constant_release(&storage.constant);
        return found;
    }
    if (!weft_index_set(&lowering->constants, (const void *)&constant, sizeof constant,
                        lowering->storage_count, host)) {
        weft_lower_fail(lowering, weft_fail_memory(host, "a plan's storages"));
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
    if (lowering->graph->values[root].source == WEFT_VALUE_PART) {
        const struct weft_value *part = &lowering->graph->values[root];
        const uint32_t whole = weft_lower_value(lowering, part->part_of);
        index = weft_lower_part(lowering, whole, part->first * weft_dtype_size(part->dtype),
                                value_bytes(lowering, root));
    } else if (weight) {
        char key[48];
        snprintf(key, sizeof key, "weight/%llu", (unsigned long long)weight->uid);
        index = add_constant(lowering, key, value_bytes(lowering, root), NULL, weight);
    } else {
        struct weft_storage storage = {
            .kind = WEFT_STORAGE_ARENA, .bytes = value_bytes(lowering, root), .value = root};
        index = add_storage(lowering, &storage);
    }
    if (lowering->status == WEFT_OK &&
        !weft_grow(&lowering->device->host, &lowering->stored, lowering->stored_count,
                   &lowering->stored_room, sizeof *lowering->stored)) {
        weft_lower_fail(lowering, weft_fail_memory(&lowering->device->host, "a plan's values"));
    }
    if (lowering->status == WEFT_OK) {
        lowering->storage_of[root] = index;
        lowering->stored[lowering->stored_count++] = root;
    }
    return index;
}

uint32_t weft_lower_optional(struct weft_lowering *lowering, uint32_t value) {
    return value ? weft_lower_value(lowering, value) : WEFT_NO_STORAGE;
}

uint32_t weft_lower_input(weft_lowering *lowering, const weft_node *node, uint32_t input) {
    if (!is_given(lowering, "weft_lower_input", "node", node)) {
        return WEFT_NO_STORAGE;
    }
    return weft_lower_optional(lowering, weft_node_has_input(node, input) ? node->input[input] : 0);
}

uint32_t weft_lower_output(weft_lowering *lowering, const weft_node *node) {
    return is_given(lowering, "weft_lower_output", "node", node)
               ? weft_lower_value(lowering, node->output)
               : WEFT_NO_STORAGE;
}

/** Transposes in square blocks, so that both sides stay in the cache. */
static weft_status fill_transposed(void *user, void *data) {
    const size_t block = 32;
    const weft_weight *weight = user;
    struct weft_weight_view view;
    WEFT_TRY(weft_weight_view_open(&view, weight));
    const float *source = view.data;
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
    weft_weight_view_close(&view, weight);
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
    return lowering ? add_storage(lowering, &storage) : WEFT_NO_STORAGE;
}

uint32_t weft_lower_table(struct weft_lowering *lowering, const char *key, uint64_t bytes,
                          weft_status (*fill)(void *user, void *data), void *user) {
    const bool given = is_given(lowering, "weft_lower_table", "key", key) &&
                       is_given(lowering, "weft_lower_table", "fill", fill ? lowering : NULL);
    return given ? add_constant(lowering, key, bytes, fill, user) : WEFT_NO_STORAGE;
}

struct weft_grid weft_grid_of_items(uint64_t count) {
    return (struct weft_grid){.items = count};
}

struct weft_grid weft_grid_of_groups(uint64_t count) {
    return (struct weft_grid){.groups = count};
}

struct weft_grid weft_grid_of_rows(uint64_t rows, uint32_t items) {
    enum { ITEMS_PER_GROUP = 128 }; /* WEFT_ITEMS_PER_GROUP */
    return weft_grid_of_groups(rows * ((items - 1) / ITEMS_PER_GROUP + 1));
}

bool weft_lower_on_processor(const struct weft_lowering *lowering) {
    return lowering->device->cost_column == WEFT_COST_PROCESSOR;
}

bool weft_lower_by_rows(const struct weft_lowering *lowering, uint32_t items) {
    enum { LEAST = 24 };
    return weft_lower_on_processor(lowering) && items >= LEAST;
}

struct weft_grid weft_grid_of(uint32_t x, uint32_t y, uint32_t z) {
    return (struct weft_grid){.extent = {x, y, z}};
}

struct weft_grid weft_grid_of_first_items(const struct weft_variant *variant, const void *args,
                                          uint32_t batches) {
    (void)variant, (void)batches;
    return weft_grid_of_items(*(const uint32_t *)args);
}

struct weft_grid weft_grid_of_first_groups(const struct weft_variant *variant, const void *args,
                                           uint32_t batches) {
    (void)variant, (void)batches;
    return weft_grid_of_groups(*(const uint32_t *)args);
}

struct weft_grid weft_grid_of_batches(const struct weft_variant *variant, const void *args,
                                      uint32_t batches) {
    (void)variant, (void)args;
    return weft_grid_of_groups(batches);
}

struct weft_dispatch *weft_lower_dispatch(struct weft_lowering *lowering) {
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
    memcpy(dispatch->label, lowering->label, sizeof dispatch->label);
    return dispatch;
}

uint32_t weft_lower_most_groups(const struct weft_lowering *lowering, uint32_t axis) {
    const uint32_t most = lowering->device->limits.maxComputeWorkGroupCount[axis];
    return most < WEFT_MAX_GROUPS ? most : WEFT_MAX_GROUPS;
}

/** In x, and in y where there are too many for that. */
static void spread_groups(uint32_t extent[3], uint64_t groups, uint64_t most) {
    const uint64_t y = (groups + most - 1) / most;
    extent[0] = (uint32_t)((groups + y - 1) / y);
    extent[1] = (uint32_t)y;
    extent[2] = 1;
}

void weft_lower_groups(uint32_t groups[3], const struct weft_lowering *lowering,
                       const struct weft_shader_interface *interface, struct weft_grid grid) {
    const uint32_t size = interface->local_size[0];
    memcpy(groups, grid.extent, sizeof grid.extent);
    if (grid.items > 0 || grid.groups > 0) {
        spread_groups(groups, grid.items > 0 ? (grid.items + size - 1) / size : grid.groups,
                      weft_lower_most_groups(lowering, 0));
    }
}

uint32_t weft_lower_crowded_axis(const struct weft_lowering *lowering, const uint32_t groups[3]) {
    uint32_t axis = 0;
    while (axis < 3 && groups[axis] <= weft_lower_most_groups(lowering, axis)) {
        axis++;
    }
    return axis;
}

static void launch(const struct weft_lowering *lowering, struct weft_dispatch *dispatch,
                   const struct weft_shader_interface *interface, struct weft_grid grid) {
    weft_lower_groups(dispatch->groups, lowering, interface, grid);
    if (interface->groups_x != UINT32_MAX) {
        memcpy(dispatch->push + interface->groups_x, &dispatch->groups[0],
               sizeof dispatch->groups[0]);
    }
}

static void bind(struct weft_lowering *lowering, struct weft_dispatch *dispatch,
                 const struct weft_shader_interface *interface, const uint32_t *storages) {
    const struct weft_shader_field *binding = weft_shader_bindings(interface);
    uint32_t some = WEFT_NO_STORAGE; /* is bound where the shader touches nothing */
    for (uint32_t i = 0; i < interface->binding_count && some == WEFT_NO_STORAGE; i++) {
        some = storages[i];
    }
    for (uint32_t i = 0; i < interface->binding_count; i++) {
        const bool none = storages[i] == WEFT_NO_STORAGE;
        const uint32_t storage = none ? some : storages[i];
        if (storage >= lowering->storage_count) {
            weft_lower_fail(lowering,
                            weft_fail(&lowering->device->host, WEFT_INVALID_ARGUMENT,
                                      "%s: kernel %s: '%s' is no storage of this plan",
                                      lowering->label, dispatch->kernel->name, binding[i].name));
            return;
        }
        dispatch->operand[i] = weft_lower_operand(lowering, storage, 0, 0);
        dispatch->operand[i].write = !none && binding[i].writes;
    }
    dispatch->operand_count = interface->binding_count;
}

/** Constants without a field (FIXED_) keep the shader's value; places between two are no constant of the module. */
static void specialize(struct weft_pipeline_desc *pipeline,
                       const struct weft_shader_interface *interface, const uint32_t *constants,
                       const uint32_t *tiles) {
    const struct weft_shader_field *field = weft_shader_constants(interface);
    for (uint32_t i = 0; i < interface->constant_count + interface->tile_count; i++) {
        const bool tile = i >= interface->constant_count;
        const uint32_t given = !tile   ? constants[i]
                               : tiles ? tiles[i - interface->constant_count]
                                       : 0;
        pipeline->specialization[field[i].place] = tile && given == 0 ? field[i].value : given;
        if (pipeline->specialization_count <= field[i].place) {
            pipeline->specialization_count = field[i].place + 1;
        }
    }
}

struct weft_dispatch *weft_lower_kernel(struct weft_lowering *lowering,
                                        const struct weft_shader *kernel, const uint32_t *tiles,
                                        struct weft_grid grid, const void *args) {
    const struct weft_shader_interface *interface = &kernel->interface;
    const uint32_t *words = args;
    struct weft_dispatch *dispatch = weft_lower_dispatch(lowering);
    if (lowering->status != WEFT_OK) {
        return dispatch;
    }
    dispatch->kernel = kernel;
    dispatch->pipeline.name = kernel->name;
    dispatch->pipeline.spirv = kernel->given;
    dispatch->pipeline.checked = kernel->checked;
    dispatch->push_size = interface->push_size;
    memcpy(dispatch->push, words, interface->push_size);
    words += interface->push_count;
    bind(lowering, dispatch, interface, words);
    words += interface->binding_count;
    specialize(&dispatch->pipeline, interface, words, tiles);
    launch(lowering, dispatch, interface, grid);
    return dispatch;
}
