/* SPDX-License-Identifier: MIT */
/*
 * Receipts in the forms that other tools sign and store: an in-toto Statement, and a DSSE envelope around it.
 * Specifications: in-toto Attestation Framework, Statement v1; Dead Simple Signing Envelope v1, JSON form.
 */
#include "model/receipts/receipt.h"

#include <string.h>

#include "core/given.h"

static bool is_told(weft_record_kind kind) {
    return kind == WEFT_RECORD_SETTING || kind == WEFT_RECORD_OUTPUT || kind == WEFT_RECORD_ANSWER;
}

static void add_records(struct weft_text *text, const weft_receipt *receipt) {
    bool first = true;
    for (uint32_t i = 0; i < receipt->count; i++) {
        if (is_told(receipt->records[i].kind)) {
            weft_text_add(text, "%s\n    ", first ? "" : ",");
            weft_record_write(text, &receipt->records[i]);
            weft_text_add(text, ", \"index\": %u}", i);
            first = false;
        }
    }
}

static char *make_statement(weft_receipt *receipt, const char *name, const char *sha256) {
    struct weft_text text = {.host = receipt->host};
    char hash[WEFT_DIGEST_TEXT_SIZE];
    const weft_digest chain = weft_receipt_chain(receipt);
    const char *root = weft_receipt_root(receipt);
    if (!root) {
        return NULL;
    }
    weft_text_add(&text, "{\"_type\": \"https://in-toto.io/Statement/v1\",\n \"subject\": [{");
    weft_receipt_write_field(&text, "name", name);
    weft_text_add(&text,
                  ", \"digest\": {\"sha256\": \"%s\"}}],\n"
                  " \"predicateType\": \"urn:weft:receipt:%d\",\n"
                  " \"predicate\": {\n  \"root\": \"%s\", \"chain\": \"%s\", \"count\": %u, "
                  "\"runs\": %u,\n  ",
                  sha256, WEFT_RECEIPT_VERSION, root, weft_digest_text(&chain, hash),
                  receipt->count, receipt->runs);
    weft_receipt_write_field(&text, "weft", receipt->version);
    weft_text_add(&text, ", ");
    weft_receipt_write_field(&text, "device", receipt->device_name);
    weft_text_add(&text, ",\n  \"records\": [");
    add_records(&text, receipt);
    weft_text_add(&text, "]}}\n");
    return weft_text_take(&text);
}

/* RFC 4648, section 4. */
static void add_base64(struct weft_text *text, const char *bytes, size_t size) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        uint32_t group = 0;
        for (size_t k = 0; k < 3; k++) {
            group = group << 8 | (i + k < size ? (uint8_t)bytes[i + k] : 0U);
        }
        const char four[4] = {digits[group >> 18], digits[group >> 12 & 63],
                              i + 1 < size ? digits[group >> 6 & 63] : '=',
                              i + 2 < size ? digits[group & 63] : '='};
        weft_text_put(text, four, sizeof four);
    }
}

/* Signers append to "signatures" what they make of the payload. */
static char *make_envelope(const weft_receipt *receipt, const char *statement) {
    struct weft_text text = {.host = receipt->host};
    weft_text_add(&text, "{\"payloadType\": \"application/vnd.in-toto+json\",\n \"payload\": \"");
    add_base64(&text, statement, strlen(statement));
    weft_text_add(&text, "\",\n \"signatures\": []}\n");
    return weft_text_take(&text);
}

const char *weft_receipt_statement(weft_receipt *receipt, const char *name, const char *sha256,
                                   bool envelope) {
    WEFT_ENTER;
    if (!receipt || !name || !sha256 || !weft_is_digest_text(sha256, strlen(sha256)) ||
        !weft_receipt_is_text(name)) {
        return NULL;
    }
    char *statement = make_statement(receipt, name, sha256);
    if (statement && envelope) {
        char *around = make_envelope(receipt, statement);
        weft_free(&receipt->host, statement);
        statement = around;
    }
    weft_free(&receipt->host, receipt->statement);
    receipt->statement = statement;
    return statement;
}
