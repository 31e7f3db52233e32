/* SPDX-License-Identifier: MIT */
#include "model/texts/batches.h"

#include <stdlib.h>

#define MOST_ITEMS 32U
/*
 * Softmax attention keeps n numbers for each token and head: 4 heads at 1,024 tokens are then the 128 MiB that every Vulkan device can
 * bind.
 */
#define MOST_TOKENS 8192U
#define MOST_VALUES ((uint64_t)1 << 24)

static int compare(const void *left, const void *right) {
    const struct weft_batch_item *a = left;
    const struct weft_batch_item *b = right;
    if (a->has_types != b->has_types) {
        return a->has_types ? 1 : -1;
    }
    if (a->length != b->length) {
        return a->length < b->length ? -1 : 1;
    }
    return (a->index > b->index) - (a->index < b->index);
}

void weft_batch_sort(struct weft_batch_item *items, uint32_t count) {
    if (count > 0) {
        qsort(items, count, sizeof *items, compare);
    }
}

/* Whether an item goes with a shorter one: it has the bits that it has alone, and a quarter of the work at most is for nothing. */
static bool goes_with(const struct weft_batch_item *item, const struct weft_batch_item *shortest,
                      bool mixes) {
    return item->has_types == shortest->has_types &&
           (item->length == shortest->length ||
            (mixes && (uint64_t)item->length * 3 <= (uint64_t)shortest->length * 4));
}

/* The largest batch of a length, when none was asked for. */
static uint32_t default_size(uint32_t length, const struct weft_batch_rule *rule) {
    const uint64_t tokens = (uint64_t)length * rule->per_item;
    uint64_t most = MOST_TOKENS / tokens;
    if (rule->row_values > 0) {
        const uint64_t fitting = MOST_VALUES / tokens / rule->row_values;
        most = fitting < most ? fitting : most;
    }
    return most < 1 ? 1 : most < MOST_ITEMS ? (uint32_t)most : MOST_ITEMS;
}

/* As large as was asked for; or, when nothing was, runs of about equal size, so that few rows are for nothing. */
static uint32_t size_of(uint32_t length, uint32_t count, const struct weft_batch_rule *rule) {
    const uint32_t most = rule->asked > 0 ? rule->asked : default_size(length, rule);
    if (count <= most) {
        return count;
    }
    const uint32_t runs = (count - 1) / most + 1;
    return rule->asked > 0 ? most : (count - 1) / runs + 1;
}

struct weft_batch_group weft_batch_group_at(const struct weft_batch_item *items, uint32_t count,
                                            uint32_t first, const struct weft_batch_rule *rule) {
    const struct weft_batch_item *shortest = &items[first];
    struct weft_batch_group group = {.first = first, .end = first};
    group.has_types = shortest->has_types;
    while (group.end < count && goes_with(&items[group.end], shortest, rule->mixes)) {
        const struct weft_batch_item *item = &items[group.end++];
        group.padded = group.padded || item->uneven || item->length > shortest->length;
    }
    group.length = items[group.end - 1].length;
    group.size = size_of(group.length, group.end - first, rule);
    return group;
}
