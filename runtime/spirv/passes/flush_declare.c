/* SPDX-License-Identifier: MIT */
/* Types and constants that the flush uses. Types come from the module where it has them. */
#include "spirv/passes/flush.h"

#define SCALE 0x40000000u /* 2 */

static const struct {
    enum weft_spirv_kind kind;
    uint32_t bits;
} constants[WEFT_FLUSH_CONSTANTS] = {
    [WEFT_FLUSH_LEAST_NORMAL] = {WEFT_SPIRV_FLOAT, 0x00800000u},
    [WEFT_FLUSH_LEAST_SCALED] = {WEFT_SPIRV_FLOAT, 0x01000000u},
    [WEFT_FLUSH_SIGN] = {WEFT_SPIRV_UINT, 0x80000000u},
    [WEFT_FLUSH_LEAST_BITS] = {WEFT_SPIRV_UINT, 0x00800000u},
};

/* The types of a width that are missing, and its constants. */
static void choose_ids(struct weft_spirv_flush *flush, struct weft_spirv_width *width) {
    for (enum weft_spirv_kind kind = WEFT_SPIRV_UINT; kind >= WEFT_SPIRV_BOOL; kind--) {
        width->types[kind] =
            width->types[kind] == 0 ? weft_spirv_new_ids(flush->edit, 1) : width->types[kind];
    }
    width->constants = weft_spirv_new_ids(flush->edit, WEFT_FLUSH_CONSTANTS);
}

static void put_type(const struct weft_spirv_flush *flush, enum weft_spirv_kind kind,
                     uint32_t count) {
    const uint32_t type = flush->widths[count].types[kind];
    if (type < flush->module->bound) {
        return; /* it was there */
    }
    if (count > 1) {
        WEFT_SPIRV_PUT(flush->edit, SpvOpTypeVector, type, flush->widths[1].types[kind], count);
    } else if (kind == WEFT_SPIRV_UINT) {
        WEFT_SPIRV_PUT(flush->edit, SpvOpTypeInt, type, 32, 0);
    } else {
        WEFT_SPIRV_PUT(flush->edit, SpvOpTypeBool, type);
    }
}

static void put_constants(const struct weft_spirv_flush *flush, uint32_t count) {
    const struct weft_spirv_width *width = &flush->widths[count];
    for (uint32_t i = 0; i < WEFT_FLUSH_CONSTANTS; i++) {
        const uint32_t type = width->types[constants[i].kind];
        const uint32_t part = count == 1 ? constants[i].bits : flush->widths[1].constants + i;
        const uint32_t operands[] = {type, width->constants + i, part, part, part, part};
        weft_spirv_put_op(flush->edit, count == 1 ? SpvOpConstant : SpvOpConstantComposite,
                          2 + count, operands);
    }
}

void weft_flush_declare(struct weft_spirv_flush *flush) {
    struct weft_spirv_edit *edit = flush->edit;
    for (uint32_t i = 1; i <= WEFT_FLUSH_WIDTH; i++) {
        if (flush->widths[i].is_used) {
            choose_ids(flush, &flush->widths[i]);
        }
    }
    flush->scale = weft_spirv_new_ids(edit, 1);
    WEFT_SPIRV_EACH(import, flush->module, WEFT_SPIRV_IMPORTS) {
        flush->glsl = weft_spirv_is_glsl(flush->module, import[1]) ? import[1] : flush->glsl;
    }
    if (flush->glsl == 0) {
        flush->glsl = weft_spirv_new_ids(edit, 1);
        weft_spirv_insert_into(edit, WEFT_SPIRV_IMPORTS);
        WEFT_SPIRV_PUT(edit, SpvOpExtInstImport, flush->glsl);
        weft_spirv_put_text(edit, "GLSL.std.450");
    }
    weft_spirv_insert_into(edit, WEFT_SPIRV_DECLARATIONS);
    for (uint32_t i = 1; i <= WEFT_FLUSH_WIDTH; i++) {
        if (flush->widths[i].is_used) {
            put_type(flush, WEFT_SPIRV_UINT, i);
            put_type(flush, WEFT_SPIRV_BOOL, i);
            put_constants(flush, i);
        }
        if (i == 1) {
            WEFT_SPIRV_PUT(edit, SpvOpConstant, flush->widths[1].types[WEFT_SPIRV_FLOAT],
                           flush->scale, SCALE);
        }
    }
}
