/* SPDX-License-Identifier: MIT */
/*
 * One NaN, in kernels that are not Weft's own. Which bits an invalid operation gives is the processor's choice: inf * 0 is 0xffc00000 on x86
 * and 0x7fc00000 elsewhere, and with NaN operands some keep the bits of one. Weft's kernels store weft_flush(x) of math.glsl; a program's own
 * need not know of it (docs/reproducibility.md, rule 7).
 *
 * The bits of a float32 show in two places, and there every NaN becomes 0x7fc00000: where it is stored to a buffer, alone or as a part of a
 * vector, matrix, array or structure, and where it is reinterpreted (floatBitsToUint). Shared memory and variables of the shader show
 * nothing: what is read there is stored or reinterpreted later. The test is one of the bits, since compilers may take it that x = x.
 */
#include "core/try.h"
#include "spirv/passes/fma.h"
#include "spirv/passes/passes.h"

#define MOST_NUMBERS 256u /* of one value that is stored */
#define MOST_DEPTH   8u   /* of structures and arrays in each other */
#define MAGNITUDE    0x7FFFFFFFu
#define INFINITE     0x7F800000u
#define THE_NAN      0x7FC00000u

struct one_nan {
    struct weft_spirv_edit *edit;
    const struct weft_spirv_module *module;
    struct weft_fma_writer writer;
    bool *has_float;  /* per type */
    uint32_t numbers; /* of the value at hand */
};

/* ---- a value ---- */

static uint32_t put_number(struct one_nan *one, uint32_t x) {
    struct weft_fma_writer *writer = &one->writer;
    const uint32_t bits = WEFT_FMA_PUT(writer, WEFT_FMA_UINT, SpvOpBitcast, x);
    const uint32_t magnitude = WEFT_FMA_PUT(writer, WEFT_FMA_UINT, SpvOpBitwiseAnd, bits,
                                            weft_fma_constant_of(writer, WEFT_FMA_UINT, MAGNITUDE));
    const uint32_t is_nan = WEFT_FMA_PUT(writer, WEFT_FMA_BOOL, SpvOpUGreaterThan, magnitude,
                                         weft_fma_constant_of(writer, WEFT_FMA_UINT, INFINITE));
    return WEFT_FMA_PUT(writer, WEFT_FMA_FLOAT, SpvOpSelect, is_nan,
                        weft_fma_constant_of(writer, WEFT_FMA_FLOAT, THE_NAN), x);
}

/* How many parts a value of a type has; 0 where that cannot be told. */
static uint32_t parts_of(const struct weft_spirv_module *module, const uint32_t *type) {
    switch (weft_spirv_opcode(type[0])) {
    case SpvOpTypeVector:
    case SpvOpTypeMatrix:
        return type[3];
    case SpvOpTypeArray: {
        const uint32_t *length = weft_spirv_made_by(module, type[3], SpvOpConstant);
        return length ? length[3] : 0;
    }
    case SpvOpTypeStruct:
        return weft_spirv_length(type[0]) - 2;
    default:
        return 0;
    }
}

static uint32_t type_of_part(const uint32_t *type, uint32_t part) {
    return weft_spirv_opcode(type[0]) == SpvOpTypeStruct ? type[2 + part] : type[2];
}

/* The value with one NaN, where there is a float in it. An id of 0 says that it has too many parts. */
static uint32_t put_value(struct one_nan *one, uint32_t value, uint32_t type_id, uint32_t depth) {
    const uint32_t *type = one->module->words + one->module->ids[type_id].at;
    if (!one->has_float[type_id]) {
        return value;
    }
    if (weft_spirv_opcode(type[0]) == SpvOpTypeFloat) {
        return one->numbers++ < MOST_NUMBERS ? put_number(one, value) : 0;
    }
    const uint32_t parts = depth < MOST_DEPTH ? parts_of(one->module, type) : 0;
    uint32_t made = parts > 0 && parts <= MOST_NUMBERS ? value : 0;
    for (uint32_t i = 0; i < parts && made != 0; i++) {
        const uint32_t part_type = type_of_part(type, i);
        if (!one->has_float[part_type]) {
            continue;
        }
        const uint32_t part = weft_spirv_new_ids(one->edit, 1);
        WEFT_SPIRV_PUT(one->edit, SpvOpCompositeExtract, part_type, part, value, i);
        const uint32_t kept = put_value(one, part, part_type, depth + 1);
        const uint32_t before = made;
        made = kept != 0 ? weft_spirv_new_ids(one->edit, 1) : 0;
        if (made != 0) {
            WEFT_SPIRV_PUT(one->edit, SpvOpCompositeInsert, type_id, made, kept, before, i);
        }
    }
    return made;
}

static weft_status put(uint32_t *made, struct one_nan *one, const uint32_t *instruction,
                       uint32_t value, uint32_t type) {
    one->numbers = 0;
    *made = put_value(one, value, type, 0);
    if (*made == 0 && one->edit->status == WEFT_OK) {
        return weft_fail(one->module->host, WEFT_UNSUPPORTED,
                         "SPIR-V module, word %zu: a value of more than %u floats, of arrays "
                         "without a constant length or more than %u levels deep is stored; store "
                         "its members",
                         (size_t)(instruction - one->module->words), MOST_NUMBERS, MOST_DEPTH);
    }
    return WEFT_OK;
}

/* ---- where it shows ---- */

/* Type that a pointer points to, or 0 if only this shader sees it. */
static uint32_t seen_type(const struct weft_spirv_module *module, uint32_t id) {
    const uint32_t *pointer =
        weft_spirv_made_by(module, weft_spirv_type_of(module, id), SpvOpTypePointer);
    const bool is_seen = pointer && pointer[2] != SpvStorageClassFunction &&
                         pointer[2] != SpvStorageClassPrivate &&
                         pointer[2] != SpvStorageClassWorkgroup;
    return is_seen ? pointer[3] : 0;
}

/* A value that is an operand of an instruction, at `word`. */
static weft_status replace_operand(struct one_nan *one, const uint32_t *instruction,
                                   uint32_t word) {
    const uint32_t value = instruction[word];
    const uint32_t type = weft_spirv_type_of(one->module, value);
    if (type == 0 || type >= one->module->bound || !one->has_float[type]) {
        return WEFT_OK;
    }
    uint32_t made = 0;
    weft_spirv_insert_before(one->edit, instruction);
    WEFT_TRY(put(&made, one, instruction, value, type));
    weft_spirv_set_word(one->edit, instruction, word, made);
    return WEFT_OK;
}

/* Bits that become no float again. */
static weft_status visit_bitcast(struct one_nan *one, const uint32_t *bitcast) {
    const bool stays_float = weft_spirv_shape_of(one->module, bitcast[1]).kind == WEFT_SPIRV_FLOAT;
    return stays_float ? WEFT_OK : replace_operand(one, bitcast, 3);
}

/* A copy from memory to a buffer becomes a load and a store. */
static weft_status visit_copy(struct one_nan *one, const uint32_t *copy) {
    const uint32_t type = seen_type(one->module, copy[1]);
    if (type == 0 || type >= one->module->bound || !one->has_float[type]) {
        return WEFT_OK;
    }
    uint32_t made = 0;
    const uint32_t loaded = weft_spirv_new_ids(one->edit, 1);
    weft_spirv_replace(one->edit, copy);
    WEFT_SPIRV_PUT(one->edit, SpvOpLoad, type, loaded, copy[2]);
    WEFT_TRY(put(&made, one, copy, loaded, type));
    WEFT_SPIRV_PUT(one->edit, SpvOpStore, copy[1], made);
    return WEFT_OK;
}

static weft_status visit(struct one_nan *one, const uint32_t *instruction) {
    switch (weft_spirv_opcode(instruction[0])) {
    case SpvOpStore:
        return seen_type(one->module, instruction[1]) != 0 ? replace_operand(one, instruction, 2)
                                                           : WEFT_OK;
    case SpvOpBitcast:
        return visit_bitcast(one, instruction);
    case SpvOpCopyMemory:
        return visit_copy(one, instruction);
    default:
        return WEFT_OK;
    }
}

weft_status weft_spirv_one_nan(struct weft_spirv_edit *edit) {
    const struct weft_spirv_module *module = &edit->module;
    struct one_nan one = {
        .edit = edit, .module = module, .writer = {.edit = edit, .module = module}};
    one.has_float = weft_alloc_zero(module->host, module->bound, sizeof *one.has_float);
    if (!one.has_float) {
        return weft_fail_memory(module->host, "SPIR-V ids");
    }
    weft_spirv_find_floats(one.has_float, module);
    weft_status status = WEFT_OK;
    WEFT_SPIRV_EACH(instruction, module, WEFT_SPIRV_FUNCTIONS) {
        status = status == WEFT_OK ? visit(&one, instruction) : status;
    }
    weft_free(module->host, one.has_float);
    return status;
}
