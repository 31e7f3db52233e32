/* SPDX-License-Identifier: MIT */
#include "spirv/cooperative.h"

#include <string.h>

#include "core/try.h"
#include "spirv/check.h"
#include "spirv/edit.h"

/* SPV_KHR_cooperative_matrix, Cooperative Matrix Use, and none of them. */
enum use { FIRST_FACTOR = 0, SECOND_FACTOR = 1, ACCUMULATOR = 2, USES = 3, NO_USE = USES };

/* Cooperative Matrix Layout has 0 for rows and 1 for columns, as NV's Boolean. */
enum { CONSTANTS = USES };

struct translation {
    struct weft_spirv_edit *edit;
    const struct weft_spirv_module *module;
    uint8_t *use_of;   /* of each type */
    uint32_t constant; /* id of the number 0; 1 and 2 follow */
};

static weft_status note_use(struct translation *t, uint32_t type, enum use use) {
    if (t->use_of[type] != NO_USE && t->use_of[type] != use) {
        return weft_fail(t->module->host, WEFT_COMPILE_ERROR,
                         "cooperative matrices of one type are used as different operands: give "
                         "their shapes as constants of their own");
    }
    t->use_of[type] = (uint8_t)use;
    return WEFT_OK;
}

static weft_status note_uses(struct translation *t) {
    WEFT_SPIRV_EACH(instruction, t->module, WEFT_SPIRV_FUNCTIONS) {
        if (weft_spirv_opcode(instruction[0]) != SpvOpCooperativeMatrixMulAddNV) {
            continue;
        }
        for (uint32_t use = FIRST_FACTOR; use <= ACCUMULATOR; use++) {
            WEFT_TRY(
                note_use(t, weft_spirv_type_of(t->module, instruction[3 + use]), (enum use)use));
        }
        WEFT_TRY(note_use(t, instruction[1], ACCUMULATOR));
    }
    return WEFT_OK;
}

/*
 * Where the memory operands of an access are, 0 for none. glslang makes each access to shared memory available or visible to the
 * workgroup, and drivers then wait for each. Our kernels leave that to their barriers, which say so.
 */
static uint32_t memory_operands_at(uint32_t opcode) {
    switch (opcode) {
    case SpvOpLoad:
        return 4;
    case SpvOpStore:
        return 3;
    case SpvOpCooperativeMatrixLoadNV:
        return 6;
    case SpvOpCooperativeMatrixStoreNV:
        return 5;
    default:
        return 0;
    }
}

/* An access by another instruction, and without that: its mask loses a bit, and the scope behind goes. */
static void change_access(struct translation *t, const uint32_t *access, uint32_t opcode) {
    const uint32_t length = weft_spirv_length(access[0]);
    const uint32_t at = memory_operands_at(weft_spirv_opcode(access[0]));
    const uint32_t mask = at != 0 && length == at + 2 ? access[at] : 0;
    const uint32_t non_private = SpvMemoryAccessNonPrivatePointerMask;
    if (mask == (non_private | SpvMemoryAccessMakePointerAvailableMask) ||
        mask == (non_private | SpvMemoryAccessMakePointerVisibleMask)) {
        weft_spirv_replace(t->edit, access);
        weft_spirv_put_op(t->edit, opcode, at - 1, access + 1);
        weft_spirv_put_operand(t->edit, non_private);
    } else {
        weft_spirv_set_word(t->edit, access, 0, weft_spirv_first_word((SpvOp)opcode, length));
    }
}

static weft_status translate_type(struct translation *t, const uint32_t *type) {
    const uint32_t use = t->use_of[type[1]];
    if (use == NO_USE) {
        return weft_fail(t->module->host, WEFT_COMPILE_ERROR,
                         "cooperative matrices of a type are in no product");
    }
    weft_spirv_replace(t->edit, type);
    WEFT_SPIRV_PUT(t->edit, WEFT_SPIRV_COOPERATIVE_TYPE, type[1], type[2], type[3], type[4],
                   type[5], t->constant + use);
    return WEFT_OK;
}

/* NV has the stride, then the layout. */
static weft_status translate_access(struct translation *t, const uint32_t *access, uint32_t opcode,
                                    uint32_t stride_at) {
    const uint32_t stride = access[stride_at];
    const uint32_t layout = access[stride_at + 1];
    const bool by_columns = weft_spirv_made_by(t->module, layout, SpvOpConstantTrue) != NULL;
    if (!by_columns && !weft_spirv_made_by(t->module, layout, SpvOpConstantFalse)) {
        return weft_fail(t->module->host, WEFT_COMPILE_ERROR,
                         "the layout of a cooperative matrix in memory is no constant");
    }
    weft_spirv_set_word(t->edit, access, stride_at, t->constant + by_columns);
    weft_spirv_set_word(t->edit, access, stride_at + 1, stride);
    change_access(t, access, opcode);
    return WEFT_OK;
}

/* Cooperative Matrix Operands: a bit for each factor, what is added and the result, which says that its integers have a sign. */
static uint32_t signed_operands(const struct translation *t, const uint32_t *product) {
    const uint32_t types[] = {weft_spirv_type_of(t->module, product[3]),
                              weft_spirv_type_of(t->module, product[4]),
                              weft_spirv_type_of(t->module, product[5]), product[1]};
    uint32_t operands = 0;
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t *matrix =
            weft_spirv_made_by(t->module, types[i], SpvOpTypeCooperativeMatrixNV);
        const uint32_t *component =
            matrix ? weft_spirv_made_by(t->module, matrix[2], SpvOpTypeInt) : NULL;
        operands |= (uint32_t)(component && component[3] != 0) << i;
    }
    return operands;
}

/* In NV's, types alone say whether integers have a sign. */
static void translate_product(struct translation *t, const uint32_t *product) {
    const uint32_t operands = signed_operands(t, product);
    weft_spirv_replace(t->edit, product);
    weft_spirv_put_op(t->edit, WEFT_SPIRV_COOPERATIVE_MUL_ADD, 5, product + 1);
    if (operands != 0) {
        weft_spirv_put_operand(t->edit, operands);
    }
}

static weft_status translate_instruction(struct translation *t, const uint32_t *instruction) {
    const uint32_t opcode = weft_spirv_opcode(instruction[0]);
    switch (opcode) {
    case SpvOpTypeCooperativeMatrixNV:
        return translate_type(t, instruction);
    case SpvOpCooperativeMatrixLoadNV:
        return translate_access(t, instruction, WEFT_SPIRV_COOPERATIVE_LOAD, 4);
    case SpvOpCooperativeMatrixStoreNV:
        return translate_access(t, instruction, WEFT_SPIRV_COOPERATIVE_STORE, 3);
    case SpvOpCooperativeMatrixMulAddNV:
        translate_product(t, instruction);
        break;
    case SpvOpCooperativeMatrixLengthNV:
        change_access(t, instruction, WEFT_SPIRV_COOPERATIVE_LENGTH);
        break;
    case SpvOpCapability:
        if (instruction[1] == SpvCapabilityCooperativeMatrixNV) {
            weft_spirv_set_word(t->edit, instruction, 1, WEFT_SPIRV_COOPERATIVE_CAPABILITY);
        }
        break;
    case SpvOpExtension:
        if (weft_spirv_string_is(instruction + 1, weft_spirv_length(instruction[0]) - 1,
                                 "SPV_NV_cooperative_matrix")) {
            weft_spirv_replace(t->edit, instruction);
            weft_spirv_put_op(t->edit, SpvOpExtension, 0, NULL);
            weft_spirv_put_text(t->edit, "SPV_KHR_cooperative_matrix");
        }
        break;
    default:
        if (opcode == SpvOpLoad || opcode == SpvOpStore) {
            change_access(t, instruction, opcode);
        }
        break;
    }
    return WEFT_OK;
}

/* Behind the type of unsigned integers, of which no cooperative matrix is before. */
static void put_constants(struct translation *t) {
    WEFT_SPIRV_EACH(type, t->module, WEFT_SPIRV_DECLARATIONS) {
        if (weft_spirv_opcode(type[0]) == SpvOpTypeInt && type[2] == 32 && type[3] == 0) {
            t->constant = weft_spirv_new_ids(t->edit, CONSTANTS);
            weft_spirv_insert_before(t->edit, type + weft_spirv_length(type[0]));
            for (uint32_t i = 0; i < CONSTANTS; i++) {
                WEFT_SPIRV_PUT(t->edit, SpvOpConstant, type[1], t->constant + i, i);
            }
        }
    }
}

static weft_status translate(struct translation *t) {
    memset(t->use_of, NO_USE, t->module->bound);
    put_constants(t);
    WEFT_TRY(note_uses(t));
    WEFT_SPIRV_ALL(instruction, t->module) {
        WEFT_TRY(translate_instruction(t, instruction));
    }
    return weft_spirv_apply(t->edit);
}

static weft_status translate_module(struct weft_spirv_edit *edit, const weft_host *host) {
    struct translation t = {.edit = edit, .module = &edit->module};
    t.use_of = weft_alloc(host, edit->module.bound);
    const weft_status status = t.use_of ? translate(&t) : weft_fail_memory(host, "SPIR-V ids");
    weft_free(host, t.use_of);
    return status;
}

weft_status weft_cooperative_translate(uint32_t **words, size_t *size, const weft_host *host) {
    struct weft_spirv_edit edit = {0};
    WEFT_TRY(weft_spirv_check(*words, *size, host));
    if (!weft_spirv_declares(*words, *size / 4, SpvCapabilityCooperativeMatrixNV)) {
        return WEFT_OK;
    }
    weft_status status = weft_spirv_edit_begin(&edit, *words, *size, host);
    status = status == WEFT_OK ? translate_module(&edit, host) : status;
    if (status == WEFT_OK) {
        weft_free(host, *words);
        *words = edit.words;
        *size = 4 * edit.module.count;
        edit.words = NULL;
    }
    weft_spirv_edit_free(&edit);
    return status;
}
