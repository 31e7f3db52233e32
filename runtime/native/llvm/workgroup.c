/* SPDX-License-Identifier: MIT */
/*
 * Joint work of a workgroup: control flow around barriers, which all invocations take alike, and fragments between
 * barriers, which run for one subgroup after the other.
 */
#include "native/llvm/emit.h"

#include <stddef.h>

static void walk(struct weft_emit *emit, uint32_t list, LLVMBasicBlockRef then);

/* ---- fragments ---- */

/* In the last subgroup of a workgroup that is no multiple of the lanes some lanes are nobody. */
static LLVMValueRef present_lanes(struct weft_emit *emit) {
    if (emit->invocations % emit->lanes == 0) {
        return NULL;
    }
    const LLVMValueRef first =
        LLVMBuildMul(emit->builder, emit->subgroup, weft_emit_u32(emit, emit->lanes), "");
    const LLVMValueRef index =
        LLVMBuildAdd(emit->builder, weft_emit_splat(emit, first), emit->iota, "");
    return LLVMBuildICmp(emit->builder, LLVMIntULT, index,
                         weft_emit_splat(emit, weft_emit_u32(emit, emit->invocations)), "");
}

static LLVMValueRef of_first_lane(struct weft_emit *emit, weft_ir_value value) {
    return weft_emit_is_varying(emit, value)
               ? LLVMBuildExtractElement(emit->builder, weft_emit_vector(emit, value),
                                         weft_emit_u32(emit, 0), "")
               : weft_emit_scalar(emit, value);
}

/*
 * Runs nodes from `first` up to `end` for each subgroup. Where a condition is given, gives what it was for the last
 * one's first lane: the same for all, since a barrier depends on it.
 */
static LLVMValueRef run_fragment(struct weft_emit *emit, uint32_t list, uint32_t first,
                                 uint32_t end, weft_ir_value condition) {
    const LLVMBuilderRef builder = emit->builder;
    const LLVMTypeRef i32 = emit->types[WEFT_IR_I32];
    LLVMValueRef result = NULL;
    if (first == end) {
        return NULL;
    }
    if (condition != 0) {
        result = weft_emit_variable(emit, emit->types[WEFT_IR_BOOL]);
    }
    const LLVMBasicBlockRef before = LLVMGetInsertBlock(builder);
    const LLVMBasicBlockRef turn = weft_emit_block(emit, "subgroup");
    const struct weft_emit_end then = {.block = weft_emit_block(emit, "endsubgroup")};
    const LLVMBasicBlockRef done = weft_emit_block(emit, "fragment");
    LLVMBuildBr(builder, turn);
    weft_emit_at(emit, turn);
    emit->subgroup = LLVMBuildPhi(builder, i32, "");
    emit->fragment_list = list;
    emit->list = list;
    emit->jumped_count = 0;
    emit->fragment = (struct weft_emit_target){.exit = then.block};
    emit->fragment.exited = weft_emit_variable(emit, weft_emit_vector_type(emit, WEFT_IR_I32));
    weft_emit_mask_store(emit, emit->fragment.exited, weft_emit_all_lanes(emit, false));
    emit->exec = present_lanes(emit);
    weft_emit_fetch_slots(emit, first, end);
    weft_emit_nodes(emit, first, end, &then);
    weft_emit_at(emit, then.block);
    if (condition != 0) {
        LLVMBuildStore(builder, of_first_lane(emit, condition), result);
    }
    weft_emit_keep_slots(emit, first, end);
    const LLVMValueRef next = LLVMBuildAdd(builder, emit->subgroup, weft_emit_u32(emit, 1), "");
    const LLVMValueRef more =
        LLVMBuildICmp(builder, LLVMIntULT, next, weft_emit_u32(emit, emit->subgroups), "");
    LLVMValueRef values[] = {weft_emit_u32(emit, 0), next};
    LLVMBasicBlockRef blocks[] = {before, LLVMGetInsertBlock(builder)};
    LLVMAddIncoming(emit->subgroup, values, blocks, 2);
    LLVMBuildCondBr(builder, more, turn, done);
    weft_emit_at(emit, done);
    emit->exec = NULL;
    return result;
}

/* ---- what is taken together ---- */

static void walk_if(struct weft_emit *emit, const struct weft_ir_node *node,
                    LLVMValueRef condition) {
    const LLVMBasicBlockRef sides[2] = {weft_emit_block(emit, "then"),
                                        weft_emit_block(emit, "else")};
    const LLVMBasicBlockRef end = weft_emit_block(emit, "endif");
    if (!condition) {
        weft_ir_error(emit->program, WEFT_COMPILE_ERROR,
                      "a barrier inside a branch without a condition");
        LLVMBuildBr(emit->builder, end);
        weft_emit_at(emit, end);
        return;
    }
    const LLVMValueRef taken =
        LLVMBuildLoad2(emit->builder, emit->types[WEFT_IR_BOOL], condition, "");
    LLVMBuildCondBr(emit->builder, taken, sides[0], sides[1]);
    for (uint32_t i = 0; i < 2; i++) {
        weft_emit_at(emit, sides[i]);
        walk(emit, node->lists[i], end);
    }
    weft_emit_at(emit, end);
}

static void walk_loop(struct weft_emit *emit, uint32_t index) {
    const struct weft_ir_node *node = &emit->program->nodes[index];
    const LLVMBasicBlockRef head = weft_emit_block(emit, "loop");
    struct weft_emit_target *target = &emit->targets[index];
    *target = (struct weft_emit_target){.exit = weft_emit_block(emit, "endloop"),
                                        .latch = weft_emit_block(emit, "latch")};
    LLVMBuildBr(emit->builder, head);
    weft_emit_at(emit, head);
    walk(emit, node->lists[0], target->latch);
    weft_emit_at(emit, target->latch);
    const LLVMBasicBlockRef turn = weft_emit_block(emit, "turn");
    walk(emit, node->lists[1], turn);
    weft_emit_at(emit, turn);
    (void)weft_emit_turn(emit, head);
    weft_emit_at(emit, target->exit);
}

static void walk_node(struct weft_emit *emit, uint32_t index, LLVMValueRef condition) {
    const struct weft_ir_node *node = &emit->program->nodes[index];
    struct weft_emit_target *target = &emit->targets[index];
    switch (node->kind) {
    case WEFT_IR_IF:
        walk_if(emit, node, condition);
        break;
    case WEFT_IR_LOOP:
        walk_loop(emit, index);
        break;
    case WEFT_IR_SCOPE:
        *target = (struct weft_emit_target){.exit = weft_emit_block(emit, "endscope")};
        walk(emit, node->lists[0], target->exit);
        weft_emit_at(emit, target->exit);
        break;
    case WEFT_IR_JUMP: {
        const struct weft_emit_target *to = &emit->targets[node->target];
        LLVMBuildBr(emit->builder, node->to_latch ? to->latch : to->exit);
        weft_emit_at(emit, weft_emit_block(emit, "behind_jump"));
        break;
    }
    default: /* barriers only part fragments */
        break;
    }
}

static void walk(struct weft_emit *emit, uint32_t list, LLVMBasicBlockRef then) {
    const struct weft_ir_program *program = emit->program;
    uint32_t first = program->lists[list].first;
    while (first != WEFT_IR_NONE && program->status == WEFT_OK) {
        uint32_t end = first;
        while (end != WEFT_IR_NONE && !program->nodes[end].workgroup) {
            end = program->nodes[end].next;
        }
        const bool branches = end != WEFT_IR_NONE && program->nodes[end].kind == WEFT_IR_IF;
        const LLVMValueRef condition =
            run_fragment(emit, list, first, end, branches ? program->nodes[end].condition : 0);
        if (end == WEFT_IR_NONE) {
            break;
        }
        walk_node(emit, end, condition);
        first = program->nodes[end].next;
    }
    LLVMBuildBr(emit->builder, then);
}

/* ---- the function ---- */

static LLVMValueRef load_at(struct weft_emit *emit, LLVMValueRef base, uint64_t offset,
                            LLVMTypeRef type) {
    LLVMValueRef at = weft_emit_u64(emit, offset);
    const LLVMValueRef from =
        LLVMBuildGEP2(emit->builder, emit->types[WEFT_IR_I8], base, &at, 1, "");
    const LLVMValueRef made = LLVMBuildLoad2(emit->builder, type, from, "");
    LLVMSetMetadata(
        made, emit->invariant_kind,
        LLVMMetadataAsValue(emit->context, LLVMMDNodeInContext2(emit->context, NULL, 0)));
    return made;
}

static void load_call(struct weft_emit *emit) {
    const LLVMValueRef ranges =
        load_at(emit, emit->call, offsetof(struct weft_native_call, ranges), emit->pointer);
    emit->push = load_at(emit, emit->call, offsetof(struct weft_native_call, push), emit->pointer);
    emit->scratch =
        load_at(emit, emit->call, offsetof(struct weft_native_call, scratch), emit->pointer);
    emit->halt = load_at(emit, emit->call, offsetof(struct weft_native_call, halt), emit->pointer);
    for (uint32_t i = 0; i < emit->program->binding_count; i++) {
        const uint64_t at = i * sizeof(struct weft_native_range);
        emit->ranges[i] =
            load_at(emit, ranges, at + offsetof(struct weft_native_range, data), emit->pointer);
        emit->sizes[i] = load_at(emit, ranges, at + offsetof(struct weft_native_range, size),
                                 emit->types[WEFT_IR_I64]);
    }
}

/* Room for what checked stores out of bounds write, and what checked loads read. */
static void add_dumps(struct weft_emit *emit) {
    enum { BYTES = 64 };
    const LLVMTypeRef type = LLVMArrayType(emit->types[WEFT_IR_I8], BYTES);
    emit->zeros = LLVMAddGlobal(emit->module, type, "zeros");
    LLVMSetInitializer(emit->zeros, LLVMConstNull(type));
    LLVMSetGlobalConstant(emit->zeros, 1);
    LLVMSetLinkage(emit->zeros, LLVMPrivateLinkage);
    LLVMSetAlignment(emit->zeros, BYTES);
    LLVMValueRef at = weft_emit_u64(emit, emit->scratch_size);
    emit->dump = LLVMBuildGEP2(emit->builder, emit->types[WEFT_IR_I8], emit->scratch, &at, 1, "");
    emit->scratch_size += BYTES;
}

void weft_emit_workgroup(struct weft_emit *emit) {
    const LLVMBuilderRef builder = emit->builder;
    const LLVMTypeRef i32 = emit->types[WEFT_IR_I32];
    const LLVMBasicBlockRef start = weft_emit_block(emit, "start");
    weft_emit_at(emit, emit->entry);
    LLVMBuildBr(builder, start);
    weft_emit_at(emit, start);
    emit->call = LLVMGetParam(emit->function, 0);
    load_call(emit);
    if (emit->program->checked) {
        add_dumps(emit);
    }
    weft_emit_make_slots(emit);
    /* One workgroup after the other along x. */
    const LLVMBasicBlockRef turn = weft_emit_block(emit, "workgroup");
    const LLVMBasicBlockRef end = weft_emit_block(emit, "endworkgroup");
    emit->done = weft_emit_block(emit, "done");
    const LLVMValueRef count = LLVMGetParam(emit->function, 4);
    const LLVMValueRef some = LLVMBuildICmp(builder, LLVMIntNE, count, weft_emit_u32(emit, 0), "");
    LLVMBuildCondBr(builder, some, turn, emit->done);
    weft_emit_at(emit, turn);
    const LLVMValueRef number = LLVMBuildPhi(builder, i32, "");
    emit->workgroup[0] = LLVMBuildAdd(builder, LLVMGetParam(emit->function, 1), number, "");
    emit->workgroup[1] = LLVMGetParam(emit->function, 2);
    emit->workgroup[2] = LLVMGetParam(emit->function, 3);
    walk(emit, 0, end);
    weft_emit_at(emit, end);
    const LLVMValueRef next = LLVMBuildAdd(builder, number, weft_emit_u32(emit, 1), "");
    LLVMValueRef values[] = {weft_emit_u32(emit, 0), next};
    LLVMBasicBlockRef blocks[] = {start, end};
    LLVMAddIncoming(number, values, blocks, 2);
    LLVMBuildCondBr(builder, LLVMBuildICmp(builder, LLVMIntULT, next, count, ""), turn, emit->done);
    weft_emit_at(emit, emit->done);
    LLVMBuildRetVoid(builder);
}
