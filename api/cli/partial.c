/* SPDX-License-Identifier: MIT */
#include "partial.h"

#include <string.h>

#include <weft/receipt.h>

#include "core/formats/json.h"
#include "core/system/file.h"
#include "core/system/system.h"
#include "core/try.h"

#define FORM 1 /* of the file */

static char *name_of(const char *path, const weft_host *host) {
    return weft_format(host, "%s.resume", path);
}

/* ---- what rows are bound to ---- */

static void hash_text(char digest[WEFT_DIGEST_TEXT_SIZE], const char *text) {
    const weft_digest found = weft_digest_of(text, strlen(text));
    weft_digest_text(&found, digest);
}

/* The chain behind the last record that stands before all runs. */
static weft_status bind_model(weft_cli_partial *partial, const weft_cli_session *session) {
    weft_receipt *receipt = NULL;
    const weft_receipt_params params = {.model = session->model};
    WEFT_TRY(weft_receipt_create(&receipt, session->device, &params));
    weft_record_info record;
    for (uint32_t i = 0; weft_receipt_get_record(receipt, i, &record) == WEFT_OK; i++) {
        memcpy(partial->model, record.chain, sizeof partial->model);
    }
    weft_receipt_destroy(&receipt);
    return WEFT_OK;
}

int weft_cli_partial_bind(weft_cli_partial *partial, const char *prompt,
                          const weft_cli_session *session) {
    hash_text(partial->prompt, prompt ? prompt : "");
    return weft_cli_exit_code(bind_model(partial, session));
}

/* ---- writing ---- */

static weft_status write_text(const weft_cli_partial *partial, const char *name,
                              const weft_host *host) {
    json_t *object = json_pack("{s:i, s:I, s:I, s:s, s:s, s:s, s:s}", "resume", FORM, "count",
                               (json_int_t)partial->count, "width", (json_int_t)partial->width,
                               "model", partial->model, "prompt", partial->prompt, "inputs",
                               partial->inputs, "rows", partial->rows);
    char *text = weft_json_text(object, JSON_INDENT(2), host);
    json_decref(object);
    const weft_status status =
        text ? weft_file_write(name, text, strlen(text), host) : weft_fail_memory(host, name);
    weft_free(host, text);
    return status;
}

int weft_cli_partial_write(const weft_cli_partial *partial, const char *path,
                           const weft_host *host) {
    char *name = name_of(path, host);
    const weft_status status =
        name ? write_text(partial, name, host) : weft_fail_memory(host, path);
    weft_free(host, name);
    return weft_cli_exit_code(status);
}

void weft_cli_partial_remove(const char *path, const weft_host *host) {
    char *name = name_of(path, host);
    if (name) {
        (void)weft_system_remove(name);
    }
    weft_free(host, name);
}

/* ---- reading ---- */

static weft_status read_digest(char digest[WEFT_DIGEST_TEXT_SIZE], const weft_json_fields *fields,
                               const char *name) {
    const char *text = NULL;
    WEFT_TRY(weft_json_string(&text, fields, name));
    if (!weft_is_digest_text(text, strlen(text))) {
        return weft_json_fail(fields, WEFT_BAD_FILE, name, "a SHA-256 in hexadecimal",
                              json_object_get(fields->object, name));
    }
    memcpy(digest, text, WEFT_DIGEST_TEXT_SIZE);
    return WEFT_OK;
}

static weft_status read_fields(weft_cli_partial *found, const weft_json_fields *fields) {
    int64_t form = 0, count = 0, width = 0;
    WEFT_TRY(weft_json_integer(&form, fields, "resume", FORM, FORM));
    WEFT_TRY(weft_json_integer(&count, fields, "count", 1, UINT32_MAX));
    WEFT_TRY(weft_json_integer(&width, fields, "width", 1, UINT32_MAX));
    found->count = (uint32_t)count;
    found->width = (uint32_t)width;
    WEFT_TRY(read_digest(found->model, fields, "model"));
    WEFT_TRY(read_digest(found->prompt, fields, "prompt"));
    WEFT_TRY(read_digest(found->inputs, fields, "inputs"));
    return read_digest(found->rows, fields, "rows");
}

static weft_status check_digest(const char *found, const char *expected, const char *name,
                                const char *field, const weft_host *host) {
    return strcmp(found, expected) == 0
               ? WEFT_OK
               : weft_fail(host, WEFT_BAD_FILE,
                           "%s: field \"%s\": expected %s, found %s: the rows are not of this "
                           "command",
                           name, field, expected, found);
}

static weft_status read_text(weft_cli_partial *found, const char *name,
                             const weft_cli_partial *expected, const weft_host *host) {
    weft_json_fields fields = {.path = name, .host = host};
    json_t *object = NULL;
    WEFT_TRY(weft_json_read(&object, name, host));
    fields.object = object;
    weft_status status = read_fields(found, &fields);
    json_decref(object);
    WEFT_TRY(status);
    if (found->width != expected->width) {
        return weft_fail(host, WEFT_BAD_FILE, "%s: field \"width\": expected %u, found %u", name,
                         expected->width, found->width);
    }
    WEFT_TRY(check_digest(found->model, expected->model, name, "model", host));
    return check_digest(found->prompt, expected->prompt, name, "prompt", host);
}

static weft_status read_if_there(weft_cli_partial *found, const char *path, const char *name,
                                 const weft_cli_partial *expected, const weft_host *host) {
    weft_file_facts facts;
    const bool has_text = weft_system_facts(&facts, name) == 0;
    if (!has_text && weft_system_facts(&facts, path) == 0) {
        return weft_fail(host, WEFT_BAD_FILE,
                         "%s: expected %s beside it, as a stopped command leaves it, found "
                         "nothing: the file is whole, or of another command",
                         path, name);
    }
    *found = *expected;
    return has_text ? read_text(found, name, expected, host) : WEFT_OK;
}

int weft_cli_partial_read(weft_cli_partial *found, const char *path,
                          const weft_cli_partial *expected, const weft_host *host) {
    char *name = name_of(path, host);
    const weft_status status =
        name ? read_if_there(found, path, name, expected, host) : weft_fail_memory(host, path);
    weft_free(host, name);
    return weft_cli_exit_code_of_file(status);
}
