/* SPDX-License-Identifier: MIT */
/* Branches, barriers, the mode register, and loads of scalars. */
#include <stdlib.h>
#include <string.h>

#include "gpu.h"

/* ---- nothing: memory is done when it is asked for ---- */

static void run_nothing(struct amd_wave *wave, const struct amd_instruction *instruction) {
    (void)wave;
    (void)instruction;
}

static void run_end(struct amd_wave *wave, const struct amd_instruction *instruction) {
    (void)instruction;
    wave->done = true;
}

static void run_barrier(struct amd_wave *wave, const struct amd_instruction *instruction) {
    (void)instruction;
    wave->waits = true;
}

/* ---- branches ---- */

enum { ALWAYS = 0, SCC_0, SCC_1, VCC_ZERO, VCC_SOME, EXEC_ZERO, EXEC_SOME };

static bool holds(struct amd_wave *wave, int32_t condition) {
    static const struct amd_operand vcc = {.kind = AMD_SCALAR, .index = AMD_VCC};
    switch (condition) {
    case SCC_0:
        return !wave->scc;
    case SCC_1:
        return wave->scc;
    case VCC_ZERO:
        return amd_mask_read(wave, &vcc) == 0;
    case VCC_SOME:
        return amd_mask_read(wave, &vcc) != 0;
    case EXEC_ZERO:
        return amd_exec(wave) == 0;
    case EXEC_SOME:
        return amd_exec(wave) != 0;
    default:
        return true;
    }
}

static void run_branch(struct amd_wave *wave, const struct amd_instruction *instruction) {
    if (holds(wave, instruction->operation->detail)) {
        wave->at = instruction->target;
    }
}

/* ---- addresses of code ---- */

static uint64_t address_behind(const struct amd_wave *wave,
                               const struct amd_instruction *instruction) {
    return wave->program->address + (uint64_t)(instruction->place + instruction->words) * 4;
}

static void run_get_place(struct amd_wave *wave, const struct amd_instruction *instruction) {
    amd_scalar_write(wave, &instruction->operands[0], address_behind(wave, instruction), 2);
}

static void jump(struct amd_wave *wave, uint64_t address) {
    const struct amd_program *program = wave->program;
    const uint64_t word = (address - program->address) / 4;
    if (address % 4 != 0 || word >= program->code_size / 4 ||
        program->of_word[word] == UINT32_MAX) {
        amd_fail(wave, "a jump to %#llx, where there is no instruction",
                 (unsigned long long)address);
        return;
    }
    wave->at = program->of_word[word];
}

static void run_jump(struct amd_wave *wave, const struct amd_instruction *instruction) {
    jump(wave, amd_scalar_read(wave, &instruction->operands[0], 2));
}

static void run_call(struct amd_wave *wave, const struct amd_instruction *instruction) {
    const uint64_t address = amd_scalar_read(wave, &instruction->operands[1], 2);
    amd_scalar_write(wave, &instruction->operands[0], address_behind(wave, instruction), 2);
    jump(wave, address);
}

/* ---- the mode register ---- */

static void run_mode_part(struct amd_wave *wave, const struct amd_instruction *instruction) {
    const uint32_t shift = (uint32_t)instruction->operation->detail;
    const uint32_t value = (uint32_t)amd_scalar_read(wave, &instruction->operands[0], 1) & 15u;
    amd_mode_set(wave, (wave->mode_bits & ~(15u << shift)) | value << shift);
}

/* "hwreg(HW_REG_MODE, 4, 2)": the first bit and their number */
static bool find_field(struct amd_wave *wave, const struct amd_operand *operand, const char **name,
                       uint32_t *first, uint32_t *count) {
    static const char *const names[] = {"hwreg(HW_REG_MODE", "hwreg(HW_REG_FLAT_SCR_LO",
                                        "hwreg(HW_REG_FLAT_SCR_HI"};
    for (size_t i = 0; operand->kind == AMD_WORDS && i < sizeof names / sizeof names[0]; i++) {
        const size_t length = strlen(names[i]);
        const char *rest = operand->name + length;
        if (strncmp(operand->name, names[i], length) != 0 || (*rest != ')' && *rest != ',')) {
            continue;
        }
        char *end = NULL;
        *name = names[i];
        *first = 0;
        *count = 32;
        if (*rest == ',') {
            *first = (uint32_t)strtoul(rest + 1, &end, 10);
            *count = (uint32_t)strtoul(end + 1, NULL, 10);
        }
        return *first < 32 && *count >= 1 && *count <= 32;
    }
    amd_fail(wave, "the register %s", operand->name);
    return false;
}

static void run_set(struct amd_wave *wave, const struct amd_instruction *instruction) {
    const char *name = NULL;
    uint32_t first = 0, count = 0;
    const struct amd_operand *from = &instruction->operands[1];
    if (!find_field(wave, &instruction->operands[0], &name, &first, &count)) {
        return;
    }
    const uint32_t mask = (uint32_t)(((UINT64_C(1) << count) - 1) << first);
    const uint32_t value = (uint32_t)amd_scalar_read(wave, from, 1) << first & mask;
    if (strstr(name, "MODE")) {
        amd_mode_set(wave, (wave->mode_bits & ~mask) | value);
    } else {
        uint32_t *half = &wave->s[AMD_FLAT_SCRATCH + (strstr(name, "_HI") ? 1 : 0)];
        *half = (*half & ~mask) | value;
    }
}

static void run_get(struct amd_wave *wave, const struct amd_instruction *instruction) {
    const char *name = NULL;
    uint32_t first = 0, count = 0;
    if (find_field(wave, &instruction->operands[1], &name, &first, &count)) {
        const uint32_t whole = strstr(name, "MODE")  ? wave->mode_bits
                               : strstr(name, "_HI") ? wave->s[AMD_FLAT_SCRATCH + 1]
                                                     : wave->s[AMD_FLAT_SCRATCH];
        const uint64_t value = whole >> first & ((UINT64_C(1) << count) - 1);
        amd_scalar_write(wave, &instruction->operands[0], value, 1);
    }
}

/* ---- GCN's register index mode ---- */

/* "gpr_idx(SRC0,DST)" as bits: sources 0 to 2, the result 3 */
static uint32_t index_bits_of(const char *names) {
    return (strstr(names, "SRC0") ? 1u : 0) | (strstr(names, "SRC1") ? 2u : 0) |
           (strstr(names, "SRC2") ? 4u : 0) | (strstr(names, "DST") ? 8u : 0);
}

static void run_index_on(struct amd_wave *wave, const struct amd_instruction *instruction) {
    const struct amd_operand *which = &instruction->operands[1];
    const uint32_t index = (uint32_t)amd_scalar_read(wave, &instruction->operands[0], 1) & 0xffu;
    wave->index_bits =
        which->kind == AMD_CONSTANT ? (uint32_t)which->integer & 15u : index_bits_of(which->name);
    wave->s[AMD_M0] = (wave->s[AMD_M0] & 0xffff0f00u) | index | wave->index_bits << 12;
    wave->indexed = true;
}

static void run_index_off(struct amd_wave *wave, const struct amd_instruction *instruction) {
    (void)instruction;
    wave->indexed = false;
}

/* ---- scalar loads ---- */

/* S_LOAD: address = SBASE + offset + register, its low two bits ignored */
static void run_load(struct amd_wave *wave, const struct amd_instruction *instruction) {
    const struct amd_operand *to = &instruction->operands[0], *by = &instruction->operands[2];
    const uint32_t words = (uint32_t)instruction->operation->detail;
    const uint64_t base = amd_scalar_read(wave, &instruction->operands[1], 2);
    const uint64_t offset =
        by->kind == AMD_CONSTANT ? (uint64_t)by->integer : amd_scalar_read(wave, by, 1);
    const uint64_t address =
        (base + offset + (uint64_t)(int64_t)instruction->with.offset) & ~UINT64_C(3);
    const uint8_t *bytes = amd_memory_at(wave, address, 4 * words, false);
    if (!bytes) {
        return;
    }
    if (to->kind != AMD_SCALAR || to->index + words > AMD_VCC + 2u) {
        amd_fail(wave, "%s into what is no scalar register", instruction->operation->name);
        return;
    }
    memcpy(&wave->s[to->index], bytes, 4 * (size_t)words);
}

/* "S_BUFFER_LOAD: as S_LOAD, of a buffer resource": its words that begin behind the buffer read 0. */
static void run_buffer_load(struct amd_wave *wave, const struct amd_instruction *instruction) {
    const struct amd_operand *to = &instruction->operands[0], *by = &instruction->operands[2];
    const uint32_t words = (uint32_t)instruction->operation->detail;
    struct amd_resource resource;
    if (!amd_resource_read(wave, &resource, &instruction->operands[1])) {
        return;
    }
    if (to->kind != AMD_SCALAR || to->index + words > AMD_VCC + 2u) {
        amd_fail(wave, "%s into what is no scalar register", instruction->operation->name);
        return;
    }
    const uint64_t more =
        by->kind == AMD_CONSTANT ? (uint64_t)by->integer : amd_scalar_read(wave, by, 1);
    const uint64_t offset = (more + (uint64_t)(int64_t)instruction->with.offset) & ~UINT64_C(3);
    for (uint32_t i = 0; i < words && !wave->done; i++) {
        const uint64_t at = offset + 4 * (uint64_t)i;
        const uint8_t *bytes =
            at + 4 <= resource.bytes ? amd_memory_at(wave, resource.base + at, 4, false) : NULL;
        wave->s[to->index + i] = 0;
        if (bytes) {
            memcpy(&wave->s[to->index + i], bytes, 4);
        }
    }
}

/* ---- scalar registers by M0 ---- */

enum { FROM_M0 = 1, TO_M0 = 2, WIDE = 4 };

static void run_relative(struct amd_wave *wave, const struct amd_instruction *instruction) {
    const uint32_t detail = (uint32_t)instruction->operation->detail, by = wave->s[AMD_M0];
    const uint32_t words = (detail & WIDE) != 0 ? 2 : 1;
    struct amd_operand to = instruction->operands[0], from = instruction->operands[1];
    struct amd_operand *moved = (detail & TO_M0) != 0 ? &to : &from;
    if (moved->kind != AMD_SCALAR || by >= AMD_VCC || moved->index + by + words > AMD_VCC) {
        amd_fail(wave, "%s with %u in M0", instruction->operation->name, by);
        return;
    }
    moved->index = (uint16_t)(moved->index + by);
    amd_scalar_write(wave, &to, amd_scalar_read(wave, &from, words), words);
}

/* ---- table ---- */

#define ROW(name, run, detail) \
    { name, run, 0, 0, {0, 0, 0}, 0, detail }

const struct amd_operation amd_control_operations[] = {
    ROW("s_nop", run_nothing, 0),
    ROW("s_waitcnt", run_nothing, 0),
    ROW("s_waitcnt_vscnt", run_nothing, 0),
    ROW("s_waitcnt_vmcnt", run_nothing, 0),
    ROW("s_waitcnt_lgkmcnt", run_nothing, 0),
    ROW("s_waitcnt_expcnt", run_nothing, 0),
    ROW("s_waitcnt_depctr", run_nothing, 0),
    ROW("s_wait_idle", run_nothing, 0),
    ROW("s_clause", run_nothing, 0),
    ROW("s_inst_prefetch", run_nothing, 0),
    ROW("s_set_inst_prefetch_distance", run_nothing, 0),
    ROW("s_delay_alu", run_nothing, 0),
    ROW("s_sleep", run_nothing, 0),
    ROW("s_setprio", run_nothing, 0),
    /* caches: there are none */
    ROW("buffer_gl0_inv", run_nothing, 0),
    ROW("buffer_gl1_inv", run_nothing, 0),
    ROW("buffer_wbinvl1", run_nothing, 0),
    ROW("buffer_wbinvl1_vol", run_nothing, 0),
    ROW("s_dcache_inv", run_nothing, 0),
    ROW("s_icache_inv", run_nothing, 0),
    /* registers of vectors are given back, RDNA 3 */
    ROW("s_sendmsg", run_nothing, 0),
    ROW("s_endpgm", run_end, 0),
    ROW("s_barrier", run_barrier, 0),
    ROW("s_branch", run_branch, ALWAYS),
    ROW("s_cbranch_scc0", run_branch, SCC_0),
    ROW("s_cbranch_scc1", run_branch, SCC_1),
    ROW("s_cbranch_vccz", run_branch, VCC_ZERO),
    ROW("s_cbranch_vccnz", run_branch, VCC_SOME),
    ROW("s_cbranch_execz", run_branch, EXEC_ZERO),
    ROW("s_cbranch_execnz", run_branch, EXEC_SOME),
    ROW("s_getpc_b64", run_get_place, 0),
    ROW("s_setpc_b64", run_jump, 0),
    ROW("s_swappc_b64", run_call, 0),
    ROW("s_round_mode", run_mode_part, 0),
    ROW("s_denorm_mode", run_mode_part, 4),
    ROW("s_setreg_b32", run_set, 0),
    ROW("s_setreg_imm32_b32", run_set, 0),
    ROW("s_getreg_b32", run_get, 0),
    ROW("s_set_gpr_idx_on", run_index_on, 0),
    ROW("s_set_gpr_idx_off", run_index_off, 0),
    ROW("s_load_dword", run_load, 1),
    ROW("s_load_dwordx2", run_load, 2),
    ROW("s_load_dwordx4", run_load, 4),
    ROW("s_load_dwordx8", run_load, 8),
    ROW("s_load_dwordx16", run_load, 16),
    ROW("s_buffer_load_dword", run_buffer_load, 1),
    ROW("s_buffer_load_dwordx2", run_buffer_load, 2),
    ROW("s_buffer_load_dwordx4", run_buffer_load, 4),
    ROW("s_buffer_load_dwordx8", run_buffer_load, 8),
    ROW("s_buffer_load_dwordx16", run_buffer_load, 16),
    ROW("s_movrels_b32", run_relative, FROM_M0),
    ROW("s_movreld_b32", run_relative, TO_M0),
    ROW("s_movrels_b64", run_relative, FROM_M0 | WIDE),
    ROW("s_movreld_b64", run_relative, TO_M0 | WIDE),
    {0}};
