/* SPDX-License-Identifier: MIT */
/* Any bytes as a receipt: what is read is what is written of it, and no record is out of its place. */
#include <string.h>

#include <weft/receipt.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const weft_host host = {0};
    weft_receipt *receipt = NULL;
    weft_receipt *again = NULL;
    const weft_status status = weft_receipt_read(&receipt, (const char *)data, size, &host);
    fuzz_expect((status == WEFT_OK) == (receipt != NULL));
    if (!receipt) {
        return 0;
    }
    weft_record_info record;
    weft_record_kind last = WEFT_RECORD_SETTING;
    for (uint32_t i = 0; weft_receipt_get_record(receipt, i, &record) == WEFT_OK; i++) {
        fuzz_expect(strlen(record.chain) == 64 && record.name && record.type);
        fuzz_expect(record.kind >= WEFT_RECORD_RUN || last < WEFT_RECORD_RUN);
        last = record.kind;
    }
    const char *json = weft_receipt_json(receipt);
    fuzz_expect(json && weft_receipt_read(&again, json, strlen(json), &host) == WEFT_OK);
    uint32_t first = 0;
    fuzz_expect(weft_receipt_compare(&first, receipt, again) == WEFT_OK && first == UINT32_MAX);
    weft_receipt_destroy(&again);
    weft_receipt_destroy(&receipt);
    return 0;
}
