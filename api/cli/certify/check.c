/* SPDX-License-Identifier: MIT */
#include "certify/check.h"

#include <math.h>
#include <string.h>

#include "bench/fields.h"
#include "certify/consistent.h"
#include "certify/form.h"
#include "certify/known.h"
#include "certify/record.h"
#include "core/formats/json.h"
#include "core/try.h"

/* ---- the program ---- */

static void check_program(weft_certify_findings *findings, const json_t *record) {
    const json_t *program = json_object_get(record, "program");
    if (strcmp(weft_bench_text(program, "version"), weft_version()) != 0) {
        weft_certify_refuse_value(findings, "program.version", json_object_get(program, "version"),
                                  "%s, as this program is", weft_version());
    }
    if (strcmp(weft_bench_text(program, "known_bits"), weft_certify_known_digest()) != 0) {
        weft_certify_refuse_value(
            findings, "program.known_bits", json_object_get(program, "known_bits"),
            "%s, the bits that this program knows", weft_certify_known_digest());
    }
    const json_t *allowed = json_object_get(json_object_get(record, "made"), "seconds_allowed");
    if (json_number_value(allowed) < WEFT_CERTIFY_SECONDS) {
        weft_certify_refuse_value(findings, "made.seconds_allowed", allowed, "at least %g",
                                  WEFT_CERTIFY_SECONDS);
    }
}

/* ---- the device ---- */

static bool computes_on_processor(const char *name) {
    static const char *const names[] = {"llvmpipe", "lavapipe", "SwiftShader",
                                        "PoCL",     "pocl",     "Oclgrind"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strstr(name, names[i])) {
            return true;
        }
    }
    return false;
}

static void check_device(weft_certify_findings *findings, const json_t *record) {
    const json_t *device = json_object_get(record, "device");
    const char *type = weft_bench_text(device, "type");
    const bool software = strcmp(type, weft_device_type_name(WEFT_DEVICE_SOFTWARE)) == 0 ||
                          strcmp(type, weft_device_type_name(WEFT_DEVICE_PROCESSOR)) == 0;
    if ((computes_on_processor(weft_bench_text(device, "name")) ||
         computes_on_processor(weft_bench_text(device, "driver"))) &&
        !software) {
        weft_certify_refuse_value(findings, "device.type", json_object_get(device, "type"),
                                  "software: %.60s computes on the processor",
                                  weft_bench_text(device, "name"));
    } else if (json_is_true(json_object_get(device, "software_device")) != software) {
        weft_certify_refuse_value(findings, "device.software_device",
                                  json_object_get(device, "software_device"), "%s, by its type",
                                  software ? "true" : "false");
    }
}

/* ---- what sums it up ---- */

static weft_status check_summary(weft_certify_findings *findings, const json_t *record,
                                 const weft_host *host) {
    json_t *expected = weft_certify_summary_json(record);
    const json_t *found = json_object_get(record, "summary");
    const char *name = NULL;
    json_t *value = NULL;
    if (!expected) {
        return weft_fail_memory(host, "the summary");
    }
    json_object_foreach(expected, name, value) {
        const json_t *theirs = json_object_get(found, name);
        const double a = json_number_value(value);
        const bool same = json_is_real(value) ? fabs(a - json_number_value(theirs)) <= 1e-4 * a
                                              : json_equal(value, theirs);
        if (!same) {
            char field[WEFT_CERTIFY_TEXT_SIZE];
            char text[WEFT_JSON_TEXT_SIZE];
            weft_certify_refuse_value(findings, weft_certify_text(field, "summary.%s", name),
                                      theirs, "%s, by the other sections",
                                      weft_json_describe(value, text));
        }
    }
    json_decref(expected);
    return WEFT_OK;
}

static void check_chain(weft_certify_findings *findings, const json_t *record) {
    const char *broken = weft_certify_broken_section(record);
    if (broken) {
        char field[WEFT_CERTIFY_TEXT_SIZE];
        weft_certify_refuse(findings, weft_certify_text(field, "chain.%s", broken),
                            "another section or digest",
                            "the digest of section %s as it was written", broken);
    }
}

weft_status weft_certify_check(weft_certify_findings *findings, const json_t *record,
                               const weft_host *host) {
    *findings = (weft_certify_findings){.list = json_array()};
    if (!weft_certify_check_lengths(findings, record)) {
        return findings->list && !findings->failed ? WEFT_OK
                                                   : weft_fail_memory(host, "the findings");
    }
    weft_certify_check_form(findings, record);
    check_chain(findings, record);
    weft_certify_check_consistent(findings, record);
    check_program(findings, record);
    check_device(findings, record);
    WEFT_TRY(weft_certify_check_bits(findings, record, host));
    weft_certify_check_models(findings, record);
    WEFT_TRY(weft_certify_check_speed(findings, record, host));
    WEFT_TRY(check_summary(findings, record, host));
    return findings->list && !findings->failed ? WEFT_OK : weft_fail_memory(host, "the findings");
}

/* ---- the command ---- */

static int print(const weft_certify_findings *findings, const json_t *record, const char *path) {
    const size_t count = json_array_size(findings->list);
    for (size_t i = 0; i < count; i++) {
        const json_t *finding = json_array_get(findings->list, i);
        weft_cli_print(stdout, "%s: %s: expected %s, found %s\n", path,
                       weft_bench_text(finding, "field"), weft_bench_text(finding, "expected"),
                       weft_bench_text(finding, "found"));
    }
    if (count > 0) {
        weft_cli_print(stdout, "%s is refused for %zu reason%s\n", path, count,
                       count == 1 ? "" : "s");
        return WEFT_CLI_FAILED;
    }
    const json_t *summary = json_object_get(record, "summary");
    weft_cli_print(stdout, "%s fits: %.0f of %.0f cases ran, %.0f of %.0f models\n", path,
                   weft_bench_number(summary, "cases_ran"), weft_bench_number(summary, "cases"),
                   weft_bench_number(summary, "models_agreeing"),
                   weft_bench_number(summary, "models"));
    return WEFT_CLI_FINE;
}

static int report(const weft_certify_findings *findings, const json_t *record, const char *path,
                  bool json) {
    if (!json) {
        return print(findings, record, path);
    }
    const bool fits = json_array_size(findings->list) == 0;
    WEFT_CLI_TRY(
        weft_cli_print_json(json_pack("{s:b, s:O}", "fits", (int)fits, "reasons", findings->list)));
    return fits ? WEFT_CLI_FINE : WEFT_CLI_FAILED;
}

int weft_certify_check_file(const char *path, const weft_cli_common *common) {
    const weft_host host = weft_cli_host(common);
    json_t *record = NULL;
    weft_certify_findings findings = {.list = NULL};
    WEFT_CLI_TRY(weft_cli_exit_code_of_file(weft_json_read(&record, path, &host)));
    int code = weft_cli_exit_code(weft_certify_check(&findings, record, &host));
    if (code == WEFT_CLI_FINE) {
        code = report(&findings, record, path, common->json);
    }
    json_decref(findings.list);
    json_decref(record);
    return code;
}
