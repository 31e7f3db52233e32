/* SPDX-License-Identifier: MIT */
/* weft-test: slow one device */
/* weft bench --compare, --from, --csv and --debug-slow-down, as a whole. */
#include "cli/command.h"

#define TEST(name, f) WEFT_TEST_WITH(name, struct runs *f, NULL, NULL)

#define CASES "--suite mixers --filter banded_attention/n --lengths 128,512"

struct runs {
    char *folder;
    char *before; /* a report of CASES */
};

static int measure_once(void **state) {
    struct runs *runs = calloc(1, sizeof *runs);
    assert_non_null(runs);
    runs->folder = weft_test_folder();
    runs->before = weft_test_path(runs->folder, "before.json");
    expect_says(0, weft_test_text("bench " CASES " --seconds 0.5 --out '%s'", runs->before), NULL);
    *state = runs;
    return 0;
}

static int forget(void **state) {
    struct runs *runs = *state;
    free(runs);
    return 0;
}

WEFT_TEST_GROUP(measure_once, forget);

/* Ten times the work: no load of the machine makes that look like 1.56 times, which is what is told without fail. */
TEST(slow_down_is_reported, runs) {
    struct outcome outcome =
        expect_weft(1,
                    "bench " CASES " --seconds 0.5 --debug-slow-down 10 --compare '%s' --json "
                    "--fail-on-slower",
                    runs->before);
    json_t *comparison = json_of(&outcome);
    assert_int_equal(integer_field(comparison, "counts/slower"), 2);
    assert_int_equal(integer_field(comparison, "counts/output_changed"), 0);
    const json_t *difference = json_array_get(field(comparison, "differences"), 0);
    assert_string_equal(string_field(difference, "field"), "debug_slow_down");
    json_decref(comparison);
    outcome_clear(&outcome);
}

TEST(report_is_the_same_as_itself, runs) {
    expect_says(0, weft_test_text("bench --from '%s'", runs->before), "banded_attention/n=512,d=64",
                NULL);
    struct outcome outcome = expect_weft(0, "bench --from '%s' --compare '%s' --fail-on-slower",
                                         runs->before, runs->before);
    assert_null(strstr(outcome.out, "banded_attention"));
    expect_part(&outcome, outcome.out, "0 slower, 0 faster, 2 same");
    expect_part(&outcome, outcome.out, "No change beyond noise: 25 %");
    outcome_clear(&outcome);
    expect_says(
        0, weft_test_text("bench --from '%s' --compare '%s' --noise 7", runs->before, runs->before),
        "No change beyond noise: 7 %", NULL);
}

TEST(files_are_made_of_a_report, runs) {
    char *csv = weft_test_path(runs->folder, "rows.csv");
    char *copy = weft_test_path(runs->folder, "copy.json");
    char *page = weft_test_path(runs->folder, "page.html");
    expect_says(0,
                weft_test_text("bench --from '%s' --csv '%s' --out '%s' --html '%s' --compare '%s'",
                               runs->before, csv, copy, page, runs->before),
                NULL);
    size_t size = 0;
    char *html = (char *)weft_test_read(page, &size);
    assert_non_null(strstr(html, "\"across_devices\""));
    free(html);
    char *text = (char *)weft_test_read(csv, &size);
    assert_non_null(
        strstr(text, "\r\nmixers,\"banded_attention/n=128,d=64\",banded_attention,128,"));
    free(text);
    json_t *before = json_load_file(runs->before, 0, NULL);
    json_t *after = json_load_file(copy, 0, NULL);
    assert_true(json_equal(before, after));
    json_decref(before);
    json_decref(after);
}

TEST(other_files_are_refused, runs) {
    static const char old[] = "{\"schema\": 1, \"environment\": {}, \"rows\": [], \"fits\": []}";
    char *path = weft_test_write(runs->folder, "old.json", old, sizeof old - 1);
    char *line = weft_test_text("bench --from '%s'", path);
    expect_refused(4, line, "old.json: field \"schema\": expected 2", "found 1", NULL);
    /* The file is looked at before anything is measured. */
    line = weft_test_text("bench " CASES " --seconds 1000000 --compare '%s'", path);
    expect_refused(4, line, "old.json: field \"schema\"", NULL);
    const char *absent = weft_test_absent("none/report");
    expect_refused(4, weft_test_text("bench --from '%s'", absent), absent, NULL);
    line = weft_test_text("bench --from '%s' --csv '%s'", runs->before, absent);
    expect_says(4, line, absent, NULL);
}

TEST(wrong_usage_is_refused, runs) {
    static const char *const more[] = {"--suite ops", "--filter a", "--lengths 64", "--device 0",
                                       "--debug-slow-down 2"};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
        char *line = weft_test_text("bench --from '%s' %s", runs->before, more[i]);
        expect_refused(2, line, "--from uses the rows of files", NULL);
    }
    expect_refused(2, "bench --debug-slow-down 1", "from 2 to 10, found '1'", NULL);
    expect_refused(2, "bench --debug-slow-down 11", "from 2 to 10, found '11'", NULL);
    expect_refused(2, "bench --debug-slow-down 1.5", "--debug-slow-down: expected", NULL);
    expect_refused(2, "bench --fail-on-slower", "--fail-on-slower is for --compare", NULL);
    expect_refused(2, "bench --noise 5", "--noise is for --compare", NULL);
}

/* README's lines, in their order, with the least work: each file that one reads is there by then. */
WEFT_TEST(the_lines_of_readme_run_one_after_the_other) {
    static const char start[] = "$ weft bench ";
    char *folder = weft_test_folder();
    size_t size = 0;
    uint32_t ran = 0;
    bool compared = false;
    char *text = (char *)weft_test_read(WEFT_SOURCE_DIR "/README.md", &size);
    char *save = NULL;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        if (strncmp(line, start, sizeof start - 1) != 0 || strstr(line, "--model")) {
            continue;
        }
        line[strcspn(line, "#")] = '\0';
        const char *arguments = line + sizeof start - 1 - strlen("bench ");
        const char *least = strstr(line, "--from") ? ""
                                                   : "--suite ops --size smallest --seconds 0.05 "
                                                     "--rounds 1 --no-limits";
        struct outcome outcome = run_weft(weft_test_text("cd '%s' &&", folder),
                                          weft_test_text("%s %s", arguments, least));
        if (outcome.exit_code != 0) {
            fail_msg("%s: %s", line, outcome.err);
        }
        compared = compared || strstr(line, "--compare");
        ran++;
        outcome_clear(&outcome);
    }
    assert_true(compared && ran >= 3);
    free(text);
}
