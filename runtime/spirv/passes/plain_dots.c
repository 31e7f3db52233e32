/* SPDX-License-Identifier: MIT */
/*
 * Sums of products of four bytes on devices without SPV_KHR_integer_dot_product: each OpSDot or OpSUDot of two words becomes shifts that
 * widen the bytes, products and sums. Integers are exact, so the bits are those of the instruction. The extension and its capabilities go.
 */
#include "spirv/passes/passes.h"

#define EXTENSION "SPV_KHR_integer_dot_product"
#define BYTES     4u

struct plain {
    struct weft_spirv_edit *edit;
    uint32_t distances; /* BYTES - 1 constants: 8, 16, 24 */
};

/* A byte of a word, widened: moved to the top, and back, with its sign by SpvOpShiftRightArithmetic. */
static uint32_t put_byte(struct plain *plain, uint32_t shift, uint32_t type, uint32_t word,
                         uint32_t byte) {
    struct weft_spirv_edit *edit = plain->edit;
    uint32_t top = word;
    if (byte < BYTES - 1) {
        top = weft_spirv_new_ids(edit, 1);
        WEFT_SPIRV_PUT(edit, SpvOpShiftLeftLogical, type, top, word,
                       plain->distances + BYTES - 2 - byte);
    }
    const uint32_t widened = weft_spirv_new_ids(edit, 1);
    WEFT_SPIRV_PUT(edit, shift, type, widened, top, plain->distances + BYTES - 2);
    return widened;
}

/* The last sum keeps the instruction's id, so its users stay as they are. */
static void write_out(struct plain *plain, const uint32_t *dot) {
    struct weft_spirv_edit *edit = plain->edit;
    const uint32_t type = weft_spirv_type_of(&edit->module, dot[3]);
    const uint32_t shift_b =
        weft_spirv_opcode(dot[0]) == SpvOpSDot ? SpvOpShiftRightArithmetic : SpvOpShiftRightLogical;
    uint32_t sum = 0;
    weft_spirv_replace(edit, dot);
    for (uint32_t i = 0; i < BYTES; i++) {
        const uint32_t a = put_byte(plain, SpvOpShiftRightArithmetic, type, dot[3], i);
        const uint32_t b = put_byte(plain, shift_b, type, dot[4], i);
        const uint32_t product = weft_spirv_new_ids(edit, 1);
        WEFT_SPIRV_PUT(edit, SpvOpIMul, dot[1], product, a, b);
        const uint32_t next = i == BYTES - 1 ? dot[2] : weft_spirv_new_ids(edit, 1);
        if (i > 0) {
            WEFT_SPIRV_PUT(edit, SpvOpIAdd, dot[1], next, sum, product);
        }
        sum = i > 0 ? next : product;
    }
}

static void drop_extension(struct weft_spirv_edit *edit) {
    const struct weft_spirv_module *module = &edit->module;
    WEFT_SPIRV_EACH(instruction, module, WEFT_SPIRV_CAPABILITIES) {
        if (instruction[1] == SpvCapabilityDotProduct ||
            instruction[1] == SpvCapabilityDotProductInput4x8BitPacked) {
            weft_spirv_replace(edit, instruction);
        }
    }
    WEFT_SPIRV_EACH(instruction, module, WEFT_SPIRV_EXTENSIONS) {
        if (weft_spirv_string_is(instruction + 1, weft_spirv_length(instruction[0]) - 1,
                                 EXTENSION)) {
            weft_spirv_replace(edit, instruction);
        }
    }
}

static bool is_dot(const uint32_t *instruction) {
    const uint32_t opcode = weft_spirv_opcode(instruction[0]);
    return opcode == SpvOpSDot || opcode == SpvOpSUDot;
}

/* The first one, or null. */
static const uint32_t *find_dot(const struct weft_spirv_module *module) {
    WEFT_SPIRV_EACH(instruction, module, WEFT_SPIRV_FUNCTIONS) {
        if (is_dot(instruction)) {
            return instruction;
        }
    }
    return NULL;
}

static weft_status write_all_out(struct plain *plain) {
    const struct weft_spirv_module *module = &plain->edit->module;
    WEFT_SPIRV_EACH(instruction, module, WEFT_SPIRV_FUNCTIONS) {
        if (!is_dot(instruction)) {
            continue;
        }
        if (!weft_spirv_is_packed_dot(module, instruction)) {
            return weft_fail(
                module->host, WEFT_UNSUPPORTED,
                "SPIR-V module, word %zu: a dot product of other integers than two words "
                "of four bytes",
                (size_t)(instruction - module->words));
        }
        write_out(plain, instruction);
    }
    return WEFT_OK;
}

weft_status weft_spirv_plain_dots(struct weft_spirv_edit *edit) {
    struct plain plain = {.edit = edit};
    const uint32_t *dot = find_dot(&edit->module);
    drop_extension(edit);
    if (!dot) {
        return WEFT_OK;
    }
    plain.distances = weft_spirv_new_ids(edit, BYTES - 1);
    weft_spirv_insert_into(edit, WEFT_SPIRV_DECLARATIONS);
    for (uint32_t i = 0; i < BYTES - 1; i++) {
        WEFT_SPIRV_PUT(edit, SpvOpConstant, weft_spirv_type_of(&edit->module, dot[3]),
                       plain.distances + i, 8 * (i + 1));
    }
    return write_all_out(&plain);
}
