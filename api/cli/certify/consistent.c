/* SPDX-License-Identifier: MIT */
#include "certify/consistent.h"

#include <math.h>
#include <string.h>

#include "bench/fields.h"
#include "bench/label.h"
#include "core/formats/json.h"
#include "core/hash.h"
#include "core/try.h"

#define FLOPS    (2.0 * 512 * 3072 * 768) /* of a run of the minute: matmul/512x3072x768 */
#define ROUNDING 1e-4                     /* of numbers of six digits */

static json_int_t whole(const json_t *object, const char *name) {
    return json_integer_value(json_object_get(object, name));
}

json_int_t weft_certify_ran(const json_t *mode) {
    return json_object_get(mode, "ran") ? whole(mode, "ran")
                                        : whole(mode, "tried") - whole(mode, "skipped");
}

bool weft_certify_check_lengths(weft_certify_findings *findings, const json_t *record) {
    const json_t *bench = json_object_get(record, "bench");
    const struct {
        const char *name;
        const json_t *list;
        size_t most;
    } lists[] = {{"bits", json_object_get(record, "bits"), 8},
                 {"models", json_object_get(record, "models"), 64},
                 {"bench.modes", json_object_get(bench, "modes"), 8},
                 {"bench.rows", json_object_get(bench, "rows"), 1024}};
    bool fine = true;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        if (json_array_size(lists[i].list) > lists[i].most) {
            weft_certify_refuse_value(findings, lists[i].name, lists[i].list, "at most %zu entries",
                                      lists[i].most);
            fine = false;
        }
    }
    return fine;
}

/* A count that has to be another. Records of form 1 lack some. */
static void expect(weft_certify_findings *findings, const char *at, const json_t *object,
                   const char *name, json_int_t expected, const char *why) {
    char field[WEFT_CERTIFY_TEXT_SIZE];
    const json_t *found = json_object_get(object, name);
    if (found && json_integer_value(found) != expected) {
        weft_certify_refuse_value(findings, weft_certify_text(field, "%.120s.%.60s", at, name),
                                  found, "%lld, %s", (long long)expected, why);
    }
}

/* ---- bits ---- */

static json_int_t count_names(const json_t *skips) {
    const char *reason = NULL;
    json_t *names = NULL;
    json_int_t count = 0;
    json_object_foreach((json_t *)(uintptr_t)skips, reason, names) {
        count += (json_int_t)json_array_size(names);
    }
    return count;
}

static void check_mode_counts(weft_certify_findings *findings, const char *at, const json_t *mode) {
    const json_int_t tried = whole(mode, "tried");
    const json_int_t listed = whole(mode, "listed");
    const json_int_t skipped = whole(mode, "skipped");
    const json_int_t failures = (json_int_t)json_array_size(json_object_get(mode, "failures"));
    const json_int_t unseen = (json_int_t)json_array_size(json_object_get(mode, "listed_skips"));
    expect(findings, at, mode, "listed_tried", tried < listed ? tried : listed,
           "as the listed cases come first");
    expect(findings, at, mode, "skipped", count_names(json_object_get(mode, "skips")),
           "the names in skips");
    expect(findings, at, mode, "ran", tried - skipped, "the cases tried, less the skipped ones");
    expect(findings, at, mode, "listed_ran", whole(mode, "listed_tried") - unseen,
           "the listed cases tried, less those in listed_skips");
    expect(findings, at, mode, "passed", tried - skipped - whole(mode, "failed"),
           "the cases that ran, less the failed ones");
    if (tried > whole(mode, "cases") || whole(mode, "failed") < failures) {
        expect(findings, at, mode, tried > whole(mode, "cases") ? "tried" : "failed",
               tried > whole(mode, "cases") ? whole(mode, "cases") : failures,
               "at most the cases, and at least the failures");
    }
}

/* A root is of the cases that ran: of none it is the hash of nothing. */
static void check_root(weft_certify_findings *findings, const char *at, const json_t *op) {
    char field[WEFT_CERTIFY_TEXT_SIZE];
    char empty[WEFT_DIGEST_TEXT_SIZE];
    const weft_digest nothing = weft_digest_of("", 0);
    const json_int_t ran = whole(op, "ran");
    const bool is_empty =
        strcmp(weft_bench_text(op, "root"), weft_digest_text(&nothing, empty)) == 0;
    if ((ran > 0) == is_empty) {
        weft_certify_refuse_value(findings, weft_certify_text(field, "%.160s.root", at),
                                  json_object_get(op, "root"),
                                  ran > 0 ? "a hash of the %lld cases that ran"
                                          : "the hash of nothing, as %lld cases ran",
                                  (long long)ran);
    }
    if (ran > whole(op, "cases")) {
        expect(findings, at, op, "ran", whole(op, "cases"), "at most its cases");
    }
}

static void check_ops(weft_certify_findings *findings, const char *at, const json_t *mode) {
    const json_t *ops = json_object_get(mode, "ops");
    json_int_t cases = 0;
    json_int_t ran = 0;
    char field[WEFT_CERTIFY_TEXT_SIZE];
    for (size_t i = 0; i < json_array_size(ops); i++) {
        const json_t *op = json_array_get(ops, i);
        cases += whole(op, "cases");
        ran += whole(op, "ran");
        check_root(findings, weft_certify_text(field, "%.60s.ops[%zu]", at, i), op);
    }
    expect(findings, at, mode, "cases", cases, "the cases of all its ops");
    if (ran != weft_certify_ran(mode)) {
        weft_certify_refuse(findings, weft_certify_text(field, "%.60s.ops", at), "other counts",
                            "ops of which %lld cases ran, not %lld",
                            (long long)weft_certify_ran(mode), (long long)ran);
    }
}

static void check_bits(weft_certify_findings *findings, const json_t *record) {
    const json_t *bits = json_object_get(record, "bits");
    for (size_t i = 0; i < json_array_size(bits); i++) {
        char at[WEFT_CERTIFY_TEXT_SIZE];
        const json_t *mode = json_array_get(bits, i);
        weft_certify_text(at, "bits[%zu]", i);
        check_mode_counts(findings, at, mode);
        check_ops(findings, at, mode);
        for (size_t k = 0; k < i; k++) {
            if (strcmp(weft_bench_text(json_array_get(bits, k), "math"),
                       weft_bench_text(mode, "math")) == 0) {
                weft_certify_refuse(findings, at, weft_bench_text(mode, "math"),
                                    "a mode that is not there yet");
            }
        }
    }
}

/* ---- models ---- */

static void check_model(weft_certify_findings *findings, size_t index, const json_t *row) {
    char field[WEFT_CERTIFY_TEXT_SIZE];
    const bool ran = strcmp(weft_bench_text(row, "status"), "ok") == 0;
    const json_t *found = json_object_get(row, "found");
    const json_t *agrees = json_object_get(row, "agrees");
    if (ran != json_is_string(found)) {
        weft_certify_refuse_value(findings, weft_certify_text(field, "models[%zu].found", index),
                                  found, ran ? "a hash, as it ran" : "null, as it did not run");
    }
    const bool same = json_is_string(found) &&
                      strcmp(json_string_value(found), weft_bench_text(row, "expected")) == 0;
    if (json_is_true(agrees) != same) {
        weft_certify_refuse_value(findings, weft_certify_text(field, "models[%zu].agrees", index),
                                  agrees, same ? "true, by its hashes" : "not true, by its hashes");
    }
}

static void check_models(weft_certify_findings *findings, const json_t *record) {
    const json_t *models = json_object_get(record, "models");
    for (size_t i = 0; i < json_array_size(models); i++) {
        const json_t *row = json_array_get(models, i);
        check_model(findings, i, row);
        for (size_t k = 0; k < i; k++) {
            const json_t *other = json_array_get(models, k);
            if (strcmp(weft_bench_text(other, "model"), weft_bench_text(row, "model")) == 0 &&
                strcmp(weft_bench_text(other, "math"), weft_bench_text(row, "math")) == 0) {
                char field[WEFT_CERTIFY_TEXT_SIZE];
                weft_certify_refuse(findings, weft_certify_text(field, "models[%zu]", i),
                                    weft_bench_text(row, "model"),
                                    "a model and mode that is not there yet");
                return;
            }
        }
    }
}

/* ---- rates ---- */

/* The throughput of the minute follows from its runs, and these from the rates of its parts, each of which ends with a whole run. */
static void check_minute(weft_certify_findings *findings, const json_t *record) {
    const json_t *minute = json_object_get(record, "sustained");
    const json_t *parts = json_object_get(minute, "runs_per_s");
    const size_t count = json_array_size(parts);
    const double seconds = weft_bench_number(minute, "seconds");
    const double runs = weft_bench_number(minute, "runs");
    if (strcmp(weft_bench_text(minute, "status"), "ok") != 0 || count == 0) {
        return;
    }
    double sum = 0.0;
    double rates = 0.0;
    for (size_t i = 0; i < count; i++) {
        const double rate = json_number_value(json_array_get(parts, i));
        sum += rate * seconds / (double)count;
        rates += rate;
    }
    const double late = rates * 1e-3 * weft_bench_number(minute, "slowest_ms");
    if (!(fabs(sum - runs) <= late + ROUNDING * runs)) {
        weft_certify_refuse_value(findings, "sustained.runs", json_object_get(minute, "runs"),
                                  "%.6g by runs_per_s, as far as a part may be late by a run", sum);
    }
    const double rate = 1e-9 * FLOPS * runs / seconds;
    if (!(fabs(rate - weft_bench_number(minute, "gflop_per_s")) <= 2 * ROUNDING * rate)) {
        weft_certify_refuse_value(findings, "sustained.gflop_per_s",
                                  json_object_get(minute, "gflop_per_s"), "%.6g, by its runs",
                                  rate);
    }
}

/* ---- what sums it up ---- */

/* That what is claimed of all cases is claimed of some. */
static void check_claims(weft_certify_findings *findings, const json_t *record) {
    const json_t *bits = json_object_get(record, "bits");
    const json_t *summary = json_object_get(record, "summary");
    bool ran = json_array_size(bits) > 0;
    for (size_t i = 0; i < json_array_size(bits); i++) {
        ran = ran && weft_certify_ran(json_array_get(bits, i)) > 0;
    }
    static const char *const names[] = {"bits_agree", "mixing_rate_tokens_per_s"};
    for (size_t i = 0; i < 2 && !ran; i++) {
        const json_t *claim = json_object_get(summary, names[i]);
        char field[WEFT_CERTIFY_TEXT_SIZE];
        if (json_is_true(claim) || json_is_number(claim)) {
            weft_certify_refuse_value(findings, weft_certify_text(field, "summary.%s", names[i]),
                                      claim, "%s, as no case ran in one of the modes",
                                      i == 0 ? "false" : "null");
        }
    }
}

/* Others see it beside their own machines. */
static void check_label(weft_certify_findings *findings, const json_t *record) {
    const json_t *label = json_object_get(json_object_get(record, "system"), "label");
    if (label && !json_is_null(label) &&
        !(json_is_string(label) && weft_bench_label_fits(json_string_value(label)))) {
        weft_certify_refuse_value(findings, "system.label", label, WEFT_BENCH_LABEL_RULE);
    }
}

void weft_certify_check_consistent(weft_certify_findings *findings, const json_t *record) {
    check_label(findings, record);
    check_bits(findings, record);
    check_models(findings, record);
    check_minute(findings, record);
    check_claims(findings, record);
}

weft_status weft_certify_consistent(const json_t *record, const char *path, const weft_host *host) {
    weft_certify_findings findings = {.list = json_array()};
    if (weft_certify_check_lengths(&findings, record)) {
        weft_certify_check_consistent(&findings, record);
    }
    weft_status status =
        findings.list && !findings.failed ? WEFT_OK : weft_fail_memory(host, "the findings");
    const json_t *first = json_array_get(findings.list, 0);
    if (status == WEFT_OK && first) {
        status = weft_fail(host, WEFT_BAD_FILE, "%s: %s: expected %s, found %s", path,
                           weft_bench_text(first, "field"), weft_bench_text(first, "expected"),
                           weft_bench_text(first, "found"));
    }
    json_decref(findings.list);
    return status;
}
