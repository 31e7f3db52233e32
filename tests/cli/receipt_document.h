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

static inline weft_digest digest_field(const json_t *object, const char *name) {
    const char *hex = json_string_value(json_object_get(object, name));
    weft_digest digest;
    for (size_t k = 0; k < 32; k++) {
        unsigned byte = 0;
        assert_int_equal(sscanf(hex + 2 * k, "%2x", &byte), 1);
        digest.bytes[k] = (uint8_t)byte;
    }
    return digest;
}

static inline weft_digest tree_node(uint8_t what, const weft_digest *left,
                                    const weft_digest *right) {
    weft_sha256 hash;
    weft_sha256_begin(&hash);
    weft_sha256_add(&hash, &what, 1);
    weft_sha256_add(&hash, left->bytes, sizeof left->bytes);
    if (right) {
        weft_sha256_add(&hash, right->bytes, sizeof right->bytes);
    }
    return weft_sha256_end(&hash);
}

/* The root by its definition, from the chains that the records state: leaves and nothings, pair by pair. */
static inline void make_root(json_t *receipt) {
    const json_t *records = json_object_get(receipt, "records");
    const size_t count = json_array_size(records);
    size_t width = 1;
    while (width < count) {
        width *= 2;
    }
    weft_digest *row = calloc(width, sizeof *row);
    assert_non_null(row);
    const uint8_t nothing = 3;
    for (size_t i = 0; i < width; i++) {
        row[i] = weft_digest_of(&nothing, 1);
        if (i < count) {
            const weft_digest chain = digest_field(json_array_get(records, i), "chain");
            row[i] = tree_node(0, &chain, NULL);
        }
    }
    for (; width > 1; width /= 2) {
        for (size_t i = 0; i < width / 2; i++) {
            row[i] = tree_node(1, &row[2 * i], &row[2 * i + 1]);
        }
    }
    weft_sha256 hash;
    weft_sha256_begin(&hash);
    weft_sha256_add(&hash, &(uint8_t){2}, 1);
    for (size_t i = 0; i < 8; i++) {
        weft_sha256_add(&hash, &(uint8_t){(uint8_t)(count >> (8 * i))}, 1);
    }
    weft_sha256_add(&hash, row[0].bytes, sizeof row[0].bytes);
    const weft_digest root = weft_sha256_end(&hash);
    char text[WEFT_DIGEST_TEXT_SIZE];
    json_object_set_new(receipt, "root", json_string(weft_digest_text(&root, text)));
    free(row);
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
        if (json_object_get(record, "sha256")) {
            const weft_digest bytes = digest_field(record, "sha256");
            weft_sha256_add(&hash, bytes.bytes, sizeof bytes.bytes);
        }
        const weft_digest digest = weft_sha256_end(&hash);
        char text[WEFT_DIGEST_TEXT_SIZE];
        memcpy(chain, digest.bytes, sizeof chain);
        json_object_set_new(record, "chain", json_string(weft_digest_text(&digest, text)));
    }
    make_root(receipt);
    assert_int_equal(json_dump_file(receipt, path, JSON_INDENT(1)), 0);
    json_decref(receipt);
}

static inline void set_text(json_t *record, const char *name, const char *text) {
    json_object_set_new(record, name, json_string(text));
}

#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"

#endif
