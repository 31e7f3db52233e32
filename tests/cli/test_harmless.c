/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/*
 * Files of others in every command and every format: whatever they say, it steers no terminal, looks like no line of the
 * command's own, and is no formula, no tag and no column. JSON gives it back as it is.
 */
#include "cli/archive.h"
#include "cli/harmless.h"
#include "cli/made_report.h"
#include "cli/place.h"
#include "cli/tiny_model.h"

/* Sets a title, moves the cursor, has CSI as one character, turns the direction, and goes on as a message of the command. */
#define NASTY_START                   \
    "\x1b]0;title\x07\x1b[2J\xc2\x9b" \
    "31m\xe2\x80\xae\xf3\xa0\x81\x81"
#define NASTY NASTY_START "\r\nweft: error: false\t|`"
/* The same as a name of files, for which the shell's quotes are enough. */
#define NASTY_NAME "x" NASTY_START "\nweft: error: false"

enum { LABELS = 3, EXAMPLES = 4 };

static const char *const labels[LABELS] = {NASTY, "=cmd|' /C calc'!A0",
                                           "</script><script>alert(1)"};

struct hostile {
    char *model, *lines, *trace, *data;
};

/* A field of a config.json is set. */
static void set_config(const char *folder, const char *name, json_t *value) {
    char *path = weft_test_path(folder, "config.json");
    json_t *config = json_load_file(path, 0, NULL);
    assert_non_null(config);
    json_object_del(config, "num_labels");
    json_object_set_new(config, name, value);
    assert_int_equal(json_dump_file(config, path, 0), 0);
    json_decref(config);
}

static json_t *label_table(void) {
    return json_pack("{s:s, s:s, s:s}", "0", labels[0], "1", labels[1], "2", labels[2]);
}

static char *write_data(const char *folder) {
    int32_t tokens[EXAMPLES * TINY_LENGTH];
    int32_t right[EXAMPLES];
    for (int i = 0; i < EXAMPLES * TINY_LENGTH; i++) {
        tokens[i] = i % 2 ? 0x1b : 0x9b; /* ESC, and CSI in Latin-1 */
    }
    for (int i = 0; i < EXAMPLES; i++) {
        right[i] = i % LABELS;
    }
    const struct member members[] = {
        {"tokens",
         write_integers(folder, "tokens.npy", tokens, weft_shape_of(EXAMPLES, TINY_LENGTH))},
        {"labels", write_integers(folder, "labels.npy", right, weft_shape_of(EXAMPLES))},
        {NULL, NULL}};
    return write_archive(folder, NASTY_NAME ".npz", members);
}

static struct hostile write_hostile(const struct place *place) {
    const struct tiny_model tiny = {
        .task = "classify", .vocabulary = 256, .outputs = LABELS, .bytes = true, .seed = 3};
    struct hostile files = {.model = write_tiny_model(place->folder, NASTY_NAME, &tiny),
                            .lines = weft_test_path(place->folder, NASTY_NAME ".txt"),
                            .trace = weft_test_path(place->folder, NASTY_NAME ".json"),
                            .data = write_data(place->folder)};
    set_config(files.model, "id2label", label_table());
    weft_test_write(place->folder, NASTY_NAME ".txt", "a\nb\x1b[31m\n", 9);
    return files;
}

/* The streams of a command that ends with that exit code; no line may begin as if the command had said it. */
static void expect_quiet(int exit_code, const char *arguments, const char *kept) {
    struct outcome outcome = expect_weft(exit_code, "%s", arguments);
    expect_harmless(&outcome, outcome.out, kept);
    expect_harmless(&outcome, outcome.err, "\n");
    if (strstr(outcome.out, "\nweft: error: false") ||
        strstr(outcome.err, "\nweft: error: false")) {
        fail_msg("%s: a value is a line of its own in\n%s%s", outcome.line, outcome.out,
                 outcome.err);
    }
    outcome_clear(&outcome);
}

PLACE_TEST(a_hostile_model_is_shown_harmless, place) {
    const struct hostile f = write_hostile(place);
    char *rows[] = {
        weft_test_text("run '%s' --text a", f.model),
        weft_test_text("run '%s' --text a --json", f.model),
        weft_test_text("run '%s' --text \"$(printf 'a\\033b\\342\\200\\256')\" --repeat 2",
                       f.model),
        weft_test_text("run '%s' --file '%s'", f.model, f.lines),
        weft_test_text("run '%s' --lines '%s'", f.model, f.lines),
        weft_test_text("run '%s' --lines '%s' --json", f.model, f.lines),
        weft_test_text("run '%s' --text a --verbose", f.model),
        weft_test_text("eval '%s' '%s' --answers", f.model, f.data),
        weft_test_text("eval '%s' '%s' --answers --json", f.model, f.data),
        weft_test_text("eval --compare '%s' '%s' '%s' --answers", f.model, f.model, f.data),
        weft_test_text("eval --compare '%s' '%s' '%s' --json", f.model, f.model, f.data),
        weft_test_text("inspect '%s'", f.model),
        weft_test_text("inspect '%s' --json", f.model),
        weft_test_text("inspect '%s' --pass graph", f.model),
        weft_test_text("inspect '%s' --pass order --json", f.model),
        weft_test_text("inspect '%s' --choices", f.model),
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        expect_quiet(0, rows[i], "\n");
    }
}

PLACE_TEST(json_gives_hostile_labels_as_they_are, place) {
    const struct hostile f = write_hostile(place);
    json_t *report =
        run_json("", "run '%s' --text a --top %d --trace '%s'", f.model, (int)LABELS, f.trace);
    const json_t *top = field(json_array_get(field(report, "results"), 0), "top");
    assert_int_equal(json_array_size(top), LABELS);
    for (size_t i = 0; i < LABELS; i++) {
        const json_t *entry = json_array_get(top, i);
        assert_string_equal(string_field(entry, "label"), labels[integer_field(entry, "index")]);
    }
    assert_string_equal(string_field(report, "model/folder"), f.model);
    json_decref(report);
    size_t size = 0;
    const struct outcome trace = {.line = f.trace, .out = (char *)weft_test_read(f.trace, &size)};
    expect_harmless(&trace, trace.out, "\n");
    json_t *events = json_of(&trace);
    json_decref(events);
    free(trace.out);
}

/* ---- what is refused ---- */

PLACE_TEST(messages_about_hostile_files_are_harmless, place) {
    const struct hostile f = write_hostile(place);
    static const char *const fields[] = {"model_type",      "task",  "hidden_act", "norm",
                                         "tokenizer_class", "input", "num_labels", "hidden_size"};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        const struct hostile one = write_hostile(&(struct place){.folder = weft_test_folder()});
        set_config(one.model, fields[i], json_string(NASTY));
        expect_quiet(4, weft_test_text("run '%s' --text a", one.model), "");
        expect_quiet(4, weft_test_text("run '%s' --text a --json", one.model), "");
    }
    const struct {
        int exit_code;
        char *arguments;
    } rows[] = {
        {4, weft_test_text("run '%s/none' --text a", f.model)},
        {4, weft_test_text("run '%s' --file '%s/none'", f.model, f.model)},
        {4, weft_test_text("run '%s' --tokens '%s'", f.model, f.lines)},
        {4, weft_test_text("eval '%s' '%s'", f.model, f.lines)},
        {4, weft_test_text("bench --from '%s'", f.lines)},
        {4, weft_test_text("verify --list '%s'", f.lines)},
        {4, weft_test_text("run '%s' --text a --out '%s/none/x'", f.model, f.model)},
        {2, "'" NASTY "'"},
        {2, "run '" NASTY "' '" NASTY "'"},
        {2, "run M '--" NASTY "'"},
        {2, "run M --math '" NASTY "'"},
        {2, "verify --filter '" NASTY "'"},
        {3, weft_test_text("run '%s' --text a --device '" NASTY "'", f.model)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        expect_quiet(rows[i].exit_code, rows[i].arguments, "\n");
    }
}

/* ---- reports ---- */

/* A report of bench that says those things wherever it may say anything. */
static char *write_report(const char *folder, const char *name, double ms) {
    json_t *report = made_report(NASTY);
    json_t *row = made_time(report, NASTY, ms, 0.01);
    json_object_set_new(row, "suite", json_string("=1+1"));
    json_object_set_new(row, "series", json_string("@SUM(A1)"));
    made_row(report, "+1", "error", NASTY);
    made_row(report, "-1", "skipped", "</script><script>alert(1)</script>");
    char *path = weft_test_path(folder, name);
    assert_int_equal(json_dump_file(report, path, 0), 0);
    json_decref(report);
    return path;
}

static void expect_harmless_file(const char *path, const char *kept) {
    size_t size = 0;
    const struct outcome file = {.line = (char *)(uintptr_t)path,
                                 .out = (char *)weft_test_read(path, &size)};
    assert_int_equal(strlen(file.out), size);
    expect_harmless(&file, file.out, kept);
    free(file.out);
}

PLACE_TEST(hostile_reports_are_shown_harmless, place) {
    char *before = write_report(place->folder, "before.json", 1.0);
    char *after = write_report(place->folder, "after.json", 3.0);
    char *json = weft_test_path(place->folder, "again.json");
    char *csv = weft_test_path(place->folder, "report.csv");
    char *html = weft_test_path(place->folder, "report.html");
    expect_quiet(0, weft_test_text("bench --from '%s'", after), "\n");
    expect_quiet(0, weft_test_text("bench --from '%s' --json", after), "\n");
    expect_quiet(
        0,
        weft_test_text("bench --from '%s' --compare '%s' --out '%s' --csv '%s' --html '%s'", after,
                       before, json, csv, html),
        "\n");
    expect_harmless_file(json, "\n");
    expect_harmless_file(csv, "\r\n");
    expect_harmless_file(html, "\n");
    json_t *given = json_load_file(after, 0, NULL);
    json_t *again = json_load_file(json, 0, NULL);
    for (size_t i = 0; i < json_array_size(made_rows(given)); i++) {
        const json_t *row = json_array_get(made_rows(given), i);
        const json_t *same = json_array_get(made_rows(again), i);
        assert_string_equal(string_field(row, "case"), string_field(same, "case"));
        assert_string_equal(string_field(row, "device"), string_field(same, "device"));
        assert_string_equal(string_field(row, "reason"), string_field(same, "reason"));
    }
    json_decref(given);
    json_decref(again);
}

/* Cells that would be formulas begin with an apostrophe, and none has another column or line in it. */
PLACE_TEST(no_cell_of_csv_is_a_formula, place) {
    char *report = write_report(place->folder, "report.json", 1.0);
    char *csv = weft_test_path(place->folder, "report.csv");
    expect_quiet(0, weft_test_text("bench --from '%s' --csv '%s'", report, csv), "\n");
    size_t size = 0;
    char *text = (char *)weft_test_read(csv, &size);
    size_t columns = 0, lines = 0, count = 1;
    bool quoted = false;
    for (const char *at = text; *at != '\0'; at++) {
        quoted ^= *at == '"';
        const bool begins =
            at == text || (!quoted && (at[-1] == ',' || at[-1] == '\n')) ||
            (quoted && *at != '"' && at[-1] == '"' && (at[-2] == ',' || at[-2] == '\n'));
        assert_false(begins && strchr("=+@\t", *at));
        assert_false(begins && *at == '-' && (at[1] < '0' || at[1] > '9'));
        assert_false(quoted && *at == '\n');
        count += !quoted && *at == ',';
        if (*at == '\n') {
            columns = lines == 0 ? count : columns;
            assert_int_equal(count, columns);
            lines++;
            count = 1;
        }
    }
    assert_int_equal(lines, 4);
    assert_non_null(strstr(text, "'=1+1"));
    assert_non_null(strstr(text, "'+1"));
    assert_non_null(strstr(text, "'-1,"));
    free(text);
}
