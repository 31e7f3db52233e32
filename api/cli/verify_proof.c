/* SPDX-License-Identifier: MIT */
/* Proofs of single records, and receipts for other tools: no model, and no device. */
#include <string.h>

#include "core/system/file.h"
#include "eval/names.h"
#include "verification.h"

#define MOST_BYTES ((size_t)64 << 10) /* of a proof */

int weft_cli_print_proof(const verification *v) {
    const char *text = v->prove;
    uint64_t index = 0;
    const bool is_number = weft_cli_take_number(&index, &text) && *text == '\0';
    const char *proof =
        is_number && index < UINT32_MAX ? weft_receipt_proof(v->receipt, (uint32_t)index) : NULL;
    if (!proof) {
        return weft_cli_bad_file(&v->host, "%s: --prove: expected the number of a record, found %s",
                                 v->path, v->prove);
    }
    weft_cli_print_lines(stdout, proof);
    return WEFT_CLI_FINE;
}

int weft_cli_verify_proof(const verification *v) {
    uint8_t *bytes = NULL;
    size_t size = 0;
    weft_proof *proof = NULL;
    weft_proof_info info;
    WEFT_CLI_TRY(weft_cli_exit_code_of_file(
        weft_file_read_regular(&bytes, &size, MOST_BYTES, v->proof, &v->host)));
    weft_status status = weft_proof_read(&proof, (const char *)bytes, size, v->root, &v->host);
    weft_free(&v->host, bytes);
    WEFT_CLI_TRY(weft_cli_exit_code_of_file(status));
    status = weft_proof_get_info(proof, &info);
    if (status == WEFT_OK) {
        weft_cli_print(stdout, "%s: record %u of %u: %s '%s', %s%s%s\n", v->proof, info.index,
                       info.count, weft_record_kind_name(info.record.kind), info.record.name,
                       info.record.type, info.record.sha256[0] ? ", SHA-256 " : "",
                       info.record.sha256);
    }
    weft_proof_destroy(&proof);
    return weft_cli_exit_code(status);
}

static int write_form(const verification *v, const char *path, bool envelope) {
    int length; /* all that is left, as it is a file's */
    const char *name = weft_cli_last_part(v->path, &length); /* others know the file by it */
    const char *text = weft_receipt_statement(v->receipt, name, v->sha256, envelope);
    return weft_cli_exit_code(text ? weft_file_write(path, text, strlen(text), &v->host)
                                   : weft_fail_memory(&v->host, "a statement"));
}

int weft_cli_write_statement(const verification *v) {
    if (v->statement) {
        WEFT_CLI_TRY(write_form(v, v->statement, false));
    }
    return v->envelope ? write_form(v, v->envelope, true) : WEFT_CLI_FINE;
}
