/* SPDX-License-Identifier: MIT */
/*
 * The place and order passes by their definitions, on plans that nobody compiles: offsets are the lowest that are free, largest
 * first, or in a second order where that gives a smaller arena; a barrier is where a dispatch touches what one since the last barrier wrote, or overwrites what it reads.
 */
#include <string.h>

#include "core/math/philox.h"
#include "device/device.h"
#include "plan/passes.h"
#include "support.h"

enum { MOST = 120, OPERANDS = 4 };

struct made {
    weft_device device;
    struct weft_lowering lowering;
    struct weft_storage storages[MOST];
    struct weft_dispatch dispatches[MOST];
    uint64_t seed;
    uint64_t next; /* random number */
};

static uint32_t below(struct made *made, uint32_t limit) {
    return weft_philox_u32(made->seed, 0, made->next++) % limit;
}

/*
 * Arena, ports and constants, with lives from a dispatch to a few later ones or, with `long_lives`, to any. Parts begin at multiples of
 * `alignment`.
 */
static void make(struct made *made, uint64_t seed, bool long_lives, uint64_t alignment) {
    memset(made, 0, sizeof *made);
    made->seed = seed;
    made->lowering = (struct weft_lowering){.device = &made->device,
                                            .storages = made->storages,
                                            .storage_count = MOST,
                                            .dispatches = made->dispatches,
                                            .dispatch_count = MOST};
    for (uint32_t i = 0; i < MOST; i++) {
        struct weft_storage *storage = &made->storages[i];
        const uint32_t kind = below(made, 8);
        storage->kind = kind == 0   ? WEFT_STORAGE_PORT
                        : kind == 1 ? WEFT_STORAGE_CONSTANT
                                    : WEFT_STORAGE_ARENA;
        storage->port = i;
        storage->bytes = 4 * (1 + below(made, 4) * 100 + below(made, 3) * 64);
    }
    for (uint32_t d = 0; d < MOST; d++) {
        struct weft_dispatch *dispatch = &made->dispatches[d];
        dispatch->operand_count = 1 + below(made, OPERANDS);
        for (uint32_t k = 0; k < dispatch->operand_count; k++) {
            struct weft_operand *operand = &dispatch->operand[k];
            const uint32_t back = long_lives ? below(made, d + 1) : below(made, 3);
            operand->storage = d > back ? d - back : 0;
            operand->write = below(made, 3) == 0;
            if (below(made, 4) == 0) { /* a part */
                operand->offset =
                    made->storages[operand->storage].bytes / 2 / alignment * alignment;
                operand->range = 4;
            }
        }
    }
}

static uint64_t end_of(const struct weft_storage *storage) {
    return storage->offset + (storage->bytes + 255) / 256 * 256;
}

static bool live_together(const struct weft_storage *a, const struct weft_storage *b) {
    return a->first <= b->last && b->first <= a->last;
}

static bool in_arena(const struct weft_storage *storage) {
    return storage->kind == WEFT_STORAGE_ARENA && storage->first != UINT32_MAX;
}

/* Places of all, by their definition. */
struct places {
    struct weft_storage storages[MOST];
    bool placed[MOST];
    uint64_t arena;
};

enum order { BY_SIZE, BY_SIZE_AND_LIFE, BY_END, ORDERS };

static uint64_t weight_of(const struct weft_storage *storage, enum order order) {
    const uint64_t weights[ORDERS] = {
        storage->bytes, storage->bytes * (storage->last - storage->first + 1), storage->last};
    return weights[order];
}

/* The next to be placed, or MOST. */
static uint32_t next_of(const struct places *places, enum order order) {
    uint32_t next = MOST;
    for (uint32_t i = 0; i < MOST; i++) {
        if (in_arena(&places->storages[i]) && !places->placed[i] &&
            (next == MOST ||
             weight_of(&places->storages[i], order) > weight_of(&places->storages[next], order))) {
            next = i;
        }
    }
    return next;
}

static bool is_free(const struct places *places, const struct weft_storage *item) {
    for (uint32_t i = 0; i < MOST; i++) {
        const struct weft_storage *other = &places->storages[i];
        if (places->placed[i] && live_together(other, item) && other->offset < end_of(item) &&
            item->offset < end_of(other)) {
            return false;
        }
    }
    return true;
}

static void find_places(struct places *places, const struct made *made, enum order order) {
    *places = (struct places){0};
    memcpy(places->storages, made->storages, sizeof places->storages);
    for (uint32_t i = next_of(places, order); i < MOST; i = next_of(places, order)) {
        struct weft_storage *item = &places->storages[i];
        item->offset = 0;
        while (!is_free(places, item)) {
            item->offset += 256;
        }
        places->placed[i] = true;
        places->arena = end_of(item) > places->arena ? end_of(item) : places->arena;
    }
}

/* Gives back which order was taken. */
static enum order expect_lowest_offsets(const struct made *made, uint64_t bound) {
    struct places places[ORDERS];
    enum order best = BY_SIZE;
    for (enum order order = BY_SIZE; order < ORDERS; order++) {
        find_places(&places[order], made, order);
        if (places[best].arena > bound + bound / 16 && places[order].arena < places[best].arena) {
            best = order;
        }
    }
    const struct places *expected = &places[best];
    for (uint32_t i = 0; i < MOST; i++) {
        if (in_arena(&made->storages[i])) {
            assert_int_equal(made->storages[i].offset, expected->storages[i].offset);
        }
    }
    return best;
}

static void expect_sizes(const struct made *made, uint64_t arena, uint64_t bound) {
    uint64_t highest = 0;
    uint64_t most = 0;
    for (uint32_t d = 0; d < MOST; d++) {
        uint64_t live = 0;
        for (uint32_t i = 0; i < MOST; i++) {
            const struct weft_storage *storage = &made->storages[i];
            if (in_arena(storage)) {
                live += storage->first <= d && d <= storage->last ? storage->bytes : 0;
                highest = end_of(storage) > highest ? end_of(storage) : highest;
            }
        }
        most = live > most ? live : most;
    }
    assert_int_equal(arena, highest);
    assert_int_equal(bound, most);
}

static bool same_memory(const struct made *made, const struct weft_operand *a,
                        const struct weft_operand *b) {
    const struct weft_storage *x = &made->storages[a->storage];
    const struct weft_storage *y = &made->storages[b->storage];
    if (x->kind != y->kind || x->kind == WEFT_STORAGE_CONSTANT ||
        (x->kind == WEFT_STORAGE_PORT && x != y)) {
        return false;
    }
    const uint64_t x_begin = (x->kind == WEFT_STORAGE_ARENA ? x->offset : 0) + a->offset;
    const uint64_t y_begin = (y->kind == WEFT_STORAGE_ARENA ? y->offset : 0) + b->offset;
    return x_begin < y_begin + (b->range ? b->range : y->bytes - b->offset) &&
           y_begin < x_begin + (a->range ? a->range : x->bytes - a->offset);
}

static bool must_wait(const struct made *made, uint32_t earlier, uint32_t later) {
    const struct weft_dispatch *a = &made->dispatches[earlier];
    const struct weft_dispatch *b = &made->dispatches[later];
    for (uint32_t i = 0; i < a->operand_count; i++) {
        for (uint32_t k = 0; k < b->operand_count; k++) {
            if ((a->operand[i].write || b->operand[k].write) &&
                same_memory(made, &a->operand[i], &b->operand[k])) {
                return true;
            }
        }
    }
    return false;
}

static void expect_barriers(const struct made *made, uint32_t barriers) {
    uint32_t since = 0;
    uint32_t count = 0;
    for (uint32_t d = 0; d < MOST; d++) {
        bool wait = false;
        for (uint32_t earlier = since; earlier < d; earlier++) {
            wait = wait || must_wait(made, earlier, d);
        }
        assert_int_equal(made->dispatches[d].barrier, wait);
        since = wait ? d : since;
        count += wait;
    }
    assert_int_equal(barriers, count);
}

WEFT_TEST(test_place_and_order) {
    struct made *made = malloc(sizeof *made);
    assert_non_null(made);
    uint32_t taken[ORDERS] = {0};
    for (uint64_t seed = 0; seed < 400; seed++) {
        uint64_t arena = 0;
        uint64_t bound = 0;
        uint32_t barriers = 0;
        make(made, seed, seed % 2 == 1, seed % 4 < 2 ? 4 : 256);
        assert_ok(weft_pass_place(&made->lowering, &arena, &bound));
        taken[expect_lowest_offsets(made, bound)]++;
        expect_sizes(made, arena, bound);
        assert_ok(weft_pass_order(&made->lowering, &barriers));
        expect_barriers(made, barriers);
    }
    for (enum order order = BY_SIZE; order < ORDERS; order++) {
        assert_true(taken[order] > 0);
    }
    free(made);
}
