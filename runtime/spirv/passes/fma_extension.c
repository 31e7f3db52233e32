/* SPDX-License-Identifier: MIT */
/* One rounding by SPV_KHR_fma (VK_KHR_shader_fma): OpFmaKHR is correctly rounded, where GLSL.std.450's Fma need not be. */
#include "spirv/passes/passes.h"

#define AT 5u /* in an Fma: the first operand */

weft_status weft_spirv_fma_by_extension(struct weft_spirv_edit *edit) {
    const struct weft_spirv_module *module = &edit->module;
    bool found = false;
    WEFT_SPIRV_EACH(instruction, module, WEFT_SPIRV_FUNCTIONS) {
        if (weft_spirv_is_fma(module, instruction)) {
            weft_spirv_replace(edit, instruction);
            WEFT_SPIRV_PUT(edit, WEFT_SPIRV_FMA, instruction[1], instruction[2], instruction[AT],
                           instruction[AT + 1], instruction[AT + 2]);
            found = true;
        }
    }
    if (found) {
        weft_spirv_require(edit, WEFT_SPIRV_FMA_CAPABILITY);
        weft_spirv_require_extension(edit, "SPV_KHR_fma");
    }
    return WEFT_OK;
}
