/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "bench/fields.h"
#include "certify/bits.h"
#include "certify/check.h"
#include "certify/models.h"

static bool names_math(const json_t *object, weft_math math) {
    return strcmp(weft_bench_text(object, "math"), weft_math_name(math)) == 0;
}

static json_int_t whole(const json_t *object, const char *name) {
    return json_integer_value(json_object_get(object, name));
}

/* A count of a mode that has to be another. */
static void expect_count(weft_certify_findings *findings, const char *at, const json_t *mode,
                         const char *name, json_int_t expected, const char *why) {
    char field[WEFT_CERTIFY_TEXT_SIZE];
    if (whole(mode, name) != expected) {
        weft_certify_refuse_value(findings, weft_certify_text(field, "%.120s.%.60s", at, name),
                                  json_object_get(mode, name), "%lld, %s", (long long)expected,
                                  why);
    }
}

/* ---- which cases a record says were skipped ---- */

#define MOST_NAMES 10 /* that are told */

typedef struct skips {
    bool *skipped;   /* by the place in the list of cases */
    uint32_t listed; /* of them, those that execute every kernel */
    uint32_t wrong;  /* names that are none, or not of cases that were tried */
} skips;

/* The places of all cases by their names, and of each whether it was tried. */
static json_t *places_of(const weft_certify_cases *cases, json_int_t tried) {
    json_t *places = json_object();
    for (uint32_t at = 0; places && at < cases->count && (json_int_t)at < tried; at++) {
        const uint32_t place = cases->order[at];
        if (json_object_set_new(places, cases->list[place].name, json_integer((json_int_t)place)) !=
            0) {
            json_decref(places);
            return NULL;
        }
    }
    return places;
}

static void take_skip(weft_certify_findings *findings, skips *found, const char *at,
                      const json_t *name, const json_t *places) {
    char field[WEFT_CERTIFY_TEXT_SIZE];
    const char *text = json_is_string(name) ? json_string_value(name) : "";
    const json_t *place = json_object_get(places, text);
    bool *skipped = place ? &found->skipped[json_integer_value(place)] : NULL;
    if (skipped && !*skipped) {
        *skipped = true;
        found->listed += weft_certify_is_listed(text) ? 1 : 0;
    } else if (found->wrong++ < MOST_NAMES) {
        weft_certify_refuse_value(findings, weft_certify_text(field, "%.120s.skips", at), name,
                                  "names of cases that were tried, each once");
    }
}

/* False when memory is out. */
static bool find_skips(weft_certify_findings *findings, skips *found, const char *at,
                       const json_t *mode, const weft_certify_job *job) {
    const char *reason = NULL;
    json_t *names = NULL;
    json_t *places = places_of(&job->cases, whole(mode, "tried"));
    *found =
        (skips){.skipped = weft_alloc_zero(&job->host, job->cases.count, sizeof *found->skipped)};
    json_object_foreach(json_object_get(mode, "skips"), reason, names) {
        for (size_t i = 0; places && found->skipped && i < json_array_size(names); i++) {
            take_skip(findings, found, at, json_array_get(names, i), places);
        }
    }
    const bool fine = places && found->skipped;
    json_decref(places);
    return fine;
}

/* Whether skips has that case with that reason. */
static bool has_skip(const json_t *mode, const json_t *skip) {
    const json_t *names =
        json_object_get(json_object_get(mode, "skips"), weft_bench_text(skip, "reason"));
    const char *name = weft_bench_text(skip, "case");
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *other = json_string_value(json_array_get(names, i));
        if (other && strcmp(other, name) == 0) {
            return weft_certify_is_listed(name);
        }
    }
    return false;
}

/* Kernels that nobody has seen run are named. */
static void check_listed_skips(weft_certify_findings *findings, const char *at, const json_t *mode,
                               const skips *found) {
    char field[WEFT_CERTIFY_TEXT_SIZE];
    const json_t *list = json_object_get(mode, "listed_skips");
    weft_certify_text(field, "%.120s.listed_skips", at);
    if (json_array_size(list) != found->listed) {
        weft_certify_refuse_value(findings, field, list, "the %u listed cases of skips",
                                  found->listed);
        return; /* and so there are at most as many as listed cases */
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!has_skip(mode, json_array_get(list, i))) {
            weft_certify_refuse(findings, field, weft_bench_text(json_array_get(list, i), "case"),
                                "listed cases of skips, with their reasons");
        }
    }
}

static void check_counts(weft_certify_findings *findings, const char *at, const json_t *mode,
                         const weft_certify_cases *cases) {
    const json_int_t tried = whole(mode, "tried");
    expect_count(findings, at, mode, "cases", (json_int_t)cases->count,
                 "the cases of this version");
    expect_count(findings, at, mode, "listed", (json_int_t)cases->listed,
                 "those that execute every kernel");
    expect_count(findings, at, mode, "failed", 0, "as every case must have the known bits");
    expect_count(findings, at, mode, "tried",
                 tried < 1 || tried > (json_int_t)cases->count ? (json_int_t)cases->count : tried,
                 "at most, and at least 1");
    expect_count(findings, at, mode, "ran", whole(mode, "ran") < 1 ? 1 : whole(mode, "ran"),
                 "at least: where all cases were skipped nothing is known");
}

/* ---- the hashes ---- */

/* What the program would find on a device that is right, with the same cases. */
static json_t *expected_ops(const json_t *mode, const skips *found, const weft_certify_job *job,
                            weft_math math) {
    weft_certify_bits bits;
    json_t *ops = NULL;
    if (weft_certify_bits_begin(&bits, math, job) == WEFT_OK) {
        const json_int_t tried = whole(mode, "tried");
        for (uint32_t at = 0; at < job->cases.count && (json_int_t)at < tried; at++) {
            const uint32_t place = job->cases.order[at];
            const char *name = job->cases.list[place].name;
            if (!found->skipped[place]) {
                weft_certify_known(bits.results[place].digits, name, math);
            }
        }
        json_t *record = weft_certify_bits_json(&bits, job);
        ops = json_incref(json_object_get(record, "ops"));
        json_decref(record);
    }
    weft_certify_bits_free(&bits, &job->host);
    return ops;
}

static void compare_op(weft_certify_findings *findings, const char *at, const json_t *found,
                       const json_t *expected) {
    char field[WEFT_CERTIFY_TEXT_SIZE];
    static const char *const names[] = {"op", "cases", "ran", "root"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const json_t *wanted = json_object_get(expected, names[i]);
        if (json_equal(json_object_get(found, names[i]), wanted)) {
            continue;
        }
        weft_certify_text(field, "%.120s (%.60s) %s", at, weft_bench_text(expected, "op"),
                          names[i]);
        if (json_is_integer(wanted)) {
            weft_certify_refuse_value(findings, field, json_object_get(found, names[i]),
                                      "%lld, by the cases tried",
                                      (long long)json_integer_value(wanted));
        } else {
            weft_certify_refuse_value(findings, field, json_object_get(found, names[i]),
                                      "%s, as this version has it", json_string_value(wanted));
        }
    }
}

static weft_status check_ops(weft_certify_findings *findings, const char *at, const json_t *mode,
                             const skips *skipped, const weft_certify_job *job, weft_math math) {
    json_t *expected = expected_ops(mode, skipped, job, math);
    const json_t *found = json_object_get(mode, "ops");
    char field[WEFT_CERTIFY_TEXT_SIZE];
    if (!expected) {
        return weft_fail_memory(&job->host, "the expected hashes");
    }
    if (json_array_size(found) != json_array_size(expected)) {
        weft_certify_refuse_value(findings, weft_certify_text(field, "%.120s.ops", at), found,
                                  "%zu ops", json_array_size(expected));
    } else {
        for (size_t i = 0; i < json_array_size(expected); i++) {
            compare_op(findings, weft_certify_text(field, "%.120s.ops[%zu]", at, i),
                       json_array_get(found, i), json_array_get(expected, i));
        }
    }
    json_decref(expected);
    return WEFT_OK;
}

static weft_status check_tried(weft_certify_findings *findings, const char *at, const json_t *mode,
                               const weft_certify_job *job, weft_math math) {
    skips found;
    check_counts(findings, at, mode, &job->cases);
    weft_status status = find_skips(findings, &found, at, mode, job)
                             ? WEFT_OK
                             : weft_fail_memory(&job->host, "the skipped cases");
    if (status == WEFT_OK) {
        check_listed_skips(findings, at, mode, &found);
        status = check_ops(findings, at, mode, &found, job, math);
    }
    weft_free(&job->host, found.skipped);
    return status;
}

static weft_status check_mode(weft_certify_findings *findings, const json_t *bits,
                              const weft_certify_job *job, weft_math math) {
    char at[WEFT_CERTIFY_TEXT_SIZE];
    for (size_t i = 0; i < json_array_size(bits); i++) {
        const json_t *mode = json_array_get(bits, i);
        if (!names_math(mode, math)) {
            continue;
        }
        weft_certify_text(at, "bits[%zu]", i);
        if (strcmp(weft_bench_text(mode, "status"), "ok") != 0) {
            char field[WEFT_CERTIFY_TEXT_SIZE];
            weft_certify_refuse(findings, weft_certify_text(field, "%s.status", at),
                                weft_bench_text(mode, "reason"), "ok");
            return WEFT_OK;
        }
        return check_tried(findings, at, mode, job, math);
    }
    weft_certify_refuse(findings, "bits", "none", "an entry for %s math", weft_math_name(math));
    return WEFT_OK;
}

weft_status weft_certify_check_bits(weft_certify_findings *findings, const json_t *record,
                                    const weft_host *host) {
    const json_t *bits = json_object_get(record, "bits");
    const json_t *seed = json_object_get(json_object_get(record, "made"), "seed");
    weft_certify_job job = {.host = *host};
    weft_status status =
        weft_certify_cases_make(&job.cases, (uint32_t)json_integer_value(seed), host);
    if (status == WEFT_OK) {
        status = check_mode(findings, bits, &job, WEFT_MATH_REPRODUCIBLE);
    }
    if (status == WEFT_OK) {
        status = check_mode(findings, bits, &job, WEFT_MATH_FUSED);
    }
    weft_certify_cases_free(&job.cases, host);
    return status;
}

/* ---- models ---- */

static const json_t *find_model(size_t *index, const json_t *models, const char *name,
                                weft_math math) {
    for (size_t i = 0; i < json_array_size(models); i++) {
        const json_t *row = json_array_get(models, i);
        if (names_math(row, math) && strcmp(weft_bench_text(row, "model"), name) == 0) {
            *index = i;
            return row;
        }
    }
    return NULL;
}

static void check_model(weft_certify_findings *findings, const json_t *models, const char *name,
                        weft_math math) {
    char known[WEFT_DIGEST_TEXT_SIZE] = "";
    char field[WEFT_CERTIFY_TEXT_SIZE];
    size_t index = 0;
    const json_t *row = find_model(&index, models, name, math);
    if (!row) {
        weft_certify_refuse(findings, "models", "none", "a row of %s in %s math", name,
                            weft_math_name(math));
        return;
    }
    if (strcmp(weft_bench_text(row, "status"), "skipped") == 0) {
        return; /* there was no time; the summary says so */
    }
    weft_certify_model_known(known, name, math);
    if (strcmp(weft_bench_text(row, "found"), known) != 0) {
        weft_certify_refuse_value(findings, weft_certify_text(field, "models[%zu].found", index),
                                  json_object_get(row, "found"), "%s, as this version has it",
                                  known);
    }
    if (strcmp(weft_bench_text(row, "expected"), known) != 0) {
        weft_certify_refuse_value(findings, weft_certify_text(field, "models[%zu].expected", index),
                                  json_object_get(row, "expected"), "%s, as this version has it",
                                  known);
    }
}

void weft_certify_check_models(weft_certify_findings *findings, const json_t *record) {
    const json_t *models = json_object_get(record, "models");
    if (json_array_size(models) > 2 * (size_t)WEFT_CERTIFY_MODELS) {
        weft_certify_refuse_value(findings, "models", models, "%d models, each in two modes",
                                  WEFT_CERTIFY_MODELS);
    }
    for (uint32_t i = 0; weft_certify_model_name(i); i++) {
        check_model(findings, models, weft_certify_model_name(i), WEFT_MATH_REPRODUCIBLE);
        check_model(findings, models, weft_certify_model_name(i), WEFT_MATH_FUSED);
    }
}
