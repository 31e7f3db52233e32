/* SPDX-License-Identifier: MIT */
/* The types of a module, with the layout of each in buffers (declared) and in shared memory (ours). */
#include "spirv/ir/decode.h"

/* Arrays in buffers may be long; values of so many scalars are refused where they are made (ids.c). */
#define MAX_SLOTS (UINT32_C(1) << 30)

bool weft_ir_makes_type(uint32_t opcode) {
    return opcode >= SpvOpTypeVoid && opcode <= SpvOpTypeFunction;
}

const struct weft_ir_spirv_type *weft_ir_type_of(struct weft_ir_decoder *decoder, uint32_t id) {
    if (id >= decoder->bound || decoder->types[id].kind == WEFT_IR_TYPE_NONE) {
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
                        const struct weft_ir_view *view) {
    *type = (struct weft_ir_spirv_type){.kind = WEFT_IR_TYPE_SCALAR, .slots = 1};
    if (view->opcode == SpvOpTypeBool) {
        type->scalar = WEFT_IR_BOOL;
        type->size = 4;
        return;
    }
    const uint32_t width = weft_ir_word(decoder, view, 2);
    bool known = true;
    if (view->opcode == SpvOpTypeInt) {
        known = int_type(type, width);
    } else {
        known = width == 32 || width == 64;
        type->scalar = width == 64 ? WEFT_IR_F64 : WEFT_IR_F32;
    }
    type->size = width / 8;
    if (!known) {
        weft_ir_error(decoder->program, WEFT_UNSUPPORTED, "%s of %u bits",
                      view->opcode == SpvOpTypeInt ? "integers" : "floats", width);
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

static void struct_type(struct weft_ir_decoder *decoder, struct weft_ir_spirv_type *type,
                        const struct weft_ir_view *view) {
    *type = (struct weft_ir_spirv_type){.kind = WEFT_IR_TYPE_STRUCT,
                                        .count = view->length - 2,
                                        .first_member = decoder->member_count};
    for (uint32_t i = 2; i < view->length; i++) {
        const struct weft_ir_spirv_type *member = weft_ir_type_of(decoder, view->words[i]);
        if (!weft_ir_room(decoder->program, &decoder->members, decoder->member_count,
                          &decoder->member_capacity, sizeof *decoder->members)) {
            return;
        }
        decoder->members[decoder->member_count++] =
            (struct weft_ir_member){.type = view->words[i], .first_slot = type->slots};
        type->slots += member->slots;
        type->size += member->size;
        if (type->slots > MAX_SLOTS) {
            weft_ir_error(decoder->program, WEFT_UNSUPPORTED, "a structure of %u values",
                          type->slots);
            return;
        }
    }
}

void weft_ir_decode_type(struct weft_ir_decoder *decoder, const struct weft_ir_view *view) {
    const uint32_t id = weft_ir_word(decoder, view, 1);
    if (id >= decoder->bound) {
        weft_ir_error(decoder->program, WEFT_COMPILE_ERROR, "a type without an id");
        return;
    }
    struct weft_ir_spirv_type type = {.kind = WEFT_IR_TYPE_VOID};
    switch (view->opcode) {
    case SpvOpTypeVoid:
        break;
    case SpvOpTypeBool:
    case SpvOpTypeInt:
    case SpvOpTypeFloat:
        scalar_type(decoder, &type, view);
        break;
    case SpvOpTypeVector:
    case SpvOpTypeMatrix:
        type.kind = view->opcode == SpvOpTypeVector ? WEFT_IR_TYPE_VECTOR : WEFT_IR_TYPE_MATRIX;
        type.element = weft_ir_word(decoder, view, 2);
        repeat(decoder, &type, weft_ir_word(decoder, view, 3));
        type.stride = weft_ir_type_of(decoder, type.element)->size;
        break;
    case SpvOpTypeArray:
        type.kind = WEFT_IR_TYPE_ARRAY;
        type.element = weft_ir_word(decoder, view, 2);
        type.stride = decoder->ids[id].array_stride;
        repeat(decoder, &type,
               (uint32_t)weft_ir_constant_of(decoder, weft_ir_word(decoder, view, 3)));
        break;
    case SpvOpTypeRuntimeArray:
        type.kind = WEFT_IR_TYPE_RUNTIME_ARRAY;
        type.element = weft_ir_word(decoder, view, 2);
        type.stride = decoder->ids[id].array_stride;
        break;
    case SpvOpTypeStruct:
        struct_type(decoder, &type, view);
        break;
    case SpvOpTypePointer:
        type.kind = WEFT_IR_TYPE_POINTER;
        type.element = weft_ir_word(decoder, view, 3);
        break;
    case SpvOpTypeFunction:
        type.kind = WEFT_IR_TYPE_FUNCTION;
        type.element = weft_ir_word(decoder, view, 2);
        break;
    default:
        weft_ir_unsupported(decoder, "the type of opcode", view->opcode);
        break;
    }
    decoder->types[id] = type;
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
