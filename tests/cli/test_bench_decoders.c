/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* weft bench --model: what it says that it has timed, and the form in which it says it. No time is held against another. */
#include "cli/command.h"

#define POSITIONS 48
#define FNET      WEFT_SOURCE_DIR "/tests/data/fnet/classify_d36_l2_gelu"

#include "cli/bytes_model.h"

/* The model's own name, as the table has it. */
static const char *name_of(const struct weft_test_model *model) {
    return strrchr(model->folder, '/') + 1;
}

static size_t count_of(const char *text, char c) {
    size_t count = 0;
    for (; *text != '\0'; text++) {
        count += *text == c;
    }
    return count;
}

/* Every line has the same cells; the last is a rate above 0, and its deviation. */
TEST(the_table_is_of_both_tests_of_every_model, model) {
    struct outcome outcome = expect_weft(
        0, "bench --model '%s' --model '%s/' --prompt-tokens 7 --new-tokens 3 --rounds 2",
        model->folder, model->folder);
    static const char *const tests[] = {NULL, NULL, "pp7", "tg3", "pp7", "tg3"};
    size_t lines = 0;
    char *save = NULL;
    for (char *line = strtok_r(outcome.out, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        assert_true(lines < sizeof tests / sizeof *tests);
        assert_int_equal(count_of(line, '|'), 9);
        if (tests[lines]) {
            char test[8] = "";
            double mean = 0.0;
            double deviation = -1.0;
            char *end = strstr(line, tests[lines]);
            assert_non_null(end);
            assert_int_equal(sscanf(end, "%7s | %lf ± %lf |", test, &mean, &deviation), 3);
            assert_true(mean > 0.0 && deviation >= 0.0);
            assert_non_null(strstr(line, weft_test_text("| %s, f32 |", name_of(model))));
        }
        lines++;
    }
    assert_int_equal(lines, 6);
    outcome_clear(&outcome);
}

TEST(the_report_has_every_round, model) {
    char *path = weft_test_path(model->folder, "speeds.json");
    json_t *object = run_json(
        "",
        "bench --model '%s' --prompt-tokens 5 --new-tokens 4 --rounds 3 --label 'laptop A' "
        "--out '%s'",
        model->folder, path);
    const json_t *decoder = json_array_get(field(object, "decoders"), 0);
    assert_string_equal(string_field(decoder, "model"), name_of(model));
    assert_string_equal(string_field(object, "environment/label"), "laptop A");
    assert_true(integer_field(decoder, "parameters") > 0);
    assert_true(integer_field(decoder, "weight_bytes") > 0);
    assert_string_equal(string_field(decoder, "decoding"), "recurrent");
    static const char *const tests[] = {"pp5", "tg4"};
    assert_int_equal(json_array_size(field(decoder, "tests")), 2);
    for (size_t i = 0; i < 2; i++) {
        const json_t *test = json_array_get(field(decoder, "tests"), i);
        const json_t *rounds = field(test, "rounds_ms");
        double sum = 0.0;
        assert_string_equal(string_field(test, "test"), tests[i]);
        assert_int_equal(json_array_size(rounds), 3);
        for (size_t k = 0; k < 3; k++) {
            sum += 1e3 * (double)integer_field(test, "tokens") /
                   json_number_value(json_array_get(rounds, k)) / 3.0;
        }
        const double mean = json_number_value(field(test, "tokens_per_s"));
        assert_true(sum > 0.999999 * mean && sum < 1.000001 * mean);
        assert_true(json_number_value(field(test, "deviation")) >= 0.0);
    }
    json_t *written = json_load_file(path, 0, NULL);
    assert_true(json_equal(written, object));
    json_decref(written);
    json_decref(object);
    expect_refused(4, weft_test_text("bench --from '%s'", path), "field \"schema\": expected 2",
                   NULL);
}

/* One round has no deviation. */
TEST(one_round_is_enough, model) {
    json_t *object = run_json("", "bench --model '%s' --prompt-tokens 2 --new-tokens 1 --rounds 1",
                              model->folder);
    const json_t *decoder = json_array_get(field(object, "decoders"), 0);
    const json_t *test = json_array_get(field(decoder, "tests"), 1);
    assert_true(json_is_null(field(test, "deviation")));
    assert_true(json_number_value(field(test, "tokens_per_s")) > 0.0);
    json_decref(object);
}

TEST(what_is_no_decoder_is_refused, model) {
    char *line =
        weft_test_text("bench --model '%s' --prompt-tokens %d", model->folder, POSITIONS + 1);
    expect_refused(4, line, "expected at most 48, the model's positions, found 128", NULL);
    line = weft_test_text("bench --model '%s' --new-tokens 49 --prompt-tokens 1", model->folder);
    expect_refused(4, line, "expected at most 48", NULL);
    expect_refused(4, "bench --model " FNET, "expected a language model (task causal_lm)", NULL);
    expect_refused(4, weft_test_text("bench --model '%s'", weft_test_absent("model")), "model",
                   NULL);
    expect_refused(2, "bench --prompt-tokens 5", "--prompt-tokens is for --model", NULL);
    expect_refused(2, "bench --new-tokens 5", "--new-tokens is for --model", NULL);
    expect_refused(2, "bench --model a --suite ops", "it excludes --suite", NULL);
    expect_refused(2, "bench --model a --from b", "it excludes --from", NULL);
    expect_refused(2, "bench --model a --rounds 11", "from 1 to 10, found '11'", NULL);
}
