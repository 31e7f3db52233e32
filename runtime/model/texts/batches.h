/* SPDX-License-Identifier: MIT */
/*
 * Which sequences run together: the one rule, for whoever runs many. Measured against the longest first in plans whose lengths are rounded
 * up (Python's until then), and ratios of 6/5 and 3/2: none is faster beyond what runs differ by. This one has the fewest plans that
 * waste at most a quarter of their work, and a limit for long sequences.
 */
#ifndef WEFT_MODEL_TEXTS_BATCHES_H
#define WEFT_MODEL_TEXTS_BATCHES_H

#include <weft/model.h>

/** What runs as one: a sequence, or a pair of two. */
struct weft_batch_item {
    uint32_t length; /* tokens of its longest sequence */
    uint32_t index;  /* among all */
    bool uneven;     /* the other one of the pair is shorter */
    bool has_types;
};

struct weft_batch_rule {
    uint32_t asked;      /* items of a batch; 0: by their lengths */
    uint32_t per_item;   /* sequences */
    uint64_t row_values; /* outputs for each token; 0: a row for each item */
    bool mixes;          /* sequences of a plan may have lengths of their own */
};

/** Items of about one length: those from `first` to `end` of the order, which run in batches of `size`. */
struct weft_batch_group {
    uint32_t first, end;
    uint32_t size;
    uint32_t length; /* of the longest sequence */
    bool padded;     /* others are shorter */
    bool has_types;
};

/** Puts items in the order in which they run: those without types first, then by length, then by index. */
void weft_batch_sort(struct weft_batch_item *items, uint32_t count);

/** The group that begins at `first` of sorted items. */
struct weft_batch_group weft_batch_group_at(const struct weft_batch_item *items, uint32_t count,
                                            uint32_t first, const struct weft_batch_rule *rule);

#endif
