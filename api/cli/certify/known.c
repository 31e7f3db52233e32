/* SPDX-License-Identifier: MIT */
#include "certify/known.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"

struct row {
    uint64_t key;     /* of the case's name */
    uint64_t bits[2]; /* of the SHA-256 of its output */
};

#include "certify_bits.inc"

static uint64_t key_of(const char *name) {
    const weft_digest digest = weft_digest_of(name, strlen(name));
    uint64_t key = 0;
    for (int i = 0; i < 8; i++) {
        key = key << 8 | digest.bytes[i];
    }
    return key;
}

static int compare_keys(const void *left, const void *right) {
    const uint64_t a = *(const uint64_t *)left; /* the first of a row, too */
    const uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

bool weft_certify_known(char digits[WEFT_CERTIFY_DIGITS_SIZE], const char *name, weft_math math) {
    const uint64_t key = key_of(name);
    const struct row *row = NULL;
    if (math == WEFT_MATH_FUSED) {
        row = bsearch(&key, fused, sizeof fused / sizeof *fused, sizeof *fused, compare_keys);
    }
    if (!row) {
        row = bsearch(&key, reproducible, sizeof reproducible / sizeof *reproducible,
                      sizeof *reproducible, compare_keys);
    }
    if (row) {
        snprintf(digits, WEFT_CERTIFY_DIGITS_SIZE, "%016llx%016llx",
                 (unsigned long long)row->bits[0], (unsigned long long)row->bits[1]);
    }
    return row != NULL;
}

bool weft_certify_is_listed(const char *name) {
    const uint64_t key = key_of(name);
    return bsearch(&key, listed, sizeof listed / sizeof *listed, sizeof *listed, compare_keys);
}

const char *weft_certify_known_digest(void) {
    return table_digest;
}
