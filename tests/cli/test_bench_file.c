/* SPDX-License-Identifier: MIT */
/* Files of weft bench: what bench/schema.json takes and refuses, and so does the command's own reader. */
#include "bench/file.h"
#include "made_report.h"
#include "schema.h"
#include "support.h"

#define SCHEMA_FILE WEFT_SOURCE_DIR "/bench/schema.json"

static char *schema_text(void) {
    size_t size = 0;
    return (char *)weft_test_read(SCHEMA_FILE, &size);
}

/** A row of each kind. */
static json_t *whole_report(void) {
    json_t *report = made_report(MADE_DEVICE);
    json_error_t error;
    made_time(report, "matmul", 2.0, 0.01);
    made_software_time(report, "softmax", 2.0, 0.01, 3.5);
    made_row(report, "fft", "unsupported", "no f16");
    made_row(report, "long", "skipped", "too long");
    made_row(report, "bad", "error", "not finite");
    json_t *peer = made_time(report, "peer", 1.0, 0.1);
    static const char *const unknown[] = {"math",       "p5_ms",       "p95_ms",   "flops",
                                          "bytes",      "gflop_per_s", "gb_per_s", "extra_bytes",
                                          "dispatches", "barriers",    "start_ms", "output_sha256"};
    json_object_del(peer, "rounds_ms");
    json_object_set_new(peer, "runtime", json_string("torch"));
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        json_object_set_new(peer, unknown[i], json_null());
    }
    json_t *fit = json_pack_ex(
        &error, 0,
        "{s:s, s:s, s:s, s:i, s:s, s:b, s:{s:i, s:i, s:i, s:f, s:f}, s:{s:i, s:n, s:n, s:n, s:n}, "
        "s:{s:i, s:i, s:i, s:n, s:n}, s:{s:s, s:s, s:f, s:f, s:f}, s:f}",
        "suite", "mixers", "series", "fourier", "device", MADE_DEVICE, "device_index", 0, "math",
        "fast", "linear", 0, "time", "lengths", 3, "from", 512, "to", 2048, "exponent", 1.1,
        "standard_error", 0.01, "cpu_time", "lengths", 0, "from", "to", "exponent",
        "standard_error", "extra_memory", "lengths", 1, "from", 512, "to", 512, "exponent",
        "standard_error", "crossover", "baseline", "dense attention", "kind", "at", "n", 700.5,
        "from", 512.0, "to", 2048.0, "speedup", 2.5);
    json_array_append_new(json_object_get(report, "fits"), made(fit, &error));
    return report;
}

/** What the schema says against a document; null when it is valid. The caller frees it. */
static char *schema_says(const char *schema, const json_t *document) {
    char *text = json_dumps(document, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
    assert_non_null(text);
    char *said = weft_test_schema_check(schema, text);
    free(text);
    return said;
}

static void expect_valid(const char *schema, const json_t *document) {
    char *said = schema_says(schema, document);
    if (said) {
        fail_msg("%s", said);
    }
}

/* ---- the schema ---- */

/** Everything with a type or a choice of values says what it is, but for what is inside of lists. */
static void expect_described(const json_t *properties, const char *owner) {
    const char *name = NULL;
    json_t *rule = NULL;
    json_object_foreach((json_t *)properties, name, rule) {
        bool is_plain = json_object_get(rule, "type") != NULL;
        if (is_plain && !json_object_get(rule, "description") && strcmp(name, "reason") != 0) {
            fail_msg("%s of %s has no description in the schema", name, owner);
        }
        expect_described(json_object_get(rule, "properties"), name);
    }
}

WEFT_TEST(schema_describes_its_fields) {
    char *text = schema_text();
    json_error_t error;
    json_t *schema = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    assert_non_null(schema);
    expect_described(json_object_get(schema, "properties"), "the whole");
    expect_described(json_object_get(schema, "definitions"), "the definitions");
    json_decref(schema);
    free(text);
}

WEFT_TEST_ON_HOST(reports_of_all_kinds_are_valid, test) {
    char *schema = schema_text();
    json_t *report = whole_report();
    expect_valid(schema, report);
    assert_ok(weft_bench_file_check(report, "made.json", &test->host));
    json_decref(report);
    free(schema);
}

/** A change of the whole report. */
struct damage {
    const char *place; /* members and indices with '/' between them; the last is what is changed */
    const char *value; /* as JSON; null: removed */
    const char *said;  /* by the command's own reader; null: it takes that */
};

static const struct damage damages[] = {
    {"schema", "1", "made.json: field \"schema\": expected 2, "},
    {"schema", "\"2\"", "found \"2\""},
    {"schema", NULL, "found nothing"},
    {"rows", NULL, "field \"rows\": expected a list, found nothing"},
    {"fits", "{}", "field \"fits\": expected a list, found an object of 0"},
    {"more", "1", NULL},
    {"environment/cpu", NULL,
     "field \"environment.cpu\": expected a string or null, found nothing"},
    {"environment/cores", "\"8\"", "\"environment.cores\": expected an integer of at least 0"},
    {"environment/size", "\"huge\"", NULL},
    {"environment/started", "\"yesterday\"", NULL},
    {"environment/debug_slow_down", "1.5", "\"environment.debug_slow_down\": expected an integer"},
    {"environment/more", "1", NULL},
    {"environment/label", "3",
     "field \"environment.label\": expected one line of 1 to 64 characters"},
    {"environment/label", "\"\"", "found \"\""},
    {"environment/label", "\"two\\nlines\"", "\"environment.label\": expected one line"},
    {"environment/label", "\"a\\u001b[2J\"", "\"environment.label\": expected one line"},
    {"environment/label", "\"a\\u202eb\"", "\"environment.label\": expected one line"},
    {"environment/label", "\"0123456789012345678901234567890123456789012345678901234567890123x\"",
     "\"environment.label\": expected one line of 1 to 64 characters"},
    {"environment/memory", "-1",
     "\"environment.memory\": expected an integer of at least 0 or null"},
    {"environment/memory", "\"16 GiB\"", "\"environment.memory\": expected an integer"},
    {"environment/governor", "1", "\"environment.governor\": expected a string or null"},
    {"environment/energy_preference", "[]", "\"environment.energy_preference\": expected a string"},
    {"environment/power_plan", "{}", "\"environment.power_plan\": expected a string or null"},
    {"environment/devices/0/ceilings", NULL, "\"environment.devices[0].ceilings\""},
    {"environment/devices/0/ceilings/copy_gb_per_s", "0", NULL},
    {"environment/devices/0/uuid", "\"0\"", NULL},
    {"rows/0/median_ms", NULL,
     "field \"rows[0].median_ms\": expected a number above 0, found noth"},
    {"rows/0/median_ms", "0", "found 0"},
    {"rows/0/median_ms", "\"2 ms\"", "found \"2 ms\""},
    {"rows/0/p5_ms", "null", "\"rows[0].p5_ms\": expected a number of at least 0, found null"},
    {"rows/0/interval_ms", "[1.0]", "expected two numbers of at least 0 in ascending order, found"},
    {"rows/0/interval_ms", "[1.0, 2.0, 3.0]", "found an array of 3"},
    {"rows/0/shape", "[0]", "\"rows[0].shape\": expected a list of integers above 0"},
    {"rows/0/dispatches", "1.5", "\"rows[0].dispatches\": expected an integer"},
    {"rows/0/clock", "\"sun\"", NULL},
    {"rows/0/output_sha256", "\"abc\"", NULL},
    {"rows/0/verified", "null", "\"rows[0].verified\": expected an object, found null"},
    {"rows/0/verified/by", "\"eye\"", NULL},
    {"rows/0/longest_dispatch/ms", NULL, NULL},
    {"rows/0/start_ms/steady", NULL, NULL},
    {"rows/0/status", "\"fine\"",
     "\"rows[0].status\": expected \"ok\", \"unsupported\", \"skipped\""},
    {"rows/0/status", "\"error\"", NULL}, /* it has measurements */
    {"rows/0/reason", "\"but\"", NULL},
    {"rows/0/math", "null",
     "\"rows[0].math\": expected \"reproducible\", \"fused\" or \"fast\", found null"},
    {"rows/0/math", "\"quick\"", "found \"quick\""},
    {"rows/0/tight", "1", "expected true or false, found 1"},
    {"rows/0/more", "1", NULL},
    {"rows/2/status", "\"ok\"",
     "\"rows[2].shape\": expected a list of integers above 0, found noth"},
    {"rows/2/reason", "\"\"", NULL},
    {"rows/2/median_ms", "1.0", NULL},
    {"rows/3/suite", NULL, "\"rows[3].suite\""},
    {"rows/4/software_device", "null", "\"rows[4].software_device\""},
    {"rows/5/math", "\"fast\"", NULL}, /* a peer's */
    {"rows/5/median_ms", "null", "\"rows[5].median_ms\""},
    {"rows/5", "3", "field \"rows[5]\": expected an object, found 3"},
    {"fits/0/time/exponent", "\"1\"", NULL},
    {"fits/0/crossover/kind", "\"maybe\"", NULL},
    {"fits/0/math", NULL, NULL},
    {"fits/0/device", NULL, NULL},
};

static void change(json_t *report, const struct damage *damage) {
    char place[80];
    snprintf(place, sizeof place, "%s", damage->place);
    json_t *owner = report;
    char *name = place;
    for (char *slash; (slash = strchr(name, '/')); name = slash + 1) {
        *slash = '\0';
        owner = json_is_array(owner) ? json_array_get(owner, strtoul(name, NULL, 10))
                                     : json_object_get(owner, name);
        assert_non_null(owner);
    }
    json_t *value = !damage->value ? NULL : json_loads(damage->value, JSON_DECODE_ANY, NULL);
    if (!value) {
        assert_int_equal(json_object_del(owner, name), 0);
    } else if (json_is_array(owner)) {
        assert_int_equal(json_array_set_new(owner, strtoul(name, NULL, 10), value), 0);
    } else {
        assert_int_equal(json_object_set_new(owner, name, value), 0);
    }
}

WEFT_TEST_ON_HOST(damaged_reports_are_refused, test) {
    char *schema = schema_text();
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        const struct damage *damage = &damages[i];
        json_t *report = whole_report();
        change(report, damage);
        char *said = schema_says(schema, report);
        if (!said) {
            fail_msg("the schema takes %s = %s", damage->place,
                     !damage->value ? "nothing" : damage->value);
        }
        free(said);
        weft_test_host_reset(test);
        weft_status status = weft_bench_file_check(report, "made.json", &test->host);
        if ((status == WEFT_OK) != (!damage->said)) {
            fail_msg("the reader says %s of %s", weft_status_name(status), damage->place);
        }
        if (damage->said) {
            assert_status(status, WEFT_BAD_FILE);
            weft_test_expect_log(test, "made.json: field", damage->said);
        }
        json_decref(report);
    }
    free(schema);
}

/* Each field of each kind of row is required. */
WEFT_TEST(missing_fields_of_rows_are_refused) {
    char *schema = schema_text();
    json_t *whole = whole_report();
    size_t checked = 0;
    for (size_t i = 0; i < json_array_size(made_rows(whole)); i++) {
        const char *name = NULL;
        json_t *value = NULL;
        json_object_foreach(json_array_get(made_rows(whole), i), name, value) {
            if (strcmp(name, "p90_ms") == 0 || strcmp(name, "p99_ms") == 0) {
                continue; /* which older reports lack */
            }
            json_t *report = json_deep_copy(whole);
            json_object_del(json_array_get(made_rows(report), i), name);
            char *said = schema_says(schema, report);
            if (!said) {
                fail_msg("the schema takes rows[%zu] without %s", i, name);
            }
            free(said);
            json_decref(report);
            checked++;
        }
    }
    assert_true(checked > 100);
    json_decref(whole);
    free(schema);
}

/* ---- files ---- */

WEFT_TEST_ON_HOST(files_are_read_back, test) {
    char *folder = weft_test_folder();
    char *path = weft_test_path(folder, "report.json");
    json_t *report = whole_report();
    assert_ok(weft_bench_file_write(path, report, &test->host));
    json_t *read = NULL;
    assert_ok(weft_bench_file_read(&read, path, &test->host));
    assert_true(json_equal(read, report));
    json_decref(read);
    json_decref(report);
}

WEFT_TEST_ON_HOST(other_files_are_refused, test) {
    static const char *const texts[] = {"", "{", "[]", "{\"schema\": 1}", "{\"schema\": 2}"};
    static const char *const said[] = {"bad.json:", "bad.json:1:", "expected a JSON object",
                                       "found 1", "environment"};
    char *folder = weft_test_folder();
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char *path = weft_test_write(folder, "bad.json", texts[i], strlen(texts[i]));
        json_t *report = NULL;
        WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE, weft_bench_file_read(&report, path, &test->host),
                            "bad.json", said[i]);
    }
    json_t *report = NULL;
    assert_int_equal(weft_bench_file_read(&report, weft_test_absent("report.json"), &test->host),
                     WEFT_NOT_FOUND);
}

/* A file of a thousand rows has a thousand lines and some. */
WEFT_TEST_ON_HOST(a_row_takes_one_line, test) {
    char *folder = weft_test_folder();
    char *path = weft_test_path(folder, "report.json");
    json_t *report = whole_report();
    assert_ok(weft_bench_file_write(path, report, &test->host));
    size_t size = 0;
    size_t rows = 0;
    char *text = (char *)weft_test_read(path, &size);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        if (strncmp(line, "  {\"suite\":", 11) == 0) {
            const size_t length = strlen(line);
            const size_t comma = line[length - 1] == ',';
            json_t *row = json_loadb(line, length - comma, 0, NULL);
            const json_t *expected = json_array_get(made_rows(report), rows++);
            assert_true(rows > json_array_size(made_rows(report)) || json_equal(row, expected));
            json_decref(row);
        }
    }
    assert_int_equal(rows, json_array_size(made_rows(report)) + 1); /* a fit has a suite, too */
    free(text);
    json_decref(report);
}
