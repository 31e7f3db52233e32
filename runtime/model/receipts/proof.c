/* SPDX-License-Identifier: MIT */
/* Proofs as JSON. What is read is a stranger's: it is checked before it is used, and costs at most 64 KiB. */
#include "model/receipts/proof.h"

#include <string.h>

#include "core/given.h"
#include "core/try.h"

#define FORMAT "weft-proof"

static const char source[] = "the proof";

/* ---- writing ---- */

const char *weft_receipt_root(weft_receipt *receipt) {
    WEFT_ENTER;
    weft_digest root;
    return receipt && weft_merkle_root(&root, NULL, receipt, 0) == WEFT_OK
               ? weft_digest_text(&root, receipt->root)
               : NULL;
}

const char *weft_receipt_proof(weft_receipt *receipt, uint32_t index) {
    WEFT_ENTER;
    weft_digest root;
    struct weft_merkle_path path;
    if (!receipt || index >= receipt->count ||
        weft_merkle_root(&root, &path, receipt, index) != WEFT_OK) {
        return NULL;
    }
    char hash[WEFT_DIGEST_TEXT_SIZE];
    const weft_digest none = {0};
    const weft_digest *before = index > 0 ? &receipt->records[index - 1].chain : &none;
    struct weft_text text = {.host = receipt->host};
    weft_text_add(&text,
                  "{\n  \"format\": \"" FORMAT "\", \"version\": 1,\n  \"index\": %u, "
                  "\"count\": %u,\n  \"before\": \"%s\",\n  \"record\":\n    ",
                  index, receipt->count, weft_digest_text(before, hash));
    weft_record_write(&text, &receipt->records[index]);
    weft_text_add(&text, "},\n  \"path\": [");
    for (uint32_t i = 0; i < path.count; i++) {
        weft_text_add(&text, "%s\n    \"%s\"", i ? "," : "", weft_digest_text(&path.at[i], hash));
    }
    weft_text_add(&text, "]\n}\n");
    weft_free(&receipt->host, receipt->proof);
    receipt->proof = weft_text_take(&text);
    return receipt->proof;
}

/* ---- reading ---- */

static weft_status read_record(weft_proof *proof, const weft_json_fields *fields) {
    static const char *const names[] = {"kind", "name", "type", "sha256", NULL};
    const weft_json_fields record = {.object = json_object_get(fields->object, "record"),
                                     .path = "the proof: record",
                                     .host = fields->host};
    struct weft_record read;
    if (!json_is_object(record.object)) {
        return weft_json_fail(fields, WEFT_BAD_FILE, "record", "an object", record.object);
    }
    WEFT_TRY(weft_receipt_refuse_others(&record, names));
    WEFT_TRY(weft_record_read(&read, &record));
    WEFT_TRY(weft_record_read_digest(&read, &record));
    if (strlen(read.name) > WEFT_RECEIPT_MAX_NAME || strlen(read.type) > WEFT_RECEIPT_MAX_NAME) {
        return weft_json_fail(fields, WEFT_BAD_FILE, "record", "texts of at most 4096 bytes", NULL);
    }
    read.name = weft_strdup(fields->host, read.name);
    read.type = weft_strdup(fields->host, read.type);
    proof->record = read;
    return read.name && read.type ? WEFT_OK : weft_fail_memory(fields->host, source);
}

static weft_status read_path(weft_proof *proof, const weft_json_fields *fields) {
    const json_t *list = json_object_get(fields->object, "path");
    const uint32_t length = weft_merkle_path_length(proof->index, proof->count);
    if (!json_is_array(list) || json_array_size(list) != length) {
        return weft_json_fail(fields, WEFT_BAD_FILE, "path",
                              "as many hashes as lead from the index to the root", list);
    }
    for (uint32_t i = 0; i < length; i++) {
        const json_t *hash = json_array_get(list, i);
        const char *text = json_string_value(hash);
        if (!text || !weft_is_digest_text(text, strlen(text))) {
            return weft_json_fail(fields, WEFT_BAD_FILE, "path",
                                  "hashes of 64 lower-case hexadecimal digits", hash);
        }
        proof->path.at[i] = weft_digest_of_text(text);
    }
    proof->path.count = length;
    return WEFT_OK;
}

static weft_status read_place(weft_proof *proof, const weft_json_fields *fields) {
    int64_t index = 0;
    int64_t count = 0;
    const weft_digest none = {0};
    WEFT_TRY(weft_json_integer(&count, fields, "count", 1, WEFT_RECEIPT_MAX_RECORDS));
    WEFT_TRY(weft_json_integer(&index, fields, "index", 0, count - 1));
    WEFT_TRY(weft_receipt_read_digest(&proof->before, fields, "before"));
    proof->index = (uint32_t)index;
    proof->count = (uint32_t)count;
    return index > 0 || memcmp(&proof->before, &none, sizeof none) == 0
               ? WEFT_OK
               : weft_json_fail(fields, WEFT_BAD_FILE, "before", "zeros before the first record",
                                json_object_get(fields->object, "before"));
}

static weft_status check_root(weft_proof *proof, const char *root, const weft_json_fields *fields) {
    proof->record.chain = weft_record_chain(&proof->before, &proof->record);
    const weft_digest found =
        weft_merkle_root_of(&proof->record.chain, proof->index, proof->count, &proof->path);
    char text[WEFT_DIGEST_TEXT_SIZE];
    return strcmp(weft_digest_text(&found, text), root) == 0
               ? WEFT_OK
               : weft_fail(fields->host, WEFT_BAD_FILE,
                           "%s: expected a path to the root %s, found one to %s", source, root,
                           text);
}

static weft_status read_all(weft_proof *proof, const json_t *object, const char *root) {
    static const char *const names[] = {"format", "version", "index", "count",
                                        "before", "record",  "path",  NULL};
    const weft_json_fields fields = {.object = object, .path = source, .host = &proof->host};
    const char *format = NULL;
    int64_t version = 0;
    WEFT_TRY(weft_json_string(&format, &fields, "format"));
    if (strcmp(format, FORMAT) != 0) {
        return weft_json_fail(&fields, WEFT_BAD_FILE, "format", "\"" FORMAT "\"",
                              json_object_get(object, "format"));
    }
    WEFT_TRY(weft_json_integer(&version, &fields, "version", 1, INT32_MAX));
    if (version != 1) {
        return weft_json_fail(&fields, WEFT_UNSUPPORTED, "version",
                              "1, which is all that this Weft knows",
                              json_object_get(object, "version"));
    }
    WEFT_TRY(weft_receipt_refuse_others(&fields, names));
    WEFT_TRY(read_place(proof, &fields));
    WEFT_TRY(read_record(proof, &fields));
    WEFT_TRY(read_path(proof, &fields));
    return check_root(proof, root, &fields);
}

static weft_status parse(json_t **object, const char *json, size_t size, const weft_host *host) {
    if (size > WEFT_PROOF_MAX_BYTES) {
        return weft_fail(host, WEFT_BAD_FILE, "%s: expected at most 64 KiB, found %zu bytes",
                         source, size);
    }
    return weft_json_parse(object, json, size, source, host);
}

weft_status weft_proof_read(weft_proof **out, const char *json, size_t size, const char *root,
                            const weft_host *host) {
    WEFT_ENTER;
    WEFT_GIVEN_AS(host, "proof, json, root", out, json, root);
    if (!weft_is_digest_text(root, strlen(root))) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "weft_proof_read: expected a root of 64 lower-case hexadecimal digits, "
                         "found '%.100s'",
                         root);
    }
    json_t *object = NULL;
    WEFT_TRY(parse(&object, json, size, host));
    weft_proof *proof = weft_alloc_zero(host, 1, sizeof *proof);
    weft_status status = proof ? WEFT_OK : weft_fail_memory(host, source);
    if (proof) {
        proof->host = host ? *host : (weft_host){0};
        status = read_all(proof, object, root);
    }
    json_decref(object);
    if (status == WEFT_OK) {
        *out = proof;
    } else {
        weft_proof_destroy(&proof);
    }
    return status;
}

void weft_proof_destroy(weft_proof **address) {
    WEFT_ENTER;
    weft_proof *proof = address ? *address : NULL;
    if (proof) {
        const weft_host host = proof->host;
        weft_free(&host, proof->record.name);
        weft_free(&host, proof->record.type);
        weft_free(&host, proof);
        *address = NULL;
    }
}

weft_status weft_proof_get_info(const weft_proof *proof, weft_proof_info *info) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(proof, host), proof, info);
    *info = (weft_proof_info){.index = proof->index, .count = proof->count};
    weft_record_get_info(&info->record, &proof->record);
    weft_digest_text(&proof->before, info->before);
    return WEFT_OK;
}
