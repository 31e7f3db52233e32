/* SPDX-License-Identifier: MIT */
/* weft certify --check-submission: a good record fits, and each broken one is refused for what is broken. */
#include "certify/check.h"
#include "certify/consistent.h"
#include "certify/findings.h"
#include "cli/made_certificate.h"
#include "core/formats/json.h"

static const weft_host host = {0};

/* The findings about a record, which is dropped. */
static weft_certify_findings check(json_t *record) {
    weft_certify_findings findings;
    assert_ok(weft_certify_check(&findings, record, &host));
    json_decref(record);
    return findings;
}

static char *text_of(const weft_certify_findings *findings) {
    return json_dumps(findings->list, JSON_INDENT(1));
}

WEFT_TEST(a_good_record_fits) {
    weft_certify_findings findings = check(made_certificate());
    if (json_array_size(findings.list) != 0) {
        fail_msg("a good record is refused: %s", text_of(&findings));
    }
    json_decref(findings.list);
}

WEFT_TEST(a_good_record_is_given_a_mixing_rate) {
    json_t *record = made_certificate();
    const json_t *summary = json_object_get(record, "summary");
    const double rate = json_number_value(json_object_get(summary, "mixing_rate_tokens_per_s"));
    assert_true(rate > 505000.0 && rate < 506000.0); /* 1,024 tokens in 2.025 ms: 505,679 */
    json_decref(record);
}

/* ---- broken ones ---- */

/* The value at "bench/rows/3/p50_ms" of a record is replaced by another, or with null for the text, taken away. */
struct broken {
    const char *path;
    const char *value;
    const char *field; /* which a finding must name */
    bool unsealed;     /* somebody has edited the file, and did not make the chain anew */
};

#define ZEROS "\"0000000000000000000000000000000000000000000000000000000000000000\""

#define EMPTY \
    "\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"" /* of nothing */

static const struct broken broken[] = {
    {"certificate", "1", "certificate", false},
    {"program", NULL, "program", false},
    {"program/version", "\"0.0.9\"", "program.version", false},
    {"program/known_bits", ZEROS, "program.known_bits", false},
    {"made/seconds_allowed", "60.0", "made.seconds_allowed", false},
    {"made/seed", "8", "bits[0].ops", false},
    {"device/type", "\"software\"", "device.software_device", false},
    {"device/name", "\"llvmpipe (LLVM 15)\"", "device.type", false},
    {"device/software_device", "1", "device.software_device", false},
    {"bits/1", NULL, "bits", false},
    {"bits/0/ops/4/root", ZEROS, "bits[0].ops[4]", false},
    {"bits/0/ops/4/ran", "1", "bits[0].ops[4]", false},
    {"bits/0/passed", "12", "bits[0].passed", false},
    {"bits/0/ran", "12", "bits[0].ran", false},
    {"bits/0/ran", "12", "bits[0].ops", false},
    {"bits/0/listed_ran", "83", "bits[0].listed_ran", false},
    {"bits/0/listed_tried", "83", "bits[0].listed_tried", false},
    {"bits/0/listed_skips", "[{\"case\": \"a\", \"reason\": \"b\"}]", "bits[0].listed_skips",
     false},
    {"bits/0/skips", "{\"for nothing\": [\"no/such/case\"]}", "bits[0].skips", false},
    {"bits/0/ops/4/ran", "0", "bits[0].ops[4].root", false},
    {"bits/0/ops/4/root", EMPTY, "bits[0].ops[4].root", false},
    {"models/3/agrees", "false", "models[3].agrees", false},
    {"models/3/found", ZEROS, "models[3].agrees", false},
    {"models/3/expected", ZEROS, "models[3].expected", false},
    {"models/3/status", "\"skipped\"", "models[3].found", false},
    {"models/3/model", "\"langid1024-fnet\"", "models[3]", false},
    {"sustained/runs", "7000", "sustained.runs", false},
    {"sustained/gflop_per_s", "2432.0", "sustained.gflop_per_s", false},
    {"summary/cases_ran", "1", "summary.cases_ran", false},
    {"summary/cases_skipped", "0", "summary.cases_skipped", false},
    {"summary/every_kernel", "false", "summary.every_kernel", false},
    {"bits/0/failed", "1", "bits[0].failed", false},
    {"bits/0/skips", "{}", "bits[0].skipped", false},
    {"bits/1/tried", "999999", "bits[1].tried", false},
    {"bits/1/status", "\"WEFT_UNSUPPORTED\"", "bits[1].status", false},
    {"models/2", NULL, "models", false},
    {"models/3/found", ZEROS, "models[3].found", false},
    {"bench/modes/1", NULL, "bench.modes", false},
    {"bench/rows/3/medians_ms", "[2.0, 2.2]", "bench.rows[3]", false},
    {"bench/rows/3/medians_ms", "[-2.0, -2.05]", "bench.rows[3]", false},
    {"bench/rows/3/replicated", "false", "replicated", false},
    {"bench/rows/3/p99_ms", "2.1", "p99_ms", false},
    {"bench/rows/3/p50_ms", "0.0", "p50_ms", false},
    {"bench/rows/3/gflop_per_s", "20000.0", "gflop_per_s", false},
    {"bench/rows/0/output_sha256", "\"7d\"", "bench.rows[0].output_sha256", false},
    {"bench/rows/3/verified_by", "\"none\"", "verified_by", false},
    {"bench/rows/3/status", "\"error\"", "status", false},
    {"bench/rows", "[]", "bench.rows", false},
    {"sustained/seconds", "6.0", "sustained.seconds", false},
    {"sustained/last_over_first", "1.1", "sustained.last_over_first", false},
    {"summary/mixing_rate_tokens_per_s", "1e9", "summary.mixing_rate_tokens_per_s", false},
    {"summary/cases_tried", "1", "summary.cases_tried", false},
    {"extra", "1", "extra", false},
    {"bench/rows/3/runs", "101", "chain.bench", true},
    {"device/name", "\"Another GPU\"", "chain.device", true},
    {"chain/bits", ZEROS, "chain.bits", true},
};

static void set(json_t *object, const char *name, json_t *value) {
    if (json_is_array(object)) {
        const size_t index = strtoul(name, NULL, 10);
        assert_int_equal(
            value ? json_array_set_new(object, index, value) : json_array_remove(object, index), 0);
    } else {
        assert_int_equal(
            value ? json_object_set_new(object, name, value) : json_object_del(object, name), 0);
    }
}

static void edit(json_t *record, const struct broken *what) {
    json_t *value = what->value ? made_json(what->value) : NULL;
    const char *name = what->path;
    json_t *object = record;
    for (const char *end; (end = strchr(name, '/')); name = end + 1) {
        const char *part = weft_test_text("%.*s", (int)(end - name), name);
        object = json_is_array(object) ? json_array_get(object, strtoul(part, NULL, 10))
                                       : json_object_get(object, part);
        assert_non_null(object);
    }
    set(object, name, value);
    if (!what->unsealed) {
        assert_true(weft_certify_seal(record));
    }
}

static bool names(const weft_certify_findings *findings, const char *field) {
    for (size_t i = 0; i < json_array_size(findings->list); i++) {
        const json_t *finding = json_array_get(findings->list, i);
        if (strstr(json_string_value(json_object_get(finding, "field")), field)) {
            return json_is_string(json_object_get(finding, "expected")) &&
                   json_is_string(json_object_get(finding, "found"));
        }
    }
    return false;
}

WEFT_TEST(broken_records_are_refused_for_what_is_broken) {
    json_t *good = made_certificate();
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        json_t *record = json_deep_copy(good);
        edit(record, &broken[i]);
        weft_certify_findings findings = check(record);
        if (!names(&findings, broken[i].field)) {
            fail_msg("%s = %s: no finding about %s in %s", broken[i].path,
                     broken[i].value ? broken[i].value : "nothing", broken[i].field,
                     text_of(&findings));
        }
        json_decref(findings.list);
    }
    json_decref(good);
}

/* ---- devices that skip ---- */

/* The bits of a device that skipped the listed cases from place `from` on, as somebody would forge them who computed nothing. */
static json_t *skip_listed(uint32_t from, bool all) {
    weft_certify_job job = {.seconds = WEFT_CERTIFY_SECONDS, .seed = 7};
    json_t *record = made_certificate();
    json_t *modes = json_array();
    assert_ok(weft_certify_cases_make(&job.cases, job.seed, &host));
    for (int fused = 0; fused < 2; fused++) {
        weft_certify_bits bits;
        const weft_math math = fused ? WEFT_MATH_FUSED : WEFT_MATH_REPRODUCIBLE;
        json_t *names = json_array();
        assert_ok(weft_certify_bits_begin(&bits, math, &job));
        bits.done = job.cases.listed;
        for (uint32_t at = 0; at < bits.done; at++) {
            const uint32_t place = job.cases.order[at];
            const char *name = job.cases.list[place].name;
            if (all || at >= from) {
                bits.counts[WEFT_CERTIFY_SKIPPED]++;
                json_array_append_new(names, json_string(name));
            } else {
                bits.counts[WEFT_CERTIFY_PASSED]++;
                assert_true(weft_certify_known(bits.results[place].digits, name, math));
            }
        }
        json_object_set_new(bits.skips, "f16 is wanted", names);
        json_array_append_new(modes, weft_certify_bits_json(&bits, &job));
        weft_certify_bits_free(&bits, &host);
    }
    made_part(record, "bits", modes);
    made_part(record, "summary", weft_certify_summary_json(record));
    assert_true(weft_certify_seal(record));
    weft_certify_cases_free(&job.cases, &host);
    return record;
}

/* Nothing is known of a device that skipped every case, whatever else its record says (forge_certificate.py). */
WEFT_TEST(a_record_of_skipped_cases_alone_is_refused_and_agrees_with_nothing) {
    json_t *record = skip_listed(0, true);
    const json_t *summary = json_object_get(record, "summary");
    assert_true(json_is_false(json_object_get(summary, "bits_agree")));
    assert_true(json_is_false(json_object_get(summary, "every_kernel")));
    assert_int_equal(json_integer_value(json_object_get(summary, "cases_ran")), 0);
    assert_string_equal(json_string_value(json_object_get(summary, "reason")), "no case ran");
    assert_true(json_is_null(json_object_get(summary, "mixing_rate_tokens_per_s")));
    const json_t *mode = json_array_get(json_object_get(record, "bits"), 0);
    assert_int_equal(json_array_size(json_object_get(mode, "listed_skips")),
                     json_integer_value(json_object_get(mode, "listed")));
    weft_certify_findings findings = check(json_incref(record));
    assert_true(names(&findings, "bits[0].ran"));
    assert_true(names(&findings, "bits[1].ran"));
    json_decref(findings.list);
    /* The same with a summary that claims more. */
    edit(record, &(struct broken){.path = "summary/bits_agree", .value = "true"});
    edit(record, &(struct broken){.path = "summary/mixing_rate_tokens_per_s", .value = "1e9"});
    assert_int_equal(weft_certify_consistent(record, "record.json", &host), WEFT_BAD_FILE);
    findings = check(record);
    assert_true(names(&findings, "summary.bits_agree"));
    assert_true(names(&findings, "summary.mixing_rate_tokens_per_s"));
    json_decref(findings.list);
}

/* A kernel that was skipped is named, and without it there is no mixing rate. */
WEFT_TEST(a_skipped_kernel_is_named_and_not_counted) {
    json_t *record = skip_listed(80, false);
    const json_t *summary = json_object_get(record, "summary");
    assert_true(json_is_true(json_object_get(summary, "bits_agree")));
    assert_true(json_is_false(json_object_get(summary, "every_kernel")));
    assert_int_equal(json_integer_value(json_object_get(summary, "cases_ran")), 2 * 80);
    assert_string_equal(json_string_value(json_object_get(summary, "reason")),
                        "not every kernel ran");
    const json_t *mode = json_array_get(json_object_get(record, "bits"), 0);
    assert_int_equal(json_integer_value(json_object_get(mode, "listed_ran")), 80);
    const json_t *skip = json_array_get(json_object_get(mode, "listed_skips"), 0);
    assert_string_equal(json_string_value(json_object_get(skip, "reason")), "f16 is wanted");
    assert_true(weft_certify_is_listed(json_string_value(json_object_get(skip, "case"))));
    weft_certify_findings findings = check(record);
    assert_int_equal(json_array_size(findings.list), 0);
    json_decref(findings.list);
}

/* Lists that are compared each with each have as many entries as a record has. */
WEFT_TEST(long_lists_are_refused_at_once) {
    static const char *const paths[] = {"bits", "models", "bench/modes", "bench/rows"};
    json_t *good = made_certificate();
    for (size_t i = 0; i < 4; i++) {
        json_t *list = json_array();
        for (int k = 0; k < 20000; k++) {
            json_array_append_new(list, json_pack("{s:i}", "model", k));
        }
        char *text = json_dumps(list, JSON_COMPACT);
        json_t *record = json_deep_copy(good);
        edit(record, &(struct broken){.path = paths[i], .value = text, .unsealed = true});
        weft_certify_findings findings = check(record);
        assert_int_equal(json_array_size(findings.list), 1);
        json_decref(findings.list);
        json_decref(list);
        free(text);
    }
    json_decref(good);
}

/* Records that are cut or have another byte somewhere never fit, whatever else they are. */
WEFT_TEST(damaged_files_are_refused) {
    json_t *good = made_certificate();
    char *text = json_dumps(good, JSON_COMPACT | JSON_REAL_PRECISION(12));
    const size_t size = strlen(text);
    json_decref(good);
    for (size_t at = 0; at < size; at += size / 40) {
        json_t *record = NULL;
        assert_int_equal(weft_json_parse(&record, text, at, "cut", &host), WEFT_BAD_FILE);
        const char before = text[at];
        text[at] = before == '1' ? '2' : '1';
        if (weft_json_parse(&record, text, size, "changed", &host) == WEFT_OK) {
            weft_certify_findings findings = check(record);
            assert_true(json_array_size(findings.list) > 0);
            json_decref(findings.list);
        }
        text[at] = before;
    }
    free(text);
}

/* Whatever a field is replaced by, the check ends with findings. */
WEFT_TEST(fields_of_any_type_are_refused) {
    static const char *const values[] = {"null", "-1", "\"\"", "[]", "{}", "[[1]]", "1e300"};
    json_t *good = made_certificate();
    for (uint32_t i = 0; weft_certify_section(i); i++) {
        for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
            json_t *record = json_deep_copy(good);
            edit(record, &(struct broken){.path = weft_certify_section(i), .value = values[k]});
            weft_certify_findings findings = check(record);
            assert_true(json_array_size(findings.list) > 0);
            json_decref(findings.list);
        }
    }
    json_decref(good);
}

/* ---- the command ---- */

static char *write_record(json_t *record, const char *name) {
    char *path = weft_test_path(weft_test_folder(), name);
    assert_int_equal(json_dump_file(record, path, JSON_INDENT(1) | JSON_REAL_PRECISION(12)), 0);
    json_decref(record);
    return path;
}

WEFT_TEST(the_command_says_what_fits_and_what_does_not) {
    char *path = write_record(made_certificate(), "good.json");
    struct outcome outcome = expect_weft(0, "certify --check-submission '%s'", path);
    expect_part(&outcome, outcome.out, "fits");
    outcome_clear(&outcome);
    json_t *record = made_certificate();
    edit(record, &(struct broken){.path = "made/seconds_allowed", .value = "60.0"});
    edit(record, &(struct broken){.path = "models/3/found", .value = ZEROS});
    path = write_record(record, "bad.json");
    outcome = expect_weft(1, "certify --check-submission '%s'", path);
    expect_part(&outcome, outcome.out, "made.seconds_allowed: expected at least 540, found 60");
    expect_part(&outcome, outcome.out, "models[3].found: expected ");
    expect_part(&outcome, outcome.out, "is refused for");
    outcome_clear(&outcome);
    outcome = expect_weft(1, "certify --json --check-submission '%s'", path);
    json_t *report = json_of(&outcome);
    assert_true(json_is_false(json_object_get(report, "fits")));
    assert_true(json_array_size(json_object_get(report, "reasons")) >= 2);
    json_decref(report);
    outcome_clear(&outcome);
    char *absent = weft_test_absent("record.json");
    expect_refused(4, weft_test_text("certify --check-submission '%s'", absent), absent, NULL);
}

/* ---- the order of cases ---- */

WEFT_TEST(cases_come_in_the_order_of_the_seed_behind_the_listed_ones) {
    weft_certify_cases one, two, other;
    assert_ok(weft_certify_cases_make(&one, 1, &host));
    assert_ok(weft_certify_cases_make(&two, 1, &host));
    assert_ok(weft_certify_cases_make(&other, 2, &host));
    bool *seen = calloc(one.count, sizeof *seen);
    assert_non_null(seen);
    assert_true(one.listed > 20 && one.listed < one.count / 10);
    for (uint32_t at = 0; at < one.count; at++) {
        assert_int_equal(one.order[at], two.order[at]);
        assert_false(seen[one.order[at]]);
        seen[one.order[at]] = true;
        assert_true(weft_certify_is_listed(one.list[one.order[at]].name) == (at < one.listed));
    }
    assert_memory_equal(one.order, other.order, one.listed * sizeof *one.order);
    assert_memory_not_equal(one.order, other.order, one.count * sizeof *one.order);
    free(seen);
    weft_certify_cases_free(&one, &host);
    weft_certify_cases_free(&two, &host);
    weft_certify_cases_free(&other, &host);
}
