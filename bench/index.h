/* SPDX-License-Identifier: MIT */
/* An index of results: which devices, drivers and math modes there are, and their rows beside each other. */
#ifndef WEFT_BENCH_INDEX_H
#define WEFT_BENCH_INDEX_H

#include <jansson.h>

#include "core/host.h"

/**
 * Reads all *.json in the folders of `folder`: reports of `weft bench` and records of `weft certify`. Gives
 *
 * {"entries": [{"file", "device", "driver", "type", "math", "weft", "started", "certificate", "rows", "errors", "tried", "cases", "failed",
 *   "mixing_rate_tokens_per_s"}],
 *  "cases": [{"suite", "case", "math", "sha256": in all modes but fast, that of most cells,
 *            "cells": [{"entry", "median_ms", "refused": the cell has another hash}]}]}
 *
 * with an entry for each file, device, driver and mode, in the order of their names. The last five are null of what is no record (the rate also of
 * records without), and `cases` has those that at least two entries timed. WEFT_BAD_FILE, WEFT_IO_ERROR and
 * WEFT_OUT_OF_HOST_MEMORY, logged with the path.
 */
weft_status weft_bench_index_read(json_t **index, const char *folder, const weft_host *host);

/** Prints the entries as a page in Markdown. */
int weft_bench_index_print(const json_t *index);

#endif
