/* SPDX-License-Identifier: MIT */
#include "certify/record.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/fields.h"
#include "certify/speed.h"
#include "core/formats/json.h"
#include "core/system/clock.h"

/* Reals as weft_bench_file_write has them, so that a record is the same when it is read again. */
#define DIGEST_FORM (JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY | JSON_REAL_PRECISION(12))

static const char *const sections[] = {"program", "made",  "system",    "device",  "states", "bits",
                                       "models",  "bench", "sustained", "summary", NULL};

const char *weft_certify_section(uint32_t index) {
    return sections[index];
}

static json_t *text_or_null(const char *text) {
    return text[0] != '\0' ? weft_cli_json_text(text) : json_null();
}

/* ---- sections ---- */

json_t *weft_certify_program_json(const weft_certify_job *job) {
    return json_pack("{s:s, s:s, s:s, s:i, s:i}", "version", weft_version(), "build", weft_build(),
                     "known_bits", weft_certify_known_digest(), "cases", (int)job->cases.count,
                     "listed", (int)job->cases.listed);
}

json_t *weft_certify_made_json(const weft_certify_job *job, const char *started) {
    return json_pack("{s:s, s:o, s:o, s:i}", "started", started, "seconds_allowed",
                     weft_certify_real(job->seconds), "seconds_taken",
                     weft_certify_real(1e-3 * (weft_clock_ms() - job->begin_ms)), "seed",
                     (int)job->seed);
}

json_t *weft_certify_device_json(const weft_device_info *info) {
    json_t *device = weft_cli_device_json(info);
    json_object_del(device, "uuid");
    const bool software = info->type == WEFT_DEVICE_SOFTWARE || info->type == WEFT_DEVICE_PROCESSOR;
    return weft_cli_json_field(device, "software_device", json_boolean(software));
}

json_t *weft_certify_state_json(const char *when, const weft_bench_state *before,
                                const weft_bench_state *now) {
    return json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "when", when, "load_1min",
        weft_certify_real(now->load_1min), "others_busy",
        weft_certify_real(weft_bench_others_busy(before, now)), "governor",
        text_or_null(now->governor), "lowest_mhz", weft_certify_real(now->lowest_mhz), "mean_mhz",
        weft_certify_real(now->mean_mhz), "highest_mhz", weft_certify_real(now->highest_mhz),
        "temperature_c", weft_certify_real(now->temperature_c), "gpu_mhz",
        weft_certify_real(now->gpu_mhz), "gpu_temperature_c",
        weft_certify_real(now->gpu_temperature_c), "gpu_watt", weft_certify_real(now->gpu_watt));
}

/* ---- the summary ---- */

typedef struct sum {
    json_int_t cases, tried, ran, skipped, failed;
    bool every_kernel; /* each listed case ran, in each mode */
    bool agrees;       /* whatever ran, something in each mode */
} sum;

static sum sum_bits(const json_t *record) {
    const json_t *bits = json_object_get(record, "bits");
    sum all = {.every_kernel = json_array_size(bits) > 0, .agrees = json_array_size(bits) > 0};
    for (size_t i = 0; i < json_array_size(bits); i++) {
        const json_t *mode = json_array_get(bits, i);
        all.cases += (json_int_t)weft_bench_number(mode, "cases");
        all.tried += (json_int_t)weft_bench_number(mode, "tried");
        all.ran += (json_int_t)weft_bench_number(mode, "ran");
        all.skipped += (json_int_t)weft_bench_number(mode, "skipped");
        all.failed += (json_int_t)weft_bench_number(mode, "failed");
        all.every_kernel =
            all.every_kernel && weft_bench_number(mode, "listed_ran") > 0.0 &&
            weft_bench_number(mode, "listed_ran") == weft_bench_number(mode, "listed");
        all.agrees = all.agrees && strcmp(weft_bench_text(mode, "status"), "ok") == 0 &&
                     weft_bench_number(mode, "ran") > 0.0;
    }
    all.agrees = all.agrees && all.failed == 0;
    return all;
}

/* Counts the rows whose logits are as they are to be: by their hashes, whatever a row says. */
static json_int_t count_agreeing(const json_t *models) {
    json_int_t count = 0;
    for (size_t i = 0; i < json_array_size(models); i++) {
        const json_t *row = json_array_get(models, i);
        const char *found = weft_bench_text(row, "found");
        count += strcmp(weft_bench_text(row, "status"), "ok") == 0 && found[0] != '\0' &&
                 strcmp(found, weft_bench_text(row, "expected")) == 0;
    }
    return count;
}

json_t *weft_certify_summary_json(const json_t *record) {
    const sum bits = sum_bits(record);
    const json_t *models = json_object_get(record, "models");
    const json_int_t agreeing = count_agreeing(models);
    char reason[WEFT_CLI_ERROR_SIZE] = "";
    double rate =
        weft_certify_rate(reason, json_object_get(json_object_get(record, "bench"), "rows"));
    const char *why = bits.ran == 0        ? "no case ran"
                      : bits.failed > 0    ? "not all bits agree"
                      : !bits.agrees       ? "no case ran in one of the modes"
                      : !bits.every_kernel ? "not every kernel ran"
                      : agreeing == 0 || (size_t)agreeing < json_array_size(models)
                          ? "not all models' logits agree"
                          : reason;
    rate = why[0] == '\0' ? rate : (double)NAN;
    return json_pack("{s:o, s:o, s:b, s:b, s:I, s:I, s:I, s:I, s:I, s:I}",
                     "mixing_rate_tokens_per_s", weft_certify_real(rate), "reason",
                     text_or_null(why), "bits_agree", (int)bits.agrees, "every_kernel",
                     (int)bits.every_kernel, "cases_tried", bits.tried, "cases_ran", bits.ran,
                     "cases_skipped", bits.skipped, "cases", bits.cases, "models_agreeing",
                     agreeing, "models", (json_int_t)json_array_size(models));
}

/* ---- the chain ---- */

/* The digest of a section behind that of the one before. False when memory is out. */
static bool link_section(char chain[WEFT_DIGEST_TEXT_SIZE], const char *name,
                         const json_t *section) {
    const weft_host host = {0};
    weft_sha256 hash;
    char *text = section ? weft_json_text(section, DIGEST_FORM, &host) : weft_strdup(&host, "");
    if (!text) {
        return false;
    }
    weft_sha256_begin(&hash);
    weft_sha256_add(&hash, chain, strlen(chain));
    weft_sha256_add(&hash, name, strlen(name) + 1);
    weft_sha256_add(&hash, text, strlen(text));
    weft_free(&host, text);
    const weft_digest digest = weft_sha256_end(&hash);
    weft_digest_text(&digest, chain);
    return true;
}

bool weft_certify_seal(json_t *record) {
    char chain[WEFT_DIGEST_TEXT_SIZE] = "";
    json_t *digests = json_object();
    bool fine = digests != NULL;
    for (uint32_t i = 0; fine && sections[i]; i++) {
        fine = link_section(chain, sections[i], json_object_get(record, sections[i])) &&
               json_object_set_new(digests, sections[i], json_string(chain)) == 0;
    }
    return json_object_set_new(record, "chain", digests) == 0 && fine;
}

const char *weft_certify_broken_section(const json_t *record) {
    char chain[WEFT_DIGEST_TEXT_SIZE] = "";
    const json_t *digests = json_object_get(record, "chain");
    for (uint32_t i = 0; sections[i]; i++) {
        if (!link_section(chain, sections[i], json_object_get(record, sections[i])) ||
            strcmp(weft_bench_text(digests, sections[i]), chain) != 0) {
            return sections[i];
        }
    }
    return NULL;
}
