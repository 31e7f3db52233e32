/* SPDX-License-Identifier: MIT */
/* Products of matrices by a whole wave: RDNA 3's WMMA of bytes. */
#include <string.h>

#include "lanes.h"
#include "vector.h"

enum { SIZE = 16, BYTES_AT_ONCE = 4, FACTOR_ROWS = SIZE / BYTES_AT_ONCE, SUM_ROWS = SIZE / 2 };

/* A row of the first factor, or a column of the second: lanes 16 to 31 have what lanes 0 to 15 have, which the manual asks for. */
static void read_factor(int32_t values[SIZE][SIZE], struct amd_wave *wave,
                        const struct amd_instruction *instruction, uint32_t which) {
    const bool is_signed = (instruction->with.signed_ones >> (which - 1) & 1u) != 0;
    const uint32_t *row = amd_vector_row(wave, &instruction->operands[which], FACTOR_ROWS);
    for (uint32_t k = 0; row && k < SIZE; k++) {
        const uint32_t *words = row + (size_t)(k / BYTES_AT_ONCE) * AMD_LANES;
        for (uint32_t lane = 0; lane < SIZE; lane++) {
            const uint8_t byte = (uint8_t)(words[lane] >> (8 * (k % BYTES_AT_ONCE)));
            values[lane][k] = is_signed ? (int8_t)byte : byte;
            if (words[lane] != words[SIZE + lane]) {
                amd_fail(wave, "%s: lanes %u and %u have other bytes", instruction->operation->name,
                         lane, SIZE + lane);
            }
        }
    }
}

/*
 * V_WMMA_I32_16X16X16_IU8, of a wave of 32: D = A B + C. Register i of C and D has row 2 i in lanes 0 to 15, row 2 i + 1 in the others, and a
 * column in each lane. NEG[0] and NEG[1] say which factors have signs; EXEC is ignored.
 */
static void run_bytes(struct amd_wave *wave, const struct amd_instruction *instruction) {
    int32_t a[SIZE][SIZE], b[SIZE][SIZE];
    const struct amd_operand *third = &instruction->operands[3];
    uint32_t to[SUM_ROWS][AMD_LANES] = {{0}};
    if (wave->lanes != 32 || instruction->with.clamp) {
        amd_fail(wave, "%s with clamp, or a wave of 64", instruction->operation->name);
    }
    read_factor(a, wave, instruction, 1);
    read_factor(b, wave, instruction, 2);
    uint32_t *result = amd_vector_row(wave, &instruction->operands[0], SUM_ROWS);
    const uint32_t *sums =
        third->kind == AMD_VECTOR ? amd_vector_row(wave, third, SUM_ROWS) : to[0];
    if (third->kind != AMD_VECTOR && amd_scalar_read(wave, third, 1) != 0) {
        amd_fail(wave, "%s: a constant that is not 0", instruction->operation->name);
    }
    for (uint32_t i = 0; !wave->done && i < SUM_ROWS * 32; i++) {
        const uint32_t at = i / 32, lane = i % 32;
        uint32_t sum = sums[(size_t)at * AMD_LANES + lane];
        for (uint32_t k = 0; k < SIZE; k++) {
            sum += (uint32_t)(a[2 * at + lane / SIZE][k] * b[lane % SIZE][k]);
        }
        to[at][lane] = sum;
    }
    for (uint32_t at = 0; !wave->done && at < SUM_ROWS; at++) {
        memcpy(result + (size_t)at * AMD_LANES, to[at], 32 * sizeof **to);
    }
}

const struct amd_operation amd_matrix_operations[] = {
    {"v_wmma_i32_16x16x16_iu8", run_bytes, 0, 0, {0, 0, 0}, 0, 0}, {0}};
