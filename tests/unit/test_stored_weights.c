/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* Weights of 16-bit elements in reproducible mode: kept so, once, with the bits of the widened ones. */
#include <math.h>

#include <weft/graph.h>
#include <weft/movement.h>

#include "core/formats/json.h"
#include "core/math/half.h"
#include "core/math/philox.h"
#include "support_graph.h"

enum { TOKENS = 5, ROWS = 190, WIDTH = 33 };

struct bits {
    uint32_t words[TOKENS * ROWS];
};

static weft_weight *make(struct weft_test_host *f, weft_shape shape, weft_stored stored,
                         const void *data) {
    weft_weight *weight = NULL;
    assert_ok(weft_weight_create(
        &weight, weft_weight_params(.shape = shape, .data = data, .stored = stored), &f->host));
    return weight;
}

static weft_device *open_device(struct weft_test_host *f) {
    weft_device *device = NULL;
    assert_ok(weft_device_open(&device, weft_device_params(.host = f->host, .cache_dir = "")));
    return device;
}

/* y = x tableᵀ of x = table[tokens], as in a language model whose table is that of its embedding. */
static struct bits run_tied(weft_plan_info *info, weft_device *device, weft_weight *weight) {
    static int32_t tokens[TOKENS] = {0, ROWS - 1, 64, 63, 97};
    struct bits y;
    struct weft_test_run r = weft_test_begin(device);
    weft_tensor table = {0}, x = {0}, out = {0}, ids = {0};
    assert_ok(weft_graph_weight(&table, r.graph, weight));
    assert_ok(weft_graph_input(&ids, r.graph, "ids", WEFT_I32, weft_shape_of(1, TOKENS)));
    assert_ok(
        weft_graph_embedding(&x, r.graph, weft_embedding_params(.tokens = ids, .table = table)));
    assert_ok(weft_graph_linear(&out, r.graph, x, table, (weft_tensor){0}));
    weft_plan *plan = weft_test_plan_to(&r, "y", out, NULL);
    const weft_host_tensor tensors[] = {{"ids", tokens, sizeof tokens}, {"y", &y, sizeof y}};
    assert_ok(weft_plan_execute(plan, tensors, 2));
    assert_ok(weft_plan_get_info(plan, info));
    weft_plan_destroy(&plan);
    return y;
}

struct table {
    float wide[ROWS * WIDTH];
    uint16_t halves[ROWS * WIDTH];
};

/* f16 numbers, subnormal ones among them, or bfloat16 ones. */
static void fill(struct table *table, weft_stored stored) {
    weft_philox_uniform(table->wide, ROWS * WIDTH, 3, stored);
    for (uint32_t i = 0; i < ROWS * WIDTH; i++) {
        const float value = table->wide[i] * (i % 3 ? 1.0F : 0x1p-15F);
        const bool f16 = stored == WEFT_STORED_F16;
        table->halves[i] = f16 ? weft_half_of_float(value) : weft_bfloat_of_float(value);
        table->wide[i] =
            f16 ? weft_float_of_half(table->halves[i]) : weft_float_of_bfloat(table->halves[i]);
    }
}

WEFT_TEST_ON_HOST(a_tied_table_is_kept_once_in_16_bits_with_the_bits_of_f32, f) {
    static struct table table;
    weft_device *device = open_device(f);
    const weft_shape shape = weft_shape_of(ROWS, WIDTH);
    for (int stored = WEFT_STORED_F16; stored <= WEFT_STORED_BF16; stored++) {
        weft_plan_info wide = {0}, narrow = {0};
        fill(&table, (weft_stored)stored);
        weft_weight *of_words = make(f, shape, WEFT_STORED_WHOLE, table.wide);
        weft_weight *of_halves = make(f, shape, (weft_stored)stored, table.halves);
        const struct bits expected = run_tied(&wide, device, of_words);
        const struct bits found = run_tied(&narrow, device, of_halves);
        assert_memory_equal(&found, &expected, sizeof found);
        /* Once, but for what fills up a panel: 190 rows are three of 64. */
        assert_in_range(narrow.weight_bytes, 2 * ROWS * WIDTH, 2 * 192 * WIDTH);
        assert_int_equal(narrow.narrow_weight_bytes, narrow.weight_bytes);
        assert_int_equal(wide.weight_bytes, 2 * narrow.weight_bytes);
        assert_int_equal(wide.narrow_weight_bytes, 0);
        weft_weight_destroy(&of_words);
        weft_weight_destroy(&of_halves);
    }
    weft_test_device_close(&device);
}

WEFT_TEST_ON_HOST(infinities_and_nan_of_f16_are_kept_as_f32, f) {
    static struct table table;
    weft_device *device = open_device(f);
    const weft_shape shape = weft_shape_of(ROWS, WIDTH);
    fill(&table, WEFT_STORED_F16);
    table.halves[7] = 0xFC00; /* -inf */
    table.halves[WIDTH * (ROWS - 1)] = 0x7E01;
    table.wide[7] = -INFINITY;
    table.wide[WIDTH * (ROWS - 1)] = weft_float_of_half(0x7E01);
    weft_plan_info info = {0};
    weft_weight *of_words = make(f, shape, WEFT_STORED_WHOLE, table.wide);
    weft_weight *of_halves = make(f, shape, WEFT_STORED_F16, table.halves);
    const struct bits expected = run_tied(&info, device, of_words);
    const struct bits found = run_tied(&info, device, of_halves);
    assert_memory_equal(&found, &expected, sizeof found);
    assert_int_equal(info.narrow_weight_bytes, 0);
    weft_weight_destroy(&of_words);
    weft_weight_destroy(&of_halves);
    weft_test_device_close(&device);
}

/* As where a file has the matrices of queries, keys and values in one. */
WEFT_TEST_ON_HOST(rows_of_a_stored_matrix_that_a_graph_cuts_out_stay_in_16_bits, f) {
    enum { FIRST = 64, COUNT = 64 };
    static struct table table;
    weft_device *device = open_device(f);
    float x[WIDTH], expected[COUNT], found[COUNT];
    weft_philox_uniform(x, WIDTH, 5, 0);
    for (int stored = WEFT_STORED_F16; stored <= WEFT_STORED_BF16; stored++) {
        fill(&table, (weft_stored)stored);
        for (int wide = 0; wide < 2; wide++) {
            weft_weight *weight =
                make(f, weft_shape_of(ROWS, WIDTH), wide ? WEFT_STORED_WHOLE : (weft_stored)stored,
                     wide ? (const void *)table.wide : table.halves);
            struct weft_test_run r = weft_test_begin(device);
            weft_tensor all = {0}, rows = {0}, y = {0};
            weft_plan_info info = {0};
            assert_ok(weft_graph_weight(&all, r.graph, weight));
            assert_ok(weft_graph_slice(&rows, r.graph, all, 0, FIRST, COUNT, 1));
            const weft_tensor given = weft_test_input(r.graph, "x", weft_shape_of(1, WIDTH));
            assert_ok(weft_graph_linear(&y, r.graph, given, rows, (weft_tensor){0}));
            weft_plan *plan = weft_test_plan_to(&r, "y", y, NULL);
            const weft_host_tensor tensors[] = {{"x", x, sizeof x},
                                                {"y", wide ? expected : found, sizeof found}};
            assert_ok(weft_plan_execute(plan, tensors, 2));
            assert_ok(weft_plan_get_info(plan, &info));
            assert_int_equal(info.weight_bytes, (wide ? 4 : 2) * COUNT * WIDTH);
            weft_plan_destroy(&plan);
            weft_weight_destroy(&weight);
        }
        assert_memory_equal(found, expected, sizeof found);
    }
    weft_test_device_close(&device);
}

WEFT_TEST_ON_HOST(only_f32_is_stored_in_16_bits, f) {
    static const uint16_t data[2];
    weft_weight *weight = NULL;
    const struct {
        weft_dtype dtype;
        int stored;
    } rows[] = {{WEFT_I32, WEFT_STORED_BF16},
                {WEFT_I32, WEFT_STORED_I8},
                {WEFT_F32, WEFT_STORED_I8_ONLY + 1},
                {WEFT_F32, -1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        WEFT_EXPECT_REFUSED(
            f, WEFT_INVALID_ARGUMENT,
            weft_weight_create(&weight,
                               weft_weight_params(.dtype = rows[i].dtype, .shape = weft_shape_of(2),
                                                  .data = data,
                                                  .stored = (weft_stored)rows[i].stored),
                               &f->host),
            "stored");
        assert_null(weight);
    }
}

/* ---- every kernel's bits ---- */

/* What all drivers are held to says the same of each pair. */
WEFT_TEST(stored_and_widened_cases_have_the_same_hash) {
    json_t *hashes = NULL;
    json_t *hash = NULL;
    const char *name = NULL;
    uint32_t pairs = 0;
    assert_ok(weft_json_read(&hashes, WEFT_SOURCE_DIR "/tests/data/bits/half_weights.json", NULL));
    json_object_foreach(hashes, name, hash) {
        static const char stored[] = "half_weights/stored,";
        if (strncmp(name, stored, strlen(stored)) == 0) {
            const char *other = weft_test_text("half_weights/widened,%s", name + strlen(stored));
            const json_t *widened = json_object_get(hashes, other);
            assert_non_null(widened);
            assert_string_equal(json_string_value(widened), json_string_value(hash));
            pairs++;
        }
    }
    assert_int_equal(2 * pairs, json_object_size(hashes));
    assert_true(pairs >= 50);
    json_decref(hashes);
}
