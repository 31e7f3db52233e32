/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* weft run --lines: a text on each line, run together, with what each gives alone. */
#include "cli/task_models.h"
#include "core/system/file.h"

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

/* Standard output of a command that succeeds. */
static char *answers_of(const char *arguments) {
    struct outcome outcome = expect_weft(0, "%s", arguments);
    char *out = weft_test_text("%s", outcome.out);
    outcome_clear(&outcome);
    return out;
}

PLACE_TEST(an_empty_line_has_an_empty_answer, place) {
    char *lines = weft_test_write(place->folder, "lines.txt", "one\n\n\r\nthree\n", 13);
    const char *command = "run " LENGTHS " --lines %s --top 2 %s";
    char *tsv = answers_of(weft_test_text(command, lines, "--tsv"));
    char *first = strchr(tsv, '\n');
    assert_true(first > tsv && memcmp(first, "\n\n\n", 3) == 0 && first[3] != '\n');
    for (const char *at = tsv; at < first; at++) {
        assert_true(*at != ' ');
    }
    assert_true(strchr(tsv, '\t') < first);

    json_t *report = run_json("", command, lines, "--json");
    json_t *results = field(report, "results");
    assert_int_equal(integer_field(report, "texts"), 4);
    assert_int_equal(json_array_size(results), 4);
    char *jsonl = answers_of(weft_test_text(command, lines, "--jsonl"));
    for (size_t i = 0; i < 4; i++) {
        char *end = strchr(jsonl, '\n');
        assert_non_null(end);
        *end = '\0';
        json_t *line = json_loads(jsonl, 0, NULL);
        assert_int_equal(integer_field(line, "line"), i + 1);
        assert_int_equal(json_array_size(field(line, "top")), i == 1 || i == 2 ? 0 : 2);
        assert_true(json_equal(field(line, "top"), field(json_array_get(results, i), "top")));
        json_decref(line);
        jsonl = end + 1;
    }
    assert_string_equal(jsonl, "");
    json_decref(report);
}

/* More lines than the first windows take: each answer stands at its line. */
PLACE_TEST(answers_are_in_order_over_windows, place) {
    enum { LINES = 500, ROOM = 32 };
    char *text = weft_test_keep((size_t)LINES * ROOM);
    size_t size = 0;
    for (int i = 0; i < LINES; i++) {
        size += (size_t)snprintf(text + size, ROOM, "%s\n", texts[i * 7 % TEXTS]);
    }
    char *lines = weft_test_write(place->folder, "lines.txt", text, size);
    char *out = answers_of(weft_test_text("run " EXACT " --lines %s --tsv", lines));
    char *answers[TEXTS] = {0};
    for (int i = 0; i < LINES; i++) {
        char *end = strchr(out, '\n');
        assert_non_null(end);
        *end = '\0';
        char **answer = &answers[i * 7 % TEXTS];
        *answer = *answer ? *answer : out;
        assert_string_equal(*answer, out);
        out = end + 1;
    }
    assert_string_equal(out, "");
    assert_string_not_equal(answers[0], answers[1]);
}

PLACE_TEST(lines_that_are_no_texts_are_named, place) {
    char *lines = weft_test_write(place->folder, "lines.txt", "one\nthree\n", 10);
    char *nothing = weft_test_write(place->folder, "nothing.txt", "", 0);
    char *model = write_tiny_model(place->folder, "causal", &causal);
    expect_refused(4, weft_test_text("run " LENGTHS " --lines %s", nothing), nothing,
                   "expected texts, found none", NULL);
    expect_refused(2, "run " LENGTHS " --text a --tsv", "--jsonl and --tsv need --lines", NULL);
    expect_refused(2, weft_test_text("run " LENGTHS " --lines %s --tsv --json", lines),
                   "exclude each other", NULL);
    expect_refused(4, weft_test_text("run %s --lines %s", model, lines), "--lines", "the task of",
                   "causal_lm", NULL);
    expect_refused(2, weft_test_text("run " LENGTHS " --lines %s --repeat 3", lines), "--repeat",
                   "--lines excludes them", NULL);
    expect_refused(2, weft_test_text("run " LENGTHS " --lines %s --file %s", lines, lines),
                   "--lines", "found several", NULL);
}

/* A model's labels are somebody else's, and a spreadsheet opens what --tsv prints. */
PLACE_TEST(labels_are_no_formulas, place) {
    static const char *const files[] = {"config.json", "model.safetensors"};
    char *model = weft_test_path(place->folder, "model");
    assert_ok(weft_make_folders(model, NULL));
    for (size_t i = 0; i < 2; i++) {
        size_t size = 0;
        uint8_t *data =
            weft_test_read(weft_test_path(MODELS "/langid1024-transformer", files[i]), &size);
        weft_test_write(model, files[i], data, size);
        free(data);
    }
    char *path = weft_test_path(model, "config.json");
    json_t *config = json_load_file(path, 0, NULL);
    assert_non_null(config);
    const char *name = NULL;
    json_t *label = NULL;
    json_object_foreach(json_object_get(config, "id2label"), name, label) {
        assert_int_equal(json_string_set(label, "=1;+2"), 0);
    }
    json_object_del(config, "label2id");
    assert_int_equal(json_dump_file(config, path, 0), 0);
    json_decref(config);
    char *lines = weft_test_write(place->folder, "formulas.txt", "guten Tag\n", 10);
    char *tsv = answers_of(weft_test_text("run %s --lines %s --top 1 --tsv", model, lines));
    assert_int_equal(strncmp(tsv, "'=1;'+2\t0.", strlen("'=1;'+2\t0.")), 0);
}
