/* SPDX-License-Identifier: MIT */
/*
 * Execution modes that tell a driver how to treat the special values of float32: to every entry point, with their capabilities; those
 * that it declares already stay as they are.
 */
#include "spirv/passes/passes.h"

#define FLOAT_WIDTH        32u
#define EXTENSION          "SPV_KHR_float_controls"
#define FIRST_CORE_VERSION 0x10400u /* before SPIR-V 1.4 the modes are an extension */

static const struct mode {
    uint32_t flag, capability, mode;
} modes[] = {
    {WEFT_FLOAT_FLUSH, SpvCapabilityDenormFlushToZero, SpvExecutionModeDenormFlushToZero},
    {WEFT_FLOAT_SPECIAL, SpvCapabilitySignedZeroInfNanPreserve,
     SpvExecutionModeSignedZeroInfNanPreserve},
    {WEFT_FLOAT_NEAREST, SpvCapabilityRoundingModeRTE, SpvExecutionModeRoundingModeRTE},
};

static bool has_mode(const struct weft_spirv_module *module, uint32_t entry, uint32_t mode) {
    WEFT_SPIRV_EACH(instruction, module, WEFT_SPIRV_MODES) {
        if (instruction[1] == entry && instruction[2] == mode &&
            weft_spirv_word(instruction, 3) == FLOAT_WIDTH) {
            return true;
        }
    }
    return false;
}

weft_status weft_spirv_float_modes(struct weft_spirv_edit *edit) {
    const struct weft_spirv_module *module = &edit->module;
    const size_t count = sizeof modes / sizeof modes[0];
    for (size_t i = 0; i < count; i++) {
        if ((edit->needs->float_modes & modes[i].flag) != 0) {
            weft_spirv_require(edit, modes[i].capability);
        }
    }
    if (module->words[WEFT_SPIRV_AT_VERSION] < FIRST_CORE_VERSION) {
        weft_spirv_require_extension(edit, EXTENSION);
    }
    weft_spirv_insert_into(edit, WEFT_SPIRV_ENTRY_POINTS);
    WEFT_SPIRV_EACH(entry, module, WEFT_SPIRV_ENTRY_POINTS) {
        for (size_t i = 0; i < count; i++) {
            if ((edit->needs->float_modes & modes[i].flag) != 0 &&
                !has_mode(module, entry[2], modes[i].mode)) {
                WEFT_SPIRV_PUT(edit, SpvOpExecutionMode, entry[2], modes[i].mode, FLOAT_WIDTH);
            }
        }
    }
    return WEFT_OK;
}
