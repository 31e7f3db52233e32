/* SPDX-License-Identifier: MIT */
/* What Intel's ocloc prints. */
#ifndef WEFT_TESTS_COMPILERS_OCLOC_TEXT_H
#define WEFT_TESTS_COMPILERS_OCLOC_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What a listing begins with that weft_ocloc_divisions reads: how wide a register is, "// register bytes: 32". */
#define WEFT_OCLOC_REGISTER_BYTES "// register bytes: "

/** The number behind a name in what ocloc tells of a kernel; 0 where it tells none. */
int64_t weft_ocloc_told(const char *told, const char *name);

/**
 * Makes comments of the parts of a listing that divide whole numbers, by floats that are rounded towards zero: false if there is anything in
 * them that such a division has not, or if what they compute goes anywhere else, which is written to `why`.
 */
bool weft_ocloc_divisions(char *code, char *why, size_t size);

#endif
