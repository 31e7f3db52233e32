/* SPDX-License-Identifier: MIT */
/* weft-test: posix */
/*
 * embed, run --lines and rerank, stopped at random moments: what they deliver is part of what they deliver uninterrupted, their
 * counts and hashes are of that part, and files are whole. embed --resume goes on to the same bytes.
 */
#define _DEFAULT_SOURCE
#include "cli/interrupt_rows.h"

#include "cli/cli.h"

/* ---- embed and run ---- */

static void check_vectors(const struct run *whole, const struct run *run) {
    json_t *report = report_of(run);
    const uint32_t count = (uint32_t)json_integer_value(part(report, "texts"));
    const json_t *output = part(report, "output");
    expect_rows(whole, run, count, json_string_value(part(output, "sha256")));
    assert_int_equal(json_integer_value(json_array_get(part(output, "shape"), 0)), count);
    /* Its rows, and what goes on needs. */
    const size_t files = count == 0 ? 0 : was_stopped(run) ? 2 : 1;
    assert_int_equal(weft_test_entries(run->folder), files);
    json_decref(report);
}

static void check_lines(const struct run *whole, const struct run *run) {
    json_t *all = report_of(whole);
    json_t *report = report_of(run);
    const uint32_t count = (uint32_t)json_integer_value(part(report, "texts"));
    assert_int_equal(expect_first_items(part(all, "results"), part(report, "results")), count);
    expect_rows(whole, run, count, json_string_value(part(part(report, "output"), "sha256")));
    assert_int_equal(weft_test_entries(run->folder), count > 0 ? 1 : 0);
    json_decref(all);
    json_decref(report);
}

PLACE_TEST(vectors_are_those_that_were_made, place) {
    const char *model = write_tiny_model(place->folder, "model", &classifier);
    const char *const arguments[] = {
        "embed", model,     "--pooling", "mean", "--lines", write_lines(place->folder, false),
        "--out", "out.npy", "--json",    NULL};
    interrupt(arguments, check_vectors);
}

PLACE_TEST(answers_are_those_that_were_made, place) {
    const char *model = write_tiny_model(place->folder, "model", &classifier);
    const char *lines = write_lines(place->folder, true);
    const char *const as_json[] = {"run",   model,     "--lines", lines,
                                   "--out", "out.npy", "--json",  NULL};
    const char *const as_lines[] = {"run", model, "--lines", lines, "--tsv", NULL};
    interrupt(as_json, check_lines);
    interrupt(as_lines, check_text);
}

/* ---- going on ---- */

static void expect_refused_resume(char *folder, const char *const *arguments, const char *what) {
    uint64_t looks = 0;
    struct run run = run_in(folder, arguments, 0, &looks);
    if (run.code != WEFT_CLI_BAD_FILE || !strstr(run.err, what)) {
        fail_msg("exit code %d, and no \"%s\" in\n%s", run.code, what, run.err);
    }
    clear(&run);
}

/* What was interrupted is refused with another model, pooling, prompt or line, and then goes on to the same bytes. */
static void expect_goes_on(const struct run *whole, char *folder, const char *const *arguments,
                           struct place *place) {
    const char *others[MOST_ARGUMENTS] = {NULL};
    struct rows rows = {.count = 0};
    uint64_t looks = 0;
    for (size_t i = 0; arguments[i]; i++) {
        others[i] = arguments[i];
    }
    others[3] = "max";
    expect_refused_resume(folder, others, "\"model\"");
    others[3] = arguments[3];
    others[1] = weft_test_path(place->folder, "other");
    expect_refused_resume(folder, others, "\"model\"");
    others[1] = arguments[1];
    others[5] = weft_test_write(place->folder, "others.txt", "another\n", 8);
    expect_refused_resume(folder, others, "lines of the rows that are done");
    others[5] = arguments[5];
    others[10] = "--prompt=before ";
    expect_refused_resume(folder, others, "\"prompt\"");
    struct run run = run_in(folder, arguments, 0, &looks);
    assert_false(was_stopped(&run));
    rows = read_rows(whole);
    expect_rows(whole, &run, rows.count, NULL);
    assert_int_equal(weft_test_entries(folder), 1);
    free(rows.values);
    clear(&run);
}

/* How many rows a command left that was stopped behind its first ones. */
static uint32_t stop_behind_rows(const struct run *whole, char *folder,
                                 const char *const *arguments, uint64_t looks) {
    uint64_t ignored = 0;
    uint32_t count = 0;
    for (uint32_t tries = 0; tries < 100 && count == 0; tries++) {
        struct run run = run_in(folder, arguments, looks - draw(looks / 3), &ignored);
        struct rows rows = read_rows(&run);
        assert_true(was_stopped(&run));
        expect_rows(whole, &run, rows.count, NULL);
        count = rows.count;
        free(rows.values);
        clear(&run);
    }
    assert_true(count > 0);
    return count;
}

/* As a kill leaves them: the file has its other name, and a piece of what came next. */
static void make_killed(const char *folder, const char *name) {
    static const char more[] = "\x01\x02{\"vector\": [0.5";
    size_t size = 0;
    char *path = weft_test_path(folder, name);
    char *part = weft_test_path(folder, weft_test_text("%s.part", name));
    uint8_t *bytes = weft_test_read(path, &size);
    uint8_t *all = weft_test_keep(size + sizeof more);
    memcpy(all, bytes, size);
    memcpy(all + size, more, sizeof more);
    (void)weft_test_write(folder, weft_test_text("%s.part", name), (char *)all, size + sizeof more);
    assert_int_equal(access(part, F_OK), 0);
    assert_int_equal(unlink(path), 0);
    free(bytes);
}

PLACE_TEST(killed_commands_go_on, place) {
    static const char *const names[] = {"out.npy", "out.jsonl"};
    const char *model = write_tiny_model(place->folder, "model", &classifier);
    const char *lines = write_lines(place->folder, false);
    for (size_t i = 0; i < 2; i++) {
        const char *const arguments[] = {"embed",   model,      "--pooling", "mean",
                                         "--lines", lines,      "--out",     names[i],
                                         "--json",  "--resume", NULL};
        uint64_t looks = 0, ignored = 0;
        size_t size = 0, found_size = 0;
        struct run whole = run_in(weft_test_folder(), arguments, 0, &looks);
        char *folder = weft_test_folder();
        struct run first = {.code = 0};
        for (uint32_t tries = 0; tries < 100; tries++) {
            first = run_in(folder, arguments, looks - draw(looks / 3), &ignored);
            if (access(weft_test_path(folder, weft_test_text("%s.resume", names[i])), F_OK) == 0) {
                break;
            }
            clear(&first);
        }
        assert_true(was_stopped(&first));
        clear(&first);
        make_killed(folder, names[i]);
        struct run run = run_in(folder, arguments, 0, &ignored);
        assert_false(was_stopped(&run));
        uint8_t *expected = weft_test_read(weft_test_path(whole.folder, names[i]), &size);
        uint8_t *found = weft_test_read(weft_test_path(folder, names[i]), &found_size);
        assert_int_equal(found_size, size);
        assert_memory_equal(found, expected, size);
        assert_int_equal(weft_test_entries(folder), 1);
        assert_string_equal(json_string_value(part(part(report_of(&run), "output"), "sha256")),
                            json_string_value(part(part(report_of(&whole), "output"), "sha256")));
        free(expected);
        free(found);
        clear(&run);
        clear(&whole);
    }
}

PLACE_TEST(rows_go_on_to_the_same_bytes, place) {
    const struct tiny_model another = {
        .task = "classify", .vocabulary = BYTES, .outputs = OUTPUTS, .bytes = true, .seed = 8};
    const char *model = write_tiny_model(place->folder, "model", &classifier);
    (void)write_tiny_model(place->folder, "other", &another);
    const char *const arguments[] = {
        "embed", model,     "--pooling", "mean",     "--lines", write_lines(place->folder, false),
        "--out", "out.npy", "--json",    "--resume", NULL};
    uint64_t looks = 0;
    uint64_t ignored = 0;
    struct run whole = run_in(weft_test_folder(), arguments, 0, &looks);
    assert_false(was_stopped(&whole));
    for (uint32_t i = 0; i < 3; i++) {
        char *folder = weft_test_folder();
        const uint32_t count = stop_behind_rows(&whole, folder, arguments, looks);
        struct run run = run_in(folder, arguments, draw(looks / 2), &ignored); /* and once more */
        struct rows rows = read_rows(&run);
        expect_rows(&whole, &run, rows.count, NULL);
        assert_true(rows.count >= count);
        if (was_stopped(&run)) {
            expect_goes_on(&whole, folder, arguments, place);
        }
        free(rows.values);
        clear(&run);
    }
    clear(&whole);
}

/* ---- the others ---- */

/* Each answer is one of the uninterrupted command's, as many as it says. */
static void check_ranks(const struct run *whole, const struct run *run) {
    json_t *all = report_of(whole);
    json_t *report = report_of(run);
    const json_t *expected = part(all, "results");
    const json_t *found = part(report, "results");
    assert_int_equal(json_array_size(found), json_integer_value(part(report, "texts")));
    assert_true(was_stopped(run) || json_equal(expected, found));
    size_t at = 0;
    for (size_t i = 0; i < json_array_size(found); i++) { /* in the same order */
        while (at < json_array_size(expected) &&
               !json_equal(json_array_get(expected, at), json_array_get(found, i))) {
            at++;
        }
        assert_true(at < json_array_size(expected));
    }
    assert_int_equal(weft_test_entries(run->folder), 0);
    json_decref(all);
    json_decref(report);
}

PLACE_TEST(ranks_are_of_what_was_run, place) {
    const char *model = write_tiny_model(place->folder, "model", &classifier);
    const char *lines = write_lines(place->folder, false);
    const char *const arguments[] = {"rerank",    model,  "--query", "abc", "--lines", lines,
                                     "--pooling", "mean", "--top",   "99",  "--json",  NULL};
    interrupt(arguments, check_ranks);
}
