/* SPDX-License-Identifier: MIT */
/* Files that `weft bench --out` wrote, read again. bench/schema.json describes them. */
#ifndef WEFT_BENCH_FILE_H
#define WEFT_BENCH_FILE_H

#include <jansson.h>

#include "core/host.h"

/**
 * Reads a report and checks that every field of its environment and rows that the command goes by is there and has its
 * type; the caller calls json_decref. WEFT_BAD_FILE, logged with file, field, what was expected and what was found, for
 * another version, too; WEFT_NOT_FOUND, WEFT_IO_ERROR, WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_bench_file_read(json_t **report, const char *path, const weft_host *host);

/** The same check of a report in memory; `name` stands for the file in messages. */
weft_status weft_bench_file_check(const json_t *report, const char *name, const weft_host *host);

/** Writes a report as JSON. WEFT_IO_ERROR, WEFT_OUT_OF_HOST_MEMORY (of a null report, too). */
weft_status weft_bench_file_write(const char *path, const json_t *report, const weft_host *host);

#endif
