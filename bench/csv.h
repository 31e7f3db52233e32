/* SPDX-License-Identifier: MIT */
/* The rows of a report as comma-separated values. */
#ifndef WEFT_BENCH_CSV_H
#define WEFT_BENCH_CSV_H

#include <jansson.h>

#include "core/host.h"
#include "core/text.h"

#define WEFT_BENCH_CSV_END "\r\n" /* of a line */

/**
 * Writes the rows of a report (schema 2) to a file by RFC 4180: lines end in CR LF, the first has the names of the
 * columns, and a field with a comma, a quote or the end of a line is quoted. The columns are the fields of the JSON in
 * its order and units, nested ones with their names joined (interval_low_ms, verified_by, …), the shape as 1x512x64, the rounds' times as 1.5;1.25;
 * what is null or not there is empty; the last column is the machine's label. Text is UTF-8. WEFT_IO_ERROR, WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_bench_csv_write(const char *path, const json_t *report, const weft_host *host);

/** Adds a value as a cell, quoted where it has to be; of a text no formula is made. Nothing of null. */
void weft_bench_csv_add_cell(struct weft_text *text, const json_t *value);

#endif
