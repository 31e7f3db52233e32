/* SPDX-License-Identifier: MIT */
/* The constants of a module, those of specialization with the values that the pipeline gives them. */
#include "spirv/ir/decode.h"

#include <string.h>

bool weft_ir_makes_constant(uint32_t opcode) {
    return opcode == SpvOpUndef || (opcode >= SpvOpConstantTrue && opcode <= SpvOpSpecConstantOp);
}

uint64_t weft_ir_constant_of(struct weft_ir_decoder *decoder, uint32_t id) {
    const struct weft_ir_id *entry = weft_ir_id(decoder, id);
    const struct weft_ir_def *def = NULL;
    if (entry->kind == WEFT_IR_ID_VALUE && entry->count == 1) {
        def = &decoder->program->values[entry->scalars[0]];
    }
    if (!def || !def->constant) {
        weft_ir_error(decoder->program, WEFT_COMPILE_ERROR, "%%%u is not a constant number", id);
        return 0;
    }
    return def->bits;
}

/* What the pipeline gives a specialization constant, else `bits`. */
static uint64_t specialize(const struct weft_ir_decoder *decoder, uint32_t spec_id, uint32_t type,
                           uint64_t bits) {
    const struct weft_ir_source *source = decoder->source;
    for (uint32_t i = 0; spec_id != WEFT_IR_NO_SPEC && i < source->constant_count; i++) {
        if (source->constants[i].id == spec_id) {
            uint64_t given = 0;
            const uint32_t size = source->constants[i].size;
            memcpy(&given, source->constants[i].value, size < 8 ? size : 8);
            return type == WEFT_IR_BOOL ? (uint64_t)(given != 0) : given;
        }
    }
    return bits;
}

static void define_scalar(struct weft_ir_decoder *decoder, const struct weft_ir_view *view,
                          uint64_t bits) {
    const uint32_t type_id = weft_ir_word(decoder, view, 1);
    const uint32_t id = weft_ir_word(decoder, view, 2);
    const struct weft_ir_spirv_type *type = weft_ir_type_of(decoder, type_id);
    if (type->kind != WEFT_IR_TYPE_SCALAR) {
        weft_ir_error(decoder->program, WEFT_COMPILE_ERROR, "a constant of no scalar type");
        return;
    }
    if (weft_ir_bits(type->scalar) < 32) {
        bits &= (UINT64_C(1) << weft_ir_bits(type->scalar)) - 1;
    }
    weft_ir_value *row = weft_ir_row(decoder, 1);
    if (row) {
        row[0] = weft_ir_constant(decoder->program, type->scalar, bits);
        weft_ir_define(decoder, id, type_id, row);
    }
}

/* OpConstantNull, and OpUndef, for which anything serves. */
/* What is undefined is 0 as well, and poison in an exact program. */
static void define_alike(struct weft_ir_decoder *decoder, const struct weft_ir_view *view) {
    const uint32_t type = weft_ir_word(decoder, view, 1);
    const uint32_t slots = weft_ir_type_of(decoder, type)->slots;
    weft_ir_value *row = weft_ir_row(decoder, slots);
    for (uint32_t i = 0; row && i < slots; i++) {
        const uint32_t scalar = weft_ir_slot_type(decoder, type, i);
        const bool poison = view->opcode == SpvOpUndef && decoder->program->exact;
        row[i] = weft_ir_constant(decoder->program, scalar, poison ? weft_ir_ones(scalar) : 0);
    }
    if (row) {
        weft_ir_define(decoder, weft_ir_word(decoder, view, 2), type, row);
    }
}

static uint64_t literal_of(struct weft_ir_decoder *decoder, const struct weft_ir_view *view) {
    uint64_t bits = weft_ir_word(decoder, view, 3);
    if (view->length > 4) {
        bits |= (uint64_t)view->words[4] << 32;
    }
    return bits;
}

/* The same operation, without the opcode among its words, as any instruction. */
static void define_operation(struct weft_ir_decoder *decoder, const struct weft_ir_view *view) {
    enum { MOST = 16 };
    uint32_t words[MOST];
    if (view->length < 5 || view->length > MOST) {
        weft_ir_error(decoder->program, WEFT_UNSUPPORTED, "a constant operation of %u words",
                      view->length);
        return;
    }
    memcpy(words, view->words, 3 * sizeof words[0]);
    memcpy(words + 3, view->words + 4, (view->length - 4) * sizeof words[0]);
    const struct weft_ir_view operation = {
        .words = words, .length = view->length - 1, .opcode = view->words[3]};
    const uint32_t before = decoder->program->instruction_count;
    weft_ir_decode_instruction(decoder, &operation);
    if (decoder->program->instruction_count != before) {
        weft_ir_unsupported(decoder, "a constant made by opcode", view->words[3]);
    }
}

void weft_ir_decode_constant(struct weft_ir_decoder *decoder, const struct weft_ir_view *view) {
    const struct weft_ir_id *id = weft_ir_id(decoder, weft_ir_word(decoder, view, 2));
    switch (view->opcode) {
    case SpvOpConstantTrue:
    case SpvOpConstantFalse:
        define_scalar(decoder, view, view->opcode == SpvOpConstantTrue);
        break;
    case SpvOpSpecConstantTrue:
    case SpvOpSpecConstantFalse:
        define_scalar(
            decoder, view,
            specialize(decoder, id->spec_id, WEFT_IR_BOOL, view->opcode == SpvOpSpecConstantTrue));
        break;
    case SpvOpConstant:
        define_scalar(decoder, view, literal_of(decoder, view));
        break;
    case SpvOpSpecConstant:
        define_scalar(decoder, view,
                      specialize(decoder, id->spec_id, WEFT_IR_I32, literal_of(decoder, view)));
        break;
    case SpvOpConstantComposite:
    case SpvOpSpecConstantComposite:
        weft_ir_construct(decoder, view);
        break;
    case SpvOpConstantNull:
    case SpvOpUndef:
        define_alike(decoder, view);
        break;
    case SpvOpSpecConstantOp:
        define_operation(decoder, view);
        break;
    default:
        weft_ir_unsupported(decoder, "the constant of opcode", view->opcode);
        break;
    }
}
