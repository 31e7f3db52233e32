/* SPDX-License-Identifier: MIT */
/*
 * Integers and booleans that are known. Floats are left to LLVM, which is told how subnormals count. What has no value
 * (a division by 0) is not folded.
 */
#include "spirv/ir/ir.h"
#include "spirv/module.h"

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
    case WEFT_OP_U_DIV:
        *result = a / b;
        return true;
    case WEFT_OP_U_MOD:
        *result = a % b;
        return true;
    case WEFT_OP_S_DIV:
        *result = (uint64_t)(sa / sb);
        return true;
    case WEFT_OP_S_REM:
        *result = (uint64_t)(sa % sb);
        return true;
    case WEFT_OP_S_MOD:
        *result = (uint64_t)(((sa % sb) + sb) % sb);
        return true;
    default:
        return false;
    }
}

static bool fold_integer(uint64_t *result, uint32_t op, uint32_t type, uint64_t a, uint64_t b) {
    switch (op) {
    case WEFT_OP_I_ADD:
        *result = a + b;
        return true;
    case WEFT_OP_I_SUB:
        *result = a - b;
        return true;
    case WEFT_OP_I_MUL:
        *result = a * b;
        return true;
    case WEFT_OP_BITWISE_OR:
    case WEFT_OP_LOGICAL_OR:
        *result = a | b;
        return true;
    case WEFT_OP_BITWISE_AND:
    case WEFT_OP_LOGICAL_AND:
        *result = a & b;
        return true;
    case WEFT_OP_BITWISE_XOR:
    case WEFT_OP_LOGICAL_NOT_EQUAL:
        *result = a ^ b;
        return true;
    case WEFT_OP_LOGICAL_EQUAL:
        *result = a == b;
        return true;
    case WEFT_OP_SHIFT_LEFT_LOGICAL:
        *result = a << (b & 63);
        return b < weft_ir_bits(type);
    case WEFT_OP_SHIFT_RIGHT_LOGICAL:
        *result = a >> (b & 63);
        return b < weft_ir_bits(type);
    case WEFT_OP_SHIFT_RIGHT_ARITHMETIC:
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
    case WEFT_OP_I_EQUAL:
        *result = a == b;
        return true;
    case WEFT_OP_I_NOT_EQUAL:
        *result = a != b;
        return true;
    case WEFT_OP_U_GREATER_THAN:
        *result = a > b;
        return true;
    case WEFT_OP_S_GREATER_THAN:
        *result = sa > sb;
        return true;
    case WEFT_OP_U_GREATER_THAN_EQUAL:
        *result = a >= b;
        return true;
    case WEFT_OP_S_GREATER_THAN_EQUAL:
        *result = sa >= sb;
        return true;
    case WEFT_OP_U_LESS_THAN:
        *result = a < b;
        return true;
    case WEFT_OP_S_LESS_THAN:
        *result = sa < sb;
        return true;
    case WEFT_OP_U_LESS_THAN_EQUAL:
        *result = a <= b;
        return true;
    case WEFT_OP_S_LESS_THAN_EQUAL:
        *result = sa <= sb;
        return true;
    default:
        return false;
    }
}

static bool fold_unary(uint64_t *result, uint32_t op, uint64_t a) {
    switch (op) {
    case WEFT_OP_S_NEGATE:
        *result = 0 - a;
        return true;
    case WEFT_OP_NOT:
        *result = ~a;
        return true;
    case WEFT_OP_LOGICAL_NOT:
        *result = a ^ 1;
        return true;
    case WEFT_OP_BITCAST:
    case WEFT_OP_U_CONVERT:
        *result = a;
        return true;
    default:
        return false;
    }
}

bool weft_ir_fold(uint64_t *bits, uint32_t op, uint32_t type, uint32_t argument_type,
                  const uint64_t *arguments, uint32_t count) {
    bool folded = false;
    if (count == 1 && op == WEFT_OP_S_CONVERT) {
        *bits = (uint64_t)signed_of(arguments[0], argument_type);
        folded = true;
    } else if (count == 1) {
        folded = fold_unary(bits, op, arguments[0]);
    } else if (count == 2) {
        folded =
            fold_comparison(bits, op, argument_type, arguments[0], arguments[1]) ||
            (!weft_ir_is_float(type) && fold_integer(bits, op, type, arguments[0], arguments[1]));
    } else if (count == 3 && op == WEFT_OP_SELECT) {
        *bits = arguments[0] != 0 ? arguments[1] : arguments[2];
        folded = true;
    }
    *bits &= weft_ir_ones(type);
    return folded;
}
