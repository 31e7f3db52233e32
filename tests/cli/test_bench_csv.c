/* SPDX-License-Identifier: MIT */
/* The CSV of weft bench. */
#include "bench/csv.h"
#include "made_report.h"
#include "support.h"

#define MAX_CELLS 64

/** Reads a line by RFC 4180 in place: its cells, and where the next line begins (null behind the last). */
static size_t read_line(char **line, char *cells[MAX_CELLS]) {
    size_t count = 0;
    char *in = *line;
    char *out = in;
    for (;;) {
        assert_true(count < MAX_CELLS);
        cells[count++] = out;
        bool quoted = *in == '"';
        in += quoted;
        while (quoted ? !(in[0] == '"' && in[1] != '"') : *in != ',' && *in != '\r') {
            assert_true(*in != '\0');
            assert_true(quoted || (*in != '"' && *in != '\n'));
            in += quoted && *in == '"'; /* of two the first */
            *out++ = *in++;
        }
        in += quoted;
        char end = *in++;
        *out++ = '\0';
        if (end != ',') {
            assert_true(end == '\r' && *in == '\n');
            break;
        }
    }
    *line = in[1] == '\0' ? NULL : in + 1;
    return count;
}

static char *csv_of(struct weft_test_host *test, const json_t *report) {
    char *folder = weft_test_folder();
    char *path = weft_test_path(folder, "report.csv");
    size_t size = 0;
    assert_ok(weft_bench_csv_write(path, report, &test->host));
    char *text = (char *)weft_test_read(path, &size);
    return text;
}

static const char *cell(char *const *names, char *const *cells, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            return cells[i];
        }
    }
    fail_msg("no column %s", name);
    return NULL;
}

WEFT_TEST_ON_HOST(fields_are_in_their_columns, test) {
    json_t *report = made_report(MADE_DEVICE);
    made_label(report, "laptop, \"A\"");
    made_time(report, "matmul", 2.0, 0.25);
    made_row(report, "long", "skipped", "too long");
    char *text = csv_of(test, report);
    char *at = text;
    char *names[MAX_CELLS];
    char *cells[MAX_CELLS];
    size_t count = read_line(&at, names);
    assert_int_equal(read_line(&at, cells), count);
    static const char *const expected[][2] = {{"suite", "ops"},
                                              {"case", "matmul"},
                                              {"series", ""},
                                              {"n", ""},
                                              {"runtime", "weft"},
                                              {"math", "reproducible"},
                                              {"status", "ok"},
                                              {"reason", ""},
                                              {"software_device", "false"},
                                              {"shape", "1x512x64"},
                                              {"clock", "device"},
                                              {"runs", "50"},
                                              {"rounds_ms", "2;2"},
                                              {"median_ms", "2"},
                                              {"interval_low_ms", "1.5"},
                                              {"interval_high_ms", "2.5"},
                                              {"tight", "true"},
                                              {"cpu_ms", ""},
                                              {"fraction_of_arithmetic", "0.25"},
                                              {"dispatches", "2"},
                                              {"longest_dispatch_kernel", "ops/matmul"},
                                              {"longest_dispatch_ms", "1"},
                                              {"start_cold_ms", "30"},
                                              {"start_steady_ms", "0.5"},
                                              {"output_sha256", MADE_DIGEST},
                                              {"verified_by", "float64"},
                                              {"verified_rel_l2", "1e-07"},
                                              {"verified_reason", ""},
                                              {"label", "laptop, \"A\""}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        assert_string_equal(cell(names, cells, count, expected[i][0]), expected[i][1]);
    }
    assert_int_equal(read_line(&at, cells), count);
    assert_string_equal(cell(names, cells, count, "status"), "skipped");
    assert_string_equal(cell(names, cells, count, "reason"), "too long");
    assert_string_equal(cell(names, cells, count, "median_ms"), "");
    assert_string_equal(cell(names, cells, count, "verified_by"), "");
    assert_null(at);
    free(text);
    json_decref(report);
}

/* Every number, text and flag of a row is in some column: as many cells as values. */
WEFT_TEST_ON_HOST(no_field_is_left_out, test) {
    json_t *report = made_report(MADE_DEVICE);
    const json_t *row = made_time(report, "matmul", 2.0, 0.25);
    size_t fields = 0;
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)row, name, value) {
        bool is_list = json_is_array(value) && strcmp(name, "interval_ms") == 0;
        fields += json_is_object(value) ? json_object_size(value)
                  : is_list             ? json_array_size(value)
                                        : 1;
    }
    char *text = csv_of(test, report);
    char *at = text;
    char *names[MAX_CELLS];
    assert_int_equal(read_line(&at, names), fields + 1); /* the label is the machine's */
    free(text);
    json_decref(report);
}

WEFT_TEST_ON_HOST(awkward_texts_are_quoted, test) {
    static const char *const texts[] = {"a,b",      "say \"no\"", "\"",        "a;b", " spaces ",
                                        "größer ≤", "%s%n",       "\"\",\"\"", "a=b", "\\n"};
    json_t *report = made_report("GPU, \"the big one\"");
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        made_row(report, texts[i], "error", texts[i]);
    }
    char *text = csv_of(test, report);
    char *at = text;
    char *names[MAX_CELLS];
    size_t count = read_line(&at, names);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char *cells[MAX_CELLS];
        assert_non_null(at);
        assert_int_equal(read_line(&at, cells), count);
        assert_string_equal(cell(names, cells, count, "case"), texts[i]);
        assert_string_equal(cell(names, cells, count, "reason"), texts[i]);
        assert_string_equal(cell(names, cells, count, "device"), "GPU, \"the big one\"");
    }
    assert_null(at);
    free(text);
    json_decref(report);
}

/* A comma in numbers makes a semicolon what separates cells, quotes or not. */
WEFT_TEST_ON_HOST(no_cell_is_a_formula, test) {
    static const char *const texts[][2] = {
        {"=1+1", "'=1+1"},     {"+1", "'+1"},       {"-1", "'-1"},       {"@sum", "'@sum"},
        {" =1", " '=1"},       {"\"=1", "\"'=1"},   {"a;=1", "a;'=1"},   {"a; \"=1", "a; \"'=1"},
        {"a;b;-2", "a;b;'-2"}, {"a|@x", "a|'@x"},   {"a,=1", "a,=1"},    {"a=b", "a=b"},
        {"a-b", "a-b"},        {"＝1", "'＝1"},     {"a;＠x", "a;'＠x"}, {"\t=1", "\\t=1"},
        {"\r=1", "\\r=1"},     {"a\n=1", "a\\n=1"},
    };
    json_t *report = made_report(MADE_DEVICE);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        made_row(report, texts[i][0], "error", texts[i][0]);
    }
    char *text = csv_of(test, report);
    char *at = text;
    char *names[MAX_CELLS];
    size_t count = read_line(&at, names);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char *cells[MAX_CELLS];
        assert_int_equal(read_line(&at, cells), count);
        assert_string_equal(cell(names, cells, count, "case"), texts[i][1]);
        assert_string_equal(cell(names, cells, count, "reason"), texts[i][1]);
    }
    free(text);
    json_decref(report);
}

WEFT_TEST_ON_HOST(failures_are_said, test) {
    json_t *report = made_report(MADE_DEVICE);
    made_row(report, "long", "skipped", "too long");
    const char *absent = weft_test_absent("none/report.csv");
    assert_int_not_equal(weft_bench_csv_write(absent, report, &test->host), WEFT_OK);
    weft_test_expect_log(test, absent);
    char *folder = weft_test_folder();
    char *path = weft_test_path(folder, "report.csv");
    weft_test_host_reset(test);
    test->fail_at = 1;
    assert_int_equal(weft_bench_csv_write(path, report, &test->host), WEFT_OUT_OF_HOST_MEMORY);
    assert_int_equal(weft_test_entries(folder), 0);
    json_decref(report);
}
