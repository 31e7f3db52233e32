/* SPDX-License-Identifier: MIT */
/*
 * Operations on scalar registers. Each is a function of two operands and SCC; the table says how wide its operands and its result are, and
 * what SCC becomes.
 */
#include "gpu.h"

enum {
    SCC_STAYS = 0,
    SCC_NOT_ZERO, /* of the result */
    SCC_SET       /* the function's */
};

struct pair {
    uint64_t value;
    bool scc;
};

typedef struct pair compute(uint64_t a, uint64_t b, bool scc);

#define OF(name, expression)                                    \
    static struct pair name(uint64_t a, uint64_t b, bool scc) { \
        (void)b;                                                \
        (void)scc;                                              \
        return (struct pair){.value = (uint64_t)(expression)};  \
    }
#define OF_SCC(name, expression, condition)                                        \
    static struct pair name(uint64_t a, uint64_t b, bool scc) {                    \
        (void)b;                                                                   \
        (void)scc;                                                                 \
        return (struct pair){.value = (uint64_t)(expression), .scc = (condition)}; \
    }

/* ---- sums, products ---- */

static bool overflows(uint64_t a, uint64_t b, bool subtracts) {
    const int64_t result =
        subtracts ? (int64_t)(int32_t)a - (int32_t)b : (int64_t)(int32_t)a + (int32_t)b;
    return result != (int32_t)result;
}
OF_SCC(add_u32, a + b, (a + b) >> 32 != 0)
OF_SCC(sub_u32, a - b, b > a)
OF_SCC(addc_u32, a + b + scc, (a + b + scc) >> 32 != 0)
OF_SCC(subb_u32, a - b - scc, b + scc > a)
OF_SCC(add_i32, a + b, overflows(a, b, false))
OF_SCC(sub_i32, a - b, overflows(a, b, true))
OF(mul_i32, a *b)
OF(mul_hi_u32, a *b >> 32)
OF(mul_hi_i32, (uint64_t)((int64_t)(int32_t)a *(int32_t)b) >> 32)
OF_SCC(absdiff, (int32_t)a > (int32_t)b ? a - b : b - a, (uint32_t)a != (uint32_t)b)
OF_SCC(abs_i32, (int32_t)a < 0 ? 0 - a : a, (uint32_t)a != 0)
#define LSHL_ADD(n) \
    OF_SCC(lshl##n##_add, (a << (n)) + b, ((uint64_t)(uint32_t)a << (n)) + b > UINT32_MAX)
LSHL_ADD(1)
LSHL_ADD(2)
LSHL_ADD(3)
LSHL_ADD(4)

OF_SCC(min_i32, (int32_t)a < (int32_t)b ? a : b, (int32_t)a < (int32_t)b)
OF_SCC(max_i32, (int32_t)a > (int32_t)b ? a : b, (int32_t)a > (int32_t)b)
OF_SCC(min_u32, a < b ? a : b, a < b)
OF_SCC(max_u32, a > b ? a : b, a > b)

/* ---- bits ---- */

OF(mov, a)
OF(not_, ~a)
OF(and_, a &b)
OF(or_, a | b)
OF(xor_, a ^ b)
OF(andn2, a & ~b)
OF(orn2, a | ~b)
OF(nand, ~(a &b))
OF(nor, ~(a | b))
OF(xnor, ~(a ^ b))
OF(lshl32, (uint32_t)a << (b & 31))
OF(lshr32, a >> (b & 31))
OF(ashr32, (int32_t)a >> (b & 31))
OF(lshl64, a << (b & 63))
OF(lshr64, a >> (b & 63))
OF(ashr64, (int64_t)a >> (b & 63))
OF(bfm32, ((UINT64_C(1) << (a & 31)) - 1) << (b & 31))
OF(bfm64, ((UINT64_C(1) << (a & 63)) - 1) << (b & 63))
OF(pack_ll, (a & 0xffff) | b << 16)
OF(pack_lh, (a & 0xffff) | (b & 0xffff0000))
OF(pack_hh, (a >> 16 & 0xffff) | (b & 0xffff0000))
OF(sext8, (int8_t)a)
OF(sext16, (int16_t)a)
OF(cselect, scc ? a : b)

/* S1: the first bit in 4:0 (5:0), the width in 22:16; a field that ends behind the word is the word's upper part. */
static uint64_t field(uint64_t value, uint64_t where, uint32_t bits, bool is_signed) {
    const uint32_t first = (uint32_t)where & (bits - 1), width = (uint32_t)(where >> 16) & 0x7f;
    const uint32_t most = bits - first, n = width < most ? width : most;
    if (n == 0) {
        return 0;
    }
    const uint64_t top = value << (64 - first - n);
    return is_signed ? (uint64_t)((int64_t)top >> (64 - n)) : top >> (64 - n);
}
OF(bfe_u32, field(a, b, 32, false))
OF(bfe_i32, field(a, b, 32, true))
OF(bfe_u64, field(a, b, 64, false))
OF(bfe_i64, field(a, b, 64, true))

static uint64_t reversed(uint64_t value, uint32_t bits) {
    uint64_t result = 0;
    for (uint32_t i = 0; i < bits; i++) {
        result |= (value >> i & 1) << (bits - 1 - i);
    }
    return result;
}
/* "D.u64 = each bit of S0 twice" */
static uint64_t twice_each(uint64_t value) {
    uint64_t result = 0;
    for (uint32_t i = 0; i < 32; i++) {
        result |= (value >> i & 1) * 3 << (2 * i);
    }
    return result;
}
OF(bitreplicate, twice_each(a))
OF(brev32, reversed(a, 32))
OF(brev64, reversed(a, 64))
OF(bcnt1, __builtin_popcountll(a))
OF(bcnt0_32, 32 - __builtin_popcountll(a))
OF(bcnt0_64, 64 - __builtin_popcountll(a))
OF(ff1, a == 0 ? UINT32_MAX : (uint32_t)__builtin_ctzll(a))
OF(ff0, (uint32_t)~a == 0 ? UINT32_MAX : (uint32_t)__builtin_ctz((uint32_t)~a))
OF(flbit32, a == 0 ? UINT32_MAX : (uint32_t)__builtin_clz((uint32_t)a))
OF(flbit64, a == 0 ? UINT32_MAX : (uint32_t)__builtin_clzll(a))
static uint64_t sign_bits(uint64_t value) {
    const uint32_t word = (uint32_t)value, changed = (int32_t)word < 0 ? ~word : word;
    return changed == 0 ? UINT32_MAX : (uint32_t)__builtin_clz(changed);
}
OF(flbit_i32, sign_bits(a))
/* Every 4 lanes of which one is active are. */
static uint64_t whole_quads(uint64_t mask) {
    uint64_t result = 0;
    for (uint32_t i = 0; i < 64; i += 4) {
        result |= (mask >> i & 15) != 0 ? UINT64_C(15) << i : 0;
    }
    return result;
}
OF(wqm, whole_quads(a))

/* ---- comparisons ---- */

OF_SCC(eq, 0, a == b)
OF_SCC(lg, 0, a != b)
OF_SCC(gt_u, 0, a > b)
OF_SCC(ge_u, 0, a >= b)
OF_SCC(lt_u, 0, a < b)
OF_SCC(le_u, 0, a <= b)
OF_SCC(gt_i, 0, (int32_t)a > (int32_t)b)
OF_SCC(ge_i, 0, (int32_t)a >= (int32_t)b)
OF_SCC(lt_i, 0, (int32_t)a < (int32_t)b)
OF_SCC(le_i, 0, (int32_t)a <= (int32_t)b)
OF_SCC(bitcmp0, 0, (a >> (b & 31) & 1) == 0)
OF_SCC(bitcmp1, 0, (a >> (b & 31) & 1) == 1)
OF_SCC(bitcmp1_64, 0, (a >> (b & 63) & 1) == 1)
OF_SCC(bitcmp0_64, 0, (a >> (b & 63) & 1) == 0)

/* ---- running them ---- */

struct scalar {
    compute *compute;
    uint8_t to, from_a, from_b, scc;
};

/* Rows of `scalars` that amd_operation::detail counts. */
static const struct scalar scalars[] = {
#define ROW(name, function, to, a, b, scc) {function, to, a, b, scc},
#include "scalar_table.h"
#undef ROW
};

static void run(struct amd_wave *wave, const struct amd_instruction *instruction) {
    const struct scalar *row = &scalars[instruction->operation->detail];
    const uint32_t first = row->to > 0 ? 1 : 0;
    const uint64_t a = amd_scalar_read(wave, &instruction->operands[first], row->from_a);
    const uint64_t b =
        row->from_b > 0 ? amd_scalar_read(wave, &instruction->operands[first + 1], row->from_b) : 0;
    if (wave->done) {
        return;
    }
    struct pair pair = row->compute(a, b, wave->scc);
    if (row->to == 1) {
        pair.value = (uint32_t)pair.value;
    }
    if (row->to > 0) {
        amd_scalar_write(wave, &instruction->operands[0], pair.value, row->to);
    }
    wave->scc = row->scc == SCC_STAYS ? wave->scc
                : row->scc == SCC_SET ? pair.scc
                                      : pair.value != 0;
}

/* The result's register is the first operand, too, and the second is a number of 16 bits with a sign, or, of a comparison, without. */
static uint64_t extended(const struct amd_operand *operand) {
    const int32_t number = (int16_t)operand->integer;
    return (uint32_t)number;
}

enum { MOVE = 0, MOVE_IF, ADD, MULTIPLY };

static void run_with_number(struct amd_wave *wave, const struct amd_instruction *instruction) {
    const struct amd_operand *to = &instruction->operands[0];
    const uint64_t before = amd_scalar_read(wave, to, 1),
                   number = extended(&instruction->operands[1]);
    const struct pair sum = add_i32(before, number, false);
    switch (instruction->operation->detail) {
    case MOVE_IF:
        amd_scalar_write(wave, to, wave->scc ? number : before, 1);
        break;
    case ADD:
        amd_scalar_write(wave, to, sum.value, 1);
        wave->scc = sum.scc;
        break;
    case MULTIPLY:
        amd_scalar_write(wave, to, before * number, 1);
        break;
    default:
        amd_scalar_write(wave, to, number, 1);
        break;
    }
}

/* S_CMPK: the sign of the number is extended for signed ones only. */
static compute *const number_comparisons[] = {eq,   lg,   gt_i, ge_i, lt_i,
                                              le_i, gt_u, ge_u, lt_u, le_u};
enum { UNSIGNED = 16 };

static void run_comparison(struct amd_wave *wave, const struct amd_instruction *instruction) {
    const int32_t detail = instruction->operation->detail;
    const struct amd_operand *number = &instruction->operands[1];
    const uint64_t b = (detail & UNSIGNED) != 0 ? (uint16_t)number->integer : extended(number);
    const uint64_t a = amd_scalar_read(wave, &instruction->operands[0], 1);
    wave->scc = number_comparisons[detail & ~UNSIGNED](a, b, false).scc;
}

/* S_BITSET: one bit of the result's register becomes `detail`. */
static void run_set_bit(struct amd_wave *wave, const struct amd_instruction *instruction) {
    const struct amd_operand *to = &instruction->operands[0];
    const uint64_t which = amd_scalar_read(wave, &instruction->operands[1], 1);
    const uint64_t before = amd_scalar_read(wave, to, 1), bit = UINT64_C(1) << (which & 31);
    amd_scalar_write(wave, to, instruction->operation->detail != 0 ? before | bit : before & ~bit,
                     1);
}

/* S_CMOV: if SCC is set */
static void run_if(struct amd_wave *wave, const struct amd_instruction *instruction) {
    const uint32_t words = (uint32_t)instruction->operation->detail;
    if (wave->scc) {
        amd_scalar_write(wave, &instruction->operands[0],
                         amd_scalar_read(wave, &instruction->operands[1], words), words);
    }
}

/* S_AND_SAVEEXEC: D = EXEC; EXEC = S0 op EXEC; SCC = EXEC is not zero. */
static compute *const saving[] = {and_, or_, xor_, andn2, orn2, nand, nor, xnor};
enum { EXEC_FIRST = 8, WORDS_2 = 16 };

static void run_save(struct amd_wave *wave, const struct amd_instruction *instruction) {
    static const struct amd_operand exec = {.kind = AMD_SCALAR, .index = AMD_EXEC};
    const int32_t detail = instruction->operation->detail;
    const uint32_t words = (detail & WORDS_2) != 0 ? 2 : 1;
    const uint64_t before = amd_scalar_read(wave, &exec, words);
    const uint64_t mask = amd_scalar_read(wave, &instruction->operands[1], words);
    compute *const by = saving[detail & 7];
    const uint64_t made =
        (detail & EXEC_FIRST) != 0 ? by(before, mask, false).value : by(mask, before, false).value;
    amd_scalar_write(wave, &instruction->operands[0], before, words);
    amd_scalar_write(wave, &exec, made, words);
    wave->scc = (words == 2 ? made : (uint32_t)made) != 0;
}

#define SAVE(name, which)                                                          \
    {"s_" name "_saveexec_b32", run_save, 0, 1, {1, 0, 0}, 0, which}, {            \
        "s_" name "_saveexec_b64", run_save, 0, 2, {2, 0, 0}, 0, (which) | WORDS_2 \
    }

enum row_number {
#define ROW(name, function, to, a, b, scc) NUMBER_##name,
#include "scalar_table.h"
#undef ROW
    ROW_COUNT
};

const struct amd_operation amd_scalar_operations[] = {
#define ROW(name, function, to, a, b, scc) {#name, run, 0, to, {a, b, 0}, 0, NUMBER_##name},
#include "scalar_table.h"
#undef ROW
    {"s_movk_i32", run_with_number, 0, 1, {0}, 0, MOVE},
    {"s_cmovk_i32", run_with_number, 0, 1, {0}, 0, MOVE_IF},
    {"s_addk_i32", run_with_number, 0, 1, {0}, 0, ADD},
    {"s_mulk_i32", run_with_number, 0, 1, {0}, 0, MULTIPLY},
    {"s_cmpk_eq_i32", run_comparison, 0, 0, {1}, 0, 0},
    {"s_cmpk_lg_i32", run_comparison, 0, 0, {1}, 0, 1},
    {"s_cmpk_gt_i32", run_comparison, 0, 0, {1}, 0, 2},
    {"s_cmpk_ge_i32", run_comparison, 0, 0, {1}, 0, 3},
    {"s_cmpk_lt_i32", run_comparison, 0, 0, {1}, 0, 4},
    {"s_cmpk_le_i32", run_comparison, 0, 0, {1}, 0, 5},
    {"s_cmpk_eq_u32", run_comparison, 0, 0, {1}, 0, 0 | UNSIGNED},
    {"s_cmpk_lg_u32", run_comparison, 0, 0, {1}, 0, 1 | UNSIGNED},
    {"s_cmpk_gt_u32", run_comparison, 0, 0, {1}, 0, 6 | UNSIGNED},
    {"s_cmpk_ge_u32", run_comparison, 0, 0, {1}, 0, 7 | UNSIGNED},
    {"s_cmpk_lt_u32", run_comparison, 0, 0, {1}, 0, 8 | UNSIGNED},
    {"s_cmpk_le_u32", run_comparison, 0, 0, {1}, 0, 9 | UNSIGNED},
    {"s_bitset0_b32", run_set_bit, 0, 1, {1}, 0, 0},
    {"s_bitset1_b32", run_set_bit, 0, 1, {1}, 0, 1},
    {"s_cmov_b32", run_if, 0, 1, {1}, 0, 1},
    {"s_cmov_b64", run_if, 0, 2, {2}, 0, 2},
    SAVE("and", 0),
    SAVE("or", 1),
    SAVE("xor", 2),
    /* S0 & ~EXEC, and the other way round */
    SAVE("andn2", 3),
    SAVE("andn1", 3 | EXEC_FIRST),
    SAVE("and_not0", 3 | EXEC_FIRST),
    SAVE("orn2", 4),
    SAVE("orn1", 4 | EXEC_FIRST),
    SAVE("nand", 5),
    SAVE("nor", 6),
    SAVE("xnor", 7),
    {0}};
