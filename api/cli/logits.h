/* SPDX-License-Identifier: MIT */
/* What a head's output says: probabilities, the best entries, and its bits. */
#ifndef WEFT_CLI_LOGITS_H
#define WEFT_CLI_LOGITS_H

#include <stddef.h>
#include <stdint.h>

#include "core/hash.h"
#include "core/host.h"

/** One entry of a row of logits. */
typedef struct weft_cli_entry {
    uint32_t index;
    float logit;
    double probability; /* softmax over the row; NaN when the row has a NaN; or sigmoid */
} weft_cli_entry;

/**
 * The `top` largest of `count` logits, largest first, equal ones by index, NaN last; top ≤ count.
 * With multi_label probabilities are each logit's sigmoid. WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_cli_top_entries(weft_cli_entry *entries, uint32_t top, const float *logits,
                                 uint32_t count, bool multi_label, const weft_host *host);

/** The index of the largest, the first among equals. */
uint32_t weft_cli_argmax(const float *logits, uint32_t count);

/**
 * -log2 of the softmax's entry `index`, in float64: how many bits the true token costs. Finite
 * logits; with the library's portable exp and log, so that every host computes the same number.
 */
double weft_cli_bits(const float *logits, uint32_t count, uint32_t index);

/** Adds the values' little-endian bits to a hash that has begun. */
void weft_cli_hash_add(weft_sha256 *hash, const float *values, uint64_t count);

/** SHA-256 of the values' little-endian bits, as hexadecimal; returns text. */
const char *weft_cli_digest(const float *values, uint64_t count, char text[WEFT_DIGEST_TEXT_SIZE]);

/**
 * Reads the digest that a file starts with, as sha256sum writes it; a name may follow. Errors are
 * logged: WEFT_BAD_FILE when there is none, and weft_file_read's.
 */
weft_status weft_cli_read_digest(char text[WEFT_DIGEST_TEXT_SIZE], const char *path,
                                 const weft_host *host);

#endif
