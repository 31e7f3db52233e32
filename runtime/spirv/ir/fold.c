/* SPDX-License-Identifier: MIT */
/*
 * Integers and booleans that are known. Floats are left to LLVM, which is told how subnormals count. What has no value
 * (a division by 0) is not folded.
 */
#include "spirv/check.h"
#include "spirv/ir/ir.h"

static int64_t signed_of(uint64_t bits, uint32_t type) {
    const uint64_t sign = UINT64_C(1) << (weft_ir_bits(type) - 1);
    return (int64_t)((bits ^ sign) - sign);
}

static bool fold_division(uint64_t *result, uint32_t op, uint32_t type, uint64_t a, uint64_t b) {
    const int64_t sa = signed_of(a, type);
    const int64_t sb = signed_of(b, type);
    if (b == 0 || sb == -1) {
        return false;
    }
    switch (op) {
    case SpvOpUDiv:
        *result = a / b;
        return true;
    case SpvOpUMod:
        *result = a % b;
        return true;
    case SpvOpSDiv:
        *result = (uint64_t)(sa / sb);
        return true;
    case SpvOpSRem:
        *result = (uint64_t)(sa % sb);
        return true;
    case SpvOpSMod:
        *result = (uint64_t)(((sa % sb) + sb) % sb);
        return true;
    default:
        return false;
    }
}

static bool fold_integer(uint64_t *result, uint32_t op, uint32_t type, uint64_t a, uint64_t b) {
    switch (op) {
    case SpvOpIAdd:
        *result = a + b;
        return true;
    case SpvOpISub:
        *result = a - b;
        return true;
    case SpvOpIMul:
        *result = a * b;
        return true;
    case SpvOpBitwiseOr:
    case SpvOpLogicalOr:
        *result = a | b;
        return true;
    case SpvOpBitwiseAnd:
    case SpvOpLogicalAnd:
        *result = a & b;
        return true;
    case SpvOpBitwiseXor:
    case SpvOpLogicalNotEqual:
        *result = a ^ b;
        return true;
    case SpvOpLogicalEqual:
        *result = a == b;
        return true;
    case SpvOpShiftLeftLogical:
        *result = a << (b & 63);
        return b < weft_ir_bits(type);
    case SpvOpShiftRightLogical:
        *result = a >> (b & 63);
        return b < weft_ir_bits(type);
    case SpvOpShiftRightArithmetic:
        *result = (uint64_t)(signed_of(a, type) >> (b & 63));
        return b < weft_ir_bits(type);
    case WEFT_IR_U_MIN:
        *result = a < b ? a : b;
        return true;
    case WEFT_IR_U_MAX:
        *result = a > b ? a : b;
        return true;
    default:
        return fold_division(result, op, type, a, b);
    }
}

static bool fold_comparison(uint64_t *result, uint32_t op, uint32_t type, uint64_t a, uint64_t b) {
    const int64_t sa = signed_of(a, type);
    const int64_t sb = signed_of(b, type);
    switch (op) {
    case SpvOpIEqual:
        *result = a == b;
        return true;
    case SpvOpINotEqual:
        *result = a != b;
        return true;
    case SpvOpUGreaterThan:
        *result = a > b;
        return true;
    case SpvOpSGreaterThan:
        *result = sa > sb;
        return true;
    case SpvOpUGreaterThanEqual:
        *result = a >= b;
        return true;
    case SpvOpSGreaterThanEqual:
        *result = sa >= sb;
        return true;
    case SpvOpULessThan:
        *result = a < b;
        return true;
    case SpvOpSLessThan:
        *result = sa < sb;
        return true;
    case SpvOpULessThanEqual:
        *result = a <= b;
        return true;
    case SpvOpSLessThanEqual:
        *result = sa <= sb;
        return true;
    default:
        return false;
    }
}

static bool fold_unary(uint64_t *result, uint32_t op, uint64_t a) {
    switch (op) {
    case SpvOpSNegate:
        *result = 0 - a;
        return true;
    case SpvOpNot:
        *result = ~a;
        return true;
    case SpvOpLogicalNot:
        *result = a ^ 1;
        return true;
    case SpvOpBitcast:
    case SpvOpUConvert:
        *result = a;
        return true;
    default:
        return false;
    }
}

bool weft_ir_fold(uint64_t *bits, uint32_t op, uint32_t type, uint32_t argument_type,
                  const uint64_t *arguments, uint32_t count) {
    bool folded = false;
    if (count == 1 && op == SpvOpSConvert) {
        *bits = (uint64_t)signed_of(arguments[0], argument_type);
        folded = true;
    } else if (count == 1) {
        folded = fold_unary(bits, op, arguments[0]);
    } else if (count == 2) {
        folded =
            fold_comparison(bits, op, argument_type, arguments[0], arguments[1]) ||
            (!weft_ir_is_float(type) && fold_integer(bits, op, type, arguments[0], arguments[1]));
    } else if (count == 3 && op == SpvOpSelect) {
        *bits = arguments[0] != 0 ? arguments[1] : arguments[2];
        folded = true;
    }
    *bits &= weft_ir_ones(type);
    return folded;
}

uint64_t weft_ir_identity(uint32_t opcode, uint32_t type) {
    const uint64_t ones = weft_ir_ones(type);
    const bool wide = weft_ir_bits(type) == 64;
    switch (opcode) {
    case SpvOpGroupNonUniformIMul:
        return 1;
    case SpvOpGroupNonUniformFMul:
        return wide ? UINT64_C(0x3FF0000000000000) : 0x3F800000u;
    case SpvOpGroupNonUniformFMin: /* infinity */
        return wide ? UINT64_C(0x7FF0000000000000) : 0x7F800000u;
    case SpvOpGroupNonUniformFMax:
        return wide ? UINT64_C(0xFFF0000000000000) : 0xFF800000u;
    case SpvOpGroupNonUniformUMin:
    case SpvOpGroupNonUniformBitwiseAnd:
    case SpvOpGroupNonUniformLogicalAnd:
        return ones;
    case SpvOpGroupNonUniformSMin:
        return ones >> 1;
    case SpvOpGroupNonUniformSMax:
    case SpvOpGroupNonUniformFAdd: /* -0 */
        return (ones >> 1) + 1;
    default:
        return 0;
    }
}
