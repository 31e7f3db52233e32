/* SPDX-License-Identifier: MIT */
#include "bench/expected.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "core/formats/json.h"
#include "core/hash.h"
#include "core/system/file.h"

#define KEY_SIZE (WEFT_BENCH_NAME_SIZE + 40)

static const char embedded[] = {
#include "bench_expected.inc"
};

struct weft_bench_expected {
    weft_host host;
    json_t *root;
    json_t *hashes; /* within root */
};

static bool is_hash(const json_t *value) {
    return json_is_string(value) &&
           weft_is_digest_text(json_string_value(value), json_string_length(value));
}

static weft_status check(const weft_bench_expected *expected) {
    const char *key;
    json_t *value;
    if (json_integer_value(json_object_get(expected->root, "schema")) != 1 ||
        !json_is_object(expected->hashes)) {
        return weft_fail(&expected->host, WEFT_BAD_FILE,
                         "bench/expected.json: expected \"schema\": 1 and an object \"sha256\"");
    }
    json_object_foreach(expected->hashes, key, value) {
        if (!is_hash(value)) {
            return weft_fail(&expected->host, WEFT_BAD_FILE,
                             "bench/expected.json: sha256/%s: expected 64 hexadecimal digits", key);
        }
    }
    return WEFT_OK;
}

weft_status weft_bench_expected_create(weft_bench_expected **expected, const weft_host *host) {
    weft_bench_expected *own = weft_alloc_zero(host, 1, sizeof *own);
    json_error_t error;
    if (!own) {
        return weft_fail_memory(host, "the expected hashes");
    }
    own->host = host ? *host : (weft_host){0};
    own->root = json_loads(embedded, JSON_REJECT_DUPLICATES, &error);
    own->hashes = json_object_get(own->root, "sha256");
    weft_status status = own->root ? check(own)
                                   : weft_fail(host, WEFT_BAD_FILE, "bench/expected.json:%d: %s",
                                               error.line, error.text);
    if (status != WEFT_OK) {
        weft_bench_expected_destroy(&own);
    }
    *expected = own;
    return status;
}

void weft_bench_expected_destroy(weft_bench_expected **expected) {
    if (*expected) {
        const weft_host host = (*expected)->host;
        json_decref((*expected)->root);
        weft_free(&host, *expected);
        *expected = NULL;
    }
}

const char *weft_bench_expected_hash(const weft_bench_expected *expected, const char *suite,
                                     const char *name) {
    char key[KEY_SIZE];
    snprintf(key, sizeof key, "%s/%s", suite, name);
    return json_string_value(json_object_get(expected->hashes, key));
}

weft_status weft_bench_expected_set(weft_bench_expected *expected, const char *suite,
                                    const char *name, const char *sha256) {
    char key[KEY_SIZE];
    snprintf(key, sizeof key, "%s/%s", suite, name);
    return json_object_set_new(expected->hashes, key, json_string(sha256)) == 0
               ? WEFT_OK
               : weft_fail_memory(&expected->host, "the expected hashes");
}

weft_status weft_bench_expected_write(const weft_bench_expected *expected, const char *path) {
    char *text = weft_json_text(expected->root, JSON_INDENT(1) | JSON_SORT_KEYS, &expected->host);
    char *line = text ? weft_format(&expected->host, "%s\n", text) : NULL;
    weft_status status = line ? weft_file_write(path, line, strlen(line), &expected->host)
                              : weft_fail_memory(&expected->host, "the expected hashes");
    weft_free(&expected->host, line);
    weft_free(&expected->host, text);
    return status;
}
