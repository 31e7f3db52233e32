/* SPDX-License-Identifier: MIT */
/* What loads, stores and atomics do with a lane's bytes, wherever these are. */
#ifndef WEFT_TESTS_AMD_ACCESS_H
#define WEFT_TESTS_AMD_ACCESS_H

#include "gpu.h"

enum amd_atomic {
    AMD_ATOMIC_NONE = 0,
    AMD_ATOMIC_SWAP,
    AMD_ATOMIC_COMPARE, /* the data is what to write, then what to compare with; of LDS the other way round */
    AMD_ATOMIC_ADD,
    AMD_ATOMIC_SUB,
    AMD_ATOMIC_SMIN,
    AMD_ATOMIC_UMIN,
    AMD_ATOMIC_SMAX,
    AMD_ATOMIC_UMAX,
    AMD_ATOMIC_AND,
    AMD_ATOMIC_OR,
    AMD_ATOMIC_XOR
};

/* amd_operation::detail: bytes in 7:0, the atomic in 11:8, and flags */
#define AMD_BYTES(detail)  ((uint32_t)(detail)&0xffu)
#define AMD_ATOMIC(detail) ((uint32_t)(detail) >> 8 & 15u)
enum {
    AMD_STORES = 1 << 12,
    AMD_SIGNED = 1 << 13,
    AMD_HIGH = 1 << 14,  /* the upper half of a register; the lower one stays */
    AMD_LOW = 1 << 15,   /* the lower half; the upper one stays */
    AMD_TWO = 1 << 16,   /* LDS: two places */
    AMD_BY_64 = 1 << 17, /* whose offsets count 64 elements */
    AMD_RETURNS = 1 << 18
};

/** Loads a lane's bytes into rows of AMD_LANES words. */
void amd_load_lane(uint32_t *rows, uint32_t lane, const uint8_t *bytes, uint32_t detail);
void amd_store_lane(uint8_t *bytes, const uint32_t *rows, uint32_t lane, uint32_t detail);
/** The word after an atomic, of the one before. */
uint32_t amd_atomic_result(uint32_t atomic, uint32_t before, uint32_t data, uint32_t compared);

#endif
