/* SPDX-License-Identifier: MIT */
/* The program's variables as LLVM's, which it makes into registers, and as scratch memory across barriers. */
#include "native/llvm/emit.h"

#define SCRATCH_ALIGNMENT 64u

static bool is_wide(const struct weft_ir_slot *slot) {
    return slot->shape.kind == WEFT_IR_VARYING;
}

/* Type of a slot in memory: varying booleans are masks of i32, those of an indexed variable are bits. */
static LLVMTypeRef kept_type(const struct weft_emit *emit, const struct weft_ir_variable *variable,
                             const struct weft_ir_slot *slot) {
    const bool bits = variable->indexed || slot->type == WEFT_IR_BOOL;
    const uint32_t type = bits ? WEFT_IR_I32 : slot->type;
    return is_wide(slot) ? weft_emit_vector_type(emit, type) : emit->types[type];
}

static LLVMValueRef to_kept(struct weft_emit *emit, LLVMTypeRef kept, LLVMValueRef value) {
    const LLVMTypeRef type = LLVMTypeOf(value);
    const LLVMTypeRef scalar = weft_emit_element_type(type);
    if (type == kept) {
        return value;
    }
    if (scalar == emit->types[WEFT_IR_F32]) {
        return LLVMBuildBitCast(emit->builder, value, kept, "");
    }
    return scalar == emit->types[WEFT_IR_BOOL] ? LLVMBuildSExt(emit->builder, value, kept, "")
                                               : LLVMBuildZExt(emit->builder, value, kept, "");
}

static LLVMValueRef from_kept(struct weft_emit *emit, uint32_t type, LLVMValueRef value) {
    const LLVMTypeRef kept = LLVMTypeOf(value);
    const bool vector = weft_emit_is_vector(value);
    const LLVMTypeRef wanted = vector ? weft_emit_vector_type(emit, type) : emit->types[type];
    if (kept == wanted) {
        return value;
    }
    if (type == WEFT_IR_F32) {
        return LLVMBuildBitCast(emit->builder, value, wanted, "");
    }
    return type == WEFT_IR_BOOL
               ? LLVMBuildICmp(emit->builder, LLVMIntNE, value, LLVMConstNull(kept), "")
               : LLVMBuildTrunc(emit->builder, value, wanted, "");
}

static uint32_t bytes_of(const struct weft_emit *emit, const struct weft_ir_variable *variable,
                         const struct weft_ir_slot *slot) {
    const bool bits = variable->indexed || weft_ir_bits(slot->type) < 32;
    const uint32_t size = bits ? 4 : weft_ir_bits(slot->type) / 8;
    return size * (is_wide(slot) ? emit->lanes : 1);
}

static bool is_indexable(const struct weft_emit *emit, const struct weft_ir_variable *variable) {
    for (uint32_t i = 0; i < variable->slots; i++) {
        if (weft_ir_bits(emit->program->slots[variable->first + i].type) > 32) {
            return false;
        }
    }
    return true;
}

static void make_array(struct weft_emit *emit, const struct weft_ir_variable *variable,
                       struct weft_ir_slot *slots) {
    if (!is_indexable(emit, variable)) {
        weft_ir_error(emit->program, WEFT_UNSUPPORTED, "a variable of 64 bits with an index");
        return;
    }
    if (!slots[0].used) {
        return;
    }
    /* Neither factor passes 2^14. */
    const uint32_t size = variable->slots * bytes_of(emit, variable, &slots[0]);
    if (size > WEFT_NATIVE_LOCAL_MEMORY - emit->local_size) {
        weft_ir_error(emit->program, WEFT_UNSUPPORTED,
                      "more than %u bytes of arrays in the functions' variables of %u invocations",
                      WEFT_NATIVE_LOCAL_MEMORY, emit->lanes);
        return;
    }
    emit->local_size += size;
    slots[0].llvm = weft_emit_variable(
        emit, LLVMArrayType(kept_type(emit, variable, &slots[0]), variable->slots));
}

/* An indexed variable is one array, behind its first slot; others have a variable for each slot. */
static void make_slots(struct weft_emit *emit, const struct weft_ir_variable *variable) {
    struct weft_ir_slot *slots = emit->program->slots + variable->first;
    if (variable->indexed) {
        make_array(emit, variable, slots);
    }
    for (uint32_t i = 0; i < variable->slots; i++) {
        slots[i].shape = variable->indexed ? slots[0].shape : slots[i].shape;
        if (!variable->indexed && slots[i].used) {
            slots[i].llvm = weft_emit_variable(emit, kept_type(emit, variable, &slots[i]));
        }
        if (slots[i].kept) {
            const uint32_t size = bytes_of(emit, variable, &slots[i]);
            slots[i].offset = (emit->frame_size + size - 1) / size * size;
            emit->frame_size = slots[i].offset + size;
        }
    }
}

void weft_emit_make_slots(struct weft_emit *emit) {
    for (uint32_t i = 0; i < emit->program->variable_count; i++) {
        make_slots(emit, &emit->program->variables[i]);
    }
    /* Keeps a subgroup's variables together: variables at equal distances would share few sets of a cache. */
    emit->frame_size =
        (emit->frame_size + SCRATCH_ALIGNMENT - 1) / SCRATCH_ALIGNMENT * SCRATCH_ALIGNMENT;
    emit->frames = emit->scratch_size;
    emit->scratch_size += emit->frame_size * emit->subgroups;
}

/* ---- reading and writing ---- */

static LLVMValueRef slot_address(struct weft_emit *emit, const struct weft_ir_variable *variable,
                                 uint32_t place, LLVMValueRef index) {
    const struct weft_ir_slot *slots = emit->program->slots + variable->first;
    if (!variable->indexed) {
        return slots[place].llvm;
    }
    LLVMValueRef at = weft_emit_u32(emit, place);
    if (index) {
        at = LLVMBuildAdd(emit->builder, at, index, "");
    }
    at = LLVMBuildZExt(emit->builder, at, emit->types[WEFT_IR_I64], "");
    return LLVMBuildInBoundsGEP2(emit->builder, kept_type(emit, variable, &slots[0]), slots[0].llvm,
                                 &at, 1, "");
}

/* The addresses, lane by lane, of elements of a variable whose indices differ. */
static LLVMValueRef lane_addresses(struct weft_emit *emit, const struct weft_ir_variable *variable,
                                   uint32_t place, weft_ir_value index) {
    const LLVMBuilderRef builder = emit->builder;
    const LLVMTypeRef wide = weft_emit_vector_type(emit, WEFT_IR_I64);
    LLVMValueRef at = LLVMBuildAdd(builder, weft_emit_vector(emit, index),
                                   weft_emit_splat(emit, weft_emit_u32(emit, place)), "");
    at = LLVMBuildMul(builder, at, weft_emit_splat(emit, weft_emit_u32(emit, emit->lanes)), "");
    at = LLVMBuildZExt(builder, LLVMBuildAdd(builder, at, emit->iota, ""), wide, "");
    return LLVMBuildGEP2(builder, emit->types[WEFT_IR_I32],
                         emit->program->slots[variable->first].llvm, &at, 1, "");
}

static weft_ir_value index_of(const struct weft_emit *emit,
                              const struct weft_ir_instruction *instruction) {
    return emit->program->arguments[instruction->arguments];
}

static bool is_scattered(const struct weft_emit *emit, weft_ir_value index) {
    return index != 0 && weft_emit_shape(emit, index).kind != WEFT_IR_UNIFORM;
}

void weft_emit_get(struct weft_emit *emit, const struct weft_ir_instruction *instruction) {
    const struct weft_ir_variable *variable = &emit->program->variables[instruction->root];
    const struct weft_ir_slot *slots = emit->program->slots + variable->first;
    const weft_ir_value index = index_of(emit, instruction);
    for (uint32_t i = 0; i < instruction->n; i++) {
        const uint32_t place = instruction->place + i;
        LLVMValueRef kept = NULL;
        if (is_scattered(emit, index)) {
            kept = weft_emit_masked_load(emit, weft_emit_vector_type(emit, WEFT_IR_I32),
                                         lane_addresses(emit, variable, place, index),
                                         weft_emit_exec(emit), 4);
        } else {
            const struct weft_ir_slot *slot = &slots[variable->indexed ? 0 : place];
            kept = LLVMBuildLoad2(emit->builder, kept_type(emit, variable, slot),
                                  slot_address(emit, variable, place,
                                               index == 0 ? NULL : weft_emit_scalar(emit, index)),
                                  "");
        }
        weft_emit_define(emit, instruction->result + i, from_kept(emit, instruction->type, kept));
    }
}

/* A value as a slot of this shape has it. */
static LLVMValueRef as_slot(struct weft_emit *emit, const struct weft_ir_slot *slot,
                            weft_ir_value value) {
    return is_wide(slot) ? weft_emit_vector(emit, value) : weft_emit_scalar(emit, value);
}

static void set_one(struct weft_emit *emit, const struct weft_ir_variable *variable, uint32_t place,
                    weft_ir_value index, weft_ir_value value) {
    const struct weft_ir_slot *slot =
        &emit->program->slots[variable->first + (variable->indexed ? 0 : place)];
    const LLVMTypeRef kept = kept_type(emit, variable, slot);
    LLVMValueRef made = to_kept(emit, kept, as_slot(emit, slot, value));
    if (is_scattered(emit, index)) {
        weft_emit_masked_store(emit, made, lane_addresses(emit, variable, place, index),
                               weft_emit_exec(emit), 4);
        return;
    }
    const LLVMValueRef at =
        slot_address(emit, variable, place, index == 0 ? NULL : weft_emit_scalar(emit, index));
    if (emit->exec && is_wide(slot) && weft_ir_store_is_partial(emit->program, emit->list, slot)) {
        const LLVMValueRef before = LLVMBuildLoad2(emit->builder, kept, at, "");
        made = LLVMBuildSelect(emit->builder, emit->exec, made, before, "");
    }
    LLVMBuildStore(emit->builder, made, at);
}

void weft_emit_set(struct weft_emit *emit, const struct weft_ir_instruction *instruction) {
    const struct weft_ir_variable *variable = &emit->program->variables[instruction->root];
    const weft_ir_value *values = emit->program->arguments + instruction->arguments + 1;
    for (uint32_t i = 0; i < instruction->n; i++) {
        set_one(emit, variable, instruction->place + i, index_of(emit, instruction), values[i]);
    }
}

/* ---- across barriers ---- */

typedef void (*slot_function)(struct weft_emit *emit, const struct weft_ir_variable *variable,
                              uint32_t place);

static LLVMValueRef scratch_address(struct weft_emit *emit, const struct weft_ir_slot *slot) {
    const LLVMBuilderRef builder = emit->builder;
    LLVMValueRef offset =
        LLVMBuildMul(builder, LLVMBuildZExt(builder, emit->subgroup, emit->types[WEFT_IR_I64], ""),
                     weft_emit_u64(emit, emit->frame_size), "");
    offset = LLVMBuildAdd(builder, offset,
                          weft_emit_u64(emit, (uint64_t)emit->frames + slot->offset), "");
    return LLVMBuildGEP2(builder, emit->types[WEFT_IR_I8], emit->scratch, &offset, 1, "");
}

static LLVMValueRef own(struct weft_emit *emit, LLVMValueRef made, uint32_t alignment) {
    LLVMSetAlignment(made, alignment);
    LLVMSetMetadata(made, emit->noalias_kind, emit->memory_scope);
    LLVMSetMetadata(made, emit->scope_kind, emit->scratch_scope);
    return made;
}

static void fetch(struct weft_emit *emit, const struct weft_ir_variable *variable, uint32_t place) {
    const struct weft_ir_slot *slot = &emit->program->slots[variable->first + place];
    const LLVMTypeRef type = kept_type(emit, variable, slot);
    const LLVMValueRef at = slot_address(emit, variable, place, NULL);
    if (!slot->kept) {
        /* Nothing of the subgroup before may seem to be wanted. */
        LLVMBuildStore(emit->builder, LLVMGetUndef(type), at);
        return;
    }
    const LLVMValueRef made = LLVMBuildLoad2(emit->builder, type, scratch_address(emit, slot), "");
    LLVMBuildStore(emit->builder, own(emit, made, is_wide(slot) ? 4 * emit->lanes : 4), at);
}

static void keep(struct weft_emit *emit, const struct weft_ir_variable *variable, uint32_t place) {
    const struct weft_ir_slot *slot = &emit->program->slots[variable->first + place];
    if (slot->kept) {
        const LLVMValueRef value = LLVMBuildLoad2(emit->builder, kept_type(emit, variable, slot),
                                                  slot_address(emit, variable, place, NULL), "");
        const LLVMValueRef made = LLVMBuildStore(emit->builder, value, scratch_address(emit, slot));
        own(emit, made, is_wide(slot) ? 4 * emit->lanes : 4);
    }
}

struct touched {
    bool *seen; /* by slot: nothing is to be done any more */
    slot_function function;
    bool only_set;
};

static void touch_code(struct weft_emit *emit, const struct touched *touched,
                       const struct weft_ir_node *node) {
    for (uint32_t i = node->first; i < node->first + node->count; i++) {
        const struct weft_ir_instruction *instruction = &emit->program->instructions[i];
        if (instruction->op != WEFT_IR_SET &&
            (instruction->op != WEFT_IR_GET || touched->only_set)) {
            continue;
        }
        const struct weft_ir_variable *variable = &emit->program->variables[instruction->root];
        const uint32_t from = variable->indexed ? 0 : instruction->place;
        const uint32_t count = variable->indexed ? variable->slots : instruction->n;
        for (uint32_t k = from; k < from + count; k++) {
            if (!touched->seen[variable->first + k]) {
                touched->seen[variable->first + k] = true;
                touched->function(emit, variable, k);
            }
        }
    }
}

static void touch(struct weft_emit *emit, const struct touched *touched, uint32_t first,
                  uint32_t end) {
    for (uint32_t i = first; i != end && i != WEFT_IR_NONE; i = emit->program->nodes[i].next) {
        const struct weft_ir_node *node = &emit->program->nodes[i];
        if (node->kind == WEFT_IR_CODE) {
            touch_code(emit, touched, node);
        }
        for (uint32_t k = 0; k < 2 && node->lists[k] != WEFT_IR_NONE; k++) {
            touch(emit, touched, emit->program->lists[node->lists[k]].first, WEFT_IR_NONE);
        }
    }
}

static void touch_all(struct weft_emit *emit, uint32_t first, uint32_t end, slot_function function,
                      bool only_set) {
    struct touched touched = {.function = function, .only_set = only_set};
    touched.seen = weft_alloc_zero(emit->program->host, (size_t)emit->program->slot_count + 1,
                                   sizeof *touched.seen);
    if (!touched.seen) {
        weft_ir_error(emit->program, WEFT_OUT_OF_HOST_MEMORY, "out of memory");
        return;
    }
    if (only_set) {
        weft_ir_find_dead(touched.seen, emit->program, emit->fragment_list, end);
    }
    touch(emit, &touched, first, end);
    weft_free(emit->program->host, touched.seen);
}

void weft_emit_fetch_slots(struct weft_emit *emit, uint32_t first, uint32_t end) {
    touch_all(emit, first, end, fetch, false);
}

void weft_emit_keep_slots(struct weft_emit *emit, uint32_t first, uint32_t end) {
    touch_all(emit, first, end, keep, true);
}
