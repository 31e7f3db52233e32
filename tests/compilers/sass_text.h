/* SPDX-License-Identifier: MIT */
/* What nvdisasm and ptxas print. */
#ifndef WEFT_TESTS_COMPILERS_SASS_TEXT_H
#define WEFT_TESTS_COMPILERS_SASS_TEXT_H

#include <stdint.h>

/** Leaves of a listing, in its place, labels and instructions, a line each, without addresses and marks of reuse. */
void weft_sass_clean(char *listing);

/** The number before words in what ptxas -v tells of a kernel; 0 where it tells none. */
int64_t weft_ptxas_told(const char *told, const char *behind);

#endif
