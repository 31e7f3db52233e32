/* SPDX-License-Identifier: MIT */
/* What the owner of a machine calls it. */
#ifndef WEFT_BENCH_LABEL_H
#define WEFT_BENCH_LABEL_H

#include <stdbool.h>

#define WEFT_BENCH_LABEL_CHARACTERS 64 /* at most */
#define WEFT_BENCH_LABEL_RULE       "one line of 1 to 64 characters, in UTF-8, that all can be seen"

/** Whether a text, of a command line or of a stranger's file, is a label: WEFT_BENCH_LABEL_RULE. */
bool weft_bench_label_fits(const char *text);

#endif
