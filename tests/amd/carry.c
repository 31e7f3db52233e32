/* SPDX-License-Identifier: MIT */
/* Sums with carries, which are masks of lanes, and products of 64 bits. */
#include "lanes.h"
#include "vector.h"

enum { SUBTRACTS = 1, REVERSES = 2, TAKES_CARRY = 4 };

/*
 * V_ADD_CO_CI_U32: D = S0 + S1 + carry in; the mask gets the carry out, inactive lanes a zero. Operands: D, mask out, S0, S1, and mask in. On GCN
 * V_SUBB_CO_U32 is V_SUB_CO_CI_U32.
 */
static void run_carry(struct amd_wave *wave, const struct amd_instruction *instruction) {
    const struct amd_operation *operation = instruction->operation;
    const uint32_t detail = (uint32_t)operation->detail;
    const bool takes = (detail & TAKES_CARRY) != 0;
    uint32_t rooms[2][AMD_LANES], to[AMD_LANES];
    uint64_t out = 0;
    if (instruction->count < (takes ? 5u : 4u)) {
        amd_fail(wave, "%s with %u operands", operation->name, instruction->count);
        return;
    }
    const uint32_t *a = amd_vector_read(wave, instruction, 2, 1, 0, rooms[0], 0);
    const uint32_t *b = amd_vector_read(wave, instruction, 3, 1, 0, rooms[1], 1);
    const uint64_t in = takes ? amd_mask_read(wave, &instruction->operands[4]) : 0;
    for (uint32_t i = 0; !wave->done && i < wave->lanes; i++) {
        const uint64_t x = (detail & REVERSES) != 0 ? b[i] : a[i];
        const uint64_t y = (detail & REVERSES) != 0 ? a[i] : b[i];
        const uint64_t more = in >> i & 1;
        const uint64_t sum = (detail & SUBTRACTS) != 0 ? x - y - more : x + y + more;
        to[i] = (uint32_t)sum;
        out |= (uint64_t)(sum >> 32 != 0) << i;
    }
    if (!wave->done) {
        out &= amd_exec(wave);
        amd_vector_write(wave, instruction, &instruction->operands[0], to, 1);
        amd_mask_write(wave, &instruction->operands[1], out);
    }
}

AMD_EACH(product_u, const uint64_t product = (uint64_t)a[i] * b[i];
         amd_put_wide(to, i, product + amd_wide(c, i)))
AMD_EACH(product_i, const uint64_t product = (uint64_t)((int64_t)(int32_t)a[i] * (int32_t)b[i]);
         amd_put_wide(to, i, product + amd_wide(c, i)))

/* V_MAD_U64_U32: D = S0 * S1 + S2; the mask gets the carry of the sum. */
static void run_product(struct amd_wave *wave, const struct amd_instruction *instruction) {
    const struct amd_operation *operation = instruction->operation;
    uint32_t rooms[3][2 * AMD_LANES], to[2 * AMD_LANES];
    uint64_t out = 0;
    if (instruction->count < 5) {
        amd_fail(wave, "%s with %u operands", operation->name, instruction->count);
        return;
    }
    const uint32_t *a = amd_vector_read(wave, instruction, 2, 1, 0, rooms[0], 0);
    const uint32_t *b = amd_vector_read(wave, instruction, 3, 1, 0, rooms[1], 1);
    const uint32_t *c = amd_vector_read(wave, instruction, 4, 2, 0, rooms[2], 2);
    if (wave->done) {
        return;
    }
    operation->lanes(to, a, b, c, wave->lanes, &wave->mode);
    for (uint32_t i = 0; i < wave->lanes; i++) {
        out |= (uint64_t)(amd_wide(to, i) < amd_wide(c, i)) << i;
    }
    out &= amd_exec(wave);
    amd_vector_write(wave, instruction, &instruction->operands[0], to, 2);
    amd_mask_write(wave, &instruction->operands[1], out);
}

#define ROW(name, detail) \
    { name, run_carry, 0, 1, {1, 1, 0}, 0, detail }

const struct amd_operation amd_carry_operations[] = {
    ROW("v_add_co_u32", 0),
    ROW("v_sub_co_u32", SUBTRACTS),
    ROW("v_subrev_co_u32", SUBTRACTS | REVERSES),
    ROW("v_add_co_ci_u32", TAKES_CARRY),
    ROW("v_sub_co_ci_u32", SUBTRACTS | TAKES_CARRY),
    ROW("v_subrev_co_ci_u32", SUBTRACTS | REVERSES | TAKES_CARRY),
    ROW("v_addc_co_u32", TAKES_CARRY),
    ROW("v_subb_co_u32", SUBTRACTS | TAKES_CARRY),
    ROW("v_subbrev_co_u32", SUBTRACTS | REVERSES | TAKES_CARRY),
    {"v_mad_u64_u32", run_product, product_u, 2, {1, 1, 2}, 0, 0},
    {"v_mad_i64_i32", run_product, product_i, 2, {1, 1, 2}, 0, 0},
    {0}};
