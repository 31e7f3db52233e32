/* SPDX-License-Identifier: MIT */
/* Single lanes, and registers whose number M0 has. */
#include <string.h>

#include "lanes.h"
#include "vector.h"

/* "V_READFIRSTLANE_B32: the first active lane; lane 0 if none is". */
static void run_read_first(struct amd_wave *wave, const struct amd_instruction *instruction) {
    uint32_t room[AMD_LANES];
    const uint64_t exec = amd_exec(wave);
    const uint32_t lane = exec == 0 ? 0 : (uint32_t)__builtin_ctzll(exec);
    const uint32_t *from = amd_vector_read(wave, instruction, 1, 1, 0, room, 0);
    if (!wave->done) {
        amd_scalar_write(wave, &instruction->operands[0], from[lane], 1);
    }
}

static uint32_t lane_of(struct amd_wave *wave, const struct amd_operand *operand) {
    return (uint32_t)amd_scalar_read(wave, operand, 1) & (wave->lanes - 1);
}

/* V_READLANE_B32, whatever EXEC says */
static void run_read(struct amd_wave *wave, const struct amd_instruction *instruction) {
    uint32_t room[AMD_LANES];
    const uint32_t *from = amd_vector_read(wave, instruction, 1, 1, 0, room, 0);
    const uint32_t lane = lane_of(wave, &instruction->operands[2]);
    if (!wave->done) {
        amd_scalar_write(wave, &instruction->operands[0], from[lane], 1);
    }
}

static void run_write(struct amd_wave *wave, const struct amd_instruction *instruction) {
    uint32_t *row = amd_vector_row(wave, &instruction->operands[0], 1);
    const uint32_t value = (uint32_t)amd_scalar_read(wave, &instruction->operands[1], 1);
    const uint32_t lane = lane_of(wave, &instruction->operands[2]);
    if (!wave->done && row) {
        row[lane] = value;
    }
}

/* V_MBCNT: how many lanes before this one the mask has, and S1; of the lower 32 lanes, or the upper. */
static void run_count(struct amd_wave *wave, const struct amd_instruction *instruction) {
    uint32_t rooms[2][AMD_LANES], to[AMD_LANES];
    const uint32_t first = (uint32_t)instruction->operation->detail;
    const uint32_t *mask = amd_vector_read(wave, instruction, 1, 1, 0, rooms[0], 0);
    const uint32_t *more = amd_vector_read(wave, instruction, 2, 1, 0, rooms[1], 1);
    for (uint32_t i = 0; !wave->done && i < wave->lanes; i++) {
        const uint32_t before = i <= first       ? 0
                                : i - first < 32 ? (UINT32_C(1) << (i - first)) - 1
                                                 : UINT32_MAX;
        to[i] = (uint32_t)__builtin_popcount(mask[i] & before) + more[i];
    }
    if (!wave->done) {
        amd_vector_write(wave, instruction, &instruction->operands[0], to, 1);
    }
}

/* ---- registers by M0: RDNA's v_movrel; GCN has s_set_gpr_idx_on ---- */

enum { READS = 1, WRITES = 2 };

static void run_relative(struct amd_wave *wave, const struct amd_instruction *instruction) {
    struct amd_instruction moved = *instruction;
    const uint32_t by = wave->s[AMD_M0], detail = (uint32_t)instruction->operation->detail;
    if (by >= AMD_VGPRS) {
        amd_fail(wave, "%s with %u in M0", instruction->operation->name, by);
        return;
    }
    uint32_t room[AMD_LANES], to[AMD_LANES];
    for (uint32_t i = 0; i < 2; i++) {
        if ((detail & (i == 0 ? WRITES : READS)) != 0) {
            moved.operands[i].index = (uint16_t)(moved.operands[i].index + by);
        }
    }
    const uint32_t *from = amd_vector_read(wave, &moved, 1, 1, 0, room, 0);
    if (!wave->done) {
        memcpy(to, from, wave->lanes * sizeof *to);
        amd_vector_write(wave, &moved, &moved.operands[0], to, 1);
    }
}

static void run_swap(struct amd_wave *wave, const struct amd_instruction *instruction) {
    uint32_t rooms[2][AMD_LANES], kept[2][AMD_LANES];
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t *from = amd_vector_read(wave, instruction, i, 1, 0, rooms[i], 0);
        memcpy(kept[i], from, sizeof kept[i]);
    }
    for (uint32_t i = 0; !wave->done && i < 2; i++) {
        amd_vector_write(wave, instruction, &instruction->operands[i], kept[1 - i], 1);
    }
}

static void run_nothing(struct amd_wave *wave, const struct amd_instruction *instruction) {
    (void)wave;
    (void)instruction;
}

const struct amd_operation amd_lane_operations[] = {
    {"v_readfirstlane_b32", run_read_first, 0, 0, {1, 0, 0}, 0, 0},
    {"v_readlane_b32", run_read, 0, 0, {1, 0, 0}, 0, 0},
    {"v_writelane_b32", run_write, 0, 1, {0, 0, 0}, 0, 0},
    {"v_mbcnt_lo_u32_b32", run_count, 0, 1, {1, 1, 0}, 0, 0},
    {"v_mbcnt_hi_u32_b32", run_count, 0, 1, {1, 1, 0}, 0, 32},
    {"v_movreld_b32", run_relative, 0, 1, {1, 0, 0}, 0, WRITES},
    {"v_movrels_b32", run_relative, 0, 1, {1, 0, 0}, 0, READS},
    {"v_movrelsd_b32", run_relative, 0, 1, {1, 0, 0}, 0, READS | WRITES},
    {"v_swap_b32", run_swap, 0, 1, {1, 0, 0}, 0, 0},
    {"v_nop", run_nothing, 0, 0, {0, 0, 0}, 0, 0},
    {0}};
