/* SPDX-License-Identifier: MIT */
/* Receipts: a list of records, each chained to the one before it. */
#ifndef WEFT_MODEL_RECEIPT_H
#define WEFT_MODEL_RECEIPT_H

#include <weft/receipt.h>

#include "core/formats/json.h"
#include "core/hash.h"
#include "core/host.h"
#include "core/text.h"

#define WEFT_RECEIPT_FORMAT "weft-receipt"
/** Version 2 has no root, and is read. */
#define WEFT_RECEIPT_VERSION 3
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
    char *json, *proof, *statement; /* or null */
    char root[WEFT_DIGEST_TEXT_SIZE];
};

/** An empty one. */
weft_status weft_receipt_begin(weft_receipt **receipt, const weft_host *host);

/** What others see of a record. */
void weft_record_get_info(weft_record_info *info, const struct weft_record *record);

/** The chain up to a record: of the chain before it, its kind, name, type and hash. */
weft_digest weft_record_chain(const weft_digest *before, const struct weft_record *record);
/** The chain so far: zeros before the first record. */
weft_digest weft_receipt_chain(const weft_receipt *receipt);

/** Appends a record; name and type are copied. `digest` may be null. Errors: WEFT_UNSUPPORTED when there are too many, or text that is no UTF-8. */
weft_status weft_receipt_add(weft_receipt *receipt, weft_record_kind kind, const char *name,
                             const char *type, const weft_digest *digest);

/** True if a text can stand in JSON as it is, and is short enough. */
bool weft_receipt_is_text(const char *text);

/** True if records of this kind have hashes. */
bool weft_record_has_digest(weft_record_kind kind);

/**
 * Requirement that a record of this kind violates at the receipt's current place, such as "a run before its inputs";
 * null if it violates none.
 */
const char *weft_record_misplaced(const weft_receipt *receipt, weft_record_kind kind);

/** weft_receipt.maker, of the other texts. */
weft_status weft_receipt_name_maker(weft_receipt *receipt);

/** An object's beginning: `{"kind": …, "name": …, "type": …`, and sha256 if it has one. */
void weft_record_write(struct weft_text *text, const struct weft_record *record);
/** `"name": "value"`. */
void weft_receipt_write_field(struct weft_text *text, const char *name, const char *value);

/** Fields of a stranger's document, checked. Texts are borrowed. */
weft_status weft_receipt_read_digest(weft_digest *digest, const weft_json_fields *fields,
                                     const char *name);
/** Kind, name and type, which are borrowed, and whether there is to be a hash. */
weft_status weft_record_read(struct weft_record *record, const weft_json_fields *fields);
/** Then sha256, if there is to be one. */
weft_status weft_record_read_digest(struct weft_record *record, const weft_json_fields *fields);
/** Refuses fields other than those of `names`, which ends with null: what no chain holds would be believed, too. */
weft_status weft_receipt_refuse_others(const weft_json_fields *fields, const char *const *names);
/** A digest of text that weft_is_digest_text takes. */
weft_digest weft_digest_of_text(const char *text);

/** Appends what a model is made of; without `hashed` the tensors of its file are named alone. */
weft_status weft_receipt_add_model(weft_receipt *receipt, const weft_model *model, bool hashed);

#endif
