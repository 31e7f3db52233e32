/* SPDX-License-Identifier: MIT */
/*
 * Control flow within a fragment. Where all lanes of a subgroup go the same way, branches are branches. Where they can
 * part, both sides run, each with a mask of its lanes, and none at all if it has no lanes. Lanes that leave a
 * construct early are taken out of the mask for what is left of it.
 */
#include "native/llvm/emit.h"

#include <llvm-c/DebugInfo.h>

#include "spirv/check.h"

#define CHEAP_INSTRUCTIONS 16u

static void emit_node(struct weft_emit *emit, uint32_t index);

static void emit_list(struct weft_emit *emit, uint32_t list, const struct weft_emit_end *end) {
    const uint32_t outer = emit->list;
    emit->list = list;
    weft_emit_nodes(emit, emit->program->lists[list].first, WEFT_IR_NONE, end);
    emit->list = outer;
}

/* ---- ends ---- */

static void go_to(struct weft_emit *emit, const struct weft_emit_end *end, LLVMValueRef lanes) {
    if (end->mask) {
        weft_emit_mask_store(emit, end->mask, lanes);
    }
    LLVMBuildBr(emit->builder, end->block);
}

/* ---- lanes that jumped out ---- */

static void note_jump(struct weft_emit *emit, struct weft_emit_target *target) {
    if (weft_ir_room(emit->program, &emit->jumped, emit->jumped_count, &emit->jumped_capacity,
                     sizeof(struct weft_emit_target *))) {
        emit->jumped[emit->jumped_count++] = target;
    }
}

/* `before` without the lanes that jumped, since the count was `since`, to a target outside of `depth`. */
static LLVMValueRef without_jumped(struct weft_emit *emit, LLVMValueRef before, uint32_t since,
                                   uint32_t depth) {
    LLVMValueRef lanes = before ? before : weft_emit_all_lanes(emit, true);
    for (uint32_t i = since; i < emit->jumped_count; i++) {
        const struct weft_emit_target *target = emit->jumped[i];
        if (target->depth >= depth) {
            continue;
        }
        const LLVMValueRef masks[] = {target->exited, target->continued};
        for (uint32_t k = 0; k < 2; k++) {
            if (masks[k]) {
                const LLVMValueRef gone = weft_emit_mask_load(emit, masks[k]);
                lanes =
                    LLVMBuildAnd(emit->builder, lanes, LLVMBuildNot(emit->builder, gone, ""), "");
            }
        }
    }
    return lanes;
}

static LLVMValueRef new_mask(struct weft_emit *emit) {
    const LLVMValueRef mask = weft_emit_variable(emit, weft_emit_vector_type(emit, WEFT_IR_I32));
    weft_emit_mask_store(emit, mask, weft_emit_all_lanes(emit, false));
    return mask;
}

/* ---- jumps ---- */

static uint32_t owner_of(const struct weft_emit *emit, uint32_t list) {
    return emit->program->lists[list].owner;
}

/* The innermost construct around a jump, within its target and the fragment, whose lanes can part; or none. */
static uint32_t parted_within(const struct weft_emit *emit, const struct weft_ir_node *jump) {
    uint32_t list = jump->list;
    while (list != emit->fragment_list && owner_of(emit, list) != jump->target) {
        const uint32_t owner = owner_of(emit, list);
        if (emit->program->nodes[owner].divergent) {
            return owner;
        }
        list = emit->program->nodes[owner].list;
    }
    return WEFT_IR_NONE;
}

static struct weft_emit_target *target_of(struct weft_emit *emit, const struct weft_ir_node *jump) {
    return emit->program->nodes[jump->target].workgroup ? &emit->fragment
                                                        : &emit->targets[jump->target];
}

static void add_lanes(struct weft_emit *emit, LLVMValueRef variable) {
    const LLVMValueRef lanes =
        LLVMBuildOr(emit->builder, weft_emit_mask_load(emit, variable), weft_emit_exec(emit), "");
    weft_emit_mask_store(emit, variable, lanes);
}

/* The running lanes are noted as having jumped. */
static void leave(struct weft_emit *emit, const struct weft_ir_node *jump) {
    struct weft_emit_target *target = target_of(emit, jump);
    const bool to_latch = jump->to_latch && target != &emit->fragment;
    LLVMValueRef *mask = to_latch ? &target->continued : &target->exited;
    if (*mask) {
        add_lanes(emit, *mask);
        note_jump(emit, target);
    } else {
        weft_ir_error(emit->program, WEFT_COMPILE_ERROR, "unsupported divergent jump");
    }
}

static void emit_jump(struct weft_emit *emit, const struct weft_ir_node *jump) {
    struct weft_emit_target *target = target_of(emit, jump);
    const uint32_t parted = parted_within(emit, jump);
    if (parted != WEFT_IR_NONE) {
        leave(emit, jump);
        go_to(emit, &emit->ends[parted], weft_emit_all_lanes(emit, false));
    } else if (jump->to_latch && target != &emit->fragment) {
        const struct weft_emit_end latch = {.block = target->latch, .mask = target->arriving};
        go_to(emit, &latch, weft_emit_exec(emit));
    } else {
        LLVMBuildBr(emit->builder, target->exit);
    }
    weft_emit_at(emit, weft_emit_block(emit, "behind_jump"));
}

/* ---- if ---- */

static bool is_pure(const struct weft_ir_instruction *instruction) {
    return instruction->op < WEFT_IR_GLSL || instruction->op == WEFT_IR_GET ||
           instruction->op == WEFT_IR_SET || instruction->op == WEFT_IR_INPUT;
}

/* Cost of an instruction: reading a variable is free. */
static uint32_t cost_of(const struct weft_ir_instruction *instruction) {
    return instruction->op == WEFT_IR_GET && instruction->n == 1 ? 0 : 1;
}

static uint32_t spend(uint32_t budget, uint32_t cost) {
    return budget > cost ? budget - cost : 0;
}

/* Rest of a budget after the straight code of a list; 0 if the list has any other code. */
static uint32_t left_of(const struct weft_emit *emit, uint32_t list, uint32_t budget) {
    const struct weft_ir_program *program = emit->program;
    for (uint32_t i = program->lists[list].first; i != WEFT_IR_NONE && budget > 0;
         i = program->nodes[i].next) {
        const struct weft_ir_node *node = &program->nodes[i];
        if (node->kind != WEFT_IR_CODE && node->kind != WEFT_IR_SCOPE) {
            return 0; /* a jump out of a scope, too */
        }
        for (uint32_t k = node->first; k < node->first + node->count; k++) {
            const struct weft_ir_instruction *instruction = &program->instructions[k];
            budget = is_pure(instruction) ? spend(budget, cost_of(instruction)) : 0;
        }
        budget = node->kind == WEFT_IR_SCOPE ? left_of(emit, node->lists[0], budget) : budget;
    }
    return budget;
}

/* True if a list is so short, and so harmless without lanes, that a branch around it does not pay. */
static bool is_cheap(const struct weft_emit *emit, uint32_t list) {
    return left_of(emit, list, CHEAP_INSTRUCTIONS + 1) > 0;
}

/* The jump that is all there is in a list, or null. */
static const struct weft_ir_node *only_jump(const struct weft_emit *emit, uint32_t list) {
    const uint32_t first = emit->program->lists[list].first;
    if (first == WEFT_IR_NONE) {
        return NULL;
    }
    const struct weft_ir_node *node = &emit->program->nodes[first];
    return node->kind == WEFT_IR_JUMP ? node : NULL;
}

static bool is_empty(const struct weft_emit *emit, uint32_t list) {
    return emit->program->lists[list].first == WEFT_IR_NONE;
}

static void emit_uniform_if(struct weft_emit *emit, const struct weft_ir_node *node) {
    const LLVMValueRef before = emit->exec;
    const LLVMBasicBlockRef sides[2] = {weft_emit_block(emit, "then"),
                                        weft_emit_block(emit, "else")};
    const struct weft_emit_end end = {.block = weft_emit_block(emit, "endif"),
                                      .mask = node->leaks ? new_mask(emit) : NULL};
    LLVMBuildCondBr(emit->builder, weft_emit_scalar(emit, node->condition), sides[0], sides[1]);
    for (uint32_t i = 0; i < 2; i++) {
        weft_emit_at(emit, sides[i]);
        emit->exec = before;
        emit_list(emit, node->lists[i], &end);
    }
    weft_emit_at(emit, end.block);
    emit->exec = end.mask ? weft_emit_mask_load(emit, end.mask) : before;
}

/* One side of an if whose lanes part; leaves the lanes that are left of it in `rest`, where that is asked for. */
static void emit_side(struct weft_emit *emit, uint32_t index, uint32_t list, LLVMValueRef lanes,
                      LLVMValueRef rest) {
    emit->exec = lanes;
    if (is_empty(emit, list)) {
        if (rest) {
            weft_emit_mask_store(emit, rest, lanes);
        }
        return;
    }
    if (is_cheap(emit, list)) {
        const uint32_t outer = emit->list;
        emit->list = list;
        for (uint32_t i = emit->program->lists[list].first; i != WEFT_IR_NONE;
             i = emit->program->nodes[i].next) {
            emit_node(emit, i);
        }
        emit->list = outer;
        if (rest) {
            weft_emit_mask_store(emit, rest, lanes);
        }
        return;
    }
    const LLVMBasicBlockRef side = weft_emit_block(emit, "side");
    const struct weft_emit_end end = {.block = weft_emit_block(emit, "endside"), .mask = rest};
    emit->ends[index] = end;
    LLVMBuildCondBr(emit->builder, weft_emit_any(emit, lanes), side, end.block);
    weft_emit_at(emit, side);
    emit_list(emit, list, &end);
    weft_emit_at(emit, end.block);
}

static LLVMValueRef both(struct weft_emit *emit, LLVMValueRef a, LLVMValueRef b) {
    return a ? LLVMBuildAnd(emit->builder, a, b, "") : b;
}

/* ---- twice: for all lanes, and for some ---- */

/* True if nodes from `first` on access memory, as far as they are few enough to be written out twice. */
static bool accesses_memory(const struct weft_emit *emit, uint32_t first, uint32_t end,
                            uint32_t *budget) {
    const struct weft_ir_program *program = emit->program;
    bool accesses = false;
    for (uint32_t i = first; i != end && i != WEFT_IR_NONE; i = program->nodes[i].next) {
        const struct weft_ir_node *node = &program->nodes[i];
        for (uint32_t k = 0; node->kind == WEFT_IR_CODE && k < node->count; k++) {
            const uint32_t op = program->instructions[node->first + k].op;
            accesses = accesses || op == WEFT_IR_LOAD || op == WEFT_IR_STORE;
            *budget = spend(*budget, cost_of(&program->instructions[node->first + k]));
        }
        for (uint32_t k = 0; k < 2 && node->lists[k] != WEFT_IR_NONE; k++) {
            const uint32_t inner = program->lists[node->lists[k]].first;
            accesses = accesses_memory(emit, inner, WEFT_IR_NONE, budget) || accesses;
        }
    }
    return accesses;
}

/*
 * Masked accesses take several times as long as others, on some processors twenty times. Not within what is written out twice
 * already.
 */
static bool pays_twice(const struct weft_emit *emit, uint32_t first, uint32_t end) {
    enum { MOST = 300 };
    uint32_t budget = MOST;
    return !emit->twice && accesses_memory(emit, first, end, &budget) && budget > 0;
}

/*
 * Begins code for when all lanes run; otherwise control goes to the returned block. `all`: a scalar that is true only
 * if all lanes run, and may be false too often; or null.
 */
static LLVMBasicBlockRef begin_whole(struct weft_emit *emit, LLVMValueRef lanes, LLVMValueRef all) {
    const LLVMBasicBlockRef whole = weft_emit_block(emit, "whole");
    const LLVMBasicBlockRef part = weft_emit_block(emit, "part");
    if (all) {
        LLVMBuildCondBr(emit->builder, all, whole, part);
    } else {
        const LLVMValueRef some_rest = weft_emit_any(emit, LLVMBuildNot(emit->builder, lanes, ""));
        LLVMBuildCondBr(emit->builder, some_rest, part, whole);
    }
    weft_emit_at(emit, whole);
    emit->exec = NULL;
    emit->twice = true;
    return part;
}

/* For an if that some lanes may jump out of: whether, of all lanes, none does. */
static LLVMValueRef all_stay(struct weft_emit *emit, const struct weft_ir_node *node) {
    for (uint32_t i = 0; i < 2; i++) {
        if (only_jump(emit, node->lists[i]) && is_empty(emit, node->lists[1 - i])) {
            return weft_emit_edge_holds(emit, node->condition, i == 1);
        }
    }
    return NULL;
}

static void begin_part(struct weft_emit *emit, LLVMBasicBlockRef part, LLVMValueRef lanes) {
    weft_emit_at(emit, part);
    emit->exec = lanes;
    emit->twice = false;
}

static void emit_parted_if(struct weft_emit *emit, uint32_t index) {
    const struct weft_ir_node *node = &emit->program->nodes[index];
    const LLVMValueRef before = emit->exec;
    const LLVMValueRef condition = weft_emit_vector(emit, node->condition);
    const LLVMValueRef other = LLVMBuildNot(emit->builder, condition, "");
    LLVMValueRef lanes[2] = {both(emit, before, condition), both(emit, before, other)};
    for (uint32_t i = 0; i < 2; i++) {
        const struct weft_ir_node *jump = only_jump(emit, node->lists[i]);
        if (jump && is_empty(emit, node->lists[1 - i])) {
            emit->exec = lanes[i];
            leave(emit, jump);
            emit->exec = lanes[1 - i];
            return;
        }
    }
    if (!node->leaks && is_empty(emit, node->lists[1]) &&
        weft_emit_is_edge(emit, node->condition) &&
        pays_twice(emit, emit->program->lists[node->lists[0]].first, WEFT_IR_NONE)) {
        const struct weft_emit_end end = {.block = weft_emit_block(emit, "endif")};
        const LLVMValueRef all = before ? NULL : weft_emit_edge_holds(emit, node->condition, true);
        const LLVMBasicBlockRef part = begin_whole(emit, lanes[0], all);
        emit_list(emit, node->lists[0], &end);
        begin_part(emit, part, before);
        emit_side(emit, index, node->lists[0], lanes[0], NULL);
        LLVMBuildBr(emit->builder, end.block);
        weft_emit_at(emit, end.block);
        emit->exec = before;
        return;
    }
    LLVMValueRef rest[2] = {NULL, NULL};
    for (uint32_t i = 0; node->leaks && i < 2; i++) {
        rest[i] = new_mask(emit);
    }
    for (uint32_t i = 0; i < 2; i++) {
        emit_side(emit, index, node->lists[i], lanes[i], rest[i]);
    }
    emit->exec = before;
    if (node->leaks) {
        emit->exec = LLVMBuildOr(emit->builder, weft_emit_mask_load(emit, rest[0]),
                                 weft_emit_mask_load(emit, rest[1]), "");
    }
}

/* ---- loops and scopes ---- */

/* LLVM by itself does so with the shortest only. What a variable's elements are indexed by must be known in every loop, or all of them are
 * in memory: so the longest body is that of a convolution's results with an activation that is an exponential, for two vectors. */
static void unroll(struct weft_emit *emit, const struct weft_ir_node *node, LLVMValueRef branch) {
    enum { MOST = 512 };
    if (!weft_ir_wants_unrolling(emit->program, node, MOST)) {
        return;
    }
    static const char wish[] = "llvm.loop.unroll.full";
    LLVMMetadataRef name = LLVMMDStringInContext2(emit->context, wish, sizeof wish - 1);
    /* The node that tells loops apart refers to itself. */
    const LLVMMetadataRef placeholder = LLVMTemporaryMDNode(emit->context, NULL, 0);
    LLVMMetadataRef parts[] = {placeholder, LLVMMDNodeInContext2(emit->context, &name, 1)};
    const LLVMMetadataRef loop = LLVMMDNodeInContext2(emit->context, parts, 2);
    LLVMMetadataReplaceAllUsesWith(placeholder, loop);
    LLVMSetMetadata(branch, emit->loop_kind, LLVMMetadataAsValue(emit->context, loop));
}

/* The whole workgroup ends here: what a loop that was left too early has worked out is used by nobody. */
LLVMValueRef weft_emit_turn(struct weft_emit *emit, LLVMBasicBlockRef head) {
    if (emit->program->checked) {
        const LLVMBasicBlockRef next = weft_emit_block(emit, "next");
        const LLVMValueRef halt =
            LLVMBuildLoad2(emit->builder, emit->types[WEFT_IR_I32], emit->halt, "");
        LLVMSetVolatile(halt, 1); /* others change it */
        const LLVMValueRef on =
            LLVMBuildICmp(emit->builder, LLVMIntEQ, halt, weft_emit_u32(emit, 0), "");
        LLVMBuildCondBr(emit->builder, on, next, emit->done);
        weft_emit_at(emit, next);
    }
    return LLVMBuildBr(emit->builder, head);
}

static void emit_loop(struct weft_emit *emit, uint32_t index) {
    const struct weft_ir_node *node = &emit->program->nodes[index];
    struct weft_emit_target *target = &emit->targets[index];
    const LLVMValueRef before = emit->exec;
    const uint32_t since = emit->jumped_count;
    const LLVMBasicBlockRef head = weft_emit_block(emit, "loop");
    const LLVMBasicBlockRef again = weft_emit_block(emit, "again");
    const LLVMValueRef live = node->divergent ? new_mask(emit) : NULL;
    *target = (struct weft_emit_target){.exit = weft_emit_block(emit, "endloop"),
                                        .latch = weft_emit_block(emit, "latch"),
                                        .exited = node->exit_diverges ? new_mask(emit) : NULL,
                                        .continued = node->latch_diverges ? new_mask(emit) : NULL,
                                        .arriving = node->divergent ? new_mask(emit) : NULL,
                                        .depth = emit->program->lists[node->list].depth};
    if (live) {
        weft_emit_mask_store(emit, live, weft_emit_exec(emit));
    }
    LLVMBuildBr(emit->builder, head);
    weft_emit_at(emit, head);
    if (live) {
        emit->exec = weft_emit_mask_load(emit, live);
    }
    if (target->continued) {
        weft_emit_mask_store(emit, target->continued, weft_emit_all_lanes(emit, false));
    }
    const struct weft_emit_end body = {.block = target->latch, .mask = target->arriving};
    emit->ends[index] = body;
    emit_list(emit, node->lists[0], &body);
    weft_emit_at(emit, target->latch);
    emit->exec = before;
    if (live) {
        emit->exec = weft_emit_mask_load(emit, target->arriving);
        if (target->continued) {
            emit->exec = LLVMBuildOr(emit->builder, emit->exec,
                                     weft_emit_mask_load(emit, target->continued), "");
        }
        const LLVMBasicBlockRef some = weft_emit_block(emit, "some");
        LLVMBuildCondBr(emit->builder, weft_emit_any(emit, emit->exec), some, target->exit);
        weft_emit_at(emit, some);
    }
    const struct weft_emit_end end = {.block = again, .mask = live};
    emit->ends[index] = end;
    emit_list(emit, node->lists[1], &end);
    weft_emit_at(emit, again);
    if (live) {
        const LLVMBasicBlockRef turn = weft_emit_block(emit, "turn");
        LLVMBuildCondBr(emit->builder, weft_emit_any(emit, weft_emit_mask_load(emit, live)), turn,
                        target->exit);
        weft_emit_at(emit, turn);
        (void)weft_emit_turn(emit, head);
    } else {
        unroll(emit, node, weft_emit_turn(emit, head));
    }
    weft_emit_at(emit, target->exit);
    emit->exec = node->leaks ? without_jumped(emit, before, since, target->depth) : before;
}

static void emit_scope(struct weft_emit *emit, uint32_t index) {
    const struct weft_ir_node *node = &emit->program->nodes[index];
    struct weft_emit_target *target = &emit->targets[index];
    const LLVMValueRef before = emit->exec;
    const uint32_t since = emit->jumped_count;
    *target = (struct weft_emit_target){.exit = weft_emit_block(emit, "endscope"),
                                        .exited = node->exit_diverges ? new_mask(emit) : NULL,
                                        .depth = emit->program->lists[node->list].depth};
    const struct weft_emit_end end = {.block = target->exit};
    emit_list(emit, node->lists[0], &end);
    weft_emit_at(emit, target->exit);
    emit->exec = node->leaks ? without_jumped(emit, before, since, target->depth) : before;
}

/* ---- lists ---- */

static void emit_code(struct weft_emit *emit, const struct weft_ir_node *node) {
    for (uint32_t i = node->first; i < node->first + node->count; i++) {
        weft_emit_instruction(emit, &emit->program->instructions[i]);
    }
}

static void emit_node(struct weft_emit *emit, uint32_t index) {
    const struct weft_ir_node *node = &emit->program->nodes[index];
    switch (node->kind) {
    case WEFT_IR_CODE:
        emit_code(emit, node);
        break;
    case WEFT_IR_IF:
        if (node->divergent) {
            emit_parted_if(emit, index);
        } else {
            emit_uniform_if(emit, node);
        }
        break;
    case WEFT_IR_LOOP:
        emit_loop(emit, index);
        break;
    case WEFT_IR_SCOPE:
        emit_scope(emit, index);
        break;
    case WEFT_IR_JUMP:
        emit_jump(emit, node);
        break;
    default:
        weft_ir_error(emit->program, WEFT_COMPILE_ERROR,
                      "a barrier that not all invocations reach");
        break;
    }
}

void weft_emit_nodes(struct weft_emit *emit, uint32_t first, uint32_t end,
                     const struct weft_emit_end *then) {
    for (uint32_t i = first; i != end && i != WEFT_IR_NONE; i = emit->program->nodes[i].next) {
        const struct weft_ir_node *node = &emit->program->nodes[i];
        const bool by_all = !emit->exec;
        emit_node(emit, i);
        if (node->leaks && node->next != end && node->next != WEFT_IR_NONE) {
            if (emit->exec && node->kind == WEFT_IR_IF &&
                weft_emit_is_edge(emit, node->condition) && pays_twice(emit, node->next, end)) {
                const LLVMValueRef lanes = emit->exec;
                const LLVMBasicBlockRef part =
                    begin_whole(emit, lanes, by_all ? all_stay(emit, node) : NULL);
                weft_emit_nodes(emit, node->next, end, then);
                begin_part(emit, part, lanes);
            }
            /* The rest of the list must not run without lanes: its scalar accesses check no mask. */
            const LLVMBasicBlockRef rest = weft_emit_block(emit, "rest");
            const LLVMBasicBlockRef none = weft_emit_block(emit, "none");
            LLVMBuildCondBr(emit->builder, weft_emit_any(emit, weft_emit_exec(emit)), rest, none);
            weft_emit_at(emit, none);
            go_to(emit, then, weft_emit_all_lanes(emit, false));
            weft_emit_at(emit, rest);
        }
    }
    go_to(emit, then, weft_emit_exec(emit));
}
