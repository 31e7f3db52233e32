/* SPDX-License-Identifier: MIT */
#include "model/receipts/receipt.h"

#include <stdio.h>
#include <string.h>

#include "core/given.h"
#include "core/try.h"
#include "model/receipts/port_type.h"

static const char *const kinds[] = {[WEFT_RECORD_SETTING] = "setting",
                                    [WEFT_RECORD_CONFIG] = "config",
                                    [WEFT_RECORD_TOKENIZER] = "tokenizer",
                                    [WEFT_RECORD_TENSOR] = "tensor",
                                    [WEFT_RECORD_RUN] = "run",
                                    [WEFT_RECORD_INPUT] = "input",
                                    [WEFT_RECORD_VALUE] = "value",
                                    [WEFT_RECORD_OUTPUT] = "output",
                                    [WEFT_RECORD_DATA] = "data",
                                    [WEFT_RECORD_ROWS] = "rows",
                                    [WEFT_RECORD_ANSWER] = "answer"};

const char *weft_record_kind_name(weft_record_kind kind) {
    return (unsigned)kind < sizeof kinds / sizeof *kinds ? kinds[kind] : "unknown";
}

bool weft_record_has_digest(weft_record_kind kind) {
    return kind != WEFT_RECORD_SETTING && kind != WEFT_RECORD_RUN;
}

/* Settings and the model come before all runs, and what belongs to a run behind its record. */
const char *weft_record_misplaced(const weft_receipt *receipt, weft_record_kind kind) {
    const bool of_run = kind > WEFT_RECORD_RUN && kind <= WEFT_RECORD_OUTPUT;
    if (kind < WEFT_RECORD_RUN && receipt->runs > 0) {
        return "a record of a run, behind the first run";
    }
    return (of_run || kind == WEFT_RECORD_ROWS) && receipt->runs == 0
               ? "a run before its inputs, values, outputs and rows"
               : NULL;
}

/* ---- records ---- */

weft_status weft_receipt_begin(weft_receipt **receipt, const weft_host *host) {
    weft_receipt *made = weft_alloc_zero(host, 1, sizeof *made);
    if (!made) {
        return weft_fail_memory(host, "a receipt");
    }
    made->host = host ? *host : (weft_host){0};
    *receipt = made;
    return WEFT_OK;
}

void weft_receipt_destroy(weft_receipt **address) {
    WEFT_ENTER;
    weft_receipt *receipt = address ? *address : NULL;
    if (!receipt) {
        return;
    }
    const weft_host host = receipt->host;
    for (uint32_t i = 0; i < receipt->count; i++) {
        weft_free(&host, receipt->records[i].name);
        weft_free(&host, receipt->records[i].type);
    }
    char *const texts[] = {receipt->version,        receipt->device_name, receipt->driver,
                           receipt->driver_version, receipt->maker,       receipt->json,
                           receipt->proof,          receipt->statement};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        weft_free(&host, texts[i]);
    }
    weft_free(&host, receipt->records);
    weft_free(&host, receipt);
    *address = NULL;
}

weft_digest weft_record_chain(const weft_digest *before, const struct weft_record *record) {
    const char *const kind = weft_record_kind_name(record->kind);
    weft_sha256 hash;
    weft_sha256_begin(&hash);
    weft_sha256_add(&hash, before->bytes, sizeof before->bytes);
    weft_sha256_add(&hash, kind, strlen(kind) + 1);
    weft_sha256_add(&hash, record->name, strlen(record->name) + 1);
    weft_sha256_add(&hash, record->type, strlen(record->type) + 1);
    if (record->has_digest) {
        weft_sha256_add(&hash, record->digest.bytes, sizeof record->digest.bytes);
    }
    return weft_sha256_end(&hash);
}

weft_digest weft_receipt_chain(const weft_receipt *receipt) {
    return receipt->count > 0 ? receipt->records[receipt->count - 1].chain : (weft_digest){0};
}

bool weft_receipt_is_text(const char *text) {
    json_t *string = strlen(text) <= WEFT_RECEIPT_MAX_NAME ? json_string(text) : NULL;
    json_decref(string);
    return string != NULL;
}

weft_status weft_receipt_add(weft_receipt *receipt, weft_record_kind kind, const char *name,
                             const char *type, const weft_digest *digest) {
    const weft_host *host = &receipt->host;
    if (!weft_receipt_is_text(name) || !weft_receipt_is_text(type)) {
        return weft_fail(host, WEFT_UNSUPPORTED,
                         "a receipt: the %s '%.200s' is not UTF-8, or too long",
                         weft_record_kind_name(kind), name);
    }
    receipt->text_size += strlen(name) + strlen(type) + 192; /* with hashes and the fields' names */
    if (receipt->count >= WEFT_RECEIPT_MAX_RECORDS || receipt->text_size > WEFT_RECEIPT_MAX_TEXT) {
        return weft_fail(host, WEFT_UNSUPPORTED,
                         "a receipt has room for %u records, or %zu MiB: record fewer runs, or "
                         "fewer checkpoints",
                         WEFT_RECEIPT_MAX_RECORDS, WEFT_RECEIPT_MAX_TEXT >> 20);
    }
    receipt->runs += kind == WEFT_RECORD_RUN;
    struct weft_record record = {.kind = kind,
                                 .run = receipt->runs > 0 ? receipt->runs - 1 : 0,
                                 .name = weft_strdup(host, name),
                                 .type = weft_strdup(host, type),
                                 .has_digest = digest != NULL};
    if (!record.name || !record.type ||
        !weft_grow(host, &receipt->records, receipt->count, &receipt->capacity,
                   sizeof *receipt->records)) {
        weft_free(host, record.name);
        weft_free(host, record.type);
        return weft_fail_memory(host, "a receipt");
    }
    record.digest = digest ? *digest : (weft_digest){0};
    const weft_digest before = weft_receipt_chain(receipt);
    record.chain = weft_record_chain(&before, &record);
    if (receipt->count == 0 && kind == WEFT_RECORD_SETTING && strcmp(name, "command") == 0) {
        receipt->command = record.type;
    }
    receipt->records[receipt->count++] = record;
    return WEFT_OK;
}

/* ---- making one ---- */

weft_status weft_receipt_name_maker(weft_receipt *receipt) {
    receipt->maker = weft_format(&receipt->host, "%s, %s %s, Weft %s", receipt->device_name,
                                 receipt->driver, receipt->driver_version, receipt->version);
    return receipt->maker ? WEFT_OK : weft_fail_memory(&receipt->host, "a receipt");
}

static weft_status describe(weft_receipt *receipt, const weft_device *device) {
    const weft_host *host = &receipt->host;
    weft_device_info info;
    WEFT_TRY(weft_device_get_info(device, &info));
    receipt->version = weft_strdup(host, weft_version());
    receipt->device_name = weft_strdup(host, info.name);
    receipt->driver = weft_strdup(host, info.driver);
    receipt->driver_version = weft_strdup(host, info.driver_version);
    if (!receipt->version || !receipt->device_name || !receipt->driver ||
        !receipt->driver_version) {
        return weft_fail_memory(host, "a receipt");
    }
    return weft_receipt_name_maker(receipt);
}

static weft_status start(weft_receipt *receipt, const weft_device *device,
                         const weft_receipt_params *params) {
    char bits[16];
    snprintf(bits, sizeof bits, "%d", WEFT_BITS_VERSION);
    receipt->device = device;
    WEFT_TRY(describe(receipt, device));
    if (params->command) {
        WEFT_TRY(weft_receipt_add(receipt, WEFT_RECORD_SETTING, "command", params->command, NULL));
    }
    WEFT_TRY(weft_receipt_add(receipt, WEFT_RECORD_SETTING, "bits", bits, NULL));
    WEFT_TRY(weft_receipt_add(receipt, WEFT_RECORD_SETTING, "math",
                              weft_math_name(weft_device_get_math(device)), NULL));
    WEFT_TRY(weft_receipt_add(receipt, WEFT_RECORD_SETTING, "weights",
                              weft_weight_storage_name(device->weight_storage), NULL));
    return params->model ? weft_receipt_add_model(receipt, params->model, !params->for_opening)
                         : WEFT_OK;
}

weft_status weft_receipt_create(weft_receipt **out, weft_device *device,
                                const weft_receipt_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN_AS(WEFT_HOST_OF(device, host), "receipt, device", out, device);
    if (weft_device_get_math(device) == WEFT_MATH_FAST) {
        return weft_fail(&device->host, WEFT_UNSUPPORTED,
                         "a receipt needs reproducible math: the bits of fast mode are the "
                         "device's choice");
    }
    const weft_receipt_params none = {0};
    weft_receipt *receipt = NULL;
    WEFT_TRY(weft_receipt_begin(&receipt, &device->host));
    const weft_status status = start(receipt, device, params ? params : &none);
    if (status == WEFT_OK) {
        *out = receipt;
    } else {
        weft_receipt_destroy(&receipt);
    }
    return status;
}

/* ---- runs ---- */

static const void *data_of(const char *name, const weft_host_tensor *tensors, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(tensors[i].name, name) == 0) {
            return tensors[i].data;
        }
    }
    return NULL;
}

void weft_receipt_port_type(char type[WEFT_PORT_TYPE_SIZE], const struct weft_port *port,
                            const struct weft_row_lengths *rows) {
    char shape[WEFT_SHAPE_TEXT_SIZE];
    snprintf(type, WEFT_PORT_TYPE_SIZE, "%s %s%s", weft_dtype_name(port->dtype),
             weft_shape_text(port->shape, shape),
             weft_rows_apply(rows, port) ? " before lengths" : "");
}

static weft_status add_port(weft_receipt *receipt, const weft_plan *plan, uint32_t index,
                            const void *data, const struct weft_row_lengths *rows) {
    const struct weft_port *port = &plan->ports[index];
    const bool checkpoint = index >= plan->port_count - plan->checkpoint_count;
    if (checkpoint && weft_rows_hide(rows, port)) {
        return WEFT_OK;
    }
    char type[WEFT_PORT_TYPE_SIZE];
    weft_receipt_port_type(type, port, rows);
    weft_digest digest;
    WEFT_TRY(weft_plan_port_digest(&digest, plan, index, data, rows));
    return weft_receipt_add(receipt,
                            checkpoint        ? WEFT_RECORD_VALUE
                            : port->is_output ? WEFT_RECORD_OUTPUT
                                              : WEFT_RECORD_INPUT,
                            port->name, type, &digest);
}

/* Inputs, checkpoints, outputs, in the order in which they came to be: the first `most` of these. */
static weft_status add_ports(weft_receipt *receipt, const weft_plan *plan,
                             const weft_host_tensor *tensors, uint32_t count, size_t most) {
    struct weft_row_lengths rows;
    WEFT_TRY(weft_plan_find_lengths(&rows, plan, tensors, count));
    const uint32_t checkpoints = plan->port_count - plan->checkpoint_count;
    uint32_t outputs = 0;
    while (outputs < checkpoints && !plan->ports[outputs].is_output) {
        outputs++;
    }
    const uint32_t stretches[3][2] = {
        {0, outputs}, {checkpoints, plan->port_count}, {outputs, checkpoints}};
    for (size_t i = 0; i < most; i++) {
        for (uint32_t k = stretches[i][0]; k < stretches[i][1]; k++) {
            const void *data = data_of(plan->ports[k].name, tensors, count);
            WEFT_TRY(add_port(receipt, plan, k, data, &rows));
        }
    }
    return WEFT_OK;
}

weft_status weft_receipt_execute(weft_receipt *receipt, weft_plan *plan,
                                 const weft_host_tensor *tensors, uint32_t count) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(receipt, host), receipt, plan);
    WEFT_GIVEN_LIST(WEFT_HOST_OF(receipt, host), tensors, count);
    static const char *const kept[] = {"none", "layers", "nodes"};
    if (receipt->device != plan->device) {
        return weft_fail(&receipt->host, WEFT_INVALID_ARGUMENT,
                         "weft_receipt_execute: the receipt is of %s, the plan of another device",
                         receipt->maker);
    }
    char run[16];
    snprintf(run, sizeof run, "%u", receipt->runs);
    const bool runs = plan->opening != WEFT_OPENING_ONLY;
    WEFT_TRY(runs ? weft_plan_execute(plan, tensors, count)
                  : weft_plan_check_tensors(plan, tensors, count));
    WEFT_TRY(weft_receipt_add(receipt, WEFT_RECORD_RUN, run, kept[plan->checkpoints], NULL));
    return add_ports(receipt, plan, tensors, count, runs ? 3 : 1);
}

/* ---- what is not of runs ---- */

static weft_status check_note(const weft_receipt *receipt, weft_record_kind kind, const char *name,
                              size_t size) {
    const bool may =
        kind == WEFT_RECORD_SETTING || (kind >= WEFT_RECORD_DATA && kind <= WEFT_RECORD_ANSWER);
    const char *misplaced = weft_record_misplaced(receipt, kind);
    if (!receipt->device) {
        return weft_fail(&receipt->host, WEFT_INVALID_ARGUMENT,
                         "weft_receipt_note: the receipt was read, and is done");
    }
    if (!may || misplaced) {
        return weft_fail(&receipt->host, WEFT_INVALID_ARGUMENT,
                         "weft_receipt_note: %.200s: expected %s, found the kind %s", name,
                         misplaced ? misplaced : "setting, data, rows or answer",
                         weft_record_kind_name(kind));
    }
    return kind != WEFT_RECORD_SETTING || size == 0
               ? WEFT_OK
               : weft_fail(&receipt->host, WEFT_INVALID_ARGUMENT,
                           "weft_receipt_note: %.200s: expected no bytes of a setting, found %zu",
                           name, size);
}

weft_status weft_receipt_note(weft_receipt *receipt, weft_record_kind kind, const char *name,
                              const char *type, const void *data, size_t size) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(receipt, host), receipt, name, type);
    WEFT_GIVEN_LIST(&receipt->host, data, size);
    WEFT_TRY(check_note(receipt, kind, name, size));
    weft_tree_hash hash;
    weft_tree_hash_begin(&hash);
    if (size > 0) {
        weft_tree_hash_add(&hash, data, size);
    }
    const weft_digest digest = weft_tree_hash_end(&hash);
    return weft_receipt_add(receipt, kind, name, type,
                            weft_record_has_digest(kind) ? &digest : NULL);
}

/* ---- looking into them ---- */

const char *weft_receipt_command(const weft_receipt *receipt) {
    return receipt ? receipt->command : NULL;
}

const char *weft_receipt_maker(const weft_receipt *receipt) {
    return receipt ? receipt->maker : NULL;
}

void weft_record_get_info(weft_record_info *info, const struct weft_record *record) {
    *info = (weft_record_info){
        .kind = record->kind, .run = record->run, .name = record->name, .type = record->type};
    if (record->has_digest) {
        weft_digest_text(&record->digest, info->sha256);
    }
    weft_digest_text(&record->chain, info->chain);
}

weft_status weft_receipt_get_record(const weft_receipt *receipt, uint32_t index,
                                    weft_record_info *info) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(receipt, host), receipt, info);
    if (index >= receipt->count) {
        return WEFT_NOT_FOUND;
    }
    weft_record_get_info(info, &receipt->records[index]);
    return WEFT_OK;
}

weft_status weft_receipt_compare(uint32_t *index, const weft_receipt *receipt,
                                 const weft_receipt *other) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(receipt, host), index, receipt, other);
    uint32_t same = 0; /* so many records are the same … */
    uint32_t end = receipt->count < other->count ? receipt->count : other->count;
    const uint32_t shorter = end;
    while (same < end) { /* … and so many at most */
        const uint32_t middle = same + (end - same) / 2;
        if (memcmp(&receipt->records[middle].chain, &other->records[middle].chain,
                   sizeof(weft_digest)) == 0) {
            same = middle + 1;
        } else {
            end = middle;
        }
    }
    *index = same == shorter && receipt->count == other->count ? UINT32_MAX : same;
    return WEFT_OK;
}
