/* SPDX-License-Identifier: MIT */
/* The order pass: a barrier exactly where a dispatch touches memory that one since the last barrier wrote or reads. */
#include <string.h>

#include "plan/passes.h"

/** Memory that is touched: one line of bytes, the arena's first and then those of each port; constants are never written. */
struct touched {
    uint64_t begin, end;
};

/** Disjoint, in ascending order, none right behind another. */
struct ranges {
    struct touched *at;
    uint32_t count, room;
};

struct order {
    const struct weft_lowering *lowering;
    uint64_t *port_begin;         /* per port: where it is on the line */
    struct ranges written, reads; /* since the last barrier */
};

/** The first range that ends behind `place`, or count. */
static uint32_t first_behind(const struct ranges *ranges, uint64_t place) {
    uint32_t low = 0, high = ranges->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (ranges->at[middle].end > place) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

static bool meets(const struct ranges *ranges, const struct touched *touched) {
    const uint32_t at = first_behind(ranges, touched->begin);
    return at < ranges->count && ranges->at[at].begin < touched->end;
}

/** Adds a range, which becomes one with those that it meets or adjoins. */
static bool add(struct ranges *ranges, struct touched touched, const weft_host *host) {
    uint32_t first = first_behind(ranges, touched.begin);
    if (first > 0 && ranges->at[first - 1].end == touched.begin) {
        first--;
    }
    uint32_t last = first;
    for (; last < ranges->count && ranges->at[last].begin <= touched.end; last++) {
        const struct touched *other = &ranges->at[last];
        touched.begin = other->begin < touched.begin ? other->begin : touched.begin;
        touched.end = other->end > touched.end ? other->end : touched.end;
    }
    if (last == first &&
        !weft_grow(host, &ranges->at, ranges->count, &ranges->room, sizeof *ranges->at)) {
        return false;
    }
    memmove(ranges->at + first + 1, ranges->at + last, (ranges->count - last) * sizeof *ranges->at);
    ranges->count = ranges->count - (last - first) + 1;
    ranges->at[first] = touched;
    return true;
}

static struct touched touch(const struct order *order, const struct weft_operand *operand) {
    const struct weft_storage *storage = &order->lowering->storages[operand->storage];
    const uint64_t base =
        storage->kind == WEFT_STORAGE_ARENA ? storage->offset : order->port_begin[storage->port];
    const uint64_t bytes = operand->range ? operand->range : storage->bytes - operand->offset;
    return (struct touched){.begin = base + operand->offset, .end = base + operand->offset + bytes};
}

static bool is_constant(const struct order *order, const struct weft_operand *operand) {
    return order->lowering->storages[operand->storage].kind == WEFT_STORAGE_CONSTANT;
}

/** Whether a dispatch must wait for one since the last barrier. */
static bool must_wait(const struct order *order, const struct weft_dispatch *dispatch) {
    for (uint32_t i = 0; i < dispatch->operand_count; i++) {
        const struct weft_operand *operand = &dispatch->operand[i];
        if (!is_constant(order, operand)) {
            const struct touched touched = touch(order, operand);
            if (meets(&order->written, &touched) ||
                (operand->write && meets(&order->reads, &touched))) {
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
            noted =
                add(operand->write ? &order->written : &order->reads, touch(order, operand), host);
        }
    }
    return noted;
}

/** Puts the ports behind the arena. No two storages are the same port. */
static bool lay_out(struct order *order) {
    const struct weft_lowering *lowering = order->lowering;
    uint64_t end = 0;
    uint32_t ports = 0;
    for (uint32_t i = 0; i < lowering->storage_count; i++) {
        const struct weft_storage *storage = &lowering->storages[i];
        const uint64_t behind = storage->offset + storage->bytes;
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
    struct order order = {.lowering = lowering};
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
    weft_free(host, order.port_begin);
    weft_free(host, order.written.at);
    weft_free(host, order.reads.at);
    return room ? WEFT_OK : weft_fail_memory(host, "the order pass");
}
