/* SPDX-License-Identifier: MIT */
/* Dividing a block of memory: no overlaps, alignment, merging, and an allocator that runs dry. */
#include "core/math/philox.h"
#include "device/ranges.h"
#include "support.h"

#define BLOCK (UINT64_C(1) << 20)

/* The parts cover the block in order, links agree both ways, no two free parts touch. */
static void check(const struct weft_ranges *ranges) {
    uint64_t offset = 0;
    uint64_t taken = 0;
    const struct weft_range *previous = NULL;
    for (const struct weft_range *range = ranges->first; range; range = range->next) {
        assert_ptr_equal(range->previous, previous);
        assert_int_equal(range->offset, offset);
        assert_true(range->size > 0);
        assert_false(previous && !previous->taken && !range->taken);
        offset += range->size;
        taken += range->taken ? range->size : 0;
        previous = range;
    }
    assert_int_equal(offset, BLOCK);
    assert_int_equal(taken, ranges->taken);
}

static struct weft_range *take(struct weft_ranges *ranges, uint64_t size, uint64_t alignment) {
    struct weft_range *range = NULL;
    assert_ok(weft_ranges_take(&range, ranges, size, alignment, NULL));
    return range;
}

WEFT_TEST(test_whole_block) {
    struct weft_ranges ranges;
    assert_ok(weft_ranges_create(&ranges, BLOCK, NULL));
    assert_null(take(&ranges, BLOCK + 1, 1));
    struct weft_range *all = take(&ranges, BLOCK, 4096);
    assert_non_null(all);
    assert_null(take(&ranges, 1, 1));
    weft_ranges_give(&ranges, all, NULL);
    check(&ranges);
    assert_non_null(take(&ranges, BLOCK, 4096));
    weft_ranges_destroy(&ranges, NULL);
    assert_null(ranges.first);
}

WEFT_TEST(test_first_fit) {
    struct weft_ranges ranges;
    assert_ok(weft_ranges_create(&ranges, BLOCK, NULL));
    struct weft_range *a = take(&ranges, 100, 1);
    struct weft_range *b = take(&ranges, 100, 256);
    struct weft_range *c = take(&ranges, 100, 1);
    assert_int_equal(a->offset, 0);
    assert_int_equal(b->offset, 256);
    assert_int_equal(c->offset, 100); /* in the gap that b's alignment left */
    check(&ranges);
    weft_ranges_give(&ranges, a, NULL);
    assert_int_equal(take(&ranges, 40, 1)->offset, 0);
    assert_int_equal(take(&ranges, 61, 1)->offset, 356);
    check(&ranges);
    weft_ranges_destroy(&ranges, NULL);
}

WEFT_TEST(test_random) {
    enum { SLOTS = 200, STEPS = 20000 };
    struct weft_ranges ranges;
    struct weft_range *slots[SLOTS] = {0};
    uint32_t refused = 0;
    assert_ok(weft_ranges_create(&ranges, BLOCK, NULL));
    for (uint32_t step = 0; step < STEPS; step++) {
        const uint32_t slot = weft_philox_u32(1, 0, step) % SLOTS;
        if (slots[slot]) {
            weft_ranges_give(&ranges, slots[slot], NULL);
            slots[slot] = NULL;
        } else {
            const uint64_t alignment = UINT64_C(1) << weft_philox_u32(1, 1, step) % 13;
            const uint64_t size = 1 + weft_philox_u32(1, 2, step) % 20000;
            slots[slot] = take(&ranges, size, alignment);
            refused += !slots[slot];
            if (slots[slot]) {
                assert_true(slots[slot]->taken);
                assert_int_equal(slots[slot]->size, size);
                assert_int_equal(slots[slot]->offset % alignment, 0);
            }
        }
        if (step % 16 == 0) {
            check(&ranges);
        }
    }
    assert_true(refused > 0); /* the block was full at times */
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        if (slots[slot]) {
            weft_ranges_give(&ranges, slots[slot], NULL);
        }
    }
    assert_int_equal(ranges.taken, 0);
    assert_int_equal(ranges.first->size, BLOCK);
    assert_null(ranges.first->next);
    weft_ranges_destroy(&ranges, NULL);
}

/* Lets `*user` more allocations succeed. */
static void *limited(void *user, void *pointer, size_t size) {
    int *left = user;
    if (size == 0) {
        free(pointer);
        return NULL;
    }
    return (*left)-- > 0 ? realloc(pointer, size) : NULL;
}

WEFT_TEST(test_out_of_host_memory) {
    int left = 0;
    const weft_host host = {.reallocate = limited, .allocator_user = &left};
    struct weft_ranges ranges;
    assert_int_equal(weft_ranges_create(&ranges, BLOCK, &host), WEFT_OUT_OF_HOST_MEMORY);
    left = 2;
    assert_ok(weft_ranges_create(&ranges, BLOCK, &host));
    struct weft_range *first = NULL;
    assert_ok(weft_ranges_take(&first, &ranges, 10, 1, &host));
    /* Aligned, a second one needs two new parts: with room for none or for one it fails and leaves
     * all as it was. */
    for (int allowed = 0; allowed < 2; allowed++) {
        struct weft_range *second = NULL;
        left = allowed;
        assert_int_equal(weft_ranges_take(&second, &ranges, 10, 64, &host),
                         WEFT_OUT_OF_HOST_MEMORY);
        assert_null(second);
        assert_int_equal(ranges.taken, 10);
        check(&ranges);
    }
    left = 0;
    weft_ranges_give(&ranges, first, &host);
    check(&ranges);
    weft_ranges_destroy(&ranges, &host);
}
