/* SPDX-License-Identifier: MIT */
/* Checks that a word stream is consistent, before anything walks it. */
#ifndef WEFT_SPIRV_CHECK_H
#define WEFT_SPIRV_CHECK_H

#include "core/host.h"
#include "spirv/grammar.h"

/**
 * The largest bound of ids that a module of so many words may have: readers have a table of them, which what is written in one word of the
 * header must not blow up. Compilers number ids one after the other, about one for five words; gaps are what optimisers dropped.
 */
static inline uint32_t weft_spirv_most_ids(size_t words) {
    const uint64_t most = UINT64_C(0x10000) + 8 * (uint64_t)words;
    return most < WEFT_SPIRV_MAX_BOUND ? (uint32_t)most : WEFT_SPIRV_MAX_BOUND;
}

/**
 * Checks what can be checked without types: header, word counts, every id below the bound, defined once and, where used, defined; the
 * sections in their order; functions closed, one memory model, entry points that are functions. A module that passes can be walked, and the
 * words be read that every instruction of its kind has (grammar.c), without further bounds checks; whether its instructions make sense is
 * spirv-val's business.
 * Errors: WEFT_COMPILE_ERROR, naming the word and what is wrong there; WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_spirv_check(const uint32_t *words, size_t size, const weft_host *host);

#endif
