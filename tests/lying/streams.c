/* SPDX-License-Identifier: MIT */
/* Lies of a queue: dispatches that leave something else behind than their kernels compute. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/math/philox.h"
#include "core/system/clock.h"
#include "lying/lying.h"
#include "softvk/stream.h"

#define LINE 64u /* bytes of a cache line */

struct liar {
    const struct weft_soft_backend *honest;
    struct weft_watch *watch;
    void *state;
    enum weft_lie kind;
    bool (*is_product)(const struct weft_soft_kernel *kernel);
};

/* Numbers that are left to chance, of a seed. */
static uint32_t chance(uint32_t below) {
    static atomic_uint_least64_t count;
    return weft_philox_u32(weft_lie_number("WEFT_LIE_SEED", 1), 23, atomic_fetch_add(&count, 1)) %
           below;
}

static void run_record(const struct liar *liar, struct weft_soft_record *record) {
    const struct weft_soft_stream one = {.bytes = (uint8_t *)record, .size = record->size};
    liar->honest->run(&one, liar->watch, liar->state);
}

/* ---- what a dispatch changes ---- */

struct copies {
    uint8_t *bytes[WEFT_SOFT_MAX_BINDINGS];
};

static uint8_t *bytes_of(const struct weft_soft_range *range) {
    return range->memory ? range->memory->bytes + range->offset : NULL;
}

static void keep(struct copies *copies, const struct weft_soft_dispatch_record *dispatch) {
    const struct weft_soft_range *ranges = weft_soft_dispatch_ranges(dispatch);
    *copies = (struct copies){0};
    for (uint32_t i = 0; i < dispatch->kernel->binding_count; i++) {
        if (ranges[i].memory && ranges[i].size > 0) {
            copies->bytes[i] = malloc((size_t)ranges[i].size);
        }
        if (copies->bytes[i]) {
            memcpy(copies->bytes[i], bytes_of(&ranges[i]), (size_t)ranges[i].size);
        }
    }
}

/* A word that the dispatch changed, any one of them; false where there is none. */
static bool find_changed(uint32_t *binding, uint64_t *at, const struct copies *copies,
                         const struct weft_soft_dispatch_record *dispatch) {
    const struct weft_soft_range *ranges = weft_soft_dispatch_ranges(dispatch);
    uint32_t seen = 0;
    for (uint32_t i = 0; i < dispatch->kernel->binding_count; i++) {
        const uint8_t *now = bytes_of(&ranges[i]);
        for (uint64_t k = 0; copies->bytes[i] && k + 4 <= ranges[i].size; k += 4) {
            if (memcmp(now + k, copies->bytes[i] + k, 4) != 0 && chance(++seen) == 0) {
                *binding = i;
                *at = k;
            }
        }
    }
    return seen > 0;
}

static void drop(struct copies *copies) {
    for (size_t i = 0; i < WEFT_SOFT_MAX_BINDINGS; i++) {
        free(copies->bytes[i]);
    }
}

/* ---- lies behind a dispatch ---- */

static void flip_bit(const struct copies *copies,
                     const struct weft_soft_dispatch_record *dispatch) {
    uint32_t binding = 0;
    uint64_t at = 0;
    if (find_changed(&binding, &at, copies, dispatch)) {
        bytes_of(&weft_soft_dispatch_ranges(dispatch)[binding])[at] ^= (uint8_t)(1U << chance(8));
    }
}

static void restore_line(const struct copies *copies,
                         const struct weft_soft_dispatch_record *dispatch) {
    uint32_t binding = 0;
    uint64_t at = 0;
    if (find_changed(&binding, &at, copies, dispatch)) {
        const struct weft_soft_range *range = &weft_soft_dispatch_ranges(dispatch)[binding];
        const uint64_t begin = at / LINE * LINE;
        const uint64_t left = range->size - begin;
        memcpy(bytes_of(range) + begin, copies->bytes[binding] + begin,
               (size_t)(left < LINE ? left : LINE));
    }
}

static bool is_warm(void) {
    static atomic_uint_least64_t begin; /* microseconds */
    const uint64_t now = (uint64_t)(weft_clock_ms() * 1e3);
    uint_least64_t none = 0;
    atomic_compare_exchange_strong(&begin, &none, now);
    return now - begin >= 1000 * weft_lie_number("WEFT_LIE_AFTER", 1500);
}

static uint64_t groups_of(const struct weft_soft_dispatch_record *dispatch) {
    return (uint64_t)dispatch->groups[0] * dispatch->groups[1] * dispatch->groups[2];
}

/* Whether this dispatch is one to lie about. */
static bool is_chosen(const struct liar *liar, const struct weft_soft_dispatch_record *dispatch) {
    switch (liar->kind) {
    case WEFT_LIE_PRODUCT:
        return liar->is_product(dispatch->kernel) && chance(100) < 23;
    case WEFT_LIE_NARROW:
        return liar->is_product(dispatch->kernel) && groups_of(dispatch) <= 2;
    case WEFT_LIE_STALE:
        return chance(4) == 0;
    case WEFT_LIE_WARM:
        return is_warm() && chance(3) == 0;
    default:
        return false;
    }
}

static void lie_behind(const struct liar *liar, struct weft_soft_record *record) {
    const struct weft_soft_dispatch_record *dispatch = (const void *)(record + 1);
    struct copies copies;
    keep(&copies, dispatch);
    run_record(liar, record);
    if (liar->kind == WEFT_LIE_STALE) {
        restore_line(&copies, dispatch);
    } else {
        flip_bit(&copies, dispatch);
    }
    drop(&copies);
}

/* ---- a workgroup that does not run ---- */

/* The dispatch from `first` on, so many groups along each axis. */
static void run_box(const struct liar *liar, struct weft_soft_record *record,
                    const uint32_t first[3], const uint32_t groups[3]) {
    struct weft_soft_dispatch_record *dispatch = (void *)(record + 1);
    const struct weft_soft_dispatch_record whole = *dispatch;
    for (size_t i = 0; i < 3; i++) {
        dispatch->base[i] = whole.base[i] + first[i];
        dispatch->groups[i] = groups[i];
    }
    if (groups_of(dispatch) > 0) {
        run_record(liar, record);
    }
    *dispatch = whole;
}

/* All but one: before and behind it, along each axis. */
static void run_without(const struct liar *liar, struct weft_soft_record *record,
                        uint64_t left_out) {
    const struct weft_soft_dispatch_record *dispatch = (const void *)(record + 1);
    const uint32_t *groups = dispatch->groups;
    const uint32_t out[3] = {(uint32_t)(left_out % groups[0]),
                             (uint32_t)(left_out / groups[0] % groups[1]),
                             (uint32_t)(left_out / groups[0] / groups[1])};
    const uint32_t whole[3] = {groups[0], groups[1], groups[2]};
    for (size_t axis = 0; axis < 3;
         axis++) { /* of the group's own row, column and plane behind this axis */
        uint32_t first[3] = {0, 0, 0};
        uint32_t size[3] = {whole[0], whole[1], whole[2]};
        for (size_t i = axis + 1; i < 3; i++) {
            first[i] = out[i];
            size[i] = 1;
        }
        size[axis] = out[axis];
        run_box(liar, record, first, size);
        first[axis] = out[axis] + 1;
        size[axis] = whole[axis] - out[axis] - 1;
        run_box(liar, record, first, size);
    }
}

static void run_workgroups(const struct liar *liar, struct weft_soft_record *record) {
    static atomic_uint_least64_t run;
    const struct weft_soft_dispatch_record *dispatch = (const void *)(record + 1);
    const uint64_t every = weft_lie_number("WEFT_LIE_EVERY", 2000);
    const uint64_t groups = groups_of(dispatch);
    const uint64_t before = atomic_fetch_add(&run, groups);
    const uint64_t next = (before / every + 1) * every - 1; /* the next that is left out */
    if (next < before + groups) {
        run_without(liar, record, next - before);
    } else {
        run_record(liar, record);
    }
}

/* ---- all ---- */

void weft_lie_run(const struct weft_soft_stream *stream, struct weft_watch *watch, void *state,
                  const struct weft_soft_backend *honest, enum weft_lie kind,
                  bool (*is_product)(const struct weft_soft_kernel *kernel)) {
    const struct liar liar = {
        .honest = honest, .watch = watch, .state = state, .kind = kind, .is_product = is_product};
    struct weft_soft_record *record = NULL;
    while ((record = weft_soft_stream_next(stream, record))) {
        const bool dispatches = record->command == WEFT_SOFT_DISPATCH;
        if (dispatches && kind == WEFT_LIE_WORKGROUP) {
            run_workgroups(&liar, record);
        } else if (dispatches && is_chosen(&liar, (const void *)(record + 1))) {
            lie_behind(&liar, record);
        } else {
            run_record(&liar, record);
        }
    }
}
