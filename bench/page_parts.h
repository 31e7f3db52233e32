/* SPDX-License-Identifier: MIT */
/* The files of bench/page and Chart.js, embedded by cmake/WeftPage.cmake. */
#ifndef WEFT_BENCH_PAGE_PARTS_H
#define WEFT_BENCH_PAGE_PARTS_H

#include <stddef.h>

typedef struct weft_page_part {
    const char *name; /* of the file, "page.css"; Chart.js is "chart.js" */
    const char *text;
    size_t size; /* without the zero behind the text */
} weft_page_part;

extern const weft_page_part weft_page_parts[];
extern const size_t weft_page_part_count;

#endif
