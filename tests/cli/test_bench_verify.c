/* SPDX-License-Identifier: MIT */
/* weft-test: slow one device */
/* Outputs of weft bench against float64 and against known hashes: right ones pass, wrong ones are seen. */
#include <math.h>

#include "cli/bench_outcome.h"
#include "cli/command.h"

#include "bench/suites/mixers.h"

/* ---- which tokens ---- */

WEFT_TEST(rows_are_spread) {
    for (uint32_t n = 1; n < 3000; n += n < 200 ? 1 : 97) {
        uint32_t rows[WEFT_BENCH_REFERENCE_ROWS];
        const uint32_t count = weft_bench_sample_rows(rows, n);
        assert_int_equal(count, n < WEFT_BENCH_REFERENCE_ROWS ? n : WEFT_BENCH_REFERENCE_ROWS);
        assert_int_equal(rows[0], 0);
        assert_int_equal(rows[count - 1], n - 1);
        for (uint32_t i = 1; i < count; i++) {
            assert_true(rows[i - 1] < rows[i]);
        }
    }
}

/* ---- every mixer ---- */

WEFT_TEST_ON_DEVICE(mixers_are_verified, test) {
    static const uint32_t lengths[] = {64, 96, 131};
    for (uint32_t i = 0; i < weft_bench_mixer_count(); i++) {
        for (uint32_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++) {
            const weft_bench_case bench_case = weft_bench_mixer_case(i, lengths[l]);
            bench_check(&bench_case, test->device);
        }
    }
}

/** Adds the cases of a suite, its series at n = 80. */
static void list_suite(weft_bench_list *list, const char *name, weft_bench_size size) {
    const weft_bench_scope scope = {
        .size = size, .lengths = {80}, .length_count = 1, .lengths_given = true};
    const weft_bench_suite *suite = NULL;
    for (uint32_t i = 0; (suite = weft_bench_suite_at(i)); i++) {
        if (strcmp(suite->name, name) == 0) {
            suite->add(list, &scope);
        }
    }
    assert_ok(list->status);
}

/** Of a suite, the cases with a reference and up to so many tokens; series at n = 80. */
static void check_suite(const char *name, weft_bench_size size, uint32_t longest,
                        weft_device *device) {
    weft_bench_list list = {.count = 0};
    uint32_t checked = 0;
    list_suite(&list, name, size);
    for (uint32_t i = 0; i < list.count; i++) {
        if (list.cases[i].define && list.cases[i].sizes[0] <= longest) {
            bench_check(&list.cases[i], device);
            checked++;
        }
    }
    assert_true(checked > 0);
    weft_bench_list_free(&list);
}

WEFT_TEST_ON_DEVICE(suites_are_verified, test) {
    check_suite("ops", WEFT_BENCH_FULL, 512, test->device);
    check_suite("fmm", WEFT_BENCH_FULL, 80, test->device);
    check_suite("flt", WEFT_BENCH_FULL, 80, test->device);
    check_suite("ski", WEFT_BENCH_FULL, 80, test->device);
    check_suite("fnet", WEFT_BENCH_SMALLEST, 80, test->device);
}

WEFT_TEST_ON_DEVICE(spectra_are_verified, test) {
    check_suite("spectra", WEFT_BENCH_SHORT, 80, test->device);
}

/* ---- what cannot be verified ---- */

WEFT_TEST_ON_DEVICE(too_many_operations_are_not_done, test) {
    const weft_bench_case bench_case = weft_bench_mixer_case(0, 64);
    struct bench_run run = bench_run_of(&bench_case, test->device);
    weft_bench_verification result = bench_verify_within(&run, &bench_case, 10.0);
    assert_int_equal(result.by, WEFT_BENCH_BY_NONE);
    assert_false(result.wrong);
    assert_true(isnan(result.rel_l2));
    assert_string_equal(result.reason,
                        "a float64 reference takes more than the 1e+01 operations it is given");
    weft_bench_case without = bench_case;
    without.define = NULL;
    result = bench_verify_within(&run, &without, 0.0);
    assert_int_equal(result.by, WEFT_BENCH_BY_NONE);
    assert_string_equal(result.reason, "the case has no float64 reference");
    bench_run_end(&run);
}

WEFT_TEST_ON_DEVICE(a_reference_without_its_input_fails, test) {
    weft_bench_case bench_case = weft_bench_mixer_case(0, 64);
    struct bench_run run = bench_run_of(&bench_case, test->device);
    run.ports[0].info.name = "another";
    const weft_bench_outcome outcome = {.ports = run.ports, .port_count = run.count};
    weft_bench_verification result;
    WEFT_EXPECT_REFUSED(&test->host, WEFT_NOT_FOUND,
                        weft_bench_verify(&result, &bench_case, &outcome, &test->host.host),
                        "input 'q'");
    bench_run_end(&run);
}

/** Every allocation fails once: no worse than that comes of it. */
static void check_without_memory(const weft_bench_case *bench_case, struct weft_test_device *test) {
    struct bench_run run = bench_run_of(bench_case, test->device);
    const weft_bench_outcome outcome = {.ports = run.ports,
                                        .port_count = run.count,
                                        .rounding = run.f16_weights ? WEFT_TOLERANCE_HALF : 0.0};
    weft_bench_verification result;
    weft_status status = WEFT_OUT_OF_HOST_MEMORY;
    const long live = test->host.live;
    for (long fail_at = 1; status != WEFT_OK; fail_at++) {
        assert_true(fail_at < 200);
        weft_test_host_reset(&test->host);
        test->host.fail_at = fail_at;
        status = weft_bench_verify(&result, bench_case, &outcome, &test->host.host);
        test->host.fail_at = 0;
        assert_true(status == WEFT_OK || status == WEFT_OUT_OF_HOST_MEMORY);
        assert_int_equal(test->host.live, live);
    }
    assert_false(result.wrong);
    bench_run_end(&run);
}

WEFT_TEST_ON_DEVICE(memory_may_be_out, test) {
    static const struct {
        const char *suite, *part;
    } chosen[] = {{"mixers", ""},   {"flt", "2d"},    {"flt", "log_linear"},
                  {"ski", "tnn/n"}, {"fnet", "d=32"}, {"ops", "layer_norm"}};
    for (uint32_t i = 0; i < sizeof chosen / sizeof chosen[0]; i++) {
        weft_bench_list list = {.count = 0};
        list_suite(&list, chosen[i].suite, WEFT_BENCH_SMALLEST);
        list_suite(&list, chosen[i].suite, WEFT_BENCH_SHORT);
        for (uint32_t k = 0; k < list.count; k++) {
            if (list.cases[k].sizes[0] <= 80 && strstr(list.cases[k].name, chosen[i].part)) {
                check_without_memory(&list.cases[k], test);
            }
        }
        weft_bench_list_free(&list);
    }
}

/* ---- reproducible mode ---- */

static weft_device *open_fast(struct weft_test_device *test, weft_weight_storage weights) {
    weft_device *device = NULL;
    assert_ok(weft_device_open(&device,
                               weft_device_params(.host = test->host.host, .math = WEFT_MATH_FAST,
                                                  .weights = weights, .cache_dir = "")));
    return device;
}

static weft_bench_verification against_reproducible(const struct bench_run *run,
                                                    const weft_bench_case *bench_case,
                                                    struct weft_test_device *test) {
    const weft_bench_outcome outcome = {.ports = run->ports,
                                        .port_count = run->count,
                                        .rounding = run->f16_weights ? WEFT_TOLERANCE_HALF : 0.0};
    weft_bench_verification result = {.reason = "the case has no float64 reference"};
    assert_ok(weft_bench_verify_reproducible(&result, bench_case, &outcome, test->device,
                                             &test->host.host));
    assert_int_equal(result.by, WEFT_BENCH_BY_REPRODUCIBLE);
    return result;
}

/** What fast mode gives is right, and is seen to be wrong by somewhat more than is allowed. */
static void check_fast(const weft_bench_case *bench_case, struct weft_test_device *test,
                       weft_weight_storage weights) {
    weft_device *fast = open_fast(test, weights);
    struct bench_run run = bench_run_of(bench_case, fast);
    weft_bench_verification result = against_reproducible(&run, bench_case, test);
    if (result.wrong) {
        fail_msg("%s: %s", bench_case->name, result.reason);
    }
    assert_string_equal(result.reason, "");
    assert_true(run.f16_weights == (weights == WEFT_WEIGHTS_F16));
    assert_true(result.tolerance ==
                (run.f16_weights ? 1e-3 : 5e-6)); /* as conformance.h has them */

    float *output = run.data[run.output];
    const size_t count = (size_t)run.ports[run.output].info.bytes / sizeof *output;
    const float scale = 1.0F + 2.0F * (float)result.tolerance;
    for (size_t i = 0; i < count; i++) {
        output[i] *= scale;
    }
    result = against_reproducible(&run, bench_case, test);
    assert_true(result.wrong);
    assert_non_null(strstr(result.reason, "the output is wrong: against reproducible mode"));
    output[count - 1] = (float)NAN;
    assert_true(against_reproducible(&run, bench_case, test).wrong);
    bench_run_end(&run);
    weft_test_device_close(&fast);
}

WEFT_TEST_ON_DEVICE(fast_mode_is_held_against_reproducible, f) {
    static const char *const suites[] = {"models", "decode"};
    for (uint32_t i = 0; i < sizeof suites / sizeof suites[0]; i++) {
        weft_bench_list list = {.count = 0};
        list_suite(&list, suites[i], WEFT_BENCH_SMALLEST);
        assert_true(list.count > 0);
        for (uint32_t k = 0; k < list.count; k++) {
            assert_null(list.cases[k].define);
            check_fast(&list.cases[k], f, WEFT_WEIGHTS_F32);
        }
        weft_bench_list_free(&list);
    }
    weft_bench_list models = {.count = 0};
    list_suite(&models, "models", WEFT_BENCH_SMALLEST);
    check_fast(&models.cases[0], f, WEFT_WEIGHTS_F16);
    weft_bench_list_free(&models);
}

/* ---- hashes ---- */

#define SOME  "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define OTHER "10112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

WEFT_TEST(hashes_are_compared) {
    const weft_bench_case bench_case = {.suite = "no suite", .name = "case"};
    weft_bench_expected *expected = NULL;
    assert_ok(weft_bench_expected_create(&expected, NULL));
    assert_null(weft_bench_expected_hash(expected, "no suite", "case"));

    weft_bench_verification result = {.reason = "the case has no float64 reference"};
    weft_bench_verify_hash(&result, &bench_case, SOME, expected);
    assert_int_equal(result.by, WEFT_BENCH_BY_NONE);
    assert_false(result.wrong);
    assert_string_equal(result.reason, "the case has no float64 reference, and "
                                       "bench/expected.json has no hash of it");

    assert_ok(weft_bench_expected_set(expected, "no suite", "case", SOME));
    weft_bench_verify_hash(&result, &bench_case, SOME, expected);
    assert_int_equal(result.by, WEFT_BENCH_BY_HASH);
    assert_string_equal(result.reason, "");

    result = (weft_bench_verification){.by = WEFT_BENCH_BY_FLOAT64};
    weft_bench_verify_hash(&result, &bench_case, SOME, expected);
    assert_int_equal(result.by, WEFT_BENCH_BY_FLOAT64);
    assert_false(result.wrong);
    weft_bench_verify_hash(&result, &bench_case, OTHER, expected);
    assert_true(result.wrong);
    assert_string_equal(result.reason,
                        "the output has other bits than bench/expected.json: SHA-256 expected " SOME
                        ", found " OTHER "; it agrees with float64");
    weft_bench_expected_destroy(&expected);
}

WEFT_TEST(expected_file_is_written_sorted) {
    char *folder = weft_test_folder();
    char *path = weft_test_path(folder, "expected.json");
    size_t size = 0;
    weft_bench_expected *expected = NULL;
    assert_ok(weft_bench_expected_create(&expected, NULL));
    assert_ok(weft_bench_expected_set(expected, "~", "b", OTHER));
    assert_ok(weft_bench_expected_set(expected, "~", "a", SOME));
    assert_ok(weft_bench_expected_write(expected, path));
    uint8_t *bytes = weft_test_read(path, &size);
    const char *text = (const char *)bytes;
    assert_true(text[0] == '{' && text[size - 2] == '}' && text[size - 1] == '\n');
    const char *first = strstr(text, "\"~/a\": \"" SOME "\"");
    assert_non_null(first);
    assert_non_null(strstr(first, "\"~/b\": \"" OTHER "\""));
    free(bytes);
    weft_bench_expected_destroy(&expected);
}

/* ---- the command ---- */

WEFT_TEST(command_writes_what_it_found) {
    char *folder = weft_test_folder();
    char *path = weft_test_path(folder, "expected.json");
    json_t *report = run_json("",
                              "bench --suite mixers --filter attention/n=64,d=64 --lengths 64 "
                              "--seconds 1 --write-expected %s",
                              path);
    const json_t *row = json_array_get(field(report, "rows"), 0);
    assert_string_equal(string_field(row, "status"), "ok");
    assert_string_equal(string_field(row, "verified/by"), "float64");
    assert_true(number_field(row, "verified/rel_l2") <= number_field(row, "verified/tolerance"));
    assert_string_equal(string_field(row, "verified/reason"), "");

    json_error_t error;
    json_t *written = json_load_file(path, 0, &error);
    assert_non_null(written);
    char *key = weft_test_text("%s/%s", string_field(row, "suite"), string_field(row, "case"));
    const json_t *hash = json_object_get(json_object_get(written, "sha256"), key);
    assert_string_equal(json_string_value(hash), string_field(row, "output_sha256"));
    json_decref(written);
    json_decref(report);
}

WEFT_TEST(only_reproducible_bits_are_written) {
    expect_refused(2, "bench --math fast --write-expected expected.json",
                   "--write-expected: only the bits of --math reproducible", NULL);
}
