/* SPDX-License-Identifier: MIT */
/* The order pass: a barrier exactly where a dispatch touches memory that one since the last barrier wrote or reads. */
#include "plan/passes.h"

/** Memory that a dispatch touches: arena offsets are comparable with each other, the others by storage alone. */
struct touched {
    enum weft_storage_kind kind;
    uint32_t port; /* UINT32_MAX in the arena */
    uint64_t begin, end;
    bool write;
};

static struct touched touch(const struct weft_lowering *lowering,
                            const struct weft_operand *operand) {
    const struct weft_storage *storage = &lowering->storages[operand->storage];
    const uint64_t start =
        (storage->kind == WEFT_STORAGE_ARENA ? storage->offset : 0) + operand->offset;
    const uint64_t bytes = operand->range ? operand->range : storage->bytes - operand->offset;
    return (struct touched){.kind = storage->kind,
                            .port = storage->kind == WEFT_STORAGE_PORT ? storage->port : UINT32_MAX,
                            .begin = start,
                            .end = start + bytes,
                            .write = operand->write};
}

static bool conflict(const struct touched *a, const struct touched *b) {
    return (a->write || b->write) && a->kind == b->kind && a->port == b->port &&
           a->begin < b->end && b->begin < a->end;
}

static bool dispatches_conflict(const struct weft_lowering *lowering, uint32_t earlier,
                                uint32_t later) {
    const struct weft_dispatch *first = &lowering->dispatches[earlier];
    const struct weft_dispatch *second = &lowering->dispatches[later];
    for (uint32_t i = 0; i < first->operand_count; i++) {
        struct touched a = touch(lowering, &first->operand[i]);
        for (uint32_t k = 0; k < second->operand_count && a.kind != WEFT_STORAGE_CONSTANT; k++) {
            struct touched b = touch(lowering, &second->operand[k]);
            if (conflict(&a, &b)) {
                return true;
            }
        }
    }
    return false;
}

weft_status weft_pass_order(struct weft_lowering *lowering, uint32_t *barriers) {
    uint32_t since = 0; /* first dispatch after the newest barrier */
    *barriers = 0;
    for (uint32_t d = 0; d < lowering->dispatch_count; d++) {
        for (uint32_t earlier = since; earlier < d; earlier++) {
            if (dispatches_conflict(lowering, earlier, d)) {
                lowering->dispatches[d].barrier = true;
                since = d;
                ++*barriers;
                break;
            }
        }
    }
    return WEFT_OK;
}
