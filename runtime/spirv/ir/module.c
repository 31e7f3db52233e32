/* SPDX-License-Identifier: MIT */
/* A module's declarations, and what has to be known of its functions before they are decoded. */
#include "spirv/ir/decode.h"

struct weft_ir_view weft_ir_view_at(const struct weft_ir_decoder *decoder, uint32_t at) {
    return (struct weft_ir_view){.words = decoder->words + at,
                                 .length = weft_spirv_length(decoder->words[at]),
                                 .opcode = weft_spirv_opcode(decoder->words[at])};
}

uint32_t weft_ir_word(struct weft_ir_decoder *decoder, const struct weft_ir_view *view,
                      uint32_t index) {
    if (index >= view->length) {
        weft_ir_error(decoder->program, WEFT_COMPILE_ERROR, "opcode %u of %u words only",
                      view->opcode, view->length);
        return 0;
    }
    return view->words[index];
}

struct weft_ir_id *weft_ir_id(struct weft_ir_decoder *decoder, uint32_t id) {
    if (id >= decoder->bound) {
        weft_ir_error(decoder->program, WEFT_COMPILE_ERROR, "%%%u is beyond the bound", id);
        return &decoder->ids[0];
    }
    return &decoder->ids[id];
}

void weft_ir_unsupported(struct weft_ir_decoder *decoder, const char *what, uint32_t number) {
    weft_ir_error(decoder->program, WEFT_UNSUPPORTED, "%s %u", what, number);
}

/* ---- decorations ---- */

static void decorate(struct weft_ir_id *id, uint32_t decoration, uint32_t literal) {
    switch (decoration) {
    case SpvDecorationNoContraction:
        id->precise = true;
        break;
    case SpvDecorationSpecId:
        id->spec_id = literal;
        break;
    case SpvDecorationBuiltIn:
        id->built_in = literal;
        break;
    case SpvDecorationBinding:
        id->binding = literal;
        break;
    case SpvDecorationDescriptorSet:
        id->set = literal;
        break;
    case SpvDecorationArrayStride:
        id->array_stride = literal;
        break;
    default:
        break;
    }
}

static void decorate_group(struct weft_ir_decoder *decoder, const struct weft_ir_view *view) {
    const bool precise = weft_ir_id(decoder, weft_ir_word(decoder, view, 1))->precise;
    for (uint32_t i = 2; i < view->length; i++) {
        struct weft_ir_id *id = weft_ir_id(decoder, view->words[i]);
        id->precise = id->precise || precise;
    }
}

static void read_decorations(struct weft_ir_decoder *decoder) {
    for (uint32_t at = WEFT_SPIRV_HEADER_WORDS; at < decoder->functions;
         at += weft_spirv_length(decoder->words[at])) {
        const struct weft_ir_view view = weft_ir_view_at(decoder, at);
        if (view.opcode == SpvOpDecorate) {
            decorate(weft_ir_id(decoder, weft_ir_word(decoder, &view, 1)),
                     weft_ir_word(decoder, &view, 2), view.length > 3 ? view.words[3] : 0);
        } else if (view.opcode == SpvOpGroupDecorate) {
            decorate_group(decoder, &view);
        }
    }
}

/* Those of members, once there are members. */
static void read_member_decorations(struct weft_ir_decoder *decoder) {
    for (uint32_t at = WEFT_SPIRV_HEADER_WORDS; at < decoder->functions;
         at += weft_spirv_length(decoder->words[at])) {
        const struct weft_ir_view view = weft_ir_view_at(decoder, at);
        if (view.opcode != SpvOpMemberDecorate || view.length < 4) {
            continue;
        }
        const struct weft_ir_spirv_type *type = weft_ir_type_of(decoder, view.words[1]);
        if (type->kind != WEFT_IR_TYPE_STRUCT || view.words[2] >= type->count) {
            continue;
        }
        struct weft_ir_member *member = &decoder->members[type->first_member + view.words[2]];
        const uint32_t literal = view.length > 4 ? view.words[4] : 0;
        if (view.words[3] == SpvDecorationOffset) {
            member->offset = literal;
        } else if (view.words[3] == SpvDecorationMatrixStride) {
            member->matrix_stride = literal;
        } else if (view.words[3] == SpvDecorationRowMajor) {
            member->row_major = true;
        }
    }
}

/* ---- the entry point and the size of a workgroup ---- */

static void find_entry_point(struct weft_ir_decoder *decoder) {
    for (uint32_t at = WEFT_SPIRV_HEADER_WORDS; at < decoder->functions && decoder->main == 0;
         at += weft_spirv_length(decoder->words[at])) {
        const struct weft_ir_view view = weft_ir_view_at(decoder, at);
        if (view.opcode == SpvOpEntryPoint && view.length > 3 &&
            view.words[1] == SpvExecutionModelGLCompute &&
            weft_spirv_string_is(view.words + 3, view.length - 3, decoder->source->entry_point)) {
            decoder->main = view.words[2];
        }
    }
    if (decoder->main == 0) {
        weft_ir_error(decoder->program, WEFT_COMPILE_ERROR, "no compute entry point called %s",
                      decoder->source->entry_point);
    }
}

static void read_execution_mode(struct weft_ir_decoder *decoder, const struct weft_ir_view *view) {
    const uint32_t mode = weft_ir_word(decoder, view, 2);
    if (weft_ir_word(decoder, view, 1) != decoder->main) {
        return;
    }
    for (uint32_t i = 0; i < 3; i++) {
        if (mode == SpvExecutionModeLocalSize) {
            decoder->program->local_size[i] = weft_ir_word(decoder, view, 3 + i);
        } else if (mode == SpvExecutionModeLocalSizeId) {
            decoder->program->local_size[i] =
                (uint32_t)weft_ir_constant_of(decoder, weft_ir_word(decoder, view, 3 + i));
        }
    }
}

static void find_local_size(struct weft_ir_decoder *decoder) {
    struct weft_ir_program *program = decoder->program;
    for (uint32_t i = 0; i < 3; i++) {
        program->local_size[i] = 1;
    }
    for (uint32_t at = WEFT_SPIRV_HEADER_WORDS; at < decoder->functions;
         at += weft_spirv_length(decoder->words[at])) {
        const struct weft_ir_view view = weft_ir_view_at(decoder, at);
        if (view.opcode == SpvOpExecutionMode || view.opcode == SpvOpExecutionModeId) {
            read_execution_mode(decoder, &view);
        }
    }
    /* A constant so decorated counts more than the execution mode. */
    for (uint32_t id = 1; id < decoder->bound; id++) {
        const struct weft_ir_id *entry = &decoder->ids[id];
        if (entry->built_in == SpvBuiltInWorkgroupSize && entry->kind == WEFT_IR_ID_VALUE &&
            entry->count == 3) {
            for (uint32_t i = 0; i < 3; i++) {
                program->local_size[i] = (uint32_t)program->values[entry->scalars[i]].bits;
            }
        }
    }
    uint64_t invocations = 1;
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t size = program->local_size[i];
        invocations = size > WEFT_IR_MAX_INVOCATIONS ? UINT32_MAX : invocations * size;
        invocations = invocations > UINT32_MAX ? UINT32_MAX : invocations;
    }
    if (invocations == 0 || invocations > WEFT_IR_MAX_INVOCATIONS) {
        weft_ir_error(program, WEFT_UNSUPPORTED, "workgroups of %u x %u x %u invocations",
                      program->local_size[0], program->local_size[1], program->local_size[2]);
    }
}

/* ---- the survey of functions ---- */

/* Whether what follows an instruction is another piece of code. */
static bool ends_piece(uint32_t opcode) {
    return opcode == SpvOpLabel || opcode == SpvOpControlBarrier || opcode == SpvOpFunctionCall;
}

static void note_uses(struct weft_ir_decoder *decoder, const struct weft_ir_view *view,
                      uint32_t piece) {
    const struct weft_spirv_layout layout = weft_spirv_layout(view->opcode);
    for (uint32_t i = layout.first; i < view->length; i++) {
        if (!weft_spirv_is_id(&layout, i)) {
            continue;
        }
        struct weft_ir_id *id = weft_ir_id(decoder, view->words[i]);
        /* An operand of OpPhi is read at the end of a block that may not have been seen yet. */
        if ((id->home != 0 && id->home != piece) || view->opcode == SpvOpPhi) {
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

static void survey_instruction(struct weft_ir_decoder *decoder, const struct weft_ir_view *view,
                               uint32_t at, uint32_t piece) {
    if (weft_spirv_layout(view->opcode).type != 0) {
        const uint32_t result = weft_ir_word(decoder, view, 2);
        struct weft_ir_id *id = weft_ir_id(decoder, result);
        id->home = piece;
        id->at = at;
        id->is_phi = view->opcode == SpvOpPhi;
        if (view->opcode == SpvOpVariable || view->opcode == SpvOpFunctionParameter) {
            id->root = result;
            id->stores += view->opcode == SpvOpVariable && view->length > 4 ? 1 : 0;
        } else if (view->opcode == SpvOpAccessChain || view->opcode == SpvOpInBoundsAccessChain ||
                   view->opcode == SpvOpCopyObject) {
            id->root = root_of(decoder, weft_ir_word(decoder, view, 3));
        }
    }
    if (view->opcode == SpvOpStore || view->opcode == SpvOpCopyMemory) {
        note_store(decoder, weft_ir_word(decoder, view, 1));
    } else if (view->opcode >= SpvOpAtomicLoad && view->opcode <= SpvOpAtomicXor) {
        note_store(decoder, weft_ir_word(decoder, view, view->opcode == SpvOpAtomicStore ? 1 : 3));
    }
    note_uses(decoder, view, piece);
}

/* What is stored to in a function through a parameter counts for what callers give it; true where that was news. */
static bool note_call(struct weft_ir_decoder *decoder, const struct weft_ir_view *view) {
    const struct weft_ir_id *callee = weft_ir_id(decoder, weft_ir_word(decoder, view, 3));
    bool news = false;
    uint32_t at = callee->at;
    for (uint32_t i = 4; i < view->length && at != 0; i++) {
        do {
            at += weft_spirv_length(decoder->words[at]);
        } while (weft_spirv_opcode(decoder->words[at]) == SpvOpLine ||
                 weft_spirv_opcode(decoder->words[at]) == SpvOpNoLine);
        if (weft_spirv_opcode(decoder->words[at]) != SpvOpFunctionParameter) {
            break;
        }
        const struct weft_ir_id *parameter = weft_ir_id(decoder, decoder->words[at + 2]);
        struct weft_ir_id *root = weft_ir_id(decoder, root_of(decoder, view->words[i]));
        /* Two stores are as good as many: what matters is whether there is exactly one. */
        if (parameter->written && root->stores < 2) {
            root->stores = 2;
            root->written = true;
            news = true;
        }
    }
    return news;
}

static void survey_calls(struct weft_ir_decoder *decoder) {
    bool news = true;
    while (news && decoder->program->status == WEFT_OK) {
        news = false;
        for (uint32_t at = decoder->functions; at < decoder->count;
             at += weft_spirv_length(decoder->words[at])) {
            const struct weft_ir_view view = weft_ir_view_at(decoder, at);
            if (view.opcode == SpvOpFunctionCall) {
                news = note_call(decoder, &view) || news;
            }
        }
    }
}

static void survey_functions(struct weft_ir_decoder *decoder) {
    uint32_t piece = 0;
    for (uint32_t at = decoder->functions;
         at < decoder->count && decoder->program->status == WEFT_OK;
         at += weft_spirv_length(decoder->words[at])) {
        const struct weft_ir_view view = weft_ir_view_at(decoder, at);
        if (view.opcode == SpvOpLabel) {
            weft_ir_id(decoder, weft_ir_word(decoder, &view, 1))->at = at;
        }
        piece += view.opcode == SpvOpLabel || view.opcode == SpvOpFunction ? 1 : 0;
        survey_instruction(decoder, &view, at, piece);
        piece += ends_piece(view.opcode) ? 1 : 0;
    }
    survey_calls(decoder);
}

/* ---- all of it ---- */

static void decode_declaration(struct weft_ir_decoder *decoder, const struct weft_ir_view *view,
                               uint32_t at) {
    if (weft_ir_makes_type(view->opcode)) {
        weft_ir_decode_type(decoder, view);
    } else if (weft_ir_makes_constant(view->opcode)) {
        weft_ir_decode_constant(decoder, view);
    } else if (view->opcode == SpvOpVariable) {
        const uint32_t id = weft_ir_word(decoder, view, 2);
        weft_ir_id(decoder, id)->root = id;
        weft_ir_id(decoder, id)->at = at;
    } else if (view->opcode == SpvOpExtInstImport) {
        if (view->length > 2 &&
            weft_spirv_string_is(view->words + 2, view->length - 2, "GLSL.std.450")) {
            weft_ir_id(decoder, view->words[1])->kind = WEFT_IR_ID_GLSL;
        }
    }
}

void weft_ir_survey(struct weft_ir_decoder *decoder) {
    uint32_t at = WEFT_SPIRV_HEADER_WORDS;
    while (at < decoder->count && weft_spirv_opcode(decoder->words[at]) != SpvOpFunction) {
        at += weft_spirv_length(decoder->words[at]);
    }
    decoder->functions = at;
    for (uint32_t id = 0; id < decoder->bound; id++) {
        decoder->ids[id].spec_id = WEFT_IR_NO_SPEC;
        decoder->ids[id].built_in = WEFT_IR_NONE;
        decoder->ids[id].variable = WEFT_IR_NONE;
    }
    find_entry_point(decoder);
    read_decorations(decoder);
    for (at = WEFT_SPIRV_HEADER_WORDS;
         at < decoder->functions && decoder->program->status == WEFT_OK;
         at += weft_spirv_length(decoder->words[at])) {
        const struct weft_ir_view view = weft_ir_view_at(decoder, at);
        decode_declaration(decoder, &view, at);
    }
    if (decoder->program->status != WEFT_OK) {
        return; /* types may lack members */
    }
    read_member_decorations(decoder);
    find_local_size(decoder);
    survey_functions(decoder);
    /* Variables of the module, now that the members have their places. */
    for (at = WEFT_SPIRV_HEADER_WORDS;
         at < decoder->functions && decoder->program->status == WEFT_OK;
         at += weft_spirv_length(decoder->words[at])) {
        const struct weft_ir_view view = weft_ir_view_at(decoder, at);
        if (view.opcode == SpvOpVariable) {
            weft_ir_decode_global(decoder, &view);
        }
    }
}
