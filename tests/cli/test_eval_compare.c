/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* weft eval --compare, --answers and --examples. */
#include <math.h>

#include "cli/archive.h"
#include "cli/tiny_model.h"

enum { ROWS = 5, LENGTH = 7, BYTES = 256, LABELS = 4, MODELS = 3 };

/* Three classifiers of bytes, the last with more labels, and data for them. */
struct place {
    char *folder;
    char *models[MODELS];
    char *data;
};

static void add_data(struct place *place) {
    int32_t tokens[ROWS * LENGTH];
    const int32_t labels[ROWS] = {0, 1, 2, 3, 0};
    static const char *const texts[ROWS] = {"le chat", "the cat", "il gatt",
                                            "\xe7\x8c\xab\xe3\x81\x8c\n", "\x82\x8b un c"};
    for (size_t row = 0; row < ROWS; row++) {
        for (size_t i = 0; i < LENGTH; i++) {
            tokens[row * LENGTH + i] = (unsigned char)texts[row][i];
        }
    }
    char *path = write_integers(place->folder, "tokens.npy", tokens, weft_shape_of(ROWS, LENGTH));
    char *labels_path = write_integers(place->folder, "labels.npy", labels, weft_shape_of(ROWS));
    const struct member members[] = {{"tokens", path}, {"labels", labels_path}, {NULL, NULL}};
    place->data = write_archive(place->folder, "data.npz", members);
}

static int make_place(void **state) {
    static const char *const names[MODELS] = {"one", "two", "three"};
    struct place *place = calloc(1, sizeof *place);
    assert_non_null(place);
    place->folder = weft_test_folder();
    for (size_t i = 0; i < MODELS; i++) {
        const struct tiny_model model = {.task = "classify",
                                         .vocabulary = BYTES,
                                         .outputs = i == 2 ? LABELS + 1 : LABELS,
                                         .bytes = true,
                                         .seed = 11 + i};
        place->models[i] = write_tiny_model(place->folder, names[i], &model);
    }
    add_data(place);
    *state = place;
    return 0;
}

static int remove_place(void **state) {
    struct place *place = *state;
    free(place);
    return 0;
}

#define TEST(name, place) WEFT_TEST_WITH(name, struct place *place, make_place, remove_place)

static char *compare_line(const struct place *place, const char *options) {
    return weft_test_text("eval --compare %s %s/ %s %s %s", place->models[0], place->models[1],
                          place->models[2], place->data, options);
}

/* ---- comparing ---- */

TEST(each_model_is_as_it_is_alone, place) {
    char *line = compare_line(place, "--batch 2");
    json_t *together = run_json("", line);
    assert_int_equal(integer_field(together, "examples"), ROWS);
    json_t *reports = field(together, "models");
    assert_int_equal(json_array_size(reports), MODELS);
    double first_speed = number_field(json_array_get(reports, 0), "tokens_per_s");
    for (size_t i = 0; i < MODELS; i++) {
        json_t *report = json_array_get(reports, i);
        json_t *alone = run_json("", "eval %s %s --batch 2", place->models[i], place->data);
        static const char *const same[] = {"logits_sha256", "correct",    "accuracy", "labels",
                                           "parameters",    "peak_bytes", "mixing",   "examples"};
        for (size_t j = 0; j < sizeof same / sizeof same[0]; j++) {
            if (!json_equal(field(report, same[j]), field(alone, same[j]))) {
                fail_msg("%s: %s differs", place->models[i], same[j]);
            }
        }
        double relative = number_field(report, "relative_speed");
        double expected = number_field(report, "tokens_per_s") / first_speed;
        assert_true(fabs(relative - expected) <= 1e-9 * expected);
        json_decref(alone);
    }
    assert_true(number_field(json_array_get(reports, 0), "relative_speed") == 1.0);
    json_decref(together);
}

/* The lines that begin with the text, and what is behind it. */
static const char *line_of(const struct outcome *outcome, const char *start) {
    const char *at = outcome->out;
    while (at && strncmp(at, start, strlen(start)) != 0) {
        at = strchr(at, '\n');
        at = !at ? NULL : at + 1;
    }
    if (!at) {
        fail_msg("%s: no line begins with \"%s\" in\n%s", outcome->line, start, outcome->out);
    }
    return at;
}

TEST(table_has_a_line_for_each_model, place) {
    char *line = compare_line(place, " ");
    struct outcome text = expect_weft(0, "%s", line);
    assert_string_equal(text.err, "");
    expect_part(&text, text.out, "5 examples");
    static const char *const columns[] = {"model",    "mixer",    "parameters", "accuracy",
                                          "tokens/s", "relative", "peak memory"};
    const char *at = line_of(&text, "model ");
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        at = strstr(at, columns[i]);
        assert_non_null(at);
    }
    const char *one = line_of(&text, "one  ");
    const char *two = line_of(&text, "two  ");
    const char *three = line_of(&text, "three  ");
    assert_true(one < two && two < three);
    assert_non_null(strstr(one, "1.00×"));
    expect_part(&text, text.out, "transformer");
    outcome_clear(&text);
}

/* Ends of paths, unless they are the same; without the task that all have, over the answers. */
TEST(names_are_short_and_differ, place) {
    const struct tiny_model model = {
        .task = "classify", .vocabulary = BYTES, .outputs = LABELS, .bytes = true, .seed = 1};
    char *first = write_tiny_model(place->folder, "job-some", &model);
    char *second = write_tiny_model(place->folder, "job-sore", &model);
    char *same = write_tiny_model(first, "job-sore", &model);
    struct outcome text =
        expect_weft(0, "eval --compare --answers %s %s %s", first, second, place->data);
    assert_non_null(strstr(line_of(&text, "example  label    some "), " sore "));
    line_of(&text, "job-some  transformer");
    line_of(&text, "job-sore  transformer");
    outcome_clear(&text);
    text = expect_weft(0, "eval --compare %s %s %s", second, same, place->data);
    char *whole = weft_test_text("%s  transformer", same);
    line_of(&text, whole);
    outcome_clear(&text);
}

/* Nothing runs, so that nothing is printed, when one of them does not fit. */
TEST(models_that_do_not_fit_are_refused, place) {
    static const struct {
        struct tiny_model model;
        const char *said;
    } cases[] = {
        {{.task = "classify", .vocabulary = BYTES, .outputs = 3}, "expected 0 to 2"},
        {{.task = "classify", .vocabulary = 100, .outputs = LABELS},
         "expected a token from 0 to 99"},
        {{.task = "classify", .input_size = 2, .outputs = LABELS}, "expected the member inputs"},
        {{.task = "causal_lm", .vocabulary = BYTES, .outputs = BYTES},
         "expected the task classify, as the first model has it, to compare them; found causal_lm"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *name = weft_test_text("bad%zu", i);
        char *model = write_tiny_model(place->folder, name, &cases[i].model);
        char *line =
            weft_test_text("eval --compare %s %s %s", place->models[0], model, place->data);
        expect_refused(4, line, model, cases[i].said, NULL);
    }
    const char *absent = weft_test_absent("model");
    char *line = weft_test_text("eval --compare %s %s %s", place->models[0], absent, place->data);
    expect_refused(4, line, absent, NULL);
}

TEST(language_models_are_compared_by_bits, place) {
    const struct tiny_model causal = {
        .task = "causal_lm", .vocabulary = BYTES, .outputs = BYTES, .bytes = true, .seed = 20};
    char *model = write_tiny_model(place->folder, "causal", &causal);
    struct outcome text = expect_weft(0, "eval --compare %s %s", model, place->data);
    const char *columns = line_of(&text, "model ");
    assert_non_null(strstr(columns, "bits per byte  perplexity"));
    outcome_clear(&text);
    /* Their labels are the tokens: there is nothing to show of each example. */
    char *line = weft_test_text("eval --compare %s %s --answers", model, place->data);
    expect_refused(4, line, "--answers", model, "causal_lm", NULL);
    line = weft_test_text("eval %s %s --out %s/out.npy", model, place->data, place->folder);
    expect_refused(2, line, "--out", "weft run --out", NULL);
}

/* ---- answers ---- */

TEST(answers_are_those_of_the_logits, place) {
    char *out = weft_test_path(place->folder, "logits.npy");
    json_t *report =
        run_json("", "eval %s %s --answers --out %s", place->models[0], place->data, out);
    float *logits = read_reals(out, (size_t)ROWS * LABELS);
    json_t *answers = field(report, "answers");
    assert_int_equal(json_array_size(answers), ROWS);
    long long correct = 0;
    for (size_t row = 0; row < ROWS; row++) {
        json_t *answer = json_array_get(answers, row);
        assert_int_equal(integer_field(answer, "example"), row);
        const char *said = string_field(answer, "answer");
        long index = strtol(said + strlen("LABEL_"), NULL, 10);
        double sum = 0.0;
        for (size_t i = 0; i < LABELS; i++) {
            assert_true(logits[row * LABELS + i] <= logits[row * LABELS + (size_t)index]);
            sum += exp((double)logits[row * LABELS + i] -
                       (double)logits[row * LABELS + (size_t)index]);
        }
        assert_true(fabs(number_field(answer, "probability") * sum - 1.0) < 1e-9);
        correct += strcmp(said, string_field(answer, "label")) == 0;
    }
    assert_int_equal(integer_field(report, "correct"), correct);
    free(logits);
    json_decref(report);
}

/* A character that the row begins within is left out, and the end of a line is a space. */
TEST(texts_are_shown_beside_the_answers, place) {
    char *line = compare_line(place, "--answers");
    struct outcome text = expect_weft(0, "%s", line);
    static const char *const starts[ROWS] = {"      0  LABEL_0", "      1  LABEL_1",
                                             "      2  LABEL_2", "      3  LABEL_3",
                                             "      4  LABEL_0"};
    static const char *const ends[ROWS] = {"  le chat\n", "  the cat\n", "  il gatt\n",
                                           "  \xe7\x8c\xab\xe3\x81\x8c \n", "   un c\n"};
    for (size_t row = 0; row < ROWS; row++) {
        const char *at = line_of(&text, starts[row]);
        const char *end = strchr(at, '\n') + 1;
        size_t length = strlen(ends[row]);
        if (strncmp(end - length, ends[row], length) != 0) {
            fail_msg("example %zu does not end with %s in\n%s", row, ends[row], text.out);
        }
    }
    char *report_line = weft_test_text("%s --json", line);
    struct outcome json = expect_weft(0, "%s", report_line);
    json_t *report = json_of(&json);
    size_t wrong = 0;
    for (size_t i = 0; i < MODELS; i++) {
        json_t *model = json_array_get(field(report, "models"), i);
        wrong += (size_t)(ROWS - integer_field(model, "correct"));
    }
    for (const char *at = text.out; (at = strstr(at, "✗")); at += strlen("✗")) {
        assert_true(wrong > 0);
        wrong--;
    }
    assert_int_equal(wrong, 0);
    json_decref(report);
    outcome_clear(&json);
    outcome_clear(&text);
}

TEST(examples_are_evenly_spread, place) {
    char *line = weft_test_text("eval %s %s --answers", place->models[0], place->data);
    json_t *all = run_json("", line);
    static const int counts[] = {1, 2, 3, 5, 100};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        json_t *report = run_json("", "eval %s %s --answers --examples %d", place->models[0],
                                  place->data, counts[i]);
        int expected = counts[i] < ROWS ? counts[i] : ROWS;
        json_t *answers = field(report, "answers");
        assert_int_equal(integer_field(report, "examples"), expected);
        assert_int_equal(json_array_size(answers), expected);
        for (int j = 0; j < expected; j++) {
            size_t place_in_file = (size_t)(j * ROWS / expected);
            assert_true(json_equal(json_array_get(answers, (size_t)j),
                                   json_array_get(field(all, "answers"), place_in_file)));
        }
        json_decref(report);
    }
    json_decref(all);
}

/* The hash of a part is that of the part alone. */
TEST(bits_of_a_part_are_compared, place) {
    char *line = weft_test_text("eval %s %s --examples 2", place->models[0], place->data);
    json_t *report = run_json("", line);
    char *digest = weft_test_text("%s\n", string_field(report, "logits_sha256"));
    char *path = weft_test_write(place->folder, "part.sha256", digest, strlen(digest));
    struct outcome same = expect_weft(0, "%s --bits %s", line, path);
    expect_says(
        1, weft_test_text("eval %s %s --examples 3 --bits %s", place->models[0], place->data, path),
        "the outputs' bits have SHA-256", NULL);
    outcome_clear(&same);
    json_decref(report);
}
