/* SPDX-License-Identifier: MIT */
/* Receipts as JSON. What is read is a stranger's: everything is checked before it is used. */
#include "model/receipts/receipt.h"

#include <stdio.h>
#include <string.h>

#include "core/given.h"
#include "core/try.h"

/* ---- writing ---- */

static void add_string(struct weft_text *text, const char *value) {
    json_t *string = weft_json_string_of(value, strlen(value), &text->host);
    char *quoted = string ? weft_json_text(string, JSON_ENCODE_ANY, &text->host) : NULL;
    json_decref(string);
    if (quoted) {
        weft_text_add(text, "%s", quoted);
    } else {
        weft_text_fail(text);
    }
    weft_free(&text->host, quoted);
}

void weft_receipt_write_field(struct weft_text *text, const char *name, const char *value) {
    weft_text_add(text, "\"%s\": ", name);
    add_string(text, value);
}

void weft_record_write(struct weft_text *text, const struct weft_record *record) {
    char hash[WEFT_DIGEST_TEXT_SIZE];
    weft_text_add(text, "{\"kind\": \"%s\", ", weft_record_kind_name(record->kind));
    weft_receipt_write_field(text, "name", record->name);
    weft_text_add(text, ", ");
    weft_receipt_write_field(text, "type", record->type);
    if (record->has_digest) {
        weft_text_add(text, ",\n     \"sha256\": \"%s\"", weft_digest_text(&record->digest, hash));
    }
}

static void add_record(struct weft_text *text, const struct weft_record *record, bool last) {
    char hash[WEFT_DIGEST_TEXT_SIZE];
    weft_text_add(text, "    ");
    weft_record_write(text, record);
    weft_text_add(text, ",\n     \"chain\": \"%s\"}%s\n", weft_digest_text(&record->chain, hash),
                  last ? "" : ",");
}

const char *weft_receipt_json(weft_receipt *receipt) {
    WEFT_ENTER;
    const char *root = weft_receipt_root(receipt);
    if (!root) {
        return NULL;
    }
    struct weft_text text = {.host = receipt->host};
    weft_text_add(&text, "{\n  \"format\": \"%s\", \"version\": %d,\n  \"root\": \"%s\",\n  ",
                  WEFT_RECEIPT_FORMAT, WEFT_RECEIPT_VERSION, root);
    weft_receipt_write_field(&text, "weft", receipt->version);
    weft_text_add(&text, ",\n  \"device\": {");
    weft_receipt_write_field(&text, "name", receipt->device_name);
    weft_text_add(&text, ", ");
    weft_receipt_write_field(&text, "driver", receipt->driver);
    weft_text_add(&text, ", ");
    weft_receipt_write_field(&text, "driver_version", receipt->driver_version);
    weft_text_add(&text, "},\n  \"records\": [\n");
    for (uint32_t i = 0; i < receipt->count; i++) {
        add_record(&text, &receipt->records[i], i + 1 == receipt->count);
    }
    weft_text_add(&text, "  ]\n}\n");
    weft_free(&receipt->host, receipt->json);
    receipt->json = weft_text_take(&text);
    return receipt->json;
}

/* ---- reading ---- */

static const char source[] = "the receipt";

/* A text of a field, as long as a receipt may have it. */
static weft_status read_text(char **text, const weft_json_fields *fields, const char *name) {
    const char *value = NULL;
    WEFT_TRY(weft_json_string(&value, fields, name));
    if (strlen(value) > WEFT_RECEIPT_MAX_NAME) {
        return weft_json_fail(fields, WEFT_BAD_FILE, name, "a text of at most 4096 bytes",
                              json_object_get(fields->object, name));
    }
    *text = weft_strdup(fields->host, value);
    return *text ? WEFT_OK : weft_fail_memory(fields->host, source);
}

static unsigned digit(char character) {
    return (unsigned)(character <= '9' ? character - '0' : character - 'a' + 10);
}

weft_digest weft_digest_of_text(const char *text) {
    weft_digest digest;
    for (size_t i = 0; i < sizeof digest.bytes; i++) {
        digest.bytes[i] = (uint8_t)(digit(text[2 * i]) << 4 | digit(text[2 * i + 1]));
    }
    return digest;
}

weft_status weft_receipt_read_digest(weft_digest *digest, const weft_json_fields *fields,
                                     const char *name) {
    const char *text = NULL;
    WEFT_TRY(weft_json_string(&text, fields, name));
    if (!weft_is_digest_text(text, strlen(text))) {
        return weft_json_fail(fields, WEFT_BAD_FILE, name, "64 lower-case hexadecimal digits",
                              json_object_get(fields->object, name));
    }
    *digest = weft_digest_of_text(text);
    return WEFT_OK;
}

static weft_status read_kind(weft_record_kind *kind, const weft_json_fields *fields) {
    const char *text = NULL;
    WEFT_TRY(weft_json_string(&text, fields, "kind"));
    for (int i = WEFT_RECORD_SETTING; i <= WEFT_RECORD_ANSWER; i++) {
        if (strcmp(weft_record_kind_name((weft_record_kind)i), text) == 0) {
            *kind = (weft_record_kind)i;
            return WEFT_OK;
        }
    }
    return weft_json_fail(fields, WEFT_BAD_FILE, "kind",
                          "setting, config, tokenizer, tensor, run, input, value, output, data, "
                          "rows or answer",
                          json_object_get(fields->object, "kind"));
}

static weft_status check_place(const weft_receipt *receipt, weft_record_kind kind,
                               const weft_json_fields *fields, const char *name) {
    const char *misplaced = weft_record_misplaced(receipt, kind);
    if (misplaced) {
        return weft_json_fail(fields, WEFT_BAD_FILE, "kind", misplaced,
                              json_object_get(fields->object, "kind"));
    }
    char number[16];
    snprintf(number, sizeof number, "%u", receipt->runs);
    return kind != WEFT_RECORD_RUN || strcmp(name, number) == 0
               ? WEFT_OK
               : weft_json_fail(fields, WEFT_BAD_FILE, "name", "runs that are counted from 0",
                                json_object_get(fields->object, "name"));
}

weft_status weft_receipt_refuse_others(const weft_json_fields *fields, const char *const *names) {
    const char *found = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)(uintptr_t)fields->object, found, value) {
        const char *const *name = names;
        while (*name && strcmp(*name, found) != 0) {
            name++;
        }
        if (!*name) {
            return weft_json_fail(fields, WEFT_BAD_FILE, found, "no such field in a receipt",
                                  value);
        }
    }
    return WEFT_OK;
}

weft_status weft_record_read(struct weft_record *record, const weft_json_fields *fields) {
    const char *name = NULL;
    const char *type = NULL;
    *record = (struct weft_record){.kind = WEFT_RECORD_SETTING};
    WEFT_TRY(read_kind(&record->kind, fields));
    WEFT_TRY(weft_json_string(&name, fields, "name"));
    WEFT_TRY(weft_json_string(&type, fields, "type"));
    record->name = (char *)(uintptr_t)name; /* borrowed, and not written to */
    record->type = (char *)(uintptr_t)type;
    record->has_digest = weft_record_has_digest(record->kind);
    return WEFT_OK;
}

weft_status weft_record_read_digest(struct weft_record *record, const weft_json_fields *fields) {
    if (record->has_digest) {
        return weft_receipt_read_digest(&record->digest, fields, "sha256");
    }
    return !weft_json_has(fields, "sha256")
               ? WEFT_OK
               : weft_json_fail(fields, WEFT_BAD_FILE, "sha256",
                                "none in a record of a setting or a run",
                                json_object_get(fields->object, "sha256"));
}

static weft_status read_record(weft_receipt *receipt, const weft_json_fields *fields) {
    static const char *const names[] = {"kind", "name", "type", "sha256", "chain", NULL};
    struct weft_record record;
    weft_digest chain;
    WEFT_TRY(weft_receipt_refuse_others(fields, names));
    WEFT_TRY(weft_record_read(&record, fields));
    WEFT_TRY(check_place(receipt, record.kind, fields, record.name));
    WEFT_TRY(weft_record_read_digest(&record, fields));
    WEFT_TRY(weft_receipt_read_digest(&chain, fields, "chain"));
    WEFT_TRY(weft_receipt_add(receipt, record.kind, record.name, record.type,
                              record.has_digest ? &record.digest : NULL));
    const weft_digest follows = weft_receipt_chain(receipt);
    return memcmp(&follows, &chain, sizeof chain) == 0
               ? WEFT_OK
               : weft_json_fail(fields, WEFT_BAD_FILE, "chain",
                                "what follows from this record and those before it",
                                json_object_get(fields->object, "chain"));
}

static weft_status read_records(weft_receipt *receipt, const weft_json_fields *fields) {
    const json_t *list = json_object_get(fields->object, "records");
    if (!json_is_array(list) || json_array_size(list) == 0 ||
        json_array_size(list) > WEFT_RECEIPT_MAX_RECORDS) {
        return weft_json_fail(fields, WEFT_BAD_FILE, "records", "an array of 1 to 20000 records",
                              list);
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        char path[64];
        snprintf(path, sizeof path, "%s: record %zu", source, i);
        const weft_json_fields record = {
            .object = json_array_get(list, i), .path = path, .host = fields->host};
        if (!json_is_object(record.object)) {
            return weft_json_fail(fields, WEFT_BAD_FILE, "records", "an array of objects",
                                  record.object);
        }
        WEFT_TRY(read_record(receipt, &record));
    }
    return WEFT_OK;
}

static weft_status read_device(weft_receipt *receipt, const weft_json_fields *fields) {
    static const char *const names[] = {"name", "driver", "driver_version", NULL};
    const weft_json_fields device = {.object = json_object_get(fields->object, "device"),
                                     .path = "the receipt: device",
                                     .host = fields->host};
    if (!json_is_object(device.object)) {
        return weft_json_fail(fields, WEFT_BAD_FILE, "device", "an object", device.object);
    }
    WEFT_TRY(weft_receipt_refuse_others(&device, names));
    WEFT_TRY(read_text(&receipt->device_name, &device, "name"));
    WEFT_TRY(read_text(&receipt->driver, &device, "driver"));
    return read_text(&receipt->driver_version, &device, "driver_version");
}

/* Version 2 is the same without a root. */
static weft_status check_version(const weft_json_fields *fields) {
    int64_t version = 0;
    WEFT_TRY(weft_json_integer(&version, fields, "version", 1, INT32_MAX));
    if (version != WEFT_RECEIPT_VERSION && version != 2) {
        return weft_json_fail(fields, WEFT_UNSUPPORTED, "version",
                              version == 1
                                  ? "2 or 3: in version 1 not all was hashed that decides the "
                                    "answer, such as which line was which row; make the "
                                    "receipt again"
                                  : "2 or 3, which are all that this Weft knows",
                              json_object_get(fields->object, "version"));
    }
    return version == 2 && json_object_get(fields->object, "root")
               ? weft_json_fail(fields, WEFT_BAD_FILE, "root", "none in version 2",
                                json_object_get(fields->object, "root"))
               : WEFT_OK;
}

static weft_status check_root(weft_receipt *receipt, const weft_json_fields *fields) {
    weft_digest claimed;
    char text[WEFT_DIGEST_TEXT_SIZE];
    if (json_integer_value(json_object_get(fields->object, "version")) == 2) {
        return WEFT_OK;
    }
    WEFT_TRY(weft_receipt_read_digest(&claimed, fields, "root"));
    const char *root = weft_receipt_root(receipt);
    if (!root) {
        return weft_fail_memory(fields->host, source);
    }
    return strcmp(root, weft_digest_text(&claimed, text)) == 0
               ? WEFT_OK
               : weft_json_fail(fields, WEFT_BAD_FILE, "root", "what follows from the records",
                                json_object_get(fields->object, "root"));
}

static weft_status read_header(weft_receipt *receipt, const weft_json_fields *fields) {
    static const char *const names[] = {"format", "version", "root", "weft",
                                        "device", "records", NULL};
    const char *format = NULL;
    WEFT_TRY(weft_json_string(&format, fields, "format"));
    if (strcmp(format, WEFT_RECEIPT_FORMAT) != 0) {
        return weft_json_fail(fields, WEFT_BAD_FILE, "format", "\"" WEFT_RECEIPT_FORMAT "\"",
                              json_object_get(fields->object, "format"));
    }
    WEFT_TRY(check_version(fields));
    WEFT_TRY(weft_receipt_refuse_others(fields, names));
    WEFT_TRY(read_text(&receipt->version, fields, "weft"));
    WEFT_TRY(read_device(receipt, fields));
    return weft_receipt_name_maker(receipt);
}

static weft_status read_all(weft_receipt *receipt, const json_t *object) {
    const weft_json_fields fields = {.object = object, .path = source, .host = &receipt->host};
    WEFT_TRY(read_header(receipt, &fields));
    WEFT_TRY(read_records(receipt, &fields));
    return check_root(receipt, &fields);
}

weft_status weft_receipt_read(weft_receipt **out, const char *json, size_t size,
                              const weft_host *host) {
    WEFT_ENTER;
    WEFT_GIVEN_AS(host, "receipt, json", out, json);
    if (size > WEFT_JSON_MAX_BYTES) {
        return weft_fail(host, WEFT_BAD_FILE, "%s: expected at most 16 MiB, found %zu bytes",
                         source, size);
    }
    json_t *object = NULL;
    weft_receipt *receipt = NULL;
    WEFT_TRY(weft_json_parse(&object, json, size, source, host));
    weft_status status = weft_receipt_begin(&receipt, host);
    if (status == WEFT_OK) {
        status = read_all(receipt, object);
    }
    json_decref(object);
    if (status == WEFT_OK) {
        *out = receipt;
    } else {
        weft_receipt_destroy(&receipt);
    }
    return status;
}
