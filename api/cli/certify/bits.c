/* SPDX-License-Identifier: MIT */
#include "certify/bits.h"

#include <stdio.h>
#include <string.h>

#include "verify/evaluator/evaluator.h"

#define MOST_FAILURES    100 /* told one by one */
#define EVALUATION_LIMIT UINT64_C(50000000)

weft_status weft_certify_bits_begin(weft_certify_bits *bits, weft_math math,
                                    const weft_certify_job *job) {
    *bits = (weft_certify_bits){
        .math = math,
        .results = weft_alloc_zero(&job->host, job->cases.count, sizeof *bits->results),
        .skips = json_object(),
        .failures = json_array()};
    return bits->results && bits->skips && bits->failures
               ? WEFT_OK
               : weft_fail_memory(&job->host, "the results");
}

void weft_certify_bits_free(weft_certify_bits *bits, const weft_host *host) {
    weft_free(host, bits->results);
    json_decref(bits->skips);
    json_decref(bits->failures);
    *bits = (weft_certify_bits){0};
}

/* ---- one case ---- */

/* Says which element is the first that departs from what the shaders mean, unless that takes too long. */
static void find_element(weft_case_result *result, const weft_case *c, weft_device *device,
                         const weft_host *host) {
    weft_evaluator *evaluator = weft_evaluator_create(host);
    if (evaluator) {
        weft_case_evaluate(result, c, device, evaluator, EVALUATION_LIMIT);
    }
    weft_evaluator_destroy(&evaluator);
}

static bool add_failure(weft_certify_bits *bits, const char *name, const char *expected,
                        const char *found, const char *reason) {
    if (json_array_size(bits->failures) >= MOST_FAILURES) {
        return true;
    }
    json_t *failure = json_pack("{s:s, s:o, s:s, s:o}", "case", name, "expected",
                                expected[0] != '\0' ? json_string(expected) : json_null(), "found",
                                found, "reason", weft_cli_json_text(reason));
    return json_array_append_new(bits->failures, failure) == 0;
}

static bool add_skip(weft_certify_bits *bits, const char *name, const char *reason) {
    json_t *names = json_object_get(bits->skips, reason);
    if (!names) {
        names = json_array();
        if (json_object_set_new(bits->skips, reason, names) != 0) {
            return false;
        }
    }
    return json_array_append_new(names, json_string(name)) == 0;
}

/* What is said of a case that float64 accepts. */
static const char *reason_of(const weft_case_result *result) {
    return !result->passed ? result->reason
           : result->evaluation == WEFT_EVALUATED
               ? "not the known bits, but those that its shaders mean"
           : result->evaluation == WEFT_EVALUATION_SKIPPED
               ? "not the known bits; its evaluation takes too long to name an element"
               : "not the known bits";
}

bool weft_certify_judge(weft_certify_bits *bits, uint32_t place, weft_case_result *result,
                        const weft_case *c, weft_device *device, const weft_certify_job *job) {
    const char *name = job->cases.list[place].name;
    weft_certify_result *kept = &bits->results[place];
    char expected[WEFT_CERTIFY_DIGITS_SIZE] = "";
    if (result->skipped) {
        kept->outcome = WEFT_CERTIFY_SKIPPED;
        return add_skip(bits, name, result->reason);
    }
    snprintf(kept->digits, sizeof kept->digits, "%.32s",
             result->digest[0] != '\0' ? result->digest : "-");
    const bool known = weft_certify_known(expected, name, bits->math);
    if (result->passed && known && strcmp(expected, kept->digits) == 0) {
        kept->outcome = WEFT_CERTIFY_PASSED;
        return true;
    }
    kept->outcome = WEFT_CERTIFY_FAILED;
    if (result->passed) {
        find_element(result, c, device, &job->host);
    }
    return add_failure(bits, name, expected, kept->digits, reason_of(result));
}

/* False when memory is out. A case that the end of all time has interrupted counts as not run. */
static bool run_case(weft_certify_bits *bits, uint32_t place, weft_device *device,
                     const weft_certify_job *job) {
    const weft_certify_case *what = &job->cases.list[place];
    weft_case_result result = {0};
    weft_case c;
    bool fine =
        weft_case_create(&c, what->family, what->index, &job->host) != WEFT_OUT_OF_HOST_MEMORY;
    if (fine) {
        weft_case_run(&result, &c, device);
    }
    if (fine && !weft_certify_is_over(job->end_ms)) {
        fine = weft_certify_judge(bits, place, &result, &c, device, job);
        bits->counts[bits->results[place].outcome]++;
        bits->done++;
    }
    weft_case_result_free(&result);
    weft_case_destroy(&c);
    return fine;
}

/* ---- all cases ---- */

weft_status weft_certify_bits_run(weft_certify_bits *bits, weft_certify_job *job, uint32_t last,
                                  double end_ms) {
    const uint32_t first = bits->done;
    if (first >= last || weft_certify_is_over(job->end_ms) || bits->status != WEFT_OK) {
        return WEFT_OK;
    }
    weft_device *device = NULL;
    bits->status = weft_certify_open(&device, job, bits->math);
    if (weft_certify_was_cut(job, bits->status)) {
        bits->status = WEFT_OK;
        return WEFT_OK;
    }
    if (bits->status != WEFT_OK) {
        snprintf(bits->reason, sizeof bits->reason, "%s", job->error);
        return bits->status == WEFT_OUT_OF_HOST_MEMORY ? bits->status : WEFT_OK;
    }
    char label[64];
    weft_cli_progress progress;
    weft_device_info info;
    if (weft_device_get_info(device, &info) == WEFT_OK) {
        bits->fma = info.fma;
    }
    snprintf(label, sizeof label, "bits, %s", weft_math_name(bits->math));
    weft_cli_progress_begin(&progress, label, last);
    bool fine = true;
    while (fine && bits->done < last && !weft_certify_is_over(job->end_ms) &&
           (bits->done == first || !weft_certify_is_over(end_ms))) {
        fine = run_case(bits, job->cases.order[bits->done], device, job);
        weft_cli_progress_set(&progress, bits->done);
    }
    weft_cli_progress_end(&progress);
    weft_certify_close(&device, job);
    return fine ? WEFT_OK : weft_fail_memory(&job->host, "the results");
}

/* ---- the record ---- */

/* An op's cases, from place `first` of the list on; *next is behind them. */
static json_t *op_json(uint32_t *next, uint32_t first, const weft_certify_bits *bits,
                       const weft_certify_cases *cases) {
    const char *op = cases->list[first].name;
    const size_t length = weft_certify_op_length(op);
    weft_certify_root root;
    weft_certify_root_begin(&root);
    uint32_t ran = 0;
    uint32_t place = first;
    for (; place < cases->count && strncmp(cases->list[place].name, op, length + 1) == 0; place++) {
        const weft_certify_result *result = &bits->results[place];
        if (result->digits[0] != '\0') {
            weft_certify_root_add(&root, cases->list[place].name, result->digits);
            ran++;
        }
    }
    *next = place;
    char text[WEFT_DIGEST_TEXT_SIZE];
    return json_pack("{s:s%, s:i, s:i, s:s}", "op", op, length, "cases", (int)(place - first),
                     "ran", (int)ran, "root", weft_certify_root_end(&root, text));
}

static json_t *ops_json(const weft_certify_bits *bits, const weft_certify_cases *cases) {
    json_t *ops = json_array();
    for (uint32_t place = 0; ops && place < cases->count;) {
        ops = weft_cli_json_append(ops, op_json(&place, place, bits, cases));
    }
    return ops;
}

/* Listed cases that were skipped, with the reasons: kernels that nobody has seen run. */
static json_t *listed_skips_json(const weft_certify_bits *bits) {
    json_t *found = json_array();
    const char *reason = NULL;
    json_t *names = NULL;
    json_object_foreach(bits->skips, reason, names) {
        for (size_t i = 0; found && i < json_array_size(names); i++) {
            const char *name = json_string_value(json_array_get(names, i));
            if (weft_certify_is_listed(name)) {
                found = weft_cli_json_append(
                    found, json_pack("{s:s, s:s}", "case", name, "reason", reason));
            }
        }
    }
    return found;
}

json_t *weft_certify_bits_json(const weft_certify_bits *bits, const weft_certify_job *job) {
    const uint32_t listed = job->cases.listed;
    const uint32_t listed_tried = bits->done < listed ? bits->done : listed;
    const bool opened = bits->status == WEFT_OK;
    json_t *unseen = listed_skips_json(bits);
    const uint32_t ran = bits->done - bits->counts[WEFT_CERTIFY_SKIPPED];
    return json_pack(
        "{s:s, s:s, s:o, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:O, s:o, s:O, s:o}", "math",
        weft_math_name(bits->math), "status", opened ? "ok" : weft_status_name(bits->status),
        "reason", opened ? json_null() : weft_cli_json_text(bits->reason), "cases",
        (int)job->cases.count, "listed", (int)listed, "tried", (int)bits->done, "listed_tried",
        (int)listed_tried, "ran", (int)ran, "listed_ran",
        (int)listed_tried - (int)json_array_size(unseen), "passed",
        (int)bits->counts[WEFT_CERTIFY_PASSED], "failed", (int)bits->counts[WEFT_CERTIFY_FAILED],
        "skipped", (int)bits->counts[WEFT_CERTIFY_SKIPPED], "skips", bits->skips, "listed_skips",
        unseen, "failures", bits->failures, "ops", ops_json(bits, &job->cases));
}
