/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* weft run --lines: a text on each line, run together, with what each gives alone. */
#include "cli/task_models.h"

#define MODELS  WEFT_SOURCE_DIR "/api/examples/models"
#define LENGTHS MODELS "/langid1024-fmmformer" /* takes lengths */
#define EXACT   MODELS "/langid1024-fnet"

/* Lines of different lengths; the second ends with \r\n, the last without either. */
static const char *const texts[] = {"un chat", "the cat sat on the mat", "der Hund", "a",
                                    "el perro corre"};
enum { TEXTS = sizeof texts / sizeof texts[0] };

static char *write_lines(struct place *place) {
    char *all =
        weft_test_text("%s\n%s\r\n%s\n%s\n%s", texts[0], texts[1], texts[2], texts[3], texts[4]);
    return weft_test_write(place->folder, "lines.txt", all, strlen(all));
}

static void expect_texts(struct place *place, const char *model, uint32_t plans) {
    char *lines = write_lines(place);
    json_t *report = run_json("", "run %s --lines %s --top 24 --out %s", model, lines, place->out);
    json_t *results = field(report, "results");
    float *outputs = read_reals(place->out, (size_t)TEXTS * 24);
    assert_int_equal(integer_field(report, "texts"), TEXTS);
    assert_int_equal(integer_field(report, "plans"), plans);
    assert_int_equal(json_array_size(results), TEXTS);
    assert_int_equal(integer_field(report, "tokens"), 7 + 22 + 8 + 1 + 14);
    for (size_t i = 0; i < TEXTS; i++) {
        char *text = weft_test_write(place->folder, "one.txt", texts[i], strlen(texts[i]));
        json_t *alone = run_json("", "run %s --file %s --top 24 --out %s", model, text, place->out);
        float *logits = read_reals(place->out, 24);
        assert_memory_equal(&outputs[i * 24], logits, 24 * sizeof *logits);
        assert_true(json_equal(field(json_array_get(results, i), "top"),
                               field(json_array_get(field(alone, "results"), 0), "top")));
        free(logits);
        json_decref(alone);
    }
    free(outputs);
    json_decref(report);
}

PLACE_TEST(texts_of_about_one_length_share_a_plan, place) {
    expect_texts(place, LENGTHS, 4); /* 1; 7 and 8; 14; 22 */
}

PLACE_TEST(texts_of_other_lengths_stay_apart, place) {
    expect_texts(place, EXACT, TEXTS);
}

PLACE_TEST(lines_are_shown_and_read_from_a_pipe, place) {
    char *lines = write_lines(place);
    expect_says(0, weft_test_text("run " LENGTHS " --lines %s --top 1", lines), "line",
                "probability", "5 texts, 52 tokens, in 4 plans on ", NULL);
    expect_says(0, weft_test_text("run " LENGTHS " --lines - --top 1 <%s", lines), "5 texts", NULL);
}

PLACE_TEST(lines_that_are_no_texts_are_named, place) {
    char *lines = weft_test_write(place->folder, "lines.txt", "one\n\nthree\n", 11);
    char *model = write_tiny_model(place->folder, "causal", &causal);
    expect_refused(4, weft_test_text("run " LENGTHS " --lines %s", lines), lines,
                   "line 2: expected a text, found none", NULL);
    expect_refused(4, weft_test_text("run %s --lines %s", model, lines), "--lines", "the task of",
                   "causal_lm", NULL);
    expect_refused(2, weft_test_text("run " LENGTHS " --lines %s --repeat 3", lines), "--repeat",
                   "--lines excludes them", NULL);
    expect_refused(2, weft_test_text("run " LENGTHS " --lines %s --file %s", lines, lines),
                   "--lines", "found several", NULL);
}
