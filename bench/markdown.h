/* SPDX-License-Identifier: MIT */
/* Somebody else's text in a page of Markdown. */
#ifndef WEFT_BENCH_MARKDOWN_H
#define WEFT_BENCH_MARKDOWN_H

#include "core/text.h"

/** Adds text of which Markdown makes neither a link (of www. and addresses, too), nor a tag, nor emphasis, nor the end of a cell. */
void weft_bench_add_markdown(struct weft_text *text, const char *plain);

/** Prints it on stdout. */
void weft_bench_print_markdown(const char *plain);

#endif
