/* SPDX-License-Identifier: MIT */
/* Any bytes as a receipt: what is read is what is written of it, no record is out of its place, and memory is a multiple of the file's size. */
#include <string.h>

#include <weft/receipt.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t left;
    const size_t memory = 16 * size + ((size_t)64 << 10);
    const weft_host host = fuzz_small_host(&left, memory);
    weft_receipt *receipt = NULL;
    weft_receipt *again = NULL;
    const weft_status status = weft_receipt_read(&receipt, (const char *)data, size, &host);
    fuzz_expect((status == WEFT_OK) == (receipt != NULL) && status != WEFT_OUT_OF_HOST_MEMORY);
    if (!receipt) {
        fuzz_expect(left == memory);
        return 0;
    }
    weft_record_info record;
    uint32_t runs = 0;
    for (uint32_t i = 0; weft_receipt_get_record(receipt, i, &record) == WEFT_OK; i++) {
        fuzz_expect(strlen(record.chain) == 64 && record.name && record.type);
        const bool of_run = record.kind >= WEFT_RECORD_INPUT && record.kind <= WEFT_RECORD_OUTPUT;
        fuzz_expect(record.kind >= WEFT_RECORD_RUN || runs == 0);
        fuzz_expect(runs > 0 || !(of_run || record.kind == WEFT_RECORD_ROWS));
        runs += record.kind == WEFT_RECORD_RUN;
    }
    const char *json = weft_receipt_json(receipt);
    fuzz_expect(json && weft_receipt_read(&again, json, strlen(json), &host) == WEFT_OK);
    uint32_t first = 0;
    fuzz_expect(weft_receipt_compare(&first, receipt, again) == WEFT_OK && first == UINT32_MAX);
    weft_receipt_destroy(&again);
    weft_receipt_destroy(&receipt);
    fuzz_expect(left == memory);
    return 0;
}
