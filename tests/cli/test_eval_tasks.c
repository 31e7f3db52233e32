/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* weft eval by task: what is counted, against the outputs that weft run gives. */
#include <math.h>

#include "cli/task_models.h"
#include "core/hash.h"

enum { ROWS = 3 };

/* Tokens that are letters, all rows different. */
static void make_tokens(int32_t *tokens, size_t count) {
    for (size_t i = 0; i < count; i++) {
        tokens[i] = (int32_t)('a' + weft_philox_u32(5, 0, i) % 26);
    }
}

/* What `weft run` gives for an option such as "--tokens FILE"; free it. */
static float *run_outputs(const struct place *place, const char *model, const char *option,
                          const char *path, size_t count) {
    char *out = weft_test_path(place->folder, "run.npy");
    expect_says(0, weft_test_text("run %s %s %s --out %s", model, option, path, out), NULL);
    float *values = read_reals(out, count);
    return values;
}

/* -log2 of the softmax's entry. */
static double bits_of(const float *logits, int32_t entry) {
    double sum = 0.0;
    for (size_t i = 0; i < BYTES; i++) {
        sum += exp((double)logits[i] - (double)logits[entry]);
    }
    return log2(sum);
}

static bool is_largest(const float *logits, size_t count, int32_t entry) {
    for (size_t i = 0; i < count; i++) {
        if (logits[i] > logits[entry]) {
            return false;
        }
    }
    return true;
}

static void expect_close(double found, double expected) {
    if (!(fabs(found - expected) <= 1e-9 * fabs(expected))) {
        fail_msg("found %.17g, expected %.17g", found, expected);
    }
}

/* ---- language models ---- */

/* A model, [ROWS, LENGTH] tokens for it, and perhaps another member of its data. */
struct scene {
    char *model, *tokens, *other, *data;
};

/* Makes the tokens, too. other may be null. */
static struct scene make_scene(const struct place *place, const struct tiny_model *model,
                               int32_t tokens[ROWS * LENGTH], const char *other,
                               const int32_t *values, weft_shape shape) {
    make_tokens(tokens, ROWS * LENGTH);
    struct scene scene = {
        .model = write_tiny_model(place->folder, model->task, model),
        .tokens = write_integers(place->folder, "tokens.npy", tokens, weft_shape_of(ROWS, LENGTH)),
        .other = other ? write_integers(place->folder, "other.npy", values, shape) : NULL};
    const struct member members[] = {{"tokens", scene.tokens}, {other, scene.other}, {NULL, NULL}};
    scene.data = write_archive(place->folder, "data.npz", members);
    return scene;
}

PLACE_TEST(causal_bits_are_those_of_the_logits, place) {
    int32_t tokens[ROWS * LENGTH];
    struct scene scene = make_scene(place, &causal, tokens, NULL, NULL, weft_shape_of(0));
    float *logits =
        run_outputs(place, scene.model, "--tokens", scene.tokens, (size_t)ROWS * LENGTH * BYTES);
    double bits = 0.0;
    long long correct = 0;
    for (size_t row = 0; row < ROWS; row++) {
        for (size_t p = 0; p + 1 < LENGTH; p++) {
            const float *at = &logits[(row * LENGTH + p) * BYTES];
            int32_t next = tokens[row * LENGTH + p + 1];
            bits += bits_of(at, next);
            correct += is_largest(at, BYTES, next);
        }
    }
    bits /= ROWS * (LENGTH - 1);
    json_t *run = run_json("", "run %s --tokens %s", scene.model, scene.tokens);
    static const char *const batches[] = {" ", "--batch 1", "--batch 2"};
    for (size_t i = 0; i < sizeof batches / sizeof batches[0]; i++) {
        json_t *report = run_json("", "eval %s %s %s", scene.model, scene.data, batches[i]);
        expect_close(number_field(report, "bits_per_byte"), bits);
        expect_close(number_field(report, "bits_per_token"), bits);
        expect_close(number_field(report, "perplexity"), exp2(bits));
        assert_int_equal(integer_field(report, "scored"), ROWS * (LENGTH - 1));
        assert_int_equal(integer_field(report, "correct"), correct);
        assert_string_equal(string_field(report, "logits_sha256"),
                            string_field(run, "output/sha256"));
        assert_true(json_is_null(field(report, "mean_squared_error")));
        assert_true(number_field(report, "tokens_per_s") > 0.0);
        assert_true(integer_field(report, "peak_bytes") >= 4 * integer_field(report, "parameters"));
        json_decref(report);
    }
    struct outcome text = expect_weft(0, "eval %s %s", scene.model, scene.data);
    char *said = weft_test_text("%.6f bits per byte, perplexity", bits);
    expect_part(&text, text.out, said);
    outcome_clear(&text);
    json_decref(run);
    free(logits);
}

/* Rows of different lengths, each as if it were alone. */
PLACE_TEST(short_rows_are_scored_alone, place) {
    int32_t tokens[ROWS * LENGTH];
    const int32_t lengths[ROWS] = {LENGTH, 2, 5};
    struct scene scene =
        make_scene(place, &causal, tokens, "lengths", lengths, weft_shape_of(ROWS));
    double bits = 0.0;
    for (size_t row = 0; row < ROWS; row++) {
        uint32_t length = (uint32_t)lengths[row];
        char *alone =
            write_integers(place->folder, "row.npy", &tokens[row * LENGTH], weft_shape_of(length));
        float *logits = run_outputs(place, scene.model, "--tokens", alone, (size_t)length * BYTES);
        for (size_t p = 0; p + 1 < length; p++) {
            bits += bits_of(&logits[p * BYTES], tokens[row * LENGTH + p + 1]);
        }
        free(logits);
    }
    json_t *report = run_json("", "eval %s %s", scene.model, scene.data);
    assert_int_equal(integer_field(report, "scored"), LENGTH - 1 + 1 + 4);
    assert_int_equal(integer_field(report, "plans"), ROWS);
    expect_close(number_field(report, "bits_per_byte"), bits / (LENGTH - 1 + 1 + 4));
    json_decref(report);
}

PLACE_TEST(masked_tokens_alone_are_scored, place) {
    int32_t tokens[ROWS * LENGTH];
    int32_t labels[ROWS * LENGTH];
    for (size_t i = 0; i < ROWS * LENGTH; i++) {
        labels[i] = i % 4 == 1 ? (int32_t)(i * 7) : -1;
    }
    struct scene scene =
        make_scene(place, &masked, tokens, "labels", labels, weft_shape_of(ROWS, LENGTH));
    float *logits =
        run_outputs(place, scene.model, "--tokens", scene.tokens, (size_t)ROWS * LENGTH * BYTES);
    double bits = 0.0;
    int scored = 0;
    for (size_t i = 0; i < ROWS * LENGTH; i++) {
        if (labels[i] >= 0) {
            bits += bits_of(&logits[i * BYTES], labels[i]);
            scored++;
        }
    }
    json_t *report = run_json("", "eval %s %s", scene.model, scene.data);
    assert_int_equal(integer_field(report, "scored"), scored);
    expect_close(number_field(report, "bits_per_token"), bits / scored);
    assert_true(json_is_null(field(report, "bits_per_byte"))); /* it has no tokenizer of bytes */
    json_decref(report);
    free(logits);
}

PLACE_TEST(expected_bits_are_compared, place) {
    int32_t tokens[ROWS * LENGTH];
    struct scene scene = make_scene(place, &causal, tokens, NULL, NULL, weft_shape_of(0));
    char *line = weft_test_text("eval %s %s", scene.model, scene.data);
    json_t *report = run_json("", line);
    double bits = number_field(report, "bits_per_byte");
    const double differences[] = {0.9e-4, 1.1e-4, (double)NAN};
    for (size_t i = 0; i < 3; i++) {
        float value = (float)(bits + differences[i]);
        char *value_path = write_reals(place->folder, "bits.npy", &value, weft_shape_of(1));
        const struct member expected[] = {{"bits_per_byte", value_path}, {NULL, NULL}};
        char *other = write_archive(place->folder, "other.npz", expected);
        struct outcome outcome = expect_weft(i == 0 ? 0 : 1, "%s --expect %s", line, other);
        if (i > 0) {
            expect_part(&outcome, outcome.err, "expected a difference of at most 0.0001");
            expect_part(&outcome, outcome.err, other);
        }
        outcome_clear(&outcome);
    }
    char *found = weft_test_text("%s\n", string_field(report, "logits_sha256"));
    char *right = weft_test_write(place->folder, "right", found, strlen(found));
    found[5] = found[5] == '0' ? '1' : '0';
    char *wrong = weft_test_write(place->folder, "wrong", found, strlen(found));
    expect_says(0, weft_test_text("%s --bits %s", line, right), "as expected", NULL);
    expect_says(1, weft_test_text("%s --bits %s", line, wrong), NULL);
    json_decref(report);
}

/* ---- regression, and inputs that are vectors ---- */

PLACE_TEST(errors_of_values_are_averaged, place) {
    char *model = write_tiny_model(place->folder, "regression", &regression);
    float inputs[ROWS * LENGTH * WIDTH];
    float targets[ROWS * OUTPUTS];
    weft_philox_uniform(inputs, ROWS * LENGTH * WIDTH, 8, 0);
    weft_philox_uniform(targets, ROWS * OUTPUTS, 9, 0);
    char *path =
        write_reals(place->folder, "inputs.npy", inputs, weft_shape_of(ROWS, LENGTH, WIDTH));
    char *targets_path =
        write_reals(place->folder, "targets.npy", targets, weft_shape_of(ROWS, OUTPUTS));
    const struct member members[] = {{"inputs", path}, {"targets", targets_path}, {NULL, NULL}};
    char *data = write_archive(place->folder, "data.npz", members);
    float *values = run_outputs(place, model, "--input", path, (size_t)ROWS * OUTPUTS);
    double squared = 0.0;
    double absolute = 0.0;
    for (size_t i = 0; i < ROWS * OUTPUTS; i++) {
        double error = (double)values[i] - (double)targets[i];
        squared += error * error / (ROWS * OUTPUTS);
        absolute += fabs(error) / (ROWS * OUTPUTS);
    }
    char *line = weft_test_text("eval %s %s --batch 2", model, data);
    json_t *report = run_json("", line);
    expect_close(number_field(report, "mean_squared_error"), squared);
    expect_close(number_field(report, "mean_absolute_error"), absolute);
    assert_int_equal(integer_field(report, "scored"), ROWS * OUTPUTS);
    assert_true(json_is_null(field(report, "accuracy")));
    assert_true(json_is_null(field(report, "bits_per_token")));
    json_decref(report);
    expect_says(0, line, "mean squared error", NULL);
    const float factors[] = {1.00005f, 1.0002f, 1.00005f};
    static const char *const names[] = {"logits", "outputs", "targets"};
    for (size_t i = 0; i < 3; i++) {
        float scaled[ROWS * OUTPUTS];
        for (size_t j = 0; j < ROWS * OUTPUTS; j++) {
            scaled[j] = values[j] * factors[i];
        }
        char *scaled_path =
            write_reals(place->folder, "scaled.npy", scaled, weft_shape_of(ROWS, OUTPUTS));
        const struct member expected[] = {{names[i], scaled_path}, {NULL, NULL}};
        char *other = write_archive(place->folder, "other.npz", expected);
        struct outcome outcome = expect_weft(i == 1 ? 1 : 0, "%s --expect %s", line, other);
        expect_part(&outcome, i == 1 ? outcome.err : outcome.out, "relative");
        outcome_clear(&outcome);
    }
    free(values);
}

PLACE_TEST(bytes_are_divided_by_255, place) {
    char *model = write_tiny_model(place->folder, "regression", &regression);
    uint8_t bytes[ROWS * LENGTH * WIDTH];
    float reals[ROWS * LENGTH * WIDTH];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(weft_philox_u32(10, 0, i) >> 24);
        reals[i] = (float)bytes[i] / 255.0f;
    }
    const float targets[ROWS * OUTPUTS] = {0};
    weft_shape shape = weft_shape_of(ROWS, LENGTH, WIDTH);
    char *paths[2] = {write_bytes(place->folder, "bytes.npy", bytes, shape),
                      write_reals(place->folder, "reals.npy", reals, shape)};
    char *targets_path =
        write_reals(place->folder, "targets.npy", targets, weft_shape_of(ROWS, OUTPUTS));
    char digests[2][WEFT_DIGEST_TEXT_SIZE];
    for (size_t i = 0; i < 2; i++) {
        const struct member members[] = {
            {"inputs", paths[i]}, {"targets", targets_path}, {NULL, NULL}};
        char *data = write_archive(place->folder, "data.npz", members);
        json_t *report = run_json("", "eval %s %s", model, data);
        json_t *run = run_json("", "run %s --input %s", model, paths[i]);
        assert_string_equal(string_field(report, "logits_sha256"),
                            string_field(run, "output/sha256"));
        snprintf(digests[i], sizeof digests[i], "%s", string_field(run, "output/sha256"));
        json_decref(run);
        json_decref(report);
    }
    assert_string_equal(digests[0], digests[1]);
}

/* Positions go with their rows, whatever the order in which those run. */
PLACE_TEST(positions_go_with_their_rows, place) {
    char *model = write_tiny_model(place->folder, "space", &in_space);
    float values[ROWS * LENGTH * WIDTH];
    weft_philox_uniform(values, sizeof values / sizeof values[0], 8, 0);
    const float targets[ROWS * OUTPUTS] = {0};
    const int32_t lengths[ROWS] = {LENGTH, 4, LENGTH};
    char *paths[4] = {
        write_reals(place->folder, "inputs.npy", values, weft_shape_of(ROWS, LENGTH, WIDTH)),
        write_reals(place->folder, "positions.npy", values, weft_shape_of(ROWS, LENGTH, 2)),
        write_reals(place->folder, "targets.npy", targets, weft_shape_of(ROWS, OUTPUTS)),
        write_integers(place->folder, "lengths.npy", lengths, weft_shape_of(ROWS))};
    const struct member members[] = {{"inputs", paths[0]},
                                     {"positions", paths[1]},
                                     {"targets", paths[2]},
                                     {"lengths", paths[3]},
                                     {NULL, NULL}};
    char *data = write_archive(place->folder, "data.npz", members);
    char *out = weft_test_path(place->folder, "out.npy");
    expect_says(0, weft_test_text("eval %s %s --out %s", model, data, out), NULL);
    float *outputs = read_reals(out, ROWS * OUTPUTS);
    for (uint32_t row = 0; row < ROWS; row++) {
        uint32_t length = (uint32_t)lengths[row];
        char *input = write_reals(place->folder, "row.npy", &values[row * LENGTH * WIDTH],
                                  weft_shape_of(length, WIDTH));
        char *position = write_reals(place->folder, "position.npy", &values[row * LENGTH * 2],
                                     weft_shape_of(length, 2));
        char *options = weft_test_text("--positions %s --input", position);
        float *alone = run_outputs(place, model, options, input, OUTPUTS);
        assert_memory_equal(alone, &outputs[row * OUTPUTS], OUTPUTS * sizeof *alone);
        free(alone);
    }
    free(outputs);
}

/* ---- retrieval ---- */

PLACE_TEST(pairs_have_one_label, place) {
    char *model = write_tiny_model(place->folder, "retrieval", &retrieval);
    int32_t tokens[2 * ROWS * LENGTH];
    make_tokens(tokens, 2 * (size_t)ROWS * LENGTH);
    char *path =
        write_integers(place->folder, "tokens.npy", tokens, weft_shape_of(2 * ROWS, LENGTH));
    float *logits = run_outputs(place, model, "--tokens", path, (size_t)ROWS * OUTPUTS);
    int32_t labels[ROWS];
    for (size_t pair = 0; pair < ROWS; pair++) {
        labels[pair] = 0;
        while (!is_largest(&logits[pair * OUTPUTS], OUTPUTS, labels[pair])) {
            labels[pair]++;
        }
    }
    labels[1] = (labels[1] + 1) % OUTPUTS;
    char *labels_path = write_integers(place->folder, "labels.npy", labels, weft_shape_of(ROWS));
    const struct member members[] = {{"tokens", path}, {"labels", labels_path}, {NULL, NULL}};
    char *data = write_archive(place->folder, "data.npz", members);
    json_t *run = run_json("", "run %s --tokens %s", model, path);
    assert_int_equal(json_array_size(field(run, "results")), ROWS);
    json_t *report = run_json("", "eval %s %s --batch 2", model, data);
    assert_int_equal(integer_field(report, "examples"), ROWS);
    assert_int_equal(integer_field(report, "sequences"), 2 * ROWS);
    assert_int_equal(integer_field(report, "correct"), ROWS - 1);
    assert_string_equal(string_field(report, "logits_sha256"), string_field(run, "output/sha256"));
    expect_close(number_field(report, "sequences_per_s"),
                 2.0 * number_field(report, "examples_per_s"));
    json_decref(report);
    json_decref(run);
    free(logits);
}
