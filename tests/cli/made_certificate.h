/* SPDX-License-Identifier: MIT */
/* A record of weft certify as a good device would make it, without one. */
#ifndef WEFT_TESTS_CLI_MADE_CERTIFICATE_H
#define WEFT_TESTS_CLI_MADE_CERTIFICATE_H

#include "bench/expected.h"
#include "certify/bits.h"
#include "certify/models.h"
#include "certify/record.h"
#include "certify/speed.h"
#include "cli/command.h"

static inline json_t *made_json(const char *text) {
    json_error_t error;
    json_t *value = json_loads(text, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &error);
    if (!value) {
        fail_msg("%s in %s", error.text, text);
    }
    return value;
}

/* Most cases as they are known, but for one that the device cannot run. */
static inline json_t *made_bits(const weft_certify_job *job, weft_math math) {
    weft_certify_bits bits;
    assert_ok(weft_certify_bits_begin(&bits, math, job));
    bits.done = job->cases.count - 500;
    for (uint32_t at = 0; at < bits.done; at++) {
        const uint32_t place = job->cases.order[at];
        weft_certify_result *result = &bits.results[place];
        result->outcome = WEFT_CERTIFY_PASSED;
        assert_true(weft_certify_known(result->digits, job->cases.list[place].name, math));
    }
    const uint32_t last = job->cases.order[bits.done - 1];
    bits.results[last] = (weft_certify_result){.outcome = WEFT_CERTIFY_SKIPPED};
    json_object_set_new(bits.skips, "larger workgroups are wanted",
                        json_pack("[s]", job->cases.list[last].name));
    bits.counts[WEFT_CERTIFY_PASSED] = bits.done - 1;
    bits.counts[WEFT_CERTIFY_SKIPPED] = 1;
    json_t *section = weft_certify_bits_json(&bits, job);
    weft_certify_bits_free(&bits, &job->host);
    return section;
}

static inline json_t *made_models(void) {
    json_t *rows = json_array();
    for (uint32_t i = 0; weft_certify_model_name(i); i++) {
        for (int fused = 0; fused < 2; fused++) {
            char digest[WEFT_DIGEST_TEXT_SIZE];
            const weft_math math = fused ? WEFT_MATH_FUSED : WEFT_MATH_REPRODUCIBLE;
            assert_true(weft_certify_model_known(digest, weft_certify_model_name(i), math));
            json_array_append_new(
                rows, json_pack("{s:s, s:s, s:s, s:n, s:i, s:s, s:s, s:b, s:f}", "model",
                                weft_certify_model_name(i), "math", weft_math_name(math), "status",
                                "ok", "reason", "examples", WEFT_CERTIFY_EXAMPLES, "expected",
                                digest, "found", digest, "agrees", 1, "tokens_per_s", 1.5e5));
        }
    }
    return rows;
}

static inline json_t *made_timed_row(const char *name, weft_math math, const char *known) {
    return json_pack("{s:s, s:s, s:s, s:s, s:n, s:[f, f], s:f, s:f, s:f, s:i, s:s, s:f, s:s, s:s, "
                     "s:b}",
                     "suite", "mixers", "case", name, "math", weft_math_name(math), "status", "ok",
                     "reason", "medians_ms", 2.0, 2.05, "p50_ms", 2.025, "p90_ms", 2.2, "p99_ms",
                     2.5, "runs", 100, "clock", "device", "gflop_per_s", 30.0, "output_sha256",
                     known, "verified_by", "float64", "replicated", 1);
}

static inline json_t *made_bench(void) {
    static const char *const names[] = {"attention/full_band",
                                        "fourier",
                                        "toeplitz",
                                        "toeplitz_fd",
                                        "ski_toeplitz/linear",
                                        "banded_attention",
                                        "kernel_attention/1",
                                        "fmm_attention/2",
                                        "fast_weight",
                                        "cosformer",
                                        "random_features",
                                        "rfa_attention",
                                        "flt"};
    static const weft_math maths[] = {WEFT_MATH_REPRODUCIBLE, WEFT_MATH_FUSED, WEFT_MATH_FAST};
    weft_bench_expected *expected = NULL;
    assert_ok(weft_bench_expected_create(&expected, NULL));
    json_t *rows = json_array();
    json_t *modes = json_array();
    for (size_t k = 0; k < sizeof maths / sizeof *maths; k++) {
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            const char *name = weft_test_text("%s/n=1024,d=64", names[i]);
            const char *known = weft_bench_expected_hash(expected, "mixers", name);
            assert_non_null(known);
            json_array_append_new(rows, made_timed_row(name, maths[k], known));
        }
        json_array_append_new(modes, json_pack("{s:s, s:s, s:n, s:f, s:f}", "math",
                                               weft_math_name(maths[k]), "status", "ok", "reason",
                                               "f32_gflop_per_s", 50.0, "copy_gb_per_s", 10.0));
    }
    weft_bench_expected_destroy(&expected);
    return json_pack("{s:f, s:o, s:o}", "replication", 0.05, "modes", modes, "rows", rows);
}

static inline void made_part(json_t *record, const char *name, json_t *section) {
    assert_int_equal(json_object_set_new(record, name, section), 0);
}

static inline json_t *made_certificate(void) {
    weft_certify_job job = {.seconds = WEFT_CERTIFY_SECONDS, .seed = 7};
    json_t *record = json_pack("{s:i}", "certificate", WEFT_CERTIFY_FORM);
    assert_ok(weft_certify_cases_make(&job.cases, job.seed, &job.host));
    made_part(record, "program", weft_certify_program_json(&job));
    made_part(record, "made", weft_certify_made_json(&job, "2026-11-26T12:00:00Z"));
    made_part(record, "system", made_json("{\"cpu\": null, \"cores\": 8, \"system\": null}"));
    made_part(
        record, "device",
        made_json("{\"name\": \"A GPU\", \"type\": \"discrete\", \"driver\": \"driver\", "
                  "\"driver_version\": \"1\", \"vulkan\": \"1.3.0\", \"fma\": \"instruction\", "
                  "\"software_device\": false}"));
    const weft_bench_state state = weft_bench_state_now();
    made_part(record, "states",
              json_pack("[o]", weft_certify_state_json("before", &state, &state)));
    made_part(record, "bits",
              json_pack("[o, o]", made_bits(&job, WEFT_MATH_REPRODUCIBLE),
                        made_bits(&job, WEFT_MATH_FUSED)));
    made_part(record, "models", made_models());
    made_part(record, "bench", made_bench());
    made_part(
        record, "sustained",
        made_json("{\"case\": \"matmul/512x3072x768\", \"math\": \"reproducible\", \"status\": "
                  "\"ok\", \"reason\": null, \"seconds\": 60.001, \"runs\": 6040, "
                  "\"gflop_per_s\": 243.202, \"slowest_ms\": 20.0, \"runs_per_s\": [110.0, 100.0, "
                  "100.0, 100.0, 95.0, 99.0], \"last_over_first\": 0.9}"));
    made_part(record, "summary", weft_certify_summary_json(record));
    assert_true(weft_certify_seal(record));
    weft_certify_cases_free(&job.cases, &job.host);
    return record;
}

#endif
