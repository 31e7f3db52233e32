/* SPDX-License-Identifier: MIT */
/*
 * Structured control flow (SPIR-V specification, section 2.11) as a tree. A branch leads to the end of the list at hand
 * (nothing to do), out of a construct or to the latch of a loop (a jump), or to a block that is decoded in place.
 * Branches on constants leave only the side that is taken.
 */
#include "spirv/ir/decode.h"

#include <string.h>

#define MAX_DEPTH  200u
#define MAX_PIECES (UINT32_C(1) << 20)

enum { SCOPE_WORKGROUP = 2 };

enum where { IN_PLACE, AT_END, BY_JUMP };

struct destination {
    enum where where;
    uint32_t node;
    bool to_latch;
};

static void decode_chain(struct weft_ir_decoder *decoder, uint32_t label);

static bool failed(const struct weft_ir_decoder *decoder) {
    return decoder->program->status != WEFT_OK;
}

/* ---- where branches lead ---- */

static struct destination jump(const struct weft_ir_decoder *decoder, uint32_t node,
                               bool to_latch) {
    const struct weft_ir_node *target = &decoder->program->nodes[node];
    const bool here = target->lists[0] == decoder->list;
    const bool ends = here && (to_latch || target->kind == WEFT_IR_SCOPE);
    return (struct destination){
        .where = ends ? AT_END : BY_JUMP, .node = node, .to_latch = to_latch};
}

static struct destination find(const struct weft_ir_decoder *decoder, uint32_t label) {
    struct weft_ir_construct *construct = decoder->frame->construct;
    for (; construct; construct = construct->outer) {
        if (label == construct->merge) {
            construct->reached = true;
            return construct->node == WEFT_IR_NONE ? (struct destination){.where = AT_END}
                                                   : jump(decoder, construct->node, false);
        }
        if (construct->header != 0 && construct->in_latch && label == construct->header) {
            return (struct destination){.where = AT_END};
        }
        if (construct->header != 0 && !construct->in_latch && label == construct->latch) {
            return jump(decoder, construct->node, true);
        }
    }
    return (struct destination){.where = IN_PLACE};
}

static void add_jump(struct weft_ir_decoder *decoder, const struct destination *destination) {
    if (destination->where != BY_JUMP) {
        return;
    }
    const uint32_t node = weft_ir_add_node(decoder->program, decoder->list, WEFT_IR_JUMP);
    if (!failed(decoder)) {
        decoder->program->nodes[node].target = destination->node;
        decoder->program->nodes[node].to_latch = destination->to_latch;
    }
}

/* ---- OpPhi: a variable that each edge sets ---- */

/* The phis of a block begin behind its label; null behind the last. */
static const uint32_t *next_phi(const uint32_t *words) {
    words = weft_ir_next(words);
    return weft_spirv_opcode(words[0]) == SpvOpPhi ? words : NULL;
}

/* The variable of a phi lives where those of its function do; each call has one of its own. */
static uint32_t phi_variable(struct weft_ir_decoder *decoder, const uint32_t *words) {
    const struct weft_ir_frame *frame = decoder->frame;
    struct weft_ir_id *id = weft_ir_id(decoder, words[2]);
    if (id->phi_call != frame->number) {
        id->phi_call = frame->number;
        id->phi =
            weft_ir_new_variable(decoder, words[1], decoder->program->nodes[frame->scope].lists[0]);
    }
    return id->phi;
}

/* Sets the phis of `label` for the edge from the current block. All values are read before any is set. */
static void set_phis(struct weft_ir_decoder *decoder, uint32_t label) {
    enum { MOST = 64 };
    uint32_t variables[MOST];
    const weft_ir_value *values[MOST];
    uint32_t sizes[MOST];
    uint32_t count = 0;
    const uint32_t *block = weft_spirv_made_by(&decoder->module, label, SpvOpLabel);
    for (const uint32_t *words = block ? next_phi(block) : NULL; words && !failed(decoder);
         words = next_phi(words)) {
        if (count == MOST) {
            weft_ir_unsupported(decoder, "a block with more OpPhi than", MOST);
            return;
        }
        for (uint32_t i = 3; i + 1 < weft_spirv_length(words[0]); i += 2) {
            if (words[i + 1] == decoder->frame->label) {
                values[count] = weft_ir_scalars(decoder, words[i]);
                sizes[count] = weft_ir_id(decoder, words[i])->count;
                variables[count] = phi_variable(decoder, words);
                count += values[count] ? 1 : 0;
                break;
            }
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        weft_ir_set_variable(decoder, variables[i], values[i], sizes[i]);
    }
}

static void decode_phi(struct weft_ir_decoder *decoder, const uint32_t *words) {
    const uint32_t type = words[1];
    weft_ir_value *row = weft_ir_row(decoder, weft_ir_type_of(decoder, type)->slots);
    if (row) {
        weft_ir_get_variable(decoder, phi_variable(decoder, words), type, row);
        weft_ir_define(decoder, words[2], type, row);
    }
}

/* Goes along an edge: the label of the block to decode in place, or 0. */
static uint32_t follow(struct weft_ir_decoder *decoder, uint32_t label) {
    const struct destination destination = find(decoder, label);
    set_phis(decoder, label);
    add_jump(decoder, &destination);
    return destination.where == IN_PLACE ? label : 0;
}

/* ---- branches ---- */

/* Decodes, into a list, what an edge from the block at hand leads to, up to the end of the construct. */
static void decode_arm(struct weft_ir_decoder *decoder, uint32_t list, uint32_t label) {
    const uint32_t outer = decoder->list;
    const uint32_t from = decoder->frame->label;
    decoder->list = list;
    decode_chain(decoder, follow(decoder, label));
    decoder->list = outer;
    decoder->frame->label = from;
}

/* An if whose lists are still empty; its node. */
static uint32_t add_if(struct weft_ir_decoder *decoder, weft_ir_value condition) {
    struct weft_ir_program *program = decoder->program;
    const uint32_t node = weft_ir_add_node(program, decoder->list, WEFT_IR_IF);
    for (uint32_t i = 0; i < 2 && !failed(decoder); i++) {
        const uint32_t list = weft_ir_add_list(program, node);
        program->nodes[node].lists[i] = list;
    }
    program->nodes[node].condition = condition;
    decoder->block++;
    return node;
}

static bool constant_condition(const struct weft_ir_decoder *decoder, weft_ir_value condition,
                               bool *value) {
    const struct weft_ir_def *def = &decoder->program->values[condition];
    *value = def->bits != 0;
    return def->constant;
}

/* A branch that a merge instruction announces: both sides meet in `merge`, which comes next. Where one side alone is
 * there, in this very list, it may have ended with a jump that needed no node, and nothing comes next. */
static uint32_t decode_selection(struct weft_ir_decoder *decoder, weft_ir_value condition,
                                 const uint32_t targets[2], uint32_t merge) {
    struct weft_ir_frame *frame = decoder->frame;
    struct weft_ir_construct construct = {
        .outer = frame->construct, .merge = merge, .node = WEFT_IR_NONE};
    bool value = false;
    const bool constant = constant_condition(decoder, condition, &value);
    const uint32_t node = constant ? 0 : add_if(decoder, condition);
    frame->construct = &construct;
    for (uint32_t i = 0; i < 2 && !failed(decoder); i++) {
        if (!constant) {
            decode_arm(decoder, decoder->program->nodes[node].lists[i], targets[i]);
        } else if (value == (i == 0)) {
            decode_arm(decoder, decoder->list, targets[i]);
        }
    }
    frame->construct = construct.outer;
    return constant && !construct.reached ? 0 : merge;
}

/* A branch without: at most one side goes on in place. */
static uint32_t decode_exit(struct weft_ir_decoder *decoder, weft_ir_value condition,
                            const uint32_t targets[2]) {
    bool value = false;
    if (constant_condition(decoder, condition, &value)) {
        return follow(decoder, targets[value ? 0 : 1]);
    }
    const struct destination to[2] = {find(decoder, targets[0]), find(decoder, targets[1])};
    if (to[0].where == IN_PLACE && to[1].where == IN_PLACE) {
        weft_ir_error(decoder->program, WEFT_UNSUPPORTED, "control flow that is not structured");
        return 0;
    }
    const uint32_t node = add_if(decoder, condition);
    const bool inside = to[0].where == AT_END || to[1].where == AT_END;
    uint32_t next = 0;
    for (uint32_t i = 0; i < 2 && !failed(decoder); i++) {
        const uint32_t list = decoder->program->nodes[node].lists[i];
        if (to[i].where != IN_PLACE || inside) {
            decode_arm(decoder, list, targets[i]);
            continue;
        }
        const uint32_t outer = decoder->list;
        decoder->list = list;
        set_phis(decoder, targets[i]);
        decoder->list = outer;
        next = targets[i];
    }
    decoder->block++;
    return next;
}

/* ---- OpSwitch ---- */

/* Condition that the selector is one of the literals that lead to a label. */
static weft_ir_value matches(struct weft_ir_decoder *decoder, const uint32_t *words,
                             weft_ir_value selector, uint32_t label) {
    const uint32_t type = decoder->program->values[selector].type;
    weft_ir_value any = 0;
    for (uint32_t i = 3; i + 1 < weft_spirv_length(words[0]); i += 2) {
        if (words[i + 1] != label) {
            continue;
        }
        const weft_ir_value equal =
            weft_ir_binary(decoder, SpvOpIEqual, WEFT_IR_BOOL, selector,
                           weft_ir_constant(decoder->program, type, words[i]));
        any = any == 0 ? equal : weft_ir_binary(decoder, SpvOpLogicalOr, WEFT_IR_BOOL, any, equal);
    }
    return any;
}

static bool came_before(const uint32_t *words, uint32_t at) {
    bool before = words[at] == words[2];
    for (uint32_t i = 4; i < at; i += 2) {
        before = before || words[i] == words[at];
    }
    return before;
}

/* One if after the other, each in the other side of the one before. A case that falls through into the next has a
 * copy of it. */
static void decode_cases(struct weft_ir_decoder *decoder, const uint32_t *words,
                         weft_ir_value selector) {
    const uint32_t type = decoder->program->values[selector].type;
    const uint32_t kept = weft_ir_add_variable(decoder->program, decoder->list, 1);
    const uint32_t label = decoder->frame->label;
    const uint32_t outer = decoder->list;
    if (failed(decoder)) {
        return;
    }
    decoder->program->slots[decoder->program->variables[kept].first].type = (uint8_t)type;
    weft_ir_set_variable(decoder, kept, &selector, 1);
    for (uint32_t i = 4; i < weft_spirv_length(words[0]) && !failed(decoder); i += 2) {
        if (came_before(words, i)) {
            continue;
        }
        struct weft_ir_instruction *get =
            weft_ir_append(decoder->program, decoder->list, WEFT_IR_GET, type, 1, true,
                           (const weft_ir_value[]){0}, 1);
        get->root = kept;
        const uint32_t node = add_if(decoder, matches(decoder, words, get->result, words[i]));
        if (!failed(decoder)) {
            decode_arm(decoder, decoder->program->nodes[node].lists[0], words[i]);
            decoder->list = decoder->program->nodes[node].lists[1];
            decoder->block++;
            decoder->frame->label = label;
        }
    }
    decode_arm(decoder, decoder->list, words[2]);
    decoder->list = outer;
}

static uint32_t decode_switch(struct weft_ir_decoder *decoder, const uint32_t *words,
                              uint32_t merge) {
    struct weft_ir_program *program = decoder->program;
    struct weft_ir_frame *frame = decoder->frame;
    const weft_ir_value selector = weft_ir_scalar(decoder, words[1], 0);
    const uint32_t outer = decoder->list;
    const uint32_t node = weft_ir_add_node(program, outer, WEFT_IR_SCOPE);
    if (failed(decoder) || words[2] == 0) {
        return 0;
    }
    if (weft_ir_bits(program->values[selector].type) > 32) {
        weft_ir_unsupported(decoder, "a switch over integers of bits:", 64);
    }
    const uint32_t body = weft_ir_add_list(program, node);
    program->nodes[node].lists[0] = body;
    struct weft_ir_construct construct = {.outer = frame->construct, .merge = merge, .node = node};
    frame->construct = &construct;
    decoder->list = body;
    if (program->values[selector].constant) {
        uint32_t label = words[2];
        for (uint32_t i = 3; i + 1 < weft_spirv_length(words[0]); i += 2) {
            label = words[i] == program->values[selector].bits ? words[i + 1] : label;
        }
        decode_arm(decoder, body, label);
    } else {
        /* The selector was made in another list; it is used first thing in this one. */
        decode_cases(decoder, words, selector);
    }
    frame->construct = construct.outer;
    decoder->list = outer;
    return merge;
}

/* ---- functions ---- */

static void decode_return(struct weft_ir_decoder *decoder, const uint32_t *words) {
    const struct weft_ir_frame *frame = decoder->frame;
    if (weft_spirv_opcode(words[0]) == SpvOpReturnValue && frame->result != WEFT_IR_NONE) {
        const uint32_t id = words[1];
        const weft_ir_value *scalars = weft_ir_scalars(decoder, id);
        if (scalars) {
            weft_ir_set_variable(decoder, frame->result, scalars, weft_ir_id(decoder, id)->count);
        }
    }
    const struct destination destination = jump(decoder, frame->scope, false);
    add_jump(decoder, &destination);
}

/* A parameter becomes another name for an argument. */
static void bind_parameter(struct weft_ir_decoder *decoder, const uint32_t *words, uint32_t given) {
    if (weft_ir_id(decoder, given)->kind == WEFT_IR_ID_POINTER) {
        const struct weft_ir_pointer pointer = weft_ir_pointer(decoder, given);
        weft_ir_define_pointer(decoder, words[2], &pointer);
        return;
    }
    const weft_ir_value *scalars = weft_ir_scalars(decoder, given);
    const uint32_t count = weft_ir_id(decoder, given)->count;
    weft_ir_value *row = weft_ir_row(decoder, count);
    if (row && scalars) {
        memcpy(row, scalars, count * sizeof *row);
        weft_ir_define(decoder, words[2], words[1], row);
    }
}

/* The first block's label. */
static uint32_t bind_parameters(struct weft_ir_decoder *decoder, const uint32_t *function,
                                const uint32_t *call) {
    uint32_t argument = 4;
    WEFT_SPIRV_EACH_IN(words, weft_spirv_next(function)) {
        const uint32_t opcode = weft_spirv_opcode(words[0]);
        if (opcode == SpvOpLabel) {
            return words[1];
        }
        if (opcode == SpvOpFunctionParameter && !failed(decoder)) {
            bind_parameter(decoder, words, call ? weft_spirv_word(call, argument++) : 0);
        }
    }
    weft_ir_error(decoder->program, WEFT_COMPILE_ERROR, "a function without a body");
    return 0;
}

/* The scope of a function's body, in the list at hand. */
static uint32_t add_scope(struct weft_ir_decoder *decoder) {
    struct weft_ir_program *program = decoder->program;
    const uint32_t node = weft_ir_add_node(program, decoder->list, WEFT_IR_SCOPE);
    if (!failed(decoder)) {
        const uint32_t list = weft_ir_add_list(program, node);
        program->nodes[node].lists[0] = list;
        decoder->list = list;
    }
    return node;
}

static void decode_body(struct weft_ir_decoder *decoder, struct weft_ir_frame *frame,
                        const uint32_t *call) {
    struct weft_ir_frame *caller = decoder->frame;
    const uint32_t outer = decoder->list;
    frame->number = ++decoder->calls;
    if (frame->number > MAX_PIECES) {
        weft_ir_unsupported(decoder, "more function calls than", MAX_PIECES);
    }
    frame->scope = add_scope(decoder);
    if (!failed(decoder)) {
        decoder->frame = frame;
        decode_chain(decoder, bind_parameters(decoder, frame->function, call));
    }
    decoder->frame = caller;
    decoder->list = outer;
    decoder->block++;
}

static uint32_t depth_of(const struct weft_ir_decoder *decoder) {
    return decoder->program->lists[decoder->list].depth;
}

static void decode_call(struct weft_ir_decoder *decoder, const uint32_t *words) {
    const uint32_t type = words[1];
    const uint32_t slots = weft_ir_type_of(decoder, type)->slots;
    struct weft_ir_frame frame = {.function =
                                      weft_spirv_made_by(&decoder->module, words[3], SpvOpFunction),
                                  .result = WEFT_IR_NONE};
    if (!frame.function) {
        weft_ir_error(decoder->program, WEFT_COMPILE_ERROR,
                      "OpFunctionCall does not name a function");
        return;
    }
    if (weft_ir_decode_known(decoder, frame.function, words)) {
        return;
    }
    if (slots > 0) {
        frame.result = weft_ir_new_variable(decoder, type, decoder->list);
    }
    decode_body(decoder, &frame, words);
    weft_ir_value *row = slots > 0 ? weft_ir_row(decoder, slots) : NULL;
    if (row) {
        weft_ir_get_variable(decoder, frame.result, type, row);
        weft_ir_define(decoder, words[2], type, row);
    }
}

/* ---- blocks ---- */

static bool ends_block(uint32_t opcode) {
    return opcode >= SpvOpBranch && opcode <= SpvOpUnreachable;
}

/* The merge instruction of the block at hand, or null. */
static const uint32_t *find_merge(const uint32_t *block) {
    WEFT_SPIRV_EACH_IN(words, block) {
        const uint32_t opcode = weft_spirv_opcode(words[0]);
        if (opcode == SpvOpLoopMerge || opcode == SpvOpSelectionMerge) {
            return words;
        }
        if (ends_block(opcode)) {
            return NULL;
        }
    }
    return NULL;
}

/* Decodes the end of a block; returns the label to decode next in this list, or 0. */
static uint32_t decode_terminator(struct weft_ir_decoder *decoder, const uint32_t *words,
                                  uint32_t merge) {
    switch (weft_spirv_opcode(words[0])) {
    case SpvOpBranch:
        return follow(decoder, words[1]);
    case SpvOpBranchConditional: {
        const uint32_t targets[2] = {words[2], words[3]};
        const weft_ir_value condition = weft_ir_scalar(decoder, words[1], 0);
        if (failed(decoder)) {
            return 0;
        }
        return merge != 0 ? decode_selection(decoder, condition, targets, merge)
                          : decode_exit(decoder, condition, targets);
    }
    case SpvOpSwitch:
        return decode_switch(decoder, words, merge);
    case SpvOpReturn:
    case SpvOpReturnValue:
        decode_return(decoder, words);
        return 0;
    case SpvOpUnreachable:
        if (decoder->program->exact) {
            weft_ir_append(decoder->program, decoder->list, WEFT_IR_UNREACHABLE, WEFT_IR_I32, 0,
                           false, NULL, 0);
        }
        return 0;
    default:
        weft_ir_unsupported(decoder, "the end of a block by opcode", weft_spirv_opcode(words[0]));
        return 0;
    }
}

static void decode_barrier(struct weft_ir_decoder *decoder, const uint32_t *words) {
    if (weft_ir_constant_of(decoder, words[1]) == SCOPE_WORKGROUP) {
        weft_ir_add_node(decoder->program, decoder->list, WEFT_IR_BARRIER);
        decoder->block++;
    }
}

static void decode_one(struct weft_ir_decoder *decoder, const uint32_t *words) {
    switch (weft_spirv_opcode(words[0])) {
    case SpvOpNop:
    case SpvOpLine:
    case SpvOpNoLine:
    case SpvOpMemoryBarrier:
    case SpvOpLoopMerge:
    case SpvOpSelectionMerge:
        break;
    case SpvOpPhi:
        decode_phi(decoder, words);
        break;
    case SpvOpControlBarrier:
        decode_barrier(decoder, words);
        break;
    case SpvOpFunctionCall:
        decode_call(decoder, words);
        break;
    case SpvOpUndef:
        weft_ir_decode_constant(decoder, words);
        break;
    default:
        if (!weft_ir_decode_access(decoder, words)) {
            weft_ir_decode_instruction(decoder, words);
        }
        break;
    }
}

/* A block from behind its label; the label of what comes next in this list, or 0. */
static uint32_t decode_instructions(struct weft_ir_decoder *decoder, const uint32_t *words,
                                    uint32_t merge) {
    while (weft_ir_work(decoder, 1)) {
        if (ends_block(weft_spirv_opcode(words[0]))) {
            return decode_terminator(decoder, words, merge);
        }
        decode_one(decoder, words);
        words = weft_spirv_next(words);
    }
    return 0;
}

/* `first`: behind the label. */
static uint32_t decode_loop(struct weft_ir_decoder *decoder, uint32_t label, const uint32_t *first,
                            const uint32_t *merge) {
    struct weft_ir_program *program = decoder->program;
    struct weft_ir_frame *frame = decoder->frame;
    const uint32_t outer = decoder->list;
    const uint32_t node = weft_ir_add_node(program, outer, WEFT_IR_LOOP);
    for (uint32_t i = 0; i < 2 && !failed(decoder); i++) {
        const uint32_t list = weft_ir_add_list(program, node);
        program->nodes[node].lists[i] = list;
    }
    struct weft_ir_construct construct = {.outer = frame->construct,
                                          .merge = merge[1],
                                          .latch = merge[2],
                                          .header = label,
                                          .node = node};
    frame->construct = &construct;
    if (!failed(decoder)) {
        decoder->list = program->nodes[node].lists[0];
        decode_chain(decoder, decode_instructions(decoder, first, 0));
    }
    if (!failed(decoder) && construct.latch != label) {
        construct.in_latch = true;
        decoder->list = program->nodes[node].lists[1];
        decode_chain(decoder, construct.latch);
    }
    frame->construct = construct.outer;
    decoder->list = outer;
    return construct.merge;
}

static uint32_t decode_block(struct weft_ir_decoder *decoder, uint32_t label) {
    const uint32_t *block = weft_spirv_made_by(&decoder->module, label, SpvOpLabel);
    if (failed(decoder)) {
        return 0;
    }
    if (!block || depth_of(decoder) > MAX_DEPTH || decoder->block > MAX_PIECES) {
        weft_ir_error(decoder->program, WEFT_UNSUPPORTED,
                      "a branch target is not a block, or control flow is nested too deeply");
        return 0;
    }
    decoder->block++;
    decoder->frame->label = label;
    const uint32_t *first = weft_spirv_next(block);
    const uint32_t *merge = find_merge(first);
    if (merge && weft_spirv_opcode(merge[0]) == SpvOpLoopMerge) {
        return decode_loop(decoder, label, first, merge);
    }
    return decode_instructions(decoder, first, merge ? merge[1] : 0);
}

/* Blocks one after the other, as far as they go on in the same list. */
static void decode_chain(struct weft_ir_decoder *decoder, uint32_t label) {
    while (label != 0 && !failed(decoder)) {
        label = decode_block(decoder, label);
    }
}

void weft_ir_decode_main(struct weft_ir_decoder *decoder) {
    struct weft_ir_frame frame = {
        .function = weft_spirv_made_by(&decoder->module, decoder->main, SpvOpFunction),
        .result = WEFT_IR_NONE};
    if (!failed(decoder)) {
        decoder->block++;
        decode_body(decoder, &frame, NULL);
    }
}
