/* SPDX-License-Identifier: MIT */
/* weft-test: slow one device */
/* Projections by structured matrices: exact entries, attention with them, memory and growth. */
#include <math.h>

#include <weft/mixers.h>

#include "core/math/philox.h"
#include "device/device.h"
#include "support_arrays.h"
#include "support_graph.h"

static const weft_features_kind kinds[] = {WEFT_FEATURES_SORF, WEFT_FEATURES_ROM,
                                           WEFT_FEATURES_S_HYBRID, WEFT_FEATURES_FASTFOOD,
                                           WEFT_FEATURES_SCRF};
#define KINDS (sizeof kinds / sizeof kinds[0])

/* ---- matrices ---- */

struct matrix {
    weft_features_params params;
    weft_features_structure structure;
    float *diagonals;
    uint32_t *permutation; /* used by FastFood alone */
    float *w;
    float *square_norms;
};

static struct matrix make_matrix(weft_features_kind kind, uint32_t rows, uint32_t columns) {
    struct matrix m = {.params = {.kind = kind, .rows = rows, .columns = columns, .seed = 5}};
    assert_ok(weft_features_get_structure(&m.structure, &m.params, NULL));
    const size_t elements = (size_t)m.structure.blocks * m.structure.size;
    m.diagonals = malloc(elements * m.structure.diagonals * sizeof *m.diagonals);
    m.permutation = malloc(elements * sizeof *m.permutation);
    m.w = malloc((size_t)rows * columns * sizeof *m.w);
    m.square_norms = malloc(rows * sizeof *m.square_norms);
    assert_ok(weft_features_parts(m.diagonals, m.permutation, &m.params, NULL));
    assert_ok(weft_features_expand(m.w, m.diagonals, m.permutation, &m.params, NULL));
    assert_ok(
        weft_features_square_norms(m.square_norms, m.diagonals, m.permutation, &m.params, NULL));
    return m;
}

static void free_matrix(struct matrix *m) {
    free(m->diagonals);
    free(m->permutation);
    free(m->w);
    free(m->square_norms);
}

static weft_tensor add_projection(weft_graph *graph, const struct matrix *m, weft_tensor x,
                                  uint32_t heads, float scale) {
    const weft_features_structure *s = &m->structure;
    weft_tensor out;
    weft_tensor permutation = {0};
    const weft_tensor diagonals =
        weft_test_constant(graph, weft_shape_of(s->blocks, s->diagonals, s->size), m->diagonals);
    if (s->permuted) {
        permutation = weft_test_constant_i32(graph, weft_shape_of(s->blocks, s->size),
                                             (const int32_t *)m->permutation);
    }
    assert_ok(weft_graph_structured_projection(
        &out, graph, x, diagonals,
        weft_structured_projection_params(.kind = m->params.kind, .rows = m->params.rows,
                                          .heads = heads, .scale = scale,
                                          .permutation = permutation)));
    return out;
}

/* ---- projections alone ---- */

/* Of x [1, n, d], one head, scale 1. */
static weft_tensor begin(struct weft_test_run *r, struct weft_test_graph *f, const struct matrix *m,
                         const float *x, uint32_t n) {
    *r = weft_test_begin(f->device);
    weft_tensor in = weft_test_feed(r, "x", weft_shape_of(1, n, m->params.columns), x);
    return add_projection(r->graph, m, in, 1, 1.0F);
}

static void project(struct weft_test_graph *f, float *y, const struct matrix *m, float *x,
                    uint32_t n, const char *implementation) {
    struct weft_test_run r;
    weft_tensor out = begin(&r, f, m, x, n);
    weft_test_take(&r, "y", out, y);
    weft_test_execute(&r, implementation);
}

static weft_plan_info info_of_matrix(struct weft_test_graph *f, const struct matrix *m, uint32_t n,
                                     const char *implementation) {
    struct weft_test_run r;
    weft_tensor y = begin(&r, f, m, NULL, n);
    return weft_test_info_of(&r, y, implementation);
}

/*
 * Of unit vectors: the columns of W, to the bit where numbers are whole multiples of a power of two (SORF of 16 or 64
 * columns, ROM) or products with one sign (SCRF by its definition).
 */
WEFT_TEST_ON_GRAPH(test_unit_vectors_give_the_matrix, f) {
    for (size_t k = 0; k < KINDS; k++) {
        const bool exact = kinds[k] != WEFT_FEATURES_S_HYBRID && kinds[k] != WEFT_FEATURES_FASTFOOD;
        for (uint32_t d = 16; d <= 64; d *= 4) {
            const uint32_t s = 2 * d + 6;
            struct matrix m = make_matrix(kinds[k], s, d);
            float *x = calloc((size_t)d * d, sizeof *x);
            float *y = malloc((size_t)d * s * sizeof *y);
            float *expected = malloc((size_t)d * s * sizeof *expected);
            for (uint32_t j = 0; j < d; j++) {
                x[j * d + j] = 1.0F;
                for (uint32_t i = 0; i < s; i++) {
                    expected[j * s + i] = m.w[i * d + j];
                }
            }
            project(f, y, &m, x, d, NULL);
            for (uint32_t i = 0; exact && i < d * s; i++) {
                assert_true(y[i] == expected[i]);
            }
            assert_true(weft_test_relative_error(y, expected, (size_t)d * s) < 3e-7);
            free(x);
            free(y);
            free(expected);
            free_matrix(&m);
        }
    }
}

/* More rows than a slab of transforms has: as by the definition. */
WEFT_TEST_ON_GRAPH(test_slabs, f) {
    enum { N = 9001, D = 6, S = 48 }; /* 8 blocks: 8191 rows in a slab */
    struct matrix m = make_matrix(WEFT_FEATURES_SCRF, S, D);
    float *x = malloc((size_t)N * D * sizeof *x);
    float *y = malloc(2 * (size_t)N * S * sizeof *y);
    weft_philox_uniform(x, (uint64_t)N * D, 3, 0);
    project(f, y, &m, x, N, "circulant");
    project(f, y + (size_t)N * S, &m, x, N, "circulant_fft");
    assert_true(weft_test_relative_error(y + (size_t)N * S, y, (size_t)N * S) < 1e-6);
    /* The last rows, which both slabs have. */
    assert_true(weft_test_relative_error(y + (size_t)N * S + 8000 * S, y + 8000 * S,
                                         (size_t)1001 * S) < 1e-6);
    assert_true(info_of_matrix(f, &m, N, "circulant_fft").dispatches >= 2 * 4 + 2);
    free(x);
    free(y);
    free_matrix(&m);
}

/* An entry that is no index makes NaN of what it feeds, and of nothing else. */
WEFT_TEST_ON_GRAPH(test_wild_permutations_give_nan, f) {
    enum { D = 4, S = 8 };
    struct matrix m = make_matrix(WEFT_FEATURES_FASTFOOD, S, D);
    weft_tensor y;
    int32_t entries[S] = {3, 2, 1, 0, 0, 4, -1, 3};
    float data[D] = {1.0F, 2.0F, 3.0F, 4.0F};
    float out[S];
    struct weft_test_run r = weft_test_begin(f->device);
    weft_tensor x = weft_test_feed(&r, "x", weft_shape_of(1, 1, D), data);
    weft_tensor permutation = weft_test_feed_i32(&r, "permutation", weft_shape_of(2, D), entries);
    weft_tensor diagonals = weft_test_constant(r.graph, weft_shape_of(2, 3, D), m.diagonals);
    assert_ok(weft_graph_structured_projection(
        &y, r.graph, x, diagonals,
        weft_structured_projection_params(.kind = WEFT_FEATURES_FASTFOOD, .rows = S,
                                          .permutation = permutation)));
    weft_test_execute_to(&r, y, out);
    for (int i = 0; i < S; i++) {
        assert_int_equal(isnan(out[i]) != 0, i >= D);
    }
    free_matrix(&m);
}

/* ---- memory and growth ---- */

static weft_plan_info info_of(struct weft_test_graph *f, weft_features_kind kind, uint32_t d,
                              uint32_t n) {
    struct matrix m = make_matrix(kind, 2 * d, d);
    const weft_plan_info info = info_of_matrix(f, &m, n, NULL);
    free_matrix(&m);
    return info;
}

/* W is nowhere: the parts are O(s), Hadamard factors need no scratch memory, circulants some for n rows. */
WEFT_TEST_ON_GRAPH(test_matrix_is_never_made, f) {
    const uint32_t d = 1024;
    const uint64_t matrix = UINT64_C(4) * 2 * d * d;
    for (size_t k = 0; k < KINDS; k++) {
        const weft_plan_info info = info_of(f, kinds[k], d, 3);
        assert_true(info.weight_bytes >= UINT64_C(4) * 2 * d);
        if (kinds[k] == WEFT_FEATURES_SCRF) { /* with tables of the FFT */
            assert_true(info.weight_bytes + info.arena_bytes < matrix / 20);
        } else {
            /* At most four vectors a block, or three and a permutation. */
            assert_true(info.weight_bytes <= UINT64_C(4) * 4 * 2 * d);
            assert_int_equal(info.arena_bytes, 0);
            assert_int_equal(info.dispatches, 1);
        }
    }
}

/* Four times the tokens take four times the work and memory, twice the columns and rows hardly more than twice. */
WEFT_TEST_ON_GRAPH(test_growth, f) {
    for (size_t k = 0; k < KINDS; k++) {
        const weft_plan_info base = info_of(f, kinds[k], 512, 64);
        const weft_plan_info longer = info_of(f, kinds[k], 512, 256);
        const weft_plan_info wider = info_of(f, kinds[k], 1024, 64);
        assert_true(longer.flops <= 4.0 * base.flops);
        assert_true(wider.flops > 2.0 * base.flops && wider.flops < 2.5 * base.flops);
        assert_true(longer.arena_bytes <= 4 * base.arena_bytes);
        assert_true(wider.arena_bytes <= 2 * base.arena_bytes + 65536);
    }
}

/* ---- attention with random features ---- */

enum { N = 29, HEADS = 2, WIDTH = 12, VALUES = 6, FEATURES = 40 };

struct attention {
    const struct matrix *matrix;
    weft_component component;
    bool structured;
    bool causal;
};

static weft_tensor add_features(weft_graph *graph, const struct attention *a, weft_tensor x,
                                weft_tensor other, bool is_key) {
    weft_tensor out;
    weft_tensor w = {0};
    weft_random_features_params params = {.component = a->component,
                                          .heads = HEADS,
                                          .stabilizer =
                                              is_key ? WEFT_STABILIZER_KEY : WEFT_STABILIZER_QUERY};
    const bool optimal = a->component == WEFT_COMPONENT_OPTIMAL;
    if (optimal) {
        params.other = other;
    }
    if (a->structured) {
        params.projection = add_projection(graph, a->matrix, x, HEADS, 0.0F);
    } else {
        w = weft_test_constant(graph, weft_shape_of(FEATURES, WIDTH), a->matrix->w);
    }
    if (a->structured && optimal) {
        params.square_norms =
            weft_test_constant(graph, weft_shape_of(FEATURES), a->matrix->square_norms);
    }
    assert_ok(weft_graph_random_features(&out, graph, x, w, &params));
    return out;
}

static void attend(struct weft_test_graph *f, float *out, const struct attention *a, float *data) {
    static const char *const names[] = {"q", "k", "v"};
    const uint32_t widths[] = {HEADS * WIDTH, HEADS * WIDTH, HEADS * VALUES};
    struct weft_test_run r = weft_test_begin(f->device);
    weft_tensor x[3];
    weft_tensor y;
    for (int i = 0; i < 3; i++) {
        x[i] = weft_test_feed(&r, names[i], weft_shape_of(1, N, widths[i]), data);
        data += N * widths[i];
    }
    weft_tensor phi = add_features(r.graph, a, x[0], x[1], false);
    weft_tensor psi = add_features(r.graph, a, x[1], x[0], true);
    assert_ok(weft_graph_linear_attention(
        &y, r.graph, phi, psi, x[2],
        weft_linear_attention_params(.heads = HEADS, .causal = a->causal)));
    weft_test_execute_to(&r, y, out);
}

/* Attention is that of the dense matrix, for every kind and component. */
WEFT_TEST_ON_GRAPH(test_attention_is_that_of_the_matrix, f) {
    float data[N * HEADS * (2 * WIDTH + VALUES)];
    float dense[N * HEADS * VALUES];
    float structured[N * HEADS * VALUES];
    weft_philox_uniform(data, sizeof data / sizeof data[0], 9, 0);
    for (size_t k = 0; k < KINDS; k++) {
        struct matrix m = make_matrix(kinds[k], FEATURES, WIDTH);
        const weft_component components[] = {WEFT_COMPONENT_TRIGONOMETRIC, WEFT_COMPONENT_POSITIVE,
                                             WEFT_COMPONENT_HYPERBOLIC, WEFT_COMPONENT_OPTIMAL};
        for (size_t c = 0; c < 4; c++) {
            struct attention a = {
                .matrix = &m, .component = components[c], .causal = (k + c) % 2 != 0};
            attend(f, dense, &a, data);
            a.structured = true;
            attend(f, structured, &a, data);
            /* Trigonometric weights cancel in the denominator. */
            const double limit = components[c] == WEFT_COMPONENT_TRIGONOMETRIC ? 1e-4 : 3e-6;
            assert_true(weft_test_relative_error(structured, dense, N * HEADS * VALUES) < limit);
        }
        free_matrix(&m);
    }
}

WEFT_TEST_ON_GRAPH(test_square_norms, f) {
    for (size_t k = 0; k < KINDS; k++) {
        struct matrix m = make_matrix(kinds[k], 38, 13);
        for (uint32_t i = 0; i < 38; i++) {
            double sum = 0.0;
            for (uint32_t j = 0; j < 13; j++) {
                sum += (double)m.w[i * 13 + j] * (double)m.w[i * 13 + j];
            }
            assert_true(m.square_norms[i] == (float)sum);
        }
        free_matrix(&m);
    }
    float norms[4];
    const weft_features_params base = {.kind = WEFT_FEATURES_BASE, .rows = 4, .columns = 4};
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_features_square_norms(norms, norms, NULL, &base, &f->host.host),
                        "kind is base", "dense");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_features_square_norms(NULL, norms, NULL, &base, &f->host.host),
                        "square_norms is null");
}
