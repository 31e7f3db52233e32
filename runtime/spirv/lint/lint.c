/* SPDX-License-Identifier: MIT */
/*
 * Finds out if a module can give other bits on another driver. Reproducible math requires SPIR-V that leaves a driver
 * no choice: this looks for any choice that is left.
 *
 * It checks a module as the driver is going to get it against the lists of lint/rules.h: every instruction,
 * GLSL.std.450 function, capability, execution mode, decoration and built-in variable must be on them, those of
 * floating-point arithmetic with the decoration NoContraction. In fused math Fma is one of those. One walk over the
 * words, and a second one where there are atomics. Shaders must keep the conditions of a list (no division by zero,
 * no unwritten variable read, ...); the lint cannot see values. It changes nothing, and fails with WEFT_UNSUPPORTED,
 * logged with the instruction's name and place, why it is refused and what to use instead.
 */
#include "core/try.h"
#include "spirv/lint/checks.h"
#include "spirv/passes/passes.h"

static bool is_race(const struct weft_lint_rule *rule) {
    return rule && rule->check == WEFT_LINT_CHECK_RESULT_UNUSED;
}

static weft_status check_races(const struct weft_spirv_module *module) {
    WEFT_SPIRV_EACH(instruction, module, WEFT_SPIRV_FUNCTIONS) {
        const struct weft_spirv_layout layout =
            weft_spirv_layout(weft_spirv_opcode(instruction[0]));
        for (uint32_t i = layout.first; i < weft_spirv_length(instruction[0]); i++) {
            const uint32_t at = weft_spirv_is_id(&layout, i) && instruction[i] < module->bound
                                    ? module->ids[instruction[i]].at
                                    : 0;
            const uint32_t *used = module->words + at;
            if (at != 0 && is_race(weft_lint_find(WEFT_LINT_OPCODES, weft_spirv_opcode(used[0])))) {
                return weft_lint_refuse(&(struct weft_lint_place){module, used},
                                        "with a result that is used",
                                        "that depends on which invocation comes first",
                                        "only what is in memory behind the next barrier");
            }
        }
    }
    return WEFT_OK;
}

weft_status weft_spirv_lint(struct weft_spirv_edit *edit) {
    const struct weft_spirv_module *module = &edit->module;
    const bool fused = edit->needs && edit->needs->fused != 0;
    bool has_races = false;
    WEFT_SPIRV_ALL(instruction, module) {
        const struct weft_lint_place at = {module, instruction};
        const uint32_t opcode = weft_spirv_opcode(instruction[0]);
        const struct weft_lint_rule *rule = weft_lint_find(WEFT_LINT_OPCODES, opcode);
        if (fused && weft_spirv_is_fma(module, instruction)) {
            WEFT_TRY(weft_lint_check(&at, WEFT_LINT_CHECK_NO_CONTRACTION));
        } else if (!rule || rule->verdict == WEFT_LINT_REFUSED) {
            WEFT_TRY(weft_lint_judge(&at, WEFT_LINT_OPCODES, opcode, "opcode"));
        } else if (rule->verdict == WEFT_LINT_CHECKED) {
            WEFT_TRY(weft_lint_check(&at, (enum weft_lint_check)rule->check));
        }
        has_races = has_races || is_race(rule);
    }
    return has_races ? check_races(module) : WEFT_OK;
}
