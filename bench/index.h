/* SPDX-License-Identifier: MIT */
/* An index of results: which devices, drivers and math modes there are, and their rows beside each other. */
#ifndef WEFT_BENCH_INDEX_H
#define WEFT_BENCH_INDEX_H

#include <jansson.h>

#include "core/host.h"

/**
 * Reads all *.json in the folders of `folder`: reports of `weft bench` and records of `weft certify`. Gives
 *
 * {"machines": [{"name", "file": its first, "label", "cpu", "cores", "system", "memory", "governor", "energy_preference", "power_plan"}],
 *  "columns": [{"machine", "device", "driver"}], whose times stand below each other,
 *  "entries": [{"file", "href", "device", "driver", "type", "math", "column", "weft", "started", "certificate", "rows", "errors", "ran",
 *   "skipped", "cases", "failed", "mixing_rate_tokens_per_s"}],
 *  "cases": [{"suite", "case", "math", "sha256": in all modes but fast, that of most cells,
 *            "cells": [{"entry", "median_ms", "refused": the cell has another hash, "newest": of those of its column}]}]}
 *
 * with an entry for each file, device, driver and mode, in the order of their names; machines, columns and entries are known by their
 * places, and bench/machines.h says which machine a file is of. The last five of an entry are null of what is no record (the rate also
 * of records without), and `cases` has those that at least two cells are of. WEFT_BAD_FILE, WEFT_IO_ERROR and
 * WEFT_OUT_OF_HOST_MEMORY, logged with the path.
 */
weft_status weft_bench_index_read(json_t **index, const char *folder, const weft_host *host);

/** The same of these files, each of which is of a machine of its own; `href` is null. */
weft_status weft_bench_index_read_files(json_t **index, const char *const *paths, uint32_t count,
                                        const weft_host *host);

/** Prints the entries, and with bench/ratios.h's ratios these, as a page in Markdown. */
int weft_bench_index_print(const json_t *index);

#endif
