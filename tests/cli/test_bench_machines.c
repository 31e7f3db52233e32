/* SPDX-License-Identifier: MIT */
/* weft bench of several machines: two equal ones stay two, ratios and means are right, and a stranger's label stays a text. */
#define _DEFAULT_SOURCE /* gethostname */
#include <unistd.h>

#include "bench/environment.h"
#include "bench/fields.h"
#include "bench/index.h"
#include "bench/label.h"
#include "bench/ratios.h"
#include "cli/harmless.h"
#include "cli/made_certificate.h"
#include "cli/made_report.h"
#include "core/system/file.h"

#define SOME  MADE_DIGEST
#define OTHER "ff23456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define NASTY "<script>x|=1+1 \"q\", `**_a_**` [l](http://e) www.e.x"

/* ---- labels ---- */

WEFT_TEST(a_label_is_one_line_that_can_be_seen) {
    static const char *const fitting[] = {
        "a",           "laptop A",
        "Größe 4 ≤ 5", "=cmd|' /C calc'!A0",
        "\\n",         "<b>",
        "👩‍💻", "0123456789012345678901234567890123456789012345678901234567890123"};
    static const char *const others[] = {
        "",
        " ",
        "   ",
        "a\nb",
        "a\r",
        "\t",
        "\x1b[2J",
        "\x7f",
        "\xc2\x9b",
        "a\xe2\x80\xaez",
        "\xe2\x80\x8b",
        "\xe2\x80\xa8",
        "\xff",
        "\xc3",
        "\xed\xa0\x80",
        "01234567890123456789012345678901234567890123456789012345678901234"};
    for (size_t i = 0; i < sizeof fitting / sizeof *fitting; i++) {
        if (!weft_bench_label_fits(fitting[i])) {
            fail_msg("\"%s\" is refused", fitting[i]);
        }
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (weft_bench_label_fits(others[i])) {
            fail_msg("\"%s\", number %zu, is taken", others[i], i);
        }
    }
    /* 64 characters of four bytes each, and one more. */
    char wide[4 * 65 + 1] = "";
    for (int i = 0; i < 64; i++) {
        strcat(wide, "\xf0\x9f\xa7\xb5");
    }
    assert_true(weft_bench_label_fits(wide));
    assert_false(weft_bench_label_fits(strcat(wide, "a")));
}

/* ---- this machine ---- */

WEFT_TEST(the_environment_says_what_the_system_tells_and_nobodys_name) {
    weft_bench_environment environment = weft_bench_environment_now();
    environment.label = "laptop A";
    json_t *object = weft_bench_environment_json(&environment);
    char host[256] = "";
    char line[32];
    assert_string_equal(weft_bench_text(object, "label"), "laptop A");
    assert_true(weft_bench_number(object, "memory") > 64e6);
    const bool told = weft_bench_read_line(line, sizeof line,
                                           "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    assert_int_equal(json_is_string(field(object, "governor")), told);
    assert_string_equal(weft_bench_text(object, "governor"), line);
    assert_true(json_is_null(field(object, "power_plan")));
    char *text = json_dumps(object, 0);
    assert_int_equal(gethostname(host, sizeof host - 1), 0);
    assert_true(strlen(host) < 5 || !strstr(text, host)); /* a short one may be part of anything */
    free(text);
    json_decref(object);
}

/* ---- reports ---- */

/* A report of one device that every machine here has, with a label or without. */
static json_t *report_of(const char *label) {
    json_t *report = made_report(MADE_DEVICE);
    if (label) {
        made_label(report, label);
    }
    return report;
}

static void add_time(json_t *report, const char *suite, const char *name, double ms,
                     const char *sha256) {
    json_t *row = made_time(report, name, ms, 0.01);
    json_object_set_new(row, "suite", json_string(suite));
    json_object_set_new(row, "output_sha256", json_string(sha256));
}

/* One time of a case that every machine here has. */
static json_t *timed_report(const char *label, double ms) {
    json_t *report = report_of(label);
    add_time(report, "ops", "matmul", ms, SOME);
    return report;
}

static void set_fact(json_t *report, const char *name, json_t *value) {
    json_object_set_new(json_object_get(report, "environment"), name, value);
}

/* Writes it as folder/inner/name; returns the path. */
static char *write_as(json_t *report, const char *folder, const char *inner, const char *name) {
    char *path = weft_test_path(folder, inner);
    assert_ok(weft_make_folders(path, NULL));
    path = weft_test_path(path, name);
    assert_int_equal(json_dump_file(report, path, 0), 0);
    json_decref(report);
    return path;
}

static json_t *index_of(const char *folder) {
    json_t *index = NULL;
    assert_ok(weft_bench_index_read(&index, folder, NULL));
    return index;
}

/* The names of the machines, with commas between. */
static char *names_of(const char *folder) {
    json_t *index = index_of(folder);
    const json_t *machines = json_object_get(index, "machines");
    char *names = weft_test_text("%s", "");
    for (size_t i = 0; i < json_array_size(machines); i++) {
        names = weft_test_text("%s%s%s", names, i > 0 ? ", " : "",
                               weft_bench_text(json_array_get(machines, i), "name"));
    }
    json_decref(index);
    return names;
}

/* ---- machines ---- */

WEFT_TEST(equal_machines_of_two_folders_are_two) {
    char *folder = weft_test_folder();
    write_as(timed_report(NULL, 1.0), folder, "ann", "a.json");
    write_as(timed_report(NULL, 2.0), folder, "bob", "a.json");
    assert_string_equal(names_of(folder), "ann, bob");
    expect_says(0, weft_test_text("bench --index '%s'", folder), "1 cases were timed by more",
                "| bob | Some GPU | 1.2 | reproducible | 2 | 1 | ops 2 (1) |", NULL);
}

WEFT_TEST(equal_machines_of_one_folder_are_two) {
    char *folder = weft_test_folder();
    write_as(timed_report(NULL, 1.0), folder, "laptops", "a.json");
    write_as(timed_report(NULL, 2.0), folder, "laptops", "b.json");
    assert_string_equal(names_of(folder), "laptops/a.json, laptops/b.json");
}

WEFT_TEST(machines_with_two_labels_are_two) {
    char *folder = weft_test_folder();
    write_as(timed_report("laptop A", 1.0), folder, "laptops", "a.json");
    write_as(timed_report("laptop B", 2.0), folder, "laptops", "b.json");
    assert_string_equal(names_of(folder), "laptop A, laptop B");
}

/* Two people may have thought of the same label. */
WEFT_TEST(one_label_in_two_folders_is_of_two_machines) {
    char *folder = weft_test_folder();
    write_as(timed_report("laptop", 1.0), folder, "ann", "a.json");
    write_as(timed_report("laptop", 2.0), folder, "bob", "a.json");
    assert_string_equal(names_of(folder), "laptop (ann/a.json), laptop (bob/a.json)");
}

WEFT_TEST(another_processor_or_memory_is_another_machine) {
    char *folder = weft_test_folder();
    json_t *more_memory = report_of("laptop");
    json_t *other_cpu = report_of("laptop");
    json_t *more_cores = report_of("laptop");
    json_t *same = report_of("laptop");
    const json_int_t gib = (json_int_t)1 << 30;
    add_time(more_memory, "ops", "fft", 1.0, SOME);
    add_time(other_cpu, "ops", "softmax", 1.0, SOME);
    add_time(more_cores, "ops", "gelu", 1.0, SOME);
    add_time(same, "ops", "norm", 1.0, SOME);
    set_fact(more_memory, "memory", json_integer(32 * gib));
    set_fact(same, "memory", json_integer(32 * gib - 20000000)); /* what a newer kernel leaves */
    set_fact(other_cpu, "cpu", json_string("Another processor"));
    set_fact(more_cores, "cores", json_integer(16));
    write_as(more_memory, folder, "x", "a.json");
    write_as(other_cpu, folder, "x", "b.json");
    write_as(more_cores, folder, "x", "c.json");
    write_as(same, folder, "x", "d.json");
    assert_string_equal(names_of(folder),
                        "laptop (x/a.json), laptop (x/b.json), laptop (x/c.json)");
}

/* A label says that it is the same one: then the newest time counts, and no ratio is of a machine to itself. */
WEFT_TEST(the_newest_time_of_a_machine_counts) {
    char *folder = weft_test_folder();
    json_t *old = timed_report("laptop A", 9.0);
    set_fact(old, "started", json_string("2026-11-20T11:00:00Z"));
    write_as(timed_report("laptop A", 1.0), folder, "x", "a.json");
    write_as(old, folder, "x", "b.json");
    write_as(timed_report("laptop B", 4.0), folder, "x", "c.json");
    json_t *index = index_of(folder);
    assert_int_equal(json_array_size(json_object_get(index, "machines")), 2);
    assert_int_equal(json_array_size(json_object_get(index, "columns")), 2);
    assert_ok(weft_bench_ratios_add(index, 0, NULL));
    const json_t *cells = field(json_array_get(field(index, "cases"), 0), "cells");
    assert_int_equal(json_array_size(cells), 3);
    for (size_t i = 0; i < 3; i++) {
        const json_t *cell = json_array_get(cells, i);
        const double ms = weft_bench_number(cell, "median_ms");
        assert_int_equal(json_is_true(field(cell, "newest")), ms != 9.0);
        assert_int_equal(json_is_number(field(cell, "ratio")), ms != 9.0);
        assert_true(ms != 4.0 || weft_bench_number(cell, "ratio") == 4.0);
    }
    json_decref(index);
}

/* Files of one machine without a label, as those who measure one after the other leave them. */
WEFT_TEST(files_without_a_label_that_complete_each_other_are_of_one) {
    char *folder = weft_test_folder();
    json_t *fast = timed_report(NULL, 1.0);
    json_object_set_new(json_array_get(made_rows(fast), 0), "math", json_string("fast"));
    write_as(timed_report(NULL, 2.0), folder, "gpu", "reproducible.json");
    write_as(fast, folder, "gpu", "fast.json");
    assert_string_equal(names_of(folder), "gpu");
}

/* ---- ratios ---- */

static double mean_of(const json_t *index, const char *suite, size_t column, int cases) {
    const json_t *ratios = field(index, "ratios");
    for (size_t i = 0; i < json_array_size(ratios); i++) {
        const json_t *mean = json_array_get(ratios, i);
        const bool is_suite = suite ? strcmp(weft_bench_text(mean, "suite"), suite) == 0
                                    : json_is_null(field(mean, "suite"));
        if (is_suite && weft_bench_number(mean, "column") == (double)column) {
            assert_int_equal(integer_field(mean, "cases"), cases);
            return weft_bench_number(mean, "ratio");
        }
    }
    return 0.0;
}

static void expect_near(double found, double expected) {
    if (!(found > expected * (1.0 - 1e-12) && found < expected * (1.0 + 1e-12))) {
        fail_msg("%.17g is not %.17g", found, expected);
    }
}

/* 2 and 8 times as long in suite ops, 1/16 in mixers; a time of other bits and a case of one machine count nowhere. */
WEFT_TEST(means_are_geometric_and_of_equal_bits) {
    char *folder = weft_test_folder();
    json_t *one = report_of("one");
    json_t *two = report_of("two");
    json_t *three = report_of("three");
    add_time(one, "ops", "a", 1.0, SOME);
    add_time(one, "ops", "b", 3.0, SOME);
    add_time(one, "mixers", "c", 16.0, SOME);
    add_time(one, "ops", "d", 1.0, SOME);
    add_time(one, "ops", "alone", 1.0, SOME);
    add_time(two, "ops", "a", 2.0, SOME);
    add_time(two, "ops", "b", 24.0, SOME);
    add_time(two, "mixers", "c", 1.0, SOME);
    add_time(two, "ops", "d", 1000.0, OTHER);
    add_time(three, "ops", "d", 5.0, SOME);
    write_as(one, folder, "1", "a.json");
    write_as(two, folder, "2", "a.json");
    write_as(three, folder, "3", "a.json");
    json_t *index = index_of(folder);
    assert_ok(weft_bench_ratios_add(index, 0, NULL));
    expect_near(mean_of(index, "ops", 1, 2), 4.0);
    expect_near(mean_of(index, "mixers", 1, 1), 1.0 / 16.0);
    expect_near(mean_of(index, NULL, 1, 3), 1.0);
    expect_near(mean_of(index, NULL, 0, 4), 1.0);
    expect_near(mean_of(index, "ops", 2, 1), 5.0);
    assert_true(mean_of(index, "mixers", 2, 0) == 0.0);
    assert_ok(weft_bench_ratios_add(index, 1, NULL)); /* another one is chosen */
    assert_int_equal(integer_field(index, "baseline"), 1);
    expect_near(mean_of(index, "ops", 0, 2), 0.25);
    json_decref(index);
}

WEFT_TEST(the_machine_that_others_are_held_against_is_chosen_by_name) {
    char *folder = weft_test_folder();
    json_t *index = NULL;
    size_t column = 9;
    write_as(timed_report("laptop AB", 1.0), folder, "1", "a.json");
    write_as(timed_report("laptop A", 2.0), folder, "2", "a.json");
    assert_ok(weft_bench_index_read(&index, folder, NULL));
    assert_true(weft_bench_find_baseline(&column, index, "laptop A") && column == 1);
    assert_true(weft_bench_find_baseline(&column, index, "top AB") && column == 0);
    assert_true(weft_bench_find_baseline(&column, index, "GPU") && column == 0);
    assert_false(weft_bench_find_baseline(&column, index, "desk"));
    json_decref(index);
    expect_says(0, weft_test_text("bench --index '%s' --baseline 'laptop A'", folder),
                "Times over those of laptop A (Some GPU, 1.2)",
                "| laptop AB | Some GPU | 1.2 | reproducible | 0.5 | 1 |", NULL);
    expect_refused(2, weft_test_text("bench --index '%s' --baseline desk", folder),
                   "--baseline: no machine and no device has 'desk' in its name", NULL);
    expect_refused(2, "bench --baseline a", "--baseline is for --index", NULL);
}

/* Times of a stranger's may be any. */
WEFT_TEST(no_ratio_is_infinite) {
    char *folder = weft_test_folder();
    write_as(timed_report("one", 1e-308), folder, "1", "a.json");
    write_as(timed_report("two", 1e308), folder, "2", "a.json");
    json_t *index = index_of(folder);
    assert_ok(weft_bench_ratios_add(index, 0, NULL));
    assert_true(mean_of(index, NULL, 1, 0) == 0.0);
    json_decref(index);
    expect_says(0, weft_test_text("bench --from '%s/1/a.json' '%s/2/a.json'", folder, folder),
                "two", NULL);
}

/* ---- files that are named ---- */

WEFT_TEST(files_stand_side_by_side) {
    char *folder = weft_test_folder();
    char *a = write_as(timed_report("laptop A", 1.0), folder, "x", "a.json");
    char *b = write_as(timed_report("laptop B", 2.5), folder, "x", "b.json");
    char *c = write_as(timed_report(NULL, 0.5), folder, "x", "c.json");
    expect_says(0, weft_test_text("bench --from '%s' '%s' '%s'", a, b, c),
                "  1  laptop A  Some GPU  1.2     Some processor      8", "  3  c.json    Some GPU",
                "ops    matmul  reproducible     1.000     2.500  2.50x     0.500  0.50x",
                "reproducible  (all)      2.50x (1)      0.50x (1)", NULL);
    expect_says(0, weft_test_text("bench --from '%s' '%s' --baseline 'laptop B'", a, b), "1 / 2",
                "1.000  0.40x     2.500", NULL);
    struct outcome outcome = expect_weft(0, "bench --from '%s' '%s' '%s' --json", a, a, b);
    json_t *index = json_of(&outcome);
    outcome_clear(&outcome);
    assert_int_equal(json_array_size(field(index, "machines")), 3); /* whatever is named twice */
    assert_int_equal(json_array_size(field(index, "entries")), 3);
    assert_true(json_is_null(field(json_array_get(field(index, "entries"), 0), "href")));
    json_decref(index);
    char *other = write_as(report_of(NULL), folder, "x", "d.json");
    expect_says(0, weft_test_text("bench --from '%s' '%s'", a, other),
                "No case was timed by two of them.", NULL);
}

WEFT_TEST(broken_files_among_others_are_refused) {
    char *folder = weft_test_folder();
    char *a = write_as(timed_report("laptop A", 1.0), folder, "x", "a.json");
    static const char *const texts[] = {
        "",
        "{",
        "[]",
        "{\"schema\": 2}",
        "{\"schema\": 1}",
        "{\"schema\": 2, \"environment\": {\"label\": \"a\\nb\"}, \"rows\": [], \"fits\": []}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *bad = weft_test_write(folder, "bad.json", texts[i], strlen(texts[i]));
        expect_refused(4, weft_test_text("bench --from '%s' '%s'", a, bad), "bad.json", NULL);
    }
    expect_refused(4, weft_test_text("bench --from '%s' '%s'", a, weft_test_absent("c.json")),
                   "c.json", NULL);
    json_t *label = report_of("fine");
    set_fact(label, "label", json_string("two\nlines"));
    char *path = write_as(label, folder, "x", "label.json");
    expect_refused(4, weft_test_text("bench --from '%s' '%s'", a, path), "environment.label",
                   "expected one line of 1 to 64 characters", NULL);
    json_t *many = report_of(NULL);
    for (int i = 0; i < 65; i++) {
        json_t *row = made_time(many, "matmul", 1.0, 0.01);
        json_object_set_new(row, "device", json_string(weft_test_text("GPU %d", i)));
    }
    path = write_as(many, folder, "y", "many.json");
    expect_refused(4, weft_test_text("bench --from '%s' '%s'", a, path),
                   "expected rows of at most 64 devices, found 65", NULL);
    expect_refused(4, weft_test_text("bench --index '%s'", folder), "label.json", NULL);
}

WEFT_TEST(wrong_usage_is_refused) {
    expect_refused(2, "bench a.json", "unexpected argument 'a.json': only --from takes files",
                   NULL);
    expect_refused(2, "bench --from a.json b.json --compare c.json", "--compare is for one report",
                   NULL);
    expect_refused(2, "bench --from a.json b.json --suite ops", "it excludes --suite", NULL);
    expect_refused(2, "bench --from a.json --label x", "it excludes --label", NULL);
    expect_refused(2, "bench --from a.json --baseline x", "--baseline is for --index", NULL);
    expect_refused(2, "bench --label ''", "--label: expected one line of 1 to 64 characters", NULL);
    expect_refused(2, "certify --label \"$(printf 'a\\tb')\"", "--label: expected one line", NULL);
    expect_refused(2, "bench --label \"$(printf '%010000d' 1)\"", "--label: expected one line",
                   NULL);
}

/* ---- strangers' labels ---- */

WEFT_TEST(a_label_is_a_text_wherever_it_is_shown) {
    char *folder = weft_test_folder();
    char *page = weft_test_path(folder, "page.html");
    char *csv = weft_test_path(folder, "rows.csv");
    char *a = write_as(timed_report(NASTY, 1.0), folder, "1", "a.json");
    char *b = write_as(timed_report("=cmd|' /C calc'!A0", 2.0), folder, "2", "b.json");
    size_t size = 0;
    struct outcome outcome =
        expect_weft(0, "bench --from '%s' '%s' --html '%s' --csv '%s'", a, b, page, csv);
    expect_harmless(&outcome, outcome.out, "\n");
    expect_part(&outcome, outcome.out, NASTY);
    outcome_clear(&outcome);
    char *text = (char *)weft_test_read(page, &size);
    assert_null(strstr(text, "<script>x"));
    assert_non_null(strstr(text, "\\u003cscript>x|=1+1 \\\"q\\\""));
    free(text);
    text = (char *)weft_test_read(csv, &size);
    assert_non_null(strstr(text, "\r\nops,matmul,reproducible,\"'=cmd|' /C calc'!A0\","));
    assert_non_null(
        strstr(text, ",\"<script>x|'=1+1 \"\"q\"\", `**_a_**` [l](http://e) www.e.x\","));
    free(text);
    outcome = expect_weft(0, "bench --index '%s'", folder);
    expect_part(
        &outcome, outcome.out,
        "| \\<script\\>x\\|=1+1 \"q\", \\`\\*\\*\\_a\\_\\*\\*\\` \\[l\\](http\\://e) www\\.e.x | ");
    assert_null(strstr(outcome.out, " <script")); /* each "<" has a backslash before it */
    outcome_clear(&outcome);
    expect_says(0, weft_test_text("bench --from '%s'", a), NASTY ": Some processor, 8 cores\n",
                NULL);
}

WEFT_TEST(a_certificate_has_a_label_too) {
    char *folder = weft_test_folder();
    json_t *record = made_certificate();
    json_object_set_new(json_object_get(record, "system"), "label", json_string("laptop A"));
    write_as(record, folder, "gpu", "certificate.json");
    assert_string_equal(names_of(folder), "laptop A");
    record = made_certificate();
    json_object_set_new(json_object_get(record, "system"), "label", json_string("a\x1b[2J"));
    write_as(record, folder, "gpu", "certificate.json");
    expect_refused(4, weft_test_text("bench --index '%s'", folder), "system.label",
                   "expected one line", NULL);
}
