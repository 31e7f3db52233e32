/* SPDX-License-Identifier: MIT */
/* Receipts: a list of records, each chained to the one before it. */
#ifndef WEFT_MODEL_RECEIPT_H
#define WEFT_MODEL_RECEIPT_H

#include <weft/receipt.h>

#include "core/hash.h"
#include "core/host.h"

#define WEFT_RECEIPT_FORMAT  "weft-receipt"
#define WEFT_RECEIPT_VERSION 2
/** So that the text stays within the limits of core/formats/json.h. */
#define WEFT_RECEIPT_MAX_RECORDS 20000U
#define WEFT_RECEIPT_MAX_TEXT    ((size_t)12 << 20)
/** Longest name and type. */
#define WEFT_RECEIPT_MAX_NAME ((size_t)4096)

struct weft_record {
    weft_record_kind kind;
    uint32_t run;
    char *name, *type;
    bool has_digest;
    weft_digest digest, chain;
};

struct weft_receipt {
    weft_host host;
    const weft_device *device; /* null: it was read. Never looked into, as it may be gone */
    struct weft_record *records;
    uint32_t count, capacity;
    uint32_t runs;
    size_t text_size; /* of names and types */
    char *version;    /* of Weft */
    char *device_name, *driver, *driver_version;
    const char *command; /* the type of its first record, or null */
    char *maker;
    char *json; /* or null */
};

/** An empty one. */
weft_status weft_receipt_begin(weft_receipt **receipt, const weft_host *host);

/** The chain up to a record: of the chain before it, its kind, name, type and hash. */
weft_digest weft_record_chain(const weft_digest *before, const struct weft_record *record);
/** The chain so far: zeros before the first record. */
weft_digest weft_receipt_chain(const weft_receipt *receipt);

/** Appends a record; name and type are copied. `digest` may be null. Errors: WEFT_UNSUPPORTED when there are too many, or text that is no UTF-8. */
weft_status weft_receipt_add(weft_receipt *receipt, weft_record_kind kind, const char *name,
                             const char *type, const weft_digest *digest);

/** True if records of this kind have hashes. */
bool weft_record_has_digest(weft_record_kind kind);

/**
 * Requirement that a record of this kind violates at the receipt's current place, such as "a run before its inputs";
 * null if it violates none.
 */
const char *weft_record_misplaced(const weft_receipt *receipt, weft_record_kind kind);

/** weft_receipt.maker, of the other texts. */
weft_status weft_receipt_name_maker(weft_receipt *receipt);

/** Appends what a model is made of. */
weft_status weft_receipt_add_model(weft_receipt *receipt, const weft_model *model);

#endif
