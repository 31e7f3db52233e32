/* SPDX-License-Identifier: MIT */
#include "lower/cut.h"

#include <stdio.h>
#include <string.h>

uint64_t weft_cut_alignment(const struct weft_lowering *lowering) {
    const uint64_t four = 4 * sizeof(float);
    const uint64_t least = lowering->device->limits.minStorageBufferOffsetAlignment;
    return least > four ? least : four; /* powers of two */
}

uint64_t weft_cut_limit(const struct weft_lowering *lowering) {
    const uint64_t alignment = weft_cut_alignment(lowering);
    return lowering->device->limits.maxStorageBufferRange / alignment * alignment;
}

static uint64_t bytes_of(const struct weft_lowering *lowering, uint32_t value) {
    return value ? weft_value_bytes(&lowering->graph->values[value]) : 0;
}

/* The tensors of a node: its inputs, its output, and what was fused into it. */
#define MOST_VALUES (WEFT_MAX_NODE_INPUTS + 5)
static uint32_t values_of(uint32_t values[MOST_VALUES], const struct weft_node *node) {
    const struct weft_epilogue *epilogue = &node->epilogue;
    memcpy(values, node->input, node->input_count * sizeof *values);
    const uint32_t others[] = {node->output, epilogue->bias, epilogue->residual, epilogue->gamma,
                               epilogue->beta};
    memcpy(values + node->input_count, others, sizeof others);
    return node->input_count + 5;
}

static uint32_t largest_value(const struct weft_lowering *lowering, const struct weft_node *node) {
    uint32_t values[MOST_VALUES];
    const uint32_t count = values_of(values, node);
    uint32_t largest = node->output;
    for (uint32_t i = 0; i < count; i++) {
        if (bytes_of(lowering, values[i]) > bytes_of(lowering, largest)) {
            largest = values[i];
        }
    }
    return largest;
}

uint64_t weft_cut_largest(const struct weft_lowering *lowering, const struct weft_node *node) {
    return bytes_of(lowering, largest_value(lowering, node));
}

/* ---- parts of values ---- */

static uint32_t add_value(struct weft_lowering *lowering, const struct weft_value *value) {
    weft_tensor added = {0};
    weft_lower_fail(lowering, weft_graph_add_value(&added, lowering->graph, value));
    if (lowering->status == WEFT_OK &&
        !weft_grow(&lowering->device->host, &lowering->storage_of, added.id, &lowering->value_room,
                   sizeof *lowering->storage_of)) {
        weft_lower_fail(lowering, weft_fail_memory(&lowering->device->host, "a plan's values"));
    }
    if (lowering->status == WEFT_OK) {
        lowering->storage_of[added.id] = UINT32_MAX;
    }
    return added.id;
}

static uint32_t cut_weight(struct weft_lowering *lowering, weft_weight *whole, uint64_t first,
                           weft_shape shape) {
    struct weft_value value = {.dtype = whole->dtype, .shape = shape, .source = WEFT_VALUE_WEIGHT};
    weft_lower_fail(lowering, weft_weight_part_of(&value.weight, whole, first, shape));
    if (lowering->status != WEFT_OK) {
        return 0;
    }
    const uint32_t added = add_value(lowering, &value);
    if (added == 0) {
        weft_weight_destroy(&value.weight);
    }
    return added;
}

uint32_t weft_cut_value(struct weft_lowering *lowering, uint32_t value, uint64_t first,
                        weft_shape shape, uint32_t stride) {
    const weft_graph *graph = lowering->graph;
    if (lowering->status != WEFT_OK) {
        return 0;
    }
    const uint32_t root = weft_graph_storage_of(graph, value);
    const struct weft_value *whole = &graph->values[root];
    if (whole->weight && stride == 0) {
        return cut_weight(lowering, whole->weight, first, shape);
    }
    const bool nested = whole->source == WEFT_VALUE_PART;
    const struct weft_value part = {.dtype = whole->dtype,
                                    .shape = shape,
                                    .source = WEFT_VALUE_PART,
                                    .part_of = nested ? whole->part_of : root,
                                    .first = first + (nested ? whole->first : 0),
                                    .stride = stride};
    return add_value(lowering, &part);
}

/* ---- along axes ---- */

uint64_t weft_cut_step(const struct weft_lowering *lowering, uint64_t slice_bytes) {
    uint64_t step = 1;
    while (step * slice_bytes % weft_cut_alignment(lowering) != 0) {
        step *= 2;
    }
    return step;
}

uint64_t weft_cut_count(const struct weft_lowering *lowering, uint64_t count, uint64_t step,
                        uint64_t slice_bytes) {
    const uint64_t limit = weft_cut_limit(lowering);
    const uint64_t fitting = limit / slice_bytes / step * step;
    return fitting == 0 ? step : fitting < count ? fitting : count;
}

uint32_t weft_cut_sequence(const struct weft_lowering *lowering, uint32_t operations,
                           double turns) {
    enum { MOST_OPERATIONS = 1 << 26, MOST_STEPS = 4096 };
    const uint32_t most_turns = lowering->device->most_turns;
    uint32_t steps = MOST_OPERATIONS / operations;
    steps = steps < MOST_STEPS ? steps : MOST_STEPS;
    if (most_turns > 0 && steps * turns > most_turns) {
        steps = (uint32_t)(most_turns / turns);
    }
    return steps > 0 ? steps : 1; /* which refuse_turns sees */
}

/* A way to cut a node, as far as it is known. */
struct slices {
    uint32_t axes;  /* of the output, that are cut as one */
    uint64_t count; /* what they count */
    uint64_t step;
    uint64_t bytes; /* of a slice of the largest tensor that is cut */
    uint32_t inputs;
};

/* Axes from the first on that count as much as `count` together; 0: there are none. */
static uint32_t leading_axes(weft_shape shape, uint64_t count) {
    uint64_t product = 1;
    for (uint32_t i = 0; i < shape.rank; i++) {
        product *= shape.dim[i];
        if (product == count) {
            return i + 1;
        }
    }
    return 0;
}

/* Notes a tensor that is cut; false when it cannot be. */
static bool add_sliced(struct slices *slices, const struct weft_lowering *lowering,
                       uint32_t index) {
    const struct weft_value *value = &lowering->graph->values[index];
    if (leading_axes(value->shape, slices->count) == 0 || value->stride != 0) {
        return false;
    }
    const uint64_t bytes =
        weft_shape_elements(value->shape) / slices->count * weft_dtype_size(value->dtype);
    const uint64_t step = weft_cut_step(lowering, bytes);
    slices->step = step > slices->step ? step : slices->step; /* powers of two */
    slices->bytes = bytes > slices->bytes ? bytes : slices->bytes;
    return true;
}

static bool is_possible(const struct weft_cut *cut, const struct weft_node *node,
                        const weft_shape *output) {
    return !(cut->one && output->dim[0] != 1) &&
           !(cut->without && weft_node_has_input(node, cut->without));
}

static bool find_slices(struct slices *slices, const struct weft_lowering *lowering,
                        const struct weft_node *node, const struct weft_cut *cut) {
    const weft_shape *output = &lowering->graph->values[node->output].shape;
    const uint32_t whole =
        cut->as ? weft_node_shape(lowering->graph, node, cut->as)->rank : cut->whole;
    *slices = (struct slices){.count = 1, .step = 1, .inputs = cut->inputs};
    slices->axes = cut->axes ? cut->axes : output->rank > whole ? output->rank - whole : 0;
    for (uint32_t i = 0; i < slices->axes && i < output->rank; i++) {
        slices->count *= output->dim[i];
    }
    bool possible = is_possible(cut, node, output) && slices->count > 1 &&
                    add_sliced(slices, lowering, node->output);
    for (uint32_t i = 0; i < node->input_count && possible; i++) {
        if ((cut->inputs >> i & 1) != 0 && node->input[i]) {
            possible = add_sliced(slices, lowering, node->input[i]);
        }
    }
    if (possible && node->epilogue.residual) {
        possible = add_sliced(slices, lowering, node->epilogue.residual);
    }
    return possible;
}

/* Slices `first` to first + count - 1: their axes become one, behind others that count 1. */
static uint32_t cut_slices(struct weft_lowering *lowering, uint32_t value,
                           const struct slices *slices, uint64_t first, uint64_t count) {
    if (value == 0) {
        return 0;
    }
    weft_shape shape = lowering->graph->values[value].shape;
    const uint64_t slice = weft_shape_elements(shape) / slices->count;
    const uint32_t axes = leading_axes(shape, slices->count);
    for (uint32_t i = 0; i + 1 < axes; i++) {
        shape.dim[i] = 1;
    }
    shape.dim[axes - 1] = (uint32_t)count;
    return weft_cut_value(lowering, value, first * slice, shape, 0);
}

static void lower_slices(struct weft_lowering *lowering, const struct weft_node *node,
                         const struct slices *slices, uint64_t first, uint64_t count) {
    struct weft_node part = *node;
    for (uint32_t i = 0; i < node->input_count; i++) {
        if ((slices->inputs >> i & 1) != 0) {
            part.input[i] = cut_slices(lowering, node->input[i], slices, first, count);
        }
    }
    part.output = cut_slices(lowering, node->output, slices, first, count);
    part.epilogue.residual = cut_slices(lowering, node->epilogue.residual, slices, first, count);
    weft_lower_node(lowering, &part);
}

bool weft_cut_along(struct weft_lowering *lowering, const struct weft_node *node,
                    const struct weft_cut *cuts) {
    const bool large = weft_cut_largest(lowering, node) > weft_cut_limit(lowering);
    struct slices slices = {0};
    uint64_t count = 0;
    bool found = false;
    for (; cuts->axes || cuts->inputs; cuts++) {
        if (!find_slices(&slices, lowering, node, cuts)) {
            continue;
        }
        /* The implementation's scratch memory may be the part that is too large: halve the slices then. */
        count = large ? weft_cut_count(lowering, slices.count, slices.step, slices.bytes)
                      : (slices.count / 2 + slices.step - 1) / slices.step * slices.step;
        if (count < slices.count) {
            found = true;
            break;
        }
    }
    for (uint64_t first = 0; found && first < slices.count && lowering->status == WEFT_OK;
         first += count) {
        const uint64_t left = slices.count - first;
        lower_slices(lowering, node, &slices, first, left < count ? left : count);
    }
    return found;
}

/* ---- nodes ---- */

static void name_value(char *text, size_t size, const struct weft_lowering *lowering,
                       uint32_t value) {
    const struct weft_value *found = &lowering->graph->values[value];
    const char *name = found->weight ? found->weight->name : found->name;
    if (name) {
        snprintf(text, size, "'%s'", name);
    } else {
        snprintf(text, size, "%%%u", value);
    }
}

static void refuse_groups(struct weft_lowering *lowering, const struct weft_node *node,
                          const uint32_t groups[3]) {
    char shape[WEFT_SHAPE_TEXT_SIZE];
    const uint32_t axis = weft_lower_crowded_axis(lowering, groups);
    weft_lower_fail(
        lowering,
        weft_fail(
            &lowering->device->host, WEFT_UNSUPPORTED,
            "%s of %s: a kernel has %u workgroups along %c, the most are %u, and it cannot be "
            "computed in smaller parts",
            lowering->label, weft_shape_text(lowering->graph->values[node->output].shape, shape),
            groups[axis], "xyz"[axis], weft_lower_most_groups(lowering, axis)));
}

static void refuse(struct weft_lowering *lowering, const struct weft_node *node, uint64_t scratch) {
    char name[80];
    char shape[WEFT_SHAPE_TEXT_SIZE];
    const uint32_t value = largest_value(lowering, node);
    const uint64_t bytes = bytes_of(lowering, value);
    const uint64_t limit = weft_cut_limit(lowering);
    name_value(name, sizeof name, lowering, value);
    if (bytes <= limit) {
        snprintf(name, sizeof name, "what it needs besides");
    }
    weft_lower_fail(
        lowering, weft_fail(&lowering->device->host, WEFT_UNSUPPORTED,
                            "%s of %s: %s has %llu bytes, %s can bind %llu at once, and it cannot "
                            "be computed in smaller parts",
                            lowering->label,
                            weft_shape_text(lowering->graph->values[node->output].shape, shape),
                            name, (unsigned long long)(bytes > limit ? bytes : scratch),
                            lowering->device->info.name, (unsigned long long)limit));
}

/*
 * Refuses a kernel whose loops a driver would end before they are done: it gives no error, and what it computes is wrong. Mesa 22.3's llvmpipe
 * ends every loop of an invocation after 65,535 turns of all of them.
 */
static void refuse_turns(struct weft_lowering *lowering, const struct weft_node *node,
                         uint32_t first) {
    const weft_device *device = lowering->device;
    char shape[WEFT_SHAPE_TEXT_SIZE];
    if (device->most_turns == 0 || lowering->status != WEFT_OK) {
        return;
    }
    for (uint32_t d = first; d < lowering->dispatch_count; d++) {
        const double turns = lowering->dispatches[d].turns;
        if (turns > device->most_turns) {
            weft_lower_fail(
                lowering,
                weft_fail(&device->host, WEFT_UNSUPPORTED,
                          "%s of %s: its loops may make %.0f turns; the driver of %s ends loops "
                          "after %u, and results would be wrong",
                          lowering->label,
                          weft_shape_text(lowering->graph->values[node->output].shape, shape),
                          turns, device->info.name, device->most_turns));
            return;
        }
    }
}

/* How far a lowering has got. */
struct mark {
    uint32_t dispatches, storages, stored;
};

static struct mark mark_of(const struct weft_lowering *lowering) {
    return (struct mark){.dispatches = lowering->dispatch_count,
                         .storages = lowering->storage_count,
                         .stored = lowering->stored_count};
}

/* Takes back what was added since. */
static void take_back(struct weft_lowering *lowering, const struct mark *mark) {
    for (uint32_t i = mark->storages; i < lowering->storage_count; i++) {
        weft_constant_release(&lowering->storages[i].constant);
    }
    for (uint32_t i = mark->stored; i < lowering->stored_count; i++) {
        lowering->storage_of[lowering->stored[i]] = UINT32_MAX;
    }
    lowering->storage_count = mark->storages;
    lowering->dispatch_count = mark->dispatches;
    lowering->stored_count = mark->stored;
    lowering->row_bytes.root = 0;
}

/* The most that one of the dispatches from `first` on binds at once. */
static uint64_t largest_range(const struct weft_lowering *lowering, uint32_t first) {
    uint64_t largest = 0;
    for (uint32_t d = first; d < lowering->dispatch_count; d++) {
        const struct weft_dispatch *dispatch = &lowering->dispatches[d];
        for (uint32_t i = 0; i < dispatch->operand_count; i++) {
            const struct weft_operand *operand = &dispatch->operand[i];
            const uint64_t left = lowering->storages[operand->storage].bytes - operand->offset;
            const uint64_t bytes = operand->range ? operand->range : left;
            largest = bytes > largest ? bytes : largest;
        }
    }
    return largest;
}

/* The dispatch from `first` on that has more workgroups along an axis than the device takes, or null. */
static const struct weft_dispatch *find_crowded(const struct weft_lowering *lowering,
                                                uint32_t first) {
    for (uint32_t d = first; d < lowering->dispatch_count; d++) {
        if (weft_lower_crowded_axis(lowering, lowering->dispatches[d].groups) < 3) {
            return &lowering->dispatches[d];
        }
    }
    return NULL;
}

static bool lower_parts(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_op *op = node->op;
    return (op->lower_parts && op->lower_parts(lowering, node)) ||
           (op->cuts && weft_cut_along(lowering, node, op->cuts));
}

static void lower_whole_or_parts(struct weft_lowering *lowering, const struct weft_node *node) {
    const uint64_t limit = weft_cut_limit(lowering);
    const struct mark mark = mark_of(lowering);
    uint64_t range = 0;
    uint32_t groups[3] = {0}; /* too many */
    if (lowering->status != WEFT_OK) {
        return;
    }
    if (weft_cut_largest(lowering, node) <= limit) {
        weft_lower_fail(lowering, node->implementation->lower(lowering, node));
        range = largest_range(lowering, mark.dispatches);
        const struct weft_dispatch *crowded = find_crowded(lowering, mark.dispatches);
        if (lowering->status != WEFT_OK || (range <= limit && !crowded)) {
            return;
        }
        if (crowded) {
            memcpy(groups, crowded->groups, sizeof groups);
        }
        take_back(lowering, &mark);
    }
    if (lower_parts(lowering, node) || lowering->status != WEFT_OK) {
        return;
    }
    if (groups[0] + groups[1] + groups[2] > 0 && range <= limit) {
        refuse_groups(lowering, node, groups);
    } else {
        refuse(lowering, node, range);
    }
}

void weft_lower_node(struct weft_lowering *lowering, const struct weft_node *node) {
    const uint32_t first = lowering->dispatch_count;
    lower_whole_or_parts(lowering, node);
    refuse_turns(lowering, node, first);
}
