/* SPDX-License-Identifier: MIT */
/* The order pass: a barrier exactly where a dispatch touches memory that one since the last barrier wrote or reads. */
#include "plan/intervals.h"
#include "plan/passes.h"

struct order {
    const struct weft_lowering *lowering;
    uint64_t *port_begin; /* per port: where it is on the line */
    /* All that is touched in the arena begins where a tensor could. Then it may as well end there: neighbours become one interval. */
    bool aligned;
    /* Since the last barrier. On one line: the arena and then each port; constants are never written. */
    struct weft_intervals written, reads;
};

static struct weft_interval touch(const struct order *order, const struct weft_operand *operand) {
    const struct weft_storage *storage = &order->lowering->storages[operand->storage];
    const uint64_t base =
        storage->kind == WEFT_STORAGE_ARENA ? storage->offset : order->port_begin[storage->port];
    const uint64_t bytes = operand->range ? operand->range : storage->bytes - operand->offset;
    const uint64_t begin = base + operand->offset;
    return (struct weft_interval){.begin = begin,
                                  .end = storage->kind == WEFT_STORAGE_ARENA && order->aligned
                                             ? weft_place_aligned(begin + bytes)
                                             : begin + bytes};
}

static bool is_constant(const struct order *order, const struct weft_operand *operand) {
    return order->lowering->storages[operand->storage].kind == WEFT_STORAGE_CONSTANT;
}

/** True if a dispatch must wait for one since the last barrier. */
static bool must_wait(const struct order *order, const struct weft_dispatch *dispatch) {
    for (uint32_t i = 0; i < dispatch->operand_count; i++) {
        const struct weft_operand *operand = &dispatch->operand[i];
        if (!is_constant(order, operand)) {
            const struct weft_interval touched = touch(order, operand);
            if (weft_intervals_meet(&order->written, touched) ||
                (operand->write && weft_intervals_meet(&order->reads, touched))) {
                return true;
            }
        }
    }
    return false;
}

static bool note(struct order *order, const struct weft_dispatch *dispatch) {
    const weft_host *host = &order->lowering->device->host;
    bool noted = true;
    for (uint32_t i = 0; i < dispatch->operand_count && noted; i++) {
        const struct weft_operand *operand = &dispatch->operand[i];
        if (!is_constant(order, operand)) {
            noted = weft_intervals_add(operand->write ? &order->written : &order->reads,
                                       touch(order, operand), host);
        }
    }
    return noted;
}

static bool is_aligned(const struct weft_lowering *lowering) {
    for (uint32_t d = 0; d < lowering->dispatch_count; d++) {
        for (uint32_t i = 0; i < lowering->dispatches[d].operand_count; i++) {
            const uint64_t offset = lowering->dispatches[d].operand[i].offset;
            if (weft_place_aligned(offset) != offset) {
                return false;
            }
        }
    }
    return true;
}

/** Puts the ports behind the arena. No two storages are the same port. */
static bool lay_out(struct order *order) {
    const struct weft_lowering *lowering = order->lowering;
    uint64_t end = 0;
    uint32_t ports = 0;
    for (uint32_t i = 0; i < lowering->storage_count; i++) {
        const struct weft_storage *storage = &lowering->storages[i];
        const uint64_t behind = storage->offset + weft_place_aligned(storage->bytes);
        if (storage->kind == WEFT_STORAGE_ARENA) {
            end = behind > end ? behind : end;
        } else if (storage->kind == WEFT_STORAGE_PORT) {
            ports = storage->port >= ports ? storage->port + 1 : ports;
        }
    }
    order->port_begin =
        weft_alloc_zero(&lowering->device->host, (size_t)ports + 1, sizeof *order->port_begin);
    for (uint32_t i = 0; order->port_begin && i < lowering->storage_count; i++) {
        const struct weft_storage *storage = &lowering->storages[i];
        if (storage->kind == WEFT_STORAGE_PORT) {
            order->port_begin[storage->port] = end;
            end += storage->bytes;
        }
    }
    return order->port_begin != NULL;
}

weft_status weft_pass_order(struct weft_lowering *lowering, uint32_t *barriers) {
    const weft_host *host = &lowering->device->host;
    struct order order = {.lowering = lowering, .aligned = is_aligned(lowering)};
    bool room = lay_out(&order);
    *barriers = 0;
    for (uint32_t d = 0; d < lowering->dispatch_count && room; d++) {
        struct weft_dispatch *dispatch = &lowering->dispatches[d];
        dispatch->barrier = must_wait(&order, dispatch);
        if (dispatch->barrier) {
            order.written.count = 0;
            order.reads.count = 0;
            ++*barriers;
        }
        room = note(&order, dispatch);
    }
    lowering->steps += order.written.moved + order.reads.moved;
    weft_free(host, order.port_begin);
    weft_free(host, order.written.at);
    weft_free(host, order.reads.at);
    return room ? WEFT_OK : weft_fail_memory(host, "the order pass");
}
