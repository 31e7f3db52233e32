/* SPDX-License-Identifier: MIT */
/* The best of many vectors: those that comparing and sorting all of them gives, in whatever pieces they come. */
#include <math.h>

#include <weft/texts.h>

#include "support.h"

enum { ROWS = 203, WIDTH = 5, QUERIES = 3 };

/* Small whole numbers: many are equally like a query. */
static void fill(float *values, size_t count, uint32_t seed) {
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525U + 1013904223U;
        values[i] = (float)(seed >> 29) - 3.0F;
    }
}

static void expect_best(const char *similarity, uint32_t top, uint32_t piece, const float *queries,
                        const float *rows) {
    weft_search *search = NULL;
    weft_ranked *all = weft_test_keep(ROWS * sizeof *all);
    weft_ranked *found = weft_test_keep(top * sizeof *found);
    assert_ok(
        weft_search_create(&search,
                           weft_search_params(.queries = queries, .count = QUERIES, .width = WIDTH,
                                              .top = top, .similarity = similarity),
                           NULL));
    for (uint32_t first = 0; first < ROWS; first += piece) {
        const uint32_t count = ROWS - first < piece ? ROWS - first : piece;
        assert_ok(weft_search_add(search, rows + (size_t)first * WIDTH, count));
    }
    for (uint32_t query = 0; query < QUERIES; query++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < ROWS; i++) {
            all[i] =
                (weft_ranked){i, weft_vector_similarity(similarity, queries + (size_t)query * WIDTH,
                                                        rows + (size_t)i * WIDTH, WIDTH)};
        }
        weft_rank(all, ROWS);
        assert_ok(weft_search_best(search, query, found, &count));
        assert_int_equal(count, top < ROWS ? top : ROWS);
        for (uint32_t i = 0; i < count; i++) {
            assert_int_equal(found[i].index, all[i].index);
            assert_memory_equal(&found[i].score, &all[i].score, sizeof found[i].score);
        }
    }
    weft_search_destroy(&search);
}

WEFT_TEST(the_best_are_those_of_all) {
    static const char *const similarities[] = {NULL, "cosine", "dot", "euclidean", "manhattan"};
    static const uint32_t tops[] = {1, 7, 64, 1000};
    static const uint32_t pieces[] = {1, 8, 50, ROWS};
    float queries[QUERIES * WIDTH];
    static float rows[ROWS * WIDTH];
    fill(queries, QUERIES * WIDTH, 1);
    fill(rows, ROWS * WIDTH, 2);
    rows[40] = NAN; /* stands last */
    rows[41 * WIDTH] = INFINITY;
    memset(&rows[(size_t)77 * WIDTH], 0, WIDTH * sizeof *rows);
    for (size_t i = 0; i < sizeof similarities / sizeof *similarities; i++) {
        for (size_t k = 0; k < 4; k++) {
            expect_best(similarities[i], tops[k], pieces[(i + k) % 4], queries, rows);
        }
    }
}

WEFT_TEST(what_makes_no_search_is_refused) {
    const float query[2] = {1, 2};
    weft_search *search = NULL;
    weft_ranked found;
    uint32_t count = 0;
    const weft_search_params wrong[] = {
        {.queries = query, .count = 0, .width = 2, .top = 1},
        {.queries = query, .count = 1, .width = 0, .top = 1},
        {.queries = query, .count = 1, .width = 2, .top = 0},
        {.queries = query, .count = 1, .width = 2, .top = 1, .similarity = "hamming"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(weft_search_create(&search, &wrong[i], NULL), WEFT_INVALID_ARGUMENT);
        assert_null(search);
    }
    assert_ok(weft_search_create(
        &search, weft_search_params(.queries = query, .count = 1, .width = 2, .top = 1), NULL));
    assert_ok(weft_search_best(search, 0, &found, &count));
    assert_int_equal(count, 0);
    assert_int_equal(weft_search_best(search, 1, &found, &count), WEFT_INVALID_ARGUMENT);
    weft_search_destroy(&search);
}
