/* SPDX-License-Identifier: MIT */
/* Constants, with specialization applied. Those computed from others run on the evaluator itself. */
#include <string.h>

#include "verify/evaluator/decode.h"
#include "verify/evaluator/execute.h"

/* The values of constant slots, which exist for all slots there are so far; null after an error. */
static uint32_t *values(struct weft_eval_decoder *decoder) {
    struct weft_eval_program *program = decoder->program;
    while (program->constant_capacity < program->slot_count) {
        uint32_t before = program->constant_capacity;
        if (!weft_eval_room(decoder, &program->constants, before, &program->constant_capacity,
                            sizeof *program->constants)) {
            return NULL;
        }
        memset(program->constants + before, 0,
               (program->constant_capacity - before) * sizeof *program->constants);
    }
    return decoder->status == WEFT_OK ? program->constants : NULL;
}

uint32_t weft_eval_constant(struct weft_eval_decoder *decoder, uint32_t id) {
    uint32_t slot = weft_eval_slot(decoder, id);
    if (decoder->status == WEFT_OK && decoder->ids[id].kind != WEFT_EVAL_ID_CONSTANT) {
        weft_eval_error(decoder, WEFT_COMPILE_ERROR, "id %u is not a constant", id);
    }
    const uint32_t *words = values(decoder);
    return words ? words[slot] : 0;
}

bool weft_eval_makes_constant(uint32_t opcode) {
    return (opcode >= WEFT_OP_CONSTANT_TRUE && opcode <= WEFT_OP_CONSTANT_NULL) ||
           (opcode >= WEFT_OP_SPEC_CONSTANT_TRUE && opcode <= WEFT_OP_SPEC_CONSTANT_OP) ||
           opcode == WEFT_OP_UNDEF;
}

/* A scalar's value: what the dispatch says, or else its own. */
static void set_scalar(struct weft_eval_decoder *decoder, const struct weft_eval_view *view,
                       uint32_t value, bool is_bool) {
    uint32_t id = weft_eval_word(decoder, view, 2);
    uint32_t which = 0;
    const struct weft_evaluated_dispatch *dispatch = decoder->dispatch;
    if (weft_eval_decorated(decoder, id, UINT32_MAX, WEFT_DECORATION_SPEC_ID, &which) &&
        which < dispatch->specialization_count) {
        value = dispatch->specialization[which];
        value = is_bool ? value != 0 : value;
    }
    uint32_t slot = weft_eval_define(decoder, weft_eval_word(decoder, view, 1), id);
    uint32_t *words = values(decoder);
    if (words) {
        words[slot] = value;
    }
}

/* Decodes as within a function, then runs what came out of it for one invocation. */
static void run_as_instruction(struct weft_eval_decoder *decoder,
                               const struct weft_eval_view *view) {
    struct weft_eval_program *program = decoder->program;
    uint32_t first = program->instruction_count;
    weft_eval_decode_instruction(decoder, view);
    struct weft_eval_group group = {
        .lane_count = 1, .rows = values(decoder), .active = {.count = 1, .dense = true}};
    if (decoder->status == WEFT_OK) {
        weft_eval_run(&group, program->instructions + first, program->instruction_count - first);
    }
    if (group.fault.kind != WEFT_EVAL_NO_FAULT) {
        weft_eval_error(decoder, WEFT_INVALID_ARGUMENT, "a constant with an index out of bounds");
    }
    program->instruction_count = first;
}

#define MAX_OPERATION_WORDS 64u

/* OpSpecConstantOp: the instruction it names, with the operands behind the name. */
static void decode_operation(struct weft_eval_decoder *decoder, const struct weft_eval_view *view) {
    uint32_t words[MAX_OPERATION_WORDS];
    if (view->length < 5 || view->length > MAX_OPERATION_WORDS) {
        weft_eval_error(decoder, WEFT_UNSUPPORTED, "OpSpecConstantOp of %u words", view->length);
        return;
    }
    const struct weft_eval_view operation = {
        .words = words, .length = view->length - 1, .opcode = view->words[3]};
    words[0] = view->words[0];
    words[1] = view->words[1];
    words[2] = view->words[2];
    memcpy(words + 3, view->words + 4, (view->length - 4) * sizeof *words);
    run_as_instruction(decoder, &operation);
}

static void decode_composite(struct weft_eval_decoder *decoder, const struct weft_eval_view *view) {
    struct weft_eval_view construct = *view;
    construct.opcode = WEFT_OP_COMPOSITE_CONSTRUCT;
    run_as_instruction(decoder, &construct);
}

void weft_eval_decode_constant(struct weft_eval_decoder *decoder,
                               const struct weft_eval_view *view) {
    switch (view->opcode) {
    case WEFT_OP_CONSTANT_TRUE:
    case WEFT_OP_SPEC_CONSTANT_TRUE:
        set_scalar(decoder, view, 1, true);
        break;
    case WEFT_OP_CONSTANT_FALSE:
    case WEFT_OP_SPEC_CONSTANT_FALSE:
        set_scalar(decoder, view, 0, true);
        break;
    case WEFT_OP_CONSTANT:
    case WEFT_OP_SPEC_CONSTANT:
        set_scalar(decoder, view, weft_eval_word(decoder, view, 3), false);
        break;
    case WEFT_OP_CONSTANT_COMPOSITE:
    case WEFT_OP_SPEC_CONSTANT_COMPOSITE:
        decode_composite(decoder, view);
        break;
    case WEFT_OP_CONSTANT_NULL: /* slots of constants are zero to begin with */
        (void)weft_eval_define(decoder, weft_eval_word(decoder, view, 1),
                               weft_eval_word(decoder, view, 2));
        break;
    case WEFT_OP_SPEC_CONSTANT_OP:
        decode_operation(decoder, view);
        break;
    case WEFT_OP_UNDEF:
        run_as_instruction(decoder, view);
        break;
    default:
        weft_eval_unsupported(decoder, view->opcode);
        break;
    }
}
