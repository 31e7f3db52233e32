/* SPDX-License-Identifier: MIT */
/* What computes lanes: loops that the compiler makes vectors of, and the rules of floats. */
#ifndef WEFT_TESTS_AMD_LANES_H
#define WEFT_TESTS_AMD_LANES_H

#include <math.h>
#include <string.h>

#include "gpu.h"

/* Once for any processor, and once for one with AVX2 and an instruction for fma. */
#if defined(__x86_64__) && defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__)
#define AMD_FAST __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define AMD_FAST
#endif

#define AMD_EACH(name, body)                                                                \
    AMD_FAST static void name(uint32_t *restrict to, const uint32_t *a, const uint32_t *b,  \
                              const uint32_t *c, uint32_t n, const struct amd_mode *mode) { \
        (void)b;                                                                            \
        (void)c;                                                                            \
        (void)mode;                                                                         \
        for (uint32_t i = 0; i < n; i++) {                                                  \
            body;                                                                           \
        }                                                                                   \
    }

/* Operands that an operation lacks point to the first, so that each has bytes to read. */
#define AMD_WORD(name, expression)                                                            \
    AMD_EACH(name, const uint32_t x = a[i]; const uint32_t y = b[i]; const uint32_t z = c[i]; \
             (void)y; (void)z; to[i] = (uint32_t)(expression))

static inline uint64_t amd_wide(const uint32_t *row, uint32_t i) {
    return row[i] | (uint64_t)row[i + AMD_LANES] << 32;
}

static inline void amd_put_wide(uint32_t *row, uint32_t i, uint64_t value) {
    row[i] = (uint32_t)value;
    row[i + AMD_LANES] = (uint32_t)(value >> 32);
}

static inline float amd_f32(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t amd_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double amd_f64(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t amd_bits64(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline bool amd_is_nan(uint32_t bits) {
    return (bits & 0x7fffffffu) > 0x7f800000u;
}

/* A subnormal becomes the zero of its sign where `on` is all ones. */
static inline uint32_t amd_flush(uint32_t bits, uint32_t on) {
    return (bits & 0x7f800000u) == 0 ? bits & ~(on & 0x7fffffffu) : bits;
}

static inline uint64_t amd_flush64(uint64_t bits, uint32_t on) {
    const uint64_t all = on | (uint64_t)on << 32;
    return (bits & UINT64_C(0x7ff0000000000000)) == 0 ? bits & ~(all >> 1) : bits;
}

#define AMD_NAN   0x7fc00000u
#define AMD_QUIET 0x00400000u

/* An exact result that is no NaN, to 32 bits: what is flushed is decided by all of its bits. */
static inline uint32_t amd_narrow(double exact, const struct amd_mode *mode) {
    const uint32_t bits = amd_bits((float)exact);
    const uint32_t zero = fabs(exact) < mode->least ? mode->flush32_out & 0x7fffffffu : 0;
    return bits & ~zero;
}

/* A result is the first NaN of the operands, made quiet; or the default NaN; or it is flushed, after rounding. */
static inline uint32_t amd_result(float value, uint32_t x, uint32_t y, uint32_t z, uint32_t flush) {
    const uint32_t bits = amd_bits(value);
    const uint32_t nan = amd_is_nan(x)   ? x | AMD_QUIET
                         : amd_is_nan(y) ? y | AMD_QUIET
                         : amd_is_nan(z) ? z | AMD_QUIET
                                         : AMD_NAN;
    return amd_is_nan(bits) ? nan : amd_flush(bits, flush);
}

static inline uint32_t amd_narrow_of(double exact, uint32_t x, uint32_t y,
                                     const struct amd_mode *mode) {
    const uint32_t nan = amd_is_nan(x) ? x | AMD_QUIET : amd_is_nan(y) ? y | AMD_QUIET : AMD_NAN;
    return exact != exact ? nan : amd_narrow(exact, mode);
}

#endif
