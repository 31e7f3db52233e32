/* SPDX-License-Identifier: MIT */
/*
 * Memory of the device (global_, flat_, and buffer_ with a resource) and of invocations (scratch_, and buffer_ with the descriptor of private
 * memory that a wave begins with). Each lane's address is checked.
 */
#include <string.h>

#include "access.h"
#include "gpu.h"

/* Where the operands stand: a load's result comes first, then its address; a store's address, then its data. */
struct parts {
    const struct amd_operand *to, *address, *data, *base;
};

static struct parts parts_of(const struct amd_instruction *instruction, bool is_buffer) {
    const uint32_t detail = (uint32_t)instruction->operation->detail;
    const struct amd_operand *o = instruction->operands;
    const bool atomic = AMD_ATOMIC(detail) != 0, returns = atomic && instruction->with.glc;
    static const struct amd_operand none = {.kind = AMD_NOTHING};
    if (is_buffer) {
        return (struct parts){.to = &o[0], .address = &o[1], .data = &o[0], .base = &o[3]};
    }
    const uint32_t first = atomic ? returns : (detail & AMD_STORES) == 0;
    const uint32_t base = first + (atomic || (detail & AMD_STORES) != 0 ? 2u : 1u);
    return (struct parts){.to = &o[0],
                          .address = &o[first],
                          .data = &o[first + 1],
                          .base = base < instruction->count ? &o[base] : &none};
}

/* ---- addresses ---- */

static uint64_t global_address(const struct amd_wave *wave, const struct parts *parts,
                               uint64_t base, uint32_t lane) {
    const uint32_t low =
        parts->address->kind == AMD_VECTOR ? wave->v[parts->address->index][lane] : 0;
    return parts->base->kind == AMD_SCALAR && parts->base->index != AMD_NULL
               ? base + low
               : low | (uint64_t)wave->v[parts->address->index + 1][lane] << 32;
}

static uint8_t *private_at(struct amd_wave *wave, uint64_t at, uint32_t size, uint32_t lane) {
    if (at > wave->private_size || wave->private_size - at < size) {
        amd_fail(wave, "%u bytes at %#llx of private memory, which has %u", size,
                 (unsigned long long)at, wave->private_size);
        return NULL;
    }
    return wave->private_bytes + (size_t)wave->private_size * lane + at;
}

/* Whether the descriptor's base is that of the wave's private memory. */
static bool is_private(struct amd_wave *wave, const struct amd_operand *descriptor) {
    const uint64_t low = amd_scalar_read(wave, descriptor, 2) & UINT64_C(0xffffffffffff);
    return low == AMD_SCRATCH_ADDRESS + (uint64_t)wave->number * AMD_SCRATCH_STEP;
}

/* What an address of private memory has beside the lane's own part. A stack's pointer counts the bytes of all lanes. */
static uint64_t private_base(struct amd_wave *wave, const struct amd_instruction *instruction,
                             const struct parts *parts, bool is_buffer) {
    if (!is_buffer) {
        return parts->base->kind == AMD_NOTHING ? 0 : amd_scalar_read(wave, parts->base, 1);
    }
    const uint64_t bytes = amd_scalar_read(wave, parts->base, 1);
    if (bytes % (4 * (uint64_t)wave->lanes) != 0) {
        amd_fail(wave, "%s at %llu bytes of all lanes", instruction->operation->name,
                 (unsigned long long)bytes);
    }
    return bytes / wave->lanes;
}

static bool has_registers(struct amd_wave *wave, const struct parts *parts, bool is_global) {
    const bool by_base = parts->base->kind == AMD_SCALAR && parts->base->index != AMD_NULL;
    const bool has_address = parts->address->kind == AMD_VECTOR;
    const uint32_t words = is_global && !by_base ? 2 : 1;
    if (is_global && !has_address) {
        amd_fail(wave, "an access without an address");
        return false;
    }
    return !has_address || amd_vector_row(wave, parts->address, words);
}

/* ---- running them ---- */

enum space { GLOBAL, SCRATCH, BUFFER /* private memory, by a descriptor */, RESOURCE };

/*
 * "Raw buffer: out of range if the offset is not below the records". The offset is a sum of 32 bits that wraps: ACO moves constants from a
 * register into the instruction, whatever the register has. Hardware reads zeros there, and writes nothing: here, that is an error.
 */
static uint8_t *resource_at(struct amd_wave *wave, const struct amd_resource *resource,
                            uint64_t offset, uint32_t size, bool writes) {
    if (offset > resource->bytes || resource->bytes - offset < size) {
        amd_fail(wave, "%u bytes at %#llx of a buffer of %#llx", size, (unsigned long long)offset,
                 (unsigned long long)resource->bytes);
        return NULL;
    }
    return amd_memory_at(wave, resource->base + offset, size, writes);
}

/* Null with a failure. */
static uint8_t *bytes_of(struct amd_wave *wave, const struct amd_instruction *instruction,
                         const struct parts *parts, const struct amd_resource *at, enum space space,
                         uint32_t lane) {
    const uint32_t detail = (uint32_t)instruction->operation->detail, size = AMD_BYTES(detail);
    const uint64_t offset = (uint64_t)(int64_t)instruction->with.offset, base = at->base;
    const bool writes = (detail & AMD_STORES) != 0 || AMD_ATOMIC(detail) != 0;
    if (space == GLOBAL) {
        return amd_memory_at(wave, global_address(wave, parts, base, lane) + offset, size, writes);
    }
    const bool by_lane = parts->address->kind == AMD_VECTOR;
    const uint64_t own = by_lane ? wave->v[parts->address->index][lane] : 0;
    if (space == RESOURCE) {
        const uint64_t more = amd_scalar_read(wave, parts->base, 1);
        return resource_at(wave, at, (uint32_t)(own + offset + more), size, writes);
    }
    return private_at(wave, base + own + offset, size, lane);
}

static void change(struct amd_wave *wave, const struct amd_instruction *instruction,
                   const struct parts *parts, uint8_t *bytes, uint32_t lane) {
    const uint32_t atomic = AMD_ATOMIC((uint32_t)instruction->operation->detail);
    const uint32_t data = wave->v[parts->data->index][lane];
    const uint32_t compared =
        atomic == AMD_ATOMIC_COMPARE ? wave->v[parts->data->index + 1][lane] : 0;
    uint32_t before = 0;
    memcpy(&before, bytes, sizeof before);
    const uint32_t after = amd_atomic_result(atomic, before, data, compared);
    memcpy(bytes, &after, sizeof after);
    if (instruction->with.glc) {
        wave->v[parts->to->index][lane] = before;
    }
}

static void run(struct amd_wave *wave, const struct amd_instruction *instruction,
                enum space space) {
    const uint32_t detail = (uint32_t)instruction->operation->detail;
    const uint32_t words = (AMD_BYTES(detail) + 3) / 4, atomic = AMD_ATOMIC(detail);
    const struct parts parts = parts_of(instruction, space == BUFFER);
    const bool reads = atomic == 0 && (detail & AMD_STORES) == 0;
    const uint32_t data_words = atomic == AMD_ATOMIC_COMPARE ? 2 : words;
    if (wave->indexed || !has_registers(wave, &parts, space == GLOBAL) ||
        !amd_vector_row(wave, reads ? parts.to : parts.data, data_words) ||
        (atomic != 0 && instruction->with.glc && !amd_vector_row(wave, parts.to, words))) {
        amd_fail(wave, "%s by a register's index", instruction->operation->name);
        return;
    }
    struct amd_resource at = {.base = 0};
    if (space == BUFFER && !is_private(wave, &instruction->operands[2])) {
        space = RESOURCE;
        (void)amd_resource_read(wave, &at, &instruction->operands[2]);
    } else if (space != GLOBAL) {
        at.base = private_base(wave, instruction, &parts, space == BUFFER);
    } else if (parts.base->kind == AMD_SCALAR) {
        at.base = amd_scalar_read(wave, parts.base, 2);
    }
    const uint64_t exec = amd_exec(wave);
    /* a result may lie on the address */
    uint32_t loaded[4 * AMD_LANES];
    for (uint32_t w = 0; reads && w < words; w++) {
        memcpy(&loaded[w * AMD_LANES], wave->v[parts.to->index + w], AMD_LANES * sizeof *loaded);
    }
    for (uint32_t lane = 0; lane < wave->lanes && !wave->done; lane++) {
        uint8_t *bytes =
            (exec >> lane & 1) == 0 ? NULL : bytes_of(wave, instruction, &parts, &at, space, lane);
        if (!bytes) {
            continue;
        }
        if (atomic != 0) {
            change(wave, instruction, &parts, bytes, lane);
        } else if (reads) {
            amd_load_lane(loaded, lane, bytes, detail);
        } else {
            amd_store_lane(bytes, wave->v[parts.data->index], lane, detail);
        }
    }
    if (reads && !wave->done) {
        amd_vector_write(wave, instruction, parts.to, loaded, words);
    }
}

static void run_global(struct amd_wave *wave, const struct amd_instruction *instruction) {
    run(wave, instruction, GLOBAL);
}

static void run_scratch(struct amd_wave *wave, const struct amd_instruction *instruction) {
    run(wave, instruction, SCRATCH);
}

static void run_buffer(struct amd_wave *wave, const struct amd_instruction *instruction) {
    run(wave, instruction, BUFFER);
}

/* ---- table ---- */

#define ROW(name, run, detail) \
    { name, run, 0, 0, {0, 0, 0}, 0, detail }
#define IN_EACH(name, detail)                                                       \
    ROW("global_" name, run_global, detail), ROW("flat_" name, run_global, detail), \
        ROW("scratch_" name, run_scratch, detail), ROW("buffer_" name, run_buffer, detail)
#define ATOMIC(name, newer, atomic)                                 \
    ROW("global_atomic_" name, run_global, 4 | (atomic) << 8),      \
        ROW("flat_atomic_" name, run_global, 4 | (atomic) << 8),    \
        ROW("global_atomic_" newer, run_global, 4 | (atomic) << 8), \
        ROW("flat_atomic_" newer, run_global, 4 | (atomic) << 8)

const struct amd_operation amd_memory_operations[] = {
    IN_EACH("load_ubyte", 1),
    IN_EACH("load_sbyte", 1 | AMD_SIGNED),
    IN_EACH("load_ushort", 2),
    IN_EACH("load_sshort", 2 | AMD_SIGNED),
    IN_EACH("load_dword", 4),
    IN_EACH("load_dwordx2", 8),
    IN_EACH("load_dwordx3", 12),
    IN_EACH("load_dwordx4", 16),
    IN_EACH("load_ubyte_d16", 1 | AMD_LOW),
    IN_EACH("load_sbyte_d16", 1 | AMD_LOW | AMD_SIGNED),
    IN_EACH("load_short_d16", 2 | AMD_LOW),
    IN_EACH("load_ubyte_d16_hi", 1 | AMD_HIGH),
    IN_EACH("load_sbyte_d16_hi", 1 | AMD_HIGH | AMD_SIGNED),
    IN_EACH("load_short_d16_hi", 2 | AMD_HIGH),
    IN_EACH("load_d16_u8", 1 | AMD_LOW),
    IN_EACH("load_d16_b16", 2 | AMD_LOW),
    IN_EACH("load_d16_hi_u8", 1 | AMD_HIGH),
    IN_EACH("load_d16_hi_b16", 2 | AMD_HIGH),
    IN_EACH("store_byte", 1 | AMD_STORES),
    IN_EACH("store_short", 2 | AMD_STORES),
    IN_EACH("store_dword", 4 | AMD_STORES),
    IN_EACH("store_dwordx2", 8 | AMD_STORES),
    IN_EACH("store_dwordx3", 12 | AMD_STORES),
    IN_EACH("store_dwordx4", 16 | AMD_STORES),
    IN_EACH("store_byte_d16_hi", 1 | AMD_STORES | AMD_HIGH),
    IN_EACH("store_short_d16_hi", 2 | AMD_STORES | AMD_HIGH),
    IN_EACH("store_d16_hi_b8", 1 | AMD_STORES | AMD_HIGH),
    IN_EACH("store_d16_hi_b16", 2 | AMD_STORES | AMD_HIGH),
    ATOMIC("swap", "swap_b32", AMD_ATOMIC_SWAP),
    ATOMIC("cmpswap", "cmpswap_b32", AMD_ATOMIC_COMPARE),
    ATOMIC("add", "add_u32", AMD_ATOMIC_ADD),
    ATOMIC("sub", "sub_u32", AMD_ATOMIC_SUB),
    ATOMIC("smin", "min_i32", AMD_ATOMIC_SMIN),
    ATOMIC("umin", "min_u32", AMD_ATOMIC_UMIN),
    ATOMIC("smax", "max_i32", AMD_ATOMIC_SMAX),
    ATOMIC("umax", "max_u32", AMD_ATOMIC_UMAX),
    ATOMIC("and", "and_b32", AMD_ATOMIC_AND),
    ATOMIC("or", "or_b32", AMD_ATOMIC_OR),
    ATOMIC("xor", "xor_b32", AMD_ATOMIC_XOR),
    {0}};
