/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* weft quantize: the folder has the bits that --weights int8 gives, or smaller files; files that cannot be are refused with what is wrong. */
#include <math.h>

#include "cli/task_models.h"
#include "core/math/int8.h"
#include "model/files/safetensors_header.h"

#define GOLDEN  WEFT_SOURCE_DIR "/tests/data/fnet/classify_d36_l2_gelu"
#define TRAINED WEFT_SOURCE_DIR "/api/examples/models/langid1024-transformer"

static const char *const kinds[] = {"int8", "int8-only", "q8_0", "q4_0", "q4_k"};

static char *quantize(struct place *place, const char *model, int kind) {
    char *out = weft_test_path(place->folder, kinds[kind]);
    struct outcome outcome = expect_weft(0, "quantize %s %s --to %s", model, out, kinds[kind]);
    expect_part(&outcome, outcome.out, weft_test_text("matrices as %s", kinds[kind]));
    outcome_clear(&outcome);
    return out;
}

static json_t *run_on(const char *folder, const char *weights, const char *input) {
    return run_json("", "run %s %s --weights %s", folder, input, weights);
}

/* Both kinds of folders, against the option, and against other weights. */
static void expect_same(struct place *place, const char *model, const char *input) {
    json_t *plain = run_on(model, "f32", input);
    for (int kind = 0; kind < 2; kind++) {
        const char *folder = quantize(place, model, kind);
        json_t *option = run_on(model, kinds[kind], input);
        json_t *bytes = run_on(folder, "f32", input);
        json_t *both = run_on(folder, kinds[1 - kind], input);
        const char *expected = string_field(option, "output/sha256");
        assert_string_equal(string_field(bytes, "output/sha256"), expected);
        assert_string_equal(string_field(both, "output/sha256"), expected);
        assert_string_not_equal(string_field(plain, "output/sha256"), expected);
        assert_true(integer_field(bytes, "narrow_weight_bytes") > 0);
        assert_int_equal(integer_field(option, "weight_bytes"),
                         integer_field(bytes, "weight_bytes"));
        json_decref(option);
        json_decref(bytes);
        json_decref(both);
    }
    json_decref(plain);
}

PLACE_TEST(a_folder_has_the_bits_of_the_option, place) {
    expect_same(place, TRAINED, "--text 'Wer reitet so spät durch Nacht und Wind?'");
}

PLACE_TEST(a_folder_of_fnet_has_them_too, place) {
    expect_same(place, GOLDEN, "--tokens " GOLDEN "/cases/n9_b1/tokens.npy");
}

/* The bits of the numbers that blocks stand for are api/python/tests/test_quantize.py's. */
PLACE_TEST(blocks_are_smaller_and_other_numbers, place) {
    const char *input = "--text 'Wer reitet so spät durch Nacht und Wind?'";
    int64_t before = INT64_MAX;
    json_t *plain = run_on(TRAINED, "f32", input);
    for (int kind = 2; kind < 4; kind++) {
        const char *folder = quantize(place, TRAINED, kind);
        json_t *found = run_on(folder, "f32", input);
        assert_string_not_equal(string_field(plain, "output/sha256"),
                                string_field(found, "output/sha256"));
        assert_true(integer_field(found, "weight_bytes") < before);
        before = integer_field(found, "weight_bytes");
        expect_refused(3, weft_test_text("quantize %s %s/again --to q4_0", folder, place->folder),
                       "found blocks", NULL);
        json_decref(found);
    }
    json_decref(plain);
    expect_refused(2, weft_test_text("quantize %s %s/out --to q2_k", TRAINED, place->folder),
                   "q4_k", NULL);
}

PLACE_TEST(a_tied_table_is_written_once, place) {
    expect_same(place, write_tiny_model(place->folder, "model", &causal), "--text abcdef");
}

PLACE_TEST(a_folder_is_not_written_over_its_model, place) {
    char *model = write_tiny_model(place->folder, "model", &masked);
    expect_refused(2, weft_test_text("quantize %s %s/../model", model, model), "another place",
                   NULL);
    const char *bytes = quantize(place, model, 0);
    expect_refused(3, weft_test_text("quantize %s %s/again", bytes, place->folder), "found none",
                   NULL);
}

/* ---- strange files ---- */

enum { ROWS = 3, COLUMNS = 2 };

/* A matrix of bytes, its scales and a vector: all there is to a program that multiplies by it. */
struct strange {
    const char *scales; /* its name; null: there are none */
    const char *second; /* likewise */
    weft_safetensors_dtype dtype;
    uint64_t shape[2];
    float scale;
    int8_t byte;
    const char *said; /* null: nothing is wrong */
};

static const struct strange stranges[] = {
    {"w.scale", NULL, WEFT_SAFETENSORS_F32, {ROWS, 1}, 0.5F, -127, NULL},
    {"w.scale", NULL, WEFT_SAFETENSORS_F32, {ROWS, 1}, 0.0F, 1, NULL},
    {"w.scale_only", NULL, WEFT_SAFETENSORS_F32, {1, COLUMNS}, 0.5F, 127, NULL},
    {NULL, NULL, WEFT_SAFETENSORS_F32, {ROWS, 1}, 0.5F, 1, "found none"},
    {"w.scale", "w.scale_only", WEFT_SAFETENSORS_F32, {ROWS, 1}, 0.5F, 1, "one kind"},
    {"w.scale", NULL, WEFT_SAFETENSORS_I32, {ROWS, 1}, 0.5F, 1, "expected F32, found I32"},
    {"w.scale", NULL, WEFT_SAFETENSORS_F32, {ROWS, 2}, 0.5F, 1, "a scale for each row or column"},
    {"w.scale",
     NULL,
     WEFT_SAFETENSORS_F32,
     {COLUMNS, 1},
     0.5F,
     1,
     "a scale for each row or column"},
    {"w.scale", NULL, WEFT_SAFETENSORS_F32, {ROWS, 1}, NAN, 1, "found nan at index 0"},
    {"w.scale", NULL, WEFT_SAFETENSORS_F32, {ROWS, 1}, INFINITY, 1, "found inf at index 0"},
    {"w.scale", NULL, WEFT_SAFETENSORS_F32, {ROWS, 1}, -0.5F, 1, "found -0.5 at index 0"},
    {"w.scale", NULL, WEFT_SAFETENSORS_F32, {ROWS, 1}, 1e-40F, 1, "positive normal"},
    {"w.scale", NULL, WEFT_SAFETENSORS_F32, {ROWS, 1}, 0.5F, -128, "-127 to 127, found -128"},
};

static void write_program(struct place *place, const struct strange *row) {
    static const uint64_t matrix[] = {ROWS, COLUMNS};
    struct weft_safetensors_header header = {.data = 0};
    assert_ok(weft_safetensors_header_add(&header, "w", WEFT_SAFETENSORS_I8, matrix, 2));
    const char *const names[] = {row->scales, row->second};
    for (size_t i = 0; i < 2 && names[i]; i++) {
        assert_ok(weft_safetensors_header_add(&header, names[i], row->dtype, row->shape, 2));
    }
    assert_ok(weft_safetensors_header_end(&header, NULL, 0));
    const size_t start = header.text.length;
    const size_t size = start + (size_t)header.data;
    char *data = calloc(1, size + sizeof(float));
    memcpy(data, header.text.data, start);
    memset(data + start, row->byte, ROWS * COLUMNS);
    for (size_t at = start + ROWS * COLUMNS; at + sizeof(float) <= size; at += sizeof(float)) {
        memcpy(data + at, &row->scale, sizeof(float));
    }
    weft_test_write(place->folder, "model.safetensors", data, size);
    char *config = weft_test_json(
        "{'model_type': 'program', 'format': 1, 'inputs': [{'name': 'x', 'dtype': 'f32', 'shape': "
        "[1, 2]}], 'nodes': [{'op': 'matmul', 'inputs': ['x', 'w'], 'output': 'y', 'transpose_b': "
        "true, 'alpha': 1.0}], 'outputs': [{'name': 'y', 'value': 'y'}]}");
    weft_test_write(place->folder, "config.json", config, strlen(config));
    free(data);
    weft_free(NULL, header.text.data);
}

/* A program's matrix of blocks, of which `size` bytes are a row. */
static void write_blocks(struct place *place, const char *name, uint64_t size, bool twice) {
    const uint64_t matrix[] = {1, size}, one[] = {1};
    struct weft_safetensors_header header = {.data = 0};
    assert_ok(weft_safetensors_header_add(&header, name, WEFT_SAFETENSORS_U8, matrix, 2));
    if (twice) {
        assert_ok(weft_safetensors_header_add(&header, "w", WEFT_SAFETENSORS_F32, one, 1));
    }
    assert_ok(weft_safetensors_header_end(&header, NULL, 0));
    const size_t start = header.text.length;
    char *data = calloc(1, start + (size_t)header.data);
    memcpy(data, header.text.data, start);
    weft_test_write(place->folder, "model.safetensors", data, start + (size_t)header.data);
    char *config = weft_test_json(
        "{'model_type': 'program', 'format': 1, 'inputs': [{'name': 'x', 'dtype': 'f32', 'shape': "
        "[1, 32]}], 'nodes': [{'op': 'matmul', 'inputs': ['x', 'w'], 'output': 'y', 'transpose_b': "
        "true, 'alpha': 1.0}], 'outputs': [{'name': 'y', 'value': 'y'}]}");
    weft_test_write(place->folder, "config.json", config, strlen(config));
    free(data);
    weft_free(NULL, header.text.data);
}

PLACE_TEST(blocks_that_cannot_be_are_refused, place) {
    write_blocks(place, "w.q4_0", 18, false);
    expect_says(0, weft_test_text("inspect %s", place->folder), "matmul", NULL);
    write_blocks(place, "w.q4_0", 17, false);
    expect_refused(4, weft_test_text("inspect %s", place->folder), "rows of blocks of 18 bytes",
                   "found rows of 17 bytes", NULL);
    write_blocks(place, "w.q4_0", 18, true);
    expect_refused(4, weft_test_text("inspect %s", place->folder), "duplicate tensor name", NULL);
    write_blocks(place, "w.q9_0", 18, false); /* a matrix of bytes by another name */
    expect_refused(4, weft_test_text("inspect %s", place->folder), "\"w\"", NULL);
}

PLACE_TEST(bytes_that_cannot_be_are_refused_with_what_is_wrong, place) {
    for (size_t i = 0; i < sizeof stranges / sizeof *stranges; i++) {
        write_program(place, &stranges[i]);
        const char *line = weft_test_text("inspect %s", place->folder);
        if (stranges[i].said) {
            expect_refused(4, line, stranges[i].said, NULL);
        } else {
            expect_says(0, line, "matmul", NULL);
        }
    }
}
