/* SPDX-License-Identifier: MIT */
#include "model/files/stacked_weight.h"

#include <string.h>

#include "core/try.h"
#include "graph/graph.h"

struct stack {
    weft_host host;
    weft_weight **parts;
    uint32_t count;
    uint64_t elements; /* of a part */
    uint32_t rows;     /* the same */
};

/* ---- reading ---- */

typedef weft_status (*reader)(const weft_weight *weight, uint64_t first, uint64_t count, void *out);

static weft_status read_parts(const struct stack *stack, reader read, uint64_t first,
                              uint64_t count, size_t size, void *out) {
    char *at = out;
    while (count > 0) {
        const uint64_t within = first % stack->elements, left = stack->elements - within;
        const uint64_t some = left < count ? left : count;
        WEFT_TRY(read(stack->parts[first / stack->elements], within, some, at));
        first += some;
        count -= some;
        at += some * size;
    }
    return WEFT_OK;
}

static weft_status read_as_stored(void *user, uint64_t first, uint64_t count, void *out) {
    const struct stack *stack = user;
    return read_parts(stack, weft_weight_read_stored, first, count,
                      weft_weight_element_size(stack->parts[0]), out);
}

static weft_status read_floats(void *user, uint64_t first, uint64_t count, void *out) {
    return read_parts(user, weft_weight_read, first, count, sizeof(float), out);
}

static weft_status read_blocks(void *user, uint64_t first_row, uint64_t rows,
                               const struct weft_blocks *out) {
    const struct stack *stack = user;
    const uint64_t columns = stack->elements / stack->rows;
    const struct weft_block_form *form = weft_weight_blocks(stack->parts[0]);
    for (uint64_t done = 0; done < rows;) {
        const uint64_t row = first_row + done, within = row % stack->rows;
        const uint64_t left = stack->rows - within;
        const uint64_t some = left < rows - done ? left : rows - done;
        const struct weft_blocks at = weft_blocks_from(out, form, done * columns);
        WEFT_TRY(weft_weight_read_blocks(stack->parts[row / stack->rows], within, some, &at));
        done += some;
    }
    return WEFT_OK;
}

static void release(void *user) {
    struct stack *stack = user;
    const weft_host host = stack->host;
    for (uint32_t i = 0; i < stack->count; i++) {
        weft_weight_destroy(&stack->parts[i]);
    }
    weft_free(&host, stack->parts);
    weft_free(&host, stack);
}

/* ---- making ---- */

static bool are_stored_alike(const struct stack *stack) {
    const weft_weight *one = stack->parts[0];
    bool alike = !one->scales || !one->scale_columns;
    for (uint32_t i = 1; i < stack->count && alike; i++) {
        const weft_weight *other = stack->parts[i];
        alike = other->stored == one->stored && other->scale_columns == one->scale_columns;
    }
    return alike;
}

static const struct weft_block_form *common_form(const struct stack *stack) {
    const struct weft_block_form *form = weft_weight_blocks(stack->parts[0]);
    for (uint32_t i = 1; i < stack->count && form; i++) {
        form = weft_weight_blocks(stack->parts[i]) == form ? form : NULL;
    }
    return form;
}

/* Scales of all rows, if they have any: null without memory, too. */
static float *scales_of(const struct stack *stack) {
    float *scales = weft_alloc(&stack->host, (size_t)stack->count * stack->rows * sizeof *scales);
    for (uint32_t i = 0; scales && i < stack->count; i++) {
        memcpy(scales + (size_t)i * stack->rows, stack->parts[i]->scales,
               stack->rows * sizeof *scales);
    }
    return scales;
}

static weft_status create(weft_weight **out, struct stack *stack) {
    const weft_weight *one = stack->parts[0];
    const bool alike = are_stored_alike(stack);
    float *scales = alike && one->scales ? scales_of(stack) : NULL;
    if (alike && one->scales && !scales) {
        return weft_fail_memory(&stack->host, one->name);
    }
    const weft_status status = weft_weight_create_read(
        out,
        weft_weight_params(.name = one->name, .dtype = WEFT_F32,
                           .shape = weft_shape_of(stack->count * stack->rows, one->shape.dim[1]),
                           .release = release, .release_user = stack,
                           .stored = alike ? one->stored : WEFT_STORED_WHOLE, .scales = scales),
        alike ? read_as_stored : read_floats, &stack->host);
    weft_free(&stack->host, scales);
    if (status == WEFT_OK) {
        (*out)->blocks = common_form(stack);
        (*out)->read_blocks = read_blocks;
    }
    return status;
}

weft_status weft_weight_stack_of(weft_weight **out, weft_weight *const *parts, uint32_t count) {
    const weft_host *host = &parts[0]->host;
    struct stack *stack = weft_alloc_zero(host, 1, sizeof *stack);
    weft_weight **copy = weft_alloc_zero(host, count, sizeof(weft_weight *));
    if (!stack || !copy) {
        weft_free(host, stack);
        weft_free(host, copy);
        return weft_fail_memory(host, parts[0]->name);
    }
    *stack = (struct stack){.host = *host,
                            .parts = copy,
                            .count = count,
                            .elements = weft_shape_elements(parts[0]->shape),
                            .rows = parts[0]->shape.dim[0]};
    for (uint32_t i = 0; i < count; i++) {
        copy[i] = weft_weight_retain(parts[i]);
    }
    const weft_status status = create(out, stack);
    if (status != WEFT_OK) {
        release(stack);
    }
    return status;
}

weft_weight *const *weft_weight_stack_parts(uint32_t *count, const weft_weight *weight) {
    if (weight->release != release) {
        return NULL;
    }
    const struct stack *stack = weight->release_user;
    *count = stack->count;
    return stack->parts;
}
