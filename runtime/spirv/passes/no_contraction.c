/* SPDX-License-Identifier: MIT */
/*
 * Arithmetic that cannot depend on the driver's contraction habits: every floating-point instruction that can be contracted gets the
 * NoContraction decoration, and each GLSL.std.450 Fma becomes OpFMul and OpFAdd (docs/reproducibility.md, rule 1). In fused math an
 * Fma stays one operation, decorated alike (rule 9).
 */
#include "spirv/passes/passes.h"

#define FMA_WORDS 8u /* OpExtInst: type, result, set, number and three operands */

/*
 * The specification lets NoContraction be applied to its "Arithmetic Instructions"; these are the
 * ones of floating point.
 */
static bool is_float_arithmetic(uint32_t opcode) {
    switch (opcode) {
    case SpvOpFNegate:
    case SpvOpFAdd:
    case SpvOpFSub:
    case SpvOpFMul:
    case SpvOpFDiv:
    case SpvOpFRem:
    case SpvOpFMod:
    case SpvOpVectorTimesScalar:
    case SpvOpMatrixTimesScalar:
    case SpvOpVectorTimesMatrix:
    case SpvOpMatrixTimesVector:
    case SpvOpMatrixTimesMatrix:
    case SpvOpOuterProduct:
    case SpvOpDot:
        return true;
    default:
        return false;
    }
}

/* Before the module's own decorations. */
static void put_decoration(struct weft_spirv_edit *edit, uint32_t id) {
    weft_spirv_insert_into(edit, WEFT_SPIRV_DEBUG);
    WEFT_SPIRV_PUT(edit, SpvOpDecorate, id, SpvDecorationNoContraction);
}

/*
 * result = a * b + c as two instructions; the sum keeps the Fma's id, so its users stay as they
 * are.
 */
static void split_fma(struct weft_spirv_edit *edit, const uint32_t *fma) {
    const uint32_t product = weft_spirv_new_ids(edit, 1);
    put_decoration(edit, product);
    weft_spirv_replace(edit, fma);
    WEFT_SPIRV_PUT(edit, SpvOpFMul, fma[1], product, fma[5], fma[6]);
    WEFT_SPIRV_PUT(edit, SpvOpFAdd, fma[1], fma[2], product, fma[7]);
}

weft_status weft_spirv_no_contraction(struct weft_spirv_edit *edit) {
    const struct weft_spirv_module *module = &edit->module;
    WEFT_SPIRV_EACH(instruction, module, WEFT_SPIRV_FUNCTIONS) {
        const bool fma = weft_spirv_is_fma(module, instruction);
        if (fma && weft_spirv_length(instruction[0]) != FMA_WORDS) {
            return weft_fail(module->host, WEFT_COMPILE_ERROR,
                             "SPIR-V module, word %zu: Fma of %u words, expected %u",
                             (size_t)(instruction - module->words),
                             weft_spirv_length(instruction[0]), FMA_WORDS);
        }
        if (fma && !edit->needs->fused) {
            split_fma(edit, instruction);
        }
        if ((fma || is_float_arithmetic(weft_spirv_opcode(instruction[0]))) &&
            !weft_spirv_has_decoration(NULL, module, instruction[2], SpvDecorationNoContraction)) {
            put_decoration(edit, instruction[2]);
        }
    }
    return WEFT_OK;
}
