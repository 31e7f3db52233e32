/* SPDX-License-Identifier: MIT */
/* Files of the expected bits of every case. */
#include <string.h>

#include "core/file.h"
#include "core/json.h"
#include "core/try.h"
#include "verify_record.h"

#define FILE_LIMIT ((size_t)16 << 20)

static bool is_digest(const char *text) {
    return text && weft_is_digest_text(text, strlen(text));
}

static weft_status check_object(json_t *object, const char *path, const weft_host *host) {
    if (!json_is_object(object)) {
        return weft_fail(host, WEFT_BAD_FILE,
                         "%s: expected an object of case names and SHA-256 digests, found "
                         "another JSON value",
                         path);
    }
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach(object, name, value) {
        if (!is_digest(json_string_value(value))) {
            return weft_fail(host, WEFT_BAD_FILE,
                             "%s: case '%s': expected a SHA-256 digest of 64 hexadecimal digits",
                             path, name);
        }
    }
    return WEFT_OK;
}

static weft_status read_bits(json_t **object, const char *path, const weft_host *host) {
    uint8_t *data = NULL;
    size_t size = 0;
    WEFT_TRY(weft_file_read(&data, &size, FILE_LIMIT, path, host));
    json_error_t error;
    json_t *loaded = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, &error);
    weft_free(host, data);
    if (!loaded) {
        return weft_fail(host, WEFT_BAD_FILE, "%s: line %d: %s", path, error.line, error.text);
    }
    weft_status status = check_object(loaded, path, host);
    if (status != WEFT_OK) {
        json_decref(loaded);
        return status;
    }
    *object = loaded;
    return WEFT_OK;
}

int weft_verify_check_bits_file(const char *path, const weft_host *host) {
    json_t *object = NULL;
    weft_status status = read_bits(&object, path, host);
    json_decref(object);
    return weft_cli_exit_code_of_file(status);
}

static weft_status compare_case(weft_verify_record *record, const weft_verify_run *run,
                                uint32_t index, const char *expected) {
    const weft_case_result *result = &run->results[index];
    const char *found = result->digest;
    if (expected && (result->skipped || strcmp(expected, found) == 0)) {
        return WEFT_OK;
    }
    weft_verify_difference difference = {
        .case_index = index,
        .run = run,
        .text = weft_format(&record->host, "expected %s, found %s",
                            !expected ? "nothing, as the file lacks this case" : expected,
                            found[0] == '\0' ? "no output" : found)};
    return weft_verify_add_difference(record, difference);
}

static bool is_case(const weft_verify_record *record, const char *name) {
    for (uint32_t index = 0; index < record->case_count; index++) {
        if (strcmp(record->cases[index].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static weft_status find_strangers(weft_verify_record *record, json_t *object) {
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach(object, name, value) {
        if (!is_case(record, name)) {
            weft_verify_difference difference = {
                .case_index = UINT32_MAX,
                .text = weft_format(&record->host, "the file has '%s', which is no case", name)};
            WEFT_TRY(weft_verify_add_difference(record, difference));
        }
    }
    return WEFT_OK;
}

int weft_verify_compare_bits(weft_verify_record *record, const char *path, bool filtered) {
    json_t *object = NULL;
    weft_status status = read_bits(&object, path, &record->host);
    if (status != WEFT_OK) {
        return weft_cli_exit_code_of_file(status);
    }
    record->has_bits = true;
    for (uint32_t device = 0; device < record->run_count; device++) {
        const weft_verify_run *run = &record->runs[device];
        bool ran = run->status == WEFT_OK;
        for (uint32_t index = 0; ran && index < record->case_count && status == WEFT_OK; index++) {
            json_t *value = json_object_get(object, record->cases[index].name);
            status = compare_case(record, run, index, json_string_value(value));
        }
    }
    if (status == WEFT_OK && !filtered) {
        status = find_strangers(record, object);
    }
    json_decref(object);
    return weft_cli_exit_code(status);
}

int weft_verify_write_bits(const weft_verify_record *record, const char *path) {
    uint32_t device = 0;
    while (device < record->run_count && record->runs[device].status != WEFT_OK) {
        device++;
    }
    for (uint32_t index = 0; device < record->run_count && index < record->case_count; index++) {
        const weft_case_result *result = &record->runs[device].results[index];
        if (result->skipped) {
            return weft_cli_exit_code(weft_fail(&record->host, WEFT_UNSUPPORTED,
                                                "%s needs every case, and this device skips %s: %s",
                                                path, record->cases[index].name, result->reason));
        }
    }
    json_t *object = device < record->run_count ? json_object() : NULL;
    bool fine = object != NULL;
    for (uint32_t index = 0; fine && index < record->case_count; index++) {
        json_t *digest = json_string(record->runs[device].results[index].digest);
        fine = json_object_set_new(object, record->cases[index].name, digest) == 0;
    }
    char *text = fine ? weft_json_text(object, JSON_INDENT(1), &record->host) : NULL;
    json_decref(object);
    char *lines = !text ? NULL : weft_format(&record->host, "%s\n", text);
    weft_free(&record->host, text);
    weft_status status = !lines ? weft_fail_memory(&record->host, path)
                                : weft_file_write(path, lines, strlen(lines), &record->host);
    weft_free(&record->host, lines);
    return weft_cli_exit_code(status);
}
