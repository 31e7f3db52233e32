/* SPDX-License-Identifier: MIT */
/* What `weft bench` found, as a page with plots for people: one HTML file that needs nothing else. */
#ifndef WEFT_BENCH_PAGE_H
#define WEFT_BENCH_PAGE_H

#include <jansson.h>

#include "core/host.h"

/**
 * Writes the page of a report (schema 2) to `path`, beside and renamed. `comparison` is what weft_bench_compare gave of an
 * earlier report and this one, or null. Both are borrowed; the page has them as they are, in the elements weft-report and
 * weft-comparison (`null` without one), reals with 12 digits and each '<' as \u003c so that no text in them can end its element.
 * Errors: WEFT_OUT_OF_HOST_MEMORY, and those of weft_file_write, logged with the path.
 */
weft_status weft_bench_page_write(const char *path, const json_t *report, const json_t *comparison,
                                  const weft_host *host);

/** The same of a record of `weft certify` (docs/certify.md), whose frame has no plots. */
weft_status weft_bench_certificate_page_write(const char *path, const json_t *record,
                                              const weft_host *host);

/** The same of an index of results (bench/index.h). */
weft_status weft_bench_index_page_write(const char *path, const json_t *index,
                                        const weft_host *host);

#endif
