/* SPDX-License-Identifier: MIT */
/* The constants of a module, those of specialization with the values that the pipeline gives them. */
#include "spirv/ir/decode.h"

#include <string.h>

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

/* Value that the pipeline gives a specialization constant, else `bits`. */
static uint64_t specialize(const struct weft_ir_decoder *decoder, uint32_t id, uint32_t type,
                           uint64_t bits) {
    const struct weft_ir_source *source = decoder->source;
    const uint32_t number = weft_ir_literal(decoder, id, SpvDecorationSpecId, WEFT_IR_NONE);
    for (uint32_t i = 0; number != WEFT_IR_NONE && i < source->constant_count; i++) {
        if (source->constants[i].id == number) {
            uint64_t given = 0;
            const uint32_t size = source->constants[i].size;
            memcpy(&given, source->constants[i].value, size < 8 ? size : 8);
            return type == WEFT_IR_BOOL ? (uint64_t)(given != 0) : given;
        }
    }
    return bits;
}

static void define_scalar(struct weft_ir_decoder *decoder, const uint32_t *words, uint64_t bits) {
    const struct weft_ir_spirv_type *type = weft_ir_type_of(decoder, words[1]);
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
        weft_ir_define(decoder, words[2], words[1], row);
    }
}

/* OpConstantNull, and OpUndef, for which anything serves. */
/* Undefined values are 0, too, and poison in an exact program. */
static void define_alike(struct weft_ir_decoder *decoder, const uint32_t *words) {
    const uint32_t type = words[1];
    const uint32_t slots = weft_ir_type_of(decoder, type)->slots;
    weft_ir_value *row = weft_ir_row(decoder, slots);
    for (uint32_t i = 0; row && i < slots; i++) {
        const uint32_t scalar = weft_ir_slot_type(decoder, type, i);
        const bool poison = weft_spirv_opcode(words[0]) == SpvOpUndef && decoder->program->exact;
        row[i] = weft_ir_constant(decoder->program, scalar, poison ? weft_ir_ones(scalar) : 0);
    }
    if (row) {
        weft_ir_define(decoder, words[2], type, row);
    }
}

static uint64_t literal_of(const uint32_t *words) {
    const uint64_t high = weft_spirv_length(words[0]) > 4 ? words[4] : 0;
    return high << 32 | words[3];
}

/* Defines an operation as an instruction whose words lack the opcode. */
static void define_operation(struct weft_ir_decoder *decoder, const uint32_t *words) {
    enum { MOST = 16 };
    const uint32_t length = weft_spirv_length(words[0]) - 1;
    uint32_t operation[MOST] = {weft_spirv_first_word((SpvOp)words[3], length), words[1], words[2]};
    if (length >= MOST || words[3] > SpvOpCodeMask || weft_spirv_layout(words[3]).least > length) {
        weft_ir_error(decoder->program, WEFT_UNSUPPORTED, "a constant operation of %u words",
                      length + 1);
        return;
    }
    memcpy(operation + 3, words + 4, (length - 3) * sizeof words[0]);
    const uint32_t before = decoder->program->instruction_count;
    weft_ir_decode_instruction(decoder, operation);
    if (decoder->program->instruction_count != before) {
        weft_ir_unsupported(decoder, "a constant made by opcode", words[3]);
    }
}

void weft_ir_decode_constant(struct weft_ir_decoder *decoder, const uint32_t *words) {
    const uint32_t opcode = weft_spirv_opcode(words[0]);
    switch (opcode) {
    case SpvOpConstantTrue:
    case SpvOpConstantFalse:
        define_scalar(decoder, words, opcode == SpvOpConstantTrue);
        break;
    case SpvOpSpecConstantTrue:
    case SpvOpSpecConstantFalse:
        define_scalar(decoder, words,
                      specialize(decoder, words[2], WEFT_IR_BOOL, opcode == SpvOpSpecConstantTrue));
        break;
    case SpvOpConstant:
        define_scalar(decoder, words, literal_of(words));
        break;
    case SpvOpSpecConstant:
        define_scalar(decoder, words,
                      specialize(decoder, words[2], WEFT_IR_I32, literal_of(words)));
        break;
    case SpvOpConstantComposite:
    case SpvOpSpecConstantComposite:
        weft_ir_construct(decoder, words);
        break;
    case SpvOpConstantNull:
    case SpvOpUndef:
        define_alike(decoder, words);
        break;
    case SpvOpSpecConstantOp:
        define_operation(decoder, words);
        break;
    case SpvOpConstantSampler:
        weft_ir_unsupported(decoder, "the constant of opcode", opcode);
        break;
    default: /* OpLine, and what else computes nothing */
        break;
    }
}
