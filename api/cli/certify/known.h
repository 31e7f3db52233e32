/* SPDX-License-Identifier: MIT */
/* The hashes of tests/data/bits in the program, so that a stranger can compare with them. */
#ifndef WEFT_CLI_CERTIFY_KNOWN_H
#define WEFT_CLI_CERTIFY_KNOWN_H

#include <stdbool.h>

#include <weft/device.h>

/** The first 128 bits of a SHA-256, as hexadecimal digits and a zero. */
#define WEFT_CERTIFY_DIGITS      32
#define WEFT_CERTIFY_DIGITS_SIZE (WEFT_CERTIFY_DIGITS + 1)

/** What the output of a case must have; false: no hash of it is known. Math is reproducible or fused. */
bool weft_certify_known(char digits[WEFT_CERTIFY_DIGITS_SIZE], const char *name, weft_math math);

/** Whether a case is one of those that together execute every kernel. */
bool weft_certify_is_listed(const char *name);

/** A SHA-256 of all that, as text: programs that have the same one compare with the same bits. */
const char *weft_certify_known_digest(void);

#endif
