/* SPDX-License-Identifier: MIT */
/* Lies of a compiler: a kernel's module is another one. */
#include <string.h>

#include "core/hash.h"
#include "core/try.h"
#include "lying/lying.h"
#include "spirv/edit.h"

#define WRAPS_AT 16u /* elements of shared memory that are there, of "shared" */

/* ---- what a module is ---- */

static bool is_shared(const struct weft_spirv_module *module, uint32_t id) {
    const uint32_t *variable = weft_spirv_made_by(module, id, SpvOpVariable);
    return variable && variable[3] == SpvStorageClassWorkgroup;
}

static bool has_opcode(const struct weft_spirv_module *module, SpvOp opcode) {
    WEFT_SPIRV_EACH(instruction, module, WEFT_SPIRV_FUNCTIONS) {
        if (weft_spirv_opcode(instruction[0]) == (uint32_t)opcode) {
            return true;
        }
    }
    return false;
}

bool weft_lie_is_product(const uint32_t *words, size_t size) {
    const weft_host host = {0};
    struct weft_spirv_module module;
    bool shares = false;
    if (weft_spirv_read(&module, words, size, &host) == WEFT_OK) {
        WEFT_SPIRV_EACH(instruction, &module, WEFT_SPIRV_DECLARATIONS) {
            shares |= weft_spirv_opcode(instruction[0]) == SpvOpVariable &&
                      instruction[3] == SpvStorageClassWorkgroup;
        }
        shares = shares && has_opcode(&module, SpvOpFMul);
    }
    weft_spirv_module_free(&module);
    return shares;
}

/* ---- lies; each returns how many instructions it changed ---- */

static uint32_t glsl_of(struct weft_spirv_edit *edit) {
    WEFT_SPIRV_EACH(instruction, &edit->module, WEFT_SPIRV_IMPORTS) {
        if (weft_spirv_is_glsl(&edit->module, instruction[1])) {
            return instruction[1];
        }
    }
    const uint32_t id = weft_spirv_new_ids(edit, 1);
    weft_spirv_insert_into(edit, WEFT_SPIRV_IMPORTS);
    WEFT_SPIRV_PUT(edit, SpvOpExtInstImport, id);
    weft_spirv_put_text(edit, "GLSL.std.450");
    return id;
}

/* a * b + c, rounded once. */
static uint32_t contract(struct weft_spirv_edit *edit) {
    const struct weft_spirv_module *module = &edit->module;
    const uint32_t glsl = glsl_of(edit);
    uint32_t changed = 0;
    WEFT_SPIRV_EACH(sum, module, WEFT_SPIRV_FUNCTIONS) {
        if (weft_spirv_opcode(sum[0]) != SpvOpFAdd) {
            continue;
        }
        const uint32_t *left = weft_spirv_made_by(module, sum[3], SpvOpFMul);
        const uint32_t *right = weft_spirv_made_by(module, sum[4], SpvOpFMul);
        const uint32_t *product = left ? left : right;
        if (product) {
            weft_spirv_replace(edit, sum);
            WEFT_SPIRV_PUT(edit, SpvOpExtInst, sum[1], sum[2], glsl, 50 /* Fma */, product[3],
                           product[4], left ? sum[4] : sum[3]);
            changed++;
        }
    }
    return changed;
}

/* (a + b) + c as a + (b + c). */
static uint32_t reorder(struct weft_spirv_edit *edit) {
    const struct weft_spirv_module *module = &edit->module;
    uint32_t changed = 0;
    WEFT_SPIRV_EACH(sum, module, WEFT_SPIRV_FUNCTIONS) {
        const uint32_t *inner = weft_spirv_opcode(sum[0]) == SpvOpFAdd
                                    ? weft_spirv_made_by(module, sum[3], SpvOpFAdd)
                                    : NULL;
        if (inner) {
            const uint32_t last = weft_spirv_new_ids(edit, 1);
            weft_spirv_replace(edit, sum);
            WEFT_SPIRV_PUT(edit, SpvOpFAdd, sum[1], last, inner[4], sum[4]);
            WEFT_SPIRV_PUT(edit, SpvOpFAdd, sum[1], sum[2], inner[3], last);
            changed++;
        }
    }
    return changed;
}

/* The last one of a kernel: between what a round leaves in shared memory and who reads it. */
static uint32_t lose_barrier(struct weft_spirv_edit *edit) {
    const uint32_t *last = NULL;
    WEFT_SPIRV_EACH(instruction, &edit->module, WEFT_SPIRV_FUNCTIONS) {
        last = weft_spirv_opcode(instruction[0]) == SpvOpControlBarrier ? instruction : last;
    }
    if (last) {
        weft_spirv_replace(edit, last);
    }
    return last != NULL;
}

static uint32_t constant_of(struct weft_spirv_edit *edit, uint32_t type, uint32_t value) {
    const uint32_t id = weft_spirv_new_ids(edit, 1);
    weft_spirv_insert_into(edit, WEFT_SPIRV_DECLARATIONS);
    WEFT_SPIRV_PUT(edit, SpvOpConstant, type, id, value);
    return id;
}

/* Element i of an array in shared memory is element i % WRAPS_AT. */
static uint32_t wrap_shared(struct weft_spirv_edit *edit) {
    const struct weft_spirv_module *module = &edit->module;
    uint32_t constants[2] = {0, 0}; /* of the types uint and int */
    uint32_t changed = 0;
    WEFT_SPIRV_EACH(chain, module, WEFT_SPIRV_FUNCTIONS) {
        if (weft_spirv_opcode(chain[0]) != SpvOpAccessChain || !is_shared(module, chain[3]) ||
            weft_spirv_length(chain[0]) < 5) {
            continue;
        }
        const uint32_t type = weft_spirv_type_of(module, chain[4]);
        const enum weft_spirv_kind kind = weft_spirv_shape_of(module, type).kind;
        uint32_t *constant = &constants[kind == WEFT_SPIRV_INT];
        *constant = *constant ? *constant : constant_of(edit, type, WRAPS_AT);
        const uint32_t wrapped = weft_spirv_new_ids(edit, 1);
        weft_spirv_insert_before(edit, chain);
        WEFT_SPIRV_PUT(edit, SpvOpUMod, type, wrapped, chain[4], *constant);
        weft_spirv_set_word(edit, chain, 4, wrapped);
        changed++;
    }
    return changed;
}

static uint32_t mistake_sign(struct weft_spirv_edit *edit) {
    uint32_t changed = 0;
    WEFT_SPIRV_EACH(dot, &edit->module, WEFT_SPIRV_FUNCTIONS) {
        if (weft_spirv_opcode(dot[0]) == SpvOpSDot) {
            weft_spirv_set_word(edit, dot, 0, weft_spirv_length(dot[0]) << 16 | SpvOpSUDot);
            changed++;
        }
    }
    return changed;
}

/* ---- choosing ---- */

/* Whether a module is the first that a lie of one kernel found, whatever its constants are. */
static bool is_the_one(const uint32_t *words, size_t size) {
    static weft_digest chosen;
    static bool has_chosen;
    const weft_digest digest = weft_digest_of(words, size);
    if (!has_chosen) {
        chosen = digest;
        has_chosen = true;
    }
    return memcmp(&chosen, &digest, sizeof digest) == 0;
}

static uint32_t lie(struct weft_spirv_edit *edit, enum weft_lie kind) {
    switch (kind) {
    case WEFT_LIE_CONTRACTION:
        return contract(edit);
    case WEFT_LIE_BARRIER:
        return lose_barrier(edit);
    case WEFT_LIE_SHARED:
        return wrap_shared(edit);
    case WEFT_LIE_ORDER:
        return reorder(edit);
    case WEFT_LIE_DOT:
        return mistake_sign(edit);
    default:
        return 0;
    }
}

weft_status weft_lie_about(uint32_t **words, size_t *size, enum weft_lie kind,
                           const weft_host *host) {
    const bool of_one_kernel = kind == WEFT_LIE_CONTRACTION;
    struct weft_spirv_edit edit;
    if (of_one_kernel && !weft_lie_is_product(*words, *size)) {
        return WEFT_OK;
    }
    weft_status status = weft_spirv_edit_begin(&edit, *words, *size, host);
    const uint32_t changed = status == WEFT_OK ? lie(&edit, kind) : 0;
    if (status == WEFT_OK && changed > 0 && (!of_one_kernel || is_the_one(*words, *size))) {
        status = weft_spirv_apply(&edit);
        if (status == WEFT_OK) {
            *words = edit.words;
            *size = edit.module.count * sizeof(uint32_t);
            edit.words = NULL;
        }
    }
    weft_spirv_edit_free(&edit);
    return status;
}
