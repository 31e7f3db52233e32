/* SPDX-License-Identifier: MIT */
/*
 * One rounding where a driver's Fma has two: each Fma of float32 becomes the call of a function that comes to the module's end
 * (docs/reproducibility.md, rule 9). Those of a vector are called for each component. What the function does is in fma_float64.c and
 * fma_integers.c. It follows the lint, which has seen the Fma: the function has what reproducible math leaves to no shader, such as 64-bit
 * floats, and is proved and probed as a whole.
 */
#include "spirv/passes/fma.h"

#define OPERANDS  3u
#define AT        5u /* in an Fma: the first operand */
#define MAX_WIDTH 4u

/* ---- types and constants ---- */

static uint32_t find_type(const struct weft_spirv_module *module, enum weft_fma_type type) {
    static const struct {
        SpvOp opcode;
        uint32_t width, is_signed;
    } wanted[WEFT_FMA_TYPES] = {[WEFT_FMA_BOOL] = {SpvOpTypeBool, UINT32_MAX, UINT32_MAX},
                                [WEFT_FMA_UINT] = {SpvOpTypeInt, 32, 0},
                                [WEFT_FMA_FLOAT] = {SpvOpTypeFloat, 32, UINT32_MAX},
                                [WEFT_FMA_ULONG] = {SpvOpTypeInt, 64, 0},
                                [WEFT_FMA_DOUBLE] = {SpvOpTypeFloat, 64, UINT32_MAX}};
    WEFT_SPIRV_EACH(instruction, module, WEFT_SPIRV_DECLARATIONS) {
        if (weft_spirv_opcode(instruction[0]) == wanted[type].opcode &&
            weft_spirv_word(instruction, 2) == wanted[type].width &&
            weft_spirv_word(instruction, 3) == wanted[type].is_signed) {
            return instruction[1];
        }
    }
    return 0;
}

static void declare_type(struct weft_fma_writer *writer, uint32_t id, enum weft_fma_type type) {
    struct weft_spirv_edit *edit = writer->edit;
    const size_t place = edit->place;
    const uint32_t width = type == WEFT_FMA_ULONG || type == WEFT_FMA_DOUBLE ? 64 : 32;
    weft_spirv_insert_into(edit, WEFT_SPIRV_DECLARATIONS);
    if (type == WEFT_FMA_BOOL) {
        WEFT_SPIRV_PUT(edit, SpvOpTypeBool, id);
    } else if (type == WEFT_FMA_FLOAT || type == WEFT_FMA_DOUBLE) {
        WEFT_SPIRV_PUT(edit, SpvOpTypeFloat, id, width);
    } else {
        WEFT_SPIRV_PUT(edit, SpvOpTypeInt, id, width, 0);
    }
    edit->place = place;
}

uint32_t weft_fma_type_of(struct weft_fma_writer *writer, enum weft_fma_type type) {
    uint32_t *id = &writer->types[type];
    *id = *id != 0 ? *id : find_type(writer->module, type);
    if (*id == 0) {
        *id = weft_spirv_new_ids(writer->edit, 1);
        declare_type(writer, *id, type);
    }
    return *id;
}

uint32_t weft_fma_constant_of(struct weft_fma_writer *writer, enum weft_fma_type type,
                              uint64_t bits) {
    struct weft_spirv_edit *edit = writer->edit;
    const uint32_t type_id = weft_fma_type_of(writer, type);
    for (uint32_t i = 0; i < writer->constant_count; i++) {
        if (writer->constants[i].type == type_id && writer->constants[i].bits == bits) {
            return writer->constants[i].id;
        }
    }
    const uint32_t id = weft_spirv_new_ids(edit, 1);
    const size_t place = edit->place;
    weft_spirv_insert_into(edit, WEFT_SPIRV_DECLARATIONS);
    WEFT_SPIRV_PUT(edit, SpvOpConstant, type_id, id, (uint32_t)bits);
    if (type == WEFT_FMA_ULONG || type == WEFT_FMA_DOUBLE) {
        weft_spirv_put_operand(edit, (uint32_t)(bits >> 32));
    }
    edit->place = place;
    if (writer->constant_count <
        WEFT_FMA_CONSTANTS) { /* else it is declared again where it is used again */
        writer->constants[writer->constant_count++] =
            (struct weft_fma_constant){.type = type_id, .id = id, .bits = bits};
    }
    return id;
}

uint32_t weft_fma_put(struct weft_fma_writer *writer, enum weft_fma_type type, SpvOp opcode,
                      uint32_t count, const uint32_t *operands) {
    struct weft_spirv_edit *edit = writer->edit;
    const uint32_t type_id = weft_fma_type_of(writer, type);
    const uint32_t id = weft_spirv_new_ids(edit, 1);
    if (opcode == SpvOpFAdd || opcode == SpvOpFSub || opcode == SpvOpFMul) {
        const size_t place = edit->place;
        weft_spirv_insert_into(edit, WEFT_SPIRV_ANNOTATIONS);
        WEFT_SPIRV_PUT(edit, SpvOpDecorate, id, SpvDecorationNoContraction);
        edit->place = place;
    }
    WEFT_SPIRV_PUT(edit, opcode, type_id, id);
    for (uint32_t i = 0; i < count; i++) {
        weft_spirv_put_operand(edit, operands[i]);
    }
    return id;
}

/* ---- the function ---- */

/* The type of a function of three floats. Like other types that are no aggregates, it is declared once. */
static uint32_t function_type(struct weft_fma_writer *writer) {
    const uint32_t number = weft_fma_type_of(writer, WEFT_FMA_FLOAT);
    WEFT_SPIRV_EACH(type, writer->module, WEFT_SPIRV_DECLARATIONS) {
        if (weft_spirv_opcode(type[0]) == SpvOpTypeFunction &&
            weft_spirv_length(type[0]) == 3 + OPERANDS && type[2] == number && type[3] == number &&
            type[4] == number && type[5] == number) {
            return type[1];
        }
    }
    const uint32_t made = weft_spirv_new_ids(writer->edit, 1);
    weft_spirv_insert_into(writer->edit, WEFT_SPIRV_DECLARATIONS);
    WEFT_SPIRV_PUT(writer->edit, SpvOpTypeFunction, made, number, number, number, number);
    return made;
}

static uint32_t put_function(struct weft_fma_writer *writer, weft_fma_body *body) {
    struct weft_spirv_edit *edit = writer->edit;
    const uint32_t number = weft_fma_type_of(writer, WEFT_FMA_FLOAT);
    const uint32_t type = function_type(writer);
    const uint32_t function = weft_spirv_new_ids(edit, 2 + OPERANDS);
    const uint32_t operands[OPERANDS] = {function + 2, function + 3, function + 4};
    weft_spirv_insert_into(edit, WEFT_SPIRV_FUNCTIONS);
    WEFT_SPIRV_PUT(edit, SpvOpFunction, number, function, SpvFunctionControlMaskNone, type);
    for (uint32_t i = 0; i < OPERANDS; i++) {
        WEFT_SPIRV_PUT(edit, SpvOpFunctionParameter, number, operands[i]);
    }
    WEFT_SPIRV_PUT(edit, SpvOpLabel, function + 1);
    const uint32_t result = body(writer, operands);
    WEFT_SPIRV_PUT(edit, SpvOpReturnValue, result);
    weft_spirv_put_op(edit, SpvOpFunctionEnd, 0, NULL);
    return function;
}

/* ---- its calls ---- */

static void put_calls(struct weft_fma_writer *writer, const uint32_t *fma, uint32_t width,
                      uint32_t function) {
    struct weft_spirv_edit *edit = writer->edit;
    const uint32_t number = weft_fma_type_of(writer, WEFT_FMA_FLOAT);
    uint32_t made[2 + MAX_WIDTH] = {fma[1], fma[2]};
    weft_spirv_replace(edit, fma);
    for (uint32_t i = 0; i < width; i++) {
        uint32_t call[3 + OPERANDS] = {number, fma[2], function};
        for (uint32_t k = 0; k < OPERANDS; k++) {
            call[3 + k] = fma[AT + k];
            if (width > 1) {
                call[3 + k] = weft_spirv_new_ids(edit, 1);
                WEFT_SPIRV_PUT(edit, SpvOpCompositeExtract, number, call[3 + k], fma[AT + k], i);
            }
        }
        if (width > 1) {
            call[1] = made[2 + i] = weft_spirv_new_ids(edit, 1);
        }
        weft_spirv_put_op(edit, SpvOpFunctionCall, 3 + OPERANDS, call);
    }
    if (width > 1) {
        weft_spirv_put_op(edit, SpvOpCompositeConstruct, 2 + width, made);
    }
}

/* NoContraction is for arithmetic: the decorations of what becomes a call go. */
static void drop_decorations(struct weft_fma_writer *writer) {
    const struct weft_spirv_module *module = writer->module;
    WEFT_SPIRV_EACH(decoration, module, WEFT_SPIRV_ANNOTATIONS) {
        if (weft_spirv_opcode(decoration[0]) != SpvOpDecorate ||
            decoration[2] != SpvDecorationNoContraction) {
            continue;
        }
        const uint32_t at = module->ids[decoration[1]].at;
        if (at != 0 && weft_spirv_is_fma(module, module->words + at)) {
            weft_spirv_replace(writer->edit, decoration);
        }
    }
}

weft_status weft_fma_replace(struct weft_spirv_edit *edit, weft_fma_body *body) {
    const struct weft_spirv_module *module = &edit->module;
    struct weft_fma_writer writer = {.edit = edit, .module = module};
    uint32_t function = 0;
    WEFT_SPIRV_EACH(instruction, module, WEFT_SPIRV_FUNCTIONS) {
        if (!weft_spirv_is_fma(module, instruction)) {
            continue;
        }
        const struct weft_spirv_shape shape = weft_spirv_shape_of(module, instruction[1]);
        if (shape.kind != WEFT_SPIRV_FLOAT) {
            continue; /* of 64 bits: the lint lets none pass */
        }
        writer.glsl = instruction[3];
        function = function != 0 ? function : put_function(&writer, body);
        put_calls(&writer, instruction, shape.width, function);
    }
    if (function != 0) {
        drop_decorations(&writer);
    }
    return WEFT_OK;
}
