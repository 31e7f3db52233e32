/* SPDX-License-Identifier: MIT */
/* Reading and writing registers, as all families do. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gpu.h"

void amd_fail(struct amd_wave *wave, const char *format, ...) {
    if (!wave->done && wave->error[0] == '\0') {
        va_list list;
        va_start(list, format);
        (void)vsnprintf(wave->error, AMD_TEXT, format, list);
        va_end(list);
    }
    wave->done = true;
}

/* ---- EXEC ---- */

uint64_t amd_exec(const struct amd_wave *wave) {
    const uint64_t high = wave->lanes > 32 ? wave->s[AMD_EXEC + 1] : 0;
    return wave->s[AMD_EXEC] | high << 32;
}

const uint32_t *amd_active(struct amd_wave *wave) {
    const uint64_t exec = amd_exec(wave);
    if (!wave->active_known || exec != wave->active_exec) {
        for (uint32_t i = 0; i < AMD_LANES; i++) {
            wave->active[i] = (exec >> i & 1) != 0 ? UINT32_MAX : 0;
        }
        wave->active_exec = exec;
        wave->active_known = true;
    }
    return wave->active;
}

/* ---- scalars ---- */

/* A number in the format of the instruction's operands. */
static uint64_t constant(const struct amd_operand *operand, uint32_t words, uint32_t float_bits) {
    const float single = (float)operand->real;
    uint32_t bits = 0;
    uint64_t wide = 0;
    if (!operand->is_float) {
        /* The high half is what a literal of a 64-bit float has. */
        return words == 2 && float_bits == 64 && operand->is_hex ? (uint64_t)operand->integer << 32
                                                                 : (uint64_t)operand->integer;
    }
    memcpy(&bits, &single, sizeof bits);
    memcpy(&wide, &operand->real, sizeof wide);
    return words == 2 ? wide : bits;
}

uint64_t amd_scalar_read(struct amd_wave *wave, const struct amd_operand *operand, uint32_t words) {
    switch (operand->kind) {
    case AMD_CONSTANT: {
        const uint64_t value = constant(operand, words, 0);
        return words == 2 ? value : (uint32_t)value;
    }
    case AMD_SCC:
        return wave->scc;
    case AMD_SCALAR:
        if (operand->index == AMD_NULL) {
            return 0;
        }
        if (operand->index + words > AMD_SCALARS) {
            break;
        }
        return wave->s[operand->index] |
               (words == 2 ? (uint64_t)wave->s[operand->index + 1] << 32 : 0);
    default:
        break;
    }
    amd_fail(wave, "an operand that is no scalar");
    return 0;
}

void amd_scalar_write(struct amd_wave *wave, const struct amd_operand *operand, uint64_t value,
                      uint32_t words) {
    if (operand->kind != AMD_SCALAR || operand->index + words > AMD_SCALARS) {
        amd_fail(wave, "a result that is no scalar register");
        return;
    }
    if (operand->index == AMD_NULL) {
        return;
    }
    wave->s[operand->index] = (uint32_t)value;
    if (words == 2) {
        wave->s[operand->index + 1] = (uint32_t)(value >> 32);
    }
}

uint64_t amd_mask_read(struct amd_wave *wave, const struct amd_operand *operand) {
    return amd_scalar_read(wave, operand, wave->lanes / 32);
}

void amd_mask_write(struct amd_wave *wave, const struct amd_operand *operand, uint64_t value) {
    amd_scalar_write(wave, operand, value, wave->lanes / 32);
}

/* ---- vectors ---- */

static void select_part(uint32_t *values, uint32_t n, uint32_t part, bool extend) {
    const bool is_byte = part <= AMD_BYTE_3;
    const uint32_t shift = is_byte ? (part - AMD_BYTE_0) * 8 : (part - AMD_WORD_0) * 16;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t value = values[i] >> shift;
        values[i] = is_byte ? (extend ? (uint32_t)(int32_t)(int8_t)value : (uint8_t)value)
                            : (extend ? (uint32_t)(int32_t)(int16_t)value : (uint16_t)value);
    }
}

static void change_sign(uint32_t *values, uint32_t n, const struct amd_operand *operand,
                        uint32_t float_bits) {
    const uint32_t sign = float_bits == 16 ? 0x8000u : 0x80000000u;
    uint32_t *row = float_bits == 64 ? values + AMD_LANES : values;
    for (uint32_t i = 0; i < n; i++) {
        row[i] = (operand->absolute ? row[i] & ~sign : row[i]) ^ (operand->negate ? sign : 0);
    }
}

/* Lane that DPP reads for lane i, or -1. */
static int32_t lane_of(uint32_t control, uint32_t i) {
    const uint32_t row = i & ~15u, at = i & 15u, by = control & 15u;
    if (control < 0x100) {
        return (int32_t)((i & ~3u) + (control >> (2 * (i & 3u)) & 3u));
    }
    switch (control & 0x1f0) {
    case 0x100:
        return at + by < 16 ? (int32_t)(row + at + by) : -1;
    case 0x110:
        return at >= by ? (int32_t)(row + at - by) : -1;
    case 0x120:
        return (int32_t)(row + ((at + 16 - by) & 15u));
    case 0x140:
        return control == 0x140   ? (int32_t)(row + 15 - at)
               : control == 0x141 ? (int32_t)(row + (at & 8u) + 7 - (at & 7u))
               : control == 0x142 ? (i >= 16 ? (int32_t)(row - 1) : -1)
                                  : (i >= 32 ? 31 : -1);
    case 0x150:
        return (int32_t)(row + by);
    default:
        return (int32_t)(row + (at ^ by));
    }
}

/* Lanes that a row or bank mask leaves out, and those without a source, keep the old result: `kept`. */
static uint64_t move_lanes(struct amd_wave *wave, const struct amd_instruction *instruction,
                           uint32_t *values, const uint32_t *from) {
    const struct amd_modifiers *with = &instruction->with;
    const uint64_t exec = amd_exec(wave);
    uint32_t moved[AMD_LANES] = {0};
    uint64_t kept = 0;
    for (uint32_t i = 0; i < wave->lanes; i++) {
        const int32_t lane = lane_of(with->lanes, i);
        const bool has = lane >= 0 && (exec >> lane & 1) != 0;
        const bool masked =
            (with->row_mask >> (i / 16) & 1) == 0 || (with->bank_mask >> (i / 4 & 3) & 1) == 0;
        moved[i] = has ? from[lane] : 0;
        kept |= (uint64_t)(masked || (!has && !with->bound_zero)) << i;
    }
    memcpy(values, moved, sizeof moved);
    return kept;
}

static void broadcast(uint32_t *row, uint32_t value, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        row[i] = value;
    }
}

static bool is_plain(const struct amd_operand *operand) {
    return !operand->negate && !operand->absolute && !operand->extend && operand->part == AMD_DWORD;
}

/* Index of the first register, with the index that s_set_gpr_idx_on adds to sources. */
static uint32_t first_register(struct amd_wave *wave, const struct amd_operand *operand,
                               uint32_t words, uint32_t bit) {
    uint32_t index = operand->index;
    if (wave->indexed && (wave->index_bits >> bit & 1) != 0) {
        index += wave->s[AMD_M0] & 0xffu;
    }
    if (index + words > wave->vgprs) {
        amd_fail(wave, "v%u, and the wave has %u registers", index + words - 1, wave->vgprs);
        return 0;
    }
    return index;
}

static const uint32_t *read_plain(struct amd_wave *wave, const struct amd_operand *operand,
                                  uint32_t words, uint32_t float_bits, uint32_t *room,
                                  uint32_t position) {
    if (operand->kind == AMD_VECTOR) {
        return wave->v[first_register(wave, operand, words, position)];
    }
    const uint64_t value = operand->kind == AMD_CONSTANT ? constant(operand, words, float_bits)
                                                         : amd_scalar_read(wave, operand, words);
    broadcast(room, (uint32_t)value, wave->lanes);
    if (words == 2) {
        broadcast(room + AMD_LANES, (uint32_t)(value >> 32), wave->lanes);
    }
    return room;
}

const uint32_t *amd_vector_read(struct amd_wave *wave, const struct amd_instruction *instruction,
                                uint32_t which, uint32_t words, uint32_t float_bits, uint32_t *room,
                                uint32_t position) {
    const struct amd_operand *operand = &instruction->operands[which];
    const uint32_t *from = read_plain(wave, operand, words, float_bits, room, position);
    const bool moves = instruction->with.by_lanes && position == 0;
    if (is_plain(operand) && !moves) {
        return from;
    }
    if (from != room) {
        memcpy(room, from, (size_t)words * AMD_LANES * sizeof *room);
    }
    if (moves) {
        if (words != 1) {
            amd_fail(wave, "%s: lanes of 64 bits", instruction->operation->name);
        }
        (void)move_lanes(wave, instruction, room, from);
    }
    if (operand->part != AMD_DWORD) {
        select_part(room, wave->lanes, operand->part, operand->extend);
    }
    if (operand->negate || operand->absolute) {
        if (float_bits == 0) {
            amd_fail(wave, "%s: a sign of an integer", instruction->operation->name);
        }
        change_sign(room, wave->lanes, operand, float_bits);
    }
    return room;
}

/* Lanes of DPP that have no source, or that a mask leaves out. */
static uint64_t kept_lanes(struct amd_wave *wave, const struct amd_instruction *instruction) {
    uint32_t unused[AMD_LANES];
    static const uint32_t zeros[AMD_LANES];
    return instruction->with.by_lanes ? move_lanes(wave, instruction, unused, zeros) : 0;
}

static uint32_t put_part(uint32_t old, uint32_t value, const struct amd_modifiers *with) {
    const bool is_byte = with->dst_part <= AMD_BYTE_3;
    const uint32_t width = is_byte ? 8 : 16;
    const uint32_t shift = (with->dst_part - (uint32_t)(is_byte ? AMD_BYTE_0 : AMD_WORD_0)) * width;
    const uint32_t mask = ((UINT32_C(1) << width) - 1) << shift, part = value << shift & mask;
    const uint32_t sign = (value >> (width - 1) & 1) != 0 ? ~(mask | (mask - 1)) : 0;
    return with->dst_unused == 0   ? part
           : with->dst_unused == 1 ? part | (shift + width < 32 ? sign : 0)
                                   : (old & ~mask) | part;
}

uint32_t *amd_vector_row(struct amd_wave *wave, const struct amd_operand *operand, uint32_t words) {
    if (operand->kind != AMD_VECTOR) {
        amd_fail(wave, "an operand that is no vector register");
        return NULL;
    }
    if (operand->index + words > wave->vgprs) {
        amd_fail(wave, "v%u, and the wave has %u registers", operand->index + words - 1,
                 wave->vgprs);
        return NULL;
    }
    return wave->v[operand->index];
}

enum { DESTINATION_BIT = 3 };

void amd_vector_write(struct amd_wave *wave, const struct amd_instruction *instruction,
                      const struct amd_operand *operand, const uint32_t *values, uint32_t words) {
    if (!amd_vector_row(wave, operand, words)) {
        return;
    }
    const uint64_t kept = kept_lanes(wave, instruction);
    const uint32_t first = first_register(wave, operand, words, DESTINATION_BIT);
    const uint32_t *active = amd_active(wave);
    for (uint32_t w = 0; w < words; w++) {
        uint32_t *to = wave->v[first + w];
        const uint32_t *from = values + (size_t)w * AMD_LANES;
        if (kept == 0 && instruction->with.dst_part == AMD_DWORD) {
            for (uint32_t i = 0; i < AMD_LANES; i++) {
                to[i] = (to[i] & ~active[i]) | (from[i] & active[i]);
            }
            continue;
        }
        for (uint32_t i = 0; i < wave->lanes; i++) {
            if (active[i] != 0 && (kept >> i & 1) == 0) {
                to[i] = instruction->with.dst_part == AMD_DWORD
                            ? from[i]
                            : put_part(to[i], from[i], &instruction->with);
            }
        }
    }
}

/* ---- memory ---- */

/* "Buffer resource descriptor": base 47:0, stride 61:48, cache swizzle 62, swizzle 63, records 95:64 (bytes, where there is no stride). */
bool amd_resource_read(struct amd_wave *wave, struct amd_resource *resource,
                       const struct amd_operand *operand) {
    if (operand->kind != AMD_SCALAR || operand->index + 4u > AMD_SCALARS) {
        amd_fail(wave, "a buffer resource that is not in four scalar registers");
        return false;
    }
    const uint32_t *words = &wave->s[operand->index];
    resource->base = words[0] | (uint64_t)(words[1] & 0xffffu) << 32;
    resource->bytes = words[2];
    if (words[1] >> 16 != 0 || (words[3] >> 23 & 1u) != 0) {
        amd_fail(wave, "a buffer with a stride: %#x, %#x", words[1], words[3]);
    }
    return !wave->done;
}

uint8_t *amd_memory_at(struct amd_wave *wave, uint64_t address, uint32_t size, bool writes) {
    const uint64_t number = address >> 40, at = address & (AMD_ADDRESS(1) - 1);
    if (wave->dispatch->memory) {
        uint8_t *bytes = wave->dispatch->memory(wave->dispatch->memory_user, address, size);
        if (!bytes) {
            amd_fail(wave, "%u bytes at %#llx, where nothing is mapped", size,
                     (unsigned long long)address);
        }
        return bytes;
    }
    const struct amd_region *region =
        number < AMD_REGIONS ? &wave->dispatch->regions[number] : NULL;
    if (!region || !region->bytes || at > region->size || region->size - at < size) {
        amd_fail(wave, "%u bytes at %#llx are outside of what the dispatch has", size,
                 (unsigned long long)address);
        return NULL;
    }
    if (writes && !region->writable) {
        amd_fail(wave, "a write at %#llx, which is read only", (unsigned long long)address);
        return NULL;
    }
    return region->bytes + at;
}
