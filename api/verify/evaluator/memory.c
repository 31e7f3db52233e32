/* SPDX-License-Identifier: MIT */
/* Addresses and memory: every access is checked against the bounds of what it is in. */
#include <string.h>

#include "verify/evaluator/execute.h"

/* The lane of the active invocation `item`. */
static inline uint32_t lane_at(const struct weft_eval_lanes *lanes, uint32_t item) {
    return lanes->dense ? lanes->first + item : lanes->list[item];
}

void weft_eval_op_index_element(struct weft_eval_group *group,
                                const struct weft_eval_instruction *instruction) {
    uint32_t *restrict d = weft_eval_row(group, instruction->d);
    const uint32_t *restrict base = weft_eval_row(group, instruction->a);
    const uint32_t *restrict index = weft_eval_row(group, instruction->b);
    const uint32_t stride = instruction->c;
    /* Up to here the product fits a word. */
    const uint32_t most = stride == 0 ? UINT32_MAX : UINT32_MAX / stride;
    const uint32_t end = instruction->e < most ? instruction->e : most;
    WEFT_EVAL_EACH(group, instruction, uint32_t sum = base[at] + index[at] * stride;
                   d[at] = index[at] < end && sum >= base[at] ? sum : WEFT_EVAL_OUTSIDE);
}

/* ---- slots ---- */

static bool fits_slots(struct weft_eval_group *group,
                       const struct weft_eval_instruction *instruction, uint32_t lane,
                       uint64_t offset) {
    if (offset + instruction->n <= instruction->e) {
        return true;
    }
    const struct weft_eval_fault fault = {
        .kind = WEFT_EVAL_FAULT_LOCAL, .lane = lane, .offset = offset, .size = instruction->n};
    weft_eval_fail(group, &fault);
    return false;
}

/* Copies n slots between d … and slot `offset` of the variable at c …, for one invocation. */
static inline void copy_slots(struct weft_eval_group *group,
                              const struct weft_eval_instruction *instruction, uint32_t lane,
                              bool gather) {
    uint64_t offset = (uint64_t)weft_eval_row(group, instruction->a)[lane] + instruction->b;
    if (!fits_slots(group, instruction, lane, offset)) {
        return;
    }
    for (uint32_t word = 0; word < instruction->n; word++) {
        uint32_t *value = weft_eval_row(group, instruction->d + word) + lane;
        uint32_t *place = weft_eval_row(group, instruction->c + (uint32_t)offset + word) + lane;
        *(gather ? value : place) = *(gather ? place : value);
    }
}

void weft_eval_op_gather(struct weft_eval_group *group,
                         const struct weft_eval_instruction *instruction) {
    for (uint32_t item = 0; item < group->active.count; item++) {
        copy_slots(group, instruction, lane_at(&group->active, item), true);
    }
}

void weft_eval_op_scatter(struct weft_eval_group *group,
                          const struct weft_eval_instruction *instruction) {
    for (uint32_t item = 0; item < group->active.count; item++) {
        copy_slots(group, instruction, lane_at(&group->active, item), false);
    }
}

/* ---- shared memory ---- */

/* The words that an invocation accesses, or null after a fault. */
static uint32_t *shared_words(struct weft_eval_group *group,
                              const struct weft_eval_instruction *instruction, uint32_t lane,
                              uint32_t count) {
    uint64_t offset = (uint64_t)weft_eval_row(group, instruction->a)[lane] + instruction->b;
    if (instruction->c + offset + count <= instruction->e) {
        return group->shared + instruction->c + offset;
    }
    const struct weft_eval_fault fault = {
        .kind = WEFT_EVAL_FAULT_SHARED, .lane = lane, .offset = offset, .size = count};
    weft_eval_fail(group, &fault);
    return NULL;
}

void weft_eval_op_load_shared(struct weft_eval_group *group,
                              const struct weft_eval_instruction *instruction) {
    for (uint32_t item = 0; item < group->active.count; item++) {
        uint32_t lane = lane_at(&group->active, item);
        const uint32_t *words = shared_words(group, instruction, lane, instruction->n);
        for (uint32_t word = 0; words && word < instruction->n; word++) {
            weft_eval_row(group, instruction->d + word)[lane] = words[word];
        }
    }
}

void weft_eval_op_store_shared(struct weft_eval_group *group,
                               const struct weft_eval_instruction *instruction) {
    for (uint32_t item = 0; item < group->active.count; item++) {
        uint32_t lane = lane_at(&group->active, item);
        uint32_t *words = shared_words(group, instruction, lane, instruction->n);
        for (uint32_t word = 0; words && word < instruction->n; word++) {
            words[word] = weft_eval_row(group, instruction->d + word)[lane];
        }
    }
}

/* ---- buffers and push constants ---- */

static void fail_buffer(struct weft_eval_group *group, enum weft_eval_fault_kind kind,
                        uint32_t binding, uint32_t lane, uint64_t offset, uint64_t size) {
    const struct weft_eval_fault fault = {
        .kind = kind, .lane = lane, .binding = binding, .offset = offset, .size = size};
    weft_eval_fail(group, &fault);
}

/* The bytes that an invocation accesses, or null after a fault. */
static inline uint8_t *buffer_bytes(struct weft_eval_group *group,
                                    const struct weft_eval_instruction *instruction, uint32_t lane,
                                    uint32_t size) {
    const struct weft_evaluated_range *range = &group->range[instruction->c];
    uint64_t offset = (uint64_t)weft_eval_row(group, instruction->a)[lane] + instruction->b;
    if (offset + size <= range->size) {
        return range->data + offset;
    }
    fail_buffer(group, WEFT_EVAL_FAULT_BUFFER, instruction->c, lane, offset, size);
    return NULL;
}

void weft_eval_op_load_buffer(struct weft_eval_group *group,
                              const struct weft_eval_instruction *instruction) {
    for (uint32_t item = 0; item < group->active.count; item++) {
        uint32_t lane = lane_at(&group->active, item);
        const uint8_t *bytes = buffer_bytes(group, instruction, lane, 4 * instruction->n);
        for (uint32_t word = 0; bytes && word < instruction->n; word++) {
            memcpy(weft_eval_row(group, instruction->d + word) + lane, bytes + (size_t)4 * word, 4);
        }
    }
}

/* Whether a binding may be written; else that is the fault. */
static bool is_writable(struct weft_eval_group *group,
                        const struct weft_eval_instruction *instruction) {
    bool writable = group->range[instruction->c].writable || group->active.count == 0;
    if (!writable) {
        uint32_t lane = lane_at(&group->active, 0);
        uint64_t offset = (uint64_t)weft_eval_row(group, instruction->a)[lane] + instruction->b;
        fail_buffer(group, WEFT_EVAL_FAULT_READ_ONLY, instruction->c, lane, offset, 4);
    }
    return writable;
}

void weft_eval_op_store_buffer(struct weft_eval_group *group,
                               const struct weft_eval_instruction *instruction) {
    if (!is_writable(group, instruction)) {
        return;
    }
    for (uint32_t item = 0; item < group->active.count; item++) {
        uint32_t lane = lane_at(&group->active, item);
        uint8_t *bytes = buffer_bytes(group, instruction, lane, 4 * instruction->n);
        for (uint32_t word = 0; bytes && word < instruction->n; word++) {
            memcpy(bytes + (size_t)4 * word, weft_eval_row(group, instruction->d + word) + lane, 4);
        }
    }
}

void weft_eval_op_array_length(struct weft_eval_group *group,
                               const struct weft_eval_instruction *instruction) {
    uint64_t size = group->range[instruction->c].size;
    uint64_t rest = size > instruction->b ? size - instruction->b : 0;
    uint32_t *restrict d = weft_eval_row(group, instruction->d);
    const uint32_t length = (uint32_t)(rest / instruction->e);
    WEFT_EVAL_EACH(group, instruction, d[at] = length);
}

/* ---- atomics: one invocation after another ---- */

static uint32_t atomic_result(enum weft_eval_atomic atomic, uint32_t old, uint32_t value,
                              uint32_t comparator) {
    switch (atomic) {
    case WEFT_EVAL_ATOMIC_LOAD:
        return old;
    case WEFT_EVAL_ATOMIC_EXCHANGE:
        return value;
    case WEFT_EVAL_ATOMIC_COMPARE_EXCHANGE:
        return old == comparator ? value : old;
    case WEFT_EVAL_ATOMIC_ADD:
        return old + value;
    case WEFT_EVAL_ATOMIC_S_MIN:
        return (int32_t)old < (int32_t)value ? old : value;
    case WEFT_EVAL_ATOMIC_U_MIN:
        return old < value ? old : value;
    case WEFT_EVAL_ATOMIC_S_MAX:
        return (int32_t)old > (int32_t)value ? old : value;
    case WEFT_EVAL_ATOMIC_U_MAX:
        return old > value ? old : value;
    case WEFT_EVAL_ATOMIC_AND:
        return old & value;
    case WEFT_EVAL_ATOMIC_OR:
        return old | value;
    case WEFT_EVAL_ATOMIC_XOR:
        return old ^ value;
    }
    return old;
}

/* For one invocation, on a word that need not be aligned. */
static void apply_atomic(struct weft_eval_group *group,
                         const struct weft_eval_instruction *instruction, uint32_t lane,
                         void *place) {
    uint32_t old;
    memcpy(&old, place, sizeof old);
    weft_eval_row(group, instruction->d)[lane] = old;
    uint32_t value = atomic_result((enum weft_eval_atomic)instruction->n, old,
                                   weft_eval_row(group, instruction->f)[lane],
                                   weft_eval_row(group, instruction->f + 1)[lane]);
    memcpy(place, &value, sizeof value);
}

void weft_eval_op_atomic_shared(struct weft_eval_group *group,
                                const struct weft_eval_instruction *instruction) {
    for (uint32_t item = 0; item < group->active.count; item++) {
        uint32_t lane = lane_at(&group->active, item);
        uint32_t *word = shared_words(group, instruction, lane, 1);
        if (word) {
            apply_atomic(group, instruction, lane, word);
        }
    }
}

void weft_eval_op_atomic_buffer(struct weft_eval_group *group,
                                const struct weft_eval_instruction *instruction) {
    if (instruction->n != WEFT_EVAL_ATOMIC_LOAD && !is_writable(group, instruction)) {
        return;
    }
    for (uint32_t item = 0; item < group->active.count; item++) {
        uint32_t lane = lane_at(&group->active, item);
        uint8_t *bytes = buffer_bytes(group, instruction, lane, 4);
        if (bytes) {
            apply_atomic(group, instruction, lane, bytes);
        }
    }
}
