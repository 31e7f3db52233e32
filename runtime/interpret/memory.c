/* SPDX-License-Identifier: MIT */
/* Places and memory: every access is checked against the bounds of what it is in. */
#include <string.h>

#include "core/bytes.h"
#include "interpret/group.h"

/* ---- places ---- */

static void index_element(struct weft_interpret_group *group,
                          const struct weft_ir_instruction *instruction) {
    uint32_t *restrict d = weft_interpret_value(group, instruction->result);
    const uint32_t *restrict base = weft_interpret_operand(group, instruction, 0);
    const uint32_t *restrict index = weft_interpret_operand(group, instruction, 1);
    const uint32_t stride = instruction->place;
    /* Up to here the product fits a word. */
    const uint32_t most = stride == 0 ? UINT32_MAX : UINT32_MAX / stride;
    const uint32_t end = instruction->stride < most ? instruction->stride : most;
    WEFT_INTERPRET_EACH(group, const uint32_t sum = base[at] + index[at] * stride;
                        d[at] = index[at] < end && sum >= base[at] ? sum : WEFT_IR_OUTSIDE);
}

/* Start of an access in an invocation: a fixed offset plus the first argument, if there is one. */
struct place {
    uint64_t fixed;
    const uint32_t *index;
};

static struct place place_of(const struct weft_interpret_group *group,
                             const struct weft_ir_instruction *instruction) {
    const weft_ir_value index = weft_interpret_argument(group, instruction, 0);
    return (struct place){.fixed = instruction->place,
                          .index = index != 0 ? weft_interpret_value(group, index) : NULL};
}

static inline uint64_t offset_of(const struct place *place, uint32_t lane) {
    return place->fixed + (place->index ? place->index[lane] : 0);
}

static void fail(struct weft_interpret_group *group, enum weft_interpret_fault_kind kind,
                 uint32_t root, uint32_t lane, uint64_t offset, uint64_t size) {
    const struct weft_interpret_fault fault = {
        .kind = kind, .lane = lane, .root = root, .offset = offset, .size = size};
    weft_interpret_fail(group, &fault);
}

/* ---- variables ---- */

static void copy_row(const struct weft_interpret_group *group, uint32_t *restrict to,
                     const uint32_t *restrict from, uint32_t type) {
    if (type == WEFT_IR_I64) {
        uint64_t *wide = (uint64_t *)(void *)to;
        const uint64_t *wide_from = (const uint64_t *)(const void *)from;
        WEFT_INTERPRET_EACH(group, wide[at] = wide_from[at]);
    } else {
        WEFT_INTERPRET_EACH(group, to[at] = from[at]);
    }
}

static void copy_lane(uint32_t *to, const uint32_t *from, uint32_t lane, uint32_t type) {
    const size_t size = type == WEFT_IR_I64 ? 8 : 4;
    memcpy((uint8_t *)to + size * lane, (const uint8_t *)from + size * lane, size);
}

static const uint32_t zero_row[2 * WEFT_IR_MAX_INVOCATIONS];

/* Copies n scalars between values and the slots of a variable that an index leads to, for one invocation. */
static void copy_indexed(struct weft_interpret_group *group,
                         const struct weft_ir_instruction *instruction, uint32_t lane) {
    const struct weft_ir_variable *variable = &group->kernel->program.variables[instruction->root];
    const struct place place = place_of(group, instruction);
    const uint64_t offset = offset_of(&place, lane);
    const bool inside = offset + instruction->n <= variable->slots;
    if (!inside) {
        fail(group, WEFT_INTERPRET_FAULT_LOCAL, 0, lane, offset, instruction->n);
    }
    for (uint32_t i = 0; i < instruction->n; i++) {
        uint32_t *slot =
            inside ? weft_interpret_slot(group, variable->first + (uint32_t)offset + i) : NULL;
        if (instruction->op == WEFT_IR_GET) {
            copy_lane(weft_interpret_value(group, instruction->result + i), slot ? slot : zero_row,
                      lane, instruction->type);
        } else if (slot) {
            copy_lane(slot, weft_interpret_operand(group, instruction, 1 + i), lane,
                      instruction->type);
        }
    }
}

/*
 * Finds the first slot inside the variable if all running invocations have the same index, as in most loops over an
 * array.
 */
static bool leads_to_slots(uint64_t *offset, const struct weft_interpret_group *group,
                           const struct weft_ir_instruction *instruction) {
    const struct place place = place_of(group, instruction);
    if (!place.index) {
        *offset = place.fixed;
        return true;
    }
    const uint32_t first = place.index[weft_interpret_lane(&group->active, 0)];
    uint32_t differs = 0;
    WEFT_INTERPRET_EACH(group, differs |= place.index[at] ^ first);
    *offset = place.fixed + first;
    return differs == 0 &&
           *offset + instruction->n <= group->kernel->program.variables[instruction->root].slots;
}

static void get_or_set(struct weft_interpret_group *group,
                       const struct weft_ir_instruction *instruction) {
    uint64_t offset = 0;
    if (!leads_to_slots(&offset, group, instruction)) {
        WEFT_INTERPRET_EACH(group, copy_indexed(group, instruction, (uint32_t)at));
        return;
    }
    const uint32_t slot =
        group->kernel->program.variables[instruction->root].first + (uint32_t)offset;
    for (uint32_t i = 0; i < instruction->n; i++) {
        uint32_t *variable = weft_interpret_slot(group, slot + i);
        if (instruction->op == WEFT_IR_GET) {
            copy_row(group, weft_interpret_value(group, instruction->result + i), variable,
                     instruction->type);
        } else {
            copy_row(group, variable, weft_interpret_operand(group, instruction, 1 + i),
                     instruction->type);
        }
    }
}

static void clear(struct weft_interpret_group *group,
                  const struct weft_ir_instruction *instruction) {
    const struct weft_ir_variable *variable = &group->kernel->program.variables[instruction->root];
    for (uint32_t i = 0; i < variable->slots; i++) {
        const uint32_t index = variable->first + i;
        if (group->kernel->slot_row[index] == WEFT_IR_NONE) {
            continue;
        }
        uint32_t *slot = weft_interpret_slot(group, index);
        if (group->kernel->program.slots[index].type == WEFT_IR_I64) {
            uint64_t *wide = (uint64_t *)(void *)slot;
            WEFT_INTERPRET_EACH(group, wide[at] = UINT64_MAX);
        } else {
            WEFT_INTERPRET_EACH(group, slot[at] = WEFT_IR_POISON);
        }
    }
}

/* ---- buffers, push constants and shared memory ---- */

static struct weft_interpreted_range range_of(const struct weft_interpret_group *group,
                                              const struct weft_ir_instruction *instruction) {
    if (instruction->space == WEFT_IR_SHARED) {
        return (struct weft_interpreted_range){
            .data = group->shared, .size = group->kernel->program.shared_size, .writable = true};
    }
    return group
        ->range[instruction->space == WEFT_IR_PUSH ? WEFT_INTERPRET_PUSH : instruction->root];
}

/* An access by all that run. */
struct access {
    struct weft_interpreted_range range;
    struct place place;
    uint32_t size;  /* bytes of a scalar */
    uint32_t bytes; /* of all of them */
};

static struct access access_of(const struct weft_interpret_group *group,
                               const struct weft_ir_instruction *instruction) {
    const uint32_t size = weft_ir_bits(instruction->type) / 8;
    return (struct access){.range = range_of(group, instruction),
                           .place = place_of(group, instruction),
                           .size = size,
                           .bytes = size * instruction->n};
}

/* The bytes that an invocation accesses, or null after a fault. */
static inline uint8_t *bytes_at(struct weft_interpret_group *group,
                                const struct weft_ir_instruction *instruction,
                                const struct access *access, uint32_t lane) {
    const uint64_t offset = offset_of(&access->place, lane);
    if (offset + access->bytes <= access->range.size) {
        return access->range.data + offset;
    }
    fail(group,
         instruction->space == WEFT_IR_SHARED ? WEFT_INTERPRET_FAULT_SHARED
                                              : WEFT_INTERPRET_FAULT_BUFFER,
         instruction->space == WEFT_IR_PUSH ? WEFT_INTERPRET_PUSH : instruction->root, lane, offset,
         access->bytes);
    return NULL;
}

/*
 * Words that are inside of their range in every invocation: false where one is not, and nothing is loaded. The greatest offset is sought
 * first, so that neither loop has a way out.
 */
static bool load_words(struct weft_interpret_group *group,
                       const struct weft_ir_instruction *instruction, const struct access *access) {
    const uint32_t *restrict index = access->place.index;
    uint32_t most = 0;
    if (access->size != 4 || !index) {
        return false;
    }
    WEFT_INTERPRET_EACH(group, most = index[at] > most ? index[at] : most);
    if (access->place.fixed + most + access->bytes > access->range.size) {
        return false;
    }
    const uint8_t *restrict bytes = access->range.data + access->place.fixed;
    for (uint32_t i = 0; i < instruction->n; i++) {
        uint32_t *restrict d = weft_interpret_value(group, instruction->result + i);
        WEFT_INTERPRET_EACH(group, memcpy(&d[at], bytes + index[at] + (size_t)4 * i, 4));
    }
    return true;
}

static void load(struct weft_interpret_group *group,
                 const struct weft_ir_instruction *instruction) {
    static const uint8_t zeros[4 * sizeof(uint64_t)];
    const struct access access = access_of(group, instruction);
    if (load_words(group, instruction, &access)) {
        return;
    }
    for (uint32_t item = 0; item < group->active.count; item++) {
        const uint32_t lane = weft_interpret_lane(&group->active, item);
        const uint8_t *bytes = bytes_at(group, instruction, &access, lane);
        bytes = bytes ? bytes : zeros;
        for (uint32_t i = 0; i < instruction->n; i++) {
            if (access.size == 4) {
                memcpy(weft_interpret_value(group, instruction->result + i) + lane,
                       bytes + (size_t)4 * i, 4);
            } else {
                weft_interpret_write(group, instruction->result + i, lane,
                                     weft_load_bytes(bytes + (size_t)access.size * i, access.size));
            }
        }
    }
}

/* True if a binding may be written; else that is the fault. */
static bool is_writable(struct weft_interpret_group *group,
                        const struct weft_ir_instruction *instruction,
                        const struct access *access) {
    if (!access->range.writable) {
        const uint32_t lane = weft_interpret_lane(&group->active, 0);
        fail(group, WEFT_INTERPRET_FAULT_READ_ONLY, instruction->root, lane,
             offset_of(&access->place, lane), 4);
    }
    return access->range.writable;
}

static void store(struct weft_interpret_group *group,
                  const struct weft_ir_instruction *instruction) {
    const struct access access = access_of(group, instruction);
    const bool writable = is_writable(group, instruction, &access);
    for (uint32_t item = 0; writable && item < group->active.count; item++) {
        const uint32_t lane = weft_interpret_lane(&group->active, item);
        uint8_t *bytes = bytes_at(group, instruction, &access, lane);
        for (uint32_t i = 0; bytes && i < instruction->n; i++) {
            const weft_ir_value value = weft_interpret_argument(group, instruction, 1 + i);
            if (access.size == 4) {
                memcpy(bytes + (size_t)4 * i, weft_interpret_value(group, value) + lane, 4);
            } else {
                weft_store_bytes(bytes + (size_t)access.size * i,
                                 weft_interpret_read(group, value, lane), access.size);
            }
        }
    }
}

static void array_length(struct weft_interpret_group *group,
                         const struct weft_ir_instruction *instruction) {
    const uint64_t size = group->range[instruction->root].size;
    const uint64_t rest = size > instruction->place ? size - instruction->place : 0;
    uint32_t *restrict d = weft_interpret_value(group, instruction->result);
    const uint32_t length = (uint32_t)(rest / instruction->stride);
    WEFT_INTERPRET_EACH(group, d[at] = length);
}

/* ---- atomics: one invocation after another ---- */

static uint32_t atomic_result(uint32_t opcode, uint32_t old, uint32_t value, uint32_t comparator) {
    switch (opcode) {
    case SpvOpAtomicStore:
    case SpvOpAtomicExchange:
        return value;
    case SpvOpAtomicCompareExchange:
        return old == comparator ? value : old;
    case SpvOpAtomicIIncrement:
        return old + 1;
    case SpvOpAtomicIDecrement:
        return old - 1;
    case SpvOpAtomicIAdd:
        return old + value;
    case SpvOpAtomicISub:
        return old - value;
    case SpvOpAtomicSMin:
        return (int32_t)old < (int32_t)value ? old : value;
    case SpvOpAtomicUMin:
        return old < value ? old : value;
    case SpvOpAtomicSMax:
        return (int32_t)old > (int32_t)value ? old : value;
    case SpvOpAtomicUMax:
        return old > value ? old : value;
    case SpvOpAtomicAnd:
        return old & value;
    case SpvOpAtomicOr:
        return old | value;
    case SpvOpAtomicXor:
        return old ^ value;
    default: /* a load */
        return old;
    }
}

static void atomic(struct weft_interpret_group *group,
                   const struct weft_ir_instruction *instruction) {
    const struct access access = access_of(group, instruction);
    const uint32_t count = instruction->argument_count;
    const bool fits =
        instruction->variant == SpvOpAtomicLoad || is_writable(group, instruction, &access);
    for (uint32_t item = 0; fits && item < group->active.count; item++) {
        const uint32_t lane = weft_interpret_lane(&group->active, item);
        uint8_t *bytes = bytes_at(group, instruction, &access, lane);
        uint32_t old = 0; /* of a word that need not be aligned */
        memcpy(&old, bytes ? bytes : (const uint8_t *)&old, sizeof old);
        const uint32_t made =
            atomic_result(instruction->variant, old,
                          count > 1 ? weft_interpret_operand(group, instruction, 1)[lane] : 0,
                          count > 2 ? weft_interpret_operand(group, instruction, 2)[lane] : 0);
        if (bytes) {
            memcpy(bytes, &made, sizeof made);
        }
        if (instruction->result != 0) {
            weft_interpret_value(group, instruction->result)[lane] = old;
        }
    }
}

/* ---- built-in variables ---- */

static uint32_t input_of(const struct weft_interpret_group *group,
                         const struct weft_ir_instruction *instruction) {
    const uint32_t axis = instruction->place;
    const uint32_t lanes = group->kernel->program.lanes;
    switch (instruction->root) {
    case SpvBuiltInNumWorkgroups:
        return group->groups[axis];
    case SpvBuiltInWorkgroupId:
        return group->id[axis];
    case SpvBuiltInGlobalInvocationId:
        return group->id[axis] * group->kernel->program.local_size[axis];
    case SpvBuiltInSubgroupSize:
        return lanes;
    case SpvBuiltInNumSubgroups:
        return (group->lane_count + lanes - 1) / lanes;
    default:
        return 0;
    }
}

static void input(struct weft_interpret_group *group,
                  const struct weft_ir_instruction *instruction) {
    const uint32_t lanes = group->kernel->program.lanes;
    const uint32_t all = input_of(group, instruction);
    uint32_t *restrict d = weft_interpret_value(group, instruction->result);
    const uint32_t *restrict local =
        weft_interpret_row(group, WEFT_INTERPRET_LOCAL_ID + instruction->place);
    switch (instruction->root) {
    case SpvBuiltInLocalInvocationId:
    case SpvBuiltInGlobalInvocationId:
        WEFT_INTERPRET_EACH(group, d[at] = all + local[at]);
        break;
    case SpvBuiltInLocalInvocationIndex:
        WEFT_INTERPRET_EACH(group, d[at] = (uint32_t)at);
        break;
    case SpvBuiltInSubgroupId:
        WEFT_INTERPRET_EACH(group, d[at] = (uint32_t)at / lanes);
        break;
    case SpvBuiltInSubgroupLocalInvocationId:
        WEFT_INTERPRET_EACH(group, d[at] = (uint32_t)at % lanes);
        break;
    default:
        WEFT_INTERPRET_EACH(group, d[at] = all);
        break;
    }
}

static void unreachable(struct weft_interpret_group *group,
                        const struct weft_ir_instruction *instruction) {
    (void)instruction;
    fail(group, WEFT_INTERPRET_FAULT_UNREACHABLE, 0, weft_interpret_lane(&group->active, 0), 0, 0);
}

weft_interpret_function *weft_interpret_find_memory(uint32_t op) {
    static const struct weft_interpret_rule rules[] = {
        {WEFT_IR_INDEX, index_element}, {WEFT_IR_GET, get_or_set},
        {WEFT_IR_SET, get_or_set},      {WEFT_IR_CLEAR, clear},
        {WEFT_IR_LOAD, load},           {WEFT_IR_STORE, store},
        {WEFT_IR_ATOMIC, atomic},       {WEFT_IR_LENGTH, array_length},
        {WEFT_IR_INPUT, input},         {WEFT_IR_UNREACHABLE, unreachable},
    };
    return weft_interpret_find(rules, sizeof rules / sizeof rules[0], op);
}
