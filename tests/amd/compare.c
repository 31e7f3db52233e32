/* SPDX-License-Identifier: MIT */
/* Comparisons, of which each makes a mask of lanes, and what chooses by one. */
#include <string.h>

#include "lanes.h"
#include "vector.h"

/* ---- which relation: a lane's is 0 or 1 ---- */

#define RELATION(type, read, name, expression)                     \
    AMD_EACH(type##_##name, const __typeof__(read(a)) x = read(a); \
             const __typeof__(x) y = read(b); to[i] = (uint32_t)(expression))

#define UNSIGNED(row)  (row)[i]
#define SIGNED(row)    (int32_t)(row)[i]
#define WIDE(row)      amd_wide(row, i)
#define WIDE_INT(row)  (int64_t) amd_wide(row, i)
#define SHORT(row)     (uint16_t)(row)[i]
#define SHORT_INT(row) (int16_t)(row)[i]
#define SINGLE(row)    amd_f32(amd_flush((row)[i], mode->flush32_in))
#define DOUBLE(row)    amd_f64(amd_flush64(amd_wide(row, i), mode->flush64_in))

#define OF_INTEGER(type, read)       \
    RELATION(type, read, eq, x == y) \
    RELATION(type, read, ne, x != y) \
    RELATION(type, read, lt, x < y)  \
    RELATION(type, read, le, x <= y) \
    RELATION(type, read, gt, x > y)  \
    RELATION(type, read, ge, x >= y)
OF_INTEGER(u32, UNSIGNED)
OF_INTEGER(i32, SIGNED)
OF_INTEGER(u64, WIDE)
OF_INTEGER(i64, WIDE_INT)
OF_INTEGER(u16, SHORT)
OF_INTEGER(i16, SHORT_INT)

#define OF_FLOAT(type, read)                  \
    RELATION(type, read, eq, x == y)          \
    RELATION(type, read, lt, x < y)           \
    RELATION(type, read, le, x <= y)          \
    RELATION(type, read, gt, x > y)           \
    RELATION(type, read, ge, x >= y)          \
    RELATION(type, read, lg, x<y || x> y)     \
    RELATION(type, read, o, x == x && y == y) \
    RELATION(type, read, u, x != x || y != y) \
    RELATION(type, read, neq, x != y)         \
    RELATION(type, read, nlt, !(x < y))       \
    RELATION(type, read, nle, !(x <= y))      \
    RELATION(type, read, ngt, !(x > y))       \
    RELATION(type, read, nge, !(x >= y))      \
    RELATION(type, read, nlg, !(x < y || x > y))
OF_FLOAT(f32, SINGLE)
OF_FLOAT(f64, DOUBLE)

/* The second operand has a bit for each class that counts: signaling and quiet NaN, then from -infinity to +infinity. */
static inline uint32_t class_of(uint32_t bits) {
    const uint32_t magnitude = bits & 0x7fffffffu;
    const bool negative = bits >> 31 != 0;
    if (magnitude > 0x7f800000u) {
        return (bits & AMD_QUIET) != 0 ? 1u << 1 : 1u << 0;
    }
    return magnitude == 0x7f800000u   ? (negative ? 1u << 2 : 1u << 9)
           : magnitude >= 0x00800000u ? (negative ? 1u << 3 : 1u << 8)
           : magnitude != 0           ? (negative ? 1u << 4 : 1u << 7)
                                      : (negative ? 1u << 5 : 1u << 6);
}
AMD_EACH(class_f32, to[i] = (class_of(a[i]) & b[i]) != 0)

/* Of 16 bits: exponent, mantissa and the bit of quiet NaNs where those of 32 have them; a subnormal stays one. */
static inline uint32_t widened(uint32_t half) {
    const uint32_t sign = (half & 0x8000u) << 16, exponent = half >> 10 & 31u, rest = half & 0x3ffu;
    const uint32_t wide = exponent == 31 ? 255 : exponent == 0 ? 0 : exponent + 112;
    return sign | wide << 23 | rest << 13;
}
AMD_EACH(class_f16, to[i] = (class_of(widened(a[i])) & b[i]) != 0)

/* ---- running them ---- */

enum { WRITES_EXEC = 1 };

static uint64_t bits_of(const uint32_t *lanes, uint32_t n) {
    uint64_t bits = 0;
    for (uint32_t i = 0; i < n; i++) {
        bits |= (uint64_t)(lanes[i] & 1u) << i;
    }
    return bits;
}

/* "V_CMPX: as V_CMP, and EXEC gets the result"; on RDNA nothing else does, and no result is written in the text. */
static void run_compare(struct amd_wave *wave, const struct amd_instruction *instruction) {
    const struct amd_operation *operation = instruction->operation;
    const uint32_t first = instruction->count > 2 ? 1 : 0;
    uint32_t rooms[2][2 * AMD_LANES], to[AMD_LANES];
    const uint32_t *from[2];
    if (instruction->count < 2) {
        amd_fail(wave, "%s without operands", operation->name);
        return;
    }
    for (uint32_t i = 0; i < 2; i++) {
        from[i] = amd_vector_read(wave, instruction, first + i, operation->from_words[i],
                                  operation->float_bits, rooms[i], i);
    }
    if (wave->done) {
        return;
    }
    operation->lanes(to, from[0], from[1], from[1], wave->lanes, &wave->mode);
    const uint64_t mask = bits_of(to, wave->lanes) & amd_exec(wave);
    if (first == 1) {
        amd_mask_write(wave, &instruction->operands[0], mask);
    }
    if (operation->detail == WRITES_EXEC) {
        const struct amd_operand exec = {.kind = AMD_SCALAR, .index = AMD_EXEC};
        amd_mask_write(wave, &exec, mask);
    }
}

/* V_CNDMASK_B32: D = mask[lane] ? S1 : S0. RDNA 3 writes the mask even where only VCC can be it. */
static void run_choose(struct amd_wave *wave, const struct amd_instruction *instruction) {
    static const struct amd_operand vcc = {.kind = AMD_SCALAR, .index = AMD_VCC};
    const struct amd_operand *mask = instruction->count > 3 ? &instruction->operands[3] : &vcc;
    uint32_t rooms[2][AMD_LANES], to[AMD_LANES];
    const uint64_t chosen = amd_mask_read(wave, mask);
    const uint32_t *no = amd_vector_read(wave, instruction, 1, 1, 32, rooms[0], 0);
    const uint32_t *yes = amd_vector_read(wave, instruction, 2, 1, 32, rooms[1], 1);
    for (uint32_t i = 0; !wave->done && i < wave->lanes; i++) {
        const uint32_t all = 0u - (uint32_t)(chosen >> i & 1);
        to[i] = (yes[i] & all) | (no[i] & ~all);
    }
    if (!wave->done) {
        amd_vector_write(wave, instruction, &instruction->operands[0], to, 1);
    }
}

/* ---- table ---- */

#define ROW(name, lanes, words, bits)                                               \
    {"v_cmp_" name, run_compare, lanes, 0, {words, words, 0}, bits, 0}, {           \
        "v_cmpx_" name, run_compare, lanes, 0, {words, words, 0}, bits, WRITES_EXEC \
    }
#define ROWS(type, words)                                                             \
    ROW("eq_" #type, type##_eq, words, 0), ROW("ne_" #type, type##_ne, words, 0),     \
        ROW("lt_" #type, type##_lt, words, 0), ROW("le_" #type, type##_le, words, 0), \
        ROW("gt_" #type, type##_gt, words, 0), ROW("ge_" #type, type##_ge, words, 0)
#define FLOAT_ROWS(type, words, bits)                                                           \
    ROW("eq_" #type, type##_eq, words, bits), ROW("lt_" #type, type##_lt, words, bits),         \
        ROW("le_" #type, type##_le, words, bits), ROW("gt_" #type, type##_gt, words, bits),     \
        ROW("ge_" #type, type##_ge, words, bits), ROW("lg_" #type, type##_lg, words, bits),     \
        ROW("o_" #type, type##_o, words, bits), ROW("u_" #type, type##_u, words, bits),         \
        ROW("neq_" #type, type##_neq, words, bits), ROW("nlt_" #type, type##_nlt, words, bits), \
        ROW("nle_" #type, type##_nle, words, bits), ROW("ngt_" #type, type##_ngt, words, bits), \
        ROW("nge_" #type, type##_nge, words, bits), ROW("nlg_" #type, type##_nlg, words, bits)

const struct amd_operation amd_compare_operations[] = {
    ROWS(u32, 1),
    ROWS(i32, 1),
    ROWS(u64, 2),
    ROWS(i64, 2),
    ROWS(u16, 1),
    ROWS(i16, 1),
    FLOAT_ROWS(f32, 1, 32),
    FLOAT_ROWS(f64, 2, 64),
    ROW("class_f32", class_f32, 1, 32),
    ROW("class_f16", class_f16, 1, 16),
    {"v_cndmask_b32", run_choose, 0, 1, {1, 1, 0}, 32, 0},
    {0}};
