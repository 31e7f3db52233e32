/* SPDX-License-Identifier: MIT */
/*
 * Blocks and the edges between them, in the order of the module. OpPhi becomes moves in a block of
 * its own on each edge that leads to it.
 */
#include "verify/evaluator/decode.h"

#define MAX_INSTRUCTIONS (UINT32_C(1) << 22)
#define SCOPE_WORKGROUP  2u

/* Targets until the function has been decoded: a label's id with this bit, or behind the call. */
#define LABEL_BIT   UINT32_C(0x80000000)
#define BEHIND_CALL UINT32_C(0x7FFFFFFF)

/* ---- appending ---- */

struct weft_eval_instruction *weft_eval_emit(struct weft_eval_decoder *decoder,
                                             enum weft_eval_op op, uint32_t n, uint32_t d) {
    struct weft_eval_program *program = decoder->program;
    if (program->instruction_count >= MAX_INSTRUCTIONS) {
        weft_eval_error(decoder, WEFT_UNSUPPORTED, "more than %u instructions with calls inlined",
                        MAX_INSTRUCTIONS);
    }
    if (!weft_eval_room(decoder, &program->instructions, program->instruction_count,
                        &program->instruction_capacity, sizeof *program->instructions)) {
        return &decoder->discarded;
    }
    struct weft_eval_instruction *instruction =
        &program->instructions[program->instruction_count++];
    *instruction = (struct weft_eval_instruction){.op = (uint32_t)op, .n = n, .d = d};
    return instruction;
}

void weft_eval_move(struct weft_eval_decoder *decoder, uint32_t n, uint32_t d, uint32_t a) {
    if (n > 0 && d != a) {
        weft_eval_emit(decoder, WEFT_EVAL_MOVE, n, d)->a = a;
    }
}

void weft_eval_begin_block(struct weft_eval_decoder *decoder) {
    struct weft_eval_program *program = decoder->program;
    if (weft_eval_room(decoder, &program->blocks, program->block_count, &program->block_capacity,
                       sizeof *program->blocks)) {
        program->blocks[program->block_count++] =
            (struct weft_eval_block){.first = program->instruction_count, .end = WEFT_EVAL_OPEN};
    }
}

/* Ends the newest block; null after an error. */
static struct weft_eval_block *end_block(struct weft_eval_decoder *decoder,
                                         enum weft_eval_end end) {
    struct weft_eval_program *program = decoder->program;
    if (decoder->status != WEFT_OK || program->block_count == 0) {
        return NULL;
    }
    struct weft_eval_block *block = &program->blocks[program->block_count - 1];
    block->count = program->instruction_count - block->first;
    block->end = (uint32_t)end;
    return block;
}

void weft_eval_end_with_jump(struct weft_eval_decoder *decoder, uint32_t target) {
    struct weft_eval_block *block = end_block(decoder, WEFT_EVAL_JUMP);
    if (block) {
        block->target[0] = target;
    }
}

/* ---- edges ---- */

/* The next OpPhi of a block; at is 0 behind the last. */
static struct weft_eval_view next_phi(const struct weft_eval_decoder *decoder, uint32_t *at) {
    struct weft_eval_view view = {.length = 0};
    do {
        *at += weft_spirv_length(decoder->words[*at]);
        view = weft_eval_view_at(decoder, *at);
    } while (view.opcode == WEFT_OP_LINE || view.opcode == WEFT_OP_NO_LINE);
    if (view.opcode != WEFT_OP_PHI) {
        *at = 0;
    }
    return view;
}

/* Appends d = the value that a phi has coming from a label. */
static void move_phi(struct weft_eval_decoder *decoder, const struct weft_eval_view *phi,
                     uint32_t from, uint32_t d) {
    uint32_t value = 0;
    for (uint32_t i = 3; i + 1 < phi->length; i += 2) {
        value = phi->words[i + 1] == from ? phi->words[i] : value;
    }
    if (value == 0) {
        weft_eval_error(decoder, WEFT_COMPILE_ERROR, "OpPhi %u has no value for block %u",
                        phi->words[2], from);
    }
    uint32_t words = weft_eval_type(decoder, phi->words[1])->words;
    (void)weft_eval_emit(decoder, WEFT_EVAL_MOVE, words, d);
    if (weft_eval_room(decoder, &decoder->patches, decoder->patch_count, &decoder->patch_capacity,
                       sizeof *decoder->patches)) {
        decoder->patches[decoder->patch_count++] = (struct weft_eval_patch){
            .instruction = decoder->program->instruction_count - 1, .id = value};
    }
}

/* The slots of a phi, which the first edge to it gives it. */
static uint32_t phi_slot(struct weft_eval_decoder *decoder, const struct weft_eval_view *phi) {
    uint32_t id = weft_eval_word(decoder, phi, 2);
    return decoder->ids[id].kind == WEFT_EVAL_ID_VALUE
               ? decoder->ids[id].slot
               : weft_eval_define(decoder, weft_eval_word(decoder, phi, 1), id);
}

/*
 * All phis of a block change at once: their new values are collected before any is written, the
 * second time through the list.
 */
static void move_phis(struct weft_eval_decoder *decoder, uint32_t from, uint32_t to) {
    uint32_t words = 0;
    uint32_t at = decoder->ids[to].at;
    for (struct weft_eval_view phi = next_phi(decoder, &at); at != 0;
         phi = next_phi(decoder, &at)) {
        words += weft_eval_type(decoder, phi.words[1])->words;
    }
    uint32_t buffer = weft_eval_take(decoder, words);
    uint32_t next = buffer;
    at = decoder->ids[to].at;
    for (struct weft_eval_view phi = next_phi(decoder, &at); at != 0;
         phi = next_phi(decoder, &at)) {
        move_phi(decoder, &phi, from, next);
        next += weft_eval_type(decoder, phi.words[1])->words;
    }
    next = buffer;
    at = decoder->ids[to].at;
    for (struct weft_eval_view phi = next_phi(decoder, &at); at != 0;
         phi = next_phi(decoder, &at)) {
        uint32_t count = weft_eval_type(decoder, phi.words[1])->words;
        weft_eval_move(decoder, count, phi_slot(decoder, &phi), next);
        next += count;
    }
    weft_eval_release(decoder, buffer);
}

/* The target of an edge; appends a block of moves if need be, so the block before must be ended. */
static uint32_t edge(struct weft_eval_decoder *decoder, uint32_t from, uint32_t to) {
    if (to >= decoder->bound || decoder->ids[to].kind != WEFT_EVAL_ID_LABEL) {
        weft_eval_error(decoder, WEFT_COMPILE_ERROR, "id %u is not a label", to);
        return 0;
    }
    uint32_t at = decoder->ids[to].at;
    (void)next_phi(decoder, &at);
    if (at == 0) {
        return LABEL_BIT | to;
    }
    weft_eval_begin_block(decoder);
    uint32_t block = decoder->program->block_count - 1;
    move_phis(decoder, from, to);
    weft_eval_end_with_jump(decoder, LABEL_BIT | to);
    return block;
}

/* ---- the ends of blocks ---- */

static void decode_branch(struct weft_eval_decoder *decoder, const struct weft_eval_view *view,
                          const struct weft_eval_call *call) {
    (void)end_block(decoder, WEFT_EVAL_JUMP);
    uint32_t block = decoder->program->block_count - 1;
    uint32_t target = edge(decoder, call->label, weft_eval_word(decoder, view, 1));
    decoder->program->blocks[block].target[0] = target;
}

static void decode_conditional(struct weft_eval_decoder *decoder, const struct weft_eval_view *view,
                               const struct weft_eval_call *call) {
    uint32_t slot = weft_eval_slot(decoder, weft_eval_word(decoder, view, 1));
    (void)end_block(decoder, WEFT_EVAL_BRANCH);
    uint32_t block = decoder->program->block_count - 1;
    decoder->program->blocks[block].slot = slot;
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t target = edge(decoder, call->label, weft_eval_word(decoder, view, 2 + i));
        decoder->program->blocks[block].target[i] = target;
    }
}

static void add_cases(struct weft_eval_decoder *decoder, const struct weft_eval_view *view) {
    struct weft_eval_program *program = decoder->program;
    for (uint32_t i = 3; i + 1 < view->length; i += 2) {
        if (weft_eval_room(decoder, &program->cases, program->case_count, &program->case_capacity,
                           sizeof *program->cases)) {
            program->cases[program->case_count++].value = view->words[i];
        }
    }
}

static void decode_switch(struct weft_eval_decoder *decoder, const struct weft_eval_view *view,
                          const struct weft_eval_call *call) {
    struct weft_eval_program *program = decoder->program;
    uint32_t slot = weft_eval_slot(decoder, weft_eval_word(decoder, view, 1));
    uint32_t first = program->case_count;
    add_cases(decoder, view);
    (void)end_block(decoder, WEFT_EVAL_SWITCH);
    uint32_t block = program->block_count - 1;
    uint32_t otherwise = edge(decoder, call->label, weft_eval_word(decoder, view, 2));
    for (uint32_t i = 0; first + i < program->case_count && decoder->status == WEFT_OK; i++) {
        program->cases[first + i].target = edge(decoder, call->label, view->words[4 + 2 * i]);
    }
    program->blocks[block].slot = slot;
    program->blocks[block].target[0] = otherwise;
    program->blocks[block].first_case = first;
    program->blocks[block].case_count = program->case_count - first;
}

static void decode_return(struct weft_eval_decoder *decoder, const struct weft_eval_view *view,
                          const struct weft_eval_call *call) {
    if (view->opcode == WEFT_OP_RETURN_VALUE) {
        uint32_t value = weft_eval_slot(decoder, weft_eval_word(decoder, view, 1));
        weft_eval_move(decoder, call->result_words, call->result, value);
    }
    if (!call->view) {
        (void)end_block(decoder, WEFT_EVAL_RETURN);
    } else {
        weft_eval_end_with_jump(decoder, BEHIND_CALL);
    }
}

static void decode_barrier(struct weft_eval_decoder *decoder, const struct weft_eval_view *view) {
    if (weft_eval_constant(decoder, weft_eval_word(decoder, view, 1)) != SCOPE_WORKGROUP) {
        weft_eval_error(decoder, WEFT_UNSUPPORTED,
                        "a barrier of another scope than the workgroup is not evaluated");
    }
    struct weft_eval_block *block = end_block(decoder, WEFT_EVAL_BARRIER);
    if (block) {
        block->target[0] = decoder->program->block_count;
    }
    weft_eval_begin_block(decoder);
}

/* ---- targets ---- */

/* The block of a target, now that all are known. */
static uint32_t resolve_target(struct weft_eval_decoder *decoder, uint32_t target) {
    if (target == BEHIND_CALL) {
        return decoder->program->block_count;
    }
    if ((target & LABEL_BIT) == 0) {
        return target;
    }
    uint32_t block = decoder->ids[target & ~LABEL_BIT].block;
    if (block == WEFT_EVAL_NO_BLOCK) {
        weft_eval_error(decoder, WEFT_COMPILE_ERROR, "a branch to label %u of another function",
                        target & ~LABEL_BIT);
        return 0;
    }
    return block;
}

void weft_eval_resolve(struct weft_eval_decoder *decoder, const struct weft_eval_call *call) {
    struct weft_eval_program *program = decoder->program;
    for (uint32_t i = call->first_block; i < program->block_count; i++) {
        uint32_t *target = program->blocks[i].target;
        target[0] = resolve_target(decoder, target[0]);
        target[1] = resolve_target(decoder, target[1]);
    }
    for (uint32_t i = call->first_case; i < program->case_count; i++) {
        program->cases[i].target = resolve_target(decoder, program->cases[i].target);
    }
    for (uint32_t i = call->first_patch; i < decoder->patch_count; i++) {
        struct weft_eval_instruction *move =
            &program->instructions[decoder->patches[i].instruction];
        move->a = weft_eval_slot(decoder, decoder->patches[i].id);
    }
    decoder->patch_count = call->first_patch;
}

void weft_eval_decode_label(struct weft_eval_decoder *decoder, const struct weft_eval_view *view,
                            struct weft_eval_call *call) {
    call->label = weft_eval_word(decoder, view, 1);
    weft_eval_begin_block(decoder);
    decoder->ids[call->label].block = decoder->program->block_count - 1;
}

bool weft_eval_decode_end(struct weft_eval_decoder *decoder, const struct weft_eval_view *view,
                          const struct weft_eval_call *call) {
    switch (view->opcode) {
    case WEFT_OP_BRANCH:
        decode_branch(decoder, view, call);
        return true;
    case WEFT_OP_BRANCH_CONDITIONAL:
        decode_conditional(decoder, view, call);
        return true;
    case WEFT_OP_SWITCH:
        decode_switch(decoder, view, call);
        return true;
    case WEFT_OP_RETURN:
    case WEFT_OP_RETURN_VALUE:
        decode_return(decoder, view, call);
        return true;
    case WEFT_OP_UNREACHABLE:
        (void)end_block(decoder, WEFT_EVAL_UNREACHABLE);
        return true;
    case WEFT_OP_CONTROL_BARRIER:
        decode_barrier(decoder, view);
        return true;
    case WEFT_OP_PHI: /* its moves are on the edges */
        (void)phi_slot(decoder, view);
        return true;
    default:
        return false;
    }
}
