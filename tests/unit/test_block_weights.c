/* SPDX-License-Identifier: MIT */
/* weft-test: every device */
/* Matrices of blocks: products and tables have the bits of the same numbers in f32, whose memory they do not take. */
#include <weft/graph.h>

#include "core/math/half.h"
#include "core/math/philox.h"
#include "support_graph.h"

#define MOST_RUNS 20u

/* A matrix: numbers by the definition, and what they are made of. */
struct matrix {
    struct weft_block_form form;
    uint32_t rows, columns;
    int8_t *codes, *steps[2];
    float *scales, *offsets, *numbers, *units[2];
};

static const struct weft_block_form forms[] = {
    {.bits = 8, .run = 32},
    {.bits = 8, .run = 16},
    {.bits = 8, .run = 32, .offsets = true},
    {.bits = 4, .run = 32},
    {.bits = 4, .run = 16},
    {.bits = 4, .run = 32, .offsets = true},
    {.bits = 4, .run = 16, .offsets = true},
    {.bits = 8, .run = 32, .scales = WEFT_SCALES_F16},
    {.bits = 8, .run = 16, .scales = WEFT_SCALES_F16},
    {.bits = 4, .run = 32, .offsets = true, .scales = WEFT_SCALES_F16},
    {.bits = 4, .run = 32, .scales = WEFT_SCALES_F16},
    {.bits = 8, .run = 16, .scales = WEFT_SCALES_UNITS},
    {.bits = 8, .run = 32, .offsets = true, .scales = WEFT_SCALES_UNITS},
    {.bits = 4, .run = 16, .scales = WEFT_SCALES_UNITS},
    {.bits = 4, .run = 16, .offsets = true, .scales = WEFT_SCALES_UNITS},
    {.bits = 4, .run = 32, .offsets = true, .scales = WEFT_SCALES_UNITS},
};

/* A number of binary16, now and then a subnormal one. */
static float as_half(float number, uint32_t i) {
    return weft_float_of_half(weft_half_of_float(i % 11 == 5 ? number * 0x1p-17F : number));
}

/* Scales [0] or offsets [1] as the form has them. */
static void suit(struct matrix *m, int kind, float *numbers) {
    const uint32_t count = m->rows * m->columns, runs = count / m->form.run;
    const uint32_t per_unit = WEFT_UNIT_ELEMENTS / m->form.run;
    for (uint32_t i = 0; i < runs && m->form.scales == WEFT_SCALES_F16; i++) {
        numbers[i] = as_half(numbers[i], i);
    }
    if (m->form.scales != WEFT_SCALES_UNITS) {
        return;
    }
    m->units[kind] = weft_test_uniform(count / WEFT_UNIT_ELEMENTS, 65, (uint64_t)kind);
    m->steps[kind] = malloc(runs);
    assert_non_null(m->steps[kind]);
    for (uint32_t i = 0; i < count / WEFT_UNIT_ELEMENTS; i++) {
        m->units[kind][i] = as_half(m->units[kind][i], i);
    }
    for (uint32_t i = 0; i < runs; i++) {
        m->steps[kind][i] =
            (int8_t)((int32_t)(weft_philox_u32(66, (uint32_t)kind, i) & 255U) - 128);
        numbers[i] = m->units[kind][i / per_unit] * (float)m->steps[kind][i];
    }
}

/* All codes that a form has, scales of either sign and zeros. */
static struct matrix make(struct weft_block_form form, uint32_t rows, uint32_t columns) {
    const uint32_t count = rows * columns, runs = count / form.run;
    struct matrix m = {.form = form,
                       .rows = rows,
                       .columns = columns,
                       .codes = malloc(count),
                       .scales = weft_test_uniform(runs, 61, form.bits + form.run),
                       .offsets = weft_test_uniform(runs, 62, form.bits + form.run),
                       .numbers = malloc(count * sizeof(float))};
    assert_true(m.codes && m.numbers);
    for (uint32_t i = 0; i < runs; i++) {
        m.scales[i] *= i % 7 == 3 ? 0.0F : 1.0F;
    }
    suit(&m, 0, m.scales);
    suit(&m, 1, m.offsets);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t draw = weft_philox_u32(63, form.run, i) & (form.bits == 4 ? 15U : 255U);
        const int32_t least = form.bits == 8 ? -128 : form.offsets ? 0 : -8;
        m.codes[i] = (int8_t)((int32_t)draw + least);
        const float product = m.scales[i / form.run] * (float)m.codes[i];
        m.numbers[i] = form.offsets ? product + m.offsets[i / form.run] : product;
    }
    return m;
}

static void clear(struct matrix *m) {
    free(m->codes);
    free(m->scales);
    free(m->offsets);
    free(m->numbers);
    for (int i = 0; i < 2; i++) {
        free(m->steps[i]);
        free(m->units[i]);
    }
}

static weft_status read_blocks(void *user, uint64_t first_row, uint64_t rows,
                               const struct weft_blocks *out) {
    const struct matrix *m = user;
    const size_t runs = m->columns / m->form.run;
    memcpy(out->codes, m->codes + first_row * m->columns, rows * m->columns);
    memcpy(out->scales, m->scales + first_row * runs, rows * runs * sizeof(float));
    assert_int_equal(out->offsets != NULL, m->form.offsets);
    if (out->offsets) {
        memcpy(out->offsets, m->offsets + first_row * runs, rows * runs * sizeof(float));
    }
    const size_t units = m->columns / WEFT_UNIT_ELEMENTS;
    for (int i = 0; i < 2 && m->units[i] && out->units[i]; i++) {
        memcpy(out->steps[i], m->steps[i] + first_row * runs, rows * runs);
        memcpy(out->units[i], m->units[i] + first_row * units, rows * units * sizeof(float));
    }
    return WEFT_OK;
}

static void keep(void *user) {
    (void)user; /* the test's */
}

/* Of blocks, or of their numbers alone. Borrows the matrix. */
static weft_weight *weight_of(struct weft_test_graph *f, struct matrix *m, bool blocks) {
    weft_weight *weight = NULL;
    assert_ok(weft_weight_create(&weight,
                                 weft_weight_params(.shape = weft_shape_of(m->rows, m->columns),
                                                    .data = m->numbers, .release = keep,
                                                    .release_user = m),
                                 &f->host.host));
    if (blocks) {
        weight->blocks = &m->form;
        weight->read_blocks = read_blocks;
    }
    return weight;
}

struct outcome {
    float *numbers;
    uint64_t weight_bytes, block_bytes;
};

static struct outcome run(struct weft_test_run *r, weft_tensor y, size_t count) {
    struct outcome outcome = {.numbers = malloc(count * sizeof(float))}; /* or fewer */
    weft_plan_info info;
    weft_test_take(r, "y", y, outcome.numbers);
    weft_plan *plan = weft_test_plan(r, NULL);
    assert_ok(weft_plan_get_info(plan, &info));
    outcome.weight_bytes = info.weight_bytes;
    outcome.block_bytes = info.block_weight_bytes;
    assert_int_equal(info.narrow_weight_bytes, info.block_weight_bytes);
    weft_test_run_plan(r, plan);
    weft_plan_destroy(&plan);
    return outcome;
}

static void expect_same(const struct outcome *found, const struct outcome *expected, size_t count,
                        const char *what, const struct matrix *m) {
    for (size_t i = 0; i < count; i++) {
        if (memcmp(&found->numbers[i], &expected->numbers[i], sizeof(float)) != 0) {
            fail_msg("%s, %u bits in runs of %u%s, scales %d, [%u, %u], element %zu: %a of blocks, "
                     "%a in f32",
                     what, m->form.bits, m->form.run, m->form.offsets ? " with offsets" : "",
                     (int)m->form.scales, m->rows, m->columns, i, (double)found->numbers[i],
                     (double)expected->numbers[i]);
        }
    }
}

/* ---- products ---- */

enum { CHOSEN = 2 };

/* By all rows of the matrix, or by those of two of so many experts. */
static weft_tensor product_of(struct weft_test_run *r, weft_tensor a, weft_tensor b, uint32_t rows,
                              uint32_t experts) {
    weft_tensor y = {0};
    static int32_t choices[CHOSEN * 97]; /* which the run reads */
    if (experts == 0) {
        assert_ok(weft_graph_linear(&y, r->graph, a, b, (weft_tensor){0}));
        return y;
    }
    for (uint32_t i = 0; i < CHOSEN * rows; i++) {
        choices[i] = (int32_t)(weft_philox_u32(67, rows, i) % experts);
    }
    const weft_tensor chosen =
        weft_test_feed_i32(r, "choices", weft_shape_of(rows, CHOSEN), choices);
    assert_ok(weft_graph_expert_linear(&y, r->graph, a, chosen, b, experts));
    return y;
}

static struct outcome multiply(struct weft_test_graph *f, struct matrix *m, uint32_t rows,
                               uint32_t experts, bool blocks) {
    float *x = weft_test_uniform((size_t)rows * m->columns, 64, rows);
    weft_weight *weight = weight_of(f, m, blocks);
    struct weft_test_run r = weft_test_begin(f->device);
    weft_tensor b = {0};
    const weft_tensor a = weft_test_feed(&r, "a", weft_shape_of(rows, m->columns), x);
    assert_ok(weft_graph_weight(&b, r.graph, weight));
    const struct outcome outcome =
        run(&r, product_of(&r, a, b, rows, experts), (size_t)CHOSEN * rows * m->rows);
    weft_weight_destroy(&weight);
    free(x);
    return outcome;
}

static void compare_products(struct weft_test_graph *f, struct matrix *m, uint32_t rows,
                             uint32_t experts) {
    struct outcome expected = multiply(f, m, rows, experts, false);
    struct outcome found = multiply(f, m, rows, experts, true);
    const size_t columns = experts > 0 ? CHOSEN * m->rows / experts : m->rows;
    expect_same(&found, &expected, rows * columns, experts > 0 ? "experts" : "a product", m);
    assert_int_equal(expected.block_bytes, 0);
    assert_int_equal(found.block_bytes, found.weight_bytes);
    /* Panels are whole; what is no wider than they are takes half or a third of f32's. */
    if (m->rows % 64 == 0) {
        assert_true(found.weight_bytes * 5 < expected.weight_bytes * 2);
    }
    free(found.numbers);
    free(expected.numbers);
}

/* Whole runs, and whole units where there are some. */
static uint32_t columns_of(const struct weft_block_form *form, uint32_t runs) {
    return form->scales == WEFT_SCALES_UNITS ? (runs + 4) / 5 * WEFT_UNIT_ELEMENTS : runs * 32;
}

WEFT_TEST_ON_GRAPH(products_of_blocks_have_the_bits_of_f32, f) {
    static const struct {
        uint32_t m, n, runs, experts;
    } sizes[] = {{1, 64, 1, 0}, {1, 130, 10, 5}, {2, 1, 3, 0},
                 {5, 63, 2, 0}, {97, 65, 5, 5},  {3, 200, MOST_RUNS, 0}};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            struct matrix m = make(forms[i], sizes[k].n, columns_of(&forms[i], sizes[k].runs));
            compare_products(f, &m, sizes[k].m, 0);
            if (sizes[k].experts > 0) {
                compare_products(f, &m, sizes[k].m, sizes[k].experts);
            }
            clear(&m);
        }
    }
}

/* ---- tables ---- */

enum { TOKENS = 6, TABLE = 130 };

/* Rows of a table, and with `tied` a product by it behind them, as a language model has. */
static struct outcome look_up(struct weft_test_graph *f, struct matrix *m, bool blocks, bool tied) {
    static const int32_t tokens[TOKENS] = {0, TABLE - 1, 64, 63, 17, 0};
    weft_weight *weight = weight_of(f, m, blocks);
    struct weft_test_run r = weft_test_begin(f->device);
    weft_tensor table = {0}, y = {0};
    const weft_tensor ids = weft_test_feed_i32(&r, "ids", weft_shape_of(1, TOKENS), tokens);
    assert_ok(weft_graph_weight(&table, r.graph, weight));
    assert_ok(
        weft_graph_embedding(&y, r.graph, weft_embedding_params(.tokens = ids, .table = table)));
    if (tied) {
        assert_ok(weft_graph_linear(&y, r.graph, y, table, (weft_tensor){0}));
    }
    const struct outcome outcome = run(&r, y, (size_t)TOKENS * (tied ? TABLE : m->columns));
    weft_weight_destroy(&weight);
    return outcome;
}

WEFT_TEST_ON_GRAPH(tables_of_blocks_have_the_bits_of_f32, f) {
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        const uint32_t columns = columns_of(&forms[i], 3);
        struct matrix m = make(forms[i], TABLE, columns);
        for (int tied = 0; tied < 2; tied++) {
            struct outcome expected = look_up(f, &m, false, tied);
            struct outcome found = look_up(f, &m, true, tied);
            expect_same(&found, &expected, (size_t)TOKENS * (tied ? TABLE : columns),
                        tied ? "a tied table" : "a table", &m);
            assert_true(found.weight_bytes < expected.weight_bytes * 2 / 3);
            free(found.numbers);
            free(expected.numbers);
        }
        clear(&m);
    }
}

/* ---- parts ---- */

/* Rows of a matrix are blocks, too, as queries, keys and values of one matrix are; other parts are numbers. */
WEFT_TEST_ON_GRAPH(rows_of_blocks_are_blocks, f) {
    struct matrix m = make(forms[5], 192, 64);
    weft_weight *whole = weight_of(f, &m, true), *rows = NULL, *odd = NULL;
    struct matrix part = {.form = m.form,
                          .rows = 64,
                          .columns = 64,
                          .codes = malloc(64 * 64),
                          .scales = malloc(64 * 2 * sizeof(float)),
                          .offsets = malloc(64 * 2 * sizeof(float))};
    assert_true(part.codes && part.scales && part.offsets);
    assert_ok(weft_weight_part_of(&rows, whole, (uint64_t)64 * 64, weft_shape_of(64, 64)));
    assert_ok(weft_weight_part_of(&odd, whole, 32, weft_shape_of(64, 64)));
    assert_ptr_equal(weft_weight_blocks(rows), &m.form);
    assert_null(weft_weight_blocks(odd));
    const struct weft_blocks out = {
        .codes = part.codes, .scales = part.scales, .offsets = part.offsets};
    assert_ok(weft_weight_read_blocks(rows, 3, 5, &out));
    assert_memory_equal(part.codes, m.codes + (size_t)67 * 64, (size_t)5 * 64);
    assert_memory_equal(part.scales, m.scales + (size_t)67 * 2, 5 * 2 * sizeof(float));
    weft_weight_destroy(&odd);
    weft_weight_destroy(&rows);
    weft_weight_destroy(&whole);
    clear(&part);
    clear(&m);
}
