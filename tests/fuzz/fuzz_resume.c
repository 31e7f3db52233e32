/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as what `weft embed --resume` finds: beside its rows, which are 2 of 3 values, it is refused, or it is of these or the first;
 * as sparse rows in JSON Lines, it is refused, or has the two of zeros that it is said to have.
 */
#include <stdio.h>
#include <string.h>

#include "fuzz.h"
#include "logits.h"
#include "rows.h"

#define MEMORY ((size_t)4 << 20)
#define ROWS   2
#define WIDTH  3

/* Made of 0, as a corpus can have it. */
static const char zeros[] = "0000000000000000000000000000000000000000000000000000000000000000";

static const char *write_rows(void) {
    char header[128];
    char file[128 + ROWS * WIDTH * sizeof(float)] = {0};
    memset(header, ' ', sizeof header);
    memcpy(header, "\x93NUMPY\x01\x00\x76\x00", 10);
    const char *fields = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
    memcpy(header + 10, fields, strlen(fields));
    header[127] = '\n';
    memcpy(file, header, sizeof header);
    return fuzz_write("rows.npy", file, sizeof file);
}

static const float values[ROWS * WIDTH];

static void try_sparse(const uint8_t *data, size_t size) {
    const weft_cli_row_form form = {.width = WIDTH, .sparse = true};
    size_t left = 0;
    const weft_host host = fuzz_small_host(&left, MEMORY);
    weft_cli_partial found = {.count = ROWS, .width = WIDTH};
    weft_cli_rows rows = {.is_open = false};
    weft_cli_digest(values, ROWS * WIDTH, found.rows);
    const char *path = fuzz_write("rows.jsonl", data, size);
    const int code = weft_cli_rows_reopen(&rows, path, &form, &found, &host);
    fuzz_expect(code != WEFT_CLI_FINE || (rows.count == ROWS && rows.end <= size));
    weft_cli_rows_close(&rows);
    fuzz_expect(left == MEMORY);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const weft_cli_row_form form = {.width = WIDTH};
    char digest[WEFT_DIGEST_TEXT_SIZE];
    size_t left = 0;
    const weft_host host = fuzz_small_host(&left, MEMORY);
    weft_cli_partial expected = {.width = WIDTH};
    weft_cli_partial found = {0};
    weft_cli_rows rows = {.is_open = false};
    memcpy(expected.model, zeros, sizeof zeros);
    memcpy(expected.prompt, zeros, sizeof zeros);
    (void)fuzz_write("rows.npy.resume", data, size);
    try_sparse(data, size);
    const char *path = write_rows();
    if (weft_cli_partial_read(&found, path, &expected, &host) == WEFT_CLI_FINE) {
        fuzz_expect(found.count > 0 && found.width == WIDTH);
        const int code = weft_cli_rows_reopen(&rows, path, &form, &found, &host);
        fuzz_expect((code == WEFT_CLI_FINE) ==
                    (found.count <= ROWS &&
                     strcmp(found.rows,
                            weft_cli_digest(values, (uint64_t)found.count * WIDTH, digest)) == 0));
        fuzz_expect(code != WEFT_CLI_FINE || rows.count == found.count);
        weft_cli_rows_close(&rows);
    }
    fuzz_expect(left == MEMORY);
    return 0;
}
