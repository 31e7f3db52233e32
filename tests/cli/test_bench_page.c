/* SPDX-License-Identifier: MIT */
/* The page of weft bench: it has the report as it is, whatever the report says, and loads nothing. */
#include "bench/page.h"
#include "bench/page_parts.h"
#include "support.h"

/* Text that would end a script, hide the rest of the page, or run, were it taken for HTML. */
#define NASTY \
    "softmax/</script><script>alert(1)</script><!-- <img src=x onerror=alert(2)> ]]> {{page.css}}"

static json_t *report_with(const char *name, const char *reason) {
    json_t *report = json_pack(
        "{s:i, s:{s:s, s:[]}, s:[{s:s, s:s, s:n, s:n, s:s, s:s, s:s, s:s, s:s, s:s}, "
        "{s:s, s:s, s:f, s:I}], s:[]}",
        "schema", 2, "environment", "weft", "0.1.0", "devices", "rows", "suite", "ops", "case",
        name, "series", "n", "runtime", "weft", "device", "a device", "driver", "1", "math",
        "reproducible", "status", "error", "reason", reason, "case", "umlaut \xc3\xa4 \\ \" \x01",
        "status", "ok", "median_ms", 0.015625, "peak_bytes", (json_int_t)1 << 40, "fits");
    assert_non_null(report);
    return report;
}

/* The page as text, from a file in a folder that is gone afterwards. */
static char *page_of(const json_t *report, const json_t *comparison, const weft_host *host) {
    char *folder = weft_test_folder();
    char *path = weft_test_path(folder, "page.html");
    assert_ok(weft_bench_page_write(path, report, comparison, host));
    assert_int_equal(weft_test_entries(folder), 1);
    size_t size = 0;
    char *text = (char *)weft_test_read(path, &size);
    assert_int_equal(strlen(text), size);
    return text;
}

/* What a browser takes for the element's text: up to the next "</script". */
static json_t *element_of(const char *page, const char *id) {
    char start[96];
    snprintf(start, sizeof start, "<script type=\"application/json\" id=\"%s\">", id);
    const char *from = strstr(page, start);
    assert_non_null(from);
    from += strlen(start);
    assert_null(strstr(from, start));
    const char *end = strstr(from, "</script");
    assert_non_null(end);
    json_error_t error;
    json_t *value = json_loadb(from, (size_t)(end - from), JSON_DECODE_ANY, &error);
    if (!value) {
        fail_msg("%s: %s at %d", id, error.text, error.position);
    }
    return value;
}

static size_t count_of(const char *text, const char *part) {
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part)) {
        count++;
    }
    return count;
}

/* ---- tests ---- */

WEFT_TEST_ON_HOST(page_has_the_report_as_it_is, test) {
    json_t *report = report_with(NASTY, "more than 1e-5 </script> <!-- <script>");
    json_t *comparison = json_pack("{s:[{s:s, s:f}]}", "rows", "case", NASTY, "ratio", 1.5);
    char *page = page_of(report, comparison, &test->host);
    json_t *found = element_of(page, "weft-report");
    assert_true(json_equal(found, report));
    json_decref(found);
    found = element_of(page, "weft-comparison");
    assert_true(json_equal(found, comparison));
    json_decref(found);
    free(page);
    page = page_of(report, NULL, &test->host);
    found = element_of(page, "weft-comparison");
    assert_true(json_is_null(found));
    json_decref(found);
    free(page);
    json_decref(comparison);
    json_decref(report);
}

WEFT_TEST_ON_HOST(text_of_a_report_adds_no_markup, test) {
    static const char *const marks[] = {"<script", "</script", "<!--", "<img", "</html>", "<style"};
    json_t *plain = report_with("softmax", "");
    json_t *nasty = report_with(NASTY, NASTY);
    char *plain_page = page_of(plain, NULL, &test->host);
    char *nasty_page = page_of(nasty, nasty, &test->host);
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        assert_int_equal(count_of(plain_page, marks[i]), count_of(nasty_page, marks[i]));
    }
    assert_int_equal(count_of(plain_page, "<script"), count_of(plain_page, "</script>"));
    assert_int_equal(count_of(plain_page, "</html>"), 1);
    free(nasty_page);
    free(plain_page);
    json_decref(nasty);
    json_decref(plain);
}

/* An index whose machine has this label, and one entry that is not linked. */
static json_t *index_with(const char *label) {
    json_t *index =
        json_pack("{s:[{s:s, s:s, s:n, s:i}], s:[{s:i, s:s, s:s}], s:[{s:s, s:n, s:s, s:s, s:s, "
                  "s:s, s:i}], s:[], s:i, "
                  "s:[]}",
                  "machines", "name", label, "label", label, "cpu", "cores", 8, "columns",
                  "machine", 0, "device", "a device", "driver", "1", "entries", "file", label,
                  "href", "device", "a device", "driver", "1", "type", "software", "math", "fast",
                  "column", 0, "cases", "baseline", 0, "ratios");
    assert_non_null(index);
    return index;
}

static char *index_page_of(const json_t *index, const weft_host *host) {
    char *path = weft_test_path(weft_test_folder(), "index.html");
    size_t size = 0;
    assert_ok(weft_bench_index_page_write(path, index, host));
    return (char *)weft_test_read(path, &size);
}

WEFT_TEST_ON_HOST(the_index_has_strangers_labels_as_they_are, test) {
    json_t *plain = index_with("laptop A");
    json_t *nasty = index_with(NASTY);
    char *plain_page = index_page_of(plain, &test->host);
    char *nasty_page = index_page_of(nasty, &test->host);
    json_t *found = element_of(nasty_page, "weft-report");
    assert_true(json_equal(found, nasty));
    json_decref(found);
    assert_int_equal(count_of(plain_page, "<script"), count_of(nasty_page, "<script"));
    assert_int_equal(count_of(plain_page, "<!--"), count_of(nasty_page, "<!--"));
    assert_int_equal(count_of(plain_page, "<img"), count_of(nasty_page, "<img"));
    assert_int_equal(count_of(plain_page, "{{"), 0);
    assert_int_equal(count_of(nasty_page, "{{"), 3); /* the label's own */
    assert_non_null(strstr(plain_page, "Permission is hereby granted, free of charge"));
    free(nasty_page);
    free(plain_page);
    json_decref(nasty);
    json_decref(plain);
}

/* A "<!--" or "</script" in a script would end it, or keep it from ending. */
WEFT_TEST(scripts_and_style_may_be_embedded) {
    size_t scripts = 0;
    for (size_t i = 0; i < weft_page_part_count; i++) {
        const weft_page_part *part = &weft_page_parts[i];
        assert_int_equal(strlen(part->text), part->size);
        if (!strstr(part->name, ".html")) {
            assert_null(strstr(part->text, "</script"));
            assert_null(strstr(part->text, "</style"));
            assert_null(strstr(part->text, "<!--"));
            scripts++;
        }
    }
    assert_true(scripts >= 3);
}

/* Fails the test where an attribute or a url() names something outside the page. */
static void expect_no_reference(const char *page, const char *start, bool local) {
    for (const char *at = page; (at = strstr(at, start)); at += strlen(start)) {
        const char *value = at + strlen(start);
        value += *value == '"' || *value == '\'';
        if (!local || *value != '#') {
            fail_msg("a reference: %.60s", at);
        }
    }
}

WEFT_TEST_ON_HOST(page_loads_nothing, test) {
    json_t *report = report_with("softmax", "");
    char *page = page_of(report, NULL, &test->host);
    expect_no_reference(page, " src=", false);
    expect_no_reference(page, " href=", true);
    expect_no_reference(page, "url(", false);
    assert_null(strstr(page, "<link"));
    assert_null(strstr(page, "@import"));
    assert_non_null(strstr(page, "default-src 'none'")); /* and the browser is told */
    assert_null(strstr(page, "connect-src"));
    assert_null(strstr(page, "img-src"));
    free(page);
    json_decref(report);
}

WEFT_TEST_ON_HOST(page_has_the_licence_of_what_it_contains, test) {
    json_t *report = report_with("softmax", "");
    char *page = page_of(report, NULL, &test->host);
    assert_non_null(strstr(page, "Chart.js v3."));
    assert_non_null(strstr(page, "Permission is hereby granted, free of charge"));
    assert_non_null(strstr(page, "<noscript>"));
    free(page);
    json_decref(report);
}

WEFT_TEST_ON_HOST(folder_that_is_not_there, test) {
    json_t *report = report_with("softmax", "");
    char *folder = weft_test_folder();
    char *path = weft_test_path(folder, "missing/page.html");
    assert_int_not_equal(weft_bench_page_write(path, report, NULL, &test->host), WEFT_OK);
    weft_test_expect_log(test, path);
    json_decref(report);
}
