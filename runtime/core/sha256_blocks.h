/* SPDX-License-Identifier: MIT */
/* The compression of SHA-256 over whole blocks: by the processor's instructions where it has them, else in plain C. */
#ifndef WEFT_CORE_SHA256_BLOCKS_H
#define WEFT_CORE_SHA256_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** FIPS 180-4, 4.2.2: the fractional bits of the cube roots of the first 64 primes. */
extern const uint32_t weft_sha256_constants[64];

/** Takes `count` blocks of 64 bytes into the state. */
void weft_sha256_blocks(uint32_t state[8], const uint8_t *data, size_t count);

/**
 * Hashes two texts at once into two states: their blocks do not wait for each other, so this is faster than two
 * calls.
 */
void weft_sha256_blocks_of_two(uint32_t states[2][8], const uint8_t *const data[2], size_t count);

/** Hashes in plain C, on any processor. */
void weft_sha256_blocks_in_c(uint32_t state[8], const uint8_t *data, size_t count);

/** True if this processor has instructions for it; without, the two below do nothing. */
bool weft_sha256_has_instructions(void);
void weft_sha256_blocks_by_instructions(uint32_t state[8], const uint8_t *data, size_t count);
void weft_sha256_blocks_of_two_by_instructions(uint32_t states[2][8], const uint8_t *const data[2],
                                               size_t count);

#endif
