/* SPDX-License-Identifier: MIT */
/* Functions, decoded in place of their calls, and their variables. */
#include "verify/evaluator/decode.h"

static void decode_function(struct weft_eval_decoder *decoder, uint32_t id,
                            struct weft_eval_call *call);

/* ---- variables and calls ---- */

static void set_up_variable(struct weft_eval_decoder *decoder, const struct weft_eval_view *view,
                            const struct weft_eval_pointer *pointer) {
    if (view->length > 4) {
        weft_eval_move(decoder, pointer->size, pointer->root,
                       weft_eval_slot(decoder, view->words[4]));
    } else {
        weft_eval_emit(decoder, WEFT_EVAL_FILL, pointer->size, pointer->root)->a =
            WEFT_EVALUATOR_POISON;
    }
}

static void decode_local_variable(struct weft_eval_decoder *decoder,
                                  const struct weft_eval_view *view) {
    struct weft_eval_pointer pointer = {
        .type = weft_eval_type(decoder, weft_eval_word(decoder, view, 1))->element,
        .space = WEFT_EVAL_SPACE_SLOTS};
    pointer.size = weft_eval_type(decoder, pointer.type)->words;
    if (pointer.size == 0) {
        weft_eval_error(decoder, WEFT_UNSUPPORTED, "a local variable that is too large");
    }
    pointer.root = weft_eval_take(decoder, pointer.size);
    weft_eval_pin(decoder, pointer.root);
    set_up_variable(decoder, view, &pointer);
    weft_eval_define_pointer(decoder, weft_eval_word(decoder, view, 2), &pointer,
                             WEFT_EVAL_NO_OWNER);
}

static void decode_call(struct weft_eval_decoder *decoder, const struct weft_eval_view *view) {
    struct weft_eval_call call = {.view = view};
    uint32_t type = weft_eval_word(decoder, view, 1);
    if (weft_eval_type(decoder, type)->kind != WEFT_EVAL_VOID) {
        call.result = weft_eval_define(decoder, type, weft_eval_word(decoder, view, 2));
        call.result_words = weft_eval_type(decoder, type)->words;
    }
    weft_eval_end_with_jump(decoder, decoder->program->block_count);
    decode_function(decoder, weft_eval_word(decoder, view, 3), &call);
    weft_eval_begin_block(decoder);
}

/* A parameter is the argument: functions do not assign to their parameters. */
static void bind_parameter(struct weft_eval_decoder *decoder, const struct weft_eval_view *view,
                           const struct weft_eval_call *call, uint32_t index) {
    uint32_t argument = call->view ? weft_eval_word(decoder, call->view, 4 + index) : 0;
    if (argument == 0 || argument >= decoder->bound) {
        weft_eval_error(decoder, WEFT_COMPILE_ERROR, "a call without an argument %u", index);
        return;
    }
    const struct weft_eval_id *given = &decoder->ids[argument];
    struct weft_eval_id *parameter = &decoder->ids[weft_eval_word(decoder, view, 2)];
    parameter->kind = WEFT_EVAL_ID_VALUE;
    parameter->is_pointer = given->kind == WEFT_EVAL_ID_VARIABLE || given->is_pointer;
    parameter->type = given->type;
    parameter->slot = given->slot;
    parameter->pointer = given->pointer;
    parameter->owner = WEFT_EVAL_NO_OWNER; /* the caller's */
}

/* ---- functions ---- */

/* Forgets what an earlier call knew of an instruction's ids. */
static void forget(struct weft_eval_decoder *decoder, const struct weft_eval_view *view,
                   uint32_t function) {
    for (uint32_t i = 1; i < view->length; i++) {
        uint32_t word = view->words[i];
        if (word < decoder->bound && decoder->ids[word].function == function) {
            decoder->ids[word] =
                (struct weft_eval_id){.function = function, .owner = WEFT_EVAL_NO_OWNER};
        }
    }
}

/*
 * Counts an instruction's mentions of ids, its own result included. A literal that equals an id
 * counts as well, which only makes that value live longer.
 */
static void count_mentions(struct weft_eval_decoder *decoder, const struct weft_eval_view *view,
                           uint32_t function, uint32_t label) {
    for (uint32_t i = 1; i < view->length; i++) {
        uint32_t word = view->words[i];
        if (word >= decoder->bound || decoder->ids[word].function != function) {
            continue;
        }
        struct weft_eval_id *id = &decoder->ids[word];
        id->home = id->home == 0 ? label : id->home;
        id->shared = id->shared || id->home != label || view->opcode == WEFT_OP_PHI;
        id->mentions++;
    }
}

static void drop_mentions(struct weft_eval_decoder *decoder, const struct weft_eval_view *view,
                          uint32_t function) {
    for (uint32_t i = 1; i < view->length; i++) {
        uint32_t word = view->words[i];
        if (word < decoder->bound && decoder->ids[word].function == function &&
            decoder->ids[word].kind == WEFT_EVAL_ID_VALUE) {
            weft_eval_release(decoder, decoder->ids[word].owner);
        }
    }
}

static void survey_function(struct weft_eval_decoder *decoder, uint32_t function) {
    for (uint32_t pass = 0; pass < 2; pass++) {
        uint32_t label = 0;
        for (uint32_t at = decoder->ids[function].at; at < decoder->count;) {
            const struct weft_eval_view view = weft_eval_view_at(decoder, at);
            if (view.opcode == WEFT_OP_FUNCTION_END) {
                break;
            }
            if (view.opcode == WEFT_OP_LABEL) {
                label = view.words[1];
                decoder->ids[label].block = WEFT_EVAL_NO_BLOCK;
            } else if (pass == 0) {
                forget(decoder, &view, function);
            } else {
                count_mentions(decoder, &view, function, label);
            }
            at += view.length;
        }
    }
}

static void decode_any(struct weft_eval_decoder *decoder, const struct weft_eval_view *view,
                       struct weft_eval_call *call) {
    switch (view->opcode) {
    case WEFT_OP_LABEL:
        weft_eval_decode_label(decoder, view, call);
        break;
    case WEFT_OP_VARIABLE:
        decode_local_variable(decoder, view);
        break;
    case WEFT_OP_FUNCTION_CALL:
        decode_call(decoder, view);
        break;
    default:
        if (!weft_eval_decode_end(decoder, view, call)) {
            weft_eval_decode_instruction(decoder, view);
        }
        break;
    }
}

static void decode_body(struct weft_eval_decoder *decoder, uint32_t function,
                        struct weft_eval_call *call) {
    uint32_t parameters = 0;
    for (uint32_t at = decoder->ids[function].at;
         decoder->status == WEFT_OK && at < decoder->count;) {
        const struct weft_eval_view view = weft_eval_view_at(decoder, at);
        if (view.opcode == WEFT_OP_FUNCTION_END) {
            return;
        }
        if (view.opcode == WEFT_OP_FUNCTION_PARAMETER) {
            bind_parameter(decoder, &view, call, parameters++);
        } else if (view.opcode != WEFT_OP_FUNCTION) {
            decode_any(decoder, &view, call);
            drop_mentions(decoder, &view, function);
        }
        at += view.length;
    }
}

static void decode_function(struct weft_eval_decoder *decoder, uint32_t id,
                            struct weft_eval_call *call) {
    if (id >= decoder->bound || decoder->ids[id].kind != WEFT_EVAL_ID_FUNCTION ||
        decoder->ids[id].active) {
        weft_eval_error(decoder, WEFT_COMPILE_ERROR, "id %u is not a function, or it calls itself",
                        id);
        return;
    }
    struct weft_eval_program *program = decoder->program;
    call->first_block = program->block_count;
    call->first_case = program->case_count;
    call->first_patch = decoder->patch_count;
    call->first_taken = decoder->taken_count;
    decoder->ids[id].active = true;
    survey_function(decoder, id);
    decode_body(decoder, id, call);
    if (decoder->status == WEFT_OK) {
        weft_eval_resolve(decoder, call);
    }
    weft_eval_free_taken(decoder, call->first_taken);
    decoder->ids[id].active = false;
}

/* Private variables begin anew with each workgroup, before main's own first block. */
static void set_up_private_variables(struct weft_eval_decoder *decoder) {
    for (uint32_t at = WEFT_SPIRV_HEADER_WORDS; at < decoder->count;) {
        const struct weft_eval_view view = weft_eval_view_at(decoder, at);
        if (view.opcode == WEFT_OP_FUNCTION) {
            return;
        }
        if (view.opcode == WEFT_OP_VARIABLE && view.words[3] == WEFT_EVAL_STORAGE_PRIVATE) {
            set_up_variable(decoder, &view, weft_eval_pointer(decoder, view.words[2]));
        }
        at += view.length;
    }
}

void weft_eval_decode_main(struct weft_eval_decoder *decoder) {
    struct weft_eval_call call = {.view = NULL};
    weft_eval_begin_block(decoder);
    set_up_private_variables(decoder);
    weft_eval_end_with_jump(decoder, decoder->program->block_count);
    decode_function(decoder, decoder->main, &call);
}
