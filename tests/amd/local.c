/* SPDX-License-Identifier: MIT */
/* The workgroup's shared memory (LDS). */
#include <string.h>

#include "access.h"
#include "gpu.h"

/* Addresses are of 32 bits, and an offset added to one wraps. */
static uint8_t *local_at(struct amd_wave *wave, uint32_t at, uint32_t size) {
    if (at > wave->local_size || wave->local_size - at < size) {
        amd_fail(wave, "%u bytes at %#x of shared memory, which has %u", size, at,
                 wave->local_size);
        return NULL;
    }
    return wave->local + at;
}

/* Of the first or second place; where there are two, their offsets count elements. */
static uint32_t offset_of(const struct amd_instruction *instruction, uint32_t which) {
    const uint32_t detail = (uint32_t)instruction->operation->detail;
    const uint32_t unit = AMD_BYTES(detail) * ((detail & AMD_BY_64) != 0 ? 64u : 1u);
    const int32_t elements = which == 0 ? instruction->with.offset0 : instruction->with.offset1;
    return (detail & AMD_TWO) != 0 ? (uint32_t)elements * unit : (uint32_t)instruction->with.offset;
}

static void run_load(struct amd_wave *wave, const struct amd_instruction *instruction) {
    const uint32_t detail = (uint32_t)instruction->operation->detail;
    const uint32_t places = (detail & AMD_TWO) != 0 ? 2 : 1, words = (AMD_BYTES(detail) + 3) / 4;
    const struct amd_operand *to = &instruction->operands[0];
    const uint32_t *at = amd_vector_row(wave, &instruction->operands[1], 1);
    uint32_t loaded[4 * AMD_LANES];
    if (!at || !amd_vector_row(wave, to, places * words)) {
        return;
    }
    for (uint32_t w = 0; w < places * words; w++) {
        memcpy(&loaded[w * AMD_LANES], wave->v[to->index + w], AMD_LANES * sizeof *loaded);
    }
    const uint64_t exec = amd_exec(wave);
    for (uint32_t p = 0; p < places; p++) {
        for (uint32_t lane = 0; lane < wave->lanes; lane++) {
            const uint8_t *bytes =
                (exec >> lane & 1) == 0
                    ? NULL
                    : local_at(wave, at[lane] + offset_of(instruction, p), AMD_BYTES(detail));
            if (bytes) {
                amd_load_lane(loaded + (size_t)p * words * AMD_LANES, lane, bytes, detail);
            }
        }
    }
    if (!wave->done) {
        amd_vector_write(wave, instruction, to, loaded, places * words);
    }
}

static void run_store(struct amd_wave *wave, const struct amd_instruction *instruction) {
    const uint32_t detail = (uint32_t)instruction->operation->detail;
    const uint32_t places = (detail & AMD_TWO) != 0 ? 2 : 1, words = (AMD_BYTES(detail) + 3) / 4;
    const uint32_t *at = amd_vector_row(wave, &instruction->operands[0], 1);
    const uint64_t exec = amd_exec(wave);
    for (uint32_t p = 0; p < places && at; p++) {
        const uint32_t *data = amd_vector_row(wave, &instruction->operands[1 + p], words);
        for (uint32_t lane = 0; data && lane < wave->lanes; lane++) {
            uint8_t *bytes =
                (exec >> lane & 1) == 0
                    ? NULL
                    : local_at(wave, at[lane] + offset_of(instruction, p), AMD_BYTES(detail));
            if (bytes) {
                amd_store_lane(bytes, data, lane, detail);
            }
        }
    }
}

/* DS_ADD_U32 and its like. DS_CMPST compares with the first data and writes the second, RDNA 3's DS_CMPSTORE the other way round. */
enum { WRITES_FIRST = 1 << 19 };

static void run_atomic(struct amd_wave *wave, const struct amd_instruction *instruction) {
    const uint32_t detail = (uint32_t)instruction->operation->detail, atomic = AMD_ATOMIC(detail);
    const uint32_t first = (detail & AMD_RETURNS) != 0 ? 1 : 0;
    const uint32_t second = atomic == AMD_ATOMIC_COMPARE ? first + 2 : first + 1;
    const uint32_t *at = amd_vector_row(wave, &instruction->operands[first], 1);
    const uint32_t *one = amd_vector_row(wave, &instruction->operands[first + 1], 1);
    const uint32_t *two = amd_vector_row(wave, &instruction->operands[second], 1);
    uint32_t *to = first == 1 ? amd_vector_row(wave, &instruction->operands[0], 1) : NULL;
    const bool swapped = atomic == AMD_ATOMIC_COMPARE && (detail & WRITES_FIRST) == 0;
    for (uint32_t lane = 0; lane < wave->lanes && !wave->done; lane++) {
        uint32_t before = 0;
        uint8_t *bytes = (amd_exec(wave) >> lane & 1) == 0
                             ? NULL
                             : local_at(wave, at[lane] + offset_of(instruction, 0), 4);
        if (!bytes) {
            continue;
        }
        memcpy(&before, bytes, sizeof before);
        const uint32_t after = swapped ? amd_atomic_result(atomic, before, two[lane], one[lane])
                                       : amd_atomic_result(atomic, before, one[lane], two[lane]);
        memcpy(bytes, &after, sizeof after);
        if (to) {
            to[lane] = before;
        }
    }
}

/* "DS_BPERMUTE_B32: each lane reads the data of the lane that it names by four times its number"; of an inactive lane zero. */
static void run_permute(struct amd_wave *wave, const struct amd_instruction *instruction) {
    uint32_t to[AMD_LANES];
    const uint32_t *at = amd_vector_row(wave, &instruction->operands[1], 1);
    const uint32_t *data = amd_vector_row(wave, &instruction->operands[2], 1);
    const uint64_t exec = amd_exec(wave);
    for (uint32_t i = 0; !wave->done && i < wave->lanes; i++) {
        const uint32_t lane =
            ((at[i] + (uint32_t)instruction->with.offset) / 4) & (wave->lanes - 1);
        to[i] = (exec >> lane & 1) != 0 ? data[lane] : 0;
    }
    if (!wave->done) {
        amd_vector_write(wave, instruction, &instruction->operands[0], to, 1);
    }
}

#define ROW(name, run, detail) \
    { name, run, 0, 0, {0, 0, 0}, 0, detail }
#define ATOMIC(name, type, atomic)                           \
    ROW("ds_" name "_" type, run_atomic, 4 | (atomic) << 8), \
        ROW("ds_" name "_rtn_" type, run_atomic, 4 | (atomic) << 8 | AMD_RETURNS)

const struct amd_operation amd_local_operations[] = {
    ROW("ds_read_u8", run_load, 1),
    ROW("ds_read_i8", run_load, 1 | AMD_SIGNED),
    ROW("ds_read_u16", run_load, 2),
    ROW("ds_read_i16", run_load, 2 | AMD_SIGNED),
    ROW("ds_read_b32", run_load, 4),
    ROW("ds_read_b64", run_load, 8),
    ROW("ds_read_b96", run_load, 12),
    ROW("ds_read_b128", run_load, 16),
    ROW("ds_read_u8_d16", run_load, 1 | AMD_LOW),
    ROW("ds_read_u16_d16", run_load, 2 | AMD_LOW),
    ROW("ds_read_u8_d16_hi", run_load, 1 | AMD_HIGH),
    ROW("ds_read_u16_d16_hi", run_load, 2 | AMD_HIGH),
    ROW("ds_read2_b32", run_load, 4 | AMD_TWO),
    ROW("ds_read2_b64", run_load, 8 | AMD_TWO),
    ROW("ds_read2st64_b32", run_load, 4 | AMD_TWO | AMD_BY_64),
    ROW("ds_read2st64_b64", run_load, 8 | AMD_TWO | AMD_BY_64),
    ROW("ds_read_2addr_b32", run_load, 4 | AMD_TWO),
    ROW("ds_read_2addr_b64", run_load, 8 | AMD_TWO),
    ROW("ds_read_2addr_stride64_b32", run_load, 4 | AMD_TWO | AMD_BY_64),
    ROW("ds_read_2addr_stride64_b64", run_load, 8 | AMD_TWO | AMD_BY_64),
    ROW("ds_write_b8", run_store, 1),
    ROW("ds_write_b16", run_store, 2),
    ROW("ds_write_b32", run_store, 4),
    ROW("ds_write_b64", run_store, 8),
    ROW("ds_write_b96", run_store, 12),
    ROW("ds_write_b128", run_store, 16),
    ROW("ds_write_b8_d16_hi", run_store, 1 | AMD_HIGH),
    ROW("ds_write_b16_d16_hi", run_store, 2 | AMD_HIGH),
    ROW("ds_write2_b32", run_store, 4 | AMD_TWO),
    ROW("ds_write2_b64", run_store, 8 | AMD_TWO),
    ROW("ds_write2st64_b32", run_store, 4 | AMD_TWO | AMD_BY_64),
    ROW("ds_write2st64_b64", run_store, 8 | AMD_TWO | AMD_BY_64),
    ROW("ds_write_2addr_b32", run_store, 4 | AMD_TWO),
    ROW("ds_write_2addr_b64", run_store, 8 | AMD_TWO),
    ROW("ds_write_2addr_stride64_b32", run_store, 4 | AMD_TWO | AMD_BY_64),
    ROW("ds_write_2addr_stride64_b64", run_store, 8 | AMD_TWO | AMD_BY_64),
    ATOMIC("add", "u32", AMD_ATOMIC_ADD),
    ATOMIC("sub", "u32", AMD_ATOMIC_SUB),
    ATOMIC("min", "i32", AMD_ATOMIC_SMIN),
    ATOMIC("min", "u32", AMD_ATOMIC_UMIN),
    ATOMIC("max", "i32", AMD_ATOMIC_SMAX),
    ATOMIC("max", "u32", AMD_ATOMIC_UMAX),
    ATOMIC("and", "b32", AMD_ATOMIC_AND),
    ATOMIC("or", "b32", AMD_ATOMIC_OR),
    ATOMIC("xor", "b32", AMD_ATOMIC_XOR),
    ROW("ds_wrxchg_rtn_b32", run_atomic, 4 | AMD_ATOMIC_SWAP << 8 | AMD_RETURNS),
    ROW("ds_storexchg_rtn_b32", run_atomic, 4 | AMD_ATOMIC_SWAP << 8 | AMD_RETURNS),
    ATOMIC("cmpst", "b32", AMD_ATOMIC_COMPARE),
    ROW("ds_cmpstore_rtn_b32", run_atomic,
        4 | AMD_ATOMIC_COMPARE << 8 | AMD_RETURNS | WRITES_FIRST),
    ROW("ds_cmpstore_b32", run_atomic, 4 | AMD_ATOMIC_COMPARE << 8 | WRITES_FIRST),
    ROW("ds_bpermute_b32", run_permute, 4),
    {0}};
