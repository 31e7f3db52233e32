/* SPDX-License-Identifier: MIT */
/* weft tokenize, on a model of bytes, whose tokens are known. */
#include "cli/sentence_folder.h"

static char *write_model(const struct place *place) {
    char *folder = make_folder(place->folder, "model");
    write_encoder(folder);
    return folder;
}

/* Standard output of "tokenize MODEL ARGUMENTS". */
static void expect_out(const char *model, const char *arguments, const char *expected) {
    struct outcome outcome = expect_weft(0, "tokenize '%s' %s", model, arguments);
    assert_string_equal(outcome.out, expected);
    outcome_clear(&outcome);
}

PLACE_TEST(numbers_of_texts_and_lines, place) {
    const char *model = write_model(place);
    const char *lines = weft_test_write(place->folder, "lines.txt", "ab\n\nc\r\nd e", 10);
    const char *table =
        weft_test_write(place->folder, "rows.csv", "id,text\n1,xy\n2,\"z\n\"\n", 20);
    expect_out(model, "--ids --text ab --text '' --text é", "97 98\n\n195 169\n");
    expect_out(model, weft_test_text("--ids --lines '%s'", lines), "97 98\n\n99\n100 32 101\n");
    expect_out(model, weft_test_text("--ids --lines '%s' --field text", table),
               "120 121\n122 10\n");
}

PLACE_TEST(pieces_and_places, place) {
    const char *model = write_model(place);
    expect_out(model, "--text a! --text b",
               "text  token  piece  begin  end\n"
               "   1     97  a          0    1\n"
               "   1     33  !          1    2\n"
               "   2     98  b          0    1\n");
}

/* Whose lines end where a window does: its heading is there once. */
PLACE_TEST(a_whole_window_of_lines, place) {
    enum { LINES = 1024 };
    const char *model = write_model(place);
    char lines[2 * LINES];
    for (size_t i = 0; i < sizeof lines; i++) {
        lines[i] = i % 2 == 0 ? 'a' : '\n';
    }
    const char *path = weft_test_write(place->folder, "lines.txt", lines, sizeof lines);
    struct outcome outcome = expect_weft(0, "tokenize '%s' --lines '%s'", model, path);
    const char *end = outcome.out + strlen(outcome.out);
    size_t rows = 0;
    for (const char *at = outcome.out; at < end; at = strchr(at, '\n') + 1) {
        rows++;
    }
    assert_int_equal(rows, LINES + 1);
    outcome_clear(&outcome);
}

/* What came before a text that is refused is there. */
PLACE_TEST(lines_before_one_that_is_refused, place) {
    static const char rows[] = "{\"text\": \"ab\"}\n{\"text\": 3}\n{\"text\": \"c\"}\n";
    const char *model = write_model(place);
    const char *path = weft_test_write(place->folder, "rows.jsonl", rows, sizeof rows - 1);
    struct outcome outcome =
        expect_weft(4, "tokenize '%s' --ids --lines '%s' --field text", model, path);
    assert_string_equal(outcome.out, "97 98\n");
    expect_part(&outcome, outcome.err, "line 2: field \"text\": expected a text");
    outcome_clear(&outcome);
}

PLACE_TEST(an_object_has_all, place) {
    const char *model = write_model(place);
    json_t *report = run_json(
        "", "tokenize '%s' --text ab --text 0123456789012345678901234567890123456789", model);
    json_t *first = json_array_get(field(report, "texts"), 0);
    json_t *expected =
        json_loads("{\"tokens\": [97, 98], \"types\": [0, 0], \"pieces\": [\"a\", \"b\"], "
                   "\"begins\": [0, 1], \"ends\": [1, 2], \"cut\": 0}",
                   0, NULL);
    assert_true(json_equal(first, expected));
    assert_int_equal(integer_field(json_array_get(field(report, "texts"), 1), "cut"), 8);
    assert_int_equal(integer_field(report, "tokens"), 34);
    assert_int_equal(integer_field(report, "cut"), 1);
    assert_true(json_is_false(field(report, "stopped")));
    json_decref(expected);
    json_decref(report);
}

PLACE_TEST(what_is_cut_is_said, place) {
    const char *model = write_model(place);
    struct outcome outcome = expect_weft(
        0, "tokenize '%s' --ids --text 0123456789012345678901234567890123456789", model);
    expect_part(&outcome, outcome.err, "1 of 1 texts were cut: the model takes 32 tokens");
    outcome_clear(&outcome);
}

PLACE_TEST(wrong_usage, place) {
    const char *model = write_model(place);
    expect_refused(2, weft_test_text("tokenize '%s'", model), "--text and --lines", NULL);
    expect_refused(2, weft_test_text("tokenize '%s' --text a --lines b", model), "one of", NULL);
    expect_refused(2, weft_test_text("tokenize '%s' --text a --ids --json", model), "exclude",
                   NULL);
    expect_refused(2, weft_test_text("tokenize '%s' --text a --field b", model), "--field", NULL);
    expect_refused(4, weft_test_text("tokenize '%s/none' --text a", place->folder), "none", NULL);
    expect_refused(4, "tokenize " WEFT_SOURCE_DIR "/tests/data/fnet/classify_d36_l2_gelu --text a",
                   "tokenizer", NULL);
    expect_refused(4, weft_test_text("tokenize '%s' --lines '%s/none'", model, place->folder),
                   "none", NULL);
}
