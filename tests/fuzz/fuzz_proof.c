/* SPDX-License-Identifier: MIT */
/*
 * Proofs of records. The first byte chooses: any bytes as a proof, or the proof of a record of some receipt with edits that
 * the bytes choose. What is taken is what the receipt has, whatever was edited; and memory is a multiple of the file's size.
 */
#include <string.h>

#include <weft/receipt.h>

#include "core/hash.h"
#include "fuzz.h"
#include "model/receipts/proof.h"

#define MOST_RECORDS 40

static weft_receipt *make(uint32_t count) {
    const weft_host host = {0};
    weft_receipt *receipt = NULL;
    fuzz_expect(weft_receipt_begin(&receipt, &host) == WEFT_OK);
    for (uint32_t i = 0; i < count; i++) {
        const weft_digest digest = weft_digest_of(&i, sizeof i);
        const bool setting = i % 7 == 0;
        fuzz_expect(weft_receipt_add(receipt, setting ? WEFT_RECORD_SETTING : WEFT_RECORD_DATA,
                                     i % 2 ? "line \"1\"" : "", "\xc3\xa9 2 bytes",
                                     setting ? NULL : &digest) == WEFT_OK);
    }
    return receipt;
}

static void expect_record(const weft_proof *proof, const weft_receipt *receipt) {
    weft_proof_info found;
    weft_record_info expected;
    fuzz_expect(weft_proof_get_info(proof, &found) == WEFT_OK);
    fuzz_expect(weft_receipt_get_record(receipt, found.index, &expected) == WEFT_OK);
    fuzz_expect(found.count == receipt->count && found.record.kind == expected.kind &&
                strcmp(found.record.name, expected.name) == 0 &&
                strcmp(found.record.type, expected.type) == 0 &&
                strcmp(found.record.sha256, expected.sha256) == 0 &&
                strcmp(found.record.chain, expected.chain) == 0);
}

static void read(const char *json, size_t size, weft_receipt *receipt) {
    size_t left;
    const size_t memory = 16 * size + ((size_t)64 << 10);
    const weft_host host = fuzz_small_host(&left, memory);
    weft_proof *proof = NULL;
    const weft_status status =
        weft_proof_read(&proof, json, size, weft_receipt_root(receipt), &host);
    fuzz_expect((status == WEFT_OK) == (proof != NULL) && status != WEFT_OUT_OF_HOST_MEMORY);
    if (proof) {
        expect_record(proof, receipt);
    }
    weft_proof_destroy(&proof);
    fuzz_expect(left == memory);
}

/* Pairs of a place and a byte: put there, or with a byte of 0 taken out. */
static size_t edit(char *text, size_t size, const uint8_t *data, size_t left) {
    for (; left >= 3; data += 3, left -= 3) {
        const size_t at = (size_t)(data[0] << 8 | data[1]) % size;
        if (data[2]) {
            text[at] = (char)data[2];
        } else if (size > 1) {
            memmove(text + at, text + at + 1, size - at - 1);
            size--;
        }
    }
    return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char text[4096];
    if (size < 2) {
        return 0;
    }
    const uint32_t count = 1 + data[1] % MOST_RECORDS;
    weft_receipt *receipt = make(count);
    if (data[0] % 2) {
        read((const char *)data + 2, size - 2, receipt);
    } else if (size > 2) {
        const char *proof = weft_receipt_proof(receipt, data[2] % count);
        fuzz_expect(proof && strlen(proof) < sizeof text);
        strcpy(text, proof);
        read(text, edit(text, strlen(text), data + 3, size - 3), receipt);
    }
    weft_receipt_destroy(&receipt);
    return 0;
}
