/* SPDX-License-Identifier: MIT */
/* weft-test: posix */
/* eval of each measure and of several models, stopped at random moments: its figures are of the examples that were run. */
#define _DEFAULT_SOURCE
#include "cli/task_models.h"

#include "cli/interrupt_rows.h"

enum { EXAMPLES = 12 };

/* Examples of all lengths up to LENGTH: of bytes, of `many` labels from 0 to `most`. */
static char *write_data(const char *folder, uint32_t many, int32_t most) {
    int32_t tokens[EXAMPLES * LENGTH], labels[EXAMPLES * LENGTH], lengths[EXAMPLES];
    for (int32_t i = 0; i < EXAMPLES * LENGTH; i++) {
        tokens[i] = (i * 29 + 5) % BYTES;
        labels[i] = (i * 7 + i / 5) % (most + 1);
    }
    for (int32_t i = 0; i < EXAMPLES; i++) {
        lengths[i] = 2 + i * 5 % (LENGTH - 1);
    }
    const weft_shape shape =
        many > EXAMPLES ? weft_shape_of(EXAMPLES, LENGTH) : weft_shape_of(EXAMPLES);
    const struct member members[] = {
        {"tokens", write_integers(folder, "tokens.npy", tokens, weft_shape_of(EXAMPLES, LENGTH))},
        {"lengths", write_integers(folder, "lengths.npy", lengths, weft_shape_of(EXAMPLES))},
        {many > 0 ? "labels" : NULL, write_integers(folder, "labels.npy", labels, shape)},
        {NULL, NULL}};
    return write_archive(folder, "data.npz", members);
}

/* ---- values ---- */

static void check_eval(const struct run *whole, const struct run *run) {
    json_t *report = report_of(run);
    const uint32_t rows = (uint32_t)json_integer_value(part(report, "hashed_examples"));
    const uint32_t count = (uint32_t)json_integer_value(part(report, "evaluated"));
    assert_true(rows <= count);
    assert_true(was_stopped(run) || rows == json_integer_value(part(report, "examples")));
    assert_int_equal(json_integer_value(part(report, "scored")), count * OUTPUTS);
    expect_rows(whole, run, rows, json_string_value(part(report, "logits_sha256")));
    assert_int_equal(weft_test_entries(run->folder), rows > 0 ? 1 : 0);
    json_decref(report);
}

PLACE_TEST(errors_are_of_what_was_run, place) {
    static float inputs[EXAMPLES * LENGTH * WIDTH], targets[EXAMPLES * OUTPUTS];
    int32_t lengths[EXAMPLES];
    const char *model = write_tiny_model(place->folder, "model", &regression);
    weft_philox_uniform(inputs, sizeof inputs / sizeof *inputs, 11, 0);
    weft_philox_uniform(targets, sizeof targets / sizeof *targets, 11, 1);
    for (int32_t i = 0; i < EXAMPLES; i++) {
        lengths[i] = 1 + i * 5 % LENGTH;
    }
    const struct member members[] = {
        {"inputs",
         write_reals(place->folder, "inputs.npy", inputs, weft_shape_of(EXAMPLES, LENGTH, WIDTH))},
        {"targets",
         write_reals(place->folder, "targets.npy", targets, weft_shape_of(EXAMPLES, OUTPUTS))},
        {"lengths", write_integers(place->folder, "lengths.npy", lengths, weft_shape_of(EXAMPLES))},
        {NULL, NULL}};
    const char *data = write_archive(place->folder, "data.npz", members);
    const char *const arguments[] = {"eval",  model,     data,     "--batch", "2",
                                     "--out", "out.npy", "--json", NULL};
    interrupt(arguments, check_eval);
}

/* ---- labels ---- */

static long long count_of(const json_t *report, const char *name) {
    return json_integer_value(part(report, name));
}

/* Which label of a row the model gives. */
static uint32_t best_of(const float *row, uint32_t width) {
    uint32_t best = 0;
    for (uint32_t i = 1; i < width; i++) {
        best = row[i] > row[best] ? i : best;
    }
    return best;
}

/* Sums over labels are the totals, and of a whole run they are what the outputs say. */
static void expect_counts(const struct run *run, const json_t *report) {
    const json_t *labels = part(report, "labels");
    long long examples = 0;
    long long correct = 0;
    for (size_t i = 0; i < json_array_size(labels); i++) {
        examples += count_of(json_array_get(labels, i), "examples");
        correct += count_of(json_array_get(labels, i), "correct");
    }
    assert_int_equal(examples, count_of(report, "evaluated"));
    assert_int_equal(count_of(report, "scored"), count_of(report, "evaluated"));
    assert_int_equal(correct, count_of(report, "correct"));
    struct rows rows = read_rows(run);
    long long found = 0;
    for (uint32_t i = 0; i < rows.count; i++) {
        const int32_t place = (int32_t)i;
        found += best_of(&rows.values[(size_t)i * rows.width], rows.width) ==
                 (uint32_t)((place * 7 + place / 5) % OUTPUTS);
    }
    assert_true(found <= correct && (was_stopped(run) || found == correct));
    free(rows.values);
}

static void check_sums(const struct run *whole, const struct run *run) {
    json_t *report = report_of(run);
    (void)whole;
    expect_counts(run, report);
    assert_true(was_stopped(run) || count_of(report, "evaluated") == EXAMPLES);
    assert_int_equal(weft_test_entries(run->folder), 0);
    json_decref(report);
}

static void check_labels(const struct run *whole, const struct run *run) {
    json_t *all = report_of(whole);
    json_t *report = report_of(run);
    const uint32_t rows = (uint32_t)count_of(report, "hashed_examples");
    expect_rows(whole, run, rows, json_string_value(part(report, "logits_sha256")));
    expect_counts(run, report);
    assert_true(was_stopped(run) ? !part(report, "answers")
                                 : json_equal(part(report, "answers"), part(all, "answers")));
    json_decref(all);
    json_decref(report);
}

PLACE_TEST(labels_are_of_what_was_run, place) {
    const char *model = write_tiny_model(place->folder, "model", &classifier);
    const char *data = write_data(place->folder, EXAMPLES, OUTPUTS - 1);
    const char *const arguments[] = {"eval",  model,     data,        "--batch", "2",
                                     "--out", "out.npy", "--answers", "--json",  NULL};
    interrupt(arguments, check_labels);
}

PLACE_TEST(texts_in_folders_are_of_what_was_run, place) {
    const char *model = write_tiny_model(place->folder, "model", &classifier);
    char *texts = weft_test_path(place->folder, "texts");
    assert_int_equal(mkdir(texts, 0777), 0);
    for (int i = 0; i < EXAMPLES; i++) {
        char *label = weft_test_path(texts, weft_test_text("LABEL_%d", i % OUTPUTS));
        assert_true(mkdir(label, 0777) == 0 || i >= OUTPUTS);
        (void)weft_test_write(label, weft_test_text("%d.txt", i), "some text", 1 + (size_t)i % 9);
    }
    const char *const arguments[] = {"eval", model, texts, "--batch", "2", "--json", NULL};
    interrupt(arguments, check_sums);
}

/* ---- language models ---- */

/* Sums of the tokens that were run have no parts to compare with: they are finite, and the whole ones are the same. */
static void check_tokens(const struct run *whole, const struct run *run) {
    json_t *all = report_of(whole);
    json_t *report = report_of(run);
    const char *const same[] = {"evaluated",      "scored",        "correct",
                                "bits_per_token", "logits_sha256", "hashed_examples"};
    for (size_t i = 0; i < sizeof same / sizeof *same && !was_stopped(run); i++) {
        assert_true(json_equal(part(report, same[i]), part(all, same[i])));
    }
    if (was_stopped(run)) {
        assert_true(!json_is_string(part(report, "logits_sha256")));
        assert_true(count_of(report, "evaluated") <= EXAMPLES);
        assert_true(count_of(report, "scored") <= count_of(all, "scored"));
        assert_true(count_of(report, "correct") <= count_of(report, "scored"));
        assert_true(count_of(report, "scored") == 0 ||
                    json_number_value(part(report, "bits_per_token")) > 0.0);
    }
    json_decref(all);
    json_decref(report);
}

PLACE_TEST(bits_are_of_what_was_run, place) {
    const char *data = write_data(place->folder, 0, 0);
    const char *model = write_tiny_model(place->folder, "model", &causal);
    const char *const arguments[] = {"eval", model, data, "--batch", "2", "--json", NULL};
    interrupt(arguments, check_tokens);
}

PLACE_TEST(masks_are_of_what_was_run, place) {
    const char *data = write_data(place->folder, EXAMPLES * LENGTH, BYTES - 1);
    const char *model = write_tiny_model(place->folder, "model", &masked);
    const char *const arguments[] = {"eval", model, data, "--batch", "2", "--json", NULL};
    interrupt(arguments, check_tokens);
}

/* ---- several ---- */

/* Whole models, the first ones; what each says but its times is what it says uninterrupted. */
static void check_models(const struct run *whole, const struct run *run) {
    json_t *all = report_of(whole);
    json_t *report = report_of(run);
    const json_t *models = part(report, "models");
    const char *const same[] = {"model", "evaluated", "correct", "labels", "logits_sha256"};
    assert_true(json_array_size(models) <= json_array_size(part(all, "models")));
    assert_true(was_stopped(run) ||
                json_array_size(models) == json_array_size(part(all, "models")));
    for (size_t i = 0; i < json_array_size(models); i++) {
        const json_t *one = json_array_get(models, i);
        assert_true(json_is_false(part(one, "stopped")));
        for (size_t k = 0; k < sizeof same / sizeof *same; k++) {
            assert_true(json_equal(part(one, same[k]),
                                   part(json_array_get(part(all, "models"), i), same[k])));
        }
    }
    assert_int_equal(weft_test_entries(run->folder), 0);
    json_decref(all);
    json_decref(report);
}

PLACE_TEST(models_are_compared_whole, place) {
    const struct tiny_model another = {
        .task = "classify", .vocabulary = BYTES, .outputs = OUTPUTS, .bytes = true, .seed = 8};
    const char *data = write_data(place->folder, EXAMPLES, OUTPUTS - 1);
    const char *const arguments[] = {"eval",
                                     "--compare",
                                     write_tiny_model(place->folder, "one", &classifier),
                                     write_tiny_model(place->folder, "two", &another),
                                     data,
                                     "--json",
                                     NULL};
    interrupt(arguments, check_models);
}
