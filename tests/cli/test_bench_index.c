/* SPDX-License-Identifier: MIT */
/* weft bench --index: files of several devices beside each other, and times of other bits that are refused. */
#include "bench/index.h"

#include "bench/fields.h"
#include "cli/made_certificate.h"
#include "cli/made_report.h"
#include "core/system/file.h"

static void write_as(json_t *object, const char *folder, const char *inner, const char *name) {
    char *path = weft_test_path(folder, inner);
    assert_ok(weft_make_folders(path, NULL));
    path = weft_test_path(path, name);
    assert_int_equal(json_dump_file(object, path, JSON_INDENT(1)), 0);
    json_decref(object);
}

static json_t *report_of(const char *device, double ms, const char *sha256) {
    json_t *report = made_report(device);
    made_time(report, "fourier/n=64,d=64", ms, 0.005);
    json_t *row = json_array_get(json_object_get(report, "rows"), 0);
    json_object_set_new(row, "device", json_string(device));
    json_object_set_new(row, "output_sha256", json_string(sha256));
    return report;
}

#define SOME  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "ff23456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static json_t *read_index(const char *folder) {
    json_t *index = NULL;
    assert_ok(weft_bench_index_read(&index, folder, NULL));
    return index;
}

WEFT_TEST(a_time_of_other_bits_is_refused) {
    char *folder = weft_test_folder();
    write_as(report_of("one", 1.0, SOME), folder, "a", "one.json");
    write_as(report_of("two", 2.0, OTHER), folder, "b", "two.json");
    write_as(report_of("three", 3.0, SOME), folder, "b", "three.json");
    json_t *index = read_index(folder);
    assert_int_equal(json_array_size(json_object_get(index, "entries")), 3);
    const json_t *rows = json_object_get(index, "cases");
    assert_int_equal(json_array_size(rows), 1);
    const json_t *row = json_array_get(rows, 0);
    assert_string_equal(weft_bench_text(row, "sha256"), SOME);
    const json_t *cells = json_object_get(row, "cells");
    assert_int_equal(json_array_size(cells), 3);
    for (size_t i = 0; i < 3; i++) {
        const json_t *cell = json_array_get(cells, i);
        assert_int_equal(json_is_true(json_object_get(cell, "refused")),
                         weft_bench_number(cell, "median_ms") == 2.0);
    }
    json_decref(index);
}

WEFT_TEST(a_certificate_has_an_entry_for_each_mode) {
    char *folder = weft_test_folder();
    write_as(made_certificate(), folder, "gpu", "certificate.json");
    json_t *index = read_index(folder);
    const json_t *entries = json_object_get(index, "entries");
    assert_int_equal(json_array_size(entries), 3);
    for (size_t i = 0; i < 3; i++) {
        const json_t *entry = json_array_get(entries, i);
        const bool fast = strcmp(weft_bench_text(entry, "math"), "fast") == 0;
        const bool reproducible = strcmp(weft_bench_text(entry, "math"), "reproducible") == 0;
        assert_string_equal(weft_bench_text(entry, "file"), "gpu/certificate.json");
        assert_int_equal(json_is_integer(json_object_get(entry, "ran")), !fast);
        assert_int_equal(json_is_number(json_object_get(entry, "mixing_rate_tokens_per_s")),
                         reproducible);
        assert_true(weft_bench_number(entry, "rows") == 13.0);
    }
    json_decref(index);
}

WEFT_TEST(the_command_lists_the_results_of_this_repository) {
    char *page = weft_test_path(weft_test_folder(), "index.html");
    struct outcome outcome =
        expect_weft(0, "bench --index '%s' --html '%s'", WEFT_SOURCE_DIR "/bench/results", page);
    expect_part(&outcome, outcome.out, "| processor | fused |");
    expect_part(&outcome, outcome.out, "## Machines");
    expect_part(&outcome, outcome.out, "Times over those of ");
    expect_part(&outcome, outcome.out, "(lavapipe/mixers.json)");
    outcome_clear(&outcome);
    FILE *file = fopen(page, "r");
    assert_non_null(file);
    char *text = read_all(file);
    fclose(file);
    assert_non_null(strstr(text, "lavapipe/mixers.json"));
    assert_null(strstr(text, "{{"));
    free(text);
}

/* What a browser makes of a name is a file below the page, and nothing that it runs. */
WEFT_TEST(names_of_folders_are_no_urls) {
    static const char *const names[][3] = {
        {"javascript:alert(1)", "x.json", "./javascript%3Aalert%281%29/x.json"},
        {"https:", "x.json", "./https%3A/x.json"},
        {"a b#c?d%20", "\"<&'.json", "./a%20b%23c%3Fd%2520/%22%3C%26%27.json"},
        {"größe", "|[](x).json", "./gr%C3%B6%C3%9Fe/%7C%5B%5D%28x%29.json"},
        {"\\\\host", "x.json", "./%5C%5Chost/x.json"},
        {"b\xff", "x.json", "./b%FF/x.json"},
    };
    char *folder = weft_test_folder();
    const size_t count = sizeof names / sizeof names[0];
    for (size_t i = 0; i < count; i++) {
        write_as(report_of("one", 1.0, SOME), folder, names[i][0], names[i][1]);
    }
    json_t *index = read_index(folder);
    const json_t *entries = json_object_get(index, "entries");
    assert_int_equal(json_array_size(entries), count);
    for (size_t i = 0; i < count; i++) {
        bool found = false;
        for (size_t k = 0; k < count; k++) {
            const json_t *entry = json_array_get(entries, k);
            found = found || strcmp(weft_bench_text(entry, "href"), names[i][2]) == 0;
            assert_true(weft_bench_text(entry, "file")[0] != '\0');
        }
        if (!found) {
            fail_msg("%s is of no entry", names[i][2]);
        }
    }
    json_decref(index);
    char *page = weft_test_path(folder, "index.html");
    struct outcome outcome = expect_weft(0, "bench --index '%s' --html '%s'", folder, page);
    expect_part(&outcome, outcome.out, "[größe/\\|\\[\\](x).json](gr%C3%B6%C3%9Fe/");
    expect_part(&outcome, outcome.out, "](javascript%3Aalert%281%29/x.json) |");
    outcome_clear(&outcome);
    size_t size = 0;
    char *text = (char *)weft_test_read(page, &size);
    assert_non_null(strstr(text, "{href: entry.href}"));
    assert_non_null(strstr(text, "./javascript%3Aalert%281%29/x.json"));
    free(text);
}

WEFT_TEST(what_is_no_result_is_refused) {
    char *folder = weft_test_folder();
    write_as(json_pack("{s:i}", "schema", 1), folder, "a", "old.json");
    char *line = weft_test_text("bench --index '%s'", folder);
    expect_refused(4, line, "old.json", NULL);
    char *absent = weft_test_absent("results");
    expect_refused(4, weft_test_text("bench --index '%s'", absent), "cannot list", NULL);
    expect_refused(2, "bench --index . --suite ops", "it excludes --suite", NULL);
    expect_refused(2, "bench --index . --compare a.json", "--index excludes", NULL);
}
