/* SPDX-License-Identifier: MIT */
#include "shader/capabilities.h"

#include "spirv/grammar.h"

static bool has_capability(const weft_device_info *info, uint32_t capability, bool others) {
    switch (capability) {
    case SpvCapabilityMatrix:
    case SpvCapabilityShader:
    case SpvCapabilityGroupNonUniform: /* basic operations: all devices, in compute shaders */
    case SpvCapabilityDotProduct:      /* or the pass plain-dots replaces what it is for */
    case SpvCapabilityDotProductInput4x8BitPacked:
        return true;
    case SpvCapabilityFloat16:
        return info->has_f16_arithmetic;
    case SpvCapabilityGroupNonUniformArithmetic:
        return info->has_subgroup_arithmetic;
    case SpvCapabilityInt8: /* which is turned on with matrices of bytes */
        return info->integer_matrix_shapes[0].m != 0;
    case SpvCapabilityVulkanMemoryModel: /* which is turned on with them */
    case WEFT_SPIRV_COOPERATIVE_CAPABILITY:
        return info->matrix_shapes[0].m != 0 || info->integer_matrix_shapes[0].m != 0;
    default:
        return others;
    }
}

bool weft_spirv_runs_on(const uint32_t *words, size_t size, const weft_device_info *info,
                        bool others) {
    const size_t count = size / 4;
    for (size_t at = WEFT_SPIRV_HEADER_WORDS; at < count; at += weft_spirv_length(words[at])) {
        if (weft_spirv_opcode(words[at]) != SpvOpCapability) {
            break; /* they come first, section 2.4 */
        }
        if (!has_capability(info, words[at + 1], others)) {
            return false;
        }
    }
    return true;
}
