/* SPDX-License-Identifier: MIT */
/* The types of a module, with the layout of each in buffers (declared) and in shared memory (ours). */
#include "spirv/ir/decode.h"

/* Arrays in buffers may be long; values of so many scalars are refused where they are made (ids.c). */
#define MAX_SLOTS (UINT32_C(1) << 30)

const struct weft_ir_spirv_type *weft_ir_type_of(struct weft_ir_decoder *decoder, uint32_t id) {
    if (id >= decoder->module.bound || decoder->types[id].kind == WEFT_IR_TYPE_NONE) {
        weft_ir_error(decoder->program, WEFT_COMPILE_ERROR, "%%%u is not a type", id);
        return &decoder->types[0];
    }
    return &decoder->types[id];
}

static bool int_type(struct weft_ir_spirv_type *type, uint32_t width) {
    static const uint8_t widths[] = {8, 16, 32, 64};
    for (uint32_t i = 0; i < 4; i++) {
        if (widths[i] == width) {
            type->scalar = (uint8_t)(WEFT_IR_I8 + i);
            return true;
        }
    }
    return false;
}

static void scalar_type(struct weft_ir_decoder *decoder, struct weft_ir_spirv_type *type,
                        const uint32_t *words) {
    *type = (struct weft_ir_spirv_type){.kind = WEFT_IR_TYPE_SCALAR, .slots = 1};
    if (weft_spirv_opcode(words[0]) == SpvOpTypeBool) {
        type->scalar = WEFT_IR_BOOL;
        type->size = 4;
        return;
    }
    const uint32_t width = words[2];
    bool known = true;
    if (weft_spirv_opcode(words[0]) == SpvOpTypeInt) {
        known = int_type(type, width);
    } else {
        known = width == 32 || width == 64;
        type->scalar = width == 64 ? WEFT_IR_F64 : WEFT_IR_F32;
    }
    type->size = width / 8;
    if (!known) {
        weft_ir_error(decoder->program, WEFT_UNSUPPORTED, "%s of %u bits",
                      weft_spirv_opcode(words[0]) == SpvOpTypeInt ? "integers" : "floats", width);
    }
}

/* The slots and bytes of `count` elements. */
static void repeat(struct weft_ir_decoder *decoder, struct weft_ir_spirv_type *type,
                   uint32_t count) {
    const struct weft_ir_spirv_type *element = weft_ir_type_of(decoder, type->element);
    if (count == 0 || count > MAX_SLOTS || element->slots > MAX_SLOTS / count) {
        weft_ir_error(decoder->program, WEFT_UNSUPPORTED, "an array of %u elements", count);
        return;
    }
    type->count = count;
    type->slots = count * element->slots;
    type->size = count * element->size;
}

/* Finds the places of a structure's members in buffers. */
static void place_members(struct weft_ir_decoder *decoder, const struct weft_ir_spirv_type *type,
                          uint32_t id) {
    const struct weft_spirv_module *module = &decoder->module;
    for (uint32_t i = module->ids[id].decorations; i != 0; i = module->decorations[i].next) {
        const uint32_t *words = module->words + module->decorations[i].at;
        if (weft_spirv_opcode(words[0]) != SpvOpMemberDecorate || words[2] >= type->count) {
            continue;
        }
        struct weft_ir_member *member = &decoder->members[type->first_member + words[2]];
        if (words[3] == SpvDecorationOffset) {
            member->offset = weft_spirv_word(words, 4);
        } else if (words[3] == SpvDecorationMatrixStride) {
            member->matrix_stride = weft_spirv_word(words, 4);
        } else if (words[3] == SpvDecorationRowMajor) {
            member->row_major = true;
        }
    }
}

static void struct_type(struct weft_ir_decoder *decoder, struct weft_ir_spirv_type *type,
                        const uint32_t *words) {
    *type = (struct weft_ir_spirv_type){.kind = WEFT_IR_TYPE_STRUCT,
                                        .count = weft_spirv_length(words[0]) - 2,
                                        .first_member = decoder->member_count};
    for (uint32_t i = 2; i < weft_spirv_length(words[0]); i++) {
        const struct weft_ir_spirv_type *member = weft_ir_type_of(decoder, words[i]);
        if (!weft_ir_room(decoder->program, &decoder->members, decoder->member_count,
                          &decoder->member_capacity, sizeof *decoder->members)) {
            return;
        }
        decoder->members[decoder->member_count++] =
            (struct weft_ir_member){.type = words[i], .first_slot = type->slots};
        type->slots += member->slots;
        type->size += member->size;
        if (type->slots > MAX_SLOTS) {
            weft_ir_error(decoder->program, WEFT_UNSUPPORTED, "a structure of %u values",
                          type->slots);
            return;
        }
    }
    place_members(decoder, type, words[1]);
}

bool weft_ir_decode_type(struct weft_ir_decoder *decoder, const uint32_t *words) {
    const uint32_t opcode = weft_spirv_opcode(words[0]);
    struct weft_ir_spirv_type type = {.kind = WEFT_IR_TYPE_VOID};
    if (opcode < SpvOpTypeVoid || opcode > SpvOpTypeFunction) {
        return false;
    }
    switch (opcode) {
    case SpvOpTypeVoid:
        break;
    case SpvOpTypeBool:
    case SpvOpTypeInt:
    case SpvOpTypeFloat:
        scalar_type(decoder, &type, words);
        break;
    case SpvOpTypeVector:
    case SpvOpTypeMatrix:
        type.kind = opcode == SpvOpTypeVector ? WEFT_IR_TYPE_VECTOR : WEFT_IR_TYPE_MATRIX;
        type.element = words[2];
        repeat(decoder, &type, words[3]);
        type.stride = weft_ir_type_of(decoder, type.element)->size;
        break;
    case SpvOpTypeArray:
        type.kind = WEFT_IR_TYPE_ARRAY;
        type.element = words[2];
        type.stride = weft_ir_literal(decoder, words[1], SpvDecorationArrayStride, 0);
        repeat(decoder, &type, (uint32_t)weft_ir_constant_of(decoder, words[3]));
        break;
    case SpvOpTypeRuntimeArray:
        type.kind = WEFT_IR_TYPE_RUNTIME_ARRAY;
        type.element = words[2];
        type.stride = weft_ir_literal(decoder, words[1], SpvDecorationArrayStride, 0);
        break;
    case SpvOpTypeStruct:
        struct_type(decoder, &type, words);
        break;
    case SpvOpTypePointer:
        type.kind = WEFT_IR_TYPE_POINTER;
        type.element = words[3];
        break;
    case SpvOpTypeFunction:
        type.kind = WEFT_IR_TYPE_FUNCTION;
        type.element = words[2];
        break;
    default:
        weft_ir_unsupported(decoder, "the type of opcode", opcode);
        break;
    }
    decoder->types[words[1]] = type;
    return true;
}

const struct weft_ir_member *weft_ir_member(struct weft_ir_decoder *decoder,
                                            const struct weft_ir_spirv_type *type, uint32_t index) {
    static const struct weft_ir_member none = {.type = 0};
    if (type->kind != WEFT_IR_TYPE_STRUCT || index >= type->count) {
        weft_ir_error(decoder->program, WEFT_COMPILE_ERROR, "a structure without member %u", index);
        return &none;
    }
    return &decoder->members[type->first_member + index];
}

uint32_t weft_ir_slot_type(struct weft_ir_decoder *decoder, uint32_t id, uint32_t slot) {
    const struct weft_ir_spirv_type *type = weft_ir_type_of(decoder, id);
    while (type->kind != WEFT_IR_TYPE_SCALAR) {
        if (type->kind == WEFT_IR_TYPE_STRUCT) {
            uint32_t i = 0;
            while (i + 1 < type->count &&
                   decoder->members[type->first_member + i + 1].first_slot <= slot) {
                i++;
            }
            const struct weft_ir_member *member = weft_ir_member(decoder, type, i);
            slot -= member->first_slot;
            type = weft_ir_type_of(decoder, member->type);
        } else if (type->kind >= WEFT_IR_TYPE_VECTOR && type->kind <= WEFT_IR_TYPE_ARRAY) {
            type = weft_ir_type_of(decoder, type->element);
            slot = type->slots == 0 ? 0 : slot % type->slots;
        } else {
            weft_ir_error(decoder->program, WEFT_COMPILE_ERROR, "a value of a type without values");
            return WEFT_IR_I32;
        }
        if (decoder->program->status != WEFT_OK) {
            return WEFT_IR_I32;
        }
    }
    return type->scalar;
}
