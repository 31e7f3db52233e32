/* SPDX-License-Identifier: MIT */
/*
 * Calls of functions that a processor has an instruction for (spirv/known.h), in canonical form: subnormals are zeros of their sign,
 * and there is one NaN. Also where the processor counts subnormals as zeros (core/math/float_state.h), bits say so: LLVM takes x / 1 for x.
 */
#include "spirv/known.h"

#include "spirv/ir/decode.h"

#define SIGN       UINT32_C(0x80000000)
#define MAGNITUDE  UINT32_C(0x7FFFFFFF)
#define MIN_NORMAL UINT32_C(0x00800000)
#define INFINITE   UINT32_C(0x7F800000)
#define ONE        UINT32_C(0x3F800000)
#define NO_NUMBER  UINT32_C(0x7FC00000)

/* In fast math these functions are instructions themselves, whose results nobody makes canonical. */
static bool is_made_of_bits(const uint32_t *function) {
    WEFT_SPIRV_EACH_IN(words, weft_spirv_next(function)) {
        const uint32_t opcode = weft_spirv_opcode(words[0]);
        if (opcode == SpvOpFunctionEnd) {
            return false;
        }
        if (opcode == SpvOpBitwiseAnd) {
            return true;
        }
    }
    return false;
}

/* An argument is a number, or a variable with it. */
static weft_ir_value argument(struct weft_ir_decoder *decoder, uint32_t id) {
    weft_ir_value value = 0;
    if (weft_ir_id(decoder, id)->kind != WEFT_IR_ID_POINTER) {
        return weft_ir_scalar(decoder, id, 0);
    }
    const struct weft_ir_pointer pointer = weft_ir_pointer(decoder, id);
    weft_ir_get_variable(decoder, pointer.root, pointer.type, &value);
    return value;
}

static bool is_f32(struct weft_ir_decoder *decoder, uint32_t type_id) {
    const struct weft_ir_spirv_type *type = weft_ir_type_of(decoder, type_id);
    return type->kind == WEFT_IR_TYPE_SCALAR && type->scalar == WEFT_IR_F32;
}

static bool is_number(struct weft_ir_decoder *decoder, uint32_t id) {
    const struct weft_ir_id *entry = weft_ir_id(decoder, id);
    const struct weft_ir_pointer *pointer = &entry->pointer;
    return entry->kind == WEFT_IR_ID_POINTER
               ? is_f32(decoder, pointer->type) && pointer->space == WEFT_IR_IN_VARIABLE &&
                     pointer->offset == 0 && pointer->index == 0
               : is_f32(decoder, entry->type);
}

static bool is_call_of(struct weft_ir_decoder *decoder, const struct weft_spirv_known *known,
                       const uint32_t *call) {
    bool fits = weft_spirv_length(call[0]) == 4 + known->count && is_f32(decoder, call[1]);
    for (uint32_t i = 0; fits && i < known->count; i++) {
        fits = is_number(decoder, call[4 + i]);
    }
    return fits;
}

static weft_ir_value cast(struct weft_ir_decoder *decoder, uint32_t type, weft_ir_value value) {
    return weft_ir_compute(decoder, SpvOpBitcast, type, &value, 1, false);
}

static weft_ir_value choose(struct weft_ir_decoder *decoder, weft_ir_value condition,
                            weft_ir_value yes, weft_ir_value no) {
    return weft_ir_compute(decoder, SpvOpSelect, WEFT_IR_I32,
                           (const weft_ir_value[]){condition, yes, no}, 3, false);
}

/* A number whose subnormals are zeros. */
static weft_ir_value flushed(struct weft_ir_decoder *decoder, weft_ir_value number) {
    const weft_ir_value bits = cast(decoder, WEFT_IR_I32, number);
    const weft_ir_value magnitude = weft_ir_binary(decoder, SpvOpBitwiseAnd, WEFT_IR_I32, bits,
                                                   weft_ir_u32(decoder, MAGNITUDE));
    const weft_ir_value small = weft_ir_binary(decoder, SpvOpULessThan, WEFT_IR_BOOL, magnitude,
                                               weft_ir_u32(decoder, MIN_NORMAL));
    const weft_ir_value zero =
        weft_ir_binary(decoder, SpvOpBitwiseAnd, WEFT_IR_I32, bits, weft_ir_u32(decoder, SIGN));
    return cast(decoder, WEFT_IR_F32, choose(decoder, small, zero, bits));
}

static weft_ir_value canonical(struct weft_ir_decoder *decoder, weft_ir_value number) {
    const weft_ir_value bits = cast(decoder, WEFT_IR_I32, flushed(decoder, number));
    const weft_ir_value none =
        weft_ir_compute(decoder, SpvOpIsNan, WEFT_IR_BOOL, &number, 1, false);
    return cast(decoder, WEFT_IR_F32, choose(decoder, none, weft_ir_u32(decoder, NO_NUMBER), bits));
}

static weft_ir_value compute(struct weft_ir_decoder *decoder, const struct weft_spirv_known *known,
                             const uint32_t *call) {
    weft_ir_value numbers[2];
    uint32_t count = 0;
    if (known->op == SpvOpFDiv && known->count == 1) {
        numbers[count++] = cast(decoder, WEFT_IR_F32, weft_ir_u32(decoder, ONE));
    }
    for (uint32_t i = 0; i < known->count; i++) {
        numbers[count++] = flushed(decoder, argument(decoder, call[4 + i]));
    }
    return weft_ir_compute(decoder, known->op, WEFT_IR_F32, numbers, count, false);
}

bool weft_ir_decode_known(struct weft_ir_decoder *decoder, const uint32_t *function,
                          const uint32_t *call) {
    const struct weft_spirv_known *known =
        decoder->program->native
            ? weft_spirv_find_known(weft_spirv_name(&decoder->module, function[2]))
            : NULL;
    if (!known || !is_made_of_bits(function) || !is_call_of(decoder, known, call)) {
        return false;
    }
    weft_ir_value *row = weft_ir_row(decoder, 1);
    if (row) {
        row[0] = canonical(decoder, compute(decoder, known, call));
        weft_ir_define(decoder, call[2], call[1], row);
    }
    return true;
}
