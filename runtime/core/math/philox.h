/* SPDX-License-Identifier: MIT */
/*
 * Philox4x32-10, a counter-based generator: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
 * The same (seed, stream, index) gives the same value on every machine.
 */
#ifndef WEFT_CORE_PHILOX_H
#define WEFT_CORE_PHILOX_H

#include <stddef.h>
#include <stdint.h>

/** Ten rounds of counter under key, in place. */
void weft_philox(uint32_t counter[4], uint64_t key);

/** Element `index` of a stream of uniform 32-bit words. */
uint32_t weft_philox_u32(uint64_t seed, uint64_t stream, uint64_t index);

/** Fills with uniform floats in [-1, 1): multiples of 2^-23, so that every machine has the same bits. */
void weft_philox_uniform(float *out, size_t count, uint64_t seed, uint64_t stream);

#endif
