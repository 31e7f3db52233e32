/* SPDX-License-Identifier: MIT */
/* Instructions that compute: composites are taken apart, and each scalar is computed by itself. */
#include "spirv/ir/decode.h"

#define MOST_OPERANDS 4u

/* ---- composites ---- */

/* The first slot of a part that literal indices lead to, and its type. */
static uint32_t walk(struct weft_ir_decoder *decoder, uint32_t *type_id, const uint32_t *words,
                     uint32_t first) {
    uint32_t slot = 0;
    for (uint32_t i = first; i < weft_spirv_length(words[0]) && decoder->program->status == WEFT_OK;
         i++) {
        const struct weft_ir_spirv_type *type = weft_ir_type_of(decoder, *type_id);
        const uint32_t index = words[i];
        if (type->kind == WEFT_IR_TYPE_STRUCT) {
            const struct weft_ir_member *member = weft_ir_member(decoder, type, index);
            slot += member->first_slot;
            *type_id = member->type;
        } else if (type->kind >= WEFT_IR_TYPE_VECTOR && type->kind <= WEFT_IR_TYPE_ARRAY &&
                   index < type->count) {
            slot += index * weft_ir_type_of(decoder, type->element)->slots;
            *type_id = type->element;
        } else {
            weft_ir_error(decoder->program, WEFT_COMPILE_ERROR, "a part %u that is not there",
                          index);
        }
    }
    return slot;
}

static void define(struct weft_ir_decoder *decoder, const uint32_t *words, weft_ir_value *row) {
    if (row) {
        weft_ir_define(decoder, words[2], words[1], row);
    }
}

static void extract(struct weft_ir_decoder *decoder, const uint32_t *words) {
    const uint32_t composite = words[3];
    const weft_ir_value *scalars = weft_ir_scalars(decoder, composite);
    uint32_t type = weft_ir_id(decoder, composite)->type;
    const uint32_t slot = scalars ? walk(decoder, &type, words, 4) : 0;
    const uint32_t slots = weft_ir_type_of(decoder, type)->slots;
    weft_ir_value *row = weft_ir_row(decoder, slots);
    for (uint32_t i = 0; row && scalars && i < slots; i++) {
        row[i] = scalars[slot + i];
    }
    define(decoder, words, row);
}

static void insert(struct weft_ir_decoder *decoder, const uint32_t *words) {
    const uint32_t object = words[3];
    const uint32_t composite = words[4];
    const weft_ir_value *part = weft_ir_scalars(decoder, object);
    const weft_ir_value *scalars = weft_ir_scalars(decoder, composite);
    uint32_t type = words[1];
    const uint32_t slots = weft_ir_type_of(decoder, type)->slots;
    weft_ir_value *row = weft_ir_row(decoder, slots);
    if (!row || !part || !scalars) {
        return;
    }
    const uint32_t first = walk(decoder, &type, words, 5);
    const uint32_t count = weft_ir_id(decoder, object)->count;
    for (uint32_t i = 0; i < slots; i++) {
        row[i] = i >= first && i - first < count ? part[i - first] : scalars[i];
    }
    define(decoder, words, row);
}

static void shuffle(struct weft_ir_decoder *decoder, const uint32_t *words) {
    const weft_ir_value *a = weft_ir_scalars(decoder, words[3]);
    const weft_ir_value *b = weft_ir_scalars(decoder, words[4]);
    const uint32_t slots = weft_ir_type_of(decoder, words[1])->slots;
    weft_ir_value *row = weft_ir_row(decoder, slots);
    if (!row || !a || !b || weft_spirv_length(words[0]) != 5 + slots) {
        return;
    }
    const uint32_t a_count = weft_ir_id(decoder, words[3])->count;
    const uint32_t b_count = weft_ir_id(decoder, words[4])->count;
    for (uint32_t i = 0; i < slots; i++) {
        const uint32_t from = words[5 + i];
        row[i] = from < a_count ? a[from] : from - a_count < b_count ? b[from - a_count] : a[0];
    }
    define(decoder, words, row);
}

static weft_ir_value choose(struct weft_ir_decoder *decoder, weft_ir_value condition,
                            weft_ir_value a, weft_ir_value b) {
    const weft_ir_value arguments[] = {condition, a, b};
    return weft_ir_compute(decoder, SpvOpSelect, decoder->program->values[a].type, arguments, 3,
                           false);
}

static weft_ir_value is_component(struct weft_ir_decoder *decoder, weft_ir_value index,
                                  uint32_t i) {
    const uint32_t type = decoder->program->values[index].type;
    return weft_ir_binary(decoder, SpvOpIEqual, WEFT_IR_BOOL, index,
                          weft_ir_constant(decoder->program, type, i));
}

/* In an exact program an index outside of the vector is seen: the vector is in a variable. */
static uint32_t spill(struct weft_ir_decoder *decoder, uint32_t vector,
                      const weft_ir_value *scalars) {
    const struct weft_ir_id *id = weft_ir_id(decoder, vector);
    const uint32_t variable = weft_ir_new_variable(decoder, id->type, decoder->list);
    weft_ir_set_variable(decoder, variable, scalars, id->count);
    return variable;
}

static void extract_dynamic(struct weft_ir_decoder *decoder, const uint32_t *words) {
    const uint32_t vector = words[3];
    const weft_ir_value *scalars = weft_ir_scalars(decoder, vector);
    const weft_ir_value index = weft_ir_scalar(decoder, words[4], 0);
    weft_ir_value *row = weft_ir_row(decoder, 1);
    if (!row || !scalars) {
        return;
    }
    const uint32_t count = weft_ir_id(decoder, vector)->count;
    row[0] = scalars[0];
    if (decoder->program->exact) {
        const uint32_t variable = spill(decoder, vector, scalars);
        row[0] = weft_ir_get_indexed(decoder, variable, weft_ir_index(decoder, 0, index, 1, count),
                                     weft_ir_slot_type(decoder, words[1], 0));
    }
    for (uint32_t i = 1; !decoder->program->exact && i < count; i++) {
        row[0] = choose(decoder, is_component(decoder, index, i), scalars[i], row[0]);
    }
    define(decoder, words, row);
}

static void insert_dynamic(struct weft_ir_decoder *decoder, const uint32_t *words) {
    const uint32_t vector = words[3];
    const weft_ir_value *scalars = weft_ir_scalars(decoder, vector);
    const weft_ir_value part = weft_ir_scalar(decoder, words[4], 0);
    const weft_ir_value index = weft_ir_scalar(decoder, words[5], 0);
    const uint32_t slots = weft_ir_type_of(decoder, words[1])->slots;
    weft_ir_value *row = weft_ir_row(decoder, slots);
    if (!row || !scalars) {
        return;
    }
    if (decoder->program->exact) {
        const uint32_t variable = spill(decoder, vector, scalars);
        weft_ir_set_indexed(decoder, variable, weft_ir_index(decoder, 0, index, 1, slots), part);
        weft_ir_get_variable(decoder, variable, words[1], row);
    }
    for (uint32_t i = 0; !decoder->program->exact && i < slots; i++) {
        row[i] = choose(decoder, is_component(decoder, index, i), part, scalars[i]);
    }
    define(decoder, words, row);
}

static void transpose(struct weft_ir_decoder *decoder, const uint32_t *words) {
    const weft_ir_value *scalars = weft_ir_scalars(decoder, words[3]);
    const struct weft_ir_spirv_type *type = weft_ir_type_of(decoder, words[1]);
    weft_ir_value *row = weft_ir_row(decoder, type->slots);
    const uint32_t columns = type->count;
    const uint32_t rows = columns == 0 ? 0 : type->slots / columns;
    for (uint32_t i = 0; row && scalars && i < columns; i++) {
        for (uint32_t j = 0; j < rows; j++) {
            row[i * rows + j] = scalars[j * columns + i];
        }
    }
    define(decoder, words, row);
}

/* ---- arithmetic ---- */

/* A scalar among the operands goes with each component of the others. */
static void compute_each(struct weft_ir_decoder *decoder, const uint32_t *words, uint32_t op,
                         uint32_t first) {
    const uint32_t opcode = weft_spirv_opcode(words[0]);
    const weft_ir_value *operands[MOST_OPERANDS] = {0};
    uint32_t counts[MOST_OPERANDS] = {0};
    const uint32_t count = weft_spirv_length(words[0]) - first;
    if (weft_spirv_length(words[0]) <= first || count > MOST_OPERANDS) {
        weft_ir_unsupported(decoder, "operands of opcode", opcode);
        return;
    }
    const uint32_t slots = weft_ir_type_of(decoder, words[1])->slots;
    const bool fusible = !weft_ir_id(decoder, words[2])->precise;
    for (uint32_t k = 0; k < count; k++) {
        operands[k] = weft_ir_scalars(decoder, words[first + k]);
        if (!operands[k]) {
            return;
        }
        counts[k] = weft_ir_id(decoder, words[first + k])->count;
        if (counts[k] != 1 && counts[k] != slots) {
            weft_ir_error(decoder->program, WEFT_COMPILE_ERROR, "opcode %u on %u and %u components",
                          opcode, slots, counts[k]);
            return;
        }
    }
    weft_ir_value *row = weft_ir_row(decoder, slots);
    for (uint32_t i = 0; row && i < slots; i++) {
        weft_ir_value arguments[MOST_OPERANDS];
        for (uint32_t k = 0; k < count; k++) {
            arguments[k] = operands[k][counts[k] == 1 ? 0 : i];
        }
        row[i] = weft_ir_compute(decoder, op, weft_ir_slot_type(decoder, words[1], i), arguments,
                                 count, fusible);
    }
    define(decoder, words, row);
}

/* OpIAddCarry, OpUMulExtended and their kin: a structure of two results. */
static void compute_pair(struct weft_ir_decoder *decoder, const uint32_t *words, uint32_t low,
                         uint32_t high) {
    const weft_ir_value *a = weft_ir_scalars(decoder, words[3]);
    const weft_ir_value *b = weft_ir_scalars(decoder, words[4]);
    const uint32_t slots = weft_ir_type_of(decoder, words[1])->slots;
    weft_ir_value *row = weft_ir_row(decoder, slots);
    for (uint32_t i = 0; row && a && b && i < slots / 2; i++) {
        const uint32_t type = decoder->program->values[a[i]].type;
        row[i] = weft_ir_binary(decoder, low, type, a[i], b[i]);
        row[slots / 2 + i] = weft_ir_binary(decoder, high, type, a[i], b[i]);
    }
    define(decoder, words, row);
}

static void any_or_all(struct weft_ir_decoder *decoder, const uint32_t *words) {
    const uint32_t vector = words[3];
    const weft_ir_value *scalars = weft_ir_scalars(decoder, vector);
    weft_ir_value *row = weft_ir_row(decoder, 1);
    if (!row || !scalars) {
        return;
    }
    row[0] = scalars[0];
    for (uint32_t i = 1; i < weft_ir_id(decoder, vector)->count; i++) {
        row[0] = weft_ir_binary(
            decoder, weft_spirv_opcode(words[0]) == SpvOpAny ? SpvOpLogicalOr : SpvOpLogicalAnd,
            WEFT_IR_BOOL, row[0], scalars[i]);
    }
    define(decoder, words, row);
}

/* The products of two vectors, summed from the first on. */
static void dot(struct weft_ir_decoder *decoder, const uint32_t *words) {
    const uint32_t vector = words[3];
    const weft_ir_value *a = weft_ir_scalars(decoder, vector);
    const weft_ir_value *b = weft_ir_scalars(decoder, words[4]);
    weft_ir_value *row = weft_ir_row(decoder, 1);
    for (uint32_t i = 0; row && a && b && i < weft_ir_id(decoder, vector)->count; i++) {
        const weft_ir_value product[] = {a[i], b[i]};
        const uint32_t type = decoder->program->values[a[i]].type;
        const weft_ir_value term = weft_ir_compute(decoder, SpvOpFMul, type, product, 2, true);
        const weft_ir_value sum[] = {row[0], term};
        row[0] = i == 0 ? term : weft_ir_compute(decoder, SpvOpFAdd, type, sum, 2, true);
    }
    define(decoder, words, row);
}

/* The products of the bytes of two words, summed. */
static void packed_dot(struct weft_ir_decoder *decoder, const uint32_t *words) {
    const uint32_t opcode = weft_spirv_opcode(words[0]);
    if (!weft_spirv_is_packed_dot(&decoder->module, words)) {
        weft_ir_unsupported(decoder, "operands of opcode", opcode);
        return;
    }
    weft_ir_value *row = weft_ir_row(decoder, 1);
    const weft_ir_value a = weft_ir_scalar(decoder, words[3], 0);
    const weft_ir_value b = weft_ir_scalar(decoder, words[4], 0);
    if (row) {
        row[0] = weft_ir_binary(decoder, opcode == SpvOpSDot ? WEFT_IR_DOT4 : WEFT_IR_DOT4_MIXED,
                                WEFT_IR_I32, a, b);
    }
    define(decoder, words, row);
}

/* Two halves in a word: bits, then a conversion that is exact. */
static void unpack_half(struct weft_ir_decoder *decoder, const uint32_t *words) {
    const weft_ir_value word = weft_ir_scalar(decoder, weft_spirv_word(words, 5), 0);
    weft_ir_value *row = weft_ir_row(decoder, 2);
    for (uint32_t i = 0; row && i < 2; i++) {
        const weft_ir_value bits = weft_ir_binary(decoder, SpvOpShiftRightLogical, WEFT_IR_I32,
                                                  word, weft_ir_u32(decoder, 16 * i));
        row[i] = weft_ir_compute(decoder, WEFT_IR_GLSL + WEFT_GLSL_UNPACK_HALF, WEFT_IR_F32, &bits,
                                 1, false);
    }
    define(decoder, words, row);
}

static void decode_ext_inst(struct weft_ir_decoder *decoder, const uint32_t *words) {
    const uint32_t number = words[4];
    if (!weft_spirv_is_glsl(&decoder->module, words[3])) {
        weft_ir_unsupported(decoder, "an instruction of another set than GLSL.std.450: number",
                            number);
    } else if (number == WEFT_GLSL_UNPACK_HALF) {
        unpack_half(decoder, words);
    } else {
        compute_each(decoder, words, WEFT_IR_GLSL + number, 5);
    }
}

/* ---- subgroups ---- */

static void decode_subgroup(struct weft_ir_decoder *decoder, const uint32_t *words) {
    enum { EXCLUSIVE_SCAN = 2 };
    const uint32_t opcode = weft_spirv_opcode(words[0]);
    const bool groups =
        opcode >= SpvOpGroupNonUniformIAdd && opcode <= SpvOpGroupNonUniformLogicalXor;
    const uint32_t first = groups ? 5 : 4;
    const uint32_t operation = groups ? words[4] : 0;
    if (operation > EXCLUSIVE_SCAN) {
        weft_ir_unsupported(decoder, "an operation over part of a subgroup, opcode", opcode);
        return;
    }
    const uint32_t slots = weft_ir_type_of(decoder, words[1])->slots;
    weft_ir_value *row = weft_ir_row(decoder, slots);
    if (!row || slots > 4 || weft_spirv_length(words[0]) > first + 2) {
        weft_ir_unsupported(decoder, "operands of opcode", opcode);
        return;
    }
    for (uint32_t i = 0; i < slots; i++) {
        weft_ir_value arguments[2] = {0};
        uint32_t count = 0;
        for (uint32_t k = first; k < weft_spirv_length(words[0]); k++) {
            const uint32_t at = weft_ir_id(decoder, words[k])->count == slots ? i : 0;
            arguments[count++] = weft_ir_scalar(decoder, words[k], at);
        }
        struct weft_ir_instruction *instruction =
            weft_ir_append(decoder->program, decoder->list, WEFT_IR_SUBGROUP,
                           weft_ir_slot_type(decoder, words[1], i), 1, true, arguments, count);
        instruction->variant = (uint16_t)opcode;
        instruction->place = operation;
        row[i] = instruction->result;
    }
    define(decoder, words, row);
}

/* ---- all of them ---- */

static bool decode_composite(struct weft_ir_decoder *decoder, const uint32_t *words) {
    switch (weft_spirv_opcode(words[0])) {
    case SpvOpCompositeConstruct:
        weft_ir_construct(decoder, words);
        return true;
    case SpvOpCompositeExtract:
        extract(decoder, words);
        return true;
    case SpvOpCompositeInsert:
        insert(decoder, words);
        return true;
    case SpvOpVectorShuffle:
        shuffle(decoder, words);
        return true;
    case SpvOpVectorExtractDynamic:
        extract_dynamic(decoder, words);
        return true;
    case SpvOpVectorInsertDynamic:
        insert_dynamic(decoder, words);
        return true;
    case SpvOpTranspose:
        transpose(decoder, words);
        return true;
    case SpvOpAny:
    case SpvOpAll:
        any_or_all(decoder, words);
        return true;
    case SpvOpDot:
        dot(decoder, words);
        return true;
    case SpvOpSDot:
    case SpvOpSUDot:
        packed_dot(decoder, words);
        return true;
    default:
        return false;
    }
}

/* OpCopyObject of a pointer is another name for it. */
static void copy(struct weft_ir_decoder *decoder, const uint32_t *words) {
    const uint32_t from = words[3];
    if (weft_ir_id(decoder, from)->kind == WEFT_IR_ID_POINTER) {
        const struct weft_ir_pointer pointer = weft_ir_pointer(decoder, from);
        weft_ir_define_pointer(decoder, words[2], &pointer);
        return;
    }
    const weft_ir_value *scalars = weft_ir_scalars(decoder, from);
    const uint32_t slots = weft_ir_type_of(decoder, words[1])->slots;
    weft_ir_value *row = weft_ir_row(decoder, slots);
    for (uint32_t i = 0; row && scalars && i < slots; i++) {
        row[i] = scalars[i];
    }
    define(decoder, words, row);
}

static bool is_bitcast_of_other_width(struct weft_ir_decoder *decoder, const uint32_t *words) {
    const weft_ir_value *scalars = weft_ir_scalars(decoder, words[3]);
    return scalars && weft_ir_bits(decoder->program->values[scalars[0]].type) !=
                          weft_ir_bits(weft_ir_slot_type(decoder, words[1], 0));
}

void weft_ir_decode_instruction(struct weft_ir_decoder *decoder, const uint32_t *words) {
    const uint32_t op = weft_spirv_opcode(words[0]);
    if (decode_composite(decoder, words)) {
        return;
    }
    if (op == SpvOpExtInst) {
        decode_ext_inst(decoder, words);
    } else if (op == SpvOpCopyObject || op == SpvOpCopyLogical) {
        copy(decoder, words);
    } else if (op == SpvOpIAddCarry) {
        compute_pair(decoder, words, SpvOpIAdd, WEFT_IR_CARRY);
    } else if (op == SpvOpISubBorrow) {
        compute_pair(decoder, words, SpvOpISub, WEFT_IR_BORROW);
    } else if (op == SpvOpUMulExtended) {
        compute_pair(decoder, words, SpvOpIMul, WEFT_IR_HIGH_UNSIGNED);
    } else if (op == SpvOpSMulExtended) {
        compute_pair(decoder, words, SpvOpIMul, WEFT_IR_HIGH_SIGNED);
    } else if (op == SpvOpVectorTimesScalar || op == SpvOpMatrixTimesScalar) {
        compute_each(decoder, words, SpvOpFMul, 3);
    } else if (op >= SpvOpGroupNonUniformElect && op <= SpvOpGroupNonUniformLogicalXor) {
        decode_subgroup(decoder, words);
    } else if (op == SpvOpBitcast && is_bitcast_of_other_width(decoder, words)) {
        weft_ir_unsupported(decoder, "a bit cast between widths, opcode", op);
    } else if (op >= SpvOpConvertFToU && op <= SpvOpBitCount) {
        compute_each(decoder, words, op, 3);
    } else {
        weft_ir_unsupported(decoder, "the instruction of opcode", op);
    }
}
