/* SPDX-License-Identifier: MIT */
/* What is done with many texts, without a model: which run together, names of poolings, similarities, ranks, parts in characters. */
#include <float.h>
#include <math.h>

#include <weft/texts.h>

#include "model/texts/batches.h"
#include "support.h"

/* ---- batches ---- */

enum { MANY = 300 };

static void sort_lengths(struct weft_batch_item *items, const uint32_t *lengths, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        items[i] = (struct weft_batch_item){.length = lengths[i], .index = i};
    }
    weft_batch_sort(items, count);
}

/* Of each group: it begins where the last one ended, and has what the rule says. */
static uint32_t expect_groups(const struct weft_batch_item *items, uint32_t count,
                              const struct weft_batch_rule *rule) {
    uint32_t groups = 0;
    for (uint32_t first = 0; first < count; groups++) {
        const struct weft_batch_group group = weft_batch_group_at(items, count, first, rule);
        const uint32_t shortest = items[first].length;
        const uint32_t of_it = group.end - first;
        assert_int_equal(group.first, first);
        assert_int_equal(group.length, items[group.end - 1].length);
        assert_true(rule->mixes ? 3 * group.length <= 4 * shortest : group.length == shortest);
        assert_int_equal(group.padded, group.length > shortest);
        if (group.end < count) { /* the next one did not fit */
            const uint32_t next = items[group.end].length;
            assert_true(rule->mixes ? 3 * next > 4 * shortest : next > shortest);
        }
        assert_in_range(group.size, 1, of_it);
        first = group.end;
    }
    return groups;
}

WEFT_TEST(lengths_up_to_four_thirds_run_together_the_shortest_first) {
    uint32_t lengths[MANY];
    struct weft_batch_item items[MANY];
    for (uint32_t i = 0; i < MANY; i++) {
        lengths[i] = 1 + (i * 7919U) % 499U;
    }
    sort_lengths(items, lengths, MANY);
    for (uint32_t i = 1; i < MANY; i++) {
        assert_true(
            items[i - 1].length < items[i].length ||
            (items[i - 1].length == items[i].length && items[i - 1].index < items[i].index));
    }
    const uint32_t mixed =
        expect_groups(items, MANY, &(struct weft_batch_rule){.per_item = 1, .mixes = true});
    const uint32_t equal = expect_groups(items, MANY, &(struct weft_batch_rule){.per_item = 1});
    assert_true(mixed < 25 && equal > 200);
}

/* How many of `count` equal lengths run at once. */
static uint32_t size_of(uint32_t count, uint32_t length, struct weft_batch_rule rule) {
    static struct weft_batch_item items[MANY];
    static uint32_t lengths[MANY];
    for (uint32_t i = 0; i < count; i++) {
        lengths[i] = length;
    }
    rule.per_item = rule.per_item == 0 ? 1 : rule.per_item;
    sort_lengths(items, lengths, count);
    return weft_batch_group_at(items, count, 0, &rule).size;
}

WEFT_TEST(batches_are_of_about_equal_size_and_bounded) {
    assert_int_equal(size_of(1, 5, (struct weft_batch_rule){0}), 1);
    assert_int_equal(size_of(32, 5, (struct weft_batch_rule){0}), 32);
    assert_int_equal(size_of(33, 5, (struct weft_batch_rule){0}), 17);
    assert_int_equal(size_of(65, 5, (struct weft_batch_rule){0}), 22);
    assert_int_equal(size_of(65, 5, (struct weft_batch_rule){.asked = 50}), 50);
    assert_int_equal(size_of(MANY, 1024, (struct weft_batch_rule){0}), 8); /* 8,192 tokens */
    assert_int_equal(size_of(MANY, 1024, (struct weft_batch_rule){.per_item = 2}), 4);
    assert_int_equal(size_of(MANY, 1U << 20, (struct weft_batch_rule){0}), 1);
    assert_int_equal(size_of(MANY, UINT32_MAX, (struct weft_batch_rule){.per_item = 2}), 1);
    /* 2^24 logits of 50,000 each: 335 tokens */
    assert_int_equal(size_of(MANY, 30, (struct weft_batch_rule){.row_values = 50000}), 11);
    assert_int_equal(size_of(MANY, 30, (struct weft_batch_rule){.row_values = UINT64_MAX}), 1);
}

WEFT_TEST(sequences_with_types_run_by_themselves) {
    struct weft_batch_item items[] = {{.length = 4, .index = 0, .has_types = true},
                                      {.length = 9, .index = 1},
                                      {.length = 4, .index = 2},
                                      {.length = 9, .index = 3, .has_types = true}};
    const struct weft_batch_rule rule = {.per_item = 1, .mixes = true};
    static const uint32_t order[] = {2, 1, 0, 3};
    weft_batch_sort(items, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(items[i].index, order[i]);
        const struct weft_batch_group group = weft_batch_group_at(items, 4, i, &rule);
        assert_int_equal(group.end, i + 1);
        assert_int_equal(group.has_types, i >= 2);
    }
}

WEFT_TEST(a_pair_of_two_lengths_is_padded) {
    const struct weft_batch_item item = {.length = 4, .uneven = true};
    assert_true(weft_batch_group_at(&item, 1, 0, &(struct weft_batch_rule){.per_item = 2}).padded);
}

/* ---- names ---- */

WEFT_TEST_ON_HOST(poolings_have_our_names_and_those_of_folders, test) {
    static const struct {
        const char *name;
        uint32_t pooling;
    } names[] = {{"cls", WEFT_EMBED_CLS},
                 {"max", WEFT_EMBED_MAX},
                 {"mean", WEFT_EMBED_MEAN},
                 {"mean_sqrt_len", WEFT_EMBED_MEAN_SQRT},
                 {"mean_sqrt_len_tokens", WEFT_EMBED_MEAN_SQRT},
                 {"weighted_mean", WEFT_EMBED_WEIGHTED_MEAN},
                 {"weightedmean", WEFT_EMBED_WEIGHTED_MEAN},
                 {"last", WEFT_EMBED_LAST},
                 {"lasttoken", WEFT_EMBED_LAST}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint32_t pooling = 0;
        assert_ok(weft_pooling_named(&pooling, names[i].name, &test->host));
        assert_int_equal(pooling, names[i].pooling);
    }
    static const char *const wrong[] = {"", "Mean", "mean ", "median", "pooling_mode_cls_token"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint32_t pooling = 99;
        WEFT_EXPECT_REFUSED(test, WEFT_INVALID_ARGUMENT,
                            weft_pooling_named(&pooling, wrong[i], &test->host), "pooling",
                            weft_pooling_names(), wrong[i]);
        assert_int_equal(pooling, 99);
    }
}

/* ---- similarities, each by its formula in long double ---- */

enum { WIDTH = 37 };

static void expect_near(double found, long double expected) {
    assert_true(fabsl((long double)found - expected) <= 1e-13L * (1 + fabsl(expected)));
}

WEFT_TEST(similarities_are_what_their_names_say) {
    float a[WIDTH], b[WIDTH];
    long double dot = 0, squares[2] = {0}, distance = 0, steps = 0;
    for (uint32_t i = 0; i < WIDTH; i++) {
        a[i] = sinf((float)i * 1.7F) * 3;
        b[i] = cosf((float)i * 0.3F) - 0.4F;
        const long double x = (long double)a[i], y = (long double)b[i];
        dot += x * y;
        squares[0] += x * x;
        squares[1] += y * y;
        distance += (x - y) * (x - y);
        steps += fabsl(x - y);
    }
    const long double cosine = dot / sqrtl(squares[0] * squares[1]);
    expect_near(weft_vector_similarity("dot", a, b, WIDTH), dot);
    expect_near(weft_vector_similarity("cosine", a, b, WIDTH), cosine);
    expect_near(weft_vector_similarity(NULL, a, b, WIDTH), cosine);
    expect_near(weft_vector_similarity("another", a, b, WIDTH), cosine);
    expect_near(weft_vector_similarity("euclidean", a, b, WIDTH), -sqrtl(distance));
    expect_near(weft_vector_similarity("manhattan", a, b, WIDTH), -steps);
}

WEFT_TEST(no_vector_is_like_one_of_zeros_and_large_ones_do_not_overflow) {
    const float zeros[2] = {0}, some[2] = {1, 2}, large[2] = {FLT_MAX, FLT_MAX};
    assert_true(weft_vector_similarity("cosine", zeros, some, 2) == 0);
    assert_true(weft_vector_similarity("cosine", some, some, 0) == 0);
    assert_true(weft_vector_similarity("dot", NULL, some, 2) == 0);
    expect_near(weft_vector_similarity("cosine", large, large, 2), 1);
    assert_true(isfinite(weft_vector_similarity("euclidean", large, some, 2)));
}

/* ---- ranks ---- */

WEFT_TEST(ranks_go_down_equal_ones_keep_their_order_and_nan_is_last) {
    weft_ranked ranked[] = {{0, NAN}, {1, 0.5},       {2, INFINITY}, {3, 0.5}, {4, -0.0},
                            {5, 0.0}, {6, -INFINITY}, {7, NAN},      {8, 0.75}};
    static const uint32_t order[] = {2, 8, 1, 3, 4, 5, 6, 0, 7};
    weft_rank(ranked, 9);
    for (uint32_t i = 0; i < 9; i++) {
        assert_int_equal(ranked[i].index, order[i]);
    }
    weft_rank(ranked, 0);
    weft_rank(NULL, 3);
    assert_int_equal(ranked[0].index, 2);
}

/* ---- parts ---- */

static void expect_part(const char *text, size_t begin, size_t end, weft_text_part expected) {
    const weft_text_part part = weft_text_find_part(text, strlen(text), begin, end);
    assert_int_equal(part.begin, expected.begin);
    assert_int_equal(part.end, expected.end);
    assert_int_equal(part.first, expected.first);
    assert_int_equal(part.last, expected.last);
}

WEFT_TEST(parts_are_whole_characters) {
    static const char text[] = "a\xc3\xbc\xe2\x82\xac\xf0\x9f\x99\x82z"; /* a ü € 🙂 z */
    expect_part(text, 0, 11, (weft_text_part){0, 11, 0, 5});
    expect_part(text, 1, 3, (weft_text_part){1, 3, 1, 2});
    expect_part(text, 2, 4, (weft_text_part){1, 6, 1, 3}); /* half of ü, a third of € */
    expect_part(text, 9, 9, (weft_text_part){6, 10, 3, 4});
    expect_part(text, 3, 3, (weft_text_part){3, 3, 2, 2});
    expect_part(text, 10, 99, (weft_text_part){10, 11, 4, 5});
    expect_part(text, 99, 99, (weft_text_part){11, 11, 5, 5});
    expect_part(text, SIZE_MAX, SIZE_MAX, (weft_text_part){11, 11, 5, 5});
    expect_part("\xbc\xbc", 1, 1, (weft_text_part){0, 2, 0, 0}); /* no UTF-8 */
    expect_part("", 0, 0, (weft_text_part){0});
    const weft_text_part none = weft_text_find_part(NULL, 5, 1, 2);
    assert_int_equal(none.end, 0);
}
