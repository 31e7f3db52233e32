/* SPDX-License-Identifier: MIT */
/* A module's declarations, and what has to be known of its functions before they are decoded. */
#include "spirv/ir/decode.h"

struct weft_ir_id *weft_ir_id(struct weft_ir_decoder *decoder, uint32_t id) {
    if (id >= decoder->module.bound) {
        weft_ir_error(decoder->program, WEFT_COMPILE_ERROR, "%%%u is beyond the bound", id);
        return &decoder->ids[0];
    }
    return &decoder->ids[id];
}

uint32_t weft_ir_literal(const struct weft_ir_decoder *decoder, uint32_t id,
                         SpvDecoration decoration, uint32_t otherwise) {
    uint32_t literal = otherwise;
    (void)weft_spirv_has_decoration(&literal, &decoder->module, id, decoration);
    return literal;
}

const uint32_t *weft_ir_next(const uint32_t *words) {
    do {
        words = weft_spirv_next(words);
    } while (weft_spirv_opcode(words[0]) == SpvOpLine ||
             weft_spirv_opcode(words[0]) == SpvOpNoLine);
    return words;
}

void weft_ir_unsupported(struct weft_ir_decoder *decoder, const char *what, uint32_t number) {
    weft_ir_error(decoder->program, WEFT_UNSUPPORTED, "%s %u", what, number);
}

/* ---- the size of a workgroup ---- */

static void find_local_size(struct weft_ir_decoder *decoder) {
    struct weft_ir_program *program = decoder->program;
    bool are_ids = false;
    const uint32_t *found = weft_spirv_find_local_size(&are_ids, &decoder->module, decoder->main);
    uint64_t invocations = 1;
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t size = !found    ? 1
                              : are_ids ? (uint32_t)weft_ir_constant_of(decoder, found[i])
                                        : found[i];
        program->local_size[i] = size;
        invocations = size > WEFT_IR_MAX_INVOCATIONS ? UINT32_MAX : invocations * size;
        invocations = invocations > UINT32_MAX ? UINT32_MAX : invocations;
    }
    if (invocations == 0 || invocations > WEFT_IR_MAX_INVOCATIONS) {
        weft_ir_error(program, WEFT_UNSUPPORTED, "workgroups of %u x %u x %u invocations",
                      program->local_size[0], program->local_size[1], program->local_size[2]);
    }
}

/* ---- the survey of functions ---- */

/* True if what follows an instruction is another piece of code. */
static bool ends_piece(uint32_t opcode) {
    return opcode == SpvOpLabel || opcode == SpvOpControlBarrier || opcode == SpvOpFunctionCall;
}

static void note_uses(struct weft_ir_decoder *decoder, const uint32_t *words,
                      const struct weft_spirv_layout *layout, uint32_t piece) {
    for (uint32_t i = layout->first; i < weft_spirv_length(words[0]); i++) {
        if (!weft_spirv_is_id(layout, i)) {
            continue;
        }
        struct weft_ir_id *id = weft_ir_id(decoder, words[i]);
        /* An operand of OpPhi is read at the end of a block that may not have been seen yet. */
        if ((id->home != 0 && id->home != piece) || weft_spirv_opcode(words[0]) == SpvOpPhi) {
            id->crosses = true;
        }
    }
}

/* The variable or parameter that a pointer points into; 0 for what is no pointer. */
static uint32_t root_of(struct weft_ir_decoder *decoder, uint32_t id) {
    return weft_ir_id(decoder, id)->root;
}

static void note_store(struct weft_ir_decoder *decoder, uint32_t pointer) {
    struct weft_ir_id *root = weft_ir_id(decoder, root_of(decoder, pointer));
    root->stores++;
    root->written = true;
}

static void survey_instruction(struct weft_ir_decoder *decoder, const uint32_t *words,
                               uint32_t piece) {
    const uint32_t opcode = weft_spirv_opcode(words[0]);
    const struct weft_spirv_layout layout = weft_spirv_layout(opcode);
    if (layout.type != 0) {
        const uint32_t result = words[layout.result];
        struct weft_ir_id *id = weft_ir_id(decoder, result);
        id->home = piece;
        id->precise =
            weft_spirv_has_decoration(NULL, &decoder->module, result, SpvDecorationNoContraction);
        if (opcode == SpvOpVariable || opcode == SpvOpFunctionParameter) {
            id->root = result;
            id->stores += opcode == SpvOpVariable && weft_spirv_length(words[0]) > 4 ? 1 : 0;
        } else if (opcode == SpvOpAccessChain || opcode == SpvOpInBoundsAccessChain ||
                   opcode == SpvOpCopyObject) {
            id->root = root_of(decoder, words[3]);
        }
    }
    if (opcode == SpvOpStore || opcode == SpvOpCopyMemory) {
        note_store(decoder, words[1]);
    } else if (opcode >= SpvOpAtomicLoad && opcode <= SpvOpAtomicXor) {
        note_store(decoder, words[opcode == SpvOpAtomicStore ? 1 : 3]);
    }
    note_uses(decoder, words, &layout, piece);
}

/* Counts stores through a function's parameters for the arguments of a call; true if that changed anything. */
static bool note_call(struct weft_ir_decoder *decoder, const uint32_t *words) {
    const uint32_t *callee = weft_spirv_made_by(&decoder->module, words[3], SpvOpFunction);
    bool news = false;
    for (uint32_t i = 4; i < weft_spirv_length(words[0]) && callee; i++) {
        callee = weft_ir_next(callee);
        if (weft_spirv_opcode(callee[0]) != SpvOpFunctionParameter) {
            break;
        }
        const struct weft_ir_id *parameter = weft_ir_id(decoder, callee[2]);
        struct weft_ir_id *root = weft_ir_id(decoder, root_of(decoder, words[i]));
        /* Two stores are as good as many: what matters is whether there is exactly one. */
        if (parameter->written && root->stores < 2) {
            root->stores = 2;
            root->written = true;
            news = true;
        }
    }
    return news;
}

static void survey_functions(struct weft_ir_decoder *decoder) {
    uint32_t piece = 0;
    WEFT_SPIRV_EACH(words, &decoder->module, WEFT_SPIRV_FUNCTIONS) {
        const uint32_t opcode = weft_spirv_opcode(words[0]);
        piece += opcode == SpvOpLabel || opcode == SpvOpFunction ? 1 : 0;
        survey_instruction(decoder, words, piece);
        piece += ends_piece(opcode) ? 1 : 0;
    }
    bool news = true;
    while (news && decoder->program->status == WEFT_OK) {
        news = false;
        WEFT_SPIRV_EACH(words, &decoder->module, WEFT_SPIRV_FUNCTIONS) {
            if (weft_spirv_opcode(words[0]) == SpvOpFunctionCall) {
                news = note_call(decoder, words) || news;
            }
        }
    }
}

/* ---- all of it ---- */

void weft_ir_survey(struct weft_ir_decoder *decoder) {
    decoder->main = weft_spirv_find_compute(&decoder->module, decoder->source->entry_point);
    if (decoder->main == 0) {
        weft_ir_error(decoder->program, WEFT_COMPILE_ERROR, "no compute entry point called %s",
                      decoder->source->entry_point);
    }
    WEFT_SPIRV_EACH(words, &decoder->module, WEFT_SPIRV_DECLARATIONS) {
        if (decoder->program->status != WEFT_OK) {
            return; /* types may lack members */
        }
        if (weft_spirv_opcode(words[0]) == SpvOpVariable) {
            weft_ir_decode_global(decoder, words);
        } else if (!weft_ir_decode_type(decoder, words)) {
            weft_ir_decode_constant(decoder, words);
        }
    }
    find_local_size(decoder);
    survey_functions(decoder);
}
