/* SPDX-License-Identifier: MIT */
/*
 * Subnormal numbers on devices that would keep them. Reproducible math counts every subnormal operand and result as the zero of its sign,
 * because that is what all devices can be brought to: some cannot keep subnormals, and most that can have an execution mode that flushes
 * them (float_modes.c). What is left does it in instructions.
 *
 * Behind each instruction that makes a float32 by arithmetic or by reinterpreting bits, or loads one from a buffer or from push constants,
 * follow instructions that turn a subnormal into the zero of its sign: a comparison, the sign and a choice. What they use is
 * declared in flush_declare.c; products are in flush_products.c, an Fma is in flush_fma.c. With only_products, these alone are flushed: what
 * NVIDIA's GPUs need, whose mode flushes a product by the float32 that it was rounded to. Fails with WEFT_UNSUPPORTED for a module that
 * loads whole structures, arrays or matrices of floats from a buffer.
 */
#include "spirv/passes/flush.h"

/* ---- what is flushed ---- */

/* The constant of that number, a boolean, or 0: modules have lost their names. */
static uint32_t find_constant(const struct weft_spirv_module *module, SpvOp opcode,
                              uint32_t number) {
    WEFT_SPIRV_EACH(constant, module, WEFT_SPIRV_DECLARATIONS) {
        uint32_t found = 0;
        if (weft_spirv_opcode(constant[0]) == opcode &&
            weft_spirv_has_decoration(&found, module, constant[2], SpvDecorationSpecId) &&
            found == number) {
            return constant[2];
        }
    }
    return 0;
}

/*
 * A shader may find out for many products at once that none is small (plain_products.glsl), where that pays: with this pass. Its constant becomes
 * true, and products in functions that choose by the other one need no instructions. That one's id, or 0. The numbers of other
 * people's constants mean what they say.
 */
static uint32_t make_sure(struct weft_spirv_flush *flush) {
    const uint32_t asks =
        find_constant(flush->module, SpvOpSpecConstantFalse, WEFT_SPIRV_ASKS_PRODUCTS);
    const uint32_t plain =
        find_constant(flush->module, SpvOpSpecConstantTrue, WEFT_SPIRV_PLAIN_PRODUCTS);
    if (asks == 0 || plain == 0 || flush->edit->needs->one_nan != 0) {
        return 0;
    }
    const uint32_t *constant = weft_spirv_made_by(flush->module, asks, SpvOpSpecConstantFalse);
    weft_spirv_set_word(flush->edit, constant, 0,
                        (constant[0] & ~SpvOpCodeMask) | SpvOpSpecConstantTrue);
    return plain;
}

static bool is_plain_function(const uint32_t *function, uint32_t plain) {
    WEFT_SPIRV_EACH_IN(instruction, function) {
        const uint32_t opcode = weft_spirv_opcode(instruction[0]);
        if (plain != 0 && ((opcode == SpvOpSelect && instruction[3] == plain) ||
                           (opcode == SpvOpBranchConditional && instruction[1] == plain))) {
            return true;
        }
    }
    return false;
}

/* An Fma of plain products may cancel to a subnormal, which is exact: a mode flushes it. */
static bool is_plain(const struct weft_spirv_flush *flush, const uint32_t *instruction) {
    return weft_flush_is_product(instruction) ||
           (flush->only_products && weft_spirv_is_fma(flush->module, instruction));
}

/* True if what a pointer points to was not written by this shader. */
static bool is_from_outside(const struct weft_spirv_module *module, uint32_t id) {
    const uint32_t *pointer =
        weft_spirv_made_by(module, weft_spirv_type_of(module, id), SpvOpTypePointer);
    switch (pointer ? pointer[2] : SpvStorageClassFunction) {
    case SpvStorageClassInput:
    case SpvStorageClassUniform:
    case SpvStorageClassPushConstant:
    case SpvStorageClassStorageBuffer:
        return true;
    default:
        return false;
    }
}

/* True if an instruction can make a subnormal out of operands that are none. */
static bool is_source(const struct weft_spirv_flush *flush, const uint32_t *instruction) {
    const struct weft_spirv_module *module = flush->module;
    switch (weft_spirv_opcode(instruction[0])) {
    case SpvOpFMul:
    case SpvOpVectorTimesScalar:
        return true;
    case SpvOpFAdd:
    case SpvOpFSub:
    case SpvOpBitcast:
        return !flush->only_products;
    case SpvOpLoad:
        return !flush->only_products && is_from_outside(module, instruction[3]);
    case SpvOpExtInst:
        return flush->has_fma && weft_spirv_is_fma(module, instruction);
    default:
        return false;
    }
}

static void note_types(struct weft_spirv_flush *flush) {
    weft_spirv_find_floats(flush->has_float, flush->module);
    WEFT_SPIRV_EACH(type, flush->module, WEFT_SPIRV_DECLARATIONS) {
        const uint32_t opcode = weft_spirv_opcode(type[0]);
        if (opcode < SpvOpTypeVoid || opcode > SpvOpTypeFunction) {
            continue;
        }
        const struct weft_spirv_shape shape = weft_spirv_shape_of(flush->module, type[1]);
        struct weft_spirv_width *width = &flush->widths[shape.width];
        width->types[shape.kind] = type[1];
    }
}

/* Notes which results are flushed. */
static weft_status survey(struct weft_spirv_flush *flush) {
    const struct weft_spirv_module *module = flush->module;
    const uint32_t plain = make_sure(flush);
    bool in_plain = false;
    note_types(flush);
    WEFT_SPIRV_EACH(instruction, module, WEFT_SPIRV_FUNCTIONS) {
        if (weft_spirv_opcode(instruction[0]) == SpvOpFunction) {
            in_plain = is_plain_function(instruction, plain);
        }
        if (!is_source(flush, instruction) || (in_plain && is_plain(flush, instruction))) {
            continue;
        }
        const struct weft_spirv_shape shape = weft_spirv_shape_of(module, instruction[1]);
        if (shape.kind == WEFT_SPIRV_FLOAT) {
            flush->raw[instruction[2]] = 1; /* an id is chosen later */
            flush->widths[shape.width].is_used = true;
            flush->widths[1].is_used = true; /* vectors are made of its types and constants */
        } else if (flush->has_float[instruction[1]]) {
            return weft_fail(module->host, WEFT_UNSUPPORTED,
                             "SPIR-V module, word %zu: a whole structure, array or matrix of "
                             "floats is loaded; on this device, which keeps subnormals, load its "
                             "members",
                             (size_t)(instruction - module->words));
        }
    }
    return WEFT_OK;
}

/* ---- rewriting ---- */

/* Decorations such as NoContraction belong to the arithmetic, whose result has a new id. */
static void move_decorations(struct weft_spirv_flush *flush) {
    WEFT_SPIRV_EACH(instruction, flush->module, WEFT_SPIRV_ANNOTATIONS) {
        const uint32_t opcode = weft_spirv_opcode(instruction[0]);
        const uint32_t first = opcode == SpvOpGroupDecorate ? 2 : 1;
        const uint32_t end = opcode == SpvOpGroupDecorate ? weft_spirv_length(instruction[0])
                             : opcode == SpvOpDecorate    ? 2
                                                          : 0;
        for (uint32_t i = first; i < end; i++) {
            if (flush->raw[instruction[i]] != 0) {
                weft_spirv_set_word(flush->edit, instruction, i, flush->raw[instruction[i]]);
            }
        }
    }
}

static void choose_site_ids(struct weft_spirv_flush *flush) {
    weft_spirv_insert_into(flush->edit, WEFT_SPIRV_ANNOTATIONS);
    WEFT_SPIRV_EACH(instruction, flush->module, WEFT_SPIRV_FUNCTIONS) {
        if (is_source(flush, instruction) && flush->raw[instruction[2]] != 0) {
            flush->raw[instruction[2]] = weft_flush_is_product(instruction)
                                             ? weft_flush_begin_product(flush)
                                         : weft_spirv_is_fma(flush->module, instruction)
                                             ? weft_flush_begin_fma(flush)
                                             : weft_spirv_new_ids(flush->edit, WEFT_FLUSH_IDS);
        }
    }
}

/* The instruction with a new result, and what makes the old result of it. */
static void put_site(struct weft_spirv_flush *flush, const uint32_t *instruction) {
    const uint32_t type = instruction[1];
    const uint32_t result = instruction[2];
    const uint32_t raw = flush->raw[result];
    const struct weft_spirv_width *width = weft_flush_width(flush, instruction);
    weft_spirv_set_word(flush->edit, instruction, 2, raw);
    weft_spirv_insert_before(flush->edit, weft_spirv_next(instruction));
    weft_flush_put_question(flush, width, raw, raw, width->constants + WEFT_FLUSH_LEAST_NORMAL,
                            raw);
    WEFT_SPIRV_PUT(flush->edit, SpvOpSelect, type, result, raw + WEFT_FLUSH_IS_SMALL,
                   raw + WEFT_FLUSH_ZERO, raw);
}

static void rewrite(struct weft_spirv_flush *flush) {
    weft_flush_declare(flush);
    choose_site_ids(flush);
    move_decorations(flush);
    WEFT_SPIRV_EACH(instruction, flush->module, WEFT_SPIRV_FUNCTIONS) {
        if (is_source(flush, instruction) && flush->raw[instruction[2]] != 0) {
            (weft_flush_is_product(instruction)              ? weft_flush_put_product
             : weft_spirv_is_fma(flush->module, instruction) ? weft_flush_put_fma
                                                             : put_site)(flush, instruction);
        }
    }
}

weft_status weft_spirv_flush(struct weft_spirv_edit *edit) {
    const struct weft_spirv_module *module = &edit->module;
    struct weft_spirv_flush flush = {.edit = edit,
                                     .module = module,
                                     .only_products = edit->needs->only_products != 0,
                                     .loses_small_products = edit->needs->loses_small_products != 0,
                                     .has_fma = edit->needs->fma_by_float64 == 0 &&
                                                edit->needs->fma_by_integers == 0};
    flush.has_float = weft_alloc_zero(module->host, module->bound, sizeof *flush.has_float);
    flush.raw = weft_alloc_zero(module->host, module->bound, sizeof *flush.raw);
    weft_status status = flush.has_float && flush.raw
                             ? survey(&flush)
                             : weft_fail_memory(module->host, "SPIR-V ids");
    if (status == WEFT_OK && flush.widths[1].is_used) {
        rewrite(&flush);
    }
    weft_free(module->host, flush.has_float);
    weft_free(module->host, flush.raw);
    return status;
}
