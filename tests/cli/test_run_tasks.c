/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* weft run by task and by kind of input: what is printed, and which options a model takes. */
#include <math.h>

#include "cli/task_models.h"

enum { ROWS = 2 };

/* The token after the last one, by its logits in that row. */
PLACE_TEST(next_tokens_are_shown, place) {
    char *model = write_tiny_model(place->folder, "causal", &causal);
    char *text = weft_test_write(place->folder, "text.txt", "the cat", 7);
    json_t *report = run_json("", "run %s --file %s --top 256 --out %s", model, text, place->out);
    json_t *results = field(report, "results");
    assert_int_equal(json_array_size(results), 1);
    json_t *row = json_array_get(results, 0);
    assert_int_equal(integer_field(row, "position"), 6);
    float *logits = read_reals(place->out, 7 * BYTES);
    const float *last = &logits[6 * BYTES];
    json_t *top = field(row, "top");
    assert_int_equal(json_array_size(top), BYTES);
    float before = INFINITY;
    for (size_t i = 0; i < BYTES; i++) {
        json_t *entry = json_array_get(top, i);
        size_t token = (size_t)integer_field(entry, "token");
        assert_in_range(token, 0, BYTES - 1);
        assert_true(last[token] <= before);
        before = last[token];
        const char *shown = string_field(entry, "text");
        if (token == 'a') {
            assert_string_equal(shown, "'a'");
        } else if (token == '\n') {
            assert_string_equal(shown, "'\\n'");
        } else if (token == '\'') {
            assert_string_equal(shown, "'\\''");
        } else if (token == 0xc3) {
            assert_string_equal(shown, "'\\xc3'");
        }
    }
    expect_says(0, weft_test_text("run %s --file %s --top 256", model, text),
                "sequence 0, after its 7 tokens", "'a'", "7 tokens on ", NULL);
    free(logits);
    json_decref(report);
}

PLACE_TEST(values_of_a_regression_are_shown, place) {
    char *model = write_tiny_model(place->folder, "regression", &regression);
    float inputs[ROWS * LENGTH * WIDTH];
    weft_philox_uniform(inputs, sizeof inputs / sizeof inputs[0], 8, 0);
    char *path =
        write_reals(place->folder, "inputs.npy", inputs, weft_shape_of(ROWS, LENGTH, WIDTH));
    char *line = weft_test_text("run %s --input %s --out %s", model, path, place->out);
    json_t *report = run_json("", line);
    float *values = read_reals(place->out, ROWS * OUTPUTS);
    json_t *results = field(report, "results");
    assert_int_equal(json_array_size(results), ROWS);
    assert_int_equal(integer_field(report, "batch"), ROWS);
    assert_int_equal(integer_field(report, "length"), LENGTH);
    assert_int_equal(integer_field(report, "model/input_size"), WIDTH);
    struct outcome text = expect_weft(0, "%s", line);
    for (size_t i = 0; i < ROWS * OUTPUTS; i++) {
        json_t *row = field(json_array_get(results, i / OUTPUTS), "values");
        double value = json_number_value(json_array_get(row, i % OUTPUTS));
        assert_true(fabs(value - (double)values[i]) <= 1e-9 * fabs(value));
        char *number = weft_test_text(" %.6g\n", (double)values[i]);
        expect_part(&text, text.out, number);
    }
    outcome_clear(&text);
    /* One sequence may come without the axis of the batch, and gives the same bits. */
    char *alone = write_reals(place->folder, "alone.npy", inputs, weft_shape_of(LENGTH, WIDTH));
    text = expect_weft(0, "run %s --input %s --out %s", model, alone, place->out);
    float *first = read_reals(place->out, OUTPUTS);
    assert_memory_equal(first, values, OUTPUTS * sizeof *first);
    outcome_clear(&text);
    free(first);
    free(values);
    json_decref(report);
}

PLACE_TEST(pairs_are_shown, place) {
    char *model = write_tiny_model(place->folder, "retrieval", &retrieval);
    const int32_t tokens[2 * ROWS * LENGTH] = {1, 2, 3};
    char *path =
        write_integers(place->folder, "tokens.npy", tokens, weft_shape_of(2 * ROWS, LENGTH));
    char *line = weft_test_text("run %s --tokens %s", model, path);
    json_t *report = run_json("", line);
    json_t *results = field(report, "results");
    assert_int_equal(json_array_size(results), ROWS);
    for (int i = 0; i < ROWS; i++) {
        assert_int_equal(integer_field(json_array_get(results, (size_t)i), "pair"), i);
    }
    expect_says(0, line, "pair 1\n", NULL);
    path = write_integers(place->folder, "odd.npy", tokens, weft_shape_of(3, LENGTH));
    line = weft_test_text("run %s --tokens %s", model, path);
    expect_refused(4, line, path, "expected pairs of sequences", "found 3 sequences", NULL);
    json_decref(report);
}

PLACE_TEST(inputs_that_do_not_fit_are_named, place) {
    char *model = write_tiny_model(place->folder, "regression", &regression);
    float values[LENGTH * (WIDTH + 1) * 8] = {0};
    const struct {
        weft_shape shape;
        const char *said;
    } cases[] = {
        {weft_shape_of(ROWS, LENGTH, WIDTH + 1), "expected vectors of 3 values"},
        {weft_shape_of(LENGTH), "found <f4 [9]"},
        {weft_shape_of(1, TINY_LENGTH + 1, WIDTH), "at most 16 tokens"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *path = write_reals(place->folder, "inputs.npy", values, cases[i].shape);
        char *line = weft_test_text("run %s --input %s", model, path);
        expect_refused(4, line, path, cases[i].said, NULL);
    }
    values[LENGTH * WIDTH + 3] = NAN;
    char *path =
        write_reals(place->folder, "inputs.npy", values, weft_shape_of(ROWS, LENGTH, WIDTH));
    char *line = weft_test_text("run %s --input %s", model, path);
    expect_refused(4, line, path, "sequence 1, position 1: expected a finite value", NULL);
    line = weft_test_text("run %s --tokens %s", model, path);
    expect_refused(2, line, "--tokens", model, "takes vectors of 3 values: use --input", NULL);
    line = weft_test_text("run %s --input %s --positions %s", model, path, path);
    expect_refused(2, line, "--positions", model, "takes none", NULL);
}

/* Tokens at other positions give other values, and positions must be theirs. */
PLACE_TEST(positions_are_read, place) {
    char *model = write_tiny_model(place->folder, "space", &in_space);
    float values[ROWS * LENGTH * WIDTH];
    weft_philox_uniform(values, sizeof values / sizeof values[0], 8, 0);
    char *inputs =
        write_reals(place->folder, "inputs.npy", values, weft_shape_of(ROWS, LENGTH, WIDTH));
    char *near = write_reals(place->folder, "near.npy", values, weft_shape_of(ROWS, LENGTH, 2));
    char *far = write_reals(place->folder, "far.npy", values + 1, weft_shape_of(ROWS, LENGTH, 2));
    char *line = weft_test_text("run %s --input %s", model, inputs);
    expect_refused(2, line, model, "positions of 2 coordinates: expected --positions", NULL);
    char *near_line = weft_test_text("%s --positions %s", line, near);
    char *far_line = weft_test_text("%s --positions %s", line, far);
    json_t *near_report = run_json("", near_line);
    json_t *far_report = run_json("", far_line);
    assert_string_not_equal(string_field(near_report, "output/sha256"),
                            string_field(far_report, "output/sha256"));
    assert_int_equal(integer_field(near_report, "model/position_size"), 2);
    static const uint32_t wrong[][3] = {{ROWS, LENGTH, 1}, {ROWS, LENGTH - 1, 2}, {1, LENGTH, 2}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char *path = write_reals(place->folder, "wrong.npy", values,
                                 weft_shape_of(wrong[i][0], wrong[i][1], wrong[i][2]));
        char *wrong_line = weft_test_text("%s --positions %s", line, path);
        expect_refused(4, wrong_line, path, "expected positions [2, 9, 2]", NULL);
    }
    json_decref(far_report);
    json_decref(near_report);
}
