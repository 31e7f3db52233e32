/* SPDX-License-Identifier: MIT */
/* Receipts as documents that a test edits, as a forger would. Includes cli/command.h. */
#ifndef WEFT_TESTS_CLI_RECEIPT_DOCUMENT_H
#define WEFT_TESTS_CLI_RECEIPT_DOCUMENT_H

#include "cli/command.h"
#include "core/hash.h"

static inline json_t *read_receipt(const char *path) {
    json_error_t error;
    json_t *receipt = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    assert_non_null(receipt);
    return receipt;
}

static inline json_t *record_of(const json_t *receipt, const char *kind, const char *name) {
    size_t i;
    json_t *record;
    json_array_foreach(json_object_get(receipt, "records"), i, record) {
        if (strcmp(string_field(record, "kind"), kind) == 0 &&
            (name == NULL || strcmp(string_field(record, "name"), name) == 0)) {
            return record;
        }
    }
    fail_msg("no record %s %s", kind, name != NULL ? name : "");
    return NULL;
}

/* Makes the chain anew by its definition in docs/receipts.md, as a forger would, and writes the file. */
static inline void write_receipt(json_t *receipt, const char *path) {
    uint8_t chain[32] = {0};
    size_t i;
    json_t *record;
    json_array_foreach(json_object_get(receipt, "records"), i, record) {
        static const char *const fields[] = {"kind", "name", "type"};
        weft_sha256 hash;
        weft_sha256_begin(&hash);
        weft_sha256_add(&hash, chain, sizeof chain);
        for (size_t k = 0; k < 3; k++) {
            const char *text = string_field(record, fields[k]);
            weft_sha256_add(&hash, text, strlen(text) + 1);
        }
        const char *hex = json_string_value(json_object_get(record, "sha256"));
        for (size_t k = 0; hex != NULL && k < 32; k++) {
            unsigned byte = 0;
            assert_int_equal(sscanf(hex + 2 * k, "%2x", &byte), 1);
            weft_sha256_add(&hash, &(uint8_t){(uint8_t)byte}, 1);
        }
        const weft_digest digest = weft_sha256_end(&hash);
        char text[WEFT_DIGEST_TEXT_SIZE];
        memcpy(chain, digest.bytes, sizeof chain);
        json_object_set_new(record, "chain", json_string(weft_digest_text(&digest, text)));
    }
    assert_int_equal(json_dump_file(receipt, path, JSON_INDENT(1)), 0);
    json_decref(receipt);
}

static inline void set_text(json_t *record, const char *name, const char *text) {
    json_object_set_new(record, name, json_string(text));
}

#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"

#endif
