/* SPDX-License-Identifier: MIT */
#include "shader/capabilities.h"

#include "spirv/module.h"

/* Numbers of SPIR-V's section 3.31, Capability. */
enum {
    CAPABILITY_MATRIX = 0,
    CAPABILITY_SHADER = 1,
    CAPABILITY_FLOAT16 = 9,
    CAPABILITY_GROUP_NON_UNIFORM = 61,
    CAPABILITY_GROUP_NON_UNIFORM_ARITHMETIC = 63,
    CAPABILITY_VULKAN_MEMORY_MODEL = 5345,
    CAPABILITY_COOPERATIVE_MATRIX = 6022 /* SPV_KHR_cooperative_matrix */
};

static bool has_capability(const weft_device_info *info, uint32_t capability) {
    switch (capability) {
    case CAPABILITY_MATRIX:
    case CAPABILITY_SHADER:
    case CAPABILITY_GROUP_NON_UNIFORM: /* basic operations: all devices, in compute shaders */
        return true;
    case CAPABILITY_FLOAT16:
        return info->has_f16_arithmetic;
    case CAPABILITY_GROUP_NON_UNIFORM_ARITHMETIC:
        return info->has_subgroup_arithmetic;
    case CAPABILITY_VULKAN_MEMORY_MODEL: /* which is turned on with them */
    case CAPABILITY_COOPERATIVE_MATRIX:
        return info->matrix_shapes[0].m != 0;
    default:
        return false;
    }
}

bool weft_spirv_runs_on(const uint32_t *words, size_t size, const weft_device_info *info) {
    const size_t count = size / 4;
    for (size_t at = WEFT_SPIRV_HEADER_WORDS; at < count; at += weft_spirv_length(words[at])) {
        if (weft_spirv_opcode(words[at]) != (uint32_t)WEFT_OP_CAPABILITY) {
            break; /* they come first, section 2.4 */
        }
        if (!has_capability(info, words[at + 1])) {
            return false;
        }
    }
    return true;
}
