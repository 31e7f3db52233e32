/* SPDX-License-Identifier: MIT */
/*
 * Files of the expected bits of every case: one file, or a folder with a file OP.json for each op. Beside a folder stands another,
 * whose name ends in "-fused", with those cases that have other bits in fused math.
 */
#include <stdio.h>
#include <string.h>

#include "core/formats/json.h"
#include "core/system/file.h"
#include "core/system/system.h"
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

static weft_status read_file(json_t **object, const char *path, const weft_host *host) {
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

/* The characters of "softmax" in the name of a case, "softmax/unit/rank=1", or of a file, "softmax.json". */
static size_t op_length(const char *name, char end) {
    const char *at = strchr(name, end);
    return at ? (size_t)(at - name) : strlen(name);
}

/* A folder of such files; `object` gets the cases of all. */
typedef struct folder_reader {
    const weft_host *host;
    const char *path;
    json_t *object;
    weft_status status;
} folder_reader;

static weft_status add_file(folder_reader *folder, const char *name, const char *path) {
    json_t *object = NULL;
    WEFT_TRY(read_file(&object, path, folder->host));
    const char *key = NULL;
    json_t *value = NULL;
    weft_status status = WEFT_OK;
    json_object_foreach(object, key, value) {
        const size_t length = op_length(key, '/');
        if (length != op_length(name, '.') || strncmp(key, name, length) != 0) {
            status = weft_fail(folder->host, WEFT_BAD_FILE, "%s: case '%s' belongs in %.*s.json",
                               path, key, (int)length, key);
            break;
        }
    }
    if (status == WEFT_OK && json_object_update(folder->object, object) != 0) {
        status = weft_fail_memory(folder->host, path);
    }
    json_decref(object);
    return status;
}

static bool read_entry(void *user, const char *name) {
    folder_reader *folder = user;
    if (strcmp(name + op_length(name, '.'), ".json") != 0) {
        return true;
    }
    char *path = weft_format(folder->host, "%s/%s", folder->path, name);
    folder->status =
        path ? add_file(folder, name, path) : weft_fail_memory(folder->host, folder->path);
    weft_free(folder->host, path);
    return folder->status == WEFT_OK;
}

static bool take_nothing(void *user, const char *name) {
    (void)user;
    (void)name;
    return false;
}

static bool is_folder(const char *path) {
    return weft_system_list(path, take_nothing, NULL) == 0;
}

/* Adds the cases of a folder to an object, which is then null after an error. */
static weft_status read_folder(json_t **object, const char *path, const weft_host *host) {
    folder_reader folder = {host, path, *object, WEFT_OK};
    *object = NULL;
    if (!folder.object) {
        return weft_fail_memory(host, path);
    }
    if (weft_system_list(path, read_entry, &folder) != 0) {
        folder.status = weft_fail(host, WEFT_IO_ERROR, "%s: cannot list", path);
    }
    if (folder.status != WEFT_OK) {
        json_decref(folder.object);
        return folder.status;
    }
    *object = folder.object;
    return WEFT_OK;
}

/* Where the cases of a folder stand that have other bits in fused math. */
static char *fused_folder(const char *path, const weft_host *host) {
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') {
        length--;
    }
    return weft_format(host, "%.*s-fused", (int)length, path);
}

static weft_status read_bits(json_t **object, const char *path, weft_math math,
                             const weft_host *host) {
    if (!is_folder(path)) {
        return read_file(object, path, host);
    }
    *object = json_object();
    WEFT_TRY(read_folder(object, path, host));
    if (math != WEFT_MATH_FUSED) {
        return WEFT_OK;
    }
    char *fused = fused_folder(path, host);
    const weft_status status =
        fused ? read_folder(object, fused, host) : weft_fail_memory(host, path);
    weft_free(host, fused);
    return status;
}

int weft_verify_check_bits_file(const char *path, weft_math math, const weft_host *host) {
    json_t *object = NULL;
    weft_status status = read_bits(&object, path, math, host);
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
    weft_status status = read_bits(&object, path, record->math, &record->host);
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

static weft_status write_file(json_t *object, const char *path, const weft_host *host) {
    char *text = object ? weft_json_text(object, JSON_INDENT(1), host) : NULL;
    char *lines = !text ? NULL : weft_format(host, "%s\n", text);
    weft_free(host, text);
    weft_status status =
        !lines ? weft_fail_memory(host, path) : weft_file_write(path, lines, strlen(lines), host);
    weft_free(host, lines);
    return status;
}

/* The digests of all cases, or of those of the op of case `first`, but for those that `known` has; null when memory is out. */
static json_t *digests(const weft_verify_record *record, const weft_verify_run *run, uint32_t first,
                       bool of_one_op, json_t *known) {
    const char *op = record->cases[first].name;
    json_t *object = json_object();
    for (uint32_t index = first; object && index < record->case_count; index++) {
        const char *name = record->cases[index].name;
        const char *digest = run->results[index].digest;
        const char *there = json_string_value(json_object_get(known, name));
        const bool taken = (!of_one_op || strncmp(name, op, op_length(op, '/') + 1) == 0) &&
                           (!there || strcmp(there, digest) != 0);
        if (taken && json_object_set_new(object, name, json_string(digest)) != 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

/* A file for each op that has anything else than what is known, written when its first case comes. */
static weft_status write_folder(const weft_verify_record *record, const weft_verify_run *run,
                                const char *folder, json_t *known) {
    weft_status status = WEFT_OK;
    for (uint32_t index = 0; index < record->case_count && status == WEFT_OK; index++) {
        const char *op = record->cases[index].name;
        const size_t length = op_length(op, '/');
        uint32_t first = 0;
        while (strncmp(record->cases[first].name, op, length + 1) != 0) {
            first++;
        }
        if (first < index) {
            continue;
        }
        char *path = weft_format(&record->host, "%s/%.*s.json", folder, (int)length, op);
        json_t *object = digests(record, run, index, true, known);
        if (!path) {
            status = weft_fail_memory(&record->host, folder);
        } else if (known && object && json_object_size(object) == 0) {
            (void)remove(path); /* which may be there from before */
        } else {
            status = write_file(object, path, &record->host);
        }
        json_decref(object);
        weft_free(&record->host, path);
    }
    return status;
}

/* The first device that ran, or null after a message: it skipped a case, or none ran. */
static const weft_verify_run *complete_run(const weft_verify_record *record, const char *path) {
    uint32_t device = 0;
    while (device < record->run_count && record->runs[device].status != WEFT_OK) {
        device++;
    }
    if (device == record->run_count) {
        weft_fail(&record->host, WEFT_UNSUPPORTED, "%s needs a device that runs", path);
        return NULL;
    }
    const weft_verify_run *run = &record->runs[device];
    for (uint32_t index = 0; index < record->case_count; index++) {
        if (run->results[index].skipped) {
            weft_fail(&record->host, WEFT_UNSUPPORTED,
                      "%s needs every case, and this device skips %s: %s", path,
                      record->cases[index].name, run->results[index].reason);
            return NULL;
        }
    }
    return run;
}

static weft_status write_fused(const weft_verify_record *record, const weft_verify_run *run,
                               const char *path) {
    json_t *known = NULL;
    WEFT_TRY(read_bits(&known, path, WEFT_MATH_REPRODUCIBLE, &record->host));
    char *folder = fused_folder(path, &record->host);
    const weft_status status =
        folder ? write_folder(record, run, folder, known) : weft_fail_memory(&record->host, path);
    weft_free(&record->host, folder);
    json_decref(known);
    return status;
}

int weft_verify_write_bits(const weft_verify_record *record, const char *path) {
    const weft_verify_run *run = complete_run(record, path);
    if (!run) {
        return weft_cli_exit_code(WEFT_UNSUPPORTED);
    }
    if (is_folder(path)) {
        return weft_cli_exit_code(record->math == WEFT_MATH_FUSED
                                      ? write_fused(record, run, path)
                                      : write_folder(record, run, path, NULL));
    }
    json_t *object = digests(record, run, 0, false, NULL);
    const weft_status status = write_file(object, path, &record->host);
    json_decref(object);
    return weft_cli_exit_code(status);
}
