/* SPDX-License-Identifier: MIT */
/*
 * Branches on devices whose compiler does not end where two of them, one behind the other, have the same condition: V3DV's of Mesa
 * 25.0.7 takes out what the first leaves for the side of the second that does not use it (nir_opt_if: the value becomes undefined), makes
 * it 0 (nir_lower_undef_to_zero), and goes on as long as either finds something to do. VkFFT's kernels are full of such pairs. What such a
 * compiler cannot see to be the same it does not touch.
 *
 * Of the selections that follow one another, on each level of nesting, every second one gets its condition or'ed with "a number of a
 * workgroup or invocation is above 2^31 - 1", which is false in every dispatch that Vulkan devices and Weft allow, as no compiler knows.
 * All else stays. Costs two integer instructions each. A module is left as it is where it has specialization constants, because branches
 * on those are decided when it is compiled, or reads no such number as a vector.
 */
#include "spirv/passes/passes.h"

#define LARGEST 0x7fffffffu /* that a number of an invocation or a workgroup may be */

struct part {
    struct weft_spirv_edit *edit;
    const struct weft_spirv_module *module;
    uint32_t *merge; /* where the selections end that are open */
    uint8_t *odd;    /* by nesting: whether the last selection there was changed */
    uint32_t depth;
    struct weft_spirv_input input;
    uint32_t largest; /* a constant */
};

static bool is_specialized(const struct weft_spirv_module *module) {
    WEFT_SPIRV_EACH(instruction, module, WEFT_SPIRV_ANNOTATIONS) {
        if (weft_spirv_opcode(instruction[0]) == SpvOpDecorate &&
            instruction[2] == SpvDecorationSpecId) {
            return true;
        }
    }
    return false;
}

/* True if there is what conditions are made of: a vector of unsigned integers, and truth. */
static bool survey(struct part *part) {
    static const SpvBuiltIn preferred[] = {SpvBuiltInWorkgroupId, SpvBuiltInGlobalInvocationId,
                                           SpvBuiltInLocalInvocationId};
    bool found = false;
    for (size_t i = 0; i < sizeof preferred / sizeof preferred[0] && !found; i++) {
        found = weft_spirv_find_input(&part->input, part->module, preferred[i]) &&
                part->input.shape.kind == WEFT_SPIRV_UINT && part->input.shape.width > 1;
    }
    return found && part->module->bool_type != 0 && !is_specialized(part->module);
}

/* "condition, or a number is above the largest". */
static uint32_t put_condition(struct part *part, uint32_t condition) {
    struct weft_spirv_edit *edit = part->edit;
    const uint32_t vector = weft_spirv_new_ids(edit, 4);
    const uint32_t number = vector + 1;
    const uint32_t is_above = vector + 2;
    const uint32_t either = vector + 3;
    WEFT_SPIRV_PUT(edit, SpvOpLoad, part->input.type, vector, part->input.variable);
    WEFT_SPIRV_PUT(edit, SpvOpCompositeExtract, part->input.shape.scalar, number, vector, 0);
    WEFT_SPIRV_PUT(edit, SpvOpUGreaterThan, part->module->bool_type, is_above, number,
                   part->largest);
    WEFT_SPIRV_PUT(edit, SpvOpLogicalOr, part->module->bool_type, either, condition, is_above);
    return either;
}

static void visit(struct part *part, const uint32_t *instruction) {
    const uint32_t *next = weft_spirv_next(instruction);
    const uint32_t opcode = weft_spirv_opcode(instruction[0]);
    while (opcode == SpvOpLabel && part->depth > 0 &&
           part->merge[part->depth - 1] == instruction[1]) {
        part->depth--;
    }
    if (opcode != SpvOpSelectionMerge || weft_spirv_opcode(next[0]) != SpvOpBranchConditional) {
        return;
    }
    part->odd[part->depth] ^= 1;
    if (!part->odd[part->depth]) {
        weft_spirv_insert_before(part->edit, instruction);
        weft_spirv_set_word(part->edit, next, 1, put_condition(part, next[1]));
    }
    part->merge[part->depth++] = instruction[1];
}

weft_status weft_spirv_part_branches(struct weft_spirv_edit *edit) {
    const struct weft_spirv_module *module = &edit->module;
    const weft_host *host = module->host;
    struct part part = {.edit = edit, .module = module};
    size_t selections = 1;
    if (!survey(&part)) {
        return WEFT_OK;
    }
    WEFT_SPIRV_EACH(instruction, module, WEFT_SPIRV_FUNCTIONS) {
        selections += weft_spirv_opcode(instruction[0]) == SpvOpSelectionMerge;
    }
    part.merge = weft_alloc(host, selections * sizeof *part.merge);
    part.odd = weft_alloc_zero(host, selections, sizeof *part.odd);
    part.largest = weft_spirv_new_ids(edit, 1);
    weft_spirv_insert_into(edit, WEFT_SPIRV_DECLARATIONS);
    WEFT_SPIRV_PUT(edit, SpvOpConstant, part.input.shape.scalar, part.largest, LARGEST);
    if (part.merge && part.odd) {
        WEFT_SPIRV_EACH(instruction, module, WEFT_SPIRV_FUNCTIONS) {
            visit(&part, instruction);
        }
    }
    const bool enough = part.merge && part.odd;
    weft_free(host, part.merge);
    weft_free(host, part.odd);
    return enough ? WEFT_OK : weft_fail_memory(host, "SPIR-V branches");
}
