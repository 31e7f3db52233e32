/* SPDX-License-Identifier: MIT */
/*
 * The vectors most like some queries, among as many as there are: each is compared with all of them, in float64 and in one order, so that
 * every machine finds the same. Scores are those of weft_vector_similarity.
 */
#include <math.h>
#include <string.h>

#include <weft/texts.h>

#include "core/given.h"
#include "core/host.h"
#include "model/texts/texts.h"

#define AT_ONCE 8U /* vectors whose sums run side by side; each sum keeps its order */

enum kind { COSINE, DOT, EUCLIDEAN, MANHATTAN };
static const char *const kinds[] = {"cosine", "dot", "euclidean", "manhattan"};

/* The best of a query so far, as a heap whose first is the worst of them. */
struct best {
    weft_ranked *at;
    uint32_t count;
};

struct weft_search {
    weft_host host;
    enum kind kind;
    uint32_t count, width, top;
    float *queries;  /* [count, width] */
    double *squares; /* of each query: the sum of its values' */
    struct best *best;
    weft_ranked *ranked; /* [count, top] */
    uint64_t rows;
};

/* ---- making and releasing ---- */

void weft_search_destroy(weft_search **address) {
    WEFT_ENTER;
    weft_search *search = address ? *address : NULL;
    if (!search) {
        return;
    }
    *address = NULL;
    const weft_host host = search->host;
    weft_free(&host, search->queries);
    weft_free(&host, search->squares);
    weft_free(&host, search->best);
    weft_free(&host, search->ranked);
    weft_free(&host, search);
}

static double sum_of_squares(const float *vector, uint32_t width) {
    double sum = 0;
    for (uint32_t i = 0; i < width; i++) {
        sum += (double)vector[i] * (double)vector[i];
    }
    return sum;
}

static weft_status find_kind(enum kind *kind, const char *name, const weft_host *host) {
    for (uint32_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(name ? name : "cosine", kinds[i]) == 0) {
            *kind = (enum kind)i;
            return WEFT_OK;
        }
    }
    return weft_fail(host, WEFT_INVALID_ARGUMENT,
                     "similarity: expected cosine, dot, euclidean or manhattan, found \"%.64s\"",
                     name);
}

static weft_status fill(weft_search *search, const weft_search_params *params) {
    const size_t count = params->count;
    search->queries = weft_alloc_zero(&search->host, count, params->width * sizeof(float));
    search->squares = weft_alloc_zero(&search->host, count, sizeof *search->squares);
    search->best = weft_alloc_zero(&search->host, count, sizeof *search->best);
    search->ranked =
        weft_alloc_zero(&search->host, count, (size_t)params->top * sizeof *search->ranked);
    if (!search->queries || !search->squares || !search->best || !search->ranked) {
        return weft_fail_memory(&search->host, "the results of a search");
    }
    memcpy(search->queries, params->queries, count * params->width * sizeof(float));
    for (size_t i = 0; i < count; i++) {
        search->squares[i] = sum_of_squares(&search->queries[i * search->width], search->width);
        search->best[i].at = &search->ranked[i * search->top];
    }
    return WEFT_OK;
}

weft_status weft_search_create(weft_search **out, const weft_search_params *params,
                               const weft_host *host) {
    WEFT_ENTER;
    WEFT_GIVEN_AS(host, "search, params", out, params);
    WEFT_GIVEN_AS(host, "params.queries", params->queries);
    enum kind kind = COSINE;
    if (params->count == 0 || params->width == 0 || params->top == 0) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "count, width, top: expected at least 1 each, found %u, %u, %u",
                         params->count, params->width, params->top);
    }
    WEFT_TRY(find_kind(&kind, params->similarity, host));
    weft_search *search = weft_alloc_zero(host, 1, sizeof *search);
    if (!search) {
        return weft_fail_memory(host, "a search");
    }
    *search = (weft_search){.host = host ? *host : (weft_host){0},
                            .kind = kind,
                            .count = params->count,
                            .width = params->width,
                            .top = params->top};
    const weft_status status = fill(search, params);
    if (status != WEFT_OK) {
        weft_search_destroy(&search);
        return status;
    }
    *out = search;
    return WEFT_OK;
}

/* ---- the best ---- */

static bool is_worse(const weft_ranked *a, const weft_ranked *b) {
    return weft_ranked_compare(a, b) > 0;
}

static void swap(weft_ranked *a, weft_ranked *b) {
    const weft_ranked kept = *a;
    *a = *b;
    *b = kept;
}

static void sink(struct best *best) {
    for (uint32_t at = 0;;) {
        const uint64_t left = 2 * (uint64_t)at + 1;
        uint32_t worst = at;
        for (uint64_t child = left; child < left + 2 && child < best->count; child++) {
            worst = is_worse(&best->at[child], &best->at[worst]) ? (uint32_t)child : worst;
        }
        if (worst == at) {
            return;
        }
        swap(&best->at[at], &best->at[worst]);
        at = worst;
    }
}

static void rise(struct best *best, uint32_t at) {
    while (at > 0 && is_worse(&best->at[at], &best->at[(at - 1) / 2])) {
        swap(&best->at[at], &best->at[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
}

static void offer(struct best *best, uint32_t top, weft_ranked found) {
    if (best->count < top) {
        best->at[best->count] = found;
        rise(best, best->count++);
    } else if (is_worse(&best->at[0], &found)) {
        best->at[0] = found;
        sink(best);
    }
}

/* ---- scores ---- */

/* Of up to AT_ONCE vectors that follow each other: products with the query, or what distances are sums of. */
static void sum(double sums[AT_ONCE], enum kind kind, const float *query, const float *vectors,
                uint32_t count, uint32_t width) {
    memset(sums, 0, AT_ONCE * sizeof *sums);
    for (uint32_t i = 0; i < width; i++) {
        const double x = (double)query[i];
        for (uint32_t row = 0; row < count; row++) {
            const double y = (double)vectors[(size_t)row * width + i];
            sums[row] += kind == EUCLIDEAN   ? (x - y) * (x - y)
                         : kind == MANHATTAN ? fabs(x - y)
                                             : x * y;
        }
    }
}

static double score(enum kind kind, double sum, double query_squares, double squares) {
    const double both = sqrt(query_squares * squares);
    switch (kind) {
    case DOT:
        return sum;
    case EUCLIDEAN:
        return -sqrt(sum);
    case MANHATTAN:
        return -sum;
    case COSINE:
        break;
    }
    return both > 0 ? sum / both : 0; /* a vector of zeros is like no other */
}

static void compare(weft_search *search, const float *vectors, uint32_t count) {
    double squares[AT_ONCE] = {0};
    double sums[AT_ONCE];
    for (uint32_t row = 0; search->kind == COSINE && row < count; row++) {
        squares[row] = sum_of_squares(&vectors[(size_t)row * search->width], search->width);
    }
    for (uint32_t query = 0; query < search->count; query++) {
        sum(sums, search->kind, &search->queries[(size_t)query * search->width], vectors, count,
            search->width);
        for (uint32_t row = 0; row < count; row++) {
            const weft_ranked found = {
                .index = (uint32_t)(search->rows + row),
                .score = score(search->kind, sums[row], search->squares[query], squares[row])};
            offer(&search->best[query], search->top, found);
        }
    }
}

weft_status weft_search_add(weft_search *search, const float *vectors, uint32_t count) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(search, host), search);
    WEFT_GIVEN_LIST(&search->host, vectors, count);
    if (search->rows + count > UINT32_MAX) {
        return weft_fail(&search->host, WEFT_INVALID_ARGUMENT,
                         "count: expected at most 2^32 - 1 vectors in all");
    }
    for (uint32_t first = 0; first < count; first += AT_ONCE) {
        const uint32_t some = count - first < AT_ONCE ? count - first : AT_ONCE;
        WEFT_TRY(weft_interrupted(&search->host));
        compare(search, &vectors[(size_t)first * search->width], some);
        search->rows += some;
    }
    return WEFT_OK;
}

weft_status weft_search_best(const weft_search *search, uint32_t query, weft_ranked *ranked,
                             uint32_t *count) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(search, host), search, ranked, count);
    if (query >= search->count) {
        return weft_fail(&search->host, WEFT_INVALID_ARGUMENT,
                         "query: expected one of %u, found %u", search->count, query);
    }
    *count = search->best[query].count;
    memcpy(ranked, search->best[query].at, *count * sizeof *ranked);
    weft_rank(ranked, *count);
    return WEFT_OK;
}
