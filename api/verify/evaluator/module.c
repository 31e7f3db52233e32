/* SPDX-License-Identifier: MIT */
/* Decoding a module: its survey, its declarations in order, then the entry point. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "verify/evaluator/decode.h"

/* ---- errors ---- */

void weft_eval_error(struct weft_eval_decoder *decoder, weft_status status, const char *format,
                     ...) {
    if (decoder->status != WEFT_OK) {
        return;
    }
    decoder->status = status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(decoder->text, WEFT_EVALUATOR_TEXT, format, arguments);
    va_end(arguments);
}

static const char *opcode_name(uint32_t opcode) {
#define NAME(enumerator, number, name) \
    case (number):                     \
        return "Op" #name;
    switch (opcode) {
        WEFT_SPIRV_OPS(NAME)
    default:
        return "an instruction";
    }
#undef NAME
}

void weft_eval_unsupported(struct weft_eval_decoder *decoder, uint32_t opcode) {
    weft_eval_error(decoder, WEFT_UNSUPPORTED, "%s (opcode %u) is not evaluated",
                    opcode_name(opcode), opcode);
}

uint32_t weft_eval_word(struct weft_eval_decoder *decoder, const struct weft_eval_view *view,
                        uint32_t index) {
    if (index < view->length) {
        return view->words[index];
    }
    weft_eval_error(decoder, WEFT_COMPILE_ERROR, "%s of %u words is too short",
                    opcode_name(view->opcode), view->length);
    return 0;
}

bool weft_eval_room(struct weft_eval_decoder *decoder, void *array_address, uint32_t count,
                    uint32_t *capacity, size_t size) {
    if (decoder->status == WEFT_OK &&
        !weft_grow(decoder->host, array_address, count, capacity, size)) {
        weft_eval_error(decoder, WEFT_OUT_OF_HOST_MEMORY, "out of memory for a module");
    }
    return decoder->status == WEFT_OK;
}

struct weft_eval_view weft_eval_view_at(const struct weft_eval_decoder *decoder, uint32_t at) {
    const uint32_t *words = decoder->words + at;
    return (struct weft_eval_view){.words = words,
                                   .length = weft_spirv_length(words[0]),
                                   .opcode = weft_spirv_opcode(words[0])};
}

/* ---- the survey ---- */

static bool is_decoration_of_interest(uint32_t decoration) {
    switch (decoration) {
    case WEFT_DECORATION_SPEC_ID:
    case WEFT_EVAL_DECORATION_BLOCK:
    case WEFT_EVAL_DECORATION_BUFFER_BLOCK:
    case WEFT_EVAL_DECORATION_ROW_MAJOR:
    case WEFT_EVAL_DECORATION_ARRAY_STRIDE:
    case WEFT_EVAL_DECORATION_MATRIX_STRIDE:
    case WEFT_DECORATION_BUILT_IN:
    case WEFT_EVAL_DECORATION_BINDING:
    case WEFT_EVAL_DECORATION_DESCRIPTOR_SET:
    case WEFT_EVAL_DECORATION_OFFSET:
        return true;
    default:
        return false;
    }
}

static void survey_decoration(struct weft_eval_decoder *decoder,
                              const struct weft_eval_view *view) {
    uint32_t first = view->opcode == WEFT_OP_MEMBER_DECORATE ? 3 : 2;
    uint32_t number = weft_eval_word(decoder, view, first);
    if (!is_decoration_of_interest(number) ||
        !weft_eval_room(decoder, &decoder->decorations, decoder->decoration_count,
                        &decoder->decoration_capacity, sizeof *decoder->decorations)) {
        return;
    }
    decoder->decorations[decoder->decoration_count++] = (struct weft_eval_decoration){
        .target = weft_eval_word(decoder, view, 1),
        .member = first == 3 ? weft_eval_word(decoder, view, 2) : UINT32_MAX,
        .decoration = number,
        .literal = view->length > first + 1 ? view->words[first + 1] : 0};
}

bool weft_eval_decorated(const struct weft_eval_decoder *decoder, uint32_t target, uint32_t member,
                         uint32_t decoration, uint32_t *literal) {
    for (uint32_t i = 0; i < decoder->decoration_count; i++) {
        const struct weft_eval_decoration *found = &decoder->decorations[i];
        if (found->target == target && found->member == member && found->decoration == decoration) {
            *literal = found->literal;
            return true;
        }
    }
    return false;
}

static void survey_instruction(struct weft_eval_decoder *decoder, uint32_t at) {
    const struct weft_eval_view view = weft_eval_view_at(decoder, at);
    switch (view.opcode) {
    case WEFT_OP_DECORATE:
    case WEFT_OP_MEMBER_DECORATE:
        survey_decoration(decoder, &view);
        break;
    case WEFT_OP_DECORATION_GROUP:
    case WEFT_OP_EXECUTION_MODE_ID + 1: /* OpDecorateId */
        weft_eval_unsupported(decoder, view.opcode);
        break;
    case WEFT_OP_ENTRY_POINT:
        if (weft_eval_word(decoder, &view, 1) == WEFT_EXECUTION_MODEL_GL_COMPUTE &&
            view.length > 3 && weft_spirv_string_is(view.words + 3, view.length - 3, "main")) {
            decoder->main = view.words[2];
        }
        break;
    case WEFT_OP_EXT_INST_IMPORT:
        if (weft_spirv_string_is(view.words + 2, view.length - 2, "GLSL.std.450")) {
            decoder->ids[view.words[1]].kind = WEFT_EVAL_ID_GLSL;
        }
        break;
    case WEFT_OP_FUNCTION:
        decoder->ids[view.words[2]].kind = WEFT_EVAL_ID_FUNCTION;
        decoder->ids[view.words[2]].at = at;
        break;
    case WEFT_OP_LABEL:
        decoder->ids[view.words[1]].kind = WEFT_EVAL_ID_LABEL;
        decoder->ids[view.words[1]].at = at;
        break;
    default:
        break;
    }
}

/* Of the instructions within functions, OpLabel aside. */
static bool has_result(uint32_t opcode) {
    switch (opcode) {
    case WEFT_OP_NOP:
    case WEFT_OP_LINE:
    case WEFT_OP_NO_LINE:
    case WEFT_OP_STORE:
    case WEFT_OP_COPY_MEMORY:
    case WEFT_OP_CONTROL_BARRIER:
    case WEFT_OP_MEMORY_BARRIER:
    case WEFT_OP_ATOMIC_STORE:
    case WEFT_OP_LOOP_MERGE:
    case WEFT_OP_SELECTION_MERGE:
    case WEFT_OP_LABEL:
    case WEFT_OP_BRANCH:
    case WEFT_OP_BRANCH_CONDITIONAL:
    case WEFT_OP_SWITCH:
    case WEFT_OP_RETURN:
    case WEFT_OP_RETURN_VALUE:
    case WEFT_OP_UNREACHABLE:
    case WEFT_OP_FUNCTION_END:
        return false;
    default:
        return true;
    }
}

/* Notes which function an instruction's result belongs to. */
static void survey_result(struct weft_eval_decoder *decoder, uint32_t at, uint32_t *function) {
    const struct weft_eval_view view = weft_eval_view_at(decoder, at);
    if (view.opcode == WEFT_OP_FUNCTION) {
        *function = view.words[2];
    } else if (*function != 0 && has_result(view.opcode) && view.length > 2 &&
               view.words[2] < decoder->bound) {
        decoder->ids[view.words[2]].function = *function;
    }
}

static void survey(struct weft_eval_decoder *decoder) {
    uint32_t function = 0;
    for (uint32_t at = WEFT_SPIRV_HEADER_WORDS; at < decoder->count && decoder->status == WEFT_OK;
         at += weft_spirv_length(decoder->words[at])) {
        survey_instruction(decoder, at);
        survey_result(decoder, at, &function);
    }
    if (decoder->main == 0) {
        weft_eval_error(decoder, WEFT_COMPILE_ERROR,
                        "the module has no compute entry point called main");
    }
}

/* ---- declarations ---- */

static bool is_type(uint32_t opcode) {
    return opcode >= WEFT_OP_TYPE_VOID && opcode <= WEFT_OP_TYPE_FUNCTION;
}

static void decode_declarations(struct weft_eval_decoder *decoder) {
    decoder->in_module = true;
    for (uint32_t at = WEFT_SPIRV_HEADER_WORDS; at < decoder->count && decoder->status == WEFT_OK;
         at += weft_spirv_length(decoder->words[at])) {
        const struct weft_eval_view view = weft_eval_view_at(decoder, at);
        if (view.opcode == WEFT_OP_FUNCTION) {
            break;
        }
        if (is_type(view.opcode)) {
            weft_eval_decode_type(decoder, &view);
        } else if (weft_eval_makes_constant(view.opcode)) {
            weft_eval_decode_constant(decoder, &view);
        } else if (view.opcode == WEFT_OP_VARIABLE) {
            weft_eval_decode_variable(decoder, &view);
        }
    }
    decoder->in_module = false;
}

static void decode_local_size(struct weft_eval_decoder *decoder) {
    const struct weft_evaluated_dispatch *dispatch = decoder->dispatch;
    uint32_t *size = decoder->program->local_size;
    struct weft_spirv_module module;
    const weft_status status =
        weft_spirv_read(&module, dispatch->words, dispatch->size, decoder->host);
    if (status == WEFT_OK) {
        weft_spirv_local_size(size, &module, dispatch->specialization,
                              dispatch->specialization_count);
    } else {
        weft_eval_error(decoder, status, "the module cannot be read");
    }
    weft_spirv_module_free(&module);
    uint64_t lanes = 0;
    if (size[0] <= WEFT_EVAL_MAX_LANES && size[1] <= WEFT_EVAL_MAX_LANES &&
        size[2] <= WEFT_EVAL_MAX_LANES) {
        lanes = (uint64_t)size[0] * size[1] * size[2];
    }
    if (lanes == 0 || lanes > WEFT_EVAL_MAX_LANES) {
        weft_eval_error(decoder, WEFT_UNSUPPORTED,
                        "local size %u x %u x %u, expected 1 … %u invocations", size[0], size[1],
                        size[2], WEFT_EVAL_MAX_LANES);
    }
    decoder->program->lanes = (uint32_t)lanes;
}

/* ---- the whole ---- */

static void decode(struct weft_eval_decoder *decoder) {
    (void)weft_eval_take(decoder, 1); /* slot WEFT_EVAL_ZERO, a constant like any other */
    survey(decoder);
    decode_declarations(decoder);
    decode_local_size(decoder);
    decoder->program->constant_count = decoder->program->slot_count;
    if (decoder->status == WEFT_OK) {
        weft_eval_decode_main(decoder);
    }
}

static void free_decoder(struct weft_eval_decoder *decoder) {
    weft_free(decoder->host, decoder->ids);
    weft_free(decoder->host, decoder->types);
    weft_free(decoder->host, decoder->members);
    weft_free(decoder->host, decoder->decorations);
    weft_free(decoder->host, decoder->allocations);
    weft_free(decoder->host, decoder->free_slots);
    weft_free(decoder->host, decoder->taken);
    weft_free(decoder->host, decoder->patches);
}

weft_status weft_eval_decode(struct weft_eval_program *program,
                             const struct weft_evaluated_dispatch *dispatch, const weft_host *host,
                             char text[WEFT_EVALUATOR_TEXT]) {
    memset(program, 0, sizeof *program);
    struct weft_eval_decoder decoder = {.host = host,
                                        .text = text,
                                        .dispatch = dispatch,
                                        .words = dispatch->words,
                                        .count = (uint32_t)(dispatch->size / 4),
                                        .program = program};
    weft_status status = weft_spirv_check(dispatch->words, dispatch->size, NULL);
    if (status != WEFT_OK || dispatch->size / 4 > UINT32_MAX) {
        snprintf(text, WEFT_EVALUATOR_TEXT, "the module is not well formed");
        return status != WEFT_OK ? status : WEFT_COMPILE_ERROR;
    }
    decoder.bound = dispatch->words[WEFT_SPIRV_AT_BOUND];
    decoder.ids = weft_alloc_zero(host, decoder.bound, sizeof *decoder.ids);
    decoder.types = weft_alloc_zero(host, decoder.bound, sizeof *decoder.types);
    if (!decoder.ids || !decoder.types) {
        weft_eval_error(&decoder, WEFT_OUT_OF_HOST_MEMORY, "out of memory for a module");
    } else {
        decode(&decoder);
    }
    free_decoder(&decoder);
    return decoder.status;
}

void weft_eval_program_free(struct weft_eval_program *program, const weft_host *host) {
    weft_free(host, program->instructions);
    weft_free(host, program->blocks);
    weft_free(host, program->cases);
    weft_free(host, program->constants);
    *program = (struct weft_eval_program){0};
}
