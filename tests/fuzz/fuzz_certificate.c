/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a record of weft certify, as a submission's form, in a folder of results and, twice, as two machines side by side. Whatever is not
 * refused adds up. (That its roots are those of this version needs the cases, and is tested by cli.certify.)
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/index.h"
#include "bench/ratios.h"
#include "bench/side.h"
#include "certify/consistent.h"
#include "certify/form.h"
#include "core/formats/json.h"
#include "fuzz.h"

static json_int_t whole(const json_t *object, const char *name) {
    return json_integer_value(json_object_get(object, name));
}

static void expect_mode(const json_t *mode) {
    json_int_t ran = 0;
    json_int_t cases = 0;
    size_t i;
    json_t *op;
    json_array_foreach(json_object_get(mode, "ops"), i, op) {
        ran += whole(op, "ran");
        cases += whole(op, "cases");
    }
    fuzz_expect(ran == whole(mode, "ran") && cases == whole(mode, "cases"));
    fuzz_expect(whole(mode, "ran") + whole(mode, "skipped") == whole(mode, "tried"));
    fuzz_expect(whole(mode, "passed") + whole(mode, "failed") == whole(mode, "ran"));
    fuzz_expect(whole(mode, "listed_ran") <= whole(mode, "listed"));
}

/* What a record with the right form that contradicts itself nowhere may say. */
static void expect_sound(const json_t *record) {
    const json_t *summary = json_object_get(record, "summary");
    const json_t *modes = json_object_get(record, "bits");
    const bool agrees = json_is_true(json_object_get(summary, "bits_agree"));
    size_t i;
    json_t *object;
    fuzz_expect(!agrees || json_array_size(modes) > 0);
    json_array_foreach(modes, i, object) {
        expect_mode(object);
        fuzz_expect(!agrees || whole(object, "ran") > 0);
    }
    json_array_foreach(json_object_get(record, "models"), i, object) {
        const json_t *found = json_object_get(object, "found");
        fuzz_expect(!json_is_true(json_object_get(object, "agrees")) ||
                    json_equal(found, json_object_get(object, "expected")));
    }
}

static void check(const json_t *record, const weft_host *host) {
    weft_certify_findings findings = {.list = json_array()};
    if (weft_certify_check_lengths(&findings, record)) {
        weft_certify_check_form(&findings, record);
        weft_certify_check_consistent(&findings, record);
    }
    fuzz_expect(findings.list && !findings.failed);
    fuzz_expect(json_array_size(findings.list) <= WEFT_CERTIFY_MOST_FINDINGS);
    if (json_array_size(findings.list) == 0) {
        expect_sound(record);
        fuzz_expect(weft_certify_consistent(record, "record", host) == WEFT_OK);
    }
    json_decref(findings.list);
}

/* Means are of some cases, and belong to a column. */
static void expect_ratios(json_t *index, const weft_host *host) {
    fuzz_expect(weft_bench_ratios_add(index, weft_bench_usual_baseline(index), host) == WEFT_OK);
    size_t i;
    json_t *mean;
    json_array_foreach(json_object_get(index, "ratios"), i, mean) {
        fuzz_expect(json_real_value(json_object_get(mean, "ratio")) > 0.0);
        fuzz_expect(whole(mean, "cases") > 0);
        fuzz_expect(whole(mean, "column") <
                    (json_int_t)json_array_size(json_object_get(index, "columns")));
    }
    fuzz_expect(weft_bench_side_csv_write("/dev/null", index, host) == WEFT_OK);
}

static void read_twice(const char *path, const weft_host *host) {
    const char *const paths[] = {path, path};
    json_t *index = NULL;
    const weft_status status = weft_bench_index_read_files(&index, paths, 2, host);
    fuzz_expect((status == WEFT_OK) == (index != NULL));
    if (index) {
        fuzz_expect(json_array_size(json_object_get(index, "machines")) == 2);
        expect_ratios(index, host);
    }
    json_decref(index);
}

static void read_folder(const uint8_t *data, size_t size, const weft_host *host) {
    char path[4096];
    json_t *index = NULL;
    snprintf(path, sizeof path, "%s/device", fuzz_folder());
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/device/certificate.json", fuzz_folder());
    FILE *file = fopen(path, "wb");
    fuzz_expect(file && (size == 0 || fwrite(data, size, 1, file) == 1));
    fuzz_expect(fclose(file) == 0);
    const weft_status status = weft_bench_index_read(&index, fuzz_folder(), host);
    fuzz_expect((status == WEFT_OK) == (index != NULL));
    json_decref(index);
    read_twice(path, host);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const weft_host host = {0};
    json_t *record = NULL;
    if (weft_json_parse(&record, data, size, "record", &host) == WEFT_OK) {
        check(record, &host);
        json_decref(record);
    }
    read_folder(data, size, &host);
    return 0;
}
